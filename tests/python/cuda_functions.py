# CUDA's functions of numbers as texts call them, with what they give; a text that stores it.
# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
from scipy import special

#: Stores a number of any type in two elements, so that none is rounded.
STORES = """
__device__ void store(double* out, int k, double x) { out[2 * k] = x; }
__device__ void store(double* out, int k, int64_t x) {
  out[2 * k] = (double)(x >> 32); out[2 * k + 1] = (double)(uint32_t)x;
}
__device__ void store(double* out, int k, unsigned long long x) {
  out[2 * k] = (double)(x >> 32); out[2 * k + 1] = (double)(uint32_t)x;
}
__device__ void store(double* out, int k, float x) { store(out, k, (double)x); }
__device__ void store(double* out, int k, half x) { store(out, k, (double)x); }
__device__ void store(double* out, int k, int x) { store(out, k, (int64_t)x); }
__device__ void store(double* out, int k, short x) { store(out, k, (int64_t)x); }
__device__ void store(double* out, int k, bool x) { store(out, k, (int64_t)x); }
__device__ void store(double* out, int k, unsigned x) { store(out, k, (int64_t)x); }
"""


def text_of(expressions, head=""):
    """A text of CUDA that stores what expressions give."""
    lines = "\n".join(f"  store(out, {k}, {e});" for k, e in enumerate(expressions))
    return f'{STORES}{head}\nextern "C" __global__ void all(double* out) {{\n{lines}\n}}\n'


#: Exact results: integers, and floats that are rounded to the nearest.
EXACT = {
    "lrint(2.5)": 2,
    "lrint(-3.5f)": -4,
    "lrint(7)": 7,
    "llrint(1e15 + 0.5)": 10**15,
    "llrintf(0.5f)": 0,
    "lround(-2.5)": -3,
    "lroundf(2.5f)": 3,
    "llround(1e12 + 0.5)": 10**12 + 1,
    "nearbyint(3.5)": 4.0,
    "nearbyintf(2.5f)": 2.0,
    "remainder(7., 4.)": -1.0,
    "remainder(6., 4.)": -2.0,
    "remainder(10.f, 4)": 2.0,
    "remainder(7, 4)": -1.0,
    "remainderf(-7.f, 4.f)": 1.0,
    "remainder(5.0, INFINITY)": 5.0,
    "ilogb(8.)": 3,
    "ilogb(0.3f)": -2,
    "ilogb(0.)": -(2**31),
    "ilogb(CUDART_INF)": 2**31 - 1,
    "logb(10.)": 3.0,
    "logbf(0.f)": -math.inf,
    "scalbn(3., 4)": 48.0,
    "scalblnf(3.f, -1L)": 1.5,
    "norm3d(1., 2., 2.)": 3.0,
    "norm3d(1, 2, 2)": 3.0,
    "norm3df(2.f, 3.f, 6.f)": 7.0,
    "rnorm3d(0., 0., 4.)": 0.25,
    "rhypot(3., 4.)": 0.2,
    "rcbrt(8.)": 0.5,
    "rcbrtf(27.f)": float(np.float32(1) / np.float32(3)),
    "fdivide(3.f, 2.f)": 1.5,
    "fdividef(3.f, 2.f)": 1.5,
    "fdimf(3.f, 2.f)": 1.0,
    "nextafterf(1.f, 2.f)": float(np.nextafter(np.float32(1), np.float32(2))),
    "umin(1u, 4000000000u)": 1,
    "umax(1u, 4000000000u)": 4000000000,
    "llmin(-5LL, 3LL)": -5,
    "ullmax(1ULL << 63, 3ULL)": 2**63,
    # the smallest integers wrap around, also where the compiler knows them
    "(double)abs(-2147483647 - 1)": -(2.0**31),
    "(double)labs(LONG_MIN)": -(2.0**63),
    "(double)llabs(LLONG_MIN)": -(2.0**63),
    "abs(-3)": 3,
    "1 / abs(-0.0)": math.inf,
    "abs(-2.5f)": 2.5,
    # integers
    "__brev(1u)": 2**31,
    "__brev(0x12345678u)": 0x1E6A2C48,
    "__brevll(1ULL)": 2**63,
    "__byte_perm(0x33221100, 0x77665544, 0x7531)": 0x77553311,
    "__mul24(3, -4)": -12,
    "__umul24(3u, 4u)": 12,
    "__mulhi(-5, 8)": -1,
    "__mulhi(1 << 30, 1 << 10)": 256,
    "__umulhi(0xffffffffu, 0xffffffffu)": 0xFFFFFFFE,
    "__mul64hi(-3LL, 1LL << 62)": -1,
    "__umul64hi(1ULL << 63, 6ULL)": 3,
    "__sad(5, -7, 10u)": 22,
    "__usad(3u, 4000000000u, 1u)": 3999999998,
    "__hadd(-3, 0)": -2,
    "__hadd(2147483647, 1)": 2**30,
    "__rhadd(-3, 0)": -1,
    "__uhadd(4000000000u, 4000000002u)": 4000000001,
    "__urhadd(3u, 4u)": 4,
    "__funnelshift_l(0x80000001u, 0x0000000fu, 4u)": 0xF8,
    "__funnelshift_l(1u, 2u, 33u)": 4,
    "__funnelshift_lc(1u, 2u, 33u)": 1,
    "__funnelshift_r(0x10u, 0x5u, 4u)": 0x50000001,
    "__funnelshift_r(1u, 2u, 32u)": 1,
    "__funnelshift_rc(1u, 2u, 40u)": 2,
    "__fns(0x0f0fu, 0u, 5)": 8,
    "__fns(0x0f0fu, 31u, -2)": 10,
    "__fns(0x1u, 0u, 2)": 0xFFFFFFFF,
    "__dp4a(0x01020304, 0x01010101, 5)": 15,
    "__dp4a(0xff020304u, 0x01010101u, 0u)": 264,
    "__dp4a((int)0xff020304, 0x01010101, 0)": 8,
    "__dp2a_lo(0x00020003, 0x01010502, 0)": 16,
    "__dp2a_hi(0x00020003, 0x01010502, 1)": 6,
    # parts of words
    "__vadd2(0xffff0001u, 0x00010002u)": 0x3,
    "__vaddss2(0x7fff8000u, 0x0001ffffu)": 0x7FFF8000,
    "__vaddus4(0xff010203u, 0x01010101u)": 0xFF020304,
    "__vsub4(0x00010203u, 0x01010101u)": 0xFF000102,
    "__vsubus4(0x00050203u, 0x01010101u)": 0x00040102,
    "__vavgu4(0x01020304u, 0x02020202u)": 0x02020303,
    "__vabsdiffu4(0x00ff1020u, 0xff001010u)": 0xFFFF0010,
    "__vmaxs4(0xff010203u, 0x00000000u)": 0x00010203,
    "__vminu2(0x00010005u, 0x00020003u)": 0x00010003,
    "__vcmpeq4(0x01020304u, 0x01000304u)": 0xFF00FFFF,
    "__vsetgtu2(0x00010005u, 0x00020003u)": 1,
    "__vabs4(0xff80fe01u)": 0x01800201,
    "__vabsss4(0xff80fe01u)": 0x017F0201,
    "__vneg2(0x00010002u)": 0xFFFFFFFE,
    "__vsadu4(0x01020304u, 0x00000000u)": 10,
    # bits of numbers
    "__hiloint2double(0x3ff80000, 0)": 1.5,
    "__double2hiint(-2.5)": -1073479680,
    "__double2loint(0.1)": int(np.float64(0.1).view("i8").astype("i4")),
    "__longlong_as_double(0x3FF8000000000000LL)": 1.5,
    "__double_as_longlong(1.0)": 0x3FF0000000000000,
    "__float_as_int(1.0f)": 0x3F800000,
    "__uint_as_float(0x40400000u)": 3.0,
    "__half_as_short(__float2half(1.5f))": 0x3E00,
    "__half2float(__short_as_half(0x3E00))": 1.5,
    "__hadd(__float2half(1.5f), __float2half(2.f))": 3.5,
    "__hfma((half)2, (half)3, (half)4)": 10.0,
    "__hlt((__half)1, (__half)2)": 1,
    "hsqrt((half)9)": 3.0,
    # conversions
    "__double2int_rn(2.5)": 2,
    "__double2int_ru(2.1)": 3,
    "__double2int_rd(-2.1)": -3,
    "__double2uint_rz(4e9)": 4000000000,
    "__double2ll_rn(-1e15 - 0.5)": -(10**15),
    "__double2ull_rd(1e19)": 10**19,
    "__float2int_rz(-2.7f)": -2,
    "__float2int_rn(3.5f)": 4,
    "__float2uint_ru(2.5f)": 3,
    "__float2ll_rd(-2.5f)": -3,
    "__int2float_rn(16777217)": 16777216.0,
    "__int2float_ru(16777217)": 16777218.0,
    "__int2double_rn(-7)": -7.0,
    "__uint2float_rz(4294967295u)": 4294967040.0,
    "__uint2double_rn(4294967295u)": 4294967295.0,
    "__ll2double_rd(9007199254740993LL)": 9007199254740992.0,
    "__ull2float_rn(1ULL << 63)": 2.0**63,
    "__double2float_rn(0.1)": float(np.float32(0.1)),
    "__double2float_rd(0.1)": float(np.nextafter(np.float32(0.1), np.float32(0))),
    "__saturatef(1.5f)": 1.0,
    "__saturatef(-1.5f)": 0.0,
    # other names
    "dim3(2, 3).z + 10 * dim3(2, 3).x": 21,
    "make_long2(3L, 4L).y": 4,
}

#: Rounded results, with what they are to some digits.
NEAR = {
    "norm4d(2., 4., 5., 6.)": 9.0,
    "norm4df(1.f, 1.f, 1.f, 1.f)": 2.0,
    "rnorm4df(1.f, 1.f, 1.f, 1.f)": 0.5,
    "exp10(2)": 100.0,
    "exp10f(-1.f)": 0.1,
    "__exp10f(2.f)": 100.0,
    "__log2f(8.f)": 3.0,
    "__log10f(1000.f)": 3.0,
    "__tanf(0.5f)": math.tan(0.5),
    "__tanhf(0.5f)": math.tanh(0.5),
    "sinpi(1)": 0.0,
    "cospif(1.f)": -1.0,
    "normcdf(0)": 0.5,
    "normcdfinvf(0.5f)": 0.0,
    "erfinvf(0.5f)": special.erfinv(0.5),
    "erfcinv(0.25)": special.erfcinv(0.25),
    "erfcxf(2.f)": special.erfcx(2.0),
    "j0(1)": special.j0(1.0),
    "j1f(2.f)": special.j1(2.0),
    "y0(2.)": special.y0(2.0),
    "y1f(2.f)": special.y1(2.0),
    "jn(3, 2)": special.jn(3, 2.0),
    "ynf(2, 3.f)": special.yn(2, 3.0),
    "cyl_bessel_i0f(1.f)": special.i0(1.0),
    "cyl_bessel_i1(1.)": special.i1(1.0),
    "acoshf(2.f)": math.acosh(2),
    "asinhf(2.f)": math.asinh(2),
    "atanhf(0.5f)": math.atanh(0.5),
}

#: What threads of a warp tell each other.
SHUFFLES = r"""
extern "C" __global__ void shuffles(const TYPE* x, TYPE* out, int by, int width) {
  const int n = blockDim.x * blockDim.y * blockDim.z;
  const int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[t] = __shfl_sync(0xffffffff, x[t], by, width);
  out[n + t] = __shfl_up_sync(0xffffffff, x[t], by, width);
  out[2 * n + t] = __shfl_down_sync(0xffffffff, x[t], by, width);
  out[3 * n + t] = __shfl_xor_sync(0xffffffff, x[t], by, width);
  out[4 * n + t] = __shfl_down_sync(0xffffffff, x[t], by);
}
"""
VOTES = r"""
extern "C" __global__ void votes(const unsigned* masks, const int* x, unsigned* out) {
  const int n = blockDim.x * blockDim.y * blockDim.z;
  const int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned mask = masks[t];
  out[t] = __ballot_sync(mask, x[t] & 1);
  out[n + t] = __any_sync(mask, x[t] == 3);
  out[2 * n + t] = __all_sync(mask, x[t] < 50);
  out[3 * n + t] = __match_any_sync(mask, x[t] % 3);
  int same = 7;
  out[4 * n + t] = __match_all_sync(mask, x[t] / 64, &same);
  out[5 * n + t] = same;
  out[6 * n + t] = __reduce_add_sync(mask, x[t]);
  out[7 * n + t] = __reduce_min_sync(mask, x[t]) + 1000 * __reduce_max_sync(mask, x[t]);
  out[8 * n + t] = __reduce_and_sync(mask, (unsigned)x[t]);
  out[9 * n + t] = __reduce_or_sync(mask, (unsigned)x[t]);
  out[10 * n + t] = __reduce_xor_sync(mask, (unsigned)x[t]);
  out[11 * n + t] = __activemask();
  out[12 * n + t] = __syncthreads_count(x[t] & 1);
  out[13 * n + t] = __syncthreads_and(x[t] >= 0) + 2 * __syncthreads_or(x[t] == 1);
  __syncwarp(mask);
}
"""
