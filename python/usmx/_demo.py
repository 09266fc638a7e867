"""What ``usmx demo`` shows: a picture that the device computes, with the time of NumPy."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from time import perf_counter
from typing import Any

import usmx

_STEPS = usmx.ElementwiseKernel(
    "float64 real, float64 imaginary, int32 most",
    "int32 steps",
    """
    double x = 0, y = 0;
    int k = 0;
    for (; k < most && x * x + y * y < 4; ++k) {
      const double next = x * x - y * y + real;
      y = 2 * x * y + imaginary;
      x = next;
    }
    steps = k;
    """,
    "mandelbrot",
)
_SHADES = " .:-=+*#%@"


def _axes(width: int, height: int) -> tuple[Any, Any]:
    return usmx.linspace(-2.2, 0.8, width), usmx.linspace(-1.2, 1.2, height)[:, None]


def _by_numpy(width: int, height: int, most: int) -> Any:
    import numpy as np

    c = np.linspace(-2.2, 0.8, width) + 1j * np.linspace(-1.2, 1.2, height)[:, None]
    z, steps = np.zeros_like(c), np.zeros(c.shape, "i4")
    for _ in range(most):
        inside = z.real**2 + z.imag**2 < 4
        steps += inside
        z = np.where(inside, z * z + c, z)
    return steps


def show(width: int = 72, height: int = 24, most: int = 100) -> str:
    """The picture as text, and what it took."""
    x, y = _axes(width, height)
    steps = _STEPS(x, y, most)
    lines = [
        "".join(_SHADES[min(k * len(_SHADES) // most, len(_SHADES) - 1)] for k in row)
        for row in steps.tolist()
    ]
    large = _axes(8 * width, 8 * height)
    ours = usmx.bench(_STEPS, *large, most, seconds=0.2).median
    start = perf_counter()
    wanted = _by_numpy(8 * width, 8 * height, most)
    theirs = perf_counter() - start
    same = float((_STEPS(*large, most).to_numpy() == wanted).mean())
    device = usmx.default_queue().device
    return "\n".join(
        [
            *lines,
            "",
            f"{8 * width} x {8 * height} points on {device.name}: {ours * 1e3:.1f} ms; "
            f"NumPy: {theirs * 1e3:.0f} ms",
            f"{same:.2%} of the points are equal; the picture took one kernel of ten lines "
            "(usmx.ElementwiseKernel)",
            "next: `usmx devices`, `usmx bench`, `usmx doctor`",
        ]
    )
