// What the files that bind Platform, Device, Context, Queue and Event share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <sycl/event.hpp>

#include "support/attributes.hpp"
#include "support/bindings.hpp"
#include "support/self.hpp"
#include "support/signature.hpp"
#include "support/text.hpp"

namespace usmx::python {

void bind_platform_and_device(nb::module_& m);            // bind_runtime.cpp
void bind_device_info(nb::class_<sycl::device>& device);  // bind_device_info.cpp
void bind_context_and_queue(nb::module_& m);              // bind_queue.cpp
void bind_event(nb::module_& m);                          // event.cpp

/// An Event of usmx or dpctl, or a fresh "SyclEventRef" capsule. TypeError names `where`.
sycl::event to_event(nb::handle obj, const char* where);
/// One of these or a sequence of them, for `depends_on=`; None is none.
std::vector<sycl::event> to_events(nb::handle obj, const char* where);

/// "opencl:cpu:0 (name)", "a sub-device of opencl:cpu:0 (name)": for reprs and error messages.
std::string described(const sycl::device& device);

/// Whether another library's object hands out a capsule of that name with the same SYCL object.
template <class T>
bool same_behind_capsule(const T& self, nb::handle other, const char* capsule_name) {
  if (capsule_name == nullptr || PyType_Check(other.ptr())) return false;
  const nb::object get = attribute_or_none(other, "_get_capsule");
  if (get.is_none()) return false;
  const nb::object capsule = get();
  return PyCapsule_IsValid(capsule.ptr(), capsule_name) != 0 &&
         self == *static_cast<const T*>(PyCapsule_GetPointer(capsule.ptr(), capsule_name));
}

/// SYCL objects are references: equal and of equal hash when they mean the same object below, also
/// if one of them is dpctl's. A copy is the object itself. `capsule_name` is that of the capsule
/// which carries such an object.
template <class T>
void bind_identity(nb::class_<T>& type, const char* capsule_name = nullptr) {
  type.attr("__module__") = "usmx";  // where users find it, not where it is compiled
  type.def(
          "__eq__(self, other: object?, /) -> bool"_sig,
          [capsule_name](const T& self, nb::handle other) {
            if (is_ready<T>(other)) return self == *nb::inst_ptr<T>(other);
            return same_behind_capsule(self, other, capsule_name);
          },
          nb::is_operator())
      .def("__hash__", [](const T& self) { return std::hash<T>()(self); })
      .def("__copy__(self) -> Self"_sig,
           [](nb::object self) {
             static_cast<void>(self_of<T>(self));
             return self;
           })
      .def("__deepcopy__(self, memo: object) -> Self"_sig, [](nb::object self, nb::handle) {
        static_cast<void>(self_of<T>(self));
        return self;
      });
}

/// A fresh capsule with a copy of its own, which it deletes in the end. A consumer copies once more
/// and renames the capsule to "used_<name>", so that it is taken only once.
template <class T>
nb::object make_capsule(const T& object, const char* name) {
  auto* copy = new T(object);
  PyObject* capsule = PyCapsule_New(copy, name, [](PyObject* self) {
    const char* now = PyCapsule_GetName(self);
    delete static_cast<T*>(PyCapsule_GetPointer(self, now));
  });
  if (!capsule) {
    delete copy;
    throw nb::python_error();
  }
  return nb::steal(capsule);
}

}  // namespace usmx::python
