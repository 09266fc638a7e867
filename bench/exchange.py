"""Measure what handing USM from library to library costs, beside what others take for the same.

Ours and the rival's call take turns in one run and each shows its fastest round, because the
machine is shared and only a ratio survives that. A figure is the call alone: what an empty call
takes is subtracted.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import argparse
import json
import timeit
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial

import dpctl.memory
import dpnp.tensor

import usmx
import usmx.memory

ATTRIBUTE = "__sycl_usm_array_interface__"


class Producer:
    """Memory described in pure Python, as the protocol's documentation shows it."""

    def __init__(self, memory: object) -> None:
        self.memory = memory
        self.description = dict(getattr(memory, ATTRIBUTE), data=(memory._pointer, False))

    @property
    def __sycl_usm_array_interface__(self) -> dict[str, object]:
        """The description, made once."""
        return self.description


@dataclass
class Case:
    """Two calls that do the same; ``aim`` is how many times faster ours is meant to be."""

    name: str
    rival_name: str
    rival: Callable[[], object]
    ours: Callable[[], object]
    aim: float | None = None


@dataclass
class Result:
    """The fastest rounds in nanoseconds a call."""

    case: str
    rival_name: str
    rival: float
    ours: float
    ratio: float
    aim: float | None


def cases() -> list[Case]:
    """Every row of the table."""
    block = dpctl.memory.MemoryUSMShared(1024)
    table = dpnp.tensor.arange(24, dtype="f4")
    memory = usmx.memory.MemoryUSMShared(1024)
    array = usmx.empty(24, dtype="f4")
    foreign = Producer(block)
    own = Producer(memory)
    queue = block.sycl_queue

    def get(obj: object) -> Callable[[], object]:
        return partial(getattr, obj, ATTRIBUTE)

    ours, as_array = usmx.memory.as_usm_memory, usmx.asarray
    theirs, as_tensor = dpctl.memory.as_usm_memory, dpnp.tensor.asarray

    def answer_of_dpctl() -> None:
        getattr(block, ATTRIBUTE)
        queue._get_capsule()

    return [
        Case("describe memory", "dpctl", get(block), get(memory), 1),
        Case("describe an array", "dpnp.tensor", get(table), get(array), 8),
        Case("dpctl's memory as memory", "dpctl", partial(theirs, block), partial(ours, block), 2),
        Case("  of which dpctl's answer", "dpctl", answer_of_dpctl, answer_of_dpctl),
        Case("a producer as memory", "dpctl", partial(theirs, foreign), partial(ours, foreign), 10),
        Case("  with a queue of ours", "dpctl", partial(theirs, own), partial(ours, own), 10),
        Case("our memory as memory", "dpctl", partial(theirs, memory), partial(ours, memory)),
        Case(
            "dpctl's memory as an array",
            "dpnp.tensor",
            partial(as_tensor, block),
            partial(as_array, block),
            8,
        ),
        Case(
            "a producer as an array",
            "dpnp.tensor",
            partial(as_tensor, foreign),
            partial(as_array, foreign),
            8,
        ),
        Case(
            "their array as ours, ours as theirs",
            "dpnp.tensor",
            partial(as_tensor, array),
            partial(as_array, table),
        ),
    ]


def measure(rows: list[Case], rounds: int, calls: int) -> list[Result]:
    """Time all rows, round by round."""
    empty = timeit.Timer(partial(abs, 0))
    timers = [(timeit.Timer(row.rival), timeit.Timer(row.ours)) for row in rows]
    best = [[float("inf")] * 2 for _ in rows]
    loop = float("inf")
    for _ in range(rounds):
        loop = min(loop, empty.timeit(calls))
        for times, pair in zip(best, timers, strict=True):
            times[:] = (min(t, timer.timeit(calls)) for t, timer in zip(times, pair, strict=True))
    results = []
    for row, times in zip(rows, best, strict=True):
        rival, ours = (max(t - loop, 0.0) / calls * 1e9 for t in times)
        results.append(
            Result(row.name.strip(), row.rival_name, rival, ours, rival / max(ours, 0.1), row.aim)
        )
    return results


def show(results: list[Result]) -> None:
    """Print the table."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Exchange of USM: ns a call, fastest round")
    table.add_column("case")
    for heading in ("rival", "", "usmx", "ratio", "aim"):
        table.add_column(heading, justify="right")
    for r in results:
        table.add_row(
            r.case,
            r.rival_name,
            f"{r.rival:.0f}",
            f"{r.ours:.0f}",
            f"{r.ratio:.1f}x",
            "" if r.aim is None else f">= {r.aim:g}x",
        )
    Console().print(table)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few calls: figures mean nothing")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    rounds, calls = (2, 10) if options.quick else (60, 2000)
    results = measure(cases(), rounds, calls)
    if options.json:
        print(json.dumps([asdict(r) for r in results], indent=2))
    else:
        show(results)


if __name__ == "__main__":
    main()
