"""The element types of the standard, their limits, and how they meet."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass
from math import e, inf, nan, pi
from typing import TYPE_CHECKING, Any

import numpy as np

from .._usmx import bfloat16, ndarray
from .._usmx import bool_ as bool
from .._usmx import dtype as own_dtype
from ._common import as_array
from ._types import is_bfloat16, to_type

if TYPE_CHECKING:
    import builtins

    from ..typing import ArrayLike, DeviceLike, DTypeLike

__all__ = [
    "astype",
    "bool",
    "can_cast",
    "common_type",
    "e",
    "finfo",
    "iinfo",
    "inf",
    "isdtype",
    "min_scalar_type",
    "nan",
    "newaxis",
    "pi",
    "promote_types",
    "result_type",
]

newaxis = None

#: Names of the standard -> kinds of `isdtype` that they belong to.
KINDS = {
    "bool": ("bool",),
    **{f"int{n}": ("signed integer", "integral", "numeric") for n in (8, 16, 32, 64)},
    **{f"uint{n}": ("unsigned integer", "integral", "numeric") for n in (8, 16, 32, 64)},
    **{f"float{n}": ("real floating", "numeric") for n in (16, 32, 64)},
    **{f"complex{n}": ("complex floating", "numeric") for n in (64, 128)},
}
KIND_NAMES = (
    "bool",
    "signed integer",
    "unsigned integer",
    "integral",
    "real floating",
    "complex floating",
    "numeric",
)


def to_dtype(given: Any, name: str = "dtype") -> Any:
    """An element type of ours, of NumPy, or that of an array: NumPy's, or `usmx.bfloat16`."""
    try:
        if isinstance(given, (type, own_dtype)):
            return to_type(given)
        return to_type(getattr(given, "dtype", given))
    except TypeError:
        raise TypeError(f"{name}: {given!r} is not an element type") from None


def astype(
    x: ArrayLike, dtype: DTypeLike, /, *, copy: builtins.bool = True, device: DeviceLike = None
) -> ndarray:
    """A copy with another element type, cast as NumPy's 'unsafe' casting does.

    Parameters
    ----------
    x : array
        Any shape.
    dtype : dtype
        The element type.
    copy : bool
        False gives the array itself if type and device are the same.
    device : str, Device or Queue, optional
        Where the result lives.

    Returns
    -------
    ndarray
        Of the shape of `x`.

    Examples
    --------
    >>> import usmx
    >>> usmx.astype(usmx.asarray([1.9]), "int32").item()
    1
    """
    result = as_array(x).astype(dtype, copy=copy)
    return result if device is None else result.to_device(device)


def can_cast(from_: Any, to: DTypeLike, casting: str = "safe") -> builtins.bool:
    """Whether elements of a type, or of an array, are cast to another without loss.

    Parameters
    ----------
    from_ : dtype or array
        Python's numbers have no type: TypeError.
    to : dtype
        The element type.
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}
        What is allowed.

    Returns
    -------
    bool

    Raises
    ------
    TypeError
        `from_` is a number of Python.

    Examples
    --------
    >>> import usmx
    >>> usmx.can_cast("int32", "int64")
    True
    """
    given: Any = casting
    one, other = to_dtype(from_, "from_"), to_dtype(to, "to")
    if is_bfloat16(one) or is_bfloat16(other):
        return _can_cast_bfloat16(one, other, casting)
    return np.can_cast(one, other, casting=given)


def _can_cast_bfloat16(one: Any, other: Any, casting: str) -> builtins.bool:
    """float32 and longer types hold it, and it holds bools and integers of 8 bits."""
    if (is_bfloat16(one) and is_bfloat16(other)) or casting == "unsafe":
        return True
    if casting in ("no", "equiv"):
        return False
    if casting not in ("safe", "same_kind"):
        return np.can_cast("f", "f", casting=casting)  # type: ignore[arg-type]  # its error
    if casting == "same_kind":
        like_one, like_other = ("e" if is_bfloat16(t) else t for t in (one, other))
        return np.can_cast(like_one, like_other, "same_kind")
    if is_bfloat16(other):
        return one.char in "?bB"
    return other.char in "fdFD"


def result_type(*arrays_and_dtypes: Any) -> Any:
    """The element type in which arrays, types and Python's numbers meet.

    Python's numbers only make a type of a higher kind: ``result_type(int8, 1.5)`` is float64, and
    ``result_type(float32, 1.5)`` is float32.

    Parameters
    ----------
    *arrays_and_dtypes : array, dtype or number
        At least one.

    Returns
    -------
    dtype

    Raises
    ------
    ValueError
        No arguments.

    Examples
    --------
    >>> import usmx
    >>> usmx.result_type(usmx.ones(2, "float32"), 3)
    dtype('float32')
    """
    if not arrays_and_dtypes:
        raise ValueError("arrays_and_dtypes: is empty; expected at least one")
    types = {one.dtype for one in arrays_and_dtypes if isinstance(one, ndarray)}
    if len(types) == 1 and all(isinstance(one, ndarray) for one in arrays_and_dtypes):
        return types.pop()
    weak = (int, float, complex)
    given = [
        one
        if isinstance(one, weak) and not isinstance(one, np.generic)
        else to_dtype(one, "arrays_and_dtypes")
        for one in arrays_and_dtypes
    ]
    if any(is_bfloat16(one) for one in given):
        return _meeting_bfloat16(given)
    return np.result_type(*given)


def _meeting_bfloat16(given: list[Any]) -> Any:
    """The type in which bfloat16 and others meet, as PyTorch has it."""
    strong = [one for one in given if not isinstance(one, (int, float, complex))]
    floats = [one for one in strong if not is_bfloat16(one) and one.kind in "fc"]
    if floats:  # all are at least float32 with it
        rest = [one for one in given if not is_bfloat16(one)]
        return np.result_type(np.dtype("f"), *rest)
    return np.dtype("F") if any(isinstance(one, complex) for one in given) else bfloat16


def promote_types(type1: DTypeLike, type2: DTypeLike, /) -> Any:
    """The element type in which two types meet.

    Parameters
    ----------
    type1, type2 : dtype
        Types of elements, or their names.

    Returns
    -------
    dtype

    Examples
    --------
    >>> import usmx
    >>> usmx.promote_types("int32", "float32")
    dtype('float64')
    """
    return result_type(to_dtype(type1, "type1"), to_dtype(type2, "type2"))


def isdtype(dtype: DTypeLike, kind: Any) -> builtins.bool:
    """Whether a type is of a kind.

    Parameters
    ----------
    dtype : dtype
        The type.
    kind : str, dtype or tuple of those
        'bool', 'signed integer', 'unsigned integer', 'integral', 'real floating', 'complex
        floating', 'numeric', or a type, which must be the same.

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        There is no such kind.

    Examples
    --------
    >>> import usmx
    >>> usmx.isdtype(usmx.dtype("float32"), "real floating")
    True
    """
    given = to_dtype(dtype)
    if isinstance(kind, tuple):
        return any([isdtype(given, one) for one in kind])
    if isinstance(kind, str) and kind not in KINDS:
        if kind not in KIND_NAMES:
            raise ValueError(f"kind: {kind!r}; expected one of {', '.join(KIND_NAMES)}")
        return kind in KINDS.get("float16" if is_bfloat16(given) else given.name, ())
    other = to_dtype(kind, "kind")
    return is_bfloat16(given) == is_bfloat16(other) and given == other


@dataclass(frozen=True)
class FloatInfo:
    """Limits of a type of floating-point numbers: of the parts, for complex numbers."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: Any
    smallest_subnormal: float
    resolution: float
    precision: int
    epsneg: float
    machep: int
    negep: int
    minexp: int
    maxexp: int
    nexp: int
    iexp: int
    nmant: int

    @property
    def tiny(self) -> float:
        """As `smallest_normal`."""
        return self.smallest_normal


@dataclass(frozen=True)
class IntegerInfo:
    """Limits of a type of integers."""

    bits: int
    max: int
    min: int
    dtype: Any

    @property
    def kind(self) -> str:
        """``"i"``, or ``"u"`` if there are no negative ones."""
        return str(self.dtype.kind)


def finfo(dtype: Any) -> FloatInfo:
    """Limits of a type of floating-point or complex numbers, or of that of an array.

    Parameters
    ----------
    dtype : dtype or array
        Of complex numbers, the limits are those of their parts.

    Returns
    -------
    FloatInfo
        ``bits``, ``eps``, ``max``, ``min``, ``smallest_normal`` and the other attributes of
        NumPy's, as numbers of Python.

    Raises
    ------
    TypeError
        It is another type.

    Examples
    --------
    >>> import usmx
    >>> usmx.finfo("float32").bits
    32
    """
    given = to_dtype(dtype, "dtype")
    if given.kind not in "fc":
        raise TypeError(f"dtype: {given.name}; expected floating-point or complex numbers")
    if is_bfloat16(given):
        largest = 2.0**128 - 2.0**120
        return FloatInfo(
            bits=16,
            eps=2.0**-7,
            max=largest,
            min=-largest,
            smallest_normal=2.0**-126,
            dtype=bfloat16,
            smallest_subnormal=2.0**-133,
            resolution=0.01,
            precision=2,
            epsneg=2.0**-8,
            machep=-7,
            negep=-8,
            minexp=-126,
            maxexp=128,
            nexp=8,
            iexp=8,
            nmant=7,
        )
    found = np.finfo(given)
    numbers = ("eps", "max", "min", "smallest_normal", "smallest_subnormal", "resolution", "epsneg")
    counts = ("bits", "precision", "machep", "negep", "minexp", "maxexp", "nexp", "iexp", "nmant")
    values: dict[str, Any] = {name: float(getattr(found, name)) for name in numbers}
    values.update({name: int(getattr(found, name)) for name in counts})
    return FloatInfo(dtype=found.dtype, **values)


def iinfo(int_type: Any) -> IntegerInfo:
    """Limits of a type of integers, or of that of an array.

    Parameters
    ----------
    int_type : dtype or array
        A type of integers.

    Returns
    -------
    IntegerInfo
        ``bits``, ``max``, ``min`` and ``dtype``.

    Raises
    ------
    TypeError
        It is another type.

    Examples
    --------
    >>> import usmx
    >>> usmx.iinfo("int16").max
    32767
    """
    given = to_dtype(int_type, "int_type")
    if given.kind not in "iu":
        raise TypeError(f"int_type: {given.name}; expected integers")
    found = np.iinfo(given)
    return IntegerInfo(bits=found.bits, max=int(found.max), min=int(found.min), dtype=given)


def common_type(*arrays: Any) -> Any:
    """The smallest type of floats or complex numbers that holds the elements of all arrays.

    Integers count as float64.

    Parameters
    ----------
    *arrays : array
        Of any shapes.

    Returns
    -------
    dtype

    Raises
    ------
    TypeError
        An array of bools, or of records.

    Examples
    --------
    >>> import usmx
    >>> usmx.common_type(usmx.ones(2, "float32"), usmx.ones(2, "int32"))
    usmx.dtype('float64')
    """
    kinds = [as_array(x).dtype for x in arrays]
    for one in kinds:
        if one.kind not in "iufc":
            raise TypeError(f"arrays: one has elements of {one}; expected numbers")
    # NumPy's own rule, of arrays without elements.
    return own_dtype(np.common_type(*(np.empty(0, str(one)) for one in kinds)))


def min_scalar_type(a: Any, /) -> Any:
    """The smallest type that holds a number; of an array with dimensions its own type.

    Parameters
    ----------
    a : number or array
        An array without dimensions counts as its number.

    Returns
    -------
    dtype

    Examples
    --------
    >>> import usmx
    >>> usmx.min_scalar_type(300)
    usmx.dtype('uint16')
    """
    if isinstance(a, ndarray):
        if a.ndim or a.dtype.kind not in "biufc" or str(a.dtype) == "bfloat16":
            return a.dtype
        a = a.item()  # as NumPy: the number itself
    return own_dtype(np.min_scalar_type(a))
