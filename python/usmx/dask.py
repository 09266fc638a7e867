"""Dask's workers on SYCL devices: a cluster with a device for each worker, and values that spill.

Chunks, sizes, names and serialisers of arrays need no import; docs/dask.md lists them. This module
has what one program asks for by name.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io
import os
import pickle
from collections.abc import Iterator, MutableMapping
from threading import RLock
from typing import TYPE_CHECKING, Any

from . import _explained, _usmx, memory

try:
    import cloudpickle
    import distributed
    from dask.sizeof import sizeof
    from distributed.spill import SpillBuffer as _HostAndDisk
except ImportError as _error:
    raise ImportError(
        "usmx.dask: Dask's distributed is not installed; install it with: "
        "pip install 'dask[array,distributed]'"
    ) from _error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["LocalCluster", "SpillBuffer"]

#: Bytes that a process needs for the driver, the compiler of kernels and Python, measured on the
#: CPU device. What tasks make has the rest of its limit.
OF_THE_RUNTIME = 450 << 20


# --- values on the host ---------------------------------------------------------------------------


def _to_device(elements: _usmx.ndarray, device: str) -> _usmx.ndarray:
    """The array that was in device memory, there again; on the default device without that one."""
    if device and device != elements.queue.device.filter_string:
        try:
            return _usmx.asarray(elements, usm_type="device", device=device, copy=True)
        except _usmx.DeviceError:
            pass  # pickles say it; here it is another worker's default device
    return _usmx.asarray(elements, usm_type="device", copy=True)


class _ToHost(cloudpickle.Pickler):
    """Pickles a value, and the device arrays inside of it as arrays in host USM."""

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, _usmx.ndarray) and obj.usm_type == "device" and obj.size:
            host = _usmx.asarray(obj, usm_type="host", copy=True)
            return _to_device, (host, obj.queue.device.filter_string)
        return super().reducer_override(obj)


class _OnHost:
    """A value whose device memory is in host memory meanwhile."""

    def __init__(self, text: bytes, buffers: Sequence[Any]) -> None:
        self.text, self.buffers = text, tuple(buffers)

    @classmethod
    def of(cls, value: object) -> _OnHost:
        """Copy what is on the device."""
        text, buffers = io.BytesIO(), list[pickle.PickleBuffer]()
        _ToHost(text, protocol=5, buffer_callback=buffers.append).dump(value)
        return cls(text.getvalue(), buffers)

    def value(self) -> object:
        """The value, on the device again."""
        return pickle.loads(self.text, buffers=self.buffers)

    def __sizeof__(self) -> int:
        return len(self.text) + sum(memoryview(buffer).nbytes for buffer in self.buffers)

    def __reduce__(self) -> tuple[Any, ...]:
        return _OnHost, (self.text, self.buffers)


def _device_bytes(value: object) -> int:
    """The bytes in device memory of an array, of containers of arrays, and of xarray's objects."""
    if isinstance(value, _usmx.ndarray):
        sizeof(value)  # computes it: a deferred value holds its operands
        return value.nbytes if value.usm_type == "device" else 0
    if isinstance(value, dict):
        return sum(map(_device_bytes, value.values()))
    if isinstance(value, (list, tuple, set, frozenset)):
        return sum(map(_device_bytes, value))
    parts: Any = getattr(value, "variables", None)  # a Dataset
    if hasattr(parts, "values") and type(value).__module__.startswith("xarray."):
        return sum(map(_device_bytes, parts.values()))
    inner: Any = getattr(value, "data", None)  # a DataArray or a Variable
    return _device_bytes(inner) if isinstance(inner, _usmx.ndarray) else 0


class SpillBuffer(MutableMapping[Any, Any]):
    """What a worker keeps: values on the device, on the host and on disk, oldest moved down first.

    It is made by workers: ``Worker(data=(SpillBuffer, {"target": 10**9}))``. Memory of devices is
    counted, where it is not the host's, against `device_limit`; values that do not fit any more are
    copied to host USM, and are copied back when they are used. Beyond `target` the host's are
    written to disk.

    Parameters
    ----------
    worker_local_directory : str
        Where files go; workers fill it in.
    target : int
        Bytes on the host above which the oldest values are written to disk.
    device_limit : int, optional
        Bytes in device memory above which the oldest values are moved to the host. None counts
        them as the host's, whose memory it is on CPU devices.
    max_spill : int, optional
        The most bytes on disk; None is without a limit.

    Examples
    --------
    >>> import tempfile
    >>> kept = SpillBuffer(tempfile.mkdtemp(), target=10**6, device_limit=1000)
    >>> for k in range(4):
    ...     kept[k] = _usmx.full(100, float(k), usm_type="device")
    >>> sorted(kept.device)
    [3]
    >>> float(kept[0][0]), sorted(kept.device)
    (0.0, [0])
    """

    def __init__(
        self,
        worker_local_directory: str,
        *,
        target: int,
        device_limit: int | None = None,
        max_spill: int | None = None,
    ) -> None:
        if target <= 0:
            raise ValueError(f"target: expected a positive number of bytes, got {target!r}")
        if device_limit is not None and device_limit <= 0:
            raise ValueError(
                f"device_limit: expected a positive number of bytes or None, got {device_limit!r}"
            )
        self._lock = RLock()
        #: key -> (value, bytes in device memory), the one that was used last at the end.
        self._device: dict[Any, tuple[object, int]] = {}
        self._on_device = 0
        self._limit = device_limit
        self._rest: Any = _HostAndDisk(
            os.path.join(worker_local_directory, "storage"),
            target=target,
            max_spill=False if max_spill is None else max_spill,
        )

    # --- the mapping

    def __getitem__(self, key: Any) -> Any:
        with self._lock:
            if key in self._device:
                self._device[key] = self._device.pop(key)
                return self._device[key][0]
            value = self._rest[key]
            if not isinstance(value, _OnHost):
                return value
            made = value.value()
            del self._rest[key]
            self._keep(key, made)
            return made

    def __setitem__(self, key: Any, value: Any) -> None:
        with self._lock:
            if key in self:
                del self[key]
            self._keep(key, value)

    def _keep(self, key: Any, value: object) -> None:
        nbytes = 0 if self._limit is None else _device_bytes(value)
        if nbytes == 0:
            self._rest[key] = value
            return
        self._device[key] = (value, nbytes)
        self._on_device += nbytes
        while self._limit is not None and self._on_device > self._limit and len(self._device) > 1:
            self._to_host()

    def _to_host(self) -> int:
        """Move the value that was not used for the longest time; its bytes in device memory."""
        key, (value, nbytes) = next(iter(self._device.items()))
        self._rest[key] = _OnHost.of(value)
        self._on_device -= nbytes
        del self._device[key]
        return nbytes

    def __delitem__(self, key: Any) -> None:
        with self._lock:
            if key in self._device:
                self._on_device -= self._device.pop(key)[1]
            else:
                del self._rest[key]

    def __contains__(self, key: object) -> bool:
        return key in self._device or key in self._rest

    def __iter__(self) -> Iterator[Any]:
        with self._lock:
            return iter([*self._device, *self._rest])

    def __len__(self) -> int:
        return len(self._device) + len(self._rest)

    # --- what workers and their dashboard ask for

    @property
    def device(self) -> Mapping[Any, object]:
        """The values in device memory, the oldest first."""
        with self._lock:
            return {key: value for key, (value, _) in self._device.items()}

    @property
    def memory(self) -> Mapping[Any, object]:
        """The values on the host."""
        shown: Mapping[Any, object] = self._rest.memory
        return shown

    @property
    def disk(self) -> Mapping[Any, object]:
        """The values on disk."""
        shown: Mapping[Any, object] = self._rest.disk
        return shown

    @property
    def fast(self) -> Any:
        """Whether there is a value that `evict` can write to disk."""
        return self._rest.fast

    @property
    def spilled_total(self) -> Any:
        """How many bytes were written to disk."""
        return self._rest.spilled_total

    @property
    def cumulative_metrics(self) -> Any:
        """What reading and writing took, for the dashboard."""
        return self._rest.cumulative_metrics

    def evict(self) -> int:
        """Write the oldest value on the host to disk, and give its memory back to the system.

        Returns
        -------
        int
            Its bytes; -1 if it stays, because there is none or it could not be written.
        """
        with self._lock:
            if not self._rest.fast:
                return -1
            written: int = self._rest.evict()
        # Workers measure what the process holds, which pools would not let go of.
        memory.trim()
        return written


# --- clusters -------------------------------------------------------------------------------------


def _selectors() -> list[str]:
    """One text for each device of the kind that is used by default."""
    default = _usmx.default_queue().device
    kinds = [d for d in _usmx.devices() if d.backend == default.backend]
    if default.is_cpu:
        return [f"{default.backend}:cpu"]
    return [f"{d.backend}:{k}" for k, d in enumerate(kinds) if not d.is_cpu]


def _as_selector(device: object) -> str:
    if isinstance(device, _usmx.Device):
        backend, kind, number = str(device.filter_string).split(":")
        return f"{backend}:cpu" if kind == "cpu" else f"{backend}:{number}"
    if isinstance(device, str) and ":" in device:
        return device
    raise TypeError(
        f"devices: holds {device!r}; expected a usmx.Device or a text for ONEAPI_DEVICE_SELECTOR, "
        "such as 'level_zero:0', or 'level_zero:0.1' for a sub-device"
    )


class LocalCluster(distributed.LocalCluster):
    """A cluster of processes on this machine, a device or sub-device for each.

    It is Dask's own `distributed.LocalCluster`, with one worker for each device, whose default
    device it is, and with `SpillBuffer`: near the limits, device memory is copied to the host and
    the host's written to disk.

    Parameters
    ----------
    devices : sequence of usmx.Device or str, optional
        Devices, or texts of ``ONEAPI_DEVICE_SELECTOR`` such as ``"level_zero:0.1"``, the second
        sub-device of the first device. By default all devices of the default device's backend.
    n_workers : int, optional
        By default one for each device; further ones share them in turn.
    threads_per_worker : int
        Commands of several threads are in order on a device: more than one helps tasks that compute
        on the host.
    memory_limit : str or int, optional
        Bytes of each process; by default the machine's memory is divided. Some 450 MiB of them are
        the driver's and the compiler's; values beyond 0.6 of the limit less these go to disk.
    device_memory_limit : str, int or None, optional
        Bytes in device memory above which a worker's values move to the host. By default 0.7 of the
        device's memory, divided among its workers; None, and CPU devices, count it as the host's.
    env : dict, optional
        Environment variables of the workers.
    **keywords : optional
        Of `distributed.LocalCluster`.

    Raises
    ------
    TypeError, ValueError
        If `devices` is empty or holds something else.

    Examples
    --------
    >>> cluster = LocalCluster(n_workers=2, memory_limit="2GiB")  # doctest: +SKIP
    >>> client = distributed.Client(cluster)                      # doctest: +SKIP
    """

    def __init__(
        self,
        devices: Sequence[_usmx.Device | str] | None = None,
        *,
        n_workers: int | None = None,
        threads_per_worker: int = 1,
        memory_limit: str | int | None = "auto",
        device_memory_limit: str | int | None = "auto",
        env: Mapping[str, str] | None = None,
        **keywords: Any,
    ) -> None:
        import dask
        from dask.utils import parse_bytes
        from distributed.worker_memory import parse_memory_limit, worker_logger

        self._selectors = (
            _selectors() if devices is None else [_as_selector(device) for device in devices]
        )
        if not self._selectors:
            raise ValueError("devices: is empty; expected a device for each worker")
        self._environment = dict(env or {})
        count = len(self._selectors) if n_workers is None else n_workers
        shared_by = max(1, -(-count // len(self._selectors)))
        limit = parse_memory_limit(
            memory_limit, threads_per_worker, max(1, count), logger=worker_logger
        )
        if device_memory_limit == "auto":
            device = _usmx.default_queue().device
            own = None if device.is_cpu else int(0.7 * device.global_mem_size) // shared_by
        else:
            own = None if device_memory_limit is None else parse_bytes(device_memory_limit)
        fraction = dask.config.get("distributed.worker.memory.target") or 0.6
        if limit or own:
            target = 1 << 62
            if limit:
                target = max(int(limit * fraction) - OF_THE_RUNTIME, limit // 10)
            keywords["data"] = (SpillBuffer, {"target": target, "device_limit": own})
        super().__init__(
            n_workers=0,
            threads_per_worker=threads_per_worker,
            memory_limit=limit,
            **keywords,
        )
        self.scale(count)
        if not self.asynchronous:
            self.sync(self._correct_state)

    def new_worker_spec(self) -> dict[Any, Any]:
        """The next worker: on the next device.

        Returns
        -------
        dict
            The class and the options of the worker, by its number.
        """
        made: dict[Any, Any] = super().new_worker_spec()
        for number, spec in made.items():
            selector = self._selectors[number % len(self._selectors)]
            environment = {"ONEAPI_DEVICE_SELECTOR": selector, **self._environment}
            options = {**spec["options"], "env": {**spec["options"].get("env", {}), **environment}}
            made[number] = {**spec, "options": options}
        return made


_explained.explain(globals())
