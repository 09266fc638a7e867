// What the binding files share: how Python objects become the library's nouns, and back. Each
// function stands in the file that its section names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <nanobind/nanobind.h>

#include "runtime/event.hpp"
#include "support/containers.hpp"
#include "support/gil.hpp"
#include "usmx/array.hpp"
#include "usmx/error.hpp"
#include "usmx/runtime.hpp"
#include "usmx/wait.hpp"

namespace usmx::python {

namespace nb = nanobind;

// One per file; module.cpp calls them in this order.
void bind_errors(nb::module_& m);     // bind_errors.cpp: exceptions and their translation
void bind_runtime(nb::module_& m);    // bind_runtime.cpp: Platform, Device, Context, Queue, Event
void bind_memory(nb::module_& m);     // memory.cpp: MemoryUSM*
void bind_resources(nb::module_& m);  // resources.cpp: memory resources
void bind_array(nb::module_& m);      // ndarray.cpp: ndarray and the creation functions
void bind_protocols(nb::module_& m);  // protocols.cpp: the table of protocols, asarray's way in
void bind_kernel_limits(nb::module_& m);
void bind_kernel(nb::module_& m);           // bind_kernel.cpp: run-time compiled kernels
void bind_trace(nb::module_& m);            // bind_trace.cpp: recorders of what is done to memory
void bind_transfers(nb::module_& m);        // bind_transfers.cpp: copies, fills, prefetches
void bind_program_cache(nb::module_& m);    // bind_program_cache.cpp: what the disk keeps of them
void bind_kernel_dispatch(nb::module_& m);  // kernel_dispatch.cpp: kernels from Python functions
void bind_elementwise(nb::module_& m);      // bind_elementwise.cpp: kernels from expressions
void bind_operations(nb::module_& m);       // bind_operations.cpp: arithmetic on arrays
void bind_reductions(nb::module_& m);       // bind_reductions.cpp: sums, means, extremes
void bind_algorithms(nb::module_& m);       // bind_algorithms.cpp: sorts, searches, scans
void bind_random(nb::module_& m);           // bind_random.cpp: streams of random numbers
void bind_small_arrays(nb::module_& m);     // small_arrays.cpp: functions of a few elements
void bind_captured(nb::module_& m);         // bind_captured.cpp: what fused functions do
void bind_fused(nb::module_& m);            // bind_fused.cpp: functions fused into kernels
void bind_python_api(nb::module_& m);       // python_api.cpp: what other extensions may call

/// Sets a BuildError with the compiler's log: this module and others that translate it
/// first say the same.
void set_build_error(const build_error& error);

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

// --- syclobj.cpp: what programs written for dpctl and dpnp ask an array for

/// Binds `sycl_queue`, `sycl_device` and `sycl_context`, the names that belong to dpctl: they give
/// dpctl's own objects where dpctl is loaded, which dpnp insists on, and ours where it is not.
/// `queue_of` takes the Python object; so does `theirs`, which may know of a dpctl.SyclQueue
/// already.
void bind_dpctl_names(nb::object type, sycl::queue (*queue_of)(nb::handle),
                      nb::object (*theirs)(nb::handle) = nullptr);

// --- memory.cpp / ndarray.cpp

/// Memory in Python is an array of bytes with another face.
nb::object wrap_memory(array&& bytes);
inline nb::object wrap_memory(const array& bytes) { return wrap_memory(array(bytes)); }
nb::object wrap_array(array&& elements);
inline nb::object wrap_array(const array& elements) { return wrap_array(array(elements)); }
/// The array inside a MemoryUSM* / an ndarray of ours; null for any other object. No error is set.
const array* memory_of(nb::handle obj) noexcept;
/// Its elements are computed if they were not: throws what that throws.
const array* array_of(nb::handle obj);

// --- protocols.cpp ------------------------------------------------------------------------------

/// The array that a foreign object describes, without a copy; empty if it speaks no protocol that
/// carries USM. Reads the object's attribute once. Throws as the checks do.
std::optional<array> import_array(nb::handle obj);
/// A fresh dictionary of `__sycl_usm_array_interface__`.
nb::dict export_suai(const array& a);

// --- buffer_import.cpp

/// Whether elements of a format of PEP 3118 have references to Python objects, which bytes from
/// elsewhere must not replace.
bool has_references(const char* format) noexcept;

/// The bytes behind an object with elements of any type. TypeError if these are Python objects, or
/// have some: their references would not be counted.
void get_bytes(nb::handle obj, Py_buffer& out, int flags);

/// Host memory borrowed through the buffer protocol (bytes, bytearray, memoryview, array.array,
/// NumPy's arrays, ...) for as long as this lives. Needs the GIL to be made and destroyed.
class host_buffer {
 public:
  /// Empty if `obj` has no buffer. With `writable`, BufferError or ValueError if it cannot be
  /// written in place. Elements that element strides cannot reach, misaligned or byte-swapped ones
  /// arrive as a copy in C order and native byte order. TypeError for elements that no dtype
  /// describes.
  static std::optional<host_buffer> borrow(nb::handle obj, bool writable = false);

  host_buffer(host_buffer&& o) noexcept
      : view_(std::move(o.view_)), copy_(std::move(o.copy_)), elements_(std::move(o.elements_)) {}
  host_buffer& operator=(host_buffer&&) = delete;

  /// The elements, of kind `unknown`; read-only if the buffer is.
  const any_view& elements() const noexcept { return elements_; }

 private:
  struct releaser {
    void operator()(Py_buffer* b) const noexcept;
  };
  explicit host_buffer(std::unique_ptr<Py_buffer, releaser> view) : view_(std::move(view)) {}
  void describe(bool writable, bool is_bfloat16);

  std::unique_ptr<Py_buffer, releaser> view_;
  std::unique_ptr<std::byte[]> copy_;
  any_view elements_;
};

// --- python_owner.cpp

/// Keeps a Python object alive as long as its memory is used; gives it back with the GIL held,
/// from any thread that the last array dies on, and does nothing once the interpreter is gone.
shared_owner own_python(nb::object object, void* base, std::size_t bytes);
/// The end of a Python object that holds `a`: call it before `a` ends. Lets go of the GIL if that
/// may free the memory, because the driver may wait for running commands; memory of Python objects
/// is given back with it.
void give_back(array& a) noexcept;
/// For `tp_traverse` of an object that holds `a`: shows the collector the Python object behind it,
/// so that cycles through our memory are found. Only if this is the only holder of the memory: the
/// collector counts references, and several holders share one.
int traverse_lender(const array& a, visitproc visit, void* arg) noexcept;

}  // namespace usmx::python
