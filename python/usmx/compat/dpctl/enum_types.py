"""``dpctl.enum_types``: names that are equal to the texts which usmx gives."""

# SPDX-License-Identifier: Apache-2.0
from enum import StrEnum, auto


class backend_type(StrEnum):
    """Back ends, as in ``device.backend``."""

    all = auto()
    cuda = auto()
    hip = auto()
    level_zero = auto()
    opencl = auto()


class device_type(StrEnum):
    """Kinds of devices, as in ``device.device_type``."""

    all = auto()
    accelerator = auto()
    automatic = auto()
    cpu = auto()
    custom = auto()
    gpu = auto()


class event_status_type(StrEnum):
    """How far a command is, as in ``event.execution_status``."""

    unknown_status = auto()
    submitted = auto()
    running = auto()
    complete = auto()


class global_mem_cache_type(StrEnum):
    """What a device caches, as in ``device.global_mem_cache_type``."""

    indeterminate = auto()
    none = auto()
    read_only = auto()
    read_write = auto()


__all__ = ["backend_type", "device_type", "event_status_type", "global_mem_cache_type"]
