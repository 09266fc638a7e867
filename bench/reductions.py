"""Measure reductions and scans from expressions, compared with those of dpnp and NumPy.

Each library has a process of its own.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from apart import Side, measure_apart, waited
from expressions import LARGE
from table import Effort, Result, main

#: Shapes of the same number of elements, and the axis that is reduced.
SHAPES = {(LARGE,): 0, (10_000, 1000): 1, (1000, 10_000): 0, (LARGE // 10, 10): 1}
#: Case and library -> how many times faster usmx is meant to be.
AIMS = {(f"sum of {(LARGE,)} along 0", "dpnp"): 2, (f"sum of {(LARGE,)} along 0", "NumPy"): 1}

#: What sums an array along an axis, and what makes running sums; nothing if the library has none.
Pair = tuple[Callable[[], object], Callable[[], object] | None]


def _usmx(host: Any, axis: int) -> Pair:
    import usmx

    total = usmx.ReductionKernel("T x", "T y", "x", "a + b", "y = a", 0, "total")
    running = usmx.ScanKernel("T x", "T y", "x", "a + b", name="running")
    x, out = usmx.asarray(host), usmx.empty(host.shape, "float32")
    sums, wait = total(x, axis=axis), x.queue.wait
    return (
        waited(lambda: total(x, axis=axis, out=sums), wait),
        waited(lambda: running(x, axis=axis, out=out), wait),
    )


def _dpnp(host: Any, axis: int) -> Pair:
    import dpnp

    x = dpnp.asarray(host)
    return waited(lambda: dpnp.sum(x, axis=axis), x.sycl_queue.wait), None


def _numpy(host: Any, axis: int) -> Pair:
    out = np.empty_like(host)
    return lambda: np.sum(host, axis=axis), lambda: np.cumsum(host, axis=axis, out=out)


LIBRARIES = {"usmx": _usmx, "dpnp": _dpnp, "NumPy": _numpy}


def sides(library: str) -> Iterator[Side | None]:
    """Sums and cumulative sums of ten million float32, in several shapes."""
    numbers = np.random.default_rng(1).random(LARGE, dtype=np.float32)
    for shape, axis in SHAPES.items():
        total, running = LIBRARIES[library](numbers.reshape(shape), axis)
        yield Side(f"sum of {shape} along {axis}", total)
        yield Side(f"running sum of {shape} along {axis}", running) if running else None


def run(effort: Effort) -> list[Result]:
    """Time everything.

    Parameters
    ----------
    effort : Effort
        How long to measure.
    """
    return list(measure_apart("reductions", list(LIBRARIES), [], effort, AIMS))


if __name__ == "__main__":
    main("reductions and scans from expressions", __doc__, run)
