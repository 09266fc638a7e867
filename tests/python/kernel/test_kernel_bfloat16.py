"""Kernels with elements of bfloat16: from expressions, from text, and from Python."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from contextlib import nullcontext

import ml_dtypes
import numpy as np
import pytest

import usmx

BF16 = np.dtype(ml_dtypes.bfloat16)


def rounded(x):
    return np.asarray(x, "f4").astype(BF16)


def numbers(n=1000, seed=1):
    return rounded(np.random.default_rng(seed).normal(0, 3, n))


def same(made, expected):
    made = made.to_numpy()
    assert made.dtype == expected.dtype
    np.testing.assert_array_equal(made.astype("f4"), expected.astype("f4"))


def test_elementwise_kernels_round_each_operation():
    left, right = numbers(seed=1), numbers(seed=2)
    x, y = left.astype("f4"), right.astype("f4")
    kernel = usmx.ElementwiseKernel(
        "T x, bfloat16 y, float32 a",
        "T product, float32 wide, T mixed, bool less, T chosen, int32 whole",
        "product = x * y + x; wide = x * a; mixed = x + 1; less = x < y;"
        "chosen = x > T(0) ? x : -y; whole = int(x); mixed += y; ",
    )
    product, wide, mixed, less, chosen, whole = kernel(usmx.asarray(left), usmx.asarray(right), 1.5)
    same(product, rounded(rounded(x * y).astype("f4") + x))
    same(wide, x * np.float32(1.5))
    same(mixed, rounded(rounded(x + 1).astype("f4") + y))
    same(less, x < y)
    same(chosen, rounded(np.where(x > 0, x, -y)))
    same(whole, x.astype("i4"))


def test_numbers_meet_bfloat16_rounded_once():
    kernel = usmx.ElementwiseKernel("T x, T a", "T y", "y = a")
    x = usmx.zeros(3, dtype="bfloat16")
    assert kernel(x, 1 + 2**-8 + 2**-40).tolist() == [1 + 2**-7] * 3
    assert kernel(x, 2**62 + 2**54 + 1).tolist() == [float(2**62 + 2**55)] * 3


def test_reductions_and_scans():
    values = numbers(3000)
    x = usmx.asarray(values)
    norm = usmx.ReductionKernel(
        "T x", "T y", "float(x) * float(x)", "a + b", "y = sqrt(a)", "0", reduce_type="float"
    )
    assert math.isclose(norm(x).item(), np.sqrt(np.sum(values.astype("f8") ** 2)), rel_tol=2**-8)
    largest = usmx.ReductionKernel("T x", "T y", "x", "maximum(a, b)", "y = a")
    assert largest(x).item() == float(values.astype("f4").max())
    running = usmx.ScanKernel("bfloat16 x", "bfloat16 y", "x", "maximum(a, b)")
    same(running(x), rounded(np.maximum.accumulate(values.astype("f4"))))


RAW = """
USMX_KERNEL(1) scale(const usmx::bfloat16* x, usmx::bfloat16* y, usmx::bfloat16 a, uint64_t n) {
  const auto i = usmx::global_id();
  if (i < n) y[i] = x[i] * a + 1.0f;
}
USMX_KERNEL(1) turn(usmx::dense<const usmx::bfloat16, 1> x,
                    usmx::dense<usmx::bfloat16, 1> y) {
  usmx::local<usmx::bfloat16[64]> tile;
  const int me = int(usmx::local_id());
  tile[me] = x[me];
  usmx::group_barrier();
  y[me] = tile[63 - me] + usmx::exp2(usmx::bfloat16(1));
}
"""


def test_kernels_from_text():
    values = numbers(64)
    x = usmx.asarray(values)
    y = usmx.empty_like(x)
    scale, turn = usmx.RawKernel(RAW, "scale"), usmx.RawKernel(RAW, "turn")
    scale[64](x, y, 0.5, 64)
    same(y, rounded(values.astype("f4") * np.float32(0.5) + 1))
    with pytest.raises(ValueError, match="does not fit into bfloat16"):
        scale[64](x, y, 1e39, 64)
    with pytest.raises(TypeError, match="expected bfloat16"):
        scale[64](x.astype("float16"), y, 0.5, 64)
    turn[64, (64,)](x, y)
    same(y, rounded(values.astype("f4")[::-1] + np.float32(2)))


@usmx.kernel
def combine(item, x, y, counts, wide, z, w, sums):
    i = item.get_id(0)
    z[i] = x[i] * y[i] + 0.1
    w[i] = counts[i]
    w[i] += x[i] * 2
    tile = usmx.private.array(2, usmx.bfloat16)
    tile[1] = wide[i]
    sums[i] = math.sqrt(abs(x[i])) + tile[1] + usmx.bfloat16(wide[i])


@pytest.mark.parametrize("simulated", [False, True])
def test_kernels_of_python_read_float32_and_round_what_they_store(simulated):
    n = 64
    left, right = numbers(n, 1), numbers(n, 2)
    counts = np.arange(n) * (2**40 + 2**32 + 1)
    wide = 1 + np.arange(n) * 2.0**-10 + 2.0**-40
    x, y, k, d = map(usmx.asarray, (left, right, counts, wide))
    z, w = usmx.empty(n, dtype="bfloat16"), usmx.empty(n, dtype="bfloat16")
    sums = usmx.empty(n, dtype="float32")
    with usmx.simulate() if simulated else nullcontext():
        combine[n](x, y, k, d, z, w, sums).wait()
    a, b = left.astype("f4"), right.astype("f4")
    same(z, rounded(a * b + np.float32(0.1)))
    whole = k.astype("bfloat16").to_numpy().astype("f4")
    same(w, rounded(whole + a * np.float32(2)))
    once = d.astype("bfloat16").to_numpy().astype("f4")
    np.testing.assert_allclose(sums.to_numpy(), np.sqrt(np.abs(a)) + once + once, rtol=2**-22)


def test_python_kernels_refuse_a_single_bfloat16():
    z = usmx.empty(4, dtype="bfloat16")

    @usmx.kernel
    def fill(item, a, z):
        z[item.get_id(0)] = a

    fill[4](0.3, z).wait()
    assert z.tolist() == [float(rounded(0.3))] * 4
    with pytest.raises(TypeError, match=r"pass float\(x\)"):
        fill[4](ml_dtypes.bfloat16(1), z)
