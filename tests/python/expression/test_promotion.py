# Promotion without NumPy says what NumPy says: every pair and every three types, with and without
# Python's numbers.
# SPDX-License-Identifier: Apache-2.0
import itertools

import numpy as np
import pytest

from usmx import _usmx

NAMES = ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
TYPES = [np.dtype(name) for name in NAMES]
NUMBERS = [True, 3, 2.5, 1j]


def result(types, weak=()):
    own = [np.asarray(number).dtype for number in weak]
    return _usmx._Testing.result_type(
        [t.str for t in [*types, *own]],
        # A bool of Python is one of NumPy: it gives way to everything anyway.
        [False] * len(types) + [not isinstance(number, bool) for number in weak],
    )


def test_all_pairs_promote_as_in_numpy():
    wrong = [
        (a, b, got, want)
        for a, b in itertools.product(TYPES, TYPES)
        if (got := result([a, b])) != (want := np.result_type(a, b).str)
    ]
    assert wrong == []


def test_all_triples_promote_as_in_numpy():
    wrong = [
        (three, got, want)
        for three in itertools.product(TYPES, TYPES, TYPES)
        if (got := result(three)) != (want := np.result_type(*three).str)
    ]
    assert wrong == []


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_numbers_of_python_are_weak(number):
    wrong = [
        (a, got, want)
        for a in TYPES
        if (got := result([a], [number])) != (want := np.result_type(a, number).str)
    ]
    assert wrong == []


def test_numbers_alone_have_the_types_of_numpy():
    for some in itertools.product(NUMBERS, NUMBERS):
        assert result([], some) == np.result_type(*some).str
    for three in itertools.product(TYPES, NUMBERS, NUMBERS):
        assert result([three[0]], three[1:]) == np.result_type(*three).str


def test_records_have_no_common_type():
    assert result([np.dtype("V8"), np.dtype("f4")]) is None


def test_casts_of_the_same_kind_are_those_of_numpy():
    wrong = [
        (a, b)
        for a, b in itertools.product(TYPES, TYPES)
        if _usmx._Testing.can_cast_same_kind(a.str, b.str) != np.can_cast(a, b, "same_kind")
    ]
    assert wrong == []
