"""One law for the arguments of functions: what NumPy's signatures offer gives what NumPy gives.

The names come from NumPy's own signatures, the values from arguments.py. Each call is made with
NumPy's arrays and with those of usmx, by ``np.f``, ``usmx.f`` and the method: results are equal in
values, types and shapes, or both raise the same kind of error.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import arguments
import numpy as np
import pytest
from arguments import ROWS, Out, calls, names_of
from everyday import IN_EVERYDAY_PROGRAMS, RARER

import usmx

KINDS = ("shared", "device")
ERRORS = (TypeError, ValueError, IndexError, OverflowError, ZeroDivisionError)

#: Arguments of NumPy's that are refused on purpose, or not there yet, and why.
REFUSED = {
    "like": "says which library makes an array; a library is what has been called already",
    "device": "of NumPy is 'cpu' alone; here it names a device of SYCL",
    "optimize": "how einsum goes is its own choice",
}
#: Parameters of single functions: "function(argument)".
REFUSED_OF = {
    "load(mmap_mode)": "a file is read into USM, which no file backs",
    "load(fix_imports)": "pickles are never read",
    "load(encoding)": "pickles are never read",
    "load(max_header_size)": "pickles are never read",
    "save(allow_pickle)": "pickles are never written",
    "savez(allow_pickle)": "pickles are never written",
    "savez_compressed(allow_pickle)": "pickles are never written",
    "asarray(a)": "is `obj`, as of the Array API standard",
    "copy(a)": "usmx.copy copies memory; an array is copied by its method",
    "copy(order)": "usmx.copy copies memory; an array is copied by its method",
    "copy(subok)": "usmx.copy copies memory; an array is copied by its method",
    "einsum_path(einsum_call)": "for NumPy's own einsum",
    "from_dlpack(x)": "a name by place alone in NumPy",
}
#: Calls whose result is another one on purpose: "function {argument: value}", and why.
OTHERS = {
    "unique_values": "NumPy gives them in the order of a table; here they are in order",
    "linalg.eigvals": "are complex numbers, as the standard says; the host need not look at them",
    "fft.hfft(out)": "NumPy does not return the array for the result",
    "split(indices_or_sections=0)": "a ValueError that names the argument",
    "take(out=int8)": "NumPy cuts numbers to integers in silence",
    "take(out=complex128)": "NumPy before 2.5 asks whether the array for the result fits x",
    "take(out=float32)": "NumPy rounds numbers in silence",
    "tensordot(axes=3)": "a ValueError that names the argument",
    "reshape(order=Z)": "a TypeError of the method",
    "fft.ifft2(out)": "NumPy does not write into the array for the result",
    "fft.irfft2(out)": "NumPy does not write into the array for the result",
    **dict.fromkeys(("nanmax(out=int8)", "nanmin(out=int8)"), "NaN is not an integer"),
    "nanmedian(out=int8)": "NumPy cuts numbers to integers in silence",
    "nanquantile(out=int8)": "NumPy cuts numbers to integers in silence",
    "nanpercentile(out=int8)": "NumPy cuts numbers to integers in silence",
    **dict.fromkeys(
        (f"{name}(out of (9,))" for name in (
            "nanmedian", "quantile", "nanquantile", "percentile", "nanpercentile")),
        "NumPy broadcasts the result to an array of another shape in some of its functions",
    ),
}  # fmt: skip
CHANGED_IN_PLACE = ("put", "put_along_axis", "fill_diagonal")


def functions() -> Iterator[tuple[str, Any, Any]]:
    """Name, NumPy's and ours, of all public functions that both have."""
    for prefix, theirs, ours in (
        ("", np, usmx),
        ("linalg.", np.linalg, usmx.linalg),
        ("fft.", np.fft, usmx.fft),
    ):
        for name in sorted(set(dir(theirs)) & set(dir(ours))):
            one = getattr(theirs, name)
            if name.startswith("_") or isinstance(one, type) or not callable(one):
                continue
            yield prefix + name, one, getattr(ours, name)


FUNCTIONS = {name: (theirs, ours) for name, theirs, ours in functions()}
#: Functions without rows, because others test them or nothing is computed.
ELSEWHERE = {
    "arange", "asarray", "copy", "empty", "empty_like", "from_dlpack", "full", "full_like", "ones",
    "ones_like", "zeros", "zeros_like", "load", "save", "savez", "savez_compressed",
    "get_include", "linalg.eig", "linalg.eigh",
    *IN_EVERYDAY_PROGRAMS, *RARER,
}  # fmt: skip


def test_each_function_that_numpy_has_is_tested() -> None:
    """A new function of usmx that NumPy has too needs a row in arguments.py."""
    ufuncs = {name for name, (theirs, _) in FUNCTIONS.items() if isinstance(theirs, np.ufunc)}
    assert FUNCTIONS.keys() - ROWS.keys() - ufuncs - ELSEWHERE == {
        name for name in FUNCTIONS if name in ("angle", "real", "imag", "where")
    }


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_takes_the_names_and_places_of_numpy(name: str) -> None:
    theirs, ours = FUNCTIONS[name]
    try:
        wanted, own = names_of(theirs), names_of(ours)
    except ValueError:  # a function of C without a signature
        return
    taken = {one.name: one for one in own if one.kind is not one.POSITIONAL_ONLY}
    takes_any = any(one.kind is one.VAR_KEYWORD for one in own)
    places = [one.name for one in own if one.kind not in (one.KEYWORD_ONLY, one.VAR_KEYWORD)]
    number = 0
    for one in wanted:
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            continue
        reason = REFUSED.get(one.name) or REFUSED_OF.get(f"{name}({one.name})")
        if one.kind is not one.POSITIONAL_ONLY and not reason:
            assert takes_any or one.name in taken, f"{name} lacks {one.name}"
        if one.kind is not one.KEYWORD_ONLY and not reason and one.name in places[:number]:
            raise AssertionError(f"{name}: {one.name} has another place than NumPy's")
        number += 1


def converted(value: Any, put: Callable[[Any], Any]) -> Any:
    """Arguments with arrays of one library; those of the host are the table's own."""
    if isinstance(value, np.ndarray):
        return put(value)
    if isinstance(value, (list, tuple)):
        return type(value)(converted(one, put) for one in value)
    if isinstance(value, dict):
        return {name: converted(one, put) for name, one in value.items()}
    return value


def seen(value: Any) -> Any:
    if isinstance(value, usmx.ndarray):
        return value.to_numpy()
    return [seen(one) for one in value] if isinstance(value, (tuple, list)) else value


def first_of(value: Any) -> Any:
    return np.asarray(value[0] if isinstance(value, list) else value)


def outcome(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    keywords: dict[str, Any],
    put: Callable[[Any], Any],
    in_place: bool,
) -> Any:
    """What a call gives, as NumPy's arrays: a result, or an error."""
    places, names = converted(args, put), converted(keywords, put)
    kept = next((name for name, value in keywords.items() if isinstance(value, Out)), None)
    try:
        if kept is not None:
            rest = {name: value for name, value in names.items() if name != kept}
            result = first_of(seen(function(*converted(args, put), **rest)))
            out = keywords[kept]
            shape = result.shape if out.shape is None else out.shape
            into = put(np.zeros(shape, result.dtype if out.dtype is None else out.dtype))
            function(*places, **{**names, kept: into})
            return seen(into)
        made = function(*places, **names)
    except ERRORS as error:
        return error
    if made is None and in_place:
        made = places[0] if places else next(iter(names.values()))
    return seen(made)


def is_same(a: Any, b: Any) -> bool:
    if isinstance(a, Exception):
        return any(isinstance(a, kind) and isinstance(b, kind) for kind in ERRORS)
    if isinstance(b, Exception):
        return False
    if isinstance(a, list):
        pairs = zip(a, b, strict=False)
        return isinstance(b, list) and len(a) == len(b) and all(is_same(x, y) for x, y in pairs)
    if isinstance(a, (np.ndarray, np.generic, float, int)):
        x, y = np.asarray(a), np.asarray(b)
        if x.shape != y.shape or x.dtype != y.dtype:
            return False
        return bool(np.allclose(x, y, rtol=1e-5, atol=1e-8, equal_nan=True))
    return bool(a == b)


def is_refused_by_numpy(error: Any) -> bool:
    """Whether NumPy's own signature lacks what the call names: usmx may take it."""
    words = ("unexpected keyword", "no keyword arg", "positional-only", "missing required",
             "multiple values", "invalid keyword")  # fmt: skip
    return isinstance(error, TypeError) and any(one in str(error) for one in words)


def exception_of(name: str, keywords: dict[str, Any]) -> bool:
    if name in OTHERS:
        return True
    for key, value in keywords.items():
        if isinstance(value, Out):
            shown = f" of {value.shape}" if value.shape else f"={value.dtype}"
            if f"{name}(out{shown})" in OTHERS or f"{name}(out)" in OTHERS:
                return True
        elif f"{name}({key}={value})" in OTHERS:
            return True
    return False


@contextmanager
def quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def has_arrays(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(has_arrays, value))
    return isinstance(value, np.ndarray)


def ways(name: str, theirs: Any, ours: Any, args: Any, keywords: Any) -> Iterator[tuple[str, Any]]:
    """The ways to call a function with arrays of usmx."""
    yield f"usmx.{name}", ours
    if any(map(has_arrays, (*args, *keywords.values()))):
        yield f"np.{name}", theirs
    is_method = "." not in name and hasattr(np.ndarray, name) and hasattr(usmx.ndarray, name)
    if is_method and args and isinstance(args[0], np.ndarray):
        yield f"x.{name}", lambda x, *rest, **named: getattr(x, name)(*rest, **named)


def assert_same(
    name: str, theirs: Any, ours: Any, args: tuple[Any, ...], keywords: dict[str, Any], kind: str
) -> None:
    in_place = name in CHANGED_IN_PLACE

    def put(value: Any) -> Any:
        return usmx.asarray(value, usm_type=kind, copy=True)

    with quiet():
        for way, function in ways(name, theirs, ours, args, keywords):
            right = function if way.startswith("x.") else theirs
            want = outcome(
                right, args, keywords, np.copy, in_place or way in ("x.sort", "x.partition")
            )
            if is_refused_by_numpy(want):
                continue
            got = outcome(
                function, args, keywords, put, in_place or way in ("x.sort", "x.partition")
            )
            if "not defined for elements of complex" in str(got):
                continue  # complex numbers have no order here
            assert is_same(want, got), f"{way}(*{args}, **{keywords}) [{kind}]: {want!r} != {got!r}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ROWS)
def test_each_argument_does_what_numpy_says(name: str, kind: str) -> None:
    theirs, ours = FUNCTIONS[name]
    count = 0
    for args, keywords in calls(name, theirs):
        if not exception_of(name, keywords) and not keywords.keys() & REFUSED.keys():
            assert_same(name, theirs, ours, args, keywords, kind)
            count += 1
    assert count or name in OTHERS


# --- ufuncs

_A = np.array([[1, 2, 3], [4, 5, 6]], "int8")
_B = np.array([[100, 3, 2], [1, 1, 2]], "int8")
_X = np.array([[0.5, 0.25, 0.75], [0.125, 0.5, 0.25]], "float32")
UFUNC_VALUES: dict[str, tuple[Any, ...]] = {
    "out": (Out(), Out("float64"), Out("complex128"), Out("int8"), Out(shape=(9,)),
            Out(shape=(4, 2, 3))),
    "dtype": ("int8", "int16", "int64", "uint8", "float32", "float64", "complex128", "bool"),
    "casting": ("no", "equiv", "safe", "same_kind", "unsafe", "nonsense"),
    "order": ("C", "F", "K", "A", "Z"),
    "subok": (True, False),
    "signature": ("d->d", "dd->d", "d->?", "ll->l", (None, None, "d"), "xyz"),
    "where": (True,),
}  # fmt: skip
#: Ufuncs and how many operands they take.
UFUNCS = {
    name: theirs
    for name, (theirs, ours) in FUNCTIONS.items()
    if isinstance(theirs, np.ufunc) and isinstance(ours, usmx._usmx.Operation)
}


#: On device memory each type is another kernel to compile: functions of each form of types.
ON_DEVICES = ("absolute", "add", "divide", "invert", "less", "logical_and", "sqrt")


@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, "shared") for name in UFUNCS] + [(name, "device") for name in ON_DEVICES],
)
def test_each_keyword_of_a_ufunc_does_what_numpy_says(name: str, kind: str) -> None:
    ufunc, ours = FUNCTIONS[name]
    few = ((_A, _B), (_X, 3))
    for operands in few if kind == "device" else (*few, (_X, _X[::-1]), (_X, _A)):
        args = operands[: ufunc.nin]
        for keyword, values in UFUNC_VALUES.items():
            for value in values:
                keywords = {keyword: value}
                assert_same(name, ufunc, ours, args, keywords, kind)
    both = {"dtype": "float64", "casting": "unsafe"}
    assert_same(name, ufunc, ours, (_X, _X)[: ufunc.nin], both, kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["add", "less", "negative", "divide", "divmod", "frexp"])
def test_where_keeps_what_it_leaves_out(name: str, kind: str) -> None:
    ufunc = getattr(np, name)
    args = (_X, _X[::-1])[: ufunc.nin]
    outs = [np.full((4, 2, 3), 7, one.dtype) for one in np.atleast_1d(ufunc(*args)).reshape(
        (1, 2, 3)) for _ in range(1)] if ufunc.nout == 1 else [
            np.full((4, 2, 3), 7, one.dtype) for one in ufunc(*args)]  # fmt: skip
    mask = np.array([True, False, True])
    ours = [usmx.asarray(one, usm_type=kind, copy=True) for one in outs]
    ufunc(*args, out=tuple(outs), where=mask)
    made = ufunc(*(usmx.asarray(one, usm_type=kind) for one in args), out=tuple(ours), where=mask)
    for right, got in zip(outs, made if isinstance(made, tuple) else (made,), strict=True):
        np.testing.assert_allclose(got.to_numpy(), right)
    assert (made[0] if isinstance(made, tuple) else made) is ours[0]


METHODS = {
    "reduce": {"axis": (0, 1, None, 7), "dtype": ("float64", "int64", "int8"), "keepdims": (True,),
               "initial": (5,), "out": (Out(), Out("float64"), Out(shape=(9,)))},
    "accumulate": {"axis": (0, 1, 7), "dtype": ("float64", "int64"),
                   "out": (Out(), Out("float64"), Out(shape=(9,)))},
    "outer": {"dtype": ("int64", "float64"), "casting": ("unsafe", "no"), "order": ("F",)},
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "minimum", "bitwise_or"])
def test_methods_of_ufuncs_take_their_keywords(name: str, method: str, kind: str) -> None:
    function = getattr(getattr(np, name), method)

    def put(value: Any) -> Any:
        return usmx.asarray(value, usm_type=kind, copy=True)

    args = (_A, _B[0]) if method == "outer" else (_A,)
    with quiet():
        for keyword, values in METHODS[method].items():
            for value in values:
                want = outcome(function, args, {keyword: value}, np.copy, False)
                got = outcome(function, args, {keyword: value}, put, False)
                assert is_same(want, got), f"{name}.{method}({keyword}={value}): {want} != {got}"


def test_the_table_of_arguments_names_functions_that_there_are() -> None:
    assert ROWS.keys() <= FUNCTIONS.keys()
    assert {name.split("(")[0] for name in (*OTHERS, *REFUSED_OF)} <= FUNCTIONS.keys()
    assert arguments.VALUES
