"""A sum in several launches, each over the results of the one before; no wait between them."""

# SPDX-License-Identifier: Apache-2.0
import numpy as np

import usmx

GROUP = 64


@usmx.kernel
def sum_reduction(item, x, partial):
    i, group = item.get_global_id(0), item.get_group()
    total = group.reduce(x[i] if i < len(x) else 0.0)
    if group.leader():
        partial[group.get_group_id(0)] = total


def total_of(x):
    """The sum of an array, an array of one element."""
    while len(x) > 1:
        groups = -(-len(x) // GROUP)
        partial = usmx.empty(groups, dtype=x.dtype)
        sum_reduction[groups * GROUP, GROUP](x, partial)
        x = partial
    return x


def main():
    """The sum of an array whose length is not a multiple of the group size."""
    x = np.random.default_rng(8).random(10_001)
    total = total_of(usmx.asarray(x)).to_numpy()[0]
    np.testing.assert_allclose(total, x.sum(), rtol=1e-12)
    print("sum_reduction_recursive", total)


if __name__ == "__main__":
    main()
