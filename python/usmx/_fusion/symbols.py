"""What a function sees in place of its arguments while it is traced: values of a kernel to be.

NumPy hands its ufuncs and functions to objects with ``__array_ufunc__`` and ``__array_function__``.
What an operation is in C++, and of which type, `_usmx._CapturedFunction` knows, as for lazy arrays.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np

from .. import _usmx
from .._kernel.types.scalars import cpp
from .._operations import BY_NAME, OPERATIONS

#: What arrays have and elements do not.
_OF_ARRAYS = frozenset(
    [
        "T",
        "argmax",
        "argmin",
        "argsort",
        "cumprod",
        "cumsum",
        "dot",
        "flat",
        "flatten",
        "mT",
        "nbytes",
        "ndim",
        "nonzero",
        "ptp",
        "ravel",
        "repeat",
        "reshape",
        "shape",
        "size",
        "sort",
        "squeeze",
        "std",
        "strides",
        "swapaxes",
        "take",
        "tolist",
        "trace",
        "transpose",
        "var",
    ]
)
WEAK = {"i": int, "f": float, "c": complex}
NATURAL = {int: "q", float: "d", complex: "D"}


class Program:
    """What a function does.

    Parameters
    ----------
    functions : mapping
        NumPy's function -> what traces it, called with the program and the function's arguments.
    rounding : tuple of bool
        Whether a product and a sum may be rounded as one, and whether functions are the driver's.
    """

    def __init__(
        self, functions: Mapping[Any, Callable[..., Any]], rounding: tuple[bool, bool]
    ) -> None:
        self.functions = functions
        self.contract, self.driver_math = rounding
        self.captured = _usmx._CapturedFunction()
        #: The arrays among the arguments that got new values, by their numbers.
        self.written: dict[int, Symbol] = {}
        #: Pairs of arguments of which the second was used after the first got new values.
        self.after: set[tuple[int, int]] = set()

    def number(self, value: Any) -> Symbol:
        """A number of the function's."""
        return Symbol(self, self.captured.number(value))

    def apply(self, name: str, *operands: Symbol) -> Symbol:
        """What an operation gives, by its name in the table."""
        return Symbol(self, self.captured.apply(name, [one.value for one in operands]))


class SeveralKernels(TypeError):
    """What one kernel cannot compute, but arrays can: the function is run on those instead."""


def _no(what: str, instead: str) -> NoReturn:
    raise TypeError(f"a fused function is traced once, so it cannot {what}; {instead}")


def _needs_arrays(what: str) -> Callable[..., NoReturn]:
    def method(self: Symbol, *args: object, **kwargs: object) -> NoReturn:
        raise SeveralKernels(what)

    return method


def _refuse(what: str, instead: str) -> Callable[..., NoReturn]:
    def method(self: Symbol, *args: object, **kwargs: object) -> NoReturn:
        _no(what, instead)

    return method


def _binary(ufunc: str, swapped: bool = False) -> Callable[[Symbol, Any], Any]:
    def method(self: Symbol, other: Any) -> Any:
        a, b = (other, self) if swapped else (self, other)
        return operate(self.program, ufunc, a, b)

    return method


def _reduction(name: str) -> Callable[..., Any]:
    def method(self: Symbol, axis: Any = None, **kwargs: Any) -> Any:
        return getattr(np, name)(self, axis, **kwargs)

    return method


def _in_place(operator: str) -> Callable[[Symbol, Any], Any]:
    def method(self: Symbol, other: Any) -> Any:
        if not self.mutable:
            return NotImplemented  # a number: the name gets another one, as in Python
        return self.update(getattr(self, operator)(other), operator.strip("_"))

    return method


def _is_whole(index: Any) -> bool:
    """``x[...]``, ``x[:]``: all elements."""
    if isinstance(index, tuple):
        return bool(index) and all(map(_is_whole, index))
    return index is ... or (isinstance(index, slice) and index == slice(None))


def _unary(ufunc: str) -> Callable[[Symbol], Any]:
    def method(self: Symbol) -> Any:
        return operate(self.program, ufunc, self)

    return method


class Symbol:
    """A value inside of a fused function.

    Attributes
    ----------
    dtype : numpy.dtype
        Its type, or the one that a Python number has by itself.
    weak : bool
        It is a Python number: an argument, or computed from such ones by operators alone.
    mutable : bool
        It is an array, which in-place operations change, and not a number.
    argument : int or None
        It is the argument of that number: what changes it changes the array that was passed.
    """

    __slots__ = ("_value", "argument", "dtype", "mutable", "program", "weak")
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        program: Program,
        value: int,
        *,
        mutable: bool = True,
        argument: int | None = None,
    ) -> None:
        self.program = program
        self._value = value
        self.dtype: np.dtype[Any] = program.captured.dtype(value)
        self.weak = program.captured.is_weak(value)
        self.mutable = mutable and not self.weak
        self.argument = argument

    @property
    def value(self) -> int:
        """The value that it has now, among those of the program."""
        self._note_use()
        return self._value

    def _note_use(self) -> None:
        if self.argument is not None:
            written = self.program.written
            self.program.after |= {(w, self.argument) for w in written if w != self.argument}

    def update(self, value: Any, what: str, casting: Any = "same_kind") -> Symbol:
        """Change the array in place, as NumPy does: its type stays, and all its names see it."""
        if not self.mutable:
            raise TypeError(f"{what}: a number cannot be changed in place")
        new = constant(self.program, value)
        given = type_of(new)
        if not np.can_cast(np.dtype(given) if new.weak else given, self.dtype, casting) and not (
            new.weak and np.can_cast(np.result_type(self.dtype, given(0)), self.dtype, casting)
        ):
            raise TypeError(
                f"{what}: cannot cast {new.dtype} to {self.dtype}, the type of the array that is "
                f"changed, with casting rule '{casting}'; use astype()"
            )
        self.change(cast(self.program, value, self.dtype).value)
        return self

    def change(self, value: int) -> None:
        """Give it a value of its type."""
        self._value = value
        self._note_use()
        if self.argument is not None:
            self.program.written[self.argument] = self

    def copy(self, order: str = "K") -> Symbol:
        """The same values, which in-place operations change for themselves."""
        return Symbol(self.program, self.value)

    def fill(self, value: Any) -> None:
        """Give all elements one value."""
        self.update(value, "fill", "unsafe")

    def __repr__(self) -> str:
        return f"<value of {self.dtype} in a fused function>"

    # --- what NumPy asks ---

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__":
            raise SeveralKernels(f"np.{ufunc.__name__}.{method} cannot be fused")
        function = self.program.functions.get(ufunc)
        if function is not None and not kwargs:
            return function(self.program, *inputs)
        dtype = kwargs.pop("dtype", None)
        casting = kwargs.pop("casting", "same_kind")
        out = kwargs.pop("out", (None,))
        if kwargs:
            word = next(iter(kwargs))
            raise TypeError(
                f"np.{ufunc.__name__}: {word}= cannot be fused; "
                + ("use np.where" if word == "where" else "leave it out")
            )
        result = apply(self.program, ufunc, inputs, dtype)
        return write(result, out[0], f"np.{ufunc.__name__}", casting)

    def __usmx_operation__(self, name: str, operands: Any, out: Any, dtype: Any) -> Any:
        """A function of `usmx` or `usmx.special` of values."""
        made = apply(self.program, name, operands, dtype)
        return write(made, out, f"usmx.{name}")

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        functions = self.program.functions
        if function not in functions:
            raise SeveralKernels(f"np.{function.__name__} takes elements from other places")
        return functions[function](self.program, *args, **kwargs)

    # --- what arrays have ---

    def astype(self, dtype: Any, copy: bool = True) -> Symbol:
        """The value in another type; a float becomes an integer by cutting off its fraction."""
        if not copy and np.dtype(dtype) == self.dtype and not self.weak:
            return self
        made = cast(self.program, self, np.dtype(dtype))
        made.mutable = self.mutable
        return made

    @property
    def real(self) -> Any:
        """The real part, of real numbers themselves; what changes it changes the whole."""
        return Part(self, "real") if self.dtype.kind == "c" else self

    @real.setter
    def real(self, value: Any) -> None:
        part = self.real
        if value is not part:
            part.update(value, "real", "unsafe")

    @property
    def imag(self) -> Any:
        """The imaginary part; zero for real numbers."""
        if self.dtype.kind != "c":
            return self.program.number(self.dtype.type(0))
        return Part(self, "imag")

    @imag.setter
    def imag(self, value: Any) -> None:
        if self.dtype.kind != "c":
            raise TypeError("imag: the numbers are real")
        self.imag.update(value, "imag", "unsafe")

    def conj(self) -> Any:
        """The complex conjugate."""
        return operate(self.program, "conjugate", self)

    conjugate = conj

    def clip(self, min: Any = None, max: Any = None, out: Any = None) -> Any:
        """Between two bounds, each of which may be None."""
        return np.clip(self, min, max, out=out)

    def round(self, decimals: int = 0, out: Any = None) -> Any:
        """To the nearest even number of so many decimals."""
        return np.round(self, decimals, out=out)

    def __getattr__(self, name: str) -> Any:
        if name in _OF_ARRAYS:
            raise SeveralKernels(f".{name} is not an attribute of one element")
        raise AttributeError(f"a value of a fused function has no attribute {name!r}")

    # --- operators: the others are rows of the table, see the end of this file ---

    def __divmod__(self, other: Any) -> Any:
        return np.divmod(self, other)

    def __rdivmod__(self, other: Any) -> Any:
        return np.divmod(other, self)

    def __matmul__(self, other: Any) -> NoReturn:
        raise SeveralKernels("a product of matrices takes elements from other places")

    __rmatmul__ = __matmul__

    def __pow__(self, other: Any) -> Any:
        # As ndarray does: exact, and quicker.
        if type(other) in (int, float) and not self.weak:
            if other == 2 and (type(other) is int or self.dtype.kind in "fc"):
                return operate(self.program, "square", self)
            if self.dtype.kind in "fc" and other in (0.5, -1):
                return operate(self.program, "sqrt" if other == 0.5 else "reciprocal", self)
        return operate(self.program, "power", self, other)

    __bool__ = _refuse(
        "decide by the value of an element",
        "use np.where(condition, a, b) instead of if, & and | instead of and, or and chains",
    )
    __int__ = __index__ = _refuse("make a Python int of an element", "use astype(int)")
    __float__ = _refuse("make a Python float of an element", "use astype(float)")
    __complex__ = _refuse("make a Python complex of an element", "use astype(complex)")
    __array__ = _needs_arrays("functions of whole arrays take elements from other places")
    __len__ = _needs_arrays("the length of an array is not known to one element")
    __iter__ = _needs_arrays("iterating takes elements from other places")

    def __getitem__(self, index: Any) -> Any:
        if _is_whole(index) and self.mutable:
            return self
        raise SeveralKernels("an index takes elements from other places")

    def __setitem__(self, index: Any, value: Any) -> None:
        if not _is_whole(index) or not self.mutable:
            raise SeveralKernels("an index takes elements from other places")
        if value is not self:
            self.update(value, "x[...] =", "unsafe")


class Part(Symbol):
    """The real or imaginary part of complex numbers: a view, as NumPy's is."""

    __slots__ = ("base", "which")

    def __init__(self, base: Symbol, which: str) -> None:
        self.base = base
        self.which = which
        super().__init__(base.program, self.value, mutable=base.mutable)

    @property
    def value(self) -> int:
        """The value that it has now."""
        program = self.base.program
        return program.captured.apply(self.which, [self.base.value])

    def change(self, value: int) -> None:
        """Give the whole number another part."""
        captured, whole = self.base.program.captured, self.base.value
        parts = [
            value if which == self.which else captured.apply(which, [whole])
            for which in ("real", "imag")
        ]
        self.base.change(captured.apply("complex", parts))


def write(result: Any, out: Any, what: str, casting: Any = "same_kind") -> Any:
    """A result, or the array that ``out=`` says to put it into."""
    if out is None:
        return result
    if not isinstance(out, Symbol):
        raise TypeError(
            f"{what}: out= is of type {type(out).__name__}, expected an argument of the fused "
            "function or an array computed in it"
        )
    return out.update(result, what, casting)


def constant(program: Program, value: Any) -> Symbol:
    """A number that the function itself has.

    Raises
    ------
    TypeError
        If it is not a number: an array must be an argument.
    """
    if isinstance(value, Symbol):
        if value.program is not program:
            raise TypeError("a value of another fused function; call that function instead")
        return value
    if type(value) in (bool, *NATURAL) or isinstance(value, np.generic):
        if isinstance(value, np.generic):
            cpp(value.dtype)  # TypeError for what no device has
        return program.number(value)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return program.number(value[()])
    if hasattr(value, "refuse"):
        value.refuse()  # what a reduction gives
    raise TypeError(
        f"a fused function computes with its arguments and with numbers, not with "
        f"{type(value).__name__}; pass it as an argument"
    )


def cast(program: Program, value: Any, dtype: np.dtype[Any]) -> Symbol:
    """A symbol or a number in a type; Python numbers must fit into it, as in NumPy."""
    cpp(dtype)
    if type(value) in NATURAL:
        return program.number(dtype.type(value))  # NumPy refuses what does not fit
    return Symbol(program, program.captured.cast(constant(program, value).value, dtype))


def type_of(value: Any) -> Any:
    """What ``resolve_dtypes`` takes for an operand: a dtype, or int, float, complex if weak."""
    if isinstance(value, Symbol):
        return (
            WEAK.get(value.dtype.kind.replace("u", "i"), value.dtype) if value.weak else value.dtype
        )
    if type(value) in NATURAL:
        return type(value)
    return np.asarray(value).dtype


def resolved(ufunc: Any, values: tuple[Any, ...], dtype: Any = None) -> tuple[Any, ...]:
    """The types that NumPy computes a ufunc in, where the table does not say them."""
    given = [type_of(value) for value in values]
    if all(isinstance(t, type) for t in given):
        given = [np.dtype(NATURAL[t]) for t in given]
    nones = (None,) * ufunc.nin
    how = {} if dtype is None else {"signature": (*nones, np.dtype(dtype))}
    types: tuple[Any, ...] = ufunc.resolve_dtypes((*given, *[None] * ufunc.nout), **how)
    return types


#: What Python does with bools as such; everything else it does with the ints that they are.
_OF_BOOLS = frozenset(
    [
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "equal",
        "not_equal",
        "less",
        "less_equal",
        "greater",
        "greater_equal",
    ]
)


def _as_int(program: Program, value: Any) -> Any:
    """A bool of Python's, or one that was computed of its numbers alone, as the int that it is."""
    if type(value) is bool:
        return int(value)
    if isinstance(value, Symbol) and value.dtype.kind == "b":
        return _weak(cast(program, value, np.dtype("q")))
    return value


def _weak(value: Symbol) -> Symbol:
    """The value as one that was computed of Python's numbers alone."""
    return Symbol(value.program, value.program.captured.same(value.value, True))


def operate(program: Program, name: str, *operands: Any) -> Any:
    """What an operator does. Of Python numbers alone it makes one: a weak one."""
    weak = all(o.weak if isinstance(o, Symbol) else type(o) in (bool, *NATURAL) for o in operands)
    if weak and name not in _OF_BOOLS:
        operands = tuple(_as_int(program, o) for o in operands)
    result = apply(program, getattr(np, name), operands, None)
    if isinstance(result, Symbol):
        # What is computed of numbers alone is one.
        result.mutable = any(isinstance(o, Symbol) and o.mutable for o in operands)
        if weak:
            return _weak(result)
    return result


#: Of integers they are right for all of Python's, also for those that the type does not hold.
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}


def is_wide(value: Any) -> bool:
    """A Python int that 64 bits do not hold."""
    return type(value) is int and not -(1 << 63) <= value < 1 << 64


def _narrowed(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Ints that 64 bits do not hold as the floats that they become next to floats."""
    if any(map(is_wide, inputs)) and any(
        isinstance(o, Symbol) and o.dtype.kind in "fc" for o in inputs
    ):
        return tuple(float(o) if is_wide(o) else o for o in inputs)
    return inputs


def _compared(program: Program, name: str, a: Any, b: Any) -> Symbol | None:
    """A comparison of integers with an int that 64 bits do not hold; None for other operands."""
    for symbol, number in ((a, b), (b, a)):
        if is_wide(number) and isinstance(symbol, Symbol) and symbol.dtype.kind in "biu":
            # All integers of 64 bits lie on the same side of it, as 0 does.
            compare = _COMPARISONS[name]
            return program.number(compare(0, number) if symbol is a else compare(number, 0))
    return None


def apply(program: Program, ufunc: Any, inputs: tuple[Any, ...], dtype: Any) -> Any:
    """One ufunc, or the name of an operation."""
    name = ufunc if isinstance(ufunc, str) else ufunc.__name__
    if isinstance(ufunc, str):
        of_numpy = getattr(np, name, None)
        if of_numpy in program.functions:
            made = program.functions[of_numpy](program, *inputs)
            return made if dtype is None else made.astype(dtype)
        ufunc = of_numpy if isinstance(of_numpy, np.ufunc) else None
    inputs = _narrowed(inputs)
    if name in _COMPARISONS and dtype is None:
        known = _compared(program, name, *inputs)
        if known is not None:
            return known
    row = BY_NAME.get(name)
    if row is None or not row.texts:
        raise SeveralKernels(f"np.{name} cannot be fused")
    operands = [constant(program, value) for value in inputs]
    if dtype is not None and ufunc is not None:
        types = resolved(ufunc, inputs, dtype)
        operands = [cast(program, one, t) for one, t in zip(operands, types, strict=False)]
    result = program.apply(name, *operands)
    return result if ufunc is not None or dtype is None else result.astype(dtype)


def _give_operators() -> None:
    """Give values the operators of the table: ``a + b``, ``b + a`` for others' `b`, ``a += b``.

    And the reductions, as methods.
    """
    for name in ("sum", "prod", "min", "max", "mean", "any", "all"):
        setattr(Symbol, name, _reduction(name))
    for row in OPERATIONS:
        if not row.method:
            continue
        if row.arity == 1:
            setattr(Symbol, f"__{row.method}__", _unary(row.name))
            continue
        if f"__{row.method}__" not in vars(Symbol) or row.result == "bool":
            setattr(Symbol, f"__{row.method}__", _binary(row.name))
        if row.result != "bool":
            setattr(Symbol, f"__r{row.method}__", _binary(row.name, True))
            setattr(Symbol, f"__i{row.method}__", _in_place(f"__{row.method}__"))


_give_operators()
