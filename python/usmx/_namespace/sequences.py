"""Arrays in nested lists: `asarray([[x[0], 2], [y[0], 3]])` joins them where they are."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import _usmx
from .._usmx import ndarray
from ._common import as_array


def _is_array(item: Any) -> bool:
    """Whether an object is an array in memory of a device, of any library."""
    return isinstance(item, ndarray) or any(
        hasattr(item, name) for name in ("__sycl_usm_array_interface__", "__cuda_array_interface__")
    )


def _arrays(item: Any) -> Iterator[Any]:
    """The arrays in nested sequences, or in an object that is one."""
    if isinstance(item, (list, tuple)):
        for one in item:
            yield from _arrays(one)
    elif _is_array(item):
        yield item


def _holds_arrays(item: Any) -> bool:
    return next(_arrays(item), None) is not None


def _read(item: Any, like: ndarray | None, into: list[ndarray]) -> tuple[int, ...]:
    """Appends the elements of nested sequences, of which any row may be an array; their shape.

    Raises
    ------
    ValueError
        They are ragged.
    """
    if not isinstance(item, (list, tuple)) or not _holds_arrays(item):
        row = as_array(item, like)
        if not row.size and isinstance(item, (list, tuple)) and like is not None:
            row = row.astype(like.dtype, copy=False)  # an empty list has no type
        into.append(row.reshape(-1))
        return row.shape
    shapes = {_read(part, like, into) for part in item}
    if len(shapes) > 1:
        raise ValueError(f"obj: has rows of different shapes {sorted(shapes)}; expected one")
    return (len(item), *shapes.pop())


def joined(sequence: Any, dtype: Any, usm_type: Any, device: Any, queue: Any) -> ndarray:
    """What `asarray` gives for nested sequences that have arrays in them.

    Raises
    ------
    ValueError
        The rows have different shapes.
    """
    from .manipulation import concat

    rows: list[ndarray] = []
    first = next(_arrays(sequence), None)
    shape = _read(sequence, None if first is None else as_array(first), rows)
    whole = concat(rows).reshape(shape)
    return _usmx.asarray(whole, dtype=dtype, usm_type=usm_type, device=device, queue=queue)
