"""Shuffle and cut chunks of usmx and of NumPy: ``python bench/dask_chunks.py [rounds]``.

The same program of Dask in threads, on chunks of 12 MB, in turn for each kind of chunk: the
shortest times, and what they are of NumPy's.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np

import usmx

ROWS, COLUMNS, CHUNK = 16_000, 6_000, 1_000
ORDER = np.random.default_rng(1).permutation(ROWS)
GROUPS = [part.tolist() for part in np.array_split(ORDER, ROWS // CHUNK)]
PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "shuffle": lambda x: da.shuffle(x, GROUPS, axis=0),
    "rows to columns": lambda x: x.rechunk((ROWS, COLUMNS * CHUNK // ROWS)),
    "and back": lambda x: x.rechunk((ROWS, COLUMNS * CHUNK // ROWS)).rechunk((CHUNK, COLUMNS)),
    "to squares": lambda x: x.rechunk((250, 250)),
}


def seconds(program: Callable[[Any], Any], x: Any) -> float:
    """Until the last chunk is there."""
    begin = time.perf_counter()
    for made in program(x).persist().dask.values():
        chunk = getattr(made, "value", made)
        if isinstance(chunk, usmx.ndarray):
            chunk.wait()
    return time.perf_counter() - begin


def main(rounds: int) -> None:
    """Measure and print."""
    host = np.random.default_rng(0).random((ROWS, COLUMNS), "float32")
    x = da.from_array(host, (CHUNK, COLUMNS)).persist()
    kinds = {"numpy": x}
    for kind in ("shared", "device"):
        kinds[kind] = x.map_blocks(usmx.asarray, usm_type=kind).persist()
    for name, program in PROGRAMS.items():
        best = dict.fromkeys(kinds, float("inf"))
        for _ in range(rounds):
            for kind, chunks in kinds.items():
                best[kind] = min(best[kind], seconds(program, chunks))
        said = (f"{k} {t * 1e3:4.0f} ms ({t / best['numpy']:.2f})" for k, t in best.items())
        print(f"{name:16}", "  ".join(said), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
