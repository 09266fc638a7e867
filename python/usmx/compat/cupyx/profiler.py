"""``cupyx.profiler``: times of a function, and marks that tools of NVIDIA show.

``from usmx.compat.cupyx.profiler import benchmark``; `usmx.profile` says where time is spent.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import usmx as _usmx
from usmx import _explained

from ..cupy import cuda as _cuda


class PerfCaseResult:
    """What `benchmark` gives.

    Attributes
    ----------
    name : str
        Of the function.
    cpu_times : numpy.ndarray
        Seconds of each call on the host.
    gpu_times : numpy.ndarray
        Seconds of each call on each device, one row for each.
    """

    def __init__(self, name: str, cpu_times: Any, gpu_times: Any) -> None:
        self.name = name
        self.cpu_times: np.ndarray[Any, Any] = np.asarray(cpu_times)
        self.gpu_times: np.ndarray[Any, Any] = np.asarray(gpu_times)

    def to_str(self, show_gpu: bool = True) -> str:
        """A line with means, deviations and extremes in microseconds."""
        shown = [("CPU", self.cpu_times)]
        if show_gpu:
            shown += [(f"GPU-{k}", row) for k, row in enumerate(self.gpu_times)]
        parts = [f"{self.name:<20s}:"]
        for of, seconds in shown:
            us = seconds * 1e6
            parts.append(
                f"{of}: {us.mean():9.3f} us   +/- {us.std():6.3f} "
                f"(min: {us.min():9.3f} / max: {us.max():9.3f}) us"
            )
        return "    ".join(parts)

    def __str__(self) -> str:
        return self.to_str()

    __repr__ = __str__


def benchmark(
    func: Callable[..., Any],
    args: tuple[Any, ...] = (),
    kwargs: dict[str, Any] | None = None,
    n_repeat: int = 10000,
    *,
    name: str | None = None,
    n_warmup: int = 10,
    max_duration: float = math.inf,
    devices: Sequence[int] | None = None,
) -> PerfCaseResult:
    """Call a function many times, and measure each call.

    Parameters
    ----------
    func : callable
        What is measured.
    args, kwargs
        Its arguments.
    n_repeat : int
        Calls that are measured, at most.
    name : str
        Of the result; that of the function if not given.
    n_warmup : int
        Calls before.
    max_duration : float
        Seconds after which no further call is made.
    devices : sequence of int
        Without effect: that of the current device is measured.

    Returns
    -------
    PerfCaseResult
        The times. That of the device is from before the call until all commands have finished.
    """
    if not callable(func):
        raise ValueError("`func` should be a callable object.")
    del devices
    given = kwargs or {}
    for _ in range(n_warmup):
        func(*args, **given)
    device = _cuda.Device()
    device.synchronize()
    of_host, of_device = [], []
    before = time.perf_counter()
    for _ in range(n_repeat):
        start = time.perf_counter()
        result = func(*args, **given)
        returned = time.perf_counter()
        _computed(result)
        device.synchronize()
        end = time.perf_counter()
        of_host.append(returned - start)
        of_device.append(end - start)
        if end - before >= max_duration:
            break
    found: str = name or getattr(func, "__name__", None) or type(func).__name__
    return PerfCaseResult(found, of_host, [of_device])


def _computed(result: Any) -> None:
    """Let arrays that a function gave be computed: usmx does that when they are needed."""
    for one in result if isinstance(result, tuple | list) else (result,):
        if isinstance(one, _usmx.ndarray):
            _ = one.pointer


@contextlib.contextmanager
def time_range(*_: Any, **__: Any) -> Iterator[None]:
    """A mark for NVIDIA's tools, which are not there: see `usmx.trace`."""
    yield


@contextlib.contextmanager
def profile() -> Iterator[None]:
    """Nothing: see `usmx.profile` and `usmx.trace`."""
    yield


__all__ = ["PerfCaseResult", "benchmark", "profile", "time_range"]

_explained.explain(globals())
