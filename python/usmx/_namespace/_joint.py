"""The kind of memory of results of several arrays: one rule for functions, operators and `x[i]`.

Device memory if an operand is there, otherwise shared memory, otherwise host memory; operands
without dimensions have no say next to others. Operations of the table follow it where they compute.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from .. import _explained, _usmx
from .._usmx import ndarray
from ._common import imported

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Functions of `usmx` that compute with several arrays. Those of the table are not among them.
JOINT = frozenset(
    {
        "append", "average", "bincount", "clip", "column_stack", "concat", "concatenate",
        "convolve", "corrcoef", "correlate", "cov", "cross", "diff", "digitize", "divmod", "dot",
        "dstack", "ediff1d", "einsum", "extract", "gradient", "histogram", "hstack", "inner",
        "insert", "interp", "intersect1d", "isclose", "isin", "kron", "ldexp", "lexsort",
        "matmul", "outer", "percentile", "nanpercentile", "nanquantile", "piecewise", "polyval",
        "quantile", "repeat", "searchsorted", "select", "setdiff1d", "setxor1d", "stack", "take",
        "take_along_axis", "tensordot", "trapezoid", "union1d", "vdot", "vecdot", "vstack",
    }
)  # fmt: skip

_NUMBERS = (bool, int, float, complex, str, type(None), slice)
_Function = TypeVar("_Function", bound="Callable[..., Any]")


def _arrays(values: Any) -> Iterator[ndarray]:
    """The arrays in arguments, also in lists of them."""
    for value in values:
        if isinstance(value, ndarray):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _arrays(value)
        elif not isinstance(value, _NUMBERS):
            found = imported(value) if not callable(value) else None
            if found is not None:
                yield found


def in_kind(made: Any, *operands: Any) -> Any:
    """A result in the kind of memory that its operands give; copied only if it is in another."""
    # Mostly arrays of one kind, and numbers.
    kind = None
    for x in operands:
        if isinstance(x, ndarray):
            own = x.usm_type
            if kind not in (None, own):
                break
            kind = own
        elif not isinstance(x, _NUMBERS):
            break
    else:
        return made
    arrays = list(_arrays(operands))
    kinds = {x.usm_type for x in arrays}
    if len(kinds) < 2 or not kinds - {"unknown"}:
        return made
    return _moved(made, _usmx._joint_kind(*arrays))


def _moved(made: Any, kind: Any) -> Any:
    if isinstance(made, ndarray):
        return made if made.usm_type == kind else _usmx.asarray(made, usm_type=kind)
    if isinstance(made, tuple):
        moved = [_moved(one, kind) for one in made]
        return made._make(moved) if hasattr(made, "_make") else type(made)(moved)
    if isinstance(made, list):
        return [_moved(one, kind) for one in made]
    return made


def joint(function: _Function) -> _Function:
    """A function whose results follow the rule."""

    @wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        made = function(*args, **keywords)
        if keywords.get("out") is not None:
            return made
        return in_kind(made, *args, *keywords.values())

    return call  # type: ignore[return-value]


def install(module: Any, name: str) -> Any:
    """The function of that name in a module, once and for all with the rule and its door."""
    function = getattr(module, name)
    if name in JOINT and not hasattr(function, "__wrapped__"):
        function = joint(function)
        setattr(module, name, function)
    return _explained.explained(function, f"usmx.{name}")
