"""Over how many dimensions a kernel runs, as far as its text says: what two ints in brackets mean
depends on it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import sys
from types import FunctionType

from ..._captured import Reads
from ..language.functions import ITEM_FUNCTIONS, item_functions
from ..source.diagnostics import KernelError
from ..source.function import MISSING, Function
from . import spelling
from .device_functions import plain
from .items import GROUP, ITEM

#: The text asks for dimensions, but for some in a way that cannot be read.
UNCLEAR = -1
_METHODS = {*ITEM, *GROUP, *ITEM_FUNCTIONS}


def of(function: Function, item: str | None, reads: Reads) -> int:
    """The highest dimension that a kernel and its device functions ask for, plus one.

    0 if it asks for none, as kernels with linear ids do; `UNCLEAR`. ``item`` is the parameter that
    is the work-item, ``reads`` are told what was read.
    """
    found: set[int] = set()
    _collect(function, {item} if item else set(), found, set(), reads)
    if found & {1, 2}:
        return max(found) + 1
    return UNCLEAR if UNCLEAR in found else len(found)


def _collect(
    function: Function, items: set[str], found: set[int], seen: set[int], reads: Reads
) -> None:
    """Add the dimensions that one function asks for; ``items`` are its items among parameters."""
    if id(function) in seen:
        return
    seen.add(id(function))
    reads.function(function.python)
    own = {*function.parameters, *spelling.stores(function.tree)}
    # Functions inside of this one, whose calls are read with it.
    inside = {n.name for n in ast.walk(function.tree) if isinstance(n, ast.FunctionDef)}
    for node in ast.walk(function.tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            inside |= {target.id for target in node.targets if isinstance(target, ast.Name)}

    functions = {id(f): f for f in item_functions.values()}
    for node in ast.walk(function.tree):
        if not isinstance(node, ast.Call):
            continue
        called = _meaning(node.func, function, own, reads)
        is_method = isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS
        if id(called) in functions or (called is MISSING and is_method):
            if len(node.args) == 1:
                d = _meaning(node.args[0], function, own, reads)
                found.add(d if isinstance(d, int) and d in (0, 1, 2) else UNCLEAR)
            continue
        passed = [isinstance(a, ast.Name) and a.id in items for a in node.args]
        callee = _compiled(called)
        if callee is not None:
            inner = {p for p, given in zip(callee.parameters, passed, strict=False) if given}
            _collect(callee, inner, found, seen, reads)
        elif any(passed) or (
            isinstance(node.func, ast.Name) and node.func.id in own and node.func.id not in inside
        ):
            found.add(UNCLEAR)  # a function that only the launch knows


def _meaning(node: ast.expr, function: Function, own: set[str], reads: Reads) -> object:
    """The object that a name or a dotted name means outside of the function, which has ``own``."""
    if isinstance(node, ast.Name):
        return MISSING if node.id in own else function.lookup(node.id, reads)
    if isinstance(node, ast.Attribute):
        of = _meaning(node.value, function, own, reads)
        return MISSING if of is MISSING else reads.attribute(of, node.attr, MISSING)
    return node.value if isinstance(node, ast.Constant) else MISSING


def _compiled(called: object) -> Function | None:
    """The function that a call compiles, if it is one of Python's with a text."""
    if getattr(called, "is_device_function", False):
        found: Function = called.function  # type: ignore[attr-defined]
        return found
    if not isinstance(called, FunctionType):
        return None
    home = str(called.__module__).partition(".")[0]
    if home in ("numpy", "usmx") or home in sys.stdlib_module_names:
        return None
    try:
        return plain(called)
    except KernelError:
        return None
