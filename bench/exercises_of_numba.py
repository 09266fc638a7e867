"""The fourteen kernels of examples/numba_cuda as loops of ``numba.njit(parallel=True)``."""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import get_num_threads, njit, prange
from numba.core import cgutils
from numba.extending import intrinsic


@njit(parallel=True, fastmath=False)
def product(a: Any, b: Any, c: Any) -> None:
    """Rows of a product, in the order that reads rows."""
    for y in prange(a.shape[0]):
        row = np.zeros(b.shape[1], np.float32)
        for k in range(a.shape[1]):
            for x in range(b.shape[1]):
                row[x] += a[y, k] * b[k, x]
        c[y] = row


@intrinsic
def atomic_add(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """Add to an element at once, as Numba has no function for on processors."""
    signature = array.dtype(array, index, array.dtype)

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        given = context.make_array(array)(context, builder, args[0])
        place = cgutils.get_item_pointer(context, builder, array, given, [args[1]])
        return builder.atomic_rmw("fadd", place, args[2], "monotonic")

    return signature, code


@njit(parallel=True)
def count(x: Any, bins: Any, blocks: int, threads: int) -> None:
    """The counts of each block, then their sums."""
    own = np.zeros((blocks, bins.size), np.int32)
    for block in prange(blocks):
        for first in range(block * threads, x.size, blocks * threads):
            for i in range(first, min(first + threads, x.size)):
                own[block, x[i]] += 1
    for block in range(blocks):
        for k in range(bins.size):
            bins[k] += own[block, k]


@njit(parallel=True)
def count_in_parts(x: Any, bins: Any) -> None:
    """Each core counts a part of the data."""
    parts = get_num_threads()
    own = np.zeros((parts, bins.size), np.int32)
    for part in prange(parts):
        for i in range(part * x.size // parts, (part + 1) * x.size // parts):
            own[part, x[i]] += 1
    for k in range(bins.size):
        bins[k] += own[:, k].sum()


@njit(parallel=True)
def sum_of_blocks(x: Any, partial: Any, threads: int) -> None:
    """A tree in each block."""
    parts = get_num_threads()
    tiles = np.empty((parts, threads))
    for part in prange(parts):
        tile = tiles[part]
        for block in range(part * partial.size // parts, (part + 1) * partial.size // parts):
            for k in range(threads):
                i = block * threads + k
                tile[k] = x[i] if i < x.size else 0.0
            step = threads // 2
            while step > 0:
                for k in range(step):
                    tile[k] += tile[k + step]
                step //= 2
            partial[block] = tile[0]


@njit(parallel=True)
def total(x: Any) -> Any:
    """A sum, without blocks."""
    found = 0.0
    for i in prange(x.size):
        found += x[i]
    return found


@njit(parallel=True)
def scan_blocks(x: Any, out: Any, ends: Any, threads: int) -> None:
    """Running sums of each block, in steps that double."""
    parts = get_num_threads()
    tiles = np.empty((parts, threads))
    befores = np.empty((parts, threads))
    for part in prange(parts):
        tile, before = tiles[part], befores[part]
        for block in range(part * ends.size // parts, (part + 1) * ends.size // parts):
            for k in range(threads):
                i = block * threads + k
                tile[k] = x[i] if i < x.size else 0.0
            step = 1
            while step < threads:
                for k in range(step, threads):
                    before[k] = tile[k - step]
                for k in range(step, threads):
                    tile[k] += before[k]
                step *= 2
            for k in range(threads):
                i = block * threads + k
                if i < x.size:
                    out[i] = tile[k]
            ends[block] = tile[threads - 1]


@njit(parallel=True)
def add_ends(out: Any, ends: Any, threads: int) -> None:
    """The end of the block before, added to each block."""
    for block in prange(1, ends.size):
        for i in range(block * threads, min(block * threads + threads, out.size)):
            out[i] += ends[block - 1]


@njit(parallel=True)
def scan_in_parts(x: Any, out: Any) -> None:
    """Sums of parts, then the running sums within them."""
    parts = get_num_threads() * 4
    before = np.zeros(parts + 1)
    for part in prange(parts):
        found = 0.0
        for i in range(part * x.size // parts, (part + 1) * x.size // parts):
            found += x[i]
        before[part + 1] = found
    for part in range(parts):
        before[part + 1] += before[part]
    for part in prange(parts):
        found = before[part]
        for i in range(part * x.size // parts, (part + 1) * x.size // parts):
            found += x[i]
            out[i] = found


@njit(parallel=True)
def turn(a: Any, out: Any) -> None:
    """A transpose in tiles."""
    for tile in prange((out.shape[0] + 15) // 16):
        for first in range(0, out.shape[1], 16):
            for y in range(tile * 16, min(tile * 16 + 16, out.shape[0])):
                for x in range(first, min(first + 16, out.shape[1])):
                    out[y, x] = a[x, y]


@njit(parallel=True)
def heat(old: Any, new: Any, speed: float) -> None:
    """A step of the heat equation."""
    for y in prange(1, old.shape[0] - 1):
        for x in range(1, old.shape[1] - 1):
            around = old[y - 1, x] + old[y + 1, x] + old[y, x - 1] + old[y, x + 1]
            new[y, x] = old[y, x] + speed * (around - 4 * old[y, x])


@njit
def steps(real: float, imaginary: float, most: int) -> int:
    """Rounds until a point leaves."""
    c = complex(real, imaginary)
    z = 0j
    for k in range(most):
        z = z * z + c
        if z.real * z.real + z.imag * z.imag >= 4:
            return k
    return most


@njit(parallel=True)
def picture(left: float, right: float, low: float, high: float, image: Any, most: int) -> None:
    """The Mandelbrot set."""
    height, width = image.shape
    for y in prange(height):
        for x in range(width):
            real = left + x * ((right - left) / width)
            image[y, x] = steps(real, low + y * ((high - low) / height), most)


@njit(parallel=True)
def throw(states: Any, rounds: int, hits: Any) -> None:
    """Points in a quarter of a circle, by the same generator."""
    for i in prange(hits.size):
        first, second = states[i, 0], states[i, 1]
        inside = 0
        for _ in range(rounds):
            x = 0.0
            y = 0.0
            for which in range(2):
                value = first + second
                mixed = first ^ second
                first = (
                    ((first << np.uint64(55)) | (first >> np.uint64(9)))
                    ^ mixed
                    ^ (mixed << np.uint64(14))
                )
                second = (mixed << np.uint64(36)) | (mixed >> np.uint64(28))
                number = (value >> np.uint64(11)) * 2.0**-53
                if which == 0:
                    x = number
                else:
                    y = number
            if x * x + y * y <= 1.0:
                inside += 1
        states[i, 0], states[i, 1] = first, second
        hits[i] = inside


@njit(parallel=True)
def forces(place: Any, mass: Any, found: Any, soft: float) -> None:
    """The pull of all bodies on each."""
    for i in prange(mass.size):
        x, y, z = place[i, 0], place[i, 1], place[i, 2]
        ax, ay, az = 0.0, 0.0, 0.0
        for j in range(mass.size):
            dx, dy, dz = place[j, 0] - x, place[j, 1] - y, place[j, 2] - z
            square = dx * dx + dy * dy + dz * dz + soft
            pull = mass[j] / (square * math.sqrt(square))
            ax += pull * dx
            ay += pull * dy
            az += pull * dz
        found[i, 0], found[i, 1], found[i, 2] = ax, ay, az


@njit(parallel=True)
def generation(cells: Any, new: Any) -> None:
    """The Game of Life on a ring."""
    height, width = cells.shape
    for y in prange(height):
        for x in range(width):
            alive = 0
            for dy in range(-1, 2):
                for dx in range(-1, 2):
                    if dx != 0 or dy != 0:
                        alive += cells[(y + dy + height) % height, (x + dx + width) % width]
            new[y, x] = 1 if alive == 3 or (alive == 2 and cells[y, x] == 1) else 0


@njit(parallel=True)
def bitonic(x: Any) -> None:
    """The same network in each row."""
    for row in prange(x.shape[0]):
        n = x.shape[1]
        size = 2
        while size <= n:
            step = size // 2
            while step > 0:
                for k in range(n):
                    other = k ^ step
                    if other > k:
                        up = (k & size) == 0
                        if (x[row, k] > x[row, other]) == up:
                            kept = x[row, k]
                            x[row, k] = x[row, other]
                            x[row, other] = kept
                step //= 2
            size *= 2


@njit
def distance(x: float, y: float, z: float) -> float:
    """From a sphere."""
    return math.sqrt(x * x + y * y + z * z) - 1.0


@njit(parallel=True)
def march(depth: Any) -> None:
    """Steps that never go too far."""
    height, width = depth.shape
    for py in prange(height):
        for px in range(width):
            x, y = 2.4 * px / width - 1.2, 2.4 * py / height - 1.2
            z = -3.0
            for _ in range(100):
                near = distance(x, y, z)
                if near < 1e-6 or z > 3:
                    break
                z += near
            depth[py, px] = z if z < 3 else math.inf


@njit(parallel=True)
def deposit(place: Any, charge: float, grid: Any) -> None:
    """Each particle adds to two cells of one grid."""
    for i in prange(place.size):
        cell = int(place[i])
        share = place[i] - cell
        atomic_add(grid, cell % grid.size, charge * (1 - share))
        atomic_add(grid, (cell + 1) % grid.size, charge * share)


@njit(parallel=True)
def deposit_in_parts(place: Any, charge: float, grid: Any) -> None:
    """Each core adds to a grid of its own."""
    parts = get_num_threads()
    own = np.zeros((parts, grid.size))
    for part in prange(parts):
        for i in range(part * place.size // parts, (part + 1) * place.size // parts):
            cell = int(place[i])
            share = place[i] - cell
            own[part, cell % grid.size] += charge * (1 - share)
            own[part, (cell + 1) % grid.size] += charge * share
    for k in range(grid.size):
        grid[k] += own[:, k].sum()


@njit(parallel=True)
def push(electric: Any, magnetic: Any, current: Any, wave: Any, dt: float) -> None:
    """A step of Maxwell's equations for each wave."""
    for y in prange(wave.shape[0]):
        for x in range(wave.shape[1]):
            k = wave[y, x]
            c, s = math.cos(k * dt), math.sin(k * dt)
            e, b, j = electric[y, x], magnetic[y, x], current[y, x]
            over = s / k if k > 0 else dt
            electric[y, x] = c * e + 1j * s * b - over * j
            magnetic[y, x] = c * b + 1j * s * e - 1j * (1 - c) / (k if k > 0 else 1.0) * j
