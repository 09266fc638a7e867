# Random small kernels: the device and the simulator have to agree in every bit, and nothing may
# crash. USMX_FUZZ_KERNELS says how many; few by default. USMX_FUZZ_SEED is the first kernel's: each
# has the number after, so that any of them can be reproduced. Many are compiled as one program.
# SPDX-License-Identifier: Apache-2.0
import os
from random import Random

import numpy as np
import pytest
from depths import of_depth
from written_module import module_of

import usmx
from usmx._operations import OPERATIONS

KERNELS = int(os.environ.get("USMX_FUZZ_KERNELS", of_depth(quick=8, full=16)))
FIRST = int(os.environ.get("USMX_FUZZ_SEED", "1"))
TOGETHER = 32
SIZE, LOCAL = 8, 4
# Signed and unsigned 64-bit integers meet as floats, which have no bits to shift.
INTEGERS = [["i1", "i2", "i4", "i8", "u1", "u2", "u4"], ["u1", "u2", "u4", "u8"]]
MIXED = ["i1", "i8", "u8"]
# Operations on floats that are exact for all operands: those that NumPy has in the same form.
EXACT = [
    row
    for row in OPERATIONS
    if row.takes.startswith(("f", "iuf")) and row.result == "same" and not row.numpy
    if not (row.ulps or row.any_zero)
]


HEAD = """
import collections
import enum
import math
import numpy as np
import usmx

Both = collections.namedtuple("Both", "whole real")
Kind = enum.IntEnum("Kind", {"FOUR": 4})
vec3 = usmx.vec(3, usmx.float32)
mat3 = usmx.mat(3, 3, usmx.float32)
"""


class Program:
    """Writes one kernel. Expressions are of kind "int", "float" or "bool"."""

    def __init__(self, seed):
        self.seed = seed
        self.random = random = Random(seed)
        self.mixed = random.random() < 0.1
        self.groups = random.random() < 0.4
        self.complex = random.random() < 0.3
        self.private = random.choice([None, "int32", "int16", "int64"])
        self.integers = MIXED if self.mixed else random.choice(INTEGERS)
        if self.mixed:
            self.private = None
        elif self.private and "u8" in self.integers:
            self.private = "u" + self.private
        self.dtypes = [random.choice(self.integers) for _ in range(2)]
        self.dtypes += [random.choice(["f2", "f4", "f8"]) for _ in range(2)]
        # A negative float has no place in unsigned memory, nor a meaning that all devices share.
        self.tile = random.choice(self.dtypes[2:] if self.mixed else self.dtypes)
        # Records whose integers are among those of the program.
        inner = [("k", random.choice(self.integers)), ("w", "f8")]
        fields = [("n", random.choice(self.integers)), ("v", "f4"), ("c", "f8", (2,))]
        fields += [("inner", inner), ("t", [("x", "f4"), ("y", "f4"), ("z", "f4")])]
        self.body = np.dtype(fields, align=random.random() < 0.5)
        self.lines = []
        self.loops = 0
        self.text = self.written()

    def expression(self, kind, depth):
        make = getattr(self, kind + "_" + self.random.choice(self.forms(kind, depth)))
        return make(depth - 1)

    def forms(self, kind, depth):
        if depth <= 0:
            return ["leaf"]
        if kind == "int" and self.mixed:
            return ["leaf", "operator", "choice", "call"]
        return {
            "int": ["leaf", "operator", "operator", "bits", "divide", "choice", "call", "power"],
            "float": [
                "leaf",
                "operator",
                "operator",
                "choice",
                "call",
                "function",
                "mixed",
                "floor",
                "minus",
                "sign",
            ],
            "bool": ["compare", "compare", "both", "negation", "chain"],
        }[kind]

    def int_leaf(self, _):
        names = ["a[i]", "b[i]", "n", "v0", "v1", "v2", f"{self.random.randint(0, 100)}"]
        names += ["body.n", "bodies[i]['inner'].k"]
        if self.private:
            names += [f"p[{self.random.randint(0, 3)}]", "p[v0 & 3]"]
        return self.random.choice(names + [f"k{d}" for d in range(self.loops)])

    def float_leaf(self, _):
        number = self.random.choice(["0.5", "3.0", "0.1", "1e3"])
        names = ["x[i]", "y[i]", "s", "w0", "w1", number]
        names += [
            "body.v",
            "bodies[i].c[1]",
            "bodies['inner'][i].w",
            "body.t.y",
            "t.x",
            "u[1]",
            "m[0, 2]",
        ]
        return self.random.choice(names + (["z.real", "z.imag"] if self.complex else []))

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
        return self.random.choice(
            [
                f"min({a}, {b})",
                f"max({a}, {b})",
                f"abs({a})",
                f"f{self.seed}({a}, {b})",
                f"inner({a})",
                f"inner({a}, {b})",
                f"apart({a})",
            ]
        )

    def float_operator(self, depth):
        a, b = self.pair("float", depth)
        return f"({a} {self.random.choice('+-*/')} {b})"

    def float_minus(self, depth):
        return f"(-{self.expression('float', depth)})"

    def float_sign(self, depth):
        """A bool that becomes a float by way of an int."""
        whole = self.random.choice(["(-1 if {} else 0)", "-({})"])
        return f"({whole.format(self.expression('bool', depth))} + 0.5)"

    def float_floor(self, depth):
        # In this order the smaller of 1000 and NaN is 1000. No int is NaN's whole part: Python
        # raises, and what C++ leaves undefined differs from one processor to the next.
        return f"math.floor(min(1000, abs({self.expression('float', depth)})))"

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
                f"f{self.seed}({a}, {b})",
            ]
        )

    def float_function(self, depth):
        row = self.random.choice(EXACT)
        values = [self.expression("float", depth) for _ in range(row.arity)]
        if row.name == "copysign":
            # The sign of a NaN has no meaning. In this order the smaller of 1000 and NaN is 1000.
            values[1] = f"min(1e3, {values[1]})"
        operands = ", ".join(values)
        return f"{row.python.split()[0].replace('numpy.', 'np.')}({operands})"

    def float_mixed(self, depth):
        a, b = self.expression("float", depth), self.expression("int", depth)
        return f"({a} {self.random.choice('+-*')} {b})"

    def bool_compare(self, depth):
        a, b = self.pair(self.random.choice(["int", "float"]), depth)
        return f"({a} {self.random.choice(['<', '<=', '>', '>=', '==', '!='])} {b})"

    bool_leaf = bool_compare

    def bool_both(self, depth):
        a, b = self.pair("bool", depth)
        word = self.random.choice(["and", "or"])
        if self.random.random() < 0.2:
            # What is computed on lines of its own, and only where Python comes to it.
            b = self.random.choice(
                [f"g{self.seed}(v1, v2)[0] < v2", "t.normalize().x < u.length()", "t == u"]
            )
        return f"({a} {word} {b})"

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

    def other_assignment(self, indent):
        """To several names, of complex numbers, to private memory."""
        form = self.random.choice(
            ["swap", "pair", "record", "part", "split", "digits", "sum", "rest", "named", "divisor"]
            + ["vector", "vector", "body", "body"]
            + ["complex"] * self.complex
            + ["private"] * bool(self.private)
        )
        if form == "swap":
            names = self.random.choice([("v0", "v1"), ("w0", "w1")])
            kind = "int" if names[0] == "v0" else "float"
            self.lines.append(f"{indent}{', '.join(names)} = {', '.join(self.pair(kind, 2))}")
        elif form == "pair":
            self.lines.append(f"{indent}v1, v2 = g{self.seed}({', '.join(self.pair('int', 2))})")
        elif form == "record":
            a, b = self.expression("int", 2), self.expression("float", 2)
            self.lines.append(f"{indent}q = swapped{self.seed}(({a}, Both(real={b}, whole=v1)))")
            self.lines.append(f"{indent}v0, w1 = q.whole, q.real[0]")
        elif form == "part":
            name, into = self.random.choice([("a", "v2"), ("b", "v1"), ("x", "w0"), ("y", "w1")])
            cut = range(self.random.randint(0, 2), self.random.randint(5, SIZE))
            cut = cut[:: self.random.choice([1, 2, -1])]
            stop = cut.stop if cut.stop >= 0 else ""
            part = f"{name}[{cut.start}:{stop}:{cut.step}]"
            at = self.random.randrange(len(cut))
            read = self.random.choice([f"sum({part})", f"{part}[{at}]", f"len({part})"])
            self.lines.append(f"{indent}{into} = {into} + {read}")
        elif form == "split":
            names = self.random.choice([("w0, w1", "modf"), ("w1, v2", "frexp")])
            value = self.expression("float", 2)
            self.lines.append(f"{indent}{names[0]} = math.{names[1]}({value})")
        elif form == "digits":
            a, b = self.pair("float", 1)
            how = self.random.choice([f"round({a}, 2)", f"math.remainder({a}, {b})"])
            self.lines.append(f"{indent}w0 = {how}")
        elif form == "sum":
            a, b = self.pair(kind := self.random.choice(["int", "float"]), 2)
            into = "v1" if kind == "int" else "w1"
            self.lines.append(f"{indent}{into} = sum(({a}, {b}, Kind.FOUR))")
        elif form in ("rest", "named", "divisor"):
            self.lines += [indent + line for line in self.of_functions(form)]
        elif form == "vector":
            self.lines.append(indent + self.vector())
        elif form == "body":
            self.lines += [indent + line for line in self.of_body()]
        elif form == "complex":
            a, b = self.pair("float", 1)
            sign = self.random.choice("+-*")
            term = self.random.choice([a, f"complex({a}, {b})", "z.conjugate()"])
            self.lines.append(f"{indent}z = z {sign} {term}")
        else:
            sign = self.random.choice(["=", "+=", "-="])
            index = self.random.choice(["1", "2", "v1 & 3"])
            self.lines.append(f"{indent}p[{index}] {sign} {self.expression('int', 2)}")

    def of_functions(self, form):
        """Targets with a star, parameters by keyword only, divisors."""
        if form == "rest":
            rest, (a, b) = f"r{len(self.lines)}", self.pair("int", 2)
            targets = self.random.choice([f"v0, *{rest}", f"*{rest}, v0", f"v0, *{rest}, v2"])
            return [
                f"{targets} = {a}, v1, {b}, v2",
                f"v1 = {rest}[0] - {rest}[1] + len({rest})",
            ]
        if form == "named":
            a, b = self.pair("float", 1)
            more = self.random.choice(["", f", by={b}"])
            return [f"w0 = named{self.seed}({a}, also=v0{more})"]
        a, b = self.pair("int", 1)
        name = self.random.choice(["gcd", "lcm"])
        return [f"v2 = math.{name}(({a}) & 4095, ({b}) & 255)"]

    def vector(self):
        """A statement on vectors and matrices."""
        a, b = self.pair("float", 1)
        one, other = self.random.sample(["t", "u", "bodies[i].t", "body.t"], 2)
        into = self.random.choice(["t", "u"])
        at = "1" if self.mixed else self.random.choice(["1", "v0 & 1", "v1 & 1"])
        sign = self.random.choice("+-*/")
        return self.random.choice(
            [
                f"{into} = {one} {sign} vec3({a}, {b}, 2)",
                f"{into} = vec3({one} {sign} {a})",
                f"{into} = {one}.cross({other}) * 0.5",
                f"{into} = -{one} if {self.expression('bool', 1)} else {other}",
                f"{into} = m @ {one}",
                f"{into} = {one}.normalize()",
                f"{into} = {one}",
                f"{into}.y {self.random.choice(['=', '+=', '-='])} {a}",
                f"{into}[{at}] = {a}",
                f"{into} {sign}= {other}",
                f"w0 = {one}.dot({other}) + {one}.length()",
                f"w1 = sum({into}) + {into}[{at}]",
                f"m = m.transpose() @ mat3({one}, {other}, t) * 0.25",
                f"m[{at}] = {one}",
                f"m[2, {at}] = {a}",
                f"bodies[i].t = {one} {sign} {other}",
                f"body.t.z {self.random.choice(['=', '*='])} {a}",
                f"t, u = turned{self.seed}({one}, {b})",
            ]
        )

    def of_body(self):
        """Statements on records."""
        a, b = self.pair("float", 1)
        lines = [
            [f"body.v = {a}"],
            [f"bodies[i].c[0] {self.random.choice(['=', '+=', '*='])} {b}"],
            [f"bodies['inner'][i].w = {a}"],
            [f"w1 = changed{self.seed}(bodies[i], {a})"],
            [f"copy = copied{self.seed}(body, {b})", f"copy.c[1] -= {a}", "bodies[i] = copy"],
            ["copy = body.copy()", f"copy.inner.w = {a}", "w0 = copy.inner.w + copy.v + body.v"],
            ["own[1] = body", f"own[1].v = {b}", "own[0] = own[1]", "w0 = own[0].v + own[0].t.x"],
            [f"for c in body.c: w0 += c * {a}"],
        ]
        if not self.mixed:
            whole = self.expression("int", 1)
            lines += [
                [f"body.n = {whole}"],
                [f"bodies[i]['inner'].k {self.random.choice('+-*')}= v1"],
            ]
            lines += [[f"body.c[{self.random.choice(['v0', 'v1'])} & 1] = {a}"]]
        return self.random.choice(lines)

    def exchange(self):
        """What needs all items of a group, so that it stands in no branch."""
        kind = "float" if self.tile[0] == "f" else "int"
        name = "w1" if kind == "float" else "v2"
        # A sum of floats depends on its order.
        reduced = self.random.choice(
            [
                "reduce(v0 & 255)",
                "inclusive_scan(v0 & 255)",
                "exclusive_scan(v0 & 255)",
                "reduce(v0, min)",
                "reduce(v0, max)",
                f"broadcast({name}, 1)",
            ]
        )
        into = name if reduced.startswith("broadcast") else "v1"
        self.lines += [
            f"    tile[j] = {name}",
            "    usmx.barrier()",
            f"    {name} += tile[{self.random.choice([f'{LOCAL - 1} - j', '0', '(j + 1) % 4'])}]",
            "    usmx.barrier()",
        ]
        if not self.mixed:
            self.lines.append(f"    {into} = item.get_group().{reduced}")

    def statement(self, indent, depth):
        form = self.random.choice(
            ["assign"] * 3 + ["other"] + (["if", "for", "while"] if depth else [])
        )
        if form == "assign":
            self.assignment(indent)
        elif form == "other":
            self.other_assignment(indent)
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
            self.otherwise(indent, depth)
        else:
            count = f"c{len(self.lines)}"
            self.lines.append(f"{indent}{count} = 0")
            self.lines.append(f"{indent}while {count} < 3 and {self.expression('bool', 2)}:")
            self.lines.append(f"{indent}    {count} += 1")
            self.block(indent, depth)
            if self.random.random() < 0.2:
                self.lines.append(f"{indent}    if {self.expression('bool', 1)}:")
                self.lines.append(f"{indent}        break")
            self.otherwise(indent, depth)

    def otherwise(self, indent, depth):
        """What runs after a loop that break has not ended."""
        if self.random.random() < 0.3:
            self.lines.append(f"{indent}else:")
            self.block(indent, depth)

    def block(self, indent, depth):
        for _ in range(self.random.randint(1, 2)):
            self.statement(indent + "    ", depth - 1)

    def written(self):
        number = self.seed
        head = [
            "@usmx.device_func",
            f"def f{number}(a, b):",
            "    if a < b:",
            "        return b - a",
            "    return a * b",
            "",
            "@usmx.device_func",
            f"def g{number}(a, b):",
            "    for k in range(3):",
            "        if a > b:",
            "            break",
            "        a += k + 1",
            "    return a, b - a",
            "",
            f"def swapped{number}(t):",
            "    whole, both = t",
            "    return Both(both.whole + whole, (both.real, whole))",
            "",
            f"def turned{number}(v, by):",
            "    w = v * 2",
            "    w.x += by",
            "    return w, v.cross(w)",
            "",
            f"def changed{number}(p, by):",
            "    p.v += by",
            "    p.t.y = by",
            "    return p.v * 2",
            "",
            f"def named{number}(x, *, by=2, also):",
            "    return x * by - also",
            "",
            f"def copied{number}(p, by):",
            "    q = p.copy()",
            "    q.t = q.t * 2 + vec3(by)",
            "    return q",
            "",
            f"def kernel{number}(item, a, b, x, y, n, s, bodies, whole, real):",
            "    i = item.get_global_id(0)",
            "    v0, v1, v2 = 1, a[i], n",
            "    w0, w1 = x[i], 2.0",
            "    body = bodies[i]",
            "    own = usmx.private.array(2, bodies.dtype)",
            "    t, u, m = vec3(x[i], 1, 2), body.t, mat3(1, 2, 3, 4, x[i], 6, 7, 8, 9)",
            "    def inner(u, w=3):",
            "        v2 = u + v0",
            "        return v2 * w - (v1 if u > a[i] else 1)",
            "    apart = lambda u: u + v2 - b[i]",
        ]
        if self.complex:
            head.append("    z = complex(x[i], 1.0)")
        if self.private:
            head.append(f"    p = usmx.private.array(4, usmx.{self.private})")
        if self.groups:
            head.append(f"    tile = usmx.local.array({LOCAL}, usmx.{np.dtype(self.tile).name})")
            head.append("    j = item.get_local_id(0)")
        for _ in range(self.random.randint(2, 5)):
            self.statement("    ", 2)
            if self.groups and self.random.random() < 0.5:
                self.exchange()
        tail = [f"    real[{k}, i] = w{k}" for k in range(2)]
        if self.mixed:
            # They may be floats that no integer holds.
            tail += [f"    real[{k + 2}, i] = v{k}" for k in range(3)]
        else:
            tail += [f"    whole[{k}, i] = v{k}" for k in range(3)]
        if self.complex:
            tail += ["    real[5, i] = z.real", "    real[6, i] = z.imag"]
        return "\n".join([*head, *self.lines, *tail]) + "\n"

    def arguments(self):
        random = np.random.default_rng(self.seed)
        arrays = []
        for dtype in self.dtypes:
            if dtype[0] in "iu":
                low = 0 if dtype[0] == "u" else -100
                arrays.append(random.integers(low, 100, SIZE).astype(dtype))
            else:
                arrays.append(random.uniform(-10, 10, SIZE).astype(dtype))
        whole = usmx.zeros((3, SIZE), dtype="i8", usm_type="shared")
        real = usmx.zeros((7, SIZE), dtype="f8", usm_type="shared")
        passed = [usmx.asarray(a, usm_type="shared") for a in arrays]
        bodies = np.zeros(SIZE, self.body)
        for name in ("n", "v"):
            bodies[name] = random.integers(0, 100, SIZE)
        bodies["inner"]["k"], bodies["c"] = 5, random.uniform(-9, 9, (SIZE, 2))
        bodies["t"]["x"] = random.uniform(-9, 9, SIZE)
        given = usmx.zeros(SIZE, dtype=self.body, usm_type="shared")
        given[...] = bodies
        return [*passed, 3, 1.5, given, whole, real]


def loaded(programs, folder):
    """The functions of all programs, in one module."""
    path = folder / f"random_kernels_{programs[0].seed}.py"
    texts = [p.text for p in programs]
    module = module_of("\n\n".join([HEAD, *texts]), path)
    return [getattr(module, f"kernel{p.seed}") for p in programs], texts


def flat(arguments, plan):
    """What the kernel's text takes: of arrays the lengths too."""
    for value, how in zip(arguments, plan.removesuffix("v"), strict=True):
        yield value
        assert how in "nd"
        if how == "d":
            yield from value.shape


def check_same(got, want, message):
    """Equal numbers; what is between fields has no meaning."""
    for name in want.dtype.names or ():
        check_same(got[name], want[name], message)
    if want.dtype.names is None:
        np.testing.assert_array_equal(got, want, err_msg=message)


def check_together(programs, folder):
    """Run them in the simulator and, compiled as one or two programs, on the device.

    Returns
    -------
    int, list of str
        How many were compared, and why the others were refused.
    """
    functions, texts = loaded(programs, folder)
    wanted, plans, refusals = {}, {}, []
    sources = []
    sizes = (SIZE, LOCAL)
    for p, function in zip(programs, functions, strict=True):
        values = p.arguments()
        try:
            # Remainders ask vectors of items, as in groups that are long enough.
            made = usmx.kernel(function).compiled(values, 1, sizes[1:], wide=True)
            with np.errstate(all="ignore"):
                usmx.kernel(function, simulate=True)[sizes](*values)
        except (usmx.KernelError, ZeroDivisionError) as error:
            refusals.append(str(error))  # a literal that does not fit, for one
            continue
        wanted[p.seed] = [v.to_numpy() for v in values[-3:]]
        # Each has functions of its own, of which some have the same names.
        own = made.text
        for space in ("device", "record"):
            own = own.replace(f"namespace {space} {{", f"namespace {space}{p.seed} {{")
            own = own.replace(f"{space}::", f"{space}{p.seed}::")
        sources.append(own)
        plans[p.seed] = made.plan
    module = usmx.RawModule("\n".join(sources), usmx.kernel(functions[0])._options)
    for p, text in zip(programs, texts, strict=True):
        if p.seed not in wanted:
            continue
        values = p.arguments()
        kernel = module.get_function(f"kernel{p.seed}")
        kernel[sizes](*flat(values, plans[p.seed])).wait()
        for got, want in zip(values[-3:], wanted[p.seed], strict=True):
            check_same(got.to_numpy(), want, f"seed {p.seed}\n{text}")
    return len(wanted), refusals


@pytest.mark.parametrize("first", range(FIRST, FIRST + KERNELS, TOGETHER))
def test_random_kernels_compute_the_same_on_the_device_and_in_the_simulator(first, tmp_path):
    last = min(first + TOGETHER, FIRST + KERNELS)
    compared, _ = check_together([Program(seed) for seed in range(first, last)], tmp_path)
    assert compared > (last - first) // 2  # most are kernels, not refusals
