// What Python's Event holds. A launch on an in-order queue asks SYCL for no event, because few
// programs look at it; one is made of the position in the queue when it is needed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

#include <nanobind/nanobind.h>
#include <sycl/backend_types.hpp>
#include <sycl/event.hpp>
#include <sycl/queue.hpp>

namespace usmx::python {

/// An event of SYCL's, or everything submitted to an in-order queue until one is needed.
/// Guarded by the GIL.
class launch_line;

class event {
 public:
  /// Complete.
  event() noexcept = default;
  /// One of another library, of which only its status may be asked; see usmx/wait.hpp.
  event(sycl::event e) noexcept : known_(std::move(e)) {}  // NOLINT: implicit, as a copy would be
  event(sycl::event e, std::optional<sycl::backend> backend) noexcept
      : known_(std::move(e)), backend_(backend) {}
  event(sycl::event e, const sycl::queue& submitted_to) noexcept
      : event(std::move(e), submitted_to.get_backend()) {}
  event(event&& o) noexcept;
  event& operator=(event&&) = delete;
  ~event();

  /// A complete one becomes what was launched, or what an in-order queue has now.
  void be(sycl::event launched, const sycl::queue& queue) {
    known_ = std::move(launched);
    backend_ = queue.get_backend();
    if (queue.is_in_order()) queue_ = queue;
  }
  void be_behind(const sycl::queue& queue) {
    backend_ = queue.get_backend();
    queue_ = queue;
  }

  /// The event; made now, behind all that the queue has, if there was none. May throw
  /// sycl::exception.
  const sycl::event& get() const;
  /// Lets go of the GIL; throws asynchronous errors.
  void wait() const;
  /// That of the queue, if usmx submitted the command.
  std::optional<sycl::backend> backend() const noexcept { return backend_; }

  friend bool operator==(const event& a, const event& b) { return a.get() == b.get(); }

 private:
  friend class launch_line;

  mutable std::optional<sycl::queue> queue_;  // which is in-order
  mutable std::optional<sycl::event> known_;  // none: what the queue has; no queue either: complete
  std::optional<sycl::backend> backend_;
  launch_line* line_ = nullptr;  // of which it is the newest
};

/// The launches from Python on one in-order queue, in their order. It keeps events exact: one whose
/// object is still there when the next kernel comes is made before it. And it expects that a
/// program does with its next event what it did with the last: one that keeps it, or waits for it,
/// which is quicker than to wait for the queue, gets one of SYCL's with the launch.
class launch_line {
 public:
  /// That of an in-order queue; null if the launch needs an event in any case.
  static launch_line* of(const sycl::queue& queue);

  /// Before a launch: whether the event of the last one was not used while it was the newest.
  bool may_skip_event();
  /// The newest is being waited for.
  void is_waited_for() noexcept { was_waited_for_ = true; }
  /// After it: its event is the newest.
  void watch(event& made) noexcept;

 private:
  friend class event;

  event* newest_ = nullptr;
  bool was_waited_for_ = false;
};

}  // namespace usmx::python

template <>
struct std::hash<usmx::python::event> {
  std::size_t operator()(const usmx::python::event& e) const {
    return std::hash<sycl::event>()(e.get());
  }
};

/// SYCL's events are Events in Python.
template <>
struct nanobind::detail::type_caster<sycl::event> {
  NB_TYPE_CASTER(sycl::event, make_caster<usmx::python::event>::Name)

  bool from_python(handle source, std::uint8_t flags, cleanup_list* cleanup) {
    make_caster<usmx::python::event> held;
    if (!held.from_python(source, flags, cleanup)) return false;
    const auto* const e = held.operator usmx::python::event*();
    if (e == nullptr) return false;
    value = e->get();
    return true;
  }
  static handle from_cpp(sycl::event e, rv_policy, cleanup_list* cleanup) {
    return make_caster<usmx::python::event>::from_cpp(usmx::python::event(std::move(e)),
                                                      rv_policy::move, cleanup);
  }
};
