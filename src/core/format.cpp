// Compiles what {fmt} needs once, so that all other sources include only its small header.
// SPDX-License-Identifier: Apache-2.0
#include "core/format.hpp"

// Another library in the process may have another version of {fmt}.
#pragma GCC visibility push(hidden)
#define FMT_HEADER_ONLY 1
#include <fmt/format.h>
#pragma GCC visibility pop

namespace usmx::detail {

std::string vformat(fmt::string_view text, fmt::format_args values) {
  return fmt::vformat(text, values);
}

std::string fault_text(fault code, std::string_view held) {
  return format("{}: {}{}{}", field_of(code), held, held.empty() ? "" : " ", message(code));
}

void require_valid(fault code, std::string_view held) {
  if (code != fault::none) throw interop_error(code, fault_text(code, held));
}

}  // namespace usmx::detail
