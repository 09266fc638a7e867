// The front of a pool: magazines that a thread uses without waiting for another, and the one lock
// behind them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "memory/pool/pool_parts.hpp"
#include "memory/pressure.hpp"
#include "memory/queue_rooms.hpp"

namespace usmx {

using detail::asked_of;
using detail::bins;
using detail::block;
using detail::chunk;
using detail::granule;
using detail::magazine;
using detail::no_bin;
using detail::pool_request;
using detail::room_of;
using detail::shard;
using detail::shard_lock;
using detail::spare;

namespace {

/// The preferred shard of a thread. Needs no clean-up when the thread ends. The TLS model reduces
/// the access to one instruction; every process has a few bytes of static TLS left for it.
[[gnu::tls_model("initial-exec")]] thread_local std::uint32_t own_shard = 0;

std::uint32_t next_shard() noexcept {
  static std::atomic<std::uint32_t> given{0};
  return own_shard = given.fetch_add(1, std::memory_order_relaxed) + 1;
}

[[noreturn]] void refuse(const void* p) noexcept {
  std::fprintf(stderr,
               "usmx: pool_resource: %p is not the start of a live block of this pool; "
               "was it freed twice, or allocated from another resource?\n",
               p);
  std::abort();
}

/// Every pool of the process, so that a memory snapshot is complete.
struct pool_list {
  // Held while pools are visited, so that none of them is destroyed meanwhile.
  detail::guarded_mutex mutex{detail::guarded_mutex::rank::lists};
  std::vector<pool_resource*> pools;
};

pool_list& all_pools() {
  static auto& only = *new pool_list;  // never destroyed: pools may outlive every static object
  return only;
}

const auto& at_load = all_pools();  // see guard() in fork_guard.hpp

}  // namespace

inline shard_lock pool_resource::parts::any_shard() noexcept {
  std::size_t k = own_shard != 0 ? own_shard : next_shard();
  for (std::size_t tried = 1;; ++k, ++tried) {
    shard& s = shards_[k & (shard_count_ - 1)];
    if (!s.taken.test_and_set(std::memory_order_acquire)) return shard_lock(s);
    if (tried % shard_count_ == 0) std::this_thread::yield();
  }
}

// --- allocating

/// A block from the thread's shard; null if it has none.
inline void* pool_resource::parts::take_quickly(const pool_request& r) noexcept {
  if (r.bin != no_bin) [[likely]] {
    const shard_lock s = any_shard();
    magazine& m = s->magazines[r.bin];
    if (m.count != 0) [[likely]] {
      return hand_out(*s, m.blocks[--m.count], r.bytes);
    }
  } else if (r.possible()) {
    const shard_lock s = any_shard();
    for (spare& kept : s->spares) {
      if (kept.serves(r)) return hand_out(*s, std::exchange(kept.free, {}), r.bytes);
    }
  }
  return nullptr;
}

inline void* pool_resource::parts::take(std::size_t bytes, std::size_t alignment) {
  const pool_request r(bytes, alignment);
  void* const p = take_quickly(r);
  return p != nullptr ? p : take_slowly(r);
}

void* pool_resource::parts::take_slowly(const pool_request& r) {
  std::optional<std::string> cause;
  if (!r.possible()) fail(r, detail::too_large);
  if (const std::size_t bytes = chunk_instead_of_cut(r); bytes != 0) {
    if (const block b = extend(bytes, &r, cause)) return hand_out(*any_shard(), b, r.bytes);
    cause.reset();
  }
  if (void* const p = try_store(r)) return p;
  // Blocks that other threads cache may fit, alone or merged.
  gather();
  if (void* const p = try_store(r)) return p;
  // Limits the memory of a program that is ahead of its queues.
  while (detail::settle_rooms(*upstream)) {
    gather();
    if (void* const p = try_store(r)) return p;
  }
  const auto grow = [&]() -> void* {
    const std::size_t least = r.least_chunk();
    const std::size_t preferred = growth(least);
    // Free chunks that are too small: keeping them would add up over time.
    give_up(take_out([&] { return store_.remove_free_at_most(preferred); }));
    block b = extend(preferred, &r, cause);
    if (!b && preferred != least) b = extend(least, &r, cause);
    return b ? hand_out(*any_shard(), b, r.bytes) : nullptr;
  };
  if (void* const p = grow()) return p;
  detail::drain_under_pressure();  // frees blocks behind queues, waiting for them
  gather();
  if (void* const p = try_store(r)) return p;
  trim(0);
  if (void* const p = grow()) return p;
  if (void* const p = try_store(r)) return p;
  fail(r, cause.value_or(""));
}

/// Under a limit a large free chunk stays whole while there is room for another one: what is cut
/// out of it may live long, and the next large block would then need a chunk beyond the limit. The
/// size of that other chunk; 0 if the block shall come from the store.
std::size_t pool_resource::parts::chunk_instead_of_cut(const pool_request& r) noexcept {
  if (limits.most == std::numeric_limits<std::size_t>::max()) return 0;
  const std::size_t bytes = r.bin == no_bin ? r.least_chunk() : growth(r.least_chunk());
  const shard_lock s = any_shard();
  const std::scoped_lock lock(mutex_);
  put_spares(*s);
  if (r.bin < detail::slab_bins && store_.has_slot(r.bin)) return 0;
  const std::size_t held = store_.bytes() + coming_;
  if (held > limits.most || bytes > limits.most - held) return 0;
  return store_.would_cut_chunk(r.least_chunk() / granule) ? bytes : 0;
}

void* pool_resource::parts::try_store(const pool_request& r) {
  const shard_lock s = any_shard();
  const std::scoped_lock lock(mutex_);
  // Spares are for repeating loops. Other requests are better served by best fit from the store.
  if (r.bin == no_bin) put_spares(*s);
  const block b = take_from_store(r);
  if (!b) return nullptr;
  if (r.bin < detail::slab_bins && !releasing_.load(std::memory_order_relaxed)) {
    // Fill half of the magazine with blocks of the requested size, as long as some are free.
    magazine& m = s->magazines[r.bin];
    try {
      if (!m.blocks) m.blocks.reset(new block[room_of(r.bin)]);
      while (m.count < room_of(r.bin) / 2 && store_.has_slot(r.bin)) {
        m.blocks[m.count++] = store_.take(r.bin);
      }
    } catch (const std::bad_alloc&) {  // the magazine stays as full as it is
    }
    // Adjacent blocks are allocated in the order of their addresses.
    std::reverse(m.blocks.get(), m.blocks.get() + (m.blocks ? m.count : 0));
  }
  return hand_out(*s, b, r.bytes);
}

block pool_resource::parts::take_from_store(const pool_request& r) {
  const block b =
      r.bin != no_bin ? store_.take(r.bin) : store_.take_run(r.granules, r.alignment, no_bin);
  age_peak_ = std::max(age_peak_, store_.bytes_out());
  return b;
}

// --- deallocating

/// The chunk around `p`. Called with live blocks, whose chunks are not freed meanwhile.
inline chunk* pool_resource::parts::find(shard& s, const std::byte* p) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  shard::hint& hint = s.hint_for(address);
  if (address - hint.base < hint.bytes) [[likely]]
    return hint.found;
  const std::scoped_lock lock(mutex_);
  chunk* const found = store_.find(p);
  if (found != nullptr) hint = {reinterpret_cast<std::uintptr_t>(found->base), found->bytes, found};
  return found;
}

/// False, and the block stays live, if it may not wait and a chunk would go to the upstream.
inline bool pool_resource::parts::put(std::byte* p, bool may_wait) noexcept {
  const bool releasing = releasing_.load(std::memory_order_relaxed);
  if (aging_.load(std::memory_order_relaxed) && !age(may_wait)) [[unlikely]] {
    return false;
  }
  if (releasing && !may_wait) return false;
  std::unique_ptr<chunk> whole;
  {
    const shard_lock s = any_shard();
    chunk* const home = find(*s, p);
    if (home == nullptr) refuse(p);
    detail::run* const r = home->at(p);
    std::size_t bin = r->bin;
    block b{p, &r->asked};
    const std::byte* expected = nullptr;
    if (const detail::slab* const slab = r->divided) {
      const std::size_t slot = slab->slot_of(p);
      if (slot >= slab->count) refuse(p);
      bin = slab->bin;
      b.asked = &slab->asked[slot];
      expected = slab->base + slot * slab->bytes;
    } else {
      expected = home->address(r);
    }
    const std::size_t asked = asked_of(b).load(std::memory_order_relaxed);
    if (p != expected || asked == 0) refuse(p);
    asked_of(b).store(0, std::memory_order_relaxed);
    s->used -= static_cast<std::int64_t>(asked - 1);
    --s->blocks;
    ++s->passed_blocks;
    if ((s->passed_bytes += asked) >= detail::counted_bytes &&
        s->passed_blocks >= detail::counted_blocks) [[unlikely]] {
      passed_.fetch_add(std::exchange(s->passed_bytes, 0), std::memory_order_relaxed);
      s->passed_blocks = 0;
      aging_.store(true, std::memory_order_relaxed);
    }
    if (bin < bins && !releasing) [[likely]] {
      magazine& m = s->magazines[bin];
      if (m.count == room_of(bin)) put_into_store(*s, bin, room_of(bin) / 2);
      if (!m.blocks) m.blocks.reset(new (std::nothrow) block[room_of(bin)]);
      if (m.blocks) {
        m.blocks[m.count++] = b;
        return true;
      }
    }
    std::byte* leaving = p;
    if (bin == no_bin && !releasing) {
      spare& kept = s->spares[s->oldest++ % s->spares.size()];
      leaving = std::exchange(kept, {b, r->granules}).free.data;
      if (leaving == nullptr) return true;
    }
    whole = take_out([&] {
      store_.put(leaving);
      return releasing ? store_.remove_free(limits.release_above) : nullptr;
    });
  }
  if (whole) give_up(std::move(whole));
  return true;
}

bool pool_resource::parts::resize(std::byte* p, std::size_t bytes, std::size_t alignment) noexcept {
  const pool_request r(bytes, alignment);
  const shard_lock s = any_shard();
  chunk* const home = find(*s, p);
  if (home == nullptr) refuse(p);
  detail::run* const first = home->at(p);
  block b{p, &first->asked};
  if (detail::slab* const slab = first->divided) {
    if (r.bin != slab->bin) return false;
    b.asked = &slab->asked[slab->slot_of(p)];
  } else if (first->bin != r.bin || r.granules > first->granules ||
             first->granules - r.granules > first->granules / 32) {
    // A block of a bin has the size of the bin, for all requested sizes.
    if (r.bin == no_bin || first->bin != r.bin) return false;
  }
  const std::size_t before = asked_of(b).exchange(bytes + 1, std::memory_order_acq_rel);
  if (before == 0) refuse(p);
  s->used += static_cast<std::int64_t>(bytes) - static_cast<std::int64_t>(before - 1);
  return true;
}

/// Empties a magazine down to `keep` blocks, those that were in it longest first.
void pool_resource::parts::put_into_store(shard& s, std::size_t bin, std::size_t keep) noexcept {
  magazine& m = s.magazines[bin];
  if (m.count <= keep) return;
  const std::uint32_t leaving = m.count - static_cast<std::uint32_t>(keep);
  const std::scoped_lock lock(mutex_);
  for (std::uint32_t k = 0; k < leaving; ++k) store_.put(m.blocks[k].data);
  std::move(m.blocks.get() + leaving, m.blocks.get() + m.count, m.blocks.get());
  m.count = static_cast<std::uint32_t>(keep);
}

void pool_resource::parts::put_spares(shard& s) noexcept {
  for (spare& kept : s.spares) {
    if (kept.free) store_.put(std::exchange(kept.free, {}).data);
  }
}

/// Merges all cached blocks into free runs, as long as possible.
void pool_resource::parts::gather() noexcept {
  for (std::size_t k = 0; k < shard_count_; ++k) {
    const shard_lock s = this_shard(k);
    for (std::size_t bin = 0; bin < bins; ++bin) put_into_store(*s, bin, 0);
    const std::scoped_lock lock(mutex_);
    put_spares(*s);
  }
  const std::scoped_lock lock(mutex_);
  store_.dissolve_empty_slabs();
}

// --- the resource

pool_resource::pool_resource(std::shared_ptr<memory_resource> upstream, pool_limits limits)
    : parts_(std::make_unique<parts>(std::move(upstream), limits)) {
  pool_list& all = all_pools();
  const std::scoped_lock lock(all.mutex);
  all.pools.push_back(this);
}
pool_resource::~pool_resource() {
  pool_list& all = all_pools();
  const std::scoped_lock lock(all.mutex);
  std::erase(all.pools, this);
}

usm_kind pool_resource::kind() const noexcept { return parts_->kind; }
sycl::context pool_resource::context() const { return parts_->context; }
sycl::device pool_resource::device() const { return parts_->device; }
const std::shared_ptr<memory_resource>& pool_resource::upstream() const noexcept {
  return parts_->upstream;
}
const pool_limits& pool_resource::limits() const noexcept { return parts_->limits; }
std::size_t pool_resource::trim(std::size_t keep) noexcept { return parts_->trim(keep); }
void pool_resource::reserve(std::size_t bytes) { parts_->reserve(bytes); }
pool_stats pool_resource::stats() const noexcept { return parts_->stats(); }
std::vector<held_chunk> pool_resource::snapshot() const { return parts_->snapshot(); }

void* pool_resource::do_allocate(std::size_t bytes, std::size_t alignment) {
  return parts_->take(bytes, alignment);
}

void pool_resource::do_deallocate(void* p, std::size_t, std::size_t) noexcept {
  parts_->put(static_cast<std::byte*>(p), true);
}

void* pool_resource::do_try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
  return parts_->take_quickly(pool_request(bytes, alignment));
}

bool pool_resource::do_try_deallocate(void* p, std::size_t, std::size_t) noexcept {
  return parts_->put(static_cast<std::byte*>(p), false);
}

bool pool_resource::do_resize(void* p, std::size_t, std::size_t alignment,
                              std::size_t other_bytes) noexcept {
  return parts_->resize(static_cast<std::byte*>(p), other_bytes, alignment);
}

std::vector<held_pool> held_pools() {
  pool_list& all = all_pools();
  const std::scoped_lock lock(all.mutex);
  std::vector<held_pool> out;
  for (const pool_resource* pool : all.pools) {
    out.push_back({pool->kind(), pool->device(), pool->stats(), pool->snapshot()});
  }
  return out;
}

}  // namespace usmx
