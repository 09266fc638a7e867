"""Print the time that a script spends on its three kernels, in ns.

That is from their definition to the end of their first launches.
"""
# SPDX-License-Identifier: Apache-2.0

import time

import usmx

x = usmx.ones(4096, dtype="float32")
y = usmx.zeros(4096, dtype="float32")
sums = usmx.zeros(64, dtype="float32")
start = time.perf_counter_ns()


@usmx.kernel
def saxpy(item, a, x, y):
    """One multiplication and one sum."""
    i = item.get_id(0)
    y[i] = a * x[i] + y[i]


@usmx.kernel
def sum_groups(item, x, sums):
    """A tree of sums in local memory."""
    tile = usmx.local.array(64, usmx.float32)
    k = item.get_local_id(0)
    tile[k] = x[item.get_global_id(0)]
    width = 32
    while width > 0:
        usmx.barrier()
        if k < width:
            tile[k] += tile[k + width]
        width //= 2
    if k == 0:
        sums[item.get_group().get_group_id(0)] = tile[0]


@usmx.kernel
def scale(item, x, by):
    """Another kernel for another type of number."""
    x[item.get_id(0)] *= by


saxpy[4096](2.0, x, y)
sum_groups[4096, 64](y, sums)
scale[64](sums, 2)
usmx.default_queue().wait()
took = time.perf_counter_ns() - start
assert sums[0].to_numpy() == 256
print(took)
