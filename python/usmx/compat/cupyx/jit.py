"""``cupyx.jit``: kernels of CUDA in Python, for every device of usmx.

``from usmx.compat.cupyx import jit`` in place of ``from cupyx import jit``.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from usmx import _explained

from ..._kernel.language import cupy_jit as _language
from ..cuda.dispatcher import CUDADispatcher


class RawKernel(CUDADispatcher):
    """A kernel, or a function that kernels call; made by `rawkernel`.

    ``kernel(grid, block, args)`` and ``kernel[grid, block](*args)`` launch it.
    """

    def __call__(
        self,
        grid: Any = None,
        block: Any = None,
        args: Sequence[Any] = (),
        shared_mem: int = 0,
        stream: Any = None,
        **_: Any,
    ) -> Any:
        """Launch it.

        Parameters
        ----------
        grid, block : int or tuple of int
            Blocks, and threads of a block, along x, y and z.
        args : sequence
            Arrays and numbers.
        shared_mem : int
            Bytes for `shared_memory` of size None.
        stream : Stream, optional
            Where it is launched.
        """
        if self.is_device:
            raise TypeError(f"'{self.__name__}' has device=True: kernels call it")
        launch: Any = self[grid, block, 0 if stream is None else stream, shared_mem]
        launch(*args)

    def __repr__(self) -> str:
        return f"<jit.rawkernel {self.__name__}>"


def rawkernel(*, mode: str = "cuda", device: bool = False) -> Callable[[Any], RawKernel]:
    """Make a kernel of a Python function.

    Parameters
    ----------
    mode : {'cuda', 'numpy'}
        Without effect: numbers have the types that kernels of `usmx.compat.cuda` give them.
    device : bool
        Whether kernels call it.

    Raises
    ------
    ValueError
        Another mode.

    Examples
    --------
    >>> @jit.rawkernel()
    ... def double(x, size):
    ...     i = jit.grid(1)
    ...     if i < size:
    ...         x[i] *= 2
    >>> double[4, 64](x, x.size)
    """
    if mode not in ("cuda", "numpy"):
        raise ValueError(f"mode: {mode!r}; expected 'cuda' or 'numpy'")
    return lambda python: RawKernel(python, device=device)


globals().update(_language.NAMES)

__all__ = ["RawKernel", "rawkernel"]
__all__ += list(_language.NAMES)

_explained.explain(globals())
