// Which pool answers for an address: a sorted table for each context, read far more than written.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/block_registry.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "core/fork_guard.hpp"

namespace usmx::detail {
namespace {

struct divided {
  const std::byte* base;
  const std::byte* end;
  block_source* source;
  /// The furthest end of this piece and all before it: a pool may use a pool as upstream, so pieces
  /// lie inside pieces, and this limits how far back an address has to be searched.
  const std::byte* reach = nullptr;
};

/// Addresses of two contexts may be the same, so each has its own table.
struct context_table {
  sycl::context context;
  std::vector<divided> pieces;  // by address; what lies inside another comes after it

  void update_reach() noexcept {
    const std::byte* reach = nullptr;
    for (divided& d : pieces) d.reach = reach = std::max(reach, d.end);
  }
};

struct registry final : fork_guarded {
  registry() { guard(*this, rank::blocks); }
  void before_fork() noexcept override { mutex.lock(); }
  void after_fork(bool in_child) noexcept override {
    // Such a lock stores its thread's number, which is another one in the child.
    in_child ? static_cast<void>(std::construct_at(&mutex)) : mutex.unlock();
  }

  std::shared_mutex mutex;
  std::vector<context_table> tables;
  std::atomic<std::size_t> pieces = 0;

  context_table* find(const sycl::context& context) {
    const auto at = std::ranges::find(tables, context, &context_table::context);
    return at == tables.end() ? nullptr : &*at;
  }
};

registry& all() {
  static auto& only = *new registry;  // never destroyed: pools may outlive every static object
  return only;
}

const auto& at_load = all();  // see guard() in fork_guard.hpp

}  // namespace

void add_divided(const sycl::context& context, const std::byte* base, std::size_t bytes,
                 block_source& source) {
  registry& r = all();
  const std::scoped_lock lock(r.mutex);
  context_table* table = r.find(context);
  if (table == nullptr) table = &r.tables.emplace_back(context_table{context, {}});
  const auto after = std::ranges::upper_bound(table->pieces, base, {}, &divided::base);
  table->pieces.insert(after, {base, base + bytes, &source});
  table->update_reach();
  r.pieces.fetch_add(1, std::memory_order_release);
}

void remove_divided(const sycl::context& context, const std::byte* base,
                    const block_source& source) noexcept {
  registry& r = all();
  const std::scoped_lock lock(r.mutex);
  context_table* const table = r.find(context);
  if (table == nullptr) return;
  const auto same = [&](const divided& d) { return d.base == base && d.source == &source; };
  if (std::erase_if(table->pieces, same) == 0) return;
  table->update_reach();
  r.pieces.fetch_sub(1, std::memory_order_release);
  if (!table->pieces.empty()) return;
  std::swap(*table, r.tables.back());
  r.tables.pop_back();
}

std::optional<allocation> find_divided(const void* p, const sycl::context& context) noexcept {
  registry& r = all();
  if (r.pieces.load(std::memory_order_acquire) == 0) return {};
  const auto* const at = static_cast<const std::byte*>(p);
  const std::shared_lock lock(r.mutex);
  const context_table* const table = r.find(context);
  if (table == nullptr) return {};
  auto piece = std::ranges::upper_bound(table->pieces, at, {}, &divided::base);
  do {
    if (piece == table->pieces.begin()) return {};
    --piece;
    if (at >= piece->reach) return {};
  } while (at >= piece->end);
  const auto block = piece->source->block_around(at);
  if (!block) return allocation{};
  return allocation{piece->source->kind_of_blocks(), block};
}

}  // namespace usmx::detail
