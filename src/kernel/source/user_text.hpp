// What a user wrote, inside of a text that was generated around it: marked there, so that what the
// compiler says about the one can be said about the other.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "usmx/error.hpp"

namespace usmx::detail {

/// `text` between comments that name the argument it came by: "map_expr".
std::string marked(std::string_view argument, std::string_view text);

/// The error of a compilation of `source`, with those messages that are about marked text, in its
/// lines: "map_expr:1:5: error: ...". The same error if there are none.
build_error in_marked_text(std::string_view source, const build_error& e);

}  // namespace usmx::detail
