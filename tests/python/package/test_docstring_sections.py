"""Sections of docstrings say what signatures and bodies of functions say: the same parameters, a
result where there is one, and the errors that are raised."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import builtins
import inspect
import re
import sys
import textwrap
import types
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import pairwise
from typing import Any

import lab
import pytest

import usmx
import usmx.ipc
import usmx.linalg

sys.path.insert(0, str(lab.ROOT / "tools"))
import python_reference

#: Modules of which each function has each section that it needs. A module joins when it has them.
WHOLE = ("counters", "dask", "fft", "interop", "ipc", "linalg", "memory", "paths", "special")
#: In the order in which a docstring has them.
SECTIONS = ("Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns", "Notes", "Examples")
#: Modules of other libraries' names, and those that need packages which are not always there.
LEFT_OUT = ("compat.", "ray", "zarr")


def functions() -> Iterator[tuple[str, str, Callable[..., Any], bool]]:
    """Module, name, function and whether it has a first parameter for its object."""
    for module in ("", *(m for m in python_reference.MODULES if not m.startswith(LEFT_OUT))):
        place = import_module(f"usmx.{module}" if module else "usmx")
        for name in sorted(getattr(place, "__all__", None) or getattr(place, "NAMES", ())):
            value = getattr(place, name)
            if isinstance(value, types.ModuleType) or not callable(value):
                continue
            if isinstance(value, type(usmx.float32)):
                continue
            if not isinstance(value, type):
                yield module, name, value, False
            elif value.__module__.startswith("usmx") and not issubclass(value, BaseException):
                for member, found in python_reference.own_members(value).items():
                    function = python_reference.bound(found, value, member)
                    if inspect.isroutine(function) or type(function).__name__ == "nb_method":
                        static = isinstance(found, staticmethod)
                        yield module, f"{name}.{member}", function, not static


def sections(function: Callable[..., Any]) -> list[tuple[str, list[str]]]:
    """The sections of the docstring, each with the names of its entries."""
    lines = (inspect.getdoc(function) or "").splitlines()
    starts = [k for k in range(1, len(lines)) if re.fullmatch("-{3,}", lines[k])]
    found = []
    for start, next_start in pairwise([*starts, len(lines) + 1]):
        entries = [
            line.split(" : ")[0] for line in lines[start + 1 : next_start - 1] if line[:1].strip()
        ]
        names = [name.lstrip("*") for entry in entries for name in entry.split(", ")]
        found.append((lines[start - 1], names))
    return found


def findings(module: str, function: Callable[..., Any], is_method: bool = False) -> list[str]:
    """What the docstring lacks, or says otherwise than the function."""
    listed = sections(function)
    titles = [title for title, _ in listed]
    by_title = dict(listed)
    found = []
    known = [SECTIONS.index(title) for title in titles if title in SECTIONS]
    if known != sorted(set(known)):
        found.append(f"sections {titles}; expected each once, in the order of {SECTIONS}")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return found
    every = list(signature.parameters)
    named = every[is_method:]
    # A method that is a function's other form has its text, in which the array is listed too.
    said = set(by_title.get("Parameters", named)) - {*every[:is_method]}
    if said != set(named):
        found.append(f"Parameters {by_title['Parameters']}; the signature has {named}")
    for name in by_title.get("Raises", ()):
        if not is_exception(name):
            found.append(f"Raises {name!r}; expected the name of an exception")
    if module in WHOLE:
        result = str(signature.return_annotation)
        if named and "Parameters" not in by_title:
            found.append(f"no Parameters; the signature has {named}")
        if result not in ("None", str(inspect.Parameter.empty)) and not {"Returns", "Yields"} & {
            *titles
        }:
            found.append(f"no Returns; the signature gives {result}")
        missing = raised(function) - {*by_title.get("Raises", ())}
        if missing:
            found.append(f"Raises lacks {sorted(missing)}")
    return found


def is_exception(name: str) -> bool:
    """Whether Python or usmx has an exception of that name."""
    kinds = [getattr(m, name, None) for m in (builtins, usmx, usmx.memory, usmx.linalg, usmx.ipc)]
    return any(isinstance(kind, type) and issubclass(kind, BaseException) for kind in kinds)


def raised(function: Callable[..., Any]) -> set[str]:
    """The exceptions that the text of a function itself raises, where it is written in Python."""
    try:
        text = textwrap.dedent(inspect.getsource(inspect.unwrap(function)))
    except (OSError, TypeError):
        return set()
    return {
        node.exc.func.id
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Raise)
        and isinstance(node.exc, ast.Call)
        and isinstance(node.exc.func, ast.Name)
        and is_exception(node.exc.func.id)
    }


@pytest.mark.parametrize("module", sorted({module for module, *_ in functions()}))
def test_sections_say_what_the_function_does(module: str) -> None:
    found = [
        f"{name}: {one}"
        for place, name, function, is_method in functions()
        if place == module
        for one in findings(place, function, is_method)
    ]
    assert not found, "\n".join(found)


def test_a_docstring_that_lacks_or_invents_something_is_found() -> None:
    def scale(x: int, by: int) -> int:
        """Scale.

        Raises
        ------
        ValueErorr
            No such class.

        Parameters
        ----------
        x, factor : int
            Another name.
        """
        if by < 0:
            raise TypeError(x)
        return x * by

    said = "\n".join(findings("fft", scale))
    for expected in (
        "sections ['Raises', 'Parameters']",
        "Parameters ['x', 'factor']; the signature has ['x', 'by']",
        "Raises 'ValueErorr'; expected the name of an exception",
        "no Returns; the signature gives int",
        "Raises lacks ['TypeError']",
    ):
        assert expected in said
    assert findings("", lambda: None) == []
