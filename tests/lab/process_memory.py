"""Device memory of several processes for tests: the true driver's on a GPU, a stand-in elsewhere.

The stand-in (`process_stand_in.cpp`) maps files in the place of the CPU device's memory, so that
processes see each other's elements, and refuses what the driver refuses.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import lab

import usmx
from usmx import ipc

#: The device has handles of its own.
IS_TRUE = bool(usmx._usmx._ProcessMemory.way(usmx.Device())[0])


@cache
def _stand_in() -> ctypes.CDLL:
    loaded = ctypes.CDLL(str(lab.built("libprocess_stand_in.so")))
    loaded.stand_in_calls.restype = ctypes.c_char_p
    return loaded


def use() -> None:
    """Let this process have handles of device memory; each process of a test calls it."""
    if not IS_TRUE:
        _stand_in()
        usmx._usmx._Testing.use_process_form("cuda", str(lab.built("libprocess_stand_in.so")))


@contextmanager
def used() -> Iterator[None]:
    """Handles of device memory, for a test."""
    use()
    try:
        yield
    finally:
        if not IS_TRUE:
            usmx._usmx._Testing.use_process_form("")


def calls() -> list[str]:
    """What the stand-in was called with since it was asked last."""
    return _stand_in().stand_in_calls().decode().splitlines()


@contextmanager
def refusing(function: str, status: int) -> Iterator[None]:
    """A function of the stand-in gives a status."""
    _stand_in().stand_in_refuses(function.encode(), status)
    try:
        yield
    finally:
        _stand_in().stand_in_refuses(b"", 0)


def is_device(x: usmx.ndarray) -> bool:
    """Whether the memory is of the kind that a driver has handles of."""
    return ipc._MEMORY["cuda"].place(x) is not None
