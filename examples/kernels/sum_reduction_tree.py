"""A sum as a tree in local memory: in each iteration half of the work-items add the other half."""

# SPDX-License-Identifier: Apache-2.0
import numpy as np

import usmx


@usmx.kernel
def sum_reduction_tree(item, x, tile, partial):
    i, k = item.get_global_id(0), item.get_local_id(0)
    tile[k] = x[i]
    stride = item.get_local_range(0) // 2
    while stride > 0:
        usmx.barrier()
        if k < stride:
            tile[k] += tile[k + stride]
        stride //= 2
    if k == 0:
        partial[item.get_group_id(0)] = tile[0]


def main():
    """The size of the local memory is chosen at the launch."""
    x = np.random.default_rng(7).random(2048)
    for group in (32, 128):
        partial = usmx.empty(2048 // group, dtype="f8")
        memory = usmx.LocalMemory(group, usmx.float64)
        sum_reduction_tree[2048, group](usmx.asarray(x), memory, partial).wait()
        np.testing.assert_allclose(partial.to_numpy().sum(), x.sum(), rtol=1e-12)
    print("sum_reduction_tree", partial.to_numpy().sum())


if __name__ == "__main__":
    main()
