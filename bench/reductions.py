"""Measure reductions and scans from expressions, compared with those of dpnp and NumPy."""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import dpnp
import numpy as np
from expressions import LARGE, waited, waited_by_dpnp
from table import Case, Effort, Result, Rival, main, measure

import usmx

#: Shapes of the same number of elements, and the axis that is reduced.
SHAPES = {(LARGE,): 0, (10_000, 1000): 1, (1000, 10_000): 0, (LARGE // 10, 10): 1}


def cases() -> list[Case]:
    """Sums and cumulative sums of ten million float32, in several shapes."""
    total = usmx.ReductionKernel("T x", "T y", "x", "a + b", "y = a", 0, "total")
    running = usmx.ScanKernel("T x", "T y", "x", "a + b", name="running")
    numbers = np.random.default_rng(1).random(LARGE, dtype=np.float32)
    rows = []
    for shape, axis in SHAPES.items():
        host = numbers.reshape(shape)
        host_out = np.empty_like(host)
        ours, theirs = usmx.asarray(host), dpnp.asarray(host)
        sums, out = total(ours, axis=axis), usmx.empty(shape, "float32")
        whole = len(shape) == 1
        rows += [
            Case(
                f"sum of {shape} along {axis}",
                waited(lambda x=ours, k=axis, o=sums: total(x, axis=k, out=o), ours.queue),
                [
                    Rival(
                        "dpnp",
                        waited_by_dpnp(lambda x=theirs, k=axis: dpnp.sum(x, axis=k), theirs),
                        2 if whole else None,
                    ),
                    Rival("NumPy", lambda x=host, k=axis: np.sum(x, axis=k), 1 if whole else None),
                ],
            ),
            Case(
                f"running sum of {shape} along {axis}",
                waited(lambda x=ours, k=axis, o=out: running(x, axis=k, out=o), ours.queue),
                [Rival("NumPy", lambda x=host, k=axis, o=host_out: np.cumsum(x, axis=k, out=o))],
            ),
        ]
    return rows


def run(effort: Effort) -> list[Result]:
    """Time everything.

    Parameters
    ----------
    effort : Effort
        How long to measure.
    """
    return measure(cases(), effort)


if __name__ == "__main__":
    main("reductions and scans from expressions", __doc__, run)
