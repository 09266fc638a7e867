# Random small kernels: the device and the simulator have to agree in every bit, and nothing may
# crash. USMX_FUZZ_KERNELS says how many; few by default, because each costs a compilation.
# SPDX-License-Identifier: Apache-2.0
import importlib.util
import os
import tempfile
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import usmx

KERNELS = int(os.environ.get("USMX_FUZZ_KERNELS", "8"))
SIZE = 8
# Signed and unsigned 64-bit integers meet as floats, which have no bits to shift: never both.
INTEGERS = [["i1", "i2", "i4", "i8", "u1", "u2", "u4"], ["u1", "u2", "u4", "u8"]]


class Program:
    """Writes one kernel. Expressions are of kind "int", "float" or "bool"."""

    def __init__(self, random):
        self.random = random
        self.integers = random.choice(INTEGERS)
        self.dtypes = [random.choice(self.integers) for _ in range(2)]
        self.dtypes += [random.choice(["f4", "f8"]) for _ in range(2)]
        self.lines = []
        self.loops = 0
        self.results = {"int": 0, "float": 0}

    def expression(self, kind, depth):
        make = getattr(self, kind + "_" + self.random.choice(self.forms(kind, depth)))
        return make(depth - 1)

    def forms(self, kind, depth):
        if depth <= 0:
            return ["leaf"]
        return {
            "int": ["leaf", "operator", "operator", "bits", "divide", "choice", "call", "power"],
            "float": ["leaf", "operator", "operator", "choice", "call", "mixed", "floor"],
            "bool": ["compare", "compare", "both", "negation", "chain"],
        }[kind]

    def int_leaf(self, _):
        names = ["a[i]", "b[i]", "n", "v0", "v1", "v2", f"{self.random.randint(0, 100)}"]
        return self.random.choice(names + [f"k{d}" for d in range(self.loops)])

    def float_leaf(self, _):
        number = self.random.choice(["0.5", "3.0", "0.1", "1e3"])
        return self.random.choice(["x[i]", "y[i]", "s", "w0", "w1", number])

    def pair(self, kind, depth):
        return self.expression(kind, depth), self.expression(kind, depth)

    def int_operator(self, depth):
        a, b = self.pair("int", depth)
        return f"({a} {self.random.choice('+-*')} {b})"

    def int_bits(self, depth):
        a, b = self.pair("int", depth)
        sign = self.random.choice(["&", "|", "^", "<<", ">>"])
        return f"({a} {sign} ({b} & 7))" if sign in ("<<", ">>") else f"({a} {sign} {b})"

    def int_divide(self, depth):
        a, b = self.pair("int", depth)
        return f"({a} {self.random.choice(['//', '%'])} ({b} | 1))"

    def int_power(self, depth):
        return f"({self.expression('int', depth)} ** {self.random.randint(0, 3)})"

    def int_choice(self, depth):
        a, b = self.pair("int", depth)
        return f"({a} if {self.expression('bool', depth)} else {b})"

    def int_call(self, depth):
        a, b = self.pair("int", depth)
        return self.random.choice([f"min({a}, {b})", f"max({a}, {b})", f"abs({a})", f"f({a}, {b})"])

    def float_operator(self, depth):
        a, b = self.pair("float", depth)
        return f"({a} {self.random.choice('+-*/')} {b})"

    def float_floor(self, depth):
        return f"math.floor(min(abs({self.expression('float', depth)}), 1000))"

    def float_choice(self, depth):
        a, b = self.pair("float", depth)
        return f"({a} if {self.expression('bool', depth)} else {b})"

    def float_call(self, depth):
        a, b = self.pair("float", depth)
        return self.random.choice(
            [
                f"min({a}, {b})",
                f"max({a}, {b})",
                f"abs({a})",
                f"math.sqrt(abs({a}))",
                f"f({a}, {b})",
            ]
        )

    def float_mixed(self, depth):
        a, b = self.expression("float", depth), self.expression("int", depth)
        return f"({a} {self.random.choice('+-*')} {b})"

    def bool_compare(self, depth):
        a, b = self.pair(self.random.choice(["int", "float"]), depth)
        return f"({a} {self.random.choice(['<', '<=', '>', '>=', '==', '!='])} {b})"

    bool_leaf = bool_compare

    def bool_both(self, depth):
        a, b = self.pair("bool", depth)
        return f"({a} {self.random.choice(['and', 'or'])} {b})"

    def bool_negation(self, depth):
        return f"(not {self.expression('bool', depth)})"

    def bool_chain(self, depth):
        a, b = self.pair("int", depth)
        return f"({a} <= {self.expression('int', depth)} < {b})"

    def assignment(self, indent):
        kind = self.random.choice(["int", "float"])
        name = self.random.choice(["v0", "v1", "v2"] if kind == "int" else ["w0", "w1"])
        sign = self.random.choice(["=", "=", "+=", "-=", "*="])
        self.lines.append(f"{indent}{name} {sign} {self.expression(kind, 3)}")

    def statement(self, indent, depth):
        form = self.random.choice(["assign"] * 3 + (["if", "for", "while"] if depth else []))
        if form == "assign":
            self.assignment(indent)
        elif form == "if":
            self.lines.append(f"{indent}if {self.expression('bool', 2)}:")
            self.block(indent, depth)
            self.lines.append(f"{indent}else:")
            self.block(indent, depth)
        elif form == "for":
            start, stop = (self.random.randint(0, 3) for _ in range(2))
            step = self.random.choice([1, 2, -1])
            self.lines.append(f"{indent}for k{self.loops} in range({start}, {stop + 2}, {step}):")
            self.loops += 1
            self.block(indent, depth)
            if self.random.random() < 0.3:
                jump = self.random.choice(["break", "continue"])
                self.lines.append(f"{indent}    if {self.expression('bool', 1)}:")
                self.lines.append(f"{indent}        {jump}")
            self.assignment(indent + "    ")
            self.loops -= 1
        else:
            count = f"c{len(self.lines)}"
            self.lines.append(f"{indent}{count} = 0")
            self.lines.append(f"{indent}while {count} < 3 and {self.expression('bool', 2)}:")
            self.lines.append(f"{indent}    {count} += 1")
            self.block(indent, depth)

    def block(self, indent, depth):
        for _ in range(self.random.randint(1, 2)):
            self.statement(indent + "    ", depth - 1)

    def text(self):
        head = [
            "import math",
            "import usmx",
            "",
            "@usmx.device_func",
            "def f(a, b):",
            "    if a < b:",
            "        return b - a",
            "    return a * b",
            "",
            "def kernel(item, a, b, x, y, n, s, whole, real):",
            "    i = item.get_id(0)",
            "    v0, v1, v2 = 1, a[i], n",
            "    w0, w1 = x[i], 2.0",
        ]
        for _ in range(self.random.randint(2, 5)):
            self.statement("    ", 2)
        tail = [f"    whole[{k}, i] = v{k}" for k in range(3)]
        tail += [f"    real[{k}, i] = w{k}" for k in range(2)]
        return "\n".join([*head, *self.lines, *tail]) + "\n"


def run(text, dtypes, seed, simulate):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "random_kernel.py"
        path.write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location("random_kernel", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        random = np.random.default_rng(seed)
        arrays = []
        for dtype in dtypes:
            if dtype[0] in "iu":
                low = 0 if dtype[0] == "u" else -100
                arrays.append(random.integers(low, 100, SIZE).astype(dtype))
            else:
                arrays.append(random.uniform(-10, 10, SIZE).astype(dtype))
        passed = [usmx.asarray(a, usm_type="shared") for a in arrays]
        whole = usmx.zeros((3, SIZE), dtype="i8", usm_type="shared")
        real = usmx.zeros((2, SIZE), dtype="f8", usm_type="shared")
        # A product and a sum in one step round once; the simulator rounds twice.
        k = usmx.kernel(module.kernel, simulate=simulate, options=("-ffp-contract=off",))
        k[SIZE](*passed, 3, 1.5, whole, real).wait()
        return whole.to_numpy(), real.to_numpy()


@settings(
    max_examples=KERNELS,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=KERNELS <= 8,
)
@given(st.randoms(use_true_random=False), st.integers(0, 2**32 - 1))
def test_random_kernels_compute_the_same_on_the_device_and_in_the_simulator(random, seed):
    program = Program(random)
    text = program.text()
    try:
        wanted = run(text, program.dtypes, seed, True)
    except (usmx.KernelError, ZeroDivisionError):
        return  # refused with a message: a literal that does not fit, for one
    got = run(text, program.dtypes, seed, False)
    np.testing.assert_array_equal(got[0], wanted[0], err_msg=text)
    np.testing.assert_array_equal(got[1], wanted[1], err_msg=text)
