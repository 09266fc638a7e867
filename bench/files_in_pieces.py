"""Stream a file through reductions, next to dd: ``python bench/files_in_pieces.py``.

``[--gib 2] [--rounds 4] [--folder /var/tmp]``. A file of float32 is written, and read in turn by
``dd bs=16M`` and by each reduction, with an empty page cache if this user may drop it. For each the
shortest time of the rounds, its share of dd's speed, and seconds of the processor.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import usmx

CALLS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: x.sum(),
    "mean": lambda x: x.mean(),
    "std": lambda x: x.std(),
    "histogram": lambda x: x.histogram(100, (0, 1)),
}


def make(path: Path, gib: float) -> None:
    """Write a file of random float32."""
    count = int(gib * (1 << 28))
    random = np.random.default_rng(0)
    header = {"descr": "<f4", "fortran_order": False, "shape": (count,)}
    with path.open("wb") as file:
        np.lib.format.write_array_header_2_0(file, header)
        for first in range(0, count, 1 << 24):
            random.random(min(1 << 24, count - first), "float32").tofile(file)


def forget(path: Path) -> None:
    """Let the system read the file from the disk again."""
    os.sync()
    try:
        Path("/proc/sys/vm/drop_caches").write_text("3", encoding="ascii")
    except OSError:
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def measured(path: Path, act: Callable[[], object]) -> tuple[float, float]:
    """Seconds of the clock and of the processor."""
    forget(path)
    begin, worked = time.perf_counter(), time.process_time()
    act()
    return time.perf_counter() - begin, time.process_time() - worked


def main() -> None:
    """Write, read and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gib", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--folder", default="/var/tmp")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        path, small = Path(folder) / "x.npy", Path(folder) / "small.npy"
        make(path, asked.gib)
        make(small, 1 / 16)
        for call in CALLS.values():
            call(usmx.open(small))  # kernels are compiled
        x = usmx.open(path)
        copy = ["dd", f"if={path}", "of=/dev/null", "bs=16M", "status=none"]
        acts: dict[str, Callable[[], object]] = {
            "dd": lambda: subprocess.run(copy, check=True),
            **{name: lambda call=call: call(x) for name, call in CALLS.items()},
        }
        best = dict.fromkeys(acts, (float("inf"), 0.0))
        for _ in range(asked.rounds):
            for name, act in acts.items():
                best[name] = min(best[name], measured(path, act))
        nbytes = path.stat().st_size
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{nbytes >> 20} MiB; the process had at most {most} MiB of memory")
    for name, (took, worked) in best.items():
        share = best["dd"][0] / took
        print(
            f"{name:10} {took:5.2f} s  {nbytes / took / 1e9:5.2f} GB/s  {share:4.0%}  "
            f"processor {worked:.2f} s"
        )


if __name__ == "__main__":
    main()
