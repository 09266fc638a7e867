# Texts as they are written for CUDA, CuPy's kernels above all: the index of an element, raw
# parameters with shapes, functions of a preamble, constants and atomic operations.
# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest

import usmx
from usmx import ElementwiseKernel, ReductionKernel, ScanKernel


def usm(values, dtype=None):
    return usmx.asarray(np.asarray(values, dtype), usm_type="shared")


def value_of(expression, dtype="float64", **keywords):
    """One number that an expression gives."""
    k = ElementwiseKernel("int32 unused", f"{dtype} z", f"z = {expression}", **keywords)
    return k(usm([0], "i4")).to_numpy()[0]


LAYOUTS = {
    "C order": lambda x: x,
    "a transposed output": lambda x: x.T,
    "every second column": lambda x: x[:, ::2],
    "rows backwards": lambda x: x[::-1],
    "one axis": lambda x: x.reshape(-1),
    "three axes": lambda x: x.reshape(2, 3, 8),
    "an axis of length one": lambda x: x[:, :1],
    "no axis": lambda x: x[0, 0],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_index_of_an_element_is_known_along_each_axis(layout):
    k = ElementwiseKernel(
        "T x",
        "int64 z",
        """
        z = _ind.size();
        for (int axis = 0; axis < _ind.ndim; ++axis) {
          z = z * 100 + _ind.get()[axis] * 10 + _ind.shape()[axis];
        }
        """,
    )
    x = LAYOUTS[layout](usm(np.arange(48.0).reshape(6, 8)))
    wanted = np.full(x.shape, x.size, "i8")
    for axis, at in enumerate(np.indices(x.shape)):
        wanted = wanted * 100 + at * 10 + x.shape[axis]
    np.testing.assert_array_equal(k(x).to_numpy(), wanted)


def test_the_number_of_elements_is_known_before_the_first():
    k = ElementwiseKernel(
        "", "float64 z", "z = i * step", loop_prep="const double step { 1.0 / (_ind.size() - 1) };"
    )
    np.testing.assert_allclose(k(size=5).to_numpy(), np.linspace(0, 1, 5), rtol=1e-15)


def test_the_index_of_a_program_is_that_of_each_shape():
    k = ElementwiseKernel("", "int64 z", "z = _ind.get()[1]")
    for shape in [(2, 3), (3, 2), (1, 5)]:
        out = usmx.zeros(shape, "int64")
        k(out)
        np.testing.assert_array_equal(out.to_numpy(), np.indices(shape)[1])
    assert len(k.sources) == 1


RAW = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.T,
    "backwards": lambda x: x[::-1, ::-2],
}


@pytest.mark.parametrize("layout", RAW)
@pytest.mark.parametrize("index", ["ptrdiff_t", "int", "long long", "unsigned int"])
def test_raw_arrays_take_an_array_of_indices(layout, index):
    k = ElementwiseKernel(
        "raw T x",
        "T z",
        "const I at[] = {I(_ind.get()[1]), I(_ind.get()[0])}; z = x[at]",
        preamble=f"typedef {index} I;",
    )
    x = RAW[layout](usm(np.arange(24, dtype="f4").reshape(4, 6)))
    out = usmx.zeros(x.shape[::-1], "float32")
    k(x, out)
    np.testing.assert_array_equal(out.to_numpy(), x.to_numpy().T)


def test_raw_outputs_take_an_array_of_indices():
    k = ElementwiseKernel(
        "T x", "raw T z", "ptrdiff_t at[] = {_ind.get()[1], _ind.get()[0]}; z[at] = x"
    )
    x = usm(np.arange(6.0).reshape(2, 3))
    out = usmx.zeros((3, 2))
    k(x, out)
    np.testing.assert_array_equal(out.to_numpy(), x.to_numpy().T)


@pytest.mark.parametrize("layout", RAW)
def test_raw_arrays_have_shape_strides_and_size(layout):
    k = ElementwiseKernel(
        "raw T x",
        "int64 z",
        "const long values[] = {x.shape()[0], x.shape()[1], x.strides()[0], x.strides()[1], "
        "x.size(), x.ndim}; z = values[i]",
    )
    x = RAW[layout](usm(np.arange(24, dtype="f4").reshape(4, 6)))
    steps = [step * 4 for step in x.strides]  # CuPy's are in bytes
    assert k(x, size=6).to_numpy().tolist() == [*x.shape, *steps, x.size, 2]


def test_raw_arrays_of_reductions_and_scans_have_a_shape():
    weights = usm(np.arange(6.0).reshape(2, 3))
    total = ReductionKernel("T x, raw T w", "T y", "x * w.shape()[1]", "a + b", "y = a", 0)
    assert total(usm([1.0, 2.0]), weights).to_numpy() == 9
    running = ScanKernel("T x, raw T w", "T y", "x * w.shape()[1]", "a + b")
    assert running(usm([1.0, 2.0]), weights).to_numpy().tolist() == [3, 9]


def test_raw_parameters_may_be_numbers():
    k = ElementwiseKernel("raw T x, raw int32 count", "T z", "z = x[i % count]")
    x = usm([3.0, 5.0, 7.0])
    assert k(x, 2, size=4).to_numpy().tolist() == [3, 5, 3, 5]
    assert k(x, np.int32(3), size=4).to_numpy().tolist() == [3, 5, 7, 3]
    total = ReductionKernel("T x, raw T by", "T y", "x * by", "a + b", "y = a", 0)
    assert total(x, 2.0).to_numpy() == 30


def test_numbers_and_raw_arrays_are_known_when_a_reduction_is_stored():
    k = ReductionKernel(
        "T x, T by, raw T table", "T y", "x", "a + b", "y = a * by + table[i]", 0, "scaled"
    )
    for x in (np.ones((2, 3)), np.ones((2, 100_000)), np.ones((100_000, 2)).T, np.ones((2, 0))):
        got = k(usm(x), 10.0, usm([1.0, 2.0]), axis=1).to_numpy()
        assert got.tolist() == [x.shape[1] * 10 + 1, x.shape[1] * 10 + 2]


def test_names_may_begin_with_an_underscore():
    k = ElementwiseKernel("T _x, T _size_of", "T _z", "_z = _x * _size_of")
    assert k(usm([2.0]), 3).to_numpy().tolist() == [6]
    total = ReductionKernel("T x, int64 _count", "T y", "x / _count", "a + b", "y = a", 0)
    assert total(usm([2.0, 4.0]), 2).to_numpy() == 3
    with pytest.raises(ValueError, match="'_at' is a name of the generated text"):
        ElementwiseKernel("T _at", "T z", "z = _at")


def test_continue_ends_an_operation():
    k = ElementwiseKernel(
        "T x",
        "T z",
        "z = T(-1); if (x > 2) { continue; } "
        "for (int k = 0; k < 3; ++k) { if (k == 1) continue; z += x; }",
        after_loop="z += T(100);",
    )
    assert k(usm([1.0, 3.0])).to_numpy().tolist() == [101, 99]


def test_functions_of_a_preamble_may_be_marked_as_for_cuda():
    preamble = """
    template <typename U> static __device__ U twice(U x) { return 2 * x; }
    __device__ __forceinline__ T of_the_placeholder(T x) { return x + T(1); }
    inline __host__ __device__ float half_of(float x) { return x / 2; }
    """
    k = ElementwiseKernel(
        "T x", "T z", "z = twice(x) + of_the_placeholder(x) + half_of(x)", preamble=preamble
    )
    for dtype in ("f4", "f8"):
        assert k(usm([2.0], dtype)).to_numpy().tolist() == [8]
    total = ReductionKernel("T x", "T y", "twice(x)", "a + b", "y = a", 0, preamble=preamble)
    assert total(usm([2.0, 3.0])).to_numpy() == 10


@pytest.mark.parametrize(
    ("name", "wanted"),
    {
        "M_PI": math.pi,
        "M_PI_2": math.pi / 2,
        "M_PI_4": math.pi / 4,
        "M_1_PI": 1 / math.pi,
        "M_2_PI": 2 / math.pi,
        "M_2_SQRTPI": 2 / math.sqrt(math.pi),
        "M_E": math.e,
        "M_LOG2E": math.log2(math.e),
        "M_LOG10E": math.log10(math.e),
        "M_LN2": math.log(2),
        "M_LN10": math.log(10),
        "M_SQRT2": math.sqrt(2),
        "M_SQRT1_2": math.sqrt(0.5),
        "INFINITY": math.inf,
        "-CUDART_INF": -math.inf,
        "NAN": math.nan,
        "CUDART_NAN": math.nan,
        'nan("")': math.nan,
        "CUDART_PI": math.pi,
        "DBL_MAX": np.finfo("f8").max,
        "FLT_EPSILON": np.finfo("f4").eps,
        "INT_MAX": 2**31 - 1,
        "INT32_MIN": -(2**31),
    }.items(),
)
def test_constants_of_cuda_and_c(name, wanted):
    np.testing.assert_equal(value_of(name), np.float64(wanted))


@pytest.mark.parametrize(
    ("expression", "wanted"),
    {
        "min(7LL, int64_t(5))": 5,
        "max(2, 3.5)": 3.5,
        "min(-1, 2u)": 2,
        "pow(2, 0.5)": 2**0.5,
        "pow(2.0, 3)": 8,
        "pow(2.0f, 0.5)": 2**0.5,
        "exp(1)": math.e,
        "sqrt(2)": 2**0.5,
        "atan2(1, -1.0)": math.atan2(1, -1),
        "fmod(7, 2.5)": 2.0,
        "floor(7 / 2)": 3,
        "isnan(3)": 0,
        "labs(-5L)": 5,
        "_floor_divide(-7, 2)": -4,
        "signbit(-0.0)": 1,
        "fabsf(-1.5f)": 1.5,
        "powf(2.0f, 3.0f)": 8,
        "fmaf(2.0f, 3.0f, 4.0f)": 10,
        "__popc(255u)": 8,
        "__popcll(~0ULL)": 64,
        "__clz(1)": 31,
        "__clzll(1)": 63,
        "__ffs(8)": 4,
        "__ffs(0)": 0,
        "__ffsll(1ULL << 40)": 41,
        "__float_as_int(1.0f)": 0x3F800000,
        "__int_as_float(0x40000000)": 2,
        "__longlong_as_double(0x4000000000000000LL)": 2,
        "norm(thrust::complex<double>(3, 4))": 25,
        "thrust::polar(2.0, 0.0).real()": 2,
        "abs(thrust::complex<double>(3, 4))": 5,
        "isnan(complex<float>(0, NAN))": 1,
        "[] { complex<double> z; z.real(3); z.imag(4); return abs(z); }()": 5,
    }.items(),
)
def test_functions_of_cuda(expression, wanted):
    np.testing.assert_allclose(value_of(expression), wanted, rtol=1e-15)


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64", "float32", "float64"])
def test_atomic_operations_of_cuda(dtype):
    k = ElementwiseKernel(
        "int32 unused",
        "raw T z",
        "atomicAdd(&z[0], 1); atomicMax(&z[1], T(i)); atomicSub(&z[2], T(1)); "
        "atomicMin(&z[3], T(n - i)); atomicExch(&z[4], T(7))",
    )
    out = usm([0, 0, 2000, 9999, 0], dtype)
    k(usmx.zeros(1000, "int32"), out)
    assert out.to_numpy().tolist() == [1000, 999, 1000, 1, 7]


@pytest.mark.parametrize("word", ["int", "unsigned int", "long long", "unsigned long long"])
def test_atomic_bits_and_compare_and_swap(word):
    dtype = np.dtype("u8" if "long" in word else "u4")
    k = ElementwiseKernel(
        "int32 unused",
        "raw T z",
        "auto p = reinterpret_cast<word*>(&z[0]); atomicOr(p, word(1) << (i % 16)); "
        "atomicAnd(p + 1, word(i)); atomicXor(p + 2, word(i)); atomicCAS(p + 3, word(0), word(5))",
        preamble=f"typedef {word} word;",
    )
    out = usm([0, 2**20 - 1, 0, 0], dtype)
    k(usmx.zeros(16, "int32"), out)
    assert out.to_numpy().tolist() == [2**16 - 1, 0, 0, 5]


def test_raw_kernels_see_the_names_of_cuda_if_they_ask_for_them():
    k = usmx.RawKernel(
        """
        #include "usmx/cuda.hpp"
        __device__ double turn(double x) { return x * M_PI; }
        USMX_KERNEL(1) f(double* z) { atomicAdd(z, turn(min(2, 3LL))); usmx::atomicAdd(z, 1.0); }
        """,
        "f",
    )
    z = usmx.zeros(1)
    k[1](z).wait()
    np.testing.assert_allclose(z.to_numpy(), [2 * math.pi + 1])


BYTES = """
#include <cuda/std/bit>
#include <cuda/std/utility>
template <class U> __device__ auto swapped(U&& x) {
  return cuda::std::byteswap(cuda::std::forward<U>(x));
}
"""


@pytest.mark.parametrize("dtype", ["int8", "int16", "uint32", "int64"])
def test_headers_of_cuda_have_what_swaps_bytes(dtype):
    x = np.array([1, -2, 77]).astype(dtype)
    k = ElementwiseKernel("T x", "T z", "z = swapped(x)", preamble=BYTES)
    np.testing.assert_array_equal(k(usm(x)).to_numpy(), x.byteswap())


@pytest.mark.parametrize(
    "header", ["math_constants.h", "complex.cuh", "carray.cuh", "float16.cuh", "cuda_workaround.h"]
)
@pytest.mark.parametrize("form", ["<cupy/{}>  // why", '"cupy/{}"'])
def test_headers_of_cupy_are_included_by_their_names(header, form):
    include = f"#include {form.format(header)}\n"
    assert value_of("CUDART_PI", preamble=include) == math.pi
    k = usmx.RawKernel(include + "USMX_KERNEL(1) f(double* z) { *z = CUDART_PI; }", "f")
    z = usmx.zeros(1)
    k[1](z).wait()
    assert z.to_numpy().tolist() == [math.pi]


def test_a_header_that_is_on_no_disk_is_named_in_the_error():
    k = ElementwiseKernel("T x", "T z", "z = x", preamble="#include <cupy/of_nobody.h>\n")
    with pytest.raises(usmx.BuildError, match=r"'cupy/of_nobody\.h' file not found"):
        k(usm([1.0]))


def test_preambles_may_ask_for_traits_of_types():
    preamble = """
    #include <cupy/cuda_workaround.h>
    template <> struct std::is_floating_point<float16> : std::true_type {};
    template <class U>
    __device__ typename std::enable_if<std::is_floating_point<U>::value, int>::type kind(U) {
      return sizeof(U);
    }
    using word = typename cupy::type_traits::conditional<
        cupy::type_traits::is_same<T, long long>::value, unsigned long long, T>::type;
    """
    operation = "z = kind(x) * 10 + kind(float16(1)) + sizeof(word)"
    k = ElementwiseKernel("T x", "int32 z", operation, preamble=preamble)
    assert k(usm([1.0], "f4")).to_numpy().tolist() == [46]


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "no axis"])
def test_arrays_that_are_not_raw_are_known_as_a_whole(layout):
    k = ElementwiseKernel(
        "T x, T y",
        "T z",
        "z = _raw_x[i] + 100 * y + 10000 * _raw_z.shape()[_ind.ndim - 1] + 1000000 * _raw_y.size()",
    )
    x = LAYOUTS[layout](usm(np.arange(48.0).reshape(6, 8)))
    y = usm(np.arange(x.shape[-1], dtype="f8"))
    wanted = x.to_numpy() + 100 * y.to_numpy() + 10000 * x.shape[-1] + 1000000 * x.size
    np.testing.assert_array_equal(k(x, y).to_numpy(), wanted)
    out = usmx.zeros((*x.shape, 2))[..., 1]
    k(x, y, out)
    np.testing.assert_array_equal(out.to_numpy(), wanted)


def test_programs_with_arrays_known_as_a_whole_are_kept_by_rank_and_layout():
    k = ElementwiseKernel("T x", "T z", "z = x + _raw_x.ndim * 10 + _raw_x.shape()[0] * 100")
    for shape in [(2, 3), (3, 2), (6,)]:
        x = usm(np.zeros(shape))
        assert set(k(x).to_numpy().ravel().tolist()) == {len(shape) * 10 + shape[0] * 100}
    assert len(k.sources) == 2
    turned = usm(np.zeros((2, 3))).T
    assert set(k(turned).to_numpy().ravel().tolist()) == {320}


def test_a_parameter_may_have_the_name_of_a_whole_array():
    k = ElementwiseKernel("T x, T _raw_x", "T z", "z = x + _raw_x")
    assert k(usm([1.0]), usm([2.0])).to_numpy().tolist() == [3]


def test_braces_round_numbers_as_compilers_for_cuda_let_them():
    k = ElementwiseKernel("T x", "T z", "const T turned { M_PI * x }; z = turned")
    np.testing.assert_allclose(k(usm([2.0], "f4")).to_numpy(), [2 * math.pi], rtol=1e-6)
