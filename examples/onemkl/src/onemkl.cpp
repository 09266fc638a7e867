// oneMKL's SYCL functions as functions of Python: operands are arrays of any library that describes
// its USM, results are arrays of usmx, and workspaces come from usmx's pool.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/pair.h>
#include <usmx/copy.hpp>
#include <usmx/nanobind.hpp>
#include <usmx/submission.hpp>
#include <usmx/typed_array.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include <oneapi/mkl/blas.hpp>
#include <oneapi/mkl/lapack.hpp>

namespace nb = nanobind;
namespace mkl = oneapi::mkl;
using namespace nb::literals;

namespace {

template <class T>
using matrix = usmx::typed_array<const T, 2>;

/// How BLAS is told where a matrix lies: elements from one row to the next, and whether it is the
/// transpose that lies so.
struct placement {
  mkl::transpose turned;
  std::int64_t lead;
};

template <class T>
placement placement_of(const matrix<T>& x, const char* name) {
  const auto& [rows, columns] = x.view.shape;
  const auto& [down, right] = x.view.strides;
  if ((right == 1 || columns == 1) && (down >= columns || rows == 1)) {
    return {mkl::transpose::nontrans, std::max({down, columns, std::int64_t{1}})};
  }
  if ((down == 1 || rows == 1) && (right >= rows || columns == 1)) {
    return {mkl::transpose::trans, std::max({right, rows, std::int64_t{1}})};
  }
  throw std::invalid_argument(std::string(name) + ": has strides (" + std::to_string(down) + ", " +
                              std::to_string(right) +
                              "); expected rows or columns that lie one after the other");
}

/// a @ b, submitted and not waited for. Compute follows data: the queue and the kind of memory are
/// those of `a`.
template <class T>
usmx::array gemm(const matrix<T>& a, const matrix<T>& b, T alpha) {
  const std::int64_t n = a.extent(0), length = a.extent(1), m = b.extent(1);
  if (b.extent(0) != length) {
    throw std::invalid_argument("b: has " + std::to_string(b.extent(0)) + " rows; expected " +
                                std::to_string(length) + ", the columns of a");
  }
  const placement from_a = placement_of(a, "a"), from_b = placement_of(b, "b");
  if (n == 0 || m == 0 || length == 0) return usmx::zeros<T>(a.queue(), {n, m}, a.kind());
  auto made = usmx::empty<T>(a.queue(), {n, m}, a.kind());
  usmx::submission command(a.queue());
  command.uses(a);
  command.uses(b);
  command.uses(made);
  // On a CPU device the event is that of a host task, which has no context: nothing but waiting for
  // it and passing it on may be done with it, and usmx does no more.
  command.submit([&](sycl::queue& queue, const std::vector<sycl::event>& before) {
    return mkl::blas::row_major::gemm(queue, from_a.turned, from_b.turned, n, m, length, alpha,
                                      a.view.data, from_a.lead, b.view.data, from_b.lead, T(0),
                                      made.view.data, m, before);
  });
  return made;
}

/// Eigenvalues of a symmetric matrix in ascending order, and its eigenvectors as columns.
template <class T>
std::pair<usmx::array, usmx::array> syevd(const matrix<T>& a) {
  const std::int64_t n = a.extent(0);
  if (a.extent(1) != n) {
    throw std::invalid_argument("a: has shape (" + std::to_string(n) + ", " +
                                std::to_string(a.extent(1)) +
                                "); expected as many rows as columns");
  }
  sycl::queue queue = a.queue();
  auto values = usmx::empty<T>(queue, {n}, a.kind());
  auto vectors = usmx::empty<T>(queue, {n, n}, a.kind());
  const usmx::layout& rows = vectors.elements().layout();
  // LAPACK counts by columns, so the rows of its result are the columns of ours.
  usmx::array turned =
      vectors.with_view(vectors.elements().with_layout(rows.permuted(std::array{1, 0}), 0));
  if (n == 0) return {std::move(values), std::move(turned)};
  usmx::copy_async(queue, vectors, a);  // syevd writes the vectors over the matrix
  const auto upper = mkl::uplo::upper;
  const std::int64_t size =
      mkl::lapack::syevd_scratchpad_size<T>(queue, mkl::job::vec, upper, n, n);
  auto scratch = usmx::empty<T>(queue, {std::max<std::int64_t>(size, 1)}, usmx::usm_kind::device);
  usmx::submission command(queue);
  command.uses(vectors);
  command.uses(values);
  command.uses(scratch);  // goes back to the pool, which gives it away behind the command
  command.submit([&](sycl::queue& q, const std::vector<sycl::event>& before) {
    return mkl::lapack::syevd(q, mkl::job::vec, upper, n, vectors.view.data, n, values.view.data,
                              scratch.view.data, size, before);
  });
  return {std::move(values), std::move(turned)};
}

}  // namespace

NB_MODULE(_core, m) {
  usmx::python::api();
  const auto unlocked = nb::call_guard<nb::gil_scoped_release>();  // LAPACK waits for the device
  m.def("gemm", &gemm<float>, "a"_a, "b"_a, "alpha"_a = 1, unlocked);
  m.def("gemm", &gemm<double>, "a"_a, "b"_a, "alpha"_a = 1, unlocked);
  m.def("syevd", &syevd<float>, "a"_a, unlocked);
  m.def("syevd", &syevd<double>, "a"_a, unlocked);
}
