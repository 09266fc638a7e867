"""What programs written for dpctl and dpnp read from our objects by dpctl's names."""
# SPDX-License-Identifier: Apache-2.0

import subprocess
import sys

import dpctl
import dpctl.memory
import dpnp
import pytest
from backend_row import ROW

import usmx
import usmx.memory


def make(kind, queue=None):
    return usmx.arange(12, dtype="float32", usm_type=kind, queue=queue)


@pytest.mark.parametrize("kind", ["device", "shared", "host"])
@pytest.mark.parametrize("key", [slice(None), slice(None, None, -1), slice(2, 11, 3)])
def test_dpnp_asarray_takes_an_array_without_a_copy(kind, key):
    array = make(kind)[key]
    theirs = dpnp.asarray(array, copy=False).get_array()
    assert theirs.usm_data._pointer + theirs._element_offset * 4 == array.pointer
    assert theirs.usm_type == kind
    assert dpnp.asnumpy(theirs).tolist() == array.to_numpy().tolist()


def test_what_dpnp_took_keeps_the_memory_and_not_the_object():
    import gc
    import weakref

    array = make("shared")
    gone = weakref.ref(array)
    gc.disable()  # reference counts alone must do
    try:
        theirs = dpnp.asarray(array)
        del array
        assert gone() is None
    finally:
        gc.enable()
    assert dpnp.asnumpy(theirs).tolist() == list(range(12))


def test_dpnp_sees_that_an_array_became_read_only():
    array = make("shared")
    assert array.__usm_ndarray__.flags.writable
    array.flags.writeable = False
    assert not array.__usm_ndarray__.flags.writable


def test_records_have_a_queue_although_dpnp_has_no_records():
    record = usmx.empty(3, dtype=[("x", "<f4"), ("y", "<i4")])
    assert isinstance(record.sycl_queue, dpctl.SyclQueue)


@pytest.mark.parametrize(
    "make_object", [make, lambda k, queue: usmx.memory.MemoryUSMShared(64, queue=queue)]
)
def test_dpctl_names_give_dpctl_objects_that_mean_the_same(make_object):
    ours = make_object("shared", queue=usmx.Queue(in_order=True))
    assert isinstance(ours.sycl_queue, dpctl.SyclQueue)
    assert isinstance(ours.sycl_device, dpctl.SyclDevice)
    assert isinstance(ours.sycl_context, dpctl.SyclContext)
    assert ours.queue == ours.sycl_queue
    assert hash(ours.queue) == hash(ours.sycl_queue)
    assert ours.context == ours.sycl_context
    assert ours.queue != dpctl.SyclQueue()
    assert ours.queue != ours.sycl_context


def test_the_device_of_an_array_has_dpctls_names_too():
    device = make("shared").device
    assert isinstance(device.sycl_device, dpctl.SyclDevice)
    assert device.sycl_device == dpctl.SyclDevice(ROW.device)
    common = dpctl.get_device_cached_queue(device.sycl_device)
    assert device.sycl_queue == make("shared").sycl_queue == common
    assert device.sycl_context == common.sycl_context


def test_the_default_queue_has_the_name_of_dpctls_default_queue():
    theirs = dpctl.get_device_cached_queue(dpctl.SyclDevice(ROW.device))
    assert make("shared").sycl_queue == theirs
    assert usmx.memory.MemoryUSMShared(64).sycl_queue == theirs


def test_without_dpctl_the_names_give_our_own():
    program = (
        "import sys, usmx, usmx.memory\n"
        "for o in (usmx.zeros(3), usmx.memory.MemoryUSMHost(8)):\n"
        "    assert o.sycl_queue == o.queue and type(o.sycl_queue) is usmx.Queue\n"
        "    assert o.sycl_device == o.device and o.sycl_context == o.context\n"
        "d = usmx.zeros(3).device\n"
        "assert d.sycl_device == d and d.sycl_queue == usmx.default_queue(d)\n"
        "assert 'dpctl' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_memory_of_many_queues_of_dpctl_comes_with_its_own():
    queues = [dpctl.SyclQueue() for _ in range(7)]
    blocks = [dpctl.memory.MemoryUSMShared(64, queue=queue) for queue in queues]
    for _ in range(2):
        for queue, block in zip(queues, blocks, strict=True):
            assert usmx.memory.as_usm_memory(block).queue == usmx.Queue(queue)
            # The queue that was taken out of the dictionary's object is not changed by asking.
            assert block.sycl_queue == queue
