"""Bitonic sort: a launch for each step, ordered only by the queue."""

# SPDX-License-Identifier: Apache-2.0
import numpy as np

import usmx


@usmx.kernel
def step(item, x, block, distance):
    i = item.get_id(0)
    other = i ^ distance
    if other > i:
        rising = i & block == 0
        if (x[i] > x[other]) == rising:
            x[i], x[other] = x[other], x[i]


def sort(x):
    """Sort an array in place; its length is a power of two."""
    block = 2
    while block <= len(x):
        distance = block // 2
        while distance > 0:
            step[len(x)](x, block, distance)
            distance //= 2
        block *= 2


def main():
    """Sort a thousand numbers."""
    host = np.random.default_rng(12).random(1024, dtype="f4")
    x = usmx.asarray(host)
    sort(x)
    np.testing.assert_array_equal(x.to_numpy(), np.sort(host))
    print("bitonic_sort", x[:3].to_numpy())


if __name__ == "__main__":
    main()
