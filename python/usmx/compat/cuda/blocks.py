"""What a kernel asks about its blocks: whether it waits for all, whether it knows of them, and
whether it asks about their warps."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
import types
from collections.abc import Iterator
from typing import Any

from ..._kernel.language import cuda as language
from ..._kernel.language import cupy_jit
from ..._kernel.language.functions import DeviceOnly, Namespace
from ..._kernel.types.scalars import Scalar
from . import devices

#: Names of `usmx.compat.cuda` that mean the same however threads are put into blocks.
_APART = frozenset({
    "grid", "gridsize", "local", "const", "atomic", "selp", "popc", "clz", "brev", "ffs", "fma",
    "cbrt", "fp16", "libdevice", "threadfence", "threadfence_block", "threadfence_system",
    "nanosleep", "ldca", "ldcg", "ldcs", "ldlu", "ldcv", "stcg", "stcs", "stwb", "stwt",
})  # fmt: skip
#: With these threads wait for each other, as for a lock: those of one block would never go on.
_OF_LOCKS = {"cas", "compare_and_swap", "exch"}
#: With these threads know which warp they are in, or learn of others in it.
_OF_WARPS = frozenset({
    "laneid", "warpsize", "syncwarp", "activemask", "lanemask_lt",
    *(name for name in language.NAMES if name.endswith("_sync")),
})  # fmt: skip
_KNOWN_OF_WARPS = {id(language.NAMES[name]) for name in _OF_WARPS} | {
    id(value) for name, value in cupy_jit.NAMES.items() if name in _OF_WARPS
}
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
        for one in _parts_of(found, inner):
            yield from codes_of(_plain_function(one), seen)


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


def _parts_of(value: Any, codes: list[types.CodeType]) -> Iterator[Any]:
    """A value, or what functions may call of a module of the program, of a class and of a tuple."""
    if isinstance(value, tuple | list):
        for one in value:
            yield from _parts_of(one, codes)
    elif isinstance(value, type) or (
        isinstance(value, types.ModuleType) and value.__name__ not in _MODULES
    ):
        names = {name for code in codes for name in code.co_names}
        for name in names & vars(value).keys():
            found = vars(value)[name]
            yield getattr(found, "__func__", found)
    else:
        yield value


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


def asks_warps(python: Any) -> bool:
    """Whether a kernel, or something that it may call, asks about the warps of its block."""
    seen: dict[int, Any] = {}
    for code, owner in codes_of(python, seen):
        if not _OF_WARPS.isdisjoint(code.co_names):
            return True
        if any(id(value) in _KNOWN_OF_WARPS for value in values_of(owner, [code])):
            return True
    return False


def is_cut_at_rows(local: tuple[int, ...]) -> bool:
    """Whether a block, whose last length is x, has rows that end inside of a warp: CUDA goes on
    with the next row, devices of usmx begin another sub-group."""
    return math.prod(local[:-1]) > 1 and local[-1] % devices.WARP != 0


def flattened(
    whole: tuple[int, ...], local: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The ranges of a launch whose blocks have all of their threads along x."""
    items = math.prod(local)
    groups = [g // n for g, n in zip(whole, local, strict=True)]
    ones = (1,) * (len(local) - 1)
    return (*groups[:-1], groups[-1] * items), (*ones, items)


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
