"""How many elements there are of each kind: `histogram`, `bincount`, `digitize`."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache
from math import ceil, isqrt, log2, pi
from typing import Any, NamedTuple, SupportsIndex

import numpy as np

from .. import _usmx
from .._kernel.types.scalars import cpp
from .._usmx import ElementwiseKernel, RawKernel, ScanKernel, ndarray
from . import indexing, sorting
from ._common import as_array, empty_at, is_integer, kind_of
from .elementwise import where
from .sorting import sortable

#: Of fewer elements the bins are an array first, in kernels that searches have too.
_LEAST_BETWEEN = 1 << 12
#: Of a group that counts in local memory.
_ITEMS = 256
#: Counts that it holds; each is a program of its own. 32 KiB of local memory are on all devices.
_SPACES = (1 << 10, 1 << 13)

__all__ = ["bincount", "digitize", "histogram", "histogram_bin_edges"]


class _Counter(NamedTuple):
    """Counts of each item, or of each group in local memory, and their sum."""

    parts: int
    """Items or groups."""
    copies: int
    """Rows of counts in each part, so that equal numbers do not wait for each other."""
    space: int
    """Counts that the local memory of a group holds; 0 where an item counts in a chunk."""

    def run(self, x: ndarray, bins: int, kernel: RawKernel, *arguments: Any) -> ndarray:
        """What `kernel` counts in `x`: ``kernel(x, counts, *arguments, cut..., bins, ...)``."""
        if self.space:
            counts = empty_at(x, bins, "int64")
            counts[...] = 0
            launch = kernel[(self.parts * _ITEMS,), (_ITEMS,)]
            launch(x, counts, *arguments, x.size, bins, self.copies)
            return counts
        size = -(-x.size // self.parts)
        items = -(-x.size // size)
        each = _usmx.empty((items * self.copies, bins), "int64", usm_type="device", queue=x.queue)
        kernel[(items,), (1,)](x, each.reshape(-1), *arguments, x.size, size, items, bins)
        from .statistics import sum as sum_of

        return sum_of(each, axis=0, out=empty_at(x, bins, "int64"))

    def kernel(self, function: str, parameters: str, arguments: str) -> RawKernel:
        """A function of kernels/sort.hpp that counts, whose first parameters are these."""
        if self.space:
            cut = "int64_t size, int64_t bins, int64_t copies"
            given = "size, bins, copies"
            begin, call = f"  usmx::local<uint32_t[{self.space}]> space;\n", "(space.get(), "
        else:
            cut = "int64_t length, int64_t size, int64_t in_row, int64_t bins"
            given = "{length, size, in_row}, bins"
            begin, call = "", f"<{self.copies}>("
        return RawKernel(
            f"{sorting.INCLUDE}USMX_KERNEL(1) {function}({parameters}, {cut}) {{\n{begin}"
            f"  usmx::sorting::{function}{call}{arguments}, {given});\n}}\n",
            function,
        )


@cache
def _count_kernel(number: str, space: int, copies: int) -> RawKernel:
    return _Counter(0, copies, space).kernel(
        "count_numbers",
        f"const {number}_t* from, int64_t* counts, uint64_t* largest",
        "from, counts, largest",
    )


@cache
def _between_kernel(given: str, number: str, space: int, copies: int) -> RawKernel:
    """The same with bins between even edges, which are found as the elements are read."""
    return _Counter(0, copies, space).kernel(
        "count_between",
        f"const {given}* from, int64_t* counts, const {number}* edges, float off",
        "from, counts, edges, off",
    )


@cache
def _add_kernel() -> ElementwiseKernel:
    return ElementwiseKernel(
        "int64 number, int64 bins",
        "raw int64 counts",
        "if (uint64_t(number) < uint64_t(bins)) usmx::atomic_add(&counts[number], int64_t(1))",
        "count_numbers",
    )


@cache
def _sums_kernel() -> ScanKernel:
    """Sums of neighbours of one bin, which begin anew at each bin."""
    return ScanKernel(
        "T x, raw uint64 bin",
        "T y",
        "summed{x, i == 0 || bin[i] != bin[i - 1]}",
        "b.begins ? b : (summed{T(a.sum + b.sum), a.begins})",
        "y = a.sum",
        name="sums_of_bins",
        scan_type="summed",
        preamble="struct summed { T sum; bool begins; };\n",
    )


def _counter(numbers: ndarray, bins: int) -> _Counter | None:
    """How these are counted: None if all items add to the same counts."""
    device = numbers.device
    units = device.max_compute_units
    if device._groups_are_loops:
        items = min(4 * units, -(-numbers.size // 4096))
        # As many rows as the first cache has room for.
        copies = 8 if bins <= 512 else 1
        return _Counter(items, copies, 0) if items * bins <= max(numbers.size, 1 << 20) else None
    space = next((space for space in _SPACES if bins <= space), 0)
    if not space:
        return None
    groups = min(4 * units, -(-numbers.size // (8 * _ITEMS)))
    return _Counter(groups, min(space // max(bins, 1), _ITEMS // 32), space)


def _counts_and_largest(numbers: ndarray, bins: int, counter: _Counter) -> tuple[ndarray, ndarray]:
    """The counts, and the largest number of each part; negative ones are larger than all others."""
    if not numbers.flags.c_contiguous:
        numbers = numbers.copy()
    largest = _usmx.zeros(counter.parts, "uint64", usm_type="host", queue=numbers.queue)
    copies = 0 if counter.space else counter.copies
    kernel = _count_kernel(numbers.dtype.name, counter.space, copies)
    return counter.run(numbers, bins, kernel, largest), largest


def _off_the_line(edges: Any) -> float:
    """How far edges may be from a straight line, in bins, and how wrong a place on it may be."""
    bins = len(edges) - 1
    steps = edges.astype("d")
    with np.errstate(all="ignore"):
        places = (steps - steps[0]) * (bins / (steps[-1] - steps[0]))
        off = np.abs(places - np.arange(bins + 1)).max()
    computed = np.finfo("d" if edges.dtype == "d" else "f").eps * 8 * bins
    return float(off + computed) if np.isfinite(off) else 1.0


def _counts_between(a: ndarray, edges: ndarray, off: float) -> ndarray | None:
    """Elements between even edges, counted as they are read; None where that is not the way."""
    bins = edges.size - 1
    counter = _counter(a, bins) if a.size >= _LEAST_BETWEEN else None
    if counter is None:
        return None
    if not a.flags.c_contiguous:
        a = a.copy()
    copies = 0 if counter.space else counter.copies
    kernel = _between_kernel(cpp(a.dtype), cpp(edges.dtype), counter.space, copies)
    return counter.run(a.reshape(-1), bins, kernel, edges, off)


def counts_of(numbers: ndarray, bins: int) -> ndarray:
    """How often each number from 0 to ``bins - 1`` is there; others are not counted."""
    numbers = indexing.as_indices(numbers.reshape(-1))
    if numbers.size and bins and (counter := _counter(numbers, bins)):
        return _counts_and_largest(numbers, bins, counter)[0]
    counts = empty_at(numbers, bins, "int64")
    counts[...] = 0
    if numbers.size and bins:
        _add_kernel()(numbers, bins, counts)
    return counts


def sums_of(numbers: ndarray, weights: ndarray, bins: int) -> ndarray:
    """The sum of the weights of each number from 0 to ``bins - 1``, the same from run to run."""
    sums = empty_at(weights, bins, weights.dtype)
    sums[...] = 0
    if not numbers.size or not bins:
        return sums
    outside = (numbers < 0) | (numbers >= bins)
    keys = where(outside, bins, numbers).astype("uint64" if bins >= 2**16 else "uint16")
    in_order, order = _usmx._sort(keys.reshape(-1), 0, False, True, True)
    in_order = in_order.astype("uint64", copy=False)
    moved = empty_at(weights, weights.size)
    indexing.gather(weights.reshape(-1), [order], moved)
    running = _sums_kernel()(moved, in_order)
    every = _usmx.arange(bins, dtype="uint64", usm_type=kind_of(weights), queue=weights.queue)
    begins, ends = _usmx._search(in_order, every), _usmx._search(in_order, every, right=True)
    at = where(ends > begins, ends - 1, 0)
    last = empty_at(weights, bins)
    indexing.gather(running, [at], last)
    return where(ends > begins, last, sums)


def _weights_for(x: ndarray, weights: Any) -> ndarray:
    given = as_array(weights, x)
    if given.shape != x.shape:
        raise ValueError(f"weights: have shape {given.shape}; expected {x.shape}, as the array has")
    return given


def _weighted(numbers: ndarray, weights: ndarray, bins: int, dtype: Any) -> ndarray:
    """Sums in float64, of complex weights of both parts."""
    if dtype.kind == "c":
        from .elementwise import imag, real

        parts = (sums_of(numbers, p(weights).astype("float64"), bins) for p in (real, imag))
        whole = next(parts).astype("complex128")
        return (whole + next(parts) * 1j).astype(dtype, copy=False)
    return sums_of(numbers, weights.astype("float64"), bins).astype(dtype, copy=False)


def bincount(x: Any, weights: Any = None, minlength: SupportsIndex = 0) -> ndarray:
    """Count how often each number from 0 up is in an array.

    Parameters
    ----------
    x : array of integers
        One dimension, no negative numbers.
    weights : array, optional
        What is added for each element instead of one; the result is float64. Sums are the same
        from run to run.
    minlength : int, optional
        The result has at least as many elements.

    Returns
    -------
    ndarray
        One element more than the largest number; the host waits for that.

    Raises
    ------
    ValueError
        A negative number, another number of dimensions, weights of another shape.
    TypeError
        `x` is not of integers that fit into int64.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.bincount(usmx.asarray([0, 1, 1, 3])))
    [1, 2, 0, 1]
    """
    a = as_array(x)
    least = minlength.__index__()
    if a.ndim != 1:
        raise ValueError(f"x: has shape {a.shape}; expected one dimension")
    if least < 0:
        raise ValueError(f"minlength: {least} is negative")
    if a.dtype.kind not in "biu" or a.dtype.char in "QL":
        if a.size:
            raise TypeError(f"x: is of {a.dtype}; expected integers that fit into int64")
        a = a.astype("int64")
    given = None if weights is None else _weights_for(a, weights)
    a = indexing.as_indices(a)
    bins = least
    if given is None and a.size and least and (counter := _counter(a, least)):
        # Most often none is larger: then one pass is enough.
        counts, largest = _counts_and_largest(a, least, counter)
        if int(largest.to_numpy().max()) < least:
            return counts
    if a.size:
        from .statistics import max as max_of
        from .statistics import min as min_of

        smallest, largest = min_of(a), max_of(a)  # in one kernel, as nothing looks at one before
        low, high = int(smallest.item()), int(largest.item())
        if low < 0:
            raise ValueError(f"x: holds {low}; expected no negative numbers")
        bins = max(high + 1, least)
    if given is None:
        return counts_of(a, bins)
    if given.dtype.kind == "c":
        raise TypeError(f"weights: are of {given.dtype}; expected real numbers")
    return _weighted(a, given, bins, np.dtype("d"))


def _direction(bins: ndarray) -> tuple[Any, int]:
    """Edges as the host sees them, and 1 if they ascend, -1 if they descend.

    Raises
    ------
    ValueError
        If they do neither, or have not one dimension.
    """
    if bins.ndim != 1:
        raise ValueError(f"bins: have shape {bins.shape}; expected one dimension")
    host = bins.to_numpy()
    if host.dtype.kind == "b":
        host = host.astype("u1")
    for sign, ordered in ((1, host[1:] >= host[:-1]), (-1, host[1:] <= host[:-1])):
        if ordered.all():
            return host, sign
    raise ValueError("bins: must increase or decrease monotonically")


def digitize(x: Any, bins: Any, right: bool = False) -> ndarray:
    """Give the number of the bin of each element.

    Parameters
    ----------
    x : array
        Real numbers, of any shape.
    bins : array
        The edges in one dimension, in ascending or descending order; the host reads them.
    right : bool, optional
        Whether a bin holds its right edge instead of its left one.

    Returns
    -------
    ndarray
        As int64, of the shape of `x`: 0 before the first edge.

    Raises
    ------
    ValueError
        `bins` have no order or not one dimension.
    TypeError
        Complex numbers.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.digitize(usmx.asarray([0.5, 1.5, 9.0]), usmx.asarray([0.0, 1.0, 2.0])))
    [1, 2, 3]
    """
    from .data_types import result_type

    first = next((one for one in (x, bins) if isinstance(one, ndarray)), None)
    a, edges = as_array(x, first), as_array(bins, first)
    if "c" in (a.dtype.kind, edges.dtype.kind):
        raise TypeError(f"x, bins: are of {a.dtype} and {edges.dtype}; expected real numbers")
    sign = _direction(edges)[1]
    dtype = result_type(a, edges)
    a, edges = a.astype(dtype, copy=False), edges.astype(dtype, copy=False)
    if sign > 0:
        return _usmx._search(edges, a, right=not right)
    return edges.size - _usmx._search(edges[::-1].copy(), a, right=not right)


def _range_of(a: ndarray, limits: Any) -> tuple[Any, Any]:
    if limits is not None:
        low, high = limits
        if low > high:
            raise ValueError(f"range: {limits}; the first number is larger than the second")
        name = "range"
    elif a.size == 0:
        return 0, 1
    else:
        from .statistics import max as max_of
        from .statistics import min as min_of

        smallest, largest = min_of(a), max_of(a)  # in one kernel, as nothing looks at one before
        low, high = smallest.to_numpy()[()], largest.to_numpy()[()]
        name = "x"
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError(f"{name}: reaches from {low} to {high}; expected finite numbers")
    if low == high:
        low, high = low - 0.5, high + 0.5
    return low, high


def _spread(a: ndarray) -> float:
    """The distance of the quartiles."""
    from .quantiles import percentile

    low, high = percentile(a, [25, 75]).to_numpy()
    return float(high - low)


def _deviation(a: ndarray) -> float:
    from .statistics import std

    return float(std(a).item())


def _by_skewness(a: ndarray, n: int, extent: float) -> float:
    from .statistics import mean

    deviation = _deviation(a) if n > 2 else 0.0
    if deviation <= 0:
        return 0.0
    skew = float(mean(((a - mean(a)) / deviation) ** 3).item())
    usual = (6.0 * (n - 2) / ((n + 1.0) * (n + 3))) ** 0.5
    return extent / (1.0 + log2(n) + log2(1.0 + abs(skew) / usual))


def _by_error(a: ndarray, n: int, extent: float, limits: Any) -> float:
    """The width with the least expected error of the shares of bins."""

    def error(count: int) -> float:
        shares = histogram(a, count, limits)[0].to_numpy() / n
        return float((2 - (n + 1) * shares.dot(shares)) / (extent / count))

    if n <= 1 or extent == 0:
        return 0.0
    most = max(100, isqrt(n))
    return extent / min(range(1, most + 1), key=error)


#: NumPy's names of rules -> the width of bins of so many elements over such an extent; 0 for one.
_RULES: dict[str, Callable[[ndarray, int, float, Any], float]] = {
    "doane": lambda a, n, extent, limits: _by_skewness(a, n, extent),
    "fd": lambda a, n, extent, limits: 2.0 * _spread(a) / n ** (1.0 / 3.0),
    "rice": lambda a, n, extent, limits: extent / (2.0 * n ** (1.0 / 3)),
    "scott": lambda a, n, extent, limits: (24.0 * pi**0.5 / n) ** (1.0 / 3.0) * _deviation(a),
    "sqrt": lambda a, n, extent, limits: extent / n**0.5,
    "stone": _by_error,
    "sturges": lambda a, n, extent, limits: extent / (log2(n) + 1.0),
}


def _width(rule: str, a: ndarray, extent: float, limits: Any) -> float:
    n = a.size
    if rule != "auto":
        return _RULES[rule](a, n, extent, limits)
    # The spread may be next to nothing: then the root of the number limits how many there are.
    least = _RULES["sqrt"](a, n, extent, limits) / 2
    return min(
        max(_RULES["fd"](a, n, extent, limits), least), _RULES["sturges"](a, n, extent, limits)
    )


def _count_by_rule(a: ndarray, rule: str, limits: Any) -> int:
    """How many bins of one width a rule of NumPy's chooses; the host waits for the answer."""
    if rule != "auto" and rule not in _RULES:
        names = ", ".join(map(repr, ("auto", *_RULES)))
        raise ValueError(f"bins: {rule!r}; expected a number, an array of edges, or {names}")
    low, high = _range_of(a, limits)
    if limits is not None:
        a = indexing.get(a.reshape(-1), (a >= low).reshape(-1) & (a <= high).reshape(-1))
    if not a.size:
        return 1
    from .statistics import ptp

    # Distances of small integers may be none of them: 127 - (-2) in int8.
    wide = a.astype("float64") if a.dtype.kind in "biu" else a
    width = _width(rule, wide, float(ptp(wide).item()), limits)
    if a.dtype.kind in "iu" and 0 < width < 1:
        width = 1
    return max(1, ceil((float(high) - float(low)) / width)) if width else 1


def _edges_of(a: ndarray, bins: Any, limits: Any) -> Any:
    """The edges of bins, on the host."""
    if isinstance(bins, str):
        bins = _count_by_rule(a, bins, limits)
    if isinstance(bins, list):
        bins = tuple(bins)  # NumPy crashes on a list that an element changes while it is read
    if isinstance(bins, (ndarray, np.ndarray, tuple)) and np.ndim(bins):
        given = as_array(bins, a)
        host, sign = _direction(given)
        if sign < 0 and host.size > 1 and host[0] != host[-1]:
            raise ValueError("bins: must increase monotonically")
        return host
    if not is_integer(bins):
        raise TypeError(f"bins: {bins!r}; expected an integer, edges or the name of a rule")
    count = operator.index(bins)
    if count < 1:
        raise ValueError(f"bins: {count}; expected at least one")
    low, high = _range_of(a, limits)
    own = np.dtype("u1") if a.dtype.kind == "b" else a.dtype
    dtype = np.result_type(low, high, own)
    if dtype.kind in "biu":
        dtype = np.result_type(dtype, float)
    edges = np.linspace(low, high, count + 1, dtype=dtype)
    if (edges[:-1] >= edges[1:]).any():
        raise ValueError(f"bins: {count} are too many from {low} to {high}: edges would be equal")
    return edges


def _edges_at(a: ndarray, bins: Any, limits: Any, weights: Any) -> tuple[Any, ndarray]:
    """The edges of bins on the host, and where the array is."""
    if isinstance(bins, str) and weights is not None:
        raise TypeError(f"bins: {bins!r} is a rule, and weights are given; expected a number")
    host = _edges_of(a, bins, limits)
    return host, _usmx.asarray(host, usm_type=kind_of(a), queue=a.queue)


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> ndarray:
    """Give the edges of the bins of `histogram`, where the array is.

    Parameters
    ----------
    a : array
        Real numbers, of any shape.
    bins : int, array or str, optional
        As for `histogram`.
    range : (low, high), optional
        Where bins of one width begin and end; by default with the smallest and the largest element.
    weights : array, optional
        As for `histogram`.

    Returns
    -------
    ndarray
        One more than there are bins.

    Raises
    ------
    ValueError
        No bins, edges that do not ascend, a range that is not finite.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.histogram_bin_edges(usmx.asarray([0.0, 3.0]), bins=3))
    [0., 1., 2., 3.]
    """
    return _edges_at(sortable(a), bins, range, weights)[1]


def histogram(
    a: Any,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: Any = None,
) -> tuple[ndarray, ndarray]:
    """Count how many elements are between edges.

    Parameters
    ----------
    a : array
        Real numbers, of any shape.
    bins : int, array or str, optional
        How many bins of one width, or the edges, ascending, or the name of one of NumPy's rules
        for the number: 'auto', 'doane', 'fd', 'rice', 'scott', 'sqrt', 'stone', 'sturges'. Each
        bin holds its left edge, the last
        one both.
    range : (low, high), optional
        Where bins of one width begin and end; by default with the smallest and the largest
        element. NaN and elements outside are not counted.
    density : bool, optional
        Divide by the width of each bin and the sum of all, so that the integral is one.
    weights : array, optional
        What is added for each element instead of one. Sums are the same from run to run.

    Returns
    -------
    (counts, edges) : tuple of ndarray
        Counts are int64; of weights the sums, of their type.

    Raises
    ------
    ValueError
        No bins, edges that do not ascend, a range that is not finite, weights of another shape.
    TypeError
        Complex numbers.

    Examples
    --------
    >>> import usmx
    >>> counts, edges = usmx.histogram(usmx.asarray([1.0, 2.0, 2.5, 4.0]), bins=3, range=(1, 4))
    >>> print(counts, edges)
    [1, 2, 1] [1., 2., 3., 4.]
    """
    from .data_types import result_type

    a = sortable(a)
    if a.dtype.kind == "c":
        raise TypeError(f"a: is of {a.dtype}; expected real numbers")
    if a.dtype.kind == "b":
        a = a.astype("uint8")
    given = None if weights is None else _weights_for(a, weights)
    host, edges = _edges_at(a, bins, range, weights)
    count = edges.size - 1
    dtype = result_type(a, edges)
    inner = edges.astype(dtype, copy=False)
    if count < 1:
        raise ValueError(f"bins: {edges.size} edges; expected at least two")
    found = None
    if given is None and dtype.kind == "f" and (isinstance(bins, str) or not np.ndim(bins)):
        found = _counts_between(a, inner, _off_the_line(host.astype(dtype, copy=False)))
    if found is None:
        values = a.astype(dtype, copy=False)
        last = inner[count]
        numbers = _usmx._search(inner, values, right=True) - 1
        numbers = where(values == last, count - 1, numbers)
        if given is None:
            found = counts_of(numbers, count)
        else:
            found = _weighted(numbers, given, count, given.dtype)
    if density:
        from .statistics import diff
        from .statistics import sum as sum_of

        widths = diff(edges).astype("float64")
        found = found / widths / sum_of(found)
    return found, edges
