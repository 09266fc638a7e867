"""The simulator's Python: a kernel's own tree, with the compiler's arithmetic and conversions.

Lines and the name of the file stay, so breakpoints and tracebacks lead to the kernel's text. What
needs the other items of a group becomes a ``yield``: the scheduler answers when all are there.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from typing import Any

from ..frontend.expressions import SIGNS
from ..frontend.groups import COLLECTIVE, SHUFFLE
from ..frontend.results import Instance, Walked
from ..frontend.spelling import path_of
from ..language import functions
from ..language.constants import ConstantArray
from ..language.intrinsics import Intrinsic
from ..language.records import RecordValue
from ..language.vectors import VectorType
from ..source.function import MISSING, Nested
from ..types.scalars import INT, Scalar
from ..types.values import ArrayValue, Method, Number, PythonObject, Tuple, parts

WAITING = {"barrier", "any", "all", *COLLECTIVE, *SHUFFLE}
#: Name under which the tools of the simulator are found in a rewritten function.
TOOLS = "_usmx_simulator"


class Rewriter(ast.NodeTransformer):
    """One function."""

    def __init__(self, walked: Walked, tools: Any) -> None:
        memo: dict[int, Any] = {}
        self.walked = walked
        self.tools = tools
        self.tree = copy.deepcopy(walked.function.tree, memo)
        result = walked.result
        self.lowered = {
            memo[id(n)]: copy.deepcopy(new, memo)
            for n, new in result.lowered.items()
            if id(n) in memo
        }
        self.notes = {memo[id(n)]: t for n, t in result.notes.items() if id(n) in memo}
        self.called = {memo[id(n)]: o for n, o in result.called.items() if id(n) in memo}
        self.bound = {memo[id(n)]: o for n, o in result.bound.items() if id(n) in memo}
        self.components = {memo[id(n)] for n in result.components if id(n) in memo}
        self.partial = {memo[id(n)] for n in result.partial if id(n) in memo}
        self.objects: dict[str, object] = {}
        self.ranges: set[ast.AST] = set()
        self.count = 0

    def function(self) -> Callable[..., Any]:
        """The rewritten function."""
        tree = self.tree
        tree.decorator_list = []
        tree.returns = None
        defaults, a = self.walked.function.defaults, tree.args
        by_keyword = [defaults.pop(p.arg, MISSING) for p in a.kwonlyargs]
        a.kw_defaults = [None if v is MISSING else self.keep(v) for v in by_keyword]
        a.defaults = [self.keep(v) for v in defaults.values()]
        for p in (*a.posonlyargs, *a.args, *a.kwonlyargs):
            p.annotation = None
        body: list[ast.stmt] = []
        for name in self.walked.function.parameters:
            t = self.walked.variables.get(name)
            if isinstance(t, Scalar):
                target = ast.Name(name, ast.Store())
                body.append(ast.Assign([target], self.cast(t, ast.Name(name, ast.Load()))))
        tree.body = body + [s for old in tree.body for s in self.statements(old)] or [ast.Pass()]
        module = ast.Module([tree], [])
        ast.copy_location(tree, self.walked.function.tree)
        for node in ast.walk(module):
            if not hasattr(node, "lineno") and isinstance(node, ast.stmt | ast.expr):
                node.lineno = node.end_lineno = getattr(tree.body[0], "lineno", 1) or 1
                node.col_offset = node.end_col_offset = 0
        ast.fix_missing_locations(module)
        first = self.walked.function.place.first_line
        ast.increment_lineno(module, first - 1)
        python: Any = self.walked.function.python
        names: dict[str, Any] = dict(python.__globals__)
        code = python.__code__
        for name, cell in zip(code.co_freevars, python.__closure__ or (), strict=True):
            names[name] = cell.cell_contents
        for name, value in names.items():
            if isinstance(value, ConstantArray):
                names[name] = self.tools.constant(value, name)
        names[TOOLS] = self.tools
        names.update(self.objects)
        text = compile(module, code.co_filename, "exec")
        made: dict[str, Callable[..., Any]] = {}
        # Not among its own globals, where it would keep itself and what it captured.
        exec(text, names, made)
        return made[tree.name]

    # --- pieces -----------------------------------------------------------------------------------

    def keep(self, obj: object) -> ast.expr:
        """An expression for an object that has no name."""
        self.count += 1
        name = f"_usmx_object_{id(self)}_{self.count}"
        self.objects[name] = obj
        return ast.Name(name, ast.Load())

    def tool(self, name: str, *arguments: ast.expr) -> ast.expr:
        """A call of the simulator."""
        function = ast.Attribute(ast.Name(TOOLS, ast.Load()), name, ast.Load())
        return ast.Call(function, list(arguments), [])

    def cast(self, t: Scalar, value: ast.expr) -> ast.expr:
        """The value as one of type ``t``."""
        return self.tool("cast", self.keep(t), value)

    def waiting(self, request: ast.expr) -> ast.expr:
        """What the scheduler answers."""
        return ast.Yield(request)

    # --- statements -------------------------------------------------------------------------------

    def statements(self, node: ast.stmt) -> list[ast.stmt]:
        """The statements that a statement becomes."""
        new = self.visit(node)
        many = new if isinstance(new, list) else [new]
        for one in many:
            for part in ast.walk(one):
                if isinstance(part, ast.stmt | ast.expr) and not hasattr(part, "lineno"):
                    ast.copy_location(part, node)
        return many

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements of a block."""
        return [new for old in body for new in self.statements(old)]

    def visit_If(self, node: ast.If) -> Any:
        """Both branches."""
        node.test = self.visit(node.test)
        node.body, node.orelse = self.block(node.body), self.block(node.orelse)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """A function inside of this one: calls have what it is."""
        return ast.Assign([ast.Name(node.name, ast.Store())], ast.Constant(None))

    def visit_Lambda(self, _: ast.Lambda) -> Any:
        """The same."""
        return ast.Constant(None)

    def visit_While(self, node: ast.While) -> Any:
        """The body, and what follows if break does not end it."""
        node.test = self.visit(node.test)
        node.body, node.orelse = self.block(node.body), self.block(node.orelse)
        return node

    def visit_For(self, node: ast.For) -> Any:
        """The body, and the types of the loop variables."""
        self.iterated(node.iter)
        node.iter = self.visit(node.iter)
        node.body, node.orelse = self.block(node.body), self.block(node.orelse)
        changes: list[ast.stmt] = []
        for target in ast.walk(node.target):
            t = self.notes.get(target)
            if t is not None and isinstance(target, ast.Name):
                read = ast.Name(target.id, ast.Load())
                changes.append(ast.Assign([ast.Name(target.id, ast.Store())], self.cast(t, read)))
        node.body = changes + node.body
        return node

    def iterated(self, node: ast.expr) -> None:
        """``range`` inside of what a loop goes through takes ints of Python."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            return
        if self.walked.function.lookup(node.func.id) is range:
            self.ranges.add(node)
        for one in node.args:
            self.iterated(one)

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Each target gets the value in its own type."""
        value = self.visit(node.value)
        if len(node.targets) == 1 and not isinstance(node.targets[0], ast.Tuple | ast.List):
            return self.assign(node.targets[0], value)
        self.count += 1
        name = f"_usmx_value_{self.count}"
        many: list[ast.stmt] = [ast.Assign([ast.Name(name, ast.Store())], value)]
        for target in node.targets:
            many += self.unpack(target, ast.Name(name, ast.Load()))
        return many

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """``a: usmx.float32 = value``."""
        if node.value is None:
            return ast.Pass()
        return self.assign(node.target, self.visit(node.value))

    def unpack(self, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
        """One target of several."""
        if not isinstance(target, ast.Tuple | ast.List):
            return [self.assign(target, value)]
        made, starred = [], False
        for k, one in enumerate(target.elts):
            behind = k + 1 - len(target.elts)
            at: ast.expr = ast.Constant(behind - 1 if starred else k)
            place = one
            if isinstance(one, ast.Starred):
                starred, place = True, one.value
                at = ast.Slice(ast.Constant(k), ast.Constant(behind or None))
            made += self.unpack(place, ast.Subscript(value, at, ast.Load()))
        return made

    def assign(self, target: ast.expr, value: ast.expr) -> ast.stmt:
        """One target."""
        if target in self.components:
            name, path = path_of(target)
            steps = [ast.Constant(at) if isinstance(at, str) else self.visit(at) for at in path]
            changed = self.tool("replaced", ast.Name(name, ast.Load()), value, *steps)
            return self.assign(ast.Name(name, ast.Store()), changed)
        if isinstance(target, ast.Name):
            t = self.notes.get(target)
            if t is not None:
                value = self.cast(t, value)
            else:
                dot = f"{target.id}."
                types = {
                    name.removeprefix(target.id): kind
                    for name, kind in self.walked.variables.items()
                    if name.startswith(dot) and name[len(dot) :].replace(".", "").isdigit()
                }
                if types:
                    value = self.tool("cast_tuple", self.keep(types), value)
            return ast.Assign([target], value)
        return ast.Assign([self.visit(target)], value)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """As an assignment."""
        read = copy.deepcopy(node.target)
        read.ctx = ast.Load()
        if node.target in self.components:
            sign = ast.Constant(SIGNS[type(node.op)])
            value = self.tool("binary", sign, self.visit(read), self.visit(node.value))
            return self.assign(node.target, value)
        if isinstance(node.target, ast.Attribute):
            assert isinstance(read, ast.Attribute)
            node.target.value = read.value = self.visit(node.target.value)
        elif isinstance(node.target, ast.Subscript):
            assert isinstance(read, ast.Subscript)
            node.target.slice = self.visit(node.target.slice)
            node.target.value = self.visit(node.target.value)
            read.slice, read.value = node.target.slice, node.target.value
        sign = ast.Constant(SIGNS[type(node.op)])
        value = self.tool("binary", sign, read, self.visit(node.value))
        if isinstance(node.target, ast.Name):
            return self.assign(node.target, value)
        return ast.Assign([node.target], value)

    def visit_Raise(self, node: ast.Raise) -> Any:
        """Python's own."""
        return node

    def visit_Return(self, node: ast.Return) -> Any:
        """In the type of the function."""
        if node.value is None:
            return node
        value = self.visit(node.value)
        returns = self.walked.result.returns
        if returns is not None:
            form = self.walked.result.returns_tuple
            if form is not None:
                names = [name for name, _ in parts("", form)]
                types = dict(zip(names, returns, strict=True))
                value = self.tool("cast_tuple", self.keep(types), value)
            else:
                value = self.cast(returns[0], value)
        node.value = value
        return node

    # --- expressions ------------------------------------------------------------------------------

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        """The compiler's arithmetic."""
        sign = ast.Constant(SIGNS[type(node.op)])
        t = self.notes.get(node)
        left, right = self.visit(node.left), self.visit(node.right)
        if t is not None and t.kind == "f":
            left = self.cast(t, left)
        return self.tool("binary", sign, left, right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        """The same."""
        new = self.generic_visit(node)
        assert isinstance(new, ast.UnaryOp)
        if isinstance(new.op, ast.USub) and not isinstance(new.operand, ast.Constant):
            return self.tool("negative", new.operand)
        if isinstance(new.op, ast.UAdd | ast.Invert) and not isinstance(new.operand, ast.Constant):
            sign = "+" if isinstance(new.op, ast.UAdd) else "~"
            return self.tool("signed", ast.Constant(sign), new.operand)
        return new

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        """In the type that all operands have together."""
        t = self.notes.get(node)
        self.generic_visit(node)
        return node if t is None else self.cast(t, node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Any:
        """In the type of the variable."""
        value, t = self.visit(node.value), self.notes.get(node.target)
        node.value = value if t is None else self.cast(t, value)
        return node

    def visit_Constant(self, node: ast.Constant) -> Any:
        """What a template names is not a literal."""
        plain = (bool, int, float, complex, str, bytes, type(None), type(...))
        return node if isinstance(node.value, plain) else self.keep(node.value)

    def visit_Compare(self, node: ast.Compare) -> Any:
        """A bool of Python's, of its numbers, or of NumPy's; what was known when compiling, as with
        dtypes, is known here."""
        known, t = self.called.get(node), self.notes.get(node)
        if isinstance(known, PythonObject):
            new: ast.expr = ast.Constant(bool(known.value))
        else:
            self.generic_visit(node)
            new = node
        return ast.Call(self.keep(bool), [new], []) if t is None else self.cast(t, new)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> Any:
        """A number by itself, or numbers in a tuple."""
        self.generic_visit(node)
        if node.format_spec is None:
            node.value = self.tool("shown", node.value)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        """In the type of both branches."""
        t = self.notes.get(node)
        self.generic_visit(node)
        return node if t is None else self.cast(t, node)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """Arrays check their indices."""
        nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        new = [self.visit(one) for one in nodes]
        if isinstance(node.slice, ast.Tuple):
            node.slice.elts = new
        else:
            node.slice = new[0]
        node.value = self.visit(node.value)
        if node in self.partial and isinstance(node.ctx, ast.Load):
            return self.tool("reference", node.value, node.slice)
        t = self.notes.get(node)
        return node if t is None else self.cast(t, node)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        """A record in another one may be read in part."""
        if node in self.lowered:
            return self.visit(self.lowered[node])
        is_partial = node in self.partial and isinstance(node.ctx, ast.Load)
        node.value = self.visit(node.value)
        return self.tool("reference", node.value, ast.Constant(node.attr)) if is_partial else node

    def visit_Name(self, node: ast.Name) -> Any:
        """A name may stand for an expression."""
        return self.visit(self.lowered[node]) if node in self.lowered else node

    def visit_Call(self, node: ast.Call) -> Any:
        """What the compiler found the call to be."""
        if node in self.lowered:
            return self.visit(self.lowered[node])
        if node in self.ranges:
            ints: list[ast.expr] = [
                ast.Call(self.keep(int), [self.cast(INT, self.visit(a))], []) for a in node.args
            ]
            return ast.Call(self.keep(range), ints, [])
        what = self.called.get(node)
        t = self.notes.get(node)
        node.func = self.lowered.get(node.func, node.func)
        if isinstance(what, PythonObject):
            return self.keep(what.value)
        if isinstance(what, ArrayValue):
            make = "private" if what.space == "private" else "local"
            return self.tool(make, self.keep(node), self.keep(what))
        func = node.func
        node.args = [self.visit(a) for a in node.args]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        if isinstance(what, Scalar):
            if len(node.args) == 2:
                return self.cast(what, ast.Call(self.keep(complex), node.args, []))
            return self.cast(what, node.args[0] if node.args else ast.Constant(0))
        if isinstance(what, VectorType):
            return self.tool("vector", self.keep(what), *node.args)
        if isinstance(what, type) and issubclass(what, RecordValue):
            made = self.tool("record", self.keep(what), *node.args)
            assert isinstance(made, ast.Call)
            made.keywords = node.keywords
            return made
        if isinstance(what, Intrinsic):
            assert t is not None
            return self.tool("intrinsic", self.keep(what), self.keep(t), *node.args)
        if isinstance(what, Instance):
            function = self.keep(self.tools.function_of(what))
            if isinstance(what.walked.function, Nested):
                node.keywords += [
                    ast.keyword(name, ast.Name(name, ast.Load()))
                    for name in what.walked.function.captured
                ]
            first = [self.keep(self.bound[node])] if node in self.bound else []
            called = ast.Call(function, first + node.args, node.keywords)
            return ast.YieldFrom(called) if is_waiting(what.walked) else called
        if isinstance(what, Method):
            assert isinstance(func, ast.Attribute)
            func.value = self.visit(func.value)
            if isinstance(what.of, Number) and what.name == "view":
                assert t is not None
                return self.tool("bits", self.keep(what.of.type), self.keep(t), func.value)
            if isinstance(what.of, Tuple):
                return self.tool("method", ast.Constant(what.name), func.value, *node.args)
            if what.name in WAITING and not isinstance(what.of, ArrayValue):
                # What is None for a barrier: the scheduler answers only when all are there.
                return self.waiting(
                    self.tool("request", self.keep(what), self.keep(t), func.value, *node.args)
                )
            return node
        if what is functions.barrier:
            return self.waiting(self.tool("request", ast.Constant("barrier")))
        if what is functions.group_barrier:
            return self.waiting(self.tool("request", ast.Constant("barrier"), *node.args))
        for name, method in functions.ITEM_FUNCTIONS.items():
            if what is functions.item_functions[name]:
                return self.tool("of_item", ast.Constant(method), *node.args)
        if what is functions.fence:
            return ast.Constant(None)
        if what is functions.AtomicRef:
            node.func = ast.Attribute(ast.Name(TOOLS, ast.Load()), "AtomicRef", ast.Load())
            return node
        for name in functions.ATOMIC:
            if what is getattr(functions.atomic, name):
                return self.tool("atomic", ast.Constant(name), *node.args)
        if what is print:
            node.args = [self.tool("shown", one) for one in node.args]
        if what is sum:
            return ast.Call(self.keep(self.tools.total), node.args, node.keywords)
        if what in (min, max):
            extreme = self.tool("extreme", self.keep(what), *node.args)
            return extreme if t is None else self.cast(t, extreme)
        node.func = self.keep(what) if what is not None else self.visit(func)
        return node


def is_waiting(walked: Walked) -> bool:
    """Whether a function needs the other items of its group."""
    for what in walked.result.called.values():
        if what in (functions.barrier, functions.group_barrier):
            return True
        if (
            isinstance(what, Method)
            and what.name in WAITING
            and what.of.__class__ is not ArrayValue
        ):
            return True
        if isinstance(what, Instance) and is_waiting(what.walked):
            return True
    return False
