"""c = a + b over two dimensions, also where one of them is a transposed view."""

# SPDX-License-Identifier: Apache-2.0
import numpy as np

import usmx


@usmx.kernel
def vector_sum2D(item, a, b, c):
    i, j = item.get_id(0), item.get_id(1)
    c[i, j] = a[i, j] + b[i, j]


def main():
    """Add a matrix and a transposed one."""
    a = np.arange(48 * 32, dtype="f8").reshape(48, 32)
    b = np.arange(32 * 48, dtype="f8").reshape(32, 48)
    c = usmx.empty((48, 32), dtype="f8")
    vector_sum2D[48, 32](usmx.asarray(a), usmx.asarray(b).T, c).wait()
    np.testing.assert_array_equal(c.to_numpy(), a + b.T)
    print("vector_sum2D", c.to_numpy()[1, :3])


if __name__ == "__main__":
    main()
