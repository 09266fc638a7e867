// The library's exceptions as Python classes, and SYCL's own as RuntimeError with their text.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>

#include <new>
#include <typeinfo>

#include <sycl/exception.hpp>

#include "support/bindings.hpp"
#include "usmx/error.hpp"
#include "usmx/placement.hpp"

namespace usmx::python {

void set_build_error(const build_error& error) {
  static PyObject* const type =
      nb::object(nb::module_::import_("usmx._usmx").attr("BuildError")).release().ptr();
  nb::object raised = nb::handle(type)(error.what());
  raised.attr("log") = error.log();
  PyErr_SetObject(type, raised.ptr());
}

void bind_errors(nb::module_& m) {
  // nanobind asks translators last registered first, so the general one stands first.
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const sycl::exception& e) {
      PyErr_SetString(PyExc_RuntimeError, e.what());
    } catch (const std::bad_cast&) {
      PyErr_SetString(PyExc_TypeError, "an object is of another type than expected");
    } catch (const std::bad_alloc&) {  // its own text names a C++ class
      PyErr_SetString(PyExc_MemoryError, "the host has not enough memory");
    }
  });
  const auto define = [&](auto exception, const char* doc) {
    exception.attr("__module__") = "usmx";
    exception.attr("__doc__") = doc;
  };
  define(nb::exception<interop_error>(m, "InteropError", PyExc_ValueError),
         "Memory of another library cannot be used as described: the message names the field,\n"
         "what it held and what was expected.");
  define(nb::exception<placement_error>(m, "ExecutionPlacementError", PyExc_ValueError),
         "No kernel can use these arrays together, or on this queue: the message says which live\n"
         "where, and the call that moves them.");
  define(nb::exception<allocation_error>(m, "AllocationError", PyExc_MemoryError),
         "USM could not be allocated: the message says bytes, kind, device and free memory.");
  define(nb::exception<build_error>(m, "BuildError", PyExc_RuntimeError),
         "Kernel source could not be built: the message carries the compiler's log.");
  // Asked before the class's own translator: adds the whole log.
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const build_error& e) {
      set_build_error(e);
    }
  });
  define(nb::exception<device_error>(m, "DeviceError", PyExc_RuntimeError),
         "No matching SYCL device, platform or driver: the message says which are available and "
         "what to install.");
  // Asked first: where Python had no memory, nanobind throws an error of its own that names a
  // conversion, or one that was thrown meanwhile would take the place.
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    if (PyErr_Occurred() != nullptr && PyErr_ExceptionMatches(PyExc_MemoryError) != 0) return;
    std::rethrow_exception(p);
  });
}

}  // namespace usmx::python
