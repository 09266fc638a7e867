# Functions of floats and complex numbers at infinities, NaN, signed zeros and where a step on the
# way overflows: kernels, the simulator and fused functions give what NumPy and Annex G of C say.
# SPDX-License-Identifier: Apache-2.0
import importlib.util

import numpy as np
import pytest

import usmx
from usmx._kernel import arithmetic
from usmx._kernel.intrinsics import ROWS

PART = {"complex64": "float32", "complex128": "float64"}
DTYPES = ["float32", "float64", "complex64", "complex128"]
# Of two zeros either may be the smaller.
ANY_ZERO = {"fmin", "fmax", "minimum", "maximum"}
POWERS = {"**", "pow", "power"}
# OpenCL allows 16 units in the last place for powers and gamma functions.
ULP = 16


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


def wrong_values(got, want, name, operands, ulp=ULP, any_zero=False):
    """Where they differ by more than a few units in the last place. Signs of zeros and infinities
    count, those of NaN do not."""
    assert got.dtype == want.dtype
    if want.dtype.kind == "c" and name in POWERS:
        # The error of a small part is that of the whole: a power is an exponential of a product.
        with np.errstate(all="ignore"):
            near = np.abs(got - want) <= 64 * np.finfo(want.dtype).eps * np.abs(want)
        near &= np.isfinite(want)
        got = np.where(near, want, got)
    if want.dtype.kind == "c":
        found = [
            wrong_values(getattr(got, part), getattr(want, part), f"{name}.{part}", operands, ulp)
            for part in ("real", "imag")
        ]
        return found[0] + found[1]
    if want.dtype.kind != "f":
        right = got == want
    else:
        about = np.finfo(want.dtype)
        with np.errstate(all="ignore"):
            near = np.abs(got - want) <= ulp * np.maximum(np.spacing(np.abs(want)), about.tiny)
        same = (got == want) & (any_zero | (np.signbit(got) == np.signbit(want)))
        right = same | (near & (want != 0)) | (np.isnan(got) & np.isnan(want))
    return [
        f"{name}{tuple(x[k].item() for x in operands)}: {got[k]}, not {want[k]}"
        for k in np.flatnonzero(~right)
    ]


def compute(lines, dtype, operands, real, folder, simulate):
    """Run a kernel of these lines, each of which fills its row of the results."""
    text = ["import math, cmath", "import numpy as np", "import usmx", ""]
    text += ["def f(item, a, b, same, real, truth):", "    i = item.get_id(0)", *lines]
    path = folder / f"special_{dtype}_{len(operands)}_{simulate}.py"
    path.write_text("\n".join(text) + "\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
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

    def add(name, target, call, want):
        lines.append(f"    {target}[{len(lines)}, i] = {call}")
        wanted.append((name, target, np.asarray(want)))

    for row in ROWS:
        if kind in row.takes and row.operands == count and row.result != "int":
            target = {"real": "real", "bool": "truth"}.get(row.result, "same")
            function = row.python.split()[0].replace("numpy.", "np.").replace("builtins.", "")
            add(row.name, target, f"{function}({arguments})", arithmetic.evaluate(row, *operands))
    if count == 2:
        with np.errstate(all="ignore"):
            a, b = operands
            for sign, want in (("+", a + b), ("-", a - b), ("*", a * b), ("/", a / b)):
                add(sign, "same", f"a[i] {sign} b[i]", want)
            add("**", "same", "a[i] ** b[i]", np.power(a, b))
    elif kind == "c":
        with np.errstate(all="ignore"):
            for n in (0, 1, 2, 3):
                add(f"**{n}", "same", f"a[i] ** {n}", np.power(operands[0], n))
    got = compute(lines, dtype, operands, PART.get(dtype, dtype), tmp_path, simulate)
    wrong = []
    for k, (name, target, want) in enumerate(wanted):
        any_zero = name in ANY_ZERO
        wrong += wrong_values(got[target][k], want, name, operands, ULP, any_zero)[:12]
    assert not wrong, "\n".join(wrong)


def functions_of_one(x):
    return np.exp(x), np.log(x), np.sqrt(x), np.sin(x), np.cos(x), np.sinh(x), np.cosh(x), abs(x)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_fused_functions_of_special_complex_numbers(dtype):
    operands = (numbers(dtype),)
    got = usmx.fuse(functions_of_one)(usmx.asarray(operands[0], usm_type="shared"))
    with np.errstate(all="ignore"):
        wanted = functions_of_one(*operands)
    wrong = []
    for k, (one, want) in enumerate(zip(got, wanted, strict=True)):
        wrong += wrong_values(one.to_numpy(), want, f"result {k} ", operands)[:12]
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
        assert same.to_numpy().tolist() == [[1] * 4] * 2
