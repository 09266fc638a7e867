// Blocks that were freed while their queue was busy: a list for each queue, oldest first, to find
// those that are idle, and buckets by size, newest first, to find blocks for immediate reuse.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/queue_ordered.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <functional>
#include <limits>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <sycl/ext/oneapi/weak_object.hpp>

#include "core/fork_guard.hpp"
#include "core/format.hpp"
#include "memory/allocation_failure.hpp"
#include "memory/pool/block_store.hpp"
#include "memory/pressure.hpp"
#include "memory/queue_rooms.hpp"
#include "usmx/error.hpp"

namespace usmx {
namespace {

struct waiting_block;

/// The blocks that wait for one queue. The queue may be destroyed meanwhile: then no caller can
/// request its blocks, and a new queue at the same address is a different one.
struct line {
  explicit line(const sycl::queue& q, std::size_t is_called)
      : queue(q), address(std::hash<sycl::queue>()(q)), number(is_called) {}

  bool is_for(const sycl::queue& q) const noexcept {
    return address == std::hash<sycl::queue>()(q) && !queue.expired();
  }

  sycl::ext::oneapi::weak_object<sycl::queue> queue;
  std::size_t address;
  std::size_t number;
  waiting_block* oldest = nullptr;
  waiting_block* newest = nullptr;
};

struct waiting_block {
  void* data;
  std::size_t bytes;
  std::size_t alignment;
  sycl::event last;
  line* of;
  std::size_t bucket;
  waiting_block* older = nullptr;  // in its line
  waiting_block* newer = nullptr;
  waiting_block* previous = nullptr;  // in its bucket
  waiting_block* next = nullptr;
};

/// Blocks of about the same size can replace each other: the bins of a pool, and 8 for each
/// doubling above those.
std::size_t class_of(std::size_t bytes) noexcept {
  if (bytes <= detail::most_in_bin) return detail::bin_of(bytes);
  const auto width = static_cast<std::size_t>(std::bit_width(bytes - 1));
  return width * 8 + ((bytes - 1) >> (width - 4) & 7);
}

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
constexpr std::size_t everything = std::numeric_limits<std::size_t>::max();
/// How many blocks one allocation checks: it stays cheap with many waiting blocks.
constexpr std::size_t looked_at = 8;
/// If less than this waits behind queues, the pool does not wait for it.
constexpr std::size_t least_settled = 64 << 10;
/// How long to wait for the next block before allocating more memory instead: about the time of an
/// allocation by the slowest drivers.
constexpr std::chrono::milliseconds patience{100};
/// How many queues without waiting blocks are kept.
constexpr std::size_t idle_lines = 16;

}  // namespace

class queue_ordered_resource::parts final : public detail::queue_room, public detail::fork_guarded {
 public:
  explicit parts(std::shared_ptr<memory_resource> from) : upstream(std::move(from)) {
    if (upstream == nullptr) {
      throw std::invalid_argument("upstream: is null; expected a resource");
    }
    detail::guard(*this, fork_guarded::rank::queues);
  }
  ~parts() { detail::unguard(*this); }

  void* take(const sycl::queue& queue, std::size_t bytes, std::size_t alignment,
             std::optional<sycl::event>& pending) noexcept;
  bool put(const sycl::queue& queue, const sycl::event& last, void* p, std::size_t bytes,
           std::size_t alignment) noexcept;
  std::size_t sweep(std::size_t most) noexcept;
  void wait_for_all() noexcept;
  void* from_upstream(std::size_t bytes, std::size_t alignment);

  std::size_t collect() noexcept override { return sweep(everything); }
  void drain() noexcept override { wait_for_all(); }
  bool settle(const memory_resource& source) noexcept override;
  bool is_empty() const noexcept { return blocks_.load(std::memory_order_acquire) == 0; }

  std::vector<block> snapshot() const;
  queue_order_stats stats() const noexcept;

  const std::shared_ptr<memory_resource> upstream;

 private:
  void before_fork() noexcept override { mutex_.lock(); }
  void after_fork(bool in_child) noexcept override {
    if (in_child) {
      // Dropped, because the parent's commands may still use them.
      lines_.clear();
      buckets_ = {};
      bytes_ = 0;
      blocks_.store(0, std::memory_order_release);
    }
    mutex_.unlock();
  }

  line* find(const sycl::queue& queue) noexcept;
  line& find_or_add(const sycl::queue& queue);
  std::size_t bucket_of(const line& of, std::size_t bytes) const noexcept {
    return (class_of(bytes) + of.number * 31) % buckets_.size();
  }
  void link(waiting_block* w) noexcept;
  void unlink(waiting_block* w) noexcept;
  void give_back(waiting_block* first) noexcept;

  std::atomic<std::size_t> blocks_{0};  // may be read without the lock
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<line>> lines_;
  std::array<waiting_block*, 256> buckets_{};
  std::size_t bytes_ = 0;
  std::size_t next_line_ = 0;  // where the next sweep begins
  std::size_t numbers_ = 0;
  std::size_t given_up_at_ = none;  // of passed_: a wait at this count had no success
  std::size_t reused_ = 0;
  std::size_t passed_ = 0;
};

line* queue_ordered_resource::parts::find(const sycl::queue& queue) noexcept {
  const auto found = std::ranges::find_if(lines_, [&](const auto& l) { return l->is_for(queue); });
  return found == lines_.end() ? nullptr : found->get();
}

line& queue_ordered_resource::parts::find_or_add(const sycl::queue& queue) {
  if (line* const found = find(queue)) return *found;
  if (lines_.size() >= idle_lines) {
    std::erase_if(lines_, [](const auto& l) { return l->oldest == nullptr; });
  }
  return *lines_.emplace_back(std::make_unique<line>(queue, ++numbers_));
}

void queue_ordered_resource::parts::link(waiting_block* w) noexcept {
  line& of = *w->of;
  w->older = of.newest;
  (of.newest == nullptr ? of.oldest : of.newest->newer) = w;
  of.newest = w;
  waiting_block*& first = buckets_[w->bucket];
  w->next = first;
  if (first != nullptr) first->previous = w;
  first = w;
  bytes_ += w->bytes;
  blocks_.fetch_add(1, std::memory_order_release);
}

void queue_ordered_resource::parts::unlink(waiting_block* w) noexcept {
  line& of = *w->of;
  (w->older == nullptr ? of.oldest : w->older->newer) = w->newer;
  (w->newer == nullptr ? of.newest : w->newer->older) = w->older;
  (w->previous == nullptr ? buckets_[w->bucket] : w->previous->next) = w->next;
  if (w->next != nullptr) w->next->previous = w->previous;
  bytes_ -= w->bytes;
}

void* queue_ordered_resource::parts::take(const sycl::queue& queue, std::size_t bytes,
                                          std::size_t alignment,
                                          std::optional<sycl::event>& pending) noexcept {
  const std::scoped_lock lock(mutex_);
  line* const of = find(queue);
  if (of == nullptr || of->oldest == nullptr) return nullptr;
  const std::size_t bucket = bucket_of(*of, bytes);
  std::size_t left = looked_at;
  for (waiting_block* w = buckets_[bucket]; w != nullptr && left != 0; w = w->next, --left) {
    if (w->of != of || w->alignment != alignment ||
        !upstream->resize(w->data, w->bytes, alignment, bytes)) {
      continue;
    }
    unlink(w);
    blocks_.fetch_sub(1, std::memory_order_release);
    ++reused_;
    const std::unique_ptr<waiting_block> taken(w);
    if (!is_done(taken->last)) pending = std::move(taken->last);
    return taken->data;
  }
  return nullptr;
}

bool queue_ordered_resource::parts::put(const sycl::queue& queue, const sycl::event& last, void* p,
                                        std::size_t bytes, std::size_t alignment) noexcept {
  if (!queue.is_in_order()) return false;
  try {
    const std::scoped_lock lock(mutex_);
    line& of = find_or_add(queue);
    link(new waiting_block{p, bytes, alignment, last, &of, bucket_of(of, bytes)});
    return true;
  } catch (...) {  // no memory for the list
    return false;
  }
}

/// Frees blocks whose commands have ended, after checking `most` of them.
std::size_t queue_ordered_resource::parts::sweep(std::size_t most) noexcept {
  if (is_empty()) return 0;
  waiting_block* passed = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    for (std::size_t looked = 0; looked < lines_.size() && most != 0; ++looked) {
      line& of = *lines_[next_line_++ % lines_.size()];
      // Blocks that were freed later on a queue were usually used until later: the first one that
      // is still in use ends the search in its list.
      for (; of.oldest != nullptr && most != 0; --most) {
        waiting_block* const w = of.oldest;
        if (!detail::has_passed(w->last)) break;
        unlink(w);
        w->next = passed;
        passed = w;
      }
      if (most != 0) --most;
    }
  }
  give_back(passed);
  return blocks_.load(std::memory_order_acquire);
}

bool queue_ordered_resource::parts::settle(const memory_resource& source) noexcept {
  if (is_empty()) return false;
  auto below = upstream;
  while (below != nullptr && below.get() != &source) below = below->stands_on();
  if (below == nullptr) return false;
  std::size_t passed = 0;
  {
    const std::scoped_lock lock(mutex_);
    if (bytes_ < least_settled || passed_ == given_up_at_) return false;
    passed = passed_;
  }
  const auto end = std::chrono::steady_clock::now() + patience;
  std::chrono::microseconds pause{10};
  for (;;) {
    sweep(everything);
    {
      const std::scoped_lock lock(mutex_);
      if (passed_ != passed) return true;
      if (std::chrono::steady_clock::now() > end) {
        given_up_at_ = passed;
        return false;
      }
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::microseconds(200));
  }
}

void queue_ordered_resource::parts::wait_for_all() noexcept {
  while (sweep(everything) != 0) {
    std::optional<sycl::event> last;
    {
      const std::scoped_lock lock(mutex_);
      for (const auto& of : lines_) {
        if (of->oldest != nullptr) last = of->oldest->last;
      }
    }
    if (!last || detail::in_forked_child()) return;
    detail::wait_quietly(*last);
  }
}

/// Decremented only after they were freed: a count of zero promises that.
void queue_ordered_resource::parts::give_back(waiting_block* first) noexcept {
  std::size_t count = 0;
  while (first != nullptr) {
    const std::unique_ptr<waiting_block> w(first);
    first = w->next;
    upstream->deallocate(w->data, w->bytes, w->alignment);
    ++count;
  }
  if (count == 0) return;
  blocks_.fetch_sub(count, std::memory_order_release);
  const std::scoped_lock lock(mutex_);
  passed_ += count;
}

void* queue_ordered_resource::parts::from_upstream(std::size_t bytes, std::size_t alignment) {
  sweep(looked_at);
  try {
    return upstream->allocate(bytes, alignment);
  } catch (const allocation_error&) {
    detail::drain_under_pressure();
  }
  try {
    return upstream->allocate(bytes, alignment);
  } catch (const allocation_error& e) {
    const queue_order_stats now = stats();
    if (now.blocks == 0) throw;
    throw allocation_error(bytes, detail::format("{}; queues still use {} in {} freed blocks",
                                                 e.what(), detail::scaled(now.bytes), now.blocks));
  }
}

std::vector<queue_ordered_resource::block> queue_ordered_resource::parts::snapshot() const {
  const std::scoped_lock lock(mutex_);
  std::vector<block> all;
  for (const auto& of : lines_) {
    for (const waiting_block* w = of->oldest; w != nullptr; w = w->newer) {
      all.push_back({w->data, w->bytes, of->number});
    }
  }
  return all;
}

queue_order_stats queue_ordered_resource::parts::stats() const noexcept {
  const std::scoped_lock lock(mutex_);
  const auto busy =
      std::ranges::count_if(lines_, [](const auto& l) { return l->oldest != nullptr; });
  return {bytes_, blocks_.load(std::memory_order_relaxed), static_cast<std::size_t>(busy), reused_,
          passed_};
}

queue_ordered_resource::queue_ordered_resource(std::shared_ptr<memory_resource> upstream)
    : parts_(std::make_shared<parts>(std::move(upstream))) {
  detail::open_room(parts_);
}

queue_ordered_resource::~queue_ordered_resource() {
  detail::close_room(*parts_);
  parts_->wait_for_all();
}

usm_kind queue_ordered_resource::kind() const noexcept { return parts_->upstream->kind(); }
sycl::context queue_ordered_resource::context() const { return parts_->upstream->context(); }
sycl::device queue_ordered_resource::device() const { return parts_->upstream->device(); }
const std::shared_ptr<memory_resource>& queue_ordered_resource::upstream() const noexcept {
  return parts_->upstream;
}
std::vector<queue_ordered_resource::block> queue_ordered_resource::waiting() const {
  return parts_->snapshot();
}
queue_order_stats queue_ordered_resource::stats() const noexcept { return parts_->stats(); }
std::size_t queue_ordered_resource::collect() noexcept { return parts_->collect(); }
void queue_ordered_resource::drain() noexcept { parts_->drain(); }

void* queue_ordered_resource::do_allocate(std::size_t bytes, std::size_t alignment) {
  return parts_->from_upstream(bytes, alignment);
}

void queue_ordered_resource::do_deallocate(void* p, std::size_t bytes,
                                           std::size_t alignment) noexcept {
  parts_->upstream->deallocate(p, bytes, alignment);
}

// If blocks wait, an allocation has to check them, and takes the slow path.
void* queue_ordered_resource::do_try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
  return parts_->is_empty() ? parts_->upstream->try_allocate(bytes, alignment) : nullptr;
}

bool queue_ordered_resource::do_try_deallocate(void* p, std::size_t bytes,
                                               std::size_t alignment) noexcept {
  return parts_->upstream->try_deallocate(p, bytes, alignment);
}

void* queue_ordered_resource::do_allocate_on(const sycl::queue& queue, std::size_t bytes,
                                             std::size_t alignment,
                                             std::optional<sycl::event>& pending) {
  if (!parts_->is_empty()) {
    if (void* const p = parts_->take(queue, bytes, alignment, pending)) return p;
  }
  return parts_->from_upstream(bytes, alignment);
}

bool queue_ordered_resource::do_deallocate_on(const sycl::queue& queue, const sycl::event& last,
                                              void* p, std::size_t bytes,
                                              std::size_t alignment) noexcept {
  return parts_->put(queue, last, p, bytes, alignment);
}

bool queue_ordered_resource::do_resize(void* p, std::size_t bytes, std::size_t alignment,
                                       std::size_t other_bytes) noexcept {
  return parts_->upstream->resize(p, bytes, alignment, other_bytes);
}

}  // namespace usmx
