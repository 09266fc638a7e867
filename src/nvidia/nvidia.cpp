// Shapes, types and memory of the calls; see nvidia.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "nvidia/nvidia.hpp"

#include <algorithm>
#include <atomic>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <mutex>
#include <optional>
#include <stdexcept>

#include "core/format.hpp"
#include "nvidia/functions.hpp"
#include "nvidia/stream.hpp"
#include "runtime/backend.hpp"
#include "runtime/native_command.hpp"
#include "usmx/copy.hpp"
#include "usmx/promotion.hpp"
#include "usmx/submission.hpp"

namespace usmx::detail::nvidia {
namespace {

std::atomic<bool> is_everywhere = false;

/// What would otherwise end in memory of others.
void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(format("NVIDIA's libraries: {}", what));
}
void require_elements(const array& a, const dtype& type, std::int64_t count, const char* what) {
  require(
      a.elements().dtype() == type && a.elements().layout().is_c_contiguous() && a.size() == count,
      what);
}

int to_int(std::int64_t n) {
  require(n <= std::numeric_limits<int>::max(), "a length is 2**31 or more");
  return static_cast<int>(n);
}

/// The last lengths of a shape.
std::int64_t length(const array& a, std::size_t from_end) {
  const auto shape = a.shape();
  require(shape.size() >= from_end, "too few dimensions");
  return shape[shape.size() - from_end];
}

void* at(const array& a, std::int64_t element) {
  return static_cast<std::byte*>(a.data()) +
         element * static_cast<std::int64_t>(a.elements().dtype().itemsize());
}

std::optional<data_type> data_type_of(const dtype& type) {
  if (type == dtype::of<float>()) return data_type::f32;
  if (type == dtype::of<double>()) return data_type::f64;
  if (type == dtype::of<std::complex<float>>()) return data_type::c64;
  if (type == dtype::of<std::complex<double>>()) return data_type::c128;
  if (type == dtype::of<sycl::half>()) return data_type::f16;
  if (type == dtype::of<usmx::bfloat16>()) return data_type::bf16;
  return {};
}

/// Where the functions of a type stand.
std::size_t letter_of(const array& a) {
  switch (data_type_of(a.elements().dtype()).value_or(data_type::f16)) {
    case data_type::f32:
      return 0;
    case data_type::f64:
      return 1;
    case data_type::c64:
      return 2;
    case data_type::c128:
      return 3;
    default:
      throw std::invalid_argument(
          "NVIDIA's libraries decompose float32, float64, complex64 and complex128");
  }
}

array scratch_of(const array& a, std::int64_t count, const dtype& type) {
  const std::int64_t shape[] = {std::max<std::int64_t>(count, 1)};
  return array::empty(a.queue(), shape, type);
}
array scratch_of(const array& a, std::int64_t count) {
  return scratch_of(a, count, a.elements().dtype());
}

/// Submits calls of libraries that use the arrays.
template <class Calls>
void submit(const sycl::queue& queue, std::initializer_list<const array*> arrays,
            const Calls& calls) {
  submission one(queue);
  for (const array* a : arrays) {
    if (a != nullptr) one.uses(*a);
  }
  one.submit([&](sycl::queue& q, const std::vector<sycl::event>& before) {
    return on_native_stream(q, before, calls);
  });
}

/// Submits a call of cuBLAS or cuSOLVER for each of `count` matrices, one after the other.
template <class Call>
void submit_each(library which, handles& kept, const array& a,
                 std::initializer_list<const array*> arrays, std::int64_t count, const char* name,
                 const Call& call) {
  submit(a.queue(), arrays, [&](stream on) {
    const std::lock_guard lock(kept.mutex);
    const handle h = kept.on(which, on);
    for (std::int64_t k = 0; k < count; ++k) check(which, call(h, k), name);
  });
}
/// One call for all matrices.
template <class Call>
void submit_once(library which, handles& kept, const array& a,
                 std::initializer_list<const array*> arrays, const char* name, const Call& call) {
  submit_each(which, kept, a, arrays, 1, name, [&](handle h, std::int64_t) { return call(h); });
}

/// How much memory a call needs, which the library says.
template <class Ask>
std::int64_t size_of_scratch(handles& kept, const array& a, const char* name, const Ask& ask) {
  int size = 0;
  const std::lock_guard lock(kept.mutex);
  const handle h = kept.solver();
  in_context(a.queue(), [&] { check(library::solver, ask(h, &size), name); });
  return size;
}

/// The addresses of matrices, in memory that the host writes and the device reads.
array addresses_of(const array& a, std::int64_t count, std::int64_t step) {
  const std::int64_t shape[] = {count};
  array made = array::empty(a.queue(), shape, dtype::of<std::int64_t>(), usm_kind::host);
  made.wait();
  auto** const to = static_cast<void**>(made.data());
  for (std::int64_t k = 0; k < count; ++k) to[k] = at(a, k * step);
  return made;
}

/// A stack of contiguous square matrices, or an error.
struct square_stack {
  std::int64_t n, count;
};
square_stack squares(const array& a) {
  const std::int64_t n = length(a, 1);
  require(a.size() > 0, "empty matrices");
  const square_stack made{n, a.size() / (n * n)};
  require_elements(a, a.elements().dtype(), made.count * n * n, "x is not contiguous");
  require(length(a, 2) == n, "x is not square");
  return made;
}

/// Larger ones are computed one by one: each fills the device.
constexpr std::int64_t most_rows_of_many = 256;

// --- products ------------------------------------------------------------------------------------

struct stacked {
  bool turned = false;
  std::int64_t lead = 0, step = 0, count = 1;
};

std::optional<stacked> stacked_of(const array& a) {
  const layout& l = a.elements().layout();
  const auto shape = l.shape().span();
  const auto strides = l.strides().span();
  const std::size_t rank = shape.size();
  if (rank < 2) return {};
  const std::int64_t n = shape[rank - 2], m = shape[rank - 1];
  const std::int64_t down = strides[rank - 2], right = strides[rank - 1];
  stacked made;
  if ((right == 1 || m == 1) && (down >= m || n == 1)) {
    made.lead = n == 1 ? m : down;
  } else if ((down == 1 || n == 1) && (right >= n || m == 1)) {
    made.turned = true;
    made.lead = m == 1 ? n : right;
  } else {
    return {};
  }
  made.lead = std::max<std::int64_t>(made.lead, 1);
  // The axes of the stack as one.
  bool is_first = true;
  for (std::size_t k = rank - 2; k-- > 0;) {
    if (shape[k] == 1) continue;
    if (is_first) {
      made.step = strides[k];
      if (made.step < 0) return {};
      is_first = false;
    } else if (strides[k] != made.step * made.count) {
      return {};
    }
    made.count *= shape[k];
  }
  const auto most = std::numeric_limits<int>::max();
  if (made.lead > most || n > most || m > most || made.count > most) return {};
  return made;
}

struct scalars {
  data_type type;
  compute_type compute;
  // In the type that is computed in: two numbers, of which the second is 0.
  std::complex<float> one_single = 1, zero_single = 0;
  std::complex<double> one_double = 1, zero_double = 0;
  bool is_double;

  const void* one() const {
    return is_double ? static_cast<const void*>(&one_double) : &one_single;
  }
  const void* zero() const {
    return is_double ? static_cast<const void*>(&zero_double) : &zero_single;
  }
};

scalars scalars_of(const dtype& type, bool reduced) {
  const auto found = data_type_of(type);
  require(found.has_value(), "products have float or complex numbers");
  const bool is_double = *found == data_type::f64 || *found == data_type::c128;
  const bool is_float = *found == data_type::f32 || *found == data_type::c64;
  return {.type = *found,
          .compute = is_double             ? compute_type::f64
                     : is_float && reduced ? compute_type::tf32
                                           : compute_type::f32,
          .is_double = is_double};
}

}  // namespace

bool computes(library which, const sycl::queue& queue) {
  return is_loaded(which) && (is_everywhere || backend_of(queue).api == driver_api::cuda);
}
void compute_everywhere(bool everywhere) noexcept { is_everywhere = everywhere; }

bool is_read(const array& a) { return stacked_of(a).has_value(); }

bool multiplies(const array& a, const array& b, const array& made) {
  const dtype& type = made.elements().dtype();
  if (!data_type_of(type) || a.elements().dtype() != type || b.elements().dtype() != type) {
    return false;
  }
  const std::int64_t n = length(made, 2), m = length(made, 1);
  const auto left = stacked_of(a), right = stacked_of(b);
  const auto fits = [count = made.size() / (n * m)](const std::optional<stacked>& x) {
    return x && (x->count == 1 || x->count == count);
  };
  return length(a, 1) > 1 && fits(left) && fits(right);
}

void multiply(const array& a, const array& b, const array& made, bool reduced) {
  const dtype& type = made.elements().dtype();
  std::int64_t n = length(made, 2);
  const std::int64_t m = length(made, 1), k = length(a, 1);
  require(made.size() > 0 && k > 0, "empty matrices");
  std::int64_t count = made.size() / (n * m);
  require_elements(made, type, count * n * m, "the result is not contiguous");
  require(a.elements().dtype() == type && b.elements().dtype() == type,
          "x1 or x2 have not the type of the result");
  const auto left = stacked_of(a), right = stacked_of(b);
  require(left && right, "x1 or x2 are not rows or columns");
  require(length(a, 2) == n && length(b, 2) == k && length(b, 1) == m &&
              (left->count == 1 || left->count == count) &&
              (right->count == 1 || right->count == count),
          "x1 or x2 do not fit the result");
  stacked first = *left;
  const stacked second = *right;
  // Many matrices times one are one matrix with many rows.
  if (count > 1 && second.count == 1 && first.count == count && !first.turned &&
      first.step == n * first.lead && n * count <= std::numeric_limits<int>::max()) {
    n *= count;
    count = 1;
    first.step = 0;
  }
  const auto turn = [](const stacked& x) {
    return x.turned ? operation::transpose : operation::none;
  };
  const scalars numbers = scalars_of(type, reduced);
  const auto kept = handles::of(made.queue());
  // In Fortran's order the result is m by n: what it sees of b times what it sees of a.
  submit_once(
      library::blas, *kept, made, {&a, &b, &made}, "cublasGemmStridedBatchedEx", [&](handle h) {
        return blas().multiply(h, turn(second), turn(first), to_int(m), to_int(n), to_int(k),
                               numbers.one(), b.data(), numbers.type, to_int(second.lead),
                               second.step, a.data(), numbers.type, to_int(first.lead), first.step,
                               numbers.zero(), made.data(), numbers.type, to_int(m), n * m,
                               to_int(count), numbers.compute, default_algorithm);
      });
}

// --- decompositions ------------------------------------------------------------------------------

void lu(const array& a, const array& exchanged, const array& failed) {
  const auto [n, count] = squares(a);
  const dtype integer = dtype::of<std::int32_t>();
  require_elements(exchanged, integer, count * n, "exchanged rows do not fit x");
  require_elements(failed, integer, count, "failed does not fit x");
  const std::size_t letter = letter_of(a);
  const int rows = to_int(n);
  const auto kept = handles::of(a.queue());
  if (count > 1 && n <= most_rows_of_many) {
    const array all = addresses_of(a, count, n * n);
    submit_once(library::blas, *kept, a, {&a, &exchanged, &failed, &all}, "cublas<t>getrfBatched",
                [&](handle h) {
                  return blas().lu_of_many[letter](h, rows, static_cast<void* const*>(all.data()),
                                                   rows, static_cast<int*>(exchanged.data()),
                                                   static_cast<int*>(failed.data()), to_int(count));
                });
    return;
  }
  const std::int64_t size =
      size_of_scratch(*kept, a, "cusolverDn<t>getrf_bufferSize", [&](handle h, int* made) {
        return solver().lu_size[letter](h, rows, rows, a.data(), rows, made);
      });
  const array scratch = scratch_of(a, size);
  submit_each(library::solver, *kept, a, {&a, &exchanged, &failed, &scratch}, count,
              "cusolverDn<t>getrf", [&](handle h, std::int64_t k) {
                return solver().lu[letter](h, rows, rows, at(a, k * n * n), rows, scratch.data(),
                                           static_cast<int*>(at(exchanged, k * n)),
                                           static_cast<int*>(at(failed, k)));
              });
}

void solve(const array& a, const array& exchanged, const array& b, bool turned) {
  const auto [n, count] = squares(a);
  require_elements(exchanged, dtype::of<std::int32_t>(), count * n, "exchanged rows do not fit x");
  require(b.size() > 0 && length(b, 1) == n && b.size() % (n * count) == 0, "b does not fit x");
  require_elements(b, a.elements().dtype(), b.size(), "b is not contiguous");
  const std::size_t letter = letter_of(a);
  const int rows = to_int(n), sides = to_int(b.size() / (n * count));
  const operation how = turned ? operation::transpose : operation::none;
  const auto kept = handles::of(a.queue());
  if (count > 1 && n <= most_rows_of_many) {
    const array all = addresses_of(a, count, n * n), to = addresses_of(b, count, n * sides);
    int wrong = 0;  // an argument, which the host is told
    submit_once(library::blas, *kept, a, {&a, &exchanged, &b, &all, &to}, "cublas<t>getrsBatched",
                [&](handle h) {
                  return blas().solve_many[letter](
                      h, how, rows, sides, static_cast<const void* const*>(all.data()), rows,
                      static_cast<const int*>(exchanged.data()),
                      static_cast<void* const*>(to.data()), rows, &wrong, to_int(count));
                });
    return;
  }
  const array wrong = scratch_of(a, 1, dtype::of<std::int32_t>());
  submit_each(library::solver, *kept, a, {&a, &exchanged, &b, &wrong}, count, "cusolverDn<t>getrs",
              [&](handle h, std::int64_t k) {
                return solver().solve[letter](h, how, rows, sides, at(a, k * n * n), rows,
                                              static_cast<const int*>(at(exchanged, k * n)),
                                              at(b, k * n * sides), rows,
                                              static_cast<int*>(wrong.data()));
              });
}

void cholesky(const array& a, const array& failed) {
  const auto [n, count] = squares(a);
  require_elements(failed, dtype::of<std::int32_t>(), count, "failed does not fit x");
  const std::size_t letter = letter_of(a);
  const int rows = to_int(n);
  const auto kept = handles::of(a.queue());
  // Of the upper one the library takes twice as long.
  if (count > 1 && n <= most_rows_of_many) {
    const array all = addresses_of(a, count, n * n);
    submit_once(
        library::solver, *kept, a, {&a, &failed, &all}, "cusolverDn<t>potrfBatched", [&](handle h) {
          return solver().cholesky_of_many[letter](h, triangle::lower, rows,
                                                   static_cast<void* const*>(all.data()), rows,
                                                   static_cast<int*>(failed.data()), to_int(count));
        });
    return;
  }
  const std::int64_t size =
      size_of_scratch(*kept, a, "cusolverDn<t>potrf_bufferSize", [&](handle h, int* made) {
        return solver().cholesky_size[letter](h, triangle::lower, rows, a.data(), rows, made);
      });
  const array scratch = scratch_of(a, size);
  submit_each(library::solver, *kept, a, {&a, &failed, &scratch}, count, "cusolverDn<t>potrf",
              [&](handle h, std::int64_t k) {
                return solver().cholesky[letter](h, triangle::lower, rows, at(a, k * n * n), rows,
                                                 scratch.data(), to_int(size),
                                                 static_cast<int*>(at(failed, k)));
              });
}

void qr(const array& a, const array& factors) {
  // Turned: n rows in memory are the columns of a matrix of m rows.
  const std::int64_t n = length(a, 2), m = length(a, 1), k = std::min(m, n);
  require(a.size() > 0, "empty matrices");
  const std::int64_t count = a.size() / (m * n);
  require_elements(a, a.elements().dtype(), a.size(), "x is not contiguous");
  require_elements(factors, a.elements().dtype(), count * k, "factors do not fit x");
  const std::size_t letter = letter_of(a);
  const int rows = to_int(m), columns = to_int(n);
  const auto kept = handles::of(a.queue());
  const std::int64_t size =
      size_of_scratch(*kept, a, "cusolverDn<t>geqrf_bufferSize", [&](handle h, int* made) {
        return solver().qr_size[letter](h, rows, columns, a.data(), rows, made);
      });
  const array scratch = scratch_of(a, size);
  const array wrong = scratch_of(a, 1, dtype::of<std::int32_t>());
  submit_each(library::solver, *kept, a, {&a, &factors, &scratch, &wrong}, count,
              "cusolverDn<t>geqrf", [&](handle h, std::int64_t i) {
                return solver().qr[letter](h, rows, columns, at(a, i * m * n), rows,
                                           at(factors, i * k), scratch.data(), to_int(size),
                                           static_cast<int*>(wrong.data()));
              });
}

void qr_columns(const array& q, const array& factors) {
  const std::int64_t columns = length(q, 2), m = length(q, 1), k = length(factors, 1);
  require(q.size() > 0 && k > 0 && k <= columns && columns <= m, "q has no columns, or too many");
  const std::int64_t count = q.size() / (m * columns);
  require_elements(q, q.elements().dtype(), q.size(), "q is not contiguous");
  require_elements(factors, q.elements().dtype(), count * k, "factors do not fit q");
  const std::size_t letter = letter_of(q);
  const int rows = to_int(m), made_columns = to_int(columns), reflections = to_int(k);
  const auto kept = handles::of(q.queue());
  const std::int64_t size =
      size_of_scratch(*kept, q, "cusolverDn<t>orgqr_bufferSize", [&](handle h, int* made) {
        return solver().columns_size[letter](h, rows, made_columns, reflections, q.data(), rows,
                                             factors.data(), made);
      });
  const array scratch = scratch_of(q, size);
  const array wrong = scratch_of(q, 1, dtype::of<std::int32_t>());
  submit_each(library::solver, *kept, q, {&q, &factors, &scratch, &wrong}, count,
              "cusolverDn<t>orgqr", [&](handle h, std::int64_t i) {
                return solver().columns[letter](h, rows, made_columns, reflections,
                                                at(q, i * m * columns), rows, at(factors, i * k),
                                                scratch.data(), to_int(size),
                                                static_cast<int*>(wrong.data()));
              });
}

void eigh(const array& a, const array& values, const array& failed, bool vectors) {
  const auto [n, count] = squares(a);
  require_elements(values, part_type(a.elements().dtype()), count * n, "values do not fit x");
  require_elements(failed, dtype::of<std::int32_t>(), count, "failed does not fit x");
  const std::size_t letter = letter_of(a);
  const int rows = to_int(n), mode = vectors ? 1 : 0;
  const auto kept = handles::of(a.queue());
  const std::int64_t size =
      size_of_scratch(*kept, a, "cusolverDn<t>syevd_bufferSize", [&](handle h, int* made) {
        return solver().eigh_size[letter](h, mode, triangle::lower, rows, a.data(), rows,
                                          values.data(), made);
      });
  const array scratch = scratch_of(a, size);
  submit_each(library::solver, *kept, a, {&a, &values, &failed, &scratch}, count,
              "cusolverDn<t>syevd", [&](handle h, std::int64_t k) {
                return solver().eigh[letter](h, mode, triangle::lower, rows, at(a, k * n * n), rows,
                                             at(values, k * n), scratch.data(), to_int(size),
                                             static_cast<int*>(at(failed, k)));
              });
}

void svd(const array& a, const array& values, const array* u, const array* vh, const array& failed,
         bool by_rotations) {
  const std::int64_t m = length(a, 2), n = length(a, 1);
  require(a.size() > 0 && m <= n, "empty or tall matrices");
  const std::int64_t count = a.size() / (m * n);
  const dtype& own = a.elements().dtype();
  require_elements(a, own, a.size(), "x is not contiguous");
  require_elements(values, part_type(own), count * m, "values do not fit x");
  require_elements(failed, dtype::of<std::int32_t>(), count, "failed does not fit x");
  const bool vectors = u != nullptr && vh != nullptr;
  const std::int64_t right = vectors ? length(*vh, 2) : m;
  require(right == m || right == n, "vh has neither as many rows as x nor as columns");
  if (vectors) {
    require_elements(*u, own, count * m * m, "u does not fit x");
    require_elements(*vh, own, count * right * n, "vh does not fit x");
  }
  const std::size_t letter = letter_of(a);
  // The library sees the transposes, whose left vectors are our right ones.
  const int rows = to_int(n), columns = to_int(m);
  // Rotations write vectors also where none are asked for.
  std::optional<array> unused_left, unused_right;
  if (by_rotations && !vectors) {
    unused_left = scratch_of(a, m * n);
    unused_right = scratch_of(a, m * m);
  }
  const auto in = [](const std::optional<array>& x) { return x ? &*x : nullptr; };
  const auto left_of = [&](std::int64_t k) {
    return vectors ? at(*vh, k * right * n) : unused_left ? unused_left->data() : nullptr;
  };
  const auto right_of = [&](std::int64_t k) {
    return vectors ? at(*u, k * m * m) : unused_right ? unused_right->data() : nullptr;
  };
  const auto kept = handles::of(a.queue());
  if (by_rotations) {
    // By default they end at ten times the error of QR iterations.
    const double tolerance = part_type(own) == dtype::of<double>()
                                 ? std::numeric_limits<double>::epsilon()
                                 : std::numeric_limits<float>::epsilon();
    const int mode = vectors ? 1 : 0, thin = right == m ? 1 : 0;
    handle parameters = nullptr;
    const std::int64_t size =
        size_of_scratch(*kept, a, "cusolverDn<t>gesvdj_bufferSize", [&](handle h, int* made) {
          parameters = kept->jacobi();
          return solver().jacobi_size[letter](h, mode, thin, rows, columns, a.data(), rows,
                                              values.data(), left_of(0), rows, right_of(0), columns,
                                              made, parameters);
        });
    const array scratch = scratch_of(a, size);
    submit_each(library::solver, *kept, a,
                {&a, &values, u, vh, &failed, &scratch, in(unused_left), in(unused_right)}, count,
                "cusolverDn<t>gesvdj", [&](handle h, std::int64_t k) {
                  check(library::solver, solver().set_tolerance(parameters, tolerance),
                        "cusolverDnXgesvdjSetTolerance");
                  return solver().jacobi[letter](h, mode, thin, rows, columns, at(a, k * m * n),
                                                 rows, at(values, k * m), left_of(k), rows,
                                                 right_of(k), columns, scratch.data(), to_int(size),
                                                 static_cast<int*>(at(failed, k)), parameters);
                });
    return;
  }
  const signed char left_job = !vectors ? 'N' : right == n ? 'A' : 'S';
  const signed char right_job = !vectors ? 'N' : 'S';
  const std::int64_t size = size_of_scratch(
      *kept, a, "cusolverDn<t>gesvd_bufferSize",
      [&](handle h, int* made) { return solver().svd_size[letter](h, rows, columns, made); });
  const array scratch = scratch_of(a, size), others = scratch_of(a, m, part_type(own));
  submit_each(library::solver, *kept, a, {&a, &values, u, vh, &failed, &scratch, &others}, count,
              "cusolverDn<t>gesvd", [&](handle h, std::int64_t k) {
                return solver().svd[letter](h, left_job, right_job, rows, columns, at(a, k * m * n),
                                            rows, at(values, k * m), left_of(k), rows, right_of(k),
                                            columns, scratch.data(), to_int(size), others.data(),
                                            static_cast<int*>(at(failed, k)));
              });
}

// --- transforms ----------------------------------------------------------------------------------

bool transforms_lines(const array& from, bool are_real) {
  const auto type = data_type_of(from.elements().dtype());
  const bool is_taken = are_real ? type == data_type::f32 || type == data_type::f64
                                 : type == data_type::c64 || type == data_type::c128;
  return is_taken && from.rank() > 0 && from.size() > 0 &&
         from.elements().layout().is_c_contiguous();
}

void transform(const array& from, const array& to, std::int64_t n, std::int64_t inner,
               bool is_inverse) {
  require(from.size() > 0 && n > 0 && inner > 0, "x has no numbers");
  const dtype &given = from.elements().dtype(), &made = to.elements().dtype();
  const bool is_double = part_type(given) == dtype::of<double>();
  const bool is_from_complex = given.kind() == type_class::complex;
  const bool is_to_complex = made.kind() == type_class::complex;
  require(letter_of(from) < 4 && part_type(given) == part_type(made) &&
              (is_from_complex || is_to_complex),
          "x and the result have other types");
  require(from.elements().layout().is_c_contiguous() && to.elements().layout().is_c_contiguous(),
          "x or the result is not contiguous");
  transform_form form;
  form.type = is_from_complex && is_to_complex
                  ? (is_double ? transform_type::complex_double : transform_type::complex_single)
              : is_to_complex
                  ? (is_double ? transform_type::real_double : transform_type::real_single)
                  : (is_double ? transform_type::to_real_double : transform_type::to_real_single);
  form.n = n;
  form.from = is_to_complex ? n : n / 2 + 1;
  form.to = is_from_complex ? n : n / 2 + 1;
  form.inner = inner;
  form.count = from.size() / form.from;
  require(from.size() == form.from * form.count && to.size() == form.to * form.count,
          "the result does not fit x");
  require(inner == 1 || inner == form.count, "transforms stand apart in one axis only");
  // The library reads two parts at once, also of real numbers; a view may begin at any.
  if (reinterpret_cast<std::uintptr_t>(from.data()) % (is_double ? 16 : 8) != 0) {
    const array aligned =
        array::empty(from.queue(), from.elements().layout().shape().span(), given);
    copy(aligned, from);
    return transform(aligned, to, n, inner, is_inverse);
  }
  const auto kept = handles::of(from.queue());
  const auto ready = [&] {
    const std::lock_guard lock(kept->mutex);
    return kept->plan_of(form);
  };
  const array scratch =
      scratch_of(from, static_cast<std::int64_t>(ready().bytes), dtype::of<std::uint8_t>());
  submit(from.queue(), {&from, &to, &scratch}, [&](stream on) {
    const std::lock_guard lock(kept->mutex);
    const auto& f = transforms();
    const plan p = kept->plan_of(form).made;
    check(library::transforms, f.set_stream(p, on), "cufftSetStream");
    check(library::transforms, f.set_memory(p, scratch.data()), "cufftSetWorkArea");
    const int way = is_inverse ? inverse : forward;
    int status = 0;
    switch (form.type) {
      case transform_type::complex_single:
        status = f.complex_single(p, from.data(), to.data(), way);
        break;
      case transform_type::complex_double:
        status = f.complex_double(p, from.data(), to.data(), way);
        break;
      case transform_type::real_single:
        status = f.real_single(p, from.data(), to.data());
        break;
      case transform_type::real_double:
        status = f.real_double(p, from.data(), to.data());
        break;
      case transform_type::to_real_single:
        status = f.to_real_single(p, from.data(), to.data());
        break;
      case transform_type::to_real_double:
        status = f.to_real_double(p, from.data(), to.data());
        break;
    }
    check(library::transforms, status, "cufftExec");
  });
}

}  // namespace usmx::detail::nvidia
