// Where order and use are written, once for every command; see usmx/submission.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/submission.hpp"

#include <algorithm>
#include <stdexcept>

#include "memory/known_owners.hpp"
#include "runtime/driver_gate.hpp"
#include "runtime/traced_queue.hpp"
#include "usmx/trace.hpp"
#include "usmx/wait.hpp"

namespace usmx {

submission::submission(const sycl::queue& queue, traced* record) : queue_(queue), record_(record) {
  detail::submits_to(queue_);
}

submission::~submission() { end_uses(nullptr); }

void submission::after(const sycl::event& event) {
  if (!is_done(event)) before_.push_back(event);
}

void submission::after(std::span<const sycl::event> events) {
  for (const sycl::event& event : events) after(event);
}

namespace {

/// Waits for what others submitted to a queue without an order. Their host tasks (dpctl has one
/// behind each kernel) hold a marker back, the marker our command, and that one theirs: a thread of
/// the runtime would submit it later, and may compile it first. Until it has, the runtime does not
/// count it to what a marker stands for, and no wait would include it.
void wait_for_held_back(const sycl::queue& others) {
  const sycl::event last = marker(others);
  if (!is_done(last)) wait(last, others);
}

}  // namespace

void submission::after(const array& a) {
  const shared_owner& owner = a.keep_alive();
  if (owner && owner->is_exposed()) {
    detail::unlocked([&] {
      std::vector<sycl::queue> others;
      owner->add_exposed_queues(queue_, others);
      for (const sycl::queue& q : others) {
        if (q != queue_ && !q.is_in_order()) wait_for_held_back(q);
      }
      owner->pending(queue_, before_);
    });
  } else if (owner) {
    owner->pending(queue_, before_);
  }
  if (owner && !owner->is_lent()) return;
  // What others submitted is known to the queue that they gave, and to nothing else.
  const sycl::queue& theirs = a.queue();
  if (theirs == queue_ && queue_.is_in_order()) return;
  if (std::ranges::find(marked_, theirs) != marked_.end()) return;
  marked_.push_back(theirs);
  detail::unlocked([&] { after(marker(theirs)); });
}

void submission::keep(const shared_owner& owner) {
  if (!owner) return;
  // Twice the same memory is one use: of two that are open at once the last is not known.
  const auto few = std::span(few_).first(few_count_);
  if (std::ranges::find(few, owner) != few.end() ||
      std::ranges::find(more_, owner) != more_.end()) {
    return;
  }
  if (few_count_ == few_.size()) more_.reserve(more_.size() + 1);
  owner->used_on(queue_);
  if (few_count_ < few_.size()) {
    few_[few_count_++] = owner;
  } else {
    more_.push_back(owner);
  }
}

sycl::event submission::submit() {
  return submit([](sycl::queue& q, const std::vector<sycl::event>& before) {
    // A barrier behind an empty list is complete at once, although the queue is not.
    return before.empty() ? marker(q) : q.ext_oneapi_submit_barrier(before);
  });
}

void submission::begin() {
  if (submitted_) throw std::logic_error("submission: it has submitted its command already");
  submitted_ = true;
  if (record_ && record_->runs_alone()) {
    // What came before is not a part of the kernel's time.
    detail::unlocked([&] {
      wait(before_);
      wait(queue_);
    });
    began_ = trace_now();
  }
}

void submission::goes_on_behind(const sycl::queue& queue) {
  if (queue == queue_ && queue_.is_in_order()) return;
  if (std::ranges::find(behind_, queue) == behind_.end()) behind_.push_back(queue);
}

void submission::end(const sycl::event* last) {
  if (last && record_) detail::measure(*record_, queue_, *last);
  end_uses(last);
  if (began_ != 0 && last) {
    detail::unlocked([&] { wait(*last, queue_); });
    record_->ran(began_, trace_now());
    return;
  }
  if (seen_by_host_) {
    // Others find the results, on whichever queue they work.
    return detail::unlocked([&] { last ? wait(*last, queue_) : wait(queue_); });
  }
  if (behind_.empty()) return;
  detail::unlocked([&] {
    const sycl::event done = last ? *last : marker(queue_);
    for (sycl::queue& others : behind_) {
      if (is_done(done)) return;
      if (others.get_context() == queue_.get_context()) {
        others.ext_oneapi_submit_barrier({done});
      } else {
        wait(done, queue_);
      }
    }
  });
}

void submission::end_uses(const sycl::event* last) noexcept {
  const auto look_at = [&](const shared_owner& owner) {
    seen_by_host_ |= owner->is_seen_by_host();
    try {
      owner->add_exposed_queues(queue_, behind_);
    } catch (...) {  // without memory for the list, the host waits
      seen_by_host_ = true;
    }
  };
  const auto end_one = [&](shared_owner& owner) {
    last ? owner->used_until(queue_, *last) : owner->used_until(queue_);
    if (owner->is_exposed()) look_at(owner);
    if (owner->is_lent()) {
      // Taken from another library several times; the address of another one has left since.
      const shared_owner same = detail::find_known(owner->base(), owner->bytes());
      if (same && same != owner) look_at(same);
    }
    owner.reset();
  };
  std::ranges::for_each(std::span(few_).first(few_count_), end_one);
  std::ranges::for_each(more_, end_one);
  few_count_ = 0;
  more_.clear();
}

}  // namespace usmx
