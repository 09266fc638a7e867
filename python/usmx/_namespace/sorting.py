"""Rows of numbers in order: `sort`, `argsort`, `partition`, and places in sorted arrays."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

from .. import _usmx
from .._usmx import ElementwiseKernel, RawKernel, ReductionKernel, ScanKernel, ndarray
from ._common import (
    as_array,
    empty_at,
    in_c_order,
    is_in_c_order,
    kind_of,
    order_of_copy,
    to_axis,
    to_shape,
    turned_back,
)
from ._long_rows import LEAST, LongRow
from ._types import is_bfloat16
from .manipulation import moveaxis

if TYPE_CHECKING:
    import numpy as np

__all__ = ["argpartition", "argsort", "partition", "searchsorted", "sort"]

_INCLUDE = '#include "usmx/sort.hpp"\n'
#: Items of a group, elements of each of them, elements in local memory of short rows.
_ITEMS, _EACH, _SHORT = 256, 8, 1024
#: Rows so long have places that 32 bits do not hold.
_WIDE = 2**32
#: "items" or "groups", in place of what suits the device: for tests.
_ways: str | None = None


# --- kernels -------------------------------------------------------------------------------------

#: The kind of a type -> the form of its elements in kernels/sort.hpp.
_FORMS = {"b": "truth", "u": "natural", "i": "integer", "f": "floating", "c": "complex"}
#: The same by the letter of a type, where that of the kind is another one.
_OWN_FORMS = {"E": "bfloat16"}


class _Elements:
    """How the elements of a type are seen by kernels: as words, or pairs of them."""

    def __init__(self, dtype: Any) -> None:
        self.form = _OWN_FORMS.get(dtype.char, _FORMS[dtype.kind])
        self.parts = 2 if dtype.kind == "c" else 1
        self.size = dtype.itemsize // self.parts
        self.word = f"uint{8 * self.size}_t"
        self.flip = 2 ** (8 * self.size) - 1

    @property
    def is_long(self) -> bool:
        """Numbers of 32 or 64 bits."""
        return self.size >= 4 and self.form in ("natural", "integer", "floating")

    def digits(self, bits: int) -> int:
        """How many digits of so many bits a key has."""
        if self.form == "truth":
            return 1
        each: int = -(-8 * self.size // bits)
        return each if self.parts == 1 else 2 * each + 1

    def words(self, x: ndarray) -> ndarray:
        """The words of a row of elements."""
        return x.view(f"u{self.size}")


_CUT = "int64_t length, int64_t size, int64_t in_row"


@cache
def _kernel(name: str, elements: tuple[str, str], bits: int, places: bool, wide: bool) -> RawKernel:
    form, word = elements
    place = "int64_t" if wide else "uint32_t"
    own = f"usmx::sorting::form::{form}"
    element = f"usmx::sorting::element<{own}, {word}>"
    each = _EACH if word != "uint64_t" else _EACH // 2
    has = "true" if places else "false"
    from_to = f"const {word}* from, {word}* to"
    given = f"(const {element}*)from, ({element}*)to"
    rest = {
        "sort_rows": (
            f"{from_to}, {place}* places, {word}* spare, {place}* spare_places, int64_t* counts, "
            "int64_t rows, int64_t length, int32_t digits, uint64_t flip",
            f"usmx::sorting::sort_rows<{own}, {bits}, {has}>({given}, places, ({element}*)spare, "
            f"spare_places, counts, rows, length, digits, {word}(flip));",
        ),
        "count_chunk": (
            f"const {word}* from, {place}* counts, {_CUT}, int32_t lowest, uint64_t flip",
            f"usmx::sorting::count_chunk<{own}, {bits}>((const {element}*)from, counts, "
            f"{{length, size, in_row}}, lowest, {word}(flip));",
        ),
        "move_chunk": (
            f"{from_to}, const {place}* places, {place}* new_places, const {place}* counts, "
            f"{place}* next, {_CUT}, int32_t lowest, int32_t is_first, uint64_t flip",
            f"usmx::sorting::move_chunk<{own}, {bits}, {has}>({given}, places, new_places, counts, "
            f"next, {{length, size, in_row}}, lowest, is_first != 0, {word}(flip));",
        ),
        "sort_tile": (
            f"{from_to}, {place}* places, int64_t rows, int32_t length, int32_t width, "
            "uint64_t flip",
            f"usmx::local<usmx::sorting::short_rows<{element}, {_SHORT}>> space;\n"
            f"  usmx::sorting::sort_tile<{own}, {has}>(space.get(), {given}, places, rows, length, "
            f"width, {word}(flip));",
        ),
        "count_tile": (
            f"const {word}* from, uint32_t* counts, {_CUT}, int32_t lowest, uint64_t flip",
            f"usmx::local<usmx::sorting::count_space<{bits}, {_ITEMS}>> space;\n"
            f"  usmx::sorting::count_tile<{own}>(space.get(), (const {element}*)from, counts, "
            f"{{length, size, in_row}}, lowest, {word}(flip));",
        ),
        "move_tile": (
            f"{from_to}, const {place}* places, {place}* new_places, const int64_t* before, "
            f"{_CUT}, int32_t lowest, int32_t is_first, uint64_t flip",
            f"usmx::local<usmx::sorting::tile_space<{element}, {place}, {bits}, {_ITEMS}, {each}>> "
            f"space;\n  usmx::sorting::move_tile<{own}, {bits}, {has}>(space.get(), {given}, "
            f"places, new_places, before, {{length, size, in_row}}, lowest, is_first != 0, "
            f"{word}(flip));",
        ),
    }  # fmt: skip
    parameters, body = rest[name]
    return RawKernel(f"{_INCLUDE}USMX_KERNEL(1) {name}({parameters}) {{\n  {body}\n}}\n", name)


@cache
def _before_kernel() -> ScanKernel:
    return ScanKernel(
        "uint32 x", "int64 y", "x", "a + b", identity="0", exclusive=True, name="sort_before"
    )


@cache
def _differing_kernel(form: str) -> ReductionKernel:
    key = f"usmx::sorting::key<usmx::sorting::form::{form}>"
    return ReductionKernel(
        "T x, raw T all, T flip", "T bits", f"{key}(x, flip) ^ {key}(T(all[0]), flip)", "a | b",
        "bits = a", "0", "sort_differing", preamble=_INCLUDE,
    )  # fmt: skip


class _Sorter:
    """Sorts the rows of one array; its memory in between is of the device."""

    def __init__(self, x: ndarray, rows: int, length: int, descending: bool, places: bool) -> None:
        self.x, self.rows, self.length, self.places = x, rows, length, places
        self.elements = _Elements(x.dtype)
        self.flip = self.elements.flip if descending else 0
        self.wide = length >= _WIDE
        self.place = "int64" if self.wide else "uint32"
        self.words = rows * length * self.elements.parts

    def new(self, count: int, dtype: str) -> ndarray:
        return _usmx.empty(count, dtype, usm_type="device", queue=self.x.queue)

    def new_words(self) -> ndarray:
        return self.new(self.words, f"u{self.elements.size}")

    def new_places(self) -> ndarray:
        return self.new(self.rows * self.length if self.places else 1, self.place)

    def kernel(self, name: str, bits: int, places: bool | None = None) -> RawKernel:
        return _kernel(
            name,
            (self.elements.form, self.elements.word),
            bits,
            self.places if places is None else places,
            self.wide,
        )

    def all_digits(self, bits: int) -> list[int]:
        """The lowest bit of each digit."""
        return [bits * number for number in range(self.elements.digits(bits))]

    def long_row(self, begin: int = 0) -> LongRow:
        """The row that begins at an element, for the way of `are_long`."""
        words = self.elements.words(self.x[begin : begin + self.length])
        return LongRow(words, self.elements.form, self.flip, self.wide)

    def sort_long(
        self, row: LongRow, begin: int, in_order: ndarray | None, order: ndarray | None
    ) -> None:
        at = slice(begin, begin + self.length)
        row.sort(
            None if in_order is None else self.elements.words(in_order.reshape(-1)[at]),
            None if order is None else order.reshape(-1)[at],
        )

    @property
    def are_long(self) -> bool:
        """Whether the rows are sorted one after the other by kernels for a CPU."""
        in_groups = _ways == "groups" if _ways else not self.x.device.is_cpu
        many = self.rows >= 2 * self.x.device.max_compute_units
        return (
            not in_groups and not many and self.elements.is_long
            and self.length >= (LEAST if self.rows == 1 else 16 * LEAST)
        )  # fmt: skip

    def digits_that_differ(self, source: ndarray, bits: int) -> list[int]:
        """The same, without the bits that are equal in all keys; the host waits for these."""
        every = self.all_digits(bits)
        if len(every) == 1 or self.elements.parts > 1:
            return every
        left = int(_differing_kernel(self.elements.form)(source, source, self.flip).item())
        found = []
        while left:
            lowest = (left & -left).bit_length() - 1
            found.append(lowest)
            left = left >> (lowest + bits) << (lowest + bits)
        return found or every[:1]  # one pass copies elements that are all the same

    def run(self, to: ndarray) -> ndarray:
        """Writes the sorted rows, and gives where each element was in its row."""
        device = self.x.device
        in_groups = _ways == "groups" if _ways else not device.is_cpu
        source, target = self.elements.words(self.x), self.elements.words(to)
        if in_groups:
            if self.length <= _SHORT:
                return self.by_group(source, target)
            each = _EACH if self.elements.size < 8 else _EACH // 2
            return self.by_tiles(source, target, _ITEMS * each)
        units = device.max_compute_units
        if self.rows >= 2 * units or self.length < 16384:
            return self.by_item(source, target, min(self.rows, 8 * units))
        return self.by_chunks(source, target, 4 * units)

    def by_item(self, source: ndarray, target: ndarray, items: int) -> ndarray:
        bits = 8
        places = self.new_places()
        with_spare = self.length > 32
        spare, spare_places = (
            (self.new_words(), self.new_places()) if with_spare else (target, places)
        )
        counts = self.new(items << bits if with_spare else 1, "int64")
        self.kernel("sort_rows", bits)[(items,), (1,)](
            source, target, places, spare, spare_places, counts,
            self.rows, self.length, self.elements.digits(bits), self.flip,
        )  # fmt: skip
        return places

    def by_group(self, source: ndarray, target: ndarray) -> ndarray:
        width = max(2, 1 << (self.length - 1).bit_length())
        groups = -(-self.rows // (_SHORT // width))
        places = self.new_places()
        self.kernel("sort_tile", 0)[(groups * _ITEMS,), (_ITEMS,)](
            source, target, places, self.rows, self.length, width, self.flip
        )
        return places

    def by_chunks(self, source: ndarray, target: ndarray, most: int) -> ndarray:
        bits = 11 if self.elements.size >= 4 else 8
        in_row = max(1, min(most, self.length // (8 << bits)))
        size = -(-self.length // in_row)
        in_row = -(-self.length // size)
        items = self.rows * in_row
        counts = self.new(items << bits, self.place)
        following = self.new(2 * items << bits, self.place)
        cut = (self.length, size, in_row)

        def go(
            x: ndarray, to: ndarray, places: ndarray, new: ndarray, lowest: int, first: bool
        ) -> None:
            count = self.kernel("count_chunk", bits, False)
            count[(items,), (1,)](x, counts, *cut, lowest, self.flip)
            self.kernel("move_chunk", bits)[(items,), (1,)](
                x, to, places, new, counts, following, *cut, lowest, int(first), self.flip
            )

        return self.passes(source, target, self.digits_that_differ(source, bits), go)

    def by_tiles(self, source: ndarray, target: ndarray, size: int) -> ndarray:
        bits = 4
        in_row = -(-self.length // size)
        groups = self.rows * in_row
        counts = self.new(groups << bits, "uint32")
        cut = (self.length, size, in_row)

        def go(
            x: ndarray, to: ndarray, places: ndarray, new: ndarray, lowest: int, first: bool
        ) -> None:
            self.kernel("count_tile", bits, False)[(groups * _ITEMS,), (_ITEMS,)](
                x, counts, *cut, lowest, self.flip
            )
            before = _before_kernel()(counts.reshape(self.rows, in_row << bits), axis=1)
            self.kernel("move_tile", bits)[(groups * _ITEMS,), (_ITEMS,)](
                x, to, places, new, before.reshape(-1), *cut, lowest, int(first), self.flip
            )

        return self.passes(source, target, self.all_digits(bits), go)

    def passes(self, source: ndarray, target: ndarray, digits: list[int], go: Any) -> ndarray:
        """One pass for each digit, from one memory to the other; the last one ends in `target`."""
        spare = self.new_words() if len(digits) > 1 else target
        places, other = self.new_places(), self.new_places()
        now = source
        for number, lowest in enumerate(digits):
            to = target if (len(digits) - number) % 2 else spare
            go(now, to, other, places, lowest, number == 0)
            now, places, other = to, other, places
        return other


def sort_rows(
    x: ndarray, descending: bool = False, places: bool = True, values: bool = True
) -> tuple[Any, Any]:
    """The last axis of an array in order, and where each element was in it, as int64.

    What is not asked for may be None.
    """
    length = x.shape[-1]
    rows = x.size // length if length else 0
    if x.size == 0:
        return empty_at(x, x.shape), empty_at(x, x.shape, "int64")
    few = _usmx._few_argsort(x, -1, descending) if places else None
    if few is not None or not places:
        line = _usmx._few_sort(x, -1, descending) if values or not places else None
        if few is not None or line is not None:
            return line, few
    if not x.flags.c_contiguous or not x._is_aligned():
        x = x.copy()
    sorter = _Sorter(x.reshape(-1), rows, length, descending, places)
    if sorter.are_long:
        in_order = empty_at(x, x.shape) if values or not places else None
        order = empty_at(x, x.shape, "int64") if places else None
        for begin in range(0, x.size, length):
            sorter.sort_long(sorter.long_row(begin), begin, in_order, order)
        return in_order, order
    in_order = empty_at(x, x.shape)
    found = sorter.run(in_order.reshape(-1))
    if not places:
        return in_order, None
    order = empty_at(x, x.shape, "int64")
    order[...] = found.reshape(x.shape)
    return in_order, order


def different_or_sorted(x: ndarray) -> tuple[ndarray, ndarray | None]:
    """The different elements of one row in order and where each begins, if counting shows them.

    Otherwise the sorted row and None.
    """
    if x.size and x.flags.c_contiguous and x._is_aligned():
        sorter = _Sorter(x, 1, x.size, False, False)
        if sorter.are_long:
            row = sorter.long_row()
            if row.is_counted:
                values, starts, number = row.different()
                count = int(number.item())
                found = empty_at(x, count)
                sorter.elements.words(found)[...] = values[:count]
                return found, starts[:count]
            in_order = empty_at(x, x.shape)
            sorter.sort_long(row, 0, in_order, None)
            return in_order, None
    return sort_rows(x, False, False)[0], None


# --- functions -----------------------------------------------------------------------------------


def _sortable(x: Any, name: str = "x") -> ndarray:
    if isinstance(x, (bool, int, float, complex)):
        raise TypeError(f"{name}: {x!r} ({type(x).__name__}); expected an array")
    a = as_array(x)
    if a.dtype.kind not in _FORMS:
        raise TypeError(f"{name}: is of {a.dtype}; expected numbers, which have an order")
    return a


def _check_kind(kind: str | None, order: Any) -> None:
    if order is not None:
        raise ValueError(
            f"order: {order!r}; expected None, because arrays of numbers have no fields"
        )
    if kind not in (None, "quicksort", "mergesort", "heapsort", "stable", "radixsort"):
        raise ValueError(f"kind: {kind!r}; expected None or 'stable', all sorts are stable")


def _along(x: ndarray, axis: SupportsIndex | None) -> tuple[ndarray, int]:
    """The axis as the last one, and which it was; all elements in C order for None."""
    if axis is None:
        return x.reshape(-1), 0
    at = to_axis(axis, x.ndim)
    return (x if at == x.ndim - 1 else moveaxis(x, at, -1)), at


def _turned(x: ndarray, axis: SupportsIndex) -> tuple[ndarray, list[int], int]:
    """The view in C order, or nearly, of what a copy of `x` is, its order, and where the axis is.

    NumPy sorts in a copy, so results have the order of axes of the array.
    """
    order = order_of_copy(x)
    at = order.index(to_axis(axis, x.ndim))
    return in_c_order(x.permute(order)), order, at


def sort(
    a: ndarray,
    axis: SupportsIndex | None = -1,
    kind: str | None = None,
    order: None = None,
    *,
    descending: bool = False,
    stable: bool | None = True,
) -> ndarray:
    """Give the elements in order along an axis.

    Parameters
    ----------
    a : array
        Of any type of numbers. Complex ones are ordered by their real parts, equal ones of these
        by their imaginary parts.
    axis : int, optional
        None sorts all elements in one dimension.
    kind, order : optional
        As NumPy's; they change nothing.
    descending : bool, optional
        Whether the largest element comes first. NaN is at the end in both directions.
    stable : bool, optional
        Every sort is stable: equal elements, such as -0.0 and 0.0, stay in their order.

    Returns
    -------
    ndarray
        Of the shape and type of `a`, in one dimension without an axis.

    Raises
    ------
    IndexError
        An axis that `a` does not have.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.sort(usmx.asarray([[3, 1], [2, 5]])))
    [[1, 3],
     [2, 5]]
    """
    _check_kind(kind, order)
    if axis is not None and isinstance(a, ndarray) and not is_in_c_order(a):
        turned, axes, at = _turned(_sortable(a), axis)
        return turned_back(sort(turned, at, descending=descending), axes)
    if (few := _usmx._few_sort(a, axis, bool(descending))) is not None:
        return few
    a = _sortable(a)
    rows, at = _along(a, axis)
    values: ndarray = sort_rows(rows, bool(descending), False)[0]
    return values if at == values.ndim - 1 else in_c_order(moveaxis(values, -1, at))


def argsort(
    a: ndarray,
    axis: SupportsIndex | None = -1,
    kind: str | None = None,
    order: None = None,
    *,
    descending: bool = False,
    stable: bool | None = True,
) -> ndarray:
    """Give the indices that put the elements in order along an axis, as int64; see `sort`.

    ``take_along_axis(x, argsort(x, axis=k), axis=k)`` is ``sort(x, axis=k)``. Indices of equal
    elements ascend, in both directions.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.argsort(usmx.asarray([30, 10, 20])))
    [1, 2, 0]
    """
    _check_kind(kind, order)
    if (few := _usmx._few_argsort(a, axis, bool(descending))) is not None:
        return few
    a = _sortable(a)
    rows, at = _along(a, axis)
    places: ndarray = sort_rows(rows, bool(descending), True, False)[1]
    return places if at == places.ndim - 1 else in_c_order(moveaxis(places, -1, at))


def sort_in_place(
    x: ndarray,
    axis: SupportsIndex = -1,
    kind: str | None = None,
    order: None = None,
    *,
    descending: bool = False,
    stable: bool | None = True,
) -> None:
    """Put the elements of an array in order along an axis; see `sort`."""
    if x.flags.writable is False:
        raise ValueError("x: sort destination is read-only")
    to_axis(axis, x.ndim)
    x[...] = sort(x, axis, kind, order, descending=descending, stable=stable)


def _places(x: ndarray, kth: Any, axis: SupportsIndex | None) -> list[int]:
    """The places that are asked for, from 0 up, in order and none twice."""
    length = x.size if axis is None else x.shape[to_axis(axis, x.ndim)]
    places = set()
    if x.size == 0:
        return []  # nothing has a place, and NumPy refuses none
    for place in to_shape(kth):
        if not -length <= place < length:
            raise ValueError(f"kth: {place} is out of bounds for an axis of length {length}")
        places.add(place % length)
    return sorted(places)


#: Elements that are sorted sooner than they are copied to the host and back.
_FEW = 1024
#: Whether a CPU selects, in place of what suits its rows: for tests.
_selects: bool | None = None


def selects(x: ndarray) -> bool:
    """Whether single elements of sorted rows (the last axis) are found without sorting them.

    On a CPU one thread of the host does so in less time than it takes a few of them to sort. Many
    threads sort many rows sooner; on a GPU all of it stays there.
    """
    if not x.device.is_cpu or is_bfloat16(x.dtype):
        return False
    if _selects is not None:
        return _selects
    units = x.device.max_compute_units
    rows = x.size // max(x.shape[-1], 1)
    return x.size > _FEW and (units <= 8 or rows < 2 * units)


def on_host(x: ndarray) -> np.ndarray:
    """A copy of the elements for NumPy, in which each true is 1."""
    host = x.to_numpy()
    return host.view("u1") != 0 if host.dtype.kind == "b" else host


def partition(
    a: ndarray,
    kth: SupportsIndex | Sequence[SupportsIndex],
    axis: SupportsIndex | None = -1,
    kind: str | None = None,
    order: None = None,
) -> ndarray:
    """Give the elements with those of `kth` where `sort` has them.

    Smaller ones, and equal ones, stand before each of them, larger ones, and equal ones, behind
    it, in any order. NaN is at the end.

    Parameters
    ----------
    x : array
        As for `sort`.
    kth : int or sequence of int
        Places along the axis; negative ones count from its end.
    axis : int, optional
        None takes all elements in one dimension.
    kind, order : optional
        As NumPy's; they change nothing.

    Raises
    ------
    ValueError
        A `kth` outside of the axis.

    Examples
    --------
    >>> import usmx
    >>> usmx.partition(usmx.asarray([7, 1, 5, 3]), 1)[1].item()
    3
    """
    a = _sortable(a)
    places = _places(a, kth, axis)
    if axis is not None and not is_in_c_order(a):
        turned, axes, at = _turned(a, axis)
        return turned_back(partition(turned, places, at), axes)
    rows, at = _along(a, axis)
    if not selects(rows):
        return sort(a, axis)
    host = on_host(rows)
    host.partition(places, axis=-1)
    made: ndarray = _usmx.asarray(host, usm_type=kind_of(a), queue=a.queue)
    return made if at == made.ndim - 1 else in_c_order(moveaxis(made, -1, at))


def argpartition(
    a: ndarray,
    kth: SupportsIndex | Sequence[SupportsIndex],
    axis: SupportsIndex | None = -1,
    kind: str | None = None,
    order: None = None,
) -> ndarray:
    """Give the indices that make what `partition` gives, as int64.

    Examples
    --------
    >>> import usmx
    >>> x = usmx.asarray([7, 1, 5, 3])
    >>> usmx.argpartition(x, 0)[0].item()
    1
    """
    a = _sortable(a)
    places = _places(a, kth, axis)
    rows, at = _along(a, axis)
    if not selects(rows):
        return argsort(a, axis)
    host = on_host(rows).argpartition(places, axis=-1)
    made: ndarray = _usmx.asarray(host, usm_type=kind_of(a), queue=a.queue)
    return made if at == made.ndim - 1 else in_c_order(moveaxis(made, -1, at))


def partition_in_place(
    x: ndarray,
    kth: SupportsIndex | Sequence[SupportsIndex],
    axis: SupportsIndex = -1,
    kind: str | None = None,
    order: None = None,
) -> None:
    """Put the elements of `kth` where `sort` has them; see `partition`."""
    if x.flags.writable is False:
        raise ValueError("x: partition destination is read-only")
    x[...] = partition(x, kth, axis)


@cache
def _search_kernel(right: bool, sorter: bool) -> ElementwiseKernel:
    at = "T(sorted[sorter[k]])" if sorter else "T(sorted[k])"
    return ElementwiseKernel(
        "T value, raw T sorted, int64 count" + (", raw int64 sorter" if sorter else ""),
        "int64 place",
        f"place = usmx::sorting::place_of<{'true' if right else 'false'}>(value, count, "
        f"[&](int64_t k) {{ return {at}; }})",
        "searchsorted",
        preamble=_INCLUDE,
    )


def places_in(
    x: ndarray, values: ndarray, right: bool = False, sorter: ndarray | None = None
) -> ndarray:
    """How many elements of a sorted array come before each value, or do not come after it."""
    few = _usmx._few_search(x, values, right) if sorter is None else None
    if few is not None:
        return few
    out = empty_at(values, values.shape, "int64")
    if values.size == 0:
        return out
    if x.size == 0:
        out[...] = 0
        return out
    if x.dtype.kind == "b":  # the CPU's compiler gets comparisons of bools in loops wrong
        x, values = x.astype("uint8"), values.astype("uint8")
    more = () if sorter is None else (sorter,)
    _search_kernel(right, sorter is not None)(values, x, x.size, *more, out)
    return out


def searchsorted(
    a: ndarray,
    v: Any,
    side: Literal["left", "right"] = "left",
    sorter: ndarray | None = None,
) -> ndarray:
    """Give where values would stand in a sorted array.

    Parameters
    ----------
    a : array
        One dimension; in order, as `sort` gives it, or by way of `sorter`.
    v : array or number
        The values, of any shape.
    side : {'left', 'right'}, optional
        Whether a value stands before or after elements that equal it.
    sorter : array of integers, optional
        The indices that put `a` in order, as `argsort` gives them.

    Returns
    -------
    ndarray
        Of the shape of `v`, as int64.

    Raises
    ------
    ValueError
        `a` has not one dimension, `side` is none of both, or `sorter` has another length.
    IndexError
        An index of `sorter` is outside of `a`.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.searchsorted(usmx.asarray([10, 20, 30]), usmx.asarray([5, 20, 99])))
    [0, 1, 3]
    """
    from .data_types import result_type
    from .indexing import check_indices

    if not isinstance(a, ndarray) and isinstance(v, ndarray):
        a = as_array(a, v)
    a = _sortable(a, "a")
    if a.ndim != 1:
        raise ValueError(f"a: has shape {a.shape}; expected one dimension")
    if side not in ("left", "right"):
        raise ValueError(f"side: {side!r}; expected 'left' or 'right'")
    if isinstance(v, (bool, int, float, complex)):
        dtype = result_type(a, v)
        values = _usmx.full((), v, dtype, usm_type=kind_of(a), queue=a.queue)
    else:
        values = _sortable(as_array(v, a), "v")
        dtype = result_type(a, values)
    order = None
    if sorter is not None:
        order = as_array(sorter, a)
        if order.dtype.kind not in "iu":
            raise TypeError(f"sorter: of {order.dtype}; expected an array of integers")
        if order.shape != a.shape:
            raise ValueError(f"sorter: has shape {order.shape}; expected {a.shape}, as a has")
        order = order.astype("int64", copy=False)
        check_indices(order, a.size, 0)
        order = (order + a.size) % a.size if a.size else order
    return places_in(
        a.astype(dtype, copy=False), values.astype(dtype, copy=False), side == "right", order
    )
