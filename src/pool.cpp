// The pool's front: magazines that a thread reaches without waiting for another, the one lock
// behind them, and when memory is taken from the upstream and given back to it.
//
// Locks are taken in this order, and none is held while the upstream is called, because freeing
// what waits for a queue may come back here: a shard, the store, the registry of blocks.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/pool.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "allocation_failure.hpp"
#include "block_registry.hpp"
#include "block_store.hpp"
#include "pool_shard.hpp"
#include "usmx/error.hpp"

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

/// Which shard a thread looks at first. Nothing has to happen when the thread ends. The model is
/// what keeps the access to one instruction; a few bytes of it are free in every process.
[[gnu::tls_model("initial-exec")]] thread_local std::uint32_t own_shard = 0;

std::uint32_t next_shard() noexcept {
  static std::atomic<std::uint32_t> given{0};
  return own_shard = given.fetch_add(1, std::memory_order_relaxed) + 1;
}

constexpr const char* too_large = "a pool has no blocks above 4 TiB";
constexpr std::size_t smallest_chunk = 2 << 20;
constexpr std::size_t largest_growth = 64 << 20;

std::shared_ptr<memory_resource> existing(std::shared_ptr<memory_resource> upstream) {
  if (upstream == nullptr) throw std::invalid_argument("upstream: null; a pool stands on one");
  return upstream;
}

[[noreturn]] void refuse(const void* p) noexcept {
  std::fprintf(
      stderr,
      "usmx: pool_resource: %p is not the beginning of a block that is alive in this pool; "
      "was it given back twice, or to another resource?\n",
      p);
  std::abort();
}

}  // namespace

class pool_resource::parts final : public detail::block_source {
 public:
  parts(std::shared_ptr<memory_resource> from, pool_limits at_most)
      : upstream(existing(std::move(from))),
        limits(at_most),
        kind(upstream->kind()),
        context(upstream->context()),
        device(upstream->device()),
        shard_count_(std::clamp<std::size_t>(
            std::bit_ceil(2 * std::max(1u, std::thread::hardware_concurrency())), 4, 64)),
        shards_(new shard[shard_count_]) {}

  ~parts() {
    // A block that is still alive was promised to be back; its memory goes all the same.
    give_up(take_out([&] { return store_.remove_all(); }));
  }

  void* take(std::size_t bytes, std::size_t alignment);
  void put(std::byte* p) noexcept;
  std::size_t trim(std::size_t keep) noexcept;
  void reserve(std::size_t bytes);
  pool_stats stats() noexcept;

  std::optional<allocation_extent> block_around(const std::byte* p) noexcept override {
    const std::scoped_lock lock(mutex_);
    return store_.block_around(p);
  }
  usm_kind kind_of_blocks() const noexcept override { return kind; }

  const std::shared_ptr<memory_resource> upstream;
  const pool_limits limits;
  const usm_kind kind;
  const sycl::context context;
  const sycl::device device;

 private:
  /// A shard that nobody uses now, the thread's own before all others.
  shard_lock any_shard() noexcept {
    std::size_t k = own_shard != 0 ? own_shard : next_shard();
    for (std::size_t tried = 1;; ++k, ++tried) {
      shard& s = shards_[k & (shard_count_ - 1)];
      if (!s.taken.test_and_set(std::memory_order_acquire)) return shard_lock(s);
      if (tried % shard_count_ == 0) std::this_thread::yield();
    }
  }
  shard_lock this_shard(std::size_t k) noexcept {
    shard& s = shards_[k];
    while (s.taken.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
    return shard_lock(s);
  }

  void* hand_out(shard& s, const block& b, std::size_t bytes) noexcept {
    asked_of(b).store(bytes + 1, std::memory_order_release);
    s.used += static_cast<std::int64_t>(bytes);
    ++s.blocks;
    return b.data;
  }

  void* take_slowly(const pool_request& r);
  void* try_store(const pool_request& r);
  block take_from_store(const pool_request& r);
  void put_into_store(shard& s, std::size_t bin, std::size_t keep) noexcept;
  void put_spares(shard& s) noexcept;  // with the lock of the store
  chunk* find(shard& s, const std::byte* p) noexcept;
  void gather() noexcept;
  template <class Remove>
  std::unique_ptr<chunk> take_out(Remove remove) noexcept;
  std::size_t give_up(std::unique_ptr<chunk> chunks) noexcept;
  bool count_in(std::size_t bytes) noexcept;
  std::size_t growth(std::size_t least) noexcept;
  block extend(std::size_t bytes, const pool_request* r, std::string& cause);
  [[noreturn]] void fail(const pool_request& r, const std::string& cause);

  const std::size_t shard_count_;
  const std::unique_ptr<shard[]> shards_;
  std::atomic<bool> releasing_ = false;  // more is held than limits.release_above
  std::mutex mutex_;
  detail::block_store store_;
  std::size_t coming_ = 0;  // bytes on their way from or to the upstream; guarded by mutex_
};

// --- giving out

inline void* pool_resource::parts::take(std::size_t bytes, std::size_t alignment) {
  const pool_request r(bytes, alignment);
  if (r.bin != no_bin) [[likely]] {
    const shard_lock s = any_shard();
    magazine& m = s->magazines[r.bin];
    if (m.count != 0) [[likely]] {
      return hand_out(*s, m.blocks[--m.count], bytes);
    }
  } else if (r.possible()) {
    const shard_lock s = any_shard();
    for (spare& kept : s->spares) {
      if (kept.serves(r)) return hand_out(*s, std::exchange(kept.free, {}), bytes);
    }
  }
  return take_slowly(r);
}

void* pool_resource::parts::take_slowly(const pool_request& r) {
  std::string cause;
  if (!r.possible()) fail(r, too_large);
  if (void* const p = try_store(r)) return p;
  // What other threads keep aside may fit, now or together.
  gather();
  if (void* const p = try_store(r)) return p;
  const auto grow = [&]() -> void* {
    const std::size_t least = r.least_chunk();
    const std::size_t preferred = growth(least);
    // Chunks that are free and yet too small: keeping them as well would add up over time.
    give_up(take_out([&] { return store_.remove_free_at_most(preferred); }));
    block b = extend(preferred, &r, cause);
    if (!b && preferred != least) b = extend(least, &r, cause);
    return b ? hand_out(*any_shard(), b, r.bytes) : nullptr;
  };
  if (void* const p = grow()) return p;
  drain();  // blocks whose queue has passed, and those whose queue is worth waiting for
  gather();
  if (void* const p = try_store(r)) return p;
  trim(0);
  if (void* const p = grow()) return p;
  if (void* const p = try_store(r)) return p;
  fail(r, cause);
}

void* pool_resource::parts::try_store(const pool_request& r) {
  const shard_lock s = any_shard();
  const std::scoped_lock lock(mutex_);
  // Spares are for loops that repeat themselves. Anything else is better cut from all there is.
  if (r.bin == no_bin) put_spares(*s);
  const block b = take_from_store(r);
  if (!b) return nullptr;
  if (r.bin < detail::slab_bins && !releasing_.load(std::memory_order_relaxed)) {
    // More of a size that is asked for, as long as that is free: half of what there is room for.
    magazine& m = s->magazines[r.bin];
    try {
      if (!m.blocks) m.blocks.reset(new block[room_of(r.bin)]);
      while (m.count < room_of(r.bin) / 2 && store_.has_slot(r.bin)) {
        m.blocks[m.count++] = store_.take(r.bin);
      }
    } catch (const std::bad_alloc&) {  // the magazine stays as full as it is
    }
    // Neighbours shall be given out in the order in which they lie.
    std::reverse(m.blocks.get(), m.blocks.get() + (m.blocks ? m.count : 0));
  }
  return hand_out(*s, b, r.bytes);
}

block pool_resource::parts::take_from_store(const pool_request& r) {
  if (r.bin != no_bin) return store_.take(r.bin);
  return store_.take_run(r.granules, r.alignment, no_bin);
}

void pool_resource::parts::fail(const pool_request& r, const std::string& cause) {
  const pool_stats now = stats();
  std::string text = "the pool holds " + detail::amount(now.held) + ", of which " +
                     std::to_string(now.blocks) + " blocks use " + detail::amount(now.used);
  if (limits.most != std::numeric_limits<std::size_t>::max()) {
    text += ", and may hold " + detail::amount(limits.most);
  }
  if (!cause.empty()) text += "; " + cause;
  detail::fail_allocation(r.bytes, r.alignment, kind, device, text);
}

// --- taking back

/// The chunk around `p`. Called with blocks that are alive, whose chunks stay.
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

inline void pool_resource::parts::put(std::byte* p) noexcept {
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
    const bool releasing = releasing_.load(std::memory_order_relaxed);
    if (bin < bins && !releasing) [[likely]] {
      magazine& m = s->magazines[bin];
      if (m.count == room_of(bin)) put_into_store(*s, bin, room_of(bin) / 2);
      if (!m.blocks) m.blocks.reset(new (std::nothrow) block[room_of(bin)]);
      if (m.blocks) {
        m.blocks[m.count++] = b;
        return;
      }
    }
    std::byte* leaving = p;
    if (bin == no_bin && !releasing) {
      spare& kept = s->spares[s->oldest++ % s->spares.size()];
      leaving = std::exchange(kept, {b, r->granules}).free.data;
      if (leaving == nullptr) return;
    }
    whole = take_out([&] {
      store_.put(leaving);
      return releasing ? store_.remove_free(limits.release_above) : nullptr;
    });
  }
  if (whole) give_up(std::move(whole));
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

/// All that is kept aside becomes free runs, as long as they can be.
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

// --- the upstream

/// Counts bytes that are about to come; false if there may not be so many.
bool pool_resource::parts::count_in(std::size_t bytes) noexcept {
  const std::scoped_lock lock(mutex_);
  const std::size_t held = store_.bytes() + coming_;
  if (held > limits.most || bytes > limits.most - held) return false;
  coming_ += bytes;
  return true;
}

/// How much to take when `least` bytes are needed: a 32nd of what is held, so that few chunks
/// do, and little of the last one is idle.
std::size_t pool_resource::parts::growth(std::size_t least) noexcept {
  const std::scoped_lock lock(mutex_);
  const std::size_t part = store_.bytes() / 32 / smallest_chunk * smallest_chunk;
  return std::max(least, std::clamp(part, smallest_chunk, largest_growth));
}

/// One more chunk, and out of it the block that was asked for, before anybody else takes it.
/// Null, with the cause, if there may be no more or the upstream has no more.
block pool_resource::parts::extend(std::size_t bytes, const pool_request* r, std::string& cause) {
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
    auto added = std::make_unique<chunk>(base, bytes);
    detail::add_divided(context, base, bytes, *this);
    registered = true;
    const std::scoped_lock lock(mutex_);
    store_.reserve();
    store_.add(std::move(added));
    coming_ -= bytes;
    if (store_.bytes() > limits.release_above) releasing_.store(true, std::memory_order_relaxed);
    stored = true;
    return r == nullptr ? block{} : take_from_store(*r);
  } catch (const allocation_error& e) {
    undo();
    cause = e.what();
    return {};
  } catch (...) {
    undo();
    throw;
  }
}

/// Chunks that leave the store count as held until the upstream has them.
template <class Remove>
std::unique_ptr<chunk> pool_resource::parts::take_out(Remove remove) noexcept {
  const std::scoped_lock lock(mutex_);
  std::unique_ptr<chunk> out = remove();
  for (const chunk* c = out.get(); c != nullptr; c = c->next.get()) coming_ += c->bytes;
  return out;
}

/// Returns chunks that were taken out; how many bytes they have.
std::size_t pool_resource::parts::give_up(std::unique_ptr<chunk> chunks) noexcept {
  if (!chunks) return 0;
  for (const chunk* c = chunks.get(); c != nullptr; c = c->next.get()) {
    detail::remove_divided(context, c->base, *this);
  }
  // A hint of a chunk that is gone would be believed once its address is somebody else's.
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
    std::string cause;
    const pool_request r(missing, granule);
    if (!r.possible()) fail(r, too_large);
    extend(pool_request::granules_in(missing) * granule, nullptr, cause);
    if (!cause.empty()) fail(r, cause);
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
  // Counted shard by shard while others go on, so a moment's sum may be anything.
  return {store_.bytes() + coming_, static_cast<std::size_t>(std::max<std::int64_t>(used, 0)),
          static_cast<std::size_t>(std::max<std::int64_t>(blocks, 0)), store_.chunks()};
}

// --- the resource

pool_resource::pool_resource(std::shared_ptr<memory_resource> upstream, pool_limits limits)
    : parts_(std::make_unique<parts>(std::move(upstream), limits)) {}
pool_resource::~pool_resource() = default;

usm_kind pool_resource::kind() const noexcept { return parts_->kind; }
sycl::context pool_resource::context() const { return parts_->context; }
sycl::device pool_resource::device() const { return parts_->device; }
const std::shared_ptr<memory_resource>& pool_resource::upstream() const noexcept {
  return parts_->upstream;
}
std::size_t pool_resource::trim(std::size_t keep) noexcept { return parts_->trim(keep); }
void pool_resource::reserve(std::size_t bytes) { parts_->reserve(bytes); }
pool_stats pool_resource::stats() const noexcept { return parts_->stats(); }

void* pool_resource::do_allocate(std::size_t bytes, std::size_t alignment) {
  return parts_->take(bytes, alignment);
}

void pool_resource::do_deallocate(void* p, std::size_t, std::size_t) noexcept {
  parts_->put(static_cast<std::byte*>(p));
}

}  // namespace usmx
