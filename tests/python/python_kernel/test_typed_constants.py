"""Arithmetic of two constants of NumPy's types is that of their types, as in NumPy: C++ would join
two literals as `int`."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import warnings

import numpy as np
import pytest

import usmx

LARGE = np.int64(2_000_000_000)
SEVEN = np.uint32(7)
PAIR = (np.int64(70_000), np.uint32(5))


def integers(c, o):
    o[0] = LARGE + LARGE
    o[1] = np.int64(70_000) * np.int64(70_000)
    o[2] = SEVEN - 8
    o[3] = -SEVEN
    o[4] = 1 if SEVEN - 8 > 0 else 0
    o[5] = ~SEVEN
    o[6] = (SEVEN - 8) >> 4
    o[7] = LARGE * LARGE // LARGE
    o[8] = 1 if np.uint64(1) - np.uint64(2) > 0 else 0
    o[9] = PAIR[0] * PAIR[0]
    o[10] = PAIR[1] - np.uint32(6)
    o[11] = (LARGE if c > 0 else LARGE) * 2  # noqa: RUF034
    o[12] = np.int64(-2_000_000_000) * np.int64(2_000_000_000)
    o[13] = np.uint32(4_000_000_000) + np.uint32(4_000_000_000)
    o[14] = SEVEN.imag - 1


def floats(c, o):
    o[0] = float(SEVEN - 8)
    o[1] = float(LARGE + LARGE)
    o[2] = (SEVEN - 8) / np.float64(2)
    o[3] = np.float64(np.uint64(1) - np.uint64(2))


@pytest.mark.parametrize("simulated", [False, True], ids=["device", "simulator"])
@pytest.mark.parametrize(("function", "dtype"), [(integers, "int64"), (floats, "float64")])
def test_constants_have_their_types(function, dtype, simulated) -> None:
    expected = np.zeros(15, dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of unsigned numbers that wrap around
        function(1, expected)

    @usmx.kernel
    def kernel(item, c, o):
        function(c, o)

    found = usmx.zeros(15, dtype=dtype)
    with usmx.simulate() if simulated else contextlib.nullcontext(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kernel[1](1, found)
    assert found.to_numpy().tolist() == expected.tolist()
