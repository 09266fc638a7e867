"""The fourteen kernels of examples/numba_cuda compared with Numba's loops on all cores, three of
them also with Numba's simulator, on small arrays."""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import runpy
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import exercises_of_numba as loops
import numpy as np
from numba.core import config
from table import Case, Effort, Result, Rival, main, measure

from usmx.compat import cuda

FILE = Path(__file__).parents[1] / "examples" / "numba_cuda" / "exercises.py"
TILE, BLOCK = 16, 128
SAME, PARTS = "numba.njit(parallel=True)", "numba.njit without blocks"


def _waiting(call: Callable[[], object]) -> Callable[[], object]:
    def run() -> None:
        call()
        cuda.synchronize()

    return run


class _Once:
    """A call that takes seconds, timed once."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call
        self._took: float | None = None

    def timeit(self, calls: int, /) -> float:
        """The seconds that so many take."""
        if self._took is None:
            self._took = timeit.timeit(self._call, number=1)
        return self._took * calls


def simulated(effort: Effort) -> list[Case]:
    """Three of them compared with the simulator, which makes a thread of Python of each item.

    Parameters
    ----------
    effort : Effort
        Whether the sizes are those of a quick run.
    """
    config.ENABLE_CUDASIM = 1  # type: ignore[attr-defined]  # read when numba.cuda is imported
    theirs: Any = runpy.run_path(str(FILE))
    with cuda.install():
        ours: Any = runpy.run_path(str(FILE))
    rng = np.random.default_rng(2)
    n = TILE if effort.quick else 4 * TILE
    blocks, square = (n // TILE,) * 2, (TILE, TILE)
    a, b, c = (rng.random((n, n), dtype=np.float32) for _ in range(3))
    old, new = rng.random((n, n)), np.zeros((n, n))
    cells = (rng.random((n, n)) < 0.4).astype(np.uint8)
    after = np.zeros_like(cells)

    def pair(k: Any) -> list[Callable[[], object]]:
        return [
            lambda: k["product"][blocks, square](a, b, c),
            lambda: k["heat"][blocks, square](old, new, 0.2),
            lambda: k["generation"][blocks, square](cells, after),
        ]

    names = (f"{name} of {n} x {n}" for name in ("matmul", "stencil", "life"))
    return [
        Case(name, _waiting(mine), [Rival("Numba's simulator", _Once(other))])
        for name, mine, other in zip(names, pair(ours), pair(theirs), strict=True)
    ]


def cases(effort: Effort) -> list[Case]:
    """All of them, each on the same memory as its rival.

    Parameters
    ----------
    effort : Effort
        Whether the sizes are those of a quick run.
    """
    with cuda.install():
        k: Any = runpy.run_path(str(FILE))
    rng = np.random.default_rng(1)
    small = effort.quick
    n = 64 if small else 512
    big = 4096 if small else 1 << 22
    a, b, c = (rng.random((n, n), dtype=np.float32) for _ in range(3))
    words = rng.integers(0, 64, big).astype(np.int32)
    bins = np.zeros(64, np.int32)
    x, out = rng.random(big), np.zeros(big)
    blocks = -(-big // BLOCK)
    ends = np.zeros(blocks)
    w = 64 if small else 2048
    flat, turned = rng.random((w, w), dtype=np.float32), np.zeros((w, w), np.float32)
    old, new = rng.random((w, w)), np.zeros((w, w))
    side = 64 if small else 512
    image = np.zeros((side, side), np.int32)
    threads = 1024 if small else 65536
    states = cuda.random.create_xoroshiro128p_states(threads, seed=1)
    plain = states.copy_to_host().view(np.uint64).reshape(-1, 2).copy()
    hits = np.zeros(threads, np.int64)
    bodies = 256 if small else 4096
    place, mass, found = rng.random((bodies, 3)), rng.random(bodies), np.zeros((bodies, 3))
    cells = (rng.random((w, w)) < 0.4).astype(np.uint8)
    after = np.zeros_like(cells)
    rows = 4 if small else 4096
    numbers = rng.permutation(256 * rows).astype(np.int32)
    sorted_ = np.zeros_like(numbers)
    depth = np.zeros((side, side))
    particles, grid = rng.random(big) * 4096, np.zeros(4096)
    fields = [rng.random((side, side)) + 0j for _ in range(3)]
    wave = rng.random((side, side))
    tiles = (-(-n // TILE),) * 2
    wide = (-(-w // TILE),) * 2
    sides = (-(-side // TILE),) * 2

    def mixed() -> Any:
        # What is sorted already has branches that a processor foresees.
        sorted_[:] = numbers
        return sorted_

    def scans() -> None:
        k["scan_blocks"][blocks, BLOCK](x, out, ends)
        cuda.synchronize()
        np.cumsum(ends, out=ends)
        k["add_ends"][blocks, BLOCK](out, ends)

    def scans_of_loops() -> None:
        loops.scan_blocks(x, out, ends, BLOCK)
        np.cumsum(ends, out=ends)
        loops.add_ends(out, ends, BLOCK)

    square = (TILE, TILE)
    tasks: list[tuple[str, Callable[[], object], Callable[[], object]]] = [
        ("matmul", lambda: k["product"][tiles, square](a, b, c), lambda: loops.product(a, b, c)),
        ("histogram", lambda: k["count"][64, BLOCK](words, bins),
         lambda: loops.count(words, bins, 64, BLOCK)),
        ("reduction", lambda: k["sum_of_blocks"][blocks, BLOCK](x, ends),
         lambda: loops.sum_of_blocks(x, ends, BLOCK)),
        ("scan", scans, scans_of_loops),
        ("transpose", lambda: k["turn"][wide, square](flat, turned),
         lambda: loops.turn(flat, turned)),
        ("stencil", lambda: k["heat"][wide, square](old, new, 0.2),
         lambda: loops.heat(old, new, 0.2)),
        ("mandelbrot", lambda: k["picture"][sides, square](-2.0, 1.0, -1.0, 1.0, image, 50),
         lambda: loops.picture(-2.0, 1.0, -1.0, 1.0, image, 50)),
        ("monte carlo", lambda: k["throw"][threads // BLOCK, BLOCK](states, 100, hits),
         lambda: loops.throw(plain, 100, hits)),
        ("n-body", lambda: k["forces"][-(-bodies // BLOCK), BLOCK](place, mass, found, 0.01),
         lambda: loops.forces(place, mass, found, 0.01)),
        ("life", lambda: k["generation"][wide, square](cells, after),
         lambda: loops.generation(cells, after)),
        ("sorting network", lambda: k["bitonic"][rows, 256, 0, 1024](mixed()),
         lambda: loops.bitonic(mixed().reshape(-1, 256))),
        ("ray marching", lambda: k["march"][sides, square](depth), lambda: loops.march(depth)),
        ("deposition", lambda: k["deposit"].forall(big)(particles, 0.5, grid),
         lambda: loops.deposit(particles, 0.5, grid)),
        ("spectral push", lambda: k["push"][sides, square](*fields, wave, 0.1),
         lambda: loops.push(*fields, wave, 0.1)),
    ]  # fmt: skip
    #: What needs neither blocks nor atomic operations gives each core a part of the data.
    in_parts: dict[str, Callable[[], object]] = {
        "histogram": lambda: loops.count_in_parts(words, bins),
        "reduction": lambda: loops.total(x),
        "scan": lambda: loops.scan_in_parts(x, out),
        "deposition": lambda: loops.deposit_in_parts(particles, 0.5, grid),
    }
    return [
        Case(
            name,
            _waiting(ours),
            [Rival(SAME, theirs), *(Rival(PARTS, f) for of, f in in_parts.items() if of == name)],
        )
        for name, ours, theirs in tasks
    ]


def run(effort: Effort) -> list[Result]:
    """Time all of them.

    Parameters
    ----------
    effort : Effort
        How long to measure.
    """
    return measure([*cases(effort), *simulated(effort)], effort)


if __name__ == "__main__":
    main("exercises", __doc__, run)
