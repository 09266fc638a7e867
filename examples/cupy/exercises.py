"""Fourteen kernels of a tutorial, written for CuPy and compared with NumPy.

On a GPU of NVIDIA, with CuPy:     python exercises.py
On every device of usmx:           the same file with `import usmx.compat.cupy as cp`
"""

# SPDX-License-Identifier: Apache-2.0
import math
import time

import cupy as cp
import numpy as np

TILE = 16
BLOCK = 128


def blocks_for(n, threads):
    """Blocks of that many threads for n items."""
    return (n + threads - 1) // threads


# --- 1. matrix product in tiles -------------------------------------------------------------------

product = cp.RawKernel(
    r"""
extern "C" __global__ void product(const float* a, const float* b, float* c, int rows, int inner,
                                   int columns) {
  __shared__ float tile_a[16][16];
  __shared__ float tile_b[16][16];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float total = 0;
  for (int first = 0; first < inner; first += 16) {
    const int column = first + threadIdx.x, row = first + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] = y < rows && column < inner ? a[y * inner + column] : 0;
    tile_b[threadIdx.y][threadIdx.x] = row < inner && x < columns ? b[row * columns + x] : 0;
    __syncthreads();
    for (int j = 0; j < 16; ++j) total += tile_a[threadIdx.y][j] * tile_b[j][threadIdx.x];
    __syncthreads();
  }
  if (y < rows && x < columns) c[y * columns + x] = total;
}
""",
    "product",
)


def matmul():
    """A matrix product whose lengths the tile does not divide."""
    rng = np.random.default_rng(1)
    a = rng.random((37, 53), dtype=np.float32)
    b = rng.random((53, 41), dtype=np.float32)
    c = cp.zeros((37, 41), dtype=cp.float32)
    grid = (blocks_for(41, TILE), blocks_for(37, TILE))
    product(grid, (TILE, TILE), (cp.asarray(a), cp.asarray(b), c, 37, 53, 41))
    return c.get(), a @ b, 1e-5


# --- 2. histogram ---------------------------------------------------------------------------------

count = cp.RawKernel(
    r"""
extern "C" __global__ void count(const int* x, int n, int* bins) {
  __shared__ int own[64];
  const int k = threadIdx.x;
  if (k < 64) own[k] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + k; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&own[x[i]], 1);
  }
  __syncthreads();
  if (k < 64) atomicAdd(&bins[k], own[k]);
}
""",
    "count",
)


def histogram():
    """Counts in shared memory first."""
    x = np.random.default_rng(2).integers(0, 64, 10_000).astype(np.int32)
    bins = cp.zeros(64, dtype=cp.int32)
    count((8,), (BLOCK,), (cp.asarray(x), x.size, bins))
    return bins.get(), np.bincount(x, minlength=64), 0


# --- 3. reduction ---------------------------------------------------------------------------------

sum_of_blocks = cp.RawKernel(
    r"""
extern "C" __global__ void sum_of_blocks(const double* x, int n, double* partial) {
  extern __shared__ double tile[];
  const int k = threadIdx.x, i = blockIdx.x * blockDim.x + k;
  tile[k] = i < n ? x[i] : 0.0;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (k < step) tile[k] += tile[k + step];
    __syncthreads();
  }
  if (k == 0) partial[blockIdx.x] = tile[0];
}
""",
    "sum_of_blocks",
)
norm = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")


def reduction():
    """A sum by a tree in each block, and a norm by an expression."""
    x = np.random.default_rng(3).random(5000)
    blocks = blocks_for(x.size, BLOCK)
    partial = cp.empty(blocks)
    sum_of_blocks((blocks,), (BLOCK,), (cp.asarray(x), x.size, partial), shared_mem=8 * BLOCK)
    found = [float(partial.sum()), float(norm(cp.asarray(x)))]
    return np.array(found), np.array([x.sum(), np.linalg.norm(x)]), 1e-12


# --- 4. scan --------------------------------------------------------------------------------------

scans = cp.RawModule(
    code=r"""
template <typename T>
__global__ void scan_blocks(const T* x, int n, T* out, T* ends) {
  __shared__ T tile[128];
  const int k = threadIdx.x, i = blockIdx.x * 128 + k;
  tile[k] = i < n ? x[i] : T(0);
  __syncthreads();
  for (int step = 1; step < 128; step *= 2) {
    const T before = k >= step ? tile[k - step] : T(0);
    __syncthreads();
    tile[k] += before;
    __syncthreads();
  }
  if (i < n) out[i] = tile[k];
  if (k == 127) ends[blockIdx.x] = tile[k];
}

template <typename T>
__global__ void add_ends(int n, T* out, const T* ends) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n && blockIdx.x > 0) out[i] += ends[blockIdx.x - 1];
}
""",
    name_expressions=["scan_blocks<double>", "add_ends<double>"],
    options=("-std=c++14",),
)


def scan():
    """Running sums: of each block, then of the blocks' ends. The kernels are templates."""
    x = np.random.default_rng(4).random(1000)
    blocks = blocks_for(x.size, BLOCK)
    d_x, out, ends = cp.asarray(x), cp.empty(x.size), cp.empty(blocks)
    scans.get_function("scan_blocks<double>")((blocks,), (BLOCK,), (d_x, x.size, out, ends))
    scans.get_function("add_ends<double>")((blocks,), (BLOCK,), (x.size, out, cp.cumsum(ends)))
    return out.get(), np.cumsum(x), 1e-12


# --- 5. transpose ---------------------------------------------------------------------------------

turn = cp.RawKernel(
    r"""
extern "C" __global__ void turn(const float* a, float* out, int rows, int columns) {
  __shared__ float tile[16][17];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (y < rows && x < columns) tile[threadIdx.y][threadIdx.x] = a[y * columns + x];
  __syncthreads();
  x = blockIdx.y * 16 + threadIdx.x;
  y = blockIdx.x * 16 + threadIdx.y;
  if (y < columns && x < rows) out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}
""",
    "turn",
)


def transpose():
    """Through a tile whose rows are one element longer."""
    a = np.arange(50 * 70, dtype=np.float32).reshape(50, 70)
    out = cp.zeros((70, 50), dtype=cp.float32)
    grid = (blocks_for(70, TILE), blocks_for(50, TILE))
    turn(grid, (TILE, TILE), (cp.asarray(a), out, 50, 70))
    return out.get(), a.T, 0


# --- 6. stencil -----------------------------------------------------------------------------------

heat = cp.ElementwiseKernel(
    "raw T old, T speed, int32 rows, int32 columns",
    "T fresh",
    """
    const int x = i % columns, y = i / columns;
    if (x > 0 && x < columns - 1 && y > 0 && y < rows - 1) {
      const T around = old[i - columns] + old[i + columns] + old[i - 1] + old[i + 1];
      fresh = old[i] + speed * (around - 4 * old[i]);
    } else {
      fresh = old[i];
    }
    """,
    "heat",
)


def stencil():
    """Steps of the heat equation on two arrays in turn."""
    start = np.zeros((40, 60))
    start[10:20, 15:30] = 1
    old, new = cp.asarray(start), cp.asarray(start)
    wanted = start.copy()
    for _ in range(10):
        heat(old, 0.2, 40, 60, new)
        old, new = new, old
        inner = wanted[1:-1, 1:-1]
        around = wanted[:-2, 1:-1] + wanted[2:, 1:-1] + wanted[1:-1, :-2] + wanted[1:-1, 2:]
        wanted[1:-1, 1:-1] = inner + 0.2 * (around - 4 * inner)
    return cp.asnumpy(old), wanted, 1e-12


# --- 7. Mandelbrot --------------------------------------------------------------------------------

picture = cp.ElementwiseKernel(
    "float64 real, float64 imaginary, int32 most",
    "int32 steps",
    """
    double x = 0, y = 0;
    int k = 0;
    for (; k < most; ++k) {
      const double square = x * x - y * y + real;
      y = 2 * x * y + imaginary;
      x = square;
      if (x * x + y * y >= 4) break;
    }
    steps = k;
    """,
    "mandelbrot",
)


def mandelbrot():
    """A row and a column of coordinates that broadcast to a picture."""
    height, width, most = 48, 72, 50
    x = -2.0 + cp.arange(width) * (3.0 / width)
    y = -1.0 + cp.arange(height) * (2.0 / height)
    image = picture(x, y[:, None], most).get()
    c = x.get() + 1j * y.get()[:, None]
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


def monte_carlo():
    """Pi, by functions of arrays."""
    cp.random.seed(1)
    x, y = cp.random.rand(100_000), cp.random.rand(100_000)
    inside = cp.count_nonzero(x * x + y * y <= 1)
    return 4 * float(inside) / 100_000, math.pi, 0.02


# --- 9. n-body ------------------------------------------------------------------------------------

forces = cp.RawKernel(
    r"""
__device__ double3 pull(const double* other, double x, double y, double z, double soft) {
  const double dx = other[0] - x, dy = other[1] - y, dz = other[2] - z;
  const double square = dx * dx + dy * dy + dz * dz + soft;
  const double size = other[3] / (square * sqrt(square));
  return make_double3(size * dx, size * dy, size * dz);
}

extern "C" __global__ __launch_bounds__(128)
void forces(const double* bodies, double* found, int n, double soft) {
  __shared__ double tile[128 * 4];
  const int k = threadIdx.x, i = blockIdx.x * blockDim.x + k;
  const double x = i < n ? bodies[4 * i] : 0, y = i < n ? bodies[4 * i + 1] : 0;
  const double z = i < n ? bodies[4 * i + 2] : 0;
  double ax = 0, ay = 0, az = 0;
  for (int first = 0; first < n; first += 128) {
    if (first + k < n) {
      for (int axis = 0; axis < 4; ++axis) tile[4 * k + axis] = bodies[4 * (first + k) + axis];
    }
    __syncthreads();
    for (int j = 0; j < min(128, n - first); ++j) {
      const double3 part = pull(&tile[4 * j], x, y, z, soft);
      ax += part.x;
      ay += part.y;
      az += part.z;
    }
    __syncthreads();
  }
  if (i < n) {
    found[3 * i] = ax;
    found[3 * i + 1] = ay;
    found[3 * i + 2] = az;
  }
}
""",
    "forces",
)


def n_body():
    """The pull of all bodies on each, with a function that the kernel calls."""
    bodies = np.random.default_rng(9).random((200, 4))
    found = cp.empty((200, 3))
    forces((blocks_for(200, BLOCK),), (BLOCK,), (cp.asarray(bodies), found, 200, 0.01))
    place, mass = bodies[:, :3], bodies[:, 3]
    away = place[None] - place[:, None]
    square = (away**2).sum(axis=2) + 0.01
    wanted = (mass[None, :, None] * away / (square**1.5)[..., None]).sum(axis=1)
    return found.get(), wanted, 1e-10


# --- 10. Game of Life -----------------------------------------------------------------------------


@cp.fuse()
def survives(alive, cell):
    return (alive == 3) | ((alive == 2) & (cell == 1))


def life():
    """Some generations on a ring, by functions of arrays and a fused one."""
    start = (np.random.default_rng(10).random((30, 45)) < 0.4).astype(np.int64)
    turns = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
    cells, wanted = cp.asarray(start), start
    for _ in range(8):
        alive = sum(cp.roll(cells, turn, axis=(0, 1)) for turn in turns)
        cells = survives(alive, cells).astype(cp.int64)
        alive = sum(np.roll(wanted, turn, axis=(0, 1)) for turn in turns)
        wanted = ((alive == 3) | ((alive == 2) & (wanted == 1))).astype(np.int64)
    return cells.get(), wanted, 0


# --- 11. sorting network --------------------------------------------------------------------------

bitonic = cp.RawKernel(
    r"""
extern "C" __global__ void bitonic(int* x) {
  extern __shared__ int tile[];
  const unsigned int k = threadIdx.x, n = blockDim.x;
  tile[k] = x[k];
  __syncthreads();
  for (unsigned int size = 2; size <= n; size *= 2) {
    for (unsigned int step = size / 2; step > 0; step /= 2) {
      const unsigned int other = k ^ step;
      if (other > k && (tile[k] > tile[other]) == ((k & size) == 0)) {
        const int kept = tile[k];
        tile[k] = tile[other];
        tile[other] = kept;
      }
      __syncthreads();
    }
  }
  x[k] = tile[k];
}
""",
    "bitonic",
)


def sorting():
    """In shared memory of the size that the launch gives."""
    x = np.random.default_rng(11).permutation(256).astype(np.int32)
    d_x = cp.asarray(x)
    bitonic((1,), (256,), (d_x,), shared_mem=x.nbytes)
    return d_x.get(), np.sort(x), 0


# --- 12. ray marching -----------------------------------------------------------------------------

march = cp.RawKernel(
    r"""
__device__ inline double distance_to_sphere(double x, double y, double z) {
  return sqrt(x * x + y * y + z * z) - 1.0;
}

extern "C" __global__ void march(double* depth, int height, int width) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x;
  const int py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  const double x = 2.4 * px / width - 1.2, y = 2.4 * py / height - 1.2;
  double z = -3.0;
  for (int k = 0; k < 100; ++k) {
    const double near_by = distance_to_sphere(x, y, z);
    if (near_by < 1e-6 || z > 3) break;
    z += near_by;
  }
  depth[py * width + px] = z < 3 ? z : 1e30;
}
""",
    "march",
)


def ray_marching():
    """The depth of a sphere, by steps that never go too far."""
    height, width = 24, 36
    depth = cp.zeros((height, width))
    march((3, 2), (TILE, TILE), (depth, height, width))
    x = 2.4 * np.arange(width) / width - 1.2
    y = (2.4 * np.arange(height) / height - 1.2)[:, None]
    with np.errstate(invalid="ignore"):
        wanted = np.where(x * x + y * y < 1, -np.sqrt(1 - x * x - y * y), 1e30)
    clear = abs(x * x + y * y - 1) > 0.1  # along the rim steps get too short
    return depth.get()[clear], wanted[clear], 1e-3


# --- 13. particle deposition ----------------------------------------------------------------------

deposit = cp.RawKernel(
    r"""
extern "C" __global__ void deposit(const double* place, int n, double charge, double* grid) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int cell = static_cast<int>(place[i]);
  const double share = place[i] - cell;
  atomicAdd(&grid[cell % 32], charge * (1 - share));
  atomicAdd(&grid[(cell + 1) % 32], charge * share);
}
""",
    "deposit",
)


def deposition():
    """Each particle gives a share of its charge to two cells."""
    place = np.random.default_rng(13).random(3000) * 32
    grid = cp.zeros(32)
    blocks = blocks_for(place.size, BLOCK)
    deposit((blocks,), (BLOCK,), (cp.asarray(place), place.size, 0.5, grid))
    cell = np.floor(place).astype(int)
    share = place - cell
    wanted = np.bincount(cell % 32, 0.5 * (1 - share), 32)
    wanted += np.bincount((cell + 1) % 32, 0.5 * share, 32)
    return grid.get(), wanted, 1e-10


# --- 14. spectral push ----------------------------------------------------------------------------

push = cp.ElementwiseKernel(
    "T electric, T magnetic, T current, float64 wave, float64 dt",
    "T e, T b",
    """
    const double c = cos(wave * dt), s = sin(wave * dt);
    const double over = wave > 0 ? s / wave : dt, part = (1 - c) / (wave > 0 ? wave : 1.0);
    const T i1(0, 1);
    e = c * electric + s * (i1 * magnetic) - over * current;
    b = c * magnetic + s * (i1 * electric) - part * (i1 * current);
    """,
    "push",
)


def spectral_push():
    """A step of Maxwell's equations for each wave of a Fourier transform."""
    rng = np.random.default_rng(14)
    fields = [np.fft.fft2(rng.random((20, 30))) for _ in range(3)]
    wave = np.hypot(np.fft.fftfreq(30) * 6, np.fft.fftfreq(20)[:, None] * 6)
    stream = cp.cuda.Stream()
    with stream:
        e, b = push(*(cp.asarray(f) for f in fields), cp.asarray(wave), 0.1)
    stream.synchronize()
    c, s = np.cos(wave * 0.1), np.sin(wave * 0.1)
    whole = np.where(wave > 0, wave, 1)
    over = np.where(wave > 0, s / whole, 0.1)
    wanted = [
        c * fields[0] + 1j * s * fields[1] - over * fields[2],
        c * fields[1] + 1j * s * fields[0] - 1j * (1 - c) / whole * fields[2],
    ]
    return cp.asnumpy(cp.stack([e, b])), np.stack(wanted), 1e-10


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
