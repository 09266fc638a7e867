"""How functions of the table of operations are called, for type checkers and completion alone.

`elementwise` and `special` say of each function which of these it is. At run time all of them are
`usmx._usmx.Operation`; a test compares these signatures with those that `inspect` shows.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Literal, TypeAlias, overload

from .._usmx import Operation, ndarray
from ..typing import ArrayOrNumber, DTypeLike, OrderLike

Out: TypeAlias = ndarray | tuple[ndarray] | None
Casting: TypeAlias = Literal["no", "equiv", "safe", "same_kind", "unsafe"]
Types: TypeAlias = str | tuple[DTypeLike, ...] | None

_ONLY_TYPES = "self: an object of a class for type checkers; expected a function such as usmx.add"


class UnaryOperation(Operation):
    """A function of one operand."""

    def __call__(  # type: ignore[override]
        self,
        x: ArrayOrNumber,
        /,
        out: Out = None,
        *,
        where: ArrayOrNumber = True,
        casting: Casting = "same_kind",
        order: OrderLike = "K",
        dtype: DTypeLike = None,
        subok: bool = True,
        signature: Types = None,
    ) -> ndarray:
        """Compute it."""
        raise TypeError(_ONLY_TYPES)


class BinaryOperation(Operation):
    """A function of two operands."""

    def __call__(  # type: ignore[override]
        self,
        x1: ArrayOrNumber,
        x2: ArrayOrNumber,
        /,
        out: Out = None,
        *,
        where: ArrayOrNumber = True,
        casting: Casting = "same_kind",
        order: OrderLike = "K",
        dtype: DTypeLike = None,
        subok: bool = True,
        signature: Types = None,
    ) -> ndarray:
        """Compute it."""
        raise TypeError(_ONLY_TYPES)


class Choice(Operation):
    """`where`: of a condition alone the indices where it is true."""

    @overload  # type: ignore[override]
    def __call__(self, condition: ArrayOrNumber, /) -> tuple[ndarray, ...]: ...
    @overload
    def __call__(
        self,
        condition: ArrayOrNumber,
        x1: ArrayOrNumber,
        x2: ArrayOrNumber,
        /,
        out: Out = None,
        *,
        dtype: DTypeLike = None,
    ) -> ndarray: ...
    def __call__(self, *args: object, **keywords: object) -> object:
        """Compute it."""
        raise TypeError(_ONLY_TYPES)


class AngleOperation(Operation):
    """`angle`, which has names of its own in NumPy."""

    def __call__(  # type: ignore[override]
        self,
        z: ArrayOrNumber,
        deg: bool = False,
        *,
        out: Out = None,
        where: ArrayOrNumber = True,
        casting: Casting = "same_kind",
        order: OrderLike = "K",
        dtype: DTypeLike = None,
        subok: bool = True,
        signature: Types = None,
    ) -> ndarray:
        """Compute it."""
        raise TypeError(_ONLY_TYPES)


class PartOperation(Operation):
    """`real` and `imag`, which have names of their own in NumPy."""

    def __call__(  # type: ignore[override]
        self,
        val: ArrayOrNumber,
        *,
        out: Out = None,
        where: ArrayOrNumber = True,
        casting: Casting = "same_kind",
        order: OrderLike = "K",
        dtype: DTypeLike = None,
        subok: bool = True,
        signature: Types = None,
    ) -> ndarray:
        """Compute it."""
        raise TypeError(_ONLY_TYPES)
