"""Time the first call of forty functions, each in a new process that finds no compiled kernels.

``python bench/first_calls.py [--kind device] [--json | --table] [--only sort]``. The same calls
with the programs that the package brings, without any (``USMX_CACHE=0``), and of dpnp: milliseconds
of the clock and of the processor. The runtime, the device and the operands are there before.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass

#: Name -> what is called. ``x``, ``y``: 100 000 float64; ``i``: as many int64; ``m``: 300 x 300
#: float64; ``k``: bool.
CALLS = {
    "zeros": "np.zeros(100_000)",
    "arange": "np.arange(100_000)",
    "linspace": "np.linspace(0, 1, 100_000)",
    "asarray": "np.asarray(host)",
    "eye": "np.eye(300)",
    "x + 1": "x + 1",
    "x + y": "x + y",
    "x * 2 + y": "x * 2 + y",
    "sqrt": "np.sqrt(x)",
    "sin": "np.sin(x)",
    "exp": "np.exp(x)",
    "abs": "np.abs(x)",
    "x > y": "x > y",
    "where": "np.where(k, x, y)",
    "clip": "np.clip(x, 0.2, 0.8)",
    "x[k]": "x[k]",
    "x[::2] + 1": "x[::2] + 1",
    "take": "np.take(x, i)",
    "astype": "x.astype('float32')",
    "concatenate": "np.concatenate([x, y])",
    "transpose": "np.ascontiguousarray(m.T)",
    "sum": "np.sum(x)",
    "sum, axis 0": "np.sum(m, axis=0)",
    "mean": "np.mean(x)",
    "std": "np.std(x)",
    "max": "np.max(x)",
    "argmax": "np.argmax(x)",
    "any": "np.any(k)",
    "cumsum": "np.cumsum(x)",
    "sort": "np.sort(x)",
    "argsort": "np.argsort(x)",
    "unique": "np.unique(i)",
    "median": "np.median(x)",
    "histogram": "np.histogram(x, bins=50)[0]",
    "bincount": "np.bincount(i)",
    "random": "np.random.random(100_000)",
    "normal": "np.random.standard_normal(100_000)",
    "m @ m": "m @ m",
    "svd": "np.linalg.svd(m)[1]",
    "fft": "np.fft.fft(x)",
}

#: Prints wall and processor time of the call in milliseconds, and what usmx compiled and read.
PROGRAM = """
import json, sys, time
import numpy
library, kind, call = sys.argv[1:]
if library == "dpnp":
    import dpnp as np
    counts = lambda: (0, 0, 0)
    made = lambda a: np.asarray(a, usm_type=kind)
else:
    import usmx as np
    np.default_usm_type(kind)
    counts = np._usmx._ProgramStore.counts
    made = lambda a: np.asarray(a)
host = numpy.random.default_rng(1).random(100_000)
x, y = made(host), made(host[::-1].copy())
i = made(numpy.arange(100_000)[::-1].copy() % 1000)
m = made(host[:90_000].reshape(300, 300).copy())
k = made(host > 0.5)
def wait(a):
    queue = getattr(a, "queue", None) or getattr(a, "sycl_queue", None)
    if library == "usmx" and hasattr(a, "wait"): a.wait()
    if queue is not None: queue.wait()
for a in (x, y, i, m, k): wait(a)
before = counts()
begin, work = time.perf_counter(), time.process_time()
wait(eval(call))
end, done = time.perf_counter(), time.process_time()
after = counts()
times = [1e3 * (end - begin), 1e3 * (done - work)]
print(json.dumps([*times, after[0] - before[0], after[2] - before[2]]))
"""


@dataclass
class Row:
    """One call of one library: milliseconds of the clock and of the processor."""

    call: str
    library: str
    kind: str
    wall: float | None
    processor: float | None
    compiled: int
    read: int


def measure(call: str, library: str, kind: str, folder: str) -> Row:
    """The first call in a new process.

    Parameters
    ----------
    call : str
        A key of `CALLS`.
    library : str
        ``usmx``, ``usmx without programs`` or ``dpnp``.
    kind : str
        Of the memory.
    folder : str
        Empty, for compiled programs.
    """
    alone = library == "usmx without programs"
    environment = os.environ | {
        "USMX_CACHE": "0" if alone else "1",
        "USMX_CACHE_DIR": folder,
        "USMX_NOTICES": "0",
    }
    name = library.partition(" ")[0]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, name, kind, CALLS[call]],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        return Row(call, library, kind, None, None, 0, 0)
    return Row(call, library, kind, *json.loads(done.stdout.splitlines()[-1]))


def best(call: str, library: str, kind: str, rounds: int) -> Row:
    """The fastest of some processes, each with an empty folder."""
    rows = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            rows.append(measure(call, library, kind, folder))
    return min(rows, key=lambda row: row.wall if row.wall is not None else 1e9)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", default="shared", choices=("shared", "device", "host"))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--table", action="store_true", help="rows of Markdown")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", nargs="*", help="names of calls")
    parser.add_argument("--libraries", nargs="*", default=["usmx without programs", "usmx", "dpnp"])
    chosen = parser.parse_args()
    calls = [call for call in CALLS if not chosen.only or call in chosen.only]
    rows: dict[str, dict[str, Row]] = {}
    if chosen.table:
        print("| call | " + " | ".join(chosen.libraries) + " |")
        print("|---|" + "---|" * len(chosen.libraries))
    elif not chosen.json:
        print(f"{'':14}" + "".join(f"{name:>30}" for name in chosen.libraries))
    for call in calls:
        found = rows[call] = {}
        for library in chosen.libraries:
            found[library] = best(call, library, chosen.kind, chosen.rounds)
        if chosen.table:
            cells = [
                "—" if row.wall is None else f"{row.wall:.0f}, {row.processor:.0f}"
                for row in found.values()
            ]
            print(f"| `{CALLS[call]}` | " + " | ".join(cells) + " |", flush=True)
        elif not chosen.json:
            cells = []
            for library in chosen.libraries:
                row = found[library]
                text = "—" if row.wall is None else f"{row.wall:.1f} ms, {row.processor:.1f}"
                counted = "" if library == "dpnp" else f" {row.compiled}c {row.read}r"
                cells.append(f"{text + counted:>30}")
            print(f"{call:14}" + "".join(cells), flush=True)
    if chosen.json:
        print(json.dumps([asdict(row) for found in rows.values() for row in found.values()]))


if __name__ == "__main__":
    main()
