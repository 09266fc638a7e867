"""The nine kernels of kernels.py in NVIDIA Warp, whose CPU back end runs on one core."""
# SPDX-License-Identifier: Apache-2.0
# Warp reads annotations as objects: no `from __future__ import annotations` here.

import os
import sys

import warp as wp

# It warns that there is no CUDA by writing to the file itself.
sys.stderr.flush()
kept = os.dup(2)
with open(os.devnull, "w", encoding="utf-8") as nothing:
    os.dup2(nothing.fileno(), 2)
    wp.config.quiet = True
    wp.init()
os.dup2(kept, 2)
os.close(kept)

F1 = wp.array(dtype=wp.float32)
F2 = wp.array2d(dtype=wp.float32)
I1 = wp.array(dtype=wp.int32)
I2 = wp.array2d(dtype=wp.int32)


@wp.kernel(enable_backward=False)
def saxpy(a: wp.float32, x: F1, y: F1, out: F1):
    """A sum and a product."""
    i = wp.tid()
    out[i] = a * x[i] + y[i]


@wp.kernel(enable_backward=False)
def convolution(image: F2, w: F2, out: F2):
    """A filter of nine weights."""
    i, j = wp.tid()
    total = float(0.0)  # noqa: UP018
    for di in range(3):
        for dj in range(3):
            total += w[di, dj] * image[i + di, j + dj]
    out[i, j] = total


@wp.kernel(enable_backward=False)
def histogram(x: F1, counts: I1):
    """Counts in the result itself."""
    bins = counts.shape[0]
    wp.atomic_add(counts, wp.min(int(x[wp.tid()] * float(bins)), bins - 1), 1)


@wp.kernel(enable_backward=False)
def mandelbrot(x0: wp.float32, y0: wp.float32, step: wp.float32, rounds: I2, most: wp.int32):
    """The number of rounds in which a point stays near."""
    i, j = wp.tid()
    cx = x0 + float(j) * step
    cy = y0 + float(i) * step
    x = float(0.0)  # noqa: UP018
    y = float(0.0)  # noqa: UP018
    n = int(0)  # noqa: UP018, RUF046
    while n < most and x * x + y * y <= 4.0:
        next_x = x * x - y * y + cx
        y = 2.0 * x * y + cy
        x = next_x
        n += 1
    rounds[i, j] = n


@wp.func
def normal(x: wp.float32):
    """The distribution."""
    return 0.5 + 0.5 * wp.erf(x * 0.70710678)


@wp.kernel(enable_backward=False)
def black_scholes(price: F1, strike: F1, years: F1, call: F1, put: F1):
    """Prices of options."""
    i = wp.tid()
    deviation = 0.2 * wp.sqrt(years[i])
    up = (wp.log(price[i] / strike[i]) + 0.1 * years[i]) / deviation + 0.5 * deviation
    discounted = strike[i] * wp.exp(-0.1 * years[i])
    value = price[i] * normal(up) - discounted * normal(up - deviation)
    call[i] = value
    put[i] = value - price[i] + discounted


@wp.kernel(enable_backward=False)
def n_body(bodies: F2, force: F2):
    """Forces between all pairs of bodies."""
    i = wp.tid()
    fx = float(0.0)  # noqa: UP018
    fy = float(0.0)  # noqa: UP018
    fz = float(0.0)  # noqa: UP018
    for k in range(bodies.shape[0]):
        dx = bodies[k, 0] - bodies[i, 0]
        dy = bodies[k, 1] - bodies[i, 1]
        dz = bodies[k, 2] - bodies[i, 2]
        inverse = 1.0 / wp.sqrt(dx * dx + dy * dy + dz * dz + 0.01)
        pull = inverse * inverse * inverse
        fx += dx * pull
        fy += dy * pull
        fz += dz * pull
    force[i, 0] = fx
    force[i, 1] = fy
    force[i, 2] = fz


@wp.kernel(enable_backward=False)
def matmul(a: F2, b: F2, c: F2):
    """One element an item."""
    i, j = wp.tid()
    total = float(0.0)  # noqa: UP018
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]
    c[i, j] = total
