"""A filter over an image: its weights are constant memory, updated for a second pass."""

# SPDX-License-Identifier: Apache-2.0
import numpy as np

import usmx

weights = usmx.constant.array(np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]], "f4") / 16)


@usmx.kernel
def convolution(item, image, out):
    i, j = item.get_id(0), item.get_id(1)
    total = 0.0
    for di in range(3):
        for dj in range(3):
            total += weights[di, dj] * image[i + di, j + dj]
    out[i, j] = total


def filtered(image, w):
    """The same in NumPy."""
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3))
    return np.einsum("ijkl,kl->ij", windows, w)


def main():
    """Blur, then find edges."""
    image = np.random.default_rng(11).random((42, 52), dtype="f4")
    out = usmx.empty((40, 50), dtype="f4")
    for new in (None, [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]):
        if new is not None:
            weights.update(new)
        convolution[40, 50](usmx.asarray(image), out).wait()
        np.testing.assert_allclose(out.to_numpy(), filtered(image, weights.values), atol=1e-5)
    print("convolution", out.to_numpy()[0, :3])


if __name__ == "__main__":
    main()
