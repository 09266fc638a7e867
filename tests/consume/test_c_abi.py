"""The functions of ``usmx/usmx.h`` as ctypes calls them: values, errors, order and lifetime."""
# SPDX-License-Identifier: Apache-2.0

import ctypes
import sys
from ctypes import POINTER, byref, c_char_p, c_int, c_int32, c_int64, c_size_t, c_void_p
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import usmx

sys.path.append(str(Path(__file__).parents[1] / "python" / "protocols"))

from exchange_structs import PENDING, Array, Release, api_of, queue_at
from gate import Gate

INVALID, NO_DEVICE = 1, 3
HOST, DEVICE, SHARED = 1, 2, 3


@pytest.fixture(scope="module")
def c() -> ctypes.CDLL:
    lines = Path("/proc/self/maps").read_text().splitlines()
    library = ctypes.CDLL(next(line.split()[-1] for line in lines if "libusmx.so" in line))
    library.usmx_error.restype = library.usmx_version.restype = c_char_p
    library.usmx_array_data.restype = library.usmx_queue_sycl.restype = c_void_p
    library.usmx_array_data.argtypes = library.usmx_queue_sycl.argtypes = (c_void_p,)
    for name, count in {"copy": 2, "wait": 1, "describe": 2, "share": 2, "take": 2}.items():
        getattr(library, f"usmx_array_{name}").argtypes = (c_void_p,) * count
    for name in ("read", "write", "fill"):
        getattr(library, f"usmx_array_{name}").argtypes = (c_void_p, c_void_p, c_size_t)
    library.usmx_array_fill_async.argtypes = (c_void_p, c_void_p, c_void_p, c_size_t)
    library.usmx_array_copy_async.argtypes = (c_void_p,) * 3
    library.usmx_array_order.argtypes = (c_void_p,) * 2
    library.usmx_array_used.argtypes = (c_void_p,) * 3
    library.usmx_array_copy_reference.argtypes = (c_void_p,) * 2
    library.usmx_array_free.argtypes = library.usmx_queue_close.argtypes = (c_void_p,)
    library.usmx_array_free.restype = library.usmx_queue_close.restype = None
    library.usmx_array_new.argtypes = (
        c_void_p,
        c_char_p,
        c_int32,
        POINTER(c_int64),
        c_int,
        c_void_p,
    )
    library.usmx_queue_open.argtypes = (c_char_p, c_void_p)
    library.usmx_queue_share.argtypes = (c_void_p, c_void_p)
    library.usmx_queue_device.argtypes = (c_void_p, c_char_p, c_size_t)
    return library


@pytest.fixture
def queue(c: ctypes.CDLL) -> Any:
    out = c_void_p()
    assert c.usmx_queue_open(None, byref(out)) == 0
    yield out
    c.usmx_queue_close(out)


def new(
    c: ctypes.CDLL, queue: c_void_p, typestr: bytes, *shape: int, kind: int = SHARED
) -> c_void_p:
    out = c_void_p()
    lengths = (c_int64 * len(shape))(*shape)
    status = c.usmx_array_new(queue, typestr, len(shape), lengths, kind, byref(out))
    assert status == 0, c.usmx_error()
    return out


def test_the_version_is_the_packages(c: ctypes.CDLL) -> None:
    assert c.usmx_version().decode() == usmx.__version__


@pytest.mark.parametrize("kind", [HOST, DEVICE, SHARED])
def test_elements_go_in_and_come_out(c: ctypes.CDLL, queue: c_void_p, kind: int) -> None:
    x = new(c, queue, b"<f4", 3, 4, kind=kind)
    y = new(c, queue, b"<f8", 3, 4, kind=kind)
    values = np.arange(12, dtype="f4").reshape(3, 4)
    out = np.zeros((3, 4))
    assert c.usmx_array_write(x, values.ctypes.data, values.nbytes) == 0
    assert c.usmx_array_copy_async(None, y, x) == 0
    assert c.usmx_array_read(y, out.ctypes.data, out.nbytes) == 0
    assert (out == values).all()
    one = ctypes.c_double(1.5)
    assert c.usmx_array_fill(y, byref(one), 8) == 0
    assert c.usmx_array_copy(x, y) == 0
    assert c.usmx_array_read(x, values.ctypes.data, values.nbytes) == 0
    assert (values == 1.5).all()
    described = Array()
    assert c.usmx_array_describe(x, byref(described)) == 0
    assert (described.type, described.itemsize, described.kind) == (b"f", 4, kind)
    assert described.data == c.usmx_array_data(x)
    c.usmx_array_free(x)
    c.usmx_array_free(y)
    c.usmx_array_free(None)


def test_wrong_arguments_are_a_status_and_a_sentence(c: ctypes.CDLL, queue: c_void_p) -> None:
    out = c_void_p()
    shape = (c_int64 * 1)(4)
    negative = (c_int64 * 1)(-4)
    x = new(c, queue, b"<f4", 4)
    element = ctypes.c_float(1)
    for status, call, words in [
        (INVALID, lambda: c.usmx_queue_open(b"nonsense", byref(out)), "nonsense"),
        (NO_DEVICE, lambda: c.usmx_queue_open(b"cuda:99", byref(out)), "cuda:99"),
        (INVALID, lambda: c.usmx_queue_open(None, None), "out: is null"),
        (INVALID, lambda: c.usmx_queue_share(None, byref(out)), "sycl_queue: is null"),
        (INVALID, lambda: c.usmx_array_new(None, b"<f4", 1, shape, 3, byref(out)), "queue: is"),
        (INVALID, lambda: c.usmx_array_new(queue, b"<f3", 1, shape, 3, byref(out)), "<f3 is not"),
        (INVALID, lambda: c.usmx_array_new(queue, None, 1, shape, 3, byref(out)), "typestr: is"),
        (INVALID, lambda: c.usmx_array_new(queue, b"<f4", 65, shape, 3, byref(out)), "ndim: 65"),
        (INVALID, lambda: c.usmx_array_new(queue, b"<f4", 1, None, 3, byref(out)), "shape: is nu"),
        (INVALID, lambda: c.usmx_array_new(queue, b"<f4", 1, negative, 3, byref(out)), "(-4,)"),
        (INVALID, lambda: c.usmx_array_new(queue, b"<f4", 1, shape, 0, byref(out)), "kind: 0"),
        (INVALID, lambda: c.usmx_array_read(x, byref(element), 4), "bytes: 4; expected the 16"),
        (INVALID, lambda: c.usmx_array_read(x, None, 16), "to: is null"),
        (INVALID, lambda: c.usmx_array_fill(x, byref(element), 8), "bytes: 8; expected the 4"),
        (INVALID, lambda: c.usmx_array_fill(None, byref(element), 4), "to: is null"),
        (INVALID, lambda: c.usmx_array_wait(None), "array: is null"),
        (INVALID, lambda: c.usmx_array_order(x, None), "sycl_queue: is null"),
        (INVALID, lambda: c.usmx_array_take(None, byref(out)), "described: is null"),
    ]:
        assert call() == status, words
        assert words in c.usmx_error().decode()
        assert out.value is None
    c.usmx_array_free(x)


def test_memory_of_python_is_taken_and_given_back(c: ctypes.CDLL) -> None:
    x = usmx.asarray(np.arange(6, dtype="f4"), usm_type="shared")
    described, array = Array(), c_void_p()
    assert api_of(x).acquire(x, described) == 0
    assert c.usmx_array_take(byref(described), byref(array)) == 0, c.usmx_error()
    assert not described.release
    assert c.usmx_array_data(array) == x.pointer
    seven = ctypes.c_float(7)
    assert c.usmx_array_fill(array, byref(seven), 4) == 0
    c.usmx_array_free(array)
    assert set(x.to_numpy()) == {7}


def test_memory_of_the_library_becomes_an_array_of_python(c: ctypes.CDLL, queue: c_void_p) -> None:
    x = new(c, queue, b"<i4", 1000)
    nine = c_int32(9)
    assert c.usmx_array_fill_async(None, x, byref(nine), 4) == 0
    shared, made = Array(), ctypes.py_object()
    assert c.usmx_array_share(x, byref(shared)) == 0
    c.usmx_array_free(x)
    assert api_of(usmx.zeros(1)).make(shared, made) == 0
    array = made.value
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(array))
    assert set(array.to_numpy()) == {9}
    assert array.dtype == np.int32


def test_an_array_knows_commands_in_c_on_a_reference_to_it(c: ctypes.CDLL) -> None:
    own = usmx.Queue(usmx.Device(), in_order=True)
    x = usmx.zeros(1 << 18, "int32", queue=own, usm_type="shared")
    own.wait()
    for n in range(1, 20):
        described, array, value = Array(), c_void_p(), c_int32(n)
        assert api_of(x).acquire(x, described) == 0
        assert c.usmx_array_take(byref(described), byref(array)) == 0
        assert not described.release
        with Gate(own):
            assert c.usmx_array_fill_async(None, array, byref(value), 4) == 0
            c.usmx_array_free(array)
            api_of(x).view(x, described)
            assert described.flags & PENDING
        assert (x.to_numpy() == n).all()


def test_a_reference_in_c_knows_commands_of_the_array_in_python(
    c: ctypes.CDLL, queue: c_void_p
) -> None:
    x = new(c, queue, b"<i4", 1 << 18)
    described, made = Array(), ctypes.py_object()
    assert c.usmx_array_share(x, byref(described)) == 0
    assert api_of(usmx.zeros(1)).make(described, made) == 0
    array = made.value
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(array))
    host = np.empty(1 << 18, np.int32)
    for n in range(1, 20):
        usmx.fill_async(array, n)
        assert c.usmx_array_read(x, host.ctypes.data, host.nbytes) == 0
        assert (host == n).all()
        other = c_int32(-n)
        assert c.usmx_array_fill_async(None, x, byref(other), 4) == 0
        assert (array.to_numpy() == -n).all()
    c.usmx_array_free(x)
    array[:] = 5
    assert set(array.to_numpy()) == {5}


def test_a_struct_of_ours_that_was_changed_is_checked_again(c: ctypes.CDLL) -> None:
    x = usmx.arange(12, dtype="float32", usm_type="shared")
    for length, status in ((3, 0), (1 << 20, INVALID)):
        shape = (c_int64 * 1)(length)
        described, array = Array(), c_void_p()
        assert api_of(x).acquire(x, described) == 0
        described.shape, described.offset = ctypes.cast(shape, POINTER(c_int64)), 4
        assert c.usmx_array_take(byref(described), byref(array)) == status
        if status:
            described.release(described)
            continue
        out = np.zeros(3, np.float32)
        assert c.usmx_array_read(array, out.ctypes.data, 12) == 0
        assert out.tolist() == [4, 5, 6]
        c.usmx_array_free(array)


def test_what_cannot_be_taken_stays_the_callers(c: ctypes.CDLL) -> None:
    released = []
    callback = Release(lambda _: released.append(1))
    x = usmx.zeros(4, "float32", usm_type="shared")
    shape = (c_int64 * 1)(1 << 20)
    described, array = Array(), c_void_p()
    assert api_of(x).view(x, described) == 0
    described.release = callback
    described.shape = ctypes.cast(shape, POINTER(c_int64))
    assert c.usmx_array_take(byref(described), byref(array)) == INVALID
    assert "not inside" in c.usmx_error().decode()
    assert (array.value, released) == (None, [])
    shape[0] = 4
    assert c.usmx_array_take(byref(described), byref(array)) == 0
    second = c_void_p()
    assert c.usmx_array_copy_reference(array, byref(second)) == 0
    c.usmx_array_free(array)
    assert released == []
    c.usmx_array_free(second)
    usmx._usmx._Testing.drain()
    assert released == [1]


def test_pending_commands_are_flagged_and_ordered(c: ctypes.CDLL, queue: c_void_p) -> None:
    x = new(c, queue, b"<i4", 1 << 18)
    other = usmx.Queue(usmx.Device(), in_order=True)
    theirs = c_void_p()
    pointer, capsule = queue_at(other)
    assert c.usmx_queue_share(pointer, byref(theirs)) == 0
    del capsule
    y = new(c, theirs, b"<i4", 1 << 18)
    for n in range(1, 20):
        value = c_int32(n)
        assert c.usmx_array_fill_async(queue, x, byref(value), 4) == 0
        assert c.usmx_array_copy_async(theirs, y, x) == 0
        assert c.usmx_array_wait(y) == 0
        seen = (c_int32 * (1 << 18)).from_address(c.usmx_array_data(y))
        assert (np.frombuffer(seen, np.int32) == n).all()
    described = Array()
    assert c.usmx_array_wait(x) == 0
    assert c.usmx_array_describe(x, byref(described)) == 0
    assert not described.flags & PENDING
    c.usmx_array_free(x)
    c.usmx_array_free(y)
    c.usmx_queue_close(theirs)
