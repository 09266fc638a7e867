"""What a kernel asks about its blocks: whether it waits for all, and whether it knows of them."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

from ..._kernel.language import cuda as language
from ..._kernel.language.functions import DeviceOnly, Namespace
from ..._kernel.types.scalars import Scalar

#: Names of `usmx.compat.cuda` that mean the same however threads are put into blocks.
_APART = frozenset({
    "grid", "gridsize", "local", "const", "atomic", "selp", "popc", "clz", "brev", "ffs", "fma",
    "cbrt", "fp16", "libdevice", "threadfence", "threadfence_block", "threadfence_system",
    "nanosleep", "ldca", "ldcg", "ldcs", "ldlu", "ldcv", "stcg", "stcs", "stwb", "stwt",
})  # fmt: skip
#: With these threads wait for each other, as for a lock: those of one block would never go on.
_OF_LOCKS = {"cas", "compare_and_swap", "exch"}
_OF_BLOCKS = (frozenset(language.NAMES) - _APART) | _OF_LOCKS
_KNOWN = {id(language.NAMES[name]) for name in _APART}
#: Modules whose functions know nothing of blocks.
_MODULES = frozenset({"math", "cmath", "operator", "numpy", "usmx.compat.cuda"})


def codes_of(python: Any, seen: dict[int, Any]) -> Iterator[tuple[types.CodeType, Any]]:
    """The codes of a function, of those inside of it and of those that it calls, each with the
    function whose globals it reads."""
    if not isinstance(python, types.FunctionType) or id(python) in seen:
        return
    code = python.__code__
    seen[id(python)] = python
    inner = [code]
    for one in inner:
        yield one, python
        inner += [c for c in one.co_consts if isinstance(c, types.CodeType)]
    for found in values_of(python, inner):
        yield from codes_of(_plain_function(found), seen)


def values_of(python: Any, codes: list[types.CodeType]) -> Iterator[Any]:
    """What the names of a function mean outside of it."""
    for code in codes:
        for name in code.co_names:
            if name in python.__globals__:
                yield python.__globals__[name]
    for cell in python.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            continue


def names_of(python: Any) -> set[str]:
    """The names that a function and those that it calls ask for."""
    return {name for code, _ in codes_of(python, {}) for name in code.co_names}


def most_dimensions(python: Any) -> int:
    """Dimensions of a launch that has all that a kernel asks for."""
    import dis

    found = [1]
    for code, _ in codes_of(python, {}):
        found += [2] * ("y" in code.co_names) + [3] * ("z" in code.co_names)
        name = ""
        for one in dis.get_instructions(code):
            if name in ("grid", "gridsize") and one.argval in (2, 3):
                found.append(one.argval)
            if one.opname not in ("PUSH_NULL", "PRECALL", "CACHE"):
                name = one.argval if isinstance(one.argval, str) else ""
    return max(found)


def is_apart(python: Any) -> bool:
    """Whether a kernel is sure to give the same in blocks of any size: all that it names is known,
    and nothing of it is about blocks, warps, or memory and barriers of blocks."""
    for code, owner in codes_of(python, {}):
        if not _OF_BLOCKS.isdisjoint(code.co_names):
            return False
        for value in values_of(owner, [code]):
            if isinstance(value, types.ModuleType):
                if value.__name__ not in _MODULES:
                    return False
            elif (isinstance(value, DeviceOnly | Namespace) and id(value) not in _KNOWN) or not (
                _is_function(value) or isinstance(value, _PLAIN)
            ):
                return False
    return True


def _plain_function(value: Any) -> Any:
    """The function of Python that a decorator of usmx or of Numba made something else of."""
    return getattr(value, "python", None) or getattr(value, "py_func", value)


def _is_function(value: Any) -> bool:
    return isinstance(_plain_function(value), types.FunctionType)


def _plain() -> tuple[type, ...]:
    import numpy as np

    from ..numba_types import Type

    return (
        bool, int, float, complex, str, tuple, type(None), np.generic, np.ndarray, np.dtype, type,
        Type, Scalar, DeviceOnly, Namespace, types.BuiltinFunctionType, np.ufunc,
    )  # fmt: skip


_PLAIN = _plain()
