"""Methods of arrays that NumPy has and that are not functions: ``x.flat``, ``x.tofile(name)``."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _usmx
from .._usmx import ndarray
from .methods import checked_self

if TYPE_CHECKING:
    from collections.abc import Iterator


class Flat:
    """The elements of an array in C order, in one dimension: read, written and iterated over."""

    def __init__(self, base: ndarray) -> None:
        self.base = base

    def __len__(self) -> int:
        return self.base.size

    def __iter__(self) -> Iterator[Any]:
        return iter(self.base.to_numpy().reshape(-1))

    def __getitem__(self, key: Any) -> ndarray:
        made: ndarray = self.base.reshape(-1)[key]
        return made.copy() if _usmx._shared_elements(made, self.base) != "none" else made

    def __setitem__(self, key: Any, value: Any) -> None:
        value = self._repeated(key, value)
        try:
            self.base.reshape(-1, copy=False)[key] = value
        except ValueError:
            if self.base.flags.c_contiguous:
                raise
            whole = self.base.copy("C")
            whole.reshape(-1, copy=False)[key] = value
            self.base[...] = whole

    def _repeated(self, key: Any, value: Any) -> Any:
        """Values for a slice, repeated or cut off, as NumPy's `flat` does."""
        if not isinstance(key, slice) or isinstance(value, (bool, int, float, complex)):
            return value
        from ._common import as_array
        from .arrangement import resize

        given, count = as_array(value, self.base).reshape(-1), len(range(*key.indices(len(self))))
        return given if given.size in (0, 1, count) else resize(given, count)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        made = self.base.to_numpy().reshape(-1)
        return made if dtype is None else made.astype(dtype)

    def copy(self) -> ndarray:
        """A copy of the elements in one dimension.

        Returns
        -------
        ndarray
            In C order.
        """
        return self.base.reshape(-1).copy()


def compress(
    a: ndarray, condition: Any, axis: int | None = None, out: ndarray | None = None
) -> ndarray:
    """The parts of the array along an axis where a condition is true; see `usmx.compress`.

    Parameters
    ----------
    a : ndarray
        The array.
    condition : array of bools
        In one dimension; parts behind its end are left out.
    axis : int, optional
        None takes the elements in one dimension.
    out : ndarray, optional
        Where the result is written.

    Returns
    -------
    ndarray
        As long along the axis as there are true conditions.
    """
    from .arrangement import compress as function

    return function(condition, a, axis, out)


def conjugate(a: ndarray, out: ndarray | None = None, **keywords: Any) -> ndarray:
    """The complex conjugates of the elements.

    Parameters
    ----------
    a : ndarray
        The array.
    out : ndarray, optional
        Where the result is written.
    **keywords : optional
        Those of `usmx.conjugate`, such as ``where``.

    Returns
    -------
    ndarray
        The array itself, if it is of real numbers.
    """
    from .elementwise import conjugate as function

    if out is None and not keywords and checked_self(a).dtype.kind in "biuf":
        return a
    made: ndarray = function(a, out=out, **keywords)
    return made


def dump(a: ndarray, file: Any) -> None:
    """Write a pickle of the array to a file.

    Parameters
    ----------
    a : ndarray
        The array.
    file : path or file
        A file is open for bytes.
    """
    import pickle
    from pathlib import Path

    if hasattr(file, "write"):
        pickle.dump(a, file)
    else:
        Path(file).write_bytes(pickle.dumps(a))


def dumps(a: ndarray) -> bytes:
    """A pickle of the array.

    Returns
    -------
    bytes
        What ``pickle.loads`` makes an array of, in memory of the same kind.
    """
    import pickle

    return pickle.dumps(a)


def setflags(
    a: ndarray, write: bool | None = None, align: bool | None = None, uic: bool | None = None
) -> None:
    """Set whether the array can be written; the other flags of NumPy cannot be set here.

    Parameters
    ----------
    a : ndarray
        The array.
    write : bool, optional
        False makes it read-only; None changes nothing.
    align, uic : bool, optional
        NumPy's; only False and None are taken.

    Raises
    ------
    ValueError
        `align` or `uic` is true.
    """
    if align or uic:
        raise ValueError("align, uic: cannot be set; only write is")
    if write is not None:
        a.flags.writeable = bool(write)


def tofile(a: ndarray, fid: Any, sep: str = "", format: str = "%s") -> None:
    """Write the elements in C order to a file, which does not say their type or shape.

    Parameters
    ----------
    a : ndarray
        The array.
    fid : path or file
        A file is open for bytes.
    sep : str
        Text between elements; an empty one writes bytes.
    format : str
        How an element is written as text.
    """
    a.to_numpy().tofile(fid, sep, format)
