# Runs programs of the language tests: plain functions of an array, a matrix and an index, on the
# device, in the simulator, and in Python on NumPy's arrays, which both are compared with.
# SPDX-License-Identifier: Apache-2.0
import contextlib

import numpy as np

import usmx

DTYPES = ["int8", "int64", "uint16", "float16", "float32", "float64"]


def run(function, x, m, simulated):
    """The program for each element of x."""
    out = usmx.zeros(len(x), dtype="float64")

    @usmx.kernel
    def kernel(item, x, m, out):
        i = item.get_id(0)
        out[i] = function(x, m, i)

    with usmx.simulate() if simulated else contextlib.nullcontext():
        kernel[len(x)](usmx.asarray(x), usmx.asarray(m), out)
    return out.to_numpy()


def given(dtype, order):
    """An array of 5 and a matrix of 5 rows."""
    x = np.arange(1, 6).astype(dtype)
    return x, np.arange(20).reshape(5, 4).astype(dtype, order=order)


def expected(function, x, m, index=int):
    """What Python gives."""
    with np.errstate(over="ignore"):
        return [float(function(x, m, index(i))) for i in range(len(x))]
