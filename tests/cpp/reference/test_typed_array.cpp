// The example of usmx/typed_array.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <vector>

#include <usmx/runtime.hpp>
#include <usmx/typed_array.hpp>

#include "check.hpp"

namespace {

/// Loops of the host get their elements as a view: no casts, no strides in the text.
float trace_of(const usmx::view<const float, 2>& x) {
  float sum = 0;
  for (int i = 0; i < x.extent(0) && i < x.extent(1); ++i) sum += x(i, i);
  return sum;
}

}  // namespace

TEST(TypedArray, Reference) {
  const sycl::queue queue = usmx::default_queue();
  const usmx::typed_array<float, 2> x = usmx::empty<float>(queue, {2, 2}, usmx::usm_kind::shared);
  const auto zero = usmx::zeros<float>(queue, {2, 2});
  const auto seven = usmx::full<float>(queue, {2, 2}, 7);
  const auto y = usmx::from_host<float>(queue, std::array{1.F, 2.F, 3.F, 4.F}, {2, 2});

  // On the host: `host()` of a typed array, `on_host` of any; the memory is kept meanwhile.
  {
    const usmx::host_elements<float, 2> elements = x.host();
    for (float& one : elements.span()) one = 1;
    elements(0, 1) = 5;
    CHECK(trace_of({elements.data, {2, 2}, {2, 1}}) == 2);
  }
  const usmx::array any = x;
  CHECK((usmx::on_host<const float, 2>(any)(0, 1) == 5));
  CHECK((usmx::typed<float, 2>(any).view.extent(0) == 2));

  // Out of any memory, device memory too, cast as copies are.
  CHECK(usmx::to_vector<int>(y) == std::vector<int>({1, 2, 3, 4}));
  CHECK(usmx::item<double>(usmx::full<float>(queue, {1}, 0.5F)) == 0.5);

  // What a function of an extension takes for its loops; the caller's binding fills it.
  const usmx::host_view<float, 2> argument{x.view, &x};
  CHECK(argument.queue() == queue);
}
