"""How long a call takes until its result is there, and what this machine does in a second."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from statistics import median
from time import perf_counter
from typing import Any

from . import _usmx

__all__ = ["Timing", "bench"]

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


def _text(seconds: float) -> str:
    scale, unit = next((u for u in _UNITS if seconds >= u[0]), _UNITS[-1])
    return f"{seconds / scale:.3g} {unit}"


@dataclass(frozen=True)
class Timing:
    """What `bench` found, in seconds.

    Attributes
    ----------
    first : float
        The first call, which compiles kernels.
    times : tuple of float
        Each call after it.

    Examples
    --------
    >>> import usmx
    >>> found = usmx.bench(lambda: usmx.ones(10) + 1, seconds=0.01)
    >>> found.best <= found.median <= max(found.times)
    True
    """

    first: float
    times: tuple[float, ...]

    @property
    def best(self) -> float:
        """The shortest call."""
        return min(self.times)

    @property
    def median(self) -> float:
        """The call in the middle."""
        return median(self.times)

    def __str__(self) -> str:
        return (
            f"median {_text(self.median)}, best {_text(self.best)} of {len(self.times)} calls; "
            f"first {_text(self.first)}"
        )


def finish(result: Any) -> None:
    """Wait until what a call gave is computed."""
    if isinstance(result, (tuple, list)):
        for one in result:
            finish(one)
    elif isinstance(result, (_usmx.ndarray, _usmx.Event)):
        result.wait()


def bench(
    function: Callable[..., Any], *args: Any, seconds: float = 0.5, **keywords: Any
) -> Timing:
    """Call a function again and again, each time until its result is computed.

    Arrays are computed when they are needed, and kernels end after the call that launched them:
    without waiting, `timeit` measures how long it takes to ask.

    Parameters
    ----------
    function : callable
        What is called.
    *args, **keywords : optional
        Its arguments.
    seconds : float
        For how long, at least; there are two calls at least.

    Returns
    -------
    Timing
        The first call by itself, because it compiles kernels, and those after it.

    Raises
    ------
    TypeError
        `function` is not callable.
    ValueError
        `seconds` is negative.

    Examples
    --------
    >>> import usmx
    >>> x = usmx.ones(1000)
    >>> found = usmx.bench(lambda: usmx.sqrt(x) + 1, seconds=0.01)
    >>> found.best <= found.median
    True
    """
    if not callable(function):
        raise TypeError(f"bench: expected a function, got {type(function).__name__}")
    if not seconds >= 0:
        raise ValueError(f"seconds: {seconds}; expected 0 or more")

    def call() -> float:
        start = perf_counter()
        finish(function(*args, **keywords))
        return perf_counter() - start

    first = call()
    times = [call()]
    end = perf_counter() + seconds
    while perf_counter() < end:
        times.append(call())
    return Timing(first, tuple(times))


def copied_in_a_second(x: Any, y: Any, seconds: float) -> float:
    """The bytes that a copy of one array to another reads and writes in a second."""
    usmx = import_module("usmx")  # which imports this module when `bench` is used
    moved: int = 2 * x.nbytes
    return moved / bench(lambda: usmx.copy(y, x), seconds=seconds).median


@cache
def limit_of(device: str) -> float | None:
    """What a copy in the memory of a device moves, in 10^9 bytes in a second.

    None for parts of devices, which have no filter string. Measured once in a process, which takes
    a third of a second.
    """
    try:
        queue = _usmx.Queue(device)
    except (ValueError, _usmx.DeviceError):
        return None
    count = max(1, min(64 << 20, queue.device.global_mem_size // 16)) // 4
    usmx = import_module("usmx")
    x, y = (usmx.full(count, 1.5, "float32", queue=queue, usm_type="device") for _ in range(2))
    return copied_in_a_second(x, y, 0.2) / 1e9


@dataclass(frozen=True)
class Row:
    """One task: its time in seconds, and what it does in a second in a unit of its own."""

    task: str
    seconds: float
    rate: float | None
    unit: str
    #: Of the bandwidth that a copy in device memory has; None where it is not the limit.
    share: float | None


def machine(queue: Any, nbytes: int | None = None, seconds: float = 0.5) -> Iterator[Row]:
    """Tasks that tell how fast a device is, in units of what its own memory does."""
    usmx = import_module("usmx")
    most = queue.device.global_mem_size // 16
    count = max(1, min(256 << 20, most) if nbytes is None else nbytes) // 4
    place: Any = {"queue": queue, "usm_type": "device"}
    x, y = (usmx.full(count, 1.5, "float32", **place) for _ in range(2))
    pinned = usmx.ones(count, "float32", queue=queue, usm_type="host")

    def timed(function: Callable[[], Any]) -> float:
        return bench(function, seconds=seconds).median

    limit = copied_in_a_second(x, y, seconds)

    def row(task: str, moved: int, took: float) -> Row:
        return Row(task, took, moved / took / 1e9, "GB/s", moved / took / limit)

    size = x.nbytes
    text = f"{size / (1 << 20):.3g} MiB"
    yield row(f"copy {text} in device memory", 2 * size, 2 * size / limit)
    yield row(f"copy {text} from the host", size, timed(lambda: usmx.copy(y, pinned)))
    yield row(f"copy {text} to the host", size, timed(lambda: usmx.copy(pinned, y)))
    yield row("fill", size, timed(lambda: usmx.fill(y, 2.0)))
    yield row("x * 2 + y", 3 * size, timed(lambda: x * 2 + y))
    yield row("x.sum()", size, timed(x.sum))
    yield row("usmx.cumulative_sum(x)", 2 * size, timed(lambda: usmx.cumulative_sum(x)))
    some = min(count, 1 << 20)
    numbers = usmx.random.default_rng(1, queue=queue).random(some, "float32")
    took = timed(lambda: usmx.sort(numbers))
    yield Row(f"usmx.sort of {some} float32", took, some / took / 1e6, "M/s", None)
    n = min(1024, int(count**0.5))
    a = x[: n * n].reshape(n, n)
    took = timed(lambda: a @ a)
    yield Row(f"a @ a of {n} x {n} float32", took, 2 * n**3 / took / 1e9, "GFLOP/s", None)
    few = usmx.ones(10, "float32", queue=queue)
    yield Row("x + x of 10 float32", timed(lambda: few + few), None, "", None)
    took = timed(lambda: usmx.empty(1 << 18, "float32", **place))
    yield Row("usmx.empty of 1 MiB", took, None, "", None)
    kernel = _usmx.RawKernel("USMX_KERNEL(1) none(float* x) { (void)x; }", "none")
    took = timed(lambda: kernel[1](x, queue=queue))
    yield Row("launch of a kernel, until it ended", took, None, "", None)
