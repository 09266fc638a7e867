"""``dpctl.utils``: where results go, facts about Intel's GPUs, and the order of tasks."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import usmx as _usmx
from usmx import _explained

from .tensor import validate_usm_type

ExecutionPlacementError = _usmx.ExecutionPlacementError
_FACTS = (
    "device_id", "gpu_eu_count", "gpu_hw_threads_per_eu", "gpu_eu_simd_width", "gpu_slices",
    "gpu_subslices_per_slice", "gpu_eu_count_per_subslice", "max_mem_bandwidth", "free_memory",
)  # fmt: skip


def get_execution_queue(qs: Any, /) -> _usmx.Queue | None:
    """The queue that all of some queues are; None if they differ.

    Parameters
    ----------
    qs : sequence of Queue
        At least one.
    """
    queues = [_usmx.Queue(one) for one in qs]
    if not queues:
        raise ValueError("qs: is empty; expected at least one queue")
    return queues[0] if all(one == queues[0] for one in queues) else None


def get_coerced_usm_type(usm_types: Any, /) -> str:
    """The kind of memory of a result: device before shared before host.

    Parameters
    ----------
    usm_types : sequence of str
        Kinds of the operands; at least one.
    """
    order = ("device", "shared", "host")
    for kind in usm_types:
        if kind not in order:
            raise ValueError(f"usm_types: {kind!r}; expected 'device', 'shared' or 'host'")
    if not usm_types:
        raise ValueError("usm_types: is empty; expected at least one kind")
    return min(usm_types, key=order.index)  # type: ignore[no-any-return]


def intel_device_info(sycl_device: Any) -> dict[str, int]:
    """What an Intel GPU says of its parts; nothing for other devices.

    Parameters
    ----------
    sycl_device : Device
        Of usmx or dpctl.
    """
    device = _usmx.Device(sycl_device)
    if device.device_type != "gpu" or "intel" not in device.vendor.lower():
        return {}
    known = {name: getattr(device, name, None) for name in _FACTS}
    return {name: value for name, value in known.items() if value is not None}


@contextmanager
def onetrace_enabled() -> Iterator[None]:
    """Have ``onetrace --conditional-collection`` collect in a ``with`` block."""
    import os

    name = "PTI_ENABLE_COLLECTION"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


class _OrderManager:
    """The events of the tasks that a program submitted to one queue."""

    def __init__(self, queue: _usmx.Queue) -> None:
        self._queue = queue
        self._hosts: list[Any] = []
        self._tasks: list[Any] = []

    @property
    def submitted_events(self) -> list[Any]:
        """Those of the tasks that are not known to have finished."""
        self._tasks = [one for one in self._tasks if not _usmx.Event(one).is_done]
        return list(self._tasks)

    @property
    def num_submitted_events(self) -> int:
        """How many there are."""
        return len(self.submitted_events)

    @property
    def num_host_task_events(self) -> int:
        """How many events of host tasks were added and not waited for."""
        return len(self._hosts)

    def add_event_pair(self, host_task_ev: Any, comp_ev: Any) -> None:
        """Keep the event of a task and that of what keeps its arguments.

        Parameters
        ----------
        host_task_ev, comp_ev : Event
            Of usmx or dpctl; `comp_ev` may be a list.
        """
        self._hosts.append(host_task_ev)
        self._tasks += comp_ev if isinstance(comp_ev, (list, tuple)) else [comp_ev]

    def wait(self) -> None:
        """Wait for all of them."""
        for one in (*self._tasks, *self._hosts):
            _usmx.Event(one).wait()
        self._tasks, self._hosts = [], []


class _Managers:
    """``SequentialOrderManager[queue]``: one for each queue.

    Commands of usmx keep their order by themselves; this is for events of other libraries.
    """

    def __init__(self) -> None:
        self._made: dict[Any, _OrderManager] = {}

    def __getitem__(self, queue: Any) -> _OrderManager:
        found = _usmx.Queue(queue)
        return self._made.setdefault(found, _OrderManager(found))

    def clear(self) -> None:
        """Wait for all events, and forget them."""
        for one in self._made.values():
            one.wait()
        self._made.clear()


SequentialOrderManager: _Managers = _Managers()

__all__ = [
    "ExecutionPlacementError", "SequentialOrderManager", "get_coerced_usm_type",
    "get_execution_queue", "intel_device_info", "onetrace_enabled", "validate_usm_type",
]  # fmt: skip

_explained.explain(globals())
