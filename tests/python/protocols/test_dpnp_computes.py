# dpctl, dpnp and what is built on them compute with our arrays as they come: on their own queue,
# without a copy, in order.
# SPDX-License-Identifier: Apache-2.0
import gc
import subprocess
import sys

import dpctl
import dpnp
import numpy as np
import pytest
from backend_row import ROW

import usmx


@pytest.fixture(params=["device", "shared", "host"])
def x(request):
    return usmx.asarray(np.arange(1, 6, dtype="float32"), usm_type=request.param)


COMPUTED = {
    "add": (lambda a: dpnp.ones(5, dtype="f4") + dpnp.asarray(a), [2, 3, 4, 5, 6]),
    "add, the other way": (lambda a: dpnp.asarray(a) + dpnp.ones(5, dtype="f4"), [2, 3, 4, 5, 6]),
    "matmul": (lambda a: dpnp.matmul(dpnp.ones(5, dtype="f4"), dpnp.asarray(a)), 15),
    "concatenate": (
        lambda a: dpnp.concatenate([dpnp.zeros(1, dtype="f4"), dpnp.asarray(a)]),
        [0, 1, 2, 3, 4, 5],
    ),
    "where": (
        lambda a: dpnp.where(dpnp.asarray(a) > 2, dpnp.asarray(a), dpnp.zeros(5, dtype="f4")),
        [0, 0, 3, 4, 5],
    ),
    "stack": (
        lambda a: dpnp.stack([dpnp.asarray(a), dpnp.ones(5, dtype="f4")])[0],
        [1, 2, 3, 4, 5],
    ),
}


@pytest.mark.parametrize("name", COMPUTED)
def test_dpnp_computes_with_our_array_and_its_own(name, x):
    compute, right = COMPUTED[name]
    assert dpnp.asnumpy(compute(x)).tolist() == right


def test_dpnp_writes_our_array_into_its_own(x):
    theirs = dpnp.zeros(5, dtype="f4")
    theirs[:] = dpnp.asarray(x)
    assert dpnp.asnumpy(theirs).tolist() == [1, 2, 3, 4, 5]
    ours = dpnp.asarray(x)
    ours[:] = dpnp.full(5, 9, dtype="f4")
    dpnp.synchronize_array_data(ours)
    assert x.to_numpy().tolist() == [9] * 5


def test_no_copy_is_made(x):
    theirs = dpnp.asarray(x)
    assert theirs.get_array()._pointer == x.pointer
    assert theirs.sycl_queue == dpnp.ones(1).sycl_queue


def test_the_dictionary_has_dpctls_queue():
    x = usmx.zeros(3)
    syclobj = x.__sycl_usm_array_interface__["syclobj"]
    assert isinstance(syclobj, dpctl.SyclQueue)
    assert syclobj == dpctl.get_device_cached_queue(dpctl.SyclDevice(ROW.device))
    own = usmx.Queue(in_order=True)
    syclobj = usmx.zeros(3, queue=own).__sycl_usm_array_interface__["syclobj"]
    assert isinstance(syclobj, dpctl.SyclQueue)
    assert usmx.asarray(usmx.zeros(3, queue=own)).queue == own


def test_results_of_both_are_in_order():
    n = 1 << 20
    add = usmx.ElementwiseKernel("T a, T b", "T c", "c = a + b")
    x = usmx.zeros(n, "int64")
    theirs = dpnp.asarray(x)
    for step in range(1, 21):
        add(x, step, x)  # ours
        theirs = dpnp.asarray(x)
        theirs += 1  # theirs
        x = usmx.asarray(theirs)
    total = sum(range(1, 21)) + 20
    values = x.to_numpy()
    assert values.min() == values.max() == total


def test_freed_blocks_are_not_reused_while_their_queue_reads():
    n = 1 << 20
    for step in range(20):
        x = usmx.asarray(np.full(n, step, "int64"), usm_type="device")
        total = dpnp.sum(dpnp.asarray(x))
        del x
        usmx.fill(usmx.empty(n, "int64"), -1)
        gc.collect()
        assert int(total) == step * n


@pytest.mark.parametrize("first", ["usmx, dpnp", "dpnp, usmx"])
def test_both_import_orders(first):
    program = f"import {first}\nprint(dpnp.ones(5) + dpnp.asarray(usmx.ones(5)))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[2. 2. 2. 2. 2.]"


def test_dpctl_imported_after_an_export():
    program = (
        "import usmx\nx = usmx.ones(5)\nx.__sycl_usm_array_interface__\n"
        "import dpnp\nprint(dpnp.ones(5) + dpnp.asarray(x))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[2. 2. 2. 2. 2.]"
