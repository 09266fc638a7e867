"""Local memory as an argument of a launch."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import operator
from collections.abc import Sequence

from ..types import scalars
from ..types.scalars import Scalar


class LocalMemory:
    """An argument that stands for local memory, so that its size is chosen at the launch.

    Parameters
    ----------
    shape : int or tuple of int
        Lengths.
    dtype : dtype-like
        Type of the elements.

    Examples
    --------
    >>> import usmx
    >>> @usmx.kernel
    ... def reverse(item, x, kept):
    ...     i, n = item.get_local_id(0), item.get_local_range(0)
    ...     kept[i] = x[i]
    ...     usmx.barrier()
    ...     x[i] = kept[n - 1 - i]
    >>> x = usmx.arange(4, dtype="int32")
    >>> reverse[4, 4](x, usmx.LocalMemory(4, "int32")).wait()
    >>> x.tolist()
    [3, 2, 1, 0]
    """

    def __init__(self, shape: int | Sequence[int], dtype: object) -> None:
        given = (shape,) if isinstance(shape, int) else shape
        if not isinstance(given, Sequence):
            raise TypeError(f"shape: {shape!r}; expected an int or a tuple of ints")
        lengths = tuple(operator.index(n) for n in given)
        if not lengths or any(n < 1 for n in lengths):
            raise ValueError(f"shape: {shape!r}; expected positive lengths")
        element = scalars.named(dtype)
        if element is None or element.weak:
            raise TypeError(
                f"dtype: {dtype!r} is not supported; expected the dtype of an element, such as "
                "usmx.float32"
            )
        self.shape: tuple[int, ...] = lengths
        self.dtype: Scalar = element
        #: What a launch compares instead of the object.
        self._kernel_key = f"local {lengths} {element.name}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LocalMemory) and (self.shape, self.dtype) == (
            other.shape,
            other.dtype,
        )

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def __repr__(self) -> str:
        return f"usmx.LocalMemory({self.shape}, {self.dtype.name!r})"
