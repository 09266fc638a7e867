"""Pickles of what is made from Python functions: kernels, and functions for kernels."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys

from . import texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    #: What an object's ``__reduce__`` gives: the name of a global, or a function and its arguments.
    Reduced = str | tuple[Callable[..., object], tuple[object, ...]]


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
        return _by_code, (make, cloudpickle.dumps(function), _text_of(function), *arguments)
    if found is made:
        return str(function.__qualname__)
    if found is function:
        return make, (function, *arguments)
    from pickle import PicklingError

    raise PicklingError(
        f"{made!r}: its function has no name that another process can find it by; define it in a "
        "module, or import cloudpickle, which pickles the function itself"
    )


def _text_of(function: Any) -> tuple[list[str], int] | None:
    """The lines of a function: where it arrives its file need not be."""
    try:
        return texts.of(function)
    except (OSError, TypeError):
        return None


def _by_code(
    make: Callable[..., Any], code: bytes, text: tuple[list[str], int] | None, *arguments: Any
) -> Any:
    from pickle import loads

    function = loads(code)
    if text is not None:
        texts.keep(function, *text)
    return make(function, *arguments)
