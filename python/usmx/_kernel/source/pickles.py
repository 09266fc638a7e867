"""Pickles of what is made from Python functions: kernels, and functions for kernels."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
from types import FunctionType
from weakref import WeakSet

from ... import _usmx
from . import texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType
    from typing import Any

    #: What an object's ``__reduce__`` gives: the name of a global, or a function and its arguments.
    Reduced = str | tuple[Callable[..., object], tuple[object, ...]]

#: What makes kernels, and functions for them, of Python functions.
_DECORATORS = frozenset({"kernel", "device_func", "jit", "func", "vectorize", "guvectorize"})
#: The names of functions that kernels which were sent may call.
_called: set[str] = set()
#: Code of functions that know a decorator by another name.
_defining: WeakSet[CodeType] = WeakSet()


def of_function(made: Any, make: Callable[..., Any], function: Any, *arguments: Any) -> Reduced:
    """What pickles an object that was made from a Python function, as decorators do.

    A global of a module goes by its name. What another process cannot find by a name, in a program
    or inside of a function, goes by its code: with cloudpickle, if the program uses that.

    Parameters
    ----------
    made : object
        What is pickled.
    make : callable
        Makes it of the function and `arguments` again.
    function : function
        What it was made from.

    Raises
    ------
    pickle.PicklingError
        There is neither a name nor cloudpickle.
    """
    found: Any = sys.modules.get(function.__module__)
    for part in function.__qualname__.split("."):
        found = getattr(found, part, None)
    is_program = function.__module__ == "__main__"
    if found is made and not is_program:
        return str(function.__qualname__)
    if found is function and not is_program:
        return make, (function, *arguments)
    cloudpickle = sys.modules.get("cloudpickle")
    if cloudpickle is not None:
        _expect(function.__code__)
        return _by_code, (make, cloudpickle.dumps(function), *arguments)
    if found is made:
        return str(function.__qualname__)
    if found is function:
        return make, (function, *arguments)
    from pickle import PicklingError

    raise PicklingError(
        f"{made!r}: its function has no name that another process can find it by; define it in a "
        "module, or import cloudpickle, which pickles the function itself"
    )


def _by_code(make: Callable[..., Any], code: bytes, *arguments: Any) -> Any:
    from pickle import loads

    return make(loads(code), *arguments)


def with_text(code: CodeType) -> CodeType:
    """The code of a function that is sent by value, with its text if kernels may need it.

    That is code that defines kernels or is one, and what such code calls.
    """
    defines = any(_inside(code)) and (
        not _DECORATORS.isdisjoint(code.co_names) or code in _defining
    )
    if not defines and code.co_name not in _called:
        return code
    _expect(code)
    return texts.carrying(code)


def notice(function: FunctionType) -> None:
    """Look at what the names of a function stand for, before its code is sent by value.

    A program may have given a decorator another name: ``from usmx import kernel as k``.
    """
    names = {name for name, value in _known_to(function) if _is_decorator(value)}
    if names:
        _mark(function.__code__, names)


def _known_to(function: FunctionType) -> Iterator[tuple[str, object]]:
    """What a function and those inside of it find by a name, without what they are called with."""
    code = function.__code__
    for name in _names_of(code):
        if name in function.__globals__:
            yield name, function.__globals__[name]
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
        try:
            yield name, cell.cell_contents
        except ValueError:  # nothing yet
            continue
    defaults = function.__defaults__ or ()
    positional = code.co_varnames[: code.co_argcount]
    yield from zip(positional[len(positional) - len(defaults) :], defaults, strict=False)
    yield from (function.__kwdefaults__ or {}).items()


def _is_decorator(value: object) -> bool:
    # Other objects may do anything when they are asked for an attribute.
    from functools import partial

    while type(value) is partial:
        value = value.func
    if isinstance(value, _usmx._ExplainedFunction):
        value = value.__wrapped__
    if type(value) is not FunctionType or not (value.__module__ or "").startswith("usmx"):
        return False
    return value.__qualname__.partition(".")[0] in _DECORATORS  # `kernel(simulate=True)` too


def _mark(code: CodeType, names: set[str]) -> None:
    if not names.isdisjoint((*code.co_names, *code.co_freevars, *code.co_varnames)):
        _defining.add(code)
    for one in _inside(code):
        _mark(one, names)


def _names_of(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for one in _inside(code):
        yield from _names_of(one)


def _inside(code: CodeType) -> Iterator[CodeType]:
    """Of the functions and classes that the code defines."""
    return (one for one in code.co_consts if isinstance(one, type(code)))


def _expect(code: CodeType) -> None:
    """What this code calls is pickled after it."""
    _called.update((code.co_name, *code.co_names))
    for one in _inside(code):
        _expect(one)
