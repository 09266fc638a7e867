"""Functions that were written in Python, with the line for wrong calls that compiled ones have.

Each public one is behind a door of the compiled module, which looks at a call only after its error.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
from types import FunctionType

from . import _usmx

TYPE_CHECKING = False  # as typing's, which takes milliseconds to import
if TYPE_CHECKING:
    from typing import Any

#: What has a meaning of its own in kernels, where its calls are read and not made.
_OF_KERNELS = (
    "usmx._kernel.language",
    "usmx._kernel.simulator",
    "usmx.compat.numba_dpex.kernel_api",
)
#: What is made outside of kernels, for a launch.
_OF_LAUNCHES = ".local_memory"
_CALLED = ("__init__", "__new__", "__call__")


def explained(thing: Any, name: str) -> Any:
    """A function behind its door, which takes its place in its module; a class whose methods are.

    Parameters
    ----------
    thing : object
        Anything that a module has.
    name : str
        How users call it.
    """
    if not str(getattr(thing, "__module__", None)).startswith("usmx"):
        return thing
    if thing.__module__.startswith(_OF_KERNELS) and not thing.__module__.endswith(_OF_LAUNCHES):
        return thing
    if type(thing) is FunctionType:
        home = sys.modules.get(thing.__module__)
        known: Any = getattr(home, thing.__qualname__, None)
        if isinstance(known, _usmx._ExplainedFunction) and known.__wrapped__ is thing:
            return known
        door = _usmx._ExplainedFunction(thing, name)
        if home is not None and known is thing:  # where pickle looks for it
            setattr(home, thing.__qualname__, door)
        return door
    if isinstance(thing, type):
        _explain_methods(thing, name)
    return thing


def method(function: Any, name: str, owner: str = "ndarray") -> Any:
    """A function as a method of arrays, or of another class of usmx."""
    while isinstance(function, _usmx._ExplainedFunction):
        function = function.__wrapped__
    if type(function) is not FunctionType:
        return function
    return _usmx._ExplainedFunction(function, f"usmx.{owner}.{name}", 1)


def explain(names: dict[str, Any]) -> None:
    """Do so with all that a public module has; its last act."""
    public = names.get("__all__") or [name for name in names if name[0] != "_"]
    for name in list(public):
        if name in names:
            names[name] = explained(names[name], f"{names['__name__']}.{name}")


def _explain_methods(owner: type, name: str) -> None:
    for key, value in list(vars(owner).items()):
        if key[0] == "_" and key not in _CALLED:
            continue
        wrapper = type(value) if isinstance(value, (staticmethod, classmethod)) else None
        function = value.__func__ if wrapper else value
        if type(function) is FunctionType:
            shown = f"{name}.{key}" if key[0] != "_" else name
            passed = int(wrapper is not staticmethod or key == "__new__")
            door = _usmx._ExplainedFunction(function, shown, passed)
            setattr(owner, key, wrapper(door) if wrapper else door)
