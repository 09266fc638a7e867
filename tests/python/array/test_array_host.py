"""The host sees host-accessible arrays in place, and device arrays by copies it asks for."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import usmx

RECORD = np.dtype(
    [("x", "<f4"), ("", "V2"), ("n", "<i2"), ("v", "u1", (2, 3)), ("in", [("z", "<c8")])]
)
DTYPES: list[Any] = [
    "?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", RECORD,
]  # fmt: skip


@pytest.mark.parametrize("usm_type", ["shared", "host"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_numpy_sees_the_elements_in_place(usm_type: str, dtype: Any) -> None:
    a = usmx.zeros((4, 6), dtype, usm_type=usm_type)
    for ours in (a, a.T, a[::-1], a[1:, ::-2], a[0, 0], a[:, 2:2]):
        view = np.asarray(ours)
        assert view.dtype == a.dtype
        assert view.shape == ours.shape
        if ours.size:
            assert view.__array_interface__["data"] == (ours.pointer, False)
            assert view.strides == tuple(s * a.itemsize for s in ours.strides)
        interface = np.asarray(
            type("Only", (), {"__array_interface__": ours.__array_interface__})()
        )
        assert (interface.shape, interface.dtype) == (view.shape, view.dtype)
    if dtype != RECORD:
        np.asarray(a)[1, 2] = 1
        assert a[1, 2].item() == 1


@pytest.mark.parametrize("usm_type", ["shared", "host"])
def test_buffers_keep_the_memory(usm_type: str) -> None:
    view = np.asarray(usmx.arange(1000, usm_type=usm_type)[::2])
    memory = memoryview(usmx.arange(6, dtype="f4", usm_type=usm_type).reshape(2, 3))
    gc.collect()
    assert view.sum() == 249500
    assert memory.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert (memory.format, memory.shape, memory.c_contiguous) == ("f", (2, 3), True)


@pytest.mark.parametrize("usm_type", ["shared", "host"])
def test_buffers_are_as_writable_and_contiguous_as_the_array(usm_type: str) -> None:
    a = usmx.zeros((3, 4), "i4", usm_type=usm_type)
    with pytest.raises(BufferError, match="contiguous"):
        bytes_like(a.T[:, ::2])
    assert len(bytes_like(a)) == 48
    a.flags.writeable = False
    assert memoryview(a).readonly
    assert not np.asarray(a).flags.writeable
    with pytest.raises((BufferError, TypeError)):
        open_for_writing(a)


def bytes_like(a: Any) -> bytes:
    import hashlib

    hashlib.sha256(a)  # asks for a contiguous buffer
    return bytes(memoryview(a))


def open_for_writing(a: Any) -> None:
    import io

    io.BytesIO(b"x" * 48).readinto(a)


def test_device_arrays_have_no_buffer_and_say_what_to_do() -> None:
    a = usmx.arange(6)
    for action in (memoryview, np.asarray, np.array, bytes, lambda x: x.__array__()):
        with pytest.raises(TypeError, match="to_numpy"):
            action(a)  # type: ignore[operator]
    assert not hasattr(a, "__array_interface__")


def test_array_of_numpys_protocol_copies_when_asked() -> None:
    a = usmx.arange(6, dtype="i4", usm_type="shared")
    assert a.__array__().__array_interface__["data"][0] == a.pointer
    assert a.__array__(copy=True).__array_interface__["data"][0] != a.pointer
    assert a.__array__("f8").dtype == np.float64
    with pytest.raises(ValueError, match="copy"):
        a.__array__("f8", copy=False)


def test_to_numpy_is_always_a_copy(kind: str) -> None:
    a = usmx.arange(12, usm_type=kind).reshape(3, 4)
    for ours in (a, a.T, a[::-1, ::2], a[1, 1], a[3:]):
        copied = ours.to_numpy()
        assert isinstance(copied, np.ndarray)
        before = ours.tolist()
        assert copied.tolist() == before
        assert copied.tobytes() == ours.tobytes()
        copied[...] = -1
        assert ours.tolist() == before


def test_text_is_readable(kind: str) -> None:
    def text(a: Any) -> str:
        return str(usmx.asarray(a, usm_type=kind))

    assert text([1, 20, 300]) == "[  1,  20, 300]"
    assert text([[1.0, 2.5], [-3.25, 1e30]]) == "[[   1.,   2.5],\n [-3.25, 1e+30]]"
    assert text(5) == "5"
    assert text(np.float32(0.1)) == "0.1"
    assert text([True, False]) == "[ True, False]"
    assert text([1 + 2j, -1j]) == "[ 1.+2.j, -0.-1.j]"
    assert text([float("nan"), float("inf")]) == "[nan, inf]"
    assert text(np.zeros((0, 3))) == "[]"
    assert text(np.zeros((2, 2, 1), "i4")) == "[[[0],\n  [0]],\n\n [[0],\n  [0]]]"
    whole = repr(usmx.zeros((2, 0), "f4", usm_type=kind))
    assert whole.startswith("usmx.ndarray([], shape=(2, 0), dtype=float32, usm_type='" + kind)
    lines = str(usmx.arange(100, usm_type=kind)).splitlines()
    assert len(lines) > 3
    assert max(len(line) for line in lines) <= 80


@pytest.mark.parametrize("char", "efd")
def test_numbers_have_the_fewest_digits_that_tell_them_apart(kind: str, char: str) -> None:
    short = ["0.1", "0.3", "-0.7", "2.2", "100.", "1234.", "-0.", "1e-05", "0.0001"]
    long = ["12345678.", "1e+08", "3e-30", "1.5e+20"] if char != "e" else ["0.3333", "1e-07"]
    for text in (*short, *long):
        number = np.dtype(char).type(text)
        assert str(usmx.asarray(number, usm_type=kind)) == text
        if char != "e":
            pair = usmx.asarray(number + 0j, usm_type=kind)
            assert str(pair) == (text if text != "-0." else "0.") + "+0.j"
    third = usmx.asarray(np.dtype(char).type(1) / 3, usm_type=kind, dtype=char)
    assert str(third) == {"e": "0.3333", "f": "0.33333334", "d": "0.33333333"}[char]


def test_text_of_large_arrays_shows_the_edges(kind: str) -> None:
    a = usmx.arange(1_000_000, usm_type=kind)
    assert "".join(str(a).split()) == "[0,1,2,...,999997,999998,999999]"
    square = str(a.reshape(1000, 1000))
    assert square.count("\n") == 6
    assert "..." in square
    assert square.endswith("[999000, 999001, 999002, ..., 999997, 999998, 999999]]")
    first = str(a.reshape(1000, 1000).T[::-1]).splitlines()[0]
    assert "".join(first.split()) == "[[999,1999,2999,...,997999,998999,999999],"
    assert "shape=(1000, 1000)" in repr(a.reshape(1000, 1000))
    many = usmx.zeros((3,) * 12, "i1", usm_type=kind)
    assert "shape=(3, 3" in repr(many)


def test_text_of_a_huge_device_array_copies_few_bytes(run_python: Callable[..., Any]) -> None:
    run_python(
        """
        import usmx, usmx.counters
        usmx.counters.enable()
        a = usmx.zeros((20_000, 1000), "f4")
        with usmx.counters.counting() as counted:
            str(a)
        assert 0 < counted.bytes_copied < 1000, counted.bytes_copied
        with usmx.counters.counting() as control:
            a.tobytes()
        assert control.bytes_copied >= a.nbytes
        """
    )
