"""Fourteen kernels of a tutorial, written for numba.cuda and compared with NumPy.

On a GPU of NVIDIA, with Numba:            python exercises.py
On every device of usmx, the same file:    python -m usmx.compat.cuda exercises.py
"""

# SPDX-License-Identifier: Apache-2.0
import math
import time

import numpy as np
from numba import cuda, float32, float64, int32
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float64

TILE = 16
LONGER = TILE + 1
BLOCK = 128


def blocks_for(n, threads):
    """Blocks of that many threads for n items."""
    return (n + threads - 1) // threads


# --- 1. matrix product in tiles -------------------------------------------------------------------


@cuda.jit
def product(a, b, c):
    tile_a = cuda.shared.array(shape=(TILE, TILE), dtype=float32)
    tile_b = cuda.shared.array(shape=(TILE, TILE), dtype=float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for k in range((a.shape[1] + TILE - 1) // TILE):
        column, row = tx + k * TILE, ty + k * TILE
        tile_a[ty, tx] = a[y, column] if y < a.shape[0] and column < a.shape[1] else 0
        tile_b[ty, tx] = b[row, x] if row < b.shape[0] and x < b.shape[1] else 0
        cuda.syncthreads()
        for j in range(TILE):
            total += tile_a[ty, j] * tile_b[j, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


def matmul():
    """A matrix product whose lengths the tile does not divide."""
    rng = np.random.default_rng(1)
    a = rng.random((37, 53), dtype=np.float32)
    b = rng.random((53, 41), dtype=np.float32)
    c = np.zeros((37, 41), dtype=np.float32)
    product[(blocks_for(41, TILE), blocks_for(37, TILE)), (TILE, TILE)](a, b, c)
    return c, a @ b, 1e-5


# --- 2. histogram ---------------------------------------------------------------------------------


@cuda.jit
def count(x, bins):
    own = cuda.shared.array(64, int32)
    k = cuda.threadIdx.x
    if k < 64:
        own[k] = 0
    cuda.syncthreads()
    start, step = cuda.grid(1), cuda.gridsize(1)
    for i in range(start, x.size, step):
        cuda.atomic.add(own, x[i], 1)
    cuda.syncthreads()
    if k < 64:
        cuda.atomic.add(bins, k, own[k])


def histogram():
    """Counts in shared memory first."""
    x = np.random.default_rng(2).integers(0, 64, 10_000).astype(np.int32)
    bins = cuda.to_device(np.zeros(64, dtype=np.int32))
    count[8, BLOCK](cuda.to_device(x), bins)
    return bins.copy_to_host(), np.bincount(x, minlength=64), 0


# --- 3. reduction ---------------------------------------------------------------------------------


@cuda.jit
def sum_of_blocks(x, partial):
    tile = cuda.shared.array(BLOCK, float64)
    i, k = cuda.grid(1), cuda.threadIdx.x
    tile[k] = x[i] if i < x.size else 0.0
    cuda.syncthreads()
    step = BLOCK // 2
    while step > 0:
        if k < step:
            tile[k] += tile[k + step]
        cuda.syncthreads()
        step //= 2
    if k == 0:
        partial[cuda.blockIdx.x] = tile[0]


@cuda.reduce
def largest(a, b):
    return max(a, b)


def reduction():
    """A sum by a tree in each block, and the largest number."""
    x = np.random.default_rng(3).random(5000)
    blocks = blocks_for(x.size, BLOCK)
    partial = cuda.device_array(blocks, dtype=np.float64)
    sum_of_blocks[blocks, BLOCK](x, partial)
    found = [partial.copy_to_host().sum(), largest(x, init=-1.0)]
    return np.array(found), np.array([x.sum(), x.max()]), 1e-12


# --- 4. scan --------------------------------------------------------------------------------------


@cuda.jit
def scan_blocks(x, out, ends):
    tile = cuda.shared.array(BLOCK, float64)
    i, k = cuda.grid(1), cuda.threadIdx.x
    tile[k] = x[i] if i < x.size else 0.0
    cuda.syncthreads()
    step = 1
    while step < BLOCK:
        before = tile[k - step] if k >= step else 0.0
        cuda.syncthreads()
        tile[k] += before
        cuda.syncthreads()
        step *= 2
    if i < x.size:
        out[i] = tile[k]
    if k == BLOCK - 1:
        ends[cuda.blockIdx.x] = tile[k]


@cuda.jit
def add_ends(out, ends):
    i = cuda.grid(1)
    if i < out.size and cuda.blockIdx.x > 0:
        out[i] += ends[cuda.blockIdx.x - 1]


def scan():
    """Running sums: of each block, then of the blocks' ends."""
    x = np.random.default_rng(4).random(1000)
    blocks = blocks_for(x.size, BLOCK)
    d_x, out, ends = cuda.to_device(x), cuda.device_array_like(x), cuda.device_array(blocks)
    scan_blocks[blocks, BLOCK](d_x, out, ends)
    add_ends[blocks, BLOCK](out, cuda.to_device(np.cumsum(ends.copy_to_host())))
    return out.copy_to_host(), np.cumsum(x), 1e-12


# --- 5. transpose ---------------------------------------------------------------------------------


@cuda.jit
def turn(a, out):
    tile = cuda.shared.array((TILE, LONGER), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.blockIdx.x * TILE + tx, cuda.blockIdx.y * TILE + ty
    if y < a.shape[0] and x < a.shape[1]:
        tile[ty, tx] = a[y, x]
    cuda.syncthreads()
    x, y = cuda.blockIdx.y * TILE + tx, cuda.blockIdx.x * TILE + ty
    if y < out.shape[0] and x < out.shape[1]:
        out[y, x] = tile[tx, ty]


def transpose():
    """Through a tile whose rows are one element longer."""
    a = np.arange(50 * 70, dtype=np.float32).reshape(50, 70)
    out = np.zeros((70, 50), dtype=np.float32)
    turn[(blocks_for(70, TILE), blocks_for(50, TILE)), (TILE, TILE)](a, out)
    return out, a.T, 0


# --- 6. stencil -----------------------------------------------------------------------------------


@cuda.jit("void(float64[:, :], float64[:, :], float64)")
def heat(old, new, speed):
    x, y = cuda.grid(2)
    if 0 < y < old.shape[0] - 1 and 0 < x < old.shape[1] - 1:
        around = old[y - 1, x] + old[y + 1, x] + old[y, x - 1] + old[y, x + 1]
        new[y, x] = old[y, x] + speed * (around - 4 * old[y, x])


def stencil():
    """Steps of the heat equation on two arrays in turn."""
    start = np.zeros((40, 60))
    start[10:20, 15:30] = 1
    old, new = cuda.to_device(start), cuda.to_device(start)
    wanted = start.copy()
    for _ in range(10):
        heat[(4, 3), (TILE, TILE)](old, new, 0.2)
        old, new = new, old
        inner = wanted[1:-1, 1:-1]
        around = wanted[:-2, 1:-1] + wanted[2:, 1:-1] + wanted[1:-1, :-2] + wanted[1:-1, 2:]
        wanted[1:-1, 1:-1] = inner + 0.2 * (around - 4 * inner)
    return old.copy_to_host(), wanted, 1e-12


# --- 7. Mandelbrot --------------------------------------------------------------------------------


@cuda.jit(device=True)
def steps(real, imaginary, most):
    c = complex(real, imaginary)
    z = 0j
    for k in range(most):
        z = z * z + c
        if z.real * z.real + z.imag * z.imag >= 4:
            return k
    return most


@cuda.jit
def picture(left, right, low, high, image, most):
    height, width = image.shape
    x0, y0 = cuda.grid(2)
    step_x, step_y = cuda.gridsize(2)
    for x in range(x0, width, step_x):
        for y in range(y0, height, step_y):
            real = left + x * ((right - left) / width)
            image[y, x] = steps(real, low + y * ((high - low) / height), most)


def mandelbrot():
    """A grid that is smaller than the picture."""
    height, width, most = 48, 72, 50
    image = np.zeros((height, width), dtype=np.int32)
    picture[(2, 2), (TILE, 8)](-2.0, 1.0, -1.0, 1.0, image, most)
    x = -2.0 + np.arange(width) * (3.0 / width)
    y = -1.0 + np.arange(height) * (2.0 / height)
    c = x + 1j * y[:, None]
    z, wanted = np.zeros_like(c), np.full(c.shape, most, dtype=np.int32)
    inside = np.ones(c.shape, dtype=bool)
    for k in range(most):
        z[inside] = z[inside] ** 2 + c[inside]
        out = inside & (z.real**2 + z.imag**2 >= 4)
        wanted[out] = k
        inside &= ~out
    # A point on the border may leave one step earlier, by the last digit of its square.
    return np.array([(image != wanted).mean() < 0.01]), np.array([True]), 0


# --- 8. Monte Carlo -------------------------------------------------------------------------------


@cuda.jit
def throw(states, rounds, hits):
    i = cuda.grid(1)
    inside = 0
    for _ in range(rounds):
        x = xoroshiro128p_uniform_float64(states, i)
        y = xoroshiro128p_uniform_float64(states, i)
        if x * x + y * y <= 1.0:
            inside += 1
    hits[i] = inside


def monte_carlo():
    """Pi, by the numbers that Numba gives for this seed."""
    threads = 4 * BLOCK
    hits = cuda.device_array(threads, dtype=np.int64)
    states = create_xoroshiro128p_states(threads, seed=1)
    throw[4, BLOCK](states, 200, hits)
    return 4 * hits.copy_to_host().mean() / 200, math.pi, 0.02


# --- 9. n-body ------------------------------------------------------------------------------------


@cuda.jit
def forces(place, mass, found, soft):
    tile = cuda.shared.array((BLOCK, 4), float64)
    i, k = cuda.grid(1), cuda.threadIdx.x
    n = mass.size
    x = place[i, 0] if i < n else 0.0
    y = place[i, 1] if i < n else 0.0
    z = place[i, 2] if i < n else 0.0
    ax, ay, az = 0.0, 0.0, 0.0
    for first in range(0, n, BLOCK):
        j = first + k
        if j < n:
            for axis in range(3):
                tile[k, axis] = place[j, axis]
            tile[k, 3] = mass[j]
        cuda.syncthreads()
        for j in range(min(BLOCK, n - first)):
            dx, dy, dz = tile[j, 0] - x, tile[j, 1] - y, tile[j, 2] - z
            square = dx * dx + dy * dy + dz * dz + soft
            pull = tile[j, 3] / (square * math.sqrt(square))
            ax += pull * dx
            ay += pull * dy
            az += pull * dz
        cuda.syncthreads()
    if i < n:
        found[i, 0], found[i, 1], found[i, 2] = ax, ay, az


def n_body():
    """The pull of all bodies on each."""
    rng = np.random.default_rng(9)
    place, mass = rng.random((200, 3)), rng.random(200)
    found = cuda.device_array((200, 3))
    forces[blocks_for(200, BLOCK), BLOCK](cuda.to_device(place), cuda.to_device(mass), found, 0.01)
    away = place[None] - place[:, None]
    square = (away**2).sum(axis=2) + 0.01
    wanted = (mass[None, :, None] * away / (square**1.5)[..., None]).sum(axis=1)
    return found.copy_to_host(), wanted, 1e-10


# --- 10. Game of Life -----------------------------------------------------------------------------


@cuda.jit
def generation(cells, new):
    x, y = cuda.grid(2)
    height, width = cells.shape
    if x < width and y < height:
        alive = 0
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                if dx != 0 or dy != 0:
                    alive += cells[(y + dy + height) % height, (x + dx + width) % width]
        new[y, x] = 1 if alive == 3 or (alive == 2 and cells[y, x] == 1) else 0


def life():
    """Some generations on a ring."""
    start = (np.random.default_rng(10).random((30, 45)) < 0.4).astype(np.uint8)
    old, new = cuda.to_device(start), cuda.device_array_like(start)
    wanted = start.astype(np.int64)
    for _ in range(8):
        generation[(3, 2), (TILE, TILE)](old, new)
        old, new = new, old
        turns = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
        alive = sum(np.roll(wanted, turn, axis=(0, 1)) for turn in turns)
        wanted = ((alive == 3) | ((alive == 2) & (wanted == 1))).astype(np.int64)
    return old.copy_to_host(), wanted, 0


# --- 11. sorting network --------------------------------------------------------------------------


@cuda.jit
def bitonic(x):
    tile = cuda.shared.array(0, dtype=int32)
    i, k, n = cuda.grid(1), cuda.threadIdx.x, cuda.blockDim.x
    tile[k] = x[i]
    cuda.syncthreads()
    size = 2
    while size <= n:
        step = size // 2
        while step > 0:
            other = k ^ step
            if other > k:
                up = (k & size) == 0
                if (tile[k] > tile[other]) == up:
                    kept = tile[k]
                    tile[k] = tile[other]
                    tile[other] = kept
            cuda.syncthreads()
            step //= 2
        size *= 2
    x[i] = tile[k]


def sorting():
    """Each block sorts its numbers, in shared memory of the size that the launch gives."""
    x = np.random.default_rng(11).permutation(1024).astype(np.int32)
    d_x = cuda.to_device(x)
    bitonic[4, 256, 0, 256 * x.itemsize](d_x)
    return d_x.copy_to_host(), np.sort(x.reshape(4, 256)).ravel(), 0


# --- 12. ray marching -----------------------------------------------------------------------------


@cuda.jit(device=True)
def distance(x, y, z):
    return math.sqrt(x * x + y * y + z * z) - 1.0


@cuda.jit
def march(depth):
    px, py = cuda.grid(2)
    height, width = depth.shape
    if px >= width or py >= height:
        return
    x, y = 2.4 * px / width - 1.2, 2.4 * py / height - 1.2
    z = -3.0
    for _ in range(100):
        near = distance(x, y, z)
        if near < 1e-6 or z > 3:
            break
        z += near
    depth[py, px] = z if z < 3 else math.inf


def ray_marching():
    """The depth of a sphere, by steps that never go too far."""
    height, width = 24, 36
    depth = np.zeros((height, width))
    march[(3, 2), (TILE, TILE)](depth)
    x = 2.4 * np.arange(width) / width - 1.2
    y = (2.4 * np.arange(height) / height - 1.2)[:, None]
    with np.errstate(invalid="ignore"):
        wanted = np.where(x * x + y * y < 1, -np.sqrt(1 - x * x - y * y), np.inf)
    clear = abs(x * x + y * y - 1) > 0.1  # along the rim steps get too short
    return depth[clear], wanted[clear], 1e-3


# --- 13. particle deposition ----------------------------------------------------------------------


@cuda.jit
def deposit(place, charge, grid):
    i = cuda.grid(1)
    if i < place.size:
        cell = int(place[i])
        share = place[i] - cell
        cuda.atomic.add(grid, cell % grid.size, charge * (1 - share))
        cuda.atomic.add(grid, (cell + 1) % grid.size, charge * share)


def deposition():
    """Each particle gives a share of its charge to two cells."""
    place = np.random.default_rng(13).random(3000) * 32
    grid = cuda.to_device(np.zeros(32))
    deposit.forall(place.size)(cuda.to_device(place), 0.5, grid)
    cell = np.floor(place).astype(int)
    share = place - cell
    wanted = np.bincount(cell % 32, 0.5 * (1 - share), 32)
    wanted += np.bincount((cell + 1) % 32, 0.5 * share, 32)
    return grid.copy_to_host(), wanted, 1e-10


# --- 14. spectral push ----------------------------------------------------------------------------


@cuda.jit
def push(electric, magnetic, current, wave, dt):
    x, y = cuda.grid(2)
    if y < wave.shape[0] and x < wave.shape[1]:
        k = wave[y, x]
        c, s = math.cos(k * dt), math.sin(k * dt)
        e, b, j = electric[y, x], magnetic[y, x], current[y, x]
        over = s / k if k > 0 else dt
        electric[y, x] = c * e + 1j * s * b - over * j
        magnetic[y, x] = c * b + 1j * s * e - 1j * (1 - c) / (k if k > 0 else 1.0) * j


def spectral_push():
    """A step of Maxwell's equations for each wave of a Fourier transform."""
    rng = np.random.default_rng(14)
    shape = (20, 30)
    fields = [np.fft.fft2(rng.random(shape)) for _ in range(3)]
    wave = np.hypot(np.fft.fftfreq(30) * 6, np.fft.fftfreq(20)[:, None] * 6)
    stream = cuda.stream()
    e, b, j = (cuda.to_device(f, stream) for f in fields)
    push[(2, 2), (TILE, TILE), stream](e, b, j, cuda.to_device(wave, stream), 0.1)
    stream.synchronize()
    c, s = np.cos(wave * 0.1), np.sin(wave * 0.1)
    whole = np.where(wave > 0, wave, 1)
    over = np.where(wave > 0, s / whole, 0.1)
    wanted = [
        c * fields[0] + 1j * s * fields[1] - over * fields[2],
        c * fields[1] + 1j * s * fields[0] - 1j * (1 - c) / whole * fields[2],
    ]
    return np.stack([e.copy_to_host(), b.copy_to_host()]), np.stack(wanted), 1e-10


EXERCISES = [
    matmul, histogram, reduction, scan, transpose, stencil, mandelbrot, monte_carlo, n_body, life,
    sorting, ray_marching, deposition, spectral_push,
]  # fmt: skip


def main():
    """Run all and say how long each took, compiling included."""
    for exercise in EXERCISES:
        start = time.perf_counter()
        found, wanted, tolerance = exercise()
        took = time.perf_counter() - start
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)
        print(f"{exercise.__name__:15} equals NumPy    {took * 1e3:8.1f} ms")


if __name__ == "__main__":
    main()
