// The ways in which libraries name a queue or a context, each read by one protocol: a filter
// string, a capsule, or an object that hands one out; and the queues of ours as dpctl's.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>

#include "core/format.hpp"
#include "protocols/protocols.hpp"
#include "runtime/runtime_bindings.hpp"
#include "support/attributes.hpp"
#include "support/bindings.hpp"
#include "support/self.hpp"
#include "support/text.hpp"

namespace usmx::python {
namespace {

constexpr const char* expected =
    "expected a filter string, a Queue or Context of usmx or dpctl, a fresh \"SyclQueueRef\" or "
    "\"SyclContextRef\" capsule, or an object with _get_capsule()";

/// "dpctl._sycl_queue.SyclQueue"; nb::type_name leaves the module out for other people's types.
std::string full_name(nb::handle type) {
  return shown(nb::str(type.attr("__module__"))) + '.' + shown(nb::str(type.attr("__qualname__")));
}

std::string described(nb::handle obj) {
  if (nb::isinstance<nb::str>(obj) || nb::isinstance<nb::bytes>(obj)) return describe_value(obj);
  const bool is_class = PyType_Check(obj.ptr());
  return (is_class ? "the class " : "an object of type ") + full_name(is_class ? obj : obj.type());
}

[[noreturn]] void refuse_type(nb::handle obj, const char* where, const char* why,
                              const char* want) {
  const std::string text = detail::format("{}: got {}{}; {}", where, described(obj), why, want);
  throw nb::type_error(text.c_str());
}

/// dpctl's devices have no capsule; what they share with ours is the name.
/// Asked of the class, because the attribute of dpctl's sub-devices raises.
bool is_device_like(nb::handle obj) { return has_attribute(obj.type(), "filter_string"); }

template <class T>
T copy_of(void* p) {
  return *static_cast<const T*>(p);
}

/// A capsule gives a copy and stays as it is: its own destructor deletes the object that it
/// carries.
sycl_origin from_capsule(nb::handle capsule, const char* where) {
  const char* raw_name = PyCapsule_GetName(capsule.ptr());
  const std::string_view name = raw_name ? raw_name : "";
  if (name == "SyclQueueRef") {
    const auto& queue =
        *static_cast<const sycl::queue*>(PyCapsule_GetPointer(capsule.ptr(), raw_name));
    leaves(queue);  // who gave it submits to it
    return {queue.get_context(), queue};
  }
  if (name == "SyclContextRef")
    return {copy_of<sycl::context>(PyCapsule_GetPointer(capsule.ptr(), raw_name)), std::nullopt};
  std::string text = detail::format("{}: got a capsule ", where);
  if (!raw_name)
    text += "without a name; ";
  else if (name.starts_with("used_Sycl"))
    text += detail::format(
        "that was used already ({}): another library took its content over, so ask the producer "
        "for a fresh one with _get_capsule(); ",
        name);
  else if (name == "SyclEventRef" || name == "used_SyclEventRef")
    text += "of an event, which names neither a queue nor a context; ";
  else
    text += detail::format("named \"{}\"; ", name);
  throw nb::value_error((text + expected).c_str());
}

PyObject* capsule_method() {
  static PyObject* const name = PyUnicode_InternFromString("_get_capsule");
  return name;
}

nb::object ask_for_capsule(nb::handle obj) {
  // _get_capsule on a class is a plain function that misses its self.
  if (PyType_Check(obj.ptr())) return {};
  return attribute_or_none(obj, nb::handle(capsule_method()));
}

/// What `_get_capsule()` gives, invalid without such a method. An object of a compiled class, as
/// dpctl's are, can have nothing of its own in the method's place, so that no bound method needs to
/// be made.
nb::object call_for_capsule(nb::handle obj) {
  PyTypeObject* const type = Py_TYPE(obj.ptr());
  if (type->tp_dictoffset == 0 && type->tp_getattro == PyObject_GenericGetAttr) {
    const nb::object method = nb::borrow(_PyType_Lookup(type, capsule_method()));
    if (method.is_valid() &&
        PyType_HasFeature(Py_TYPE(method.ptr()), Py_TPFLAGS_METHOD_DESCRIPTOR) != 0) {
      PyObject* const self = obj.ptr();
      PyObject* const capsule = PyObject_Vectorcall(method.ptr(), &self, 1, nullptr);
      if (capsule == nullptr) throw nb::python_error();
      return nb::steal(capsule);
    }
  }
  const nb::object get = ask_for_capsule(obj);
  return get.is_valid() && !get.is_none() ? get() : nb::object();
}

sycl::queue queue_of(const sycl_origin& origin) {
  if (origin.queue) return *origin.queue;
  return queue_for(origin.context, origin.context.get_devices().front());
}

/// dpctl's sub-devices have no filter string; a context made of one names it all the same.
sycl::device foreign_device(nb::handle obj, const char* where, const char* want) {
  nb::object filter;
  try {
    filter = nb::getattr(obj, "filter_string");
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_ValueError) && !e.matches(PyExc_TypeError)) throw;
    if (!full_name(obj.type()).starts_with("dpctl.")) throw;
    const nb::object context = nb::module_::import_("dpctl").attr("SyclContext")(obj);
    return to_origin(context, where).context.get_devices().front();
  }
  if (!nb::isinstance<nb::str>(filter))
    refuse_type(obj, where, ", whose filter_string is not a str", want);
  return select_device(to_text(filter, where));
}

constexpr const char* expected_queue =
    "expected None for the default queue, a filter string, a Queue, Context or Device of usmx or "
    "dpctl, a fresh \"SyclQueueRef\" or \"SyclContextRef\" capsule, or an object with "
    "_get_capsule()";
/// The last protocol that says where something lives: `sycl_queue`, as arrays' devices have it.
nb::object queue_attribute(nb::handle obj) {
  if (PyType_Check(obj.ptr())) return {};
  nb::object queue = attribute_or_none(obj, "sycl_queue");
  return queue.is_none() ? nb::object() : queue;
}

}  // namespace

sycl_origin to_origin(nb::handle obj, const char* where) {
  if (nb::inst_check(obj)) {
    if (nb::isinstance<sycl::queue>(obj)) {
      const auto& queue = self_of<sycl::queue>(obj);
      return {queue.get_context(), queue};
    }
    if (nb::isinstance<sycl::context>(obj)) return {self_of<sycl::context>(obj), std::nullopt};
    if (nb::isinstance<sycl::device>(obj))
      refuse_type(obj, where, ", which has no context: pass a queue made from it", expected);
  }
  if (nb::isinstance<nb::str>(obj)) {
    const auto& queue = default_queue(select_device(to_text(obj, where)));
    return {queue.get_context(), queue};
  }
  if (PyCapsule_CheckExact(obj.ptr())) return from_capsule(obj, where);
  if (const nb::object capsule = call_for_capsule(obj); capsule.is_valid()) {
    if (!PyCapsule_CheckExact(capsule.ptr()))
      refuse_type(capsule, where, " from _get_capsule()", "expected a capsule from it");
    return from_capsule(capsule, where);
  }
  if (is_device_like(obj))
    refuse_type(obj, where, ", which has no context: pass a queue made from it", expected);
  refuse_type(obj, where, "", expected);
}

sycl::queue to_queue(nb::handle obj, const char* where) {
  if (obj.is_none()) return default_queue();
  if (nb::isinstance<nb::str>(obj)) return default_queue(select_device(to_text(obj, where)));
  if (nb::inst_check(obj)) {
    if (nb::isinstance<sycl::queue>(obj)) return self_of<sycl::queue>(obj);
    if (nb::isinstance<sycl::device>(obj)) return default_queue(self_of<sycl::device>(obj));
    if (nb::isinstance<sycl::context>(obj)) return queue_of(to_origin(obj, where));
  }
  if (PyCapsule_CheckExact(obj.ptr())) return queue_of(from_capsule(obj, where));
  if (nb::object get = ask_for_capsule(obj); get.is_valid() && !get.is_none())
    return queue_of(to_origin(obj, where));
  if (nb::object queue = queue_attribute(obj); queue.is_valid())
    return queue_of(to_origin(queue, where));
  if (!PyType_Check(obj.ptr()) && is_device_like(obj))
    return default_queue(foreign_device(obj, where, expected_queue));
  refuse_type(obj, where, "", expected_queue);
}

sycl::device to_device(nb::handle obj, const char* where) {
  if (obj.is_none()) return select_device("");
  if (nb::isinstance<nb::str>(obj)) return select_device(to_text(obj, where));
  if (nb::isinstance<sycl::device>(obj)) return self_of<sycl::device>(obj);
  return to_queue(obj, where).get_device();
}

namespace {

/// The module dpctl if a program has imported it; not valid otherwise.
nb::object loaded_dpctl() {
  static PyObject* const name = PyUnicode_InternFromString("dpctl");
  // Borrowed: a module stays in the dictionary, or was not needed.
  PyObject* const dpctl = PyDict_GetItemWithError(PyImport_GetModuleDict(), name);
  if (dpctl == nullptr && PyErr_Occurred() != nullptr) throw nb::python_error();
  return nb::borrow(dpctl);
}

/// dpctl's queue for one of ours; not valid without dpctl. For the default queue of a device it is
/// the one that dpctl, dpnp and what is built on them use for that device: they compute only with
/// arrays of one queue.
nb::object dpctl_queue(const sycl::queue& queue) {
  const nb::object dpctl = loaded_dpctl();
  if (!dpctl.is_valid()) return {};
  // Another thread may be in the middle of importing it.
  const nb::object make = attribute_or_none(dpctl, "SyclQueue");
  if (make.is_none()) return {};
  nb::object theirs = make(make_capsule(queue, "SyclQueueRef"));
  const nb::object cached = attribute_or_none(dpctl, "get_device_cached_queue");
  if (!cached.is_none() && queue == default_queue(queue.get_device())) {
    nb::object common = cached(theirs.attr("sycl_device"));
    if (common.attr("sycl_context").equal(theirs.attr("sycl_context"))) return common;
  }
  leaves(queue);
  return theirs;
}

}  // namespace

bool dpctl_is_loaded() { return loaded_dpctl().is_valid(); }

queue_object queue_for_others(const sycl::queue& queue) {
  nb::object theirs = dpctl_queue(queue);
  if (!theirs.is_valid()) return {nb::cast(queue), queue};
  const sycl::queue same = to_queue(theirs, "dpctl.get_device_cached_queue()");
  return {std::move(theirs), same};
}

void bind_dpctl_names(nb::object type, sycl::queue (*queue_of)(nb::handle),
                      nb::object (*theirs)(nb::handle)) {
  struct attribute {
    const char* name;
    const char* ours;    // of our Queue; null for the queue itself
    const char* theirs;  // of dpctl's SyclQueue
  };
  static constexpr attribute attributes[] = {
      {"sycl_queue", nullptr, nullptr},
      {"sycl_device", "device", "sycl_device"},
      {"sycl_context", "context", "sycl_context"},
  };
  for (const attribute& a : attributes) {
    const nb::object getter = nb::cpp_function(
        [queue_of, theirs, &a](nb::handle self) {
          const sycl::queue own = queue_of(self);
          nb::object queue = theirs ? theirs(self) : nb::object();
          if (!queue.is_valid()) queue = dpctl_queue(own);
          if (!queue.is_valid()) {
            const nb::object ours = nb::cast(own);
            return a.ours ? nb::object(ours.attr(a.ours)) : ours;
          }
          return a.theirs ? nb::object(queue.attr(a.theirs)) : queue;
        },
        nb::is_method(), nb::sig("def (self) -> Any"));
    bind_property(type, a.name, getter);
  }
}

}  // namespace usmx::python
