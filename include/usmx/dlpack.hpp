// DLPack without Python: its C structs, and the one function that decides whether they describe an
// array. The layout of the structs is the protocol (version 1); the names are ours.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "usmx/view.hpp"

namespace usmx::dlpack {

/// DLPackVersion. A struct of another major version has another layout.
struct version {
  std::uint32_t major;
  std::uint32_t minor;
};
/// What we write, and the only major version that is read.
inline constexpr version supported{1, 3};

/// The kinds of devices that we know; the numbers are DLPack's.
enum class device_type : std::int32_t {
  cpu = 1,
  cuda = 2,
  cuda_host = 3,
  rocm = 10,
  rocm_host = 11,
  cuda_managed = 13,
  oneapi = 14,
};

/// DLDevice: a kind, and a number among the devices of that kind.
struct device {
  device_type type;
  std::int32_t id;

  friend bool operator==(const device&, const device&) = default;
};

/// DLDataTypeCode: kinds of elements, of which `handle` is refused.
enum class type_code : std::uint8_t {
  integer = 0,
  unsigned_integer = 1,
  floating = 2,
  handle = 3,
  bfloat = 4,
  complex = 5,
  boolean = 6,
};

/// DLDataType: `lanes` numbers of `bits` bits each are an element; more than one lane is refused.
struct data_type {
  type_code code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

/// DLTensor. Strides are in elements; null means C order.
struct tensor {
  void* data;
  device where;
  std::int32_t rank;
  data_type type;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};

/// DLManagedTensor, the form before version 1: without flags.
struct managed_tensor {
  tensor elements;
  void* context;
  void (*deleter)(managed_tensor*);
};

/// Bits of `versioned_tensor::flags`: the elements must not be written; they are a copy.
inline constexpr std::uint64_t read_only_flag = 1;
inline constexpr std::uint64_t copied_flag = 2;

/// DLManagedTensorVersioned: elements, and what frees them. `deleter` is called once, by the
/// library that takes them.
struct versioned_tensor {
  dlpack::version version;
  void* context;
  void (*deleter)(versioned_tensor*);
  std::uint64_t flags;
  tensor elements;
};

/// DLPackExchangeAPI of version 1.3: the functions that a type offers to C, so that no object of
/// Python is made. All return 0, or -1 with a Python error set, and need the GIL.
struct exchange_header {
  dlpack::version version;
  exchange_header* previous;
};
struct exchange_table {
  exchange_header header;
  int (*allocate)(tensor* prototype, versioned_tensor** out, void* error_context,
                  void (*set_error)(void* error_context, const char* kind, const char* message));
  int (*from_object)(void* object, versioned_tensor** out);
  int (*to_object)(versioned_tensor* elements, void** out);
  int (*view_object)(void* object, tensor* out);
  int (*current_stream)(device_type type, std::int32_t id, void** out);
};

/// Turns a tensor into a checked view of kind `unknown`. Pure: touches neither the elements nor a
/// device; reads `rank` numbers at `shape` and, if it is not null, at `strides`. Faults as
/// suai::check, and shape_null. `out` is written only on success.
/// Throws nothing but std::bad_alloc.
fault check(const tensor& t, bool read_only, any_view& out);

/// The message for a fault in `t`: field, what it held, what was expected. Empty for fault::none.
std::string describe(const tensor& t, fault code);

/// The element type in DLPack's terms; false for records, which it does not have.
bool describe_type(const dtype& type, data_type& out) noexcept;

}  // namespace usmx::dlpack
