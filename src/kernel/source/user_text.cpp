// Finds the marks in a source and converts the compiler's messages to places between them.
// SPDX-License-Identifier: Apache-2.0
#include "kernel/source/user_text.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "core/format.hpp"

namespace usmx::detail {
namespace {

constexpr std::string_view source_prefix = "source:";

std::string opening(std::string_view argument) { return "/*" + std::string(argument) + ":*/"; }
std::string closing_of(std::string_view argument) { return "/*:" + std::string(argument) + "*/"; }

/// Lines and columns count from 1, as the compiler's.
struct position {
  std::size_t line = 1, column = 1;
};

std::size_t offset_of(std::string_view text, position p) {
  std::size_t at = 0;
  for (; p.line > 1 && at < text.size(); --p.line)
    at = std::min(text.find('\n', at), text.size() - 1) + 1;
  return at + p.column - 1;
}
position position_of(std::string_view text, std::size_t offset) {
  const auto before = text.substr(0, offset);
  return {static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1,
          offset - (before.rfind('\n') + 1) + 1};
}

struct piece {
  std::string_view argument, text;
  /// In the source: the text begins, and the first thing after it that is code, at which the
  /// compiler points if the text lacks something.
  std::size_t begin, next;

  bool has(std::size_t offset) const { return begin <= offset && offset <= next; }
  position within(std::size_t offset) const {
    const auto last = text.find_last_not_of(" \t\r\n") + 1;
    return position_of(text, std::min(offset - begin, last));
  }
  std::string_view line(std::size_t number) const {
    const auto rest = text.substr(offset_of(text, {number, 1}));
    return rest.substr(0, rest.find('\n'));
  }
};

std::vector<piece> pieces_of(std::string_view source) {
  std::vector<piece> found;
  for (auto at = source.find("/*"); at != std::string_view::npos; at = source.find("/*", at + 2)) {
    const auto colon = source.find(":*/", at);
    if (colon == std::string_view::npos) break;
    const auto argument = source.substr(at + 2, colon - at - 2);
    if (argument.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") != std::string_view::npos) {
      continue;
    }
    const auto begin = colon + 3;
    const auto mark = closing_of(argument);
    const auto end = source.find(mark, begin);
    if (end == std::string_view::npos) continue;
    const auto next = std::min(source.find_first_not_of(" \n", end + mark.size()), source.size());
    found.push_back({argument, source.substr(begin, end - begin), begin, next});
    at = end;
  }
  return found;
}

/// Takes "12:" from the front.
bool take_number(std::string_view& text, std::size_t& number) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto taken = static_cast<std::size_t>(end - text.data());
  if (code != std::errc{} || taken == text.size() || *end != ':') return false;
  text.remove_prefix(taken + 1);
  return true;
}

/// Without a guess that the user meant a name of the generated text, which begins with '_'.
std::string without_own_names(std::string_view message) {
  return std::string(message.substr(0, message.find("; did you mean '_")));
}

}  // namespace

std::string marked(std::string_view argument, std::string_view text) {
  std::string all = opening(argument);
  all += text;
  if (text.find("//") != std::string_view::npos) all += '\n';  // or what follows is a comment too
  return all + closing_of(argument);
}

build_error in_marked_text(std::string_view source, const build_error& e) {
  const auto pieces = pieces_of(source);
  std::string messages, first;
  std::string_view log = e.log();
  while (!log.empty()) {
    auto line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(line.size() + 1, log.size()));
    if (!line.starts_with(source_prefix)) continue;
    line.remove_prefix(source_prefix.size());
    position p;
    if (!take_number(line, p.line) || !take_number(line, p.column)) continue;
    const auto offset = offset_of(source, p);
    for (const auto& piece : pieces) {
      if (!piece.has(offset)) continue;
      const auto inside = piece.within(offset);
      const auto said = format("{}:{}:{}:{}", piece.argument, inside.line, inside.column,
                               without_own_names(line));
      if (first.empty() && line.starts_with(" error:")) first = said;
      messages += format("{}\n  {}\n  {:>{}}\n", said, piece.line(inside.line), "^", inside.column);
    }
  }
  if (first.empty()) return e;
  return build_error("the expression could not be compiled: " + first + "\n" + messages,
                     messages + "\nin the text generated for it:\n" + e.log());
}

}  // namespace usmx::detail
