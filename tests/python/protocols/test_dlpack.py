# DLPack both ways: what goes out is what others expect of it, what comes in is checked as memory of
# any other library is, and each tensor is given back exactly once.
# SPDX-License-Identifier: Apache-2.0
import ctypes
import gc
import threading

import dlpack_structs as structs
import dpctl
import dpnp.tensor as dpt
import exchange_partners as partners
import numpy as np
import pytest
from backend_row import ROW, needs, own_device
from dlpack_structs import COPIED, CPU, ONEAPI, READ_ONLY, Crafted, Legacy, Table, Tensor, Versioned
from layouts import KINDS, LAYOUTS

import usmx
import usmx.memory as um

HOST = (CPU, 0)
DTYPES = ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16")


def shared(count=6, dtype="float32"):
    return usmx.asarray(np.arange(count).astype(dtype), usm_type="shared")


def elements_of(memory, tensor, dtype):
    """The values that a C consumer sees, read through memory that it knows."""
    first = (tensor.data or 0) + tensor.byte_offset - memory.pointer
    shape = structs.numbers(tensor.shape, tensor.ndim)
    strides = structs.numbers(tensor.strides, tensor.ndim)
    flat = np.asarray(memory).view(np.uint8).ravel()
    return np.ndarray(
        shape, dtype, flat.data, first, tuple(s * np.dtype(dtype).itemsize for s in strides)
    )


# --- out ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_an_array_says_that_it_is_on_its_device_of_the_backend(kind):
    assert usmx.zeros(3, usm_type=kind).__dlpack_device__() == own_device(kind)
    assert um.MemoryUSMShared(16).__dlpack_device__() == own_device("shared")


@pytest.mark.parametrize("max_version", [None, (0, 8), (1, 0), (1, 7), (9, 0)])
def test_the_consumer_gets_the_form_it_reads(max_version):
    x = shared()
    capsule = x.__dlpack__(max_version=max_version)
    managed = structs.struct_in(capsule)
    if max_version is None or max_version[0] == 0:
        assert type(managed) is Legacy
    else:
        assert type(managed) is Versioned
        assert managed.major == 1
        assert managed.flags == 0


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_consumer_in_c_sees_the_same_elements(name, dtype):
    layout = LAYOUTS[name]
    block = usmx.asarray(np.arange(partners.ELEMENTS).astype(dtype), usm_type="shared")
    x = usmx.ndarray(layout.shape, dtype, block, layout.strides, layout.offset)
    capsule = x.__dlpack__(max_version=(1, 0))
    tensor = structs.struct_in(capsule).tensor
    assert (tensor.device_type, tensor.device_id) == own_device("shared")
    assert (tensor.code, tensor.bits, tensor.lanes) == (
        structs.CODES[np.dtype(dtype).kind],
        np.dtype(dtype).itemsize * 8,
        1,
    )
    if x.size == 0:
        assert tensor.data is None
        assert structs.numbers(tensor.shape, tensor.ndim) == x.shape
        return
    assert tensor.data == x.pointer
    seen = elements_of(block, tensor, dtype)
    assert seen.tobytes() == layout.of(block.to_numpy()).tobytes()


def test_numpy_views_host_accessible_memory_without_a_copy():
    for kind in ("shared", "host"):
        x = usmx.asarray(np.arange(12, dtype="int32").reshape(3, 4), usm_type=kind)[::-1, ::2]
        seen = np.from_dlpack(x, device="cpu", copy=False)
        assert seen.__array_interface__["data"][0] == x.pointer
        assert np.array_equal(seen, x.to_numpy())
        seen[0, 0] = 77
        assert x[0, 0].item() == 77


def test_device_memory_for_the_host_is_a_copy_that_says_so():
    x = usmx.asarray(np.arange(5.0), usm_type="device")
    seen = np.from_dlpack(x, device="cpu")
    assert seen.__array_interface__["data"][0] != x.pointer
    assert seen.tolist() == [0, 1, 2, 3, 4]
    capsule = x.__dlpack__(max_version=(1, 0), dl_device=HOST)
    assert structs.struct_in(capsule).flags == COPIED
    with pytest.raises(BufferError, match="copy=False"):
        x.__dlpack__(max_version=(1, 0), dl_device=HOST, copy=False)


def test_a_copy_is_made_where_it_is_asked_for():
    x = shared()
    capsule = x.__dlpack__(max_version=(1, 0), copy=True)
    managed = structs.struct_in(capsule)
    assert managed.flags == COPIED
    assert managed.tensor.data != x.pointer
    y = usmx.from_dlpack(capsule)
    assert y.usm_type == "shared"
    assert y.to_numpy().tolist() == x.to_numpy().tolist()


# What __dlpack__ gives for each kind of memory, dl_device and copy: the device that it names, and
# whether the elements are a copy; an error where there can be none.
OWN = "its own"
SHARES, COPIES = False, True
ANSWERS = {
    ("device", None, None): (OWN, SHARES),
    ("device", None, False): (OWN, SHARES),
    ("device", None, True): (OWN, COPIES),
    ("device", HOST, None): (HOST, COPIES),
    ("device", HOST, False): None,
    ("device", HOST, True): (HOST, COPIES),
    ("host-accessible", None, None): (OWN, SHARES),
    ("host-accessible", None, False): (OWN, SHARES),
    ("host-accessible", None, True): (OWN, COPIES),
    ("host-accessible", HOST, None): (HOST, SHARES),
    ("host-accessible", HOST, False): (HOST, SHARES),
    ("host-accessible", HOST, True): (HOST, COPIES),
}


@pytest.mark.parametrize("version", [None, (1, 0)])
@pytest.mark.parametrize("copy", [None, False, True])
@pytest.mark.parametrize("dl_device", [None, OWN, HOST])
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_for_each_device_with_and_without_a_copy(kind, dl_device, copy, version):
    x = usmx.asarray(np.arange(6, dtype="int32"), usm_type=kind)
    own = own_device(kind)
    asked = None if dl_device == OWN else dl_device
    dl_device = own if dl_device == OWN else dl_device
    answer = ANSWERS["device" if kind == "device" else "host-accessible", asked, copy]
    if answer is None:
        with pytest.raises(BufferError, match="copy=False"):
            x.__dlpack__(max_version=version, dl_device=dl_device, copy=copy)
        return
    where, is_copy = (own if answer[0] == OWN else HOST), answer[1]
    capsule = x.__dlpack__(max_version=version, dl_device=dl_device, copy=copy)
    managed = structs.struct_in(capsule)
    tensor = managed.tensor
    assert (tensor.device_type, tensor.device_id) == where
    assert (tensor.data + tensor.byte_offset != x.pointer) == is_copy
    if version is not None:
        assert managed.flags == (COPIED if is_copy else 0)
    if where == HOST:
        first = ctypes.cast(tensor.data + tensor.byte_offset, ctypes.POINTER(ctypes.c_int32))
        assert first[:6] == list(range(6))


def test_read_only_memory_is_flagged_and_needs_version_one():
    x = shared()
    x.flags.writeable = False
    assert structs.struct_in(x.__dlpack__(max_version=(1, 0))).flags == READ_ONLY
    assert not np.from_dlpack(x, device="cpu").flags.writeable
    with pytest.raises(BufferError, match="read-only memory needs version"):
        x.__dlpack__()


def test_records_are_refused_with_what_carries_them():
    x = usmx.zeros(3, [("a", "f4"), ("b", "i4")], usm_type="shared")
    with pytest.raises(BufferError, match="__sycl_usm_array_interface__"):
        x.__dlpack__(max_version=(1, 0))


@pytest.mark.parametrize("stream", [None, -1, 0, 1, 2, 12345678])
def test_finished_elements_leave_with_none_and_numbers(stream):
    queue = usmx.Queue(in_order=True)
    x = usmx.empty(1 << 22, "float32", queue=queue, usm_type="shared")
    usmx.fill_async(x, 7.0)
    seen = structs.struct_in(x.__dlpack__(stream=stream, max_version=(1, 0))).tensor
    last = seen.data + 4 * (x.size - 1)
    assert ctypes.c_float.from_address(last).value == 7.0


def test_a_queue_waits_in_place_of_the_host():
    producer, consumer = usmx.Queue(in_order=True), usmx.Queue(in_order=True)
    x = usmx.zeros(1 << 20, "int32", queue=producer)
    for value in range(20):
        usmx.fill_async(x, value)
        y = usmx.from_dlpack(x.__dlpack__(stream=consumer, max_version=(1, 0)))
        out = usmx.empty(x.shape, "int32", queue=consumer, usm_type="shared")
        usmx.RawKernel(
            "USMX_KERNEL(1) f(const int* x, int* y) { auto i = usmx::global_id(); y[i] = x[i]; }",
            "f",
        )[x.size](y, out, queue=consumer)
        assert (out.to_numpy() == value).all()


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"stream": 1.5}, TypeError, "stream"),
        ({"stream": True}, TypeError, "stream: True"),
        ({"max_version": 1}, TypeError, "max_version"),
        ({"max_version": (1,)}, TypeError, "max_version"),
        ({"max_version": (-1, 0)}, TypeError, "max_version"),
        ({"max_version": ("a", "b")}, TypeError, "max_version"),
        ({"dl_device": (8, 0)}, BufferError, r"dl_device: \(8, 0\)"),
        ({"dl_device": (14, 5)}, BufferError, r"dl_device: \(14, 5\)"),
        ({"dl_device": 14}, TypeError, "dl_device"),
        ({"dl_device": (1 << 40, 0)}, TypeError, "dl_device"),
        ({"copy": 1}, TypeError, "copy"),
    ],
)
def test_wrong_arguments_name_the_argument(arguments, error, words):
    with pytest.raises(error, match=words):
        shared().__dlpack__(**{"max_version": (1, 0), **arguments})


@needs("contexts")
def test_memory_of_another_context_has_no_name_in_dlpack():
    device = dpctl.SyclDevice(ROW.device)
    x = usmx.zeros(3, queue=dpctl.SyclQueue(dpctl.SyclContext([device]), device))
    with pytest.raises(BufferError, match="default one"):
        x.__dlpack_device__()


def test_a_capsule_that_is_not_taken_gives_its_memory_back():
    counted = um.StatisticsResource(um.UsmResource("shared"))
    with um.using(counted):
        for version in (None, (1, 0)):
            x = usmx.empty(1 << 20, "uint8", usm_type="shared")
            capsule = x.__dlpack__(max_version=version)
            del x
            assert structs.struct_in(capsule).tensor.data
            assert counted.stats()["blocks"] == 1
            del capsule
            usmx._usmx._Testing.drain()
            assert counted.stats()["blocks"] == 0


def test_a_view_of_another_library_keeps_the_memory():
    x = shared(1000)
    expected = x.to_numpy()
    seen = np.from_dlpack(x, device="cpu")
    del x
    gc.collect()
    usmx.zeros(1000, "float32", usm_type="shared")
    assert np.array_equal(seen, expected)


# --- in -------------------------------------------------------------------------------------------


def test_dpnp_comes_in_without_a_copy():
    for kind in KINDS:
        theirs = dpt.asarray(np.arange(6, dtype="f4"), usm_type=kind)
        x = usmx.from_dlpack(theirs)
        assert x.pointer == theirs._pointer
        assert x.usm_type == kind
        assert x.to_numpy().tolist() == [0, 1, 2, 3, 4, 5]


def test_dpnp_takes_ours_without_a_copy():
    x = shared()
    theirs = dpt.from_dlpack(x)
    assert theirs._pointer == x.pointer
    assert dpt.asnumpy(theirs).tolist() == x.to_numpy().tolist()


def test_our_own_array_comes_back_itself():
    x = shared()
    assert usmx.from_dlpack(x) is x
    assert usmx.from_dlpack(x, copy=True).pointer != x.pointer
    assert usmx.from_dlpack(x.__dlpack__()).pointer == x.pointer


@needs("oneapi")
def test_a_copy_is_made_where_the_producer_cannot_be_asked_for_one():
    class Old(Crafted):
        def __dlpack__(self):
            return super().__dlpack__()

    old = Old(shared(), kind=Legacy)
    x = shared()
    for given, original in ((old, old.memory), (x.__dlpack__(max_version=(1, 0)), x)):
        y = usmx.from_dlpack(given, copy=True)
        assert y.pointer != original.pointer
        assert y.to_numpy().tolist() == [0, 1, 2, 3, 4, 5]
    gc.collect()
    assert old.deleted == 1
    # A producer that copies is not copied again.
    new = Crafted(shared())
    assert usmx.from_dlpack(new, copy=True).pointer == new.memory.pointer


@pytest.mark.parametrize("kind", [Versioned, Legacy])
def test_a_tensor_is_given_back_once_after_its_last_use(kind):
    source = Crafted(shared(), kind=kind)
    x = usmx.from_dlpack(source)
    assert x.pointer == source.memory.pointer
    assert x.shape == (6,)
    y = x[2:]
    del x
    gc.collect()
    assert source.deleted == 0
    del y
    gc.collect()
    assert source.deleted == 1


def test_a_tensor_dies_on_a_thread_without_the_interpreter_lock():
    source = Crafted(shared())
    x = usmx.from_dlpack(source)
    usmx.fill_async(x, 3.0)  # the last reference may be one of the runtime's
    box = [x]
    del x
    thread = threading.Thread(target=box.clear)
    thread.start()
    thread.join()
    source.memory.queue.wait()
    gc.collect()
    usmx._usmx._Testing.drain()
    assert source.deleted == 1


def test_a_deleter_that_is_null_is_not_called():
    source = Crafted(shared(), deleter=None)
    assert usmx.from_dlpack(source).to_numpy().tolist() == [0, 1, 2, 3, 4, 5]


@needs("oneapi")
def test_the_producer_is_asked_for_the_newest_version_and_old_ones_for_none():
    source = Crafted(shared())
    usmx.from_dlpack(source)
    assert source.asked == [{"max_version": (1, 3)}]
    usmx.from_dlpack(source, copy=False)
    assert source.asked[1] == {"max_version": (1, 3), "copy": False}

    class Old(Crafted):
        def __dlpack__(self):
            return super().__dlpack__()

    old = Old(shared(), kind=Legacy)
    assert usmx.from_dlpack(old).shape == (6,)


def test_flags_of_the_producer_count():
    x = usmx.from_dlpack(Crafted(shared(), flags=READ_ONLY))
    assert not x.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1


BAD = {
    "another major version": ({"major": 2}, BufferError, "version: 2.0"),
    "rank": ({"ndim": 65}, ValueError, "ndim: 65"),
    "negative rank": ({"ndim": -1}, ValueError, "ndim: -1"),
    "no shape": ({"shape": None}, ValueError, "shape: is null"),
    "negative length": ({"shape": (-1,)}, ValueError, r"shape: \(-1,\)"),
    "shape overflow": ({"shape": (1 << 62,)}, ValueError, "shape"),
    "past the end": ({"shape": (1 << 20,)}, ValueError, "not inside its allocation"),
    "huge strides": ({"strides": (1 << 62,)}, ValueError, "strides"),
    "before the start": ({"strides": (-1,)}, ValueError, "not inside its allocation"),
    "huge offset": ({"byte_offset": 1 << 40}, ValueError, "data"),
    "wrapping offset": ({"byte_offset": (1 << 64) - 4}, ValueError, "data"),
    "misaligned": ({"byte_offset": 2}, ValueError, "not aligned"),
    "null": ({"data": None}, ValueError, "null"),
    "float8": ({"code": 4, "bits": 8}, ValueError, "dtype: code 4, 8 bits"),
    "vectors": ({"lanes": 4}, ValueError, "4 lanes"),
    "bits": ({"bits": 4}, ValueError, "4 bits"),
    "unknown type": ({"code": 99}, ValueError, "code 99"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("kind", [Versioned, Legacy])
def test_bad_tensors_are_refused_and_given_back_once(name, kind):
    changes, error, words = BAD[name]
    if kind is Legacy and "major" in changes:
        changes, error, words = {"ndim": -5}, ValueError, "ndim: -5"
    source = Crafted(shared(), kind=kind, **changes)
    with pytest.raises(error, match=words):
        usmx.from_dlpack(source)
    gc.collect()
    assert source.deleted == 1


def test_host_memory_that_claims_to_be_usm_is_refused():
    class Host:
        def __init__(self):
            self.array = np.arange(6, dtype="f4")
            self.pointer, self.size = self.array.ctypes.data, 6

    source = Crafted(Host())
    with pytest.raises(usmx.InteropError, match="not USM"):
        usmx.from_dlpack(source)
    assert source.deleted == 1


@pytest.mark.parametrize("device", [(8, 0), (4, 0), (99, 0), (ONEAPI, 77), (ONEAPI, -1)])
def test_devices_that_sycl_does_not_know_are_named(device):
    source = Crafted(shared(), device=device)
    with pytest.raises(BufferError, match=rf"device: \({device[0]}, {device[1]}\)"):
        usmx.from_dlpack(source)
    gc.collect()
    assert source.deleted == len(source.asked)


class Repeating:
    """A producer that hands out one capsule again and again."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return HOST


def test_a_capsule_serves_one_consumer():
    x = shared()
    for version in (None, (1, 0)):
        capsule = x.__dlpack__(max_version=version)
        usmx.from_dlpack(capsule)
        with pytest.raises(ValueError, match="consumed already"):
            usmx.from_dlpack(capsule)
        again = Repeating(capsule)
        with pytest.raises((ValueError, RuntimeError, TypeError)):
            np.from_dlpack(again)


def test_capsules_of_other_kinds_are_refused_by_name():
    other = structs.api.PyCapsule_New(1, b"datetime.datetime_CAPI", None)
    with pytest.raises(ValueError, match=r"'datetime\.datetime_CAPI'"):
        usmx.from_dlpack(other)
    source = Crafted(shared(), capsule_name=b"arrow_array")
    with pytest.raises(ValueError, match="'arrow_array'"):
        usmx.from_dlpack(source)


@pytest.mark.parametrize("given", [None, 3, "abc", [1, 2], object()])
def test_what_has_no_dlpack_is_refused(given):
    with pytest.raises(TypeError, match="__dlpack__"):
        usmx.from_dlpack(given)


def test_errors_of_the_producer_pass_through():
    class Raising(Crafted):
        def __dlpack__(self, **asked):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        usmx.from_dlpack(Raising(shared()))

    class Broken(Crafted):
        def __dlpack_device__(self):
            return "nowhere"

    with pytest.raises(TypeError, match="dl"):
        usmx.from_dlpack(Broken(shared()))


# --- host memory ----------------------------------------------------------------------------------


@needs("host_memory")
def test_numpy_comes_in_without_a_copy_where_the_device_reads_it():
    theirs = np.arange(10, dtype="int64")
    x = usmx.from_dlpack(theirs)
    assert x.pointer == theirs.ctypes.data
    assert x.usm_type == "unknown"
    usmx.RawKernel("USMX_KERNEL(1) f(long* x) { x[usmx::global_id()] *= 3; }", "f")[10](x).wait()
    assert theirs.tolist() == list(range(0, 30, 3))


# --- the table of C functions ---------------------------------------------------------------------


def table_of(kind):
    capsule = kind.__dlpack_c_exchange_api__
    address = structs.api.PyCapsule_GetPointer(capsule, b"dlpack_exchange_api")
    return ctypes.cast(address, ctypes.POINTER(Table)).contents


def test_the_table_gives_a_tensor_that_owns_the_memory():
    table = table_of(usmx.ndarray)
    assert (table.major, table.minor) == (1, 3)
    x = shared()
    out = ctypes.POINTER(Versioned)()
    assert table.from_object(x, ctypes.byref(out)) == 0
    assert out.contents.tensor.data == x.pointer
    made = ctypes.py_object()
    assert table.to_object(out, ctypes.byref(made)) == 0
    y = made.value
    assert y.pointer == x.pointer
    assert y.to_numpy().tolist() == x.to_numpy().tolist()


def test_the_table_gives_a_borrowed_tensor():
    table = table_of(usmx.ndarray)
    x = shared(12).reshape(3, 4)
    seen = Tensor()
    assert table.view_object(x, ctypes.byref(seen)) == 0
    assert seen.data == x.pointer
    assert structs.numbers(seen.shape, 2) == (3, 4)
    assert structs.numbers(seen.strides, 2) == (4, 1)


def test_the_table_refuses_other_objects_with_an_error():
    table = table_of(usmx.ndarray)
    with pytest.raises(TypeError, match=r"usmx\.ndarray"):
        table.view_object(object(), ctypes.byref(Tensor()))


def test_producers_with_a_table_are_asked_in_c():
    class WithTable:
        __dlpack_c_exchange_api__ = usmx.ndarray.__dlpack_c_exchange_api__

        def __dlpack__(self, **_):
            raise AssertionError("asked in Python")

    # The table of ours refuses objects of others, which shows that it was called.
    with pytest.raises(TypeError, match=r"usmx\.ndarray"):
        usmx.from_dlpack(WithTable())


def test_the_current_stream_is_the_default_queue():
    table = table_of(usmx.ndarray)
    stream = ctypes.c_void_p()
    assert table.current_stream(*own_device("device"), ctypes.byref(stream)) == 0
    assert stream.value
    assert table.current_stream(CPU, 0, ctypes.byref(stream)) == 0
    assert stream.value is None
