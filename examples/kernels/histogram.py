"""A histogram: each group counts in local memory, then adds its counts to the result."""

# SPDX-License-Identifier: Apache-2.0
import numpy as np

import usmx

BINS = 32


@usmx.kernel
def histogram(item, x, counts):
    i, k = item.get_global_id(0), item.get_local_id(0)
    mine = usmx.local.array(BINS, usmx.int32)
    if k < BINS:
        mine[k] = 0
    usmx.barrier()
    usmx.atomic.add(mine, min(int(x[i] * BINS), BINS - 1), 1)
    usmx.barrier()
    if k < BINS:
        usmx.atomic.add(counts, k, mine[k])


def main():
    """Counts of random numbers."""
    x = np.random.default_rng(10).random(4096, dtype="f4")
    counts = usmx.zeros(BINS, dtype="i4")
    histogram[4096, 64](usmx.asarray(x), counts).wait()
    wanted = np.bincount((x * BINS).astype(int), minlength=BINS)
    np.testing.assert_array_equal(counts.to_numpy(), wanted)
    print("histogram", counts[:4].to_numpy())


if __name__ == "__main__":
    main()
