// Memory of dpctl.memory by the C functions that dpctl offers for it: they tell what the dictionary
// of `__sycl_usm_array_interface__` tells, which dpctl makes anew each time it is read.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "memory/memory.hpp"
#include "memory/reach.hpp"
#include "protocols/protocols.hpp"

namespace usmx::python {
namespace {

/// Of dpctl_capi.h. They are called with objects of dpctl's classes only, and cannot fail.
struct dpctl_functions {
  void* (*address)(PyObject*) = nullptr;
  std::size_t (*bytes)(PyObject*) = nullptr;
  /// The sycl::queue, which lives as long as the object.
  void* (*queue)(PyObject*) = nullptr;
};
dpctl_functions dpctl;  // guarded by the GIL

struct dpctl_class {
  const char* name;
  usm_kind kind;
  PyTypeObject* type = nullptr;
};
std::array<dpctl_class, 3> classes{{{"MemoryUSMDevice", usm_kind::device},
                                    {"MemoryUSMShared", usm_kind::shared},
                                    {"MemoryUSMHost", usm_kind::host}}};

/// The kind of memory of an object of just this class: dpctl asked the driver when it was made, and
/// refused memory of another kind. Unknown for derived classes, which can be exchanged.
usm_kind kind_by_class(PyTypeObject* type) noexcept {
  for (const dpctl_class& c : classes) {
    if (c.type == type) return c.kind;
  }
  return usm_kind::unknown;
}

/// A function of a module made with Cython, if it is there with this signature; null otherwise.
template <class Function>
bool find_function(PyObject* functions, const char* name, const char* signature, Function& out) {
  PyObject* const capsule = PyDict_GetItemString(functions, name);
  if (capsule == nullptr || PyCapsule_IsValid(capsule, signature) == 0) return false;
  out = reinterpret_cast<Function>(PyCapsule_GetPointer(capsule, signature));
  return true;
}

/// The dictionary of dpctl's module; null if it is not imported. No code of Python runs.
PyObject* dictionary_of_dpctl() {
  PyObject* const module = PyDict_GetItemString(PyImport_GetModuleDict(), "dpctl.memory._memory");
  return module != nullptr && PyModule_Check(module) ? PyModule_GetDict(module) : nullptr;
}

/// One of dpctl's three classes, or one derived from them that describes itself by dpctl's own
/// attribute. Their base alone has objects without memory.
bool is_memory_of_dpctl(PyTypeObject* type) {
  if (type->tp_getattro != PyObject_GenericGetAttr || !speaks_as_dpctl(type)) return false;
  PyObject* const found = dictionary_of_dpctl();
  if (found == nullptr) return false;
  bool is_one = false;
  for (dpctl_class& c : classes) {
    PyObject* const known = PyDict_GetItemString(found, c.name);
    if (known == nullptr || !PyType_Check(known)) continue;
    auto* const known_type = reinterpret_cast<PyTypeObject*>(known);
    is_one |= PyType_IsSubtype(type, known_type) != 0;
    // Static, so that it stays and its objects cannot get or leave it.
    if (PyType_HasFeature(known_type, Py_TPFLAGS_HEAPTYPE) == 0) c.type = known_type;
  }
  PyObject* const functions = PyDict_GetItemString(found, "__pyx_capi__");
  if (!is_one || functions == nullptr || !PyDict_Check(functions)) return false;
  return find_function(functions, "Memory_GetUsmPointer",
                       "DPCTLSyclUSMRef (struct Py_MemoryObject *)", dpctl.address) &&
         find_function(functions, "Memory_GetNumBytes", "size_t (struct Py_MemoryObject *)",
                       dpctl.bytes) &&
         find_function(functions, "Memory_GetQueueRef",
                       "DPCTLSyclQueueRef (struct Py_MemoryObject *)", dpctl.queue);
}

nb::object offer_memory(nb::handle obj) { return nb::borrow(obj); }

std::optional<array> import_memory(nb::handle obj, nb::object offer, const import_request&) {
  traced record(trace_action::imported,
                [&] { return trace_subject{.label = trace_text(Py_TYPE(obj.ptr())->tp_name)}; });
  auto* const first = static_cast<std::byte*>(dpctl.address(obj.ptr()));
  const std::size_t bytes = dpctl.bytes(obj.ptr());
  const usm_kind kind = kind_by_class(Py_TYPE(obj.ptr()));
  any_view v;
  // What cannot be is left to the dictionary, and to its messages.
  if (first == nullptr || bytes == 0 ||
      bytes > static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max()) ||
      any_view::row(first, dtype(), static_cast<std::int64_t>(bytes), kind, v) != fault::none) {
    record.cancel();
    return {};
  }
  record.at(first);
  const auto& queue = *static_cast<const sycl::queue*>(dpctl.queue(obj.ptr()));
  shared_owner keep = own_python(std::move(offer), first, bytes);
  std::optional<array> made;
  if (kind != usm_kind::unknown &&
      detail::lies_in_one_allocation(first, first + bytes, queue.get_context())) {
    if (keep->is_shared_again()) detail::came_back_on(keep, queue);
    made = array::over(std::move(v), detail::queue_near(queue, kind, first), std::move(keep));
  } else {
    made = array::bind(std::move(v), queue, std::move(keep));
  }
  reached_without_queue(*made);
  return made;
}

}  // namespace

extern const protocol dpctl_protocol = {nullptr, offer_memory, import_memory, nullptr,
                                        is_memory_of_dpctl};

}  // namespace usmx::python
