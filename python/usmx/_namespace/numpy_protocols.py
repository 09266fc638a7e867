"""What NumPy's own functions do with arrays of ours: `np.sqrt(x)` computes on the device."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from .. import _usmx

#: Ufuncs of several results, or of operands of several types.
_SEVERAL_TYPES = ("divmod", "frexp", "ldexp", "modf")

#: What methods of ufuncs are here; the axis of both is the first one by default.
_METHODS = {
    ("add", "reduce"): "sum",
    ("multiply", "reduce"): "prod",
    ("maximum", "reduce"): "max",
    ("minimum", "reduce"): "min",
    ("logical_and", "reduce"): "all",
    ("logical_or", "reduce"): "any",
    ("add", "accumulate"): "cumulative_sum",
    ("multiply", "accumulate"): "cumulative_prod",
}


def array_ufunc(ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
    """`numpy.ndarray.__array_ufunc__` for `usmx.ndarray`.

    A ufunc that is a row of the table of operations computes where the array is, and so do
    ``reduce``, ``accumulate`` and ``outer`` where `usmx` has such a function. Other ufuncs and
    methods compute on the host if the memory of all arrays is the host's.
    """
    out = keywords.get("out")
    if isinstance(out, tuple):
        out = out[0] if len(out) == 1 else out
    outs = out if isinstance(out, tuple) else (out,)
    if method == "__call__" and all(one is None or isinstance(one, _usmx.ndarray) for one in outs):
        try:
            operation = _usmx.Operation(ufunc.__name__)
        except ValueError:
            pass
        else:
            return operation(*inputs, **keywords)
        from . import WHERE

        if ufunc.__name__ in _SEVERAL_TYPES:
            from . import numbers

            return getattr(numbers, ufunc.__name__)(*inputs, **keywords)
        if ufunc.__name__ in WHERE:
            import usmx

            return getattr(usmx, ufunc.__name__)(*_usmx_arrays(inputs), **keywords)
    if method == "outer":
        a, b = _usmx_arrays(inputs)
        return ufunc(a[(...,) + (None,) * b.ndim], b, **keywords)
    if method in ("at", "reduceat") and isinstance(inputs[0], _usmx.ndarray):
        from . import ufunc_places

        return getattr(ufunc_places, method)(ufunc.__name__, *inputs, **keywords)
    if method in ("accumulate", "reduce") and isinstance(inputs[0], _usmx.ndarray):
        keywords = _without_axes(ufunc.__name__, method, inputs[0], keywords)
    name = _METHODS.get((ufunc.__name__, method))
    if name is not None and isinstance(inputs[0], _usmx.ndarray):
        import usmx

        given = {"axis": 0, **keywords}
        if name in ("any", "all"):
            return _of_bools(ufunc.__name__, name, inputs[0], given, out)
        if name in ("max", "min") and given.pop("dtype", None) is not None:
            inputs = (inputs[0].astype(keywords["dtype"], copy=False), *inputs[1:])
        if isinstance(out, _usmx.ndarray):
            given["out"] = out
        return getattr(usmx, name)(*inputs, **given)
    if method != "__call__" and len(inputs) == 1 and isinstance(inputs[0], _usmx.ndarray):
        from .ufunc_methods import along_axis

        made = along_axis(ufunc.__name__, method, inputs[0], keywords)
        if made is not None:
            return made
    return _on_host(ufunc, method, inputs, keywords)


def _without_axes(
    ufunc: str, method: str, x: _usmx.ndarray, keywords: dict[str, Any]
) -> dict[str, Any]:
    """The arguments of a method along an axis, of which an array may have none.

    ``reduce`` takes the axis 0 or -1 of an array without dimensions, as NumPy's does.

    Raises
    ------
    TypeError
        ``accumulate`` of an array without dimensions.
    """
    if x.ndim:
        return keywords
    if method == "accumulate":
        raise TypeError(f"np.{ufunc}.accumulate: the array has no dimensions; expected one or more")
    return {**keywords, "axis": ()} if keywords.get("axis", 0) in (0, -1) else keywords


def _of_bools(
    ufunc: str, name: str, x: _usmx.ndarray, given: dict[str, Any], out: Any
) -> _usmx.ndarray:
    """``np.logical_or.reduce`` and ``np.logical_and.reduce``: of any elements as bools."""
    import usmx

    from ._outputs import written

    dtype = given.pop("dtype", None)
    if dtype is not None and _usmx.dtype(dtype) != _usmx.dtype("bool"):
        raise TypeError(f"np.{ufunc}.reduce: dtype: {dtype!r}; expected bool")
    initial = given.pop("initial", None)
    given.pop("out", None)
    made = getattr(usmx, name)(x, **given)
    if initial is not None:
        made = _usmx.Operation(ufunc)(made, bool(initial))
    return written(made, out)


def _usmx_arrays(values: Any) -> list[Any]:
    """Arrays of NumPy as ours, where the first of ours is."""
    from ._common import as_arrays

    return as_arrays(values)


def _on_host(ufunc: Any, method: str, inputs: Any, keywords: Any) -> Any:
    import numpy as np

    out = keywords.get("out")
    outs = out if isinstance(out, tuple) else (out,)
    if any(isinstance(one, np.ndarray) for one in outs) and any(
        isinstance(one, _usmx.ndarray) and one.usm_type == "device" for one in inputs
    ):
        raise TypeError(
            f"np.{ufunc.__name__}: out is an array of NumPy, which devices do not write; write "
            "out[...] = result.to_numpy()"
        )
    call = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    return getattr(ufunc, method)(*_seen(inputs, call), **_seen(keywords, call))


#: The kinds of types that numbers of Python become without another rule.
_BECOMES = {bool: "biufc", int: "iufc", float: "fc", complex: "c"}


def _copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    if not isinstance(dst, _usmx.ndarray):
        raise TypeError(
            f"np.copyto: dst is of type {type(dst).__name__}; copy arrays of usmx with to_numpy()"
        )
    from ._outputs import check_cast

    if not isinstance(src, (_usmx.ndarray, bool, int, float, complex)):
        src = _usmx_arrays((dst, src))[1]
    if hasattr(src, "dtype"):
        check_cast(src.dtype, dst.dtype, casting, "np.copyto: dst")
    elif casting != "unsafe" and dst.dtype.kind not in _BECOMES[type(src)]:
        raise TypeError(f"np.copyto: {src!r} is not cast to {dst.dtype} by the rule {casting!r}")
    if where is True:
        dst[...] = src
    else:
        where = _usmx_arrays((dst, where))[1]
        dst[...] = _usmx.Operation("where")(where, src, dst).astype(dst.dtype, copy=False)


def _broadcast_arrays(*args: Any, subok: bool = False) -> Any:
    if any(one is None for one in args):  # as Matplotlib has them
        import numpy as np

        return np.broadcast_arrays(*_seen(args, "broadcast_arrays"))
    import usmx

    return usmx.broadcast_arrays(*_usmx_arrays(args))


def _shares_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    from .numpys_own import shares_memory

    return shares_memory(a, b, max_work)


def _eigenvalues(values: _usmx.ndarray, matrix: _usmx.ndarray) -> _usmx.ndarray:
    """Of a real matrix NumPy 2.5 gives complex numbers; before, real ones if all of them are."""
    from numpy import __version__
    from numpy.lib import NumpyVersion

    from .polynomials import real_if_all_are

    return values if NumpyVersion(__version__) >= "2.5.0" else real_if_all_are(values, matrix)


def _eigvals(a: Any) -> Any:
    import usmx

    x = _usmx_arrays((a,))[0]
    return _eigenvalues(usmx.linalg.eigvals(x), x)


def _eig(a: Any) -> Any:
    import usmx

    x = _usmx_arrays((a,))[0]
    values, vectors = made = usmx.linalg.eig(x)
    found = _eigenvalues(values, x)
    return made if found is values else type(made)(found, vectors.real.copy())


#: Functions of NumPy's that are attributes, methods or other functions here.
_OTHERS: dict[str, Callable[..., Any]] = {
    "broadcast_arrays": _broadcast_arrays,
    "broadcast_to": _usmx.broadcast_to,
    "empty_like": _usmx.empty_like,
    "full_like": _usmx.full_like,
    "ones_like": _usmx.ones_like,
    "zeros_like": _usmx.zeros_like,
    "copy": lambda a, order="K", subok=False: a.copy(order),
    "copyto": _copyto,
    # The standard's are complex for all elements.
    "linalg.eig": _eig,
    "linalg.eigvals": _eigvals,
    "fix": lambda x, out=None: _usmx.Operation("trunc")(x, out=out),
    "may_share_memory": _shares_memory,
    "shares_memory": _shares_memory,
    "isrealobj": lambda x: x.dtype.kind != "c",
    "ndim": lambda a: a.ndim,
    "shape": lambda a: a.shape,
    "size": lambda a, axis=None: a.size if axis is None else a.shape[axis],
    # usmx.trace records what happens.
    "trace": lambda a, *args, **keywords: a.trace(*args, **keywords),
}


def array_function(like: Any, function: Any, types: Any, args: Any, keywords: Any) -> Any:
    """`numpy.ndarray.__array_function__` for `usmx.ndarray`, which is `like`.

    A function of NumPy that `usmx` has too computes where the array is. Others compute on the host
    if the memory of all arrays is the host's. Functions that make arrays, with ``like=``, make them
    where `like` is.

    Raises
    ------
    TypeError
        If the host cannot access the memory.
    """
    name, other, own = _here(function)
    implementation = getattr(function, "_implementation", None)
    if implementation is None:  # NumPy dispatches it for like= only
        from .numpy_creation import creation

        return creation(name, function, like, args, keywords)
    if other is not None:
        return other(*args, **keywords)
    if own is None:
        return implementation(*_seen(args, name), **_seen(keywords, name))
    from .numpy_arguments import fitted

    places, names = fitted(function, own, args, keywords)
    out = names.get("out")
    if out is not None and not isinstance(out, _usmx.ndarray):
        raise TypeError(f"np.{name}: out is of type {type(out).__name__}; expected a usmx.ndarray")
    try:
        return own(*places, **names)
    except TypeError as error:
        if name.rpartition(".")[2] in str(error):
            raise
        raise TypeError(f"np.{name}: {error}") from error


@cache
def _here(function: Any) -> tuple[str, Any, Any]:
    """The name of a function of NumPy's, and what does its work here.

    That is a function with NumPy's arguments, or the one of `usmx` of that name, or neither: a
    function of `np.emath` is not the one of the same name in `np`.
    """
    import usmx

    from . import WHERE

    name = f"{function.__module__}.{function.__name__}".removeprefix("numpy.")
    name = name.removeprefix("lib.stride_tricks.")
    module, _, last = name.rpartition(".")
    if module in ("linalg", "fft"):
        return name, _OTHERS.get(name), getattr(getattr(usmx, module), last, None)
    return name, _OTHERS.get(name), getattr(usmx, name) if name in WHERE else None


def _seen(value: Any, name: str) -> Any:
    """Arrays of ours as NumPy's, also inside of sequences and dictionaries."""
    import numpy as np

    if isinstance(value, _usmx.ndarray):
        if value.usm_type == "device":
            raise TypeError(
                f"np.{name}: is not computed on devices, and the host cannot access device "
                "memory; copy it with to_numpy(), or make the array with usm_type='shared'"
            )
        return np.asarray(value)
    if isinstance(value, (tuple, list)):
        return type(value)(_seen(item, name) for item in value)
    if isinstance(value, dict):
        return {key: _seen(item, name) for key, item in value.items()}
    return value
