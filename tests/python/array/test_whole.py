# Questions about all elements of a long array: each is answered by NumPy's answer, wherever the
# element is that decides.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import usmx
from usmx._namespace import _whole

TYPES = "?bIqfd"
SIZES = (_whole.LEAST, _whole.LEAST + 13, 300_001)


def places(size: int) -> tuple[int, ...]:
    """The first and the last element, and some of which the ways of vectors end differently."""
    first = _whole._FIRST
    return (0, 1, first - 1, first, first // 8 + 3, size // 2, size - 16, size - 1)


@pytest.mark.parametrize("char", TYPES)
def test_any_and_all_find_the_one_element_that_decides(char: str) -> None:
    for size in SIZES:
        n = np.zeros(size, char)
        x = usmx.asarray(n)
        assert not usmx.any(x)
        assert not usmx.all(x)
        ones = usmx.ones(size, dtype=char)
        assert usmx.any(ones)
        assert usmx.all(ones)
        for place in places(size):
            x[place] = 1
            ones[place] = 0
            assert usmx.any(x).item() is True, (size, place)
            assert usmx.all(ones).item() is False, (size, place)
            x[place] = 0
            ones[place] = 1
        assert usmx.any(x, keepdims=True).shape == (1,)


def test_zeros_and_nan_are_what_they_are_elsewhere() -> None:
    n = np.full(50_000, -0.0)
    assert not usmx.any(usmx.asarray(n))
    n[40_000] = np.nan
    assert usmx.any(usmx.asarray(n))
    assert usmx.count_nonzero(usmx.asarray(n)).item() == 1
    foreign = usmx.asarray(np.full(50_000, 2, "u1")).view("bool")  # a true that is not 1
    assert usmx.all(foreign)
    assert usmx.count_nonzero(foreign).item() == 50_000


@pytest.mark.parametrize("char", TYPES)
def test_elements_that_are_not_0_are_counted(char: str) -> None:
    rng = np.random.default_rng(1)
    for size in (*SIZES, 2_000_003):
        for least in (0, -2):
            n = rng.integers(least, 2, size).astype(char)
            got = usmx.count_nonzero(usmx.asarray(n))
            assert got.dtype == np.int64
            assert got.shape == ()
            assert got.item() == np.count_nonzero(n)
        assert usmx.count_nonzero(usmx.ones(size, dtype=char)).item() == size


@pytest.mark.parametrize("char", TYPES)
def test_places_of_extremes_are_the_first_ones(char: str) -> None:
    rng = np.random.default_rng(2)
    for size in SIZES:
        rows: list[Any] = [rng.integers(0, 4, size), np.arange(size) // 100, np.zeros(size)]
        if char in "fd":
            rows += [rng.normal(size=size), np.full(size, -np.inf), np.full(size, np.nan)]
            rows.append(np.where(rng.integers(0, 2, size), 0.0, -0.0))
        for number, row in enumerate(rows):
            n = row.astype(char)
            for place in (None, *places(size)):
                if place is not None and char in "fd":
                    n[place:][:1] = np.nan
                elif place is not None:
                    n[place] = 0 if place % 2 else 1
                x = usmx.asarray(n)
                assert usmx.argmax(x).item() == n.argmax(), (size, number, place)
                assert usmx.argmin(x).item() == n.argmin(), (size, number, place)
    square = usmx.asarray(n[:40_000].reshape(200, 200))
    assert usmx.argmax(square, keepdims=True).shape == (1, 1)


def test_results_are_where_the_array_is(kind: Any, queue: usmx.Queue) -> None:
    x = usmx.ones(50_000, usm_type=kind, queue=queue)
    for function in (usmx.any, usmx.all, usmx.count_nonzero, usmx.argmax):
        result = function(x)
        assert result.usm_type == kind
        assert result.queue == queue


def test_what_is_put_off_is_still_one_kernel() -> None:
    x = usmx.arange(50_000)
    assert "reduce" in str(usmx.explain(usmx.any(x > 49_998)))
    assert usmx.any(x > 49_998)
    assert not usmx.all(x[::2] > 0)
