// Allocates, makes an array of it, copies, and prints what came back: 0 1 4 9 16.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <cstdio>

#include <usmx/array.hpp>
#include <usmx/copy.hpp>
#include <usmx/runtime.hpp>

int main() {
  const sycl::queue& queue = usmx::default_queue();
  const std::array<std::int64_t, 1> shape{5};
  const auto type = usmx::dtype::of<std::int32_t>();
  const auto numbers = usmx::array::empty(queue, shape, type, usmx::usm_kind::shared);

  usmx::view<std::int32_t, 1> view;
  if (numbers.elements().typed(view) != usmx::fault::none) return 1;
  for (std::int32_t i = 0; i < 5; ++i) view(i) = i * i;

  const auto on_device = usmx::copied(numbers, queue, type, usmx::usm_kind::device);
  const auto back = usmx::copied(on_device, queue, type, usmx::usm_kind::host);
  if (back.elements().typed(view) != usmx::fault::none) return 1;
  for (int i = 0; i < 5; ++i) std::printf("%d ", view(i));
}
