"""Nothing of usmx is left to the garbage collector: what a call made, and what a kernel captured,
may be memory of a device, which goes back when its last user goes."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import gc
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arguments import ROWS

import usmx
from usmx.compat import cuda


@contextmanager
def without_collector() -> Iterator[list[Any]]:
    """Gives a list that has, at the end, what only the garbage collector can free."""
    found: list[Any] = []
    gc.disable()
    gc.freeze()  # what was there before is not looked at: that would take most of the time
    try:
        yield found
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        found += gc.garbage
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.unfreeze()
        gc.enable()


def functions() -> Iterator[tuple[Path, ast.FunctionDef]]:
    for path in sorted(Path(usmx.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                yield path, node


def test_no_function_inside_of_another_calls_itself() -> None:
    """Its cell holds it, it holds its cell, and with them all that the other one has."""
    found = [
        f"{path}:{inner.lineno}: {inner.name}"
        for path, outer in functions() for inner in ast.walk(outer)
        if inner is not outer and isinstance(inner, ast.FunctionDef)
        and inner.name in {n.id for n in ast.walk(inner) if isinstance(n, ast.Name)}
    ]  # fmt: skip
    assert found == []


def test_no_function_raises_an_error_that_it_has_a_name_for() -> None:
    """The error holds the frame, which holds the error, and with it all that callers have."""
    found = []
    for path, function in functions():
        names = {
            n.id for n in ast.walk(function)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }  # fmt: skip
        names |= {a.arg for a in (*function.args.args, *function.args.kwonlyargs)}
        found += [
            f"{path}:{n.lineno}: {n.exc.id}" for n in ast.walk(function)
            if isinstance(n, ast.Raise) and isinstance(n.exc, ast.Name) and n.exc.id in names
        ]  # fmt: skip
    assert found == []


def put(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return usmx.asarray(value)
    if isinstance(value, (list, tuple)):
        return type(value)(map(put, value))
    return value


@pytest.mark.parametrize("name", ROWS)
def test_a_function_leaves_no_array_behind(name: str) -> None:
    function: Any = usmx
    for part in name.split("."):
        function = getattr(function, part)
    given, named = ROWS[name].given, ROWS[name].named

    def call() -> None:
        with suppress(ValueError):
            function(*map(put, given), **{key: put(value) for key, value in named.items()})

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call()  # imports
        with without_collector() as left:
            call()
    held = [type(part) for one in left for part in gc.get_referents(one)]
    assert usmx.ndarray not in held, left
    assert [one for one in left if type(one).__module__.startswith("usmx")] == []


class Gone:
    """What a kernel captures here; it can be watched."""

    level = 2.0


def kernel_with_parts(captured: Gone) -> None:
    table = usmx.constant.array(np.arange(4.0))

    @usmx.device_func
    def clipped(a, k):
        return a[k] if k >= 0 else table[0]

    @usmx.kernel
    def read(item, a, pair):
        k = item.get_global_id(0)
        total = 0.0
        for j in range(-2, 3):
            if j + k < 0:
                continue
            total += clipped(a, k - j) * captured.level
        now, then = pair
        now, then = then, now
        a[k] = total + table[k] + now[0]

    x = usmx.zeros(4)
    read[4](x, (x, x)).wait()


def groups(captured: Gone) -> None:
    @usmx.kernel
    def summed(item: usmx.NdItem, a):
        part = usmx.local.array(4, "float64")
        part[item.get_local_id(0)] = a[item.get_global_id(0)] * captured.level
        usmx.barrier()
        a[item.get_global_id(0)] = part[0]

    summed[4, 4](usmx.zeros(4)).wait()


def simulated(captured: Gone) -> None:
    @usmx.kernel
    def k(item, a):
        a[item.get_id(0)] = captured.level

    with usmx.simulate():
        k[4](usmx.zeros(4, usm_type="shared"))


def wrong(captured: Gone) -> None:
    @usmx.kernel
    def k(item, a):
        a[item.get_id(0)] = undefined + captured.level  # noqa: F821

    with pytest.raises(usmx.KernelError):
        k[4](usmx.zeros(4))


def fused(captured: Gone) -> None:
    usmx.fuse(lambda x: x * captured.level + 1)(usmx.ones(4))


def port(captured: Gone) -> None:
    level = captured.level

    @cuda.jit
    def k(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] = level

    k[1, 4](usmx.zeros(4))


@pytest.mark.parametrize("make", [kernel_with_parts, groups, simulated, wrong, fused, port])
def test_what_a_kernel_captured_goes_with_it(make: Callable[[Gone], None]) -> None:
    make(Gone())  # imports
    with without_collector() as left:
        captured = Gone()
        alive = weakref.ref(captured)
        make(captured)
        del captured
        assert alive() is None
    assert [one for one in left if type(one).__module__.startswith("usmx")] == []
