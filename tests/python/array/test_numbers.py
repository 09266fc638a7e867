# Functions of complex numbers and those made of several operations give what NumPy gives, also for
# infinities, NaN, signed zeros, and the largest and smallest numbers.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from depths import some
from together import compute_together

import usmx
from usmx._operations import BY_NAME

OF_COMPLEX = (
    "tan", "tanh", "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "expm1", "log1p",
    "log2", "log10", "exp2", "sign",
)  # fmt: skip
NUMBERS = "?bBhHiIqQefdFD"


def error_in_ulps(got: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """How far complex numbers are off, in units of the last place of their lengths."""
    eps = np.finfo(got.dtype).eps
    away = abs(got.astype("G") - wanted)
    return np.where(away == 0, 0, away / np.maximum(abs(wanted), np.finfo(got.dtype).tiny) / eps)


def exact(name: str, z: np.ndarray) -> np.ndarray:
    """Of longdouble, which has eleven bits more."""
    with np.errstate(all="ignore"):
        if name == "log1p":
            x, y = z.real.astype("g"), z.imag.astype("g")
            return np.log1p(x * (2 + x) + y * y) / 2 + 1j * np.arctan2(y, 1 + x)
        return getattr(np, name)(z.astype("G"))


@pytest.mark.parametrize("name", OF_COMPLEX)
def test_functions_of_complex_numbers_are_accurate(name: str) -> None:
    rng = np.random.default_rng(1)
    row = BY_NAME[name]
    for char in "FD":
        n = 20_000
        small = name in ("expm1", "exp2", "tan", "tanh", "log1p")
        lengths = 10.0 ** rng.uniform(-6, 1 if small else 6, n)
        z = (lengths * np.exp(2j * np.pi * rng.random(n))).astype(char)
        near = (rng.choice([1, -1, 1j, -1j, 0], n) + z / 2e6).astype(char)
        if name == "log1p":
            near = near[abs(near + 1) > 0.1]
        if name.startswith("log") and name != "log1p":
            near = near[abs(near) > 0]
        z = np.concatenate([z, near])
        got = getattr(usmx, name)(usmx.asarray(z)).to_numpy()
        wanted = exact(name, z)
        assert got.dtype == z.dtype
        worst = error_in_ulps(got, wanted).max()
        assert worst <= row.complex_ulps, (
            name,
            char,
            worst,
            z[error_in_ulps(got, wanted).argmax()],
        )


SPECIAL = (0.0, -0.0, 0.5, -2.0, 1.0, -1.0, 1e300, -1e300, 1e-310, math.inf, -math.inf, math.nan)
# NumPy's formulas are shorter: they lose infinities and the smallest numbers.
OPEN = {"expm1", "exp2", "log1p"}


@pytest.mark.parametrize("name", OF_COMPLEX)
def test_special_complex_numbers(name: str) -> None:
    z = np.array([complex(a, b) for a, b in itertools.product(SPECIAL, repeat=2)])
    with np.errstate(all="ignore"):
        wanted = getattr(np, name)(z)
    got = getattr(usmx, name)(usmx.asarray(z)).to_numpy()
    for given, ours, numpys in zip(z, got, wanted, strict=True):
        sizes = [abs(given.real), abs(given.imag)]
        if name in OPEN and any(not 1e-300 < v < 1e299 for v in sizes if v):
            continue
        # The real part of expm1 of zeros is +0 in the standard.
        real = abs(numpys.real) if name == "expm1" and given == 0 else numpys.real
        imag = numpys.imag
        # So is the sign of a zero in the limits of tangents that of the other part.
        if name == "tan" and math.isinf(given.imag):
            real = math.copysign(real, given.real)
        if name == "tanh" and math.isinf(given.real):
            imag = math.copysign(imag, given.imag)
        for a, b in ((ours.real, real), (ours.imag, imag)):
            same = (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-14)
            signs = math.isnan(a) or b != 0 or math.copysign(1, a) == math.copysign(1, b)
            assert same and signs, (name, given, ours, numpys)  # noqa: PT018


def test_limits_of_exponentials_and_logarithms() -> None:
    inf, nan = math.inf, math.nan
    # As the standard has them.
    cases = {
        "expm1": {complex(inf, 0): inf + 0j, complex(-inf, 1): -1 + 0j, 0j: 0j,
                  complex(-inf, inf): -1 + 0j, complex(-0.0, -0.0): complex(0.0, -0.0)},
        "log1p": {complex(-1, 0): complex(-inf, 0), complex(inf, 1): complex(inf, 0),
                  complex(-inf, inf): complex(inf, 3 * math.pi / 4), complex(nan, inf): inf,
                  complex(-inf, 1): complex(inf, math.pi)},
    }  # fmt: skip
    for name, values in cases.items():
        got = getattr(usmx, name)(usmx.asarray(np.array([*values]))).to_numpy()
        for (given, wanted), ours in zip(values.items(), got, strict=True):
            if math.isnan(given.real):
                assert ours.real == wanted.real, (name, given, ours)
            else:
                assert ours == pytest.approx(wanted, rel=1e-15), (name, given, ours)


def test_parts_and_angles() -> None:
    parts, angles = [], []
    for char in some(NUMBERS, 3):
        n = np.array([0, 1, 1, 0], char) if char == "?" else np.array([3, 0, 7, 1], char)
        if char in "FD":
            n = n * (1 - 2j)
            n = n.astype(char)
        x = usmx.asarray(n)
        for name in ("real", "imag"):
            wanted = getattr(np, name)(n)
            parts += [(getattr(usmx, name)(x), wanted), (getattr(x, name), wanted)]
        angles.append((usmx.angle(x), np.angle(n), 1e-3 if char in "?bBe" else 1e-6))
    compute_together([got for got, *_ in (*parts, *angles)])
    for got, wanted in parts:
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got.to_numpy(), wanted)
    for got, wanted, bound in angles:
        np.testing.assert_allclose(got.to_numpy(), wanted, bound)
    np.testing.assert_array_equal(np.real(usmx.asarray([1 + 2j])).to_numpy(), [1])


def test_logaddexp() -> None:
    values = np.array([0, -1.5, 3, 700, -800, 1e300, math.inf, -math.inf, math.nan])
    a, b = (v.reshape(-1).copy() for v in np.meshgrid(values, values))
    got = usmx.logaddexp(usmx.asarray(a), usmx.asarray(b)).to_numpy()
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(got, np.logaddexp(a, b), 1e-15)


def test_rounded_bools_are_float16_as_in_numpy() -> None:
    n = np.array([True, False])
    for got in (usmx.round(usmx.asarray(n)), np.around(usmx.asarray(n))):
        assert got.dtype == np.float16
        np.testing.assert_array_equal(got.to_numpy(), np.round(n))


@pytest.mark.parametrize("char", NUMBERS[1:])
def test_rounding_to_places_that_no_number_has_ends_at_once(char: str) -> None:
    n = np.array([1, 2, 3], char)
    for decimals in (400, 2**63):
        np.testing.assert_array_equal(usmx.round(usmx.asarray(n), decimals).to_numpy(), n)
        np.testing.assert_array_equal(usmx.round(usmx.asarray(n), -decimals).to_numpy(), 0 * n)


@pytest.mark.parametrize("char", NUMBERS[1:])
def test_round(char: str) -> None:
    rng = np.random.default_rng(2)
    if char in "bBhHiIqQ":
        n = rng.integers(np.iinfo(char).min, np.iinfo(char).max, 200, char, endpoint=True)
        n[:4] = [5, 15, 25, 35]
        assert usmx.round(usmx.asarray(n)).dtype == n.dtype
        np.testing.assert_array_equal(usmx.round(usmx.asarray(n), 2).to_numpy(), n)
        got = usmx.round(usmx.asarray(n // 2), -1).to_numpy()
        wanted = [round(int(v), -1) for v in n // 2]
        fits = [np.iinfo(char).min <= v <= np.iinfo(char).max for v in wanted]
        assert [int(v) for v, f in zip(got, fits, strict=True) if f] == [
            v for v, f in zip(wanted, fits, strict=True) if f
        ]
        return
    n = np.concatenate([rng.uniform(-99, 99, 200), [0.5, 1.5, -0.5, -2.5, -0.0]])
    n = (n + 1j * n[::-1] if char in "FD" else n).astype(char)
    x = usmx.asarray(n)
    made = [(usmx.round(x, decimals), decimals) for decimals in (0, 1, -1, 3)]
    whole = [x.round(), np.round(x)]
    compute_together([*(got for got, _ in made), *whole])
    for got, decimals in made:
        assert got.dtype == n.dtype
        wanted = np.round(n, decimals)
        np.testing.assert_allclose(got.to_numpy(), wanted, 2e-3 if char == "e" else 1e-6)
    for got in whole:
        np.testing.assert_array_equal(got.to_numpy(), np.round(n))


@pytest.mark.parametrize("char", "bBqQfd")
def test_clip(char: str) -> None:
    rng = np.random.default_rng(3)
    n = rng.integers(0, 100, (4, 5)).astype(char)
    x = usmx.asarray(n)
    lows = rng.integers(0, 50, 5).astype(char)
    made = []
    for low, high in (
        (20, 60),
        (None, 60),
        (20, None),
        (60, 20),
        (lows, 60),
        (lows, lows[::-1]),
        (None, None),
    ):
        wanted = n if low is None and high is None else np.clip(n, low, high)
        given = [usmx.asarray(v) if isinstance(v, np.ndarray) else v for v in (low, high)]
        made.append((usmx.clip(x, *given), wanted))
    made += [(np.clip(x, 20, 60), np.clip(n, 20, 60)), (x.clip(max=9), n.clip(max=9))]
    compute_together(got for got, _ in made)
    for got, wanted in made:
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got.to_numpy(), wanted)
    out = usmx.empty_like(x)
    assert usmx.clip(x, min=3, out=out) is out
    np.testing.assert_array_equal(out.to_numpy(), n.clip(3))
    copied = usmx.clip(x)
    copied[...] = 0
    np.testing.assert_array_equal(x.to_numpy(), n)


def test_clip_at_limits() -> None:
    x = usmx.asarray(np.array([-128, 0, 127], "i1"))
    assert usmx.clip(x, -1000, 1000).tolist() == [-128, 0, 127]
    assert usmx.clip(x, min=-1000, max=5).tolist() == [-128, 0, 5]
    with pytest.raises(OverflowError):
        usmx.clip(x, min=1000)
    y = usmx.asarray([1.0, math.nan, math.inf])
    np.testing.assert_array_equal(usmx.clip(y, 2, 3).to_numpy(), [2, math.nan, 3])
    assert usmx.clip(usmx.zeros((0, 3)), 1, 2).shape == (0, 3)


def test_isclose_and_allclose() -> None:
    values = np.array([0, 1, 1 + 1e-6, 1e10, math.inf, -math.inf, math.nan])
    a, b = (v.copy() for v in np.meshgrid(values, values))
    for keywords in ({}, {"rtol": 0.1}, {"atol": 2.0}, {"equal_nan": True}):
        got = usmx.isclose(usmx.asarray(a), usmx.asarray(b), **keywords).to_numpy()
        np.testing.assert_array_equal(got, np.isclose(a, b, **keywords))
    whole = np.array([1, 200, 3], "u1")
    assert usmx.isclose(usmx.asarray(whole), usmx.asarray(whole[::-1].copy())).tolist() == [
        False,
        True,
        False,
    ]
    z = usmx.asarray([1 + 1j, 2.0])
    assert usmx.allclose(z, z * (1 + 1e-9)) is True
    assert usmx.allclose(z, z + 1) is False
    assert usmx.allclose(usmx.zeros(0), 1.0) is True
    assert np.allclose(z, z) is True


@pytest.mark.parametrize("char", "iefdFD")
def test_nan_to_num(char: str) -> None:
    n = np.array([1, 2, 3] if char == "i" else [1, math.nan, math.inf, -math.inf]).astype(char)
    if char in "FD":
        n = np.array([1 + 2j, complex(math.nan, 1), complex(math.inf, -math.inf)]).astype(char)
    x = usmx.asarray(n)
    np.testing.assert_array_equal(usmx.nan_to_num(x).to_numpy(), np.nan_to_num(n))
    keywords = {"nan": 7.0, "posinf": 8.0, "neginf": 9.0}
    np.testing.assert_array_equal(
        usmx.nan_to_num(x, **keywords).to_numpy(), np.nan_to_num(n, **keywords)
    )
    assert usmx.nan_to_num(x, copy=False) is x
    np.testing.assert_array_equal(x.to_numpy(), np.nan_to_num(n))


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(TypeError, match="a: expected an array, got object"):
        usmx.round(object())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"out: is of type ndarray; expected a usmx\.ndarray"):
        usmx.round(usmx.zeros(2), out=np.zeros(2))  # type: ignore[arg-type]
    with pytest.raises(AttributeError, match="nothing"):
        usmx.zeros(2).nothing  # noqa: B018


@pytest.mark.parametrize("char", NUMBERS[1:-2])
def test_divmod_and_modf_give_pairs_with_numpys_values_and_types(char: str) -> None:
    values = [0, 1, 2.5, 7, 100] + [-1, -2.5, -0.0] * (char not in "BHIQ")
    values += [math.inf, -math.inf, math.nan, 1e4] * (char in "efd")
    a = np.array(values).astype(char)
    x = usmx.asarray(a)
    with np.errstate(all="ignore"):
        pairs = [(np.modf(x), np.modf(a)), (usmx.modf(x), np.modf(a))]
        # Of infinities `//` gives what the standard prefers; test_standard.py has these.
        finite = a[~np.isinf(a)]
        y = usmx.asarray(finite)
        for by in (2, np.array(3, char), finite[::-1]):
            theirs = usmx.asarray(by) if isinstance(by, np.ndarray) else by
            pairs.append((np.divmod(y, theirs), np.divmod(finite, by)))
            pairs.append((usmx.divmod(y, theirs), np.divmod(finite, by)))
    for got, want in pairs:
        assert isinstance(got, tuple)
        for g, w in zip(got, want, strict=True):
            assert isinstance(g, usmx.ndarray)
            assert g.dtype == w.dtype
            number = ~np.isnan(w)
            np.testing.assert_array_equal(g.to_numpy(), w)
            np.testing.assert_array_equal(
                np.signbit(g.to_numpy().astype("d"))[number], np.signbit(w.astype("d"))[number]
            )


def test_numbers_that_have_no_order_have_no_modf() -> None:
    z = usmx.ones(2, dtype="complex64")
    with pytest.raises(TypeError, match="complex64"):
        usmx.modf(z)
    with pytest.raises(TypeError, match="complex64"):
        np.divmod(z, 2)


@pytest.mark.parametrize("char", "FD")
@np.errstate(invalid="ignore")
def test_complex_numbers_compare_by_their_real_parts_first(char: str) -> None:
    parts = [0.0, -0.0, 1.0, -2.0, math.inf, -math.inf, math.nan]
    z = np.array([complex(a, b) for a in parts for b in parts]).astype(char)
    a, b = z[:, None], z[None, :]
    names = ["less", "less_equal", "greater", "greater_equal"]
    x, y = usmx.asarray(a), usmx.asarray(b)
    for name in names:
        want = getattr(np, name)(a, b)
        np.testing.assert_array_equal(getattr(np, name)(x, y).to_numpy(), want, err_msg=name)

    @usmx.fuse
    def together(p, q):
        return p < q, p <= q, p > q, p >= q, p < 1, q >= 1j

    want = [a < b, a <= b, a > b, a >= b, np.broadcast_to(a < 1, (len(z),) * 2)]
    got = together(x, y)
    for g, w in zip(got, want, strict=False):
        np.testing.assert_array_equal(np.broadcast_to(g.to_numpy(), w.shape), w)
    np.testing.assert_array_equal(
        np.broadcast_to(got[5].to_numpy(), (len(z),) * 2), np.broadcast_to(b >= 1j, (len(z),) * 2)
    )


@pytest.mark.parametrize("values", [{1, 2}, "12", {"a": 1}])
def test_operands_of_other_types_are_named_with_their_function(values: object) -> None:
    x = usmx.ones(2)
    for call, place in [
        (lambda: usmx.add(x, values), "argument 1 of add"),
        (lambda: usmx.add(values, x), "argument 0 of add"),
        (lambda: usmx.special.erf(values), "argument 0 of erf"),
        (lambda: np.add(x, values), "argument 1 of add"),
    ]:
        with pytest.raises(TypeError, match=rf"^{place}: is of type \w+; .*usmx.asarray\(x\)"):
            call()


#: Around the borders of the normal numbers of each type, and beyond them.
BORDERS = {
    "e": [2.0**-24, 3 * 2.0**-24, 2.0**-14, 65504.0, 0.1],
    "f": [2.0**-149, 5 * 2.0**-147, 2.0**-126, 3.4e38, 0.1],
    "d": [5e-324, 7 * 2.0**-1070, 2.0**-1022, 1.7e308, 0.1],
}


@pytest.mark.parametrize("char", NUMBERS[1:-2])
def test_frexp_and_ldexp_have_numpys_bits_and_types(char: str) -> None:
    values = [0, 1, 2.5, 7, 100] + [-1, -2.5, -0.0] * (char not in "BHIQ")
    values += [math.inf, -math.inf, math.nan, *BORDERS.get(char, [])] * (char in "efd")
    a = np.array(values).astype(char)
    x = usmx.asarray(a)
    for got, want in zip((*np.frexp(x), *usmx.frexp(x)), np.frexp(a) * 2, strict=True):
        assert isinstance(got, usmx.ndarray)
        assert got.dtype == want.dtype
        same_bits(got.to_numpy(), want)
    powers = np.array([0, 1, -1, 3, -20, 24, -149, 127, -1074, 1023, 2500, -2500, 2**31 - 1], "i4")
    with np.errstate(all="ignore"):
        for by in (powers[:, None], powers.astype("i8")[:, None], powers[:5, None].astype("i1")):
            same_bits(np.ldexp(x, usmx.asarray(by)).to_numpy(), np.ldexp(a, by))
        for number in (0, 3, -7, 10**6, -(10**6)):
            got, want = usmx.ldexp(x, number), np.ldexp(a, number)
            assert got.dtype == want.dtype
            same_bits(got.to_numpy(), want)
    assert usmx.ldexp(usmx.ones(1), 10**30).to_numpy().tolist() == [math.inf]


def same_bits(got: Any, want: Any) -> None:
    np.testing.assert_array_equal(got, want)
    number = ~np.isnan(want)
    np.testing.assert_array_equal(
        np.signbit(got.astype("d"))[number], np.signbit(want.astype("d"))[number]
    )


def test_what_ldexp_and_frexp_refuse() -> None:
    x = usmx.ones(2)
    with pytest.raises(TypeError, match="x2: expected integers that fit into int64, got float64"):
        usmx.ldexp(x, x)
    with pytest.raises(TypeError, match="x2: expected integers that fit into int64, got uint64"):
        np.ldexp(x, usmx.ones(2, dtype="uint64"))
    with pytest.raises(TypeError, match="x: expected real numbers, got complex128"):
        np.frexp(usmx.ones(2, dtype="complex128"))


@pytest.mark.parametrize("kind", ["device", "shared"])
def test_parts_of_complex_numbers_are_views(kind: Any) -> None:
    for char in "FD":
        host = (np.arange(12) + 1j * np.arange(12)[::-1]).astype(char).reshape(3, 4)
        x = usmx.asarray(host, usm_type=kind)
        for view, same in ((x, host), (x.T[::-1, 1:], host.T[::-1, 1:]), (x[:0], host[:0])):
            np.testing.assert_array_equal(view.real.to_numpy(), same.real)
            np.testing.assert_array_equal(view.imag.to_numpy(), same.imag)
            assert view.real.dtype == same.real.dtype
        x.real[0], host.real[0] = 7, 7
        x.T.imag[1:3] -= 2
        host.T.imag[1:3] -= 2
        x[1].real = host[1].real = [4, 3, 2, 1]
        x[..., 0].imag = 9
        host[..., 0].imag = 9
        np.testing.assert_array_equal(x.to_numpy(), host)
        later = x * 2
        later.real[:] = 0
        np.testing.assert_array_equal(later.to_numpy(), 2j * host.imag)


def test_parts_of_real_numbers() -> None:
    x = usmx.asarray([1.0, 2.0])
    x.real[0] = 5
    assert x.tolist() == [5, 2]
    assert x.imag.tolist() == [0, 0]
    with pytest.raises(ValueError, match="read-only"):
        x.imag[0] = 1
    with pytest.raises(TypeError, match="imag: the elements are of float64 and have no imaginary"):
        x.imag = 1
