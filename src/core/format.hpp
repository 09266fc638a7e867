// Text of values, for messages and generated code: the only header of ours that sees {fmt}.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/base.h>

#include <string>

namespace usmx::detail {

std::string vformat(fmt::string_view text, fmt::format_args values);

/// As std::format. A wrong number or kind of values does not compile.
template <class... Values>
std::string format(fmt::format_string<Values...> text, Values&&... values) {
  return vformat(text.get(), fmt::make_format_args(values...));
}

/// A shape or range as Python writes it: "(3, 4)", "(3,)", "()".
template <class Lengths>
std::string shape_text(const Lengths& lengths) {
  std::string text = "(";
  for (const auto n : lengths) text += format("{}{}", text.size() > 1 ? ", " : "", n);
  return text + (lengths.size() == 1 ? ",)" : ")");
}

}  // namespace usmx::detail
