"""What a call is told whose arguments do not fit: one line with the argument and the nearest name.

Functions that were bound with nanobind, ours and those of extensions that call
``usmx::python::explain_calls``, come here with the error in their hands; so do functions that were
written in Python (`_explained`), and those that read their keywords themselves. Nothing here runs
for a call that is right.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import inspect
import re
import sys
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _signature

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

P = inspect.Parameter
_BY_PLACE = (P.POSITIONAL_ONLY, P.POSITIONAL_OR_KEYWORD)
_BY_NAME = (P.POSITIONAL_OR_KEYWORD, P.KEYWORD_ONLY)
_MOST = 40  # characters of a text that is shown
#: How far a call came: of several overloads the one counts whose arguments fitted longest.
_NAME, _MANY, _TWICE, _MISSING, _TYPE = range(5)


class _Misfit(NamedTuple):
    """Why the arguments of a call are not those of a signature."""

    came: tuple[int, int]
    text: str
    #: What was expected of the argument that `text` names, for types alone.
    expected: str = ""


def line_of(function: Any, given: Sequence[Any], named: Mapping[str, Any], text: str) -> str | None:
    """The line for a call of a function of nanobind's.

    Parameters
    ----------
    function : nb_func or nb_method
        What was called.
    given, named : sequence, mapping
        The arguments, the first of which is the object of a method.
    text : str
        The message of nanobind.

    Returns
    -------
    str or None
        None if the message is about another function, which this one called.
    """
    if not _is_about(text, function, given, named):
        return None
    owner, name = _place(function, given)
    misfits = []
    for signature in _signatures(function):
        misfit = _of_method(signature, given, owner) if _has_self(function) else None
        if misfit is None:
            misfit = _misfit(*_without_self(function, signature, given), named)
        if misfit is not None:
            misfits.append(misfit)
    if not misfits and owner is None and _has_self(function) and given:
        misfits = [_Misfit((_NAME, 0), f"self: {shown(given[0])} is not an object of its class")]
    if not misfits:  # its signature says less than what it takes
        values = ", ".join(map(shown, [*given, *named.values()]))
        misfits = [_Misfit((_NAME, 0), f"does not take {values}")]
    farthest = max(misfit.came for misfit in misfits)
    best = [misfit for misfit in misfits if misfit.came == farthest]
    # Overloads may call arguments differently: the first line that has a suggestion.
    line = next((one.text for one in best if "; did you mean" in one.text), best[0].text)
    if farthest[0] == _TYPE and best[0].expected:
        expected = [word for one in best for word in one.expected.split("\0")]
        line += f"; expected {_alternatives(dict.fromkeys(expected))}"
    if not function.__name__:  # of a property: its only argument has no name
        line = line.removeprefix("argument 1: ")
    return f"{name}: {line}" if name else line


def _is_about(text: str, function: Any, given: Sequence[Any], named: Mapping[str, Any]) -> bool:
    """Whether a message is about this call; one that it made may have been wrong as well."""
    head, _, types = text.rpartition("Invoked with types: ")
    values = [*given, *named.values()]
    shown_types = types.split(", ") if types else []
    return (
        head.startswith(f"{function.__name__}():")
        and len(shown_types) == len(values)
        and all(
            one.removesuffix(" }").endswith(type(value).__name__)
            for one, value in zip(shown_types, values, strict=True)
        )
    )


def line_of_python(
    function: Any, name: str, passed: int, given: Sequence[Any], named: Mapping[str, Any]
) -> str | None:
    """The same of a function that was written in Python; None if the arguments fit.

    Of a method the first argument is what Python passes, which is not counted.
    """
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    if passed and parameters and parameters[0].kind in _BY_PLACE:
        if not given:
            return f"{name}: missing the object of the method"
        parameters, given = parameters[passed:], given[passed:]
    return line(name, signature.replace(parameters=parameters), given, named)


def line(
    name: str, signature: inspect.Signature, given: Sequence[Any], named: Mapping[str, Any]
) -> str | None:
    """The same of what has that name and signature; None if the arguments fit.

    Annotations of functions that were written in Python are for type checkers: they are not read.
    """
    plain = [one.replace(annotation=P.empty) for one in signature.parameters.values()]
    misfit = _misfit(plain, given, named)
    return None if misfit is None else f"{name}: {misfit.text}"


def unexpected(function: str, argument: str, taken: Iterable[str]) -> TypeError:
    """The error for a keyword that a function does not take.

    Parameters
    ----------
    function : str
        Its name, as users call it.
    argument : str
        The keyword.
    taken : iterable of str
        Those that it takes, without those that the call has already.
    """
    return TypeError(f"{function}: {_unexpected(argument, list(taken))}")


def _public(module: str | None, name: str) -> str:
    """How users call it: what a private module has is found in the package above it."""
    parts = str(module or "").split(".")
    private = next((k for k, part in enumerate(parts) if part.startswith("_")), len(parts))
    return ".".join([*(parts[:private] or parts[-1:]), name])


def _has_self(function: Any) -> bool:
    return type(function).__name__ == "nb_method"


def _place(function: Any, given: Sequence[Any]) -> tuple[type | None, str]:
    """The class of a method, and how users call a function."""
    name = function.__name__
    if not _has_self(function):
        own = function.__qualname__.removesuffix(".__new__")
        return None, _public(function.__module__, own)
    for owner in type(given[0]).__mro__ if given else ():
        for key, value in vars(owner).items():
            setter = isinstance(value, property) and function in (value.fget, value.fset)
            if setter or (key == name and value is function):
                return owner, _public(owner.__module__, _in_class(owner.__qualname__, key))
    # The class says another module than the one that it is in, as those of usmx.memory.
    path = (function.__qualname__ or name).split(".")
    for module in (function.__module__, "usmx._usmx"):
        found: Any = sys.modules.get(module)
        for part in path[:-1]:
            found = getattr(found, part, None)
        if isinstance(found, type):
            return found, _public(found.__module__, _in_class(found.__qualname__, name))
    if not name:
        return None, ""
    return None, _public(function.__module__, ".".join(path).removesuffix(".__init__"))


def _in_class(owner: str, name: str) -> str:
    return owner if name == "__init__" else f"{owner}.{name}"


def _of_method(
    signature: inspect.Signature, given: Sequence[Any], owner: type | None
) -> _Misfit | None:
    """What is wrong with the object of a method. That of a constructor is not made yet."""
    if not given or owner is None or isinstance(given[0], owner):
        return None
    expected = _public(owner.__module__, owner.__qualname__)
    return _Misfit((_NAME, 0), f"self: got {shown(given[0])}; expected {expected}")


def _without_self(
    function: Any, signature: inspect.Signature, given: Sequence[Any]
) -> tuple[list[P], list[Any]]:
    """Parameters and arguments, without the object or the class that Python passes."""
    parameters = list(signature.parameters.values())
    if _has_self(function) or function.__name__ == "__new__":
        return parameters[1:], list(given[1:])
    return parameters, list(given)


def _signatures(function: Any) -> Iterator[inspect.Signature]:
    for text, _, defaults in function.__nb_signature__:
        try:
            yield _signature.read(_in_python(text.splitlines()[-1]), defaults or ())
        except (SyntaxError, ValueError, IndexError):
            continue


def _in_python(text: str) -> str:
    """A signature with C++ names of types that have none in Python: ``std::map<int, T>``."""
    if "::" not in text:
        return text
    head, arrow, result = text.rpartition(" -> ")
    for part in range(text.count("<")):
        shorter = re.sub(r"(?<=[\w:])\s*<[^<>]*>", "", head)
        if shorter == head or part > len(text):
            break
        head = shorter
    head = re.sub(r"\s*[*&]+(?=\s*[,)=|/])", "", head.replace("::", "."))
    return f"{head}{arrow}{result if '::' not in result else 'object'}"


def _misfit(
    parameters: Sequence[P], values: Sequence[Any], named: Mapping[str, Any]
) -> _Misfit | None:
    """What is wrong first; None if everything may fit."""
    places = [one for one in parameters if one.kind in _BY_PLACE]
    names = [
        one.name for one in parameters if one.kind in (P.POSITIONAL_OR_KEYWORD, P.KEYWORD_ONLY)
    ]
    has_all = any(one.kind is P.VAR_POSITIONAL for one in parameters)
    has_any = any(one.kind is P.VAR_KEYWORD for one in parameters)
    taken = {one.name for one in places[: len(values)]}
    for name in named:
        if name not in names and not has_any:
            free = [one for one in names if one not in named and one not in taken]
            return _Misfit((_NAME, 0), _unexpected(name, free))
    if len(values) > len(places) and not has_all:
        return _Misfit((_MANY, 0), _wrong_count(parameters, places, len(values)))
    for name in named:
        if name in taken and name in names:
            return _Misfit((_TWICE, 0), f"got the argument {name!r} by place and by name")
    missing = [
        one
        for k, one in enumerate(parameters)
        if one.default is P.empty
        and one.kind not in (P.VAR_POSITIONAL, P.VAR_KEYWORD)
        and one.name not in named
        and not (one.kind in _BY_PLACE and k < len(values))
    ]
    if any(map(_has_no_name, missing)):
        return _Misfit((_MISSING, len(values)), _wrong_count(parameters, places, len(values)))
    if missing:
        word = "argument" if len(missing) == 1 else "arguments"
        quoted = _joined([repr(one.name) for one in missing])
        return _Misfit((_MISSING, len(values)), f"missing the {word} {quoted}")
    return _wrong_type(parameters, places, values, named)


def _unexpected(name: str, free: Sequence[str]) -> str:
    text = f"got an unexpected argument {name!r}"
    near = get_close_matches(name, free, 1) or get_close_matches(name.lower(), free, 1, 0.5)
    if near:
        return f"{text}; did you mean {near[0]!r}?"
    if not free:
        return f"{text}; it takes no other by name"
    return f"{text}; it takes {_joined([repr(one) for one in free])}"


def _wrong_count(parameters: Sequence[P], places: Sequence[P], count: int) -> str:
    least = sum(one.default is P.empty for one in places)
    most = len(places)
    numbers = f"{least} to {most}" if 0 < least < most else str(most)
    if least == 0 < most:
        numbers = f"at most {most}"
    word = "argument" if most == 1 else "arguments"
    text = f"takes {numbers if most else 'no'} {word} by place, got {count}"
    by_name = [repr(one.name) for one in parameters if one.kind is P.KEYWORD_ONLY]
    return f"{text}; by name: {', '.join(by_name)}" if by_name else text


def _has_no_name(one: P) -> bool:
    """Whether nanobind made up the name, because the function that was bound has none."""
    return one.kind is P.POSITIONAL_ONLY and re.fullmatch(r"arg\d*", one.name) is not None


def _joined(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _alternatives(words: Iterable[str]) -> str:
    all_words = list(words)
    if len(all_words) == 1:
        return all_words[0]
    return f"{', '.join(all_words[:-1])} or {all_words[-1]}"


# --- types: what the annotations of nanobind say of a value


def _wrong_type(
    parameters: Sequence[P], places: Sequence[P], values: Sequence[Any], named: Mapping[str, Any]
) -> _Misfit | None:
    """The first argument that is not of its type, or those that may not be."""
    pairs: list[tuple[P, Any]] = list(zip(places, values, strict=False))
    rest = next((one for one in parameters if one.kind is P.VAR_POSITIONAL), None)
    if rest is not None:
        pairs += [(rest, value) for value in values[len(places) :]]
    pairs += [(one, named[one.name]) for one in parameters if one.name in named]
    doubtful, numbers = [], []
    for number, (one, value) in enumerate(pairs):
        annotation = _tree(one.annotation)
        if annotation is None:
            continue
        name = f"argument {number + 1}" if _has_no_name(one) else one.name
        found = _fits(annotation, value)
        if found is False:
            text, wanted = _of_item(name, value, annotation)
            return _Misfit((_TYPE, number), text, "\0".join(_words(wanted)))
        if found is None:
            doubtful.append((name, value, annotation))
        elif type(value) is int:
            numbers.append((name, value))
    if len(doubtful) == 1:
        ((name, value, annotation),) = doubtful
        text = f"{name}: got {shown(value)}"
        return _Misfit((_TYPE, len(pairs)), text, "\0".join(_words(annotation)))
    if numbers and not doubtful:
        name, value = max(numbers, key=lambda one: abs(one[1]))
        return _Misfit((_TYPE, len(pairs)), f"{name}: got {shown(value)}, which is out of range")
    if not doubtful:
        return None
    each = [
        f"{name}: got {shown(value)}, expected {_alternatives(_words(annotation))}"
        for name, value, annotation in doubtful
    ]
    return _Misfit(
        (_TYPE, 0), "; ".join(each) or "the arguments are not of the types that it takes"
    )


def _of_item(name: str, value: Any, annotation: ast.expr) -> tuple[str, ast.expr]:
    """What is wrong with a value: itself, or the first item of a list."""
    if (
        isinstance(value, (list, tuple))
        and isinstance(annotation, ast.Subscript)
        and _last_name(annotation.value) in _LISTS
    ):
        of = _items(annotation.slice)[0]
        for k, item in enumerate(value):
            if _fits(of, item) is False:
                return f"{name}[{k}]: got {shown(item)}", of
    return f"{name}: got {shown(value)}", annotation


def _tree(annotation: Any) -> ast.expr | None:
    """The annotation as an expression; None if it says nothing."""
    if not isinstance(annotation, str):
        return None
    try:
        return ast.parse(annotation, mode="eval").body
    except SyntaxError:
        return None


def _last_name(tree: ast.expr) -> str:
    if isinstance(tree, ast.Attribute):
        return tree.attr
    return tree.id if isinstance(tree, ast.Name) else ""


def _items(tree: ast.expr) -> list[ast.expr]:
    return list(tree.elts) if isinstance(tree, ast.Tuple) else [tree]


def _parts(tree: ast.expr) -> list[ast.expr]:
    """The alternatives of a union."""
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.BitOr):
        return [*_parts(tree.left), *_parts(tree.right)]
    if isinstance(tree, ast.Subscript):
        of = tree.slice
        if _last_name(tree.value) == "Union":
            return [
                x for one in (of.elts if isinstance(of, ast.Tuple) else [of]) for x in _parts(one)
            ]
        if _last_name(tree.value) == "Optional":
            return [*_parts(of), ast.Constant(None)]
    return [tree]


def _fits(tree: ast.expr, value: Any) -> bool | None:
    """Whether a value is of a type; None if that cannot be said."""
    parts = _parts(tree)
    if len(parts) > 1:
        found = [_fits(one, value) for one in parts]
        return True if True in found else None if None in found else False
    if isinstance(tree, ast.Constant):
        return value is None if tree.value is None else None
    if isinstance(tree, ast.Subscript):
        return _fits_generic(_last_name(tree.value), tree.slice, value)
    name = _last_name(tree)
    if name in ("Any", "object") or value is None:
        return name in ("Any", "object")
    if name in _NUMBERS:
        return _is_number(name, value)
    if name in _PLAIN:
        return isinstance(value, _PLAIN[name])
    if name == "Callable":
        return callable(value)
    return _is_instance(tree, value)


_LISTS = ("list", "Sequence", "Iterable")
#: Types of numbers -> those of Python that are taken for them.
_NUMBERS: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (int,),
    "SupportsIndex": (int,),
    "float": (float, int),
    "complex": (complex, float, int),
}
_PLAIN: dict[str, type | tuple[type, ...]] = {
    "str": str, "bytes": bytes, "bytearray": bytearray, "dict": dict, "slice": slice, "type": type,
}  # fmt: skip
_NO_NUMBERS = (str, bytes, bytearray, list, tuple, dict, set, slice)


def _is_number(name: str, value: Any) -> bool | None:
    if isinstance(value, _NUMBERS[name]):
        return True
    if isinstance(value, (*_NO_NUMBERS, bool, int, float, complex)):
        return False
    method = {"int": "__index__", "SupportsIndex": "__index__", "float": "__float__"}.get(name)
    return None if method is None or hasattr(type(value), method) else False


def _fits_generic(name: str, of: ast.expr, value: Any) -> bool | None:
    if name == "Annotated" and isinstance(of, ast.Tuple):
        return _fits_array(of, value)
    if name == "Literal":
        return value in [one.value for one in _items(of) if isinstance(one, ast.Constant)]
    if name == "Callable":
        return callable(value)
    if name in ("dict", "Mapping"):
        return True if isinstance(value, dict) else False if _is_plain(value) else None
    if name in (*_LISTS, "set", "frozenset", "tuple"):
        if _is_plain(value):
            return False
        if not isinstance(value, (list, tuple)):
            return None
        items = _items(of)
        if name == "tuple" and not isinstance(items[-1], ast.Constant):
            if len(items) != len(value):
                return False
            found = [_fits(one, item) for one, item in zip(items, value, strict=True)]
        else:
            found = [_fits(items[0], item) for item in value[:1000]]
        return False if False in found else None if None in found else True
    return False if value is None else None


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, complex, str, bytes))


def _fits_array(of: ast.Tuple, value: Any) -> bool | None:
    """Of an array as `usmx::view` takes it: its dtype and number of dimensions."""
    if _is_plain(value):
        return False
    wanted = _about_array(of)
    about = _array(value)
    if about is None or not wanted:
        return None
    dtype, rank = about
    if wanted.get("dtype", dtype) != dtype or wanted.get("ndim", rank) != rank:
        return False
    return None


def _about_array(of: ast.Tuple) -> dict[str, Any]:
    call = next((one for one in of.elts if isinstance(one, ast.Call)), None)
    if call is None:
        return {}
    return {
        str(one.arg): one.value.value
        for one in call.keywords
        if isinstance(one.value, ast.Constant)
    }


def _array(value: Any) -> tuple[str, int] | None:
    """Element type and number of dimensions of an array of any library."""
    try:
        return str(value.dtype), int(value.ndim)
    except Exception:  # attributes of other libraries' objects raise what they like
        return None


def _is_instance(tree: ast.expr, value: Any) -> bool | None:
    """Whether it is an instance of the class that an annotation names, or of one of that name."""
    name = _last_name(tree)
    if any(one.__name__ == name for one in type(value).__mro__):
        return True
    from . import typing

    if name not in typing.__all__:
        return False
    # Objects of many types are taken; numbers and the like, only where the name says so.
    if name in ("SupportsUSM", "SupportsDLPack", "MemoryResource"):
        return False if _is_plain(value) else None
    return None


def _words(tree: ast.expr) -> list[str]:
    """What a type is called in a message, for each alternative."""
    parts = _parts(tree)
    if len(parts) > 1:
        return [word for one in parts for word in _words(one)]
    if isinstance(tree, ast.Constant):  # None, or a type of C++ without a name in Python
        return [str(tree.value).replace("(anonymous namespace).", "")]
    if isinstance(tree, ast.Subscript):
        name, of = _last_name(tree.value), tree.slice
        if name == "Annotated" and isinstance(of, ast.Tuple):
            about = _about_array(of)
            if {"dtype", "ndim"} <= about.keys():
                return [_of_array(about["dtype"], about["ndim"])]
            return _words(of.elts[0])
        if name == "Literal":
            return [ast.unparse(one) for one in _items(of)]
        if name in _LISTS:
            inner = _alternatives(_words(of))
            return [f"{'list' if name == 'list' else 'sequence'} of {inner}"]
        return [ast.unparse(tree).replace("usmx.typing.", "").replace("collections.abc.", "")]
    return [
        {"SupportsUSM": "an array", "SupportsIndex": "int"}.get(_last_name(tree), _last_name(tree))
    ]


def _of_array(dtype: Any, rank: Any) -> str:
    return f"an array of {dtype} with {rank} dimension{'' if rank == 1 else 's'}"


def shown(value: Any) -> str:
    """A value in a message: plain ones themselves, of others the type."""
    if value is None or isinstance(value, bool):
        return repr(value)
    kind = type(value).__name__
    if isinstance(value, int) and value.bit_length() > 64:
        return f"an int of {value.bit_length()} bits"
    if type(value) in (int, float, complex, str, bytes):
        text = repr(value)
        return f"{text if len(text) <= _MOST else text[: _MOST - 3] + '...'} ({kind})"
    about = _array(value)
    return f"an object of type {kind}" if about is None else f"{_of_array(*about)} ({kind})"
