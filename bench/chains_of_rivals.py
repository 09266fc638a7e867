"""The ten chains of chains.py as loops in Numba, on all cores, and as expressions of numexpr."""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import get_num_threads, njit, prange

try:
    import numexpr
except ModuleNotFoundError:  # it is of the group `bench`, not of `test`
    numexpr = None

f4 = np.float32


@njit
def _logistic(d: Any) -> Any:
    return f4(1) / (f4(1) + math.exp(f4(-1.702) * d))


@njit(parallel=True)
def black_scholes(price: Any, strike: Any, years: Any) -> Any:
    """As in chains.py, as all others."""
    out = np.empty_like(price)
    for i in prange(price.size):
        root = f4(0.2) * math.sqrt(years[i])
        d1 = (math.log(price[i] / strike[i]) + f4(0.05 + 0.2 * 0.2 / 2) * years[i]) / root
        discount = math.exp(f4(-0.05) * years[i])
        out[i] = price[i] * _logistic(d1) - strike[i] * discount * _logistic(d1 - root)
    return out


@njit(parallel=True)
def _k_means_step(x: Any, y: Any, centres: Any) -> Any:
    out = np.empty_like(x)
    for i in prange(x.size):
        best, at = f4(np.inf), 0
        for k in range(centres.shape[0]):
            dx, dy = x[i] - centres[k, 0], y[i] - centres[k, 1]
            distance = dx * dx + dy * dy
            if distance < best:
                best, at = distance, k
        out[i] = at
    return out


def k_means_step(x: Any, y: Any, centres: Any) -> Any:
    """Its centres as an array."""
    return _k_means_step(x, y, np.array(centres, f4))


@njit(parallel=True, fastmath=True)
def softmax(rows: Any) -> Any:
    """Three loops over each row."""
    out = np.empty_like(rows)
    for i in prange(rows.shape[0]):
        most, total = f4(-np.inf), f4(0)
        for j in range(rows.shape[1]):
            most = max(most, rows[i, j])
        for j in range(rows.shape[1]):
            out[i, j] = math.exp(rows[i, j] - most)
            total += out[i, j]
        for j in range(rows.shape[1]):
            out[i, j] /= total
    return out


@njit(parallel=True, fastmath=True)
def layer_norm(rows: Any) -> Any:
    """Three loops over each row."""
    out = np.empty_like(rows)
    for i in prange(rows.shape[0]):
        total, squares = f4(0), f4(0)
        for j in range(rows.shape[1]):
            total += rows[i, j]
        mean = total / f4(rows.shape[1])
        for j in range(rows.shape[1]):
            squares += (rows[i, j] - mean) * (rows[i, j] - mean)
        root = math.sqrt(squares / f4(rows.shape[1]) + f4(1e-5))
        for j in range(rows.shape[1]):
            out[i, j] = (rows[i, j] - mean) / root
    return out


@njit(parallel=True)
def jacobi(grid: Any) -> Any:
    """One loop."""
    out = np.empty((grid.shape[0] - 2, grid.shape[1] - 2), grid.dtype)
    for i in prange(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = (
                grid[i, j + 1] + grid[i + 2, j + 1] + grid[i + 1, j] + grid[i + 1, j + 2]
            ) * f4(0.25)
    return out


@njit(parallel=True)
def equalise(image: Any) -> Any:
    """Counts of each thread, their sums, then a table."""
    parts, flat = get_num_threads(), image.ravel()
    counts = np.zeros((parts, 256), np.int64)
    for part in prange(parts):
        for i in range(part * flat.size // parts, (part + 1) * flat.size // parts):
            counts[part, flat[i]] += 1
    table, so_far = np.empty(256, f4), 0
    for k in range(256):
        so_far += counts[:, k].sum()
        table[k] = f4(so_far) * f4(255 / flat.size)
    out = np.empty(image.shape, f4)
    to = out.ravel()
    for i in prange(flat.size):
        to[i] = table[flat[i]]
    return out


@njit(parallel=True)
def haversine(a: Any, b: Any, c: Any, d: Any) -> Any:
    """One loop."""
    out = np.empty_like(a)
    for i in prange(a.size):
        s, t = math.sin((c[i] - a[i]) / f4(2)), math.sin((d[i] - b[i]) / f4(2))
        h = s * s + math.cos(a[i]) * math.cos(c[i]) * t * t
        out[i] = f4(12_742) * math.asin(math.sqrt(h))
    return out


@njit(parallel=True)
def n_body_step(x: Any, y: Any, vx: Any, vy: Any) -> Any:
    """One loop."""
    out = np.empty_like(x)
    for i in prange(x.size):
        distance = x[i] * x[i] + y[i] * y[i] + f4(1e-3)
        pull = f4(-1) / (distance * math.sqrt(distance)) * f4(0.01)
        new_x, new_y = vx[i] + x[i] * pull, vy[i] + y[i] * pull
        out[i] = x[i] + new_x * f4(0.01) + y[i] + new_y * f4(0.01)
    return out


@njit(parallel=True, fastmath=True)
def logistic_gradient(x: Any, y: Any) -> Any:
    """A loop with a sum."""
    total = 0.0
    for i in prange(x.size):
        total += (f4(1) / (f4(1) + math.exp(-(x[i] * f4(0.7) + f4(0.1)))) - y[i]) * x[i]
    return np.float32(total / x.size)


@njit(parallel=True)
def rolling_mean(x: Any) -> Any:
    """One loop."""
    out = np.empty(x.size - 4, x.dtype)
    for i in prange(out.size):
        out[i] = (x[i] + x[i + 1] + x[i + 2] + x[i + 3] + x[i + 4]) / f4(5)
    return out


NUMBA: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        black_scholes, k_means_step, softmax, layer_norm, jacobi, equalise, haversine,
        n_body_step, logistic_gradient, rolling_mean,
    )
}  # fmt: skip


def _evaluate(text: str, **values: Any) -> Any:
    """Numbers of Python would make all of it float64."""
    single = {k: f4(v) if isinstance(v, float) else v for k, v in values.items()}
    return numexpr.evaluate(text, local_dict=single, global_dict={}, truediv=True)


def _black_scholes(price: Any, strike: Any, years: Any) -> Any:
    d1 = _evaluate(
        "(log(p / s) + r * t) / (v * sqrt(t))", p=price, s=strike, t=years, r=0.07, v=0.2
    )
    return _evaluate(
        "p / (one + exp(k * d)) - s * exp(r * t) / (one + exp(k * (d - v * sqrt(t))))",
        p=price, s=strike, t=years, d=d1, one=1.0, k=-1.702, r=-0.05, v=0.2,
    )  # fmt: skip


def _k_means(x: Any, y: Any, centres: Any) -> Any:
    names = {f"{axis}{k}": c[n] for k, c in enumerate(centres) for n, axis in enumerate("ab")}
    at, best = x * 0, _evaluate("(x - a0) ** 2 + (y - b0) ** 2", x=x, y=y, **names)
    for k in range(1, len(centres)):
        distance = _evaluate(f"(x - a{k}) ** 2 + (y - b{k}) ** 2", x=x, y=y, **names)
        at = _evaluate("where(d < best, k, at)", d=distance, best=best, at=at, k=float(k))
        best = _evaluate("where(d < best, d, best)", d=distance, best=best)
    return at


def _softmax(rows: Any) -> Any:
    e = _evaluate("exp(x - m)", x=rows, m=rows.max(axis=1, keepdims=True))
    return _evaluate("e / s", e=e, s=e.sum(axis=1, keepdims=True))


def _layer_norm(rows: Any) -> Any:
    centred = _evaluate("x - m", x=rows, m=rows.mean(axis=1, keepdims=True))
    variance = _evaluate("c * c", c=centred).mean(axis=1, keepdims=True)
    return _evaluate("c / sqrt(v + small)", c=centred, v=variance, small=1e-5)


def _jacobi(grid: Any) -> Any:
    a, b, c, d = grid[:-2, 1:-1], grid[2:, 1:-1], grid[1:-1, :-2], grid[1:-1, 2:]
    return _evaluate("(a + b + c + d) * w", a=a, b=b, c=c, d=d, w=0.25)


def _haversine(a: Any, b: Any, c: Any, d: Any) -> Any:
    return _evaluate(
        "r * arcsin(sqrt(sin((c - a) / k) ** 2 + cos(a) * cos(c) * sin((d - b) / k) ** 2))",
        a=a, b=b, c=c, d=d, r=12_742.0, k=2.0,
    )  # fmt: skip


def _n_body(x: Any, y: Any, vx: Any, vy: Any) -> Any:
    distance = _evaluate("x * x + y * y + e", x=x, y=y, e=1e-3)
    return _evaluate(
        "x + (vx - x / (d * sqrt(d)) * h) * h + y + (vy - y / (d * sqrt(d)) * h) * h",
        x=x, y=y, vx=vx, vy=vy, d=distance, h=0.01,
    )  # fmt: skip


def _logistic_gradient(x: Any, y: Any) -> Any:
    text = "(one / (one + exp(-(x * a + b))) - y) * x"
    return _evaluate(text, x=x, y=y, one=1.0, a=0.7, b=0.1).mean()


def _rolling_mean(x: Any) -> Any:
    parts = {"a": x[:-4], "b": x[1:-3], "c": x[2:-2], "d": x[3:-1], "e": x[4:]}
    return _evaluate("(a + b + c + d + e) / k", **parts, k=5.0)


NUMEXPR: dict[str, Callable[..., Any]] = (
    {}
    if numexpr is None
    else {
        "black_scholes": _black_scholes,
        "k_means_step": _k_means,
        "softmax": _softmax,
        "layer_norm": _layer_norm,
        "jacobi": _jacobi,
        "haversine": _haversine,
        "n_body_step": _n_body,
        "logistic_gradient": _logistic_gradient,
        "rolling_mean": _rolling_mean,
    }
)
