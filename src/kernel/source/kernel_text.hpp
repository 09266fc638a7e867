// What the readers of a kernel's text share: its words, without comments and literals.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace usmx::detail {

/// A text in which lines that end with a backslash are joined with the next, as the compiler does
/// first of all.
struct joined_text {
  std::string text;
  /// Where in the joined text something was left out, and how many characters up to there.
  std::vector<std::pair<std::size_t, std::size_t>> cuts;

  /// The offset in the source of `offset` in the joined text.
  std::size_t in_source(std::size_t offset) const;
};
joined_text without_splices(std::string_view source);

/// A directive without its comments: of `#include <cmath>`, in any spelling, "include" and
/// "<cmath>".
struct directive {
  std::string name, rest;
};
/// Those of a joined text, in order.
std::vector<directive> directives_of(std::string_view joined);

/// The text with comments and the contents of literals blanked out, so that no bracket or word in
/// them is taken for code. Newlines stay, and everything stays where it is.
std::string without_comments(std::string_view source);

bool is_word(char c);
bool is_space(char c);
std::string_view trim(std::string_view s);

using token_list = std::vector<std::string_view>;
/// Words, with their :: parts and template arguments, and other single characters.
token_list tokens_of(std::string_view s);

/// The parts between commas that stand in no bracket, without blanks around them.
token_list split_list(std::string_view list);

/// The position after the bracket that closes the one at `open`, or npos.
std::size_t closing(std::string_view text, std::size_t open, char left, char right);

}  // namespace usmx::detail
