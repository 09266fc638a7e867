# The C-level exchange both ways: what a consumer in C is told of ours and of what runs on it, and
# that tables which lie are refused by the field.
# SPDX-License-Identifier: Apache-2.0
import ctypes
import gc
import threading

import dpctl
import exchange_structs as c
import numpy as np
import pytest
from backend_row import ROW, needs
from exchange_structs import PENDING, READ_ONLY, Array, Crafted, crafted
from gate import Gate
from layouts import DTYPES, KINDS, LAYOUTS

import usmx
import usmx.memory as um

ELEMENTS = 360
# Large enough that the host never does what a command should.
LARGE = 1 << 18


def shared(count=6, dtype="float32", **where):
    return usmx.asarray(np.arange(count).astype(dtype), usm_type="shared", **where)


def queues(count=2):
    device = usmx.Device()
    return [usmx.Queue(device, in_order=True) for _ in range(count)]


def is_pending(x):
    return bool(c.view(x).flags & PENDING)


# --- out: what a consumer sees --------------------------------------------------------------------


def test_the_table_says_its_version_and_size():
    for obj in (usmx.zeros(3), um.MemoryUSMShared(8), um.MemoryUSMHost(8), um.MemoryUSMDevice(8)):
        table = c.api_of(obj)
        assert (table.major, table.minor) == (1, 0)
        assert table.size == ctypes.sizeof(c.Api)


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_consumer_in_c_sees_the_same_elements(name, dtype):
    layout, dtype = LAYOUTS[name], np.dtype(dtype)
    block = usmx.asarray(np.arange(ELEMENTS).astype(dtype), usm_type="shared")
    x = usmx.ndarray(layout.shape, dtype, block, layout.strides, layout.offset)
    a = c.view(x)
    assert (a.type.decode(), a.itemsize) == (dtype.kind, dtype.itemsize)
    assert c.numbers(a.shape, a.ndim) == x.shape
    assert c.numbers(a.strides, a.ndim) == x.strides
    if x.size:
        assert a.data + a.offset * a.itemsize == x.pointer
    assert (a.reserved, a.flags, a.owner, bool(a.release)) == (0, 0, None, False)


@pytest.mark.parametrize("kind", KINDS)
def test_the_kind_and_the_queue_are_the_arrays(kind):
    x = usmx.zeros(3, usm_type=kind)
    a = c.view(x)
    assert c.KIND_NAMES[a.kind] == kind
    capsule = c.python.PyCapsule_New(a.queue, b"SyclQueueRef", None)
    assert usmx.Queue(capsule) == x.queue
    assert a.context is None


def test_memory_is_a_row_of_bytes():
    m = um.MemoryUSMShared(24)
    a = c.view(m)
    assert (a.data, a.type, a.itemsize, c.numbers(a.shape, a.ndim)) == (m._pointer, b"u", 1, (24,))


def test_read_only_memory_is_flagged():
    x = shared()
    x.flags.writeable = False
    assert c.view(x).flags == READ_ONLY


def test_a_record_has_its_size_and_on_request_its_fields():
    x = usmx.zeros(3, [("a", "f4"), ("b", "i2", (2,))], usm_type="shared")
    a = c.view(x)
    assert (a.type, a.itemsize) == (b"V", 8)
    listed = ctypes.c_void_p()
    assert c.api_of(x).typedescr(x, listed) == 0
    fields = ctypes.cast(listed, ctypes.py_object).value
    assert fields == x.__sycl_usm_array_interface__["typedescr"]
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(fields))
    assert c.api_of(x).typedescr(shared(), listed) == 0
    assert ctypes.cast(listed, ctypes.py_object).value is None


@pytest.mark.parametrize("function", ["view", "acquire"])
def test_other_objects_and_freed_memory_are_errors(function):
    table = c.api_of(shared())
    for other in (None, 7, object(), np.zeros(3), usmx.ndarray.__new__(usmx.ndarray)):
        with pytest.raises(TypeError, match=r"usmx\.ndarray"):
            getattr(table, function)(other, Array())
    m = um.MemoryUSMShared(64)
    m.free()
    with pytest.raises(ValueError, match="freed"):
        getattr(table, function)(m, Array())


def test_a_borrowed_struct_costs_no_reference():
    x = shared()
    before = c.references(x)
    c.view(x)
    assert c.references(x) == before


def bytes_in_use():
    """What malloc has handed out and not got back."""

    class Info(ctypes.Structure):
        _fields_ = tuple((name, ctypes.c_size_t) for name in "abcdefghij")

    libc = ctypes.CDLL(None)
    libc.mallinfo2.restype = Info
    return libc.mallinfo2().h  # uordblks


def test_a_hundred_thousand_calls_leave_nothing_behind():
    x, out = shared(12).reshape(3, 4), Array()
    view, acquire = c.api_of(x).view, c.api_of(x).acquire

    def calls(count):
        for _ in range(count):
            view(x, out)
            acquire(x, out)
            out.release(out)

    calls(1000)
    gc.collect()
    before = bytes_in_use()
    calls(100_000)
    gc.collect()
    assert bytes_in_use() - before < 100_000  # one byte a call would be more


# --- out: owned structs ---------------------------------------------------------------------------


def test_an_acquired_struct_keeps_the_memory_until_its_release():
    counted = um.StatisticsResource(um.UsmResource("shared"))
    with um.using(counted):
        x = usmx.empty((5, 4, 3, 2, 1), "float32", usm_type="shared")
        a = c.acquire(x)
        pointer = x.pointer
        del x
        gc.collect()
        assert counted.stats()["blocks"] == 1
        assert a.data == pointer
        assert c.numbers(a.shape, 5) == (5, 4, 3, 2, 1)
        a.release(a)
        usmx._usmx._Testing.drain()
        assert counted.stats()["blocks"] == 0
        assert not a.release


def test_an_acquired_struct_may_be_moved_and_released_by_a_thread_without_the_lock():
    counted = um.StatisticsResource(um.UsmResource("shared"))
    with um.using(counted):
        a = c.acquire(usmx.empty(100, usm_type="shared"))
        moved = Array.from_buffer_copy(a)
        thread = threading.Thread(target=lambda: moved.release(moved))
        thread.start()
        thread.join()
        usmx._usmx._Testing.drain()
        assert counted.stats()["blocks"] == 0


def test_memory_that_is_acquired_cannot_be_freed_under_the_consumer():
    m = um.MemoryUSMShared(64)
    a = c.acquire(m)
    with pytest.raises(BufferError, match="still uses"):
        m.free()
    a.release(a)
    m.free()


# --- out: the order of commands -------------------------------------------------------------------


def test_pending_commands_are_flagged_and_finished_ones_are_not():
    (queue,) = queues(1)
    x = usmx.zeros(LARGE, "int32", queue=queue, usm_type="shared")
    queue.wait()
    assert not is_pending(x)
    with Gate(queue):
        usmx.fill_async(x, 7)
        assert is_pending(x)
    assert c.api_of(x).wait(x) == 0
    assert not is_pending(x)
    assert set(x.to_numpy()) == {7}


def test_wait_ends_what_is_pending():
    (queue,) = queues(1)
    x = usmx.zeros(LARGE, "int32", queue=queue, usm_type="shared")
    seen = np.asarray(x)
    for value in range(1, 10):
        usmx.fill_async(x, value)
        c.api_of(x).wait(x)
        assert (seen == value).all()


def test_another_queue_is_put_behind_what_is_pending():
    ours, theirs = queues()
    x = usmx.zeros(LARGE, "int32", queue=ours)
    y = usmx.zeros(LARGE, "int32", queue=theirs, usm_type="shared")
    address, held = c.queue_at(theirs)
    copy = usmx.RawKernel(
        "USMX_KERNEL(1) f(unsigned long long x, int* y)"
        "{ auto i = usmx::global_id(); y[i] = ((const int*)x)[i]; }",
        "f",
    )
    for value in range(1, 20):
        usmx.fill_async(x, value)
        a = c.view(x)
        assert c.api_of(x).order(x, address) == 0
        # By its address, as a library does that knows nothing else of the memory.
        copy[x.size](np.uint64(a.data), y, queue=theirs)
        assert (y.to_numpy() == value).all()
    del held


def test_the_named_queue_comes_after_commands_on_other_queues():
    ours, other = queues()
    x = usmx.zeros(LARGE, "int32", queue=ours, usm_type="shared")
    y = usmx.zeros(LARGE, "int32", queue=ours)
    ours.wait()
    with Gate(other) as gate:
        usmx.fill_async(x, 7, queue=other)
        assert is_pending(x)  # and puts `ours` behind `other`
        marker = usmx.fill_async(y, 1)
        assert not marker.is_done
        gate.open()
    ours.wait()
    assert set(np.asarray(x)) == {7}


def test_an_acquired_struct_has_the_event_of_what_is_pending():
    ours, theirs = queues()
    x = usmx.zeros(LARGE, "int32", queue=ours, usm_type="shared")
    ours.wait()
    y = usmx.zeros(LARGE, "int32", queue=theirs)
    idle = c.acquire(x)
    assert idle.event is None
    idle.release(idle)
    with Gate(ours) as gate:
        usmx.fill_async(x, 7)
        a = c.acquire(x)
        assert a.flags & PENDING
        event = usmx.Event(c.python.PyCapsule_New(a.event, b"SyclEventRef", None))
        assert not event.is_done
        after = usmx.fill_async(y, 1, queue=theirs, depends_on=[event])
        assert not after.is_done
        gate.open()
        after.wait()
    assert set(np.asarray(x)) == {7}
    a.release(a)


def test_memory_outlives_the_commands_that_a_consumer_reports():
    ours, theirs = queues()
    counted = um.StatisticsResource(um.UsmResource("shared"))
    with um.using(counted):
        x = usmx.zeros(LARGE, "int32", queue=ours, usm_type="shared")
        ours.wait()
        other = usmx.zeros(LARGE, "int32", queue=theirs)
        theirs.wait()
        blocks = counted.stats()["blocks"]
        address, held = c.queue_at(theirs)
        with Gate(theirs) as gate:
            last, event = c.pointer_in(usmx.fill_async(other, 1), b"SyclEventRef")
            assert c.api_of(x).used(x, address, last) == 0
            assert is_pending(x)
            del x
            gc.collect()
            usmx._usmx._Testing.collect()
            assert counted.stats()["blocks"] == blocks
            gate.open()
            theirs.wait()
        usmx._usmx._Testing.drain()
        assert counted.stats()["blocks"] == blocks - 1
    del held, event


def test_our_commands_come_after_those_that_a_consumer_reports():
    ours, theirs = queues()
    x = usmx.zeros(LARGE, "int32", queue=ours, usm_type="shared")
    y = usmx.zeros(LARGE, "int32", queue=ours, usm_type="shared")
    ours.wait()
    address, held = c.queue_at(theirs)
    data = np.uint64(c.view(x).data)
    write = usmx.RawKernel(
        "USMX_KERNEL(1) f(unsigned long long x, int value)"
        "{ ((int*)x)[usmx::global_id()] = value; }",
        "f",
    )
    write[LARGE](data, 0, queue=theirs).wait()  # compiled before the gate is closed
    for value in range(1, 20):
        with Gate(theirs):
            # By its address, as a library does that knows nothing else of the memory.
            last, event = c.pointer_in(write[LARGE](data, value, queue=theirs), b"SyclEventRef")
            c.api_of(x).used(x, address, last)
            usmx.copy_async(y, x)
        assert (y.to_numpy() == value).all()
    del held, event


# --- in -------------------------------------------------------------------------------------------


def test_a_producer_with_a_table_comes_in_without_a_copy_and_without_its_dictionary():
    class WithDictionary(Crafted):
        @property
        def __sycl_usm_array_interface__(self):
            raise AssertionError("asked for the dictionary")

    source = crafted(WithDictionary)(shared())
    x = usmx.asarray(source)
    assert x.pointer == source.memory.pointer
    assert x.usm_type == "shared"
    assert x.queue == source.memory.queue
    assert source.asked == 1
    x[0] = 42
    assert source.memory[0].item() == 42


def test_a_producer_is_told_the_queue_of_our_commands():
    source = crafted()(shared())
    usmx.asarray(source)
    ((queue, event),) = source.used
    assert queue
    assert event is None


def test_strides_offset_and_flags_of_the_producer_count():
    memory = shared(12)
    source = crafted()(memory, shape=(2, 3), strides=(6, -2), offset=4, ndim=2, flags=READ_ONLY)
    x = usmx.asarray(source)
    assert x.to_numpy().tolist() == [[4, 2, 0], [10, 8, 6]]
    assert not x.flags.writeable


def test_a_context_alone_gives_the_queue_of_its_device():
    source = crafted()(shared())
    address, held = c.pointer_in(source.memory.context, b"SyclContextRef")
    source.changes = {"queue": None, "context": address}
    assert usmx.asarray(source).context == source.memory.context
    del held


def test_records_come_in_with_their_fields():
    memory = usmx.zeros(3, [("a", "f4"), ("b", "i4")], usm_type="shared")
    fields = memory.__sycl_usm_array_interface__["typedescr"]

    def typedescr(obj, out):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(fields))
        out[0] = id(fields)
        return 0

    source = crafted(typedescr=typedescr)(memory, type=b"V", itemsize=8)
    assert usmx.asarray(source).dtype == memory.dtype
    plain = crafted()(memory, type=b"V", itemsize=8)
    assert usmx.asarray(plain).dtype == np.dtype("V8")


def test_the_producer_lives_as_long_as_the_array():
    source = crafted()(shared())
    references = c.references(source)
    x = usmx.asarray(source)[2:]
    assert c.references(source) == references + 1
    del x
    gc.collect()
    assert c.references(source) == references


def test_what_a_producer_says_is_pending_is_waited_for():
    theirs, ours = queues()
    memory = usmx.zeros(LARGE, "float32", queue=theirs, usm_type="shared")
    y = usmx.empty(memory.shape, memory.dtype, queue=ours, usm_type="shared")
    theirs.wait()
    for with_event in (True, False):
        with Gate(theirs) as gate:
            event = usmx.fill_async(memory, 5 + with_event)
            pointer, held = c.pointer_in(event, b"SyclEventRef")
            source = crafted()(memory, flags=PENDING, event=pointer if with_event else None)
            x = usmx.asarray(source)
            done = usmx.copy_async(y, x, queue=ours)
            assert not done.is_done
            gate.open()
            assert (x.to_numpy() == 5 + with_event).all()
            done.wait()
            assert (y.to_numpy() == 5 + with_event).all()
        del held


def test_kernels_take_producers_with_a_table():
    source = crafted()(shared())
    usmx.ElementwiseKernel("T x", "T y", "y = x + 1")(source, source)
    assert source.memory.to_numpy().tolist() == [1, 2, 3, 4, 5, 6]


LIES = {
    "negative rank": ({"ndim": -1}, "ndim: -1"),
    "too many dimensions": ({"ndim": 65}, "ndim: 65"),
    "no shape": ({"shape": None}, "shape: is null"),
    "negative length": ({"shape": (-1,)}, r"shape: \(-1,\)"),
    "overflow": ({"shape": (1 << 62,)}, "shape"),
    "past the end": ({"shape": (1 << 20,)}, "not inside"),
    "huge strides": ({"strides": (1 << 62,)}, "strides"),
    "before the start": ({"strides": (-1,)}, "not inside"),
    "offset out of the memory": ({"offset": 1 << 20, "shape": (1,)}, "data"),
    "offset overflows": ({"offset": 1 << 62}, "offset"),
    "null": ({"data": None}, "null"),
    "misaligned": ({"data": 4097}, "not aligned"),
    "no USM": ({"data": 4096}, "not USM"),
    "unknown type": ({"type": b"M"}, "type, itemsize: 'M', 4 bytes"),
    "no letter": ({"type": b"\0"}, "type, itemsize: 0, 4 bytes"),
    "size without a type": ({"itemsize": 3}, "type, itemsize: 'f', 3 bytes"),
    "no size": ({"itemsize": 0}, "type, itemsize: 'f', 0 bytes"),
    "record without a size": ({"type": b"V", "itemsize": 0}, "type, itemsize: 'V', 0 bytes"),
    "neither queue nor context": ({"queue": None}, "queue, context: both are null"),
}


@pytest.mark.parametrize("name", LIES)
def test_what_a_producer_says_of_its_memory_is_checked(name):
    changes, words = LIES[name]
    source = crafted()(shared(), **changes)
    references = c.references(source)
    with pytest.raises(usmx.InteropError, match=words):
        usmx.asarray(source)
    gc.collect()
    assert c.references(source) == references


def test_the_kind_comes_from_the_driver():
    source = crafted()(shared(), kind=2)
    assert usmx.asarray(source).usm_type == "shared"


@needs("contexts")
def test_memory_of_another_context_is_refused():
    device = dpctl.SyclDevice(ROW.device)
    other = usmx.zeros(4, "float32", queue=dpctl.SyclQueue(dpctl.SyclContext([device]), device))
    source = crafted()(shared(), data=other.pointer, shape=(4,))
    with pytest.raises(usmx.InteropError, match="not USM"):
        usmx.asarray(source)


def test_a_view_that_fails_without_an_error_is_an_error():
    source = crafted(view=lambda obj, out: -1)(shared())
    with pytest.raises(ValueError, match=r"view: -1 for Tabled failed and set no error"):
        usmx.asarray(source)


def test_errors_of_a_producer_pass_through():
    # The function of ours refuses objects of others, with an error.
    source = crafted(view=c.api_of(shared()).view)(shared())
    with pytest.raises(TypeError, match=r"usmx\.ndarray"):
        usmx.asarray(source)
    source = crafted(used=c.api_of(shared()).used)(shared())
    with pytest.raises(TypeError, match=r"usmx\.ndarray"):
        usmx.asarray(source)


def test_a_newer_major_version_is_read_by_the_dictionary_or_refused():
    class WithDictionary(Crafted):
        @property
        def __sycl_usm_array_interface__(self):
            return self.memory.__sycl_usm_array_interface__

    source = crafted(WithDictionary, major=2)(shared())
    assert usmx.asarray(source).pointer == source.memory.pointer
    assert source.asked == 0
    with pytest.raises(usmx.InteropError, match=r"version 2\.0 is not supported; only 1 is"):
        usmx.asarray(crafted(major=2)(shared()))
    newer = crafted(minor=9, size=4096)(shared())
    assert usmx.asarray(newer).pointer == newer.memory.pointer


@pytest.mark.parametrize("size", [0, 16, 23])
def test_a_table_without_a_view_is_refused(size):
    with pytest.raises(usmx.InteropError, match="view: is null, or outside of the"):
        usmx.asarray(crafted(size=size)(shared()))
    with pytest.raises(usmx.InteropError, match="view: is null"):
        usmx.asarray(crafted(view=None)(shared()))


def test_functions_beyond_the_end_of_the_table_are_not_called():
    source = crafted(size=24)(shared())  # up to `view`
    assert usmx.asarray(source).pointer == source.memory.pointer
    assert source.used == []


@pytest.mark.parametrize("wrong", [None, 7, "text", b"sycl_usm_exchange_api"])
def test_an_attribute_that_is_not_the_capsule_is_refused(wrong):
    made = type("Wrong", (), {c.ATTRIBUTE: wrong})
    with pytest.raises(TypeError, match="a capsule named 'sycl_usm_exchange_api'"):
        usmx.asarray(made())
    with pytest.raises(TypeError, match="a capsule named"):
        usmx.asarray(crafted(name=b"something_else")(shared()))


def test_a_class_with_the_attribute_is_not_an_array():
    with pytest.raises(TypeError):
        usmx.asarray(crafted())


# --- make -----------------------------------------------------------------------------------------


class Given:
    """Memory of an extension with a callback that gives it back."""

    def __init__(self, memory, **changes):
        self.memory = memory
        self.released = 0
        self.struct = Array()
        self.source = Crafted(memory, **changes)
        self.source.fill(self.struct)
        self.callback = c.Release(self.count)
        self.struct.release = self.callback

    def count(self, _):
        self.released += 1

    def make(self):
        out = ctypes.py_object()
        assert c.api_of(self.memory).make(self.struct, out) == 0
        made = out.value
        ctypes.pythonapi.Py_DecRef(ctypes.py_object(made))
        return made


def test_memory_of_an_extension_becomes_an_array_and_is_given_back_once():
    given = Given(shared())
    x = given.make()
    assert type(x) is usmx.ndarray
    assert x.pointer == given.memory.pointer
    assert not given.struct.release  # taken over
    y = x[1:]
    del x
    gc.collect()
    assert given.released == 0
    del y
    gc.collect()
    assert given.released == 1


def test_memory_of_an_extension_is_given_back_after_the_commands_on_it():
    (queue,) = queues(1)
    given = Given(usmx.zeros(LARGE, "float32", queue=queue, usm_type="shared"))
    queue.wait()
    x = given.make()
    with Gate(queue) as gate:
        usmx.fill_async(x, 2.0)
        del x
        gc.collect()
        usmx._usmx._Testing.collect()
        assert given.released == 0
        gate.open()
        queue.wait()
    usmx._usmx._Testing.drain()
    assert given.released == 1
    assert set(given.memory.to_numpy()) == {2}


def test_a_null_release_is_not_called():
    given = Given(shared())
    given.struct.release = c.Release()
    assert given.make().to_numpy().tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("name", LIES)
def test_what_was_refused_still_belongs_to_the_caller(name):
    changes, words = LIES[name]
    given = Given(shared(), **changes)
    with pytest.raises(usmx.InteropError, match=words):
        given.make()
    gc.collect()
    usmx._usmx._Testing.drain()
    assert given.released == 0
    assert given.struct.release
