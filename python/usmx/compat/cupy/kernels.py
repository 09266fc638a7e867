"""Kernels from text: CuPy's classes with the texts that programs pass to them.

Expressions are compiled as they are, see `usmx.ElementwiseKernel`. Texts of CUDA C++ are
translated, see `translation`.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

import usmx as _usmx

from ..cuda.blocks import flattened, is_cut_at_rows
from ..cuda.dispatcher import about
from ..cuda.streams import queue_of
from . import intrinsics, variables
from .arrays import MemoryPointer
from .translation import (
    TYPEDEF,
    UntranslatableError,
    asks_warps,
    blanked,
    check,
    is_cuda,
    parts,
    translated,
    variables_of,
)  # fmt: skip


class Memory:
    """The variables of a text, on the device: made at the first launch, or when asked for.

    Parameters
    ----------
    text : str
        Of CUDA.
    options : sequence of str
        For the compiler.
    """

    def __init__(self, text: str, options: Sequence[str]) -> None:
        found = variables_of(text) if is_cuda(text) else None
        self.readers: set[str] = set() if found is None else found.readers
        self.names: list[str] = [] if found is None else found.names
        self._text = text
        self._options = tuple(options)
        self._array: Any = None
        self._places: dict[str, tuple[int, int]] = {}

    @property
    def array(self) -> Any:
        """The bytes of all variables."""
        if self._array is None:
            kernel: Any = _usmx.RawKernel(
                translated(self._text), variables.PLACES, _options(self._options)
            )
            found = _usmx.zeros(2 * len(self.names) + 1, dtype="int64")
            # Where they are does not depend on memory, whose size is not known before.
            kernel[1](_usmx.zeros(1, dtype="uint8"), found, 0)
            size, *others = found.to_numpy().tolist()
            self._places = {
                name: (others[2 * k], others[2 * k + 1]) for k, name in enumerate(self.names)
            }
            self._array = _usmx.zeros(size, dtype="uint8", usm_type="device")
            kernel[1](self._array, found, 1)
        return self._array

    def variable(self, name: str) -> MemoryPointer:
        """Where a variable is.

        Raises
        ------
        ValueError
            The text has none of this name.
        """
        if self.names:
            _ = self.array
        if name not in self._places:
            shown = ", ".join(self.names) or "none"
            raise ValueError(f"name: {name!r}; the text has these variables: {shown}")
        begin, size = self._places[name]
        return MemoryPointer(self.array[begin : begin + size])


def _pointed(a: Any) -> Any:
    """An argument, for whose text an array is a pointer: in Fortran order its elements are those
    of the transposed array."""
    if isinstance(a, _usmx.ndarray) and a.flags.f_contiguous and not a.flags.c_contiguous:
        return a.T
    return _usmx.asarray(np.asarray(a).reshape(1).view(np.uint8)) if _is_struct(a) else a


#: Types of arguments that are passed as they are.
_NUMBERS = frozenset({int, float, bool, np.int32, np.int64, np.uint32, np.float32, np.float64})


def _is_struct(a: Any) -> bool:
    """Whether it is one record of NumPy, which the text takes by value."""
    return isinstance(a, np.void | np.ndarray) and a.size == 1 and a.dtype.kind == "V"


@functools.lru_cache(maxsize=256)
def _ranges(grid: Any, block: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The global and the local range of blocks and threads."""
    blocks = [*(grid if isinstance(grid, tuple | list) else (grid,)), 1, 1][:3]
    threads = [*(block if isinstance(block, tuple | list) else (block,)), 1, 1][:3]
    whole = tuple(int(b) * int(t) for b, t in zip(blocks[::-1], threads[::-1], strict=True))
    return whole, tuple(int(t) for t in threads[::-1])


#: Options of NVIDIA's compiler that change nothing here.
_IGNORED = re.compile(
    r"-{1,2}(std=|arch|gpu-arch|use_fast_math|restrict|extra-device|lineinfo|O\d)"
)


def _options(given: Sequence[str]) -> tuple[str, ...]:
    return tuple(one for one in given if not _IGNORED.match(one))


#: Attributes of kernels that are parts of `RawKernel.attributes`.
_OF_NVIDIA = frozenset({
    "local_size_bytes", "shared_size_bytes", "const_size_bytes", "num_regs", "ptx_version",
    "binary_version", "cache_mode_ca",
})  # fmt: skip


class RawKernel:
    """A kernel of a text of CUDA C++, or of usmx.

    ``kernel(grid, block, args, shared_mem=0)`` launches it.

    Parameters
    ----------
    code : str
        The text.
    name : str
        Of the kernel in it; of a template with its arguments.
    options : sequence of str
        For the compiler; those of NVIDIA's change nothing.
    backend, translate_cucomplex, enable_cooperative_groups, jitify : optional
        As CuPy has them; cooperative groups are refused.
    memory : optional
        The variables of the module that it belongs to.

    Examples
    --------
    >>> import usmx.compat.cupy as cp
    >>> k = cp.RawKernel('extern "C" __global__ void f(float* x) { x[threadIdx.x] += 1; }', "f")
    >>> x = cp.zeros(3, "float32")
    >>> k((1,), (3,), (x,))
    >>> print(x)
    [1., 1., 1.]
    """

    def __init__(
        self,
        code: str,
        name: str,
        options: Sequence[str] = (),
        backend: str = "nvrtc",
        *,
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        jitify: bool = False,
        memory: Memory | None = None,
    ) -> None:
        del jitify
        self.backend = backend
        self.enable_cooperative_groups = False
        self.file_path: str | None = None
        #: What a launch may ask for at most; without effect.
        self.max_dynamic_shared_size_bytes: int = 0
        self.preferred_shared_memory_carveout: int = -1
        if enable_cooperative_groups:
            raise UntranslatableError(
                "enable_cooperative_groups: no device of usmx promises that all blocks run at the "
                "same time; split the kernel where it waits for all"
            )
        if translate_cucomplex:
            raise UntranslatableError("translate_cucomplex: use complex<float> of cupy/complex.cuh")
        self.code = code
        self.name = name
        self.options: tuple[str, ...] = _options(options)
        self._made: dict[tuple[int, tuple[int, ...], int, tuple[int, ...]], Any] = {}
        self._is_cuda: bool = is_cuda(code)
        self._asks_warps: bool = self._is_cuda and asks_warps(code)
        if self._is_cuda:
            check(code)
        self._memory = Memory(code, options) if memory is None else memory
        self._reads: bool = name.partition("<")[0].strip() in self._memory.readers

    def _kernel(
        self,
        shared: int,
        structs: tuple[int, ...] = (),
        queue: _usmx.Queue | None = None,
        flat: tuple[int, ...] = (),
    ) -> Any:
        if not self._is_cuda:
            shared = 0
        warp = about(_usmx.Device() if queue is None else queue.device).warp
        found = self._made.get((shared, structs, warp, flat))
        if found is None:
            text = self.code
            if self._is_cuda:
                if structs:
                    name = self.name.partition("<")[0].strip()
                    text = variables.by_pointer(text, blanked(text), name, structs)
                text = translated(text, shared, warp, flat)
            found = _usmx.RawKernel(text, self.name, self.options)
            self._made[shared, structs, warp, flat] = found
        return found

    def compile(self, log_stream: Any = None) -> None:
        """Compile it now."""
        del log_stream
        self._kernel(0).compile()

    @property
    def kernel(self) -> Any:
        """The kernel of usmx."""
        return self._kernel(0)

    @property
    def max_threads_per_block(self) -> int:
        """The largest block."""
        return int(self._kernel(0).limits().max_work_group_size)

    @property
    def attributes(self) -> dict[str, int]:
        """What CuPy says of a kernel; 0 for what only NVIDIA's compiler knows."""
        return {
            "max_threads_per_block": self.max_threads_per_block,
            "local_size_bytes": int(self._kernel(0).limits().private_memory),
            **dict.fromkeys(
                (
                    "shared_size_bytes", "const_size_bytes", "num_regs", "ptx_version",
                    "binary_version", "cache_mode_ca",
                ), 0
            ),
            "max_dynamic_shared_size_bytes": self.max_dynamic_shared_size_bytes,
            "preferred_shared_memory_carveout": self.preferred_shared_memory_carveout,
        }  # fmt: skip

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name in _OF_NVIDIA:
            return self.attributes[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __call__(
        self, grid: Any, block: Any, args: Sequence[Any], *, shared_mem: int = 0, stream: Any = None
    ) -> None:
        """Launch it.

        Parameters
        ----------
        grid, block : tuple of int
            Blocks, and threads of a block, along x, y and z.
        args : sequence
            Arrays and numbers, for the parameters of the text.
        shared_mem : int
            Bytes for ``extern __shared__``.
        stream : Stream, optional
            Where it is launched.
        """
        try:
            ranges = _ranges(grid, block)
        except TypeError:  # lists have no hash
            ranges = _ranges.__wrapped__(grid, block)
        flat: tuple[int, ...] = ()
        if self._asks_warps and is_cut_at_rows(ranges[1]):
            flat = ranges[1]
            ranges = flattened(*ranges)
        queue = queue_of(stream)
        given: list[Any] = []
        structs: tuple[int, ...] = ()
        for k, a in enumerate(args):
            if type(a) in _NUMBERS:
                given.append(a)
            else:
                if _is_struct(a):
                    structs += (k,)
                given.append(_pointed(a))
        launch: Any = self._kernel(int(shared_mem), structs, queue, flat)[ranges]
        if self._reads:
            given.insert(0, self._memory.array)
        launch(*given, queue=queue) if queue is not None else launch(*given)


class RawModule:
    """Several kernels of one text.

    Parameters
    ----------
    code : str
        The text.
    options : sequence of str
        For the compiler.
    name_expressions : sequence of str, optional
        Names of templates with their arguments; others may be asked for too.
    path, backend, translate_cucomplex, enable_cooperative_groups, jitify : optional
        As CuPy has them; a path to a binary is refused.

    Examples
    --------
    >>> import usmx.compat.cupy as cp
    >>> text = 'extern "C" __global__ void f(float* x) { x[threadIdx.x] += 1; }'
    >>> x = cp.zeros(3, "float32")
    >>> cp.RawModule(code=text).get_function("f")((1,), (3,), (x,))
    >>> print(x)
    [1., 1., 1.]
    """

    def __init__(
        self,
        *,
        code: str | None = None,
        path: str | None = None,
        options: Sequence[str] = (),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        name_expressions: Sequence[str] | None = None,
        jitify: bool = False,
    ) -> None:
        if code is None:
            raise UntranslatableError(f"path: {path!r}; a binary runs on NVIDIA's devices only")
        self.code = code
        self.name_expressions = name_expressions
        self.options: tuple[str, ...] = tuple(options)
        self.backend = backend
        self.file_path: str | None = None
        self.enable_cooperative_groups = False
        self._how: dict[str, Any] = {
            "options": options, "backend": backend, "translate_cucomplex": translate_cucomplex,
            "enable_cooperative_groups": enable_cooperative_groups, "jitify": jitify,
        }  # fmt: skip
        if is_cuda(code):
            check(code)
        self._memory = Memory(code, options)

    def get_function(self, name: str) -> RawKernel:
        """The kernel of that name."""
        return RawKernel(self.code, name, memory=self._memory, **self._how)

    def get_global(self, name: str) -> MemoryPointer:
        """Where a variable of the text is, ``__constant__`` or ``__device__``.

        Parameters
        ----------
        name : str
            Its name.

        Returns
        -------
        MemoryPointer
            ``cp.ndarray(shape, dtype, pointer)`` is an array there.

        Raises
        ------
        ValueError
            The text has no variable of this name.

        Examples
        --------
        >>> weights = cp.ndarray((9,), cp.float32, module.get_global("weights"))
        >>> weights[...] = cp.arange(9)
        """
        return self._memory.variable(name)

    def compile(self, log_stream: Any = None) -> None:
        """Nothing: each kernel is compiled at its first launch."""
        del log_stream


def _preamble(given: str, *expressions: str) -> str:
    """A preamble, with the functions of libdevice that it and the expressions call."""
    whole = blanked("\n".join([given, *expressions]))
    return intrinsics.needed(whole) + TYPEDEF.sub("", given)


class ElementwiseKernel(_usmx.ElementwiseKernel):
    """As `usmx.ElementwiseKernel`, with CuPy's parameters.

    Parameters
    ----------
    in_params, out_params, operation, name, preamble : str
        As of `usmx.ElementwiseKernel`.
    reduce_dims, no_return, return_tuple : bool
        Without effect.
    options : sequence of str
        For the compiler.
    **others : optional
        Others of `usmx.ElementwiseKernel`.

    Examples
    --------
    >>> import usmx.compat.cupy as cp
    >>> square = cp.ElementwiseKernel("T x", "T y", "y = x * x", "square")
    >>> print(square(cp.arange(3)))
    [0, 1, 4]
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        operation: str,
        name: str = "kernel",
        reduce_dims: bool = True,
        preamble: str = "",
        no_return: bool = False,
        return_tuple: bool = False,
        options: Sequence[str] = (),
        **others: Any,
    ) -> None:
        del reduce_dims, no_return, return_tuple
        super().__init__(
            in_params, out_params, operation, name,
            preamble=_preamble(preamble, operation, *map(str, others.values())),
            options=_options(options), **others,
        )  # fmt: skip
        #: How many inputs and outputs it has, and all.
        self.nin: int = len(parts(in_params))
        self.nout: int = len(parts(out_params))
        self.nargs: int = self.nin + self.nout

    def __call__(self, *args: Any, stream: Any = None, block_size: int = -1, **others: Any) -> Any:
        """Launch it.

        Parameters
        ----------
        *args
            Inputs, and outputs behind them.
        stream : Stream, optional
            Where it is launched.
        block_size
            Without effect: usmx chooses.
        **others
            `size`, and all others of `usmx.ElementwiseKernel`.
        """
        del block_size
        if stream is not None:
            others["queue"] = queue_of(stream)
        return super().__call__(*args, **others)


class ReductionKernel(_usmx.ReductionKernel):
    """As `usmx.ReductionKernel`, with CuPy's parameters.

    Parameters
    ----------
    in_params, out_params, map_expr, reduce_expr, post_map_expr, identity, name : str
        As of `usmx.ReductionKernel`.
    reduce_type, preamble : str
        As of `usmx.ReductionKernel`.
    reduce_dims : bool
        Without effect.
    options : sequence of str
        For the compiler.

    Examples
    --------
    >>> import usmx.compat.cupy as cp
    >>> total = cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
    >>> total(cp.arange(4)).item()
    6
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        map_expr: str,
        reduce_expr: str,
        post_map_expr: str,
        identity: Any = None,
        name: str = "reduce_kernel",
        reduce_type: str | None = None,
        reduce_dims: bool = True,
        preamble: str = "",
        options: Sequence[str] = (),
    ) -> None:
        del reduce_dims
        super().__init__(
            in_params, out_params, map_expr, reduce_expr, post_map_expr, identity, name,
            reduce_type=reduce_type, options=_options(options),
            preamble=_preamble(preamble, map_expr, reduce_expr, post_map_expr),
        )  # fmt: skip

    def __call__(self, *args: Any, stream: Any = None, **others: Any) -> Any:
        """Launch it.

        Parameters
        ----------
        *args
            Inputs.
        stream : Stream, optional
            Where it is launched.
        **others
            `out`, `axis` and `keepdims`, and all others of `usmx.ReductionKernel`.
        """
        if stream is not None:
            others["queue"] = queue_of(stream)
        return super().__call__(*args, **others)
