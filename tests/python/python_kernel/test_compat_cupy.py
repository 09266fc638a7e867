# Programs for CuPy after a change of their import.
# SPDX-License-Identifier: Apache-2.0
import importlib

import numpy as np
import pytest

import usmx
import usmx.compat.cupy as cp
from usmx.compat import cupyx
from usmx.compat.cupy.translation import UntranslatableError

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
        ("\nnamespace a { __constant__ float c[2]; }\n__global__ void f() {}", "line 2: '__const"),
        ("#include <cub/cub.cuh>\n__global__ void f() {}", "line 1: the header <cub/cub.cuh>"),
        ('// asm\n__global__ void f() {\n  asm(""); }', "line 3: 'asm'"),
    ],
)
def test_what_has_no_counterpart_is_refused_by_name_and_line(text, why):
    with pytest.raises(UntranslatableError, match=why):
        cp.RawKernel(text, "f")
    with pytest.raises(ValueError, match="has these variables: none"):
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


VARIABLES = r"""
#define N 3
struct Pair { float a; int b; };
__constant__ float weights[N][N];   // set by the host
__constant__ Pair pair = {1.5f, 7}, other;
__device__ int counter = 5, table[2] = {1, 2};
__device__ float part(int i) { return weights[i / N][i % N] * pair.a; }
template <typename T> __device__ T twice(T x, int i) { return x + T(2) * part(i); }
__device__ int next(int x) { return x + 1; }
extern "C" {
__global__ void count(float* x) {
  int i = threadIdx.x;
  x[i] = twice<float>(x[i], i) + next(pair.b);
  atomicAdd(&counter, table[1]);
}
__global__ void ask(int* n) { n[0] = counter; }
__global__ void none(int* n) { n[0] = 4; }
}
"""


def test_variables_of_a_text_are_memory_of_the_module_which_the_host_writes():
    module = cp.RawModule(code=VARIABLES)
    count, ask, none = (module.get_function(n) for n in ("count", "ask", "none"))
    weights = cp.ndarray((3, 3), cp.float32, module.get_global("weights"))
    weights[...] = cp.arange(9, dtype="f4").reshape(3, 3)
    x, n = cp.zeros(9, dtype="f4"), cp.zeros(1, dtype="i4")
    count((1,), (9,), (x,))
    np.testing.assert_array_equal(x.get(), 3 * np.arange(9) + 8)
    ask((1,), (1,), (n,))
    assert n.get()[0] == 5 + 9 * 2
    module.get_global("table").copy_from_host(np.array([3, 4], "i4"), 8)
    count((1,), (9,), (x,))
    ask((1,), (1,), (n,))
    assert n.get()[0] == 23 + 9 * 4
    none((1,), (1,), (n,))
    assert n.get()[0] == 4
    back = np.zeros(2, "i4")
    module.get_global("table").copy_to_host(back, 8)
    assert back.tolist() == [3, 4]
    with pytest.raises(ValueError, match="'wrong'; the text has these variables: weights, pair"):
        module.get_global("wrong")


def test_variables_of_one_kernel_are_its_own():
    text = "__device__ int n = 3;\n__global__ void f(int* x) { x[0] = n++; }"
    x = cp.zeros(1, dtype="i4")
    for kernel, wanted in ((cp.RawKernel(text, "f"), (3, 4)), (cp.RawKernel(text, "f"), (3, 4))):
        for n in wanted:
            kernel((1,), (1,), (x,))
            assert x.get()[0] == n


def test_a_text_takes_structs_by_value_and_arrays_in_any_order():
    text = r"""
    struct Pair { double a; int b; };
    template <typename T> __global__ void f(const T* x, const Pair p, T* y) {
      int i = threadIdx.x;
      y[i] = x[i] * p.a + p.b;
    }"""
    kernel = cp.RawModule(code=text, name_expressions=["f<float>"]).get_function("f<float>")
    pair = np.zeros(1, np.dtype([("a", "f8"), ("b", "i4")], align=True))
    pair[0] = 2.5, 7
    x = cp.asarray(np.asfortranarray(np.arange(6, dtype="f4").reshape(2, 3)))
    assert x.flags.f_contiguous
    y = cp.zeros(6, dtype="f4")
    for given in (pair, pair[0], pair.reshape(())):
        kernel((1,), (6,), (x, given, y))
        np.testing.assert_array_equal(y.get(), x.get().T.reshape(-1) * 2.5 + 7)


def test_types_that_a_preamble_defines_again_are_left_out():
    kernel = cp.ElementwiseKernel(
        "int32 x", "int32 y", "y = halved(x)", "halves",
        preamble="typedef unsigned long long uint64_t;\n"
        "__device__ int halved(int x) { return (int)((uint64_t)x / 2); }",
    )  # fmt: skip
    assert kernel(cp.arange(4, dtype="i4")).get().tolist() == [0, 0, 1, 1]


@cupyx.jit.rawkernel(device=True)
def squared(x):
    return x * x


@cupyx.jit.rawkernel()
def sums(x, y, size):
    jit = cupyx.jit
    first = jit.blockIdx.x * jit.blockDim.x + jit.threadIdx.x
    value = np.float32(0)
    for i in jit.range(first, size, jit.gridsize(1), unroll=2):
        value += squared(x[i])
    tile = jit.shared_memory(np.float32, 64)
    tile[jit.threadIdx.x] = value
    jit.syncthreads()
    if jit.threadIdx.x == 0:
        total = np.float32(0)
        for i in range(jit.blockDim.x):
            total += tile[i]
        jit.atomic_add(y, 0, total)


def test_kernels_of_cupyx_jit():
    x, y = cp.arange(1000, dtype="f4") / 100, cp.zeros(1, dtype="f4")
    sums((4,), (64,), (x, y, np.uint32(1000)))
    np.testing.assert_allclose(y.get()[0], (x.get() ** 2).sum(), rtol=1e-5)
    sums[4, 64](x, y, 1000)
    np.testing.assert_allclose(y.get()[0], 2 * (x.get() ** 2).sum(), rtol=1e-5)
    with pytest.raises(TypeError, match="device=True"):
        squared((1,), (1,), (x,))
    with pytest.raises(ValueError, match="mode: 'other'"):
        cupyx.jit.rawkernel(mode="other")


@cupyx.jit.rawkernel()
def lanes(x, out):
    jit = cupyx.jit
    i = jit.grid(1)
    tile = jit.shared_memory(np.int32, None)
    tile[i] = x[i]
    jit.syncthreads()
    out[0, i] = jit.shfl_xor_sync(0xFFFFFFFF, x[i], 1) + 100 * jit.laneid()
    out[1, i] = tile[31 - i]
    jit.syncwarp()
    jit.atomic_max(x, 0, i)
    jit.atomic_cas(x, 1, 1, 77)


def test_kernels_of_cupyx_jit_shuffle_and_take_memory_of_the_launch():
    x, out = cp.arange(32, dtype="i4"), cp.zeros((2, 32), dtype="i4")
    lanes((1,), (32,), (x, out), shared_mem=128)
    i = np.arange(32)
    np.testing.assert_array_equal(out.get(), [(i ^ 1) + 100 * i, 31 - i])
    assert x.get()[:2].tolist() == [31, 77]


# A processor may have warps of 16 where nothing is said, half of what such texts expect.
def test_texts_about_warps_have_32_threads_in_each():
    sums = cp.RawKernel(
        r"""
        extern "C" __global__ void sums(const float* x, float* out) {
          float sum = x[threadIdx.x];
          for (int step = 16; step > 0; step >>= 1) sum += __shfl_down_sync(0xffffffff, sum, step);
          if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = sum;
        }
        """,
        "sums",
    )
    x, out = cp.arange(64, dtype="f4"), cp.zeros(2, dtype="f4")
    sums((1,), (64,), (x, out))
    assert out.get().tolist() == [496, 1520]


def test_random_numbers_take_a_dtype():
    for make in (cp.random.rand, cp.random.randn):
        x = make(3, 4, dtype=cp.float32)
        assert (x.shape, x.dtype) == ((3, 4), np.float32)
    assert cp.random.random(5, dtype="f4").dtype == np.float32
    assert cp.random.random_sample().shape == ()
    assert cp.random.randint(0, 3, 5).shape == (5,)


def test_modules_of_cuda_and_scipy_have_their_names():
    with cp.cuda.stream.Stream() as stream:
        stream.synchronize()
    assert cp.cuda.stream.Event is cp.cuda.Event
    cp.cuda.nvtx.RangePush("name")
    cp.cuda.nvtx.RangePop()
    assert cupyx.scipy.special is usmx.special
    assert importlib.import_module("usmx.compat.cupyx.scipy.special") is usmx.special
    x = cp.ndarray((4,), cp.float32, cp.cuda.alloc(16))
    x[...] = 3
    assert x.get().tolist() == [3, 3, 3, 3]
    assert cp.get_default_pinned_memory_pool().malloc(8).mem.usm_type == "host"
    assert cp.cuda.Device(cp.ones(2).device.id) == cp.cuda.Device(0)
    with pytest.raises(AttributeError, match=r"cupyx.scipy.sparse is not here: sparse matrices"):
        _ = cupyx.scipy.sparse
