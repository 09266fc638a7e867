// Generates the kernels that receive views and structs in parts and assemble them on the device.
// SPDX-License-Identifier: Apache-2.0
#include "kernel/kernel_wrapper.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "core/format.hpp"
#include "kernel/source/kernel_text.hpp"

namespace usmx::detail {
namespace {

using enum kernel_parameter::view_form;

constexpr std::string_view kernel_word = "USMX_KERNEL";
constexpr std::string_view called_word = "USMX_CALLED";
static_assert(kernel_word.size() == called_word.size(), "columns would move");

/// More bytes of arguments are not supported on every device.
constexpr std::size_t most_bytes = 1024;

/// A type without a name is one that the text takes from SYCL's headers.
bool is_struct(const kernel_parameter& p) {
  return !p.pointer && p.type && is_in_words(*p.type) && !p.type_name.empty();
}
bool is_wrapped(const kernel_parameter& p) { return p.view != none || is_struct(p); }

/// A struct or a complex number is passed as this many numbers of eight bytes.
std::size_t words(const kernel_parameter& p) { return (p.type->itemsize() + 7) / 8; }

/// Why a wrapper cannot be made; empty if it can, or is not needed.
std::string obstacle(const signature& s) {
  for (const auto& p : s.parameters) {
    if (!is_wrapped(p)) continue;
    std::string what;
    if (s.begin == std::string::npos) {
      what = "is supported only in kernels that begin with USMX_KERNEL(rank) in the source";
    } else if (p.rank < 0) {
      what = "the number of dimensions must be an integer literal";
    } else if (p.view == local && p.read_only) {
      what = "local memory of const elements cannot be written; remove const";
    } else if (!p.type) {
      what = "the element type is not supported; expected a number type";
    } else if (is_struct(p) && p.type->itemsize() > most_bytes) {
      what = format("has {} bytes; at most {} are supported, so pass an array", p.type->itemsize(),
                    most_bytes);
    } else {
      continue;
    }
    return format("kernel '{}', parameter '{}': {}", s.name, p.text, what);
  }
  return {};
}

void append(std::string& list, std::string_view item) {
  if (!list.empty()) list += ", ";
  list += item;
}

/// Declares the struct `part` and fills it in. The layout that was read from the text must be the
/// compiler's.
std::string unpacked(const kernel_parameter& p, const std::string& part, const std::string& names) {
  auto text = format("static_assert(sizeof({}) == {}", p.type_name, p.type->itemsize());
  std::size_t offset = 0;
  // A complex number has none.
  const auto members = p.type->members() ? *p.type->members() : dtype::fields();
  for (const auto& f : members) {
    if (!f.name.empty()) {
      text += format(" && __builtin_offsetof({}, {}) == {}", p.type_name, f.name, offset);
    }
    auto bytes = f.type.itemsize();
    for (const auto n : f.shape) bytes *= static_cast<std::size_t>(n);
    offset += bytes;
  }
  return text +
         format(
             ", \"the layout of {0} could not be read\"); const uint64_t {1}_words[]{{{2}}}; "
             "{0} {1}; __builtin_memcpy(&{1}, {1}_words, sizeof {1}); ",
             p.type_name, part, names);
}

/// Defines the memory `part`_memory and the view `part` of it.
std::string local_part(const kernel_parameter& p, const std::string& part,
                       const local_memory& size) {
  std::int64_t count = 1;
  for (const auto n : size.shape) count *= n;
  const auto lengths = joined(size.shape, [](std::int64_t n) { return format("{}", n); });
  return format(
      "usmx::local<{0}::value_type[{1}]> {2}_memory; {0} {2}{{&{2}_memory[0], {{{3}}}}}; ",
      p.type_name, count, part, lengths);
}

std::string wrapper(std::string_view declaration, const signature& s,
                    std::span<const local_memory> sizes) {
  std::string parameters, wholes, arguments;
  for (std::size_t i = 0; i < s.parameters.size(); ++i) {
    const auto& p = s.parameters[i];
    const auto part = format("usmx_{}", i);
    if (!is_wrapped(p)) {
      append(parameters, p.name.empty() ? p.text + " " + part : p.text);
      append(arguments, p.name.empty() ? part : p.name);
      continue;
    }
    append(arguments, part);
    if (is_struct(p)) {
      std::string names;
      for (std::size_t k = 0; k < words(p); ++k) {
        const auto name = format("{}_word{}", part, k);
        append(parameters, "uint64_t " + name);
        append(names, name);
      }
      wholes += unpacked(p, part, names);
      continue;
    }
    if (p.view == local) {
      wholes += local_part(p, part, sizes.front());
      sizes = sizes.subspan(1);
      continue;
    }
    append(parameters, format("decltype({}::data) {}_data", p.type_name, part));
    wholes += format("{0} {1}{{{1}_data", p.type_name, part);
    const auto add_sizes = [&](std::string_view what) {
      std::string names;
      for (int k = 0; k < p.rank; ++k) {
        const auto name = format("{}{}{}", part, what, k);
        append(parameters, "int64_t " + name);
        append(names, name);
      }
      wholes += format(", {{{}}}", names);
    };
    add_sizes("_shape");
    if (p.view == strided) add_sizes("_stride");
    wholes += "}; ";
  }
  std::string text(declaration);
  // A directive ends with its line, so the wrapper must not begin another one.
  std::ranges::replace(text, '\n', ' ');
  return format(" {}({}) {{ {}{}({}); }}", text, parameters, wholes, s.name, arguments);
}

}  // namespace

bool takes_local(const signature& s) noexcept {
  return s.begin != std::string::npos && !s.is_template() &&
         std::ranges::any_of(s.parameters, [](const auto& p) { return p.view == local; });
}

std::string with_wrappers(std::string source, std::span<const signature> signatures,
                          std::string_view sized, std::span<const local_memory> sizes) {
  if (includes_sycl(source)) return source;
  std::string text;
  std::size_t done = 0;
  for (const auto& s : signatures) {
    // A template is called by the kernels of its instances.
    const bool is_called =
        s.is_template() || (std::ranges::any_of(s.parameters, is_wrapped) && obstacle(s).empty());
    if (!is_called) continue;
    const auto declaration = std::string_view(source).substr(s.begin, s.bracket - s.begin);
    text.append(source, done, s.begin - done).append(called_word);
    auto rest = s.begin + kernel_word.size();
    if (!declaration.starts_with(kernel_word)) {  // lines are joined inside of it
      rest = s.begin + declaration.find('(');
      for (auto k = std::ranges::count(declaration.substr(0, rest - s.begin), '\n'); k > 0; --k) {
        text += "\\\n";
      }
    }
    text.append(source, rest, s.end - rest);
    if (!s.is_template() && (!takes_local(s) || s.name == sized)) {
      text.append(wrapper(without_comments(without_splices(declaration).text), s, sizes));
    }
    done = s.end;
  }
  return text.append(source, done);
}

std::string without_wrappers(std::string_view message) {
  std::string text(message);
  for (auto at = text.find(called_word); at != std::string::npos; at = text.find(called_word)) {
    text.replace(at, called_word.size(), kernel_word);
  }
  return text;
}

void check_wrapper(const signature& s) {
  if (auto what = obstacle(s); !what.empty()) throw std::invalid_argument(what);
}

void check_by_value(const backend_row& backend, std::span<const signature> signatures) {
  if (backend.takes_structs) return;
  for (const auto& s : signatures) {
    if (s.rank == 0 || s.is_template()) continue;  // not a kernel
    check_wrapper(s);
    for (const auto& p : s.parameters) {
      if (p.pointer || p.view != none || p.name.empty()) continue;  // no name: perhaps a macro
      if (p.type && (!is_in_words(*p.type) || (is_struct(p) && s.begin != std::string::npos))) {
        continue;
      }
      throw std::invalid_argument(
          format("kernel '{}', parameter '{}': structures by value are not supported by {}; "
                 "expected a number, a pointer, or, in a kernel that begins with "
                 "USMX_KERNEL(rank), a structure of numbers that the source defines",
                 s.name, p.text, backend.name));
    }
  }
}

declared_kernel declaration_of(std::span<const signature> signatures, std::string_view name,
                               std::optional<std::size_t> passed) {
  // Two functions of one name (an #if, an overload) leave no way to tell which was compiled.
  if (std::ranges::count(signatures, name, &signature::name) != 1) return {};
  const auto& s = *std::ranges::find(signatures, name, &signature::name);
  check_wrapper(s);
  declared_kernel found{{}, s.rank};
  const auto is_read = [](const kernel_parameter& p) {
    return p.pointer || p.type || p.view != none;
  };
  if (passed ? *passed == passed_count(s.parameters) : std::ranges::all_of(s.parameters, is_read)) {
    found.parameters = s.parameters;
  }
  return found;
}

std::size_t passed_count(std::span<const kernel_parameter> parameters) noexcept {
  std::size_t count = 0;
  for (const auto& p : parameters) {
    if (p.view == local) continue;
    count += is_struct(p) ? words(p) : 1;
    if (p.view != none) count += static_cast<std::size_t>(p.rank) * (p.view == strided ? 2 : 1);
  }
  return count;
}

}  // namespace usmx::detail
