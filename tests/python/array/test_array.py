"""An array says where it is and what it holds, and takes part in what Python's objects do."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import copy
import gc
import operator
import pickle
import re
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import usmx


def test_properties_say_what_and_where(kind: str, queue: usmx.Queue) -> None:
    a = usmx.empty((3, 4), "f4", usm_type=kind, queue=queue)
    assert (a.shape, a.strides, a.offset, a.ndim) == ((3, 4), (4, 1), 0, 2)
    assert (a.size, a.itemsize, a.nbytes, len(a)) == (12, 4, 48, 3)
    assert a.usm_type == kind
    assert a.queue == queue
    assert a.device == queue.device
    assert a.context == queue.context
    # dpctl's queue of the device where dpctl is loaded, because that is what dpnp computes with.
    assert usmx.Queue(a.sycl_queue).device == queue.device
    assert usmx.Context(a.sycl_context) == queue.context
    assert a.sycl_device.name == queue.device.name
    part = a[1:, ::-2]
    assert (part.shape, part.strides, part.offset) == ((2, 2), (4, -2), 7)
    assert part.pointer == part._pointer == a.pointer + 7 * 4


def test_dtype_is_equal_to_each_of_its_spellings() -> None:
    a = usmx.empty(1, "f4")
    assert a.dtype == np.float32 == a.dtype
    assert a.dtype == "float32"
    assert a.dtype == usmx.float32
    assert usmx.float32 == a.dtype
    assert usmx.float32 == "<f4"
    assert usmx.float32 == np.float32
    assert usmx.float32 != np.float64
    assert usmx.float32 != 3
    assert np.dtype(usmx.complex64) == np.complex64
    assert hash(usmx.dtype("f4")) == hash(usmx.float32)
    assert pickle.loads(pickle.dumps(usmx.int16)) == np.int16


@pytest.mark.parametrize(
    "name",
    [
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
    ],
)
def test_dtypes_have_the_attributes_of_numpys(name: str) -> None:
    ours, numpys = usmx.dtype(name), np.dtype(name)
    for attribute in ("name", "kind", "itemsize", "str", "alignment", "descr", "names", "type"):
        assert getattr(ours, attribute) == getattr(numpys, attribute)


@pytest.mark.parametrize(
    ("spelling", "expected"),
    [
        (float, "f8"),
        (int, "i8"),
        (bool, "?"),
        (complex, "c16"),
        (np.float16, "f2"),
        ("d", "f8"),
        (np.dtype("<u2"), "u2"),
        ("single", "f4"),
        ([("x", "f4"), ("n", "<i2")], "V6"),
    ],
)
def test_dtype_arguments_take_every_spelling(spelling: object, expected: str) -> None:
    a = usmx.zeros(2, spelling)
    assert a.dtype == np.dtype(spelling)  # type: ignore[call-overload]
    assert a.itemsize == np.dtype(expected).itemsize


@pytest.mark.parametrize(
    "bad", ["f3", "object", object, "U4", 4, np.dtype("M8[s]"), "S", str, None.__class__]
)
def test_dtypes_that_no_device_has_are_refused(bad: object) -> None:
    with pytest.raises((TypeError, ValueError), match=r"dtype|typestr"):
        usmx.empty(1, bad)


def test_a_field_that_no_device_has_is_named_as_the_argument() -> None:
    """Not as typedescr, which is a field of the protocol."""
    for given, place in (
        ([("n", "i4"), ("when", "M8[s]")], "dtype[1]"),
        ([("n", "i4"), ("inner", [("name", "O")])], "dtype[1][0]"),
        (np.dtype({"names": ["name"], "formats": ["U3"]}), "dtype[0]"),
    ):
        with pytest.raises(ValueError, match=re.escape(f"{place}: '") + ".*not a supported type"):
            usmx.zeros(3, dtype=given)


def test_byte_swapped_dtypes_are_refused() -> None:
    with pytest.raises(ValueError, match="byte order"):
        usmx.empty(1, ">f4")


def test_usm_data_is_the_whole_memory_without_a_copy(kind: str) -> None:
    a = usmx.arange(100, dtype="i4", usm_type=kind)
    part = a[10:20]
    memory = part.usm_data
    assert memory._pointer == a.pointer
    assert memory.nbytes >= 400
    assert memory.get_usm_type() == kind
    again = usmx.ndarray(part.shape, part.dtype, memory, part.strides, part.offset)
    assert again.pointer == part.pointer
    del a, part, memory
    gc.collect()
    assert again.tolist() == list(range(10, 20))


def test_the_constructor_lays_arrays_into_memory(kind: str) -> None:
    memory = usmx.arange(24, dtype="i4", usm_type=kind).usm_data[:96]
    backwards = usmx.ndarray((2, 3), "i4", buffer=memory, strides=(-12, -1), offset=23)
    np.testing.assert_array_equal(backwards.to_numpy(), [[23, 22, 21], [11, 10, 9]])
    assert backwards.usm_type == kind
    assert usmx.ndarray(3, "i4", memory, offset=4).tolist() == [4, 5, 6]
    repeated = usmx.ndarray((2, 2), "i4", memory, strides=(0, 1))
    assert repeated.tolist() == [[0, 1], [0, 1]]
    fortran = usmx.ndarray((2, 3), "i4", memory, order="F")
    assert fortran.strides == (1, 2)
    assert usmx.usm_ndarray is usmx.ndarray


@pytest.mark.parametrize(
    "arguments",
    [
        {"shape": 25},
        {"shape": 24, "offset": 1},
        {"shape": 2, "offset": -1},
        {"shape": 2, "strides": (-1,)},
        {"shape": 2, "offset": 2**62},
        {"shape": (2, 2), "strides": (23, 2)},
        {"shape": (2**32, 2**32)},
        {"shape": (2**62,)},
        {"shape": -1},
    ],
)
def test_the_constructor_refuses_to_leave_the_memory(arguments: dict[str, Any]) -> None:
    memory = usmx.empty(24, "i4").usm_data[:96]
    with pytest.raises(usmx.InteropError):
        usmx.ndarray(dtype="i4", buffer=memory, **arguments)


def test_the_constructor_allocates_what_strides_need(kind: str) -> None:
    a = usmx.ndarray((3, 2), "f8", kind, strides=(-2, 1), offset=4)
    a[...] = np.arange(6.0).reshape(3, 2)
    assert a.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert a.usm_data.nbytes >= 48
    with pytest.raises(usmx.InteropError):
        usmx.ndarray((3, 2), "f8", kind, strides=(-2, 1), offset=3)


def test_flags_know_the_layout_and_close_the_array(kind: str) -> None:
    a = usmx.zeros((3, 4), usm_type=kind)
    assert a.flags.c_contiguous
    assert not a.flags.f_contiguous
    assert a.T.flags.f_contiguous
    assert a.T.flags["F_CONTIGUOUS"]
    assert not a[:, ::2].flags.forc
    assert a.flags.aligned
    a.flags.writeable = False
    assert not a.flags.writeable
    assert not a[1:].flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        a[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        a.flags.writeable = True
    assert a.copy().flags.writeable
    assert a.__sycl_usm_array_interface__["data"][1] is True


def test_single_elements_become_python_numbers(kind: str) -> None:
    for dtype, value in [
        ("?", True),
        ("i1", -3),
        ("u8", 2**64 - 1),
        ("f2", 1.5),
        ("f4", 0.25),
        ("c8", 1 + 2j),
        ("c16", 1 - 2j),
    ]:
        a = usmx.full((1, 1), value, dtype, usm_type=kind)
        assert a.item() == value
        assert type(a.item()) is type(value)
        assert bool(a) is True
        if dtype[0] != "c":
            assert float(a) == float(value)
            assert int(a) == int(value)
        assert complex(a) == complex(value)
    assert [10, 11, 12][usmx.asarray(2, usm_type=kind)] == 12
    a = usmx.arange(6, usm_type=kind).reshape(2, 3)
    assert a.item(1, 2) == a.item((1, 2)) == a.item(5) == a.item(-1) == 5


def test_more_than_one_element_has_no_value() -> None:
    a = usmx.arange(3)
    for function in (float, int, complex, operator.index):
        with pytest.raises(TypeError):
            function(a)
    with pytest.raises(ValueError, match="ambiguous"):
        bool(a)
    with pytest.raises(TypeError):
        operator.index(usmx.zeros((), "f8"))


def test_iteration_gives_views(kind: str) -> None:
    a = usmx.arange(6, usm_type=kind).reshape(2, 3)
    rows = list(a)
    assert [row.tolist() for row in rows] == [[0, 1, 2], [3, 4, 5]]
    rows[1][...] = 7
    assert a.tolist() == [[0, 1, 2], [7, 7, 7]]
    for action in (len, iter):
        with pytest.raises(TypeError, match="0-d"):
            action(a[0, 0])  # type: ignore[operator]


def test_arrays_compare_element_by_element() -> None:
    a = usmx.arange(3, usm_type="shared")
    assert (a == usmx.arange(3)).tolist() == [True] * 3
    assert (a == np.arange(3)).tolist() == [True] * 3
    assert (a != None) is True  # noqa: E711
    with pytest.raises(TypeError):
        hash(a)


def test_numpy_computes_with_host_accessible_arrays() -> None:
    a = usmx.arange(3, dtype="f8", usm_type="shared")
    np.testing.assert_array_equal(np.ones(3) + a, [1, 2, 3])
    np.testing.assert_array_equal(a + np.ones(3), [1, 2, 3])
    np.add(a, 1, out=np.asarray(a))
    assert a.tolist() == [1, 2, 3]


def test_weak_references_do_not_keep_an_array() -> None:
    a = usmx.empty(3)
    reference = weakref.ref(a)
    assert reference() is a
    del a
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickling_keeps_elements_kind_and_device(kind: str, protocol: int) -> None:
    for source in (np.arange(12.0).reshape(3, 4)[:, ::-1], np.zeros((0, 3), "i2"), np.array(5j)):
        a = usmx.asarray(source, usm_type=kind)
        b = pickle.loads(pickle.dumps(a, protocol))
        assert (b.usm_type, b.device, b.dtype) == (kind, a.device, source.dtype)
        np.testing.assert_array_equal(b.to_numpy(), source)
    a.flags.writeable = False
    assert not pickle.loads(pickle.dumps(a, protocol)).flags.writeable


def test_pickles_of_a_missing_device_arrive_with_a_warning() -> None:
    function, arguments = usmx.arange(3).__reduce__()[:2]
    elsewhere = (*arguments[:4], "level_zero:gpu:7", arguments[5])
    with pytest.warns(RuntimeWarning, match="another device"):
        assert function(*elsewhere).tolist() == [0, 1, 2]


def test_copies_of_the_copy_module_own_their_elements(kind: str) -> None:
    a = usmx.arange(6, usm_type=kind).reshape(2, 3).T
    for b in (copy.copy(a), copy.deepcopy(a)):
        assert b.usm_type == kind
        assert b.pointer != a.pointer
        assert b.strides == a.strides
        assert b.tolist() == a.tolist()


def test_arrays_are_shared_by_threads(kind: str) -> None:
    a = usmx.zeros((8, 1000), "i8", usm_type=kind)
    errors: list[BaseException] = []

    def work(row: int) -> None:
        try:
            for k in range(30):
                a[row] = k
                part = a[row, 100:900:7]
                assert part.to_numpy().tolist() == [k] * part.size
                a[row, ::2] = np.arange(500)
                assert int(a[row, 998]) == 499
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(row,)) for row in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_importing_and_using_arrays_needs_no_numpy(run_python: Callable[..., Any]) -> None:
    run_python(
        """
        import sys
        sys.modules["numpy"] = None   # what `import numpy` finds where it is not installed
        import usmx
        a = usmx.asarray([[1, 2, 3], [4, 5, 6]], dtype="f4")
        a[0, ::2] = 9
        assert a[:, ::-1].astype("i2").tolist() == [[9, 2, 9], [6, 5, 4]]
        assert a.dtype == "float32" and a.dtype == usmx.float32
        assert "float32" in repr(a)
        r = usmx.zeros(2, [("x", "<f4"), ("n", "<i2")])
        assert r["n"].tolist() == [0, 0]
        try:
            a.to_numpy()
        except ImportError as error:
            assert "pip install numpy" in str(error)
        else:
            raise AssertionError("to_numpy() without NumPy")
        """
    )


def test_importing_usmx_does_not_import_numpy(run_python: Callable[..., Any]) -> None:
    run_python(
        """
        import sys, usmx
        a = usmx.zeros((3, 4), usmx.float32)
        a[1:] = 2
        repr(a), a.tolist()
        assert "numpy" not in sys.modules
        """
    )


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8", "i1", "i4"])
@pytest.mark.parametrize("number", [np.int64(-1), np.int64(300), np.uint64(2**64 - 1), -1, 70_000])
def test_an_integer_that_does_not_fit_is_stored_or_refused_as_in_numpy(dtype, number) -> None:
    """NumPy's own integers wrap around in unsigned types; all others are refused."""
    expected = np.zeros(3, dtype)
    ours = usmx.zeros(3, dtype, usm_type="shared")
    try:
        expected[1:] = number
    except OverflowError:
        with pytest.raises(OverflowError, match="does not fit into"):
            ours[1:] = number
    else:
        ours[1:] = number
        np.testing.assert_array_equal(ours.to_numpy(), expected)
