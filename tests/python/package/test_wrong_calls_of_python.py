"""What was written in Python answers a wrong call with the line that compiled functions have."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import copy
import importlib
import inspect
import pickle
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

import pytest

import usmx
from usmx import _usmx

DOOR = _usmx._ExplainedFunction
NAMES = """
    linalg fft random memory tracing ipc dask zarr ray interop migrate counters doctor paths special
    testing compat.cuda compat.cuda.errors compat.cuda.random compat.cupy compat.cupy.cuda
    compat.cupy.random compat.cupy.testing compat.cupyx compat.cupyx.jit compat.dpctl
    compat.dpctl.tensor compat.dpctl.program compat.dpctl.utils compat.numba_dpex
    compat.numba_dpex.experimental
"""
MODULES = ["usmx", *(f"usmx.{name}" for name in NAMES.split())]
#: What runs in kernels: the language's own errors tell more (test_wrong_kernels.py).
OF_KERNELS = (
    "usmx._kernel.language",
    "usmx._kernel.simulator",
    "usmx.compat.numba_dpex.kernel_api",
)


def module_of(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:  # of a library that is not installed
        return getattr(usmx, "special", None) if name == "usmx.special" else None


def is_ours(found: Any) -> bool:
    home = str(getattr(found, "__module__", None))
    is_of_kernels = home.startswith(OF_KERNELS) and not home.endswith(".local_memory")
    return home.startswith("usmx") and not is_of_kernels


def public() -> Iterator[tuple[str, Any, int]]:
    """Each function, constructor and method: name, what is called, arguments that Python passes."""
    seen: set[int] = set()
    for module_name in MODULES:
        module = module_of(module_name)
        names = getattr(module, "__all__", None) or [n for n in dir(module) if n[0] != "_"]
        for name in sorted(set(names)):
            found = getattr(module, name)
            if id(found) in seen or not is_ours(found):
                continue
            seen.add(id(found))
            if isinstance(found, (FunctionType, DOOR)):
                yield f"{module_name}.{name}", found, 0
            elif isinstance(found, type):
                yield from methods(f"{module_name}.{name}", found)


def methods(where: str, owner: type) -> Iterator[tuple[str, Any, int]]:
    for key, value in vars(owner).items():
        if key.startswith("_") and key not in ("__init__", "__new__", "__call__"):
            continue
        is_static = isinstance(value, staticmethod)
        function = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
        if isinstance(function, (FunctionType, DOOR)):
            yield f"{where}.{key}", function, int(not is_static or key == "__new__")


ALL = {name: (function, passed) for name, function, passed in public()}


def wrong_calls(function: Any, passed: int) -> Iterator[tuple[tuple[Any, ...], Any, str]]:
    """Arguments that do not fit -> a part of the line."""
    self = (object(),) * passed
    parameters = list(inspect.signature(function).parameters.values())[passed:]
    kinds = {one.kind for one in parameters}
    by_name = [
        one.name for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
    ]
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        yield self, {"nonsense": 1}, ": got an unexpected argument 'nonsense'; "
        for name in by_name:
            near = f"; did you mean {name!r}?"
            if len(name) > 2 and not any(other.startswith(name + "_") for other in by_name):
                yield self, {f"{name}_": 1}, f": got an unexpected argument '{name}_'{near}"
    places = [one for one in parameters if one.kind in (0, 1)]
    required = [one for one in parameters if one.default is one.empty and one.kind in (0, 1, 3)]
    if required:
        yield self, {}, ": missing the argument"
    if inspect.Parameter.VAR_POSITIONAL not in kinds:
        count = len(places) + 1
        yield (*self, *[object()] * count), {}, f", got {count}"


def test_each_public_function_has_a_door() -> None:
    open_ones = [name for name, (function, _) in ALL.items() if not isinstance(function, DOOR)]
    assert not open_ones
    assert len(ALL) > 550


def test_a_wrong_call_is_one_line_with_the_nearest_name() -> None:
    count, wrong = 0, []
    for name, (function, passed) in ALL.items():
        for given, named, part in wrong_calls(function, passed):
            with pytest.raises(TypeError) as caught:
                function(*given, **named)
            line = str(caught.value)
            count += 1
            if not line.startswith("usmx.") or part not in line or "\n" in line:
                wrong.append((name, part, line))
    assert not wrong
    assert count > 2500


def test_the_object_of_a_method_is_not_counted() -> None:
    x = usmx.ones(3)
    with pytest.raises(TypeError) as caught:
        x.sum(0, None, None, False, None, True, 1, 2, 3)  # type: ignore[call-arg]
    assert str(caught.value).startswith("usmx.ndarray.sum: takes at most ")
    assert str(caught.value).partition(";")[0].endswith("got 9")
    with pytest.raises(TypeError) as caught:
        x.take()  # type: ignore[call-arg]
    assert str(caught.value) == "usmx.ndarray.take: missing the argument 'indices'"


def calls_another() -> None:
    DOOR(lambda x: x, "inner")()


def test_errors_from_inside_are_those_of_the_function() -> None:
    def wrong() -> None:
        len()  # type: ignore[call-arg]

    with pytest.raises(TypeError, match=r"len\(\) takes exactly one argument"):
        DOOR(wrong, "usmx.wrong")()
    with pytest.raises(TypeError, match=r"^inner: missing"):
        DOOR(calls_another, "outer")()


def test_a_door_shows_what_its_function_has() -> None:
    for function in (usmx.cumsum, usmx.linalg.norm, usmx.fuse, usmx.stack):
        assert inspect.isroutine(function)
        assert function.__doc__
        assert function.__name__ in repr(function) or function is usmx.stack
        assert function.__module__.startswith("usmx")
        assert inspect.signature(function).parameters
        assert inspect.getsource(function).lstrip().startswith(("def ", "@"))
        assert pickle.loads(pickle.dumps(function)) is function
        assert copy.deepcopy(function) is function


def test_doors_are_methods_too() -> None:
    class Owner:
        method = DOOR(lambda self, x: (self, x), "usmx.Owner.method", 1)

    one = Owner()
    assert one.method(3) == (one, 3)
    assert one.method.__self__ is one
    assert Owner.method(one, x=3) == (one, 3)
    assert Owner.method is Owner.__dict__["method"]
    with pytest.raises(TypeError, match=r"^usmx\.Owner\.method: missing the argument 'x'$"):
        one.method()
    with pytest.raises(TypeError, match=r"missing the object of the method"):
        Owner.method()


def test_a_door_is_collected_with_its_function() -> None:
    import gc
    import weakref

    def function() -> None: ...

    door = DOOR(function, "usmx.function")
    function.door = door  # type: ignore[attr-defined]
    gone = weakref.ref(door)
    del function, door
    gc.collect()
    assert gone() is None
