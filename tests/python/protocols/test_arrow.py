# Arrow both ways, by its libraries and by crafted structs: no copy where the host can read the
# memory, elements that are missing or of other types are refused by name, and each struct is
# released exactly once.
# SPDX-License-Identifier: Apache-2.0
import ctypes
import gc
import threading
import weakref

import arrow_structs as structs
import nanoarrow as na
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from arrow_structs import (
    CPU,
    ONEAPI,
    Array,
    Crafted,
    CraftedDeviceStream,
    CraftedOnDevice,
    CraftedStream,
    DeviceArray,
    Schema,
)
from backend_row import own_device
from flat_memory import growth

import usmx
import usmx.memory as um

DTYPES = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
HOST_KINDS = ("shared", "host")
DOUBLE = usmx.RawKernel("USMX_KERNEL(1) f(int* x) { x[usmx::global_id()] *= 2; }", "f")
SUM = usmx.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0")


def usm(values, kind="shared"):
    return usmx.asarray(np.asarray(values), usm_type=kind)


def address_of(array):
    """Where the values of a pyarrow array begin."""
    return array.buffers()[-1].address + array.offset * array.type.bit_width // 8


# --- out ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", HOST_KINDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_pyarrow_takes_an_array_without_a_copy(dtype, kind):
    x = usm(np.arange(20).astype(dtype), kind)[3:17]
    seen = pa.array(x)
    assert seen.type == pa.from_numpy_dtype(np.dtype(dtype))
    assert address_of(seen) == x.pointer
    assert seen.null_count == 0
    assert seen.to_numpy().tolist() == x.tolist()
    seen.validate(full=True)
    x[0] = 99  # it is the same memory
    assert seen[0].as_py() == 99


def test_polars_nanoarrow_and_pandas_take_an_array_without_a_copy():
    x = usm(np.arange(1000, dtype="f8"))
    series = pl.Series("x", x)
    assert series.dtype == pl.Float64
    assert series.to_numpy(allow_copy=False).ctypes.data == x.pointer
    view = na.Array(x)
    assert view.to_pylist() == x.tolist()
    assert np.asarray(view.buffers[1]).ctypes.data == x.pointer
    frame = pd.Series(pa.array(x), dtype=pd.ArrowDtype(pa.float64()))
    assert address_of(frame.array._pa_array.chunk(0)) == x.pointer
    assert frame.sum() == series.sum() == x.to_numpy().sum()


def test_booleans_of_a_byte_are_the_extension_type_bool8():
    x = usm([True, False, True])
    seen = pa.array(x)
    assert seen.type == pa.bool8()
    assert address_of(seen.storage) == x.pointer
    assert seen.to_numpy(zero_copy_only=False).tolist() == [True, False, True]
    back = usmx.asarray(seen, copy=False)
    assert back.dtype == bool
    assert back.pointer == x.pointer


@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 4), (5, 1), (0, 3), (3, 0), (1, 0, 2)])
def test_further_dimensions_are_fixed_size_lists(shape):
    x = usm(np.arange(np.prod(shape)).reshape(shape).astype("i4"))
    seen = pa.array(x)
    seen.validate(full=True)
    kind = pa.int32()
    for length in reversed(shape[1:]):
        kind = pa.list_(kind, length)
    assert seen.type == kind
    assert seen.to_pylist() == x.tolist()
    back = usmx.asarray(seen, copy=False)
    assert back.shape == shape
    assert back.tolist() == x.tolist()
    if x.size:
        assert back.pointer == x.pointer
        assert pl.Series(x).to_list() == x.tolist()


def test_an_array_without_elements_goes_out():
    for x in (usmx.empty(0, "f4", usm_type="shared"), usm(np.arange(5, dtype="f4"))[2:2]):
        assert pa.array(x).to_pylist() == []
        assert pl.Series(x).to_list() == []
        assert na.Array(x).to_pylist() == []


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda kind: usmx.zeros(3, "c8", usm_type=kind), "dtype: complex64"),
        (lambda kind: usmx.zeros(3, [("a", "i4")], usm_type=kind), "dtype: record"),
        (lambda kind: usmx.zeros((), "i4", usm_type=kind), r"shape: \(\)"),
        (lambda kind: usmx.zeros(6, "i4", usm_type=kind)[::2], r"strides: \(2,\).*x\.copy\(\)"),
        (lambda kind: usmx.zeros(6, "i4", usm_type=kind)[::-1], r"strides: \(-1,\)"),
        (lambda kind: usmx.zeros((2, 3), "i4", usm_type=kind).T, r"strides: \(1, 3\)"),
    ],
    ids=["complex", "record", "0-d", "strided", "reversed", "transposed"],
)
def test_what_arrow_cannot_describe_is_refused(make, words):
    for kind in (*HOST_KINDS, "device"):
        x = make(kind)
        methods = [x.__arrow_c_schema__, x.__arrow_c_device_array__]
        methods += [x.__arrow_c_array__] if kind != "device" else []
        for method in methods:
            with pytest.raises(BufferError, match=words):
                method()


def test_device_memory_leaves_as_memory_of_its_device():
    x = usmx.arange(5, dtype="i4")
    with pytest.raises(BufferError, match="__arrow_c_device_array__"):
        x.__arrow_c_array__()
    capsule = x.__arrow_c_device_array__()[1]
    seen = structs.struct_in(capsule, DeviceArray)
    assert (seen.device_type, seen.device_id) == own_device("device")
    assert seen.sync_event is None
    assert seen.array.buffers[1] == x.pointer
    assert list(seen.reserved) == [0, 0, 0]


@pytest.mark.parametrize("kind", HOST_KINDS)
def test_memory_that_the_host_reads_is_the_hosts_to_arrow(kind):
    seen = structs.struct_in(usm([1, 2], kind).__arrow_c_device_array__()[1], DeviceArray)
    assert (seen.device_type, seen.device_id) == (CPU, -1)


def test_memory_of_cuda_has_its_types():
    usmx._usmx._Testing.exchange_as("cuda")
    try:
        for kind, number in (("device", 2), ("host", 3), ("shared", 13)):
            x = usmx.zeros(3, usm_type=kind)
            seen = structs.struct_in(x.__arrow_c_device_array__()[1], DeviceArray)
            assert (seen.device_type, seen.device_id) == (number, 0)
            assert x.__dlpack_device__() == (number, 0)
            back = usmx.asarray(OfPair(x), copy=False)
            assert back.pointer == x.pointer
    finally:
        usmx._usmx._Testing.exchange_as("")


class OfPair:
    """Has nothing but the one method of an array."""

    def __init__(self, array):
        self.array = array

    def __arrow_c_device_array__(self, requested_schema=None, **kwargs):
        return self.array.__arrow_c_device_array__(requested_schema, **kwargs)


def test_what_is_submitted_is_finished():
    x = usmx.empty(1 << 22, "i4", queue=usmx.Queue(in_order=True), usm_type="shared")
    for value in range(10):
        usmx.fill_async(x, value)
        assert pa.array(x)[-1].as_py() == value
        usmx.fill_async(x, -value)
        seen = structs.struct_in(x.__arrow_c_array__()[1], Array)
        last = ctypes.c_int32.from_address(seen.buffers[1] + 4 * (x.size - 1))
        assert last.value == -value


def test_a_wish_is_checked_and_other_arguments_are_refused():
    x = usm([1.0, 2.0])
    wish = pa.float32().__arrow_c_schema__()
    for method in (x.__arrow_c_array__, x.__arrow_c_device_array__):
        pair = method(wish)
        assert structs.struct_in(pair[0], Schema).format == b"g"  # elements keep their type
    assert pa.array(x, type=pa.float64()).to_pylist() == [1.0, 2.0]
    for method in (x.__arrow_c_array__, x.__arrow_c_device_array__):
        with pytest.raises(TypeError, match="requested_schema: 5"):
            method(5)
        with pytest.raises(TypeError, match="arrow_schema"):
            method(x.__arrow_c_array__()[1])
    x.__arrow_c_device_array__(stream=None)
    with pytest.raises(NotImplementedError, match="stream"):
        x.__arrow_c_device_array__(stream=1)


def test_the_schema_is_that_of_the_array():
    x = usm(np.zeros((2, 3), "f4"))
    assert pa.DataType._import_from_c_capsule(x.__arrow_c_schema__()) == pa.list_(pa.float32(), 3)
    assert na.Schema(x).type == na.Type.FIXED_SIZE_LIST


def test_memory_lives_until_the_last_struct_is_released():
    counted = um.StatisticsResource(um.UsmResource("shared"))
    blocks = lambda: usmx._usmx._Testing.drain() or counted.stats()["blocks"]  # noqa: E731
    with um.using(counted):
        x = usmx.empty((1 << 10, 4), "i4", usm_type="shared")
        capsules = x.__arrow_c_array__()
        del x
        assert blocks() == 1
        del capsules  # not taken
        assert blocks() == 0

        x = usmx.empty((1 << 10, 4), "i4", usm_type="shared")
        seen = pa.array(x)
        part = seen.flatten()[8:16]
        del x, seen
        assert blocks() == 1
        del part
        assert blocks() == 0


def test_a_child_that_was_moved_away_outlives_its_parent():
    x = usm(np.arange(6, dtype="i4").reshape(2, 3))
    pair = x.__arrow_c_array__()
    parent = structs.struct_in(pair[1], Array)
    child = Array.from_buffer_copy(parent.children[0].contents)
    parent.children[0].contents.release = type(child.release)()
    gone = weakref.ref(x)
    del x
    structs.end(parent)
    assert not parent.release
    del pair, parent
    gc.collect()
    assert gone() is None
    usmx.zeros(6, "i4", usm_type="shared")
    assert np.ctypeslib.as_array(
        ctypes.cast(child.buffers[1], ctypes.POINTER(ctypes.c_int32)), (6,)
    ).tolist() == [0, 1, 2, 3, 4, 5]
    structs.end(child)
    assert not child.release


def test_structs_are_released_on_a_thread_without_the_interpreter_lock():
    x = usm(np.arange(1000))
    pair = x.__arrow_c_array__()
    held = structs.struct_in(pair[1], Array)
    moved = Array.from_buffer_copy(held)
    held.release = type(held.release)()
    del x, pair
    without_lock = ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))(
        ctypes.cast(moved.release, ctypes.c_void_p).value
    )
    thread = threading.Thread(target=without_lock, args=(ctypes.pointer(moved),))
    thread.start()
    thread.join(timeout=30)
    assert not thread.is_alive()


# --- in -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrow_comes_in_without_a_copy_where_the_device_reads_the_host(dtype):
    theirs = pa.array(np.arange(20).astype(dtype))[3:17]
    with usmx.trace() as record:
        x = usmx.asarray(theirs, copy=False)
    assert not record.copies
    assert x.usm_type == "unknown"
    assert x.pointer == address_of(theirs)
    assert not x.flags.writeable
    assert x.dtype == dtype
    assert x.tolist() == theirs.to_pylist()
    doubled = usmx.ElementwiseKernel("T a", "T b", "b = a + a")(x)
    assert doubled.tolist() == (2 * np.arange(3, 17)).astype(dtype).tolist()


def test_arrow_is_copied_into_usm_by_default():
    theirs = pa.array([1, 2, 3])
    x = usmx.asarray(theirs)
    assert x.usm_type == "device"
    assert x.flags.writeable
    assert x.tolist() == [1, 2, 3]
    y = usmx.asarray(theirs, dtype="f4", usm_type="shared")
    assert (y.usm_type, y.dtype, y.tolist()) == ("shared", np.dtype("f4"), [1.0, 2.0, 3.0])
    z = usmx.zeros((2, 3), "i4")
    z[:] = theirs
    assert z.tolist() == [[1, 2, 3]] * 2


def test_copies_read_arrow():
    for theirs in (pa.array([1, 2, 3]), pl.Series([1, 2, 3]), pa.chunked_array([[1], [2, 3]])):
        x = usmx.zeros(3, "i8")
        usmx.copy(x, theirs)
        assert x.tolist() == [1, 2, 3]
        y = usmx.zeros(3, "i8")
        done = usmx.copy_async(y, theirs)
        del theirs
        gc.collect()
        done.wait()
        assert y.tolist() == [1, 2, 3]
    with pytest.raises(usmx.InteropError, match="null_count: 1 of 2"):
        usmx.copy(x, pa.array([1, None]))
    with pytest.raises(usmx.InteropError, match=r"dst: .*Array is read-only"):
        usmx.copy(pa.array([1, 2, 3]), x)


@pytest.mark.parametrize("kind", HOST_KINDS)
def test_arrow_over_our_usm_is_that_usm(kind):
    x = usm(np.arange(10, dtype="i4"), kind)
    for theirs in (pa.array(x)[2:], pl.Series(x)[2:]):
        y = usmx.asarray(theirs, copy=False)
        assert y.usm_type == kind
        assert y.pointer == x.pointer + 8
        assert not y.flags.writeable
    assert usmx.asarray(pa.array(x)).pointer == x.pointer
    memory = um.as_usm_memory(pa.array(x))
    assert memory._pointer == x.pointer
    assert memory.readonly


SERIES = {
    "pyarrow array": pa.array,
    "pyarrow chunked": lambda v: pa.chunked_array([pa.array(v)]),
    "polars": pl.Series,
    "pandas": lambda v: pd.Series(v, copy=False),
    "pandas over Arrow": lambda v: pd.Series(pa.array(v), dtype=pd.ArrowDtype(pa.float64())),
    "nanoarrow": lambda v: na.Array(pa.array(v)),
}


@pytest.mark.parametrize("name", SERIES)
def test_one_chunk_of_each_library_is_not_copied(name):
    values = np.arange(1000.0)
    theirs = SERIES[name](values)
    x = usmx.asarray(theirs, copy=False)
    assert x.usm_type == "unknown"
    assert x.tolist() == values.tolist()
    if name == "pandas":
        assert x.pointer == values.ctypes.data
    y = usmx.asarray(theirs, copy=False)
    assert y.pointer == x.pointer
    gone = weakref.ref(x)
    del theirs, y
    gc.collect()
    assert x.to_numpy().sum() == values.sum()
    del x
    assert gone() is None


def test_several_chunks_are_copied_once():
    chunks = [np.arange(k, dtype="i4") for k in (3, 0, 5, 2)]
    expected = np.concatenate(chunks).tolist()
    for theirs in (
        pa.chunked_array([pa.array(c) for c in chunks]),
        pl.concat([pl.Series(c) for c in chunks], rechunk=False),
    ):
        with usmx.trace() as record:
            x = usmx.asarray(theirs)
        assert x.usm_type == "device"
        assert x.tolist() == expected
        assert sum(copy.bytes for copy in record.copies) == 40
        with pytest.raises(ValueError, match=r"copy: .* 3 chunks.*combine_chunks"):
            usmx.asarray(theirs, copy=False)


def test_lists_of_several_chunks_are_joined_along_the_first_axis():
    chunks = [np.arange(6, dtype="f4").reshape(2, 3), np.ones((1, 3), "f4")]
    theirs = pa.chunked_array([pa.array(usm(c)) for c in chunks])
    assert usmx.asarray(theirs).tolist() == np.concatenate(chunks).tolist()


def test_a_stream_without_elements_is_an_empty_array():
    for theirs in (
        pa.chunked_array([], type=pa.float32()),
        pa.chunked_array([[], []], type=pa.float32()),
        pl.Series([], dtype=pl.Float32),
    ):
        for copy in (None, False):
            x = usmx.asarray(theirs, copy=copy)
            assert (x.shape, x.dtype) == ((0,), np.dtype("f4"))
    lists = pa.chunked_array([], type=pa.list_(pa.int16(), 3))
    assert usmx.asarray(lists).shape == (0, 3)


NULLS = {
    "pyarrow": lambda: pa.array([1, None, 3]),
    "pyarrow, sliced": lambda: pa.array([1, 2, None, 3])[1:],
    "pyarrow chunked": lambda: pa.chunked_array([[1, 2], [None]]),
    "polars": lambda: pl.Series([1, None, 3]),
    "pandas over Arrow": lambda: pd.Series([1, None], dtype=pd.ArrowDtype(pa.int32())),
    "nanoarrow": lambda: na.c_array([1, None], na.int32()),
    "list": lambda: pa.array([[1, 2], None], pa.list_(pa.int32(), 2)),
    "in a list": lambda: pa.array([[1, 2], [None, 1]], pa.list_(pa.int32(), 2)),
}


@pytest.mark.parametrize("name", NULLS)
@pytest.mark.parametrize("copy", [None, False])
def test_missing_elements_are_refused_with_the_remedy(name, copy):
    with pytest.raises(usmx.InteropError, match=r"null_count: 1 of .*fill_null"):
        usmx.asarray(NULLS[name](), copy=copy)


def test_missing_elements_outside_of_a_slice_do_not_matter():
    theirs = pa.array([None, 2, 3, None])[1:3]
    assert usmx.asarray(theirs, copy=False).tolist() == [2, 3]
    assert usmx.asarray(pa.array([1, None]).fill_null(0)).tolist() == [1, 0]


def test_numbers_that_are_not_a_number_are_not_missing():
    theirs = pd.Series([1.0, np.nan])
    assert np.isnan(usmx.asarray(theirs).to_numpy()).tolist() == [False, True]
    assert np.isnan(usmx.asarray(theirs, copy=False).to_numpy()).tolist() == [False, True]


OTHERS = {
    "bits": (lambda: pa.array([True, False]), r"format: 'b' \(booleans as bits\).*cast"),
    "text": (lambda: pa.array(["a"]), r"format: 'u' \(text\)"),
    "bits in chunks": (lambda: pa.chunked_array([[True], [False]]), "format: 'b'"),
    "polars bits": (lambda: pl.Series([True, False]), "format: 'b'"),
    "pandas bits": (
        lambda: pd.Series([True, False], dtype=pd.ArrowDtype(pa.bool_())),
        "format: 'b'",
    ),
    "numbers by index": (lambda: pa.array([5, 7, 5]).dictionary_encode(), "dictionary: .*decode"),
    "polars text": (lambda: pl.Series(["a"]), r"format: 'vu' \(text\)"),
    "binary": (lambda: pa.array([b"a"]), r"format: 'z' \(binary\)"),
    "date": (lambda: pa.array([1], pa.timestamp("us")), r"format: 'tsu:' \(dates and times\)"),
    "decimal": (lambda: pa.array([1], pa.decimal128(5)), "format: 'd:5,0'"),
    "list": (lambda: pa.array([[1], [2, 3]]), r"format: '\+l' \(nested\)"),
    "list of structs": (
        lambda: pa.array([[{"a": 1}]], pa.list_(pa.struct({"a": "i4"}), 1)),
        r"format: '\+s' \(a struct or a table\)",
    ),
    "dictionary": (lambda: pa.array(["a"]).dictionary_encode(), "dictionary: .*decode"),
    "null": (lambda: pa.nulls(3), "format: 'n'"),
}


CONVERTED = {
    "bits": [True, False],
    "bits in chunks": [True, False],
    "polars bits": [True, False],
    "pandas bits": [True, False],
    "numbers by index": [5, 7, 5],
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_types_are_refused_by_their_format(name):
    make, words = OTHERS[name]
    with pytest.raises(usmx.InteropError, match=words):
        usmx.asarray(make(), copy=False)
    # What NumPy makes of them may be copied; text and the like it cannot make numbers of.
    if name in CONVERTED:
        assert usmx.asarray(make()).tolist() == CONVERTED[name]
    else:
        with pytest.raises((TypeError, usmx.InteropError), match="not supported"):
            usmx.asarray(make())


@pytest.mark.parametrize(
    "theirs",
    [
        pa.array([True, None]),
        pa.chunked_array([[True], [None]]),
        pl.Series([True, None]),
        pa.array([5, None]).dictionary_encode(),
        pa.nulls(2),
    ],
    ids=["pyarrow", "chunked", "polars", "dictionary", "nulls"],
)
def test_missing_elements_of_other_types_are_not_converted(theirs):
    with pytest.raises(usmx.InteropError, match=r"(is|are) not supported"):
        usmx.asarray(theirs)


def test_tables_of_one_type_are_copied_as_numpy_copies_them():
    frame = pd.DataFrame({"a": [1, 2], "b": [3.5, 4.5]})
    assert usmx.asarray(frame).tolist() == [[1, 3.5], [2, 4.5]]
    columns = {"a": [1, 2], "b": [3, 4]}
    for table in (pa.table(columns), pa.record_batch(columns), pl.DataFrame(columns)):
        assert usmx.asarray(table).tolist() == np.asarray(table).tolist()
        with pytest.raises(usmx.InteropError, match=r"format: '\+s'.*pass its columns"):
            usmx.asarray(table, copy=False)
    reader = pa.table(columns).to_reader()  # has no `__array__`
    with pytest.raises(usmx.InteropError, match=r"format: '\+s'"):
        usmx.asarray(reader)


@usmx.kernel
def increased(item, x, y):
    i = item.get_id(0)
    y[i] = x[i] + 1


@usmx.fuse
def squared(x):
    return x * x


@pytest.mark.parametrize("name", SERIES)
def test_kernels_of_every_tier_read_arrow_in_place(name):
    theirs = SERIES[name](np.arange(8.0))
    out = usmx.zeros(8, usm_type="shared")
    raw = usmx.RawKernel(
        "USMX_KERNEL(1) f(const double* x, double* y) {"
        "  auto i = usmx::global_id(); y[i] = 2 * x[i]; }",
        "f",
    )
    with usmx.trace() as record:
        raw[8](theirs, out).wait()
        assert np.asarray(out).tolist() == [2.0 * k for k in range(8)]
        increased[8,](theirs, out).wait()
        assert np.asarray(out).tolist() == [k + 1.0 for k in range(8)]
    assert not record.copies
    assert SUM(theirs).item() == 28
    assert squared(theirs).tolist() == [float(k * k) for k in range(8)]
    with pytest.raises(ValueError, match="read-only"):
        usmx.RawKernel("USMX_KERNEL(1) f(double* x) { x[0] = 1; }", "f")[1](theirs)
    with pytest.raises(ValueError, match="read-only"):
        usmx.fill(usmx.asarray(theirs, copy=False), 0)


def test_kernels_refuse_missing_elements_and_several_chunks():
    for theirs, words in (
        (pa.array([1.0, None]), "null_count: 1 of 2"),
        (pa.chunked_array([[1.0], [2.0]]), "2 chunks"),
    ):
        with pytest.raises(ValueError, match=words):
            squared(theirs)


# --- crafted structs ------------------------------------------------------------------------------


def host(count=6, dtype="f4"):
    values = np.arange(count).astype(dtype)
    return Crafted(values.ctypes.data, count, owner=values)


@pytest.mark.parametrize("copy", [None, False])
def test_each_struct_is_released_once_after_its_last_use(copy):
    source = host()
    x = usmx.asarray(source, copy=copy)
    assert source.asked == [None]
    assert x.tolist() == [0, 1, 2, 3, 4, 5]
    y = x[2:]
    del x
    gc.collect()
    assert source.released == ["schema"] if copy is False else ["schema", "array"]
    del y
    gc.collect()
    assert sorted(source.released) == ["array", "schema"]


BAD = {
    "negative length": ({"length": -1}, "length: -1"),
    "negative offset": ({"offset": -1}, "offset: -1"),
    "huge offset": ({"offset": (1 << 63) - 2}, "offset: 9223372036854775806"),
    "huge length": ({"length": (1 << 63) - 1}, "length: shape"),
    "no buffers": ({"n_buffers": 0}, "n_buffers: 0; expected 2"),
    "null buffers": ({"buffers": None}, "buffers is null"),
    "children": ({"n_children": 1}, "n_children: 1"),
    "nulls": ({"null_count": 2}, "null_count: 2"),
    "wrong count": ({"null_count": -7}, "null_count: -7"),
    "format": ({"schema_format": b"x"}, "format: 'x'"),
    "no format": ({"schema_format": None}, "format: is null"),
    "list without child": ({"schema_format": b"+w:2"}, "n_children: 0"),
    "list of nothing": ({"schema_format": b"+w:"}, r"format: '\+w:'"),
    "long format": ({"schema_format": b"y" * 500}, r"format: 'y+\.\.\.'"),
    "bytes": ({"schema_format": b"\xff\x01"}, r"format: '\\xff\\x01'"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("copy", [None, False])
def test_bad_structs_are_refused_and_released_once(name, copy):
    changes, words = BAD[name]
    source = host()
    source.changes = changes
    with pytest.raises(usmx.InteropError, match=words):
        usmx.asarray(source, copy=copy)
    assert sorted(source.released) == ["array", "schema"]


def test_a_null_or_misaligned_buffer_is_refused():
    for address, words in ((None, "is null"), (0x1001, "not aligned")):
        source = Crafted(address, 3)
        with pytest.raises(usmx.InteropError, match=words):
            usmx.asarray(source, copy=False)
        assert sorted(source.released) == ["array", "schema"]
    assert usmx.asarray(Crafted(None, 0), copy=False).shape == (0,)


def test_device_memory_is_checked_as_usm():
    x = usmx.arange(6, dtype="f4")
    y = usmx.asarray(CraftedOnDevice(x.pointer, 6, owner=x), copy=False)
    assert (y.usm_type, y.pointer) == ("device", x.pointer)
    assert y.tolist() == [0, 1, 2, 3, 4, 5]
    values = np.zeros(6, "f4")
    for address, length, words in (
        (x.pointer, 1 << 20, "not inside its allocation"),
        (values.ctypes.data, 6, "not USM"),
    ):
        source = CraftedOnDevice(address, length)
        with pytest.raises(usmx.InteropError, match=words):
            usmx.asarray(source)
        gc.collect()
        assert sorted(source.released) == ["array", "schema"]


@pytest.mark.parametrize(
    ("device", "words"),
    [
        ((8, 0), r"device: \(8, 0\)"),
        ((99, 0), r"device: \(99, 0\)"),
        ((ONEAPI, 77), r"device: \(14, 77\)"),
        ((ONEAPI, -1), r"device: \(14, -1\)"),
        ((ONEAPI, 1 << 40), "device_id: 1099511627776"),
    ],
)
def test_devices_that_sycl_does_not_know_are_named(device, words):
    source = CraftedOnDevice(usmx.zeros(6, "f4").pointer, 6, device=device)
    with pytest.raises(BufferError, match=words):
        usmx.asarray(source)
    assert sorted(source.released) == ["array", "schema"]


def test_missing_elements_of_a_device_are_known_by_their_count_only():
    x = usmx.arange(6, dtype="f4")
    bits = usmx.full(1, 255, dtype="u1")
    for count, words in ((2, "null_count: 2 of 6"), (-1, "null_count: -1.*cannot read")):
        source = CraftedOnDevice(x.pointer, 6, null_count=count, bits=bits.pointer)
        with pytest.raises(usmx.InteropError, match=words):
            usmx.asarray(source)
    counted = CraftedOnDevice(x.pointer, 6, null_count=0, bits=bits.pointer)
    assert usmx.asarray(counted, copy=False).size == 6


def test_an_event_of_the_producer_is_waited_for():
    waited = []
    usmx._usmx._Testing.exchange_as("cuda", lambda *what: waited.append(what))
    try:
        x = usmx.arange(6, dtype="f4")
        source = CraftedOnDevice(x.pointer, 6, device=(2, 0), sync_event=0x1234)
        assert usmx.asarray(source, copy=False).pointer == x.pointer
        usmx.asarray(CraftedOnDevice(x.pointer, 6, device=(2, 0)), copy=False)
    finally:
        usmx._usmx._Testing.exchange_as("")
    assert waited == [("event", 0x1234)]


class Returns:
    def __init__(self, made):
        self.made = made

    def __arrow_c_array__(self, requested_schema=None):
        return self.made


@pytest.mark.parametrize("made", [None, 5, (), (1,), (1, 2), (1, 2, 3), [1, 2], "ab"], ids=repr)
def test_what_is_not_a_pair_of_capsules_is_refused(made):
    with pytest.raises(TypeError, match="__arrow_c_array__"):
        usmx.asarray(Returns(made))


def test_capsules_serve_one_consumer_and_have_their_names():
    pair = usm([1.0]).__arrow_c_array__()
    again = Returns(pair)
    assert usmx.asarray(again, copy=False).tolist() == [1.0]
    with pytest.raises(ValueError, match="consumed already"):
        usmx.asarray(again, copy=False)
    swapped = Returns(usm([1.0]).__arrow_c_array__()[::-1])
    with pytest.raises(TypeError, match="a capsule named 'arrow_schema'"):
        usmx.asarray(swapped)
    source = host()
    source.names = {Array: b"dltensor"}
    with pytest.raises(TypeError, match="a capsule named 'arrow_array'"):
        usmx.asarray(source)
    assert source.released == ["schema"]


def test_errors_of_the_producer_pass_through():
    class Raising:
        def __arrow_c_array__(self, requested_schema=None):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        usmx.asarray(Raising())


# --- crafted streams ------------------------------------------------------------------------------


def stream(**more):
    values = np.arange(6, dtype="f4")
    return CraftedStream(values.ctypes.data, 6, owner=values, **more)


def test_a_stream_is_released_and_so_are_its_arrays():
    source = stream(chunks=[{}, {"length": 2}, {"length": 0}])
    assert usmx.asarray(source).tolist() == [0, 1, 2, 3, 4, 5, 0, 1]
    gc.collect()
    assert sorted(source.released) == ["array"] * 3 + ["schema", "stream"]
    source = stream()
    x = usmx.asarray(source, copy=False)
    assert x.pointer == source.owner.ctypes.data
    assert sorted(source.released) == ["schema", "stream"]
    del x
    gc.collect()
    assert sorted(source.released) == ["array", "schema", "stream"]


@pytest.mark.parametrize(("fails", "number"), [("get_schema", 5), ("get_next", 22)])
def test_errors_of_a_stream_have_its_message(fails, number):
    source = stream(fails=fails)
    with pytest.raises(ValueError, match=f"{fails}: .* error {number}: the file is gone"):
        usmx.asarray(source)
    gc.collect()
    released = ["stream"] if fails == "get_schema" else ["array", "schema", "stream"]
    assert sorted(source.released) == released


def test_a_bad_chunk_releases_all():
    source = stream(chunks=[{}, {"offset": -1}, {}])
    with pytest.raises(usmx.InteropError, match="offset: -1"):
        usmx.asarray(source)
    gc.collect()
    assert sorted(source.released) == ["array", "array", "schema", "stream"]


def test_a_stream_of_a_device_is_joined_there():
    x = usmx.arange(6, dtype="f4")
    source = CraftedDeviceStream(x.pointer, 6, owner=x)
    one = usmx.asarray(source, copy=False)
    assert (one.pointer, one.usm_type) == (x.pointer, "device")
    source = CraftedDeviceStream(x.pointer, 6, owner=x, chunks=[{}, {"length": 2, "offset": 1}])
    assert usmx.asarray(source).tolist() == [0, 1, 2, 3, 4, 5, 1, 2]
    gc.collect()
    assert sorted(source.released) == ["array", "array", "schema", "stream"]
    with pytest.raises(ValueError, match="2 chunks"):
        usmx.asarray(source, copy=False)
    values = np.arange(4, dtype="f4")
    on_host = CraftedDeviceStream(values.ctypes.data, 4, owner=values, device=(CPU, -1))
    assert usmx.asarray(on_host, copy=False).pointer == values.ctypes.data


@pytest.mark.parametrize("name", ["get_schema", "get_next", "get_last_error"])
def test_a_stream_without_one_of_its_functions(name):
    for kind in (CraftedStream, CraftedDeviceStream):
        source = kind(0x1000, 1, without=name, fails="get_schema")
        words = "error 5: no message" if name == "get_last_error" else "no get_schema"
        with pytest.raises(ValueError, match=words):
            usmx.asarray(source)
        assert source.released == ["stream"]


def test_threads_exchange_at_the_same_time():
    x = usm(np.arange(1000, dtype="i4").reshape(-1, 4))
    theirs = pa.array(np.arange(1000))
    wrong = []

    def work():
        for _ in range(200):
            if usmx.asarray(pa.array(x), copy=False).pointer != x.pointer:
                wrong.append("out")
            if usmx.asarray(theirs, copy=False).pointer != address_of(theirs):
                wrong.append("in")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()
    assert not wrong


def test_a_stream_is_not_read_where_host_memory_is_not_wanted():
    class Asked(CraftedStream):
        def __arrow_c_stream__(self, requested_schema=None):
            raise AssertionError("asked")

    with pytest.raises(TypeError):
        um.as_usm_memory(Asked(0, 1))


# --- repeated -------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["out", "in", "refused"])
def test_ten_thousand_exchanges_keep_memory_flat(what):
    x = usm(np.arange(1000, dtype="f4").reshape(-1, 4))
    theirs, nulls = pa.array(np.arange(1000)), pa.array([1, None])

    def once():
        if what == "out":
            x.__arrow_c_array__()
            pa.array(x)
        elif what == "in":
            usmx.asarray(theirs, copy=False)
        else:
            with pytest.raises(ValueError, match="null_count"):
                usmx.asarray(nulls)

    assert growth(once) < 1 << 20
