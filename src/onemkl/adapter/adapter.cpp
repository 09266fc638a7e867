// libusmx_onemkl: calls oneMKL. A library of its own, so that usmx neither needs oneMKL nor loads
// it before it is asked for a product.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <complex>
#include <memory>
#include <stdexcept>
#include <type_traits>

#include <oneapi/mkl/blas.hpp>
#include <oneapi/mkl/dft.hpp>
#include <oneapi/mkl/lapack.hpp>

#include "onemkl/functions.hpp"

namespace usmx::detail {
namespace {

namespace mkl = oneapi::mkl;
using events = onemkl_functions::events;

/// Calls `f` with a number of the type.
template <class F>
auto with_type(number_type type, const F& f) {
  switch (type) {
    case number_type::f32:
      return f(float());
    case number_type::f64:
      return f(double());
    case number_type::c64:
      return f(std::complex<float>());
    case number_type::c128:
      return f(std::complex<double>());
  }
  throw std::invalid_argument("oneMKL: unknown type of numbers");
}

template <class T>
struct real_of {
  using type = T;
};
template <class T>
struct real_of<std::complex<T>> {
  using type = T;
};
template <class T>
using real = typename real_of<T>::type;
template <class T>
constexpr bool is_complex = !std::is_same_v<T, real<T>>;

// --- products --------------------------------------------------------------------------------

template <class T>
sycl::event multiply_as(sycl::queue& queue, const matrix_product& p, const events& before) {
  const auto turn = [](bool turned) {
    return turned ? mkl::transpose::trans : mkl::transpose::nontrans;
  };
  const std::int64_t lead_a = p.a.turned ? p.n : p.length, lead_b = p.b.turned ? p.length : p.m;
  const auto* a = static_cast<const T*>(p.a.first);
  const auto* b = static_cast<const T*>(p.b.first);
  auto* made = static_cast<T*>(p.made);
  if (p.count > 1 && p.a.step != 0 && p.b.step != 0) {
    return mkl::blas::row_major::gemm_batch(queue, turn(p.a.turned), turn(p.b.turned), p.n, p.m,
                                            p.length, T(1), a, lead_a, p.a.step, b, lead_b,
                                            p.b.step, T(0), made, p.m, p.n * p.m, p.count, before);
  }
  // One matrix for all may not be named with a step of 0.
  return one_after_another(p.count, before, [&](std::int64_t k, const events& after) {
    return mkl::blas::row_major::gemm(queue, turn(p.a.turned), turn(p.b.turned), p.n, p.m, p.length,
                                      T(1), a + k * p.a.step, lead_a, b + k * p.b.step, lead_b,
                                      T(0), made + k * p.n * p.m, p.m, after);
  });
}

sycl::event multiply(sycl::queue& queue, const matrix_product& p, const events& before) {
  return with_type(p.type,
                   [&](auto number) { return multiply_as<decltype(number)>(queue, p, before); });
}

// --- eigenvalues and singular values -----------------------------------------------------------

mkl::job job_of(bool vectors) { return vectors ? mkl::job::vec : mkl::job::novec; }

std::int64_t eigh_scratch(sycl::queue& queue, number_type type, bool vectors, std::int64_t n) {
  return with_type(type, [&](auto number) {
    using T = decltype(number);
    if constexpr (is_complex<T>) {
      return mkl::lapack::heevd_scratchpad_size<T>(queue, job_of(vectors), mkl::uplo::upper, n, n);
    } else {
      return mkl::lapack::syevd_scratchpad_size<T>(queue, job_of(vectors), mkl::uplo::upper, n, n);
    }
  });
}

sycl::event eigh(sycl::queue& queue, number_type type, bool vectors, std::int64_t n, void* a,
                 void* values, void* scratch, std::int64_t scratch_size, const events& before) {
  return with_type(type, [&](auto number) {
    using T = decltype(number);
    auto* const from = static_cast<T*>(a);
    auto* const to = static_cast<real<T>*>(values);
    auto* const room = static_cast<T*>(scratch);
    if constexpr (is_complex<T>) {
      return mkl::lapack::heevd(queue, job_of(vectors), mkl::uplo::upper, n, from, n, to, room,
                                scratch_size, before);
    } else {
      return mkl::lapack::syevd(queue, job_of(vectors), mkl::uplo::upper, n, from, n, to, room,
                                scratch_size, before);
    }
  });
}

mkl::jobsvd job_of(char job) {
  return job == 'N' ? mkl::jobsvd::novec : job == 'S' ? mkl::jobsvd::somevec : mkl::jobsvd::vectors;
}

// A matrix in C order is its transpose in the order of LAPACK, whose vectors change places.

std::int64_t svd_scratch(sycl::queue& queue, number_type type, char job, std::int64_t m,
                         std::int64_t n) {
  const std::int64_t rows = job == 'A' ? m : std::min(m, n);
  return with_type(type, [&](auto number) {
    return mkl::lapack::gesvd_scratchpad_size<decltype(number)>(queue, job_of(job), job_of(job), n,
                                                                m, n, n, rows);
  });
}

sycl::event svd(sycl::queue& queue, number_type type, char job, std::int64_t m, std::int64_t n,
                void* a, void* values, void* u, void* vh, void* scratch, std::int64_t scratch_size,
                const events& before) {
  const std::int64_t columns = job == 'A' ? m : std::min(m, n);
  return with_type(type, [&](auto number) {
    using T = decltype(number);
    return mkl::lapack::gesvd(queue, job_of(job), job_of(job), n, m, static_cast<T*>(a), n,
                              static_cast<real<T>*>(values), static_cast<T*>(vh), n,
                              static_cast<T*>(u), columns, static_cast<T*>(scratch), scratch_size,
                              before);
  });
}

// --- transforms --------------------------------------------------------------------------------

template <class Real>
struct transform_of {
  static constexpr auto precision =
      std::is_same_v<Real, float> ? mkl::dft::precision::SINGLE : mkl::dft::precision::DOUBLE;
  using descriptor = mkl::dft::descriptor<precision, mkl::dft::domain::COMPLEX>;
  using number = std::complex<Real>;

  static void* make(sycl::queue& queue, const transform_form& form) {
    using mkl::dft::config_param;
    auto made = std::make_unique<descriptor>(form.n);
    made->set_value(config_param::PLACEMENT, mkl::dft::config_value::NOT_INPLACE);
    made->set_value(config_param::NUMBER_OF_TRANSFORMS, form.count);
    made->set_value(config_param::FWD_DISTANCE, form.n);
    made->set_value(config_param::BWD_DISTANCE, form.n);
    made->set_value(form.inverse ? config_param::BACKWARD_SCALE : config_param::FORWARD_SCALE,
                    static_cast<Real>(form.scale));
    made->commit(queue);
    return made.release();
  }
  static sycl::event run(void* made, const transform_form& form, const void* from, void* to,
                         const events& before) {
    auto& all = *static_cast<descriptor*>(made);
    auto* const in = const_cast<number*>(static_cast<const number*>(from));  // it is not written
    auto* const out = static_cast<number*>(to);
    return form.inverse
               ? mkl::dft::compute_backward<descriptor, number, number>(all, in, out, before)
               : mkl::dft::compute_forward<descriptor, number, number>(all, in, out, before);
  }
  static void end(void* made) { delete static_cast<descriptor*>(made); }
};

void* make_transform(sycl::queue& queue, const transform_form& form) {
  return form.is_single ? transform_of<float>::make(queue, form)
                        : transform_of<double>::make(queue, form);
}
sycl::event transform(void* made, const transform_form& form, const void* from, void* to,
                      const events& before) {
  return form.is_single ? transform_of<float>::run(made, form, from, to, before)
                        : transform_of<double>::run(made, form, from, to, before);
}
void end_transform(void* made, const transform_form& form) {
  form.is_single ? transform_of<float>::end(made) : transform_of<double>::end(made);
}

}  // namespace

/// Found by its name.
extern "C" const onemkl_functions* usmx_onemkl_functions() {
  static constexpr onemkl_functions all{multiply, eigh_scratch,   eigh,      svd_scratch,
                                        svd,      make_transform, transform, end_transform};
  return &all;
}

}  // namespace usmx::detail
