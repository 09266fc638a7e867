// Contexts and queues for Python, made from any object that names one, and capsules of them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <sycl/event.hpp>
#include <sycl/properties/queue_properties.hpp>

#include "core/format.hpp"
#include "runtime/runtime_bindings.hpp"
#include "support/attributes.hpp"
#include "support/interrupts.hpp"
#include "support/signature.hpp"
#include "support/slot_errors.hpp"
#include "support/type_slots.hpp"

namespace usmx::python {
namespace {

sycl::context to_context(nb::handle source) {
  if (source.is_none()) return default_queue().get_context();
  if (nb::isinstance<sycl::context>(source)) return self_of<sycl::context>(source);
  if (nb::isinstance<sycl::device>(source)) return default_context(self_of<sycl::device>(source));
  if (PyList_Check(source.ptr()) || PyTuple_Check(source.ptr())) {
    std::vector<sycl::device> devices;
    for (nb::handle item : nb::iter(source)) devices.push_back(to_device(item, "source"));
    if (devices.empty()) throw std::invalid_argument("source: the list of devices is empty");
    return sycl::context(devices);
  }
  return to_queue(source, "source").get_context();
}

struct queue_options {
  std::optional<bool> in_order;
  bool enable_profiling = false;
  bool any() const noexcept { return in_order.has_value() || enable_profiling; }
};

sycl::queue new_queue(const sycl::context& context, const sycl::device& device,
                      const queue_options& options) {
  using namespace sycl::property::queue;
  const bool in_order_wanted = options.in_order.value_or(true);
  if (in_order_wanted && options.enable_profiling)
    return make_queue(context, device, {in_order(), enable_profiling()});
  if (in_order_wanted) return make_queue(context, device, in_order());
  if (options.enable_profiling) return make_queue(context, device, enable_profiling());
  return make_queue(context, device, {});
}

void check_member(const sycl::context& context, const sycl::device& device) {
  const auto members = context.get_devices();
  if (std::ranges::find(members, device) != members.end()) return;
  throw std::invalid_argument(
      detail::format("device: {} does not belong to the context, which has {}", described(device),
                     detail::joined(members, described)));
}

sycl::queue queue_in(const sycl::context& context, const sycl::device& device,
                     const queue_options& options) {
  check_member(context, device);
  return options.any() ? new_queue(context, device, options) : queue_for(context, device);
}

/// An existing queue keeps its options.
void refuse_options(const queue_options& options) {
  if (options.any())
    throw std::invalid_argument(
        "in_order, enable_profiling: the source is a queue already and cannot be changed; pass its "
        "device or context to make a new one");
}

sycl::queue to_queue_with(nb::handle source, nb::handle device, const queue_options& options) {
  if (PyTuple_Check(source.ptr()) && PyTuple_GET_SIZE(source.ptr()) == 2 && device.is_none())
    return queue_in(to_context(source[0]), to_device(source[1], "device"), options);
  if (!device.is_none())
    return queue_in(to_origin(source, "context").context, to_device(device, "device"), options);
  if (!options.any()) return to_queue(source, "source");

  if (source.is_none() || nb::isinstance<nb::str>(source) || nb::isinstance<sycl::device>(source)) {
    const sycl::device chosen = to_device(source, "source");
    return new_queue(default_context(chosen), chosen, options);
  }
  if (nb::isinstance<sycl::queue>(source)) refuse_options(options);
  const bool has_capsule =
      PyCapsule_CheckExact(source.ptr()) || has_attribute(source, "_get_capsule");
  if (!has_capsule) {
    const sycl::device chosen = to_device(source, "source");
    return new_queue(default_context(chosen), chosen, options);
  }
  const sycl_origin origin = to_origin(source, "source");
  if (origin.queue) refuse_options(options);
  return new_queue(origin.context, origin.context.get_devices().front(), options);
}

/// Calls of Queue. First what programs call most: no argument, or a filter string.
PyObject* call_queue(PyObject* type, PyObject* const* args, std::size_t nargsf,
                     PyObject* keywords) noexcept {
  try {
    const Py_ssize_t positional = PyVectorcall_NARGS(nargsf);
    if (keywords == nullptr &&
        (positional == 0 || (positional == 1 && PyUnicode_CheckExact(args[0])))) {
      const sycl::queue& queue = positional == 0
                                     ? default_queue()
                                     : default_queue(select_device(to_text(args[0], "source")));
      nb::object made = nb::inst_alloc(type);
      new (nb::inst_ptr<sycl::queue>(made)) sycl::queue(queue);
      nb::inst_mark_ready(made);
      return made.release().ptr();
    }
    return made_by_init(type, args, nargsf, keywords).release().ptr();
  } catch (...) {
    return raise_current();
  }
}

PyType_Slot queue_slots[] = {
    {slot_of_type_call, reinterpret_cast<void*>(call_queue)},
    {0, nullptr},
};

void bind_context(nb::module_& m) {
  using sycl::context;
  nb::class_<context> type(
      m, "Context", nb::is_weak_referenceable(),
      "What memory belongs to: one or more devices of a platform.\n\n"
      "Parameters\n----------\n"
      "source : Device, str, list of these, Context, Queue, capsule, or None\n"
      "    One device (also as a filter string) gives the default context, the one that other\n"
      "    libraries use too; None that of the default device. A list of devices gives a new one.\n"
      "    Anything else names a context that exists: an object with ``_get_capsule()`` such as\n"
      "    ``dpctl.SyclContext``, or a fresh \"SyclContextRef\" or \"SyclQueueRef\" capsule.\n\n"
      "Raises\n------\n"
      "TypeError, ValueError\n    If it names no context: what it was, and what to pass.\n"
      "DeviceError\n    If there is no such device.");
  bind_identity(type, "SyclContextRef");
  type.def("__init__(self, source: QueueLike | Sequence[DeviceLike] = None) -> None"_sig,
           [](nb::pointer_and_handle<context> self, nb::handle source) {
             initialise(self, to_context(source));
           })
      .def_prop_ro(
          "devices", [](const context& c) { return c.get_devices(); },
          nb::sig("def devices(self) -> list[Device]"))
      .def_prop_ro("device_count", [](const context& c) { return c.get_devices().size(); })
      .def_prop_ro("platform", [](const context& c) { return c.get_platform(); })
      .def_prop_ro("backend", [](const context& c) { return backend_name(c.get_backend()); })
      .def_prop_ro(
          "native", [](const context& c) { return native_handle(c); },
          "cl_context or ze_context_handle_t as an integer. Borrowed: valid as long as this "
          "object lives; retain it with the driver to keep it longer. RuntimeError for "
          "CUDA and HIP, where SYCL works in the devices' primary contexts.")
      .def(
          "_get_capsule(self) -> object"_sig,
          [](const context& c) { return make_capsule(c, "SyclContextRef"); },
          "A fresh \"SyclContextRef\" capsule.")
      .def("__repr__", [](const context& c) {
        return "<usmx.Context of " + detail::joined(c.get_devices(), described) + ">";
      });
}

/// By the device's filter string. The cached queue of a device arrives as that, any other as a new
/// one with the same properties, in the default context.
nb::object reduce(nb::handle self) {
  const auto& q = self_of<sycl::queue>(self);
  const std::string filter = filter_string(q.get_device());
  if (filter.empty()) {
    throw nb::type_error(
        "a queue of a sub-device cannot be pickled, because no filter string names the device");
  }
  if (q == default_queue(q.get_device())) {
    return nb::make_tuple(self.type(), nb::make_tuple(filter));
  }
  return nb::make_tuple(nb::module_::import_("usmx._pickles").attr("queue"),
                        nb::make_tuple(filter, q.is_in_order(),
                                       q.has_property<sycl::property::queue::enable_profiling>()));
}

void bind_queue(nb::module_& m) {
  using sycl::queue;
  nb::class_<queue> type(
      m, "Queue", nb::is_weak_referenceable(), nb::pooled(), nb::type_slots(queue_slots),
      "Where commands are submitted to.\n\n"
      "Without options this is the shared queue of the device: in order, made once, the same "
      "object\n"
      "for every library that asks usmx. With an option it is a new one.\n\n"
      "Parameters\n----------\n"
      "source : str, Device, Context, Queue, capsule, or None\n"
      "    A device or filter string; a context (its first device, or the second argument); a "
      "queue\n"
      "    that exists: any object with ``_get_capsule()`` such as ``dpctl.SyclQueue``, or a "
      "fresh\n"
      "    \"SyclQueueRef\" capsule. None is the default device. A pair is (context, device).\n"
      "device : Device or str, optional\n"
      "    Then ``source`` is its context.\n"
      "in_order : bool, optional\n"
      "    A new queue whose commands run in order (the default) or may overtake each other.\n"
      "enable_profiling : bool, optional\n"
      "    A new queue whose events know when their commands ran.\n\n"
      "Raises\n------\n"
      "TypeError, ValueError\n    If the arguments name no queue: what they were, what to pass.\n"
      "DeviceError\n    If there is no such device.");
  bind_identity(type, "SyclQueueRef");
  type.def(
          "__init__(self, source: QueueLike | tuple[Context, DeviceLike] = None, "
          "device: DeviceLike = None, *, in_order: bool | None = None, "
          "enable_profiling: bool = False) -> None"_sig,
          [](nb::pointer_and_handle<queue> self, nb::handle source, nb::handle device,
             std::optional<bool> in_order, bool enable_profiling) {
            initialise(self, to_queue_with(source, device, {in_order, enable_profiling}));
          })
      .def_prop_ro("device", [](const queue& q) { return q.get_device(); })
      .def_prop_ro("context", [](const queue& q) { return q.get_context(); })
      .def_prop_ro(
          "sycl_device", [](const queue& q) { return q.get_device(); }, "dpctl's name of device.")
      .def_prop_ro(
          "sycl_context", [](const queue& q) { return q.get_context(); },
          "dpctl's name of context.")
      .def_prop_ro("backend", [](const queue& q) { return backend_name(q.get_backend()); })
      .def_prop_ro("is_in_order", [](const queue& q) { return q.is_in_order(); })
      .def_prop_ro(
          "has_enable_profiling",
          [](const queue& q) { return q.has_property<sycl::property::queue::enable_profiling>(); })
      .def_prop_ro(
          "is_idle", [](const queue& q) { return is_idle(q); },
          "Whether no command is waiting or running.")
      .def_prop_ro(
          "native",
          [](const queue& q) {
            leaves_natively(q);
            return native_handle(q);
          },
          "cl_command_queue, ze_command_queue_handle_t (or an immediate command list) or "
          "CUstream as an integer. Borrowed: valid as long as this object lives; retain it "
          "with the driver to keep it longer.")
      .def(
          "wait", [](const queue& q) { wait(q); }, nb::call_guard<waiting_without_gil>(),
          "Wait until all commands have finished. Raises their asynchronous errors.")
      .def(
          "submit_barrier(self, depends_on: Sequence[EventLike] = ()) -> Event"_sig,
          [](queue& q, nb::handle depends_on) {
            const std::vector<sycl::event> before = to_events(depends_on, "depends_on");
            const gil_released released;
            return event(before.empty() ? q.ext_oneapi_submit_barrier()
                                        : q.ext_oneapi_submit_barrier(before),
                         q);
          },
          "Order commands: later ones wait for those before.\n\n"
          "Parameters\n----------\n"
          "depends_on : sequence of Event, optional\n    What later commands wait for; all "
          "commands "
          "so far by default.\n\n"
          "Returns\n-------\n"
          "Event\n    Complete when those are.")
      .def("__reduce__(self) -> tuple[Any, ...]"_sig, reduce)
      .def(
          "_get_capsule(self) -> object"_sig,
          [](const queue& q) {
            leaves(q);
            return make_capsule(q, "SyclQueueRef");
          },
          "A fresh \"SyclQueueRef\" capsule.")
      .def("__repr__", [](const queue& q) {
        return "<usmx.Queue on " + described(q.get_device()) +
               (q.is_in_order() ? ", in order" : "") +
               (q.has_property<sycl::property::queue::enable_profiling>() ? ", profiling" : "") +
               ">";
      });
}

}  // namespace

void bind_context_and_queue(nb::module_& m) {
  bind_context(m);
  bind_queue(m);
}

}  // namespace usmx::python
