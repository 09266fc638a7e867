"""What ``inspect.signature`` says of the functions of the compiled module."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import inspect
from typing import Any


def of(function: Any) -> inspect.Signature:
    """The signature of a function, method or class that nanobind made, also of another library.

    Raises
    ------
    AttributeError
        Its text is not one of Python: `inspect` then looks for itself.
    """
    if isinstance(function, type):
        return _of_class(function)
    try:
        found = [read(text, defaults or ()) for text, _, defaults in function.__nb_signature__]
    except (AttributeError, SyntaxError, TypeError, ValueError, IndexError) as error:
        raise AttributeError(f"no signature: {error}") from None
    if len(found) != 1:
        names = ("args", "kwargs")
        kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        return inspect.Signature(
            [inspect.Parameter(name, kind) for name, kind in zip(names, kinds, strict=True)]
        )
    signature = found[0]
    if type(function).__name__ == "nb_bound_method":
        first, *others = signature.parameters.values()
        if first.name == "self":
            signature = signature.replace(parameters=others)
    return signature


def _of_class(made: type) -> inspect.Signature:
    """How an object is made. Not all versions of `inspect` find the constructor of nanobind."""
    constructor: Any = made.__init__  # type: ignore[misc]
    if inspect.isfunction(made.__new__) or not hasattr(constructor, "__nb_signature__"):
        raise AttributeError("no signature")
    signature = of(constructor)
    first = next(iter(signature.parameters.values()), None)
    if first is not None and first.name == "self":
        signature = signature.replace(parameters=list(signature.parameters.values())[1:])
    return signature.replace(return_annotation=inspect.Signature.empty)


def read(text: str, defaults: tuple[Any, ...]) -> inspect.Signature:
    """The signature in a line ``def name(...) -> ...``; ``\\0`` is the first of the defaults."""
    for k in range(len(defaults)):
        text = text.replace(f"\\={k}", f"_default_[{k}]").replace(f"\\{k}", f"_default_[{k}]")
    text = "def f" + text[text.index("(") :]
    node = ast.parse(text + ": ...").body[0]
    assert isinstance(node, ast.FunctionDef)
    a = node.args

    def default(expression: ast.expr | None) -> Any:
        if expression is None:
            return inspect.Parameter.empty
        if isinstance(expression, ast.Subscript):
            return defaults[ast.literal_eval(expression.slice)]
        return ast.literal_eval(expression)

    def parameter(arg: ast.arg, kind: Any, value: ast.expr | None = None) -> inspect.Parameter:
        annotation = ast.unparse(arg.annotation) if arg.annotation else inspect.Parameter.empty
        return inspect.Parameter(arg.arg, kind, default=default(value), annotation=annotation)

    P = inspect.Parameter
    named = [*a.posonlyargs, *a.args]
    values = [*[None] * (len(named) - len(a.defaults)), *a.defaults]
    parameters = [
        parameter(arg, P.POSITIONAL_ONLY if arg in a.posonlyargs else P.POSITIONAL_OR_KEYWORD, v)
        for arg, v in zip(named, values, strict=True)
    ]
    if a.vararg:
        parameters.append(parameter(a.vararg, P.VAR_POSITIONAL))
    parameters += [
        parameter(arg, P.KEYWORD_ONLY, v)
        for arg, v in zip(a.kwonlyargs, a.kw_defaults, strict=True)
    ]
    if a.kwarg:
        parameters.append(parameter(a.kwarg, P.VAR_KEYWORD))
    result = ast.unparse(node.returns) if node.returns else inspect.Signature.empty
    return inspect.Signature(parameters, return_annotation=result)
