# CUDA's functions of numbers in texts, each compared with a model in Python; names that have no
# meaning elsewhere are refused. What only looks like code, in comments and quotes, is left alone.
# SPDX-License-Identifier: Apache-2.0
from fractions import Fraction

import numpy as np
import pytest
from cuda_functions import EXACT, NEAR, text_of

import usmx.compat.cupy as cp
from usmx.compat.cupy.translation import UntranslatableError


def values_of(expressions, head=""):
    """What expressions give, each in a type of its own, as Python's numbers."""
    out = cp.full((len(expressions), 2), -0.25)
    cp.RawKernel(text_of(expressions, head), "all")((1,), (1,), (out,))
    return [float(a) if b == -0.25 else int(a) * 2**32 + int(b) for a, b in out.get().tolist()]


def test_functions_have_the_values_of_cuda():
    found = dict(zip(EXACT, values_of(EXACT), strict=True))
    assert found == EXACT


def test_functions_that_round_are_near():
    np.testing.assert_allclose(values_of(NEAR), list(NEAR.values()), rtol=2e-6, atol=1e-15)


def test_functions_write_through_pointers():
    head = """
    __device__ double quotient(double x, double y) { int q; double r = remquo(x, y, &q); return r + 100 * q; }
    __device__ float quotientf(float x, float y) { int q; float r = remquof(x, y, &q); return r + 100 * q; }
    __device__ double both(double x) { double s, c; sincospi(x, &s, &c); return s + 10 * c; }
    __device__ float bothf(float x) { float s, c; __sincosf(x, &s, &c); return s + 10 * c; }
    __device__ double length(int n) { double x[] = {2, 3, 6}; return norm(n, x) + 100 * rnorm(n, x); }
    """  # noqa: E501
    found = values_of(
        ["quotient(29., 3.)", "quotientf(-100.f, 3.f)", "both(0.5)", "bothf(0.f)", "length(3)"],
        head,
    )
    np.testing.assert_allclose(found, [-1 + 200, -1 - 100, 1, 10, 7 + 100 / 7], rtol=1e-6)


def rounded(exact, how, t):
    """The number of a type on one side of an exact one."""
    near = t(float(exact))
    if how in ("rn",) or Fraction(float(near)) == exact:
        return float(near)
    low = near if Fraction(float(near)) < exact else np.nextafter(near, t(-np.inf))
    below = how == "rd" or (how == "rz" and exact > 0)
    return float(low if below else np.nextafter(low, t(np.inf)))


@pytest.mark.parametrize("letter", ["f", "d"])
def test_operators_round_in_a_direction(letter):
    t = np.float32 if letter == "f" else np.float64
    random = np.random.default_rng(5)
    expressions, wanted = [], []
    for how in ("rn", "rd", "ru", "rz"):
        for a, b, c in random.standard_normal((6, 3)).astype(t).tolist():
            x, y, z = (Fraction(v) for v in (a, b, c))
            # `float.hex` is what C++ reads exactly.
            p, q, r = (f"({'float' if letter == 'f' else 'double'}){v.hex()}" for v in (a, b, c))
            fma = "__fmaf" if letter == "f" else "__fma"
            expressions += [
                f"__{letter}add_{how}({p}, {q})", f"__{letter}sub_{how}({p}, {q})",
                f"__{letter}mul_{how}({p}, {q})", f"__{letter}div_{how}({p}, {q})",
                f"__{letter}rcp_{how}({p})", f"{fma}_{how}({p}, {q}, {r})",
            ]  # fmt: skip
            exact = [x + y, x - y, x * y, x / y, 1 / x, x * y + z]
            wanted += [rounded(one, how, t) for one in exact]
    assert values_of(expressions) == wanted


def test_atomic_counters_wrap_around():
    text = r"""
    extern "C" __global__ void count(unsigned* x, int* y) {
      atomicInc(x, 6); atomicDec(x + 1, 6); atomicAdd_block(y, 2);
      y[1 + threadIdx.x] = __ldcg(&y[100]) + 1;
    }"""
    x, y = cp.zeros(2, dtype="u4"), cp.zeros(101, dtype="i4")
    cp.RawKernel(text, "count")((1,), (10,), (x, y))
    assert x.get().tolist() == [10 % 7, (-10) % 7]
    assert y.get()[:3].tolist() == [20, 1, 1]


def test_kernels_from_expressions_call_the_same_functions():
    x = cp.asarray(np.array([0.1, 0.2]))
    total = cp.ElementwiseKernel("T x", "T y", "y = __dadd_ru(x, 0.2) + ilogb(x)", "total")
    wanted = [rounded(Fraction(v) + Fraction(0.2), "ru", np.float64) for v in (0.1, 0.2)]
    assert total(x).get().tolist() == [wanted[0] - 4, wanted[1] - 3]
    bits = cp.ReductionKernel("T x", "int64 y", "__double2hiint(x)", "a + b", "y = a", "0", "bits")
    assert bits(x).item() == int((x.get().view("i8") >> 32).sum())


# --- comments and quotes --------------------------------------------------------------------------

COMMENTS = {
    "a comment about shared memory": "// the __shared__ tile is filled first;",
    "one of several lines": "/* extern __shared__ float part[];\n __shared__ int x[2]; */",
    "an apostrophe": "// it's a __shared__ tile; don't",
    "marks": "// __global__ void g( __constant__ float c; size_t n, long long m",
    "a header": "/*\n#include <cub/cub.cuh>\n*/",
    "linkage": '// extern "C" {',
    "a continued comment": "// one \\\n __shared__ int y[3];",
    "types": "// typedef unsigned int uint32_t; threadIdx.x",
}


@pytest.mark.parametrize("comment", COMMENTS)
def test_comments_are_no_code(comment):
    text = COMMENTS[comment] + '\nextern "C" __global__ void f(int* y) { y[0] = __LINE__; }'
    y = cp.zeros(1, dtype="i4")
    cp.RawKernel(text, "f")((1,), (1,), (y,))
    assert y.get()[0] == text.count("\n") + 1


def test_quotes_are_no_code(capfd):
    text = r"""
    extern "C" {
    __global__ void f(int* y) {
      __shared__ int tile[2],  // of two
                     other[3];
      tile[0] = '"' + 1'000; other[0] = __LINE__;
      printf("size_t of threadIdx.x // %d\n", tile[0]);
      y[0] = tile[0] + other[0];
    }
    }  // the end }
    """
    y = cp.zeros(1, dtype="i4")
    cp.RawKernel(text, "f")((1,), (1,), (y,))
    assert y.get()[0] == ord('"') + 1000 + 6
    assert "size_t of threadIdx.x // 1034" in capfd.readouterr().out


# --- what has no meaning --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        "clock64()", "__trap()", "__isGlobal(y)", "__shfl_down(1, 2)", "__ballot(1)", "malloc(8)",
        "surf2Dread(y)", "tex1Dfetch(y)", "cuda::barrier(y)", "half2 z",
    ],
)  # fmt: skip
def test_names_without_a_meaning_are_refused_with_their_line(call):
    text = f"\n__global__ void f(int* y) {{\n  {call};\n}}"
    name = call.replace("(", " ").split()[0]
    with pytest.raises(UntranslatableError, match=f"line 3: '{name}' has no counterpart"):
        cp.RawKernel(text, "f")


def test_names_of_the_program_are_its_own():
    text = r"""
    __device__ int malloc(int n) { return n + 1; }
    struct pool { int free; };
    extern "C" __global__ void f(int* y) { pool p = {2}; int clock = malloc(3); y[0] = clock + p.free; }
    """  # noqa: E501
    y = cp.zeros(1, dtype="i4")
    cp.RawKernel(text, "f")((1,), (1,), (y,))
    assert y.get()[0] == 6


@pytest.mark.parametrize("mark", ["__shared__ int x = 3", "__shared__ struct { int x; } y"])
def test_shared_memory_that_is_not_understood_is_refused_with_its_line(mark):
    text = f"\n__global__ void f(int* y) {{\n  {mark};\n}}"
    with pytest.raises(UntranslatableError, match=r"line 3: '__shared__"):
        cp.RawKernel(text, "f")((1,), (1,), (cp.zeros(1, dtype="i4"),))
