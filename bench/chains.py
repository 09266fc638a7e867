"""Measure ten chains of operations on arrays: the same text with usmx, NumPy and dpnp.

Loops of Numba and expressions of numexpr, which has no histograms, do the same. Run by itself:
``python bench/chains.py [--json]``. Each library has a process of its own, and every result is
compared with NumPy's before it is timed.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from apart import Side, measure_apart
from table import Effort, Result, main

SIZES = (1_000_000, 10_000_000)
SECONDS_OF_A_CASE = 5.0


def black_scholes(xp: Any, price: Any, strike: Any, years: Any) -> Any:
    """The price of a call option, with the logistic approximation of the normal distribution."""
    rate, volatility = 0.05, 0.2
    root = volatility * xp.sqrt(years)
    d1 = (xp.log(price / strike) + (rate + volatility * volatility / 2) * years) / root
    d2 = d1 - root

    def normal(d: Any) -> Any:
        return 1 / (1 + xp.exp(-1.702 * d))

    return price * normal(d1) - strike * xp.exp(-rate * years) * normal(d2)


def k_means_step(xp: Any, x: Any, y: Any, centres: Any) -> Any:
    """Which of four centres is nearest, and how far it is."""
    best, at = (x - centres[0][0]) ** 2 + (y - centres[0][1]) ** 2, x * 0
    for number, (cx, cy) in enumerate(centres[1:], 1):
        distance = (x - cx) ** 2 + (y - cy) ** 2
        closer = distance < best
        best, at = xp.where(closer, distance, best), xp.where(closer, float(number), at)
    return at


def softmax(xp: Any, rows: Any) -> Any:
    """Of each row."""
    e = xp.exp(rows - xp.max(rows, axis=1, keepdims=True))
    return e / xp.sum(e, axis=1, keepdims=True)


def layer_norm(xp: Any, rows: Any) -> Any:
    """Of each row, with a mean of 0 and a variance of 1."""
    centred = rows - xp.mean(rows, axis=1, keepdims=True)
    return centred / xp.sqrt(xp.mean(centred * centred, axis=1, keepdims=True) + 1e-5)


def jacobi(xp: Any, grid: Any) -> Any:
    """One step of the solution of Laplace's equation."""
    inner = grid[:-2, 1:-1] + grid[2:, 1:-1] + grid[1:-1, :-2] + grid[1:-1, 2:]
    return inner * 0.25


def equalise(xp: Any, image: Any) -> Any:
    """Makes the grey values of an image about as frequent, by the sums of their histogram."""
    so_far = xp.cumsum(xp.bincount(image.reshape(-1), minlength=256))
    table = (so_far * (255 / image.size)).astype("float32")
    return xp.take(table, image)


def haversine(xp: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """The distance of points on the earth in kilometres."""
    h = xp.sin((c - a) / 2) ** 2 + xp.cos(a) * xp.cos(c) * xp.sin((d - b) / 2) ** 2
    return 12_742 * xp.asin(xp.sqrt(h))


def n_body_step(xp: Any, x: Any, y: Any, vx: Any, vy: Any) -> Any:
    """One step of bodies around a mass in the centre."""
    distance = x * x + y * y + 1e-3
    pull = -1 / (distance * xp.sqrt(distance))
    vx, vy = vx + x * pull * 0.01, vy + y * pull * 0.01
    return x + vx * 0.01 + y + vy * 0.01


def logistic_gradient(xp: Any, x: Any, y: Any) -> Any:
    """Of a regression with one weight."""
    return xp.mean((1 / (1 + xp.exp(-(x * 0.7 + 0.1))) - y) * x)


def rolling_mean(xp: Any, x: Any) -> Any:
    """Of five neighbours."""
    return (x[:-4] + x[1:-3] + x[2:-2] + x[3:-1] + x[4:]) / 5


def inputs(
    rng: np.random.Generator, size: int
) -> Iterator[tuple[str, Callable[..., Any], list[Any]]]:
    """Each chain with what it is called with, arrays of float32 of NumPy."""
    side = math.isqrt(size)

    def some(low: float, high: float, shape: Any = size) -> Any:
        return rng.uniform(low, high, shape).astype(np.float32)

    def angles() -> list[Any]:
        return [some(-1, 1) for _ in range(4)]

    centres = [(0.1, 0.2), (0.8, 0.3), (0.4, 0.9), (0.6, 0.6)]
    yield "Black-Scholes", black_scholes, [some(10, 50), some(10, 50), some(0.5, 2)]
    yield "k-means step", k_means_step, [some(0, 1), some(0, 1), centres]
    yield "softmax", softmax, [some(-3, 3, (side, side))]
    yield "layer norm", layer_norm, [some(-3, 3, (side, side))]
    yield "Jacobi", jacobi, [some(0, 1, (side, side))]
    yield "equalisation", equalise, [rng.binomial(255, 0.4, (side, side)).astype(np.int32)]
    yield "haversine", haversine, angles()
    yield "n-body step", n_body_step, angles()
    yield "logistic gradient", logistic_gradient, [some(-1, 1), some(0, 1)]
    yield "rolling mean", rolling_mean, [some(0, 1)]


def compare(name: str, got: Any, wanted: Any) -> None:
    """A side gives what NumPy gives, but for rounding and for points between two centres."""
    differ = ~np.isclose(got, wanted, rtol=1e-3, atol=1e-4)
    assert differ.mean() < 1e-4, f"{name}: {differ.sum()} of {differ.size} elements differ"


#: A chain as a library computes it, waited for; its arrays, and a result as NumPy's.
Way = tuple[Callable[..., Any], Callable[[Any], Any], Callable[[Any], Any]]


def _usmx(chain: Callable[..., Any]) -> Way:
    import usmx

    def call(*values: Any) -> Any:
        result = chain(usmx, *values)
        result.pointer  # what was deferred is submitted  # noqa: B018
        result.queue.wait()
        return result

    return call, usmx.asarray, usmx.ndarray.to_numpy


def _dpnp(chain: Callable[..., Any]) -> Way:
    import dpnp

    def call(*values: Any) -> Any:
        result = chain(dpnp, *values)
        result.sycl_queue.wait()
        return result

    return call, dpnp.asarray, dpnp.asnumpy


def _as_loops(library: str, chain: Callable[..., Any]) -> Way | None:
    import chains_of_rivals

    function = getattr(chains_of_rivals, library.upper()).get(chain.__name__)
    return (function, np.asarray, np.asarray) if function else None


#: Library -> how it computes a chain; nothing if it does not.
LIBRARIES: dict[str, Callable[[Callable[..., Any]], Way | None]] = {
    "usmx": _usmx,
    "NumPy": lambda chain: (partial(chain, np), np.asarray, np.asarray),
    "dpnp": _dpnp,
    "Numba": partial(_as_loops, "Numba"),
    "numexpr": partial(_as_loops, "numexpr"),
}


def sides(library: str, sizes: Sequence[int]) -> Iterator[Side | None]:
    """All chains of all sizes; arrays of ours and of dpnp are in device memory."""
    for size in sizes:
        for name, chain, values in inputs(np.random.default_rng(0), size):
            way = LIBRARIES[library](chain)
            if way is None:
                yield None
                continue
            function, place, fetch = way
            placed = [place(v) if isinstance(v, np.ndarray) else v for v in values]
            compare(f"{name}, {library}", fetch(function(*placed)), chain(np, *values))
            yield Side(f"{name} of {size:,}", partial(function, *placed))


def run(effort: Effort) -> list[Result]:
    """Measure all of it.

    Parameters
    ----------
    effort : Effort
        How long to measure.
    """
    sizes = (4096,) if effort.quick else SIZES
    effort = replace(effort, most_seconds=SECONDS_OF_A_CASE, seconds=effort.seconds * 10)
    return list(measure_apart("chains", list(LIBRARIES), [sizes], effort))


if __name__ == "__main__":
    main("chains of operations", __doc__, run)
