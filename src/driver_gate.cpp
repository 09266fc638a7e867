// A gate that counts who is inside, and that a fork closes.
// SPDX-License-Identifier: Apache-2.0
#include "driver_gate.hpp"

#include <atomic>
#include <mutex>

#include "fork_guard.hpp"

namespace usmx::detail {
namespace {

class driver_gate final : public fork_guarded {
 public:
  void enter() noexcept {
    // Who comes while a fork waits stands behind it, or threads that take turns would keep it out.
    const std::scoped_lock turn(entry_);
    inside_.fetch_add(1);
  }
  void leave() noexcept {
    if (inside_.fetch_sub(1) == 1) inside_.notify_one();
  }

  void before_fork() noexcept override {
    entry_.lock();
    for (int n = inside_.load(); n != 0; n = inside_.load()) inside_.wait(n);
  }
  void after_fork(bool) noexcept override { entry_.unlock(); }

 private:
  std::mutex entry_;
  // No std::shared_mutex: glibc's asks which thread gives it back, and in the child it is another.
  std::atomic<int> inside_ = 0;
};

/// Never destroyed: memory is freed until the very end.
driver_gate& the_gate() {
  static auto& gate = []() -> driver_gate& {
    auto* const made = new driver_gate;
    guard(*made, fork_guarded::rank::driver);
    return *made;
  }();
  return gate;
}

}  // namespace

inside_driver::inside_driver() noexcept { the_gate().enter(); }
inside_driver::~inside_driver() { the_gate().leave(); }

}  // namespace usmx::detail
