"""Comparisons with Python's numbers in fused functions are NumPy's: right for every int, also for
those that the type of the array does not hold (NEP 50)."""

# SPDX-License-Identifier: Apache-2.0
import operator

import numpy as np
import pytest

import usmx

SIGNS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]
INTS = [-(2**70), -(2**63) - 1, -(2**63), -129, -1, 0, 127, 255, 256, 300, 2**31, 2**53 + 1,
        2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30]  # fmt: skip
FLOATS = [float("inf"), float("-inf"), float("nan"), 0.5, -0.0]


def both_sides(x, c):
    return tuple(made for sign in SIGNS for made in (sign(x, c), sign(c, x)))


def array_of(dtype):
    t = np.dtype(dtype)
    if t.kind in "iu":
        return np.array([np.iinfo(t).min, np.iinfo(t).max, 0, 1, 100], t)
    return np.array([-1, 0, 1, 100], t)


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")  # NumPy's, of float16
@pytest.mark.parametrize("dtype", [*"bhiqBHIQ", "e", "f", "d"])
def test_constants_and_arguments_of_any_size_are_compared_by_value(dtype):
    a = array_of(dtype)
    x = usmx.asarray(a)
    of_argument = usmx.fuse(both_sides)
    numbers = INTS + FLOATS
    # All constants are one kernel.
    of_constants = usmx.fuse(lambda x: tuple(one for c in numbers for one in both_sides(x, c)))
    made = of_constants(x)
    wanted = [one.tolist() for c in numbers for one in both_sides(a, c)]
    assert [one.tolist() for one in made] == wanted
    for c in numbers:
        assert [one.tolist() for one in of_argument(x, c)] == [
            one.tolist() for one in both_sides(a, c)
        ]


def test_bools_are_compared_as_ints():
    x = usmx.asarray([False, True])
    for c in (-1, 0, 1, 2, 300, 2**63, 2**70, -(2**70)):
        for made in (usmx.fuse(both_sides)(x, c), usmx.fuse(lambda x, c=c: both_sides(x, c))(x)):
            wanted = [np.array(one).tolist() for one in both_sides(np.array([0, 1], object), c)]
            assert [one.tolist() for one in made] == wanted


def test_the_function_of_numpy_and_in_place_uses_are_the_same():
    x = usmx.asarray(np.array([1, 255], "u1"))
    fused = usmx.fuse(lambda x: np.where(np.less(x, 300) & (x != -1), x, 0))
    assert fused(x).tolist() == [1, 255]
    assert fused(x).dtype == np.uint8


def test_arithmetic_with_ints_that_do_not_fit_is_refused_as_by_numpy():
    x = usmx.asarray(np.array([1], "u1"))
    for c in (300, -1, 2**63, 2**70):
        with pytest.raises(OverflowError):
            usmx.fuse(lambda x, c=c: x + c)(x)
        with pytest.raises(OverflowError):
            usmx.fuse(lambda x, c: x + c)(x, c)
