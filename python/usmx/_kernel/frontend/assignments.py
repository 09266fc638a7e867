"""Assignments: to names, to elements, to several targets."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import re
from dataclasses import replace

from ..types import operators, scalars
from ..types import values as v
from ..types.values import ArrayValue, Number, PythonObject, Reference, Tuple, Value
from .elements import Elements
from .expressions import BINARY, Operators
from .names import Names
from .spelling import path_of
from .vectors import is_mutable, kind_of
from .views import as_view, check_same, check_view, is_another, point, rank
from .walk import Several, Walk, is_of_launch

_NONE: frozenset[str] = frozenset()


class Assignments:
    """What gets a value."""

    def __init__(self, walk: Walk, names: Names, elements: Elements, operators: Operators) -> None:
        self.walk = walk
        self.names = names
        self.elements = elements
        self.operators = operators

    def on_assign(self, node: ast.Assign) -> None:
        """``a = b = value``."""
        first = node.targets[0]
        self.walk.hint = first.id if isinstance(first, ast.Name) else ""
        value = self.walk.value(node.value)
        self.walk.hint = ""
        if len(node.targets) > 1 and isinstance(value, Number) and value.const is None:
            value = self.walk.temporary(value)
        for target in node.targets:
            self.assign(target, value, node.value)

    def named(self, node: ast.NamedExpr) -> Value:
        """``(name := value)``: assigned on a line before the statement."""
        value = self.walk.value(node.value)
        is_pure = isinstance(value, Number) and value.pure
        for other in ast.walk(self.walk.statement):
            if isinstance(other, ast.Name):
                matters = other.id == node.target.id
            else:
                matters = isinstance(other, ast.Call) and not is_pure
            if matters and _before(other, node):
                raise self.walk.error(
                    node,
                    f"would be computed before '{ast.unparse(other)}', which stands to its left; "
                    "assign it on a line before",
                )
        self.assign(node.target, value, node.value)
        read = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        return self.names.read(read)

    def on_annotated(self, node: ast.AnnAssign) -> None:
        """``a: usmx.float32 = value``: a variable of that type."""
        annotation = self.walk.value(node.annotation)
        t = scalars.named(annotation.value) if isinstance(annotation, PythonObject) else None
        t = t and scalars.value_of(t)
        if isinstance(annotation, PythonObject) and annotation.value is bool:
            t = scalars.PYTHON_BOOL
        if node.value is None:
            return
        value = self.walk.value(node.value)
        if t is None and not isinstance(value, Number):
            self.assign(node.target, value, node.value)  # a group, an array: it says what it is
            return
        if t is None:
            raise self.walk.error(node.annotation, "the annotation is not a number type")
        value = self.walk.number(node.value, value)
        try:
            self.assign(node.target, operators.checked(value, t), node.value)
        except TypeError as error:
            raise self.walk.error(node.value, str(error)) from None

    def on_augmented(self, node: ast.AugAssign) -> None:
        """``a += value``."""
        value = self.walk.value(node.value)
        if isinstance(node.target, ast.Name) or self._component(node.target) is not None:
            self._augment(node, value)
            return
        if not isinstance(node.target, ast.Subscript | ast.Attribute):
            raise self.walk.error(
                node.target, "only variables, elements and fields can be assigned"
            )
        element = self._place(node.target)
        if not isinstance(element, Number | Reference):
            raise self.walk.error(node.target, f"{v.describe(element)} cannot be changed")
        if not element.pure:
            raise self.walk.error(
                node.target, "its index would be evaluated twice; assign it to a variable first"
            )
        old = self.elements.records.read(node, element)
        if isinstance(old, Tuple):
            new = self.operators.combined(node, node.op, (node.target, old), (node.value, value))
            self._store(element, new, node)
            return
        element = self.walk.number(node.target, element)
        sign = _sign(self.walk, node)
        b = self.walk.number(node.value, value, f"the right side of '{sign}='")
        result = self.operators.operate(node, sign, v.loaded(element), b)
        plain = sign in ("+", "-", "*", "&", "|", "^") or (sign == "/" and element.type.kind == "f")
        if element.type.kind == "c":
            plain = False  # a method, which expects an object that is aligned
        if self.walk.module.records and element.type.kind == "f":
            plain = False  # records.write says why
        if self.walk.module.grouped and sign in "*/" and element.type.kind == "f":
            plain = False  # the prelude says why
        if plain and result.type == element.type and not element.type.is_narrow:
            try:
                code = operators.checked(b, element.type).code
            except TypeError as error:
                raise self.walk.error(node, str(error)) from None
            self.walk.line(f"{element.code} {sign}= {code};")
            return
        self._store(element, result, node)

    def _augment(self, node: ast.AugAssign, value: Value) -> None:
        """``a += value`` of a variable, or of a component of one."""
        target, walk = node.target, self.walk
        read: ast.expr
        if isinstance(target, ast.Name):
            read = ast.copy_location(ast.Name(target.id, ast.Load()), target)
            shown = f"'{target.id}'"
        else:
            # The same node: its indices are read twice, which is why they must be pure.
            read, shown = target, "the component"
        old = walk.value(read)
        if kind_of(old) is not None or kind_of(value) is not None:
            new = self.operators.combined(node, node.op, (target, old), (node.value, value))
            self.assign(target, new, node)
            return
        a = walk.number(target, old, shown)
        if isinstance(target, ast.Name) and target.id not in walk.scope.assigned:
            raise walk.error(target, f"'{target.id}' is read before it is assigned")
        sign = _sign(walk, node)
        b = walk.number(node.value, value, f"the right side of '{sign}='")
        new = self.operators.operate(node, sign, a, b)
        self.assign(target, new, node)

    def _place(self, target: ast.Subscript | ast.Attribute) -> Value:
        """What is in memory where a value is stored: a number or a record."""
        of = self.elements.in_memory(target.value)
        if isinstance(of, Reference):
            self.elements.records.mark_written(target, of)
            place = self.elements.part(target, of)
            if isinstance(place, ArrayValue):
                raise self.walk.error(target, "a kernel writes single elements, no arrays")
            return place
        if isinstance(target, ast.Attribute):
            raise self.walk.error(target, "only variables, elements and fields can be assigned")
        a = self.elements.to_write(target, of)
        self.walk.mark_written(a)
        return self.elements.place(a)

    def _component(self, target: ast.expr) -> Tuple | None:
        """The variable of which ``v.x`` or ``m[i, j]`` is a part that may change."""
        if not isinstance(target, ast.Attribute | ast.Subscript):
            return None
        name, _ = path_of(target)
        value = self.walk.scope.statics.get(name)
        return value if isinstance(value, Tuple) and is_mutable(value) else None

    def _set_component(self, target: ast.expr, of: Tuple, value: Value, node: ast.AST) -> None:
        """``v.x = value``."""
        walk = self.walk
        name, path = path_of(target)
        if name in walk.arguments:
            raise walk.error(
                target, f"'{name}' is a parameter; assign it to a variable and change that"
            )
        if isinstance(value, Number) and value.const is None:
            value = walk.temporary(value)
        walk.result.components.add(target)
        for condition, part, old in self._places(of, name, path):
            if isinstance(old, Tuple):
                if not isinstance(value, Tuple) or not v.has_form(old, value):
                    raise walk.error(node, f"{v.describe(value)} for {v.describe(old)}")
                pairs = list(zip(v.parts(part, old), v.parts("", value), strict=True))
            else:
                pairs = [((part, old), ("", walk.number(node, value)))]
            for (leaf, _), (_, item) in pairs:
                try:
                    number = walk.number(node, item)
                    code = operators.stored(number, walk.scope.variables[leaf]).code
                except TypeError as error:
                    raise walk.error(node, str(error)) from None
                walk.line(f"{condition}{walk.spell(leaf)} = {code};")

    def _places(
        self, of: Value, part: str, path: list[str | ast.expr], condition: str = ""
    ) -> list[tuple[str, str, Value]]:
        """Where an index may lead: what has to hold for it, the variable, and what is there."""
        if not path:
            return [(f"if ({condition}) " if condition else "", part, of)]
        walk, (at, *rest) = self.walk, path
        if not isinstance(of, Tuple):
            node = at if isinstance(at, ast.expr) else walk.statement
            raise walk.error(node, f"{v.describe(of)} has no components")
        if isinstance(at, str):
            if at not in of.fields:
                shown = ", ".join(of.fields)
                raise walk.error(walk.statement, f"{v.describe(of)} has no '{at}'; it has {shown}")
            k = of.fields.index(at)
            return self._places(of.items[k], f"{part}.{k}", rest, condition)
        index = walk.number(at, v.counted(walk.value(at)), "an index")
        if index.const is None and not is_of_launch(index):
            if index.type.kind not in "iu":
                raise walk.error(at, f"an index must be an int, not {v.describe(index)}")
            if not index.pure:
                raise walk.error(at, "an index of a component must be computed before")
            found = []
            index = walk.temporary(self.elements.from_end(index, v.constant(len(of.items))))
            for k, item in enumerate(of.items):
                more = f"{index.at(v.EQUAL + 1)} == {k}"
                both = f"{condition} && {more}" if condition else more
                found += self._places(item, f"{part}.{k}", rest, both)
            return found
        k = walk.to_constant(at, index, "the index of a component")
        if not -len(of.items) <= k < len(of.items):
            raise walk.error(at, f"index {k} of {v.describe(of)}")
        k %= len(of.items)
        return self._places(of.items[k], f"{part}.{k}", rest, condition)

    def assign(self, target: ast.expr, value: Value, node: ast.AST) -> None:
        """One target of an assignment."""
        component = self._component(target)
        if component is not None:
            self._set_component(target, component, value, node)
        elif isinstance(target, ast.Name):
            self._assign_name(target, value, node)
        elif isinstance(target, ast.Subscript | ast.Attribute):
            self._store(self._place(target), value, node)
        elif isinstance(target, ast.Tuple | ast.List):
            self._unpack(target, value, node)
        else:
            raise self.walk.error(target, "only variables, elements and fields can be assigned")

    def _assign_name(self, target: ast.Name, value: Value, node: ast.AST) -> None:
        """``name = value``."""
        name = target.id
        if isinstance(value, Tuple):
            value = self._name_tuple(name, value, node)
        if isinstance(value, ArrayValue) and name in self.walk.several:
            self._point(name, value, node)
            return
        if isinstance(value, ArrayValue) and (value.indices or value.sliced or value.within):
            value = self._name_row(name, value)
        if isinstance(value, Reference):
            value = self.elements.records.named(name, value)
        if isinstance(value, ArrayValue) and is_another(self.walk, name, value):
            old = self.walk.scope.statics[name]
            assert isinstance(old, ArrayValue)
            one = self.walk.several[name] = Several(old.element, rank(old))
            check_same(self.walk, node, f"'{name}'", one, value)  # a view from the next round on
            self.walk.bind(name)
            return
        if not isinstance(value, Number):
            self.names.bind_static(name, value, node)
            return
        t = self.names.assign_scalar(name, value, node)
        if name in self.walk.scope.known:
            del self.walk.scope.known[name]
        if self.walk.stores.get(name) == 1 and name not in self.walk.arguments:
            self.walk.scope.origins[name] = value.origins
            self.walk.scope.once[self.walk.spell(name)] = value.code
            if isinstance(value.const, int) and value.type.weak and self.walk.loops == 0:
                self.walk.scope.known[name] = value
        self.walk.result.notes[target] = t
        try:
            self.walk.line(f"{self.walk.spell(name)} = {operators.checked(value, t).code};")
        except TypeError as error:
            raise self.walk.error(node, f"{error}, the type of '{name}'") from None

    def _point(self, name: str, value: ArrayValue, node: ast.AST) -> None:
        """Give another array to a name that has had one."""
        check_same(self.walk, node, f"'{name}'", self.walk.several[name], value)
        check_view(self.walk, node, value)
        point(self.walk, name, value)
        self.walk.bind(name)

    def _name_row(self, name: str, value: ArrayValue) -> ArrayValue:
        """A row under a name: its indices become variables, so that they keep their values."""
        if value.within is not None:
            of = self.elements.records.named(f"{name}.of", value.within)
            code = of.code + value.code.removeprefix(value.within.code)
            value = replace(value, code=code, within=of)
        if value.sliced:
            left, spelled = value.ndim - len(value.indices), self.walk.spell(name)
            declared = f"usmx::strided<{value.sliced}, {left}> {{}}{{{{}}}};"
            others = [d for d in self.walk.result.declarations if d.endswith(f" {spelled}{{}};")]
            if others not in ([], [declared.format(spelled)]):  # in a loop over slices of several
                self.walk.temporaries += 1
                spelled = self.walk.spell(f"{name}.{self.walk.temporaries}")
            self.walk.declare(declared.format(spelled))
            self.walk.line(f"{spelled} = {as_view(value, is_written=True)};")
            return replace(value, code=spelled, ndim=left, indices=())
        indices = []
        for k, code in enumerate(value.indices):
            if code.isdigit():
                indices.append(code)
                continue
            part = f"{name}.at{k}"
            self.walk.scope.variables[part] = scalars.INT
            self.walk.scope.assigned.add(part)
            self.walk.line(f"{self.walk.spell(part)} = int64_t({code});")
            indices.append(self.walk.spell(part))
        return replace(value, indices=tuple(indices))

    def _name_tuple(self, name: str, value: Tuple, node: ast.AST) -> Tuple:
        """A tuple under a name: its numbers become variables, so that they keep their values."""
        once = self.walk.stores.get(name) == 1 and not is_mutable(value)
        copied = self._reads_tuple(name, value)
        items: list[Value] = []
        for part, item in [*v.parts(name, value)]:
            if isinstance(item, Number) and not (once and item.const is not None):
                items.append(self.walk.temporary(item) if copied else item)
            elif isinstance(item, Reference):
                items.append(self.elements.records.named(part, item))
            elif isinstance(item, ArrayValue) and (item.indices or item.sliced or item.within):
                items.append(self._name_row(part, item))
            else:
                items.append(item)
        for k, (part, _) in enumerate(v.parts(name, value)):
            number = items[k]
            if not isinstance(number, Number) or (once and number.const is not None):
                continue
            t = self.walk.scope.variables.get(part)
            t = number.type if t is None else scalars.join(t, number.type)
            self.walk.scope.variables[part] = t
            self.walk.scope.assigned.add(part)
            try:
                code = operators.checked(number, t).code
            except TypeError as error:
                raise self.walk.error(node, f"{error}, the type of an item of '{name}'") from None
            self.walk.line(f"{self.walk.spell(part)} = {code};")
            items[k] = Number(
                t, self.walk.spell(part), origins=number.origins if once else _NONE,
                least=self.walk.signs.least(number) if once else None,
                asks=number.asks if once else _NONE,
            )  # fmt: skip
        made = v.filled(value, iter(items))
        old = self.walk.scope.statics.get(name)
        if isinstance(old, Tuple) and old.kind is not made.kind and is_mutable(old):
            raise self.walk.error(
                node,
                f"'{name}' is {v.describe(old)} already and gets {v.describe(made)}; use another "
                "name, or convert it",
            )
        if isinstance(old, Tuple) and name not in self.walk.arguments and v.has_form(old, made):
            others = [
                [i for _, i in v.parts("", t) if not isinstance(i, Number)] for t in (old, made)
            ]
            if others[0] == others[1]:
                self.walk.scope.statics[name] = made
        return made

    def _reads_tuple(self, name: str, value: Tuple) -> bool:
        """Whether parts of the tuple that is replaced stand in its new value."""
        parts = [self.walk.spell(p) for p in self.walk.scope.variables if p.startswith(name + ".")]
        numbers = [i for _, i in v.parts("", value) if isinstance(i, Number)]
        return any(p in i.code for p in parts for i in numbers)

    def _unpack(self, target: ast.Tuple | ast.List, value: Value, node: ast.AST) -> None:
        """``a, b = value``."""
        if not isinstance(value, Tuple):
            raise self.walk.error(node, f"{v.describe(value)} cannot be unpacked; a tuple can")
        items = self._starred(target, list(value.items))
        if len(target.elts) != len(items):
            raise self.walk.error(node, f"{len(value.items)} values for {len(target.elts)} targets")
        # All values are there before the first target changes: a, b = b, a.
        if not self._independent(target, items):
            items = [self._kept(item) for item in items]
        for one, item in zip(target.elts, items, strict=True):
            self.assign(one.value if isinstance(one, ast.Starred) else one, item, node)

    def _starred(self, target: ast.Tuple | ast.List, items: list[Value]) -> list[Value]:
        """The values of targets, of which ``*rest`` takes a tuple."""
        stars = [k for k, one in enumerate(target.elts) if isinstance(one, ast.Starred)]
        if not stars or len(items) < len(target.elts) - 1:
            return items
        first, behind = stars[0], len(items) - (len(target.elts) - 1 - stars[0])
        return [*items[:first], Tuple(tuple(items[first:behind])), *items[behind:]]

    def _kept(self, item: Value) -> Value:
        """What the value is now."""
        if isinstance(item, Tuple):
            return v.filled(item, (self._kept(part) for _, part in v.parts("", item)))
        if isinstance(item, Number) and item.const is None and not _is_length(item):
            return self.walk.temporary(item)
        if isinstance(item, ArrayValue):
            code = self.walk.store_once("auto", item.code) if item.sliced else item.code
            indices = (
                at if at.isdigit() else self.walk.store_once("int64_t", at) for at in item.indices
            )
            return replace(item, code=code, indices=tuple(indices))
        return item

    def _independent(self, target: ast.Tuple | ast.List, items: list[Value]) -> bool:
        """Whether no target stands in a value, so that they can be assigned one by one."""
        if not all(isinstance(one, ast.Name) for one in target.elts):
            return False
        names = tuple(one.id for one in target.elts if isinstance(one, ast.Name))
        within = tuple(f"{name}." for name in names)  # parts, indices of rows
        spelled = {self.walk.spell(name) for name in names}
        spelled |= {s for name, s in self.walk.spell.given.items() if name.startswith(within)}
        words = {
            word
            for item in items
            for _, part in v.parts("", item)
            if isinstance(part, Number | ArrayValue)
            for code in (part.code, *(part.indices if isinstance(part, ArrayValue) else ()))
            for word in re.findall(r"\w+", code)
        }
        return not spelled & words

    def _store(self, place: Value, value: Value, node: ast.AST) -> None:
        """``a[i] = value``."""
        records = self.elements.records
        if isinstance(place, Reference):
            records.store(node, place, value)
            return
        if isinstance(place, ArrayValue):
            self._fill(place, value, node)
            return
        number = self.walk.number(node, value, "the stored value")
        assert isinstance(place, Number)
        records.write(node, place, number)

    def _fill(self, part: ArrayValue, value: Value, node: ast.AST) -> None:
        """``a[i] = value``, ``a[2:5] = value`` of a number, which all elements of the part get."""
        walk, t = self.walk, part.element
        if not isinstance(t, scalars.Scalar):
            raise walk.error(node, "records are assigned one by one; write a loop over them")
        if not isinstance(value, Number):
            raise walk.error(
                node,
                f"all elements of a part of an array get one number, not {v.describe(value)}; "
                "write a loop over them",
            )
        check_view(walk, node, part)
        try:
            number = walk.store_once(t.cpp, operators.stored(value, t).code)
        except TypeError as error:
            raise walk.error(node, str(error)) from None
        view = walk.store_once("auto", as_view(part, is_written=True))
        at = [walk.spell(f"{view}.at{k}") for k in range(rank(part))]
        loops = "".join(
            f"for (int64_t {i} = 0; {i} < {view}.shape[{k}]; ++{i}) " for k, i in enumerate(at)
        )
        element = f"[{at[0]}]" if len(at) == 1 else f"({', '.join(at)})"
        walk.line(f"{loops}{view}{element} = {number};")


def _sign(walk: Walk, node: ast.AugAssign) -> str:
    if isinstance(node.op, ast.MatMult):
        raise walk.error(node, "'@' is not defined for numbers; it is the product of matrices")
    return BINARY[type(node.op)]


def _before(one: ast.AST, other: ast.expr) -> bool:
    assert isinstance(one, ast.expr)
    return (one.lineno, one.col_offset) < (other.lineno, other.col_offset) and not any(
        part is other for part in ast.walk(one)
    )


def _is_length(number: Number) -> bool:
    """Whether nothing in the kernel can change it."""
    return bool(re.fullmatch(r"\w+\.shape\[\d\]", number.code))
