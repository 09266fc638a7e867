// Text of values, for messages and generated code: the only header of ours that sees {fmt}.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/base.h>

#include <functional>
#include <string>
#include <string_view>

#include "usmx/error.hpp"

namespace usmx::detail {

std::string vformat(fmt::string_view text, fmt::format_args values);

/// As std::format. A wrong number or kind of values does not compile. An object and not a function,
/// so that a call with a std::string does not find std::format as well.
struct format_text {
  template <class... Values>
  std::string operator()(fmt::format_string<Values...> text, Values&&... values) const {
    return detail::vformat(text.get(), fmt::make_format_args(values...));
  }
};
inline constexpr format_text format{};

/// A shape or range as Python writes it: "(3, 4)", "(3,)", "()".
template <class Lengths>
std::string shape_text(const Lengths& lengths) {
  std::string text = "(";
  for (const auto n : lengths) text += format("{}{}", text.size() > 1 ? ", " : "", n);
  return text + (lengths.size() == 1 ? ",)" : ")");
}

/// "a, b, c": the items, or a text of each.
template <class Items, class Text = std::identity>
std::string joined(const Items& items, Text text_of = {}) {
  std::string text;
  for (const auto& item : items) {
    if (!text.empty()) text += ", ";
    text += std::invoke(text_of, item);
  }
  return text;
}

/// The message for a fault: "shape: (1, -2) has a negative length; ...", from its field, what that
/// held, which may be empty, and the rule.
std::string fault_text(fault code, std::string_view held = {});
/// Throws interop_error with that message, unless the code is none.
void require_valid(fault code, std::string_view held = {});

}  // namespace usmx::detail
