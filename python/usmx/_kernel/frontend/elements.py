"""Arrays: their shapes, indices and elements; and ``a.name`` of any value."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import enum
import functools
import types as python_types
from dataclasses import replace

from ..language.functions import Namespace
from ..language.records import is_vector
from ..language.vectors import METHODS as METHODS_OF_VECTORS
from ..source.diagnostics import number_of
from ..types import operators, scalars
from ..types import values as v
from ..types.scalars import Record
from ..types.values import (
    ArrayValue,
    AtomicValue,
    ItemValue,
    Method,
    Number,
    PythonObject,
    Reference,
    Tuple,
    Value,
    constant,
    convert,
    typed,
)
from . import instead
from .expressions import Operators
from .lowering import METHODS
from .names import Names
from .vectors import is_mutable, kind_of
from .views import as_view, check_view, reach
from .walk import Walk, is_of_launch


class Elements:
    """What is inside of arrays."""

    def __init__(self, walk: Walk, operators: Operators) -> None:
        self.walk = walk
        self.operators = operators
        self.records = operators.records

    # --- shapes ---------------------------------------------------------------------------------

    def attribute(self, node: ast.AST, a: ArrayValue, name: str) -> Value:
        """``a.shape`` and its like."""
        if name == "shape":
            return Tuple(tuple(self.length(a, k) for k in range(len(a.indices), a.ndim)))
        if name == "ndim":
            return constant(a.ndim - len(a.indices))
        if name in ("dtype", "itemsize") and not a.fields:
            return PythonObject(a.element) if name == "dtype" else constant(a.element.size)
        if name == "size":
            size = constant(1)
            for k in range(len(a.indices), a.ndim):
                size = self.operators.operate(node, "*", size, self.length(a, k))
                if k == len(a.indices) and a.ndim - len(a.indices) == 1:
                    size = self.length(a, k)
            return size
        if isinstance(a.element, Record):
            return self.field_of_all(node, a, name)
        if name in ("real", "imag") and a.element.kind == "c":
            part = ".re" if name == "real" else ".im"
            return replace(a, element=scalars.real_of(a.element), part=part)
        hint = instead.of_array(name)
        raise self.walk.error(node, f"'{name}' of an array is not supported in kernels{hint}")

    def field_of_all(self, node: ast.AST, a: ArrayValue, name: str) -> ArrayValue:
        """``x["mass"]``: the field of each element, once it has its indices."""
        record = a.element
        for one in (*a.fields, name):
            f = record.field(one) if isinstance(record, Record) else None
            if f is None:
                raise self.walk.error(node, f"{a.element} have no field '{one}' here")
            record = f.type
        return replace(a, fields=(*a.fields, name))

    def length(self, a: ArrayValue, axis: int) -> Number:
        """The length of an axis."""
        if a.shape is not None:
            return constant(a.shape[axis])
        origin = f"{a.parameter}.shape[{axis}]"
        if self.walk.is_kernel and origin in self.walk.module.known and not a.sliced:
            return constant(self.walk.module.known[origin])
        is_given = self.walk.is_kernel and a.parameter and not a.sliced
        origins = frozenset({origin}) if is_given else frozenset[str]()
        return Number(scalars.INT, f"{a.code}.shape[{axis}]", origins=origins, least=0)

    # --- indices --------------------------------------------------------------------------------

    def subscript(self, node: ast.Subscript) -> Value:
        """``a[i, j]``."""
        walk = self.walk
        of = walk.value(node.value)
        name = text_of(node.slice)
        if name is not None:
            return self.named(node, of, name)
        if isinstance(of, Tuple) and isinstance(node.slice, ast.Slice):
            return self._part(of, node.slice)
        if isinstance(of, Tuple):
            many = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            if kind_of(of) is None and len(many) > 1:
                raise walk.error(node.slice, "a tuple takes one index")
            found: Value = of
            self.note_part(node.value)
            for one in many:
                if not isinstance(found, Tuple):
                    raise walk.error(one, f"{v.describe(found)} has no elements")
                found = self._item(node, one, found)
            return found
        if isinstance(of, Reference) and walk.module.numba:
            return self.records.read(node, self._part_of_vector(node, of))
        if not isinstance(of, ArrayValue):
            raise walk.error(node, f"{v.describe(of)} has no elements{instead.of_item(of)}")
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if any(isinstance(part, ast.Slice) for part in parts):
            return self._sliced(node, of, parts)
        return self.element(self.indexed(node, of))

    def named(self, node: ast.Subscript, of: Value, name: str) -> Value:
        """``x[i]["mass"]``, ``x["mass"]``."""
        if isinstance(of, Reference):
            return self.records.read(node, self.records.field(node, of, name))
        if isinstance(of, ArrayValue):
            return self.field_of_all(node, of, name)
        if isinstance(of, Tuple) and is_mutable(of):
            if name in of.fields:
                self.note_part(node.value)
                return of.items[of.fields.index(name)]
            shown = ", ".join(of.fields)
            raise self.walk.error(node, f"the record has no field '{name}'; it has {shown}")
        raise self.walk.error(node, f"{v.describe(of)} has no fields")

    def note_part(self, node: ast.expr) -> None:
        """Only a part of this is read, if it is in memory."""
        if isinstance(node, ast.Subscript | ast.Attribute):
            self.walk.result.partial.add(node)

    def in_memory(self, node: ast.expr) -> Value:
        """What an expression stands for, without reading what is in memory."""
        root: ast.expr = node
        while isinstance(root, ast.Subscript | ast.Attribute):
            root = root.value
        if not isinstance(node, ast.Subscript | ast.Attribute) or not isinstance(root, ast.Name):
            return self.walk.value(node)
        return self.part(node, self.in_memory(node.value))

    def part(self, node: ast.Subscript | ast.Attribute, of: Value) -> Value:
        """The same of a part of what is in memory."""
        found = self._part_in_memory(node, of)
        if isinstance(found, Reference):
            self.walk.result.partial.add(node)
        return found

    def _part_in_memory(self, node: ast.Subscript | ast.Attribute, of: Value) -> Value:
        name = node.attr if isinstance(node, ast.Attribute) else text_of(node.slice)
        if isinstance(of, Reference) and name is not None:
            return self.records.field(node, of, name)
        if isinstance(of, Reference) and isinstance(node, ast.Subscript):
            return self._part_of_vector(node, of)
        if isinstance(of, ArrayValue) and isinstance(node, ast.Subscript):
            if name is not None:
                return self.field_of_all(node, of, name)
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            if any(isinstance(part, ast.Slice) for part in parts):
                return self._sliced(node, of, parts)
            return self.place(self.indexed(node, of))
        return self.walk.value(node)

    def _part_of_vector(self, node: ast.Subscript, of: Reference) -> Value:
        """``x[i][0]`` of an element that is a vector, ``x[i][0, 1]`` of one that is a matrix."""
        if is_vector(of.record):
            whole = self.records.field(node, of, of.record.names[0])
            if isinstance(whole, ArrayValue):
                return self.place(self.indexed(node, whole))
            at = self.walk.value(node.slice)
            k = self.walk.to_constant(node.slice, at, "the index of a vector in memory")
            if not -len(of.record.names) <= k < len(of.record.names):
                raise self.walk.error(node.slice, f"index {k} of {v.describe(of)}")
            return self.records.field(node, of, of.record.names[k])
        if self.walk.module.numba:  # whose records have their fields by number too
            k = self.walk.to_constant(node.slice, self.walk.value(node.slice), "a field's number")
            if 0 <= k < len(of.record.names):
                return self.records.field(node, of, of.record.names[k])
        raise self.walk.error(node, f"{v.describe(of)} has fields, no elements; write p.name")

    def _item(self, node: ast.Subscript, at: ast.expr, of: Tuple) -> Value:
        """``t[k]``."""
        walk = self.walk
        index = v.counted(walk.value(at))
        if isinstance(index, Number) and index.const is None and not is_of_launch(index):
            return self._chosen(node, of, index)
        k = walk.to_constant(at, index, "the index of a tuple")
        if not -len(of.items) <= k < len(of.items):
            raise walk.error(at, f"index {k} of a tuple of {len(of.items)}")
        return of.items[k]

    def _sliced(self, node: ast.Subscript, a: ArrayValue, parts: list[ast.expr]) -> ArrayValue:
        """``a[i, 2:5]``: a view of a part, without a copy."""
        walk, axis, kept = self.walk, len(a.indices), 0
        codes = []
        for part in parts:
            if axis == a.ndim:
                raise walk.error(
                    part,
                    f"{number_of(len(parts), 'index')} for an array of "
                    f"{number_of(a.ndim - len(a.indices), 'dimension')}",
                )
            if isinstance(part, ast.Slice):
                step = self._bound(part.step, "1")
                if step == "0":
                    raise walk.error(part, "the step of a slice is 0; expected another number")
                bounds = [self._bound(one, "usmx::not_given") for one in (part.lower, part.upper)]
                codes.append(f"usmx::slice{{{', '.join(bounds)}, {step}}}")
                kept += 1
            else:
                codes.append(self._index(part, walk.value(part), a, axis)[0])
            axis += 1
        check_view(walk, node, a)
        element = a.sliced
        if not element:
            const = "const " if a.space == "constant" else ""
            is_own = a.space != "global"
            element = f"{const}{a.element.cpp}" if is_own else f"decltype({a.code})::value_type"
        view = f"usmx::with_strides({as_view(a, a.space != 'constant')})"
        name = walk.store_once("auto", f"usmx::sliced({', '.join([view, *codes])})")
        return replace(
            a, code=name, ndim=kept + a.ndim - axis, indices=(), shape=None, dense=False,
            sliced=element, pure=True, within=None,
        )  # fmt: skip

    def _bound(self, node: ast.expr | None, otherwise: str) -> str:
        """A number of a slice as C++."""
        if node is None or (isinstance(node, ast.Constant) and node.value is None):
            return otherwise
        value = v.counted(self.walk.value(node))
        number = self.walk.number(node, value, "a bound of a slice")
        if number.type.kind not in "iu":
            raise self.walk.error(
                node, f"a bound of a slice must be an int, not {v.describe(number)}"
            )
        return operators.checked(number, scalars.INT).code

    def _part(self, of: Tuple, node: ast.Slice) -> Tuple:
        """``t[1:]``: of a tuple, whose length has to stay known."""
        bounds = [
            None if one is None else self._known(one) for one in (node.lower, node.upper, node.step)
        ]
        if bounds[2] == 0:
            raise self.walk.error(node, "the step of a slice is 0; expected another number")
        return Tuple(of.items[slice(*bounds)])

    def _known(self, node: ast.expr) -> int:
        """A bound that is known when compiling."""
        return self.walk.to_constant(node, self.walk.value(node), "a bound of a tuple's slice")

    def _chosen(self, node: ast.Subscript, of: Tuple, index: Number) -> Value:
        """``(a, b)[i]`` of an index that the kernel computes."""
        walk = self.walk
        if index.type.kind not in "iu":
            raise walk.error(node.slice, f"an index must be an int, not {v.describe(index)}")
        if not of.items:
            raise walk.error(node, "an empty tuple has no elements")
        first = of.items[0]
        index = self.from_end(index, constant(len(of.items)))
        if isinstance(first, Tuple) and kind_of(of) is not None:
            # A row of a matrix.
            numbers = Tuple(tuple(item for _, item in v.parts("", of)))
            t, name = listed(walk, node.value, numbers, "the matrix")
            at, count = walk.temporary(operators.checked(index, scalars.INT)), len(first.items)
            row = (Number(t, f"{name}[{at.code} * {count} + {k}]") for k in range(count))
            return v.filled(first, row)
        t, name = listed(walk, node.value, of, "the tuple")
        if not isinstance(node.slice, ast.Tuple):
            walk.result.notes[node] = t
        return Number(t, f"{name}[{index.code}]", pure=index.pure)

    def indexed(self, node: ast.Subscript, a: ArrayValue) -> ArrayValue:
        """An array with the indices of a subscript added to those it had."""
        many = isinstance(node.slice, ast.Tuple)
        nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        codes: list[str] = []
        pure = a.pure
        for at in nodes:
            axis = len(a.indices) + len(codes)
            value = self.walk.value(at)
            if isinstance(value, Tuple) and not many:
                return self.with_indices(node, a, [(at, item) for item in value.items])
            if axis >= a.ndim:
                raise self.walk.error(
                    at,
                    f"{number_of(len(a.indices) + len(nodes), 'index')} for an array of "
                    f"{number_of(a.ndim, 'dimension')}",
                )
            code, is_pure = self._index(at, value, a, axis)
            codes.append(code)
            pure = pure and is_pure
        return replace(a, indices=(*a.indices, *codes), pure=pure)

    def with_indices(
        self, node: ast.AST, a: ArrayValue, indices: list[tuple[ast.expr, Value]]
    ) -> ArrayValue:
        """An array indexed by values that were evaluated before."""
        codes: list[str] = []
        pure = a.pure
        for at, value in indices:
            axis = len(a.indices) + len(codes)
            if axis >= a.ndim:
                raise self.walk.error(
                    node,
                    f"{number_of(len(a.indices) + len(indices), 'index')} for an array of "
                    f"{number_of(a.ndim, 'dimension')}",
                )
            code, is_pure = self._index(at, value, a, axis)
            codes.append(code)
            pure = pure and is_pure
        return replace(a, indices=(*a.indices, *codes), pure=pure)

    def _index(self, node: ast.expr, value: Value, a: ArrayValue, axis: int) -> tuple[str, bool]:
        """One index as C++."""
        number = self.walk.number(node, v.counted(value), "an index")
        if number.type.kind not in "iu":
            hint = "; round it down with int()" if number.type.kind == "f" else ""
            raise self.walk.error(node, f"an index must be an int, not {v.describe(number)}{hint}")
        if number.const is not None:
            at = int(number.const.real)
            length = self.length(a, axis)
            if length.const is not None:
                n = int(length.const.real)
                if not -n <= at < n:
                    raise self.walk.error(node, f"index {at} is out of bounds for a length of {n}")
                return str(at % n), True
            if at < 0:
                return f"{length.code} - {-at}", True
            return str(at), True
        return self.from_end(number, self.length(a, axis)).code, number.pure

    def from_end(self, number: Number, length: Number) -> Number:
        """An index that may be negative, as Python counts: then from the end."""
        if self.walk.signs.is_index_of(number, length):
            return number
        self.walk.module.asks |= number.asks
        code = f"usmx::from_end({number.code}, {length.code})"
        return Number(scalars.INT, code, pure=number.pure)

    # --- elements -------------------------------------------------------------------------------

    def element(self, a: ArrayValue) -> Value:
        """The number at a full set of indices, else the array with those it has."""
        found = self.place(a)
        in_record = isinstance(a.element, Record) or a.space == "field"
        if in_record:
            return self.records.read(self.walk.statement, found)
        return v.loaded(found) if isinstance(found, Number) else found

    def place(self, a: ArrayValue) -> Value:
        """The same, of which nothing is read yet."""
        if len(a.indices) < a.ndim:
            return a
        if not isinstance(a.element, Record):
            return Number(a.element, reach(a), pure=a.pure)
        found: Value = Reference(
            a.element, reach(a), parameter=a.parameter,
            readonly=a.readonly or a.space == "constant", pure=a.pure,
        )  # fmt: skip
        for name in a.fields:
            assert isinstance(found, Reference)
            found = self.records.field(self.walk.statement, found, name)
        return found

    def to_write(self, node: ast.Subscript, of: Value | None = None) -> ArrayValue:
        """The element that is written, or the part of an array."""
        of = self.walk.value(node.value) if of is None else of
        if not isinstance(of, ArrayValue):
            what = f"{v.describe(of)} has no elements that could be assigned"
            raise self.walk.error(node, what + instead.of_item(of))
        inside = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if any(isinstance(part, ast.Slice) for part in inside):
            a = self._sliced(node, of, inside)
        else:
            a = self.indexed(node, of)
        if a.space == "constant":
            raise self.walk.error(node, "constant memory is read-only; use its update() outside")
        if a.readonly:
            raise self.walk.error(node, "the array is read-only")
        return a


class Attributes:
    """What stands behind a dot."""

    def __init__(self, walk: Walk, names: Names, elements: Elements) -> None:
        self.walk = walk
        self.names = names
        self.elements = elements

    def attribute(self, node: ast.Attribute) -> Value:
        """``a.name``."""
        of, name = self.walk.value(node.value), node.attr
        reads = self.walk.module.reads
        member = self._member(node.value) if name in ("value", "name") else None
        if member is not None:
            return self.names.captured(reads.attribute(member, name), ast.unparse(node), node)
        if isinstance(of, ArrayValue):
            return self.elements.attribute(node, of, name)
        if isinstance(of, Number):
            if name in ("real", "imag"):
                if of.const is not None:
                    return constant(getattr(of.const, name))
                if of.type.kind == "c":
                    real = scalars.real_of(of.type)
                    return Number(real, f"{of.at(v.ATOM)}.{name}()", pure=of.pure)
                return of if name == "real" else typed(convert(constant(0), of.type))
            if name == "dtype":
                return PythonObject(scalars.STRONG_OF.get(of.type.name, of.type))
            if name in ("conjugate", "view") or name in METHODS:
                return Method(of, name)
        elif isinstance(of, Reference):
            if name == "copy" and of.record.field(name) is None:
                return Method(of, name)
            return self.elements.records.read(node, self.elements.records.field(node, of, name))
        elif isinstance(of, Tuple):
            if kind_of(of) is not None and name in METHODS_OF_VECTORS:
                return Method(of, name)
            if name == "copy" and is_mutable(of) and name not in of.fields:
                return Method(of, name)
            if name in of.fields:
                self.elements.note_part(node.value)
                return of.items[of.fields.index(name)]
            if of.fields:
                raise self.walk.error(
                    node, f"{v.describe(of)} has no '{name}'; it has {', '.join(of.fields)}"
                )
        elif isinstance(of, ItemValue) and name == "dimensions":
            return constant(self.walk.module.rank)
        elif isinstance(of, ItemValue | AtomicValue):
            return Method(of, name)
        elif isinstance(of, PythonObject):
            obj = of.value
            module = isinstance(obj, python_types.ModuleType | Namespace | type)
            foreign = instead.of_cuda(obj, name)
            if foreign is not None:
                raise self.walk.error(node, foreign)
            if isinstance(obj, scalars.Scalar) and name == "type":
                return of
            if module and hasattr(obj, name):
                return self.names.captured(reads.attribute(obj, name), ast.unparse(node), node)
            if module:
                raise self.walk.error(node, f"there is no '{ast.unparse(node)}'")
            if obj is not None and not callable(obj) and hasattr(obj, name):
                # A number kept in an object of the program, frozen like a global.
                return self.names.captured(reads.attribute(obj, name), ast.unparse(node), node)
        raise self.walk.error(node, f"'{name}' of {v.describe(of)} is not supported in kernels")

    def _member(self, node: ast.expr) -> enum.Enum | None:
        """The member of an enumeration that an expression names; those of numbers are numbers."""
        found: object = None
        if isinstance(node, ast.Attribute):
            owner = self.walk.value(node.value)
            if isinstance(owner, PythonObject) and isinstance(owner.value, enum.EnumMeta):
                found = self.walk.module.reads.attribute(owner.value, node.attr, None)
        elif isinstance(node, ast.Name) and not (
            node.id in self.walk.stores or node.id in self.walk.arguments
        ):
            found = self.walk.lookup(node.id)
        return found if isinstance(found, enum.Enum) else None


def listed(walk: Walk, node: ast.expr, value: Tuple, what: str) -> tuple[scalars.Scalar, str]:
    """The numbers of a tuple as a table of this function: their type and its name.

    There is at least one number.
    """
    numbers = [walk.number(node, item, f"an item of {what}") for item in value.items]
    t = functools.reduce(scalars.join, (one.type for one in numbers))
    try:
        codes = [operators.checked(one, t).code for one in numbers]
    except TypeError as error:
        raise walk.error(node, str(error)) from None
    return t, walk.store_once(t.cpp, f"{{{', '.join(codes)}}}", f"[{len(codes)}]")


def text_of(node: ast.expr) -> str | None:
    """The name of a field between brackets."""
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return node.value if is_text else None  # type: ignore[attr-defined]
