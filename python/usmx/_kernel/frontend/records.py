"""Records in memory: their fields, their copies as values, and the structs of C++ that they are."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
from dataclasses import replace

from ..language import records as language
from ..language.vectors import VectorType, row_of
from ..types import operators
from ..types import values as v
from ..types.scalars import Field, Record, Scalar
from ..types.values import ArrayValue, Number, Reference, Tuple, Value
from . import spelling
from .walk import Walk, by_name


def members(record: Record) -> list[str]:
    """Names of the fields in C++."""
    spelled = [spelling.spell(name) for name in record.names]
    if all(map(str.isidentifier, record.names)) and len(set(spelled)) == len(spelled):
        return spelled
    return [f"field{k}" for k in range(len(spelled))]


def declarations(used: dict[str, Record]) -> list[str]:
    """The structs of records, each after those that are in it."""
    if not used:
        return []
    found: dict[str, Record] = {}
    for record in used.values():
        _add_with_parts(record, found)
    # Places are NumPy's: nothing is added between fields, and memory need not be aligned for them.
    lines = ["#pragma pack(push, 1)", "namespace record {"]
    for record in found.values():
        lines += _declaration(record)
    return [*lines, "}", "#pragma pack(pop)", "", *_STORED]


def _add_with_parts(record: Record, found: dict[str, Record]) -> None:
    for f in record.fields:
        if isinstance(f.type, Record):
            _add_with_parts(f.type, found)
    found.setdefault(record.cpp, record)


# A field may lie at any byte, so the compiler stores it byte by byte. NVIDIA's assembler (ptxas of
# CUDA 13.0, and so the driver) takes the 8-bit store of a register that a floating-point
# instruction wrote for a conversion of the number, not for its lowest byte; a move between is bits.
_STORED = """\
namespace record {
template <class T>
inline T stored(T x) {
  return x;
}
#ifdef __NVPTX__
inline float stored(float x) {
  float bits;
  __asm__("mov.b32 %0, %1;" : "=f"(bits) : "f"(x));
  return bits;
}
inline double stored(double x) {
  double bits;
  __asm__("mov.b64 %0, %1;" : "=d"(bits) : "d"(x));
  return bits;
}
inline half stored(half x) {
  uint16_t bits;
  __asm__("mov.b16 %0, %1;" : "=h"(bits) : "h"(__builtin_bit_cast(uint16_t, x)));
  return __builtin_bit_cast(half, bits);
}
template <class T>
inline usmx::complex<T> stored(usmx::complex<T> x) {
  return {stored(x.re), stored(x.im)};
}
#endif
}
""".splitlines()


def _declaration(record: Record) -> list[str]:
    name = record.cpp.removeprefix("record::")
    lines, at = [f"struct {name} {{"], 0

    def skip(to: int) -> None:
        if to > at:
            lines.append(f"  unsigned char skipped{at}[{to - at}];")

    for f, member in zip(record.fields, members(record), strict=True):
        skip(f.offset)
        lengths = "".join(f"[{n}]" for n in f.shape)
        lines.append(f"  {f.type.cpp} {member}{lengths};")
        at = f.offset + f.size
    skip(record.size)
    lines += ["};", f"static_assert(sizeof({name}) == {record.size});"]
    return lines


class Records:
    """What is done with records in memory."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk

    def field(self, node: ast.AST, of: Reference, name: str) -> Value:
        """``p.name``, which is a part of the same memory."""
        f = of.record.field(name)
        if f is None:
            shown = ", ".join(of.record.names)
            raise self.walk.error(
                node, f"the record has no field '{name}' of a supported type; it has {shown}"
            )
        return self._part(of, f)

    def _part(self, of: Reference, f: Field) -> Value:
        member = members(of.record)[of.record.fields.index(f)]
        code = f"{of.code}.{member}"
        if f.shape:
            return ArrayValue(
                f.type, len(f.shape), code, "field", f.shape, parameter=of.parameter,
                readonly=of.readonly, pure=of.pure, within=of,
            )  # fmt: skip
        if isinstance(f.type, Record):
            return replace(of, record=f.type, code=code)
        return Number(f.type, code, pure=of.pure)

    def loaded(self, node: ast.AST, of: Reference) -> Tuple:
        """The record as a value: a tuple of its fields, or a vector."""
        count = language.count_of(of.record)
        if count > language.MOST_NUMBERS:
            raise self.walk.error(
                node,
                f"a record of {count} numbers; at most {language.MOST_NUMBERS} are copied to a "
                "value; use its fields",
            )
        kind = language.kind_of(of.record)
        items = [self._value(node, self._part(of, f)) for f in of.record.fields]
        if isinstance(kind, VectorType) and len(kind._shape) == 2:
            [matrix] = items
            assert isinstance(matrix, Tuple)
            form = [n for _, n in v.parts("", matrix)]
            rows, columns = kind._shape
            row = row_of(kind)
            items = [Tuple(tuple(form[k * columns : (k + 1) * columns]), row) for k in range(rows)]
        return Tuple(tuple(items), kind)

    def _value(self, node: ast.AST, part: Value) -> Value:
        if isinstance(part, Reference):
            return self.loaded(node, part)
        if not isinstance(part, ArrayValue):
            return part
        assert part.shape is not None
        return self._items(node, part, part.shape)

    def _items(self, node: ast.AST, a: ArrayValue, lengths: tuple[int, ...]) -> Value:
        """An array in a record as a tuple of tuples."""
        if not lengths:
            return self._value(node, element_of_field(a))
        items = (
            self._items(node, replace(a, indices=(*a.indices, str(k))), lengths[1:])
            for k in range(lengths[0])
        )
        return Tuple(tuple(items))

    def values(self, node: ast.AST, value: Value) -> Value:
        """A value that can be returned: records are copied, also those in tuples."""
        if isinstance(value, Reference):
            return self.loaded(node, value)
        if isinstance(value, Tuple):
            return Tuple(tuple(self.values(node, item) for item in value.items), value.kind)
        return value

    def read(self, node: ast.AST, value: Value) -> Value:
        """What is read of memory: vectors are values, other records stay where they are."""
        if isinstance(value, Reference) and language.is_vector(value.record):
            return self.loaded(node, value)
        if isinstance(value, Number) and value.type.kind == "c":
            # A copy: its functions expect an object that is aligned.
            return replace(value, code=f"{value.type.cpp}({value.code})", level=v.ATOM)
        return value

    def made(self, node: ast.Call, record: Record) -> Tuple:
        """``Point(x, y)`` of a struct of ctypes; fields that are missing are zero."""
        walk, kind = self.walk, language.kind_of(record)
        nodes = by_name(walk, node, *record.names)
        items: list[Value] = []
        for f, one in zip(record.fields, nodes, strict=True):
            zero = self._zero(f.type, f.shape)
            items.append(zero if one is None else self._like(one, zero, walk.value(one)))
        walk.result.called[node] = kind
        return Tuple(tuple(items), kind)

    def _zero(self, t: Scalar | Record, shape: tuple[int, ...]) -> Value:
        if shape:
            return Tuple(tuple(self._zero(t, shape[1:]) for _ in range(shape[0])))
        if isinstance(t, Record):
            items = tuple(self._zero(f.type, f.shape) for f in t.fields)
            return Tuple(items, language.kind_of(t))
        return replace(v.convert(v.constant(0), t), const=None)

    def _like(self, node: ast.AST, form: Value, value: Value) -> Value:
        """A value in the form of another one."""
        walk, value = self.walk, self.values(node, value)
        if isinstance(form, Tuple):
            if not isinstance(value, Tuple) or len(value.items) != len(form.items):
                raise walk.error(node, f"{v.describe(value)} for {v.describe(form)}")
            pairs = zip(form.items, value.items, strict=True)
            return Tuple(tuple(self._like(node, a, b) for a, b in pairs), form.kind)
        assert isinstance(form, Number)
        number = walk.number(node, value, "a field")
        try:
            made = operators.stored(number, form.type)
        except TypeError as error:
            raise walk.error(node, str(error)) from None
        return replace(made, const=None, origins=frozenset())

    def leaves(self, node: ast.AST, of: Reference) -> list[Number]:
        """All its numbers in memory."""
        found = [n for _, n in v.parts("", self.loaded(node, of))]
        return [self.walk.number(node, n) for n in found]

    def store(self, node: ast.AST, of: Reference, value: Value) -> None:
        """``x[i] = value`` of a whole record."""
        walk = self.walk
        self.mark_written(node, of)
        if isinstance(value, Reference) and value.record == of.record:
            walk.line(f"{of.code} = {value.code};")
            return
        if not isinstance(value, Tuple):
            raise walk.error(
                node,
                f"{v.describe(value)} cannot be stored in a record of "
                f"{', '.join(of.record.names)}; a tuple of them can",
            )
        places = self.leaves(node, of)
        form = self.loaded(node, of)
        numbers = [walk.number(node, n) for _, n in v.parts("", value)]
        if len(value.items) != len(form.items) or len(numbers) != len(places):
            raise walk.error(
                node, f"{v.describe(value)} for a record of {', '.join(of.record.names)}"
            )
        # All are read before the first is written.
        numbers = [n if n.const is not None else walk.temporary(n) for n in numbers]
        for place, number in zip(places, numbers, strict=True):
            self.write(node, place, number)

    def write(self, node: ast.AST, place: Number, value: Number) -> None:
        """A number in memory gets a value."""
        try:
            code = operators.stored(value, place.type).code
            if place.type.kind in "fc" and self.walk.module.records:
                code = f"record::stored({code})"
            self.walk.line(f"{place.code} = {code};")
        except TypeError as error:
            raise self.walk.error(node, str(error)) from None

    def mark_written(self, node: ast.AST, of: Reference | ArrayValue) -> None:
        """Note that a parameter's memory is written."""
        if of.readonly:
            raise self.walk.error(node, "the array is read-only")
        if of.parameter is not None:
            self.walk.mark(of.parameter)

    def named(self, name: str, of: Reference) -> Reference:
        """A record under a name: a pointer to where it is now."""
        walk = self.walk
        spelled = walk.spell(name)
        is_written = of.parameter is None or of.parameter in walk.written
        const = "" if is_written else "const "
        walk.declare(f"{const}{of.record.cpp}* {spelled}{{}};")
        walk.line(f"{spelled} = &{of.code};")
        return replace(of, code=f"(*{spelled})", pure=True)


def element_of_field(a: ArrayValue) -> Value:
    """What stands at a full set of indices in an array that is a field."""
    code = a.code + "".join(f"[{i}]" for i in a.indices)
    if isinstance(a.element, Record):
        return Reference(a.element, code, parameter=a.parameter, readonly=a.readonly, pure=a.pure)
    assert isinstance(a.element, Scalar)
    return Number(a.element, code, pure=a.pure)
