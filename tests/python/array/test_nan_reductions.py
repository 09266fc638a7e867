# Reductions that pass over NaN are those of NumPy.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from depths import some

import usmx

NAMES = ["nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmin", "nanmax"]


def values(char: str, shape: tuple[int, ...], seed: int) -> Any:
    """Small numbers, of floats a third NaN."""
    rng = np.random.default_rng(seed)
    whole = rng.integers(-4, 5, shape) + (1j * rng.integers(-4, 5, shape) if char in "FD" else 0)
    n = whole.astype(char)
    if char in "efdFD":
        n[rng.random(shape) < 0.33] = np.nan
    return n


def close(got: Any, wanted: Any, what: object) -> None:
    wanted = np.asarray(wanted)
    assert got.dtype == wanted.dtype, what
    assert got.shape == wanted.shape, what
    bound = 16 * np.finfo(wanted.dtype).eps if wanted.dtype.kind in "fc" else 0
    np.testing.assert_allclose(got.to_numpy(), wanted, bound, bound, err_msg=str(what))


@pytest.mark.parametrize("name", NAMES)
def test_reductions_pass_over_nan_as_in_numpy(name: str) -> None:
    for char in "eD" if name in ("nanmean", "nanvar") else "qf":
        for seed, (shape, axes) in enumerate([((9,), [None, 0]), ((3, 5), [0, -1, (0, 1)])]):
            n = values(char, shape, seed)
            if n.ndim == 2 and char != "q":
                n[:, 2] = np.nan
            for axis in axes:
                keep = bool(seed % 2)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    wanted = getattr(np, name)(n, axis=axis, keepdims=keep)
                got = getattr(usmx, name)(usmx.asarray(n), axis=axis, keepdims=keep)
                close(got, wanted, (name, char, shape, axis))


def test_places_and_cumulative_sums_pass_over_nan() -> None:
    for char in "d":
        n = values(char, (4, 6), 3)
        n[0, :2] = [n[0, 3], n[1, 2]]
        n[:, 0] = n[3] = 1
        x = usmx.asarray(n)
        for axis in (None, 0, 1):
            for name in ("nanargmin", "nanargmax", "nancumsum", "nancumprod"):
                wanted = getattr(np, name)(n, axis=axis)
                close(getattr(np, name)(x, axis=axis), wanted, (name, char, axis))
    infinite = usmx.asarray([np.nan, np.inf, np.inf])
    assert usmx.nanargmin(infinite).item() == 1
    assert usmx.nanargmax(-infinite).item() == 1
    with pytest.raises(ValueError, match="nothing but NaN"):
        usmx.nanargmax(usmx.asarray([[1.0, 2], [np.nan, np.nan]]), axis=1)
    with pytest.raises(ValueError, match="nanmax: a has shape"):
        usmx.nanmax(usmx.empty((0, 2)))


def test_corrections_and_out() -> None:
    n = values("d", (4, 6), 5)
    x = usmx.asarray(n)
    close(usmx.nanvar(x, 0, correction=1), np.nanvar(n, 0, ddof=1), "correction")
    close(np.nanstd(x, axis=1, ddof=1), np.nanstd(n, axis=1, ddof=1), "ddof")
    out = usmx.empty(4, "f8")
    for name in ("nansum", "nanmean", "nanmin"):
        assert getattr(usmx, name)(x, axis=1, out=out) is out
        close(out, getattr(np, name)(n, axis=1), name)


@pytest.mark.parametrize("char", ["F", "D"])
@pytest.mark.parametrize("kind", ["device", "shared"])
def test_complex_numbers_have_numpys_order(char: str, kind: Any) -> None:
    rng = np.random.default_rng(4)
    for shape in some(((1,), (17,), (300, 20), (3, 4, 5)), 1):
        for nans in (0, 1, 3):
            host = (rng.integers(-3, 3, shape) + 1j * rng.integers(-3, 3, shape)).astype(char)
            host.reshape(-1)[rng.integers(0, host.size, nans)] = complex(1, np.nan)
            if nans == 3:
                host.reshape(-1)[0] = complex(np.nan, 1)
            x = usmx.asarray(host, usm_type=kind)
            for axis in (None, *range(host.ndim)):
                for name in ("max", "min", "argmax", "argmin", "ptp", "nanmax", "nanmin"):
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        wanted = np.asarray(getattr(np, name)(host, axis=axis))
                    got = getattr(np, name)(x, axis=axis).to_numpy()
                    assert got.dtype == wanted.dtype
                    assert np.array_equal(np.isnan(got), np.isnan(wanted)), (shape, name)
                    known = ~np.isnan(wanted)
                    assert np.array_equal(got[known], wanted[known]), (shape, nans, axis, name)
                if not nans:
                    for name in ("nanargmax", "nanargmin"):
                        wanted = getattr(np, name)(host, axis=axis)
                        assert np.array_equal(getattr(np, name)(x, axis=axis).to_numpy(), wanted)
            other = np.roll(host, 1)
            y = usmx.asarray(other, usm_type=kind)
            for name in ("maximum", "minimum", "fmax", "fmin"):
                wanted = getattr(np, name)(host, other)
                got = getattr(usmx, name)(x, y).to_numpy()
                assert np.array_equal(got, wanted, equal_nan=True), name
    assert usmx.max(usmx.asarray([1 + 2j, 1 + 3j]), initial=2j).item() == 1 + 3j
    assert usmx.min(usmx.asarray([1 + 2j, 1 + 3j]), initial=2j).item() == 2j
