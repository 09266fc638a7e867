// Arrow without Python: the C structs of its data, device and stream interfaces, and the one
// function that decides whether they describe an array. The layout of the structs is the protocol;
// the names are ours.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "usmx/dlpack.hpp"
#include "usmx/view.hpp"

namespace usmx::arrow {

/// ArrowSchema: the type of an array. Released if `release` is null; so are all structs here.
struct schema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t child_count;
  schema** children;
  schema* dictionary;
  void (*release)(schema*);
  void* private_data;
};
/// Elements may be missing.
inline constexpr std::int64_t nullable_flag = 2;

/// ArrowArray: lengths and buffers. The first buffer says which elements there are, a bit each.
struct array_data {
  std::int64_t length;
  std::int64_t null_count;  // -1: was not counted
  std::int64_t offset;
  std::int64_t buffer_count;
  std::int64_t child_count;
  const void** buffers;
  array_data** children;
  array_data* dictionary;
  void (*release)(array_data*);
  void* private_data;
};

/// ArrowDeviceArray. The kinds of devices are DLPack's; `sync_event` is what the device's own
/// library waits for: a CUevent* (CUDA), a sycl::event* (oneAPI), or null.
struct device_array {
  array_data elements;
  std::int64_t device_id;  ///< -1 for the host
  dlpack::device_type device_type;
  void* sync_event;
  std::int64_t reserved[3];
};

/// ArrowArrayStream: arrays of one type, one after the other. The end is a released array.
struct stream {
  int (*get_schema)(stream*, schema*);
  int (*get_next)(stream*, array_data*);
  const char* (*get_last_error)(stream*);
  void (*release)(stream*);
  void* private_data;
};

/// ArrowDeviceArrayStream: the same of arrays on one kind of device.
struct device_stream {
  dlpack::device_type device_type;
  int (*get_schema)(device_stream*, schema*);
  int (*get_next)(device_stream*, device_array*);
  const char* (*get_last_error)(device_stream*);
  void (*release)(device_stream*);
  void* private_data;
};

/// Whether a struct has nothing left, and `release` gives what it holds back to the library that
/// made it, once.
template <class Struct>
bool is_released(const Struct& s) noexcept {
  return s.release == nullptr;
}
inline bool is_released(const device_array& a) noexcept { return a.elements.release == nullptr; }
template <class Struct>
void release(Struct& s) noexcept {
  if (s.release != nullptr) s.release(&s);
  s.release = nullptr;
}
inline void release(device_array& a) noexcept { release(a.elements); }

/// The struct was moved away.
template <class Struct>
void forget(Struct& s) noexcept {
  s.release = nullptr;
}
inline void forget(device_array& a) noexcept { forget(a.elements); }

/// A struct that was moved here from where another library keeps it: released exactly once.
template <class Struct>
class owned {
 public:
  owned() noexcept : value_{} {}
  /// `from` counts as released from now on.
  explicit owned(Struct& from) noexcept : value_(from) { arrow::forget(from); }
  owned(owned&& o) noexcept : owned(o.value_) {}
  owned& operator=(owned&&) = delete;
  ~owned() { arrow::release(value_); }

  Struct& operator*() noexcept { return value_; }
  Struct* operator->() noexcept { return &value_; }
  /// Where another library's function writes a struct.
  Struct* out() noexcept { return &value_; }
  bool empty() const noexcept { return is_released(value_); }

 private:
  Struct value_;
};

/// What is wrong with a struct: the field, what it held, and what is expected; false if nothing is.
struct finding {
  fault code = fault::none;
  std::string text;

  explicit operator bool() const noexcept { return code != fault::none; }
};

/// What a schema says of the elements: their type, and the lengths of fixed-size lists around them.
struct element_type {
  dtype type;
  extents inner;
};

/// Reads the type. Numbers, `arrow.bool8`, and fixed-size lists of them, which are the further
/// dimensions of an array. Reads `metadata`, which has no length: it is trusted as C does.
finding read_type(const schema& s, element_type& out);
/// Whether the schema describes columns (a struct) rather than an array.
bool is_table(const schema& s) noexcept;

/// Turns an array into a checked, read-only view of kind `unknown`. Reads no elements; with
/// `host_reads` it looks for missing ones in the bits of the producer, which tell more than a
/// count. `out` is written only on success.
finding check(const schema& s, const array_data& a, bool host_reads, any_view& out);

/// The format string of an element type, null for complex numbers and records, which Arrow does not
/// have. A boolean of one byte is the extension type `arrow.bool8` over "c".
const char* format_of(const dtype& type) noexcept;
/// The metadata of a schema of that type; empty for most.
std::string metadata_of(const dtype& type);

}  // namespace usmx::arrow
