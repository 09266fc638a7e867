// When a pool allocates from its upstream and frees to it, and what it holds meanwhile.
// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include "core/format.hpp"
#include "memory/allocation_failure.hpp"
#include "memory/pool/pool_parts.hpp"
#include "memory/pressure.hpp"
#include "runtime/backend.hpp"
#include "usmx/error.hpp"

namespace usmx {

using detail::block;
using detail::chunk;
using detail::granule;
using detail::pool_request;
using detail::shard_lock;

namespace {

constexpr std::size_t smallest_chunk = 2 << 20;
constexpr std::size_t largest_growth = 64 << 20;

std::shared_ptr<memory_resource> existing(std::shared_ptr<memory_resource> upstream) {
  if (upstream == nullptr) throw std::invalid_argument("upstream: is null; expected a resource");
  return upstream;
}

/// Requests huge pages for all whole ones inside; the system may refuse.
void advise_huge_pages(std::byte* base, std::size_t bytes) noexcept {
  constexpr std::uintptr_t huge = 2 << 20;
  const auto begin = (reinterpret_cast<std::uintptr_t>(base) + huge - 1) & ~(huge - 1);
  const auto end = (reinterpret_cast<std::uintptr_t>(base) + bytes) & ~(huge - 1);
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace

pool_resource::parts::parts(std::shared_ptr<memory_resource> from, pool_limits at_most)
    : upstream(existing(std::move(from))),
      limits(at_most),
      kind(upstream->kind()),
      context(upstream->context()),
      device(upstream->device()),
      huge_pages_(at_most.huge_pages && detail::backend_of(device).is_host),
      shard_count_(std::clamp<std::size_t>(
          std::bit_ceil(2 * std::max(1u, std::thread::hardware_concurrency())), 4, 64)),
      shards_(new detail::shard[shard_count_]) {
  detail::guard(*this, fork_guarded::rank::pools);
}

pool_resource::parts::~parts() {
  detail::unguard(*this);
  // Live blocks break the contract of the destructor; their memory is freed all the same.
  give_up(take_out([&] { return store_.remove_all(); }));
}

void pool_resource::parts::fail(const pool_request& r, const std::string& cause) {
  const pool_stats now = stats();
  std::string text = detail::format("the pool holds {}, of which {} blocks use {}",
                                    detail::amount(now.held), now.blocks, detail::amount(now.used));
  if (limits.most != std::numeric_limits<std::size_t>::max()) {
    text += ", and may hold " + detail::amount(limits.most);
  }
  if (!cause.empty()) text += "; " + cause;
  detail::fail_allocation(r.bytes, r.alignment, kind, device, text,
                          detail::holdings(device, upstream.get()));
}

/// Counts bytes that are about to be allocated; false if that exceeds the limit.
bool pool_resource::parts::count_in(std::size_t bytes) noexcept {
  const std::scoped_lock lock(mutex_);
  const std::size_t held = store_.bytes() + coming_;
  if (held > limits.most || bytes > limits.most - held) return false;
  coming_ += bytes;
  return true;
}

/// The size of a chunk when `least` bytes are needed: a 32nd of what is held, so that there are few
/// chunks, and little of the last one is unused.
std::size_t pool_resource::parts::growth(std::size_t least) noexcept {
  const std::scoped_lock lock(mutex_);
  const std::size_t part = store_.bytes() / 32 / smallest_chunk * smallest_chunk;
  return std::max(least, std::clamp(part, smallest_chunk, largest_growth));
}

/// Adds a chunk and takes the requested block from it, before another thread does.
/// Null, with the cause, which may be an empty text, if the limit is reached or the upstream fails.
detail::block pool_resource::parts::extend(std::size_t bytes, const pool_request* r,
                                           std::optional<std::string>& cause) {
  if (!count_in(bytes)) {
    cause = "it may not take " + detail::amount(bytes) + " more";
    return {};
  }
  std::byte* base = nullptr;
  bool registered = false;
  bool stored = false;
  const auto undo = [&]() noexcept {
    if (stored) return;
    if (registered) detail::remove_divided(context, base, *this);
    upstream->deallocate(base, bytes, granule);
    const std::scoped_lock lock(mutex_);
    coming_ -= bytes;
  };
  try {
    base = static_cast<std::byte*>(upstream->allocate(bytes, granule));
    if (huge_pages_) advise_huge_pages(base, bytes);
    auto added = std::make_unique<chunk>(base, bytes);
    detail::add_divided(context, base, bytes, *this);
    registered = true;
    const std::scoped_lock lock(mutex_);
    store_.reserve();
    store_.add(std::move(added));
    peak_ = std::max(peak_, store_.bytes());
    coming_ -= bytes;
    if (store_.bytes() > limits.release_above) releasing_.store(true, std::memory_order_relaxed);
    stored = true;
    return r == nullptr ? block{} : take_from_store(*r);
  } catch (const allocation_error& e) {
    undo();
    cause = detail::cause_of(e);
    return {};
  } catch (...) {
    undo();
    throw;
  }
}

/// Frees chunks that were taken out to the upstream; returns their bytes.
std::size_t pool_resource::parts::give_up(std::unique_ptr<chunk> chunks) noexcept {
  if (!chunks) return 0;
  for (const chunk* c = chunks.get(); c != nullptr; c = c->next.get()) {
    detail::remove_divided(context, c->base, *this);
  }
  // A stale hint would be used once another chunk has the same address.
  for (std::size_t k = 0; k < shard_count_; ++k) this_shard(k)->where = {};
  std::size_t bytes = 0;
  while (chunks) {
    upstream->deallocate(chunks->base, chunks->bytes, granule);
    bytes += chunks->bytes;
    chunks = std::move(chunks->next);
  }
  const std::scoped_lock lock(mutex_);
  coming_ -= bytes;
  releasing_.store(store_.bytes() > limits.release_above, std::memory_order_relaxed);
  return bytes;
}

/// Returns memory after a peak: free chunks beyond 1.25 times what two ages needed. A loop
/// that needs as much repeatedly keeps it, also with different steps. False, and nothing has
/// happened, if memory has to go to the upstream and the caller may not wait.
bool pool_resource::parts::age(bool may_wait) noexcept {
  std::size_t keep = 0;
  {
    const std::scoped_lock lock(mutex_);
    if (passed_.load(std::memory_order_relaxed) / 2 < store_.bytes()) {
      aging_.store(false, std::memory_order_relaxed);
      return true;
    }
    keep = std::max(age_peak_, former_peak_);
    keep = std::max(keep + keep / 4, detail::counted_bytes);
    const bool holds_too_much = store_.bytes() > keep;
    if (holds_too_much && !may_wait) return false;
    aging_.store(false, std::memory_order_relaxed);
    passed_.store(0, std::memory_order_relaxed);
    former_peak_ = std::exchange(age_peak_, store_.bytes_out());
    if (!holds_too_much) return true;
  }
  // The child must not free memory that the parent's runtime allocated.
  if (detail::in_forked_child()) return true;
  gather();
  give_up(take_out([&] { return store_.remove_free(keep); }));
  return true;
}

std::size_t pool_resource::parts::trim(std::size_t keep) noexcept {
  gather();
  return give_up(take_out([&] { return store_.remove_free(keep); }));
}

void pool_resource::parts::reserve(std::size_t bytes) {
  for (;;) {
    std::size_t missing = 0;
    {
      const std::scoped_lock lock(mutex_);
      if (store_.bytes() >= bytes) return;
      missing = bytes - store_.bytes();
    }
    std::optional<std::string> cause;
    const pool_request r(missing, granule);
    if (!r.possible()) fail(r, detail::too_large);
    extend(pool_request::granules_in(missing) * granule, nullptr, cause);
    if (cause) fail(r, *cause);
  }
}

pool_stats pool_resource::parts::stats() noexcept {
  std::int64_t used = 0;
  std::int64_t blocks = 0;
  for (std::size_t k = 0; k < shard_count_; ++k) {
    const shard_lock s = this_shard(k);
    used += s->used;
    blocks += s->blocks;
  }
  const std::scoped_lock lock(mutex_);
  // Summed shard by shard while other threads continue, so the sum of a moment may be any value.
  return {store_.bytes() + coming_, static_cast<std::size_t>(std::max<std::int64_t>(used, 0)),
          static_cast<std::size_t>(std::max<std::int64_t>(blocks, 0)), store_.chunks(), peak_};
}

std::vector<held_chunk> pool_resource::parts::snapshot() {
  const std::scoped_lock lock(mutex_);
  return store_.snapshot();
}

}  // namespace usmx
