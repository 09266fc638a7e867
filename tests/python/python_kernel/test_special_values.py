# Functions of floats and complex numbers at infinities, NaN, signed zeros and where a step on the
# way overflows: kernels, the simulator and fused functions give what NumPy and Annex G of C say.
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from written_module import module_of

import usmx
from usmx._kernel.language.intrinsics import ROWS
from usmx._kernel.simulator import arithmetic
from usmx._operations import BY_NAME, OPERATIONS

PART = {"complex64": "float32", "complex128": "float64"}
DTYPES = ["float32", "float64", "complex64", "complex128"]
ULPS_OF_POWER = BY_NAME["power"].ulps
# Of the whole of a complex power, for each unit of b * log(a), of which it is the exponential.
COMPLEX_POWER_ULPS = 4
WIDER = {"f": {4: np.float64, 8: np.longdouble}, "c": {8: np.complex128, 16: np.clongdouble}}


def special(dtype, few=False):
    """Real numbers at which something special happens."""
    about = np.finfo(dtype)
    exponent = 89.5 if dtype == "float32" else 710.5  # exp of it overflows
    some = [0, 0.5, 1, 2, np.inf]
    if not few:
        some += [3, 20, exponent, about.max, about.tiny, about.tiny / 8]
    return np.array([*some, *(-x for x in some), np.nan], dtype)


def numbers(dtype, few=False):
    """Special numbers; of complex ones all whose parts are special."""
    if dtype not in PART:
        return special(dtype, few)
    part = special(PART[dtype], few)
    z = np.empty((len(part), len(part)), dtype)
    z.real, z.imag = part[:, None], part
    return z.ravel()


def pairs(dtype):
    """Two operands: each with each."""
    a = numbers(dtype, few=dtype in PART)
    return np.repeat(a, a.size), np.tile(a, a.size)


def wider(x):
    """In a type of which the functions' own errors do not count."""
    return x.astype(WIDER[x.dtype.kind][x.dtype.itemsize])


def wrong_values(got, want, name, operands, exact=None, ulp=0, any_zero=False, larger=0.0):
    """Where results are neither NumPy's nor, if they are finite, within so many units in the last
    place of the exact values. Signs of zeros and infinities count, those of NaN do not."""
    assert got.dtype == want.dtype
    if want.dtype.kind == "c":
        found = [
            wrong_values(
                getattr(got, part),
                getattr(want, part),
                f"{name}.{part}",
                operands,
                None if exact is None else getattr(exact, part),
                ulp,
                any_zero,
            )
            for part in ("real", "imag")
        ]
        return found[0] + found[1]
    right = got == want
    if want.dtype.kind == "f":
        right &= any_zero | (np.signbit(got) == np.signbit(want))
        right |= np.isnan(got) & np.isnan(want)
        if exact is not None:
            about = np.finfo(want.dtype)
            with np.errstate(all="ignore"):
                unit = np.maximum(
                    np.spacing(np.maximum(np.abs(want), want.dtype.type(larger))), about.tiny
                )  # devices flush what is smaller
                right |= (np.abs(got - exact) <= ulp * unit) & (want != 0) & np.isfinite(want)
    return [
        f"{name}{tuple(x[k].item() for x in operands)}: {got[k]}, not {want[k]}"
        for k in np.flatnonzero(~right)
    ]


def multiplied(a, b):
    """a * b of complex numbers, each operation rounded: NumPy's own loop may use fma."""
    made = np.empty_like(a)
    made.real = a.real * b.real - a.imag * b.imag
    made.imag = a.real * b.imag + a.imag * b.real
    return made


def wrong_powers(got, want, operands):
    """Where a ** b of complex numbers is wrong: of whole exponents in any bit."""
    a, b = operands
    whole = (b.imag == 0) & (b.real == np.rint(b.real)) & (np.abs(b.real) < 100)
    with np.errstate(all="ignore"):
        steps = 1 + np.abs(b * np.log(a))
        bound = COMPLEX_POWER_ULPS * np.finfo(want.dtype).eps * steps * np.abs(want)
        near = ~whole & np.isfinite(want) & (np.abs(got - want) <= bound)
    return wrong_values(np.where(near, want, got), want, "**", operands)


def compute(lines, dtype, operands, real, folder, simulate):
    """Run a kernel of these lines, each of which fills its row of the results."""
    text = ["import math, cmath", "import numpy as np", "import usmx", ""]
    text += ["def f(item, a, b, same, real, truth):", "    i = item.get_id(0)", *lines]
    path = folder / f"special_{dtype}_{len(operands)}_{simulate}.py"
    module = module_of("\n".join(text) + "\n", path)
    size = operands[0].size
    results = [usmx.zeros((len(lines), size), t, usm_type="shared") for t in (dtype, real, "bool")]
    passed = [usmx.asarray(x, usm_type="shared") for x in (operands[0], operands[-1])]
    usmx.kernel(module.f, simulate=simulate)[size](*passed, *results).wait()
    return dict(zip(("same", "real", "truth"), (r.to_numpy() for r in results), strict=True))


@pytest.mark.parametrize("simulate", [False, True], ids=["device", "simulator"])
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_special_values(dtype, count, simulate, tmp_path):
    kind = np.dtype(dtype).kind
    operands = (numbers(dtype),) if count == 1 else pairs(dtype)
    names = "ab"[:count]
    arguments = ", ".join(f"{x}[i]" for x in names)
    lines, wanted = [], []

    def add(name, target, call, want, exact=None, ulp=0, any_zero=False, larger=0.0):
        lines.append(f"    {target}[{len(lines)}, i] = {call}")
        wanted.append((name, target, np.asarray(want), exact, ulp, any_zero, larger))

    for row in ROWS:
        if kind in row.takes and row.operands == count and row.row.result != "int":
            target = {"real": "real", "bool": "truth"}.get(row.row.result, "same")
            function = row.python.split()[0].replace("numpy.", "np.").replace("builtins.", "")
            want = arithmetic.evaluate(row.row, *operands)
            ulp = row.row.complex_ulps if kind == "c" else row.row.ulps
            exact = arithmetic.evaluate(row.row, *map(wider, operands)) if ulp else None
            call = f"{function}({arguments})"
            larger = float(row.row.oscillates)
            # The zero of tanh at infinity has the sign that C99 and the standard of arrays give it.
            any_zero = row.row.any_zero or (kind == "c" and row.name in ("tan", "tanh"))
            add(row.name, target, call, want, exact, ulp, any_zero, larger)
    if count == 2:
        with np.errstate(all="ignore"):
            a, b = operands
            product = multiplied(a, b) if kind == "c" else a * b
            for sign, want in (("+", a + b), ("-", a - b), ("*", product), ("/", a / b)):
                add(sign, "same", f"a[i] {sign} b[i]", want)
            exact = np.power(wider(a), wider(b)) if kind == "f" else None
            add("**", "same", "a[i] ** b[i]", np.power(a, b), exact, ULPS_OF_POWER)
    got = compute(lines, dtype, operands, PART.get(dtype, dtype), tmp_path, simulate)
    wrong = []
    for k, (name, target, want, exact, ulp, any_zero, larger) in enumerate(wanted):
        if name == "**" and kind == "c":
            wrong += wrong_powers(got[target][k], want, operands)[:12]
            continue
        how = (exact, ulp, any_zero, larger)
        wrong += wrong_values(got[target][k], want, name, operands, *how)[:12]
    assert not wrong, "\n".join(wrong)


WHOLE = (-99, -50, -11, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 10, 50, 99)


@pytest.mark.parametrize("simulate", [False, True], ids=["device", "simulator"])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_whole_powers_of_complex_numbers_are_those_of_numpy(dtype, simulate, tmp_path):
    z = numbers(dtype)
    lines = [f"    same[{k}, i] = a[i] ** {n}" for k, n in enumerate(WHOLE)]
    got = compute(lines, dtype, (z,), PART[dtype], tmp_path, simulate)["same"]
    wrong = []
    for k, n in enumerate(WHOLE):
        with np.errstate(all="ignore"):
            want = np.power(
                z, np.full(z.shape, n, dtype)
            )  # as of one number, not square and reciprocal
        wrong += wrong_values(got[k], want, f"** {n} ", (z,))[:12]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_whole_powers_in_fused_functions_and_texts_are_those_of_numpy(dtype):
    z = numbers(dtype)
    a = usmx.asarray(z, usm_type="shared")
    fused = usmx.fuse(lambda z: tuple(z**n for n in WHOLE))(a)
    outputs = ", ".join(f"T w{k}" for k in range(len(WHOLE)))
    lines = "; ".join(f"w{k} = pow(z, T({n}))" for k, n in enumerate(WHOLE))
    texts = usmx.ElementwiseKernel("T z", outputs, lines, "whole_power")(a)
    wrong = []
    for n, one, other in zip(WHOLE, fused, texts, strict=True):
        with np.errstate(all="ignore"):
            want = np.power(z, np.full(z.shape, n, dtype))
            # NumPy's arrays have a function of their own for this one.
            of_array = np.reciprocal(z) if n == -1 else want
        wrong += wrong_values(one.to_numpy(), of_array, f"fused ** {n} ", (z,))[:12]
        wrong += wrong_values(other.to_numpy(), want, f"pow {n} ", (z,))[:12]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_a_fused_reciprocal_of_complex_numbers_is_that_of_numpy(dtype):
    z = numbers(dtype)
    fused = usmx.fuse(lambda z: (np.reciprocal(z), z))
    got, _ = fused(usmx.asarray(z, usm_type="shared"))
    with np.errstate(all="ignore"):
        wrong = wrong_values(got.to_numpy(), np.reciprocal(z), "reciprocal", (z,))
    assert not wrong, "\n".join(wrong[:12])


# Of constants a compiler sees the zeros: 0 * x is not 0 for all x.
CONSTANTS = ("1", "1j", "-1", "2", "-2j", "3 + 4j", "0j", "0.5", "complex(0.0, -0.0)", "1e30")


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_constants_keep_infinities_nan_and_signs_of_zeros(dtype, tmp_path):
    z = numbers(dtype)
    lines, texts, wanted = [], [], []
    for text in CONSTANTS:
        value = complex(eval(text))
        c = np.full(z.shape, value, dtype)
        constant = f"T({value.real}, {value.imag})"
        with np.errstate(all="ignore"):
            results = {
                "c * z": multiplied(c, z),
                "z * c": multiplied(z, c),
                "z + c": z + c,
                "c - z": c - z,
                "c / z": c / z,
                "z / c": z / c,
            }
        for form, want in results.items():
            written = form.replace("c", f"({text})").replace("z", "a[i]")
            lines.append(f"    same[{len(lines)}, i] = {written}")
            texts.append(f"w{len(texts)} = {form.replace('c', constant)}")
            wanted.append((written, want))
    got = compute(lines, dtype, (z,), PART[dtype], tmp_path, simulate=False)["same"]
    outputs = ", ".join(f"T w{k}" for k in range(len(texts)))
    kernel = usmx.ElementwiseKernel("T z", outputs, "; ".join(texts), "constants")
    of_text = kernel(usmx.asarray(z, usm_type="shared"))
    wrong = []
    for k, (name, want) in enumerate(wanted):
        wrong += wrong_values(got[k], want, name, (z,))[:6]
        wrong += wrong_values(of_text[k].to_numpy(), want, f"text {name}", (z,))[:6]
    assert not wrong, "\n".join(wrong)


# Those that have complex numbers as operands, and bounds for them.
OF_ONE = [
    row
    for row in OPERATIONS
    if row.complex_ulps and "c" in row.takes and isinstance(getattr(np, row.name), np.ufunc)
]


def functions_of_one(x):
    return tuple(getattr(np, row.name)(x) for row in OF_ONE)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_fused_functions_of_special_complex_numbers(dtype):
    operands = (numbers(dtype),)
    got = usmx.fuse(functions_of_one)(usmx.asarray(operands[0], usm_type="shared"))
    with np.errstate(all="ignore"):
        wanted = functions_of_one(*operands)
        exact = functions_of_one(*map(wider, operands))
    wrong = []
    assert len(OF_ONE) == 8
    for one, want, true, row in zip(got, wanted, exact, OF_ONE, strict=True):
        wrong += wrong_values(one.to_numpy(), want, row.name, operands, true, row.complex_ulps)[:12]
    assert not wrong, "\n".join(wrong)


def test_bools_add_and_multiply_as_in_numpy_everywhere():
    a, b = np.array([False, False, True, True]), np.array([False, True, False, True])
    x, y = (usmx.asarray(v, usm_type="shared") for v in (a, b))
    want = [(a + b).tolist(), (a * b).tolist()]
    assert want == [[False, True, True, True], [False, False, False, True]]
    fused = usmx.fuse(lambda x, y: (x + y, x * y))(x, y)
    assert [v.to_numpy().tolist() for v in fused] == want
    assert [v.dtype.name for v in fused] == ["bool", "bool"]
    text = usmx.ElementwiseKernel("T x, T y", "T s, T p", "s = x + y; p = x * y")(x, y)
    assert [v.to_numpy().tolist() for v in text] == want

    def kernel(item, x, y, out, same):
        i = item.get_id(0)
        out[0, i] = x[i] + y[i]
        out[1, i] = x[i] * y[i]
        total = x[i]
        total += y[i]
        out[2, i] = total
        out[3, i] = (x[i] == True) + (y[i] == True)  # noqa: E712
        out[4, i] = x[i] + 1 + y[i]
        same[0, i] = (x[i] + y[i]).dtype == bool
        same[1, i] = True + True == True  # noqa: E712

    for simulate in (False, True):
        out, same = (usmx.zeros(n, "i4", usm_type="shared") for n in ((5, 4), (2, 4)))
        usmx.kernel(kernel, simulate=simulate)[4](x, y, out, same).wait()
        added = [int(v) for v in a + b]
        got = out.to_numpy().tolist()
        assert got == [added, [int(v) for v in a * b], added, added, (a + 1 + b).tolist()]
        # Python's own bools are integers: True + True is 2.
        assert same.to_numpy().tolist() == [[1] * 4, [0] * 4]
