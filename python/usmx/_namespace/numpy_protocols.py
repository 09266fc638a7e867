"""What NumPy's own functions do with arrays of ours: `np.sqrt(x)` computes on the device."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
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
    known = method == "__call__" and ufunc.nout == 1 and not (keywords.keys() - {"out", "dtype"})
    if known and not isinstance(out, tuple) and (out is None or isinstance(out, _usmx.ndarray)):
        try:
            operation = _usmx.Operation(ufunc.__name__)
        except ValueError:
            pass
        else:
            return operation(*inputs, out=out, dtype=keywords.get("dtype"))
        from . import WHERE

        if ufunc.__name__ in WHERE and not keywords:
            import usmx

            return getattr(usmx, ufunc.__name__)(*_usmx_arrays(inputs))
    if method == "__call__" and ufunc.__name__ in _SEVERAL_TYPES and not keywords:
        from . import numbers

        return getattr(numbers, ufunc.__name__)(*inputs)
    if method == "outer":
        a, b = _usmx_arrays(inputs)
        return ufunc(a[(...,) + (None,) * b.ndim], b, **keywords)
    name = _METHODS.get((ufunc.__name__, method))
    if name is not None and isinstance(inputs[0], _usmx.ndarray):
        import usmx

        given = {"axis": 0, **keywords}
        if isinstance(out, _usmx.ndarray):
            given["out"] = out
        return getattr(usmx, name)(*inputs, **given)
    return _on_host(ufunc, method, inputs, keywords)


def _usmx_arrays(values: Any) -> list[Any]:
    """Arrays of NumPy as ours, where the first of ours is."""
    from ._common import as_arrays

    return as_arrays(values)


def _on_host(ufunc: Any, method: str, inputs: Any, keywords: Any) -> Any:
    import numpy as np

    def seen(value: Any) -> Any:
        if not isinstance(value, _usmx.ndarray):
            return value
        if value.usm_type == "device":
            call = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
            raise TypeError(
                f"np.{call}: is not computed on devices, and the host cannot access device "
                "memory; copy it with to_numpy(), or make the array with usm_type='shared'"
            )
        return np.asarray(value)

    out = keywords.get("out")
    if isinstance(out, tuple):
        keywords = {**keywords, "out": tuple(map(seen, out))}
    return getattr(ufunc, method)(*map(seen, inputs), **keywords)


#: Functions of NumPy's that the compiled module gives to `usmx`, with these keywords.
_COMPILED = ("broadcast_to", "empty_like", "full_like", "ones_like", "zeros_like")


def _copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    if not isinstance(dst, _usmx.ndarray):
        raise TypeError(
            f"np.copyto: dst is of type {type(dst).__name__}; copy arrays of usmx with to_numpy()"
        )
    from .data_types import can_cast

    if hasattr(src, "dtype") and not can_cast(src.dtype, dst.dtype, casting):
        raise TypeError(
            f"np.copyto: {src.dtype} is not cast to {dst.dtype} by the rule {casting!r}"
        )
    if where is True:
        dst[...] = src
    else:
        where = _usmx_arrays((dst, where))[1]
        dst[...] = _usmx.Operation("where")(where, src, dst).astype(dst.dtype, copy=False)


#: Functions of NumPy's that are attributes, methods or other functions here.
_OTHERS: dict[str, Callable[..., Any]] = {
    "copy": lambda a, order="K", subok=False: a.copy(order),
    "copyto": _copyto,
    "fix": lambda x, out=None: _usmx.Operation("trunc")(x, out=out),
    "isrealobj": lambda x: x.dtype.kind != "c",
    "ndim": lambda a: a.ndim,
    "shape": lambda a: a.shape,
    "size": lambda a, axis=None: a.size if axis is None else a.shape[axis],
    # usmx.trace records what happens.
    "trace": lambda a, *args, **keywords: a.trace(*args, **keywords),
}


def array_function(function: Any, types: Any, args: Any, keywords: Any) -> Any:
    """`numpy.ndarray.__array_function__` for `usmx.ndarray`.

    A function of NumPy that `usmx` has too computes where the array is. Others compute on the host
    if the memory of all arrays is the host's.

    Raises
    ------
    TypeError
        If the host cannot access the memory.
    """
    from . import WHERE

    module = getattr(function, "__module__", "").removeprefix("numpy").lstrip(".")
    name = f"{module}.{function.__name__}" if module in ("linalg", "fft") else function.__name__
    import usmx

    if name in _OTHERS:
        return _OTHERS[name](*args, **keywords)
    compiled = name in _COMPILED and not keywords.keys() - {"dtype", "order"}
    if name in WHERE or compiled:
        return getattr(usmx, name)(*args, **keywords)
    own: Any = usmx
    for part in name.split("."):
        own = getattr(own, part, None)
    if "." in name and own is not None:
        return own(*args, **keywords)
    return function._implementation(*_seen(args, name), **_seen(keywords, name))


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
