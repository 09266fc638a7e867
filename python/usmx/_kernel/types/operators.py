"""Python's operators on numbers: what type they give, and how C++ writes them.

Each function takes and gives typed expressions and raises TypeError with the cause where Python or
NumPy would refuse the operands; the caller knows the place in the tree.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from . import values as v
from .scalars import BOOL, FLOAT, FLOAT64, INT, PYTHON_BOOL, Scalar, of_numba, promote, shifted
from .values import Number, convert

# Operator -> C++ sign, how tightly it binds, Python's function.
ARITHMETIC = {"+": v.SUM, "-": v.SUM, "*": v.PRODUCT}
BITWISE = {"&": v.BIT_AND, "^": v.BIT_XOR, "|": v.BIT_OR}
FOLD: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
#: Exponents up to this are multiplied out.
LARGEST_PRODUCT = 16


def checked(value: Number, t: Scalar) -> Number:
    """The value as one of type ``t``, in which it is part of a computation.

    Raises
    ------
    TypeError
        A literal that does not fit; a complex number for a real type.
    """
    if value.type.kind == "c" and t.kind != "c":
        raise TypeError(f"a complex number cannot be converted to {t}; take its .real")
    if value.const is not None and value.type.kind == "i" and t.is_integer:
        low, high = t.limits
        if not low <= int(value.const.real) <= high:
            raise TypeError(f"{value.const} does not fit into {t.name}")
    return convert(value, t)


def _result(t: Scalar, code: str, level: int, *operands: Number) -> Number:
    """C++ computes with narrow integers as int; they wrap around as NumPy's only if cast back."""
    pure = all(o.pure for o in operands)
    if t.is_narrow:
        return Number(t, f"{t.cpp}({code})", pure=pure)
    return Number(t, code, level, pure=pure)


def _infix(sign: str, level: int, t: Scalar, a: Number, b: Number) -> Number:
    return _result(t, f"{a.at(level)} {sign} {b.at(level + 1)}", level, a, b)


def _factor(t: Scalar, a: Number) -> Number:
    """A float that a compiler may find to be -1, in a way that it makes no negation of."""
    is_element = a.code.endswith("]")  # a value in memory is not a constant
    if t.kind != "f" or a.const not in (None, -1) or is_element:
        return a
    return call("factor", t, a)


def call(name: str, t: Scalar, *operands: Number) -> Number:
    """``usmx::name<T>(...)`` with all operands converted to ``t``."""
    code = ", ".join(checked(o, t).code for o in operands)
    return Number(t, f"usmx::{name}<{t.cpp}>({code})", pure=all(o.pure for o in operands))


def arithmetic_type(a: Number, b: Number) -> Scalar:
    """Where two operands meet; bools count as Python ints where NumPy has no rule for them."""
    t = promote(a.type, b.type)
    return INT if t.kind == "b" else t


def _is_too_long(sign: str, a: Any, b: Any) -> bool:
    """Whether Python would compute an integer of so many digits that it takes long."""
    if not isinstance(a, int) or not isinstance(b, int) or b < 64:
        return False
    return a != 0 if sign == "<<" else abs(a) > 1


def binary(
    sign: str, a: Number, b: Number, *, grouped: bool, numba: bool = False, wraps: bool = False
) -> Number:
    """``a sign b``; in kernels with groups without the negations that barriers break.

    With ``numba`` integers have the types that Numba gives them, with ``wraps`` a remainder asks
    all items of a vector whether one needs a division.
    """
    wide = of_numba(sign, a.type, b.type) if numba else None
    if wide is not None:
        negative = sign == "**" and isinstance(b.const, int) and b.const < 0
        if negative:
            return binary(sign, convert(a, FLOAT64), b, grouped=grouped)
        # A count of shifts keeps its value, regardless of its type.
        a, b = (_widened(one, wide) for one in (a, b))
        return binary(sign, a, b, grouped=grouped, wraps=wraps)
    if a.type.kind == b.type.kind == "b" and not (a.type.weak and b.type.weak):
        # As NumPy adds and multiplies bools; for what it does not do with them they are ints.
        sign = {"+": "|", "*": "&"}.get(sign, sign)
        if sign in BITWISE and a.const is not None and b.const is not None:
            return convert(v.constant(bool(FOLD[sign](a.const, b.const))), BOOL)
    if a.const is not None and b.const is not None:
        if sign in ("**", "<<") and _is_too_long(sign, a.const, b.const):
            raise TypeError(f"{a.const} {sign} {b.const} does not fit into 64 bits")
        try:
            folded = FOLD[sign](a.const, b.const)
        except (ArithmeticError, ValueError) as error:
            raise TypeError(str(error)) from None
        if isinstance(folded, int) and not -(2**63) <= folded < 2**64:
            raise TypeError(f"{folded} does not fit into 64 bits")
        return v.constant(folded)
    if sign in ARITHMETIC:
        t = arithmetic_type(a, b)
        if grouped and sign == "*":
            a, b = _factor(t, a), _factor(t, b)
        return _infix(sign, ARITHMETIC[sign], t, checked(a, t), checked(b, t))
    if sign in BITWISE:
        t = promote(a.type, b.type)
        if t.kind not in "biu":
            raise TypeError(f"'{sign}' takes integers, not {v.describe(a)} and {v.describe(b)}")
        result = _infix(sign, BITWISE[sign], t, checked(a, t), checked(b, t))
        return result
    if sign in ("<<", ">>"):
        return _shift(sign, a, b)
    if sign == "**":
        return _power(a, b)
    t = arithmetic_type(a, b)
    if sign == "/":
        if t.is_integer:
            t = FLOAT if t.weak else FLOAT64
        if grouped:
            b = _factor(t, b)
        return _infix("/", v.PRODUCT, t, checked(a, t), checked(b, t))
    if t.kind == "c":
        raise TypeError(f"'{sign}' is not defined for complex numbers")
    if sign == "%" and wraps and t.kind == "i" and t.size >= 4 and b.const is None:
        return call("wrapped", t, a, b)
    return call("floor_divide" if sign == "//" else "modulo", t, a, b)


def _widened(value: Number, t: Scalar) -> Number:
    """A number as one of 64 bits, which wraps; one that is known stays so."""
    if value.const is not None:
        return replace(v.constant(int(value.const.real)), type=INT)
    return convert(value, t)


def _shift(sign: str, a: Number, b: Number) -> Number:
    t = shifted(a.type, b.type)
    t = INT if t.kind == "b" else t
    if not t.is_integer:
        raise TypeError(f"'{sign}' takes integers, not {v.describe(a)} and {v.describe(b)}")
    by = v.counted(b)
    if isinstance(by, Number) and by.const is not None:
        count = int(by.const.real)
        if count < 0:
            raise TypeError(f"shift by {count}: negative shifts are not supported")
        if count < min(t.bits, 31):
            return _infix(sign, v.SHIFT, t, checked(a, t), by)
    return call("shift_left" if sign == "<<" else "shift_right", t, a, b)


def _power(a: Number, b: Number) -> Number:
    t = arithmetic_type(a, b)
    whole = b.const if isinstance(b.const, int) else None
    if t.is_integer and whole is not None and whole < 0:
        if not t.weak:
            raise TypeError(f"an integer to the power {whole}; make the base a float")
        t = FLOAT
    # `power` gives these bits, too, and asks for the exponent where the kernel runs.
    if whole is not None and abs(whole) <= LARGEST_PRODUCT and t.kind != "c":
        base = checked(a, t)
        return Number(t, f"usmx::power_of<{t.cpp}, {whole}>({base.code})", pure=a.pure)
    return call("integer_power" if t.is_integer else "power", t, a, b)


def unary(sign: str, a: Number, *, grouped: bool, numba: bool = False) -> Number:
    """``-a``, ``+a``, ``~a``; ``grouped`` and ``numba`` as in `binary`."""
    wide = of_numba(sign, a.type) if numba and a.const is None else None
    if wide is not None:
        a = convert(a, wide)
    if sign == "~" and a.type.kind not in "iu" and a.type is not PYTHON_BOOL:
        hint = "; write `not`" if a.type.kind == "b" else ""
        raise TypeError(f"'~' takes an integer, not {v.describe(a)}{hint}")
    if a.const is not None:
        if a.type.kind == "b":
            a = v.constant(int(a.const.real))
        assert a.const is not None
        if sign == "-" and isinstance(a.const, int) and a.const > 2**63:
            raise TypeError(f"{-a.const} does not fit into 64 bits")
        fold: dict[str, Callable[[Any], Any]] = {
            "-": operator.neg,
            "+": operator.pos,
            "~": operator.invert,
        }
        return v.constant(fold[sign](a.const))
    t = INT if a.type.kind == "b" else a.type
    a = convert(a, t)
    if sign == "+":
        return a
    if grouped and sign == "-" and t.kind == "f":
        return call("negate", t, a)
    return _result(t, f"{sign}{a.at(v.ATOM)}", v.UNARY, a)


def compare(sign: str, a: Number, b: Number) -> Number:
    """``a sign b``, exact for integers of any two types."""
    if a.const is not None and b.const is not None:
        return convert(v.constant(bool(FOLD[sign](a.const, b.const))), truth_type(a.type, b.type))
    if (a.type.kind == "c" or b.type.kind == "c") and sign not in ("==", "!="):
        raise TypeError(f"'{sign}' is not defined for complex numbers")
    level = v.EQUAL if sign in ("==", "!=") else v.ORDER
    result = truth_type(a.type, b.type)
    known = _known_by_range(sign, a, b)
    if known is not None:
        return convert(v.constant(known), result)
    t = _comparison_type(a, b)
    if t is None:
        name = {"==": "equal", "!=": "not_equal", "<": "less", "<=": "less_equal"}.get(sign)
        if name is None:
            a, b = b, a
            name = "less" if sign == ">" else "less_equal"
        return Number(result, f"usmx::{name}({a.code}, {b.code})", pure=a.pure and b.pure)
    a, b = convert(a, t), convert(b, t)
    code = f"{a.at(level + 1)} {sign} {b.at(level + 1)}"
    return Number(result, code, level, pure=a.pure and b.pure)


def _known_by_range(sign: str, a: Number, b: Number) -> bool | None:
    """What a comparison with an int gives that the other type does not hold; None if it does."""
    for one, other in ((a, b), (b, a)):
        number = one.const
        if not isinstance(number, int) or other.type.kind not in "biu" or not other.pure:
            continue
        low, high = other.type.limits
        if not low <= number <= high and other.type.kind != "b":
            # All that the type holds lies on the same side of it, as 0 does.
            return bool(FOLD[sign](number, 0) if one is a else FOLD[sign](0, number))
    return None


def truth_type(*types: Scalar) -> Scalar:
    """The type of a comparison: a bool of Python's if all operands are numbers of Python's."""
    return PYTHON_BOOL if all(t.weak for t in types) else BOOL


def _comparison_type(a: Number, b: Number) -> Scalar | None:
    """The type in which two numbers are compared, None if no single one holds both."""
    if not (a.type.kind in "biu" and b.type.kind in "biu"):
        return promote(a.type, b.type)
    types = {a.type.cpp, b.type.cpp}
    if "uint64_t" not in types:
        # 64 bits hold all others; equal types need no widening.
        return a.type if len(types) == 1 else INT
    for one, other in ((a, b), (b, a)):
        if one.type.cpp == "uint64_t":
            small = other.const is not None and other.const.real >= 0
            if other.type.kind in "bu" or small:
                return one.type
    return None


def truth(a: Number) -> Number:
    """``bool(a)``."""
    if a.const is not None:
        return v.constant(bool(a.const))
    if a.type.kind == "b":
        return a
    if a.type.kind == "c":
        raise TypeError("a complex number is not a condition; compare it with 0")
    return Number(PYTHON_BOOL, f"{a.at(v.EQUAL + 1)} != 0", v.EQUAL, pure=a.pure)


def negation(a: Number) -> Number:
    """``not a``."""
    a = truth(a)
    if a.const is not None:
        return v.constant(not a.const)
    return Number(PYTHON_BOOL, f"!{a.at(v.UNARY)}", v.UNARY, pure=a.pure)


def both(sign: str, a: Number, b: Number) -> Number:
    """``a and b``, ``a or b`` of two bools."""
    level, known = (v.AND, False) if sign == "&&" else (v.OR, True)
    if a.const is not None:
        return a if bool(a.const) == known else b
    code = f"{a.at(level)} {sign} {b.at(level)}"
    return Number(promote(a.type, b.type), code, level, pure=a.pure and b.pure)


def choice(condition: Number, a: Number, b: Number) -> Number:
    """``a if condition else b``."""
    t = promote(a.type, b.type)
    a, b = checked(a, t), checked(b, t)
    code = f"{condition.at(v.CHOICE + 1)} ? {a.at(v.CHOICE + 1)} : {b.at(v.CHOICE)}"
    if t.is_narrow and t.kind != "b":
        code = f"{t.cpp}({code})"
        return Number(t, code, pure=condition.pure and a.pure and b.pure)
    return Number(t, code, v.CHOICE, pure=condition.pure and a.pure and b.pure)


def stored(value: Number, t: Scalar) -> Number:
    """The value on its way into an element of type ``t``: floats are cut off, integers wrap."""
    if value.type.kind == "c" and t.kind != "c":
        raise TypeError(f"a complex number does not fit into an element of {t}; take its .real")
    if value.const is not None and value.type.kind in "bi" and t.is_integer:
        return checked(replace(value, type=INT), t)
    return convert(value, t)
