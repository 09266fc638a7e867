"""Odd values that functions of NumPy take or refuse: each as NumPy's own."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import usmx

NAN, INF = float("nan"), float("inf")


def array(values: Any, kind: str, dtype: Any = None) -> usmx.ndarray:
    return usmx.asarray(np.array(values, dtype), usm_type=kind)


@pytest.mark.parametrize(
    "date", [np.datetime64("2020"), np.timedelta64(3, "s")], ids=["date", "time"]
)
def test_dates_are_not_taken_for_their_bytes(date: Any, kind: str) -> None:
    x = array([1, 2], kind)
    for use in (
        lambda: usmx.asarray(date),
        lambda: usmx.full(3, date),
        lambda: usmx.stack(np.array([date, date])),
        lambda: x + date,
        lambda: x == date,
        lambda: usmx.where(x > 1, x, date),
        lambda: x.__setitem__(0, date),
        lambda: x.__setitem__([0], date),
        lambda: usmx.max(date),
    ):
        with pytest.raises(TypeError, match="is a date or a time"):
            use()
    assert x.tolist() == [1, 2]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "?"])
def test_no_number_is_nan_among_floats_and_false_among_bools(dtype: str, kind: str) -> None:
    for key in (0, slice(None), slice(1, None, 2)):
        x, host = array([1, 1, 1], kind, dtype), np.ones(3, dtype)
        x[key] = host[key] = None
        np.testing.assert_array_equal(x.to_numpy(), host)


def test_no_number_is_refused_among_integers(kind: str) -> None:
    x = array([1, 2], kind)
    with pytest.raises(TypeError, match="None"):
        x[0] = None


@pytest.mark.parametrize("values", [300, -129, [1, 300], (300,)])
def test_integers_of_python_that_do_not_fit_are_not_inserted(values: Any, kind: str) -> None:
    x = array([1, 2], kind, "i1")
    with pytest.raises(OverflowError, match="int8"):
        usmx.insert(x, 1, values)
    assert usmx.insert(x, 1, array([300], kind)).tolist() == [1, 44, 2]  # an array's are cast
    assert usmx.insert(x, 1, 2.7).tolist() == [1, 2, 2]


@pytest.mark.parametrize("values", [300, (1, -129), ((0, 128),)])
def test_integers_that_do_not_fit_are_not_put_around(values: Any, kind: str) -> None:
    x = array([1, 2], kind, "i1")
    with pytest.raises(OverflowError, match="int8"):
        usmx.pad(x, 1, constant_values=values)
    assert usmx.pad(x, 1, constant_values=(-128, 127)).tolist() == [-128, 1, 2, 127]


def test_no_numbers_for_more_elements_than_are_counted(kind: str) -> None:
    x, large = array([1], kind), (1 << 40, 1 << 40)
    with pytest.raises(ValueError, match="more elements than int64 counts"):
        usmx.ravel_multi_index((x, x), large)
    with pytest.raises(ValueError, match="more elements than int64 counts"):
        usmx.unravel_index(x, large)
    with pytest.raises(TypeError, match=r"multi_index\[1\]: of float64; expected integers"):
        usmx.ravel_multi_index((x, x * 1.0), (2, 2))


def len_of(number: int) -> str:
    return f"{'-' if number < 0 else ''}{number.bit_length()}-bits"


REFUSED: dict[str, tuple[Callable[[usmx.ndarray], Any], type[Exception], str]] = {
    "roll": (lambda x: usmx.roll(x, 1.5), TypeError, "1.5 is not an integer"),  # type: ignore[arg-type]
    "histogram": (lambda x: usmx.histogram(x, bins=1.5), TypeError, "bins: 1.5"),
    "vander": (lambda x: usmx.vander(x, -1), ValueError, "N: -1"),
    "indices": (lambda x: usmx.indices((-1, 2)), ValueError, "negative lengths"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_numbers_that_are_no_counts_are_refused_by_name(name: str, kind: str) -> None:
    call, error, text = REFUSED[name]
    with pytest.raises(error, match=text):
        call(array([1, 2, 3], kind))


@pytest.mark.parametrize("dtype", ["?", "u1", "i2", "i8"])
def test_i0_of_integers_is_computed_in_the_default_type(dtype: str, kind: str) -> None:
    host = np.array([0, 1, 100], dtype)
    found = usmx.i0(usmx.asarray(host, usm_type=kind))
    assert found.dtype == np.float64
    np.testing.assert_allclose(found.to_numpy(), np.i0(host), rtol=1e-12)


@pytest.mark.parametrize("name", ["nanmin", "nanmax"])
@pytest.mark.parametrize(
    "values", [[1, 2], [1, NAN, 2], [NAN, NAN], [INF, NAN], [-INF, NAN], []], ids=str
)
def test_a_first_number_that_is_nan_hides_none(name: str, values: list[float], kind: str) -> None:
    host = np.array(values, float)
    found = getattr(usmx, name)(usmx.asarray(host, usm_type=kind), initial=NAN)
    np.testing.assert_array_equal(found.to_numpy(), getattr(np, name)(host, initial=NAN))


@pytest.mark.parametrize(
    ("a", "b"), [([3, 1, 2], [0, 2, 4]), ([0, 0], [0, 1, 2]), ([0.0], [1, 2]), ([5], [7])]
)
def test_powers_without_a_factor_do_not_lengthen_products(a: Any, b: Any, kind: str) -> None:
    found = usmx.polymul(array(a, kind), array(b, kind))
    assert found.tolist() == np.polymul(a, b).tolist()


@pytest.mark.parametrize("value", [3, -300, 3.5, True, 2j, [3], [1e300]])
def test_the_smallest_type_is_that_of_a_number_and_of_an_array_its_own(
    value: Any, kind: str
) -> None:
    assert usmx.min_scalar_type(array(value, kind)) == np.min_scalar_type(np.array(value))


@pytest.mark.parametrize("exponent", [10**400, -(10**400), 2**64 + 2, -(2**70)], ids=len_of)
def test_a_power_beyond_all_floats_is_an_overflow_error(exponent: int, kind: str) -> None:
    for dtype in ("f4", "f8", "c8", "i4"):
        with pytest.raises(OverflowError, match="more than 64 bits"):
            array([1, 2], kind, dtype) ** exponent
