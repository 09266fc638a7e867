// Prefetches shared memory, so that a kernel does not fault in every page.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/resources.hpp"

#include <stdexcept>
#include <utility>

#include <sycl/exception.hpp>

#include "runtime/driver_gate.hpp"
#include "runtime/traced_queue.hpp"
#include "usmx/wait.hpp"

namespace usmx {

prefetch_resource::prefetch_resource(std::shared_ptr<memory_resource> upstream, sycl::queue queue)
    : stacked_resource(std::move(upstream)), queue_(std::move(queue)) {
  if (queue_.get_context() != context()) {
    throw std::invalid_argument("queue: its context is not that of the upstream resource");
  }
  detail::submits_to(queue_);  // here, since no lock is held
}

void* prefetch_resource::serve(const request& asked) {
  const std::size_t bytes = asked.bytes;
  void* const p = asked.pass_to(*upstream());
  if (kind() != usm_kind::shared || bytes == 0) return p;
  try {
    traced record(trace_action::prefetch, [&] {
      return detail::traced_on(queue_, {.bytes = bytes, .address = p, .kind = kind()});
    });
    const detail::driver_entry inside;
    const std::scoped_lock lock(mutex_);
    sycl::event& noted = pending_[p];  // before the command: once it runs, it must be known
    // Commands that still use the memory on its own queue run first.
    noted = asked.pending != nullptr && *asked.pending ? queue_.prefetch(p, bytes, **asked.pending)
                                                       : queue_.prefetch(p, bytes);
  } catch (const sycl::exception&) {
    // A device that cannot prefetch can still use the memory.
  } catch (...) {
    {
      const std::scoped_lock lock(mutex_);
      pending_.erase(p);
    }
    asked.undo(*upstream(), p);
    throw;
  }
  return p;
}

bool prefetch_resource::take_back(const returned_block& b) noexcept {
  decltype(pending_)::node_type noted;
  {
    const std::scoped_lock lock(mutex_);
    noted = pending_.extract(b.data);
  }
  // Owners record the queues of their users, but not of this command.
  const bool waits = noted && !is_done(noted.mapped());
  if (!waits || b.queue == nullptr) {
    try {
      if (waits) usmx::wait(noted.mapped(), queue_);
    } catch (...) {  // a command that failed has ended too
    }
    if (b.pass_to(*upstream())) return true;
  }
  if (noted) {
    const std::scoped_lock lock(mutex_);
    pending_.insert(std::move(noted));
  }
  return false;
}

}  // namespace usmx
