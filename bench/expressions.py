"""Measure kernels from expressions, compared with the same functions of dpnp and NumPy."""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from collections.abc import Callable

import dpnp
import numpy as np
from table import Case, Effort, Result, Rival, main, measure

import usmx

SMALL, LARGE = 10, 10_000_000


def waited(call: Callable[[], object], queue: usmx.Queue) -> Callable[[], None]:
    """The call, and the wait for what it launched."""

    def call_and_wait() -> None:
        call()
        queue.wait()

    return call_and_wait


def waited_by_dpnp(call: Callable[[], object], like: dpnp.ndarray) -> Callable[[], None]:
    """The same with dpnp's queue."""
    wait = like.sycl_queue.wait

    def call_and_wait() -> None:
        call()
        wait()

    return call_and_wait


def cases() -> list[Case]:
    """x + 1 and x + y, for small and large arrays."""
    plus_one = usmx.ElementwiseKernel("T x", "T z", "z = x + 1", "plus_one")
    add = usmx.ElementwiseKernel("T x, T y", "T z", "z = x + y", "add")
    fused = usmx.fuse(lambda x: x + 1)
    x, theirs = usmx.ones(SMALL, "float32"), dpnp.ones(SMALL, dtype="float32")
    large, out = usmx.ones(LARGE, "float32"), usmx.empty(LARGE, "float32")
    their_large = dpnp.ones(LARGE, dtype="float32")
    their_out = dpnp.empty_like(their_large)
    host, host_out = np.ones(LARGE, np.float32), np.empty(LARGE, np.float32)
    queue = x.queue
    for _ in range(100):  # how many calls fill a round is guessed from the first ones
        plus_one(x), add(x, x), fused(x)
    queue.wait()
    one_more = Rival("dpnp", waited_by_dpnp(lambda: theirs + 1, theirs), 40)
    rivals_of_much = [
        Rival("dpnp", waited_by_dpnp(lambda: dpnp.add(their_large, 1, out=their_out), theirs), 4),
        Rival("NumPy", lambda: np.add(host, 1, out=host_out), 1),
    ]
    return [
        Case(f"x + 1 of {SMALL}", waited(lambda: plus_one(x), queue), [one_more]),
        Case(f"x + 1 of {SMALL}, fused", waited(lambda: fused(x), queue), [one_more]),
        Case(
            f"x + y of {SMALL}",
            waited(lambda: add(x, x), queue),
            [Rival("dpnp", waited_by_dpnp(lambda: theirs + theirs, theirs), 12)],
        ),
        Case(
            f"x + 1 of {LARGE:,} into out",
            waited(lambda: plus_one(large, out=out), queue),
            rivals_of_much,
        ),
    ]


def run(effort: Effort) -> list[Result]:
    """Measure all of it.

    Parameters
    ----------
    effort : Effort
        How long to measure.
    """
    return measure(cases(), effort)


if __name__ == "__main__":
    main("usmx", __doc__, run)
