"""Runs of bytes in Unified Shared Memory: what programs for ``dpctl.memory`` import instead.

Everything that ``dpctl.memory`` has is here under the same name; in addition memory can be sliced,
freed early, used in a ``with`` statement, made read-only and referenced weakly. Memory resources
allocate the bytes, and can be stacked on each other.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import warnings

from . import _explained, _usmx
from ._usmx import (
    AlignedResource,
    AllocationError,
    BinningResource,
    DeviceError,
    FailureCallbackResource,
    LimitingResource,
    LoggingResource,
    MemoryResource,
    MemoryUSMDevice,
    MemoryUSMHost,
    MemoryUSMShared,
    NotUSMError,
    PoolResource,
    PrefetchResource,
    QueueOrderedResource,
    StatisticsResource,
    TrackingResource,
    UsmResource,
    _Memory,
    _stats,
    as_usm_memory,
    get_resource,
    get_usm_type,
    set_resource,
    trim,
    using,
)

#: The name that ``dpctl.memory`` gives to a failed allocation.
USMAllocationError = AllocationError

TYPE_CHECKING = False  # as typing's, which takes milliseconds to import
if TYPE_CHECKING:
    import sys
    from typing import Any

    if sys.version_info >= (3, 12):
        from collections.abc import Buffer
    else:
        from typing_extensions import Buffer

    from ._memory_stats import MemoryStats
    from ._tracing.snapshot import Snapshot

__all__ = [
    "AlignedResource", "AllocationError", "BinningResource", "FailureCallbackResource",
    "LimitingResource", "LoggingResource", "MemoryResource", "MemoryUSMDevice", "MemoryUSMHost",
    "MemoryUSMShared", "NotUSMError", "PoolResource", "PrefetchResource", "QueueOrderedResource",
    "StatisticsResource", "TrackingResource", "USMAllocationError", "UsmResource", "as_usm_memory",
    "get_resource", "get_usm_type", "record_history", "set_resource", "snapshot", "stats", "trim",
    "using",
]  # fmt: skip


def snapshot() -> Snapshot:
    """Show what is in memory now: every pool with its blocks, and what led there.

    Returns
    -------
    Snapshot
        Draws itself in a notebook; ``save("memory.html")`` writes a page, ``to_dict()`` gives the
        figures. Owners of blocks and the timeline are there if `record_history` or a
        `usmx.trace` was on.

    Examples
    --------
    >>> import usmx
    >>> import usmx.memory
    >>> x = usmx.empty(1000, usm_type="device")
    >>> usmx.memory.snapshot().used["device"] >= x.nbytes
    True
    """
    from ._tracing import snapshot as _snapshot

    return _snapshot.take()


def record_history(enabled: bool = True, *, most: int = 65536) -> None:
    """Remember who allocates what, for the snapshots to come.

    Costs about a microsecond for each operation while it is on. Blocks that were allocated before
    have no owner in a snapshot.

    Parameters
    ----------
    enabled : bool
        False ends it and forgets what was recorded.
    most : int
        How many of the latest operations are kept. Owners are kept for every block alive.

    Raises
    ------
    ValueError
        If ``most`` is not positive.

    Examples
    --------
    >>> import usmx
    >>> import usmx.memory
    >>> usmx.memory.record_history()
    >>> x = usmx.empty(1000)
    >>> len(usmx.memory.snapshot().owners) > 0
    True
    >>> usmx.memory.record_history(False)
    """
    from ._tracing import snapshot as _snapshot

    _snapshot.record_history(enabled, most=most)


def stats() -> MemoryStats:
    """What the resources that serve by default hold at this moment.

    Returns
    -------
    MemoryStats
        A tuple with a row for each context, device and kind that memory was asked for, which is
        shown as a table: bytes used and how many blocks, the most at once, bytes held by pools and
        how many of them are cached.

    Examples
    --------
    >>> import usmx
    >>> import usmx.memory
    >>> x = usmx.empty(1000, usm_type="device")
    >>> "device" in str(usmx.memory.stats())
    True
    """
    from ._memory_stats import MemoryStats, MemoryUse

    return MemoryStats(MemoryUse(**row) for row in _stats())


def _rebuild(cls: type[MemoryUSMShared], data: Buffer, device: str, readonly: bool) -> _Memory:
    """Make the memory that was pickled, on the device of that filter string.

    It is empty for a sub-device, which has none. Another device is used with a RuntimeWarning. The
    memory of a buffer that pickle took out of band in this process is shared.
    """
    shared: Any = _usmx._imported(data)
    if shared is not None and shared.device.filter_string == device:
        same: _Memory = as_usm_memory(shared)
        if isinstance(same, cls):
            return same.as_readonly() if readonly and not same.readonly else same
    with memoryview(data) as view:
        nbytes = view.nbytes
    queue: str | None = device or None
    try:
        memory = cls(nbytes, queue=queue)
    except DeviceError as error:
        queue = None
        reason = str(error)
        memory = cls(nbytes)
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
    return memory.as_readonly() if readonly else memory


_explained.explain(globals())
