"""Measure blocking copies between the host and USM, compared with those of dpctl and NumPy."""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from functools import partial

import dpctl.memory
import dpnp.tensor as dpt
import numpy as np
from table import Case, Effort, Result, Rival, main, measure

import usmx
import usmx.memory

#: Bytes of a copy, and how many times faster than dpctl's it is meant to be.
SIZES = {1 << 10: 40, 1 << 16: 6, 1 << 20: 1.5, 16 << 20: 1, 64 << 20: 1}


def name_of(size: int) -> str:
    """``1 KiB``, ``64 MiB``."""
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


def cases(sizes: dict[int, float]) -> list[Case]:
    """Every row of the table."""
    rows = []
    for size, aim in sizes.items():
        here, back = np.ones(size, "u1"), np.ones(size, "u1")
        for kind in ("Shared", "Host", "Device"):
            theirs = getattr(dpctl.memory, f"MemoryUSM{kind}")(size)
            ours = getattr(usmx.memory, f"MemoryUSM{kind}")(size)
            wanted = aim if kind != "Device" else None
            what = f"{name_of(size)} {kind.lower()}"
            numpy = [] if kind == "Device" else [Rival("np.copyto", partial(np.copyto, back, here))]
            rows += [
                Case(
                    f"{what}: memory.copy_from_host",
                    partial(ours.copy_from_host, here),
                    [Rival("dpctl", partial(theirs.copy_from_host, here), wanted), *numpy],
                ),
                Case(
                    f"{what}: memory.copy_to_host",
                    partial(ours.copy_to_host, back),
                    [Rival("dpctl", partial(theirs.copy_to_host, back), wanted)],
                ),
                Case(
                    f"{what}: usmx.copy to it",
                    partial(usmx.copy, ours, here),
                    [Rival("dpctl", partial(theirs.copy_from_host, here), wanted)],
                ),
                Case(
                    f"{what}: usmx.copy from it",
                    partial(usmx.copy, back, ours),
                    [Rival("dpctl", partial(theirs.copy_to_host, back), wanted)],
                ),
            ]
    return rows


def transpositions() -> list[Case]:
    """A matrix of 2048 rows to one whose rows are its columns, by the host and by the device."""
    host = np.arange(2048 * 2048, dtype=np.float32).reshape(2048, 2048)
    back, theirs = np.empty_like(host), dpt.asarray(host)

    def copy_theirs() -> None:
        dpt.copy(theirs.T, order="C").sycl_queue.wait()

    rivals = [
        Rival("dpnp.tensor", copy_theirs, 2.5),
        Rival("NumPy", lambda: np.copyto(back, host.T), 2),
    ]
    rows = []
    for kind in ("shared", "device"):
        ours = usmx.asarray(host, usm_type=kind)
        out = usmx.empty_like(ours)
        rows.append(
            Case(f"transpose 2048^2 float32, {kind}", partial(usmx.copy, out, ours.T), rivals)
        )
    return rows


def run(effort: Effort) -> list[Result]:
    """Time everything.

    Parameters
    ----------
    effort : Effort
        How long to measure.
    """
    if effort.quick:
        return measure(cases({1 << 10: 40, 1 << 16: 6}) + transpositions(), effort)
    # One size after the other, so that the state of the CPU caches comes from the same size.
    copies = [r for size, aim in SIZES.items() for r in measure(cases({size: aim}), effort)]
    return copies + measure(transpositions(), effort)


if __name__ == "__main__":
    main("blocking copies between the host and USM", __doc__, run)
