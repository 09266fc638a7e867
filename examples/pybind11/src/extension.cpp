// The same kit with pybind11: functions that take and return USM of any library.
// SPDX-License-Identifier: Apache-2.0
#include <usmx/pybind11.hpp>
#include <usmx/submission.hpp>

#include <pybind11/stl.h>  // std::optional

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <vector>

namespace py = pybind11;
using namespace py::literals;

namespace {

/// A view in, an array out, in memory of its own. The result uses the queue of the input.
usmx::array scale(usmx::host_view<const float, 2> x, float factor) {
  auto out = usmx::empty<float>(x.queue(), x.shape, usmx::usm_kind::shared);
  auto to = out.host();
  for (std::int64_t i = 0; i < x.extent(0); ++i) {
    for (std::int64_t j = 0; j < x.extent(1); ++j) to(i, j) = factor * x(i, j);
  }
  return out;
}

/// In place: a view of a non-const type needs writable memory.
void add_one(usmx::host_view<std::int32_t, 1> x) {
  for (std::int64_t i = 0; i < x.size(); ++i) x(i) += 1;
}

/// Overloads by dtype, and an argument that may be None.
template <class T>
T dot(usmx::host_view<const T, 1> x, std::optional<usmx::host_view<const T, 1>> weights) {
  if (weights && weights->size() != x.size()) {
    throw std::invalid_argument("weights: must be as long as x");
  }
  T sum{};
  for (std::int64_t i = 0; i < x.size(); ++i) sum += weights ? x(i) * (*weights)(i) : x(i);
  return sum;
}

/// Work that outlives the call, on the array's own queue.
usmx::array cleared(const usmx::array& like) {
  const usmx::any_view& v = like.elements();
  auto out = usmx::array::empty(like.queue(), v.layout().shape().span(), v.dtype(), like.kind());
  usmx::submission command(like.queue());
  command.uses(out);
  command.submit([&](sycl::queue& q, const std::vector<sycl::event>& before) {
    return q.memset(out.data(), 0, v.nbytes(), before);
  });
  return out;
}

}  // namespace

PYBIND11_MODULE(_core, m) {
  usmx::python::api();  // an unfit usmx is an ImportError here, not a surprise later
  m.def("scale", &scale, "x"_a, "factor"_a);
  m.def("add_one", &add_one, "x"_a);
  m.def("dot", &dot<float>, "x"_a, "weights"_a = py::none());
  m.def("dot", &dot<double>, "x"_a, "weights"_a = py::none());
  m.def("cleared", &cleared, "like"_a);
}
