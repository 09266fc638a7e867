// Events for Python: waiting, asking, profiling times. Makes events of the positions of launches in
// their queues, only when they are needed.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/event.hpp"

#include <array>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <sycl/event.hpp>
#include <sycl/properties/queue_properties.hpp>

#include "core/format.hpp"
#include "memory/memory.hpp"
#include "protocols/protocols.hpp"
#include "runtime/event_watch.hpp"
#include "runtime/runtime_bindings.hpp"
#include "runtime/wait_forms.hpp"
#include "support/attributes.hpp"
#include "support/bindings.hpp"
#include "support/interrupts.hpp"
#include "support/signature.hpp"

namespace usmx::python {
event::event(event&& o) noexcept
    : queue_(std::move(o.queue_)),
      known_(std::move(o.known_)),
      backend_(o.backend_),
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
    const waiting_without_gil released;
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

namespace {

const char* status_of(const event& e) {
  using detail::command_status;
  switch (detail::status(e.get())) {
    case command_status::submitted:
      return "submitted";
    case command_status::running:
      return "running";
    case command_status::complete:
      return "complete";
    default:
      return "unknown";
  }
}

template <class Query>
std::uint64_t time_of(const event& e) {
  const sycl::event event = e.get();
  try {
    const waiting_without_gil released;
    // The runtime waits for start and end by itself, but not as carefully.
    if constexpr (!std::is_same_v<Query, sycl::info::event_profiling::command_submit>) wait(event);
    return event.get_profiling_info<Query>();
  } catch (const sycl::exception& error) {
    // SYCL's own words for this are thirty and name no remedy.
    if (error.code() != sycl::errc::invalid) throw;
    throw std::runtime_error(
        "the event has no profiling times: they need a queue made with Queue(..., "
        "enable_profiling=True)");
  }
}

}  // namespace

sycl::event to_event(nb::handle obj, const char* where) {
  if (is_ready<event>(obj)) return nb::inst_ptr<event>(obj)->get();
  nb::object capsule = nb::borrow(obj);
  if (!PyCapsule_CheckExact(obj.ptr()) && !PyType_Check(obj.ptr()) &&
      has_attribute(obj, "_get_capsule"))
    capsule = obj.attr("_get_capsule")();
  if (!PyCapsule_CheckExact(capsule.ptr()))
    wrong_type(where, obj, "an Event of usmx or dpctl, or a fresh \"SyclEventRef\" capsule");
  const char* name = PyCapsule_GetName(capsule.ptr());
  const bool is_event = name != nullptr && std::string_view(name) == "SyclEventRef";
  // A Queue, for instance, which hands out capsules too.
  if (!is_event && !capsule.is(obj))
    wrong_type(where, obj, "an Event of usmx or dpctl, or a fresh \"SyclEventRef\" capsule");
  if (!is_event)
    throw std::invalid_argument(
        detail::format("{}: the capsule is named \"{}\"; expected a fresh \"SyclEventRef\"", where,
                       name ? name : ""));
  return *static_cast<const sycl::event*>(PyCapsule_GetPointer(capsule.ptr(), name));
}

std::vector<sycl::event> to_events(nb::handle obj, const char* where) {
  std::vector<sycl::event> events;
  if (obj.is_none()) return events;
  // Lists first: asking one for an attribute that it lacks is slow.
  const bool is_list = PyTuple_CheckExact(obj.ptr()) || PyList_CheckExact(obj.ptr());
  if (!is_list && (nb::isinstance<event>(obj) || PyCapsule_CheckExact(obj.ptr()) ||
                   has_attribute(obj, "_get_capsule"))) {
    events.push_back(to_event(obj, where));
    return events;
  }
  if (PySequence_Check(obj.ptr()) == 0 || PyUnicode_Check(obj.ptr()) != 0)
    wrong_type(where, obj, "an Event of usmx or dpctl, or a sequence of them");
  for (const nb::handle item : nb::iter(obj)) events.push_back(to_event(item, where));
  return events;
}

void bind_event(nb::module_& m) {
  nb::class_<event> type(m, "Event", nb::is_weak_referenceable(), nb::pooled(),
                         "What a submitted command will have done. That of a kernel on an in-order "
                         "queue may be\nmade only when it is asked for, and then comes after what "
                         "other libraries submitted meanwhile.\n\n"
                         "Parameters\n----------\n"
                         "source : Event of usmx or dpctl, \"SyclEventRef\" capsule, or None\n"
                         "    None makes an event that is complete.");
  type.def("__init__(self, source: EventLike | None = None) -> None"_sig,
           [](nb::pointer_and_handle<event> self, nb::handle source) {
             if (source.is_none()) return initialise(self);
             const event* const ours =
                 is_ready<event>(source) ? nb::inst_ptr<event>(source) : nullptr;
             initialise(self, to_event(source, "source"), ours ? ours->backend() : std::nullopt);
           })
      .def("wait", &event::wait,
           "Wait until the command has finished. Raises its asynchronous errors.")
      .def(
          "wait_for(events: EventLike | Sequence[EventLike]) -> None"_sig,
          [](nb::handle source) {
            const std::vector<sycl::event> events = to_events(source, "events");
            {
              const waiting_without_gil released;
              wait(events);
              collect();
            }
            release_waiting_objects();
          },
          "Wait for an event, or for all of a sequence.")
      .def(
          "__await__(self) -> Generator[Any, None, None]"_sig,
          [](nb::object self) {
            static_cast<void>(self_of<event>(self));
            return nb::module_::import_("usmx._waiting").attr("wait")(self).attr("__await__")();
          },
          "In a coroutine of asyncio: wait until the command has finished while others run.\n"
          "Raises its asynchronous errors. Cancelling the task leaves the command alone.")
      .def_prop_ro(
          "is_done", [](const event& e) { return is_done(e.get()); },
          "Whether the command has finished, failed or not.")
      .def(
          "_watch", [](const event& e) { return watch(e.get()); },
          "A file descriptor that becomes readable when the command has finished.")
      .def_prop_ro("status", &status_of, "\"submitted\", \"running\" or \"complete\".")
      .def_prop_ro("execution_status", &status_of, "dpctl's name of status.")
      .def_prop_ro(
          "profiling_info_submit", &time_of<sycl::info::event_profiling::command_submit>,
          "When the command was submitted, in ns. RuntimeError if its queue does not profile.")
      .def_prop_ro(
          "profiling_info_start", &time_of<sycl::info::event_profiling::command_start>,
          "When the command began, in ns. Waits for it. RuntimeError if its queue does not "
          "profile.")
      .def_prop_ro(
          "profiling_info_end", &time_of<sycl::info::event_profiling::command_end>,
          "When the command ended, in ns. Waits for it. RuntimeError if its queue does not "
          "profile.")
      .def_prop_ro(
          "backend",
          [](const event& e) -> std::optional<std::string> {
            if (const auto known = e.backend()) return backend_name(*known);
            return std::nullopt;
          },
          "Of the device whose command this is. None for an event that another library made: SYCL "
          "cannot\nsay it of every event.")
      .def(
          "_get_capsule(self) -> object"_sig,
          [](const event& e) { return make_capsule(e.get(), "SyclEventRef"); },
          "A fresh \"SyclEventRef\" capsule.")
      .def("__repr__",
           [](const event& e) { return detail::format("<usmx.Event {}>", status_of(e)); });
  bind_identity(type);
}

}  // namespace usmx::python
