"""Queues, contexts and devices that cross between libraries are the same objects on both sides."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ctypes
import gc
import sys
import threading
from collections.abc import Callable

import dpctl
import dpctl.memory
import psutil
import pytest
from backend_row import ROW, needs

import usmx

CL_CONTEXT_REFERENCE_COUNT = 0x1080
CL_CONTEXT_DEVICES = 0x1081
CL_QUEUE_CONTEXT = 0x1090
CL_QUEUE_REFERENCE_COUNT = 0x1092
CL_DEVICE_NAME = 0x102B


class Wrapper:
    """What any library may write: an object that returns another object's capsule."""

    def __init__(self, inner: object) -> None:
        self.inner = inner
        self.asked = 0

    def _get_capsule(self) -> object:
        self.asked += 1
        return self.inner._get_capsule()


# A queue that leaks takes 32 bytes: three megabytes in 10^5 exchanges.
LEAK = 1_500_000


class Heap(ctypes.Structure):
    """What glibc's ``mallinfo2`` returns: ten numbers."""

    _fields_ = [("counts", ctypes.c_size_t * 10)]


def in_use() -> int:
    """Bytes that malloc has handed out; what the process holds where another allocator runs."""
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = Heap
    counts = mallinfo().counts
    mapped, allocated = counts[4], counts[7]  # hblkhd, uordblks
    return (mapped + allocated) or psutil.Process().memory_info().rss


def growth(work: Callable[[], None]) -> int:
    """Bytes in use after the work that were not before."""
    gc.collect()
    before = in_use()
    work()
    gc.collect()
    return in_use() - before


def capsule_name(capsule: object) -> str:
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype = ctypes.c_char_p
    get_name.argtypes = [ctypes.py_object]
    return get_name(capsule).decode()


def named_capsule(name: bytes) -> object:
    make = ctypes.pythonapi.PyCapsule_New
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return make(1, name, None)


def test_dpctl_sees_the_same_device_and_default_context():
    assert [d.filter_string for d in dpctl.get_devices()] == [
        d.filter_string for d in usmx.devices()
    ]
    assert usmx.Device(dpctl.SyclDevice(ROW.device)) == usmx.Device(ROW.device)
    assert usmx.Context(dpctl.SyclContext(ROW.device)) == usmx.Context(ROW.device)
    assert usmx.Context(dpctl.SyclQueue(ROW.device)) == usmx.Context(ROW.device)
    assert dpctl.SyclContext(usmx.Context(ROW.device)._get_capsule()) == dpctl.SyclContext(
        ROW.device
    )


def test_memory_of_one_is_recognised_in_the_default_context_of_the_other(kind):
    allocate = {
        "device": dpctl.memory.MemoryUSMDevice,
        "shared": dpctl.memory.MemoryUSMShared,
        "host": dpctl.memory.MemoryUSMHost,
    }[kind]
    theirs = allocate(64, queue=dpctl.SyclQueue(usmx.Queue(ROW.device)._get_capsule()))
    assert theirs.get_usm_type(syclobj=dpctl.SyclContext(ROW.device)) == kind


def test_a_queue_survives_the_way_there_and_back():
    theirs = dpctl.SyclQueue(ROW.device, property="enable_profiling")
    ours = usmx.Queue(theirs)
    assert ours.has_enable_profiling
    assert ours == usmx.Queue(theirs._get_capsule())
    assert dpctl.SyclQueue(ours._get_capsule()) == theirs
    mine = usmx.Queue(ROW.device, in_order=False)
    assert usmx.Queue(dpctl.SyclQueue(mine._get_capsule())) == mine


@needs("parts")
def test_a_context_survives_the_way_there_and_back():
    theirs = dpctl.SyclContext(dpctl.SyclDevice(ROW.device).create_sub_devices(partition=[1]))
    ours = usmx.Context(theirs)
    assert dpctl.SyclContext(ours._get_capsule()) == theirs
    assert ours != usmx.Context(ROW.device)
    assert usmx.Queue(theirs) == usmx.Queue(ours)
    assert usmx.Queue(theirs).context == ours


@needs("parts")
def test_sub_devices_of_dpctl_are_taken():
    theirs = dpctl.SyclDevice(ROW.device).create_sub_devices(partition=[1])[0]
    ours = usmx.Device(theirs)
    assert ours.parent_device == usmx.Device(ROW.device)
    assert ours.max_compute_units == 1
    assert usmx.Queue(theirs).device == ours


def test_an_event_survives_the_way_there_and_back(queue):
    theirs = dpctl.SyclQueue(ROW.device, property="enable_profiling").submit_barrier()
    ours = usmx.Event(theirs)
    ours.wait()
    assert ours.profiling_info_end == theirs.profiling_info_end
    assert usmx.Event(theirs._get_capsule()) == ours
    dpctl.SyclEvent(queue.submit_barrier()._get_capsule()).wait()
    for junk in (3, queue, queue._get_capsule(), "cpu"):
        with pytest.raises((TypeError, ValueError), match="SyclEventRef"):
            usmx.Event(junk)


def test_any_object_with_get_capsule_is_asked_once():
    for inner in (dpctl.SyclQueue(ROW.device), usmx.Queue(ROW.device)):
        wrapper = Wrapper(inner)
        assert usmx.Queue(wrapper) == usmx.Queue(inner)
        assert wrapper.asked == 1
    wrapper = Wrapper(usmx.Context(ROW.device))
    assert usmx.Context(wrapper) == usmx.Context(ROW.device)
    assert wrapper.asked == 1


def test_each_capsule_is_fresh_and_reading_does_not_use_it_up():
    queue = usmx.Queue(ROW.device)
    first, second = queue._get_capsule(), queue._get_capsule()
    assert first is not second
    assert capsule_name(first) == "SyclQueueRef"
    assert capsule_name(queue.context._get_capsule()) == "SyclContextRef"
    assert capsule_name(queue.submit_barrier()._get_capsule()) == "SyclEventRef"
    for _ in range(3):
        assert usmx.Queue(first) == queue
    assert dpctl.SyclQueue(first) == dpctl.SyclQueue(second)
    assert capsule_name(first) == "used_SyclQueueRef"


def test_a_capsule_outlives_what_it_was_made_of():
    queue = usmx.Queue(ROW.device, in_order=False)
    capsule = queue._get_capsule()
    del queue
    gc.collect()
    assert not usmx.Queue(capsule).is_in_order


@pytest.mark.parametrize("make", [usmx.Queue, usmx.Context, usmx.Device])
def test_each_fault_of_a_capsule_has_its_own_diagnosis(make):
    used = usmx.Queue(ROW.device)._get_capsule()
    dpctl.SyclQueue(used)
    for capsule, diagnosis in [
        (used, "was used already.*fresh one with _get_capsule"),
        (named_capsule(b"dltensor"), 'named "dltensor"'),
        (named_capsule(b"SyclDeviceRef"), 'named "SyclDeviceRef"'),
        (named_capsule(b"used_SyclContextRef"), "was used already"),
        (usmx.Event()._get_capsule(), "of an event"),
    ]:
        with pytest.raises(ValueError, match=diagnosis) as raised:
            make(capsule)
        assert '"SyclQueueRef"' in str(raised.value)


def test_an_error_of_get_capsule_passes_through():
    class Broken:
        def _get_capsule(self) -> object:
            raise ZeroDivisionError("mine")

    class Empty:
        def _get_capsule(self) -> object:
            return "cpu"

    with pytest.raises(ZeroDivisionError, match="mine"):
        usmx.Queue(Broken())
    with pytest.raises(TypeError, match=r"_get_capsule.*expected a capsule"):
        usmx.Queue(Empty())


def test_capsules_leak_neither_references_nor_memory():
    theirs, ours = dpctl.SyclQueue(ROW.device), usmx.Queue(ROW.device)
    context = ours.context

    def exchange(times: int) -> None:
        for _ in range(times):
            usmx.Queue(theirs)
            usmx.Queue(ours._get_capsule())
            ours._get_capsule()
            context._get_capsule()
            usmx.Context(theirs)

    def driver_references() -> tuple[int, int]:
        if ROW.backend != "opencl":
            return (0, 0)  # only OpenCL says how many it has
        return (
            opencl_info("clGetContextInfo", context.native, CL_CONTEXT_REFERENCE_COUNT),
            opencl_info("clGetCommandQueueInfo", ours.native, CL_QUEUE_REFERENCE_COUNT),
        )

    exchange(1000)
    gc.collect()
    references = [sys.getrefcount(o) for o in (theirs, ours, context, usmx.Queue)]
    native = driver_references()
    grown = growth(lambda: exchange(100_000))
    assert [sys.getrefcount(o) for o in (theirs, ours, context, usmx.Queue)] == references
    assert driver_references() == native
    assert grown < LEAK


def test_the_leak_check_sees_queues_that_are_kept():
    queue = usmx.Queue(ROW.device)
    kept: list[object] = []
    assert growth(lambda: kept.extend(queue._get_capsule() for _ in range(100_000))) > LEAK


def test_refused_objects_leak_nothing():
    used = usmx.Queue(ROW.device)._get_capsule()
    dpctl.SyclQueue(used)

    def refuse(times: int) -> None:
        for _ in range(times):
            for junk in (used, 3, b"x", "cpu:opencl"):
                with pytest.raises((TypeError, ValueError)):
                    usmx.Queue(junk)

    refuse(500)
    references = sys.getrefcount(used)
    assert growth(lambda: refuse(5000)) < LEAK
    assert sys.getrefcount(used) == references


def test_threads_exchange_capsules():
    theirs, ours = dpctl.SyclQueue(ROW.device), usmx.Queue(ROW.device)
    expected = usmx.Queue(theirs)
    wrong: list[object] = []

    def work() -> None:
        for _ in range(2000):
            if usmx.Queue(theirs) != expected or usmx.Queue(ours._get_capsule()) != ours:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def opencl_info(query: str, handle: int, what: int) -> int:
    """An integer that OpenCL knows about one of its objects, asked of the loader in use."""
    library = ctypes.CDLL("libOpenCL.so.1", mode=ctypes.DEFAULT_MODE | 4)  # RTLD_NOLOAD
    value = ctypes.c_uint64(0)
    size = 4 if what in (CL_CONTEXT_REFERENCE_COUNT, CL_QUEUE_REFERENCE_COUNT) else 8
    error = getattr(library, query)(
        ctypes.c_void_p(handle), what, ctypes.c_size_t(size), ctypes.byref(value), None
    )
    assert error == 0
    return value.value


@needs("opencl")
def test_native_handles_are_opencls_own_and_borrowed():
    queue = usmx.Queue(ROW.device, in_order=True)
    assert queue.backend == queue.context.backend == queue.device.backend == "opencl"
    assert opencl_info("clGetCommandQueueInfo", queue.native, CL_QUEUE_CONTEXT) == (
        queue.context.native
    )
    assert opencl_info("clGetContextInfo", queue.context.native, CL_CONTEXT_DEVICES) == (
        queue.device.native
    )
    before = opencl_info("clGetCommandQueueInfo", queue.native, CL_QUEUE_REFERENCE_COUNT)
    assert len({queue.native for _ in range(100)}) == 1
    assert opencl_info("clGetCommandQueueInfo", queue.native, CL_QUEUE_REFERENCE_COUNT) == before
    assert usmx.Platform is type(queue.device.platform)
    assert queue.device.platform.native > 0


@needs("opencl")
def test_pyopencl_works_on_native_handles():
    pyopencl = pytest.importorskip("pyopencl")
    queue = usmx.Queue(ROW.device, in_order=True)
    context = pyopencl.Context.from_int_ptr(queue.context.native)
    assert context.devices[0].name == queue.device.name
    pyopencl.CommandQueue.from_int_ptr(queue.native).finish()
