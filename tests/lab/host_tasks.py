"""Host tasks on a queue: commands of other libraries whose events have no context."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ctypes
from functools import cache
from types import TracebackType

import lab

import usmx


@cache
def _library() -> ctypes.CDLL:
    loaded = ctypes.CDLL(str(lab.built("libhost_tasks.so")))
    for name in ("submit", "event", "open", "end"):
        function = getattr(loaded, f"host_task_{name}")
        function.argtypes = [ctypes.c_void_p]
        function.restype = ctypes.c_void_p
    return loaded


_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]
_pointer_of.restype = ctypes.c_void_p
_capsule_of = ctypes.pythonapi.PyCapsule_New
_capsule_of.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_capsule_of.restype = ctypes.py_object


class HostTask:
    """A command that ends when it is opened. To usmx it is an event of another library.

    Parameters
    ----------
    queue : usmx.Queue
        Where it is submitted.
    """

    def __init__(self, queue: usmx.Queue) -> None:
        capsule = queue._get_capsule()
        self._task = _library().host_task_submit(_pointer_of(capsule, b"SyclQueueRef"))
        self._is_open = False

    def _get_capsule(self) -> object:
        return _capsule_of(_library().host_task_event(self._task), b"SyclEventRef", None)

    def open(self) -> None:
        """Let it end; a second call does nothing."""
        if not self._is_open:
            self._is_open = True
            _library().host_task_open(self._task)

    def __enter__(self) -> HostTask:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.open()
        _library().host_task_end(self._task)
