// Reads parameter lists, and finds the types of a call.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <string>

#include "core/format.hpp"
#include "usmx/expression.hpp"

namespace usmx {
namespace {

using detail::called;
using detail::format;

constexpr std::string_view blank = " \t\r\n";
// What a parameter cannot be called: keywords of C++ that look like names, and the index.
constexpr std::string_view taken[] = {
    "alignas", "alignof",  "and",       "asm",       "auto",     "bool",     "break",   "case",
    "catch",   "char",     "class",     "concept",   "const",    "continue", "default", "delete",
    "do",      "double",   "else",      "enum",      "explicit", "export",   "extern",  "false",
    "float",   "for",      "friend",    "goto",      "half",     "i",        "if",      "inline",
    "int",     "long",     "mutable",   "namespace", "new",      "not",      "nullptr", "operator",
    "or",      "private",  "protected", "public",    "register", "requires", "return",  "short",
    "signed",  "sizeof",   "static",    "struct",    "switch",   "template", "this",    "throw",
    "true",    "try",      "typedef",   "typename",  "union",    "unsigned", "using",   "virtual",
    "void",    "volatile", "while",     "xor"};

// Names of the generated texts that an expression would hide, or that it may use.
constexpr std::string_view own_names[] = {
    "_J",       "_at",    "_begin",  "_both",   "_column",      "_first", "_from",  "_i",
    "_i_step",  "_in",    "_in_ind", "_ind",    "_join",        "_k",     "_map",   "_one",
    "_out_ind", "_place", "_places", "_result", "_row",         "_size",  "_store", "_tile",
    "_to",      "_value", "_where",  "_work",   "_first_result"};

bool is_identifier(std::string_view word) {
  const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  if (word.starts_with('_')) word.remove_prefix(1);
  if (word.empty() || !letter(word.front())) return false;
  return std::ranges::all_of(
      word, [&](char c) { return letter(c) || c == '_' || (c >= '0' && c <= '9'); });
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!(text = trimmed(text)).empty()) {
    const auto end = std::min(text.find_first_of(blank), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

std::optional<dtype> named_type(std::string_view name) {
  for (int k = 0; k < number_types; ++k) {
    const dtype type = number_type(k);
    if (type.name() == name) return type;
  }
  return {};
}

std::string list_of_types() {
  std::string text;
  for (int k = 0; k < number_types; ++k) text += (k == 0 ? "" : ", ") + number_type(k).name();
  return text;
}

[[noreturn]] void wrong(std::string_view field, std::size_t number, std::string_view text,
                        const std::string& cause) {
  throw std::invalid_argument(format("{}: parameter {} '{}': {}", field, number, text, cause));
}

expression_parameter parse_one(std::string_view field, std::size_t number, std::string_view text) {
  auto words = words_of(text);
  expression_parameter p;
  p.text = text;
  if (!words.empty() && words.front() == "raw") {
    p.raw = true;
    words.erase(words.begin());
  }
  if (words.size() != 2) {
    wrong(field, number, text, "expected a type and a name, such as 'T x' or 'raw float32 y'");
  }
  p.type = words[0];
  p.name = words[1];
  p.fixed = named_type(p.type);
  const bool is_placeholder =
      is_identifier(p.type) &&
      (p.type.size() == 1 || std::isupper(static_cast<unsigned char>(p.type.front())) != 0);
  if (!p.fixed && !is_placeholder) {
    const bool ambiguous =
        p.type == "float" || p.type == "int" || p.type == "double" || p.type == "half";
    wrong(field, number, text,
          format("'{}' is not a type{}; expected one of {}, or a placeholder such as T", p.type,
                 ambiguous ? " with a size" : "", list_of_types()));
  }
  if (p.name == p.type) wrong(field, number, text, "type and name are the same word");
  if (!is_identifier(p.name))
    wrong(field, number, text, format("'{}' is not a valid name", p.name));
  if (std::ranges::find(own_names, p.name) != std::end(own_names)) {
    wrong(field, number, text,
          format("'{}' is a name of the generated text; choose another name", p.name));
  }
  if (std::ranges::find(taken, p.name) != std::end(taken)) {
    wrong(field, number, text,
          p.name == "i" ? "i is the index of the element; choose another name"
                        : format("'{}' is a word of C++; choose another name", p.name));
  }
  return p;
}

[[noreturn]] void mismatch(const std::string& text) {
  throw interop_error(fault::dtype_mismatch, text);
}

/// The type of each placeholder, by name.
class placeholders {
 public:
  const dtype* find(const std::string& name) const {
    for (const auto& [known, type] : found_) {
      if (known == name) return &type;
    }
    return nullptr;
  }
  void add(const std::string& name, const dtype& type) {
    if (!find(name)) found_.emplace_back(name, type);
  }
  std::vector<std::pair<std::string, dtype>> take() { return std::move(found_); }

 private:
  std::vector<std::pair<std::string, dtype>> found_;
};

void refuse_record(const char* what, const expression_parameter& p, const dtype& type) {
  if (type.is_record()) {
    mismatch(format("{}: has elements of {}, expected numbers", called(what, p), type.name()));
  }
}

}  // namespace

std::string detail::called(const char* what, const expression_parameter& p) {
  return format("{} '{}' ({})", what, p.name, p.text);
}

std::vector<expression_parameter> parse_parameters(std::string_view text, std::string_view field) {
  std::vector<expression_parameter> list;
  if (trimmed(text).empty()) return list;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(',', at), text.size());
    const auto part = trimmed(text.substr(at, end - at));
    auto p = parse_one(field, list.size(), part);
    for (const auto& other : list) {
      if (other.name == p.name) wrong(field, list.size(), part, "the name is used twice");
    }
    list.push_back(std::move(p));
    at = end + 1;
  }
  return list;
}

expression_types resolve_types(std::span<const expression_parameter> inputs,
                               std::span<const expression_parameter> outputs,
                               std::span<const operand> in,
                               std::span<const std::optional<dtype>> given) {
  placeholders known;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const auto& p = inputs[k];
    refuse_record("input", p, in[k].type());
    if (p.fixed || known.find(p.type)) continue;
    std::vector<operand_type> meeting;
    for (std::size_t j = k; j < inputs.size(); ++j) {
      if (inputs[j].type != p.type) continue;
      refuse_record("input", inputs[j], in[j].type());
      meeting.push_back({in[j].type(), in[j].weak()});
    }
    known.add(p.type, *result_type(meeting));
  }

  expression_types types;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const auto& p = inputs[k];
    const dtype& wanted = p.fixed ? *p.fixed : *known.find(p.type);
    // A weak number only has a class: 1 is a float32 as well, and 2.0 is not an int32.
    if (!can_cast_same_kind(in[k].type(), wanted) &&
        !(in[k].weak() && in[k].type().kind() == type_class::integer &&
          wanted.kind() == type_class::unsigned_integer)) {
      mismatch(format("{}: {} is not cast to {}; convert it with astype() if that is what you want",
                      called("input", p), in[k].type().name(), wanted.name()));
    }
    types.inputs.push_back(wanted);
  }
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const auto& p = outputs[k];
    if (given[k]) refuse_record("output", p, *given[k]);
    if (!p.fixed && !known.find(p.type)) {
      if (!given[k]) {
        mismatch(format("{}: no input says what type {} is; pass out=, or name a type instead",
                        called("output", p), p.type));
      }
      known.add(p.type, *given[k]);
    }
    const dtype& own = p.fixed ? *p.fixed : *known.find(p.type);
    if (given[k] && p.raw && !(*given[k] == own)) {
      mismatch(format("{}: has elements of {}, expected {}; a raw output is not cast",
                      called("output", p), given[k]->name(), own.name()));
    }
    if (given[k] && !can_cast_same_kind(own, *given[k])) {
      mismatch(format("{}: {} is not cast to elements of {}", called("output", p), own.name(),
                      given[k]->name()));
    }
    types.outputs.push_back(own);
  }
  types.placeholders = known.take();
  return types;
}

}  // namespace usmx
