"""Bools of Python are ints in arithmetic, bools of arrays are NumPy's: kernels and the simulator
compute what Python computes with an int of Python and scalars of NumPy."""

# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from depths import some

import usmx

EXPRESSIONS = [
    # Python's: literals, arguments, comparisons of ids and numbers, `not`, bool().
    "True + True", "(1 < 2) + (2 < 3)", "(i >= 0) + (i < 5)", "(i >= 0) - (i < 5)",
    "(i >= 0) * (i < 5)", "(0 < i + 1 < 9) + t", "(i in (0, 1)) + (i in (1, 2))",
    "t // t", "t % t", "t ** t", "t ** 3", "t / t", "t << t", "t << 3", "(t << 4) >> t",
    "~t", "~f", "-t", "+t", "-(t + t)", "abs(t)", "sum((t, t, f, t))", "t + 1", "t * 2.5", "t - f",
    "max(t, f) + t", "min(t, f) + t", "(t & t) + t", "(t | f) + t", "(t ^ f) + t",
    "(not f) + (not f)", "bool(i + 1) + bool(i + 2)", "(t and t) + t", "(f or t) + t",
    "int(t) + t", "float(t) + t", "(t if i >= 0 else f) + t",
    "divmod(t, t)[0] + t", "pow(t, 2) + t",
    "round(t) + t", "t == 1", "t < 2.5", "t * 1j == 1j", "doubled(t)", "kept(t, t)", "flag + flag",
    "isnan(0.0 * i) + t + t",
    # NumPy's: elements, comparisons with elements, NumPy's scalars.
    "a[0] + a[0]", "a[0] * a[0]", "a[0] + t", "t * a[0]", "a[0] & t", "a[0] | f", "a[0] ^ t",
    "(x[0] > 0) + (x[0] > -1)", "(x[0] > 0) + t", "s + s", "s + t", "a[0] + 1", "t * x[0]",
    "t != a[0]", "(a[0] == t) + (a[0] == t)", "(a[0] and a[0]) + a[0]", "bool(a[0]) + bool(a[0])",
    "(not a[0]) + (not f)",
]  # fmt: skip


def doubled(v):
    return v + v


def kept(v, w):
    found = v
    found += w
    return found


def isnan(v):
    return v != v  # noqa: PLR0124


@pytest.mark.parametrize("simulate", [False, True], ids=["device", "simulator"])
def test_bools_are_what_python_makes_of_them(simulate):
    t, f, s = True, False, np.True_
    a, x = np.array([True]), np.array([1.5], "f4")
    i, flag = 0, i_is_small(0)
    names = dict(locals(), doubled=doubled, kept=kept, isnan=isnan)
    wanted = [float(eval(e, {}, names).real) for e in EXPRESSIONS]
    lines = [f"    out[{k}] = ({e})" for k, e in enumerate(EXPRESSIONS)]
    text = "\n".join(
        ["def k(item, a, x, t, f, s, out):", "    i = item.get_id(0)", "    flag = i < 5", *lines]
    )
    kernel = usmx.kernel(text, simulate=simulate)
    out = usmx.zeros(len(EXPRESSIONS), usm_type="shared")
    kernel[1](usmx.asarray(a), usmx.asarray(x), t, f, s, out).wait()
    differ = {
        e: (got, want)
        for e, got, want in zip(EXPRESSIONS, out.tolist(), wanted, strict=True)
        if got != want
    }
    assert not differ


def i_is_small(i):
    return i < 5


@pytest.mark.parametrize("simulate", [False, True], ids=["device", "simulator"])
def test_a_declared_bool_is_pythons_and_a_variable_of_both_is_numpys(simulate):
    def k(item, a, t: bool, out):
        n: bool = t
        m = t
        if a[0]:
            m = a[0]
        out[0] = n + t
        out[1] = m + m

    out = usmx.zeros(2, usm_type="shared")
    usmx.kernel(k, simulate=simulate)[1](usmx.asarray([True]), True, out).wait()
    assert out.tolist() == [2.0, 1.0]


def test_numbers_that_are_compared_with_ints_beyond_their_type():
    """A comparison is right for every int of 64 bits, also for those that wrap in the type."""
    types = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool"]
    numbers = [-(2**63), -129, -1, 0, 255, 256, 300, 2**31, 2**63 - 1, 2**63, 2**64 - 1]
    numbers = some(numbers, 3)  # the compiler takes 20 s for all of them
    signs = ["<", "<=", ">", ">=", "==", "!="]
    arrays = []
    for name in types:
        dtype = np.dtype(name)
        held = [0, 1] if name == "bool" else [np.iinfo(dtype).min, np.iinfo(dtype).max, 0, 1]
        arrays.append(np.array(held, dtype))
    body, wanted = [], []
    for k, array in enumerate(arrays):
        for j in range(len(array)):
            for n in numbers:
                for sign in signs:
                    for text in (f"a{k}[{j}] {sign} ({n})", f"({n}) {sign} a{k}[{j}]"):
                        body.append(f"    out[{len(body)}] = {text}")
                        wanted.append(eval(text, {f"a{k}": array.tolist()}))
    names = ", ".join(f"a{k}" for k in range(len(arrays)))
    out = usmx.zeros(len(body), dtype="bool")
    kernel = usmx.kernel("\n".join([f"def k(item, {names}, out):", *body]))
    kernel[1](*map(usmx.asarray, arrays), out).wait()
    assert out.tolist() == wanted
