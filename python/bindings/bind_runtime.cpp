// Platform, Device, Context, Queue and Event for Python, which has none of its own.
// SPDX-License-Identifier: Apache-2.0
#include <sycl/event.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"

namespace usmx::python {
namespace {

template <class T>
bool equals(const T& a, nb::handle b) {
  return nb::isinstance<T>(b) && a == nb::cast<const T&>(b);
}

}  // namespace

void bind_runtime(nb::module_& m) {
  nb::class_<sycl::platform>(m, "Platform");
  nb::class_<sycl::device>(m, "Device")
      .def(
          "__init__",
          [](sycl::device* self, nb::handle source) {
            new (self) sycl::device(to_device(source, "device"));
          },
          nb::arg("source").none() = nb::none())
      .def("__eq__", &equals<sycl::device>)
      .def("__hash__", [](const sycl::device& d) { return std::hash<sycl::device>()(d); })
      .def_prop_ro("filter_string", &filter_string);
  nb::class_<sycl::context>(m, "Context");
  nb::class_<sycl::queue>(m, "Queue")
      .def(
          "__init__",
          [](sycl::queue* self, nb::handle source) {
            new (self) sycl::queue(to_queue(source, "queue"));
          },
          nb::arg("source").none() = nb::none())
      .def("__eq__", &equals<sycl::queue>)
      .def("__hash__", [](const sycl::queue& q) { return std::hash<sycl::queue>()(q); })
      .def_prop_ro("device", [](const sycl::queue& q) { return q.get_device(); })
      .def_prop_ro("context", [](const sycl::queue& q) { return q.get_context(); })
      .def(
          "wait", [](sycl::queue& q) { q.wait_and_throw(); },
          nb::call_guard<nb::gil_scoped_release>());
  nb::class_<sycl::event>(m, "Event");
  m.def("devices", &devices);
}

}  // namespace usmx::python
