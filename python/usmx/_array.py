"""What pickles of arrays name: pickle finds functions of Python modules only."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING

from . import _usmx

if TYPE_CHECKING:
    from ._usmx import ndarray


def rebuild(
    data: bytes,
    shape: tuple[int, ...],
    dtype: str | list[tuple[object, ...]],
    usm_type: str,
    device: str,
    readonly: bool,
) -> ndarray:
    """Make the array that was pickled, on the same device if there is one of that name.

    Parameters
    ----------
    data : bytes
        The elements in C order.
    shape : tuple of int
        Lengths.
    dtype : str or list of tuple
        Type string, or the fields of a record.
    usm_type : str
        The kind of memory.
    device : str
        The filter string of the device; empty for a sub-device, which has none. Another device than
        this one is used with a RuntimeWarning.
    readonly : bool
        Whether the array was read-only.
    """
    return _usmx._rebuild_array(data, shape, dtype, usm_type, device, readonly)
