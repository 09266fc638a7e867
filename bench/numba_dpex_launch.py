"""Print the time of launching a small kernel with numba-dpex, in ns: pipelined, and waited for.

It runs in an environment of its own (``make numba-dpex``), because it needs an old Numba, NumPy and
SYCL runtime. `launches.py` starts it.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import json
import sys
import timeit

import dpctl
import dpnp
import numba_dpex

ITEMS = 256


@numba_dpex.kernel
def add(item, x, n):
    """As in `launches.py`."""
    x[item.get_id(0)] += n


def main(calls: int, rounds: int) -> None:
    """Time both forms; the fastest round counts."""
    queue = dpctl.SyclQueue(property="in_order")
    x = dpnp.zeros(ITEMS, dtype="int32", sycl_queue=queue)
    size = numba_dpex.Range(ITEMS)

    def in_a_row() -> None:
        for _ in range(calls):
            numba_dpex.call_kernel_async(add, size, (), x, 1)
        queue.wait()

    def waited() -> None:
        for _ in range(calls):
            numba_dpex.call_kernel(add, size, x, 1)

    figures = []
    for task in (in_a_row, waited):
        task()
        figures.append(min(timeit.repeat(task, number=1, repeat=rounds)) / calls * 1e9)
    print(json.dumps(figures))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
