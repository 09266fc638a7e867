# Compute follows data: the queue of a computation with several arrays, the kind of its result, and
# an error that says which arrays live where.
# SPDX-License-Identifier: Apache-2.0
import dpctl
import dpnp
import numpy as np
import pytest
from backend_row import ROW, needs

import usmx

KINDS = ["device", "shared", "host"]


@pytest.fixture(scope="module")
def elsewhere():
    return usmx.Queue(usmx.Context([usmx.Device(ROW.device)]), ROW.device)


@needs("host_memory")
def test_the_queue_is_that_of_the_first_array_in_usm():
    one, other = usmx.Queue(in_order=True), usmx.Queue(in_order=True)
    x, y = usmx.ones(3, queue=one), usmx.ones(3, queue=other)
    assert usmx.get_execution_queue(x, y) == one
    assert usmx.get_execution_queue([y, x]) == other
    assert usmx.get_execution_queue(np.ones(3), y) == other
    assert usmx.get_execution_queue(y.usm_data) == other
    assert usmx.get_execution_queue(dpnp.ones(3)) == dpctl.get_device_cached_queue(ROW.device)
    assert usmx.get_execution_queue(np.ones(3)) == usmx.default_queue()
    assert usmx.get_execution_queue() is None


@needs("host_memory")
def test_it_is_where_kernels_run():
    one, other = usmx.Queue(in_order=True), usmx.Queue(in_order=True)
    x, y = usmx.ones(3, queue=one), usmx.ones(3, queue=other)
    add = usmx.ElementwiseKernel("T x, T y", "T z", "z = x + y")
    for arguments in ((x, y), (y, x), (np.ones(3), y)):
        assert add(*arguments).queue == usmx.get_execution_queue(*arguments)


def test_arrays_of_two_contexts_have_none_and_the_error_says_where_they_are(elsewhere):
    here, there = usmx.ones(3, usm_type="shared"), usmx.ones(3, queue=elsewhere)
    with pytest.raises(usmx.ExecutionPlacementError) as raised:
        usmx.get_execution_queue(here, there)
    text = str(raised.value)
    assert f"array 0 is shared memory on {ROW.device}" in text
    assert f"array 1 is device memory on {ROW.device}" in text
    assert "in another context" in text
    assert "to_device(queue)" in text
    assert issubclass(usmx.ExecutionPlacementError, ValueError)
    moved = there.to_device(here.queue)
    assert usmx.get_execution_queue(here, moved) == here.queue


@usmx.kernel
def python(item, x, y):
    y[item.get_id(0)] = x[item.get_id(0)]


RAW = usmx.RawKernel("USMX_KERNEL(1) raw(const double* x, double* y) {}", "raw")
TIERS = {
    "RawKernel": (RAW[3], "argument 1 of kernel 'raw'"),
    "usmx.kernel": (python[3], "argument 1 ('y') of kernel 'python'"),
    "ElementwiseKernel": (usmx.ElementwiseKernel("T x, T y", "T z", "z = x + y"), "input 'y'"),
    "fuse": (usmx.fuse(lambda x, y: x + y), "input 'x1'"),
    "ReductionKernel": (
        usmx.ReductionKernel("T x, T y", "T z", "x + y", "a + b", "z = a", "0"),
        "input 'y'",
    ),
    "ScanKernel": (usmx.ScanKernel("T x, T y", "T z", "x + y", "a + b"), "input 'y'"),
}


@pytest.mark.parametrize("tier", TIERS)
def test_every_tier_says_where_an_array_of_another_context_is(tier, elsewhere):
    call, name = TIERS[tier]
    with pytest.raises(usmx.ExecutionPlacementError) as raised:
        call(usmx.ones(3), usmx.ones(3, queue=elsewhere, usm_type="shared"))
    text = str(raised.value)
    assert text.startswith(name)
    assert f"belongs to another context than the queue: it is shared memory on {ROW.device}" in text
    assert "to_device(queue)" in text


@needs("host_memory")
def test_host_memory_goes_where_the_others_are(elsewhere):
    add = usmx.ElementwiseKernel("T x, T y", "T z", "z = x + y")
    there = usmx.ones(3, queue=elsewhere)
    for host in (np.ones(3), usmx.asarray(np.ones(3), copy=False)):
        for arguments in ((host, there), (there, host)):
            z = add(*arguments)
            assert z.queue == elsewhere
            assert z.to_numpy().tolist() == [2] * 3


@pytest.mark.parametrize("what", [3, "cpu", None, [object()]])
def test_what_is_no_array_is_refused_by_its_number(what):
    with pytest.raises(TypeError, match=r"array [01]"):
        usmx.get_execution_queue(*([usmx.ones(1), what] if not isinstance(what, list) else [what]))


@pytest.mark.parametrize("one", KINDS)
@pytest.mark.parametrize("other", KINDS)
def test_kinds_are_coerced_as_dpnp_does_and_as_kernels_do(one, other):
    theirs = dpnp.tensor.get_coerced_usm_type([one, other])
    assert usmx.get_coerced_usm_type(one, other) == theirs
    assert usmx.get_coerced_usm_type([one, other]) == theirs
    x, y = usmx.ones(2, usm_type=one), usmx.ones(2, usm_type=other)
    assert usmx.get_coerced_usm_type(x, y) == theirs
    assert usmx.ElementwiseKernel("T x, T y", "T z", "z = x + y")(x, y).usm_type == theirs


@needs("host_memory")
def test_coercion_of_nothing_of_unknown_words_and_of_host_memory():
    assert usmx.get_coerced_usm_type() is None
    assert usmx.get_coerced_usm_type([]) is None
    assert usmx.get_coerced_usm_type("device", "elsewhere") is None
    assert usmx.get_coerced_usm_type([None, "host"]) is None
    assert usmx.get_coerced_usm_type(np.ones(2)) == "host"
    assert usmx.get_coerced_usm_type(np.ones(2), "shared") == "shared"
    with pytest.raises(TypeError, match=r"argument 0: 3 .int.; expected 'device', 'shared'"):
        usmx.get_coerced_usm_type(3)
