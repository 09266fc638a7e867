"""Constant memory: tables that kernels read by their name.

The values stand in a kernel's text until they are updated for the first time; from then on kernels
get them as an argument that launches add.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import _usmx
from ..types import scalars
from ..types.values import literal
from .functions import Namespace

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class ConstantArray:
    """A table of numbers that kernels read by its name.

    Made by ``usmx.constant.array(values)``. Outside of kernels it is a read-only NumPy array.

    Parameters
    ----------
    values : array-like
        Its elements, copied; any shape but an empty one, at most 64 KiB.
    dtype : dtype-like, optional
        Their type; that of the values if not given.

    Raises
    ------
    ValueError
        No elements, or too many.
    TypeError
        Elements of a type that is not supported in kernels.
    """

    def __init__(self, values: npt.ArrayLike, dtype: Any = None) -> None:
        import numpy as np

        table = np.array(values, dtype=getattr(dtype, "name", dtype), order="C")
        element = scalars.named(table.dtype)
        if element is None:
            raise TypeError(f"dtype: {table.dtype} is not supported in kernels")
        if table.ndim == 0 or table.size == 0:
            raise ValueError(
                f"values: shape {table.shape} has no axis or no elements; a table needs both"
            )
        if table.nbytes > 65536:
            raise ValueError(
                f"values: {table.nbytes} bytes; at most 65536 are supported in constant memory; "
                "pass larger arrays as arguments"
            )
        table.flags.writeable = False
        self.values: np.ndarray[Any, Any] = table
        self.element = element
        self.table: _usmx._ConstantTable = _usmx._ConstantTable()

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths."""
        return tuple(self.values.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the elements, as NumPy has it."""
        given: np.dtype[Any] = self.values.dtype
        return given

    @property
    def is_updated(self) -> bool:
        """Whether kernels take the values as an argument instead of having them in their text."""
        return self.table.is_updated

    def update(self, values: npt.ArrayLike) -> None:
        """Replace the elements for all launches that follow.

        What was launched before computes with what it had, and nothing waits. The first update of
        a table makes the kernels that read it anew; each later one costs a copy to the device.

        Parameters
        ----------
        values : array-like
            Of the same shape, and of a type that becomes the table's without losing its kind: ints
            become floats, floats become no ints.

        Raises
        ------
        ValueError
            Another shape, or a number that the type does not hold.
        TypeError
            Values of a type that the table's cannot stand for.
        """
        import numpy as np

        given = np.asarray(values)
        if given.shape != self.shape:
            raise ValueError(f"values: shape {given.shape}; expected {self.shape}")
        # Python's ints have no sign of their own: they go where they fit.
        weak = given.dtype.kind in "iu" and not hasattr(values, "dtype")
        if not np.can_cast("u1" if weak else given.dtype, self.dtype, "same_kind"):
            raise TypeError(f"values: dtype {given.dtype} is not of the same kind as {self.dtype}")
        try:
            table = np.array(values, dtype=self.dtype, order="C")
        except OverflowError as error:
            raise ValueError(f"values: {error}") from None
        table.flags.writeable = False
        # In this order: what is made while this runs is either given the values or made again.
        self.table.update(table)
        self.values = table

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        import numpy as np

        return np.array(self.values, dtype=dtype, copy=copy)

    def __getitem__(self, index: Any) -> Any:
        return self.values[index]

    def __reduce__(self) -> tuple[Any, ...]:
        return ConstantArray, (self.values,)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"usmx.constant.array({self.values!r})"

    @property
    def lengths(self) -> str:
        """The shape in C++."""
        return "".join(f"[{n}]" for n in self.shape)

    def declaration(self, name: str) -> str:
        """The table in C++, with its values."""
        values = self._in_braces(self.values)
        return f"constexpr {self.element.cpp} {name}{self.lengths} = {values};"

    def _in_braces(self, part: Any) -> str:
        if part.ndim == 0:
            return literal(part.item(), self.element)
        return "{" + ", ".join(map(self._in_braces, part)) + "}"


constant: Namespace = Namespace("constant", "Tables that kernels read.", {"array": ConstantArray})
