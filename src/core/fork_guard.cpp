// See fork_guard.hpp. Registered with the system once, for everything there will ever be.
// SPDX-License-Identifier: Apache-2.0
#include "core/fork_guard.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

namespace usmx::detail {
namespace {

struct entry {
  fork_guarded* guarded;
  fork_guarded::rank order;
};

struct guarded_list {
  // The resources that serve by default are made with their lock held, and come before this one.
  std::atomic<fork_guarded*> first = nullptr;
  std::atomic<fork_guarded*> commands = nullptr;  // may be made at any time, the same way
  std::mutex mutex;
  std::vector<entry> entries;  // by rank
};

std::atomic<bool> forked = false;

guarded_list& all();

void lock_all() {
  guarded_list& list = all();
  if (fork_guarded* const commands = list.commands.load()) commands->before_fork();
  if (fork_guarded* const first = list.first.load()) first->before_fork();
  list.mutex.lock();
  for (const entry& e : list.entries) e.guarded->before_fork();
}

void unlock_all(bool in_child) {
  guarded_list& list = all();
  for (auto e = list.entries.rbegin(); e != list.entries.rend(); ++e) {
    e->guarded->after_fork(in_child);
  }
  list.mutex.unlock();
  if (fork_guarded* const first = list.first.load()) first->after_fork(in_child);
  if (fork_guarded* const commands = list.commands.load()) commands->after_fork(in_child);
}

guarded_list& all() {
  // Never destroyed: pools may outlive every static object.
  static auto* const only = [] {
    pthread_atfork([] { lock_all(); }, [] { unlock_all(false); },
                   [] {
                     forked.store(true);
                     unlock_all(true);
                   });
    return new guarded_list;
  }();
  return *only;
}

}  // namespace

void guard(fork_guarded& g, fork_guarded::rank order) {
  guarded_list& list = all();
  if (order == fork_guarded::rank::defaults) {
    list.first.store(&g);
    return;
  }
  if (order == fork_guarded::rank::commands) {
    list.commands.store(&g);
    return;
  }
  const std::scoped_lock lock(list.mutex);
  const auto after = std::ranges::upper_bound(list.entries, order, {}, &entry::order);
  list.entries.insert(after, {&g, order});
}

void unguard(const fork_guarded& g) noexcept {
  guarded_list& list = all();
  const std::scoped_lock lock(list.mutex);
  std::erase_if(list.entries, [&](const entry& e) { return e.guarded == &g; });
}

bool in_forked_child() noexcept { return forked.load(std::memory_order_relaxed); }

}  // namespace usmx::detail
