// The functions behind usmx/python_api.hpp: what other compiled modules may do with our objects.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/python_api.hpp"

#include <sycl/exception.hpp>

#include "memory/memory.hpp"
#include "protocols/protocols.hpp"
#include "support/bindings.hpp"

namespace usmx::python {
namespace {

/// The class in this module that stands for an exception; a borrowed reference, kept for ever.
PyObject* error_class(const char* name) {
  const nb::object module = nb::module_::import_("usmx._usmx");
  return nb::object(module.attr(name)).release().ptr();
}

bool set_error(const std::exception_ptr* error) noexcept {
  static PyObject* const interop = error_class("InteropError");
  static PyObject* const allocation = error_class("AllocationError");
  static PyObject* const device = error_class("DeviceError");
  try {
    std::rethrow_exception(*error);
  } catch (const interop_error& e) {
    PyErr_SetString(interop, e.what());
  } catch (const allocation_error& e) {
    PyErr_SetString(allocation, e.what());
  } catch (const build_error& e) {
    set_build_error(e);
  } catch (const device_error& e) {
    PyErr_SetString(device, e.what());
  } catch (const sycl::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  } catch (...) {
    return false;
  }
  return true;
}

/// The Python class of what nanobind's own exceptions stand for.
PyObject* builtin_class(nb::exception_type type) {
  switch (type) {
    case nb::exception_type::type_error:
      return PyExc_TypeError;
    case nb::exception_type::value_error:
      return PyExc_ValueError;
    case nb::exception_type::buffer_error:
      return PyExc_BufferError;
    case nb::exception_type::index_error:
      return PyExc_IndexError;
    case nb::exception_type::key_error:
      return PyExc_KeyError;
    default:
      return PyExc_RuntimeError;
  }
}

/// Runs `body`; what it throws becomes a Python error and `failed` the result.
template <class Result, class Body>
Result guarded(Result failed, Body body) noexcept {
  try {
    return body();
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const nb::builtin_exception& e) {
    PyErr_SetString(builtin_class(e.type()), e.what());
  } catch (const std::exception& e) {
    const std::exception_ptr error = std::current_exception();
    if (set_error(&error)) return failed;
    PyObject* type = PyExc_RuntimeError;
    if (dynamic_cast<const std::invalid_argument*>(&e) != nullptr) type = PyExc_ValueError;
    if (dynamic_cast<const std::bad_alloc*>(&e) != nullptr) type = PyExc_MemoryError;
    PyErr_SetString(type, e.what());
  }
  return failed;
}

/// No memory objects: these can be emptied by `free()` while a function still looks at them.
const array* own_array(PyObject* object) noexcept {
  return guarded<const array*>(nullptr, [&] { return array_of(object); });
}

PyObject* import_object(PyObject* object) noexcept {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    std::optional<array> a = import_array(object);
    if (!a) return nullptr;
    return wrap_array(*std::move(a)).release().ptr();
  });
}

PyObject* import_host_object(PyObject* object) noexcept {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    std::optional<array> a = import_array(object, {.host = true});
    if (!a) return nullptr;
    return wrap_array(*std::move(a)).release().ptr();
  });
}

PyObject* wrap(const array* elements) noexcept {
  return guarded<PyObject*>(nullptr, [&] { return wrap_array(*elements).release().ptr(); });
}

bool wait_for(const array* elements) noexcept {
  return guarded(false, [&] {
    wait_for_work(*elements);
    return true;
  });
}

void import_queue(PyObject* object, std::optional<sycl::queue>* out) noexcept {
  out->reset();
  guarded(0, [&] {
    out->emplace(to_queue(object));
    return 0;
  });
}

PyObject* wrap_queue(const sycl::queue* queue) noexcept {
  return guarded<PyObject*>(nullptr, [&] { return nb::cast(*queue).release().ptr(); });
}

}  // namespace

void bind_python_api(nb::module_& m) {
  static python_api table;
  table.array_of = own_array;
  table.import_array = import_object;
  table.wrap_array = wrap;
  table.wait = wait_for;
  table.import_queue = import_queue;
  table.wrap_queue = wrap_queue;
  table.set_error = set_error;
  table.import_host = import_host_object;
  m.attr("_api") = nb::steal(PyCapsule_New(&table, python_api::capsule_name, nullptr));
}

}  // namespace usmx::python
