"""Measure allocating and freeing memory, compared with dpctl, NumPy, malloc and UMF."""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import dpctl
import dpctl.memory
import numpy as np
from table import Case, Effort, Result, Rival, amount_of_bytes, main, measure

import usmx
import usmx.memory

SMALL = (64, 1024, 4096)
LARGE = (64 << 10, 1 << 20, 16 << 20, 256 << 20)
PAGE = 4096


def pairs() -> list[Case]:
    """Allocate, and free by dropping the object."""
    theirs = dpctl.SyclQueue()
    ours = usmx.Queue()
    memory, dpctl_memory = usmx.memory.MemoryUSMShared, dpctl.memory.MemoryUSMShared
    byte = np.uint8
    cases = []
    for n in SMALL + LARGE:
        size = amount_of_bytes(n)
        aim, host = (25, 1) if n in SMALL else (60, None)
        rivals = [
            Rival("dpctl", partial(dpctl_memory, n, queue=theirs), aim),
            Rival("np.empty", partial(np.empty, n, byte), host),
        ]
        cases.append(Case(f"memory of {size}", partial(memory, n), rivals))
        if n in (1024, 1 << 20):
            of_queue = partial(memory, n, queue=ours)
            array = partial(usmx.empty, n, byte, usm_type="shared")
            cases.append(Case(f"memory of {size}, queue=", of_queue, rivals))
            cases.append(Case(f"array of {size}", array, rivals))
    return cases


def touched(make: Callable[[], object]) -> Callable[[], object]:
    """Allocate, and write a byte of each page: what the first use costs."""

    def allocate_and_touch() -> None:
        np.frombuffer(make(), np.uint8)[::PAGE] = 1

    return allocate_and_touch


def touches() -> list[Case]:
    """Allocate and touch, where page faults count."""
    theirs = dpctl.SyclQueue()
    return [
        Case(
            f"memory of {amount_of_bytes(n)}, touched",
            touched(partial(usmx.memory.MemoryUSMShared, n)),
            [
                Rival(
                    "dpctl", touched(partial(dpctl.memory.MemoryUSMShared, n, queue=theirs)), 100
                ),
                Rival("np.empty", touched(partial(np.empty, n, np.uint8)), 1 / 1.3),
            ],
        )
        for n in (1 << 20, 16 << 20)
    ]


def queues() -> list[Case]:
    """A queue that has been made before."""
    return [
        Case("default queue", usmx.Queue, [Rival("dpctl", dpctl.SyclQueue, 50)]),
        Case(
            "queue of a filter string",
            partial(usmx.Queue, "opencl:cpu:0"),
            [Rival("dpctl", partial(dpctl.SyclQueue, "opencl:cpu:0"), 50)],
        ),
    ]


def asked(program: Path, *arguments: str) -> object:
    """What a C++ program measured."""
    done = subprocess.run([program, *arguments], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def pool_in_cpp(effort: Effort, programs: Path) -> list[Result]:
    """The pool itself, without Python: rows of ``bench/pool.cpp``."""
    quick = ("--quick",) if effort.quick else ()
    results = []
    for row in asked(programs / "bench_pool", "--json", *quick):  # type: ignore[attr-defined]
        batch = row["case"].startswith("64 live of 64 KiB")
        for rival, aim in (("malloc", 0.5), ("UMF", 5 if batch else 1), ("driver", None)):
            name = f"C++: {row['case']}"
            results.append(Result(name, rival, row[rival], row["ours"], aim))
    return results


def recorded_program(steps: int) -> None:
    """A loop as in training: weights that stay, activations and gradients that are temporary."""
    weights = [usmx.empty(256 * 2**k, "float32") for k in range(8)]
    for step in range(steps):
        layers = [usmx.empty((32 + step % 7, 64 * 2 ** (k % 6)), "float32") for k in range(10)]
        gradients = [usmx.empty_like(w) for w in weights]
        while layers:
            layers.pop()
            usmx.empty(17 * (1 + len(layers)) ** 3, "uint8")
        del gradients


def replay(effort: Effort, programs: Path) -> list[Result]:
    """The allocations of a real program, replayed on other resources: ``bench/replay.cpp``."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.csv"
        log = usmx.memory.LoggingResource(usmx.memory.UsmResource(usmx.default_usm_type()), trace)
        with usmx.memory.using(log):
            recorded_program(3 if effort.quick else 100)
        log.flush()
        figures = asked(programs / "bench_replay", trace, "--json")
    assert isinstance(figures, dict)
    case = f"C++: replay of {figures['requests']} requests, each"
    return [
        Result(case, rival, figures[rival], figures["ours"], aim)
        for rival, aim in (("driver", None), ("UMF", 1), ("malloc", None))
    ]


def run(effort: Effort) -> list[Result]:
    """Measure every row; those of C++ only if their programs were built."""
    results = measure([*pairs(), *touches(), *queues()], effort)
    if effort.programs is not None:
        results += pool_in_cpp(effort, effort.programs) + replay(effort, effort.programs)
    return results


if __name__ == "__main__":
    main("Memory", __doc__, run)
