"""Statements: assignment, branches, loops, return, assert."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import re

from . import operators, types
from . import values as v
from .expressions import BINARY, Expressions
from .printing import quoted
from .types import Scalar
from .values import ArrayValue, Number, PythonObject, Tuple, Value

NOT_SUPPORTED = {
    ast.Try: "try", ast.With: "with", ast.FunctionDef: "a function inside; use @usmx.device_func",
    ast.ClassDef: "classes", ast.Import: "import; import outside", ast.Raise: "raise; use assert",
    ast.ImportFrom: "import; import outside", ast.Global: "global; globals are read only",
    ast.Nonlocal: "nonlocal; what is captured is read only", ast.Delete: "del",
    ast.Match: "match", ast.AsyncFor: "async", ast.AsyncWith: "async",
    ast.AsyncFunctionDef: "async",
}  # fmt: skip


class Statements(Expressions):
    """What is done."""

    depth: int
    loops: int
    temporaries: int
    hint: str

    def assign_scalar(self, name: str, value: Number, node: ast.AST) -> Scalar:
        """The type that a variable has once it is assigned ``value`` too."""
        raise NotImplementedError

    def bind_static(self, name: str, value: Value, node: ast.AST) -> None:
        """Give a name to something that exists only while compiling."""
        raise NotImplementedError

    def body(self, statements: list[ast.stmt]) -> None:
        """Statements in a row."""
        for statement in statements:
            self.statement(statement)

    def block(self, head: str, statements: list[ast.stmt]) -> None:
        """Statements in braces."""
        self.line(head + " {")
        self.depth += 1
        self.body(statements)
        self.depth -= 1

    def statement(self, node: ast.stmt) -> None:
        """Any statement."""
        method = getattr(self, "on_" + type(node).__name__, None)
        if method is None:
            what = NOT_SUPPORTED.get(type(node), type(node).__name__)
            raise self.error(node, f"a kernel has no {what.removeprefix('a ')}")
        method(node)

    def on_Pass(self, node: ast.Pass) -> None:
        """``pass``."""

    def on_Expr(self, node: ast.Expr) -> None:
        """An expression for its effect."""
        if isinstance(node.value, ast.Constant):
            return  # a docstring
        value = self.value(node.value)
        if isinstance(value, Number) and not value.pure:
            self.line(value.code + ";")

    def on_Assign(self, node: ast.Assign) -> None:
        """``a = b = value``."""
        first = node.targets[0]
        self.hint = first.id if isinstance(first, ast.Name) else ""
        value = self.value(node.value)
        self.hint = ""
        if len(node.targets) > 1 and isinstance(value, Number) and value.const is None:
            value = self.temporary(value)
        for target in node.targets:
            self.assign(target, value, node.value)

    def on_AnnAssign(self, node: ast.AnnAssign) -> None:
        """``a: usmx.float32 = value``: a variable of that type."""
        annotation = self.value(node.annotation)
        t = types.named(annotation.value) if isinstance(annotation, PythonObject) else None
        if t is None:
            raise self.error(node.annotation, "the annotation is no type of a number")
        if node.value is None:
            return
        value = self.scalar(node.value)
        try:
            self.assign(node.target, operators.checked(value, t), node.value)
        except TypeError as error:
            raise self.error(node.value, str(error)) from None

    def on_AugAssign(self, node: ast.AugAssign) -> None:
        """``a += value``."""
        if isinstance(node.op, ast.MatMult):
            raise self.error(node, "'@=' is not defined in kernels")
        sign = BINARY[type(node.op)]
        b = self.scalar(node.value, f"the right side of '{sign}='")
        if isinstance(node.target, ast.Name):
            read = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
            a = self.number(node.target, self.read(read), f"'{node.target.id}'")
            if node.target.id not in self.assigned:
                raise self.error(node.target, f"'{node.target.id}' is read before it is assigned")
            self.assign(node.target, self.operate(node, sign, a, b), node)
            return
        if not isinstance(node.target, ast.Subscript):
            raise self.error(node.target, "only variables and elements can be assigned")
        a_array = self.target_element(node.target)
        if not a_array.pure:
            raise self.error(
                node.target, "its index would be evaluated twice; give it a name on a line before"
            )
        element = Number(a_array.element, self.reach(a_array))
        result = self.operate(node, sign, element, b)
        plain = sign in ("+", "-", "*", "&", "|", "^") or (
            sign == "/" and element.type.kind in "fc"
        )
        if self.module.grouped and sign in "*/" and element.type.kind == "f":
            plain = False  # the prelude says why
        if plain and result.type == element.type and not element.type.is_narrow:
            try:
                code = operators.checked(b, element.type).code
            except TypeError as error:
                raise self.error(node, str(error)) from None
            self.line(f"{element.code} {sign}= {code};")
            self.mark_written(a_array)
            return
        self.store(a_array, result, node)

    def assign(self, target: ast.expr, value: Value, node: ast.AST) -> None:
        """One target of an assignment."""
        if isinstance(target, ast.Name):
            self.assign_name(target, value, node)
        elif isinstance(target, ast.Subscript):
            a = self.target_element(target)
            self.store(a, self.number(node, value, "what is stored"), node)
        elif isinstance(target, ast.Tuple | ast.List):
            self.unpack(target, value, node)
        elif isinstance(target, ast.Starred):
            raise self.error(target, "a kernel has no '*' before a target")
        else:
            raise self.error(target, "only variables and elements can be assigned")

    def assign_name(self, target: ast.Name, value: Value, node: ast.AST) -> None:
        """``name = value``."""
        name = target.id
        if isinstance(value, Tuple):
            value = self.name_tuple(name, value, node)
        if isinstance(value, ArrayValue) and value.indices:
            raise self.error(
                node,
                f"a row of an array of {value.ndim} dimensions has no name of its own; give "
                "all indices where it is used",
            )
        if not isinstance(value, Number):
            self.bind_static(name, value, node)
            return
        t = self.assign_scalar(name, value, node)
        if name in self.known:
            del self.known[name]
        if self.stores.get(name) == 1 and name not in self.arguments:
            self.origins[name] = value.origins
            if isinstance(value.const, int) and value.type.weak and self.loops == 0:
                self.known[name] = value
        self.result.notes[target] = t
        try:
            self.line(f"{self.spell(name)} = {operators.checked(value, t).code};")
        except TypeError as error:
            raise self.error(node, f"{error}, the type of '{name}'") from None

    def name_tuple(self, name: str, value: Tuple, node: ast.AST) -> Tuple:
        """A tuple under a name: its numbers become variables, so that they keep their values."""
        known = all(isinstance(i, Number) and i.const is not None for i in value.items)
        if (known and self.stores.get(name) == 1) or not all(
            isinstance(i, Number) for i in value.items
        ):
            return value
        items: list[Value] = []
        numbers = [self.number(node, i) for i in value.items]
        if self.reads_tuple(name, value):
            numbers = [self.temporary(n) for n in numbers]
        for k, number in enumerate(numbers):
            part = f"{name}.{k}"
            t = self.variables.get(part)
            t = number.type if t is None else types.join(t, number.type)
            self.variables[part] = t
            self.assigned.add(part)
            self.line(f"{self.spell(part)} = {operators.checked(number, t).code};")
            items.append(Number(t, self.spell(part), origins=number.origins))
        old = self.statics.get(name)
        if isinstance(old, Tuple) and len(old.items) == len(items):
            self.statics[name] = Tuple(tuple(items))
        return Tuple(tuple(items))

    def reads_tuple(self, name: str, value: Tuple) -> bool:
        """Whether parts of the tuple that is replaced stand in its new value."""
        parts = [self.spell(p) for p in self.variables if p.startswith(name + ".")]
        return any(p in i.code for p in parts for i in value.items if isinstance(i, Number))

    def unpack(self, target: ast.Tuple | ast.List, value: Value, node: ast.AST) -> None:
        """``a, b = value``."""
        if not isinstance(value, Tuple):
            raise self.error(node, f"{v.describe(value)} cannot be unpacked; a tuple can")
        if len(target.elts) != len(value.items):
            raise self.error(node, f"{len(value.items)} values for {len(target.elts)} targets")
        items = list(value.items)
        # All values are there before the first target changes: a, b = b, a.
        if not self.independent(target, items):
            for k, item in enumerate(items):
                if isinstance(item, Number) and item.const is None and not _is_length(item):
                    items[k] = self.temporary(item)
        for one, item in zip(target.elts, items, strict=True):
            self.assign(one, item, node)

    def independent(self, target: ast.Tuple | ast.List, items: list[Value]) -> bool:
        """Whether no target stands in a value, so that they can be assigned one by one."""
        if not all(isinstance(one, ast.Name) for one in target.elts):
            return False
        spelled = {self.spell(one.id) for one in target.elts if isinstance(one, ast.Name)}
        words = {
            word
            for item in items
            if isinstance(item, Number)
            for word in re.findall(r"\w+", item.code)
        }
        return not spelled & words

    def temporary(self, value: Number) -> Number:
        """The value under a name, so that it is computed once and now."""
        self.temporaries += 1
        name = self.spell(f"once.{self.temporaries}")
        self.line(f"const {value.type.cpp} {name} = {value.code};")
        return Number(value.type, name, origins=value.origins)

    # --- elements -------------------------------------------------------------------------------

    def target_element(self, node: ast.Subscript) -> ArrayValue:
        """The element that is written."""
        of = self.value(node.value)
        if not isinstance(of, ArrayValue):
            raise self.error(node, f"{v.describe(of)} has no elements that could be assigned")
        a = self.indexed(node, of)
        if len(a.indices) < a.ndim:
            raise self.error(
                node,
                f"{len(a.indices)} indices for an array of {a.ndim} dimensions; a kernel "
                "writes single elements",
            )
        if a.space == "constant":
            raise self.error(node, "constant memory is read only; use its update() outside")
        if a.readonly:
            raise self.error(node, "the array that was passed is read only")
        return a

    def mark_written(self, a: ArrayValue) -> None:
        """Note that a parameter's elements are written."""
        if a.parameter is not None:
            self.result.written.add(a.parameter)

    def store(self, a: ArrayValue, value: Number, node: ast.AST) -> None:
        """``a[i] = value``."""
        try:
            code = operators.stored(value, a.element).code
        except TypeError as error:
            raise self.error(node, str(error)) from None
        self.mark_written(a)
        self.line(f"{self.reach(a)} = {code};")

    # --- control --------------------------------------------------------------------------------

    def on_If(self, node: ast.If, word: str = "if") -> None:
        """``if``, ``elif``, ``else``; what is known when compiling leaves one branch."""
        condition = self.condition(node.test)
        if condition.const is not None:
            if word != "if":
                self.block("} else", node.body if condition.const else node.orelse)
            else:
                self.body(node.body if condition.const else node.orelse)
            return
        self.block(f"{word} ({condition.code})", node.body)
        other = node.orelse
        if len(other) == 1 and isinstance(other[0], ast.If) and self.adds_no_line(other[0].test):
            self.on_If(other[0], "} else if")
        elif other:
            self.block("} else", other)
        if word == "if":
            self.line("}")

    def adds_no_line(self, node: ast.expr) -> bool:
        """Whether an expression is computed where it stands, without statements before it."""
        before = len(self.result.lines)
        self.condition(node)
        added = len(self.result.lines) > before
        del self.result.lines[before:]
        return not added

    def on_While(self, node: ast.While) -> None:
        """``while``."""
        if node.orelse:
            raise self.error(node.orelse[0], "a kernel has no else after a loop")
        self.loops += 1
        if self.adds_no_line(node.test):
            condition = self.condition(node.test)
            if condition.const is None or condition.const:
                self.block(f"while ({condition.code})", node.body)
                self.line("}")
        else:
            self.line("while (true) {")
            self.depth += 1
            self.line(f"if (!{self.condition(node.test).at(v.UNARY)}) break;")
            self.body(node.body)
            self.depth -= 1
            self.line("}")
        self.loops -= 1

    def on_For(self, node: ast.For) -> None:
        """``for i in range(...)``."""
        if node.orelse:
            raise self.error(node.orelse[0], "a kernel has no else after a loop")
        call = node.iter
        is_range = isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        if is_range:
            assert isinstance(call, ast.Call)
            called = self.value(call.func)
            is_range = isinstance(called, PythonObject) and called.value is range
        if not is_range:
            raise self.error(node.iter, "a kernel loops over range(...) only")
        assert isinstance(call, ast.Call)
        if not isinstance(node.target, ast.Name):
            raise self.error(node.target, "the target of a loop is one name")
        if call.keywords or not 1 <= len(call.args) <= 3:
            raise self.error(call, f"range takes 1 to 3 numbers, got {len(call.args)}")
        bounds = []
        for one in call.args:
            number = self.scalar(one, "a bound of range")
            if number.type.kind not in "biu":
                raise self.error(one, f"range takes ints, not {v.describe(number)}")
            try:
                bounds.append(operators.checked(number, types.INT))
            except TypeError as error:
                raise self.error(one, str(error)) from None
        start, stop, step = (
            (v.constant(0), bounds[0], v.constant(1))
            if len(bounds) == 1
            else (bounds[0], bounds[1], bounds[2] if len(bounds) == 3 else v.constant(1))
        )
        if step.const == 0:
            raise self.error(call.args[2], "range with a step of 0")
        self.loop(node, node.target, (start, stop, step))

    def loop(self, node: ast.For, target: ast.Name, bounds: tuple[Number, Number, Number]) -> None:
        """The loop itself; bounds are computed once, as Python does."""
        start, stop, step = bounds
        name = target.id
        t = self.assign_scalar(name, Number(types.INT, ""), target)
        self.result.notes[target] = t
        private = name in self.private_loops
        counter = self.spell(name) if private else self.spell(name + ".at")
        head = f"int64_t {counter} = {start.code}"
        number = None if step.const is None else int(step.const.real)
        if number is not None and (abs(number) == 1 or _stays_inside(stop, number)):
            if stop.const is None:
                limit = self.spell(name + ".end")
                head += f", {limit} = {stop.code}"
            else:
                limit = stop.code
            test = f"{counter} {'<' if number > 0 else '>'} {limit}"
            move = {1: f"++{counter}", -1: f"--{counter}"}.get(number, f"{counter} += {number}")
        else:
            # A step may lead beyond the last int, so that rounds are counted.
            by = step.code
            rounds = self.spell(name + ".rounds")
            if number is None:
                by = self.spell(name + ".step")
                head += f", {by} = {step.code}"
            head += f", {rounds} = int64_t(usmx::range_length({counter}, {stop.code}, {by}))"
            test = f"{rounds} != 0"
            move = f"--{rounds}, {counter} += {by}"
        self.line(f"for ({head}; {test}; {move}) {{")
        self.depth += 1
        if not private:
            self.line(f"{self.spell(name)} = {v.convert(Number(types.INT, counter), t).code};")
        self.loops += 1
        self.body(node.body)
        self.loops -= 1
        self.depth -= 1
        self.line("}")

    def on_Break(self, node: ast.Break) -> None:
        """``break``."""
        self.line("break;")

    def on_Continue(self, node: ast.Continue) -> None:
        """``continue``."""
        self.line("continue;")

    def on_Return(self, node: ast.Return) -> None:
        """``return``, with values in device functions only."""
        nothing = node.value is None or (
            isinstance(node.value, ast.Constant) and node.value.value is None
        )
        if self.is_kernel:
            if not nothing:
                raise self.error(node, "a kernel returns nothing; write to an array")
            self.line("return;")
            return
        if nothing:
            if self.result.returns is not None:
                raise self.error(node, "returns nothing here and a value before")
            self.result.returns_nothing = True
            self.line("return;")
            return
        assert node.value is not None
        if self.result.returns_nothing:
            raise self.error(node, "returns a value here and nothing before")
        value = self.value(node.value)
        items = value.items if isinstance(value, Tuple) else (value,)
        numbers = [self.number(node.value, item, "what is returned") for item in items]
        self.return_values(node, numbers, isinstance(value, Tuple))

    def return_values(self, node: ast.Return, numbers: list[Number], is_tuple: bool) -> None:
        """Join the types with those of other returns."""
        raise NotImplementedError

    def on_Assert(self, node: ast.Assert) -> None:
        """``assert``: prints where and what; the item goes on."""
        condition = self.condition(node.test)
        text = ast.unparse(node.test)
        if isinstance(node.msg, ast.Constant) and isinstance(node.msg.value, str):
            text += ": " + node.msg.value
        elif node.msg is not None:
            raise self.error(node.msg, "the message of an assert is a literal text")
        where = f"{self.place.filename}:{self.place.lineno(node)}"
        message = f"{where}: {self.function.name}: assertion failed: {text}\n".replace("%", "%%")
        self.line(f"if (!{condition.at(v.UNARY)}) USMX_PRINT({quoted(message)});")


def _stays_inside(stop: Number, step: int) -> bool:
    """Whether the counter of a loop stays among 64-bit ints behind its last round."""
    return stop.const is not None and -(2**63) <= int(stop.const.real) + step < 2**63


def _is_length(number: Number) -> bool:
    """Whether nothing in the kernel can change it."""
    return ".shape[" in number.code and number.pure
