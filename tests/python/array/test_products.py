# Products of floats whose parts leave the range of the type though the whole does not, as blocks
# that a kernel joins do: docs/decisions/0094.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from backend_row import has, needs

import usmx

KINDS = ["shared", "device"]


def halves_and_doubles(count: int, dtype: str) -> np.ndarray:
    return np.concatenate([np.full(count, 0.5), np.full(count, 2.0)]).astype(dtype)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_product_of_finite_numbers_is_not_nan(dtype: str, kind: str) -> None:
    def fused(x: Any) -> Any:
        return np.prod(x * 1)

    for count in (200, 1000, 40_000, 400_000):
        x = usmx.asarray(halves_and_doubles(count, dtype), usm_type=kind)
        for name, made in {
            "prod": usmx.prod(x),
            "with a type": usmx.prod(x, dtype=dtype),
            "some": usmx.prod(x, where=x > 0),
            "of a stack": usmx.prod(usmx.stack([x, x]), axis=1)[1],
            "across": usmx.prod(usmx.stack([x, x], axis=1), axis=0)[1],
            "with a sum": (usmx.prod(x * 1), usmx.sum(x * 1))[0],
            "kept": (usmx.prod(usmx.stack([x, x]), axis=1, keepdims=True) * 1)[0],
            "fused": usmx.fuse(fused)(x),
        }.items():
            assert np.isfinite(float(made)), (count, name)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_items_that_underflow_beside_those_that_overflow_give_no_nan(dtype: str, kind: str) -> None:
    small, large = (1e-30, 1e30) if dtype == "f4" else (1e-200, 1e200)
    n = np.where(np.arange(256) % 16 < 8, small, large).astype(dtype)
    made = usmx.prod(usmx.asarray(n, usm_type=kind))
    np.testing.assert_allclose(float(made), 1, rtol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_products_that_are_nan_in_numpy_stay_nan(dtype: str, kind: str) -> None:
    most = float(np.finfo(dtype).max)
    cases = [[np.inf, 0], [np.nan, 2]]
    if has("products_in_turn"):  # in another order 0 comes before what is too large
        cases += [[most, most, 0], [1 / most, 1 / most, 1 / most, np.inf]]
    for some in cases:
        for count in (len(some), 20, 5000):
            n = np.ones(count, dtype)
            n[: len(some)] = some
            with np.errstate(all="ignore"):
                wanted = np.prod(n)
            got = usmx.prod(usmx.asarray(n, usm_type=kind))
            if count < 16 and has("products_in_turn"):
                np.testing.assert_equal(float(got), float(wanted))
            elif not np.isfinite(n).all() and (np.isnan(n).any() or 0 in n):
                assert np.isnan(float(got)), (some, count)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_product_of_many_finite_numbers_with_a_zero_is_zero(dtype: str, kind: str) -> None:
    def fused(x: Any) -> Any:
        return np.prod(x * 1)

    for count in (200, 1000, 5000, 70_000):
        for place in (0, 1, count // 2, count - 1):
            n = np.full(count, -3.0, dtype)
            n[place] = 0
            x = usmx.asarray(n, usm_type=kind)
            for name, made in {
                "prod": usmx.prod(x),
                "along rows": usmx.prod(usmx.stack([x, x]), axis=1)[1],
                "across": usmx.prod(usmx.stack([x, x], axis=1), axis=0)[1],
                "reduce": usmx.multiply.reduce(x),
                "not NaN": usmx.nanprod(x),
                "fused": usmx.fuse(fused)(x),
            }.items():
                # A few rows are joined across in NumPy's order.
                in_turn = name == "across" and place > 1 and np.isnan(float(made))
                assert in_turn or float(made) == 0, (count, place, name)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_products_in_the_range_have_the_bits_of_plain_ones(dtype: str) -> None:
    plain = usmx.ReductionKernel("T x", "T y", "x", "a * b", "y = a", "1", "plain_product")
    for count in (1, 2, 17, 300, 5000, 70_000):
        n = np.random.default_rng(count).uniform(0.9, 1.1, count).astype(dtype)
        x = usmx.asarray(n, usm_type="device")
        assert float(usmx.prod(x)) == float(plain(x)), count


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["f4", "f8", "c8"])
@needs("products_in_turn")
def test_running_products_are_joined_as_numpy_joins_them(dtype: str, kind: str) -> None:
    choose = np.random.default_rng(3)
    for count in (1, 15, 17, 200, 257, 1000, 5000, 40_000):
        n = halves_and_doubles(count, dtype)
        if dtype != "c8":  # a product of complex numbers is rounded in another order
            n = n * choose.uniform(0.9, 1.1, n.size).astype(dtype)
        for shape, axis in (((-1,), 0), ((2, -1), 1), ((-1, 2), 0)):
            m = np.resize(n, 2 * n.size).reshape(shape)
            with np.errstate(all="ignore"):
                wanted = np.cumprod(m, axis=axis)
            got = usmx.cumprod(usmx.asarray(m, usm_type=kind), axis=axis).to_numpy()
            np.testing.assert_array_equal(got, wanted, str((count, shape)))
