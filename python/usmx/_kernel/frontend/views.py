"""Views of arrays: as arguments of functions, and under names that stand for several arrays."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast

from ..types.scalars import Record
from ..types.values import ArrayValue
from .walk import Several, Walk, array_of


def check_view(walk: Walk, node: ast.AST, a: ArrayValue) -> None:
    """Refuse what has no view: functions take arrays whose elements are aligned, and whole."""
    if a.part:
        raise walk.error(
            node, "a part of complex numbers cannot be passed or sliced; pass the array"
        )
    if a.fields or (a.space == "field" and not isinstance(a.element, Record)):
        what = f"the field '{a.fields[-1]}' of an array" if a.fields else "an array in a record"
        raise walk.error(
            node, f"{what} cannot be passed or sliced; pass the {'array' if a.fields else 'record'}"
        )


def as_view(a: ArrayValue, is_written: bool) -> str:
    """An array, or a row of one, as an argument of a device function."""
    if a.space == "global" or a.sliced:
        code = f"usmx::row({', '.join([a.code, *a.indices])})" if a.indices else a.code
        return code if is_written else f"usmx::readable({code})"
    const = "" if is_written else "const "
    assert a.shape is not None
    left = a.shape[len(a.indices) :]
    first = a.code + "".join(f"[{at}]" for at in a.indices) + "[0]" * len(left)
    lengths = ", ".join(map(str, left))
    return f"usmx::dense<{const}{a.element.cpp}, {len(left)}>{{&{first}, {{{lengths}}}}}"


def reach(a: ArrayValue) -> str:
    """The C++ of an element."""
    if a.space != "global" and not a.sliced:
        return a.code + "".join(f"[{i}]" for i in a.indices) + a.part
    if a.ndim == 1:
        return f"{a.code}[{a.indices[0]}]{a.part}"
    return f"{a.code}({', '.join(a.indices)}){a.part}"


def rank(a: ArrayValue) -> int:
    """The dimensions that are left of it."""
    return a.ndim - len(a.indices)


def is_view(walk: Walk, a: ArrayValue) -> bool:
    """Whether a name of several arrays, or a choice, can stand for this one."""
    # Own memory has one place, also where Python would make it again in a loop.
    is_own = a.space != "global" and not walk.module.numba
    return not (is_own or a.fields or a.part or a.within is not None or a.space == "field")


def is_another(walk: Walk, name: str, value: ArrayValue) -> bool:
    """Whether a name that stands for one array gets one that it could stand for as well."""
    old = walk.scope.statics.get(name)
    if not isinstance(old, ArrayValue) or old == value:
        return False
    if not (is_view(walk, old) and is_view(walk, value)):
        return False
    return old.code != value.code or old.shape == value.shape


def check_same(
    walk: Walk, node: ast.AST, name: str, one: Several | ArrayValue, other: ArrayValue
) -> None:
    """Refuse arrays of other types and ranks than those that the name has had."""
    ndim = one.ndim if isinstance(one, Several) else rank(one)
    if other.element != one.element or rank(other) != ndim:
        first, second = (
            f"a {n}-d array of {t}" for n, t in ((ndim, one.element), (rank(other), other.element))
        )
        raise walk.error(
            node, f"{name} means {first} already, and this is {second}; use another name"
        )


def point(walk: Walk, name: str, value: ArrayValue) -> ArrayValue:
    """Let a name of several arrays stand for this one from here on."""
    one, key = walk.several[name], array_of(name)
    spelled = walk.spell(key)
    is_constant = value.space == "constant"
    one.readonly |= value.readonly or is_constant
    if value.parameter is not None and value.parameter != key:
        one.sources.add(value.parameter)
    is_written = key in walk.written
    view = f"usmx::with_strides({as_view(value, is_written=not is_constant)})"
    if value.code != spelled or value.indices:
        walk.line(f"{spelled} = {view if is_written else f'usmx::readable({view})'};")
    found = walk.scope.statics[name] = ArrayValue(
        one.element, one.ndim, spelled, dense=False, parameter=key, readonly=one.readonly,
        sliced=f"decltype({spelled})::value_type",
    )  # fmt: skip
    return found
