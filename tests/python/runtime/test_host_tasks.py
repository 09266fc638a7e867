"""dpctl and dpnp drop what they were given in a host task, on a thread of the SYCL runtime.

The last reference to our memory may go there, while the scheduler is locked.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

WAYS = {
    "memory that dpctl computes on": """
import dpctl, dpnp.tensor as dt
q = dpctl.SyclQueue("cpu")  # out of order, as dpctl's queues are by default
spin = usmx.RawKernel(
    "USMX_KERNEL(1) f(int64_t* x) { auto i = usmx::global_id(); int64_t s = i;"
    " for (int k = 0; k < 3000; ++k) s = s * 31 + k; x[i] = s; }", "f")
def turn():
    a = usmx.empty(2000, "int64", usm_type="device", queue=q)
    spin[2000](a)
    d = dt.asarray(a)
    del a
    kept = dt.add(d, 1)
    del d
    b = usmx.empty(2000, "int64", usm_type="device", queue=q)
    spin[2000](b)
    return b.to_numpy()[3] == dt.asnumpy(kept)[3] - 1
""",
    "results in dpnp's arithmetic": """
import dpnp
slow = usmx.ElementwiseKernel(
    "T x", "T y", "T s = x; for (int k = 0; k < 2000; ++k) s = s * T(0.999) + T(0.5); y = s",
    "slow")
ones = usmx.ones(5000, "float32", queue=dpnp.arange(3).sycl_queue)
x = dpnp.ones(5000, dtype="float32")
def turn():
    v = slow(x)
    y = dpnp.asarray(v) + 1
    del v
    return slow(ones).to_numpy()[7] + 1 == y[7]
""",
}


@pytest.mark.parametrize("way", WAYS)
def test_the_last_reference_may_go_in_a_host_task_of_another_library(
    way: str, run_python: Callable[..., Any]
) -> None:
    code = f"import usmx\n{WAYS[way]}\nprint(sum(bool(turn()) for _ in range(40)))"
    done = run_python(code, timeout=300)
    assert done.stdout.strip() == "40"
