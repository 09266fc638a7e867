"""Help, signatures and types of the functions of the table: they say the same, and it is true."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import doctest
import importlib.util
import inspect
import pydoc
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import usmx
import usmx.special
from usmx import _usmx
from usmx._namespace import operation_types
from usmx._operations import OPERATIONS

ROWS = [row for row in OPERATIONS if row.texts]
NAMES = [(row, name) for row in ROWS for name in (row.name, row.standard) if name]
LETTERS = {"bools": "b", "integers": "iu", "floats": "f", "complex numbers": "c"}
DTYPES = {"b": "bool", "i": "int32", "u": "uint32", "f": "float32", "c": "complex64"}


def space_of(row: Any) -> ModuleType:
    return usmx.special if row.space else usmx


def function_of(row: Any) -> Any:
    return getattr(space_of(row), row.name)


def read_types() -> dict[str, tuple[str, str]]:
    """Function -> the class that type checkers take it for, and its docstring there."""
    found: dict[str, tuple[str, str]] = {}
    # elementwise.py and special.py: assignments that a text follows.
    for name in ("usmx._namespace.elementwise", "usmx.special"):
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        body = ast.parse(Path(spec.origin).read_text(encoding="utf-8")).body
        for one, text in pairwise(body):
            if isinstance(one, ast.AnnAssign):
                assert isinstance(one.target, ast.Name)
                assert isinstance(one.annotation, ast.Name)
                assert isinstance(text, ast.Expr)
                doc = ast.literal_eval(text.value)
                found[f"{name}.{one.target.id}"] = one.annotation.id, doc
    return found


TYPES = read_types()


def typed(row: Any, name: str) -> tuple[str, str]:
    return TYPES[f"usmx.special.{name}" if row.space else f"usmx._namespace.elementwise.{name}"]


@pytest.mark.parametrize(("row", "name"), [pytest.param(*one, id=one[1]) for one in NAMES])
def test_docstring_signature_and_types_are_the_same(row: Any, name: str) -> None:
    function = getattr(space_of(row), name)
    signature = inspect.signature(function)
    kind, doc = typed(row, name)
    assert function.__name__ == row.name
    assert inspect.cleandoc(doc) == inspect.getdoc(function)
    # What type checkers see: the same names in the same places, and the same defaults.
    caller = getattr(operation_types, kind).__call__
    overloads = [one for one in _overloads(kind) if one] or [_parameters(caller)]
    assert [(one.name, one.kind, one.default) for one in signature.parameters.values()] in overloads
    # What the help lists.
    text = inspect.getdoc(function)
    assert text is not None
    listed = text.split("Parameters\n----------\n")[1].split("\n\n")[0]
    names = [
        one
        for line in listed.splitlines()
        if not line.startswith(" ")
        for one in line.split(" : ")[0].split(", ")
    ]
    assert names == list(signature.parameters)


def _parameters(function: Any) -> list[tuple[str, Any, Any]]:
    all_of_it = list(inspect.signature(function).parameters.values())[1:]
    return [(one.name, one.kind, one.default) for one in all_of_it]


def _overloads(kind: str) -> list[list[tuple[str, Any, Any]]]:
    from typing import get_overloads

    return [_parameters(one) for one in get_overloads(getattr(operation_types, kind).__call__)]


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in ROWS])
def test_the_help_says_which_types_it_takes(row: Any) -> None:
    text = inspect.getdoc(function_of(row))
    assert text is not None
    said = " ".join(
        text.split("array or number\n")[1].split("\nout :")[0].split("\ndeg :")[0].split()
    )
    refused = said.split("; ")[-1].removesuffix(" are refused.") if "refused" in said else ""
    letters = {
        letter for word, some in LETTERS.items() if word in refused.lower() for letter in some
    }
    lead = ["bool"] if row.chooses else []
    really = {
        letter
        for letter, dtype in DTYPES.items()
        if _usmx._result_types(row.name, *lead, *[usmx.dtype(dtype)] * (row.arity - len(lead)))
        is None
    }
    assert letters == really, said


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in ROWS])
def test_the_example_of_the_help_runs(row: Any) -> None:
    text = inspect.getdoc(function_of(row))
    assert text is not None
    test = doctest.DocTestParser().get_doctest(text, {"usmx": usmx}, row.name, None, 0)
    assert len(test.examples) >= 2
    said: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert not said, "".join(said)


def test_help_is_about_the_function_and_not_about_its_class() -> None:
    shown = pydoc.render_doc(usmx.sqrt, renderer=pydoc.plaintext)
    assert "class Operation" not in shown
    assert "Gives the square root." in shown
    assert "usmx.sqrt(x, /, out=None, *, where=True," in shown
    assert "Of complex numbers off by at most 4 units in the last place." in shown
