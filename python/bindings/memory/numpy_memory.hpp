// NumPy's arrays as its binary interface describes them, and the way from one to the pool of ours
// that it was allocated from.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/bindings.hpp"

namespace usmx::python {

/// The beginning of each array, the same since NumPy 1.22.
struct numpy_array {
  static constexpr int owns_data = 0x0004;
  static constexpr int is_writable = 0x0400;
  /// Writing is deprecated: its buffer says read-only.
  static constexpr unsigned int warns_on_writing = 0x80000000U;

  PyObject head;
  char* data;
  int rank;
  Py_ssize_t* shape;
  Py_ssize_t* strides;  // in bytes
  PyObject* base;
  PyObject* descr;
  int flags;
  PyObject* weak_references;
  void* buffer_info;
  PyObject* handler;
};

/// NumPy's own class, without those derived from it. NumPy is not imported.
bool is_numpy_type(PyTypeObject* type) noexcept;
/// An array of that class or of a derived one; null for all other objects.
const numpy_array* numpy_array_in(PyObject* object) noexcept;

/// Who allocated the memory of an array.
struct numpy_owner {
  /// The queue of the block of `usmx.numpy_memory` that it was allocated in; null for other memory.
  const sycl::queue* queue = nullptr;
  /// NumPy itself did, by malloc.
  bool is_numpy = false;
};
/// Neither for a view of another array.
numpy_owner owner_of_numpy_block(const numpy_array& array) noexcept;

void bind_numpy_memory(nb::module_& m);

}  // namespace usmx::python
