"""dpctl's names: ``import usmx.compat.dpctl as dpctl`` in place of ``import dpctl``.

Queues, devices, contexts and events are those of usmx, which take and give those of dpctl;
importing this module gives them dpctl's methods, such as ``queue.memcpy`` and ``queue.submit``.
`usmx.compat.dpctl.tensor` has the names of ``dpctl.tensor``.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import usmx as _usmx
from usmx import _explained

from . import enum_types, methods, program, tensor, utils
from .enum_types import backend_type, device_type, event_status_type, global_mem_cache_type

SyclQueue = _usmx.Queue
SyclDevice = _usmx.Device
SyclContext = _usmx.Context
SyclEvent = _usmx.Event
SyclPlatform = _usmx.Platform
SyclQueueCreationError = SyclDeviceCreationError = SyclContextCreationError = _usmx.DeviceError
SyclSubDeviceCreationError = _usmx.DeviceError
SyclKernelSubmitError = RuntimeError
SyclKernelInvalidRangeError = ValueError
memory = _usmx.memory
get_platforms: Callable[[], list[_usmx.Platform]] = _usmx.platforms
get_include: Callable[[], str] = _usmx.get_include


def get_devices(backend: str = "all", device_type: str = "all") -> list[_usmx.Device]:
    """All devices of a back end and a type.

    Parameters
    ----------
    backend : str
        ``"opencl"``, ``"level_zero"``, ``"cuda"`` and so on; ``"all"`` for every one.
    device_type : str
        ``"cpu"``, ``"gpu"`` or ``"accelerator"``; ``"all"`` for every one.

    Returns
    -------
    list of Device
        Best first.

    Examples
    --------
    >>> import usmx.compat.dpctl as dpctl
    >>> dpctl.get_devices() == usmx.devices()
    True
    """
    return [
        d
        for d in _usmx.devices()
        if backend in ("all", d.backend) and device_type in ("all", d.device_type)
    ]


def get_composite_devices() -> list[_usmx.Device]:
    """None: usmx sees the tiles of a card as sub-devices.

    Returns
    -------
    list
        Empty.

    Examples
    --------
    >>> import usmx.compat.dpctl as dpctl
    >>> dpctl.get_composite_devices()
    []
    """
    return []


@cache
def _queue_of(context: Any, device: Any) -> _usmx.Queue:
    return _usmx.Queue(device) if context is None else _usmx.Queue(context, device)


def get_device_cached_queue(key: Any) -> _usmx.Queue:
    """The queue of a device, the same one each time.

    Parameters
    ----------
    key : Device, str or tuple
        A device, its filter string, or a context and a device.

    Returns
    -------
    Queue

    Examples
    --------
    >>> import usmx.compat.dpctl as dpctl
    >>> device = dpctl.select_default_device()
    >>> dpctl.get_device_cached_queue(device) is dpctl.get_device_cached_queue(device)
    True
    """
    if isinstance(key, tuple):
        return _queue_of(_usmx.Context(key[0]), _usmx.Device(key[1]))
    return _queue_of(None, _usmx.Device(key))


def get_num_devices(backend: str = "all", device_type: str = "all") -> int:
    """How many devices of a back end and a type there are.

    Parameters
    ----------
    backend : str
        ``"opencl"``, ``"level_zero"``, ``"cuda"`` and so on; ``"all"`` for every one.
    device_type : str
        ``"cpu"``, ``"gpu"`` or ``"accelerator"``; ``"all"`` for every one.

    Returns
    -------
    int

    Examples
    --------
    >>> import usmx.compat.dpctl as dpctl
    >>> dpctl.get_num_devices() == len(dpctl.get_devices())
    True
    """
    return len(get_devices(backend, device_type))


def has_cpu_devices() -> bool:
    """Whether there is a processor.

    Returns
    -------
    bool

    Examples
    --------
    >>> import usmx.compat.dpctl as dpctl
    >>> dpctl.has_cpu_devices() == (dpctl.get_num_devices(device_type="cpu") > 0)
    True
    """
    return get_num_devices(device_type="cpu") > 0


def has_gpu_devices() -> bool:
    """Whether there is a GPU.

    Returns
    -------
    bool

    Examples
    --------
    >>> import usmx.compat.dpctl as dpctl
    >>> device = dpctl.select_gpu_device() if dpctl.has_gpu_devices() else None
    """
    return get_num_devices(device_type="gpu") > 0


def has_accelerator_devices() -> bool:
    """Whether there is an accelerator.

    Returns
    -------
    bool

    Examples
    --------
    >>> import usmx.compat.dpctl as dpctl
    >>> device = dpctl.select_accelerator_device() if dpctl.has_accelerator_devices() else None
    """
    return get_num_devices(device_type="accelerator") > 0


def select_default_device() -> _usmx.Device:
    """The default device.

    Returns
    -------
    Device

    Raises
    ------
    DeviceError
        There is none.

    Examples
    --------
    >>> import usmx.compat.dpctl as dpctl
    >>> dpctl.select_default_device() == usmx.Device()
    True
    """
    return _usmx.Device()


def select_cpu_device() -> _usmx.Device:
    """A processor.

    Returns
    -------
    Device

    Raises
    ------
    DeviceError
        There is none.

    Examples
    --------
    >>> import usmx.compat.dpctl as dpctl
    >>> device = dpctl.select_cpu_device() if dpctl.has_cpu_devices() else None
    """
    return _usmx.Device("cpu")


def select_gpu_device() -> _usmx.Device:
    """A GPU.

    Returns
    -------
    Device

    Raises
    ------
    DeviceError
        There is none.

    Examples
    --------
    >>> import usmx.compat.dpctl as dpctl
    >>> device = dpctl.select_gpu_device() if dpctl.has_gpu_devices() else None
    """
    return _usmx.Device("gpu")


def select_accelerator_device() -> _usmx.Device:
    """An accelerator.

    Returns
    -------
    Device

    Raises
    ------
    DeviceError
        There is none.

    Examples
    --------
    >>> import usmx.compat.dpctl as dpctl
    >>> device = dpctl.select_accelerator_device() if dpctl.has_accelerator_devices() else None
    """
    return _usmx.Device("accelerator")


def select_device_with_aspects(required_aspects: Any, excluded_aspects: Any = ()) -> _usmx.Device:
    """The first device with all of some aspects and none of others.

    Parameters
    ----------
    required_aspects, excluded_aspects : str or sequence of str
        Names such as ``"fp64"``.

    Returns
    -------
    Device

    Raises
    ------
    DeviceError
        There is none.

    Examples
    --------
    >>> import usmx.compat.dpctl as dpctl
    >>> dpctl.select_device_with_aspects("usm_device_allocations").has_aspect("fp64")
    True
    """
    wanted = [required_aspects] if isinstance(required_aspects, str) else required_aspects
    without = [excluded_aspects] if isinstance(excluded_aspects, str) else excluded_aspects
    for device in [_usmx.Device(), *_usmx.devices()]:
        if all(map(device.has_aspect, wanted)) and not any(map(device.has_aspect, without)):
            return device
    raise _usmx.DeviceError(
        f"required_aspects: {list(wanted)}, excluded_aspects: {list(without)}; no device has these"
    )


def lsplatform(verbosity: int = 0) -> None:
    """Print the platforms and devices.

    Parameters
    ----------
    verbosity : int
        0 for platforms alone; more for their devices, too.

    Examples
    --------
    >>> import contextlib, io
    >>> import usmx.compat.dpctl as dpctl
    >>> with contextlib.redirect_stdout(io.StringIO()) as printed:
    ...     dpctl.lsplatform()
    >>> len(printed.getvalue().splitlines()) == len(usmx.platforms())
    True
    """
    for platform in _usmx.platforms():
        print(platform.name, platform.version)
        for device in _usmx.devices() if verbosity else ():
            if device.platform == platform:
                print("    ", device)


class SyclTimer:
    """Time of a ``with`` block on the host, and of a queue's commands in it.

    Parameters
    ----------
    host_timer : function
        Gives seconds.
    device_timer : optional
        Without effect.
    time_scale : float
        Units in a second.

    Examples
    --------
    >>> import usmx.compat.dpctl as dpctl
    >>> timer = dpctl.SyclTimer()
    >>> with timer(dpctl.SyclQueue()):
    ...     x = usmx.zeros(1000)
    >>> timer.dt[0] > 0
    True
    """

    def __init__(
        self, host_timer: Any = time.perf_counter, device_timer: Any = None, time_scale: float = 1
    ) -> None:
        del device_timer
        self._timer = host_timer
        self._scale = time_scale
        self._queue: _usmx.Queue | None = None
        self._spent = 0.0

    def __call__(self, queue: Any) -> SyclTimer:
        """The queue whose commands are waited for."""
        self._queue = _usmx.Queue(queue)
        return self

    def __enter__(self) -> SyclTimer:
        if self._queue is not None:
            self._queue.wait()
        self._start = self._timer()
        return self

    def __exit__(self, *_: object) -> None:
        if self._queue is not None:
            self._queue.wait()
        self._spent += self._timer() - self._start

    @property
    def dt(self) -> tuple[float, float]:
        """Time on the host, and until the queue had finished."""
        return self._spent * self._scale, self._spent * self._scale


#: Arguments of kernels of dpctl, which have no place in those of usmx -> what to write.
_REFUSED = {
    "LocalAccessor": "usmx.LocalMemory, for a parameter usmx::local_view<T, N>",
    "WorkGroupMemory": "usmx.LocalMemory, for a parameter usmx::local_view<T, N>",
    "RawKernelArg": "bytes, a NumPy record or a ctypes.Structure, for a struct of the text",
}

if not TYPE_CHECKING:  # type checkers would believe that every name exists

    def __getattr__(name: str) -> Any:
        more = f"; kernels of usmx take {_REFUSED[name]}" if name in _REFUSED else ""
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{more}")


methods.install()

__all__ = [
    "SyclContext", "SyclContextCreationError", "SyclDevice", "SyclDeviceCreationError",
    "SyclEvent", "SyclKernelInvalidRangeError", "SyclKernelSubmitError", "SyclPlatform",
    "SyclQueue", "SyclQueueCreationError", "SyclSubDeviceCreationError", "SyclTimer",
    "backend_type", "device_type", "enum_types", "event_status_type", "get_composite_devices",
    "get_device_cached_queue", "get_devices", "get_include", "get_num_devices", "get_platforms",
    "global_mem_cache_type", "has_accelerator_devices", "has_cpu_devices", "has_gpu_devices",
    "lsplatform", "memory", "program", "select_accelerator_device", "select_cpu_device",
    "select_default_device", "select_device_with_aspects", "select_gpu_device", "tensor", "utils",
]  # fmt: skip

_explained.explain(globals())
