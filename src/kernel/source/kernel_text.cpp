// Cuts the text of kernels into words. It knows no C++ beyond comments, literals and brackets.
// SPDX-License-Identifier: Apache-2.0
#include "kernel/source/kernel_text.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace usmx::detail {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

namespace {

/// The end of the raw string that begins at `i`, R"x(...)x"; `i` if there is none.
std::size_t raw_string_end(std::string_view text, std::size_t i) {
  if (text.substr(i, 2) != "R\"") return i;
  auto prefix = i;
  while (prefix > 0 && is_word(text[prefix - 1])) --prefix;
  const auto before = text.substr(prefix, i - prefix);
  if (before != "" && before != "L" && before != "u" && before != "U" && before != "u8") return i;
  const auto open = text.find('(', i);
  if (open == std::string_view::npos) return text.size();
  std::string ending(1, ')');
  ending.append(text.substr(i + 2, open - i - 2)).append(1, '"');
  const auto close = text.find(ending, open);
  return close == std::string_view::npos ? text.size() : close + ending.size();
}

/// The end of the string or character that begins at `i`; `i` if there is none.
std::size_t literal_end(std::string_view text, std::size_t i) {
  const char quote = text[i];
  // Between digits it is a separator: 1'000.
  if (quote != '"' && (quote != '\'' || (i > 0 && is_word(text[i - 1])))) return i;
  auto end = i + 1;
  while (end < text.size() && text[end] != quote && text[end] != '\n') {
    end += text[end] == '\\' ? 2 : 1;
  }
  return std::min(end + 1, text.size());
}

}  // namespace

std::size_t joined_text::in_source(std::size_t offset) const {
  const auto after =
      std::ranges::upper_bound(cuts, offset, {}, [](auto& cut) { return cut.first; });
  return after == cuts.begin() ? offset : offset + std::prev(after)->second;
}

joined_text without_splices(std::string_view source) {
  joined_text joined;
  joined.text.reserve(source.size());
  for (std::size_t i = 0; i < source.size();) {
    if (source[i] == '\\') {
      // Compilers also accept blanks after it.
      const auto newline = source.find_first_not_of(" \t\v\f\r", i + 1);
      if (newline != std::string_view::npos && source[newline] == '\n') {
        i = newline + 1;
        joined.cuts.emplace_back(joined.text.size(), i - joined.text.size());
        continue;
      }
    }
    joined.text += source[i++];
  }
  return joined;
}

std::vector<directive> directives_of(std::string_view joined) {
  std::string text;  // a comment is one blank, even one of several lines
  for (std::size_t i = 0; i < joined.size();) {
    if (joined.substr(i, 2) == "//") {
      i = std::min(joined.find('\n', i), joined.size());
    } else if (joined.substr(i, 2) == "/*") {
      const auto close = joined.find("*/", i + 2);
      i = close == std::string_view::npos ? joined.size() : close + 2;
      text += ' ';
    } else if (const auto raw = raw_string_end(joined, i); raw != i) {
      i = raw;
      text += "R\"\"";
    } else {
      const auto end = std::max(literal_end(joined, i), i + 1);
      text += joined.substr(i, end - i);
      i = end;
    }
  }
  std::vector<directive> found;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    auto line = trim(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
    if (line.starts_with("#")) {
      line.remove_prefix(1);
    } else if (line.starts_with("%:")) {
      line.remove_prefix(2);
    } else if (line.starts_with("import") || line.starts_with("export")) {
      // A module's name, or a header's.
    } else {
      continue;
    }
    line = trim(line);
    const auto name = std::ranges::find_if_not(line, is_word) - line.begin();
    const auto length = static_cast<std::size_t>(name);
    found.push_back({std::string(line.substr(0, length)), std::string(trim(line.substr(length)))});
  }
  return found;
}

std::string without_comments(std::string_view source) {
  std::string text(source);
  const auto blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t k = from; k < to && k < text.size(); ++k) {
      if (text[k] != '\n') text[k] = ' ';
    }
  };
  for (std::size_t i = 0; i < text.size();) {
    if (text.compare(i, 2, "//") == 0) {
      const auto end = std::min(text.find('\n', i), text.size());
      blank(i, end);
      i = end;
    } else if (text.compare(i, 2, "/*") == 0) {
      const auto close = text.find("*/", i + 2);
      const auto end = close == std::string::npos ? text.size() : close + 2;
      blank(i, end);
      i = end;
    } else if (const auto raw = raw_string_end(text, i); raw != i) {
      blank(i, raw);
      i = raw;
    } else if (const auto end = literal_end(text, i); end != i) {
      blank(i + 1, end - 1);
      i = end;
    } else {
      ++i;
    }
  }
  return text;
}

std::string_view trim(std::string_view s) {
  while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  return s;
}

token_list tokens_of(std::string_view s) {
  token_list tokens;
  for (std::size_t i = 0; i < s.size();) {
    if (is_space(s[i])) {
      ++i;
      continue;
    }
    auto end = i + 1;
    if (is_word(s[i]) || s[i] == ':') {
      while (end < s.size() && (is_word(s[end]) || s[end] == ':')) ++end;
      if (end < s.size() && s[end] == '<') {
        int depth = 0;
        do {
          depth += s[end] == '<' ? 1 : s[end] == '>' ? -1 : 0;
          ++end;
        } while (end < s.size() && depth > 0);
      }
    }
    tokens.push_back(s.substr(i, end - i));
    i = end;
  }
  return tokens;
}

token_list split_list(std::string_view list) {
  token_list parts;
  std::size_t start = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i == list.size() || (list[i] == ',' && depth == 0)) {
      if (const auto part = trim(list.substr(start, i - start)); !part.empty()) {
        parts.push_back(part);
      }
      start = i + 1;
    } else {
      depth += std::string_view("(<[{").find(list[i]) != std::string_view::npos   ? 1
               : std::string_view(")>]}").find(list[i]) != std::string_view::npos ? -1
                                                                                  : 0;
    }
  }
  return parts;
}

std::size_t closing(std::string_view text, std::size_t open, char left, char right) {
  int depth = 0;
  for (auto i = open; i < text.size(); ++i) {
    depth += text[i] == left ? 1 : text[i] == right ? -1 : 0;
    if (depth == 0) return i + 1;
  }
  return std::string_view::npos;
}

}  // namespace usmx::detail
