// The cache of resources that makes all libraries of a process share them, and what happens to it
// when memory runs out, after a fork and at process exit.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/fork_guard.hpp"
#include "core/format.hpp"
#include "memory/allocation_failure.hpp"
#include "memory/pressure.hpp"
#include "memory/spare.hpp"
#include "usmx/memory.hpp"
#include "usmx/pool.hpp"
#include "usmx/queue_ordered.hpp"

namespace usmx {
namespace {

// --- the resources of one thread, which do not affect other threads

struct used {
  std::size_t number;
  std::shared_ptr<memory_resource> resource;
};

/// In the order of construction.
std::vector<used>& of_this_thread() {
  static thread_local std::vector<used> all;
  return all;
}

/// How many `using_resource` exist on this thread. The TLS model reduces the access to one
/// instruction.
[[gnu::tls_model("initial-exec")]] constinit thread_local std::size_t used_here = 0;

/// The one of them for this queue and kind; null if there is none.
std::shared_ptr<memory_resource> find_used_here(const sycl::queue& queue, usm_kind kind) {
  for (const used& u : of_this_thread() | std::views::reverse) {
    if (u.resource->kind() == kind && u.resource->device() == queue.get_device() &&
        u.resource->context() == queue.get_context()) {
      return u.resource;
    }
  }
  return nullptr;
}

// --- the resources of the process

/// The resources that queues used last, because querying a queue for its context and device costs
/// more than an allocation from a pool: a small cache of queues, which it keeps alive. A thread
/// that finds another thread in it takes the slow path instead of waiting.
class recent_resources {
 public:
  using resource = std::shared_ptr<memory_resource>;

  /// Null if it is not known.
  resource find(const sycl::queue& queue, usm_kind kind) noexcept {
    if (taken_.test_and_set(std::memory_order_acquire)) return nullptr;
    resource found;
    for (const entry& e : known_) {
      if (e.queue && *e.queue == queue) {
        found = e.of_kind[static_cast<std::size_t>(kind)];
        break;
      }
    }
    taken_.clear(std::memory_order_release);
    return found;
  }

  static constexpr std::size_t capacity = 4;
  struct entry {
    std::optional<sycl::queue> queue;
    std::array<resource, 4> of_kind;
  };
  using entries = std::array<entry, capacity>;

  // Call these with a lock that serialises them, or a stale entry may stay. They return the removed
  // entries, to be destroyed without a lock, because destroying a queue may wait.

  [[nodiscard]] entry keep(const sycl::queue& queue, usm_kind kind, const resource& made) {
    entry leaving;
    if (taken_.test_and_set(std::memory_order_acquire)) return leaving;
    entry* e = known_.begin();
    while (e != known_.end() && e->queue && *e->queue != queue) ++e;
    if (e == known_.end()) {
      e = &known_[next_++ % capacity];
      std::swap(leaving, *e);
    }
    e->queue = queue;
    e->of_kind[static_cast<std::size_t>(kind)] = made;
    taken_.clear(std::memory_order_release);
    return leaving;
  }

  [[nodiscard]] entries forget() noexcept {
    entries leaving;
    lock();
    std::swap(leaving, known_);
    unlock();
    return leaving;
  }

  /// Locks the cache for a moment.
  void lock() noexcept {
    while (taken_.test_and_set(std::memory_order_acquire)) {
    }
  }
  void unlock() noexcept { taken_.clear(std::memory_order_release); }

 private:
  std::atomic_flag taken_;
  entries known_;
  std::size_t next_ = 0;
};

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
    static auto& only = *new resource_cache;
    return only;
  }

  cached_resource* find(const sycl::context& context, const sycl::device& device, usm_kind kind) {
    const auto found = std::ranges::find_if(entries, [&](const cached_resource& entry) {
      return entry.kind == kind && entry.device == device && entry.context == context;
    });
    return found == entries.end() ? nullptr : &*found;
  }

  recent_resources recent;
  std::mutex mutex;
  std::vector<cached_resource> entries;  // the least recently made first

 private:
  resource_cache() { detail::guard(*this, rank::defaults); }
  void before_fork() noexcept override {
    mutex.lock();
    recent.lock();
  }
  void after_fork(bool) noexcept override {
    recent.unlock();
    mutex.unlock();
  }
};

const auto& at_load = resource_cache::instance();  // see guard() in fork_guard.hpp

bool pooling_is_on() {
  const char* const chosen = std::getenv("USMX_POOL");
  if (chosen == nullptr || *chosen == '\0') return true;
  const std::string_view value(chosen);
  if (value == "0" || value == "1") return value == "1";
  throw std::invalid_argument(
      detail::format("USMX_POOL: '{}' is not supported; expected 0 (no pools) or 1", value));
}

/// The pool below a resource, under any number of adaptors; null without one.
std::shared_ptr<pool_resource> pool_below(std::shared_ptr<memory_resource> from) {
  for (; from != nullptr; from = from->stands_on()) {
    if (auto pool = std::dynamic_pointer_cast<pool_resource>(from)) return pool;
  }
  return nullptr;
}

std::size_t trim_pools() noexcept {
  std::size_t bytes = 0;
  try {
    for (const auto& resource : default_resources()) {
      if (const auto pool = pool_below(resource)) bytes += pool->trim();
    }
  } catch (...) {  // no memory for the list of them
  }
  return bytes;
}

void drain_all() noexcept {
  detail::drop_spare();
  drain();
}

/// How long the exit waits for commands that still use memory which was freed. A command that never
/// ends must not keep the process.
constexpr std::chrono::milliseconds exit_patience{100};

/// At process exit, memory that is still held is freed while the runtime exists: this was
/// registered after the runtime was loaded, so it runs before the runtime ends.
void give_back_at_exit() {
  static const bool registered = [] {
    return std::atexit([] {
             // The child must not free memory that the parent's runtime allocated.
             if (detail::in_forked_child()) return;
             detail::drop_spare();
             const auto end = std::chrono::steady_clock::now() + exit_patience;
             while (collect() != 0 && std::chrono::steady_clock::now() < end) {
               std::this_thread::sleep_for(std::chrono::microseconds(50));
             }
             trim_pools();
           }) == 0;
  }();
  static_cast<void>(registered);
}

std::shared_ptr<memory_resource> make_resource(const sycl::context& context,
                                               const sycl::device& device, usm_kind kind) {
  auto direct = std::make_shared<usm_resource>(context, device, kind);
  give_back_at_exit();
  if (!pooling_is_on()) return direct;
  return std::make_shared<queue_ordered_resource>(
      std::make_shared<pool_resource>(std::move(direct)));
}

}  // namespace

using_resource::using_resource(std::shared_ptr<memory_resource> resource) {
  if (resource == nullptr) throw std::invalid_argument("resource: is null; expected a resource");
  static std::atomic<std::size_t> given{0};
  number_ = given.fetch_add(1, std::memory_order_relaxed) + 1;
  of_this_thread().push_back({number_, std::move(resource)});
  ++used_here;
}

bool using_resource::end() noexcept {
  if (number_ == 0) return true;
  std::vector<used>& all = of_this_thread();
  const auto found = std::ranges::find(all, number_, &used::number);
  if (found == all.end()) return false;
  const std::shared_ptr<memory_resource> leaving = std::move(found->resource);
  all.erase(found);
  --used_here;
  number_ = 0;
  return true;
}

std::shared_ptr<memory_resource> default_resource(const sycl::queue& queue, usm_kind kind) {
  if (used_here != 0) [[unlikely]] {
    if (auto used = find_used_here(queue, kind)) return used;
  }
  resource_cache& cache = resource_cache::instance();
  if (auto known = cache.recent.find(queue, kind)) return known;
  sycl::context context = queue.get_context();
  sycl::device device = queue.get_device();
  // Destroyed after the lock is released, because this may free memory.
  std::shared_ptr<memory_resource> forgotten;
  recent_resources::entry recent;
  recent_resources::entries all_recent;
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
  recent_resources::entries recent;  // destroyed after the lock
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
  if (detail::in_forked_child()) return 0;
  drain_all();
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
    text += detail::format("{}the pool of {} USM holds {}, of which {} blocks use {}",
                           text.empty() ? "" : "; ", name(pool->kind()), detail::scaled(now.held),
                           now.blocks, detail::scaled(now.used));
    const auto ordered = std::dynamic_pointer_cast<queue_ordered_resource>(resource);
    const queue_order_stats waiting = ordered ? ordered->stats() : queue_order_stats{};
    if (waiting.blocks != 0)
      text += detail::format(", {} of that behind queues", detail::scaled(waiting.bytes));
  }
  return text;
}

constexpr detail::pressure_relief relief{drain_all, trim_default_resources, describe_holdings};
[[maybe_unused]] const bool is_installed = (detail::set_pressure_relief(relief), true);

}  // namespace
}  // namespace usmx
