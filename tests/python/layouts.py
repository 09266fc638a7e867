"""The layouts, types and kinds of memory that every operation and every protocol supports.

A law is tested for all of them: a layout added here is tested everywhere.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

KINDS = ("device", "shared", "host")
# NumPy's letters: `q` and `l` are two types of C with the same elements.
DTYPES = tuple("?bBhHiIlLqQefdFD")


@dataclass(frozen=True)
class Layout:
    """Where elements lie in a block, in elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...] | None = None
    offset: int = 0

    def of(self, flat: np.ndarray) -> np.ndarray:
        """The same elements of a NumPy array: what every library has to see."""
        strides = self.strides
        if strides is not None:
            strides = tuple(s * flat.itemsize for s in strides)
        return np.lib.stride_tricks.as_strided(flat[self.offset :], self.shape, strides)

    @property
    def empty(self) -> bool:
        return 0 in self.shape

    @property
    def negative(self) -> bool:
        """Whether an element lies below the one with all indices zero."""
        axes = zip(self.shape, self.strides or self.shape, strict=True)
        return any(stride < 0 and length > 1 for length, stride in axes)


LAYOUTS = {
    "contiguous": Layout((4, 6)),
    "one element": Layout((1,)),
    "scalar": Layout(()),
    "scalar at an offset": Layout((), (), 7),
    "offset": Layout((3, 5), None, 11),
    "strided": Layout((5,), (3,)),
    "strided at an offset": Layout((3, 4), (50, 7), 2),
    "transposed": Layout((6, 4), (1, 6)),
    "Fortran order at an offset": Layout((2, 3, 4), (1, 2, 6), 5),
    "reversed": Layout((8,), (-1,), 7),
    "reversed in part": Layout((3, 4), (10, -2), 30),
    "reversed in all axes": Layout((2, 3, 4), (-12, -4, -1), 100),
    "repeated": Layout((3, 4), (0, 1)),
    "repeated scalar": Layout((2, 2), (0, 0), 9),
    "empty": Layout((0,)),
    "empty among others": Layout((3, 0, 2)),
    "axes of length one": Layout((1, 5, 1), (999, 2, -7), 4),
    "seven axes": Layout((2, 1, 2, 2, 1, 2, 3), (48, 1, 24, 12, 1, 6, 2)),
}

# With axes long enough for work-groups to share them.
LONG_LAYOUTS = {
    "long": Layout((6, 40, 21)),
    "long, transposed": Layout((21, 40, 6), (1, 21, 840)),
    "long, every other": Layout((3, 40, 7), (1680, 21, 3)),
    "long, reversed": Layout((6, 20, 21), (-840, -42, 1), 5019),
    "long, rows of two": Layout((6, 40, 2), (840, 21, 1)),
    "long, repeated": Layout((6, 40, 21), (840, 0, 1)),
    "long, one axis": Layout((5000,), (-1,), 5020),
}

# Where outputs of any shape lie: the shape of an array around them, and which part they are.
PLACES: dict[str, tuple[Callable[[tuple[int, ...]], tuple[int, ...]], Callable[..., Any]]] = {
    "contiguous": (lambda shape: shape, lambda a, shape: a),
    "Fortran order": (lambda shape: shape[::-1], lambda a, shape: a.T),
    "reversed": (
        lambda shape: shape,
        lambda a, shape: a[(..., *(slice(None, None, -1) for _ in shape))],
    ),
    "with gaps": (
        lambda shape: tuple(2 * n + 2 for n in shape),
        lambda a, shape: a[(..., *(slice(1, 1 + 2 * n, 2) for n in shape))],
    ),
}


def numbers(size: int, dtype: Any, seed: int = 0) -> np.ndarray:
    """Small numbers, of which sums are exact in every type."""
    values = (np.arange(size) * (seed + 3) + seed) % 7
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return values % 3 == 0
    return (values + 1j * (values % 5)).astype(dtype) if dtype.kind == "c" else values.astype(dtype)
