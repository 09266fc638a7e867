"""Indexing with arrays: ``x[mask]``, ``x[indices]`` and assignment to them, as in NumPy."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from .. import _usmx
from .._kernel.types.scalars import cpp
from .._usmx import ElementwiseKernel, RawKernel, ReductionKernel, ScanKernel, ndarray
from ._common import (
    apart_from,
    as_array,
    empty_at,
    imported,
    is_in_c_order,
    is_integer,
    kind_of,
    order_of_copy,
    turned_back,
)
from ._types import is_bfloat16

# --- kernels -------------------------------------------------------------------------------------


def as_bits(x: ndarray) -> ndarray:
    """The elements as integers of their size, because moving them needs no other kernels."""
    if x.itemsize in (1, 2, 4, 8) and x._is_aligned():
        return x.view(f"u{x.itemsize}")
    return x


def _position(indices: int, rest: int) -> str:
    """C++ of the place of an element: from indices first, then from the last axes of the range."""
    terms = [f"i{k} < 0 ? i{k} + x.shape()[{k}] : i{k}" for k in range(indices)]
    terms += [f"_ind.get()[_ind.ndim - {rest - k}]" for k in range(rest)]
    return f"ptrdiff_t index[] = {{{', '.join(terms)}}};"


@cache
def _gather_kernel(indices: int, rest: int) -> ElementwiseKernel:
    parameters = ", ".join(["raw T x", *(f"int64 i{k}" for k in range(indices))])
    return ElementwiseKernel(
        parameters, "T z", f"{_position(indices, rest)} z = x[index];", "gather"
    )


@cache
def _checked_gather_kernel(rest: int) -> ElementwiseKernel:
    """The same with an index that may be outside: then it says so, and reads the first element."""
    return ElementwiseKernel(
        "raw T x, int64 k",
        "T z, raw int32 found",
        "const bool outside = k < -x.shape()[0] || k >= x.shape()[0];\n"
        "if (outside) found[0] = 1;\n"
        f"const int64_t i0 = outside ? 0 : k;\n{_position(1, rest)} z = x[index];",
        "checked_gather",
    )


@cache
def _scatter_kernel(indices: int, rest: int, among: str = "") -> ElementwiseKernel:
    """Writes each value at its place, or of those for one place the last.

    That is found among all places ("few"), or in a table of the last turn of each ("many").
    """
    parameters = ["T value", *(f"int64 i{k}" for k in range(indices))]
    store = f"{_position(indices, rest)} x[index] = value;"
    if among:
        more, look = {
            "few": (
                "int64 turn, raw int64 others, int64 count",
                "bool last = true;\n"
                "for (int64_t k = turn + 1; k < count; ++k) last &= others[k] != place;",
            ),
            "many": ("K turn, raw K latest", "const bool last = latest[place] == turn;"),
        }[among]
        parameters += ["int64 place", more]
        store = f"{look}\nif (last) {{ {store} }}"
    name = f"scatter_{among}" if among else "scatter"
    return ElementwiseKernel(", ".join(parameters), "raw T x", store, name)


@cache
def _place_kernel(indices: int) -> ElementwiseKernel:
    """The place of an element among all that its indices can reach."""
    lines = ["z = 0;"]
    lines += [f"z = z * n{k} + (i{k} < 0 ? i{k} + n{k} : i{k});" for k in range(indices)]
    parameters = ", ".join(f"int64 i{k}, int64 n{k}" for k in range(indices))
    return ElementwiseKernel(parameters, "int64 z", "\n".join(lines), "index_place")


@cache
def _some_turn_kernel() -> ElementwiseKernel:
    return ElementwiseKernel(
        "int64 place, K turn", "raw K latest", "atomic_store(&latest[place], turn);", "some_turn"
    )


@cache
def _last_turn_kernel() -> ElementwiseKernel:
    """After `_some_turn_kernel`: a table whose other elements nothing has written."""
    return ElementwiseKernel(
        "int64 place, K turn",
        "raw K latest",
        "if (atomic_load(&latest[place]) < turn) atomic_max(&latest[place], turn);",
        "last_turn",
    )


_IS_OUTSIDE = "k < -length || k >= length"


@cache
def _outside_kernel() -> ReductionKernel:
    """The largest index outside of an axis, where there is one: no index can mean that none is."""
    return ReductionKernel(
        "int64 k, int64 length",
        "int64 z",
        f"{_IS_OUTSIDE} ? k : INT64_MIN",
        "a > b ? a : b",
        "z = a",
        "INT64_MIN",
        "index_outside",
    )


@cache
def _count_outside_kernel() -> ReductionKernel:
    """How many indices are outside of an axis."""
    return ReductionKernel(
        "int64 k, int64 length", "int64 z", f"{_IS_OUTSIDE} ? 1 : 0", "a + b", "z = a", "0",
        "count_indices_outside",
    )  # fmt: skip


@cache
def _any_outside_kernel() -> ElementwiseKernel:
    """Whether any is; all items that find one write the same."""
    return ElementwiseKernel(
        "int64 k, int64 length",
        "raw int32 found",
        f"if ({_IS_OUTSIDE}) found[0] = 1;",
        "any_index_outside",
    )


@cache
def _ends_kernel() -> ScanKernel:
    return ScanKernel("int32 c", "int64 end", "c", "a + b", name="mask_ends")


#: Of a group, and elements of the mask that it has: those of kernels/masks.hpp.
_MASK_ITEMS, _MASK_TILE = 256, 4096


@cache
def _mask_kernel(name: str, mask: str, elements: str, in_groups: bool) -> RawKernel:
    """A function of kernels/masks.hpp for a type of masks, and of the elements that it moves."""
    parameters = f"const {mask}* m, int64_t size, int64_t chunk, "
    given = f"{'space.get(), ' if in_groups else ''}m, size, chunk, own"
    moved, put = {
        "count": ("", ""),
        "places": (", int64_t* to", "places{to}"),
        "compact": (
            f", const {elements}* from, {elements}* to",
            f"compact<{elements}>{{from, to}}",
        ),
        "expand": (
            f", const {elements}* from, {elements}* to",
            f"expand<{mask}, {elements}>{{m, from, to}}",
        ),
    }[name]
    if put:
        parameters += "const int32_t* own, const int64_t* ends"
        call = f"each({given}, ends, usmx::masks::{put})"
    else:
        parameters += "int32_t* own"
        call = f"count({given})"
    space = "  usmx::local<usmx::masks::tile_space> space;\n" if in_groups else ""
    return RawKernel(
        f'#include "usmx/masks.hpp"\nUSMX_KERNEL(1) mask_{name}({parameters}{moved}) {{\n'
        f"{space}  usmx::masks::{call};\n}}\n",
        f"mask_{name}",
    )


@cache
def _rows_kernel(elements: str, checks: bool) -> RawKernel:
    """The function of kernels/gather.hpp; it says that an index is outside if it `checks`."""
    found, act = (", int32_t* found", "found[0] = 1;") if checks else ("", "")
    return RawKernel(
        f'#include "usmx/gather.hpp"\nUSMX_KERNEL(1) gather_rows(const {elements}* x, '
        f"const int64_t* indices, {elements}* z, int64_t length, int64_t row, int64_t size, "
        f"int64_t chunk{found}) "
        "{\n  usmx::gathering::rows(x, indices, z, length, row, size, chunk, [&](int64_t) { "
        f"{act} }});\n}}\n",
        "gather_rows",
    )


#: Shorter rows are gathered element by element, in bytes.
_SHORT_ROW = 64


def _gather_rows(
    x: ndarray, indices: list[ndarray], out: ndarray, found: ndarray | None = None
) -> bool:
    """Gathers whole rows where the device is a processor and they are long enough, or does not."""
    if len(indices) != 1 or not x.device._groups_are_loops or x.ndim < 2:
        return False
    (index,) = indices
    row = prod(x.shape[1:])
    if row * x.itemsize < _SHORT_ROW or index.dtype != np.int64 or x.itemsize not in (1, 2, 4, 8):
        return False
    if not all(one.flags.c_contiguous and one._is_aligned() for one in (x, index, out)):
        return False
    size = out.size // row
    if index.size != size:
        return False
    # A chunk is worth starting an item, and no core has one that is much longer than others.
    chunk = max(-(-size // (8 * x.device.max_compute_units)), (1 << 14) // (row * x.itemsize), 1)
    bits = as_bits(x)
    _rows_kernel(cpp(bits.dtype), found is not None)[(-(-size // chunk),), (1,)](
        bits.reshape(-1), index.reshape(-1), as_bits(out).reshape(-1), x.shape[0], row, size, chunk,
        *(() if found is None else (found,)),
    )  # fmt: skip
    return True


@cache
def _join_kernel(elements: str) -> RawKernel:
    numbers = range(_JOINED)
    arrays = "".join(f"const {elements}* x{k}, int64_t n{k}, " for k in numbers)
    each = [", ".join(f"{name}{k}" for k in numbers) for name in "xn"]
    return RawKernel(
        f'#include "usmx/gather.hpp"\nUSMX_KERNEL(1) join_runs({arrays}{elements}* z, '
        f"int64_t chunk) {{\n  const {elements}* const from[] = {{{each[0]}}};\n"
        f"  const int64_t sizes[] = {{{each[1]}}};\n"
        "  usmx::gathering::join(from, sizes, z, chunk);\n}\n",
        "join_runs",
    )


#: Arrays that a launch joins.
_JOINED = 8


def join_runs(arrays: Sequence[ndarray], out: ndarray) -> bool:
    """Writes contiguous arrays behind each other with all cores of a processor, or does not."""
    if not out.device._groups_are_loops or out.nbytes < 1 << 20 or out.itemsize not in (1, 2, 4, 8):
        return False
    if not all(
        x.flags.c_contiguous and x._is_aligned() and x.dtype == out.dtype and x.queue == out.queue
        for x in (*arrays, out)
    ):
        return False
    to = as_bits(out).reshape(-1)
    given = [as_bits(x).reshape(-1) for x in arrays if x.size]
    begin = 0
    for first in range(0, len(given), _JOINED):
        part = given[first : first + _JOINED]
        size = sum(x.size for x in part)
        runs = [one for x in part for one in (x, x.size)]
        runs += [to, 0] * (_JOINED - len(part))
        chunk = max(-(-size // (4 * out.device.max_compute_units)), 1 << 14)
        _join_kernel(cpp(to.dtype))[(-(-size // chunk),), (1,)](
            *runs, to[begin : begin + size], chunk
        )
        begin += size
    return True


def gather(x: ndarray, indices: list[ndarray], out: ndarray) -> None:
    """``out[...] = x[indices]`` for the first axes of x; indices broadcast to those of `out`."""
    if out.size == 0 or _gather_rows(x, indices, out):
        return
    x, out, indices, rest = _flat_rest(x, out, indices)
    _gather_kernel(len(indices), rest)(as_bits(x), *indices, as_bits(out))


def checked_gather(x: ndarray, indices: ndarray, out: ndarray, axis: int) -> None:
    """The same for the first axis; IndexError if an index is outside, which `axis` names.

    A processor checks in the pass that gathers; the host reads one number.
    """
    length = x.shape[0]
    if not out.size or not length or not indices.device._groups_are_loops:
        check_indices(indices, length, axis)
        return gather(x, [indices], out)
    found = _usmx.zeros(1, "int32", usm_type="host", queue=indices.queue)
    if not _gather_rows(x, [indices], out, found):
        x, out, (shaped,), rest = _flat_rest(x, out, [indices])
        _checked_gather_kernel(rest)(as_bits(x), shaped, as_bits(out), found)
    if found.to_numpy()[0]:
        check_indices(indices, length, axis)


@cache
def _put_in_turn_kernel(elements: str) -> RawKernel:
    return RawKernel(
        f'#include "usmx/gather.hpp"\nUSMX_KERNEL(1) put_in_turn({elements}* x, '
        f"const int64_t* places, const {elements}* values, int64_t length, int64_t count) "
        "{\n  usmx::gathering::put_in_turn(x, places, values, length, count);\n}\n",
        "put_in_turn",
    )


#: Each reads all indices, so more of them than this would gain nothing.
_MOST_PARTS = 8


def _put_in_turn(x: ndarray, place: ndarray, value: ndarray) -> bool:
    """Writes value after value, as NumPy does, where the device is a processor, or does not."""
    if not x.device._groups_are_loops or x.itemsize not in (1, 2, 4, 8):
        return False
    if value.size != place.size or not all(
        one.flags.c_contiguous and one._is_aligned() for one in (x, place, value)
    ):
        return False
    bits = as_bits(x)
    _put_in_turn_kernel(cpp(bits.dtype))[
        (min(x.device.max_compute_units, _MOST_PARTS, x.size),), (1,)
    ](bits.reshape(-1), place, as_bits(value).reshape(-1), x.size, place.size)
    return True


#: Up to so many indices each item looks for an equal one among those behind its own.
_FEW_INDICES = 128


def scatter(x: ndarray, indices: list[ndarray], value: ndarray, are_distinct: bool = False) -> None:
    """``x[indices] = value`` for the first axes of x; of equal indices the last one's value stays.

    The items of a kernel have no order, so of equal indices only the last one's item may write.
    """
    if value.size == 0:
        return
    rest = x.ndim - len(indices)
    # The kernel writes anywhere in x: what it reads must not be there.
    value, *indices = (apart_from(x, one) for one in (value, *indices))
    shape = np.broadcast_shapes(*(i.shape for i in indices))
    shaped = [i.reshape(i.shape + (1,) * rest) for i in indices]
    count, lengths = prod(shape), x.shape[: len(indices)]
    if are_distinct or count < 2 or not any(value.strides[: value.ndim - rest]):
        _scatter_kernel(len(indices), rest)(as_bits(value), *shaped, as_bits(x))
        return
    pairs = [one for pair in zip(indices, lengths, strict=True) for one in pair]
    place: ndarray = _place_kernel(len(indices))(*pairs).reshape(-1)
    is_few = count <= _FEW_INDICES
    if not is_few and rest == 0 and _put_in_turn(x, place, value):
        return
    turn = _usmx.arange(
        count,
        dtype="int64" if is_few or count >> 31 else "int32",
        usm_type=place.usm_type,
        queue=place.queue,
    )
    seen: tuple[Any, ...] = (place, count)
    if not is_few:
        # Only the elements that are asked for are written, and read.
        latest = _usmx.empty(prod(lengths), turn.dtype, usm_type="device", queue=place.queue)
        _some_turn_kernel()(place, turn, latest)
        _last_turn_kernel()(place, turn, latest)
        seen = (latest,)
    behind = shape + (1,) * rest
    _scatter_kernel(len(indices), rest, "few" if is_few else "many")(
        as_bits(value), *shaped, place.reshape(behind), turn.reshape(behind), *seen, as_bits(x)
    )


def _flat_rest(
    x: ndarray, out: ndarray, indices: list[ndarray]
) -> tuple[ndarray, ndarray, list[ndarray], int]:
    """Takes the axes without indices as one where their layout allows it."""
    count = len(indices)
    rest = x.ndim - count
    inner = out.shape[out.ndim - rest :]
    if rest > 1:
        try:
            flat = x.reshape((*x.shape[:count], prod(inner)), copy=False)
            out = out.reshape((*out.shape[: out.ndim - rest], prod(inner)), copy=False)
            x, rest = flat, 1
        except ValueError:
            pass
    if rest == 1 and x.shape[-1] == 1:
        x, out, rest = x[..., 0], out[..., 0], 0
    return x, out, [i.reshape(i.shape + (1,) * rest) for i in indices], rest


# --- masks ---------------------------------------------------------------------------------------


@dataclass
class _Counted:
    """A mask as chunks, and how many elements of it are not 0."""

    mask: ndarray
    chunk: int
    own: ndarray
    """How many there are in each chunk."""
    ends: ndarray
    """How many there are up to the end of each chunk."""
    total: int

    def run(self, name: str, *arrays: ndarray) -> None:
        """A function of kernels/masks.hpp, which gets these arrays too."""
        moved = cpp(arrays[-1].dtype) if name in ("compact", "expand") else ""
        in_groups = not self.mask.device._groups_are_loops
        kernel = _mask_kernel(name, cpp(self.mask.dtype), moved, in_groups)
        # Vectors of items that go their own ways take a processor four times as long as one by one.
        items, group = self.own.size, 1
        if in_groups:
            items, group = items * _MASK_ITEMS, _MASK_ITEMS
        kernel[(items,), (group,)](self.mask, self.mask.size, self.chunk, self.own, *arrays)


def _plain(x: ndarray) -> ndarray:
    """The elements behind each other, as bits."""
    flat = as_bits(x.reshape(-1))
    return flat if flat.flags.c_contiguous and flat._is_aligned() else flat.copy()


def count(mask: ndarray) -> _Counted:
    """Counts what a mask selects; the host reads the number."""
    flat = mask.reshape(-1)
    if flat.dtype.kind in "biu":
        flat = as_bits(flat)
    if not flat.flags.c_contiguous or not flat._is_aligned():
        flat = flat.copy()
    chunk = 1024 if mask.device._groups_are_loops else _MASK_TILE
    own = empty_at(mask, -(-flat.size // chunk), "int32")
    counted = _Counted(flat, chunk, own, empty_at(mask, 0, "int64"), 0)
    if flat.size:
        counted.run("count")
        counted.ends = _ends_kernel()(own)
        counted.total = int(counted.ends[-1].item())
    return counted


def places(mask: ndarray) -> ndarray:
    """The numbers, in C order, of the elements that are not 0."""
    counted = count(mask)
    out = empty_at(mask, counted.total, "int64")
    if counted.total:
        counted.run("places", counted.ends, out)
    return out


def unravel(flat: ndarray, shape: tuple[int, ...]) -> list[ndarray]:
    """Indices along each axis from numbers in C order."""
    result = []
    step = prod(shape)
    for axis, length in enumerate(shape):
        step //= max(length, 1)
        index = flat // step if step > 1 else flat
        result.append(index % length if axis and length else index)
    return result


def compact(x: ndarray, mask: ndarray) -> ndarray:
    """``x[mask]`` for a mask of the shape of x."""
    counted = count(mask)
    out = empty_at(x, counted.total, None, mask)
    if counted.total:
        counted.run("compact", counted.ends, _plain(x), as_bits(out))
    return out


# --- keys ----------------------------------------------------------------------------------------


_ARRAYS = (ndarray, np.ndarray)


@dataclass
class _Selection:
    """What a key with arrays selects: elements of a view, at indices along its first axes."""

    view: ndarray
    indices: list[ndarray]
    shape: tuple[int, ...]
    """That of the indices together."""
    place: int
    """Before which of the other axes those of the indices stand in the result."""
    operands: list[ndarray]
    """The arrays of indices as they were given, for the kind of memory of the result."""

    @property
    def result_shape(self) -> tuple[int, ...]:
        rest = self.view.shape[len(self.indices) :]
        return (*rest[: self.place], *self.shape, *rest[self.place :])

    def order(self) -> list[int]:
        """The axes of the result when those of the indices stand first."""
        rank = len(self.shape)
        first = range(self.place, self.place + rank)
        others = len(self.view.shape) - len(self.indices)
        return [*first, *(a for a in range(rank + others) if a not in first)]


def _is_integer(item: Any) -> bool:
    if isinstance(item, (bool, np.bool_)) or getattr(item, "ndim", 0) != 0:
        return False
    return is_integer(item)


def _as_indices(item: Any, x: ndarray) -> Any:
    """An item of a key that holds several indices: an array of ours, or NumPy's on the host."""
    if isinstance(item, ndarray):
        values: Any = item
    elif isinstance(item, (np.ndarray, np.generic, bool)):
        values = np.asarray(item)
    elif isinstance(item, (list, tuple)):
        if any(isinstance(one, ndarray) for one in item):
            values = _usmx.asarray([one.tolist() if isinstance(one, ndarray) else one
                                    for one in item], queue=x.queue)  # fmt: skip
        else:
            values = np.asarray(item)
            if values.size == 0:
                values = values.astype(np.int64)
    elif imported(item) is not None or (
        not hasattr(item, "__getitem__") and _usmx._offers_elements(item)
    ):
        values = as_array(item, x)
    else:  # ranges, buffers and other sequences
        values = np.asarray(item)
        if values.size == 0:
            values = values.astype(np.int64)
    if values.dtype.kind not in "biu":
        raise IndexError(f"index: an array of {values.dtype}; expected arrays of integers or bools")
    return values


def as_indices(values: ndarray) -> ndarray:
    """Integers as int32 or int64, so that there are not kernels for each of their types."""
    return values if values.dtype.char in "il" else values.astype("int64", copy=False)


def _to_device(values: Any, x: ndarray) -> ndarray:
    if isinstance(values, np.ndarray) and values.dtype.kind != "b":
        values = values.astype(np.int64, copy=False)
        # A processor reads memory of the host as well, which takes no command to write.
        if x.device._is_host and kind_of(x) == "device":
            return _usmx.asarray(values, usm_type="host", queue=x.queue)
    given = as_array(values, x)
    return given if given.dtype.kind == "b" else as_indices(given)


def _check(values: Any, length: int, axis: int) -> None:
    """IndexError if an index is outside of an axis of that length; the host reads one number."""
    if values.size == 0:
        return
    if isinstance(values, np.ndarray):
        low, high = int(values.min()), int(values.max())
        outside = low if low < -length else high if high >= length else None
    else:
        outside = None
        if values.device._groups_are_loops:  # a pass without sums takes a fifth of the time there
            found = _usmx.zeros(1, "int32", usm_type="host", queue=values.queue)
            _any_outside_kernel()(values, length, found)
            is_outside = bool(found.to_numpy()[0])
        else:
            is_outside = bool(_count_outside_kernel()(values, length).item())
        if is_outside:
            outside = int(_outside_kernel()(values, length).item())
    if outside is not None:
        raise IndexError(f"index {outside} is out of bounds for axis {axis} with size {length}")


def check_indices(values: Any, length: int, axis: int) -> None:
    """Raises IndexError if one of the indices is outside of an axis."""
    _check(values, length, axis)


def _items_of(x: ndarray, key: Any) -> list[Any]:
    """The items of a key, with an ellipsis among them and arrays for what holds several indices."""
    given: list[Any] = [
        item
        if item is None or item is Ellipsis or isinstance(item, slice) or _is_integer(item)
        else _as_indices(item, x)
        for item in (key if isinstance(key, tuple) else (key,))
    ]
    dots = sum(item is Ellipsis for item in given)
    if dots > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    used = sum(map(_axes_of, given))
    if used > x.ndim:
        raise IndexError(
            f"too many indices for array: array is {x.ndim}-dimensional, but {used} were indexed"
        )
    return given if dots else [*given, Ellipsis]


def _axes_of(item: Any) -> int:
    """How many axes an item of a key selects from."""
    if item is None or item is Ellipsis:
        return 0
    return item.ndim if isinstance(item, _ARRAYS) and item.dtype.kind == "b" else 1


def _indices_of(item: Any, x: ndarray, axis: int) -> list[Any]:
    """For each axis that an array in a key selects from the indices along it, which are inside."""
    if item.dtype.kind != "b":
        at_device = _to_device(item, x)
        _check(item if isinstance(item, np.ndarray) else at_device, x.shape[axis], axis)
        return [at_device]
    if item.ndim == 0:  # for an axis of length one
        return [as_array(np.zeros(int(bool(item)), np.int64), x)]
    around = x.shape[axis : axis + item.ndim]
    # As in NumPy, a mask without elements need not have all the lengths.
    fits = all(m in (n, 0) for m, n in zip(item.shape, around, strict=False))
    if not fits or len(around) != item.ndim:
        raise IndexError(f"index: a mask of shape {item.shape} does not fit dimensions of {around}")
    if isinstance(item, np.ndarray):
        return [_to_device(one, x) for one in item.nonzero()]
    return unravel(places(item), item.shape)


def _select(x: ndarray, key: Any) -> _Selection:
    given = _items_of(x, key)
    more = x.ndim - sum(map(_axes_of, given))
    basic: list[Any] = []
    indices: list[ndarray] = []
    first: list[int] = []  # the axes of the view that have indices
    advanced: list[bool] = []
    place = -1
    axis = new_axis = 0  # of x, and of the view
    for item in given:
        is_array = isinstance(item, _ARRAYS)
        is_view = item is None or item is Ellipsis or isinstance(item, slice)
        advanced.append(not is_view)
        if not is_view and place < 0:
            place = new_axis
        if item is Ellipsis:
            basic += [slice(None)] * more
            axis, new_axis = axis + more, new_axis + more
        elif not is_array:
            basic.append(item)
            axis, new_axis = axis + (item is not None), new_axis + is_view
        else:
            found = _indices_of(item, x, axis)
            basic += [slice(None) if item.ndim or item.dtype.kind != "b" else None] * len(found)
            indices += found
            first += range(new_axis, new_axis + len(found))
            axis, new_axis = axis + _axes_of(item), new_axis + len(found)
    try:
        shape = np.broadcast_shapes(*(one.shape for one in indices))
    except ValueError:
        shapes = " and ".join(str(one.shape) for one in indices)
        raise IndexError(f"index: arrays of shapes {shapes} cannot be broadcast") from None
    operands = indices
    indices = [one.reshape((1,) * (len(shape) - one.ndim) + one.shape) for one in indices]
    view = x[tuple(basic)]
    view = view.transpose([*first, *(a for a in range(view.ndim) if a not in first)])
    begins = sum(now and not before for before, now in pairwise([False, *advanced]))
    return _Selection(view, indices, shape, place if begins == 1 else 0, operands)


def _only_mask(x: ndarray, key: Any) -> ndarray | None:
    """The mask if the key is nothing else and the mask is as large as x."""
    if isinstance(key, tuple) and len(key) == 1:
        key = key[0]
    if isinstance(key, (np.ndarray, ndarray)) and key.dtype.kind == "b" and key.shape == x.shape:
        return _to_device(key, x)
    return None


# Kernels move numbers: records are rows of their bytes, along an axis behind all others.


def bytes_of(x: ndarray) -> ndarray:
    """Records as their bytes, along one more axis."""
    return x[..., None].view("uint8")


def records_of(x: ndarray, dtype: Any) -> ndarray:
    """The records of which `bytes_of` made bytes."""
    return x.view(dtype)[..., 0]


def _of_bytes(key: Any) -> tuple[Any, ...]:
    """A key of records as that of their bytes."""
    items = key if isinstance(key, tuple) else (key,)
    return (*items, slice(None) if any(item is ... for item in items) else ...)


def get(x: ndarray, key: Any) -> ndarray:
    """``x[key]`` for keys with arrays or lists of indices, or masks.

    Raises
    ------
    IndexError
        An index outside of its axis, a mask of another shape, too many indices, shapes that do
        not fit together.
    """
    if x.dtype.names is not None:
        return records_of(get(bytes_of(x), _of_bytes(key)), x.dtype)
    mask = _only_mask(x, key)
    if mask is not None and x.ndim:
        return compact(x, mask)
    chosen = _select(x, key)
    first, more = len(chosen.indices), len(chosen.shape)
    view = chosen.view
    kept: Sequence[int] = range(view.ndim - first)
    if len(kept) > 1 and not is_in_c_order(view):
        # Behind the axes of the indices the others, in the order in which they stand in memory.
        order = [axis - first for axis in order_of_copy(view) if axis >= first]
        if order != list(kept):
            view = view.permute([*range(first), *(first + axis for axis in order)])
            kept = order
    out = empty_at(x, (*chosen.shape, *view.shape[first:]), None, *chosen.operands)
    gather(view, chosen.indices, out)
    if kept != range(len(kept)):
        out = turned_back(out, [*range(more), *(more + axis for axis in kept)])
    order = chosen.order()
    back = sorted(range(len(order)), key=order.__getitem__)
    return out.transpose(back) if back != list(range(len(back))) else out


def _value_for(x: ndarray, value: Any) -> ndarray:
    """What is assigned: of the type of x, where x is, and in other memory than x."""
    given = imported(value)
    if given is None:
        if isinstance(value, (bool, int, float, complex)):
            return _usmx.full((), value, x.dtype, usm_type="device", queue=x.queue)
        if isinstance(value, (list, tuple)) and not is_bfloat16(x.dtype):
            value = np.asarray(value, x.dtype)  # its errors of complex and of large numbers
        elif not isinstance(value, (list, tuple)) and _usmx._offers_elements(value):
            value = _usmx.asarray(value, usm_type="host", queue=x.queue).to_numpy()
        value = np.asarray(value)
        if value.dtype != x.dtype:
            with np.errstate(all="ignore"):
                value = value.astype(x.dtype)
        given = as_array(value, x)
    return apart_from(x, given).astype(x.dtype, copy=False)


def put(x: ndarray, key: Any, value: Any) -> None:
    """``x[key] = value`` for keys with arrays or lists of indices, or masks.

    Where indices are equal, the value of the last one stays.

    Raises
    ------
    IndexError
        As `get`.
    ValueError
        The value cannot be broadcast to the elements, or `x` is read-only.
    """
    if x.flags.writable is False:
        raise ValueError("x: assignment destination is read-only")
    if x.dtype.names is not None:
        records = value if isinstance(value, ndarray) else as_array(np.asarray(value, x.dtype), x)
        put(bytes_of(x), _of_bytes(key), bytes_of(records.astype(x.dtype, copy=False)))
        return
    given = _value_for(x, value)
    mask = _only_mask(x, key)
    if mask is not None and x.ndim:
        _put_mask(x, mask, given)
        return
    chosen = _select(x, key)
    wanted = chosen.result_shape
    while given.ndim > len(wanted) and given.shape[0] == 1:
        given = given[0]
    try:
        given = _usmx.broadcast_to(given, wanted)
    except ValueError:
        raise ValueError(
            f"value: of shape {given.shape} cannot be broadcast to the indexed elements, "
            f"which have shape {wanted}"
        ) from None
    scatter(chosen.view, chosen.indices, given.transpose(chosen.order()))


def _put_mask(x: ndarray, mask: ndarray, value: ndarray) -> None:
    from .elementwise import where

    if value.size == 1 and value.ndim <= 1:
        if x.size:
            where(mask, value.reshape(()), x, out=x)
        return
    counted = count(apart_from(x, mask))
    if value.shape != (counted.total,):
        raise ValueError(
            f"value: of shape {value.shape} cannot be assigned to the {counted.total} elements "
            "where the mask is true"
        )
    if counted.total:
        whole = x if x.flags.c_contiguous and x._is_aligned() else x.copy()
        counted.run("expand", counted.ends, _plain(value), as_bits(whole.reshape(-1)))
        if whole is not x:
            x[...] = whole
