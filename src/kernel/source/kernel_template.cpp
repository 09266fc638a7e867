// Writes the kernel that calls an instance of a template, whose parameters are those of the
// template with the arguments in their place.
// SPDX-License-Identifier: Apache-2.0
#include "kernel/source/kernel_template.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/format.hpp"
#include "kernel/source/kernel_signature.hpp"
#include "kernel/source/kernel_text.hpp"

namespace usmx::detail {
namespace {

constexpr std::string_view instance_prefix = "usmx_instance_";

using meanings = std::vector<std::pair<std::string, std::string>>;

/// The text with the words that have a meaning replaced.
std::string replaced(std::string_view text, const meanings& words) {
  std::string made;
  for (std::size_t i = 0; i < text.size();) {
    auto end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end == i) {
      made += text[i++];
      continue;
    }
    const auto word = text.substr(i, end - i);
    const auto found = std::ranges::find(words, word, [](const auto& w) { return w.first; });
    made += found == words.end() ? word : std::string_view(found->second);
    i = end;
  }
  return made;
}

/// A name of letters, digits and underscores, from which the given one can be read back.
std::string encoded(std::string_view name) {
  std::string made(instance_prefix);
  for (const char c : name) {
    if (is_word(c) && c != '_') {
      made += c;
    } else {
      made += format("_{:02x}", static_cast<unsigned char>(c));
    }
  }
  return made;
}

/// What the template's parameters are in `name`.
meanings meanings_of(const signature& s, std::string_view name) {
  const auto open = name.find('<');
  const auto given = split_list(name.substr(open + 1, name.rfind('>') - open - 1));
  const auto refuse = [&](std::string_view what) {
    throw std::invalid_argument(
        format("name: '{}': the template '{}' takes {}{}", name, s.name,
               joined(s.template_parameters, [](const auto& p) { return p.text; }), what));
  };
  if (given.size() > s.template_parameters.size()) refuse(format(", got {}", given.size()));
  meanings words;
  for (std::size_t i = 0; i < s.template_parameters.size(); ++i) {
    const auto& p = s.template_parameters[i];
    if (p.is_pack) refuse("; parameter packs are not supported");
    if (i >= given.size() && p.preset.empty()) refuse(format("; there is no '{}'", p.name));
    words.emplace_back(p.name,
                       i < given.size() ? std::string(given[i]) : replaced(p.preset, words));
  }
  return words;
}

}  // namespace

bool names_instance(std::string_view name) noexcept {
  return name.find('<') != std::string_view::npos && trim(name).ends_with('>');
}

std::string_view template_name(std::string_view name) noexcept {
  if (!names_instance(name)) return name;
  name = trim(name.substr(0, name.find('<')));
  return name.substr(name.rfind(':') + 1);
}

instance instantiated(std::string_view source, std::string_view name) {
  name = trim(name);
  const auto plain = template_name(name);
  std::vector<signature> found;
  std::vector<std::string> others;
  for (auto& s : read_signatures(source)) {
    if (!s.is_template()) continue;
    if (s.name == plain) {
      found.push_back(std::move(s));
    } else {
      others.push_back(s.name);
    }
  }
  if (found.size() != 1) {
    throw std::out_of_range(
        format("{} kernel template named '{}'; {}", found.empty() ? "no" : "more than one", plain,
               others.empty() ? "declare one with template <class T> USMX_KERNEL(rank)"
                              : "there are: " + joined(others)));
  }
  const auto& s = found[0];
  const auto words = meanings_of(s, name);
  std::string parameters, arguments;
  for (std::size_t i = 0; i < s.parameters.size(); ++i) {
    const auto& p = s.parameters[i];
    const auto argument = p.name.empty() ? format("usmx_{}", i) : p.name;
    const auto separator = i == 0 ? "" : ", ";
    parameters += separator + replaced(p.text, words) + (p.name.empty() ? " " + argument : "");
    arguments += separator + argument;
  }
  const auto head = without_comments(source.substr(s.begin, s.bracket - s.begin));
  const auto attributes = std::string_view(head).substr(std::min(head.find("[["), head.size()));
  instance made{std::string(source), encoded(name)};
  made.source += format("\nUSMX_KERNEL({}) {} {}({}) {{ {}({}); }}\n", s.rank, made.name,
                        attributes, parameters, name, arguments);
  return made;
}

std::string shown_name(std::string_view name) {
  if (!name.starts_with(instance_prefix)) return std::string(name);
  std::string shown;
  for (std::size_t i = instance_prefix.size(); i < name.size(); ++i) {
    unsigned char code = 0;
    if (name[i] == '_' &&
        std::from_chars(name.data() + i + 1, name.data() + std::min(i + 3, name.size()), code, 16)
                .ec == std::errc{}) {
      shown += static_cast<char>(code);
      i += 2;
    } else {
      shown += name[i];
    }
  }
  return shown;
}

}  // namespace usmx::detail
