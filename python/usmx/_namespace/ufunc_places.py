"""Ufuncs at places of an array, ``np.add.at(x, indices, values)``, and in turn along an axis.

Work-items share the places, not the elements of one place: results are the same each time. `at`,
and ``reduce`` and ``accumulate`` of what has no function of its own (``np.subtract``), have the
order of NumPy.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from functools import cache
from math import prod
from typing import Any

from .. import _usmx
from .._usmx import ElementwiseKernel, ndarray
from ._common import as_array, empty_at, to_axis
from ._outputs import written

#: What stands before a kernel that calls what rows of `usmx._operations` use.
PREAMBLE = '#include "usmx/fusion.hpp"\nusing namespace usmx::fusion;\n'
#: Sums and products of small integers are taken in 64 bits, as by ``reduce``.
_WIDE = ("add", "multiply")
#: What has no identity, and the same result in each order.
_IN_ANY_ORDER = ("fmax", "fmin")


def _row(name: str) -> Any:
    from .._operations import OPERATIONS

    return next((row for row in OPERATIONS if row.name == name and row.texts), None)


def _text(name: str, dtype: Any, arity: int) -> str:
    """C++ of the operation of operands of that type: ``acc`` and ``v``."""
    from .._kernel.types.scalars import cpp

    kind = "f" if dtype.name == "bfloat16" else dtype.kind
    text: str | None = _row(name).text(kind)
    if text is None:
        raise TypeError(f"np.{name}: is not defined for {dtype}")
    # Complex numbers are not cast to bool by SYCL's types.
    cast = "truth" if dtype.kind == "b" else cpp(dtype)
    a, b = f"{cast}(acc)", f"{cast}(v)"
    return text.replace("{T}", cpp(dtype)).replace("{0}", a).replace("{1}", b if arity > 1 else a)


@cache
def _at_kernel(name: str, compute: Any, own: Any, arity: int) -> ElementwiseKernel:
    from .._kernel.types.scalars import cpp

    text = _text(name, compute, arity)
    given = "const auto v = values[order[k]];" if arity > 1 else ""
    return ElementwiseKernel(
        "int64 begin, int64 end, int64 place, raw int64 order"
        + (", raw V values" if arity > 1 else ""),
        "raw X x",
        # Through memory each time: the CPU's compiler adds numbers in registers in another order.
        f"for (int64_t k = begin; k < end; ++k) {{ {given}\n"
        f"  const {cpp(own)} acc = x[place]; x[place] = {cpp(own)}({text}); }}",
        f"{name}_at",
        preamble=PREAMBLE,
    )


@cache
def _reduceat_kernel(name: str, dtype: Any) -> ElementwiseKernel:
    from .._kernel.types.scalars import cpp

    text = _text(name, dtype, 2)
    return ElementwiseKernel(
        "int64 begin, int64 end, int64 column, raw X x",
        "Y y",
        "ptrdiff_t index[] = {begin, column};\n"
        f"{cpp(dtype)} acc = {cpp(dtype)}(x[index]);\n"
        "for (int64_t k = begin + 1; k < end; ++k) {\n"
        f"  index[0] = k;\n  const auto v = x[index];\n  acc = {cpp(dtype)}({text});\n}}\n"
        "y = acc;",
        f"{name}_reduceat",
        preamble=PREAMBLE,
    )


def _places_of(x: ndarray, key: Any) -> ndarray:
    """The numbers, in C order, of the elements that a key selects."""
    numbers = _usmx.arange(x.size, dtype="int64", usm_type="device", queue=x.queue)
    return _usmx.asarray(numbers.reshape(x.shape)[key])


def at(name: str, x: Any, indices: Any, *values: Any) -> None:
    """``np.<name>.at``: the operation for each index, also where indices are equal.

    Raises
    ------
    TypeError
        The operation has no result of the type of its operands, or it cannot be cast to that of x.
    IndexError
        An index outside of its axis.
    ValueError
        `x` is read-only, or values do not broadcast to the indices.
    """
    title = f"np.{name}.at"
    if not isinstance(x, ndarray):
        raise TypeError(f"{title}: the array is of type {type(x).__name__}; expected usmx.ndarray")
    row = _row(name)
    if row is None or row.arity != 1 + len(values):
        raise TypeError(f"{title}: has no kernel for {1 + len(values)} operands")
    if not x.flags.writeable:
        raise ValueError(f"{title}: the array is read-only")
    indices = indices if isinstance(indices, tuple) else (indices,)
    places = _places_of(x, indices)
    given = [as_array(one, x) for one in values]
    weak = [
        value if isinstance(value, (bool, int, float, complex)) else one.dtype
        for value, one in zip(values, given, strict=True)
    ]
    types = _usmx._result_types(name, x.dtype, *weak)
    if types is None:
        raise TypeError(
            f"{title}: is not defined for {', '.join(str(t) for t in (x.dtype, *weak))}"
        )
    # NumPy's `at` has no casting=: what an operation gives is cast to the type of the array.
    if types[-1].kind == "c" and x.dtype.kind != "c":
        raise TypeError(f"{title}: gives {types[-1]}, which is not cast to {x.dtype}")
    if values:
        _check_exponents(name, types[0], given[0])
    given = [_usmx.broadcast_to(one, places.shape).reshape(-1) for one in given]
    given = [one if _usmx._shared_elements(x, one) == "none" else one.copy() for one in given]
    count = places.size
    if not count:
        return
    from . import find

    flat = places.reshape(-1)
    order: Any = find("sorting", "argsort")(flat, stable=True)  # type: ignore[operator]
    sorted_: ndarray = flat[order]
    begins = _begins(sorted_)
    ends = empty_at(begins, begins.shape)
    ends[:-1] = begins[1:]
    ends[-1:] = count
    whole = x if x.flags.c_contiguous and x._is_aligned() else x.copy()
    kernel = _at_kernel(name, types[0], x.dtype, row.arity)
    kernel(begins, ends, sorted_[begins], order, *given, whole.reshape(-1))
    if whole is not x:
        x[...] = whole


def _check_exponents(name: str, dtype: Any, exponents: ndarray) -> None:
    """Refuse what NumPy's methods of ``power`` refuse.

    Raises
    ------
    ValueError
        Integers to the power of a negative integer.
    """
    if name == "power" and dtype.kind == "i" and _usmx.Operation("less")(exponents, 0).any():
        raise ValueError("np.power: integers to negative integer powers are not allowed")


def _begins(values: ndarray) -> ndarray:
    """Where runs of equal numbers begin."""
    is_first = _usmx.ones(values.size, "bool", usm_type="device", queue=values.queue)
    is_first[1:] = values[1:] != values[:-1]
    from .indexing import places

    return places(is_first)


def reduceat(
    name: str, x: ndarray, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None
) -> ndarray:
    """``np.<name>.reduceat``: from each index up to the next one; of one not below it one element.

    Raises
    ------
    IndexError
        An index outside of its axis.
    """
    title = f"np.{name}.reduceat"
    row = _row(name)
    if row is None or row.arity != 2:
        raise TypeError(f"{title}: has no kernel; expected an operation of two operands")
    at_axis = to_axis(axis, x.ndim)
    if dtype is not None:
        dtype = _usmx.dtype(dtype)
    elif name in _WIDE and x.dtype.kind in "biu" and x.dtype.itemsize < 8:
        dtype = _usmx.dtype("uint64" if x.dtype.kind == "u" else "int64")
    elif row.result == "bool":
        dtype = _usmx.dtype("bool")
    else:
        types = _usmx._result_types(name, x.dtype, x.dtype)
        if types is None:
            raise TypeError(f"{title}: is not defined for {x.dtype}")
        dtype = types[-1]
    begins = as_array(indices, x)
    # Floats are cut off, as in NumPy; an empty list has no type of its own.
    if begins.ndim != 1 or begins.dtype.kind not in "iuf":
        raise TypeError(f"{title}: indices of shape {begins.shape} and {begins.dtype}; expected "
                        "integers in one dimension")  # fmt: skip
    length = x.shape[at_axis]
    begins = begins.astype("int64", copy=False)
    values = begins.to_numpy()
    for value in values[(values < 0) | (values >= length)][:1]:
        raise IndexError(
            f"{title}: index {value} is out of bounds for axis {axis} with size {length}"
        )
    if row.result == "bool":
        x = x.astype("bool", copy=False)
    ends = empty_at(begins, begins.shape)
    ends[:-1] = begins[1:]
    ends[-1:] = length
    lines, rest = _lines(x, at_axis)
    made = empty_at(x, (begins.size, prod(rest)), dtype)
    if made.size:
        column = _usmx.arange(prod(rest), dtype="int64", usm_type="device", queue=x.queue)
        _reduceat_kernel(name, dtype)(begins[:, None], ends[:, None], column[None, :], lines, made)
    result = _back(made, rest, at_axis)
    if out is None:
        return result
    if isinstance(out, tuple):
        (out,) = out
    out[...] = result
    target: ndarray = out
    return target


def _lines(x: ndarray, axis: int) -> tuple[ndarray, list[int]]:
    """An array as columns along an axis, and the lengths of the other axes."""
    others = [k for k in range(x.ndim) if k != axis]
    rest = [x.shape[k] for k in others]
    return x.transpose([axis, *others]).reshape((x.shape[axis], prod(rest))), rest


def _back(columns: ndarray, rest: list[int], axis: int) -> ndarray:
    """Columns where the axis was."""
    shaped = columns.reshape((columns.shape[0], *rest))
    return shaped.transpose([*range(1, axis + 1), 0, *range(axis + 1, shaped.ndim)])


@cache
def _in_turn_kernel(name: str, dtype: Any, keeps_all: bool, has_where: bool) -> ElementwiseKernel:
    """One column of each work-item; `begin` is 0 where `initial` comes first."""
    from .._kernel.types.scalars import cpp

    text, own = _text(name, dtype, 2), cpp(dtype)
    store = "y[index] = acc;" if keeps_all else ""
    return ElementwiseKernel(
        "int64 begin, int64 length, int64 column, T initial, raw X x"
        + (", raw bool counts" if has_where else ""),
        "raw T y",
        "ptrdiff_t index[] = {0, column};\n"
        f"{own} acc = initial;\nif (begin) {{ acc = {own}(x[index]); {store} }}\n"
        "for (int64_t k = begin; k < length; ++k) {\n  index[0] = k;\n"
        + ("  if (!counts[index]) continue;\n" if has_where else "")
        + f"  const auto v = x[index];\n  acc = {own}({text});\n  {store}\n}}\n"
        + ("" if keeps_all else "index[0] = 0;\ny[index] = acc;"),
        f"{name}_in_turn",
        preamble=PREAMBLE,
    )


def in_turn(name: str, method: str, x: ndarray, keywords: dict[str, Any]) -> ndarray | None:
    """``reduce`` and ``accumulate`` of any row of two operands of one type, in NumPy's order.

    None if it has other types.

    Raises
    ------
    ValueError
        Nothing to begin with, or several axes of what has no identity.
    """
    row = _row(name)
    if row is None or row.arity != 2 or row.result == "bool":
        return None
    out = keywords.get("out")
    if isinstance(out, tuple):
        (out,) = out
    if not (out is None or isinstance(out, ndarray)):
        return None
    keeps_all = method == "accumulate"
    axes = _axes(keywords.get("axis", 0), x.ndim)
    wanted = keywords.get("dtype")
    if wanted is None:
        wanted = x.dtype if out is None else out.dtype
    dtype: Any = _usmx.dtype(wanted)
    types = _usmx._result_types(name, dtype, dtype)
    if types is None:
        raise TypeError(f"np.{name}.{method}: is not defined for {dtype}")
    if len(set(types)) != 1:
        return None
    dtype, where = types[-1], keywords.get("where", True)
    x = x.astype(dtype, copy=False)
    if name == "power":
        _check_exponents(name, dtype, _exponents(x, axes, keywords))
    first = None if keeps_all else _first(name, axes, x, where, keywords.get("initial"))
    if where is not True:
        where = _usmx.broadcast_to(as_array(where, x).astype("bool", copy=False), x.shape)
    shape = tuple(1 if k in axes else length for k, length in enumerate(x.shape))
    if axes != (0,) or x.ndim != 1:
        order = [*axes, *(k for k in range(x.ndim) if k not in axes)]
        x = x.transpose(order)
        where = where if where is True else where.transpose(order)
    length = prod(x.shape[: len(axes)])
    rest = list(x.shape[len(axes) :])
    lines = x.reshape((length, prod(rest)))
    made = empty_at(x, (length if keeps_all else 1, prod(rest)), dtype)
    if made.size:
        column = _usmx.arange(prod(rest), dtype="int64", usm_type="device", queue=x.queue)
        given = [as_array(0 if first is None else first, x).astype(dtype), lines]
        if where is not True:
            given.append(where.reshape(lines.shape))
        kernel = _in_turn_kernel(name, dtype, keeps_all, where is not True)
        kernel(1 if first is None else 0, length, column, *given, made)
    if keeps_all:
        result = _back(made, rest, axes[0])
    else:
        result = made.reshape(shape if keywords.get("keepdims", False) else tuple(rest))
    return written(result, out)


def _exponents(x: ndarray, axes: tuple[int, ...], keywords: dict[str, Any]) -> ndarray:
    """The elements that are second operands: all that count, but the first one along the axis."""
    where = keywords.get("where", True)
    if where is not True:
        where = as_array(where, x).astype("bool", copy=False)
        x = _usmx.Operation("where")(where, x, 0)
    if keywords.get("initial") is not None or len(axes) != 1:
        return x
    rest: ndarray = x[(slice(None),) * axes[0] + (slice(1, None),)]
    return rest


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    return tuple(to_axis(one, ndim) for one in (axis if isinstance(axis, tuple) else (axis,)))


def _first(name: str, axes: tuple[int, ...], x: ndarray, where: Any, initial: Any) -> Any:
    """What comes before the elements; None if the first element does.

    Raises
    ------
    ValueError
        Nothing does, where something has to.
    """
    import numpy as np

    identity = getattr(getattr(np, name, None), "identity", None)
    if identity is None and len(axes) > 1 and name not in _IN_ANY_ORDER:
        raise ValueError(
            f"np.{name}.reduce: axis has {len(axes)} axes, whose order would matter; expected one"
        )
    if initial is not None:
        return initial
    if identity is None and where is not True:
        raise ValueError(f"np.{name}.reduce: where= needs initial=, for where no element counts")
    if identity is None and not all(x.shape[k] for k in axes):
        raise ValueError(f"np.{name}.reduce: of an empty array, and there is no identity")
    return identity
