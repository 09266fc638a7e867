// What libusmx_onemkl gives to libusmx: oneMKL's functions, in the form in which usmx calls them.
// Only the adapter sees oneMKL's headers, and only it needs oneMKL's libraries.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <sycl/event.hpp>
#include <sycl/queue.hpp>

namespace usmx::detail {

/// Types of numbers, by NumPy's letters.
enum class number_type : char { f32 = 'f', f64 = 'd', c64 = 'F', c128 = 'D' };

/// Matrices in C order, `step` elements from one to the next; 0 if there is one for all.
struct stacked_matrices {
  const void* first = nullptr;
  std::int64_t step = 0;
  /// The memory holds the transpose.
  bool turned = false;
};

/// `count` products of n by `length` and `length` by m numbers.
struct matrix_product {
  number_type type = number_type::f64;
  std::int64_t n = 0, length = 0, m = 0, count = 1;
  stacked_matrices a = {}, b = {};
  void* made = nullptr;
};

/// `count` transforms of n numbers each, one after the other in memory.
struct transform_form {
  bool is_single = false;
  bool inverse = false;
  std::int64_t n = 0, count = 1;
  double scale = 1;

  bool operator==(const transform_form&) const = default;
};

/// So many commands, each after the one before it. `command(number, before)` submits one.
template <class Command>
sycl::event one_after_another(std::int64_t count, const std::vector<sycl::event>& before,
                              const Command& command) {
  std::vector<sycl::event> after = before;
  for (std::int64_t k = 0; k < count; ++k) after = {command(k, std::as_const(after))};
  return after.front();
}

/// All functions throw std::exception.
struct onemkl_functions {
  using events = std::vector<sycl::event>;

  sycl::event (*multiply)(sycl::queue&, const matrix_product&, const events&);

  /// Numbers of scratch memory for `eigh`.
  std::int64_t (*eigh_scratch)(sycl::queue&, number_type, bool vectors, std::int64_t n);
  /// The upper triangle of `a` in column-major order is read; eigenvectors take its place.
  sycl::event (*eigh)(sycl::queue&, number_type, bool vectors, std::int64_t n, void* a,
                      void* values, void* scratch, std::int64_t scratch_size, const events&);

  /// `job` is 'N' for values alone, 'S' for min(m, n) vectors, 'A' for all.
  std::int64_t (*svd_scratch)(sycl::queue&, number_type, char job, std::int64_t m, std::int64_t n);
  /// Of an m by n matrix in C order, which is lost; `u` and `vh` in C order too.
  sycl::event (*svd)(sycl::queue&, number_type, char job, std::int64_t m, std::int64_t n, void* a,
                     void* values, void* u, void* vh, void* scratch, std::int64_t scratch_size,
                     const events&);

  /// A transform that is ready for the queue.
  void* (*make_transform)(sycl::queue&, const transform_form&);
  sycl::event (*transform)(void* made, const transform_form&, const void* from, void* to,
                           const events&);
  void (*end_transform)(void* made, const transform_form&);
};

}  // namespace usmx::detail
