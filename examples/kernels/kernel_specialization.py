"""One function, compiled for each combination of argument types; a number may have a fixed type."""

# SPDX-License-Identifier: Apache-2.0
import numpy as np

import usmx


@usmx.kernel
def scale(item, factor: usmx.float32, x):
    i = item.get_id(0)
    x[i] = factor * x[i]


def main():
    """Three types of elements, one function."""
    for dtype in ("f4", "f8", "c8"):
        x = np.arange(8).astype(dtype)
        y = usmx.asarray(x)
        scale[8](2, y).wait()
        np.testing.assert_array_equal(y.to_numpy(), 2 * x)
    print(scale.source(2, usmx.zeros(8, dtype="c8")).splitlines()[1])


if __name__ == "__main__":
    main()
