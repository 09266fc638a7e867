// Shapes and ranges as Python writes them, for messages.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace usmx::detail {

/// "(3, 4)", "(3,)", "()".
template <class Lengths>
std::string shape_text(const Lengths& lengths) {
  std::string text = "(";
  for (const auto n : lengths) text += (text.size() > 1 ? ", " : "") + std::to_string(n);
  return text + (lengths.size() == 1 ? ",)" : ")");
}

}  // namespace usmx::detail
