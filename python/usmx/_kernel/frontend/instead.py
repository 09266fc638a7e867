"""What to write where a kernel has what only programs of the host, or other languages, have."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
from types import ModuleType

from ..source.function import Function
from ..types.values import ItemValue

#: Where a parameter of the launch is taken for the work-item.
FIRST_IS_THE_ITEM = "the first parameter of a kernel is the work-item: write def f(item, x)"

# fmt: off
_MADE = frozenset((
    "array", "asarray", "arange", "empty", "empty_like", "full", "full_like", "linspace", "ones",
    "ones_like", "zeros", "zeros_like",
))
_OF_ALL = frozenset((
    "all", "any", "argmax", "argmin", "cumsum", "dot", "max", "mean", "median", "min", "prod",
    "std", "sum", "var",
))
_OF_CUDA = frozenset((
    "atomic", "blockDim", "blockIdx", "const", "grid", "gridDim", "gridsize", "laneid", "local",
    "shared", "syncthreads", "syncwarp", "threadIdx", "threadfence",
))
# fmt: on

OF_ALL = "a kernel computes with single elements: write a loop, or call it outside of the kernel"


def of_function(obj: object, name: str) -> str:
    """What follows the message that kernels do not have a function; nothing if nothing helps."""
    home = str(getattr(obj, "__module__", "")).partition(".")[0]
    last = name.rpartition(".")[2]
    if home not in ("numpy", "usmx"):
        return ""
    if last in _MADE:
        return "; pass an array, or make a small one with usmx.private.array(shape, dtype)"
    return f"; {OF_ALL}" if last in _OF_ALL else ""


def of_item(of: object) -> str:
    """The same where the work-item is used as an array."""
    return f"; {FIRST_IS_THE_ITEM}" if isinstance(of, ItemValue) else ""


def of_array(name: str) -> str:
    """The same for an attribute of an array."""
    return f"; {OF_ALL}" if name in _OF_ALL else ""


def of_cuda(module: object, name: str) -> str | None:
    """The message for a name of Numba's own module for CUDA, which only programs for it know."""
    if not isinstance(module, ModuleType) or module.__name__ != "numba.cuda":
        return None
    if name not in _OF_CUDA:
        return None
    return (
        f"'{name}' is of Numba; write from usmx.compat import cuda in place of from numba import "
        "cuda, or ask the item: item.get_id(0)"
    )


def of_launch(function: Function, given: int) -> str:
    """The same where a launch would fit if the function had an item before its parameters."""
    names = function.parameters
    if given != len(names):
        return ""
    called = [n for n in ast.walk(function.tree) if isinstance(n, ast.Attribute)]
    of_first = [n for n in called if isinstance(n.value, ast.Name) and n.value.id == names[0]]
    if any(n.attr.startswith("get_") for n in of_first):
        return ""
    right = f"{function.tree.name}({', '.join(('item', *names))})"
    return f"; its first parameter, '{names[0]}', is the work-item: write def {right}"
