"""Questions about all elements of an array that is one piece, as a CPU answers them.

What the kernels do stands in kernels/whole.hpp. Each function gives None where another way is
taken: on a GPU, of few elements, or of a layout or a type that the kernels do not have.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from functools import cache
from typing import Any

from .. import _usmx
from .._usmx import RawKernel, ndarray
from ._common import empty_at

_INCLUDE = '#include "usmx/whole.hpp"\n'
#: Elements from which it is worth two launches.
LEAST = 1 << 15
#: Bytes of a block, and of the one that is looked at before all others; items of a group.
_BLOCK, _FIRST, _ITEMS = 1 << 16, 1 << 14, 16


def suits(x: ndarray, axis: Any, types: str) -> bool:
    """Whether all elements of an array are asked for, and are such as the kernels take."""
    return (
        (axis is None or (x.ndim == 1 and axis != ()))
        and x.size >= LEAST
        and x.dtype.kind in types
        and x.dtype.itemsize in (1, 4, 8)
        and x.device._groups_are_loops
        and x.flags.c_contiguous
        and bool(x._is_aligned())
    )


#: What a kernel takes after the elements and how many these are, and calls.
_TEXTS = {
    "look_at_first": ("int32_t* found, bool* answer", "<{0}>(x, size, found, answer)"),
    "look_at_rest": ("int32_t* found, bool* answer", "<{0}>(x, size, found, answer)"),
    "count_in_block": ("int64_t* counts", "(x, size, counts)"),
    "add_counts": ("int64_t* result", "(x, size, result)"),
    "extreme_of_block": ("T* values, int32_t* nans", "<{0}>(x, size, values, nans)"),
    "place_of_extreme": (
        "const T* values, const int32_t* nans, int64_t blocks, int64_t* place",
        "<{0}>(x, size, values, nans, blocks, place)",
    ),
}


@cache
def _kernel(name: str, char: str, which: bool = False) -> RawKernel:
    import numpy as np

    from .._kernel.types.scalars import cpp

    parameters, call = _TEXTS[name]
    text = f"const T* x, int64_t size, {parameters}".replace("T*", f"{cpp(np.dtype(char))}*")
    call = call.format("true" if which else "false")
    return RawKernel(
        f"{_INCLUDE}USMX_KERNEL(1) {name}({text}) {{\n  usmx::whole::{name}{call};\n}}\n", name
    )


def _run(name: str, char: str, groups: int, *given: Any, which: bool = False) -> None:
    _kernel(name, char, which)[(groups * _ITEMS,), (_ITEMS,)](*given)


def _bits(x: ndarray) -> ndarray:
    """Bytes of bools as numbers, for a foreign true need not be 1."""
    x = x.reshape(-1)
    return x.view("uint8") if x.dtype.kind == "b" else x


def _blocks(x: ndarray) -> int:
    """How many groups go through an array."""
    return max(1, min(int(x.nbytes) // _BLOCK, 64 * x.device.max_compute_units))


def _result(x: ndarray, made: ndarray, keepdims: bool) -> ndarray:
    return made.reshape((1,) * x.ndim) if keepdims else made


def has(x: ndarray, zero: bool, keepdims: bool) -> ndarray:
    """Whether no element is 0 (`zero`), or one is not: a bool."""
    flat = _bits(x)
    char = flat.dtype.char
    found = _usmx.empty(1, "int32", usm_type="device", queue=x.queue)
    answer = empty_at(x, (), "bool")
    first = _FIRST // flat.dtype.itemsize
    _run("look_at_first", char, 1, flat, first, found, answer, which=zero)
    rest = flat[first:]
    _run("look_at_rest", char, _blocks(rest), rest, rest.size, found, answer, which=zero)
    return _result(x, answer, keepdims)


def count_nonzero(x: ndarray, keepdims: bool) -> ndarray:
    """How many elements are not 0, as int64."""
    flat = _bits(x)
    groups = _blocks(flat)
    counts = _usmx.empty(groups * _ITEMS, "int64", usm_type="device", queue=x.queue)
    result = empty_at(x, (), "int64")
    _run("count_in_block", flat.dtype.char, groups, flat, flat.size, counts)
    _kernel("add_counts", "q")[(1,), (1,)](counts, counts.size, result)
    return _result(x, result, keepdims)


def place(x: ndarray, largest: bool, keepdims: bool) -> ndarray:
    """Where the largest or the smallest element is first, or the first NaN, as int64."""
    # Bytes of bools that are neither 0 nor 1 are equal, and the first of them is the place.
    flat = x.reshape(-1).astype("uint8") if x.dtype.kind == "b" else _bits(x)
    char, groups = flat.dtype.char, _blocks(flat)
    values = _usmx.empty(groups * _ITEMS, flat.dtype, usm_type="device", queue=x.queue)
    nans = _usmx.empty(groups * _ITEMS, "int32", usm_type="device", queue=x.queue)
    result = empty_at(x, (), "int64")
    _run("extreme_of_block", char, groups, flat, flat.size, values, nans, which=largest)
    _kernel("place_of_extreme", char, largest)[(1,), (1,)](
        flat, flat.size, values, nans, groups, result
    )
    return _result(x, result, keepdims)
