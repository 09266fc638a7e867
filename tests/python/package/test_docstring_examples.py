"""Each public name has an example in its docstring, and each example does what it shows."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import doctest
import inspect
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import lab
import pytest

import usmx

sys.path.insert(0, str(lab.ROOT / "tools"))
import python_reference

#: Modules of what is not installed with usmx, and of types for checkers.
ELSEWHERE = ("dask", "ray", "typing", "zarr")

#: Examples that need more than a test has: test_counters.py, tests/consume, tests/interop do what
#: they show.
NOT_RUN: dict[str, str] = {
    **dict.fromkeys(
        ("usmx.counters.counting", "usmx.counters.Counts", "usmx.counters.enable"),
        "the reports of the runtime, from before its first use",
    ),
    "usmx.interop.cupy_allocator": "CuPy, and a GPU",
    "usmx.interop.torch_allocator": "PyTorch, and a GPU",
    **dict.fromkeys(
        ("usmx.get_cmake_dir", "usmx.get_include", "usmx.paths.get_cflags", "usmx.paths.get_libs"),
        "an installed package, which a build folder is not",
    ),
}


def is_of_others(name: str, found: Any) -> bool:
    """Whether a name of `usmx.compat` is one whose use the other project's pages show.

    Those are classes, and functions of kernels; functions that usmx wrote have examples here.
    """
    module = str(getattr(found, "__module__", ""))
    is_own = inspect.isroutine(found) or type(found).__name__ == "function"
    return name.startswith("compat.") and not (is_own and module.startswith("usmx.compat."))


def public() -> Iterator[tuple[str, Any]]:
    """Each function and class under the name that it is defined by, once."""
    seen: set[int] = set()
    for name in ("", *python_reference.MODULES):
        if name.startswith(ELSEWHERE):
            continue
        module = import_module(f"usmx.{name}" if name else "usmx")
        for own in getattr(module, "__all__", ()):
            found = getattr(module, own)
            if callable(found) and id(found) not in seen and not is_of_others(name, found):
                seen.add(id(found))
                yield f"{module.__name__}.{own}", found


PUBLIC = dict(public())


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_has_an_example_and_it_is_true(name: str) -> None:
    text = inspect.getdoc(PUBLIC[name]) or ""
    test = doctest.DocTestParser().get_doctest(text, {"usmx": usmx}, name, None, 0)
    assert test.examples, f"{name} has no example in its docstring"
    if name in NOT_RUN:
        return
    said: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert not said, "".join(said)


def test_the_list_of_those_that_are_not_run_has_no_old_names() -> None:
    assert PUBLIC.keys() >= NOT_RUN.keys()
