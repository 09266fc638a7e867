"""What ``inspect.signature`` and completion in editors say of functions, methods and classes."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import inspect
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
