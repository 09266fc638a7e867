"""The nine kernels of kernels.py in Numba, on all cores, and in arrays of NumPy or dpnp."""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import get_num_threads, njit, prange


@njit(parallel=True)
def saxpy(a: Any, x: Any, y: Any, out: Any) -> None:
    """A sum and a product."""
    for i in prange(x.size):
        out[i] = a * x[i] + y[i]


@njit(parallel=True)
def convolution(image: Any, w: Any, out: Any) -> None:
    """A filter of nine weights."""
    for i in prange(out.shape[0]):
        for j in range(out.shape[1]):
            total = np.float32(0)
            for di in range(3):
                for dj in range(3):
                    total += w[di, dj] * image[i + di, j + dj]
            out[i, j] = total


@njit(parallel=True)
def histogram(x: Any, counts: Any) -> None:
    """Each thread counts by itself."""
    parts = get_num_threads()
    of_parts = np.zeros((parts, counts.size), np.int32)
    for part in prange(parts):
        for i in range(part * x.size // parts, (part + 1) * x.size // parts):
            of_parts[part, min(int(x[i] * counts.size), counts.size - 1)] += 1
    for k in range(counts.size):
        counts[k] = of_parts[:, k].sum()


@njit(parallel=True)
def scan(x: Any, out: Any) -> None:
    """Sums of parts, then the sums within them."""
    parts = get_num_threads() * 8
    before = np.zeros(parts + 1, np.int32)
    for part in prange(parts):
        total = np.int32(0)
        for i in range(part * x.size // parts, (part + 1) * x.size // parts):
            total += x[i]
        before[part + 1] = total
    for part in range(parts):
        before[part + 1] += before[part]
    for part in prange(parts):
        total = before[part]
        for i in range(part * x.size // parts, (part + 1) * x.size // parts):
            total += x[i]
            out[i] = total


@njit(parallel=True)
def mandelbrot(x0: Any, y0: Any, step: Any, rounds: Any, most: Any) -> None:
    """The number of rounds in which a point stays near."""
    for i in prange(rounds.shape[0]):
        for j in range(rounds.shape[1]):
            cx, cy = np.float32(x0 + j * step), np.float32(y0 + i * step)
            x, y, n = np.float32(0), np.float32(0), 0
            while n < most and x * x + y * y <= np.float32(4):
                x, y = x * x - y * y + cx, np.float32(2) * x * y + cy
                n += 1
            rounds[i, j] = n


@njit
def _normal(x: Any) -> Any:
    return np.float32(0.5) + np.float32(0.5) * math.erf(x * np.float32(math.sqrt(0.5)))


@njit(parallel=True)
def black_scholes(price: Any, strike: Any, years: Any, call: Any, put: Any) -> None:
    """Prices of options."""
    rate, volatility, half = np.float32(0.1), np.float32(0.2), np.float32(0.5)
    for i in prange(price.size):
        deviation = volatility * math.sqrt(years[i])
        up = (math.log(price[i] / strike[i]) + rate * years[i]) / deviation + half * deviation
        discounted = strike[i] * math.exp(-rate * years[i])
        value = price[i] * _normal(up) - discounted * _normal(up - deviation)
        call[i] = value
        put[i] = value - price[i] + discounted


@njit(parallel=True, fastmath=True)
def n_body(bodies: Any, force: Any) -> None:
    """Forces between all pairs of bodies."""
    for i in prange(bodies.shape[0]):
        fx, fy, fz = np.float32(0), np.float32(0), np.float32(0)
        for k in range(bodies.shape[0]):
            dx = bodies[k, 0] - bodies[i, 0]
            dy = bodies[k, 1] - bodies[i, 1]
            dz = bodies[k, 2] - bodies[i, 2]
            inverse = np.float32(1) / math.sqrt(dx * dx + dy * dy + dz * dz + np.float32(0.01))
            pull = inverse * inverse * inverse
            fx += dx * pull
            fy += dy * pull
            fz += dz * pull
        force[i, 0], force[i, 1], force[i, 2] = fx, fy, fz


@njit(parallel=True)
def matmul(a: Any, b: Any, c: Any) -> None:
    """In the order of loops that reads rows."""
    for i in prange(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = 0
        for k in range(a.shape[1]):
            for j in range(c.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
