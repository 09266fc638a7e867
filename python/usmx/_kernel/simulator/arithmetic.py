"""The compiler's arithmetic on Python's and NumPy's numbers, for the simulator: the same types, the
same wrapping around, the same floor division. The device computes what NumPy rounds otherwise.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import _usmx
from ..._operations import Operation
from ..language import records, vectors
from ..language.intrinsics import Intrinsic
from ..types import scalars
from ..types.scalars import Record, Scalar, promote, shifted
from ..types.values import to_bfloat16
from . import special

_scalars: dict[type, Scalar] = {
    bool: scalars.PYTHON_BOOL,
    int: scalars.INT,
    float: scalars.FLOAT,
    complex: scalars.COMPLEX,
    np.bool_: scalars.BOOL,
    **{np.dtype(t.name).type: t for t in scalars.STRONG if t.kind != "b"},
}


def scalar_of(x: Any) -> Scalar:
    """The type of a number."""
    found = _scalars.get(type(x))
    if found is None and not isinstance(x, np.generic):
        # A member of an enumeration of numbers.
        found = next(
            (_scalars[kind] for kind in (int, float, complex) if isinstance(x, kind)), None
        )
    return found or _scalars[np.dtype(type(x)).type]


def exact_number(x: Any) -> Any:
    """A number of NumPy's as one of Python's."""
    return int(x) if isinstance(x, np.integer) else float(x)


def cast(t: Scalar, x: Any) -> Any:
    """A number as C++ converts it to ``t``: integers wrap, floats are cut off."""
    if t.kind == "b":
        return bool(x) if t.weak else np.bool_(x)
    if t.kind in "iu":
        if isinstance(x, float | np.floating):
            x = int(x) if math.isfinite(x) else 0
        x = int(x) & (2**t.bits - 1)
        if t.kind == "i" and x >> (t.bits - 1):
            x -= 2**t.bits
        return x if t.weak else np.dtype(t.name).type(x)
    if t is scalars.BFLOAT16:
        return np.float32(to_bfloat16(x if isinstance(x, int) else exact_number(x)))
    if t.weak:
        return float(x) if t.kind == "f" else complex(x)
    return np.dtype(t.name).type(x)


def bits(of: Scalar, t: Scalar, x: Any) -> Any:
    """The bits of a number of type ``of`` as a number of type ``t``."""
    strong = scalars.STRONG_OF.get(of.name, of)
    return np.asarray(cast(strong, x)).view(scalars.STRONG_OF.get(t.name, t).name)[()]


def binary(sign: str, a: Any, b: Any, *, numba: bool = False) -> Any:
    """``a sign b``; with ``numba`` integers have the types that Numba gives them."""
    if isinstance(a, tuple) or isinstance(b, tuple):
        return _of_tuples(sign, a, b)
    wide = scalars.of_numba(sign, scalar_of(a), scalar_of(b)) if numba else None
    if wide is not None:
        return binary(sign, cast(wide, a), int(b) if sign in ("<<", ">>") else cast(wide, b))
    t = (shifted if sign in ("<<", ">>") else promote)(scalar_of(a), scalar_of(b))
    if t.kind == "b":
        # Of NumPy's bools sums and products are bools; Python's are ints.
        how = sign if t.weak else {"*": "&", "+": "|"}.get(sign, sign)
        if how in ("&", "|", "^"):
            return cast(t, _OPERATORS[how](bool(a), bool(b)))
        t = scalars.INT
    if sign == "/" and t.is_integer:
        t = scalars.FLOAT if t.weak else scalars.FLOAT64
    if sign == "**" and t.is_integer and b < 0:
        return cast(t, 0)
    if sign in ("//", "%") and t.is_integer and b == 0:
        raise ZeroDivisionError(f"{a} {sign} 0: devices give 0, which is seldom what is meant")
    if sign in ("<<", ">>"):
        return _shift(sign, cast(t, a), int(b), t)
    with np.errstate(all="ignore"):
        if t.kind in "fc":
            # In NumPy's own types, so that dividing by zero is what it is on devices.
            wide = t if not t.weak else scalars.strong(t.kind, t.size)
            a, b = cast(wide, a), cast(wide, b)
            if sign == "**":
                return cast(t, on_device("power", wide, wide, a, b))
            return cast(t, _OPERATORS[sign](a, b))
        return cast(t, _OPERATORS[sign](int(cast(t, a)), int(cast(t, b))))


def _of_tuples(sign: str, a: Any, b: Any) -> Any:
    """The same of vectors; of other tuples the sum."""
    if sign == "@":
        return vectors.product(a, b, binary)
    if isinstance(a, vectors.Vector) or isinstance(b, vectors.Vector):
        return vectors.by_component(sign, a, b, binary)
    return a + b


def vector(kind: Any, *values: Any) -> Any:
    """``vec3(x, y, z)``, whose numbers are converted as stored elements are."""
    return kind._of([cast(kind._element, x) for x in vectors.arranged(kind, values)])


def method(name: str, of: Any, *operands: Any) -> Any:
    """A method of a vector."""
    if name == "copy":
        return of
    if name in ("dot", "cross"):
        return getattr(vectors, name)(of, *operands, binary)
    if name == "transpose":
        return of.transpose()
    total = vectors.dot(of, of, binary)
    with np.errstate(all="ignore"):
        length = np.sqrt(total if total.dtype.kind == "f" else np.float64(total))
    return length if name == "length" else binary("/", of, length)


def record(kind: Any, *values: Any, **named: Any) -> Any:
    """``Point(x, y)`` of a struct of ctypes."""
    given = dict(zip(kind._fields, values, strict=False)) | named
    return kind._make(_like(f.type, f.shape, given.get(f.name)) for f in kind._record.fields)


def _like(t: Scalar | Record, shape: tuple[int, ...], value: Any) -> Any:
    """A field of that type; zeros of None."""
    if shape:
        items = [None] * shape[0] if value is None else value
        return tuple(_like(t, shape[1:], one) for one in items)
    if isinstance(t, Scalar):
        return cast(t, 0 if value is None else value)
    kind = records.kind_of(t)
    if isinstance(kind, vectors.VectorType):
        return vector(kind, *([] if value is None else [value]))
    values = [None] * len(t.fields) if value is None else value
    pairs = zip(t.fields, values, strict=True)
    return kind._make(_like(f.type, f.shape, one) for f, one in pairs)


def replaced(of: Any, value: Any, *path: Any) -> Any:
    """A tuple with another number at a place: ``v.x = 1`` of what cannot be changed."""
    at, *rest = path
    if isinstance(at, str):
        at = type(of)._fields.index(at)
    items = list(of)
    items[int(at)] = replaced(items[int(at)], value, *rest) if rest else value
    make: Any = getattr(type(of), "_make", tuple)
    return make(items)


def extreme(which: Callable[[Any, Any], Any], *numbers: Any) -> Any:
    """``min`` or ``max``, two by two: each pair becomes of one type before it is compared."""
    if len(numbers) == 1 and isinstance(numbers[0], tuple):
        numbers = numbers[0]
    result = numbers[0]
    with np.errstate(all="ignore"):
        for other in numbers[1:]:
            t = promote(scalar_of(result), scalar_of(other))
            result = which(cast(t, result), cast(t, other))
    return result


def _shift(sign: str, a: Any, count: int, t: Scalar) -> Any:
    if not 0 <= count < t.bits:
        return cast(t, 0 if sign == "<<" or a >= 0 else -1)
    return cast(t, int(a) << count if sign == "<<" else int(a) >> count)


def _power(a: int, b: int) -> int:
    """``a**b``; the lowest bits of large powers, because all of them may be billions."""
    return pow(a, b, 1 << 64) if b > 64 else int(a**b)


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "//": lambda a, b: a / b if isinstance(a, np.floating) and np.isinf([a, b]).any() else a // b,
    "%": lambda a, b: a % b,
    "**": _power,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}


def _of_numba(sign: str, a: Any) -> Any:
    """An operand of a sign as Numba widens it."""
    wide = None if isinstance(a, vectors.Vector) else scalars.of_numba(sign, scalar_of(a))
    return a if wide is None else cast(wide, a)


def signed(sign: str, a: Any, *, numba: bool = False) -> Any:
    """``+a``, ``~a``."""
    if numba:
        a = _of_numba(sign, a)
    if isinstance(a, vectors.Vector) or scalar_of(a).kind != "b":
        return +a if sign == "+" else ~a
    return int(a) if sign == "+" else ~int(a)


def negative(a: Any, *, numba: bool = False) -> Any:
    """``-a``."""
    if numba:
        a = _of_numba("-", a)
    if isinstance(a, vectors.Vector):
        return a._of([negative(x) for x in vectors.flat(a)])
    t = scalar_of(a)
    with np.errstate(all="ignore"):
        if t.kind in "fc":
            return -a
        return cast(scalars.INT if t.kind == "b" else t, -int(a))


# --- what the expressions of the table of intrinsics are made of ---------------------------------


def _as_in_c(function: Callable[..., float], x: float, *more: float) -> float:
    """A function of `math` with the values that C gives where Python raises."""
    try:
        return function(x, *more)
    except OverflowError:
        return math.copysign(math.inf, x)
    except ValueError:  # a pole
        if function is math.lgamma:
            return math.inf
        return math.copysign(math.inf, x) if x == 0 else math.nan


def each(function: Callable[..., float], *operands: Any) -> Any:
    """A function of floats, in the type of the first operand; of every element of arrays."""
    arrays = np.broadcast_arrays(*operands)
    rows = zip(*(a.ravel() for a in arrays), strict=True)
    flat = [_as_in_c(function, *map(float, row)) for row in rows]
    return np.array(flat, dtype=arrays[0].dtype).reshape(arrays[0].shape)[()]


def same(value: Any, like: Any) -> Any:
    """The value in the type of ``like``."""
    return np.asarray(value).astype(np.asarray(like).dtype)[()]


def power(a: Any, b: Any) -> Any:
    """``a**b`` as of two arrays; NumPy takes one exponent of 0.5 for a square root."""
    a, b = np.broadcast_arrays(a, b)
    twice = np.power(np.stack([a, a]), np.stack([b, b]))
    return twice[0][()]


def whole(a: Any) -> Any:
    """As Python's int."""
    return np.asarray(a).astype(np.int64)[()]


def popcount(a: Any) -> Any:
    """Ones in the two's complement."""
    a = np.asarray(a)
    mask = 2 ** (8 * a.dtype.itemsize) - 1
    flat = [(int(x) & mask).bit_count() for x in a.ravel()]
    return np.array(flat, dtype=a.dtype).reshape(a.shape)[()]


def clz(a: Any) -> Any:
    """Zeros before the highest one."""
    a = np.asarray(a)
    bits = 8 * a.dtype.itemsize
    flat = [bits - (int(x) & (2**bits - 1)).bit_length() for x in a.ravel()]
    return np.array(flat, dtype=a.dtype).reshape(a.shape)[()]


_NAMES = {"np": np, "math": math, "special": special, "each": each, "same": same, "whole": whole,
          "popcount": popcount, "clz": clz, "power": power}  # fmt: skip
_compiled: dict[str, Any] = {}


def evaluate(row: Operation, *operands: Any) -> Any:
    """A row of the table for NumPy arrays or scalars of one type."""
    if row.name not in _compiled:
        _compiled[row.name] = compile(row.expression, f"<{row.name}>", "eval")
    with np.errstate(all="ignore"):
        return eval(_compiled[row.name], _NAMES, dict(zip("abc", operands, strict=False)))


@functools.cache
def _on_device(function: str, t: str, result: str, count: int, header: str) -> Any:
    """A kernel that computes one function of numbers of one type."""
    names = "abc"[:count]
    return _usmx.ElementwiseKernel(
        ", ".join(f"{t} {name}" for name in names),
        f"{result} y",
        f"y = {function}({', '.join(names)})",
        f"simulated_{function}",
        preamble=f'#include "{header}"\n' if header else "",
    )


def on_device(function: str, t: Scalar, result: Scalar, *operands: Any, header: str = "") -> Any:
    """What a function of the prelude gives for numbers of type ``t``, with the bits of kernels."""
    kernel = _on_device(function, t.name, result.name, len(operands), header)
    return kernel(*(_usmx.asarray(np.asarray(x)) for x in operands)).to_numpy()[()]


def intrinsic(row: Intrinsic, t: Scalar, *operands: Any) -> Any:
    """A row of the table for numbers, which become of type ``t``."""
    typed = scalars.STRONG_OF.get(t.name, t)
    given = [cast(typed, x) for x in operands]
    result = row.result_type(t)
    if row.row.differs_from_numpy(typed.kind):
        strong = scalars.STRONG_OF.get(result.name, result)
        return cast(result, on_device(row.name, typed, strong, *given, header=row.header))
    return cast(result, evaluate(row.row, *given))
