"""Runs of bytes in Unified Shared Memory: what programs for ``dpctl.memory`` import instead.

Everything that ``dpctl.memory`` has is here under the same name; in addition memory can be sliced,
freed early, used in a ``with`` statement, made read-only and referenced weakly.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import warnings

from ._usmx import (
    AllocationError,
    MemoryUSMDevice,
    MemoryUSMHost,
    MemoryUSMShared,
    NotUSMError,
    _Memory,
    as_usm_memory,
    get_usm_type,
)

#: The name that ``dpctl.memory`` gives to a failed allocation.
USMAllocationError = AllocationError

__all__ = [
    "AllocationError",
    "MemoryUSMDevice",
    "MemoryUSMHost",
    "MemoryUSMShared",
    "NotUSMError",
    "USMAllocationError",
    "as_usm_memory",
    "get_usm_type",
]


def _rebuild(cls: type[MemoryUSMShared], data: bytes, device: str, readonly: bool) -> _Memory:
    """Make the memory that was pickled, on the same device if there is one of that name.

    Parameters
    ----------
    cls : type
        The class of the memory.
    data : bytes
        What it held.
    device : str
        The filter string of its device; empty for a device that has none, a sub-device.
    readonly : bool
        Whether it was read-only.
    """
    from . import DeviceError

    queue: str | None = device or None
    try:
        memory = cls(len(data), queue=queue)
    except DeviceError as error:
        queue = None
        reason = str(error)
        memory = cls(len(data))
    else:
        reason = "" if device else "a sub-device has no filter string"
    if reason:
        warnings.warn(
            f"memory was pickled on another device and is now on {memory.device.filter_string}: "
            f"{reason}",
            RuntimeWarning,
            stacklevel=2,
        )
    memory.copy_from_host(data)
    rebuilt: _Memory = memory.as_readonly() if readonly else memory  # type: ignore[assignment]
    return rebuilt
