"""What ``inspect.signature`` and completion in editors say of functions, methods and classes."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

import usmx

PLACE = {"usm_type", "device", "queue"}


@pytest.mark.parametrize(
    "name",
    [
        "asarray",
        "from_numpy",
        "empty",
        "zeros",
        "ones",
        "full",
        "arange",
        "empty_like",
        "full_like",
    ],
)
def test_creation_functions_have_a_signature(name):
    signature = inspect.signature(getattr(usmx, name))
    assert set(signature.parameters) >= PLACE
    assert signature.return_annotation == "ndarray"
    assert signature.parameters["usm_type"].annotation == "UsmKind | None"


def test_signatures_name_defaults_and_kinds():
    zeros = inspect.signature(usmx.zeros).parameters
    assert zeros["shape"].default is inspect.Parameter.empty
    assert zeros["order"].default == "C"
    assert zeros["queue"].kind is inspect.Parameter.KEYWORD_ONLY
    trim = inspect.signature(usmx.memory.PoolResource.trim)
    assert list(trim.parameters) == ["self", "keep"]


def test_a_method_of_an_object_has_no_self():
    x = usmx.zeros(3)
    assert list(inspect.signature(x.swapaxes).parameters) == ["axis1", "axis2"]
    assert list(inspect.signature(usmx.ndarray.swapaxes).parameters) == ["self", "axis1", "axis2"]


def public_callables():
    for module in (usmx, usmx.memory):
        for name in module.__all__:
            value = getattr(module, name)
            if not callable(value) or isinstance(value, type(usmx.float32)):
                continue
            yield f"{module.__name__}.{name}", value
            if inspect.isclass(value) and value.__module__.startswith("usmx"):
                for method, function in vars(value).items():
                    if type(function).__name__ == "nb_method":
                        yield f"{module.__name__}.{name}.{method}", function


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(f, id=name)
        for name, f in public_callables()
        if not (inspect.isclass(f) and (issubclass(f, Exception) or f.__init__ is object.__init__))
    ],
)
def test_everything_public_has_a_signature(function):
    # A class without a constructor of its own cannot be made, and says so when it is tried.
    if inspect.isclass(function) and type(function.__init__).__name__ == "wrapper_descriptor":
        with pytest.raises(TypeError):
            function()
    else:
        assert isinstance(inspect.signature(function), inspect.Signature)


def test_each_method_and_function_of_the_stub_has_a_docstring():
    assert usmx._usmx.__file__ is not None
    stub = Path(usmx._usmx.__file__).with_name("_usmx.pyi")
    tree = ast.parse(stub.read_text(encoding="utf-8"))
    functions = [
        (place.name, one)
        for place in tree.body
        if isinstance(place, ast.ClassDef) and not place.name.startswith("_")
        for one in place.body
        if isinstance(one, ast.FunctionDef) and not one.decorator_list
    ]
    functions += [("", one) for one in tree.body if isinstance(one, ast.FunctionDef)]
    public = [(place, one) for place, one in functions if not one.name.startswith("_")]
    assert len(public) > 100
    assert [(place, one.name) for place, one in public if not ast.get_docstring(one)] == []


def test_a_signature_is_the_binding():
    given = usmx._usmx._Testing.given
    defaults = (b"z", (), True, 300, None)
    assert given(1, 2, e=3) == (1, 2, -1.5, "x, (y", 3, *defaults)
    assert given(1, None, d=4, c=5, e=None) == (1, None, 5, 4, None, *defaults)
    assert given(1, 2, 3, 4, e=5, f=6, g=7, h=8, i=9, j=10) == tuple(range(1, 11))
    of_signature = inspect.signature(given).parameters.values()
    assert [one.default for one in of_signature if one.default is not one.empty] == [
        -1.5, "x, (y", *defaults
    ]  # fmt: skip
    for arguments, named in (
        ((None, 2), {"e": 3}),  # the type has no None
        ((1, 2, None), {"e": 3}),
        ((1, 2, 3, 4, 5), {"e": 3}),  # by name alone
        ((1,), {"b": 2, "e": 3}),  # by place alone
        ((1, 2), {}),  # a value that has no default
    ):
        with pytest.raises(TypeError, match="given: "):
            given(*arguments, **named)
    # Python does not see the mark for None.
    assert "b: str, /" in given.__nb_signature__[0][0]


def test_an_argument_by_place_alone_is_not_taken_by_name():
    seen = set()
    for function in vars(usmx._usmx).values():
        if type(function).__name__ != "nb_func":
            continue
        for one in inspect.signature(function).parameters.values():
            if one.kind is one.POSITIONAL_ONLY and not re.fullmatch(r"arg\d*", one.name):
                with pytest.raises(TypeError, match=f"unexpected argument '{one.name}'"):
                    function(**{one.name: usmx.ones(3)})
                seen.add(f"{function.__name__}({one.name})")
    assert seen >= {"from_dlpack(x)", "_rebuild_array(data)"}
    with pytest.raises(TypeError, match="unexpected argument 'value'"):
        usmx.float32(value=3)


def test_completion_offers_what_an_array_has():
    assert {"shape", "dtype", "to_numpy", "reshape", "usm_type", "queue", "T"} <= set(
        dir(usmx.zeros(3))
    )


def test_completion_offers_methods_that_were_not_used_yet(run_python):
    run_python(
        """
        import sys
        import usmx
        named = ("sum", "mean", "sort", "fill", "trace", "real", "abs")
        assert set(named) <= set(dir(usmx.ndarray))
        assert "usmx._namespace.statistics" not in sys.modules
        assert usmx.ndarray.mean.__wrapped__ is usmx.mean.__wrapped__
        assert usmx.ndarray.trace.__wrapped__ is not usmx.trace.__wrapped__
        assert usmx.ndarray.__dict__["mean"] is usmx.ndarray.mean
        x = usmx.ones(3)
        assert (x.sum(), x.abs().sum(), x.real[0], x.mean()) == (3, 3, 1, 1)
        try:
            x.nothing
        except AttributeError as error:
            assert "no attribute 'nothing'" in str(error)
        else:
            raise AssertionError
        """
    )
