"""Kernels inside of functions that cloudpickle sends by value find their text where they arrive.

What is defined in a program, a notebook or another function has no name that a worker of Dask, Ray
or joblib could import: cloudpickle sends its code. A kernel in that code is made at the worker,
from a text that stands in a file of the sender. So the code that is sent carries its text, in a
constant that nothing loads: a worker without usmx reads the pickle as before.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys

from .later import when_imported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FunctionType
    from typing import Any

#: Where cloudpickle is: itself, and the copies that libraries bring along.
MODULES = (
    "cloudpickle.cloudpickle",
    "joblib.externals.cloudpickle.cloudpickle",
    "pyspark.cloudpickle.cloudpickle",
    "ray.cloudpickle.cloudpickle",
)


def register() -> None:
    """Have code that mentions kernels sent with its text, whichever is imported first."""
    import copyreg
    from contextlib import suppress

    from .. import _usmx

    for function in (_usmx.asarray, _usmx.Queue.wait):  # of nanobind, found by their names
        copyreg.pickle(type(function), _name_of)
    for name in MODULES:
        with suppress(ImportError):  # another thread is importing it
            when_imported(name, lambda name=name: _extend(sys.modules[name]))  # type: ignore[misc]


def _name_of(function: Any) -> str:
    """What pickle looks for in the module of a compiled function."""
    return str(function.__qualname__)


def _extend(module: Any) -> None:
    pickler: Any = getattr(module, "CloudPickler", None)
    table = getattr(pickler, "dispatch_table", None)
    code_type = type(_extend.__code__)
    if table is None or code_type not in table:
        return  # another version, of which we know nothing
    reduce = table[code_type]

    def reduce_with_text(code: CodeType) -> Any:
        from .._kernel.source import pickles

        return reduce(pickles.with_text(code))

    table[code_type] = reduce_with_text
    by_value = getattr(pickler, "_dynamic_function_reduce", None)
    if by_value is None:
        return  # decorators are then known by their names alone

    # Code has names, and only its function has what they stand for.
    def reduce_function(self: Any, function: FunctionType) -> Any:
        from .._kernel.source import pickles

        pickles.notice(function)
        return by_value(self, function)

    pickler._dynamic_function_reduce = reduce_function
