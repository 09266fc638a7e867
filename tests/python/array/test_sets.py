# The different elements of arrays are those of NumPy's functions and of the standard.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import usmx

TYPES = "?bQefD"


def values(char: str, shape: tuple[int, ...], seed: int) -> Any:
    """Few different numbers; floats with NaN and both zeros."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(char)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    whole = rng.integers(0 if dtype.kind == "u" else -9, 9, shape).astype(dtype)
    if dtype.kind in "fc":
        whole = np.where(rng.integers(0, 9, shape) == 0, np.nan, whole).astype(dtype)
        whole = np.where(rng.integers(0, 9, shape) == 0, -0.0, whole).astype(dtype)
    return whole


def same(got: Any, wanted: Any, what: object = "") -> None:
    assert got.dtype == wanted.dtype, what
    np.testing.assert_array_equal(got.to_numpy(), wanted, str(what))


@pytest.mark.parametrize("char", TYPES)
def test_different_elements_are_those_of_numpy(char: str) -> None:
    for seed, shape in enumerate([(1,), (50,), (8, 9), (0,), (2, 0)]):
        n = values(char, shape, seed)
        x = usmx.asarray(n)
        for equal_nan in (True, False):
            everything = usmx.unique(x, True, True, True, equal_nan=equal_nan)
            wanted = np.unique(n, True, True, True, equal_nan=equal_nan)
            for one, other in zip(everything, wanted, strict=True):
                same(one, other, (char, shape, equal_nan))
        same(usmx.unique(x), np.unique(n))
        same(np.unique(x, return_counts=True)[1], np.unique(n, return_counts=True)[1])
        for name in ("all", "counts", "inverse"):
            ours, wanted = getattr(usmx, f"unique_{name}")(x), getattr(np, f"unique_{name}")(n)
            for field in wanted._fields:
                if field != "inverse_indices" or not np.isnan(n).any():
                    same(getattr(ours, field), getattr(wanted, field), (char, shape, name, field))
            if name != "counts":  # of NaN NumPy gives any
                same(ours.values[ours.inverse_indices], n)
        same(usmx.unique_values(x), np.unique(n, equal_nan=False))


def test_different_rows() -> None:
    n = np.random.default_rng(1).integers(0, 3, (40, 2, 2)).astype("i2")
    for axis in (0, -1):
        ours = usmx.unique(usmx.asarray(n), True, True, True, axis)
        for one, wanted in zip(ours, np.unique(n, True, True, True, axis), strict=True):
            np.testing.assert_array_equal(one.to_numpy(), wanted)


def test_sorting_by_several_keys() -> None:
    n = np.random.default_rng(2).integers(0, 4, (3, 5, 20))
    for axis in (-1, 0):
        wanted = np.lexsort(tuple(n), axis)
        same(usmx.lexsort([usmx.asarray(key) for key in n], axis), wanted)
    with pytest.raises(ValueError, match="keys: is empty"):
        usmx.lexsort([])
    with pytest.raises(ValueError, match="expected one shape"):
        usmx.lexsort([usmx.zeros(2), usmx.zeros(3)])


@pytest.mark.parametrize("char", TYPES)
def test_what_arrays_have_in_common_is_that_of_numpy(char: str) -> None:
    for seed, other_char in enumerate([char, "b"]):
        n, m = values(char, (30,), seed), values(other_char, (4, 6), seed + 10)
        x, y = usmx.asarray(n), usmx.asarray(m)
        for invert in (False, True):
            same(usmx.isin(x, y, invert=invert), np.isin(n, m, invert=invert))
            same(np.isin(y, x, invert=invert), np.isin(m, n, invert=invert))
        for name in ("union1d", "intersect1d", "setdiff1d"):
            same(getattr(usmx, name)(x, y), getattr(np, name)(n, m), (name, char, other_char))
        both = np.intersect1d(n, m, return_indices=True)
        for one, other in zip(usmx.intersect1d(x, y, return_indices=True), both, strict=True):
            same(one, other, (char, other_char))
    numbers, others = usmx.asarray([3, 1, 3, 2]), usmx.asarray([2, 5])
    assert usmx.setxor1d(numbers, others).tolist() == [1, 3, 5]
    assert np.union1d(numbers, [7]).tolist() == [1, 2, 3, 7]


def test_numbers_and_no_elements() -> None:
    x = usmx.asarray([1, 2, 3], dtype="i4")
    assert usmx.isin(x, 2).tolist() == [False, True, False]
    assert usmx.isin(2, x).item() is True
    assert usmx.isin(x, [2.0, 9]).tolist() == [False, True, False]
    assert usmx.isin(x, x[:0]).tolist() == [False] * 3
    assert usmx.isin(x, x[:0], invert=True).tolist() == [True] * 3
    assert usmx.isin(x[:0], x).shape == (0,)
    assert usmx.union1d(x[:0], x[:0]).shape == (0,)
    all_of_scalar = usmx.unique_all(usmx.asarray(7))
    assert [field.tolist() for field in all_of_scalar] == [[7], [0], 0, [1]]
    with pytest.raises(TypeError, match="expected an array"):
        usmx.unique_values(3)  # type: ignore[arg-type]


def test_results_are_where_the_array_is(kind: Any, queue: usmx.Queue) -> None:
    x = usmx.asarray([2.0, 1.0, 2.0], usm_type=kind, queue=queue)
    for result in (*usmx.unique_all(x), usmx.isin(x, x), usmx.union1d(x, x)):
        assert result.usm_type == kind
        assert result.queue == queue


@pytest.mark.parametrize("kind", ["device", "shared", "host"])
@pytest.mark.parametrize("times", [1, 40, 9000])
def test_each_byte_of_bools_but_0_is_one_element(kind: Any, times: int) -> None:
    bytes_ = np.tile(np.array([0, 255, 1, 0, 7], "u1"), times)
    want = bytes_ != 0
    x = usmx.asarray(bytes_, usm_type=kind).view("bool")
    other = usmx.asarray(np.array([128], "u1"), usm_type=kind).view("bool")
    assert usmx.unique(x).tolist() == [False, True]
    assert usmx.unique_values(x).tolist() == [False, True]
    assert [a.tolist() for a in usmx.unique_counts(x)] == [[False, True], [2 * times, 3 * times]]
    for found, expected in zip(usmx.unique_all(x), np.unique_all(want), strict=True):
        assert np.array_equal(found.to_numpy() != 0, expected != 0)
    assert usmx.union1d(x, other).tolist() == [False, True]
    assert usmx.intersect1d(x, other).tolist() == [True]
    assert usmx.setdiff1d(x, other).tolist() == [False]
    assert usmx.setxor1d(x, other).tolist() == [False]
    assert usmx.isin(x, other).tolist() == want.tolist()
    assert usmx.unique(x.reshape(-1, 1), axis=0).tolist() == [[False], [True]]
    assert int(usmx.argmax(x)) == 1
    assert int(usmx.argmin(x)) == 0
    pairs = np.stack([want, np.ones_like(want)], axis=1)
    both = usmx.asarray(np.stack([bytes_, bytes_ | 2], axis=1), usm_type=kind).view("bool")
    for axis in (0, 1, None):
        assert np.array_equal(usmx.min(both, axis=axis).to_numpy(), pairs.min(axis=axis))
        assert np.array_equal(usmx.max(both, axis=axis).to_numpy(), pairs.max(axis=axis))
        assert np.array_equal(usmx.sum(both, axis=axis).to_numpy(), pairs.sum(axis=axis))


def test_different_parts_of_an_array_without_elements() -> None:
    for shape, axis in (((0, 2), 0), ((2, 0), 0), ((2, 0), 1), ((0,), 0), ((0, 3), 1),
                        ((3, 0, 2), 1), ((3, 0, 2), 0)):  # fmt: skip
        want = np.unique(np.zeros(shape), axis=axis)
        got = usmx.unique(usmx.zeros(shape), axis=axis)
        assert got.shape == want.shape, (shape, axis)


def test_elements_that_are_said_to_differ_keep_their_order():
    a, b = np.array([6, 5, 4, 7, 1, 2, 7, 4]), np.array([2, 4, 3, 3, 2, 1, 5])
    for assume_unique in (False, True):
        wanted = np.setdiff1d(a, b, assume_unique=assume_unique)
        for xp in (usmx, np):
            got = xp.setdiff1d(usmx.asarray(a), usmx.asarray(b), assume_unique=assume_unique)
            assert np.array_equal(got.to_numpy(), wanted)


@pytest.mark.parametrize("axis", [0, -1, None])
@pytest.mark.parametrize("equal_nan", [True, False])
def test_nan_along_the_axis_of_one_dimension(axis, equal_nan):
    values = np.array([np.nan, 0, 0, np.nan])
    wanted = np.unique(values, axis=axis, equal_nan=equal_nan)
    got = usmx.unique(usmx.asarray(values), axis=axis, equal_nan=equal_nan)
    assert np.array_equal(got.to_numpy(), wanted, equal_nan=True)
    with pytest.raises(np.exceptions.AxisError):
        usmx.unique(usmx.asarray(values), axis=1)
