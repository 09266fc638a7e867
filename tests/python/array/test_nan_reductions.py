# Reductions that pass over NaN are those of NumPy.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

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
    with pytest.raises(ValueError, match="nanmax: x has shape"):
        usmx.nanmax(usmx.empty((0, 2)))
    with pytest.raises(TypeError, match="no order"):
        usmx.nanmin(usmx.ones(2, "c8"))


def test_corrections_and_out() -> None:
    n = values("d", (4, 6), 5)
    x = usmx.asarray(n)
    close(usmx.nanvar(x, 0, correction=1), np.nanvar(n, 0, ddof=1), "correction")
    close(np.nanstd(x, axis=1, ddof=1), np.nanstd(n, axis=1, ddof=1), "ddof")
    out = usmx.empty(4, "f8")
    for name in ("nansum", "nanmean", "nanmin"):
        assert getattr(usmx, name)(x, axis=1, out=out) is out
        close(out, getattr(np, name)(n, axis=1), name)
