// Everything that an extension does with usmx, one function each. Called from Python with arrays of
// usmx, dpctl, dpnp or any other library that has `__sycl_usm_array_interface__`.
// SPDX-License-Identifier: Apache-2.0
#include <usmx/nanobind.hpp>
#include <usmx/submission.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "camera.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

/// A view in, an array out. The result uses the queue of the input: compute follows data.
usmx::array scale(usmx::host_view<const float, 2> x, float factor) {
  auto out = usmx::empty<float>(x.queue(), x.shape, usmx::usm_kind::shared);
  auto to = out.host();
  for (std::int64_t i = 0; i < x.extent(0); ++i) {
    for (std::int64_t j = 0; j < x.extent(1); ++j) to(i, j) = factor * x(i, j);
  }
  return out;
}

/// In place: a view of a non-const type needs writable memory. Strides may be negative.
void add_one(usmx::host_view<std::int32_t, 1> x) {
  for (std::int64_t i = 0; i < x.size(); ++i) x(i) += 1;
}

/// Overloads by dtype: the one that fits is called.
template <class T>
T largest(usmx::host_view<const T, 1> x) {
  if (x.size() == 0) throw std::invalid_argument("x: is empty, which has no largest element");
  T best = x(0);
  for (std::int64_t i = 1; i < x.size(); ++i) best = std::max(best, x(i));
  return best;
}

/// Work that outlives the call: submitted to the array's own queue and not waited for. The
/// submission orders it and keeps the memory until it has ended. Device memory is fine, because the
/// host does not access it.
usmx::array cleared(const usmx::array& like) {
  const sycl::queue& queue = like.queue();
  const usmx::any_view& v = like.elements();
  auto out = usmx::array::empty(queue, v.layout().shape().span(), v.dtype(), like.kind());
  usmx::submission command(queue);
  command.uses(out);
  command.submit([&](sycl::queue& q, const std::vector<sycl::event>& before) {
    return q.memset(out.data(), 0, v.nbytes(), before);
  });
  return out;
}

/// The same on typed views with a queue of the caller's choice; waits, so views are enough.
void copy_contiguous(usmx::view<float, 1> to, usmx::view<const float, 1> from, sycl::queue& queue) {
  if (to.size() != from.size() || to.strides[0] != 1 || from.strides[0] != 1) {
    throw std::invalid_argument("to, from: must be contiguous and of equal length");
  }
  queue.memcpy(to.data, from.data, static_cast<std::size_t>(from.size()) * sizeof(float)).wait();
}

/// Memory of a native library becomes an array without a copy, and is freed by the library after
/// the last array over it was destroyed.
usmx::array take_picture(std::int64_t height, std::int64_t width, sycl::queue& queue) {
  const camera::frame f = camera::take(queue, height, width);
  return usmx::array::adopt(
      queue, f.pixels, std::array{f.height, f.width}, usmx::dtype::of<std::uint16_t>(),
      [](void* pixels) { camera::give_back(static_cast<std::uint16_t*>(pixels)); });
}

/// A strided result: every second column of what came in, on the same memory.
usmx::array every_second_column(const usmx::array& x) {
  const usmx::layout& old = x.elements().layout();
  if (old.rank() != 2) throw std::invalid_argument("x: must have two dimensions");
  std::int64_t shift = 0;
  const usmx::layout half = old.sliced(1, 0, (old.shape()[1] + 1) / 2, 2, shift);
  return x.with_view(x.elements().with_layout(half, shift));
}

}  // namespace

NB_MODULE(_core, m) {
  usmx::python::api();  // an unfit usmx is an ImportError here, not a surprise later
  m.def("scale", &scale, "x"_a, "factor"_a);
  m.def("add_one", &add_one, "x"_a);
  m.def("largest", &largest<float>, "x"_a);
  m.def("largest", &largest<double>, "x"_a);
  m.def("largest", &largest<std::int64_t>, "x"_a);
  m.def("cleared", &cleared, "like"_a);
  m.def("copy_contiguous", &copy_contiguous, "to"_a, "source"_a, "queue"_a = nb::none());
  m.def("take_picture", &take_picture, "height"_a, "width"_a, "queue"_a = nb::none());
  m.def("pictures_outstanding", &camera::outstanding);
  m.def("every_second_column", &every_second_column, "x"_a);
}
