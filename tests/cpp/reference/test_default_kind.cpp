// The example of usmx/default_kind.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <usmx/default_kind.hpp>
#include <usmx/runtime.hpp>
#include <usmx/typed_array.hpp>

#include "check.hpp"

TEST(DefaultKind, Reference) {
  const sycl::queue queue = usmx::default_queue();
  CHECK(usmx::empty<float>(queue, {3}).kind() == usmx::default_kind(queue));
  // For the whole process, until it is taken back.
  const auto before = usmx::set_default_kind(usmx::usm_kind::host);
  CHECK(usmx::empty<float>(queue, {3}).kind() == usmx::usm_kind::host);
  usmx::set_default_kind(before);
}
