// A resource for one thread: a program uses another one there without affecting other threads.
// SPDX-License-Identifier: Apache-2.0
#include "memory/using_resource.hpp"

#include <algorithm>
#include <atomic>
#include <ranges>
#include <stdexcept>
#include <utility>
#include <vector>

namespace usmx {
namespace {

struct used {
  std::size_t number;
  std::shared_ptr<memory_resource> resource;
};

/// In the order of construction.
std::vector<used>& of_this_thread() {
  static thread_local std::vector<used> all;
  return all;
}

}  // namespace

constinit thread_local std::size_t detail::used_here = 0;

std::shared_ptr<memory_resource> detail::find_used_here(const sycl::queue& queue, usm_kind kind) {
  for (const used& u : of_this_thread() | std::views::reverse) {
    if (u.resource->kind() == kind && u.resource->device() == queue.get_device() &&
        u.resource->context() == queue.get_context()) {
      return u.resource;
    }
  }
  return nullptr;
}

using_resource::using_resource(std::shared_ptr<memory_resource> resource) {
  if (resource == nullptr) throw std::invalid_argument("resource: is null; expected a resource");
  static std::atomic<std::size_t> given{0};
  number_ = given.fetch_add(1, std::memory_order_relaxed) + 1;
  of_this_thread().push_back({number_, std::move(resource)});
  ++detail::used_here;
}

bool using_resource::end() noexcept {
  if (number_ == 0) return true;
  std::vector<used>& all = of_this_thread();
  const auto found = std::ranges::find(all, number_, &used::number);
  if (found == all.end()) return false;
  const std::shared_ptr<memory_resource> leaving = std::move(found->resource);
  all.erase(found);
  --detail::used_here;
  number_ = 0;
  return true;
}

}  // namespace usmx
