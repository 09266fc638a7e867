// Reads the parameters of kernels from their source. The runtime knows their number but not their
// types, and a wrong type is undefined behaviour, so only the text can tell.
// SPDX-License-Identifier: Apache-2.0
#include "kernel/source/kernel_signature.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <complex>
#include <limits>
#include <map>

#include "core/format.hpp"
#include "kernel/source/kernel_text.hpp"
#include "usmx/promotion.hpp"

namespace usmx::detail {
namespace {

using alias_map = std::map<std::string, std::string, std::less<>>;
/// An alias of this name means that the names of the prelude are visible without their scope.
constexpr std::string_view using_usmx = "namespace usmx";

/// "A=B" of -DA=B, object-like #defines, `using A = B;` and `typedef B A;`. Scopes are not
/// distinguished: a name with two meanings becomes an unknown type.
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
      } else if (trim(body) == using_usmx) {
        add(using_usmx, "");
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
  static const auto types = [] {
    std::map<std::string_view, std::optional<dtype>> all{
        {"size_t", type<std::size_t>()},  {"ptrdiff_t", type<std::ptrdiff_t>()},
        {"_Float16", type<sycl::half>()}, {"byte", type<std::byte>()},
        {"uchar", type<std::uint8_t>()},
    };
    for (int k = 0; k < number_types; ++k) all.emplace(device_name(number_type(k)), number_type(k));
    return all;
  }();
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

/// The structs that a text defines, with their padding, by name. One that cannot be read with
/// certainty, or that is defined twice, has no type.
struct known_struct {
  std::optional<dtype> type;
  std::size_t alignment = 1;
};
using struct_map = std::map<std::string, known_struct, std::less<>>;

void pad(dtype::fields& members, std::size_t& size, std::size_t alignment) {
  const auto gap = (alignment - size % alignment) % alignment;
  dtype bytes;
  if (gap == 0 || dtype::parse(format("|V{}", gap), bytes) != fault::none) return;
  members.push_back({"", "", bytes, {}});
  size += gap;
}

/// The struct with this body; without a type if it has more than plain members.
known_struct read_struct(std::string_view body, const alias_map& aliases,
                         const struct_map& structs) {
  known_struct made;
  dtype::fields members;
  std::size_t size = 0;
  for (; !trim(body).empty(); body.remove_prefix(std::min(body.find(';') + 1, body.size()))) {
    if (body.find(';') == std::string_view::npos) return {};
    auto words = tokens_of(body.substr(0, body.find(';')));
    // The type, then names with their lengths, separated by commas.
    auto word = words.begin();
    while (word != words.end() && (word == words.begin() || is_builtin(*word))) ++word;
    const auto found = structs.find(words.empty() ? std::string_view() : words[0]);
    const auto type = found != structs.end() ? found->second.type
                                             : read_type({words.begin(), word}, aliases).type;
    if (!type) return {};
    const auto alignment = found != structs.end() ? found->second.alignment : type->alignment();
    made.alignment = std::max(made.alignment, alignment);
    do {
      if (word == words.end() || !is_word(word->front())) return {};
      field member{std::string(*word++), "", *type, {}};
      auto bytes = type->itemsize();
      while (word != words.end() && *word == "[") {
        std::uint16_t n = 0;
        if (words.end() - word < 3 || word[2] != "]") return {};
        const auto last = word[1].data() + word[1].size();
        if (std::from_chars(word[1].data(), last, n).ptr != last || n == 0) return {};
        member.shape.push_back(n);
        bytes *= n;
        if (bytes > std::numeric_limits<std::uint16_t>::max()) return {};
        word += 3;
      }
      pad(members, size, alignment);
      size += bytes;
      members.push_back(std::move(member));
    } while (word != words.end() && *word++ == ",");
    if (word != words.end()) return {};
  }
  pad(members, size, made.alignment);
  dtype whole;
  if (dtype::make_record(std::move(members), size, whole) == fault::none) made.type = whole;
  return made;
}

struct_map structs_of(std::string_view text, const alias_map& aliases) {
  // Complex numbers and bfloat16 of the prelude are passed as structs are.
  struct_map structs{{"complex<float>", {type<std::complex<float>>(), alignof(float)}},
                     {"complex<double>", {type<std::complex<double>>(), alignof(double)}},
                     {"bfloat16", {type<bfloat16>(), alignof(bfloat16)}}};
  constexpr std::string_view keyword = "struct ";
  for (auto at = text.find(keyword); at != std::string_view::npos;
       at = text.find(keyword, at + 1)) {
    const auto open = text.find('{', at);
    if (open == std::string_view::npos) break;
    const auto name = trim(text.substr(at + keyword.size(), open - at - keyword.size()));
    const auto end = closing(text, open, '{', '}');
    if (!std::ranges::all_of(name, is_word) || end == std::string_view::npos) continue;
    auto made = read_struct(text.substr(open + 1, end - open - 2), aliases, structs);
    const auto [place, is_new] = structs.try_emplace(std::string(name), std::move(made));
    if (!is_new) place->second = {};
  }
  return structs;
}

/// Reads `usmx::strided<const float, 2>`, `usmx::dense<...>`, `usmx::local_view<...>` or another
/// name for one of them.
bool read_view(std::string_view word, const alias_map& aliases, kernel_parameter& p,
               int depth = 0) {
  if (const auto alias = aliases.find(word); alias != aliases.end() && depth < 8) {
    const auto words = tokens_of(alias->second);
    return words.size() == 1 && read_view(words[0], aliases, p, depth + 1);
  }
  if (word.starts_with("::")) word.remove_prefix(2);
  if (word.starts_with("usmx::")) {
    word.remove_prefix(6);
  } else if (!aliases.contains(using_usmx)) {
    return false;
  }
  using enum kernel_parameter::view_form;
  const auto form = word.starts_with("strided<")      ? strided
                    : word.starts_with("dense<")      ? dense
                    : word.starts_with("local_view<") ? local
                                                      : none;
  if (form == none || !word.ends_with('>')) return false;
  const auto open = word.find('<') + 1;
  const auto inside = word.substr(open, word.size() - open - 1);
  const auto comma = std::min(inside.rfind(','), inside.size());
  const auto element = read_type(tokens_of(inside.substr(0, comma)), aliases);
  p.view = form;
  p.pointer = true;
  p.read_only = element.read_only;
  if (element.pointers == 0) p.type = element.type;
  auto number = trim(inside.substr(std::min(comma + 1, inside.size())));
  if (const auto alias = aliases.find(number); alias != aliases.end()) number = alias->second;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), p.rank);
  if (read.ec != std::errc{} || read.ptr != number.data() + number.size()) p.rank = -1;
  return true;
}

kernel_parameter read_parameter(std::string_view text, const alias_map& aliases,
                                const struct_map& structs) {
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
  if (of_type > 1 && is_name(words.back())) {
    p.name = words.back();
    words.pop_back();
  }
  // A view may be taken by value or as a reference to a constant one.
  auto plain = words;
  std::erase_if(plain, [](auto w) { return w == "const" || w == "&"; });
  if (!is_array && plain.size() == 1 && read_view(plain[0], aliases, p)) {
    p.type_name = plain[0];
    return p;
  }
  if (!is_array && plain.size() == 1) {
    auto name = plain[0];
    if (const auto alias = aliases.find(name); alias != aliases.end()) name = alias->second;
    name.remove_prefix(name.rfind(':') + 1);
    if (const auto found = structs.find(name); found != structs.end() && found->second.type) {
      p.type = found->second.type;
      p.type_name = plain[0];
      return p;
    }
  }
  auto d = read_type(words, aliases);
  if (is_array) ++d.pointers;
  p.pointer = d.pointers > 0;
  p.read_only = d.pointers == 1 && d.read_only;
  if (d.pointers <= 1) p.type = d.type;
  return p;
}

std::vector<kernel_parameter> read_parameters(std::string_view list, const alias_map& aliases,
                                              const struct_map& structs) {
  std::vector<kernel_parameter> parameters;
  for (const auto text : split_list(list)) {
    if (text == "void" && parameters.empty()) continue;
    parameters.push_back(read_parameter(text, aliases, structs));
  }
  return parameters;
}

/// The parameters of the template that `declared` ends with; empty if it does not.
std::vector<template_parameter> read_template(std::string_view declared) {
  declared = trim(declared);
  constexpr std::string_view keyword = "template";
  std::vector<template_parameter> found;
  for (auto at = declared.rfind(keyword); at != std::string_view::npos && at < declared.size();
       at = at == 0 ? std::string_view::npos : declared.rfind(keyword, at - 1)) {
    const auto open = declared.find('<', at);
    if (open == std::string_view::npos || closing(declared, open, '<', '>') != declared.size()) {
      continue;
    }
    if (!trim(declared.substr(at + keyword.size(), open - at - keyword.size())).empty()) break;
    for (const auto text : split_list(declared.substr(open + 1, declared.size() - open - 2))) {
      const auto equals = std::min(text.find('='), text.size());
      const auto left = trim(text.substr(0, equals));
      auto name = left.size();
      while (name > 0 && is_word(left[name - 1])) --name;
      found.push_back({std::string(text), std::string(left.substr(name)),
                       std::string(trim(text.substr(std::min(equals + 1, text.size())))),
                       left.find("...") != std::string_view::npos});
    }
    break;
  }
  return found;
}

/// The number of dimensions before a kernel's name, in either form; 0 if there is none.
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
  const auto joined = without_splices(source);
  const auto text = without_comments(joined.text);
  const std::string_view view = text;
  const auto aliases = aliases_of(view, options);
  // With SYCL's headers the text itself declares kernels, without wrappers.
  const auto structs = includes_sycl(source) ? struct_map() : structs_of(view, aliases);
  std::vector<signature> found;
  std::size_t begin = 0;  // of the declaration at hand
  for (std::size_t i = 0; i < view.size();) {
    if (view[i] == '#') {  // a directive may contain anything
      i = std::min(view.find('\n', i), view.size());
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
    auto before = view.substr(0, i);
    // An attribute between the name and the parameters, as [[sycl::reqd_work_group_size(64)]].
    if (const auto solid = before.find_last_not_of(" \t\r\n");
        solid != std::string_view::npos && solid > 0 && before.substr(solid - 1, 2) == "]]") {
      before = before.substr(0, std::min(before.rfind("[["), before.size()));
    }
    const auto name_end = before.find_last_not_of(" \t\r\n");
    auto name = name_end == std::string_view::npos ? 0 : name_end + 1;
    const auto last = name;
    while (name > 0 && is_word(view[name - 1])) --name;
    const auto closed = closing(view, body, '{', '}');
    const auto end = closed == std::string_view::npos ? view.size() : closed;
    if (name < last) {
      const auto declared = view.substr(begin, name - begin);
      auto macro = declared.rfind("USMX_KERNEL(");
      if (macro != std::string_view::npos) {
        // Another macro may have it in its definition, and the name must follow.
        const auto rank = closing(declared, macro + 11, '(', ')');
        if (!trim(declared.substr(std::min(rank, declared.size()))).empty()) {
          macro = std::string_view::npos;
        }
      }
      found.push_back({std::string(view.substr(name, last - name)), read_rank(declared),
                       read_parameters(view.substr(i + 1, after - i - 2), aliases, structs),
                       macro == std::string_view::npos ? macro : joined.in_source(begin + macro),
                       joined.in_source(i), joined.in_source(end),
                       macro == std::string_view::npos ? std::vector<template_parameter>()
                                                       : read_template(declared.substr(0, macro))});
    }
    i = begin = end;
  }
  return found;
}

bool includes_sycl(std::string_view source) {
  return std::ranges::any_of(directives_of(without_splices(source).text), [](const auto& line) {
    if (line.name.find("include") == std::string::npos) return false;
    const std::string_view path =
        std::string_view(line.rest).substr(std::min<std::size_t>(line.rest.size(), 1));
    return path.starts_with("sycl/") || path.starts_with("CL/");
  });
}

}  // namespace usmx::detail
