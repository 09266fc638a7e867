// The cache of resources that makes all libraries of a process share them, and what happens to it
// when memory runs out, after a fork and at process exit.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/fork_guard.hpp"
#include "memory/allocation_failure.hpp"
#include "memory/pressure.hpp"
#include "memory/recent_resources.hpp"
#include "memory/using_resource.hpp"
#include "usmx/memory.hpp"
#include "usmx/pool.hpp"
#include "usmx/queue_ordered.hpp"

namespace usmx {
namespace {

struct cached_resource {
  sycl::context context;
  sycl::device device;
  usm_kind kind;
  std::shared_ptr<memory_resource> resource;
  bool chosen;  // by set_default_resource: then it is not dropped
};

/// Few enough to search in order, enough for every device and kind of a large machine.
constexpr std::size_t most_resources = 64;

class resource_cache final : public detail::fork_guarded {
 public:
  static resource_cache& instance() {
    // Never destroyed: arrays may outlive every static object, and the runtime may be gone by then.
    static auto* const cache = [] {
      auto* const made = new resource_cache;
      detail::guard(*made, rank::defaults);
      return made;
    }();
    return *cache;
  }

  cached_resource* find(const sycl::context& context, const sycl::device& device, usm_kind kind) {
    const auto found = std::ranges::find_if(entries, [&](const cached_resource& entry) {
      return entry.kind == kind && entry.device == device && entry.context == context;
    });
    return found == entries.end() ? nullptr : &*found;
  }

  detail::recent_resources recent;
  std::mutex mutex;
  std::vector<cached_resource> entries;  // the least recently made first

 private:
  void before_fork() noexcept override {
    mutex.lock();
    recent.lock();
  }
  void after_fork(bool) noexcept override {
    recent.unlock();
    mutex.unlock();
  }
};

bool pooling_is_on() {
  const char* const chosen = std::getenv("USMX_POOL");
  if (chosen == nullptr || *chosen == '\0') return true;
  const std::string_view value(chosen);
  if (value == "0" || value == "1") return value == "1";
  throw std::invalid_argument("USMX_POOL: '" + std::string(value) +
                              "' is not supported; expected 0 (no pools) or 1");
}

/// The pool below a resource, under any number of adaptors; null without one.
std::shared_ptr<pool_resource> pool_below(std::shared_ptr<memory_resource> from) {
  for (; from != nullptr; from = from->stands_on()) {
    if (auto pool = std::dynamic_pointer_cast<pool_resource>(from)) return pool;
  }
  return nullptr;
}

std::size_t trim_pools() noexcept {
  // The child must not free memory that the parent's runtime allocated.
  if (detail::in_forked_child()) return 0;
  std::size_t bytes = 0;
  try {
    for (const auto& resource : default_resources()) {
      if (const auto pool = pool_below(resource)) bytes += pool->trim();
    }
  } catch (...) {  // no memory for the list of them
  }
  return bytes;
}

/// At process exit, memory that is still held is freed while the runtime exists: this was
/// registered after the runtime was loaded, so it runs before the runtime ends.
void give_back_at_exit() {
  static const bool registered = [] {
    return std::atexit([] {
             collect();
             trim_pools();
           }) == 0;
  }();
  static_cast<void>(registered);
}

std::shared_ptr<memory_resource> make_resource(const sycl::context& context,
                                               const sycl::device& device, usm_kind kind) {
  auto direct = std::make_shared<usm_resource>(context, device, kind);
  if (!pooling_is_on()) return direct;
  give_back_at_exit();
  return std::make_shared<queue_ordered_resource>(
      std::make_shared<pool_resource>(std::move(direct)));
}

}  // namespace

std::shared_ptr<memory_resource> default_resource(const sycl::queue& queue, usm_kind kind) {
  if (detail::used_here != 0) [[unlikely]] {
    if (auto used = detail::find_used_here(queue, kind)) return used;
  }
  resource_cache& cache = resource_cache::instance();
  if (auto known = cache.recent.find(queue, kind)) return known;
  sycl::context context = queue.get_context();
  sycl::device device = queue.get_device();
  // Destroyed after the lock is released, because this may free memory.
  std::shared_ptr<memory_resource> forgotten;
  detail::recent_resources::entry recent;
  detail::recent_resources::entries all_recent;
  const std::scoped_lock lock(cache.mutex);
  if (const cached_resource* const found = cache.find(context, device, kind)) {
    recent = cache.recent.keep(queue, kind, found->resource);
    return found->resource;
  }
  std::shared_ptr<memory_resource> made = make_resource(context, device, kind);
  if (cache.entries.size() >= most_resources) {
    const auto oldest = std::ranges::find(cache.entries, false, &cached_resource::chosen);
    if (oldest != cache.entries.end()) {
      forgotten = std::move(oldest->resource);
      all_recent = cache.recent.forget();
      cache.entries.erase(oldest);
    }
  }
  cache.entries.push_back({std::move(context), std::move(device), kind, made, false});
  return made;
}

std::shared_ptr<memory_resource> set_default_resource(std::shared_ptr<memory_resource> resource) {
  if (resource == nullptr) throw std::invalid_argument("resource: is null; expected a resource");
  sycl::context context = resource->context();
  sycl::device device = resource->device();
  const usm_kind kind = resource->kind();
  resource_cache& cache = resource_cache::instance();
  detail::recent_resources::entries recent;  // destroyed after the lock
  const std::scoped_lock lock(cache.mutex);
  recent = cache.recent.forget();
  if (cached_resource* const found = cache.find(context, device, kind)) {
    found->chosen = true;
    return std::exchange(found->resource, std::move(resource));
  }
  cache.entries.push_back({std::move(context), std::move(device), kind, std::move(resource), true});
  return nullptr;
}

std::vector<std::shared_ptr<memory_resource>> default_resources() {
  resource_cache& cache = resource_cache::instance();
  std::vector<std::shared_ptr<memory_resource>> all;
  const std::scoped_lock lock(cache.mutex);
  for (const cached_resource& entry : cache.entries) all.push_back(entry.resource);
  return all;
}

std::size_t trim_default_resources() noexcept {
  drain();
  return trim_pools();
}

shared_owner allocate(const sycl::queue& queue, usm_kind kind, std::size_t bytes,
                      std::size_t alignment) {
  std::shared_ptr<memory_resource> from = default_resource(queue, kind);
  if (shared_owner plain = try_allocate(from, bytes, alignment)) return plain;
  if (host_accessible(kind)) return allocate(std::move(from), bytes, alignment);
  return allocate(std::move(from), queue, bytes, alignment);
}

namespace {

std::string describe_holdings(const sycl::device& device, const memory_resource* besides) {
  std::string text;
  for (const auto& resource : default_resources()) {
    const auto pool = pool_below(resource);
    if (pool == nullptr || pool->device() != device) continue;
    if (pool->upstream().get() == besides) continue;
    const pool_stats now = pool->stats();
    if (now.held == 0) continue;
    text += text.empty() ? "the pool of " : "; the pool of ";
    text += name(pool->kind());
    text += " USM holds " + detail::scaled(now.held) + ", of which " + std::to_string(now.blocks) +
            " blocks use " + detail::scaled(now.used);
    const auto ordered = std::dynamic_pointer_cast<queue_ordered_resource>(resource);
    const queue_order_stats waiting = ordered ? ordered->stats() : queue_order_stats{};
    if (waiting.blocks != 0)
      text += ", " + detail::scaled(waiting.bytes) + " of that behind queues";
  }
  return text;
}

constexpr detail::pressure_relief relief{drain, trim_default_resources, describe_holdings};
[[maybe_unused]] const bool is_installed = (detail::set_pressure_relief(relief), true);

}  // namespace
}  // namespace usmx
