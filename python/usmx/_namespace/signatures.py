"""What tools ask of operations: signatures as the Array API standard has them, help, pickles."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._usmx import Operation

#: What NumPy's ufuncs take by name in addition to `out`, and the defaults.
UFUNC_KEYWORDS = {
    "where": True,
    "casting": "same_kind",
    "order": "K",
    "dtype": None,
    "subok": True,
    "signature": None,
}


#: Functions that are not ufuncs in NumPy -> the name of the operand there, and what else is taken.
NAMED_OPERANDS: dict[str, tuple[str, dict[str, object]]] = {
    "angle": ("z", {"deg": False}),
    "imag": ("val", {}),
    "real": ("val", {}),
}


def of_operation(arity: int, chooses: bool, name: str = "") -> Signature:
    """`inspect.signature` of a function of the table of operations.

    Parameters
    ----------
    arity : int
        How many operands it takes.
    chooses : bool
        Whether the first one is a condition.
    name : str, optional
        What it is called.
    """
    if name in NAMED_OPERANDS:
        operand, more = NAMED_OPERANDS[name]
        given = [Parameter(operand, Parameter.POSITIONAL_OR_KEYWORD)]
        given += [
            Parameter(n, Parameter.POSITIONAL_OR_KEYWORD, default=value)
            for n, value in more.items()
        ]
        keywords = {"out": None, **UFUNC_KEYWORDS}
        given += [Parameter(n, Parameter.KEYWORD_ONLY, default=v) for n, v in keywords.items()]
        return Signature(given)
    if chooses:
        names = ["condition", *(f"x{k}" for k in range(1, arity))]
    else:
        names = ["x"] if arity == 1 else [f"x{k}" for k in range(1, arity + 1)]
    positional = [Parameter(name, Parameter.POSITIONAL_ONLY) for name in names]
    out = Parameter("out", Parameter.POSITIONAL_OR_KEYWORD, default=None)
    others = {"dtype": None} if chooses else UFUNC_KEYWORDS
    named = [Parameter(n, Parameter.KEYWORD_ONLY, default=value) for n, value in others.items()]
    return Signature([*positional, out, *named])


def place_of(name: str) -> str:
    """Where `usmx` has a function of the table: ``"special.erf"``."""
    from .._operations import OPERATIONS

    space = next((row.space for row in OPERATIONS if row.name == name and row.texts), "")
    return f"{space}.{name}" if space else name


def help_of_operation(name: str) -> str:
    """What `help` shows of a function of the table of operations.

    Parameters
    ----------
    name : str
        Its name.
    """
    from .._operations import OPERATIONS
    from .operation_help import help_of

    row = next(row for row in OPERATIONS if row.name == name and row.texts)
    return help_of(row, of_operation(row.arity, row.chooses, row.name))


def reduced(operation: Operation) -> tuple[Callable[[str], Any], tuple[str]]:
    """How pickle names such a function, as it names one of a module."""
    name: str = getattr(operation, "__name__")  # noqa: B009 (of objects, not of the class)
    return _operation, (name,)


def _operation(name: str) -> Any:
    from importlib import import_module

    for module in (import_module("usmx"), import_module("usmx.special")):
        found = getattr(module, name, None)
        if found is not None:
            return found
    from .._usmx import Operation

    return Operation(name)
