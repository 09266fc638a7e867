// Every function of the prelude, for every type that it takes: a test compiles this for devices
// that are not there. Those of numbers alone are in the table of Python kernels and come from
// there.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/cuda.hpp"
#include "usmx/prelude/vote.hpp"

#define ATOMIC(T)                                                              \
  usmx::atomic_ref<T> at_##T(of_##T[0]);                                       \
  of_##T[1] = usmx::atomic_load(of_##T) + at_##T.load();                       \
  usmx::atomic_store(of_##T, of_##T[2]);                                       \
  at_##T.store(of_##T[2]);                                                     \
  of_##T[3] = usmx::atomic_exchange(of_##T, of_##T[2]);                        \
  of_##T[4] = at_##T.exchange(of_##T[2]) + at_##T.fetch_add(of_##T[1]);        \
  of_##T[5] = at_##T.fetch_sub(of_##T[2]) + usmx::atomic_add(of_##T, T(1));    \
  of_##T[6] = at_##T.fetch_min(of_##T[2]) + at_##T.fetch_max(of_##T[1]);       \
  of_##T[7] = usmx::atomic_sub(of_##T, T(1)) + usmx::atomic_min(of_##T, T(1)); \
  of_##T[8] = usmx::atomic_max(of_##T, T(1));                                  \
  of_##T[12] = usmx::atomic_compare_exchange(of_##T, of_##T[1], T(9));         \
  of_##T[14] = usmx::compare_exchange(of_##T, of_##T[1], T(9));                \
  of_##T[15] = usmx::atomic_nanmin(of_##T, T(1)) + usmx::atomic_nanmax(of_##T, T(1));
#define ATOMIC_INTEGER(T)                                                    \
  ATOMIC(T)                                                                  \
  of_##T[9] = at_##T.fetch_and(of_##T[2]) + at_##T.fetch_or(of_##T[1]);      \
  of_##T[10] = at_##T.fetch_xor(of_##T[2]) + usmx::atomic_and(of_##T, T(1)); \
  of_##T[11] = usmx::atomic_or(of_##T, T(1)) + usmx::atomic_xor(of_##T, T(1));

USMX_KERNEL(1)
every_atomic(int32_t* of_int32_t, int64_t* of_int64_t, uint32_t* of_uint32_t, uint64_t* of_uint64_t,
             float* of_float, double* of_double) {
  ATOMIC_INTEGER(int32_t)
  ATOMIC_INTEGER(int64_t)
  ATOMIC_INTEGER(uint32_t)
  ATOMIC_INTEGER(uint64_t)
  of_uint32_t[16] = usmx::atomic_inc(of_uint32_t, 9u) + usmx::atomic_dec(of_uint32_t, 9u);
  of_uint64_t[16] = usmx::atomic_inc(of_uint64_t, uint64_t(9));
  of_uint64_t[17] = usmx::atomic_dec(of_uint64_t, uint64_t(9));
  ATOMIC(float)
  ATOMIC(double)
  usmx::local<float[8]> shared;
  shared[0] = *of_float;
  usmx::group_barrier();
  usmx::atomic_add(&shared[0], 1.0f);
  usmx::group_barrier();
  of_float[13] = shared[0];
}

template <int Scope, class T>
void reduce(T* p) {
  p[0] = usmx::reduce_sum<Scope>(p[1]);
  p[2] = usmx::reduce_min<Scope>(p[1]) + usmx::reduce_max<Scope>(p[1]);
  p[3] = usmx::inclusive_scan_sum<Scope>(p[1]) + usmx::exclusive_scan_sum<Scope>(p[1]);
  p[4] = usmx::inclusive_scan_min<Scope>(p[1]) + usmx::exclusive_scan_min<Scope>(p[1]);
  p[5] = usmx::inclusive_scan_max<Scope>(p[1]) + usmx::exclusive_scan_max<Scope>(p[1]);
  p[6] = usmx::broadcast<Scope>(p[1], 2);
}
template <class T>
void shuffles(T* p) {
  p[7] = usmx::shuffle(p[1], 3u);
  p[8] = usmx::shuffle_xor(p[1], 3u);
  p[9] = usmx::shuffle_up(p[1], 1u);
  p[10] = usmx::shuffle_down(p[1], 1u);
}
template <class T>
void both(T* p) {
  reduce<2>(p);
  reduce<3>(p);
  shuffles(p);
}

USMX_KERNEL(1)
every_group_function(int32_t* i32, int64_t* i64, uint32_t* u32, uint64_t* u64, float* f32,
                     double* f64, half* f16, usmx::bfloat16* b16) {
  both(i32);
  both(i64);
  both(u32);
  both(u64);
  both(f32);
  both(f64);
  shuffles(f16);
  shuffles(b16);
  i32[11] = usmx::any_of<2>(i32[0] > 0) + usmx::any_of<3>(i32[0] > 0);
  i32[12] = usmx::all_of<2>(i32[0] > 0) + usmx::all_of<3>(i32[0] > 0);
  u32[11] = usmx::sub_group_local_id() + usmx::sub_group_size() + usmx::sub_group_max_size();
  u32[12] = usmx::sub_group_id() + usmx::sub_group_count();
  u32[13] = usmx::number_of(usmx::items_with_same<3>(u32[0], usmx::ballot(i32[0] > 0)));
  u32[14] = usmx::number_of(usmx::items_before());
  usmx::vote_barrier();
  usmx::sub_group_barrier();
  usmx::fence();
}

template <int Rank>
size_t ids() {
  using item = usmx::nd_item<Rank>;
  size_t sum = item::get_global_linear_id() + item::get_local_linear_id() +
               item::get_group_linear_id() + item::get_global_linear_range() +
               item::get_local_linear_range() + item::get_group_linear_range();
  for (int d = 0; d < Rank; ++d) {
    sum += item::get_global_id(d) + item::get_global_range(d) + item::get_local_id(d);
    sum += item::get_local_range(d) + item::get_group(d) + item::get_group_range(d);
  }
  item::barrier();
  return sum;
}
USMX_KERNEL(1) every_id_1(size_t* out) {
  out[usmx::global_id()] = ids<1>() + usmx::global_range() + usmx::local_id() +
                           usmx::local_range() + usmx::group_id() + usmx::group_range();
}
USMX_KERNEL(2) every_id_2(size_t* out) { *out = ids<2>(); }
USMX_KERNEL(3) every_id_3(size_t* out) { *out = ids<3>(); }

USMX_KERNEL(1)
every_print(int8_t c, int32_t i, uint64_t u, half h, float f, double d, const char* text) {
  USMX_PRINT("nothing\n");
  USMX_PRINT("%d %d %llu %g %g %g\n", c, i, u, double(h), double(f), d);
}

USMX_KERNEL(1) every_view(float* p, int64_t n, int64_t m) {
  usmx::dense<float, 2> x{p, {n, m}};
  usmx::strided<float, 2> y{p, {n, m}, {-m, 1}};
  x(1, 2) = y(2, 1) + x[0] + y[1] + float(x.size() + y.size());
  float own[4];
  usmx::clear(own);
  usmx::local<float[2][4]> tile;
  tile[0][1] = own[1];
  usmx::group_barrier();
  p[3] = tile[0][1];
}

/// What the table of Python kernels leaves out.
USMX_KERNEL(1) every_other_function(float* f, double* d, half* h) {
  f[0] = usmx::fdim(f[1], f[2]);
  d[0] = usmx::fdim(d[1], d[2]);
  h[0] = usmx::fdim(h[1], h[2]);
  f[1] = usmx::reciprocal(usmx::complex<float>(f[1], f[2])).re;
  d[1] = usmx::reciprocal(usmx::complex<double>(d[1], d[2])).re;
  f[2] = float(usmx::wrapped<int32_t>(int32_t(f[1]), 3));
  d[2] = double(usmx::wrapped<int64_t>(int64_t(d[1]), 3));
}

/// Those that the texts of CUDA's users have.
template <class T>
void every_special_function(T* p) {
  using namespace usmx;
  p[0] = erfinv(p[0]) + erfcinv(p[0]) + erfcx(p[0]) + normcdf(p[0]) + normcdfinv(p[0]);
  p[1] = j0(p[1]) + j1(p[1]) + y0(p[1]) + y1(p[1]) + yn(2, p[1]);
  p[2] = cyl_bessel_i0(p[2]) + cyl_bessel_i1(p[2]) + sinpi(p[2]) + cospi(p[2]) + exp10(p[2]);
  p[2] += jn(3, p[2]) + bessel_j(p[1], p[2]) + bessel_y(p[1], p[2]) + expit(p[2]) + logit(p[2]);
  sincos(p[3], &p[4], &p[5]);
  p[7] += frexp(p[0]).mantissa + T(frexp(p[0]).exponent) + ldexp(p[1], 3);
  sincospi(p[3], &p[6], &p[7]);
}
USMX_KERNEL(1) every_special(float* f, double* d) {
  every_special_function(f);
  every_special_function(d);
}
