"""Inclusive scans of each group: by Hillis and Steele in local memory, and by the group's scan."""

# SPDX-License-Identifier: Apache-2.0
import numpy as np

import usmx

GROUP = 64


@usmx.kernel
def scan(item, x, sums):
    i, k = item.get_global_id(0), item.get_local_id(0)
    a = usmx.local.array((2, GROUP), usmx.int32)
    now = 0
    a[now, k] = x[i]
    distance = 1
    while distance < GROUP:
        usmx.barrier()
        a[1 - now, k] = a[now, k] + (a[now, k - distance] if k >= distance else 0)
        now = 1 - now
        distance *= 2
    sums[i] = a[now, k]


@usmx.kernel
def scan_of_group(item, x, sums):
    i = item.get_global_id(0)
    sums[i] = item.get_group().inclusive_scan(x[i])


def main():
    """Both against NumPy."""
    x = np.random.default_rng(9).integers(0, 100, 4 * GROUP).astype("i4")
    wanted = x.reshape(-1, GROUP).cumsum(axis=1).ravel()
    for kernel in (scan, scan_of_group):
        sums = usmx.empty(len(x), dtype="i4")
        kernel[len(x), GROUP](usmx.asarray(x), sums).wait()
        np.testing.assert_array_equal(sums.to_numpy(), wanted)
    print("scan", sums[:4].to_numpy())


if __name__ == "__main__":
    main()
