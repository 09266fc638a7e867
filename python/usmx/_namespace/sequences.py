"""Arrays in nested lists: `asarray([[x[0], 2], [y[0], 3]])` joins them where they are."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _usmx
from ._common import as_arrays

if TYPE_CHECKING:
    from .._usmx import ndarray


def _elements(sequence: Any, into: list[Any]) -> tuple[int, ...]:
    """Appends the elements of nested lists; their lengths.

    Raises
    ------
    ValueError
        They are ragged.
    """
    if not isinstance(sequence, (list, tuple)):
        into.append(sequence)
        return ()
    shapes = {_elements(part, into) for part in sequence}
    if len(shapes) > 1:
        raise ValueError(f"obj: has sequences of different shapes {sorted(shapes)}; expected one")
    return (len(sequence), *(shapes.pop() if shapes else ()))


def joined(sequence: Any, dtype: Any, usm_type: Any, device: Any, queue: Any) -> ndarray:
    """What `asarray` gives for nested lists that have arrays as elements.

    Raises
    ------
    ValueError
        The lists are ragged, or the arrays have different shapes.
    """
    from .manipulation import concat

    found: list[Any] = []
    shape = _elements(sequence, found)
    arrays = as_arrays(found)
    inner = arrays[0].shape
    for number, x in enumerate(arrays):
        if x.shape != inner:
            raise ValueError(
                f"obj: element {number} has shape {x.shape}; expected {inner} as the first"
            )
    whole = concat([x.reshape(-1) for x in arrays]).reshape(shape + inner)
    return _usmx.asarray(whole, dtype=dtype, usm_type=usm_type, device=device, queue=queue)
