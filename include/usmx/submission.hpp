// One command on its way to a queue: what it comes after, which memory it uses, and that the memory
// knows when it ends. All commands of usmx go this way, and those of extensions should.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <sycl/event.hpp>
#include <sycl/queue.hpp>

#include "usmx/array.hpp"
#include "usmx/detail/driver_gate.hpp"

namespace usmx {

class traced;

/// Submits one command and tells the memory about it.
///
///     usmx::submission command(queue);
///     command.uses(out);
///     command.submit([&](sycl::queue& q, const std::vector<sycl::event>& before) {
///       return q.memset(out.data(), 0, bytes, before);
///     });
///
/// The command comes after all that was submitted on the memory, on any queue. The memory is freed
/// only after the command, and waiting for it waits for the command, also if submitting throws. If
/// nothing is submitted the memory is left as idle as it was, but its queue is asked for that.
///
/// Others who have the address of the memory find it as this command leaves it: queues that left
/// together with it go on behind the command, and `submit` returns when the command has ended if
/// the host sees the memory. Errors of a command that was waited for are thrown.
///
/// For one thread: a local variable of the function that submits.
class submission {
 public:
  /// Throws device_error in a child of fork that cannot use the driver.
  explicit submission(const sycl::queue& queue) : submission(queue, nullptr) {}
  /// The device's times of the command come into `record`, which outlives this.
  submission(const sycl::queue& queue, traced& record) : submission(queue, &record) {}
  submission(const submission&) = delete;
  submission& operator=(const submission&) = delete;
  ~submission();

  sycl::queue& queue() noexcept { return queue_; }

  /// The command comes after these.
  void after(const sycl::event& event);
  void after(std::span<const sycl::event> events);
  /// The command comes after all that was submitted on the elements: the uses that the memory knows
  /// and, if it was not allocated by usmx, everything in the array's queue. Call it before `keep`.
  void after(const array& a);

  /// The command uses this memory: names the queue to it, and keeps it until the command has ended.
  void keep(const shared_owner& owner);
  void keep(const array& a) {
    keep(a.keep_alive());
    if (a.keep_alive() && a.keep_alive()->is_lent()) goes_on_behind(a.queue());
  }
  /// The command reads or writes the elements: `after` and `keep`.
  void uses(const array& a) {
    after(a);
    keep(a);
  }

  /// The events that the command has to be told to wait for; the queue sees to the rest.
  const std::vector<sycl::event>& before() const noexcept { return before_; }

  /// Calls `command(queue(), before())`, which submits and returns the event of the last command,
  /// or nothing if there is no event. Returns the same. Throws std::logic_error if it was called
  /// before: one submission is one command.
  template <class Command>
  auto submit(Command&& command) {
    begin();
    using result = std::invoke_result_t<Command, sycl::queue&, const std::vector<sycl::event>&>;
    if constexpr (std::is_void_v<result>) {
      std::forward<Command>(command)(queue_, std::as_const(before_));
      end(nullptr);
    } else {
      sycl::event last = std::forward<Command>(command)(queue_, std::as_const(before_));
      end(&last);
      return last;
    }
  }

  /// Submits no command, only an event that comes after all that a command would come after.
  sycl::event submit();

 protected:
  submission(const sycl::queue& queue, traced* record);
  /// Nothing follows `last`, or what was submitted last if that is null. Throws the errors of what
  /// it waits for.
  void end(const sycl::event* last);

  std::vector<sycl::event> before_;

 private:
  void begin();
  void end_uses(const sycl::event* last) noexcept;
  /// What is submitted to `queue` later comes after the command.
  void goes_on_behind(const sycl::queue& queue);

  detail::driver_entry inside_;  // first: nothing of a command may meet a fork
  sycl::queue queue_;
  traced* record_;
  bool submitted_ = false;
  std::int64_t began_ = 0;  // of a kernel that runs alone
  bool seen_by_host_ = false;
  std::vector<sycl::queue> marked_;  // whose whole work is in `before_`
  std::vector<sycl::queue> behind_;  // of others
  // Most commands use few arrays, and a launch shall not ask the heap.
  std::array<shared_owner, 6> few_;
  std::size_t few_count_ = 0;
  std::vector<shared_owner> more_;
};

}  // namespace usmx
