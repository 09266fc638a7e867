"""Constant memory: tables that kernels read by their name."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from . import types
from .functions import Namespace
from .values import literal

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class ConstantArray:
    """A table of numbers that is compiled into the kernels that read it.

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
        Elements of a type that kernels do not have.
    """

    def __init__(self, values: npt.ArrayLike, dtype: Any = None) -> None:
        self._users: weakref.WeakSet[Any] = weakref.WeakSet()
        self._take(values, dtype)

    def _take(self, values: npt.ArrayLike, dtype: Any) -> None:
        import numpy as np

        name = getattr(dtype, "name", dtype)
        table = np.array(values, dtype=name, order="C")
        element = types.named(table.dtype)
        if element is None:
            raise TypeError(f"dtype: {table.dtype} is no type that kernels have")
        if table.ndim == 0 or table.size == 0:
            raise ValueError(f"values: shape {table.shape}; a table has elements")
        if table.nbytes > 65536:
            raise ValueError(
                f"values: {table.nbytes} bytes; constant memory holds 65536, pass larger arrays as "
                "arguments"
            )
        table.flags.writeable = False
        self.values: np.ndarray[Any, Any] = table
        self.element = element

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths."""
        return tuple(self.values.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the elements, as NumPy has it."""
        given: np.dtype[Any] = self.values.dtype
        return given

    def update(self, values: npt.ArrayLike) -> None:
        """Replace the elements. Kernels that read them are compiled again at their next launch.

        Parameters
        ----------
        values : array-like
            Of the same shape; converted to the same type.

        Raises
        ------
        ValueError
            Another shape.
        """
        import numpy as np

        table = np.asarray(values)
        if table.shape != self.shape:
            raise ValueError(f"values: shape {table.shape}, expected {self.shape}")
        self._take(table, self.values.dtype)
        for user in list(self._users):
            user._forget()

    def used_by(self, kernel: object) -> None:
        """Note a kernel that has to be compiled again after an update."""
        self._users.add(kernel)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        import numpy as np

        return np.array(self.values, dtype=dtype, copy=copy)

    def __getitem__(self, index: Any) -> Any:
        return self.values[index]

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"usmx.constant.array({self.values!r})"

    def declaration(self, name: str) -> str:
        """The table in C++."""

        def braces(part: Any) -> str:
            if part.ndim == 0:
                return literal(part.item(), self.element)
            return "{" + ", ".join(braces(one) for one in part) + "}"

        lengths = "".join(f"[{n}]" for n in self.shape)
        return f"constexpr {self.element.cpp} {name}{lengths} = {braces(self.values)};"


constant = Namespace("constant", "Tables that are compiled into kernels.", {"array": ConstantArray})
