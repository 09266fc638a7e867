"""Time calls of usmx and of other libraries in one run, and print them: what benchmarks share.

All sides of a case alternate in one run and each shows its fastest round, because the machine is
shared and only a ratio survives that. A figure is the call alone: what an empty call takes is
subtracted.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import random
import sys
import time
import timeit
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Protocol

#: How long one side of a case is timed in a round, in seconds, and never more calls than that.
ROUND_SECONDS = 0.001
MOST_CALLS = 5000
#: Whose versions a report names, where they are installed.
LIBRARIES = (
    "usmx", "numpy", "numba", "dpctl", "dpnp", "cupy", "jax", "torch", "numexpr", "warp-lang",
    "intel-sycl-rt", "intel-opencl-rt",
)  # fmt: skip


class Timer(Protocol):
    """Times calls by itself, as those in another process."""

    def timeit(self, calls: int, /) -> float:
        """The seconds that they take."""


Timed = Callable[[], object] | Timer


@dataclass
class Rival:
    """The same task by another library; ``aim`` is how many times faster ours is meant to be."""

    name: str
    call: Timed
    aim: float | None = None


@dataclass
class Case:
    """One task, done by us and by others."""

    name: str
    ours: Timed
    rivals: Sequence[Rival]


@dataclass
class Result:
    """The fastest rounds in nanoseconds a call, of one case and one rival.

    ``met`` says whether the aim was reached; it is None where there is none.
    """

    case: str
    rival_name: str
    rival: float
    ours: float
    aim: float | None = None
    ratio: float = field(init=False)
    met: bool | None = field(init=False)

    def __post_init__(self) -> None:
        """The ratio, kept finite for calls that are too short to measure."""
        self.ratio = self.rival / max(self.ours, 0.1)
        self.met = None if self.aim is None else self.ratio >= self.aim


@dataclass
class Effort:
    """How long to measure. A quick run only shows that all works; its figures are meaningless."""

    rounds: int = 60
    seconds: float = ROUND_SECONDS
    quick: bool = False
    #: A case gets no further round after so many seconds, but always two.
    most_seconds: float = float("inf")
    #: Where the C++ benchmarks were built, if they were.
    programs: Path | None = None


QUICK = Effort(rounds=2, seconds=0.0, quick=True)


class _Side:
    """A call with the number of calls that fill a round."""

    def __init__(self, call: Timed, seconds: float) -> None:
        self.timer: Timer = timeit.Timer(call) if callable(call) else call
        # The first calls compile, and find nothing in the caches.
        once = max(min(self.timer.timeit(1) for _ in range(4)), 1e-9)
        self.calls = max(1, min(MOST_CALLS, int(seconds / once)))
        self.best = float("inf")

    def run(self) -> None:
        self.best = min(self.best, self.timer.timeit(self.calls) / self.calls)


def measure(cases: Sequence[Case], effort: Effort) -> list[Result]:
    """Time all cases, round by round.

    Parameters
    ----------
    cases : sequence of Case
        What is compared.
    effort : Effort
        How many rounds, and how long one is.

    Returns
    -------
    list of Result
        One for each case and rival.
    """
    empty = _Side(partial(abs, 0), effort.seconds)
    sides = [
        (_Side(case.ours, effort.seconds), [_Side(r.call, effort.seconds) for r in case.rivals])
        for case in cases
    ]
    end = time.perf_counter() + effort.most_seconds
    shuffle = random.Random(0).shuffle
    latest: dict[int, _Side] = {}
    for number in range(effort.rounds):
        if number >= 2 and time.perf_counter() > end:
            break
        empty.run()
        for ours, rivals in sides:
            # A side finds the caches as the one before it left them, so that changes, and none
            # comes twice in a row.
            order = [*rivals, ours]
            last = latest.get(id(ours))
            shuffle(order)
            if order[0] is last:
                order.append(order.pop(0))
            for side in order:
                side.run()
            latest[id(ours)] = order[-1]

    def nanoseconds(side: _Side) -> float:
        return max(side.best - empty.best, 0.0) * 1e9

    return [
        Result(case.name.strip(), rival.name, nanoseconds(timed), nanoseconds(ours), rival.aim)
        for case, (ours, rivals) in zip(cases, sides, strict=True)
        for rival, timed in zip(case.rivals, rivals, strict=True)
    ]


def amount(nanoseconds: float) -> str:
    """A time with three digits and its unit.

    >>> amount(12.34), amount(5678), amount(9.87e6)
    ('12.3 ns', '5.68 us', '9.87 ms')
    """
    for unit, size in (("ns", 1.0), ("us", 1e3), ("ms", 1e6)):
        if nanoseconds < 1000 * size or unit == "ms":
            return f"{nanoseconds / size:.3g} {unit}"
    raise AssertionError


def amount_of_bytes(nbytes: int) -> str:
    """A size for the name of a case.

    >>> amount_of_bytes(64), amount_of_bytes(4096), amount_of_bytes(256 << 20)
    ('64 B', '4 KiB', '256 MiB')
    """
    for unit, shift in (("MiB", 20), ("KiB", 10)):
        if nbytes >= 1 << shift:
            return f"{nbytes >> shift} {unit}"
    return f"{nbytes} B"


def show(title: str, results: Sequence[Result]) -> None:
    """Print a table."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"{title}: a call in the fastest round")
    table.add_column("case")
    for heading in ("rival", "", "usmx", "ratio", "aim", ""):
        table.add_column(heading, justify="right", no_wrap=True)
    for r in results:
        table.add_row(
            r.case,
            r.rival_name,
            amount(r.rival),
            amount(r.ours),
            f"{r.ratio:.3g}x",
            "" if r.aim is None else f">= {r.aim:.3g}x",
            "" if r.met is None else "met" if r.met else "missed",
        )
    Console(width=110).print(table)
    for rival in dict.fromkeys(r.rival_name for r in results):
        of_it = [r for r in results if r.rival_name == rival]
        print(f"ahead of {rival} in {sum(r.ratio >= 1 for r in of_it)} of {len(of_it)}")


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Nothing on standard output: rivals greet there, some of them in C."""
    sys.stdout.flush()
    kept = os.dup(1)
    with open(os.devnull, "w", encoding="utf-8") as nothing:
        os.dup2(nothing.fileno(), 1)
    try:
        yield
        sys.stdout.flush()
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def machine() -> dict[str, object]:
    """What the figures are figures of: the machine, the device, and the versions of all sides."""
    import usmx

    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    device = usmx.Device()
    versions = {}
    for name in LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return {
        "processor": names[0] if names else platform.processor(),
        "cores": os.cpu_count(),
        "device": device.name,
        "driver": device.driver_version,
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "date": time.strftime("%Y-%m-%d"),
        "versions": versions,
    }


def main(title: str, description: str | None, run: Callable[[Effort], list[Result]]) -> None:
    """The command line that all benchmarks have.

    Parameters
    ----------
    title : str
        What stands above the table.
    description : str
        What ``--help`` says.
    run : callable
        Measures, given an effort.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="a few calls: figures mean nothing")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument(
        "--programs", type=Path, help="folder with bench_pool and bench_replay, for their rows too"
    )
    options = parser.parse_args()
    effort = replace(QUICK if options.quick else Effort(), programs=options.programs)
    with silenced() if options.json else contextlib.nullcontext():
        results = run(effort)
    if options.json:
        report = {"machine": machine(), "quick": effort.quick, "rows": [asdict(r) for r in results]}
        print(json.dumps(report, indent=2))
    else:
        show(title, results)
