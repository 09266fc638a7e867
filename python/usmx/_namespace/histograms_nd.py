"""Histograms of points in several dimensions."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import operator
from math import prod
from typing import TYPE_CHECKING, Any

from .. import _usmx
from ._common import as_array, as_arrays, default_float, kind_of

if TYPE_CHECKING:
    from .._usmx import ndarray
    from ..typing import ArrayLike

__all__ = ["histogram2d", "histogramdd"]


def _edges(line: ndarray, bins: Any, limits: Any) -> ndarray:
    """The edges along one axis, from a count or as they are given."""
    if isinstance(bins, (int,)) or (hasattr(bins, "__index__") and getattr(bins, "ndim", 0) == 0):
        if operator.index(bins) < 1:
            raise ValueError(f"bins: {bins}; expected 1 or more")
        from .histograms import histogram_bin_edges

        return histogram_bin_edges(line, operator.index(bins), range=limits)
    edges = as_array(bins, line)
    if edges.ndim != 1:
        raise ValueError(f"bins: has shape {edges.shape}; expected edges in one dimension")
    if edges.size > 1 and bool((edges[1:] < edges[:-1]).any()):
        raise ValueError("bins: the edges do not increase")
    return edges


def histogramdd(
    sample: Any,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: ArrayLike | None = None,
) -> tuple[ndarray, tuple[ndarray, ...]]:
    """How many points lie in each cell of a grid.

    Parameters
    ----------
    sample : array, shape (n, d), or a sequence of d arrays of shape (n,)
        The points.
    bins : int, or a sequence of d counts or arrays of edges
        How many cells along each axis, or their edges.
    range : sequence of d pairs, optional
        The outer edges where counts are given; None for an axis is that of the points.
    density : bool, optional
        Whether to divide by the number of points and the volume of the cell.
    weights : array, shape (n,), optional
        What each point counts.

    Returns
    -------
    ndarray
        Floats, of one axis for each dimension.
    tuple of ndarray
        The edges along each axis.

    Raises
    ------
    ValueError
        Points of another shape, or not as many bins or ranges as dimensions.

    Examples
    --------
    >>> import usmx
    >>> counts, edges = usmx.histogramdd(usmx.asarray([[0.0, 0.0], [1.0, 1.0]]), bins=2)
    >>> print(counts)
    [[1., 0.],
     [0., 1.]]
    """
    if isinstance(sample, (list, tuple)):
        lines = as_arrays(sample)
        if any(x.ndim == 0 for x in lines):
            lines = [as_array(sample)]
    else:
        points = as_array(sample)
        points = points[:, None] if points.ndim == 1 else points
        if points.ndim != 2:
            raise ValueError(f"sample: has shape {points.shape}; expected (n, d)")
        lines = [points[:, k] for k in _counted(points.shape[1])]
    rank, count = len(lines), lines[0].size
    if any(x.ndim != 1 or x.size != count for x in lines):
        raise ValueError("sample: expected arrays of one length in one dimension")
    many = isinstance(bins, (list, tuple))
    given = list(bins) if many else [bins] * rank
    if len(given) != rank:
        raise ValueError(f"bins: has {len(given)} entries; expected {rank}, one for each dimension")
    limits = [None] * rank if range is None else list(range)
    if len(limits) != rank:
        raise ValueError(f"range: has {len(limits)} pairs; expected {rank}")
    first = lines[0]
    edges = [_edges(x, b, r) for x, b, r in zip(lines, given, limits, strict=True)]
    shape = tuple(e.size - 1 for e in edges)
    dtype = default_float(first.queue)
    from .sorting import searchsorted

    flat: Any = _usmx.zeros(count, "int64", usm_type=kind_of(first), queue=first.queue)
    inside: Any = _usmx.ones(count, "bool", usm_type=kind_of(first), queue=first.queue)
    for x, e, n in zip(lines, edges, shape, strict=True):
        at = searchsorted(e, x, side="right") - 1
        at = _usmx.Operation("where")(x == e[-1], n - 1, at)  # the last cell has both edges
        inside = inside & (at >= 0) & (at < n)
        flat = flat * n + at
    cells = prod(shape)
    from .histograms import bincount

    chosen = flat[inside]
    counted = (
        bincount(chosen, minlength=cells)
        if weights is None
        else bincount(
            chosen, as_array(weights, first).astype(dtype, copy=False)[inside], minlength=cells
        )
    )
    made: Any = counted.astype(dtype).reshape(shape)
    if density:
        made = made / made.sum()
        for axis, e in enumerate(edges):
            width = (e[1:] - e[:-1]).reshape(tuple(-1 if k == axis else 1 for k in _counted(rank)))
            made = made / width
    return made, tuple(edges)


_counted = range


def histogram2d(
    x: ArrayLike,
    y: ArrayLike,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: ArrayLike | None = None,
) -> tuple[ndarray, ndarray, ndarray]:
    """How many points lie in each cell of a plane.

    Parameters
    ----------
    x, y : array, shape (n,)
        The points.
    bins : int, array, or two of them
        How many cells along both axes, or their edges.
    range : two pairs, optional
        The outer edges where counts are given.
    density : bool, optional
        Whether to divide by the number of points and the area of the cell.
    weights : array, shape (n,), optional
        What each point counts.

    Returns
    -------
    histogram, x_edges, y_edges : ndarray

    Examples
    --------
    >>> import usmx
    >>> counts, _, _ = usmx.histogram2d(usmx.asarray([0.0, 1.0]), usmx.asarray([0.0, 1.0]), bins=2)
    >>> print(counts)
    [[1., 0.],
     [0., 1.]]
    """
    both = bins
    is_list = isinstance(bins, (list, tuple))
    if is_list and len(bins) == 1:
        both = [bins[0], bins[0]]
    elif (is_list and len(bins) != 2) or (not is_list and getattr(bins, "ndim", 0) == 1):
        both = [bins, bins]
    made, (first, second) = histogramdd([x, y], both, range, density, weights)
    return made, first, second
