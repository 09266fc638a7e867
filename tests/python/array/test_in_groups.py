"""Sorts, masks and counts as on devices that run the items of a group at once."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from backend_row import ROW
from depths import some

import usmx


@pytest.fixture(autouse=True)
def in_groups():
    if ROW.groups_are_loops:
        usmx._usmx._Testing.use_forms_of("cuda")
    yield
    usmx._usmx._Testing.use_forms_of("")


def on_device(host):
    return usmx.asarray(host, usm_type="device")


def numbers(char, count, seed=0):
    """Numbers with equal ones, zeros of both signs, NaN and infinities among them."""
    rng = np.random.default_rng(seed)
    if char == "?":
        return rng.integers(0, 2, count).astype(char)
    if char in "bBhHiIqQ":
        limits = np.iinfo(char)
        wide = rng.integers(limits.min, limits.max, count, dtype=char)
        return np.where(rng.random(count) < 0.5, wide, wide % np.array(7, char)).astype(char)
    if char in "FD":
        return numbers("d", count, 1) + 1j * np.round(numbers("d", count, 2)).astype(char)
    x = rng.standard_normal(count)
    for special in (np.nan, 0.0, -0.0, np.inf, -np.inf):
        x[rng.integers(0, count, count // 20)] = special
    return x.astype(char)


@pytest.fixture(params=["cuda", "level_zero"])
def forms(request):
    """Where groups may wait for each other, a pass of a sort is one kernel; elsewhere three."""
    if ROW.groups_are_loops:
        usmx._usmx._Testing.use_forms_of(request.param)


#: Around the lengths where another kernel or another number of bits begins.
LENGTHS = [128, 129, 2048, 2049, 4096, 4097, 16383, 16384, 70001]


@pytest.mark.usefixtures("forms")
@pytest.mark.parametrize("char", "?bHiqQefdF")
def test_long_rows_are_in_order_and_equal_numbers_stay_so(char: str) -> None:
    for count in some(LENGTHS, 2):
        with np.errstate(invalid="ignore"):
            host = numbers(char, count)
        x = on_device(host)
        places = usmx.argsort(x).to_numpy()
        np.testing.assert_array_equal(usmx.sort(x).to_numpy(), np.sort(host))
        np.testing.assert_array_equal(host[places], np.sort(host))
        if char != "F":
            np.testing.assert_array_equal(places, np.argsort(host, kind="stable"))
        backwards = usmx.sort(x, descending=True).to_numpy()
        there = np.isnan(host) if char in "efdF" else np.zeros(count, bool)
        np.testing.assert_array_equal(
            backwards[: count - there.sum()], np.sort(host[~there])[::-1], f"{count}"
        )


@pytest.mark.usefixtures("forms")
@pytest.mark.parametrize("shape", [(37, 1500), (3, 20000), (1, 16385), (2000, 2)])
def test_each_row_is_sorted_by_itself(shape: tuple[int, int]) -> None:
    host = np.random.default_rng(3).integers(0, 50, shape).astype("f4")
    x = on_device(host)
    np.testing.assert_array_equal(usmx.sort(x, axis=1).to_numpy(), np.sort(host, axis=1))
    np.testing.assert_array_equal(
        usmx.argsort(x, axis=1).to_numpy(), np.argsort(host, axis=1, kind="stable")
    )


@pytest.mark.parametrize("share", [0, 0.01, 0.5, 1])
def test_masks_select_replace_and_say_places(share: float) -> None:
    rng = np.random.default_rng(4)
    for count in (1, 31, 33, 255, 4095, 4096, 4097, 50001):
        host, chosen = rng.random(count).astype("f4"), rng.random(count) < share
        x, mask = on_device(host), on_device(chosen)
        np.testing.assert_array_equal(x[mask].to_numpy(), host[chosen])
        np.testing.assert_array_equal(usmx.nonzero(mask)[0].to_numpy(), np.nonzero(chosen)[0])
        weights = np.where(chosen, host, 0)
        np.testing.assert_array_equal(
            usmx.nonzero(on_device(weights))[0].to_numpy(), np.nonzero(weights)[0]
        )
        new = np.arange(chosen.sum(), dtype="f4")
        host[chosen] = new
        x[mask] = on_device(new)
        np.testing.assert_array_equal(x.to_numpy(), host)


@pytest.mark.parametrize("bins", [1, 7, 1000, 1024, 1025, 8192, 9000])
def test_counts_are_those_of_numpy(bins: int) -> None:
    rng = np.random.default_rng(5)
    for count in (1, 100, 5000, 100001):
        host = rng.integers(0, bins, count)
        for given in (host, np.full(count, bins - 1)):
            x = on_device(given)
            np.testing.assert_array_equal(usmx.bincount(x).to_numpy(), np.bincount(given))
            np.testing.assert_array_equal(
                usmx.bincount(x, minlength=bins).to_numpy(), np.bincount(given, minlength=bins)
            )
        for dtype in some(("f4", "f8", "i4"), 1):
            values = (rng.standard_normal(count) * 50).astype(dtype)
            got = usmx.histogram(on_device(values), bins=bins)[0].to_numpy()
            np.testing.assert_array_equal(got, np.histogram(values, bins=bins)[0])


def test_a_number_behind_the_counts_is_counted_anew() -> None:
    host = np.arange(5000) % 40
    got = usmx.bincount(on_device(host), minlength=10).to_numpy()
    np.testing.assert_array_equal(got, np.bincount(host))
    with pytest.raises(ValueError, match="x: holds -3; expected no negative numbers"):
        usmx.bincount(on_device(np.array([1, -3])), minlength=10)
