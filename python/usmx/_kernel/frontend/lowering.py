"""Functions that other constructs of Python say: each is a template, compiled in place of the call.

The simulator runs the same replacement, so that an entry here, or an operator in the table of
operations, is all that such a function needs.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import copy
import importlib
import re
import sys

from ... import _operations
from ..language import cuda_functions, intrinsics
from ..language.forms import OPERANDS, Form
from ..language.functions import atomic, item_functions, local
from ..types import scalars
from ..types.values import Number, Value
from .walk import Walk, by_name, constant, in_order

#: What functions say with operands a, b, c. A name in braces is that function.
TEMPLATES = {
    "builtins.divmod": "(a // b, a % b)",
    "builtins.pow": "a ** b",
    "builtins.round": "{row.rint}(a * 10.0**b) / 10.0**b",
    "math.log": "{math.log}(a) / {math.log}(b)",
    "math.modf": "({math.copysign}(0.0 if {math.isinf}(a) else {math.fmod}(a, 1.0), a), "
    "{row.trunc}(a))",
    "cmath.log": "{cmath.log}(a) / {cmath.log}(b)",
    "cmath.log10": "{cmath.log}(a) / 2.302585092994046",
    "cmath.polar": "({builtins.abs}(a), {cmath.phase}(a))",
    "cmath.rect": "{builtins.complex}(a * {math.cos}(b), a * {math.sin}(b))",
    "cmath.isnan": "{math.isnan}(a.real) | {math.isnan}(a.imag)",
    "cmath.isinf": "{math.isinf}(a.real) | {math.isinf}(a.imag)",
    "cmath.isfinite": "{math.isfinite}(a.real) & {math.isfinite}(a.imag)",
    "numpy.where": "b if a else c",
    "numpy.divmod": "(a // b, a % b)",
    "numpy.true_divide": "a / b",
    "numpy.mod": "a % b",
    "numpy.bitwise_and": "a & b",
    "numpy.bitwise_or": "a | b",
    "numpy.bitwise_xor": "a ^ b",
    "numpy.invert": "~a",
    "numpy.left_shift": "a << b",
    "numpy.right_shift": "a >> b",
    "numpy.equal": "a == b",
    "numpy.not_equal": "a != b",
    "numpy.less": "a < b",
    "numpy.less_equal": "a <= b",
    "numpy.greater": "a > b",
    "numpy.greater_equal": "a >= b",
    "numpy.logical_and": "(a != 0) & (b != 0)",
    "numpy.logical_or": "(a != 0) | (b != 0)",
    "numpy.logical_xor": "(a != 0) != (b != 0)",
    "numpy.logical_not": "a == 0",
    "operator.abs": "{builtins.abs}(a)",
    "operator.inv": "~a",
    "operator.invert": "~a",
    "operator.not_": "not a",
    "operator.truth": "{builtins.bool}(a)",
}
#: Methods of numbers; `a` is the number.
METHODS = {
    "astype": "b(a)",
    "bit_count": "{usmx.popcount}({builtins.abs}(a))",
    "conj": "a.conjugate()",
}
_BRACES = re.compile(r"\{([\w.]+)\}")
#: Where the names of functions are looked up.
_MODULES = {"usmx": "usmx._kernel.language.functions"}


class Lowering:
    """Replaces calls by what says the same."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        #: The replacement of each call or name, the same in every round.
        self.made: dict[ast.expr, ast.expr] = {}

    def call(self, node: ast.expr, template: str, operands: list[ast.expr]) -> Value:
        """The value of the template for these operands."""
        if node not in self.made:
            self.made[node] = ast.fix_missing_locations(
                ast.copy_location(_Filled(self.walk, operands).of(template), node)
            )
        new = self.walk.result.lowered[node] = self.made[node]
        return self.walk.value(new)

    def on_getattr(self, node: ast.Call) -> Value:
        """``getattr(x, "name")``, also with a name that a closure variable or a global holds."""
        of, name = in_order(self.walk, node, 2)
        text: object = name.value if isinstance(name, ast.Constant) else None
        if isinstance(name, ast.Name) and name.id not in (
            *self.walk.stores,
            *self.walk.function.parameters,
        ):
            text = self.walk.lookup(name.id)
        if not isinstance(text, str):
            raise self.walk.error(name, "the name of an attribute must be text that is known")
        if node not in self.made:
            self.made[node] = ast.copy_location(ast.Attribute(of, text, ast.Load()), node)
        new = self.walk.result.lowered[node] = self.made[node]
        return self.walk.value(new)

    def on_form(self, node: ast.Call, form: Form) -> Value:
        """A call of what stands for an expression."""
        found = by_name(self.walk, node, *form.parameters)
        missing = [n for n, one in zip(form.parameters, found, strict=True) if one is None]
        if len(form.parameters) - len(missing) < form.least:
            raise self.walk.error(
                node, f"'{ast.unparse(node.func)}' needs a value for '{missing[0]}'"
            )
        zero = ast.copy_location(ast.Constant(0), node)
        operands = [zero if one is None else one for one in found]
        numbers: list[int] = []
        if form.counts:
            for one in operands:
                numbers.append(self.walk.to_constant(one, self.walk.value(one), "the argument"))
        return self._form(node, form, operands, numbers)

    def on_value(self, node: ast.expr, form: Form) -> Value:
        """A name that stands for an expression."""
        return self._form(node, form, [], [])

    def _form(
        self, node: ast.expr, form: Form, operands: list[ast.expr], numbers: list[int]
    ) -> Value:
        try:
            template = form.of(self.walk.module.rank, *numbers)
        except ValueError as error:
            raise self.walk.error(node, str(error)) from None
        return self.call(node, template, operands)

    def find(self, obj: object, operands: int) -> str | None:
        """The template of a function for that many operands."""
        return _table().get((id(obj), operands), (None, None))[1]

    def method(self, of: Value, name: str) -> str | None:
        """The template of a method of a number."""
        return METHODS.get(name) if isinstance(of, Number) else None


class _Filled(ast.NodeTransformer):
    """A template with its operands. One that is used twice is computed once."""

    def __init__(self, walk: Walk, operands: list[ast.expr]) -> None:
        self.walk = walk
        self.operands = dict(zip(OPERANDS, operands, strict=False))
        self.uses: dict[str, int] = {}
        self.names: dict[str, str] = {}
        self.objects: list[object] = []

    def of(self, template: str) -> ast.expr:
        """The whole."""

        def name_of(found: re.Match[str]) -> str:
            self.objects.append(_function(found[1]))
            return f"f{len(self.objects) - 1}"

        tree = ast.parse(_BRACES.sub(name_of, template), mode="eval").body
        for part in ast.walk(tree):
            if isinstance(part, ast.Name):
                self.uses[part.id] = self.uses.get(part.id, 0) + 1
        new: ast.expr = self.visit(tree)
        return new

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """An operand, or a function of the template."""
        name = node.id
        if name not in self.operands:
            return constant(self.objects[int(name[1:])])
        operand = self.operands[name]
        if self.uses[name] == 1:
            return operand
        if isinstance(operand, ast.Name | ast.Constant):
            return copy.copy(operand)
        if name in self.names:
            return ast.Name(self.names[name], ast.Load())
        self.names[name] = variable = self.walk.new_variable()
        return ast.NamedExpr(ast.Name(variable, ast.Store()), operand)


def _function(path: str) -> object:
    module, _, name = path.rpartition(".")
    if module == "row":  # of the table of operations, which has names that need no import
        return next(row for row in intrinsics.ROWS if row.row.name == name)
    if module == "item":  # without an item
        return item_functions[name]
    if module == "type":
        return scalars.BY_NAME[name]
    if module in ("atomic", "local"):
        return getattr({"atomic": atomic, "local": local}[module], name)
    if module == "cuda":
        return cuda_functions.NAMES[name]
    found: object = getattr(importlib.import_module(_MODULES.get(module, module)), name)
    return found


_known: dict[tuple[int, int], tuple[object, str]] = {}
_numpy_known = False


def _table() -> dict[tuple[int, int], tuple[object, str]]:
    """By function and number of operands; functions of NumPy only once it is imported."""
    global _numpy_known  # noqa: PLW0603 - NumPy may be imported after the first kernel
    if not _known or (not _numpy_known and "numpy" in sys.modules):
        _numpy_known = "numpy" in sys.modules
        rows = [
            (path, row.inlined)
            for row in _operations.OPERATIONS
            if row.inlined
            for path in (f"numpy.{row.name}", f"operator.{row.method}", f"operator.{row.method}_")
        ]
        for path, template in [*TEMPLATES.items(), *rows]:
            module, _, name = path.rpartition(".")
            if module == "numpy" and not _numpy_known:
                continue
            obj = getattr(importlib.import_module(module), name or "_", None)
            if obj is not None:
                _known.setdefault((id(obj), _operands(template)), (obj, template))
    return _known


def _operands(template: str) -> int:
    tree = ast.parse(_BRACES.sub("f", template))
    return len({n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} & set("abc"))
