// The interface between compiled modules: a table of C functions that `usmx` publishes, so that
// extensions built by any compiler or binding library can use Python's arrays.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <optional>

#include "usmx/array.hpp"

// As CPython declares it: this header needs no Python.h.
struct _object;

namespace usmx {

/// What the capsule `usmx._usmx._api` points to. Call with the GIL held. No function throws: those
/// that fail set a Python error. New members are added at the end and raise `revision`; `version`
/// changes when an old extension could no longer use the table.
struct python_api {
  static constexpr const char* capsule_name = "usmx._usmx._api";
  static constexpr std::uint32_t current_version = 1;
  static constexpr std::uint32_t current_revision = 1;

  std::uint32_t version = current_version;
  std::uint32_t revision = current_revision;

  /// The array inside a usmx.ndarray, which lives as long as the object; null for every other
  /// object, without an error.
  const array* (*array_of)(_object* object) noexcept = nullptr;
  /// A new usmx.ndarray on the memory of an object of any library, without a copy. Null without an
  /// error if the object supports no protocol for USM, null with one if it is malformed.
  _object* (*import_array)(_object* object) noexcept = nullptr;
  /// A new usmx.ndarray; null and MemoryError on failure.
  _object* (*wrap_array)(const array* elements) noexcept = nullptr;
  /// Waits until the memory has no pending work, without the GIL where that takes time. False and a
  /// Python error if that work failed.
  bool (*wait)(const array* elements) noexcept = nullptr;

  /// The queue that an object names: a Queue of ours or dpctl's, a capsule, a filter string, a
  /// device; None is the default queue. `out` is empty and a Python error set if it names none.
  void (*import_queue)(_object* object, std::optional<sycl::queue>* out) noexcept = nullptr;
  /// A new usmx.Queue; null and a Python error on failure.
  _object* (*wrap_queue)(const sycl::queue* queue) noexcept = nullptr;

  /// Sets the Python error that stands for a C++ exception of usmx or SYCL; false for any other.
  bool (*set_error)(const std::exception_ptr* error) noexcept = nullptr;

  // Since revision 1.
  /// As `import_array`, and also of memory of the host, in place: NumPy's arrays, other buffers,
  /// Arrow's and JAX's, where the default device uses memory of the host. Its kind is `unknown`.
  _object* (*import_host)(_object* object) noexcept = nullptr;
};

}  // namespace usmx
