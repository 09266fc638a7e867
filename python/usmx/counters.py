"""Count what the SYCL runtime is asked to do, so that "zero copy" is measured instead of claimed.

The counts come from the layer below SYCL (Unified Runtime), where every library of the process ends
up: usmx, dpctl, dpnp, a native extension. They hold on every backend.

    >>> import usmx.counters
    >>> usmx.counters.enable()                    # before the first use of SYCL
    >>> with usmx.counters.counting() as c:
    ...     b = usmx.asarray(dpnp_array)
    >>> c.copies, c.allocations, c.zero_copy
    (0, 0, True)

Counting costs about a microsecond for each runtime call, from `enable()` to the end of the process.
A process that is started with ``USMX_TRACE=1`` is enabled when it imports usmx.
What the host copies by itself (NumPy, ``memcpy``) never reaches the runtime and is not seen.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import final

from . import _explained, _usmx

__all__ = ["Counts", "counting", "enable", "enabled", "environment"]

_LIBRARY = Path(__file__).with_name("lib") / "libusmx_trace.so"


@cache
def _library() -> ctypes.CDLL:
    if not _LIBRARY.exists():
        raise RuntimeError(
            f"usmx was built without its call counter ({_LIBRARY} is missing): the SYCL "
            "installation it was built with has no XPTI or Unified Runtime headers"
        )
    library = ctypes.CDLL(str(_LIBRARY))
    library.usmx_trace_set_sink.restype = None
    library.usmx_trace_set_sink.argtypes = [ctypes.c_void_p]
    library.usmx_trace_counters.restype = ctypes.c_size_t
    library.usmx_trace_functions.restype = ctypes.c_size_t
    for function in (library.usmx_trace_counter_name, library.usmx_trace_function_name):
        function.restype = ctypes.c_char_p
        function.argtypes = [ctypes.c_size_t]
    return library


@cache
def _names() -> tuple[str, ...]:
    library = _library()
    return tuple(
        library.usmx_trace_counter_name(i).decode() for i in range(library.usmx_trace_counters())
    )


def _read() -> tuple[dict[str, int], list[int]]:
    library = _library()
    values = (ctypes.c_uint64 * library.usmx_trace_counters())()
    calls = (ctypes.c_uint64 * library.usmx_trace_functions())()
    library.usmx_trace_read(values)
    library.usmx_trace_read_calls(calls)
    return dict(zip(_names(), values, strict=True)), list(calls)


def _framework() -> str:
    """The tracing framework that belongs to the libsycl of this process."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            path = line.split(maxsplit=5)[-1].strip()
            if "/libsycl.so" in path:
                return os.path.join(os.path.dirname(path), "libxptifw.so")
    raise RuntimeError("libsycl is not loaded in this process")


def environment() -> dict[str, str]:
    """Environment variables that make the SYCL runtime report its calls.

    `enable` sets them in this process. Pass them to a child process to count there from its start,
    before its first import: ``subprocess.run(..., env={**os.environ, **environment()})``.

    Returns
    -------
    dict of str to str
        What is set in this process already is kept and added to.

    Raises
    ------
    RuntimeError
        If usmx was built without the call counter.

    Examples
    --------
    >>> import usmx
    >>> import usmx.counters
    >>> "XPTI_TRACE_ENABLE" in usmx.counters.environment()
    True
    """
    _library()
    subscribers = [s for s in os.environ.get("XPTI_SUBSCRIBERS", "").split(",") if s]
    layers = [s for s in os.environ.get("UR_ENABLE_LAYERS", "").split(";") if s]
    if str(_LIBRARY) not in subscribers:
        subscribers.append(str(_LIBRARY))
    if "UR_LAYER_TRACING" not in layers:
        layers.append("UR_LAYER_TRACING")
    dispatcher = os.environ.get("XPTI_FRAMEWORK_DISPATCHER")
    return {
        "XPTI_TRACE_ENABLE": "1",
        "XPTI_FRAMEWORK_DISPATCHER": dispatcher or _framework(),
        "XPTI_SUBSCRIBERS": ",".join(subscribers),
        "UR_ENABLE_LAYERS": ";".join(layers),
    }


def enabled() -> bool:
    """Whether the SYCL runtime of this process reports its calls.

    Returns
    -------
    bool
        True after `enable`, or in a process that was started with `environment`.

    Examples
    --------
    >>> import usmx
    >>> import usmx.counters
    >>> isinstance(usmx.counters.enabled(), bool)
    True
    """
    return bool(_library().usmx_trace_attached())


def _listen() -> bool:
    """Let recorders of usmx hear of the runtime's calls; False if it does not report them."""
    if not enabled():
        return False
    _library().usmx_trace_set_sink(_usmx._TraceRecorder.sink())
    return True


def enable() -> None:
    """Start counting, for the rest of the process.

    The runtime decides at its first use (the first look at devices) whether it is traced. Importing
    dpctl, dpnp or usmx before is fine; using them is not. Starts the runtime, so that success is
    certain when this returns. A second call does nothing.

    Raises
    ------
    RuntimeError
        If SYCL has been used in this process before, or usmx was built without the call counter.

    Examples
    --------
    >>> import usmx.counters
    >>> usmx.counters.enable()  # the first act of a program
    >>> usmx.counters.enabled()
    True
    """
    if enabled():
        return
    os.environ.update(environment())
    _usmx.devices()
    if not enabled():
        from ._help import with_link

        raise with_link(
            RuntimeError(
                "the SYCL runtime of this process was used before usmx.counters.enable(), and it "
                "decides at its first use whether its calls can be counted: call enable() first, "
                "or start Python with the variables of usmx.counters.environment()"
            )
        )


@final
class Counts:
    """What the runtime did between two moments; while the block still runs, until now.

    Counts are of the whole process, all threads. A call counts when it returns. Copies and fills
    count when they are submitted, wherever they run later.

    Examples
    --------
    >>> with usmx.counters.counting() as counts:
    ...     x = usmx.memory.MemoryUSMShared(64)
    >>> counts["shared_bytes"]
    64
    """

    __slots__ = ("_after", "_before")

    def __init__(self) -> None:
        self._before = _read()
        self._after: tuple[dict[str, int], list[int]] | None = None

    def _stop(self) -> None:
        self._after = _read()

    def _get(self, *names: str) -> int:
        after = (self._after or _read())[0]
        return sum(after[name] - self._before[0][name] for name in names)

    @property
    def allocations(self) -> int:
        """USM allocations of all kinds."""
        return self._get("device_allocations", "host_allocations", "shared_allocations")

    @property
    def bytes_allocated(self) -> int:
        """Bytes of USM allocated, of all kinds."""
        return self._get("device_bytes", "host_bytes", "shared_bytes")

    @property
    def allocations_by_kind(self) -> dict[str, tuple[int, int]]:
        """``(allocations, bytes)`` for each of "device", "shared" and "host"."""
        return {
            kind: (self._get(f"{kind}_allocations"), self._get(f"{kind}_bytes"))
            for kind in ("device", "shared", "host")
        }

    @property
    def frees(self) -> int:
        """USM allocations given back."""
        return self._get("frees")

    @property
    def copies(self) -> int:
        """Copies by the runtime: of USM, also 2-D, of buffers and images, to and from globals."""
        return self._get("copies")

    @property
    def bytes_copied(self) -> int:
        """Bytes moved by `copies`; images count as copies only."""
        return self._get("bytes_copied")

    @property
    def fills(self) -> int:
        """Fills of memory, ``memset`` among them."""
        return self._get("fills")

    @property
    def bytes_filled(self) -> int:
        """Bytes written by `fills`."""
        return self._get("bytes_filled")

    @property
    def prefetches(self) -> int:
        """Requests to move shared memory ahead of its use."""
        return self._get("prefetches")

    @property
    def kernels(self) -> int:
        """Kernel launches."""
        return self._get("kernels")

    @property
    def builds(self) -> int:
        """Programs built for a device."""
        return self._get("builds")

    @property
    def failed(self) -> int:
        """Calls of the kinds above that the runtime refused; they count nowhere else."""
        return self._get("failed")

    @property
    def zero_copy(self) -> bool:
        """True if nothing was copied and nothing allocated."""
        return not (self.copies or self.allocations)

    @property
    def calls(self) -> Mapping[str, int]:
        """How often each function of the runtime was called, by name, failed calls included."""
        after = (self._after or _read())[1]
        name = _library().usmx_trace_function_name
        return {
            name(i).decode(): count - self._before[1][i]
            for i, count in enumerate(after)
            if count != self._before[1][i]
        }

    def values(self) -> dict[str, int]:
        """All counters by name, zeros included.

        Returns
        -------
        dict of str to int
            As many as the runtime has kinds of calls.
        """
        return {name: self._get(name) for name in _names()}

    def __repr__(self) -> str:
        changed = (f"{name}={value}" for name, value in self.values().items() if value)
        return f"Counts({', '.join(changed)})"


@contextlib.contextmanager
def counting() -> Iterator[Counts]:
    """Count the runtime calls of a ``with`` block. Blocks may nest and overlap between threads.

    Yields
    ------
    Counts
        Running values inside the block, final ones after it.

    Raises
    ------
    RuntimeError
        If `enable` was not called.

    Examples
    --------
    >>> with usmx.counters.counting() as c:
    ...     m = usmx.memory.MemoryUSMShared(1 << 20)
    >>> c
    Counts(shared_allocations=1, shared_bytes=1048576)
    """
    if not enabled():
        raise RuntimeError("nothing is counted yet: call usmx.counters.enable() first")
    counts = Counts()
    try:
        yield counts
    finally:
        counts._stop()


def _main(arguments: list[str]) -> int:
    """``python -m usmx.counters program.py [arguments]``: run a program, print what it did."""
    import runpy

    if not arguments:
        print(f"usage: {Path(sys.executable).name} -m usmx.counters program.py [arguments]")
        return 2
    enable()
    sys.argv = arguments
    sys.path[0] = str(Path(arguments[0]).resolve().parent)
    counts = Counts()
    try:
        runpy.run_path(arguments[0], run_name="__main__")
    finally:
        for name, value in counts.values().items():
            print(f"{name:20} {value:>15,}", file=sys.stderr)
    return 0


_explained.explain(globals())

if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
