"""Holds a queue back until the test lets it go, so that "still running" needs no clock.

On CUDA kernels have to be compiled before: loading one waits until the device is idle.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ctypes
import gc
import time
from types import TracebackType

import usmx

_CL_COMPLETE = 0


def collect_all() -> None:
    """Frees what earlier tests left: cycles, and what waits for commands that end by themselves."""
    gc.collect()
    deadline = time.monotonic() + 5
    while (waiting := usmx._usmx._Testing.collect()) and time.monotonic() < deadline:
        time.sleep(0.001)
    assert waiting == 0


class _UserEvent:
    """A command of OpenCL that the host completes."""

    def __init__(self, queue: usmx.Queue) -> None:
        self._opencl = ctypes.CDLL("libOpenCL.so.1")
        self._opencl.clCreateUserEvent.restype = ctypes.c_void_p
        error = ctypes.c_int()
        event = self._opencl.clCreateUserEvent(
            ctypes.c_void_p(queue.context.native), ctypes.byref(error)
        )
        assert error.value == 0
        self._event = ctypes.c_void_p(event)
        error.value = self._opencl.clEnqueueBarrierWithWaitList(
            ctypes.c_void_p(queue.native), 1, ctypes.byref(self._event), None
        )
        assert error.value == 0

    def complete(self) -> None:
        assert self._opencl.clSetUserEventStatus(self._event, _CL_COMPLETE) == 0
        self._opencl.clReleaseEvent(self._event)


class _StreamFlag:
    """A word of pinned memory that a stream of CUDA waits for."""

    def __init__(self, queue: usmx.Queue) -> None:
        cuda = ctypes.CDLL("libcuda.so.1")
        context, memory = ctypes.c_void_p(), ctypes.c_void_p()
        assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), queue.device.native) == 0
        assert cuda.cuCtxPushCurrent_v2(context) == 0
        try:
            portable_and_mapped = 3
            assert cuda.cuMemHostAlloc(ctypes.byref(memory), 4, portable_and_mapped) == 0
            self._flag = ctypes.cast(memory, ctypes.POINTER(ctypes.c_uint32))
            self._flag[0] = 0
            at_least = 0
            stream = ctypes.c_void_p(queue.native)
            assert cuda.cuStreamWaitValue32_v2(stream, memory, 1, at_least) == 0
        finally:
            cuda.cuCtxPopCurrent_v2(ctypes.byref(context))

    def complete(self) -> None:
        self._flag[0] = 1


class Gate:
    """All later commands on an in-order queue wait until `open()`.

    Parameters
    ----------
    queue : usmx.Queue
        In order, of an OpenCL or CUDA device: there the host can complete what a queue waits for.
    """

    def __init__(self, queue: usmx.Queue) -> None:
        # Without a pool, freeing what earlier tests left waits for all that runs, the gate too.
        collect_all()
        self._queue = queue  # keeps the borrowed handles alive
        self._context = queue.context
        forms = {"opencl": _UserEvent, "cuda": _StreamFlag}
        self._held: _UserEvent | _StreamFlag | None = forms[queue.backend](queue)

    def open(self) -> None:
        """Let the queue go; a second call does nothing."""
        if self._held is not None:
            self._held.complete()
            self._held = None

    def __enter__(self) -> Gate:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.open()
