# Special functions of the device at points whose values were computed with 40 digits (mpmath), in
# units in the last place: of the value, or of functions that oscillate of the largest of 1 and it.
# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from backend_row import ROW
from special_points import POINTS

import usmx

#: As CUDA names some of them.
NAMES = {
    **{name: name for name in ("erfinv", "erfcinv", "erfcx", "j0", "j1", "y0", "y1")},
    **{name: name for name in ("sinpi", "cospi", "exp10")},
    "normcdf": "ndtr",
    "normcdfinv": "ndtri",
    "cyl_bessel_i0": "i0",
    "cyl_bessel_i1": "i1",
}

#: The largest error of 300 random points on the CPU device, rounded up: units in the
#: last place for float64 and float32.
ULPS = {
    "erfinv": (1, 2),
    "erfcinv": (2, 2),
    "erfcx": (2, 2),
    "normcdf": (1, 2),
    "normcdfinv": (2, 2),
    "j0": (2, 4),
    "j1": (1, 2),
    "y0": (5, 5),
    "y1": (1, 2),
    "cyl_bessel_i0": (2 if ROW.groups_are_loops else 3, 3),
    "cyl_bessel_i1": (5, 8),
    "sinpi": (1, 1),
    "cospi": (2, 1),
    "exp10": (1, 1),
}
OSCILLATING = {"j0", "j1", "y0", "y1", "sinpi", "cospi"}


def values_of(name, x):
    k = usmx.ElementwiseKernel("T x", "T z", f"z = {name}(x)", "special")
    return k(usmx.asarray(x)).to_numpy()


def ulps_of(name, dtype):
    x, wanted = np.array(POINTS[NAMES[name]], "f8").T
    got = values_of(name, x.astype(dtype)).astype("f8")
    size = np.maximum(np.abs(wanted), 1) if name in OSCILLATING else np.abs(wanted)
    unit = np.maximum(size, np.finfo(dtype).smallest_normal) * np.finfo(dtype).eps
    return np.abs(got - wanted) / unit


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", NAMES)
def test_special_functions_are_as_exact_as_measured(name, dtype):
    ulps = ulps_of(name, dtype)
    assert ulps.max() <= ULPS[name][dtype == "float32"], dict(
        zip(POINTS[NAMES[name]], ulps, strict=True)
    )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_special_functions_at_their_limits(dtype):
    inf, nan = math.inf, math.nan
    limits = {
        "erfinv": {0: 0, 1: inf, -1: -inf, 2: nan, nan: nan},
        "erfcinv": {0: inf, 1: 0, 2: -inf, 3: nan, nan: nan},
        "erfcx": {-100: inf, inf: 0, nan: nan},
        "normcdf": {-inf: 0, inf: 1, nan: nan},
        "normcdfinv": {0: -inf, 0.5: 0, 1: inf, 2: nan, nan: nan},
        "j0": {inf: 0, -inf: 0, nan: nan},
        "j1": {0: 0, inf: 0, nan: nan},
        "y0": {0: -inf, -1: nan, inf: 0, nan: nan},
        "y1": {0: -inf, -1: nan, inf: 0, nan: nan},
        "cyl_bessel_i0": {inf: inf, -inf: inf, nan: nan},
        "cyl_bessel_i1": {0: 0, inf: inf, -inf: -inf, nan: nan},
        "sinpi": {0: 0, 7: 0, inf: nan, nan: nan},
        "cospi": {0.5: 0, 1: -1, 1e9: 1, inf: nan, nan: nan},
    }
    for name, rows in limits.items():
        got = values_of(name, np.array(list(rows), dtype))
        np.testing.assert_array_equal(got, np.array(list(rows.values()), dtype), err_msg=name)


def test_bessel_functions_of_higher_order_and_pairs():
    k = usmx.ElementwiseKernel(
        "T x, int32 n", "T z, T s, T c", "z = yn(n, x); sincos(x, &s, &c)", "pairs"
    )
    x = np.array([0.5, 3.0, 20.0])
    order = {n: [each.to_numpy() for each in k(usmx.asarray(x), n)] for n in (-1, 0, 1, 2, 3)}
    for n in (1, 2):
        # Their recurrence: the sum of both neighbours is 2 n / x times the one between.
        np.testing.assert_allclose(
            order[n - 1][0] + order[n + 1][0], 2 * n / x * order[n][0], rtol=1e-12, atol=1e-14
        )
    np.testing.assert_array_equal(order[-1][0], -order[1][0])
    np.testing.assert_allclose(order[0][1:], [np.sin(x), np.cos(x)], rtol=1e-15, atol=1e-16)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_parts_of_numbers_are_written_through_pointers(dtype):
    k = usmx.ElementwiseKernel(
        "T x",
        "T m, int32 e, T f, T w, T z",
        "int power; m = frexp(x, &power); e = power;"
        "T whole; f = modf(x, &whole); w = whole; z = ldexp(x, 3) + scalbn(x, -1)",
        "parts_of_numbers",
    )
    x = np.array([0.0, -0.0, 1.0, -2.75, 100.5, math.inf, -math.inf], dtype)
    m, e, f, w, z = [each.to_numpy() for each in k(usmx.asarray(x))]
    for got, want in zip((m, e, f, w), (*np.frexp(x), *np.modf(x)), strict=True):
        np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(np.signbit(got), np.signbit(want))
    np.testing.assert_array_equal(z, np.ldexp(x, 3) + np.ldexp(x, -1))
