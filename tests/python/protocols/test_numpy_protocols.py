# What NumPy and its friends ask for: buffers (PEP 3118), `__array_interface__` and `__array__` of
# arrays of every layout and type, and objects of others that have the last two.
# SPDX-License-Identifier: Apache-2.0
import ctypes
import gc
import math
import weakref

import exchange_partners as partners
import numpy as np
import pytest
from backend_row import needs
from depths import some
from flat_memory import growth
from layouts import DTYPES, LAYOUTS
from PIL import Image

import usmx
import usmx.memory as um

HOST_KINDS = ("shared", "host")
RECORDS = (
    [("a", "<f4"), ("b", "|i1"), ("c", "<i8")],
    [("point", [("x", "<f8"), ("y", "<f8")]), ("flag", "|b1")],
    [("matrix", "<f4", (2, 3)), ("", "|V3"), ("last", "<c8")],
)


def array_of(block, layout):
    return usmx.ndarray(layout.shape, block.dtype, block, layout.strides, layout.offset)


def block_of(dtype, kind):
    dtype = np.dtype(dtype)
    if dtype.kind == "V":
        values = np.frombuffer(np.arange(dtype.itemsize * 360, dtype="u1").tobytes(), dtype)
    else:
        values = (np.arange(360) % 100).astype(dtype)
    return usmx.asarray(values, usm_type=kind)


class OnlyInterface:
    def __init__(self, described, keep=None):
        self.__array_interface__ = described
        self.keep = keep


def through_memoryview(x):
    return np.asarray(memoryview(x))


def through_interface(x):
    return np.asarray(OnlyInterface(x.__array_interface__, x))


VIEWS = {
    "asarray": np.asarray,
    "asarray, no copy": lambda x: np.asarray(x, copy=False),
    "memoryview": through_memoryview,
    "__array_interface__": through_interface,
    "__array__": usmx.ndarray.__array__,
    "__array__, no copy": lambda x: x.__array__(copy=False),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", LAYOUTS)
def test_numpy_sees_every_layout_in_place(name, view):
    layout = LAYOUTS[name]
    for kind in HOST_KINDS:
        for dtype in DTYPES:
            block = block_of(dtype, kind)
            x = array_of(block, layout)
            expected = layout.of(block.to_numpy())
            seen = VIEWS[view](x)
            assert seen.dtype == expected.dtype
            assert seen.shape == expected.shape
            assert seen.tobytes() == expected.tobytes()
            assert seen.flags.writeable
            if x.size:
                assert seen.__array_interface__["data"][0] == x.pointer
            assert not seen.flags.owndata


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("fields", RECORDS, ids=["plain", "nested", "shapes and padding"])
def test_numpy_sees_records_in_place(fields, view):
    dtype = np.dtype([f if f[0] else ("", *f[1:]) for f in fields])
    block = usmx.zeros(360, dtype, usm_type="shared")
    um_bytes = np.frombuffer(memoryview(block.usm_data), "u1")
    um_bytes[:] = np.arange(um_bytes.size) % 251
    for name in ("contiguous", "reversed in part", "strided", "scalar", "empty"):
        x = array_of(block, LAYOUTS[name])
        seen = VIEWS[view](x)
        expected = LAYOUTS[name].of(block.to_numpy())
        assert seen.dtype.itemsize == dtype.itemsize
        assert seen.tobytes() == expected.tobytes()
        for member in expected.dtype.names:
            if member in seen.dtype.names and not member.startswith("f"):
                assert seen[member].tobytes() == expected[member].tobytes()
        if x.size:
            assert seen.__array_interface__["data"][0] == x.pointer


@pytest.mark.parametrize("size", [1, 5, 16])
@needs("host_memory")
def test_bytes_without_a_type_go_both_ways(size):
    values = np.frombuffer(np.arange(3 * size, dtype="u1").tobytes(), f"V{size}")
    x = usmx.asarray(values, usm_type="shared")
    assert x.dtype == values.dtype
    assert x.to_numpy().tobytes() == values.tobytes()
    seen = through_interface(x)
    assert seen.dtype == values.dtype
    assert seen.tobytes() == values.tobytes()
    # NumPy reads the format of such a buffer, its own too, as a record without fields.
    assert np.asarray(x).dtype == np.asarray(memoryview(values)).dtype
    back = usmx.asarray(memoryview(x)[1:])
    assert back.pointer == x.pointer + size
    assert usmx.asarray(values, copy=False).pointer == values.ctypes.data


def test_a_memoryview_has_the_bytes_of_every_type():
    for dtype in DTYPES:
        x = usmx.asarray(np.arange(6).reshape(2, 3).astype(dtype), usm_type="shared")
        view = memoryview(x)
        assert (view.shape, view.itemsize) == ((2, 3), x.itemsize)
        assert view.tobytes() == x.tobytes()
        assert view.strides == (3 * x.itemsize, x.itemsize)


@pytest.mark.parametrize("view", VIEWS)
def test_read_only_arrays_are_read_only_to_numpy(view):
    x = usmx.zeros((2, 3), usm_type="shared")
    x.flags.writeable = False
    assert not VIEWS[view](x).flags.writeable


# By the interface it is the object with the attribute that keeps the memory.
@pytest.mark.parametrize("view", [name for name in VIEWS if name != "__array_interface__"])
def test_a_view_keeps_the_memory(view):
    counted = um.StatisticsResource(um.UsmResource("shared"))
    with um.using(counted):
        seen = VIEWS[view](usmx.full(1000, 7, dtype="i4", usm_type="shared"))[10:]
        usmx._usmx._Testing.drain()
        assert counted.stats()["blocks"] == 1
        assert (seen == 7).all()
        del seen
        gc.collect()
        usmx._usmx._Testing.drain()
        assert counted.stats()["blocks"] == 0


@pytest.mark.parametrize("act", [np.asarray, np.array, memoryview, through_interface])
def test_device_memory_says_what_to_do(act):
    for x in (usmx.zeros(3), usmx.zeros(1), usmx.zeros((2, 2), "c8")[::-1]):
        with pytest.raises((TypeError, AttributeError), match=r"to_numpy\(\)"):
            act(x)


@pytest.mark.parametrize("kind", ["device", "shared", "host"])
def test_a_number_is_a_number_for_numpy_and_python(kind):
    for char in "?bhilqBHILQefdFD":
        x = usmx.asarray(np.array([1.5, 1, 0.25]).astype(char), usm_type=kind)[1]
        number = np.dtype(char).type(1)
        assert np.dtype(char).type(x) == number
        seen = np.asarray(x)
        assert (seen.dtype, seen.shape, seen[()]) == (number.dtype, (), number)
        assert np.array([x, x]).tolist() == [number, number]
    third = usmx.asarray(np.float32([1 / 3]), usm_type=kind)[0]
    assert np.asarray(third, "f8").dtype == "f8"
    assert f"{third:.3f}|{third:>8.1e}|{third}" == "0.333| 3.3e-01|0.33333334"
    assert (round(third), round(third, 2)) == (0, 0.33)
    assert isinstance(round(third), int)
    large = usmx.asarray([-(2**53) - 1], usm_type=kind)[0]
    assert (
        math.floor(large) == math.ceil(large) == math.trunc(large) == round(large) == -(2**53) - 1
    )
    assert f"{large:,d}" == "-9,007,199,254,740,993"
    half = usmx.asarray([-1.5], usm_type=kind)[0]
    assert (math.floor(half), math.ceil(half), math.trunc(half)) == (-2, -1, -1)


def test_what_is_no_number_says_so():
    x = usmx.zeros(3)
    assert f"{x}" == str(x)
    for act, text in (
        (lambda: f"{x:.3f}", r"format: '.3f' is for a 0-d array; this has shape \(3,\)"),
        (lambda: round(x), r"round\(\) takes a 0-d array; this has shape \(3,\); usmx.round"),
        (lambda: math.floor(x), r"math.floor\(\) takes a 0-d array"),
        (lambda: math.trunc(usmx.asarray([1j])[0]), "__trunc__"),
    ):
        with pytest.raises((TypeError, AttributeError), match=text):
            act()


def test_what_is_written_to_a_copy_of_a_number_is_not_lost():
    x = usmx.zeros(())
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(x)[...] = 1
    with pytest.raises((TypeError, ValueError), match="device memory"):
        np.asarray(x, copy=False)
    np.array(x)[...] = 1
    assert x == 0


REDUCTIONS = ["add", "multiply", "maximum", "minimum", "logical_and", "logical_or"]


@pytest.mark.parametrize("kind", ["device", "shared"])
def test_methods_of_ufuncs_compute_where_the_array_is(kind):
    host = np.random.default_rng(1).integers(0, 5, (3, 4, 5)).astype("i4")
    x = usmx.asarray(host, usm_type=kind)
    for name in some(REDUCTIONS, 2):
        ufunc = getattr(np, name)
        for keywords in ({}, {"axis": None}, {"axis": (0, 2), "keepdims": True}, {"axis": -1}):
            got, wanted = (ufunc.reduce(a, **keywords) for a in (x, host))
            assert isinstance(got, usmx.ndarray)
            assert got.usm_type == kind
            np.testing.assert_array_equal(got.to_numpy(), wanted)
            assert got.dtype == wanted.dtype
    out = usmx.zeros((4, 5), "f8", usm_type=kind)
    assert np.add.reduce(x, dtype="f8", out=out) is out
    np.testing.assert_array_equal(out.to_numpy(), host.sum(axis=0))
    for name in some(("add", "multiply"), 1):
        for axis in (0, 1, -1):
            got, wanted = (getattr(np, name).accumulate(a, axis=axis) for a in (x, host))
            assert isinstance(got, usmx.ndarray)
            np.testing.assert_array_equal(got.to_numpy(), wanted)
    for name in some(("maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor"), 1):
        for axis in (0, 1, -1):
            got, wanted = (getattr(np, name).accumulate(a, axis=axis) for a in (x, host))
            assert isinstance(got, usmx.ndarray)
            assert got.usm_type == kind
            assert got.dtype == wanted.dtype
            np.testing.assert_array_equal(got.to_numpy(), wanted)
        for axis in (0, (0, 1), None):
            if name.startswith("bitwise"):
                got, wanted = (
                    getattr(np, name).reduce(a, axis=axis, keepdims=True) for a in (x, host)
                )
                assert isinstance(got, usmx.ndarray)
                assert got.dtype == wanted.dtype
                np.testing.assert_array_equal(got.to_numpy(), wanted)
    floats = np.array([1.0, -0.0, 2.0, np.nan, 3.0, -np.inf])
    for name in ("maximum", "minimum"):
        got = getattr(np, name).accumulate(usmx.asarray(floats, usm_type=kind))
        np.testing.assert_array_equal(got.to_numpy(), getattr(np, name).accumulate(floats))
    for other, same in ((x[0], host[0]), (host[0], host[0]), (3, 3)):
        got = np.subtract.outer(x, other)
        assert isinstance(got, usmx.ndarray)
        np.testing.assert_array_equal(got.to_numpy(), np.subtract.outer(host, same))


@pytest.mark.parametrize("kind", ["device", "shared"])
def test_functions_of_numpy_that_are_attributes_or_other_functions_here(kind):
    host = np.array([[1.5, -2.5, 0.0], [-0.5, 7.25, 3.0]])
    x = usmx.asarray(host, usm_type=kind)
    assert (np.shape(x), np.ndim(x), np.size(x), np.size(x, 1)) == ((2, 3), 2, 6, 3)
    assert np.isrealobj(x)
    assert np.iscomplexobj(x.astype("c8"))
    assert not np.isrealobj(x.astype("c8"))
    for got, wanted in (
        (np.copy(x), host),
        (np.fix(x), np.fix(host)),
        (np.where(x > 0)[1], np.where(host > 0)[1]),
        (np.where(x > 0, x, 0), np.where(host > 0, host, 0)),
    ):
        assert isinstance(got, usmx.ndarray)
        assert got.usm_type == kind
        np.testing.assert_array_equal(got.to_numpy(), wanted)
    copied = np.copy(x)
    np.copyto(copied, x + 1, where=x > 0)
    np.testing.assert_array_equal(copied.to_numpy(), np.where(host > 0, host + 1, host))
    np.copyto(copied, host[0])
    np.testing.assert_array_equal(copied.to_numpy(), np.broadcast_to(host[0], (2, 3)))
    np.copyto(copied, 4)
    assert copied.tolist() == [[4.0] * 3] * 2
    with pytest.raises(
        TypeError, match=r"np.copyto: dst: values of complex64 are not cast to float64"
    ):
        np.copyto(copied, x.astype("c8"))
    with pytest.raises(TypeError, match=r"np.copyto: dst is of type ndarray; .*to_numpy\(\)"):
        np.copyto(host, x)


def test_arrays_have_trace_and_fill():
    x = usmx.asarray(np.arange(12.0).reshape(3, 4))
    assert x.trace() == np.trace(x) == 15
    x.fill(7)
    assert x.tolist() == [[7.0] * 4] * 3
    x[0].fill(usmx.asarray(2))
    assert x[0].tolist() == [2.0] * 4
    with pytest.raises(ValueError, match=r"value: \[1\]; expected one number"):
        x.fill([1])
    for call in ({}, {"dtype": "f8"}, {"copy": True}, {"copy": False}):
        with pytest.raises(TypeError, match=r"to_numpy\(\)"):
            usmx.zeros(3).__array__(**call)


def test_the_copy_argument_is_numpys():
    x = usmx.asarray(np.arange(6, dtype="f4").reshape(2, 3), usm_type="shared")[::-1]
    expected = x.to_numpy()

    def is_copy(seen):
        return not np.shares_memory(seen, np.asarray(x))

    for ask in (x.__array__, lambda **k: np.asarray(x, **k)):
        assert not is_copy(ask())
        assert not is_copy(ask(copy=None))
        assert not is_copy(ask(copy=False))
        assert not is_copy(ask(dtype="f4"))
        assert not is_copy(ask(dtype=np.float32, copy=False))
        assert is_copy(ask(copy=True))
        assert is_copy(ask(dtype="f4", copy=True))
        for copy in (None, True):
            cast = ask(dtype="i8", copy=copy)
            assert cast.dtype == np.int64
            assert cast.tolist() == expected.astype("i8").tolist()
        with pytest.raises(ValueError, match="copy"):
            ask(dtype="i8", copy=False)
    assert x.__array__(np.dtype("f8")).dtype == np.float64
    assert x.__array__("O").dtype == object
    with pytest.raises(TypeError):
        x.__array__("nonsense")


def test_what_is_submitted_is_finished_before_numpy_looks():
    x = usmx.empty(1 << 22, "i4", queue=usmx.Queue(in_order=True), usm_type="shared")
    for view in VIEWS.values():
        for value in range(5):
            usmx.fill_async(x, value)
            assert view(x)[-1] == value


# --- objects with `__array_interface__` -----------------------------------------------------------


def described(values, **changes):
    return OnlyInterface({**values.__array_interface__, **changes}, values)


@pytest.mark.parametrize("name", LAYOUTS)
@needs("host_memory")
def test_an_interface_is_shared_in_place(name):
    layout = LAYOUTS[name]
    for dtype in DTYPES:
        values = layout.of((np.arange(partners.ELEMENTS) % 100).astype(dtype))
        x = usmx.asarray(described(values), copy=False)
        assert x.shape == values.shape
        assert x.dtype == values.dtype
        assert x.to_numpy().tobytes() == values.tobytes()
        if values.size:
            assert x.usm_type == "unknown"
            assert x.pointer == values.ctypes.data
        assert x.flags.writeable == values.flags.writeable


@needs("host_memory")
def test_kernels_write_through_an_interface():
    values = np.arange(6, dtype="i4")
    x = usmx.asarray(described(values), copy=False)
    usmx.ElementwiseKernel("T a", "T b", "b = a + a")(x, x)
    x.queue.wait()
    assert values.tolist() == [0, 2, 4, 6, 8, 10]
    values.flags.writeable = False
    assert not usmx.asarray(described(values), copy=False).flags.writeable


def test_an_interface_over_usm_is_that_usm():
    x = usmx.asarray(np.arange(6.0), usm_type="shared")
    y = usmx.asarray(OnlyInterface(x[1:].__array_interface__, x), copy=False)
    assert (y.usm_type, y.pointer) == ("shared", x.pointer + 8)


@needs("host_memory")
def test_the_object_with_the_interface_lives_as_long_as_the_array():
    source = described(np.arange(1000.0))
    gone = weakref.ref(source)
    x = usmx.asarray(source, copy=False)
    y = x[1:]
    del source, x
    gc.collect()
    assert gone() is not None
    assert y[0].item() == 1
    del y
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("mode", ["RGB", "L", "F", "I", "RGBA"])
@needs("host_memory")
def test_images_of_pillow_come_in(mode):
    image = Image.new(mode, (5, 3))
    image.putpixel((4, 2), 7 if len(mode) == 1 else tuple(range(1, len(mode) + 1)))
    expected = np.asarray(image)
    for copy in (None, False):
        x = usmx.asarray(image, copy=copy)
        assert x.dtype == expected.dtype
        assert x.tolist() == expected.tolist()


@needs("host_memory")
def test_elements_inside_a_buffer_may_begin_later():
    data = bytearray(np.arange(8, dtype="i4").tobytes())
    source = OnlyInterface(
        {"shape": (3,), "typestr": "<i4", "data": data, "offset": 8, "version": 3}
    )
    x = usmx.asarray(source, copy=False)
    assert x.tolist() == [2, 3, 4]
    assert x.flags.writeable
    x[0] = 9
    assert np.frombuffer(data, "i4")[2] == 9
    with pytest.raises(BufferError):
        data.append(1)


@needs("host_memory")
def test_records_come_in_by_their_description():
    values = np.zeros(4, [("a", "<f4"), ("b", "<i8", (2,))])
    values["b"] = np.arange(8).reshape(4, 2)
    x = usmx.asarray(described(values), copy=False)
    assert x.pointer == values.ctypes.data
    assert x.to_numpy()["b"].tolist() == values["b"].tolist()


BAD = {
    "version": ({"version": 2}, ValueError, "version: 2 of __array_interface__"),
    "no version": ({"version": None}, ValueError, "version: is missing"),
    "no type": ({"typestr": None}, ValueError, "typestr: is missing"),
    "byte order": ({"typestr": ">f8"}, ValueError, "typestr"),
    "objects": ({"typestr": "|O8"}, ValueError, "typestr"),
    "text": ({"typestr": "<U4"}, ValueError, "typestr"),
    "dates": ({"typestr": "<M8[s]"}, ValueError, "typestr"),
    "shape": ({"shape": (-1,)}, ValueError, "shape"),
    "shape of text": ({"shape": "ab"}, TypeError, "shape"),
    "dimensions": ({"shape": (1,) * 65, "strides": None}, ValueError, "shape"),
    "strides": ({"strides": (9,)}, ValueError, r"strides: \(9,\) bytes"),
    "strides rank": ({"strides": (8, 8)}, ValueError, "strides"),
    "mask": ({"mask": 1}, ValueError, "mask"),
    "null": ({"data": (0, False)}, ValueError, "data"),
    "misaligned": ({"data": (0x10001, False)}, ValueError, "aligned"),
    "data": ({"data": 5}, TypeError, "data: 5"),
    "too short": ({"data": b"1234567", "shape": (1,)}, ValueError, "7 bytes of the buffer"),
    "before": ({"data": bytes(48), "strides": (-8,)}, ValueError, "48 bytes of the buffer"),
    "offset": ({"data": bytes(48), "offset": 49}, ValueError, "offset: 49"),
    "negative offset": ({"data": bytes(48), "offset": -8}, ValueError, "offset: -8"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_interfaces_are_refused_by_the_field(name):
    changes, error, words = BAD[name]
    source = described(np.arange(6.0), **changes)
    with pytest.raises(error, match=words):
        usmx.asarray(source, copy=False)
    gone = weakref.ref(source)
    del source
    gc.collect()
    assert gone() is None


OUTSIDE = {
    "behind": {"data": bytes(8), "shape": (100_000,)},
    "a byte less": {"data": bytes(47)},
    "writable": {"data": bytearray(8)},
    "before": {"data": bytes(48), "strides": (-8,)},
    "far apart": {"data": bytes(48), "strides": (800,)},
    "begins late": {"data": bytes(48), "offset": 8},
    "begins early": {"data": bytes(48), "offset": -8},
    "another order of bytes": {"data": bytes(8), "typestr": ">f8"},
    "of NumPy": {"data": np.zeros(2)},
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_elements_outside_of_the_buffer_are_not_copied_either(name):
    """NumPy does not look, and reads what is there."""
    source, x = described(np.arange(6.0), **OUTSIDE[name]), usmx.ones(6)
    for use in (
        lambda: usmx.asarray(source),
        lambda: x + source,
        lambda: x.__setitem__(slice(None), source),
        lambda: usmx.concat([x, source]),
    ):
        with pytest.raises(ValueError, match=r"data: .* bytes of the buffer"):
            use()


# --- objects with `__array__` ---------------------------------------------------------------------


class Gives:
    def __init__(self, values, copies=False):
        self.values, self.copies, self.asked = values, copies, []

    def __array__(self, dtype=None, copy=None):
        self.asked.append(copy)
        if copy is False and self.copies:
            raise ValueError("a copy is needed")
        return self.values.copy() if self.copies else self.values


@needs("host_memory")
def test_an_object_that_gives_its_elements_to_numpy_is_shared():
    values = np.arange(6, dtype="i4")
    source = Gives(values)
    x = usmx.asarray(source, copy=False)
    assert source.asked == [False]
    assert x.pointer == values.ctypes.data
    assert usmx.asarray(Gives(values)).usm_type == "device"
    with pytest.raises(ValueError, match="copy=False"):
        usmx.asarray(Gives(values, copies=True), copy=False)
    assert usmx.asarray(Gives(values, copies=True)).tolist() == values.tolist()


def test_an_old_method_without_copy_is_not_trusted():
    class Old:
        def __array__(self, dtype=None):
            return np.arange(3)

    with pytest.raises(ValueError, match="copy=False"):
        usmx.asarray(Old(), copy=False)
    assert usmx.asarray(Old()).tolist() == [0, 1, 2]


def test_errors_of_a_method_pass_through():
    class Raising:
        def __array__(self, dtype=None, copy=None):
            raise KeyError("mine")

    for copy in (None, False):
        with pytest.raises(KeyError, match="mine"):
            usmx.asarray(Raising(), copy=copy)


@pytest.mark.parametrize("what", ["out", "in", "refused"])
@needs("host_memory")
def test_ten_thousand_exchanges_keep_memory_flat(what):
    x = usmx.zeros((10, 10), usm_type="shared")[::-1]
    values = np.zeros(100)
    theirs, wrong = described(values), described(values, strides=(3,))

    def once():
        if what == "out":
            np.asarray(x)
            _ = x.__array_interface__
            x.__array__("f4")
        elif what == "in":
            usmx.asarray(theirs, copy=False)
        else:
            with pytest.raises(ValueError, match="strides"):
                usmx.asarray(wrong, copy=False)

    assert growth(once) < 1 << 20


def test_ctypes_reads_the_buffer():
    x = usmx.asarray(np.arange(6, dtype="i4"), usm_type="shared")
    seen = (ctypes.c_int32 * 6).from_buffer(x)
    seen[3] = 30
    assert x[3].item() == 30
