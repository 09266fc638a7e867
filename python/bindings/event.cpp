// Makes events of the places that launches took in their queues, as late as nobody notices.
// SPDX-License-Identifier: Apache-2.0
#include "event.hpp"

#include <array>
#include <utility>

#include <sycl/properties/queue_properties.hpp>

#include "bindings.hpp"
#include "memory.hpp"

namespace usmx::python {

event::event(event&& o) noexcept
    : place_(std::move(o.place_)),
      known_(std::move(o.known_)),
      seen_by_(std::exchange(o.seen_by_, nullptr)) {
  o.place_.reset();
  if (seen_by_ != nullptr) *seen_by_ = this;
}

event::~event() {
  if (seen_by_ != nullptr) *seen_by_ = nullptr;
}

const sycl::event& event::get() const {
  if (place_) {
    known_ = marker(*place_);
    place_.reset();
  }
  if (!known_) known_.emplace();
  return *known_;
}

void event::wait() const {
  const std::optional<sycl::queue> place = place_;
  const std::optional<sycl::event> known = known_;
  {
    const gil_released released;
    if (place) {
      usmx::wait(*place);
    } else if (known) {
      usmx::wait(*known);
    }
    collect();
  }
  place_.reset();  // nothing is left to be asked
  release_waiting_objects();
}

launch_line* launch_line::of(const sycl::queue& queue) {
  struct entry {
    std::optional<sycl::queue> queue;
    bool plain = false;
    launch_line line;
  };
  // Leaked: queues must not end with the static objects. Who computes on more queues than this at
  // once has events made a little more often.
  static auto& entries = *new std::array<entry, 8>;
  static std::size_t next = 0;
  for (entry& e : entries) {
    if (e.queue && *e.queue == queue) return e.plain ? &e.line : nullptr;
  }
  entry& e = entries[next++ % entries.size()];
  e.line.may_skip_event();  // an event of the queue that leaves
  if (e.line.newest_ != nullptr) {
    e.line.newest_->seen_by_ = nullptr;
    e.line.newest_ = nullptr;
  }
  e.queue = queue;
  e.plain = queue.is_in_order() && !queue.has_property<sycl::property::queue::enable_profiling>();
  return e.plain ? &e.line : nullptr;
}

bool launch_line::may_skip_event() {
  if (newest_ == nullptr) return true;
  newest_->get();
  return false;
}

void launch_line::watch(event& made) noexcept {
  if (newest_ != nullptr) newest_->seen_by_ = nullptr;
  newest_ = &made;
  made.seen_by_ = &newest_;
}

}  // namespace usmx::python
