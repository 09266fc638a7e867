"""Sections of docstrings say what signatures and bodies of functions say: the same parameters, a
result where there is one, and the errors that are raised. Every public function, method and class
has the sections that it needs."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import builtins
import enum
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
from usmx.compat import numba_types

sys.path.insert(0, str(lab.ROOT / "tools"))
import python_reference

#: Annotations of results that a docstring does not tell.
NOTHING = ("None", "Never", "NoReturn", "typing.Never", str(inspect.Parameter.empty))
#: In the order in which a docstring has them.
SECTIONS = ("Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns", "Notes", "Examples")
#: Modules that need packages which are not always there.
OPTIONAL = ("ray", "zarr")
#: Classes whose objects functions of usmx give: programs do not make them.
GIVEN = ("ChosenUsmType", "FileArray", "FileTable", "HostNDArray", "NpzFile")


def public(module: str) -> Iterator[tuple[str, Any]]:
    """The functions and classes of a public module, by name."""
    try:
        place = import_module(f"usmx.{module}" if module else "usmx")
    except ImportError:
        if module not in OPTIONAL:
            raise
        return
    for name in sorted(getattr(place, "__all__", None) or getattr(place, "NAMES", ())):
        value = getattr(place, name)
        # Types of elements are called too, and so are those of `typing`.
        kinds = (type(usmx.float32), numba_types.Type)
        is_type = isinstance(value, kinds) or type(value).__module__ == "typing"
        if callable(value) and not isinstance(value, types.ModuleType) and not is_type:
            yield name, value


def functions(module: str) -> Iterator[tuple[str, Callable[..., Any], bool]]:
    """Name, function and whether it has a first parameter for its object."""
    for name, value in public(module):
        if not isinstance(value, type):
            yield name, value, False
        elif value.__module__.startswith("usmx") and not issubclass(value, BaseException):
            for member, found in python_reference.own_members(value).items():
                function = python_reference.bound(found, value, member)
                if inspect.isroutine(function) or type(function).__name__ == "nb_method":
                    yield f"{name}.{member}", function, not isinstance(found, staticmethod)


def classes(module: str) -> Iterator[tuple[str, type]]:
    """Name and class of those that programs make or read."""
    for name, value in public(module):
        if not isinstance(value, type) or name in GIVEN:
            continue
        # Protocols, enumerations and errors have no constructor of ours.
        if getattr(value, "_is_protocol", False) or issubclass(value, (BaseException, enum.Enum)):
            continue
        if value.__module__.startswith("usmx"):
            yield name, value


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


def without_kind_or_text(function: Callable[..., Any]) -> list[str]:
    """Entries of parameters that lack what they are, or what they mean."""
    text = inspect.getdoc(function) or ""
    section = re.search(r"^Parameters\n-+\n(.*?)(?:\n\n|\Z)", text, re.DOTALL | re.MULTILINE)
    lines = section[1].splitlines() if section else []
    return [
        line
        for line, following in pairwise([*lines, ""])
        if line[:1].strip() and not (" : " in line and following.startswith("    "))
    ]


def findings(function: Callable[..., Any], is_method: bool = False) -> list[str]:
    """What the docstring lacks, or says otherwise than the function."""
    listed = sections(function)
    titles = [title for title, _ in listed]
    by_title = dict(listed)
    found: list[str] = []
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
    lacking = without_kind_or_text(function)
    if lacking:
        found.append(f"Parameters without a type or a description: {lacking}")
    for name in by_title.get("Raises", ()):
        if not is_exception(name):
            found.append(f"Raises {name!r}; expected the name of an exception")
    result = str(signature.return_annotation)
    if named and "Parameters" not in by_title:
        found.append(f"no Parameters; the signature has {named}")
    if result not in NOTHING and not {"Returns", "Yields"} & {*titles}:
        found.append(f"no Returns; the signature gives {result}")
    missing = raised(function) - {*by_title.get("Raises", ())}
    if missing:
        found.append(f"Raises lacks {sorted(missing)}")
    return found


def findings_of_class(made: type) -> list[str]:
    """What the docstring of a class lacks, or says otherwise than its constructor.

    A class of fields may call them attributes.
    """
    try:
        named = list(inspect.signature(made).parameters)
    except (TypeError, ValueError):
        return []
    # Classes that differ in what they do say it, and the one of the constructor what it takes.
    owner = next((one for one in made.__mro__ if "__init__" in vars(one)), made)
    owner = owner if owner.__module__.startswith("usmx") else made
    by_title = dict(sections(owner)) | dict(sections(made))
    fields = getattr(made, "_fields", ()) or getattr(made, "__dataclass_fields__", ())
    title = "Attributes" if fields and "Parameters" not in by_title else "Parameters"
    said = by_title.get(title, [])
    found = [] if {*said} == {*named} else [f"{title} {said}; the constructor has {named}"]
    lacking = without_kind_or_text(owner) or without_kind_or_text(made)
    return [*found, f"Parameters without a type or a description: {lacking}"] if lacking else found


def is_exception(name: str) -> bool:
    """Whether Python or usmx has an exception of that name."""
    name = name.rpartition(".")[2]
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


@pytest.mark.parametrize("module", ["", *python_reference.MODULES])
def test_sections_say_what_the_function_does(module: str) -> None:
    found = [
        f"{name}: {one}"
        for name, function, is_method in functions(module)
        for one in findings(function, is_method)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("module", ["", *python_reference.MODULES])
def test_sections_say_what_the_constructor_takes(module: str) -> None:
    found = [f"{name}: {one}" for name, made in classes(module) for one in findings_of_class(made)]
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

    said = "\n".join(findings(scale))
    for expected in (
        "sections ['Raises', 'Parameters']",
        "Parameters ['x', 'factor']; the signature has ['x', 'by']",
        "Raises 'ValueErorr'; expected the name of an exception",
        "no Returns; the signature gives int",
        "Raises lacks ['TypeError']",
    ):
        assert expected in said
    assert findings(lambda: None) == []


def test_a_class_and_a_parameter_that_lack_something_are_found() -> None:
    class Scaled:
        """Scaled.

        Parameters
        ----------
        factor : int
            Another name.
        """

        def __init__(self, x: int) -> None: ...

    assert findings_of_class(Scaled) == ["Parameters ['factor']; the constructor has ['x']"]

    def scale(x: int, by: int) -> None:
        """Scale.

        Parameters
        ----------
        x
            Without a type.
        by : int
        """

    (said,) = findings(scale)
    assert said.endswith(": ['x', 'by : int']")
