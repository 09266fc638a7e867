"""One law for the functions of the compiled module: a wrong call names the arguments of the stub.

The stub, `inspect.signature` and the message for an unknown name say the same of each function and
of each method that an object can be made for.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import usmx
import usmx.memory
from usmx import _usmx

#: An object of each class whose methods are called. None of them comes to its function.
OBJECTS: dict[str, Any] = {
    "ndarray": usmx.ones(3),
    "_Memory": usmx.memory.MemoryUSMShared(8),
    "Queue": usmx.Queue(),
    "Device": usmx.Queue().device,
    "Event": usmx.Event(),
    "dtype": usmx.float32,
    "MemoryResource": usmx.memory.get_resource(),
    "PoolResource": usmx.memory.PoolResource(usmx.memory.UsmResource("shared")),
    "RawKernel": usmx.RawKernel("USMX_KERNEL(1) void f(float* x) {}", "f"),
}


def functions() -> Iterator[tuple[str, ast.FunctionDef, Any, list[Any]]]:
    """Name, line of the stub, function and object of everything that the stub has once."""
    stub = Path(str(_usmx.__file__)).with_name("_usmx.pyi")
    for one in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(one, ast.FunctionDef) and not one.decorator_list:
            yield one.name, one, getattr(_usmx, one.name), []
        if not isinstance(one, ast.ClassDef):
            continue
        for method in one.body:
            if not isinstance(method, ast.FunctionDef):
                continue
            function = vars(getattr(_usmx, one.name)).get(method.name)
            is_static = [ast.unparse(name) for name in method.decorator_list] == ["staticmethod"]
            if is_static:
                yield f"{one.name}.{method.name}", method, function, []
            elif not method.decorator_list and one.name in OBJECTS:
                yield f"{one.name}.{method.name}", method, function, [OBJECTS[one.name]]


#: Launches have their own sentence for names, comparisons give NotImplemented.
OTHERS = ("__call__", "__eq__", "__ne__")
#: What nanobind bound.
ALL = [
    pytest.param(line, function, arguments, id=name)
    for name, line, function, arguments in functions()
    if type(function).__name__ in ("nb_func", "nb_method")
    and line.args.kwarg is None
    and line.name not in OTHERS
]


def test_there_are_many() -> None:
    assert len(ALL) > 200


@pytest.mark.parametrize(("line", "function", "arguments"), ALL)
def test_a_wrong_call_names_the_arguments_of_the_stub(
    line: ast.FunctionDef, function: Any, arguments: list[Any]
) -> None:
    names = [one.arg for one in [*line.args.args, *line.args.kwonlyargs] if one.arg != "self"]
    by_place = [one.arg for one in line.args.posonlyargs]
    with pytest.raises(TypeError, match="unexpected argument 'zzzz'") as told:
        function(*arguments, zzzz=None)
    assert re.findall(r"'(\w+)'", str(told.value)) == ["zzzz", *names]
    parameters = inspect.signature(function).parameters.values()
    assert [one.name for one in parameters if one.name != "self"] == [
        *(one for one in by_place if one != "self"),
        *(one.arg for one in line.args.args if one.arg != "self"),
        *([line.args.vararg.arg] if line.args.vararg else []),
        *(one.arg for one in line.args.kwonlyargs),
    ]
