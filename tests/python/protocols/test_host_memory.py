# Memory of the host on a device whose kernels read it: taken without a copy where that was asked
# for, kept alive, and a view of USM is that USM again.
# SPDX-License-Identifier: Apache-2.0
import array as std_array
import ctypes
import gc
import mmap
import weakref

import numpy as np
import pytest
from backend_row import needs

import usmx
import usmx.memory as um

DOUBLE = usmx.RawKernel("USMX_KERNEL(1) f(int* x) { x[usmx::global_id()] *= 2; }", "f")


def sources(tmp_path):
    numbers = np.arange(16, dtype="int32")
    file = tmp_path / "numbers"
    file.write_bytes(numbers.tobytes())
    with file.open("r+b") as opened:
        mapped = mmap.mmap(opened.fileno(), 0)
    return {
        "NumPy": numbers,
        "bytearray": bytearray(numbers.tobytes()),
        "array.array": std_array.array("i", range(16)),
        "memoryview": memoryview(numbers.copy())[4:],
        "mmap": mapped,
        "strided": np.arange(32, dtype="int32")[::2],
    }


@pytest.mark.parametrize(
    "name", ["NumPy", "bytearray", "array.array", "memoryview", "mmap", "strided"]
)
@needs("host_memory")
def test_host_memory_is_shared_where_a_copy_is_forbidden(name, tmp_path):
    source = sources(tmp_path)[name]
    seen = np.asarray(source) if name != "mmap" else np.frombuffer(source, "u1")
    with usmx.trace() as record:
        x = usmx.asarray(source, copy=False)
    assert not record.copies
    assert x.usm_type == "unknown"
    assert x.pointer == seen.__array_interface__["data"][0]
    assert x.dtype == seen.dtype
    assert x.shape == seen.shape
    before = seen.copy()

    usmx.ElementwiseKernel("T a", "T b", "b = a + a")(x, x)
    x.queue.wait()
    assert seen.tolist() == (before + before).tolist()


@needs("host_memory")
def test_read_only_memory_stays_read_only():
    source = np.arange(4.0)
    source.flags.writeable = False
    x = usmx.asarray(source, copy=False)
    assert not x.flags.writeable
    y = usmx.asarray(memoryview(b"12345678").cast("i"), copy=False)
    assert not y.flags.writeable


@needs("host_memory")
def test_the_source_lives_as_long_as_the_array():
    source = np.arange(1000.0)
    gone = weakref.ref(source)
    x = usmx.asarray(source, copy=False)
    y = x[10:]
    del source, x
    gc.collect()
    assert gone() is not None
    assert y.to_numpy()[0] == 10
    del y
    gc.collect()
    assert gone() is None


@needs("host_memory")
def test_a_cycle_through_a_shared_buffer_is_collected():
    class Array(np.ndarray):
        pass

    source = np.zeros(16, "int32").view(Array)
    source.seen = usmx.asarray(source, copy=False)
    assert source.seen.usm_type == "unknown"
    gone = weakref.ref(source)
    del source
    gc.collect()
    assert gone() is None


@needs("host_memory")
def test_a_buffer_cannot_be_resized_while_it_is_shared():
    source = bytearray(64)
    x = usmx.asarray(source, copy=False)
    with pytest.raises(BufferError):
        source.extend(b"x")
    del x
    gc.collect()
    source.extend(b"x")


@pytest.mark.parametrize("kind", ["shared", "host"])
def test_a_view_of_usm_is_that_usm_again(kind):
    x = usmx.asarray(np.arange(24, dtype="int32").reshape(4, 6), usm_type=kind)
    for view in (np.asarray(x), np.asarray(x)[1:, ::2], memoryview(x), np.asarray(x).T, x.usm_data):
        for copy in (None, False):
            y = usmx.asarray(view, copy=copy)
            assert y.usm_type == kind
            assert y.pointer == np.asarray(view).__array_interface__["data"][0]
            assert y.shape == np.asarray(view).shape
            assert y.queue == x.queue


def test_what_numpy_got_through_dlpack_is_that_usm_again():
    x = usmx.asarray(np.arange(6, dtype="int32"), usm_type="shared")
    seen = np.from_dlpack(x, device="cpu")[1:]
    for y in (usmx.asarray(seen), usmx.asarray(seen, copy=False), usmx.from_dlpack(seen)):
        assert y.usm_type == "shared"
        assert y.pointer == x.pointer + 4
    # Host memory that came through a capsule is still copied by default.
    theirs = np.from_dlpack(np.arange(3))
    assert usmx.asarray(theirs).usm_type == "device"


def test_what_numpy_got_through_dlpack_keeps_its_queue_and_its_owner():
    # Memory of another context: nothing but the capsule can say whose it is.
    queue = usmx.Queue(usmx.Context([usmx.default_queue().device]))
    x = usmx.asarray(np.arange(6, dtype="int32"), usm_type="shared", queue=queue)
    for version in ((1, 0), None):
        capsule = x.__dlpack__(dl_device=(1, 0), max_version=version)

        class Once:
            def __init__(self, capsule):
                self.capsule = capsule

            def __dlpack__(self, **_):
                return self.capsule

            def __dlpack_device__(self):
                return (1, 0)

        seen = np.from_dlpack(Once(capsule))[2:]
        for y in (usmx.from_dlpack(seen), usmx.asarray(seen), usmx.asarray(seen, copy=False)):
            assert y.queue == x.queue
            assert y.usm_type == "shared"
            assert y.pointer == x.pointer + 8
        del seen, capsule
        gc.collect()
        assert y.to_numpy().tolist() == [2, 3, 4, 5]
    read_only = usmx.asarray(x, copy=True)
    read_only.flags.writeable = False
    assert not usmx.asarray(np.from_dlpack(read_only, device="cpu")).flags.writeable


NUMBERS = ["?", "b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "e", "f", "d", "F", "D"]


@pytest.mark.parametrize("dtype", NUMBERS)
@needs("host_memory")
def test_numpy_arrays_of_every_layout_are_read_as_their_buffer_is(dtype):
    whole = np.arange(120).astype(dtype).reshape(4, 5, 6)
    frozen = whole.copy()
    frozen.flags.writeable = False
    for given in (
        whole,
        whole.T,
        whole[1:, ::2, ::-1],
        whole[:, :1],
        whole[2:2],
        whole[1, 2, 3:4],
        whole[1, 2, 3:4].reshape(()),
        whole.ravel()[5:50],
        whole.ravel()[::-3],
        np.zeros(0, dtype),
        frozen,
        np.broadcast_to(whole, (2, 4, 5, 6)),
        np.asfortranarray(whole),
    ):
        x = usmx.asarray(given, copy=False)
        y = usmx.asarray(memoryview(given), copy=False)
        assert x.dtype == y.dtype == given.dtype
        assert x.shape == y.shape == given.shape
        assert x.flags.writeable == y.flags.writeable
        if given.size > 0:
            assert x.pointer == y.pointer == given.__array_interface__["data"][0]
            assert x.strides == y.strides == tuple(s // given.itemsize for s in given.strides)
        assert x.to_numpy().tolist() == given.tolist()


@needs("host_memory")
def test_writing_that_numpy_warns_of_is_not_done():
    given = np.broadcast_arrays(np.zeros(3), np.zeros((2, 3)))[0]
    assert memoryview(given).readonly
    assert not usmx.asarray(given, copy=False).flags.writeable


@needs("host_memory")
def test_classes_that_only_look_like_numpys_are_not_read_as_it():
    with pytest.raises(ValueError, match="copy"):
        usmx.asarray(type("numpy.ndarray", (), {})(), copy=False)
    made = type("numpy.ndarray", (np.ndarray,), {})((3,), "f4")
    assert usmx.asarray(made, copy=False).pointer == made.__array_interface__["data"][0]


def test_kernels_take_a_numpy_view_of_usm_as_that_usm():
    x = usmx.asarray(np.arange(8, dtype="int32"), usm_type="shared")
    DOUBLE[8](np.asarray(x)).wait()
    assert x.to_numpy().tolist() == [0, 2, 4, 6, 8, 10, 12, 14]


def test_a_view_of_usm_keeps_its_order():
    x = usmx.zeros(1 << 20, "int32", usm_type="shared")
    view = np.asarray(x)
    for _ in range(10):
        DOUBLE[x.size](x)
        y = usmx.asarray(view)
        usmx.ElementwiseKernel("T a", "T b", "b = a + 1")(y, y)
    assert (x.to_numpy() == 2**10 - 1).all()


def test_usm_of_another_library_that_has_a_buffer_is_usm():
    import dpctl.memory

    theirs = dpctl.memory.MemoryUSMShared(64)
    x = usmx.asarray(memoryview(theirs), copy=False)
    assert x.usm_type == "shared"
    assert x.pointer == theirs._pointer


@pytest.mark.parametrize(
    "source",
    [np.arange(4, dtype=">i4"), np.zeros(3, "M8[s]"), [1, 2, 3], 5, np.array(["a"])],
    ids=["byte-swapped", "dates", "list", "number", "text"],
)
def test_what_cannot_be_used_in_place_is_refused(source):
    with pytest.raises((ValueError, TypeError)):
        usmx.asarray(source, copy=False)


def test_copies_remain_the_default():
    source = np.arange(4.0)
    x = usmx.asarray(source)
    assert x.usm_type == "device"
    assert x.pointer != source.ctypes.data


@needs("host_memory")
def test_host_memory_behaves_as_an_array():
    source = np.arange(12.0).reshape(3, 4)
    x = usmx.asarray(source, copy=False)
    assert np.array_equal(x.to_numpy(), source)
    assert np.array_equal(np.asarray(x), source)
    assert np.asarray(x).__array_interface__["data"][0] == source.ctypes.data
    x[0, 0] = 7
    assert source[0, 0] == 7
    usmx.copy(x, usmx.ones((3, 4)))
    assert source.sum() == 12
    usmx.fill(x, 2)
    assert source.sum() == 24
    y = x.copy(usm_type="device")
    assert y.usm_type == "device"
    assert y.to_numpy().sum() == 24
    assert "usm_type='unknown'" in repr(x)
    assert x.T.copy().to_numpy().tolist() == source.T.tolist()
    assert um.MemoryUSMDevice(x, copy=True).nbytes == source.nbytes


ALIGNED = np.dtype([("a", "f4"), ("b", "f8", (3,)), ("c", "?")], align=True)
SPREAD = np.dtype({"names": ["p", "q"], "formats": ["i2", "f4"], "offsets": [3, 9], "itemsize": 32})


@pytest.mark.parametrize("dtype", [ALIGNED, SPREAD], ids=["aligned", "by offsets"])
@needs("host_memory")
def test_records_with_padding_keep_their_places(dtype):
    source = np.frombuffer(bytes(range(1, dtype.itemsize + 1)) * 6, dtype).copy()
    for x in (usmx.asarray(source), usmx.asarray(source, copy=False)):
        assert x.dtype == dtype
        assert x.to_numpy().tobytes() == source.tobytes()
        assert x[::2].to_numpy()[dtype.names[0]].tolist() == source[::2][dtype.names[0]].tolist()
    y = usmx.zeros(6, dtype=dtype, usm_type="device")
    assert y.to_numpy().dtype == dtype
    y[...] = source
    assert y.to_numpy()[dtype.names[-1]].tolist() == source[dtype.names[-1]].tolist()


def test_padding_of_a_record_in_a_record_keeps_its_place():
    dtype = np.dtype([("a", "u1"), ("in", [("x", "f8"), ("y", "u1")]), ("b", "f4")], align=True)
    source = np.zeros(3, dtype)
    source["in"]["y"], source["b"] = [1, 2, 3], [7, 8, 9]
    got = usmx.asarray(source).to_numpy()
    assert got["in"]["y"].tolist() == [1, 2, 3]
    assert got["b"].tolist() == [7, 8, 9]


class Inner(ctypes.Structure):
    _fields_ = (("x", ctypes.c_byte), ("y", ctypes.c_int))


class Outer(ctypes.Structure):
    _fields_ = (("a", ctypes.c_int), ("b", ctypes.c_double), ("c", Inner), ("d", ctypes.c_byte))


def test_structures_of_ctypes_keep_the_places_of_their_fields():
    """Their formats leave out the bytes between fields, before Python 3.12."""
    source = (Outer * 2)(Outer(1, 2.5, Inner(3, 4), 5), Outer(6, 7.5, Inner(8, 9), 10))
    for given in (source, memoryview(source), (Outer * 2 * 1)(source)):
        x = usmx.asarray(given)
        assert x.reshape(-1).tolist() == [(1, 2.5, (3, 4), 5), (6, 7.5, (8, 9), 10)]
    assert usmx.asarray(source[1]).tolist() == (6, 7.5, (8, 9), 10)
    x = usmx.zeros(2, usmx.asarray(source).dtype)
    x[:] = source
    assert x["b"].tolist() == [2.5, 7.5]


def test_arrays_of_records_with_padding_are_refused_because_formats_leave_it_out():
    inner = np.dtype([("x", "f8"), ("y", "u1")], align=True)
    source = np.zeros(3, np.dtype([("a", "u1"), ("in", inner, (2,)), ("b", "f4")], align=True))
    with pytest.raises(TypeError, match="expected numbers, booleans or records of them"):
        usmx.asarray(source)
