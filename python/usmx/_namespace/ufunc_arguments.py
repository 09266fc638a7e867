"""The keywords of NumPy's ufuncs, for all functions of elements: one reader of them.

``out``, ``where``, ``dtype``, ``casting``, ``order``, ``subok`` and ``signature``. A type that is
named is the one that is computed in: operands are cast to it before, by the rule of ``casting``.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _usmx, _wrong_calls
from .._usmx import ndarray
from ._common import as_array, as_type, to_axis
from ._outputs import CASTINGS, check_cast, to_out, written
from ._types import is_bfloat16
from .data_types import to_dtype
from .signatures import NAMED_OPERANDS, UFUNC_KEYWORDS, place_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PYTHON_NUMBERS = (bool, int, float, complex)
#: What a number of Python may become.
_KINDS = {bool: "biufc", int: "iufc", float: "fc", complex: "c"}
#: An operand may be an int of Python, regardless of which type of integers the other has.
_COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
_PARTS = {"float32": "complex64", "float64": "complex128"}


class _Keywords:
    """What a call says in addition to its operands."""

    def __init__(self, name: str, arity: int, keywords: dict[str, Any]) -> None:
        given = dict(keywords)
        self.name = name
        self.where = given.pop("where", True)
        self.casting = given.pop("casting", "same_kind")
        self.order = given.pop("order", "K")
        if not isinstance(given.pop("subok", True), bool):
            raise TypeError(f"{name}: subok: expected True or False")
        dtype = given.pop("dtype", None)
        signature = given.pop("signature", None)
        signature = given.pop("sig", None) if signature is None else signature
        if given:
            free = [one for one in ("out", *UFUNC_KEYWORDS) if one not in keywords]
            raise _wrong_calls.unexpected(f"usmx.{name}", next(iter(given)), free)
        if self.casting not in CASTINGS:
            rules = ", ".join(map(repr, CASTINGS))
            raise ValueError(f"casting: {self.casting!r}; expected {rules}")
        check_order(self.order)
        self.dtype = None if dtype is None else to_dtype(dtype)
        self.types: list[Any] | None = None
        if signature is not None:
            if dtype is not None:
                raise TypeError(f"{name}: dtype and signature are given; expected one of them")
            self._read_signature(signature, arity)

    def _read_signature(self, signature: Any, arity: int) -> None:
        parts: list[Any]
        if isinstance(signature, str):
            before, arrow, after = signature.partition("->")
            if not arrow and len(signature) != 1:
                raise ValueError(f"signature: {signature!r}; expected a form such as 'dd->d'")
            parts = [*before, *after] if arrow else [None] * arity + [signature]
        elif isinstance(signature, tuple):
            parts = list(signature)
        else:
            parts = [None] * arity + [signature]
        outs = getattr(getattr(np, self.name, None), "nout", 1)
        if len(parts) not in (arity + 1, arity + outs):
            raise ValueError(f"signature: {signature!r}; expected {arity} types and that of out")
        types = [None if one is None else to_dtype(one, "signature") for one in parts]
        if any(one is not None for one in types[:arity]) or len(set(types[arity:])) > 1:
            self.types = types
        else:
            self.dtype = types[arity]

    def no_loop(self) -> TypeError:
        given = self.dtype if self.types is None else ", ".join(map(str, self.types))
        return TypeError(
            f"{self.name}: is not computed with these types (dtype or signature: {given}; "
            f"casting: {self.casting!r})"
        )


def check_order(order: Any) -> None:
    """Refuse what names no order of elements in memory."""
    if order not in ("C", "F", "A", "K", None):
        raise ValueError(f"order: {order!r}; expected 'C', 'F', 'A' or 'K'")


def in_order(x: ndarray, order: Any) -> ndarray:
    """A new result in the order of elements that is asked for; 'K' leaves it as it is."""
    check_order(order)
    is_there = x.flags.f_contiguous if order == "F" else x.flags.c_contiguous
    return x.copy(order) if order in ("C", "F") and not is_there else x


def operation(row: Any, args: tuple[Any, ...], keywords: dict[str, Any] | None) -> Any:
    """A function of the table of operations with all arguments of NumPy's ufuncs.

    Raises
    ------
    TypeError
        An unknown keyword; operands or a result that are not cast by the rule; types that it is
        not computed with.
    ValueError
        Shapes that do not fit; a rule or an order that there is none.
    """
    name, arity = row.__name__, row.nin
    given = dict(keywords or {})
    _check_call(row, args, given)
    for one in args[:arity]:
        if hasattr(type(one), "__usmx_operation__"):
            raise TypeError(f"{name}: takes out and dtype alone while a function is traced")
    out = given.pop("out", None)
    if name in NAMED_OPERANDS:
        args, in_degrees = _named_operand(name, args, given)
        made = call(name, row, args, None if in_degrees else out, given)
        return written(made * (180 / pi), out) if in_degrees else made
    if len(args) > arity:
        out = args[arity]
    return call(name, row, args[:arity], out, given)


#: What functions of the table take by name.
_TAKEN = frozenset({"out", "sig", *UFUNC_KEYWORDS})


def _check_call(row: Any, args: tuple[Any, ...], given: dict[str, Any]) -> None:
    """Refuse a call that lacks an operand, or says what the function does not take."""
    name, arity, count = row.__name__, row.nin, len(args)
    taken = _TAKEN
    if name in NAMED_OPERANDS:
        operand, more = NAMED_OPERANDS[name]
        taken = taken | {operand, *more}
        twice = given.keys() & [operand, *more][:count]
        is_right = count <= 1 + len(more) and (count > 0 or operand in given) and not twice
    else:
        if name == "where":  # which is not a ufunc
            taken = frozenset({"out", "dtype"})
        is_right = count == arity or (count == arity + 1 and "out" not in given)
    if is_right and given.keys() <= taken:
        return
    line = _wrong_calls.line(
        f"usmx.{place_of(name)}",
        row.__signature__,
        args,
        {key: value for key, value in given.items() if key != "sig" or key not in taken},
    )
    raise TypeError(line or f"usmx.{place_of(name)}: takes {arity} operands, got {count}")


def _named_operand(
    name: str, args: tuple[Any, ...], given: dict[str, Any]
) -> tuple[tuple[Any, ...], bool]:
    """The operand of what is not a ufunc in NumPy, and whether an angle is to be in degrees."""
    operand, more = NAMED_OPERANDS[name]
    values = dict(zip((operand, *more), args, strict=False))
    for one in (operand, *more):
        if one in given:
            values[one] = given.pop(one)
    return (values[operand],), bool(values.get("deg", False))


def call(
    name: str,
    function: Callable[..., Any],
    operands: Sequence[Any],
    out: Any,
    keywords: dict[str, Any],
) -> Any:
    """``function(*operands)``, computed and written as the keywords of NumPy's ufuncs say."""
    said = _Keywords(name, len(operands), keywords)
    values = _operands(operands)
    values, wanted = _in_types_of_loop(said, values, isinstance(function, _usmx.Operation))
    made = function(*values)
    results = made if isinstance(made, tuple) else (made,)
    if wanted is not None and results[0].dtype != wanted:
        raise said.no_loop()
    if said.order == "A":
        arrays = [x for x in values if isinstance(x, ndarray)]
        said.order = "F" if arrays and all(x.flags.f_contiguous for x in arrays) else "C"
    outs = _outs(out, len(results))
    mask = True if said.where is True else _mask(said.where, results[0])
    done = tuple(_stored(x, into, mask, said) for x, into in zip(results, outs, strict=True))
    return done if isinstance(made, tuple) else done[0]


def _operands(given: Sequence[Any]) -> list[Any]:
    """Arrays, where the first of ours is, and numbers of Python, which adapt to them."""
    first = next((x for x in given if isinstance(x, ndarray)), None)
    return [x if type(x) in _PYTHON_NUMBERS or x is None else as_array(x, first) for x in given]


def _in_types_of_loop(
    said: _Keywords, values: list[Any], is_row: bool
) -> tuple[list[Any], Any | None]:
    """Operands in the types that are computed in, and the type of the (first) result.

    NumPy says these types where it has the function; of types that it lacks, and for functions of
    our own, the table of operations.
    """
    if said.dtype is None and said.types is None and said.casting in ("same_kind", "unsafe"):
        return values, None
    ufunc = getattr(np, said.name, None)
    natural = [x if type(x) in _PYTHON_NUMBERS else x.dtype for x in values]
    if isinstance(ufunc, np.ufunc) and not any(map(is_bfloat16, (*natural, said.dtype))):
        count = len(values)
        given = [_numpys(x, all(type(x) in _PYTHON_NUMBERS for x in natural)) for x in natural]
        outs = ufunc.nout
        # A type names that of all results.
        signature = said.types or [*[None] * count, *[said.dtype] * outs]
        found = ufunc.resolve_dtypes(
            (*given, *[None] * outs),
            signature=(*signature, *[None] * (count + outs - len(signature))),
            # NumPy 2.4 crashes with "equiv" and a number of Python's; "no" is the same here.
            casting="no" if said.casting == "equiv" else said.casting,
        )
        loop: list[Any] = list(found[:count])
        if said.casting == "equiv" and not said.name.startswith("logical_"):
            _check_numbers_are_equivalent(said.name, values, loop)
        return _cast(values, loop, "unsafe"), found[count]
    if is_row:
        loop = _types_of_loop(said, values)
    else:
        loop = said.types[: len(values)] if said.types is not None else [said.dtype] * len(values)
    wanted = said.dtype if said.types is None else said.types[len(values)]
    return _cast(values, loop, said.casting), wanted


def _check_numbers_are_equivalent(name: str, values: list[Any], loop: list[Any]) -> None:
    """Numbers of Python have a type of their own here, unless they are compared with integers."""
    for x, t in zip(values, loop, strict=True):
        is_compared = type(x) is int and t.kind in "iu" and name in _COMPARISONS
        if type(x) in (int, float, complex) and t != np.dtype(type(x)) and not is_compared:
            raise TypeError(f"{name}: {x!r} is not cast to {t} by the rule 'equiv'")


def _numpys(x: Any, are_all_numbers: bool) -> Any:
    """What stands for an operand where NumPy chooses types; Python's numbers adapt to arrays."""
    if type(x) not in _PYTHON_NUMBERS:
        return x
    return np.asarray(x).dtype if are_all_numbers or type(x) is bool else type(x)


def _types_of_loop(said: _Keywords, values: list[Any]) -> list[Any]:
    """The types that operands are computed in: of the call, or of the type that it names."""
    name = said.name

    def found(types: list[Any]) -> list[Any] | None:
        return _usmx._result_types(name, *types)

    natural = [x if type(x) in _PYTHON_NUMBERS else x.dtype for x in values]
    if said.types is not None:
        wanted = [natural[k] if t is None else t for k, t in enumerate(said.types[:-1])]
        loop = found(wanted)
        if loop is None or any(t is not None and t != loop[k] for k, t in enumerate(said.types)):
            raise said.no_loop()
        return loop[:-1]
    loop = found(natural)
    if said.dtype is None:
        if loop is None:
            raise said.no_loop()
        return loop[:-1]
    if loop is not None and loop[-1] == said.dtype:
        return loop[:-1]
    lead = [to_dtype("bool")] if name == "where" else []
    whole = _PARTS.get(getattr(said.dtype, "name", ""))
    for one in (said.dtype, None if whole is None else to_dtype(whole)):
        if one is None:
            continue
        wanted = [*lead, *[one] * (len(values) - len(lead))]
        loop = found(wanted)
        if loop is not None and loop[-1] == said.dtype and loop[:-1] == wanted:
            return wanted
    raise said.no_loop()


def _cast(values: list[Any], types: list[Any], casting: str) -> list[Any]:
    """Operands in the types that are computed in."""
    done = []
    for number, (x, wanted) in enumerate(zip(values, types, strict=True)):
        if wanted is None or x is None:
            done.append(x)
        elif isinstance(x, ndarray):
            check_cast(x.dtype, wanted, casting, f"operand {number}")
            done.append(as_type(x, wanted))
        elif wanted.kind in _KINDS[type(x)]:
            done.append(x)
        elif casting == "unsafe":
            with np.errstate(invalid="ignore"):  # a float into an integer, as elements are cast
                done.append(np.asarray(x).astype(to_dtype(wanted)).item())
        else:
            raise TypeError(
                f"operand {number}: {x!r} is not cast to {wanted} by the rule {casting!r}"
            )
    if all(type(x) in _PYTHON_NUMBERS for x in done):
        done = [_usmx.asarray(x, dtype=wanted) for x, wanted in zip(done, types, strict=True)]
    return done


def _outs(out: Any, count: int) -> tuple[Any, ...]:
    """An array, or None, for each result."""
    if out is None:
        return (None,) * count
    given = out if isinstance(out, tuple) else (out,)
    if len(given) != count:
        if count > 1 and not isinstance(out, tuple):
            raise TypeError(f"out: is one array; expected a tuple of {count}")
        raise ValueError(f"out: is a tuple of {len(given)}; expected {count}")
    return tuple(to_out(one) for one in given)


def _mask(where: Any, like: ndarray) -> ndarray:
    mask = as_array(where, like)
    if mask.dtype.kind != "b":
        raise TypeError(f"where: is of {mask.dtype}; expected bools")
    return mask


def _stored(made: ndarray, into: ndarray | None, mask: Any, said: _Keywords) -> ndarray:
    from .manipulation import broadcast_shapes

    shape = made.shape if mask is True else broadcast_shapes(made.shape, mask.shape)
    if into is None:
        whole = made if shape == made.shape else _usmx.broadcast_to(made, shape).copy()
        return in_order(whole, said.order)
    if broadcast_shapes(shape, into.shape) != into.shape:
        raise ValueError(f"out: has shape {into.shape}, which {shape} is not broadcast to")
    check_cast(made.dtype, into.dtype, said.casting, "out")
    if mask is not True:
        made = _usmx.Operation("where")(mask, made.astype(into.dtype, copy=False), into)
    into[...] = made
    return into


def product(
    name: str,
    function: Callable[..., ndarray],
    x1: Any,
    x2: Any,
    out: Any,
    keywords: dict[str, Any],
) -> ndarray:
    """`matmul` or `vecdot` with the keywords of NumPy's ufuncs of whole axes."""
    from .manipulation import expand_dims, moveaxis

    given = dict(keywords)
    axes, axis = given.pop("axes", None), given.pop("axis", -1 if name == "vecdot" else None)
    keepdims = given.pop("keepdims", False)
    if "where" in given:
        free = ("out", "axes", "axis", "keepdims", *UFUNC_KEYWORDS)
        raise _wrong_calls.unexpected(
            f"usmx.{name}", "where", [one for one in free if one not in keywords]
        )
    said = _Keywords(name, 2, given)
    if name == "matmul" and (axis is not None or keepdims):
        raise TypeError(f"{name}: has no single axis that axis or keepdims could name; use axes")
    values = [as_array(x) for x in _operands((x1, x2))]
    values, wanted = _in_types_of_loop(said, values, False)
    back: tuple[int, ...] | None = None
    if axes is not None:
        if axis not in (None, -1):
            raise TypeError(f"{name}: axes and axis are given; expected one of them")
        values, back = _moved(name, values, axes)
    elif name == "vecdot":
        values = [moveaxis(x, to_axis(axis, x.ndim), -1) for x in values]
    made = function(*values)
    if wanted is not None and made.dtype != wanted:
        raise said.no_loop()
    if back:
        made = moveaxis(made, tuple(range(-len(back), 0)), back)
    if keepdims:
        made = expand_dims(made, axis)
    if out is None:
        return in_order(made, said.order)
    return written(made, out, said.casting)


def _moved(name: str, values: list[ndarray], axes: Any) -> tuple[list[ndarray], tuple[int, ...]]:
    """Operands with the axes that are named at the end, and where those of the result go."""
    from .manipulation import moveaxis

    pairs = [tuple(one) if isinstance(one, (tuple, list)) else (one,) for one in axes]
    if len(pairs) == 2 and name == "vecdot":
        pairs.append(())
    if len(pairs) != 3:
        raise ValueError(f"axes: {axes!r}; expected a tuple for each operand and the result")
    moved = [
        moveaxis(x, pair, tuple(range(-len(pair), 0)))
        for x, pair in zip(values, pairs[:2], strict=True)
    ]
    return moved, pairs[2]
