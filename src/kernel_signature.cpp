// Reads the parameters of kernels from their source. The runtime knows how many a kernel has but
// not of what type, and a wrong one is undefined behaviour, so the text is the only place to ask.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "usmx/kernel.hpp"

namespace usmx::detail {
namespace {

using token_list = std::vector<std::string_view>;
using alias_map = std::map<std::string, std::string, std::less<>>;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// The text with comments and the contents of literals blanked out, so that no bracket or word in
/// them is taken for code. Newlines stay.
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

/// Words (with their :: parts and template arguments glued on) and single other characters.
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

/// "A=B" of -DA=B, object-like #defines, `using A = B;` and `typedef B A;`. Scopes are not told
/// apart: a name with two meanings becomes a type that is not known.
alias_map aliases_of(std::string_view text, std::span<const std::string> options) {
  alias_map aliases;
  const auto add = [&](std::string_view name, std::string_view meaning) {
    const auto [at, is_new] = aliases.try_emplace(std::string(name), meaning);
    if (!is_new && at->second != meaning) at->second.clear();
  };
  for (const auto& option : options) {
    if (option.rfind("-D", 0) != 0) continue;
    const auto equals = option.find('=');
    if (equals != std::string::npos) {
      add(std::string_view(option).substr(2, equals - 2),
          std::string_view(option).substr(equals + 1));
    }
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool starts_word = i == 0 || !is_word(text[i - 1]);
    if (text[i] == '#') {
      const auto line = text.substr(i, text.find('\n', i) - i);
      const auto words = tokens_of(line.substr(1));
      if (words.size() >= 3 && words[0] == "define") {
        const auto after =
            static_cast<std::size_t>(words[1].data() + words[1].size() - line.data());
        if (line[after] != '(') add(words[1], trim(line.substr(after)));
      }
    } else if (starts_word && text.compare(i, 6, "using ") == 0) {
      const auto body = text.substr(i + 6, text.find(';', i) - i - 6);
      const auto equals = body.find('=');
      if (equals != std::string_view::npos) {
        add(trim(body.substr(0, equals)), trim(body.substr(equals + 1)));
      }
    } else if (starts_word && text.compare(i, 8, "typedef ") == 0) {
      const auto body = trim(text.substr(i + 8, text.find(';', i) - i - 8));
      auto name = body.size();
      while (name > 0 && is_word(body[name - 1])) --name;
      add(body.substr(name), trim(body.substr(0, name)));
    }
  }
  return aliases;
}

constexpr std::array builtin_words{"bool",  "char",   "short",  "int",     "long",
                                   "float", "double", "signed", "unsigned"};
bool is_builtin(std::string_view word) { return std::ranges::count(builtin_words, word) != 0; }

template <class T>
std::optional<dtype> type() {
  return dtype::of<T>();
}

/// The dtype of a type made of builtin words: "unsigned long long".
std::optional<dtype> builtin_type(const token_list& words) {
  const auto count = [&](std::string_view w) { return std::ranges::count(words, w); };
  if (count("float") != 0) return type<float>();
  if (count("double") != 0) return count("long") != 0 ? std::nullopt : type<double>();
  if (count("bool") != 0) return type<bool>();
  const bool is_unsigned = count("unsigned") != 0;
  if (count("char") != 0) return is_unsigned ? type<std::uint8_t>() : type<std::int8_t>();
  if (count("short") != 0) return is_unsigned ? type<std::uint16_t>() : type<std::int16_t>();
  if (count("long") != 0) return is_unsigned ? type<std::uint64_t>() : type<std::int64_t>();
  return is_unsigned ? type<std::uint32_t>() : type<std::int32_t>();
}

std::optional<dtype> named_type(std::string_view name) {
  for (const std::string_view scope : {"::", "std::", "sycl::", "usmx::"}) {
    if (name.rfind(scope, 0) == 0) name.remove_prefix(scope.size());
  }
  std::string plain;
  std::ranges::copy_if(name, std::back_inserter(plain), [](char c) { return !is_space(c); });
  static const std::map<std::string_view, std::optional<dtype>> types{
      {"int8_t", type<std::int8_t>()},
      {"uint8_t", type<std::uint8_t>()},
      {"int16_t", type<std::int16_t>()},
      {"uint16_t", type<std::uint16_t>()},
      {"int32_t", type<std::int32_t>()},
      {"uint32_t", type<std::uint32_t>()},
      {"int64_t", type<std::int64_t>()},
      {"uint64_t", type<std::uint64_t>()},
      {"size_t", type<std::size_t>()},
      {"ptrdiff_t", type<std::ptrdiff_t>()},
      {"half", type<sycl::half>()},
      {"_Float16", type<sycl::half>()},
      {"byte", type<std::byte>()},
      {"uchar", type<std::uint8_t>()},
      {"complex<float>", type<std::complex<float>>()},
      {"complex<double>", type<std::complex<double>>()},
  };
  const auto found = types.find(plain);
  return found == types.end() ? std::nullopt : found->second;
}

bool is_qualifier(std::string_view w) {
  return w == "const" || w == "volatile" || w == "restrict" || w == "__restrict" ||
         w == "__restrict__";
}

/// What is known of a type or a parameter while its words are read.
struct declaration {
  bool read_only = false;
  int pointers = 0;
  std::optional<dtype> type;
};

declaration read_type(token_list words, const alias_map& aliases, int depth = 0) {
  declaration d;
  token_list core;
  for (const auto w : words) {
    if (w == "*") {
      ++d.pointers;
    } else if (w == "const") {
      // A const after the star makes the pointer constant, not what it points at.
      if (d.pointers == 0) d.read_only = true;
    } else if (!is_qualifier(w)) {
      core.push_back(w);
    }
  }
  if (!core.empty() && std::ranges::all_of(core, is_builtin)) {
    d.type = builtin_type(core);
  } else if (core.size() == 1) {
    const auto alias = aliases.find(core[0]);
    if (alias != aliases.end()) {
      if (depth < 8) {
        const auto inner = read_type(tokens_of(alias->second), aliases, depth + 1);
        d.type = inner.type;
        // For `using in = const float*`, a const outside belongs to the pointer.
        if (inner.pointers > 0)
          d.read_only = inner.read_only;
        else
          d.read_only = d.read_only || inner.read_only;
        d.pointers += inner.pointers;
      }
    } else {
      d.type = named_type(core[0]);
    }
  }
  return d;
}

kernel_parameter read_parameter(std::string_view text, const alias_map& aliases) {
  kernel_parameter p;
  text = trim(text.substr(0, text.find('=')));
  for (const char c : text) {
    const bool space = is_space(c);
    if (!space || (!p.text.empty() && p.text.back() != ' ')) p.text += space ? ' ' : c;
  }
  auto words = tokens_of(text);
  bool is_array = false;
  if (const auto bracket = std::ranges::find(words, "["); bracket != words.end()) {
    is_array = true;
    words.erase(bracket, words.end());
  }
  // The last word is the name unless it is needed for the type.
  const auto is_name = [](std::string_view w) {
    return is_word(w.front()) && !is_builtin(w) && !is_qualifier(w) && w != "*";
  };
  const auto of_type =
      std::ranges::count_if(words, [](auto w) { return is_word(w.front()) && !is_qualifier(w); });
  if (of_type > 1 && is_name(words.back())) words.pop_back();
  auto d = read_type(words, aliases);
  if (is_array) ++d.pointers;
  p.pointer = d.pointers > 0;
  p.read_only = d.pointers == 1 && d.read_only;
  if (d.pointers <= 1) p.type = d.type;
  return p;
}

/// The position after the bracket that closes the one at `open`, or npos.
std::size_t closing(std::string_view text, std::size_t open, char left, char right) {
  int depth = 0;
  for (auto i = open; i < text.size(); ++i) {
    depth += text[i] == left ? 1 : text[i] == right ? -1 : 0;
    if (depth == 0) return i + 1;
  }
  return std::string_view::npos;
}

std::vector<kernel_parameter> read_parameters(std::string_view list, const alias_map& aliases) {
  std::vector<kernel_parameter> parameters;
  std::size_t start = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i == list.size() || (list[i] == ',' && depth == 0)) {
      const auto text = trim(list.substr(start, i - start));
      if (!text.empty() && !(text == "void" && parameters.empty())) {
        parameters.push_back(read_parameter(text, aliases));
      }
      start = i + 1;
    } else {
      depth += std::string_view("(<[{").find(list[i]) != std::string_view::npos   ? 1
               : std::string_view(")>]}").find(list[i]) != std::string_view::npos ? -1
                                                                                  : 0;
    }
  }
  return parameters;
}

/// The number of dimensions that stands before a kernel's name, in either form; 0 if there is none.
int read_rank(std::string_view declaration) {
  for (const std::string_view form : {"USMX_KERNEL(", "nd_range_kernel<"}) {
    const auto found = declaration.rfind(form);
    if (found == std::string_view::npos) continue;
    const auto number = trim(declaration.substr(found + form.size()));
    if (!number.empty() && number[0] >= '1' && number[0] <= '3') return number[0] - '0';
  }
  return 0;
}

}  // namespace

std::vector<signature> read_signatures(std::string_view source,
                                       std::span<const std::string> options) {
  const auto text = without_comments(source);
  const std::string_view view = text;
  const auto aliases = aliases_of(view, options);
  std::vector<signature> found;
  std::size_t begin = 0;  // of the declaration at hand
  for (std::size_t i = 0; i < view.size();) {
    if (view[i] == '#') {  // a directive may contain anything
      auto end = i;
      do {
        end = std::min(view.find('\n', end + 1), view.size());
      } while (end < view.size() && view[end - 1] == '\\');
      i = end;
      continue;
    }
    if (view[i] != '(') {
      ++i;
      continue;
    }
    const auto after = closing(view, i, '(', ')');
    if (after == std::string_view::npos) break;
    auto body = after;
    while (body < view.size() && is_space(view[body])) ++body;
    if (body < view.size() && view.compare(body, 8, "noexcept") == 0) {
      body += 8;
      while (body < view.size() && is_space(view[body])) ++body;
    }
    if (body >= view.size() || view[body] != '{') {
      i = after;
      continue;
    }
    const auto before = view.substr(0, i);
    const auto name_end = before.find_last_not_of(" \t\r\n");
    auto name = name_end == std::string_view::npos ? 0 : name_end + 1;
    const auto last = name;
    while (name > 0 && is_word(view[name - 1])) --name;
    if (name < last) {
      found.push_back({std::string(view.substr(name, last - name)),
                       read_rank(view.substr(begin, name - begin)),
                       read_parameters(view.substr(i + 1, after - i - 2), aliases)});
    }
    const auto end = closing(view, body, '{', '}');
    i = begin = end == std::string_view::npos ? view.size() : end;
  }
  return found;
}

bool includes_sycl(std::string_view source) {
  // Literals must stay readable here: the name of a header may be one.
  const auto text = without_comments(source);
  for (std::size_t hash = text.find('#'); hash != std::string::npos;
       hash = text.find('#', hash + 1)) {
    const auto line = source.substr(hash, source.find('\n', hash) - hash);
    const auto word = trim(line.substr(1));
    if (word.rfind("include", 0) != 0) continue;
    const auto path = trim(word.substr(7));
    if (path.size() > 6 && (path.substr(1, 5) == "sycl/" || path.substr(1, 3) == "CL/"))
      return true;
  }
  return false;
}

}  // namespace usmx::detail
