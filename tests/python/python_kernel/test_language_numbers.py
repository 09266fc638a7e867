"""Functions of Python's library in kernels that give several values or need statements, sums, and
enumerations."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import cmath
import contextlib
import enum
import math

import numpy as np
import pytest
from language_run import DTYPES, expected, given, run

import usmx

both = pytest.mark.parametrize("simulated", [False, True], ids=["device", "simulator"])


def mode(simulated):
    return usmx.simulate() if simulated else contextlib.nullcontext()


class Weight(enum.Enum):
    HEAVY = 2.5
    LIGHT = 0.25


class Half(float, enum.Enum):
    ONE = 0.5


class Way(enum.IntEnum):
    LEFT = 1
    RIGHT = 2


CHOSEN = Weight.LIGHT
PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


@program
def sums(x, m, i):
    return sum(x) + sum(m[i]) * 0 + sum((x[i], 2, 0.5)) + sum(x, 2) - sum((1, i), start=i)


@program
def enumerations(x, m, i):
    s = x[i] * Weight.HEAVY.value + Half.ONE + Half.ONE.value * 2 + Way.RIGHT + Way.LEFT.value
    if CHOSEN is Weight.LIGHT and CHOSEN != Weight.HEAVY and i == Way.LEFT:
        s += 1
    return s


@both
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_python_gives(name, dtype, simulated):
    x, m = given(dtype, "C")
    function = PROGRAMS[name]
    assert run(function, x, m, simulated).tolist() == expected(function, x, m)


VALUES = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    2.5,
    3.75,
    -7.25,
    1e-3,
    6.1e-5,
    100.5,
    math.inf,
    -math.inf,
    math.nan,
]


@usmx.kernel
def parts(item, x, out):
    i = item.get_id(0)
    f, w = math.modf(x[i])
    m, e = math.frexp(x[i])
    out[i, 0], out[i, 1], out[i, 2], out[i, 3] = f, w, m, e
    out[i, 4] = math.remainder(x[i], x[0])
    out[i, 5] = math.ldexp(x[i], 3)
    out[i, 6] = math.ldexp(x[i], -3)


def same(got, want):
    np.testing.assert_array_equal(got, want)
    assert np.signbit(got).tolist() == np.signbit(want).tolist()


@both
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_parts_of_numbers_are_exact(dtype, simulated):
    for first in (2.5, 0.3, math.inf):
        x = np.asarray([first, *VALUES], dtype)
        out = usmx.zeros((len(x), 7), dtype="float64")
        with mode(simulated):
            parts[len(x)](usmx.asarray(x), out).wait()
        for row, value in zip(out.to_numpy(), x.tolist(), strict=True):
            least = math.nan
            if math.isfinite(value):
                least = math.remainder(value, float(x[0]))
            scaled = [np.asarray(math.ldexp(value, n)).astype(dtype) for n in (3, -3)]
            want = [*math.modf(value), *math.frexp(value)]
            same(row[:4], np.asarray(want))
            np.testing.assert_array_equal(row[4:], np.asarray([least, *scaled], "float64"))


@both
def test_ldexp_rounds_once_where_numbers_end(simulated):
    @usmx.kernel
    def kernel(item, x, by, out):
        i = item.get_id(0)
        out[i] = math.ldexp(x[i], by[i])

    x = np.asarray([1.5, 0.75, -1.25, 5e-324, 1.0, 1.7, 1.0000000000000002, 3.0])
    by = np.asarray([-1074, -1073, -1075, 1074, -5000, 1023, -1060, -1076])
    out = usmx.zeros(len(x), dtype="float64")
    with mode(simulated):
        kernel[len(x)](usmx.asarray(x), usmx.asarray(by), out).wait()
    want = [math.ldexp(a, n) for a, n in zip(x.tolist(), by.tolist(), strict=True)]
    assert out.to_numpy().tolist() == want


@both
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_round_to_digits_is_numpys(dtype, simulated):
    @usmx.kernel
    def kernel(item, x, out):
        i = item.get_id(0)
        out[i, 0] = round(x[i], 2)
        out[i, 1] = round(x[i], 0)

    x = np.asarray([1.005, 2.675, -0.125, 0.375, 1234.5678, 2.5, 3.5], dtype)
    out = usmx.zeros((len(x), 2), dtype=dtype)
    with mode(simulated):
        kernel[len(x)](usmx.asarray(x), out).wait()
    assert out.to_numpy().T.tolist() == [np.round(x, 2).tolist(), np.round(x, 0).tolist()]


@both
def test_functions_of_complex_numbers_give_what_cmath_gives(simulated):
    @usmx.kernel
    def kernel(item, z, out):
        i = item.get_id(0)
        a = z[i]
        r, phi = cmath.polar(a)
        out[i, 0] = cmath.rect(r, phi)
        out[i, 1] = cmath.log(a, 2.0)
        out[i, 2] = cmath.log10(a)
        out[i, 3] = complex(r, phi)
        out[i, 4] = 1 if cmath.isfinite(a) else 0
        out[i, 5] = 1 if cmath.isnan(a) or cmath.isinf(a) else 0

    z = np.asarray([1 + 2j, -3 + 0.5j, 0.1 - 4j])
    out = usmx.zeros((len(z), 6), dtype="complex128")
    with mode(simulated):
        kernel[len(z)](usmx.asarray(z), out).wait()
    want = [
        [cmath.rect(*cmath.polar(a)), cmath.log(a, 2.0), cmath.log10(a), complex(*cmath.polar(a)),
         1, 0]
        for a in z.tolist()
    ]  # fmt: skip
    np.testing.assert_allclose(out.to_numpy(), want, rtol=1e-14)


@both
def test_members_of_enumerations_are_arguments(simulated):
    @usmx.kernel
    def kernel(item, way, weight, half, out):
        out[0] = way + 1
        out[1] = weight.value if weight is Weight.HEAVY else -1
        out[2] = half

    out = usmx.zeros(3, dtype="float64")
    with mode(simulated):
        kernel[1](Way.RIGHT, Weight.HEAVY, Half.ONE, out).wait()
        assert out.to_numpy().tolist() == [3, 2.5, 0.5]
        kernel[1](Way.LEFT, Weight.LIGHT, Half.ONE, out).wait()
        assert out.to_numpy().tolist() == [2, -1, 0.5]


OF_CMATH = [
    name
    for name in dir(cmath)
    if callable(getattr(cmath, name)) and name not in ("polar", "rect", "isclose")
    if not name.startswith("_")
]
PARTS = (-3.5, -1.0, -0.5, -0.0, 0.0, 1e-8, 0.25, 1.0, 2.0)


@pytest.mark.parametrize("simulated", [False, True], ids=["device", "simulator"])
@pytest.mark.parametrize("name", OF_CMATH)
def test_functions_of_cmath_have_the_values_of_python_also_on_branch_cuts(name, simulated):
    function = getattr(cmath, name)
    numbers, want = [], []
    for z in (complex(a, b) for a in PARTS for b in PARTS):
        try:
            want.append(complex(function(z)))
        except ValueError:
            continue  # a pole: kernels give infinities
        numbers.append(z)

    @usmx.kernel(simulate=simulated)
    def kernel(item, x, out):
        i = item.get_id(0)
        out[i] = function(x[i])

    out = usmx.zeros(len(numbers), dtype="complex128")
    kernel[len(numbers)](usmx.asarray(numbers), out)
    for z, got, wanted in zip(numbers, out.to_numpy(), want, strict=True):
        assert abs(got - wanted) <= 16 * 2.0**-52 * abs(wanted), z
        for part in ("real", "imag"):
            a, b = getattr(got, part), getattr(wanted, part)
            if abs(b) > 1e-3 * abs(wanted):
                assert math.copysign(1, a) == math.copysign(1, b), z


@pytest.mark.parametrize("simulated", [False, True], ids=["device", "simulator"])
def test_isclose_compares_as_python_does(simulated):
    @usmx.kernel(simulate=simulated)
    def kernel(item, x, y, out):
        i = item.get_id(0)
        out[i, 0] = cmath.isclose(x[i], y[i])
        out[i, 1] = cmath.isclose(x[i], y[i], rel_tol=0.5, abs_tol=0.1)
        out[i, 2] = math.isclose(x[i].real, y[i].real, abs_tol=1e-3)

    infinity = complex(math.inf, 0)
    x = [1, 1 + 1e-10j, 0, 1e-12, 3j, infinity, infinity, complex(math.nan), 1e-3]
    y = [1, 1, 1e-3, 0, 5j, infinity, 1, complex(math.nan), 0]
    out = usmx.zeros((len(x), 3), dtype="int32")
    x, y = np.array(x, "complex128"), np.array(y, "complex128")
    kernel[len(x)](usmx.asarray(x), usmx.asarray(y), out)
    for a, b, row in zip(x, y, out.to_numpy(), strict=True):
        want = [cmath.isclose(a, b), cmath.isclose(a, b, rel_tol=0.5, abs_tol=0.1)]
        assert row.tolist() == [*want, math.isclose(a.real, b.real, abs_tol=1e-3)], (a, b)


@pytest.mark.parametrize("simulated", [False, True], ids=["device", "simulator"])
def test_constants_of_cmath_are_numbers(simulated):
    @usmx.kernel(simulate=simulated)
    def kernel(item, out):
        out[0] = cmath.pi + cmath.e * 1j
        out[1] = cmath.infj * 1
        out[2] = cmath.nanj
        out[3] = cmath.tau + cmath.inf

    out = usmx.zeros(4, dtype="complex128")
    kernel[1](out)
    a, b, c, d = out.to_numpy()
    assert a == cmath.pi + cmath.e * 1j
    assert math.isinf(b.imag)
    assert math.isnan(c.imag)
    assert math.isinf(d.real)


@usmx.kernel
def integers(item, x, out, unsigned):
    i = item.get_id(0)
    out[i, 0], out[i, 1], out[i, 2] = int(x[i]), math.floor(x[i]), round(x[i])
    out[i, 3] = usmx.int64(x[i])
    unsigned[i] = usmx.uint64(abs(x[i]))


@both
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_floats_of_all_sizes_become_integers_of_64_bits(dtype, simulated):
    powers = [0.3, 1.0, 1.5, 2.5, 1e3, 2.0**24 - 1, 2.0**31 - 200, 2.0**31 - 0.5, 2.0**31]
    powers += [2.0**31 + 0.5, 2.0**32 + 4096, 1e11 + 0.25, 2.0**52 + 0.5, 2.0**53, 1.7e17, 2.0**62]
    limit = {"float16": 65504.0, "float32": math.inf, "float64": math.inf}[dtype]
    x = np.array([s * v for v in powers if v < limit for s in (1, -1)] + [0.0, -0.0], dtype)
    out = usmx.zeros((len(x), 4), dtype="int64")
    unsigned = usmx.zeros(len(x), dtype="uint64")
    with mode(simulated):
        integers[len(x)](usmx.asarray(x), out, unsigned).wait()
    for row, size, v in zip(out.to_numpy().tolist(), unsigned.to_numpy().tolist(), x, strict=True):
        value = float(v)
        assert row == [int(value), math.floor(value), round(value), int(value)]
        assert size == int(abs(value))


def test_the_largest_floats_become_unsigned_integers():
    cast = usmx.ElementwiseKernel("T x", "uint64 y", "y = to_integer<uint64_t>(x)", "largest")
    for dtype, last in (("float32", 2.0**64 - 2.0**40), ("float64", 2.0**64 - 2.0**11)):
        x = np.array([2.0**63, 2.0**63 + 2.0**40, last], dtype)
        assert cast(usmx.asarray(x)).to_numpy().tolist() == [int(v) for v in x]


@both
def test_conditions_between_literals_are_operands_of_functions(simulated):
    @usmx.kernel
    def chosen(item, x, out):
        i = item.get_id(0)
        out[i, 0] = math.gcd(12 if x[i] > 2 else 18, x[i])
        out[i, 1] = math.lcm((4 if x[i] > 2 else 6) & 7, x[i])
        out[i, 2] = np.minimum(3 if x[i] > 2 else 1, x[i])

    x = usmx.arange(1, 5)
    out = usmx.zeros((4, 3), dtype="int64")
    with mode(simulated):
        chosen[4](x, out).wait()
    want = [
        [
            math.gcd(12 if v > 2 else 18, v),
            math.lcm(4 if v > 2 else 6, v),
            min(3 if v > 2 else 1, v),
        ]
        for v in range(1, 5)
    ]
    assert out.to_numpy().tolist() == want


AXIS, LAST, TWO, STEP = np.int64(0), np.int64(-1), np.uint8(2), np.int32(-1)
FLOAT_AXIS = np.float32(0)


@both
def test_a_global_number_of_numpy_is_known_where_only_its_value_counts(simulated):
    # numba-dpex's programs name dimensions and indices so.
    @usmx.kernel
    def k(item, m, out):
        i = item.get_id(AXIS)
        rows, columns = m.shape
        pair = (rows, columns)
        local = usmx.private.array(TWO, usmx.int64)
        local[AXIS] = m[i, LAST]
        local[LAST] = pair[LAST] * 100 + m.shape[LAST] * 10 + pair[AXIS]
        for j in range(TWO, AXIS, STEP):
            local[AXIS] += j
        out[i, 0], out[i, 1] = local[0], local[1]

    m, out = usmx.arange(12).reshape(4, 3), usmx.zeros((4, 2), dtype="int64")
    with mode(simulated):
        k[4](m, out)
    assert out.tolist() == [[3 * i + 5, 334] for i in range(4)]


@both
def test_a_dimension_may_be_a_float_and_other_places_not(simulated):
    @usmx.kernel
    def k(item, out):
        out[item.get_id(FLOAT_AXIS)] = item.get_id(0.0)

    @usmx.kernel
    def wrong(item, out):
        out[item.get_id(0.5)] = 1

    out = usmx.zeros(4, dtype="int64")
    with mode(simulated):
        k[4](out)
        with pytest.raises(usmx.KernelError, match=r"a dimension is 0.5; expected an int"):
            wrong[4](out)
    assert out.tolist() == [0, 1, 2, 3]


@both
@pytest.mark.parametrize("count", [3, np.int8(3), np.int32(63), np.uint64(64), np.int64(-1)])
def test_an_unsigned_number_is_shifted_by_a_signed_one(simulated, count):
    @usmx.kernel
    def k(item, x, count, out):
        out[0] = x[0] >> count
        out[1] = x[0] << count
        out[2] = (x[0] >> count).dtype == usmx.uint64

    x = usmx.asarray(np.array([2**63 + 24], "uint64"))
    out = usmx.zeros(3, dtype="uint64")
    with mode(simulated):
        k[1](x, count, out)
    n, inside = int(count), 0 <= int(count) < 64
    value = 2**63 + 24
    assert out.tolist() == [value >> n if inside else 0, (value << n) % 2**64 if inside else 0, 1]


@pytest.mark.parametrize("simulated", [False, True])
def test_an_integer_to_a_negative_power_is_0_unless_the_power_is_known(simulated):
    @usmx.kernel
    def k(item, x, n, base, out):
        i = item.get_id(0)
        out[0] = x[0] ** n
        out[1] = x[0] ** x[1]
        out[2] = base**n
        out[3] = pow(base, n)
        out[4] = x[2] ** n
        m = base - 2
        m **= x[1] + 1
        out[5] = m
        out[6] = (i + 2) ** -1
        out[7] = (i + 2.0) ** n
        p = i + 2
        p **= -1
        out[8] = p

    x = usmx.asarray([2, -1, 1])
    out = usmx.zeros(9, dtype="float64")
    with mode(simulated):
        k[1](x, -1, 2, out)
    assert out.tolist() == [0, 0, 0, 0, 0, 1, 0.5, 0.5, 0.5]
