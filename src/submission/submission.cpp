// Where order and use are written, once for every command; see usmx/submission.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/submission.hpp"

#include <algorithm>
#include <stdexcept>

#include "runtime/driver_gate.hpp"
#include "runtime/traced_queue.hpp"
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

void submission::after(const array& a) {
  const shared_owner& owner = a.keep_alive();
  if (owner) owner->pending(queue_, before_);
  if (owner && !owner->is_lent()) return;
  // What others submitted is known to the queue that they gave, and to nothing else.
  const sycl::queue& theirs = a.queue();
  if (theirs == queue_ && queue_.is_in_order()) return;
  if (std::ranges::find(marked_, theirs) != marked_.end()) return;
  marked_.push_back(theirs);
  after(marker(theirs));
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
}

void submission::end(const sycl::event* last) noexcept {
  if (last && record_) detail::measure(*record_, queue_, *last);
  end_uses(last);
}

void submission::end_uses(const sycl::event* last) noexcept {
  const auto end_one = [&](shared_owner& owner) {
    last ? owner->used_until(queue_, *last) : owner->used_until(queue_);
    owner.reset();
  };
  std::ranges::for_each(std::span(few_).first(few_count_), end_one);
  std::ranges::for_each(more_, end_one);
  few_count_ = 0;
  more_.clear();
}

}  // namespace usmx
