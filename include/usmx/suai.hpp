// The `__sycl_usm_array_interface__` protocol without Python: the fields of its dictionary as plain
// values, and the one function that decides whether they describe an array.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "usmx/dtype.hpp"
#include "usmx/view.hpp"

namespace usmx::suai {

/// The name of the attribute.
inline constexpr const char* attribute = "__sycl_usm_array_interface__";
/// The only version.
inline constexpr std::int64_t version = 1;

/// The values of a dictionary, as C++ types. `strides` and `offset` are in
/// elements; `data` is the address that `offset` counts from.
struct fields {
  std::string typestr;
  std::optional<dtype::fields> typedescr;
  extents shape;
  std::optional<extents> strides;
  std::int64_t offset = 0;
  std::uintptr_t data = 0;
  bool read_only = false;
  std::int64_t version = suai::version;
};

/// Turns fields into a checked view of kind `unknown`. Pure: touches neither memory nor a device.
/// An empty array may have any strides and a null pointer, and its `offset` is not applied. A
/// typedescr must be as long as the element; it gives a 'V' its fields and is dropped for others.
/// `out` is written only on success. Complexity: O(rank). Throws nothing but std::bad_alloc.
fault check(const fields& f, any_view& out);

/// The message for a fault in `f`: field, what it held, what was expected.
/// Example: "strides: (1,) must have one stride for each dimension of shape (2, 3)". Control
/// characters are escaped, long values are cut. Empty for fault::none.
std::string describe(const fields& f, fault code);

/// The fields that describe a view: `data` is its lowest address and `offset` leads to its first
/// element, the form every consumer understands; `strides` is empty for C order. `check` gives the
/// same elements back.
fields describe_view(const any_view& v);

}  // namespace usmx::suai
