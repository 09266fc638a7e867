# Programs for CuPy after a change of their import.
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

import usmx
import usmx.compat.cupy as cp
from usmx.compat import cupyx
from usmx.compat.cupy.kernels import UntranslatableError

TEXT = r"""
#include <cuda_runtime.h>
extern "C" __global__ __launch_bounds__(256) void turn(const float* x, float* y, int width,
                                                       int height) {
  __shared__ float tile[16][17];  // one column more
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column < width && row < height) tile[threadIdx.y][threadIdx.x] = x[row * width + column];
  __syncthreads();
  const int to = blockIdx.y * blockDim.y + threadIdx.x;
  const int from = blockIdx.x * blockDim.x + threadIdx.y;
  if (to < height && from < width) y[from * height + to] = tile[threadIdx.x][threadIdx.y];
}

template <typename T>
__global__ void sum_of_block(const T* x, double* out, long long n) {
  extern __shared__ double part[];
  const unsigned int k = threadIdx.x;
  const long long i = (long long)blockIdx.x * blockDim.x + k;
  part[k] = i < n ? x[i] : 0;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (k < step) part[k] += part[k + step];
    __syncthreads();
  }
  if (k == 0) atomicAdd(out, part[0]);
}
"""


def test_a_text_of_cuda_runs_as_it_is():
    x = cp.arange(50 * 70, dtype=cp.float32).reshape(50, 70)
    y = cp.zeros((70, 50), dtype=cp.float32)
    module = cp.RawModule(code=TEXT, options=("--std=c++17",))
    turn = module.get_function("turn")
    turn((5, 4), (16, 16), (x, y, np.int32(70), np.int32(50)))
    np.testing.assert_array_equal(y.get(), x.get().T)
    total = module.get_function("sum_of_block<float>")
    out = cp.zeros(1)
    total((14,), (256,), (x, out, 3500), shared_mem=256 * 8, stream=cp.cuda.Stream())
    assert out.get()[0] == 3500 * 3499 / 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("\n__constant__ float c[2];\n__global__ void f() {}", "line 2: '__constant__'"),
        ("#include <cub/cub.cuh>\n__global__ void f() {}", "line 1: the header <cub/cub.cuh>"),
        ('// asm\n__global__ void f() {\n  asm(""); }', "line 3: 'asm'"),
    ],
)
def test_what_has_no_counterpart_is_refused_by_name_and_line(text, why):
    with pytest.raises(UntranslatableError, match=why):
        cp.RawKernel(text, "f")
    with pytest.raises(UntranslatableError, match="get_global"):
        cp.RawModule(code=TEXT).get_global("c")


def test_kernels_from_expressions_take_parameters_of_cupy():
    squared = cp.ElementwiseKernel(
        "float32 x, float32 y", "float32 z", "z = (x - y) * (x - y)", "squared",
        reduce_dims=False, options=("--std=c++11",),
    )  # fmt: skip
    x = cp.arange(6, dtype="f").reshape(2, 3)
    np.testing.assert_array_equal(squared(x, cp.ones(3, "f")).get(), (x.get() - 1) ** 2)
    norm = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
    np.testing.assert_allclose(norm(x, axis=1).get(), np.linalg.norm(x.get(), axis=1), rtol=1e-6)

    @cp.fuse(kernel_name="both")
    def both(a, b):
        return cp.sqrt(a * a + b * b)

    np.testing.assert_allclose(both(x, x).get(), np.sqrt(2) * x.get(), rtol=1e-6)


def test_functions_are_those_of_usmx_and_types_those_of_numpy():
    x = cp.array([[3.0, 1.0], [2.0, 4.0]])
    assert isinstance(x, cp.ndarray)
    assert cp.float32 is np.float32
    assert cp.get_array_module(x) is cp
    assert cp.get_array_module(np.ones(1)) is np
    np.testing.assert_allclose((cp.linalg.inv(x) @ x).get(), np.eye(2), atol=1e-12)
    np.testing.assert_array_equal(cp.sort(x, axis=None).get(), [1, 2, 3, 4])
    assert cp.asnumpy(x.sum()) == 10
    assert cp.pi == np.pi
    with pytest.raises(AttributeError, match="no attribute 'wrong_name'"):
        _ = cp.wrong_name
    cp.testing.assert_allclose(x, x.get())
    assert cp.testing.shaped_arange((2, 3)).get()[1, 2] == 6


def test_arrays_go_to_the_host_and_back():
    x = cp.zeros((2, 2))
    x.set(np.arange(4.0).reshape(2, 2))
    out = np.empty((2, 2))
    assert x.get(out=out) is out
    np.testing.assert_array_equal(out, [[0, 1], [2, 3]])
    assert x.data.ptr == x.pointer
    assert isinstance(x.device, usmx.Device)
    with pytest.raises(ValueError, match="shape"):
        x.set(np.zeros(3))
    with pytest.raises(TypeError, match="dtype"):
        x.set(np.zeros((2, 2), "f4"))


def test_streams_events_devices_and_pools():
    start, end = cp.cuda.Event(), cp.cuda.Event()
    with cp.cuda.Stream(non_blocking=True) as stream, cp.cuda.Device(0) as device:
        start.record(stream)
        y = cp.ones(1000) * 2
        end.record(stream)
    end.synchronize()
    assert cp.cuda.get_elapsed_time(start, end) >= 0
    assert float(y.sum()) == 2000
    assert stream.done
    device.synchronize()
    free, total = device.mem_info
    assert 0 < free <= total
    assert cp.cuda.runtime.getDeviceCount() >= 1
    pool = cp.get_default_memory_pool()
    assert 0 <= pool.used_bytes() <= pool.total_bytes()
    pool.free_all_blocks()
    cp.cuda.Stream.null.synchronize()
    cp.cuda.set_allocator(cp.cuda.MemoryPool().malloc)


def test_scatter_adds_both_values_of_an_element_that_is_named_twice():
    x = cp.zeros(4)
    cupyx.scatter_add(x, cp.array([1, 1, 3]), cp.array([1.0, 2.0, 5.0]))
    np.testing.assert_array_equal(x.get(), [0, 3, 0, 5])
    cupyx.scatter_max(x, cp.array([0, 1]), 2.0)
    np.testing.assert_array_equal(x.get(), [2, 3, 0, 5])
    cupyx.scatter_min(x, cp.array([3, 3]), cp.array([4.0, 1.0]))
    np.testing.assert_array_equal(x.get(), [2, 3, 0, 1])
    assert cupyx.zeros_pinned(3).sum() == 0
    np.testing.assert_allclose(cupyx.rsqrt(cp.array([4.0])).get(), [0.5])


def test_texts_have_the_vectors_of_cuda():
    turned = cp.RawKernel(
        r"""
__device__ float4 turned(float4 v) { return make_float4(v.w, v.z, v.y, v.x); }
extern "C" __global__ void turn(float4* x, int2* pairs, double3* triples) {
  const int i = threadIdx.x;
  x[i] = turned(x[i]);
  pairs[i] = make_int2(pairs[i].y, pairs[i].x + (int)sizeof(uchar4) + (int)alignof(float4));
  const double3 t = triples[i];
  triples[i] = make_double3(t.y, t.z, t.x);
}
""",
        "turn",
    )
    x = cp.arange(32, dtype="f4").reshape(8, 4)
    pairs, triples = cp.arange(16, dtype="i4").reshape(8, 2), cp.arange(24.0).reshape(8, 3)
    turned((1,), (8,), (x, pairs, triples))
    assert x.get()[1].tolist() == [7, 6, 5, 4]
    assert pairs.get()[3].tolist() == [7, 6 + 4 + 16]
    assert triples.get()[2].tolist() == [7, 8, 6]
