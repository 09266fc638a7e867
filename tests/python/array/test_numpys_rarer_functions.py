"""Functions of NumPy that few programs call: each compared with NumPy's own."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import usmx
import usmx.compat.cupy as cp

rng = np.random.default_rng(7)
FLOATS = np.array([0, -0.0, 1, -1.5, 1e300, 5e-324, np.inf, -np.inf, np.nan, 3])
BITS = rng.integers(0, 2, (3, 11)).astype("u1")
BYTES = rng.integers(0, 256, (3, 5)).astype("u1")
SMALL = np.array([1 + 1e-16j, 2 - 2e-16j])
SQUARE = rng.random((24, 24)) + 8 * np.eye(24)

#: What is called, with the arrays that it takes.
CALLS: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "packbits": (lambda xp, x: xp.packbits(x), (BITS,)),
    "packbits of an axis": (lambda xp, x: xp.packbits(x, axis=0, bitorder="little"), (BITS * 3,)),
    "packbits of bools": (lambda xp, x: xp.packbits(x, axis=-1), (BITS == 1,)),
    "unpackbits": (lambda xp, x: xp.unpackbits(x), (BYTES,)),
    "unpackbits of an axis": (lambda xp, x: xp.unpackbits(x, axis=1, count=37), (BYTES,)),
    "unpackbits and less": (lambda xp, x: xp.unpackbits(x, 0, -3, "little"), (BYTES,)),
    "unpackbits and more": (lambda xp, x: xp.unpackbits(x, axis=0, count=30), (BYTES,)),
    "spacing": (lambda xp, x: xp.spacing(x), (FLOATS,)),
    "spacing of float32": (lambda xp, x: xp.spacing(x), (FLOATS[[0, 2, 3, 6]].astype("f4"),)),
    "real_if_close": (lambda xp, x: xp.real_if_close(x), (SMALL,)),
    "real_if_close, not": (lambda xp, x: xp.real_if_close(x, tol=1e-16), (SMALL,)),
    "real_if_close of reals": (lambda xp, x: xp.real_if_close(x), (FLOATS,)),
    "polydiv": (lambda xp, a, b: xp.polydiv(a, b)[0], (np.array([3.0, 5, 2]), np.array([2.0, 1]))),
    "polydiv, rest": (lambda xp, a, b: xp.polydiv(a, b)[1], (np.array([3, 5, 2]), np.array([2]))),
    "mask_indices": (lambda xp: xp.mask_indices(4, xp.triu, 1)[1], ()),
    "matvec": (lambda xp, a, b: xp.matvec(a, b), (rng.random((2, 3, 4)), rng.random(4))),
    "vecmat": (
        lambda xp, a, b: xp.vecmat(a, b),
        (rng.random((2, 1, 3)) + 1j, rng.random((4, 3, 5)) - 2j),
    ),
    "sort_complex": (lambda xp, x: xp.sort_complex(x), (np.array([3, 1, 2], "i2"),)),
    "sort_complex of complex": (lambda xp, x: xp.sort_complex(x), (SMALL[::-1],)),
    "require": (lambda xp, x: xp.require(x.T, "f4", ["F", "W"]), (BITS,)),
    "asarray_chkfinite": (lambda xp, x: xp.asarray_chkfinite(x, "f8"), (BITS,)),
    "tensorsolve": (
        lambda xp, a, b: xp.linalg.tensorsolve(a, b),
        (SQUARE.reshape(6, 4, 2, 3, 4), rng.random((6, 4))),
    ),
    "tensorsolve of axes": (
        lambda xp, a, b: xp.linalg.tensorsolve(a, b, axes=(0, 2)),
        (SQUARE.reshape(2, 6, 3, 4, 4).transpose(0, 1, 2, 3, 4), rng.random((6, 4))),
    ),
    "tensorinv": (
        lambda xp, a: xp.linalg.tensorinv(a, ind=1),
        (SQUARE.reshape(24, 8, 3),),
    ),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("kind", ["device", "shared"])
def test_it_gives_what_numpy_gives(name: str, kind: Any) -> None:
    call, arrays = CALLS[name]
    with np.errstate(all="ignore"):
        wanted = call(np, *arrays)
    got = call(usmx, *(usmx.asarray(x, usm_type=kind) for x in arrays))
    assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_allclose(got.to_numpy(), wanted, rtol=1e-12)


@pytest.mark.parametrize("dtype", "bBhHiIqQ")
def test_bits_are_counted_as_in_numpy(dtype: str) -> None:
    limits = np.iinfo(dtype)
    x = np.array([limits.min, limits.max, 0, 1, 3, limits.max - 1, limits.min + 1], dtype)
    x = np.concatenate([x, rng.integers(limits.min, limits.max, 999, dtype, endpoint=True)])
    for function in (usmx.bitwise_count, np.bitwise_count):
        got = function(usmx.asarray(x, usm_type="device"))
        assert got.dtype == "uint8"
        np.testing.assert_array_equal(got.to_numpy(), np.bitwise_count(x))
    out = usmx.zeros(x.size, "uint8")
    assert usmx.bitwise_count(usmx.asarray(x), out=out) is out
    np.testing.assert_array_equal(out.to_numpy(), np.bitwise_count(x))


def test_numpys_own_functions_find_them() -> None:
    x, v = rng.random((3, 4)), rng.random(4)
    a, b = (usmx.asarray(m, usm_type="device") for m in (x, v))
    for got, wanted in (
        (np.matvec(a, b), x @ v),
        (np.vecmat(b, a.T), v @ x.T),
        (np.spacing(b), np.spacing(v)),
        (np.packbits(a > 0.5), np.packbits(x > 0.5)),
        (np.linalg.tensorinv(usmx.asarray(SQUARE), ind=1), np.linalg.tensorinv(SQUARE, ind=1)),
    ):
        assert isinstance(got, usmx.ndarray)
        np.testing.assert_allclose(got.to_numpy(), wanted, rtol=1e-9)
    with pytest.raises(ValueError, match="out"):
        usmx.matvec(a, b, out=usmx.zeros(2))


def test_windows_are_found_where_xarray_and_cupy_have_them() -> None:
    x = rng.random((4, 5))
    for lib in (usmx.lib, cp.lib):
        found = lib.stride_tricks.sliding_window_view(usmx.asarray(x, usm_type="device"), 3, axis=1)
        wanted = np.lib.stride_tricks.sliding_window_view(x, 3, axis=1)
        np.testing.assert_array_equal(found.to_numpy(), wanted)
        assert lib.stride_tricks.broadcast_to(usmx.asarray(1), (2, 3)).shape == (2, 3)
        with pytest.raises(
            AttributeError, match="'as_strided' here, because strides of usmx count"
        ):
            _ = lib.stride_tricks.as_strided
        with pytest.raises(AttributeError, match="'scimath'; it has stride_tricks"):
            _ = lib.scimath


def test_types_that_hold_values() -> None:
    f4, i2, c8 = (usmx.zeros(2, t) for t in ("f4", "i2", "c8"))
    assert usmx.common_type(f4) == "float32"
    assert usmx.common_type(f4, i2) == "float64"
    assert usmx.common_type(c8, i2) == "complex128"
    assert usmx.min_scalar_type(i2) == "int16"
    assert usmx.min_scalar_type(300) == "uint16"
    assert usmx.mintypecode("fd") == "d"
    with pytest.raises(TypeError, match="bool"):
        usmx.common_type(usmx.zeros(1, "?"))


def test_requirements_are_met_or_refused() -> None:
    x = usmx.zeros((3, 4))
    assert usmx.require(x, requirements="C") is x
    assert usmx.isfortran(usmx.require(x, requirements=["F"]))
    assert not usmx.isfortran(x)
    assert usmx.require(usmx.broadcast_to(x[0], (2, 4)), requirements="W").flags.writable
    for wrong in (["C", "F"], ["X"]):
        with pytest.raises(ValueError, match="requirements"):
            usmx.require(x, requirements=wrong)


def test_a_path_of_einsum_needs_shapes_only() -> None:
    arrays = [np.ones(s) for s in ((2, 3), (3, 40), (40, 5))]
    given = [usmx.asarray(a, usm_type="device") for a in arrays]
    ours, theirs = (
        f("ij,jk,kl->il", *a) for f, a in ((usmx.einsum_path, given), (np.einsum_path, arrays))
    )
    assert ours[0] == theirs[0]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: usmx.bitwise_count(usmx.zeros(2)), TypeError, "x: has elements of float64"),
        (lambda: usmx.packbits(usmx.zeros(2)), TypeError, "a: has elements of float64"),
        (lambda: usmx.packbits(usmx.zeros(2, "u1"), bitorder="x"), ValueError, "bitorder: 'x'"),
        (lambda: usmx.packbits(usmx.zeros(2, "u1"), axis=3), ValueError, "axis: 3"),
        (lambda: usmx.unpackbits(usmx.zeros(2, "i4")), TypeError, "a: has elements of int32"),
        (lambda: usmx.matvec(usmx.zeros(2), usmx.zeros(2)), ValueError, "x1: has 1 dimensions"),
        (lambda: usmx.vecmat(usmx.zeros(2), usmx.zeros(2)), ValueError, "x2: has 1 dimensions"),
        (lambda: usmx.asarray_chkfinite([1, np.nan]), ValueError, "a: holds infinities or NaN"),
        (lambda: usmx.linalg.tensorinv(usmx.zeros((2, 3)), 0), ValueError, "ind: 0"),
        (lambda: usmx.linalg.tensorinv(usmx.zeros((2, 3)), 1), ValueError, "a: has shape"),
        (
            lambda: usmx.linalg.tensorsolve(usmx.zeros((2, 3)), usmx.zeros(2)),
            ValueError,
            "a: has shape",
        ),
    ],
)
def test_wrong_arguments_are_named(call: Callable[[], Any], error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize("kind", ["shared", "device"])
def test_powers_between_the_ends_in_arrays_are_those_of_numpy(kind: str) -> None:
    first, last = np.array([1.0, -2.0, 4.0]), np.array([8.0, -4.0, 16.0])
    ours = [usmx.asarray(x, usm_type=kind) for x in (first, last)]
    for keywords in ({}, {"endpoint": False}, {"axis": 1}, {"dtype": "f4"}):
        for xp in (np, usmx):
            made = xp.geomspace(*ours, 5, **keywords)
            assert (type(made), made.usm_type) == (usmx.ndarray, kind)
            wanted = np.geomspace(first, last, 5, **keywords)
            np.testing.assert_array_equal(made.to_numpy(), wanted, strict=True)
    np.testing.assert_array_equal(
        usmx.geomspace(1j, 100j, 3).to_numpy(), np.geomspace(1j, 100j, 3), strict=True
    )
