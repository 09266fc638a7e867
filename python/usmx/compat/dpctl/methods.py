"""dpctl's methods of queues, devices, contexts, platforms and events, given to those of usmx.

Queues come from arrays and memory too, so that a class of its own would not have them all.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from functools import wraps
from typing import Any, NoReturn

import usmx as _usmx
from usmx import _explained


def _bytes_of(side: Any, count: int, name: str) -> Any:
    """The first bytes of memory, an array or a buffer."""
    if count < 0:
        raise ValueError(f"count: {count}; expected a number of bytes, 0 or more")
    parts: Any
    if hasattr(side, "__sycl_usm_array_interface__"):
        whole = _usmx.asarray(side)
        if not whole.flags["C"]:
            raise ValueError(f"{name}: is not contiguous; usmx.copy copies any strides")
        parts = whole.reshape(-1).view("uint8")
    else:
        parts = memoryview(side).cast("B")
    if count > len(parts):
        raise ValueError(f"count: {count}; {name} has {len(parts)} bytes")
    return parts[:count]


class _OfQueue:
    """What ``dpctl.SyclQueue`` has."""

    name = property(lambda queue: queue.device.name, doc="The name of the device.")
    driver_version = property(lambda queue: queue.device.driver_version, doc="That of the device.")

    def get_sycl_device(self: Any) -> _usmx.Device:
        """The device."""
        return self.device  # type: ignore[no-any-return]

    def get_sycl_context(self: Any) -> _usmx.Context:
        """The context."""
        return self.context  # type: ignore[no-any-return]

    def memcpy(self: Any, dest: Any, src: Any, count: int) -> None:
        """Copy bytes, and wait.

        Parameters
        ----------
        dest, src : array, memory, buffer
            Contiguous; each of any library.
        count : int
            Bytes.
        """
        self.memcpy_async(dest, src, count).wait()

    def memcpy_async(self: Any, dest: Any, src: Any, count: int, dEvents: Any = ()) -> _usmx.Event:
        """Submit a copy of bytes; parameters as of `memcpy`.

        Parameters
        ----------
        dEvents : sequence of Event
            What must have finished before.
        """
        return _usmx.copy_async(
            _bytes_of(dest, count, "dest"),
            _bytes_of(src, count, "src"),
            queue=self,
            depends_on=list(dEvents or ()),
        )

    def prefetch(self: Any, mem: Any, count: int = 0) -> None:
        """Move shared memory to the device; all of it if `count` is 0."""
        some = _bytes_of(mem, count, "mem") if count else mem
        _usmx.prefetch(some, queue=self)

    def mem_advise(self: Any, mem: Any, count: int, advice: int) -> None:
        """Tell the driver how bytes will be used."""
        some = _bytes_of(mem, count, "mem") if count else mem
        _usmx.mem_advise(some, advice, queue=self)

    def submit(
        self: Any, kernel: Any, args: Any, gS: Any, lS: Any = None, dEvents: Any = None
    ) -> _usmx.Event:
        """Launch a kernel, and wait.

        Parameters
        ----------
        kernel : RawKernel
            Of ``program.get_sycl_kernel(name)`` or `usmx.RawKernel`.
        args : sequence
            Arrays, memory, numbers, and those of `ctypes`.
        gS, lS : sequence of int
            The global range, and the local one.
        dEvents : sequence of Event, optional
            What must have finished before.
        """
        event: _usmx.Event = self.submit_async(kernel, args, gS, lS, dEvents)
        event.wait()
        return event

    def submit_async(
        self: Any, kernel: Any, args: Any, gS: Any, lS: Any = None, dEvents: Any = None
    ) -> _usmx.Event:
        """Launch a kernel; parameters as of `submit`."""
        if not isinstance(kernel, _usmx.RawKernel):
            kind = type(kernel).__name__
            raise TypeError(
                f"kernel: is of type {kind}; expected a usmx.RawKernel, such as "
                "program.get_sycl_kernel(name) of usmx.compat.dpctl.program"
            )
        values = [getattr(one, "value", one) if _is_ctypes(one) else one for one in args]
        ranges: Any = (tuple(gS), None if lS is None else tuple(lS))
        launch = kernel[ranges]
        if dEvents is None:
            return launch(*values, queue=self)
        return launch(*values, queue=self, depends_on=[*dEvents, self.submit_barrier()])

    def print_device_info(self: Any) -> None:
        """Print name, vendor, version and filter string of the device."""
        _print_device(self.device)


class _OfDevice:
    """What ``dpctl.SyclDevice`` has."""

    has_aspect_is_component = property(lambda device: device.has_aspect_ext_oneapi_is_component)
    has_aspect_is_composite = property(lambda device: device.has_aspect_ext_oneapi_is_composite)
    max_work_item_sizes1d = property(lambda device: tuple(device.max_work_item_sizes[:1]))
    max_work_item_sizes2d = property(lambda device: tuple(device.max_work_item_sizes[:2]))
    max_work_item_sizes3d = property(lambda device: tuple(device.max_work_item_sizes[:3]))

    def get_device_id(self: Any) -> int:
        """Its place in ``dpctl.get_devices()``."""
        return _usmx.devices().index(self)

    def get_filter_string(
        self: Any, include_backend: bool = True, include_device_type: bool = True
    ) -> str:
        """The filter string, or parts of it."""
        backend, kind, number = self.filter_string.split(":")
        parts = [backend] * include_backend + [kind] * include_device_type
        if include_backend and include_device_type:
            return ":".join([*parts, number])
        alike = [
            one
            for one in _usmx.devices()
            if (not include_backend or one.backend == backend)
            and (not include_device_type or one.device_type == kind)
        ]
        return ":".join([*parts, str(alike.index(self))])

    def get_unpartitioned_parent_device(self: Any) -> _usmx.Device:
        """The device that this one is a part of, in the end."""
        device = self
        while device.parent_device is not None:
            device = device.parent_device
        return device  # type: ignore[no-any-return]

    def print_device_info(self: Any) -> None:
        """Print name, vendor, version and filter string."""
        _print_device(self)


class _OfContext:
    """What ``dpctl.SyclContext`` has."""

    def get_devices(self: Any) -> list[_usmx.Device]:
        """The devices."""
        return list(self.devices)


class _OfPlatform:
    """What ``dpctl.SyclPlatform`` has."""

    def get_devices(self: Any, device_type: str = "all") -> list[_usmx.Device]:
        """The devices, or those of a type."""
        return [one for one in self.devices if device_type in ("all", one.device_type)]

    def get_composite_devices(self: Any) -> list[_usmx.Device]:
        """None: usmx sees the tiles of a card as sub-devices."""
        return self.devices[:0]  # type: ignore[no-any-return]

    def print_platform_info(self: Any, verbosity: int = 0) -> None:
        """Print name, version, vendor and back end, and with `verbosity` the devices."""
        for word in ("name", "version", "vendor", "backend"):
            print(f"    {word:15} {getattr(self, word)}")
        for device in self.devices if verbosity else ():
            _print_device(device)


def _is_ctypes(value: object) -> bool:
    return type(value).__module__ == "ctypes"


def _print_device(device: _usmx.Device) -> None:
    for word in ("name", "driver_version", "vendor", "filter_string"):
        print(f"    {word:15} {getattr(device, word)}")


class _Missing:
    """A name that says what to write instead."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __get__(self, made: object, owner: type) -> NoReturn:
        raise AttributeError(self.text)


_ADDRESS = (
    "addressof_ref: usmx has no DPCTLSycl...Ref; give C the capsule of _get_capsule(), or in an "
    "extension take the object itself (docs/extension.md)"
)
_REFUSED = {
    _usmx.Queue: {"addressof_ref": _ADDRESS},
    _usmx.Device: {
        "addressof_ref": _ADDRESS,
        "composite_device": "composite_device: usmx sees the tiles of a card as sub-devices",
        "component_devices": "component_devices: write device.create_sub_devices(...)",
        "default_selector_score": "default_selector_score: usmx.Device() is the device with the "
        "highest score",
        "max_num_sub_groups": "max_num_sub_groups: write kernel.limits, which knows the kernel too",
        "sub_group_independent_forward_progress": "sub_group_independent_forward_progress: usmx "
        "does not ask the driver for it",
    },
    _usmx.Context: {"addressof_ref": _ADDRESS},
    _usmx.Event: {
        "addressof_ref": _ADDRESS,
        "get_wait_list": "get_wait_list: usmx does not keep what an event waited for; keep what "
        "you gave as depends_on",
    },
}
_GIVEN = {
    _usmx.Queue: _OfQueue,
    _usmx.Device: _OfDevice,
    _usmx.Context: _OfContext,
    _usmx.Platform: _OfPlatform,
}


def _of(owner: type, function: Any) -> Any:
    """A method that refuses objects of other classes, as those of the class itself do."""

    @wraps(function)
    def call(self: Any, *args: Any, **keywords: Any) -> Any:
        if not isinstance(self, owner):
            kind = type(self).__name__
            raise TypeError(f"self: an object of type {kind}; expected a {owner.__name__}")
        return function(self, *args, **keywords)

    return call


def install() -> None:
    """Give the classes dpctl's names, once."""
    for owner, given in _GIVEN.items():
        for name, found in vars(given).items():
            if isinstance(found, property):
                setattr(owner, name, property(_of(owner, found.fget), doc=found.__doc__))
            elif not name.startswith("_"):
                door = _explained.method(_of(owner, found), name, owner.__name__)
                setattr(owner, name, door)
    for owner, refused in _REFUSED.items():
        for name, text in refused.items():
            if not hasattr(owner, name):
                setattr(owner, name, _Missing(f"{owner.__name__}.{text}"))
