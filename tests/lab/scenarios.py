"""What usmx promises, in small programs that check their own data: run while calls fail."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import numpy as np

import usmx.memory as um

ALL: dict[str, Callable[[], None]] = {}


class WrongDataError(BaseException):
    """Worse than any exception of usmx, and so none of theirs."""


def scenario(run: Callable[[], None]) -> Callable[[], None]:
    ALL[run.__name__] = run
    return run


def same(got: object, expected: object) -> None:
    if isinstance(expected, np.ndarray):
        right = np.array_equal(np.asarray(got), expected)
    else:
        right = got == expected
    if not right:
        raise WrongDataError(f"{got!r} is not {expected!r}")


class Producer:
    def __init__(self, interface: dict[str, object]) -> None:
        self.__sycl_usm_array_interface__ = interface


KINDS = (um.MemoryUSMDevice, um.MemoryUSMShared, um.MemoryUSMHost)


@scenario
def memory_is_allocated_and_freed() -> None:
    for kind in KINDS:
        with kind(1000) as m:
            same(len(m), 1000)
        same(kind(10, alignment=4096)._pointer % 4096, 0)
        same(kind(0).nbytes, 0)


@scenario
def memory_is_copied() -> None:
    data = bytes(range(256)) * 16
    for kind in KINDS:
        m = kind(4096)
        m.copy_from_host(data)
        same(bytes(m.copy_to_host()), data)
        out = bytearray(4096)
        m.copy_to_host(out)
        same(bytes(out), data)
        for other in KINDS:
            n = other(4096)
            n.copy_from_device(m)
            same(n.tobytes(), data)
        m.memset(7)
        same(m.tobytes(), b"\x07" * 4096)
        same(m[16:64].tobytes(), b"\x07" * 48)
        m[16:32].memset(9)
        same(m.tobytes()[15:33], b"\x07" + b"\x09" * 16 + b"\x07")


@scenario
def memory_is_exchanged() -> None:
    data = bytes(range(200))
    for kind in KINDS:
        m = kind(200)
        m.copy_from_host(data)
        n = um.as_usm_memory(Producer(m.__sycl_usm_array_interface__))
        same(n._pointer, m._pointer)
        same(n.tobytes(), data)
        copied = kind(m, copy=True)
        m.memset(0)
        same(copied.tobytes(), data)


@scenario
def memory_of_dpctl_is_exchanged() -> None:
    import dpctl.memory as dm

    data = bytes(range(100))
    for make in (dm.MemoryUSMDevice, dm.MemoryUSMShared, dm.MemoryUSMHost):
        try:
            theirs = make(100)
        except Exception as error:  # a failure of dpctl's is not judged
            raise RuntimeError(f"dpctl: {error}") from error
        ours = um.as_usm_memory(theirs)
        ours.copy_from_host(data)
        same(ours.tobytes(), data)
        same(ours._pointer, theirs._pointer)


def everything() -> None:
    """All of the above, for a process that does it once."""
    for run in ALL.values():
        run()
