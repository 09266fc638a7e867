"""From the syntax tree of one function to C++, with the types of everything in it.

The tree is walked until the types of its variables no longer change; each round makes the whole
text, and the last one counts. So a construct is described in one place: its types, its errors and
its C++ together. Here the parts are put together, and each kind of node gets the one that
elaborates it.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
from collections.abc import Mapping

from ..source.function import Function
from ..types.scalars import TupleOf, Type
from ..types.values import Value
from .assignments import Assignments
from .atomics import Atomics
from .calls import Calls, PythonFunctions
from .device_functions import DeviceFunctions
from .elements import Attributes, Elements
from .expressions import Operators
from .groups import Groups
from .items import Items
from .loops import Loops
from .lowering import Lowering
from .memory import Memory
from .module import Module
from .names import Names
from .printing import Printing
from .results import Specialise, Walked
from .statements import Statements
from .walk import Walk

#: Types grow a few times at most: bool, int, float, complex, weak and strong.
MOST_ROUNDS = 12


def elaborate(
    function: Function,
    arguments: Mapping[str, Type | TupleOf | Value],
    module: Module,
    *,
    is_kernel: bool = False,
    item: str | None = None,
    not_negative: frozenset[str] = frozenset(),
) -> Walked:
    """Walk over a kernel or a device function until nothing changes.

    ``arguments`` is what is known of its parameters, ``item`` the parameter that is the work-item,
    ``not_negative`` parameters of a device function that get no negative numbers.

    Raises
    ------
    KernelError
        It is not a valid kernel for these types.
    Specialise
        More values have to be known.
    """
    walk = Walk(
        function, arguments, module, is_kernel=is_kernel, item=item, not_negative=not_negative
    )
    names = put_together(walk)
    try:
        for number in range(MOST_ROUNDS):
            # Signs that take long to settle are not worth more rounds.
            walk.signs.gives_up = number >= MOST_ROUNDS // 2
            before = walk.types
            walk.begin_round()
            names.bind_parameters()
            walk.body(function.tree.body)
            if before == walk.types:
                if is_kernel and module.asks - module.known.keys():
                    raise Specialise(module.asks - module.known.keys())
                names.declare_variables()
                return walk.walked
        raise walk.error(None, "the types of its variables cannot be inferred")
    finally:
        # Its parts refer to it: tables and the memory of their values would wait for the collector.
        walk.expressions.clear()
        walk.named = walk.nothing
        walk.rest = walk.no_rest
        walk.statements.clear()


def put_together(walk: Walk) -> Names:
    """Make the parts, and tell the walk which of them each kind of node is for."""
    memory = Memory(walk)
    names = Names(walk, memory)
    operators = Operators(walk)
    elements = Elements(walk, operators)
    attributes = Attributes(walk, names, elements)
    items = Items(walk)
    groups = Groups(walk, items, operators)
    atomics = Atomics(walk, elements)
    printing = Printing(walk)
    device_functions = DeviceFunctions(walk, elaborate, names.bind_static, operators.records)
    own = PythonFunctions(walk, elements, device_functions)
    lowering = Lowering(walk)
    calls = Calls(
        walk, own, items, groups, atomics, memory, printing, device_functions, lowering,
        operators.vectors, operators.records,
    )  # fmt: skip
    walk.named = lowering.on_value
    assignments = Assignments(walk, names, elements, operators)
    walk.expressions = {
        ast.Attribute: attributes.attribute,
        ast.BinOp: operators.binary,
        ast.BoolOp: operators.bool_op,
        ast.Call: calls.call,
        ast.Compare: operators.compare,
        ast.Constant: names.literal,
        ast.IfExp: operators.choice,
        ast.Lambda: device_functions.nested,
        ast.Name: names.read,
        ast.NamedExpr: assignments.named,
        ast.Subscript: elements.subscript,
        ast.Tuple: operators.tuple_of,
        ast.UnaryOp: operators.unary,
    }
    statements = Statements(walk, operators)
    loops = Loops(walk, names, elements, assignments)
    walk.rest = statements.on_rest
    walk.statements = {
        ast.AnnAssign: assignments.on_annotated,
        ast.Assert: statements.on_assert,
        ast.Assign: assignments.on_assign,
        ast.AugAssign: assignments.on_augmented,
        ast.Break: statements.on_break,
        ast.Continue: statements.on_continue,
        ast.Expr: statements.on_expr,
        ast.For: loops.on_for,
        ast.FunctionDef: device_functions.on_nested,
        ast.If: statements.on_if,
        ast.Pass: statements.on_pass,
        ast.Raise: statements.on_raise,
        ast.Return: statements.on_return,
        ast.While: statements.on_while,
    }
    return names
