// SPDX-License-Identifier: Apache-2.0
#include "submission/process_order.hpp"

#include <stdexcept>
#include <vector>

#include "memory/process_memory.hpp"
#include "runtime/native_command.hpp"
#include "usmx/submission.hpp"

namespace usmx::detail {
namespace {

process_owner& block_of(const array& a) {
  process_owner* const block = process_owner_of(a);
  if (block == nullptr) throw std::invalid_argument("x: no process can open its memory");
  return *block;
}

template <class Calls>
void submit(const array& a, const Calls& calls) {
  submission one(a.queue());
  one.uses(a);
  one.submit([&](sycl::queue& queue, const std::vector<sycl::event>& before) {
    return on_native_stream(queue, before, [&](void* stream) { calls(queue, stream); });
  });
}

}  // namespace

handle_bytes point_for_processes(const array& a) {
  process_owner& block = block_of(a);
  if (block.functions().make_event == nullptr) {
    a.wait();
    return {};
  }
  const process_owner::known_event& own = block.own_event();
  submit(a, [&](const sycl::queue& queue, void* stream) {
    block.functions().record(queue, own.event, stream);
  });
  return own.handle;
}

void come_after_point(const array& a, std::span<const std::byte> point) {
  process_owner& block = block_of(a);
  if (point.empty() || block.functions().put_behind == nullptr) return;
  void* const event = block.opened_event(point);
  if (event == nullptr) return;
  submit(a, [&](const sycl::queue& queue, void* stream) {
    block.functions().put_behind(queue, stream, event);
  });
}

}  // namespace usmx::detail
