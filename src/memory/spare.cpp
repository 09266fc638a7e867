// See spare.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "memory/spare.hpp"

#include <atomic>

#include "core/fork_guard.hpp"

namespace usmx::detail {
namespace {

struct spare {
  void (*drop)() noexcept;
  const spare* next;
};

/// One for each file that keeps memory; never freed. Without a lock, because threads that find no
/// memory come here too, and what is dropped may ask for some.
constinit std::atomic<const spare*> all{nullptr};

}  // namespace

void drop_when_trimmed(void (*drop)() noexcept) {
  auto* const added = new spare{drop, all.load()};
  while (!all.compare_exchange_weak(added->next, added)) {
  }
}

void drop_spare() noexcept {
  if (in_forked_child()) return;  // it is the parent's
  for (const spare* s = all.load(); s != nullptr; s = s->next) s->drop();
}

}  // namespace usmx::detail
