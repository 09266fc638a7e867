// The example of usmx/placement.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <usmx/placement.hpp>
#include <usmx/runtime.hpp>
#include <usmx/typed_array.hpp>

#include "check.hpp"

namespace {

/// Where the result of two arrays belongs: compute follows data.
usmx::array result_of(const usmx::array& a, const usmx::array& b) {
  const std::array<const usmx::array*, 2> both{&a, &b};
  const sycl::queue queue = *usmx::execution_queue(both);
  if (!usmx::can_use(queue, b)) usmx::refuse_placement("b", b, queue);  // throws placement_error
  usmx::joint_kind kind;
  kind.add(a);
  kind.add(b);
  return usmx::array::empty(queue, a.shape(), a.elements().dtype(), kind.result(queue));
}

}  // namespace

TEST(Placement, Reference) {
  using enum usmx::usm_kind;
  const sycl::queue queue = usmx::default_queue();
  const auto x = usmx::zeros<float>(queue, {3}, shared), y = usmx::zeros<float>(queue, {3}, device);
  CHECK(result_of(x, y).kind() == device);
  CHECK(!usmx::is_host_memory(x));
  CHECK(usmx::coerced_kind(std::array{host, shared}) == shared);
  try {
    usmx::refuse_placement("x", x, queue);
  } catch (const usmx::placement_error& error) {
    CHECK(std::string_view(error.what()).starts_with("x"));
  }
}
