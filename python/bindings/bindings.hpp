// What the binding files share: how Python objects become the library's nouns, and back. Each
// function stands in the file that its section names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <nanobind/nanobind.h>

#include "usmx/array.hpp"
#include "usmx/runtime.hpp"

namespace usmx::python {

namespace nb = nanobind;

// One per file; module.cpp calls them in this order.
void bind_errors(nb::module_& m);     // bind_errors.cpp: exceptions and their translation
void bind_runtime(nb::module_& m);    // bind_runtime.cpp: Platform, Device, Context, Queue, Event
void bind_memory(nb::module_& m);     // bind_memory.cpp: MemoryUSM*
void bind_array(nb::module_& m);      // bind_array.cpp: ndarray and the creation functions
void bind_protocols(nb::module_& m);  // protocols.cpp: the table of protocols, asarray's way in
void bind_kernel(nb::module_& m);     // bind_kernel.cpp: run-time compiled kernels

// --- syclobj.cpp: the many ways to say "this queue", "this context" ---------------------------

/// A context and, where the object named one, the queue that came with it.
struct sycl_origin {
  sycl::context context;
  std::optional<sycl::queue> queue;
};
/// Everything the protocol allows as `syclobj`: a filter string, a Context or Queue of ours or
/// dpctl's, a fresh "SyclContextRef" or "SyclQueueRef" capsule, an object with `_get_capsule()`.
/// TypeError or ValueError says what it was and what to pass; `where` names the field in them.
sycl_origin to_origin(nb::handle obj, const char* where = "syclobj");
/// For `queue=` and `device=` arguments: as above, also a Device; None gives the default queue.
/// A context alone gives its cached queue.
sycl::queue to_queue(nb::handle obj, const char* where = "queue");
sycl::device to_device(nb::handle obj, const char* where = "device");

// --- bind_memory.cpp / bind_array.cpp ---------------------------------------------------------

/// Memory in Python is an array of bytes with another face.
nb::object wrap_memory(array bytes);
nb::object wrap_array(array elements);
/// The array inside a MemoryUSM* / an ndarray of ours; null for any other object. No error is set.
const array* memory_of(nb::handle obj) noexcept;
const array* array_of(nb::handle obj) noexcept;

// --- protocols.cpp ------------------------------------------------------------------------------

/// The array that a foreign object describes, without a copy; empty if it speaks no protocol that
/// carries USM. Reads the object's attribute once. Throws as the checks do.
std::optional<array> import_array(nb::handle obj);
/// A fresh dictionary of `__sycl_usm_array_interface__`.
nb::dict export_suai(const array& a);

// --- python_owner.cpp -----------------------------------------------------------------------------

/// Keeps a Python object alive as long as the memory it lent us; gives it back with the GIL held,
/// from whatever thread the last array dies on, and does nothing once the interpreter is gone.
shared_owner own_python(nb::object object, void* base, std::size_t bytes);

}  // namespace usmx::python
