// dpnp takes an object's `sycl_queue` to compute where the data is, and refuses every class but
// dpctl's: so under dpctl's names we hand out dpctl's objects, made from a capsule, without
// importing dpctl for those who do not use it.
//
// SPDX-License-Identifier: Apache-2.0
#include "support/bindings.hpp"

namespace usmx::python {
namespace {

/// dpctl's queue for one of ours; not valid if dpctl is not imported.
nb::object dpctl_queue(const nb::object& queue) {
  const nb::object dpctl = nb::steal(PyImport_GetModule(nb::str("dpctl").ptr()));
  if (!dpctl.is_valid()) {
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
    return {};
  }
  // Another thread may be in the middle of importing it.
  const nb::object make = nb::getattr(dpctl, "SyclQueue", nb::none());
  if (make.is_none()) return {};
  return make(queue.attr("_get_capsule")());
}

}  // namespace

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
          const nb::object ours = nb::cast(queue_of(self));
          nb::object queue = theirs ? theirs(self) : nb::object();
          if (!queue.is_valid()) queue = dpctl_queue(ours);
          if (!queue.is_valid()) return a.ours ? nb::object(ours.attr(a.ours)) : ours;
          return a.theirs ? nb::object(queue.attr(a.theirs)) : queue;
        },
        nb::is_method(), nb::sig("def (self) -> Any"));
    nb::setattr(type, a.name, nb::handle(reinterpret_cast<PyObject*>(&PyProperty_Type))(getter));
  }
}

}  // namespace usmx::python
