"""Measure ten chains of operations on arrays, the same text with usmx, NumPy and dpnp."""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import dpnp
import numpy as np
from table import Case, Effort, Result, Rival, main, measure

import usmx

SIZE = 1_000_000


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
    """Stretches an image between its darkest and its brightest point, with a gamma of 2.2."""
    low, high = xp.min(image), xp.max(image)
    return ((image - low) / (high - low)) ** (1 / 2.2)


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


def inputs(rng: np.random.Generator) -> list[tuple[str, Callable[..., Any], list[Any]]]:
    """Each chain with what it is called with, arrays of float32 of NumPy."""

    def some(low: float, high: float, shape: Any = SIZE) -> Any:
        return rng.uniform(low, high, shape).astype(np.float32)

    side = math.isqrt(SIZE)
    centres = [(0.1, 0.2), (0.8, 0.3), (0.4, 0.9), (0.6, 0.6)]
    angles = [some(-1, 1) for _ in range(4)]
    return [
        ("Black-Scholes", black_scholes, [some(10, 50), some(10, 50), some(0.5, 2)]),
        ("k-means step", k_means_step, [some(0, 1), some(0, 1), centres]),
        ("softmax", softmax, [some(-3, 3, (side, side))]),
        ("layer norm", layer_norm, [some(-3, 3, (side, side))]),
        ("Jacobi", jacobi, [some(0, 1, (side, side))]),
        ("equalisation", equalise, [some(0, 255, (side, side))]),
        ("haversine", haversine, angles),
        ("n-body step", n_body_step, angles),
        ("logistic gradient", logistic_gradient, [some(-1, 1), some(0, 1)]),
        ("rolling mean", rolling_mean, [some(0, 1)]),
    ]


def placed(xp: Any, values: list[Any]) -> list[Any]:
    """Arrays of another library."""
    return [xp.asarray(v) if isinstance(v, np.ndarray) else v for v in values]


def cases() -> list[Case]:
    """All chains; the arrays of ours and of dpnp are in device memory."""
    made = []
    for name, chain, values in inputs(np.random.default_rng(0)):
        ours, theirs = placed(usmx, values), placed(dpnp, values)
        queue, their_queue = ours[0].queue, theirs[0].sycl_queue

        def call(chain: Any = chain, ours: Any = ours, queue: Any = queue) -> None:
            _ = chain(usmx, *ours).pointer  # what was put off is submitted
            queue.wait()

        def rival(chain: Any = chain, theirs: Any = theirs, queue: Any = their_queue) -> None:
            chain(dpnp, *theirs)
            queue.wait()

        def host(chain: Any = chain, values: Any = values) -> None:
            chain(np, *values)

        made.append(
            Case(f"{name} of {SIZE:,}", call, [Rival("NumPy", host, 1), Rival("dpnp", rival, 1)])
        )
    return made


def run(effort: Effort) -> list[Result]:
    """Measure all of it.

    Parameters
    ----------
    effort : Effort
        How long to measure.
    """
    return measure(cases(), effort)


if __name__ == "__main__":
    main("chains of operations", __doc__, run)
