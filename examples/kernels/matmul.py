"""Matrix multiplication: directly, and with tiles in local memory that each group loads once."""

# SPDX-License-Identifier: Apache-2.0
import numpy as np

import usmx

TILE = 16


@usmx.kernel
def matmul(item, a, b, c):
    i, j = item.get_id(0), item.get_id(1)
    total = 0.0
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]
    c[i, j] = total


@usmx.kernel
def matmul_tiled(item, a, b, c):
    left = usmx.local.array((TILE, TILE), usmx.float32)
    right = usmx.local.array((TILE, TILE), usmx.float32)
    i, j = item.get_global_id(0), item.get_global_id(1)
    row, column = item.get_local_id(0), item.get_local_id(1)
    total = 0.0
    for block in range(0, a.shape[1], TILE):
        left[row, column] = a[i, block + column]
        right[row, column] = b[block + row, j]
        usmx.barrier()  # both tiles are complete
        for k in range(TILE):
            total += left[row, k] * right[k, column]
        usmx.barrier()  # no work-item reads them any more
    c[i, j] = total


def main():
    """Both products against NumPy."""
    random = np.random.default_rng(1)
    a, b = (random.random((64, 64), dtype="f4") for _ in range(2))
    x, y = usmx.asarray(a), usmx.asarray(b)
    c, d = (usmx.empty((64, 64), dtype="f4") for _ in range(2))
    matmul[64, 64](x, y, c).wait()
    matmul_tiled[(64, 64), (TILE, TILE)](x, y, d).wait()
    np.testing.assert_allclose(c.to_numpy(), a @ b, rtol=1e-5)
    np.testing.assert_allclose(d.to_numpy(), a @ b, rtol=1e-5)
    print("matmul", d.to_numpy()[0, :3])


if __name__ == "__main__":
    main()
