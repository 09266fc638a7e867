// Text of other libraries in messages: short, on one line, and readable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/format.hpp"

namespace usmx::detail {

/// 'value' with its quotes: control characters are escaped, long values are cut.
inline std::string quoted(std::string_view value) {
  constexpr std::size_t most = 40;
  std::string text = "'";
  for (const char c : value.substr(0, most)) {
    const auto code = static_cast<unsigned char>(c);
    text += code >= 0x20 && code < 0x7f ? std::string(1, c) : format("\\x{:02x}", code);
  }
  return text + (value.size() > most ? "..." : "") + "'";
}

}  // namespace usmx::detail
