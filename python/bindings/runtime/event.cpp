// Makes events of the positions of launches in their queues, only when they are needed.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/event.hpp"

#include <array>
#include <utility>

#include <sycl/properties/queue_properties.hpp>

#include "memory/memory.hpp"
#include "support/bindings.hpp"

namespace usmx::python {

event::event(event&& o) noexcept
    : queue_(std::move(o.queue_)),
      known_(std::move(o.known_)),
      line_(std::exchange(o.line_, nullptr)) {
  o.queue_.reset();
  if (line_ != nullptr) line_->newest_ = this;
}

event::~event() {
  if (line_ != nullptr) line_->newest_ = nullptr;
}

const sycl::event& event::get() const {
  if (!known_) known_ = queue_ ? marker(*queue_) : sycl::event();
  return *known_;
}

void event::wait() const {
  if (line_ != nullptr) line_->is_waited_for();
  const std::optional<sycl::queue> queue = queue_;
  const std::optional<sycl::event> known = known_;
  {
    const gil_released released;
    if (known && queue) {
      usmx::wait(*known, *queue);
    } else if (known) {
      usmx::wait(*known);
    } else if (queue) {
      usmx::wait(*queue);
    }
    collect();
  }
  if (!known_) queue_.reset();  // nothing is left to be asked
  release_waiting_objects();
}

launch_line* launch_line::of(const sycl::queue& queue) {
  struct entry {
    std::optional<sycl::queue> queue;
    bool plain = false;
    launch_line line;
  };
  // Leaked: queues must not end with the static objects. With more queues than this in use
  // events are made a little more often.
  static auto& entries = *new std::array<entry, 8>;
  static std::size_t next = 0;
  for (entry& e : entries) {
    if (e.queue && *e.queue == queue) return e.plain ? &e.line : nullptr;
  }
  entry& e = entries[next++ % entries.size()];
  e.line.may_skip_event();  // an event of the queue that leaves
  if (e.line.newest_ != nullptr) e.line.newest_->line_ = nullptr;
  e.line = {};
  e.queue = queue;
  e.plain = queue.is_in_order() && !queue.has_property<sycl::property::queue::enable_profiling>();
  return e.plain ? &e.line : nullptr;
}

bool launch_line::may_skip_event() {
  if (newest_ == nullptr) return !std::exchange(was_waited_for_, false);
  newest_->get();
  return false;
}

void launch_line::watch(event& made) noexcept {
  if (newest_ != nullptr) newest_->line_ = nullptr;
  newest_ = &made;
  made.line_ = this;
}

}  // namespace usmx::python
