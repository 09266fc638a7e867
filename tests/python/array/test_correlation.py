# Weighted means, covariances and correlations are those of NumPy.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import usmx


def close(got: Any, wanted: Any, what: object, terms: int = 16) -> None:
    wanted = np.asarray(wanted)
    assert got.dtype == wanted.dtype, what
    assert got.shape == wanted.shape, what
    bound = terms * np.finfo(wanted.dtype).eps if wanted.dtype.kind in "fc" else 0
    np.testing.assert_allclose(got.to_numpy(), wanted, bound, bound, err_msg=str(what))


def test_weighted_means_are_those_of_numpy() -> None:
    rng = np.random.default_rng(1)
    for char in "qD":
        n = rng.integers(-9, 9, (3, 4)).astype(char)
        x = usmx.asarray(n)
        w = rng.random((3, 4))
        for axis in (None, 0, 1):
            close(usmx.average(x, axis), np.average(n, axis), (char, axis))
            got = usmx.average(x, axis, usmx.asarray(w), True)
            for one, wanted in zip(got, np.average(n, axis, w, True), strict=True):
                close(one, wanted, (char, axis), 64)
        close(np.average(x, 1, w[0]), np.average(n, 1, w[0]), char, 64)
        got = usmx.average(x, (1, 0), w.T, keepdims=True)
        close(got, np.average(n, (1, 0), w.T, keepdims=True), char, 64)
    x = usmx.arange(3)
    with pytest.raises(ZeroDivisionError, match="weights: have the sum 0"):
        usmx.average(x, weights=[1, 0, -1])
    with pytest.raises(ValueError, match=r"weights: have shape \(2,\)"):
        usmx.average(x, weights=[1, 0])


def test_covariances_and_correlations_are_those_of_numpy() -> None:
    rng = np.random.default_rng(2)
    m, y = rng.normal(size=(3, 20)), rng.normal(size=(2, 20))
    often, much = rng.integers(1, 4, 20), rng.random(20)
    for char in "fD":
        n = (m + (1j * m[::-1] ** 2 if char == "D" else 0)).astype(char)
        x = usmx.asarray(n)
        cases: list[dict[str, Any]] = [
            {},
            {"y": y},
            {"bias": True},
            {"ddof": 0, "aweights": much},
            {"fweights": often},
            {"fweights": often, "aweights": much},
        ]
        for case in cases:
            close(usmx.cov(x, **case), np.cov(n, **case), (char, case), 256)
        close(np.cov(x.T, rowvar=False), np.cov(n), char, 256)
        close(usmx.cov(x[0]), np.cov(n[0]), char, 256)
        close(usmx.corrcoef(x), np.corrcoef(n), char, 256)
        close(usmx.corrcoef(x[0], x[1]), np.corrcoef(n[0], n[1]), char, 256)
    assert usmx.cov(usmx.asarray(m, dtype="f4"), dtype="f4").dtype == np.float32
    with pytest.raises(ValueError, match="m: has 3 dimensions"):
        usmx.cov(usmx.zeros((2, 2, 2)))
    with pytest.raises(ValueError, match="aweights: holds negative"):
        usmx.cov(usmx.zeros(3), aweights=[1, -1, 1])
    with pytest.raises(TypeError, match="fweights: are of float64"):
        usmx.cov(usmx.zeros(3), fweights=much[:3])
