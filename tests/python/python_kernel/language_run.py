# Runs programs of the language tests: plain functions of an array, a matrix and an index, on the
# device, in the simulator, and in Python on NumPy's arrays, which both are compared with.
# SPDX-License-Identifier: Apache-2.0
import contextlib
import linecache

import numpy as np
from depths import depth

import usmx

DTYPES = ["int8", "int64", "uint16", "float16", "float32", "float64"]


class Item:
    """The work-item of a kernel that Python runs."""

    def __init__(self, k=0):
        self.k = k

    def get_id(self, _):
        return self.k


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


class Together:
    """Programs that one kernel computes, because compiling one each takes ten times as long.

    If they do not compile together, each is compiled alone, so that only the wrong one fails. A
    quick run has few of them, and compiles those.
    """

    def __init__(self, programs):
        self.programs = programs
        self.results = {}

    def run(self, name, x, m, simulated):
        """The program for each element of x."""
        if simulated or depth() == "quick":
            return run(self.programs[name], x, m, simulated)
        call = x.dtype.char, m.flags.c_contiguous
        if call not in self.results:
            self.results[call] = self.compute(x, m)
        found = self.results[call]
        return run(self.programs[name], x, m, simulated) if found is None else found[name]

    def compute(self, x, m):
        """What all programs give, or None."""
        lines = ["def kernel(item, x, m, out):", "    i = item.get_id(0)"]
        lines += [f"    out[{k}, i] = {name}(x, m, i)" for k, name in enumerate(self.programs)]
        text, file = "\n".join(lines) + "\n", f"<{len(lines)} lines of {id(self)}>"
        linecache.cache[file] = len(text), None, text.splitlines(True), file
        space = dict(self.programs)
        exec(compile(text, file, "exec"), space)
        out = usmx.zeros((len(self.programs), len(x)), dtype="float64")
        try:
            usmx.kernel(space["kernel"])[len(x)](usmx.asarray(x), usmx.asarray(m), out)
        except (usmx.BuildError, usmx.KernelError):
            return None
        return dict(zip(self.programs, out.to_numpy(), strict=True))


def given(dtype, order):
    """An array of 5 and a matrix of 5 rows."""
    x = np.arange(1, 6).astype(dtype)
    return x, np.arange(20).reshape(5, 4).astype(dtype, order=order)


def expected(function, x, m, index=int):
    """What Python gives."""
    with np.errstate(over="ignore"):
        return [float(function(x, m, index(i))) for i in range(len(x))]
