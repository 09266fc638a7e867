# Every row of the table of intrinsics, for every type that it takes, against NumPy. Many rows share
# one kernel, because each kernel costs a compilation.
# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from written_module import module_of

import usmx
from usmx._kernel.language.intrinsics import ROWS
from usmx._kernel.simulator import arithmetic

SIZE = 32
DTYPES = sorted({dtype for row in ROWS for dtype in row.dtypes})
TOLERANCE = {"float16": 4e-3, "float32": 4e-6, "complex64": 4e-6}


def rows_of(dtype):
    return [row for row in ROWS if dtype in row.dtypes]


def operands_of(row, dtype, number):
    random = np.random.default_rng(number)
    low, high = row.row.domain
    kind = np.dtype(dtype).kind
    made = []
    for _ in range(row.operands):
        if kind in "iu":
            made.append(random.integers(0 if kind == "u" else -99, 100, SIZE).astype(dtype))
        elif kind == "c":
            parts = random.uniform(-2, 2, (2, SIZE))
            made.append((parts[0] + 1j * parts[1]).astype(dtype))
        else:
            made.append(random.uniform(low, high, SIZE).astype(dtype))
    if row.name == "clamp":
        made = [made[0], np.minimum(*made[1:]), np.maximum(*made[1:])]
    return made


def spelled(row):
    """The last name: of functions of math and NumPy the one that keeps the type."""
    return row.python.split()[0].replace("numpy.", "np.").replace("builtins.", "")


def kernel_of(dtype, tmp_path):
    """One kernel that computes all rows, each into its own array by the type of its result."""
    lines = ["import math, cmath", "import numpy as np", "import usmx", "", ""]
    lines += ["@usmx.kernel", "def f(item, a, same, whole, real):", "    i = item.get_id(0)"]
    for k, row in enumerate(rows_of(dtype)):
        target = {"same": "same", "real": "real"}.get(row.row.result, "whole")
        arguments = ", ".join(f"a[{k}, {n}, i]" for n in range(row.operands))
        lines.append(f"    {target}[{k}, i] = {spelled(row)}({arguments})")
    return module_of("\n".join(lines) + "\n", tmp_path / f"all_{dtype}.py").f


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_function_of_the_table_agrees_with_numpy(dtype, tmp_path):
    rows = rows_of(dtype)
    real = {"complex64": "f4", "complex128": "f8"}.get(dtype, dtype)
    a = np.zeros((len(rows), 3, SIZE), dtype)
    for k, row in enumerate(rows):
        operands = operands_of(row, dtype, k)
        a[k, : len(operands)] = operands
    results = [np.zeros((len(rows), SIZE), t) for t in (dtype, "i8", real)]
    passed = [usmx.asarray(x, usm_type="shared") for x in (a, *results)]
    kernel_of(dtype, tmp_path)[SIZE](*passed).wait()
    same, whole, reals = (x.to_numpy() for x in passed[1:])
    rtol = TOLERANCE.get(dtype, 1e-12)
    for k, row in enumerate(rows):
        got = {"same": same, "real": reals}.get(row.row.result, whole)[k]
        want = arithmetic.evaluate(row.row, *a[k, : row.operands])
        assert row.row.result != "same" or np.asarray(want).dtype == np.dtype(dtype), row.python
        exact = np.dtype(dtype).kind in "iu" or row.row.result in ("int", "bool")
        if exact and row.takes != "f":
            np.testing.assert_array_equal(got, want, err_msg=row.python)
        else:
            np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol, err_msg=row.python)


def test_names_of_rows_mean_something():
    import builtins
    import cmath

    places = {"math": math, "cmath": cmath, "numpy": np, "builtins": builtins, "usmx": usmx}
    places["usmx.special"] = usmx.special
    missing = []
    for row in ROWS:
        names = [path.rpartition(".")[::2] for path in row.python.split()]
        # Some names are newer than the oldest Python and NumPy; one of a row has to be there.
        if not any(hasattr(places.get(module), name) for module, name in names):
            missing.append(row.python)
    # math.cbrt and math.exp2 are there since Python 3.11.
    assert not missing


def test_integers_become_floats_and_half_stays():
    @usmx.kernel
    def f(item, n, h, x, out):
        out[0] = math.sqrt(n[0]).dtype == usmx.float64
        out[1] = math.sin(h[0]).dtype == usmx.float16
        out[2] = math.hypot(x[0], 1).dtype == usmx.float32
        out[3] = math.exp(2).dtype == usmx.float64
        out[4] = np.exp(x[0] * 1j).dtype == usmx.complex64
        out[5] = abs(x[0] * 1j).dtype == usmx.float32
        out[6] = math.floor(x[0]).dtype == usmx.int64

    arrays = [usmx.ones(1, dtype=t, usm_type="shared") for t in ("i4", "f2", "f4")]
    out = usmx.zeros(7, dtype="?", usm_type="shared")
    f[1](*arrays, out).wait()
    assert out.to_numpy().tolist() == [True] * 7
