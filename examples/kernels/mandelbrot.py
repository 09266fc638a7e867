"""The Mandelbrot set, with complex numbers; ``python mandelbrot.py picture.png`` draws it."""

# SPDX-License-Identifier: Apache-2.0
import sys

import numpy as np

import usmx

MOST = 100


@usmx.kernel
def mandelbrot(item, corner, step, rounds):
    i, j = item.get_id(0), item.get_id(1)
    c = corner + complex(j * step, i * step)
    z = 0j
    n = 0
    while n < MOST and z.real * z.real + z.imag * z.imag <= 4:
        z = z * z + c
        n += 1
    rounds[i, j] = n


def main(picture=""):
    """The whole set in 90 by 120 points."""
    rounds = usmx.empty((90, 120), dtype="i4")
    mandelbrot[90, 120](-2.1 - 1.2j, 0.0267, rounds).wait()
    got = rounds.to_numpy()
    i, j = np.indices(got.shape)
    c = (-2.1 - 1.2j) + (j * 0.0267 + 1j * (i * 0.0267))
    z, wanted = np.zeros_like(c), np.zeros(c.shape, "i4")
    for _ in range(MOST):
        inside = z.real**2 + z.imag**2 <= 4
        wanted += inside
        z = np.where(inside, z * z + c, z)
    # Rounding may change the number of iterations by one for points next to the border.
    assert (got != wanted).mean() < 0.005
    print("mandelbrot", (got == MOST).sum(), "points are inside")
    if picture:
        import matplotlib.image

        matplotlib.image.imsave(picture, got, cmap="magma")


if __name__ == "__main__":
    main(*sys.argv[1:2])
