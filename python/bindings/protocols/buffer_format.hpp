// What the buffer protocol says about elements, as one of our element types.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "usmx/dtype.hpp"

namespace usmx::python {

/// An element type and whether its bytes stand in the other order.
struct buffer_element {
  dtype type;
  bool swapped = false;
};

/// Reads a PEP 3118 format such as "<f", "Zd" or "T{i:a:(2,3)d:b:}". Empty if no dtype describes
/// it: text, objects, pointers, bit fields, a byte-swapped record.
std::optional<buffer_element> parse_buffer_format(std::string_view format);

}  // namespace usmx::python
