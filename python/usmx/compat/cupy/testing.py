"""``cupy.testing``: NumPy's assertions for arrays of devices, arrays for tests, and the decorators
that run a test with NumPy and with this module, or once for each type."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

import usmx as _usmx
import usmx.testing as _testing
from usmx import _explained

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def __getattr__(name: str) -> Any:
    return getattr(_testing, name)


# --- assertions -----------------------------------------------------------------------------------


def assert_array_list_equal(
    xlist: Any, ylist: Any, err_msg: str = "", verbose: bool = True
) -> None:
    """Arrays of two lists are equal, pair by pair."""
    if len(xlist) != len(ylist):
        raise AssertionError(f"lists of {len(xlist)} and of {len(ylist)} arrays")
    for x, y in zip(xlist, ylist, strict=True):
        _testing.assert_array_equal(x, y, err_msg=err_msg, verbose=verbose)


def assert_warns(expected: type[Warning]) -> Any:
    """A ``with`` block that must warn."""
    return np.testing.assert_warns(expected)


# --- arrays ---------------------------------------------------------------------------------------


def _of(xp: Any, made: Any) -> Any:
    return made if xp is np else _usmx.asarray(made)


def shaped_arange(shape: Any, xp: Any = None, dtype: Any = np.float32, order: str = "C") -> Any:
    """An array of 1, 2, 3, ... of that shape."""
    made = np.arange(1, int(np.prod(shape)) + 1)
    t = np.dtype(dtype)
    numbers = made % 2 == 0 if t.kind == "b" else made * (1 + 1j) if t.kind == "c" else made
    return _of(xp, numbers.astype(t).reshape(shape, order=order))  # type: ignore[call-overload]


def shaped_reverse_arange(shape: Any, xp: Any = None, dtype: Any = np.float32) -> Any:
    """An array of n, ..., 3, 2, 1 of that shape."""
    made = np.arange(int(np.prod(shape)), 0, -1)
    t = np.dtype(dtype)
    numbers = made % 2 == 0 if t.kind == "b" else made * (1 + 1j) if t.kind == "c" else made
    return _of(xp, numbers.astype(t).reshape(shape))


def shaped_linspace(
    start: float, stop: float, shape: Any, xp: Any = None, dtype: Any = np.float32
) -> Any:
    """Numbers from `start` to `stop` along the last axis.

    Parameters
    ----------
    start, stop : number
        The first and the last one.
    shape : int or tuple of int
        Lengths.
    xp : module
        Whose array it is.
    dtype : dtype-like
        Type of the elements.
    """
    lengths = (shape,) if isinstance(shape, int) else tuple(shape)
    row = np.linspace(start, stop, lengths[-1]).astype(np.dtype(dtype))
    return _of(xp, np.broadcast_to(row, lengths).copy())


def shaped_random(
    shape: Any,
    xp: Any = None,
    dtype: Any = np.float32,
    scale: float = 10,
    seed: int = 0,
    order: str = "C",
) -> Any:
    """An array of random numbers up to `scale` of that shape.

    Parameters
    ----------
    shape : int or tuple of int
        Lengths.
    xp : module
        Whose array it is.
    dtype : dtype-like
        Type of the elements; of bool and complex numbers too.
    scale : number
        What they are smaller than.
    seed : int
        The same one gives the same numbers.
    order : {'C', 'F'}
        Order of the elements.
    """
    draw = np.random.default_rng(seed)
    t = np.dtype(dtype)
    numbers: Any = draw.random(shape)
    if t.kind == "b":
        numbers = numbers > 0.5
    elif t.kind == "c":
        numbers = (numbers + 1j * draw.random(shape)) * scale
    else:
        numbers = numbers * scale
    made = np.asarray(numbers).astype(t)
    return _of(xp, np.asfortranarray(made) if order == "F" else made)


def generate_matrix(
    shape: Any, xp: Any = None, dtype: Any = np.float32, *, singular_values: Any = None
) -> Any:
    """A random matrix, or a stack of them, with given singular values.

    Parameters
    ----------
    shape : tuple of int
        Lengths.
    xp : module
        Whose array it is.
    dtype : dtype-like
        Of floats or complex numbers.
    singular_values : array-like
        Those that it has.
    """
    if singular_values is None:
        raise TypeError("singular_values is not given")
    draw = np.random.default_rng(0)
    a = draw.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        a = a + 1j * draw.normal(size=shape)
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    made = (u * np.broadcast_to(np.asarray(singular_values), s.shape)[..., None, :]) @ vh
    return _of(xp, made.astype(dtype))


# --- tests for each type --------------------------------------------------------------------------

_FLOATS = (np.float64, np.float32, np.float16)
_COMPLEX = (np.complex64, np.complex128)
_SIGNED = tuple(np.dtype(c).type for c in "bhilq")
_UNSIGNED = tuple(np.dtype(c).type for c in "BHILQ")


def _each(name: str, values: Iterable[Any]) -> Decorator:
    """Call a test once for each value of one of its parameters."""
    listed = list(values)

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(test)
        def run(*args: Any, **others: Any) -> None:
            for value in listed:
                try:
                    test(*args, **{**others, name: value})
                except Exception as error:
                    error.add_note(f"{name}: {getattr(value, '__name__', value)}")
                    raise

        return _without(run, test, name)

    return decorate


def _without(run: Callable[..., Any], test: Callable[..., Any], *names: str) -> Callable[..., Any]:
    """A test that shows fewer parameters, as pytest asks for those that it sees."""
    seen = inspect.signature(test)
    kept = [p for p in seen.parameters.values() if p.name not in names]
    run.__signature__ = seen.replace(parameters=kept)  # type: ignore[attr-defined]
    return run


def for_dtypes(dtypes: Sequence[Any], name: str = "dtype") -> Decorator:
    """Run a test for each of some types, which it takes by that name."""
    return _each(name, [np.dtype(t).type for t in dtypes])


def _all(no_float16: bool, no_bool: bool, no_complex: bool) -> list[Any]:
    floats = [t for t in _FLOATS if not (no_float16 and t is np.float16)]
    return [
        *floats, *_SIGNED, *_UNSIGNED, *(() if no_bool else (np.bool_,)),
        *(() if no_complex else _COMPLEX),
    ]  # fmt: skip


def for_all_dtypes(
    name: str = "dtype", no_float16: bool = False, no_bool: bool = False, no_complex: bool = False
) -> Decorator:
    """Run a test for each type of numbers."""
    return for_dtypes(_all(no_float16, no_bool, no_complex), name)


def for_float_dtypes(name: str = "dtype", no_float16: bool = False) -> Decorator:
    """Run a test for each type of floats."""
    return for_dtypes([t for t in _FLOATS if not (no_float16 and t is np.float16)], name)


def for_complex_dtypes(name: str = "dtype") -> Decorator:
    """Run a test for each type of complex numbers."""
    return for_dtypes(_COMPLEX, name)


def for_signed_dtypes(name: str = "dtype") -> Decorator:
    """Run a test for each type of signed integers."""
    return for_dtypes(_SIGNED, name)


def for_unsigned_dtypes(name: str = "dtype") -> Decorator:
    """Run a test for each type of unsigned integers."""
    return for_dtypes(_UNSIGNED, name)


def for_int_dtypes(name: str = "dtype", no_bool: bool = False) -> Decorator:
    """Run a test for each type of integers, and for bool."""
    return for_dtypes([*_SIGNED, *_UNSIGNED, *(() if no_bool else (np.bool_,))], name)


def for_dtypes_combination(
    types: Sequence[Any], names: Sequence[str] = ("dtype",), full: bool | None = None
) -> Decorator:
    """Run a test for types of several names.

    Parameters
    ----------
    types : sequence
        The types.
    names : sequence of str
        Parameters of the test.
    full : bool
        Whether for each combination; else each type occurs once for each name.
    """
    found = [np.dtype(t).type for t in types]
    rows = (
        itertools.product(found, repeat=len(names))
        if full
        else zip(*(found[k:] + found[:k] for k in range(len(names))), strict=True)
    )
    return parameters_of([dict(zip(names, row, strict=True)) for row in rows])


def parameters_of(rows: Sequence[dict[str, Any]]) -> Decorator:
    """Call a test once for each set of arguments."""

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(test)
        def run(*args: Any, **others: Any) -> None:
            for row in rows:
                try:
                    test(*args, **{**others, **row})
                except Exception as error:
                    error.add_note(str(row))
                    raise

        return _without(run, test, *(rows[0] if rows else ()))

    return decorate


def for_all_dtypes_combination(
    names: Sequence[str] = ("dtyes",),
    no_float16: bool = False,
    no_bool: bool = False,
    full: bool | None = None,
    no_complex: bool = False,
) -> Decorator:
    """Run a test for all types of several names; parameters as of `for_dtypes_combination`."""
    return for_dtypes_combination(_all(no_float16, no_bool, no_complex), names, full)


def for_signed_dtypes_combination(
    names: Sequence[str] = ("dtype",), full: bool | None = None
) -> Decorator:
    """The same for signed integers."""
    return for_dtypes_combination(_SIGNED, names, full)


def for_int_dtypes_combination(
    names: Sequence[str] = ("dtype",), no_bool: bool = False, full: bool | None = None
) -> Decorator:
    """The same for integers and bool."""
    types = [*_SIGNED, *_UNSIGNED, *(() if no_bool else (np.bool_,))]
    return for_dtypes_combination(types, names, full)


def for_orders(orders: Sequence[str], name: str = "order") -> Decorator:
    """Run a test for each of some orders of elements."""
    return _each(name, orders)


def for_CF_orders(name: str = "order") -> Decorator:
    """Run a test for arrays in C and in Fortran order."""
    return for_orders([None, "C", "F", "c", "f"], name)  # type: ignore[list-item]


# --- tests with both modules ----------------------------------------------------------------------


def _compared(
    compare: Callable[[Any, Any], None], name: str, type_check: bool, accept_error: Any = False
) -> Decorator:
    """Call a test with NumPy and with this module, and compare what it gives."""

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(test)
        def run(*args: Any, **others: Any) -> None:
            ours, theirs = (_outcome(test, args, {**others, name: xp}) for xp in (_cupy(), np))
            errors = [o for o in (ours, theirs) if isinstance(o, Exception)]
            if errors:
                taken = (Exception,) if accept_error is True else accept_error or ()
                if len(errors) == 2 and isinstance(ours, taken) and isinstance(theirs, taken):
                    return
                raise errors[0]
            pairs = (
                zip(ours, theirs, strict=True)
                if isinstance(ours, tuple | list)
                else [(ours, theirs)]
            )
            for x, y in pairs:
                if type_check and hasattr(x, "dtype") and hasattr(y, "dtype"):
                    assert np.dtype(x.dtype) == y.dtype, f"dtype: {x.dtype}; NumPy's is {y.dtype}"
                compare(x, y)

        return _without(run, test, name)

    return decorate


def _outcome(test: Callable[..., Any], args: Any, others: Any) -> Any:
    try:
        return test(*args, **others)
    except Exception as error:
        return error


def _cupy() -> Any:
    return importlib.import_module("usmx.compat.cupy")


def numpy_cupy_allclose(
    rtol: Any = 1e-7,
    atol: Any = 0,
    err_msg: str = "",
    verbose: bool = True,
    name: str = "xp",
    type_check: bool = True,
    accept_error: Any = False,
    sp_name: Any = None,
    scipy_name: Any = None,
    contiguous_check: bool = True,
) -> Decorator:
    """A test gives nearly the same with NumPy and with this module.

    Parameters
    ----------
    rtol, atol : float or dict
        Tolerances, perhaps for each type, with ``"default"`` for the others.
    err_msg, verbose
        As for `assert_allclose`.
    name : str
        The parameter that takes the module.
    type_check : bool
        Whether the types of the results must be the same.
    accept_error : bool or type
        Errors that both may raise.
    sp_name, scipy_name, contiguous_check
        Without effect.
    """
    del sp_name, scipy_name, contiguous_check

    def of(tolerance: Any, x: Any) -> Any:
        if not isinstance(tolerance, dict):
            return tolerance
        for t, value in tolerance.items():
            if t != "default" and np.dtype(t) == np.dtype(getattr(x, "dtype", np.float64)):
                return value
        return tolerance.get("default", 0)

    def compare(x: Any, y: Any) -> None:
        _testing.assert_allclose(x, y, of(rtol, y), of(atol, y), err_msg=err_msg, verbose=verbose)

    return _compared(compare, name, type_check, accept_error)


def numpy_cupy_array_equal(
    err_msg: str = "",
    verbose: bool = True,
    name: str = "xp",
    type_check: bool = True,
    accept_error: Any = False,
    sp_name: Any = None,
    scipy_name: Any = None,
    strides_check: bool = False,
) -> Decorator:
    """A test gives the same with NumPy and with this module; parameters as of
    `numpy_cupy_allclose`."""
    del sp_name, scipy_name, strides_check

    def compare(x: Any, y: Any) -> None:
        _testing.assert_array_equal(x, y, err_msg=err_msg, verbose=verbose)

    return _compared(compare, name, type_check, accept_error)


numpy_cupy_array_list_equal = numpy_cupy_array_equal


def numpy_cupy_equal(name: str = "xp", sp_name: Any = None, scipy_name: Any = None) -> Decorator:
    """A test gives equal objects with NumPy and with this module.

    Parameters
    ----------
    name : str
        The parameter that takes the module.
    sp_name, scipy_name
        Without effect.
    """
    del sp_name, scipy_name

    def compare(x: Any, y: Any) -> None:
        assert x == y, f"{x} is not equal to NumPy's {y}"

    return _compared(compare, name, False)


# --- others ---------------------------------------------------------------------------------------


def product(parameter: dict[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """All combinations of values, for `parameterize`."""
    rows = itertools.product(*(parameter[name] for name in parameter))
    return [dict(zip(parameter, row, strict=True)) for row in rows]


def parameterize(*rows: dict[str, Any]) -> Callable[[type], type]:
    """Run the tests of a class for each set of attributes: by pytest's parameters."""
    import pytest

    def decorate(of: type) -> type:
        def _parameters(self: Any, request: Any) -> None:
            vars(self).update(request.param)

        made: Any = of
        made._parameters = pytest.fixture(
            autouse=True, params=rows, ids=[str(k) for k in range(len(rows))]
        )(_parameters)
        return of

    return decorate


def installed(*specifiers: str) -> bool:
    """Whether packages are there; versions are not compared."""
    names = [s.split("<")[0].split(">")[0].split("=")[0].split("!")[0] for s in specifiers]
    return all(importlib.util.find_spec(name) is not None for name in names)


def with_requires(*requirements: str) -> Decorator:
    """Run a test only where packages are installed."""
    import pytest

    mark: Any = pytest.mark.skipif(
        not installed(*requirements), reason=f"requires: {','.join(requirements)}"
    )
    return mark  # type: ignore[no-any-return]


def gpu(test: Callable[..., Any]) -> Callable[..., Any]:
    """A test that needs a device: it is there."""
    return test


slow = gpu


def multi_gpu(gpu_num: int) -> Decorator:
    """Run a test only where there are so many devices."""
    import pytest

    from ..cuda.devices import gpus

    mark: Any = pytest.mark.skipif(len(gpus) < gpu_num, reason=f"{gpu_num} devices are required")
    return mark  # type: ignore[no-any-return]


_explained.explain(globals())
