"""Holds a queue back until the test lets it go, so that "still running" needs no clock."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ctypes
import time
from types import TracebackType

import usmx

_CL_COMPLETE = 0


def collect_all() -> None:
    """Frees what waits for commands of earlier tests, which must end by themselves."""
    deadline = time.monotonic() + 5
    while (waiting := usmx._usmx._collect()) and time.monotonic() < deadline:
        time.sleep(0.001)
    assert waiting == 0


class Gate:
    """Whatever is submitted to an in-order OpenCL queue after it waits until `open()`.

    Parameters
    ----------
    queue : usmx.Queue
        In order, of an OpenCL device: only OpenCL has events that the host completes.
    """

    def __init__(self, queue: usmx.Queue) -> None:
        # Without a pool, freeing what earlier tests left waits for all that runs, the gate too.
        collect_all()
        self._queue = queue  # keeps the borrowed handles alive
        self._context = queue.context
        self._opencl = ctypes.CDLL("libOpenCL.so.1")
        self._opencl.clCreateUserEvent.restype = ctypes.c_void_p
        error = ctypes.c_int()
        event = self._opencl.clCreateUserEvent(
            ctypes.c_void_p(self._context.native), ctypes.byref(error)
        )
        assert error.value == 0
        self._event: ctypes.c_void_p | None = ctypes.c_void_p(event)
        error.value = self._opencl.clEnqueueBarrierWithWaitList(
            ctypes.c_void_p(queue.native), 1, ctypes.byref(self._event), None
        )
        assert error.value == 0

    def open(self) -> None:
        """Let the queue go; a second call does nothing."""
        if self._event is not None:
            assert self._opencl.clSetUserEventStatus(self._event, _CL_COMPLETE) == 0
            self._opencl.clReleaseEvent(self._event)
            self._event = None

    def __enter__(self) -> Gate:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.open()
