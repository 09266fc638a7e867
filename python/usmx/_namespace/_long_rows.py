"""One long row of numbers in order, on a CPU; what its kernels do stands in kernels/sort_long.hpp.

The host looks at which bits differ before it chooses: a row of few different numbers is counted,
and not moved at all.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from functools import cache
from typing import Any

from .. import _usmx
from .._usmx import RawKernel, ReductionKernel, ndarray

_INCLUDE = '#include "usmx/sort_long.hpp"\n'
#: As in kernels/sort_long.hpp.
_TABLES = 4
#: Elements from which a row is worth several kernels, and a wait between them.
LEAST = 16384
#: Bytes of a bucket: a processor finds the addresses of so many pages at once.
_BUCKET = 65536
#: Buckets have at least this part of a row: a pass over all of it writes to no more places.
_PART = 512

_CUT = "int64_t length, int64_t size, int64_t in_row"


@cache
def _looking_kernel(form: str) -> ReductionKernel:
    """Which bits of floats differ, and whether keys lose any; of integers the least and the most.

    Integers are compared as keys.
    """
    own = f"usmx::sorting::form::{form}"
    if form == "floating":
        first, second = "x ^ T(all[0])", f"usmx::sorting::is_lost<{own}>(x)"
        join = "a.first | b.first), T(a.second | b.second"
    else:
        first = second = f"usmx::sorting::key<{own}>(x, T(0))"
        join = "a.first < b.first ? a.first : b.first), T(a.second > b.second ? a.second : b.second"
    return ReductionKernel(
        "T x, raw T all", "T first, T second", f"looked{{T({first}), T({second})}}",
        f"looked{{T({join})}}", "first = a.first, second = a.second", None, "sort_looking",
        reduce_type="looked", preamble=f"{_INCLUDE}struct looked {{ T first, second; }};\n",
    )  # fmt: skip


@cache
def _kernel(name: str, form: str, word: str, place: str, exact: bool, places: bool) -> RawKernel:
    own = f"usmx::sorting::form::{form}"
    is_exact, has = ("true" if yes else "false" for yes in (exact, places))
    kind = f"{own}, {is_exact}, {has}, {word}, {place}"
    element = f"usmx::sorting::travelling<{kind}>::type"
    cut, flip = "usmx::sorting::chunks{length, size, in_row}", f"{word}(flip)"
    window = f"const {word}* from, int32_t lowest, int32_t bits, uint64_t base, uint64_t flip"
    prefixes = (
        f"usmx::sorting::prefixes<{own}, {is_exact}, {word}>"
        f"{{from, lowest, bits, {word}(base), {flip}}}"
    )
    moved = f"const uint16_t* bucket_of, {place}* next, {_CUT}, int64_t buckets"
    parameters, call = {
        "count_prefixes": (
            f"{window}, {place}* counts, {_CUT}",
            f"count_prefixes({prefixes}, counts, {cut})",
        ),
        "cut_buckets": (
            f"{window}, const {place}* counts, uint16_t* bucket_of, {place}* next, "
            "int64_t* starts, int64_t chunks, int64_t limit, int64_t buckets",
            f"cut_buckets({prefixes}, counts, bucket_of, next, starts, chunks, limit, buckets)",
        ),
        "move_to_buckets": (
            f"{window}, uint8_t* to, {moved}",
            f"move_to_buckets<{kind}>({prefixes}, ({element}*)to, bucket_of, next, {cut}, buckets)",
        ),
        "sort_bucket": (
            f"uint8_t* x, uint8_t* y, {word}* values, int32_t has_values, int64_t* places, "
            "const int64_t* starts, uint64_t flip",
            f"sort_bucket<{own}, {is_exact}, {has}, {place}>(({element}*)x, ({element}*)y, values, "
            f"has_values != 0, places, starts, {flip})",
        ),
        "list_prefixes": (
            f"{window}, const {place}* counts, {word}* values, int64_t* starts, int64_t* number, "
            "int64_t chunks",
            f"list_prefixes({prefixes}, counts, values, starts, number, chunks)",
        ),
        "fill_in_order": (
            f"const {word}* values, const int64_t* starts, const int64_t* number, {word}* to, "
            f"{_CUT}",
            f"fill_in_order(values, starts, number, to, {cut})",
        ),
        "place_in_order": (
            f"{window}, int64_t* places, {moved}",
            f"place_in_order({prefixes}, places, bucket_of, next, {cut}, buckets)",
        ),
    }[name]  # fmt: skip
    return RawKernel(
        f"{_INCLUDE}USMX_KERNEL(1) {name}({parameters}) {{\n  usmx::sorting::{call};\n}}\n", name
    )


class LongRow:
    """A contiguous row of words of 32 or 64 bits, and what the host knows of it.

    Attributes
    ----------
    is_counted : bool
        Few bits differ, and elements of one key have one pattern of bits: counting them is enough.
    """

    def __init__(self, words: ndarray, form: str, flip: int, wide: bool) -> None:
        self.words, self.form, self.flip = words, form, flip
        self.size = int(words.dtype.itemsize)
        self.place = "int64" if wide else "uint32"
        length = words.size
        chunks = max(1, min(4 * words.device.max_compute_units, length >> 15))
        step = -(-length // chunks)
        self.chunks = -(-length // step)
        self.cut = (length, step, self.chunks)

        first, second = (int(x.item()) for x in _looking_kernel(form)(words, words))
        base = low = 0
        self.exact = True
        if form != "floating":
            top = (second - first).bit_length()
            base = first ^ (1 << 8 * self.size - 1) if form == "integer" else first
        elif second:  # of keys that are not made of all bits of an element, any bit may differ
            top, self.exact = 8 * self.size, False
        else:
            top, low = first.bit_length(), max((first & -first).bit_length() - 1, 0)
        most = 12 if length < 1 << 22 else 14
        bits = min(max(top - low, 1), most)
        self.is_counted = self.exact and top - low <= most
        self.window = (words, max(top - bits, 0), bits, base, flip)
        self.prefixes = 1 << bits
        self.counts = self.new(self.chunks * _TABLES * self.prefixes, self.place)
        self.run("count_prefixes", self.chunks, *self.window, self.counts, *self.cut)

    def new(self, count: int, dtype: str) -> ndarray:
        return _usmx.empty(count, dtype, usm_type="device", queue=self.words.queue)

    def run(self, name: str, items: int, *arguments: Any, places: bool = False) -> None:
        kernel = _kernel(
            name, self.form, f"uint{8 * self.size}_t", f"{self.place}_t", self.exact, places
        )
        kernel[(items,), (1,)](*arguments)

    def different(self) -> tuple[ndarray, ndarray, ndarray]:
        """The different words in order, where each begins, and how many there are, if counted."""
        values = self.new(self.prefixes, f"u{self.size}")
        starts, number = self.new(self.prefixes + 1, "int64"), self.new(1, "int64")
        self.run("list_prefixes", 1, *self.window, self.counts, values, starts, number, self.chunks)
        return values, starts, number

    def buckets(self, limit: int, most: int) -> tuple[ndarray, ndarray, ndarray]:
        """The bucket of each prefix, where the elements of chunks go, and where buckets begin."""
        bucket_of = self.new(self.prefixes, "uint16")
        following = self.new(self.chunks * most, self.place)
        starts = self.new(most + 1, "int64")
        self.run(
            "cut_buckets", 1, *self.window, self.counts, bucket_of, following, starts,
            self.chunks, limit, most,
        )  # fmt: skip
        return bucket_of, following, starts

    def sort(self, values: ndarray | None, places: ndarray | None) -> None:
        """Writes the words in order, or where they were, as int64, or both."""
        if self.is_counted:
            self.sort_by_counts(values, places)
        else:
            self.sort_by_buckets(values, places)

    def sort_by_counts(self, values: ndarray | None, places: ndarray | None) -> None:
        if values is not None:
            self.run("fill_in_order", self.chunks, *self.different(), values, *self.cut)
        if places is not None:
            bucket_of, following, _ = self.buckets(0, self.prefixes)
            self.run(
                "place_in_order", self.chunks, *self.window, places, bucket_of, following,
                *self.cut, self.prefixes,
            )  # fmt: skip

    def sort_by_buckets(self, values: ndarray | None, places: ndarray | None) -> None:
        length = self.words.size
        has = places is not None
        size = self.size + (8 if self.place == "int64" else 4) if has else self.size
        limit = max(_BUCKET // size, length // _PART)
        most = 2 * (length // limit) + 2
        bucket_of, following, starts = self.buckets(limit, most)
        x = self.new(length * size, "uint8")
        y = values if values is not None and not has else self.new(length * size, "uint8")
        self.run(
            "move_to_buckets", self.chunks, *self.window, x, bucket_of, following, *self.cut,
            most, places=has,
        )  # fmt: skip
        self.run(
            "sort_bucket", most, x, y.view("uint8"),
            self.new(1, f"u{self.size}") if values is None else values, int(values is not None),
            self.new(1, "int64") if places is None else places, starts, self.flip, places=has,
        )  # fmt: skip
