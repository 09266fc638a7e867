// Cuts the text of kernels into words. It knows no C++ beyond comments, literals and brackets.
// SPDX-License-Identifier: Apache-2.0
#include "kernel_text.hpp"

#include <algorithm>
#include <cctype>

namespace usmx::detail {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

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
    } else if (text.compare(i, 2, "R\"") == 0 && (i == 0 || !is_word(text[i - 1]))) {
      const auto open = std::min(text.find('(', i), text.size());
      auto ending = text.substr(i + 1, open - i).replace(0, 1, 1, ')');
      ending.back() = '"';
      const auto close = text.find(ending, open);
      const auto end = close == std::string::npos ? text.size() : close + (open - i);
      blank(i, end);
      i = end;
    } else if (text[i] == '"' || (text[i] == '\'' && (i == 0 || !is_word(text[i - 1])))) {
      const char quote = text[i];
      auto end = i + 1;
      while (end < text.size() && text[end] != quote && text[end] != '\n') {
        end += text[end] == '\\' ? 2 : 1;
      }
      blank(i + 1, end);
      i = std::min(end + 1, text.size());
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

std::size_t closing(std::string_view text, std::size_t open, char left, char right) {
  int depth = 0;
  for (auto i = open; i < text.size(); ++i) {
    depth += text[i] == left ? 1 : text[i] == right ? -1 : 0;
    if (depth == 0) return i + 1;
  }
  return std::string_view::npos;
}

}  // namespace usmx::detail
