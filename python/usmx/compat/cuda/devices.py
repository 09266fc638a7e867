"""Devices as CUDA numbers them, and the one that is selected."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from ... import _usmx


class MemoryInfo(NamedTuple):
    """Bytes of a device that are free, and all bytes."""

    free: int
    total: int


#: Threads of a warp that programs of CUDA are written for.
WARP = 32


class _State(threading.local):
    """The number of the device that is selected, above those that `with` blocks come back to."""

    def __init__(self) -> None:
        self.chosen = [0]


_state = _State()
#: The queues of all streams that exist.
queues: weakref.WeakSet[Any] = weakref.WeakSet()


class Device:
    """One device, with the names of CUDA's attributes.

    Parameters
    ----------
    number : int
        Its place in ``usmx.devices()``; the default device is number 0.
    device : usmx.Device
        Itself.
    """

    def __init__(self, number: int, device: _usmx.Device) -> None:
        self.id = number
        self.usmx = device

    @property
    def name(self) -> bytes:
        """Its name, as bytes as in Numba."""
        return self.usmx.name.encode()

    @property
    def compute_capability(self) -> tuple[int, int]:
        """What programs ask to know what kernels may do: that of a device that can do all."""
        return (9, 0)

    @property
    def uuid(self) -> str:
        """What distinguishes it: its filter string."""
        return str(self.usmx.filter_string)

    def __getattr__(self, name: str) -> Any:
        about = {
            "MAX_THREADS_PER_BLOCK": ("max_work_group_size", 1024),
            "MULTIPROCESSOR_COUNT": ("max_compute_units", 1),
            "MAX_SHARED_MEMORY_PER_BLOCK": ("local_mem_size", 49152),
            "TOTAL_CONSTANT_MEMORY": ("", 65536),
            "WARP_SIZE": ("", WARP),
            "MAX_BLOCK_DIM_X": ("max_work_group_size", 1024),
            "MAX_BLOCK_DIM_Y": ("max_work_group_size", 1024),
            "MAX_BLOCK_DIM_Z": ("max_work_group_size", 64),
            "MAX_GRID_DIM_X": ("", 2**31 - 1),
            "MAX_GRID_DIM_Y": ("", 65535),
            "MAX_GRID_DIM_Z": ("", 65535),
            "CLOCK_RATE": ("max_clock_frequency", 0),
            "UNIFIED_ADDRESSING": ("", 1),
            "PCI_BUS_ID": ("", 0),
            "PCI_DEVICE_ID": ("", self.id),
            "PCI_DOMAIN_ID": ("", 0),
            "COMPUTE_CAPABILITY_MAJOR": ("", self.compute_capability[0]),
            "COMPUTE_CAPABILITY_MINOR": ("", self.compute_capability[1]),
            "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": ("local_mem_size", 49152),
            "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": ("local_mem_size", 49152),
            "MAX_THREADS_PER_MULTI_PROCESSOR": ("max_work_group_size", 1024),
            "L2_CACHE_SIZE": ("global_mem_cache_size", 0),
            "MEMORY_CLOCK_RATE": ("memory_clock_rate", 0),
            "GLOBAL_MEMORY_BUS_WIDTH": ("memory_bus_width", 0),
            "ECC_ENABLED": ("error_correction_support", 0),
            "MAX_REGISTERS_PER_BLOCK": ("", 65536),
            "MAX_PITCH": ("", 2**31 - 1),
            "ASYNC_ENGINE_COUNT": ("", 1),
            "CONCURRENT_KERNELS": ("", 1),
            "CAN_MAP_HOST_MEMORY": ("", 1),
            "INTEGRATED": ("", int(self.usmx.is_cpu)),
            "MANAGED_MEMORY": ("", int(self.usmx.has_aspect("usm_shared_allocations"))),
            "PAGEABLE_MEMORY_ACCESS": ("", int(self.usmx.has_aspect("usm_system_allocations"))),
            "COOPERATIVE_LAUNCH": ("", 0),
        }
        if name not in about:
            raise AttributeError(f"the device has no '{name}'; it has {', '.join(sorted(about))}")
        key, otherwise = about[name]
        found = self.usmx.properties().get(key, otherwise) if key else otherwise
        return otherwise if found is None else int(cast("int", found))

    @property
    def supports_float16(self) -> bool:
        """Whether kernels may use float16: all may, which is computed in float32 if need be."""
        return True

    def get_primary_context(self) -> Context:
        """Its context."""
        return Context(self)

    def reset(self) -> None:
        """Wait for all that was launched."""
        _usmx.Queue(self.usmx).wait()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.usmx == self.usmx

    def __hash__(self) -> int:
        return hash(self.usmx)

    def __repr__(self) -> str:
        return f"<CUDA device {self.id} '{self.usmx.name}'>"


class Context:
    """What programs ask about memory and devices."""

    def __init__(self, device: Device) -> None:
        self.device = device

    def get_memory_info(self) -> MemoryInfo:
        """Bytes of the device that are free, and all bytes.

        Where the driver does not say how much is free, what usmx has not allocated is.
        """
        total = int(self.device.usmx.global_mem_size)
        free = self.device.usmx.free_memory
        return MemoryInfo(total if free is None else int(free), total)

    def synchronize(self) -> None:
        """Wait for all that was launched."""
        synchronize()

    @contextlib.contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        """Nothing: memory goes back to a pool, which waits for nothing."""
        yield

    def memalloc(self, bytesize: int) -> Any:
        """Memory of the device: an array of bytes."""
        return _usmx.empty(bytesize, "uint8", usm_type="device", queue=queue())

    def memhostalloc(self, bytesize: int, mapped: bool = False, **_: Any) -> Any:
        """Memory of the host that the device reads: an array of bytes of NumPy.

        Parameters
        ----------
        bytesize : int
            How many.
        mapped : bool
            Without effect: devices read and write it.
        """
        import numpy as np

        del mapped
        made = _usmx.empty(bytesize, "uint8", usm_type="host", queue=queue())
        return np.asarray(memoryview(made))

    def reset(self) -> None:
        """Wait for all that was launched."""
        synchronize()

    def push(self) -> None:
        """Select its device."""
        select_device(self.device.id)

    def pop(self) -> None:
        """Nothing."""

    @property
    def id(self) -> int:
        """Number of its device."""
        return self.device.id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Context) and other.device == self.device

    def __hash__(self) -> int:
        return hash(self.device)


class Managed(Device):
    """A device in ``gpus``: also a ``with`` block in which it is selected."""

    def __enter__(self) -> Context:
        _stack().append(self.id)
        return Context(self)

    def __exit__(self, *_: object) -> None:
        _stack().pop()

    @property
    def device(self) -> Managed:
        """Itself."""
        return self


def _stack() -> list[int]:
    return _state.chosen


def _all() -> list[Managed]:
    """The default device and those of its kind after it."""
    first = _usmx.Device()
    others = [d for d in _usmx.devices() if d != first and d.device_type == first.device_type]
    return [Managed(k, d) for k, d in enumerate([first, *others])]


class Devices:
    """All devices, by number."""

    def __len__(self) -> int:
        return len(_all())

    def __getitem__(self, number: int) -> Managed:
        return _all()[number]

    def __iter__(self) -> Iterator[Managed]:
        return iter(_all())

    def __repr__(self) -> str:
        return f"<{', '.join(map(repr, _all()))}>"

    @property
    def current(self) -> Managed:
        """The one that is selected."""
        return self[_stack()[-1]]

    @property
    def lst(self) -> list[Managed]:
        """All of them."""
        return _all()


gpus: Devices = Devices()


def queue() -> _usmx.Queue:
    """The queue of the device that is selected: CUDA's default stream."""
    number = _stack()[-1]
    return _usmx.default_queue() if number == 0 else _usmx.Queue(gpus[number].usmx)


def select_device(device_id: int) -> Context:
    """Select a device for this thread.

    Parameters
    ----------
    device_id : int
        Its number in ``gpus``.

    Returns
    -------
    Context
        That of the device.

    Raises
    ------
    IndexError
        There is no such device.

    Examples
    --------
    >>> from usmx.compat import cuda
    >>> cuda.select_device(0).id
    0
    """
    if not 0 <= device_id < len(gpus):
        raise IndexError(f"device_id: {device_id}; expected 0 to {len(gpus) - 1}, see cuda.gpus")
    _stack()[-1] = device_id
    return Context(gpus[device_id])


def get_current_device() -> Managed:
    """The device that is selected.

    Returns
    -------
    Device

    Examples
    --------
    >>> from usmx.compat import cuda
    >>> cuda.get_current_device().id
    0
    """
    return gpus.current


def list_devices() -> Devices:
    """All devices.

    Returns
    -------
    Devices
        Numbered as in ``gpus``.

    Examples
    --------
    >>> from usmx.compat import cuda
    >>> len(cuda.list_devices()) == len(usmx.devices())
    True
    """
    return gpus


def current_context(devnum: int | None = None) -> Context:
    """The context of a device.

    Parameters
    ----------
    devnum : int, optional
        Its number in ``gpus``; by default the one that is selected.

    Returns
    -------
    Context

    Examples
    --------
    >>> from usmx.compat import cuda
    >>> cuda.current_context().get_memory_info().total > 0
    True
    """
    return Context(gpus.current if devnum is None else gpus[devnum])


def require_context(function: Any) -> Any:
    """The function itself: a context needs no call to be there.

    Parameters
    ----------
    function : callable
        That needs a context.

    Returns
    -------
    callable
        The same.

    Examples
    --------
    >>> from usmx.compat import cuda
    >>> @cuda.require_context
    ... def compute():
    ...     return cuda.device_array(3).size
    >>> compute()
    3
    """
    return function


def synchronize() -> None:
    """Wait for all that was launched on the default stream and on others.

    Examples
    --------
    >>> from usmx.compat import cuda
    >>> cuda.synchronize()
    """
    for one in [queue(), *queues]:
        one.wait()


def close() -> None:
    """Wait for all that was launched.

    Examples
    --------
    >>> from usmx.compat import cuda
    >>> cuda.close()
    """
    synchronize()


def is_available() -> bool:
    """Whether there is a device.

    Returns
    -------
    bool

    Examples
    --------
    >>> from usmx.compat import cuda
    >>> cuda.is_available()
    True
    """
    return bool(_usmx.devices())


def detect() -> bool:
    """Print the devices.

    Returns
    -------
    bool
        Whether there is one.

    Examples
    --------
    >>> from usmx.compat import cuda
    >>> found = cuda.detect()  # doctest: +ELLIPSIS
    Found ...
    """
    found = _all()
    print(f"Found {len(found)} CUDA devices")
    for one in found:
        print(f"id {one.id}    {one.usmx.name!r}    [SUPPORTED]")
    return bool(found)


@contextlib.contextmanager
def defer_cleanup() -> Iterator[None]:
    """Nothing: memory goes back to a pool, which waits for nothing.

    Yields
    ------
    None

    Examples
    --------
    >>> from usmx.compat import cuda
    >>> with cuda.defer_cleanup():
    ...     x = cuda.device_array(3)
    """
    yield
