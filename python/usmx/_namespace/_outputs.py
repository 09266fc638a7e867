"""Results in arrays and types that the caller names: the one place that decides what is cast."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

from .._usmx import ndarray
from .data_types import can_cast

#: NumPy's rules of what may be cast, from the strictest.
CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")


def check_cast(from_: Any, to: Any, casting: str, what: str) -> None:
    """Refuse a cast that NumPy's rule does not allow: all that write into a named type ask here.

    Parameters
    ----------
    from_, to : dtype
        The type of the values, and that which they are written as.
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}
        The rule.
    what : str
        The argument that names the type `to`, for the message.

    Raises
    ------
    TypeError
        The rule does not allow it.
    ValueError
        There is no such rule.
    """
    if casting == "unsafe" or (from_ == to and casting in CASTINGS):
        return
    if casting not in CASTINGS:
        raise ValueError(f"casting: {casting!r}; expected {', '.join(map(repr, CASTINGS))}")
    if not can_cast(from_, to, casting):
        raise TypeError(
            f"{what}: values of {from_} are not cast to {to} by the rule {casting!r}; "
            "casting='unsafe' or astype casts them"
        )


def to_out(out: Any) -> ndarray | None:
    """The array that a caller named for the result; None for none."""
    if isinstance(out, tuple) and len(out) == 1:
        (out,) = out
    if out is None or isinstance(out, ndarray):
        return out
    raise TypeError(f"out: is of type {type(out).__name__}; expected a usmx.ndarray")


def check_out(out: ndarray, shape: tuple[int, ...], dtype: Any, casting: str) -> None:
    """Refuse an array that a result of this shape and type is not written into."""
    if out.shape != shape:
        raise ValueError(f"out: has shape {out.shape}; expected {shape}")
    check_cast(dtype, out.dtype, casting, "out")


def written(made: ndarray, out: Any, casting: str = "same_kind") -> ndarray:
    """A result, in the array that the caller named for it: what functions with ``out=`` give.

    Nothing is written if the array has another shape or a type that the rule does not allow.
    """
    into = to_out(out)
    if into is None:
        return made
    check_out(into, made.shape, made.dtype, casting)
    into[...] = made
    return into


def written_indices(made: ndarray, out: Any) -> ndarray:
    """The same for indices of elements, which only arrays of signed integers take."""
    into = to_out(out)
    if into is not None:
        check_cast(into.dtype, made.dtype, "safe", "out")
    return written(made, into)
