# Warps as CUDA has them, in texts of CUDA and in kernels of Python: 32 threads in the order of
# their numbers in a block of any dimensions; segments of them, and masks that differ.
# SPDX-License-Identifier: Apache-2.0
import sys
import types

import numpy as np
import pytest
from cuda_functions import SHUFFLES, VOTES

import usmx
import usmx.compat.cupy as cp
from usmx.compat import cuda, cupyx
from usmx.compat.cuda import shfl_sync as taken

BLOCKS = [(64,), (32, 2), (16, 4), (8, 8), (4, 4, 4), (5, 3), (40,), (7, 3, 2), (33, 2), (1, 48)]
WIDTHS = [32, 16, 8, 2, 1]


def source(kind, lane, by, width):
    """The lane that a thread reads; its own where there is none."""
    first = lane // width * width
    if kind == "shfl":
        return first + by % width
    other = {"up": lane - by, "down": lane + by, "xor": lane ^ by}[kind]
    if kind == "xor":
        return other if other < first + width else lane
    return other if first <= other < first + width else lane


def sources(kind, count, by, width=32):
    """Which thread of a block each one reads."""
    return [t // 32 * 32 + source(kind, t % 32, by, width) for t in range(count)]


def shuffled(kind, values, by, width=32):
    """What each thread of a block gets: its own where there is no such thread."""
    read = sources(kind, len(values), by, width)
    return [values[at] if at < len(values) else own for at, own in zip(read, values, strict=True)]


def warps_of(values):
    """The values of each warp, for each thread of it."""
    return [values[t // 32 * 32 : t // 32 * 32 + 32] for t in range(len(values))]


def xyz(block):
    return tuple(n for n in (*block, 1, 1)[:3])


@pytest.mark.parametrize("dtype", ["i4", "f8", "f2", "u1"])
@pytest.mark.parametrize("width", WIDTHS)
def test_texts_shuffle_in_segments(width, dtype):
    name = {"i4": "int", "f8": "double", "f2": "half", "u1": "unsigned char"}[dtype]
    kernel = cp.RawKernel(SHUFFLES.replace("TYPE", name), "shuffles")
    for block in BLOCKS if dtype == "i4" else [(64,), (5, 3)]:
        n = int(np.prod(block))
        x = cp.asarray((np.arange(n) * 3 + 1).astype(dtype))
        for by in (0, 1, 3, 8, 31):
            out = cp.zeros((5, n), dtype=dtype)
            kernel((1,), block, (x, out, by, width))
            values = x.get().tolist()
            ways = [(kind, width) for kind in ("shfl", "up", "down", "xor")] + [("down", 32)]
            wanted = [shuffled(kind, values, by, wide) for kind, wide in ways]
            got = out.get()
            if usmx.default_queue().device.backend == "cuda":
                # CUDA itself leaves open what a thread gets that is not there.
                open_ones = np.array([sources(kind, n, by, wide) for kind, wide in ways]) >= n
                got[open_ones] = np.array(wanted)[open_ones]
            np.testing.assert_array_equal(got, wanted, f"{block} {by}")


def bits(flags):
    return sum(1 << k for k, yes in enumerate(flags) if yes)


def voted(masks, x):
    """What each thread gets of the votes: one row for each of the text."""
    rows = [[] for _ in range(14)]
    for t, (mask, warp) in enumerate(zip(masks, warps_of(x), strict=True)):
        there = bits(mask >> k & 1 for k in range(len(warp)))
        some = [v for k, v in enumerate(warp) if there >> k & 1]
        same = len({v // 64 for v in some}) == 1
        row = [
            bits(v & 1 for v in warp) & there, any(v == 3 for v in some), all(v < 50 for v in some),
            bits(v % 3 == x[t] % 3 for v in warp) & there, there if same else 0, same, sum(some),
            min(some) + 1000 * max(some), np.bitwise_and.reduce(some), np.bitwise_or.reduce(some),
            np.bitwise_xor.reduce(some), bits(True for _ in warp), sum(v & 1 for v in x),
            all(v >= 0 for v in x) + 2 * any(v == 1 for v in x),
        ]  # fmt: skip
        for found, value in zip(rows, row, strict=True):
            found.append(int(value))
    return rows


def masks_of(kind, n):
    lane = np.arange(n) % 32
    if kind == "whole":
        return [0xFFFFFFFF] * n
    if kind == "halves":
        return [0xFFFF if k < 16 else 0xFFFF0000 for k in lane]
    if kind == "alternate":
        return [0x55555555 << (k % 2) for k in lane]
    return [1 << k for k in lane]


@pytest.mark.parametrize("kind", ["whole", "halves", "alternate", "alone"])
def test_each_mask_of_a_vote_sees_its_own_threads(kind):
    kernel = cp.RawKernel(VOTES, "votes")
    for block in BLOCKS:
        n = int(np.prod(block))
        x = np.random.default_rng(n).integers(0, 100, n).astype("i4")
        masks = np.array(masks_of(kind, n), "u4")
        out = cp.zeros((14, n), dtype="u4")
        kernel((1,), block, (cp.asarray(masks), cp.asarray(x), out))
        np.testing.assert_array_equal(out.get(), voted(masks.tolist(), x.tolist()), str(block))


def of_python(masks, x, out, block):
    t = (cuda.threadIdx.z * block[1] + cuda.threadIdx.y) * block[0] + cuda.threadIdx.x
    mask, v = masks[t], x[t]
    out[0, t] = cuda.ballot_sync(mask, v & 1)
    out[1, t] = cuda.any_sync(mask, v == 3)
    out[2, t] = cuda.all_sync(mask, v < 50)
    out[3, t] = cuda.match_any_sync(mask, v % 3)
    whole, same = cuda.match_all_sync(mask, v // 64)
    out[4, t] = whole
    out[5, t] = same
    out[6, t] = cuda.reduce_add_sync(mask, v)
    out[7, t] = cuda.reduce_min_sync(mask, v) + 1000 * cuda.reduce_max_sync(mask, v)
    out[8, t] = cuda.activemask()
    out[9, t] = cuda.shfl_sync(-1, v, 3)
    out[10, t] = cuda.shfl_up_sync(-1, v, 5)
    out[11, t] = cuda.shfl_down_sync(-1, v, 5)
    out[12, t] = cuda.shfl_xor_sync(-1, v, 6)
    out[13, t] = cuda.laneid
    out[14, t] = cuda.eq_sync(mask, v < 50)


@pytest.mark.parametrize("simulate", [False, True])
@pytest.mark.parametrize("kind", ["whole", "halves", "alone"])
def test_kernels_of_python_have_the_same_warps(kind, simulate):
    kernel = cuda.jit(of_python)
    for block in BLOCKS[:4] if simulate else BLOCKS:
        n = int(np.prod(block))
        x = np.random.default_rng(n).integers(0, 100, n).astype("i4")
        masks = np.array(masks_of(kind, n), "u4")
        out = np.zeros((15, n), "i8")
        with usmx.simulate(simulate):
            kernel[1, block](masks, x, out, xyz(block))
        values = x.tolist()
        votes = voted(masks.tolist(), values)
        shuffles = [
            shuffled(kind, values, by)
            for kind, by in (("shfl", 3), ("up", 5), ("down", 5), ("xor", 6))
        ]
        equal = [
            len({v < 50 for k, v in enumerate(warp) if mask >> k & 1}) == 1
            for mask, warp in zip(masks.tolist(), warps_of(values), strict=True)
        ]
        wanted = [*votes[:8], votes[11], *shuffles, np.arange(n) % 32, equal]
        np.testing.assert_array_equal(out, np.array(wanted, "i8"), str(block))


@cupyx.jit.rawkernel()
def segments(x, out, width):
    jit = cupyx.jit
    t = jit.threadIdx.y * jit.blockDim.x + jit.threadIdx.x
    out[0, t] = jit.shfl_sync(0xFFFFFFFF, x[t], 3, width)
    out[1, t] = jit.shfl_up_sync(0xFFFFFFFF, x[t], 3, width)
    out[2, t] = jit.shfl_down_sync(0xFFFFFFFF, x[t], 3, width=width)
    out[3, t] = jit.shfl_xor_sync(0xFFFFFFFF, x[t], 3, width=8)
    out[4, t] = jit.shfl_sync(0xFFFFFFFF, x[t], 40)


@pytest.mark.parametrize("width", WIDTHS)
def test_kernels_of_cupyx_jit_shuffle_in_segments(width):
    for block in [(64,), (16, 4), (40,)]:
        n = int(np.prod(block))
        x, out = cp.arange(n, dtype="f4") * 2, cp.zeros((5, n), dtype="f4")
        segments((1,), block, (x, out, width))
        kinds = [("shfl", width), ("up", width), ("down", width), ("xor", 8)]
        values = x.get().tolist()
        wanted = [shuffled(kind, values, 3, of) for kind, of in kinds]
        np.testing.assert_array_equal(out.get(), [*wanted, shuffled("shfl", values, 40)])


def test_floats_match_by_their_bits():
    def matches(x, out):
        out[cuda.threadIdx.x] = cuda.match_any_sync(0xFFFFFFFF, x[cuda.threadIdx.x])

    x = np.zeros(32, "f4")
    x[3:5] = np.nan
    x[7] = -0.0
    wanted = bits(k not in (3, 4, 7) for k in range(32))
    for dtype in ("f4", "f8"):
        out = np.zeros(32, "i8")
        cuda.jit(matches)[1, 32](x.astype(dtype), out)
        assert out[[0, 3, 4, 7]].tolist() == [wanted, 0b11000, 0b11000, 1 << 7]


# --- all that a launch asks about its blocks ------------------------------------------------------

PLACES = r"""
extern "C" __global__ void places(int* out) {
  const dim3 block = blockDim, grid = gridDim;
  const uint3 at = threadIdx, of = blockIdx;
  const int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const int b = (of.z * gridDim.y + of.y) * gridDim.x + of.x;
  int* to = out + (b * block.x * block.y * block.z + t) * 9;
  to[0] = at.x; to[1] = at.y; to[2] = at.z;
  to[3] = blockDim.x * 100 + blockDim.y * 10 + blockDim.z;
  to[4] = grid.x * 100 + grid.y * 10 + grid.z;
  to[5] = blockIdx.x; to[6] = blockIdx.y; to[7] = blockIdx.z;
  to[8] = __shfl_sync(0xffffffff, t, 0);
}
"""


def placed(grid, block):
    """What the text above gives."""
    found = []
    for of in np.ndindex(grid[::-1]):
        for t, at in enumerate(np.ndindex(block[::-1])):
            one = [*at[::-1], int("".join(map(str, block))), int("".join(map(str, grid)))]
            found.append([*one, *of[::-1], t // 32 * 32])
    return found


@pytest.mark.parametrize("block", [(5, 3, 2), (4, 9, 1), (1, 6, 6), (8, 1, 1)])
def test_a_text_about_warps_knows_its_block_and_its_grid(block):
    grid = (2, 3, 2)
    out = cp.zeros((int(np.prod(grid) * np.prod(block)), 9), dtype="i4")
    cp.RawKernel(PLACES, "places")(grid, block, (out,))
    np.testing.assert_array_equal(out.get(), placed(grid, block))


def in_a_grid(out):
    x, y = cuda.grid(2)
    width, height = cuda.gridsize(2)
    tile = cuda.shared.array((3, 5), cuda.int32)
    tile[cuda.threadIdx.y, cuda.threadIdx.x] = x
    cuda.syncthreads()
    at = y * width + x
    out[at, 0] = tile[cuda.threadIdx.y, cuda.threadIdx.x]
    out[at, 1] = 100 * cuda.blockDim.x + 10 * cuda.blockDim.y + cuda.gridDim.x
    out[at, 2] = cuda.shfl_sync(-1, cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x, 4)
    out[at, 3] = width * 100 + height


@pytest.mark.parametrize("simulate", [False, True])
def test_a_kernel_about_warps_knows_its_block_and_its_grid(simulate):
    out = np.zeros((90, 4), "i8")
    with usmx.simulate(simulate):
        cuda.jit(in_a_grid)[(2, 3), (5, 3)](out)
    np.testing.assert_array_equal(out, [[i % 10, 532, 4, 1009] for i in range(90)])


def helper(v):
    return cuda.shfl_sync(-1, v, 31)


of_module = types.ModuleType("helpers_of_a_test")
of_module.helper = helper
sys.modules["helpers_of_a_test"] = of_module
device = cuda.jit(device=True)(helper)


def by_name(v):
    return taken(-1, v, 31)


def alias(v):
    return device(v)


CALLS = {"device": device, "name": by_name, "through": alias, "module": of_module}


@pytest.mark.parametrize("how", CALLS)
def test_a_warp_that_is_asked_about_elsewhere_is_seen(how):
    called = CALLS[how]

    def kernel(out):
        t = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x
        out[t] = called(t)

    def of_a_module(out):
        t = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x
        out[t] = called.helper(t)

    out = np.zeros(64, "i4")
    cuda.jit(of_a_module if how == "module" else kernel)[1, (8, 8)](out)
    np.testing.assert_array_equal(out, np.repeat([31, 63], 32))
