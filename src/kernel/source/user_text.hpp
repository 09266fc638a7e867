// Marks what a user wrote inside a generated text, so that the compiler's messages about the
// generated text become messages about the user's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "usmx/error.hpp"

namespace usmx::detail {

/// `text` between comments that name the argument which held it: "map_expr".
std::string marked(std::string_view argument, std::string_view text);

/// The error of a compilation of `source`, with the messages about marked text only, with line
/// numbers in that text: "map_expr:1:5: error: ...". The same error if there are none.
build_error in_marked_text(std::string_view source, const build_error& e);

}  // namespace usmx::detail
