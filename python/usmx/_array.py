"""What pickles of arrays name: pickle finds functions of Python modules only."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING

from . import _usmx

if TYPE_CHECKING:
    import sys

    if sys.version_info >= (3, 12):
        from collections.abc import Buffer
    else:
        from typing_extensions import Buffer

    from ._usmx import ndarray


def rebuild(
    data: Buffer,
    shape: tuple[int, ...],
    dtype: str | list[tuple[object, ...]],
    usm_type: str,
    device: str,
    readonly: bool,
    order: str = "C",
) -> ndarray:
    """Make the array that was pickled, on the device of that filter string.

    It shares the memory of a buffer that pickle took out of band in this process.

    It is empty for a sub-device, which has none. Another device is used with a RuntimeWarning.
    """
    return _usmx._rebuild_array(data, shape, dtype, usm_type, device, readonly, order)
