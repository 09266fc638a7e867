"""Measure kernels from expressions, compared with the same functions of dpnp and NumPy.

Each library has a process of its own.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from apart import Side, measure_apart, waited
from table import Effort, Result, main

SMALL, LARGE = 10, 10_000_000
CASES = (
    f"x + 1 of {SMALL}",
    f"x + 1 of {SMALL}, fused",
    f"x + y of {SMALL}",
    f"x + 1 of {LARGE:,} into out",
)
#: Case and library -> how many times faster usmx is meant to be.
AIMS = {
    (CASES[0], "dpnp"): 40, (CASES[1], "dpnp"): 40, (CASES[2], "dpnp"): 12,
    (CASES[3], "dpnp"): 4, (CASES[3], "NumPy"): 1,
}  # fmt: skip


def _usmx() -> Iterator[Callable[[], object]]:
    import usmx

    plus_one = usmx.ElementwiseKernel("T x", "T z", "z = x + 1", "plus_one")
    add = usmx.ElementwiseKernel("T x, T y", "T z", "z = x + y", "add")
    fused = usmx.fuse(lambda x: x + 1)
    x = usmx.ones(SMALL, "float32")
    large, out = usmx.ones(LARGE, "float32"), usmx.empty(LARGE, "float32")
    yield waited(lambda: plus_one(x), x.queue.wait)
    yield waited(lambda: fused(x), x.queue.wait)
    yield waited(lambda: add(x, x), x.queue.wait)
    yield waited(lambda: plus_one(large, out=out), x.queue.wait)


def _numpy() -> Iterator[Callable[[], object] | None]:
    """It launches nothing for a few numbers."""
    large, out = np.ones(LARGE, np.float32), np.empty(LARGE, np.float32)
    yield from (None, None, None, lambda: np.add(large, 1, out=out))


def _dpnp() -> Iterator[Callable[[], object]]:
    import dpnp

    x, large = dpnp.ones(SMALL, dtype="float32"), dpnp.ones(LARGE, dtype="float32")
    out, wait = dpnp.empty_like(large), x.sycl_queue.wait
    yield waited(lambda: x + 1, wait)
    yield waited(lambda: x + 1, wait)
    yield waited(lambda: x + x, wait)
    yield waited(lambda: dpnp.add(large, 1, out=out), wait)


LIBRARIES: dict[str, Callable[[], Iterator[Callable[[], object] | None]]] = {
    "usmx": _usmx, "dpnp": _dpnp, "NumPy": _numpy,
}  # fmt: skip


def sides(library: str) -> Iterator[Side | None]:
    """x + 1 and x + y, for small and large arrays."""
    for case, call in zip(CASES, LIBRARIES[library](), strict=True):
        yield Side(case, call) if call else None


def run(effort: Effort) -> list[Result]:
    """Measure all of it.

    Parameters
    ----------
    effort : Effort
        How long to measure.
    """
    return list(measure_apart("expressions", list(LIBRARIES), [], effort, AIMS))


if __name__ == "__main__":
    main("usmx", __doc__, run)
