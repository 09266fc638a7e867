// Writes the kernels that get views and structs in parts and put them together on the device.
// SPDX-License-Identifier: Apache-2.0
#include "kernel/kernel_wrapper.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "kernel/source/kernel_text.hpp"
namespace usmx::detail {
namespace {

using enum kernel_parameter::view_form;

constexpr std::string_view kernel_word = "USMX_KERNEL";
constexpr std::string_view called_word = "USMX_CALLED";
static_assert(kernel_word.size() == called_word.size(), "columns would move");

/// More than this many bytes of arguments do not fit everywhere.
constexpr std::size_t most_bytes = 1024;

bool is_struct(const kernel_parameter& p) { return !p.pointer && p.type && p.type->is_record(); }
bool is_wrapped(const kernel_parameter& p) { return p.view != none || is_struct(p); }

/// The numbers of eight bytes in which a struct travels.
std::size_t words(const kernel_parameter& p) { return (p.type->itemsize() + 7) / 8; }

/// Why no wrapper can be made; empty if it can, or need not.
std::string obstacle(const signature& s) {
  for (const auto& p : s.parameters) {
    if (!is_wrapped(p)) continue;
    std::string what;
    if (s.begin == std::string::npos) {
      what = "is passed only to kernels that begin with USMX_KERNEL(rank) in the source";
    } else if (p.rank < 0) {
      what = "the number of dimensions must stand there as a number";
    } else if (p.view == local && p.read_only) {
      what = "nothing could write to it, expected elements that are not const";
    } else if (!p.type) {
      what = "elements must be of a type of numbers that the source shows";
    } else if (is_struct(p) && p.type->itemsize() > most_bytes) {
      what = "has " + std::to_string(p.type->itemsize()) + " bytes, expected at most " +
             std::to_string(most_bytes) + "; pass an array";
    } else {
      continue;
    }
    return "kernel '" + s.name + "', parameter '" + p.text + "': " + what;
  }
  return {};
}

void append(std::string& list, std::string_view item) {
  if (!list.empty()) list += ", ";
  list += item;
}

/// Declares the struct `part` and fills it in. What was read from the text must be what the
/// compiler makes of it.
std::string unpacked(const kernel_parameter& p, const std::string& part, const std::string& names) {
  auto text = "static_assert(sizeof(" + p.type_name + ") == " + std::to_string(p.type->itemsize());
  std::size_t offset = 0;
  for (const auto& f : *p.type->members()) {
    if (!f.name.empty()) {
      text += " && __builtin_offsetof(" + p.type_name + ", " + f.name +
              ") == " + std::to_string(offset);
    }
    auto bytes = f.type.itemsize();
    for (const auto n : f.shape) bytes *= static_cast<std::size_t>(n);
    offset += bytes;
  }
  return text + ", \"the layout of " + p.type_name + " could not be read\"); const uint64_t " +
         part + "_words[]{" + names + "}; " + p.type_name + " " + part + "; __builtin_memcpy(&" +
         part + ", " + part + "_words, sizeof " + part + "); ";
}

/// Defines the memory `part`_memory and the view `part` of it.
std::string local_part(const kernel_parameter& p, const std::string& part,
                       const local_memory& size) {
  std::int64_t count = 1;
  std::string lengths;
  for (const auto n : size.shape) {
    append(lengths, std::to_string(n));
    count *= n;
  }
  return "usmx::local<" + p.type_name + "::value_type[" + std::to_string(count) + "]> " + part +
         "_memory; " + p.type_name + " " + part + "{&" + part + "_memory[0], {" + lengths + "}}; ";
}

std::string wrapper(std::string_view declaration, const signature& s,
                    std::span<const local_memory> sizes) {
  std::string parameters, wholes, arguments;
  for (std::size_t i = 0; i < s.parameters.size(); ++i) {
    const auto& p = s.parameters[i];
    const auto part = "usmx_" + std::to_string(i);
    if (!is_wrapped(p)) {
      append(parameters, p.name.empty() ? p.text + " " + part : p.text);
      append(arguments, p.name.empty() ? part : p.name);
      continue;
    }
    append(arguments, part);
    if (is_struct(p)) {
      std::string names;
      for (std::size_t k = 0; k < words(p); ++k) {
        const auto name = part + "_word" + std::to_string(k);
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
    append(parameters, "decltype(" + p.type_name + "::data) " + part + "_data");
    wholes += p.type_name + " " + part + "{" + part + "_data";
    const auto add_sizes = [&](const std::string& what) {
      std::string names;
      for (int k = 0; k < p.rank; ++k) {
        const auto name = part + what + std::to_string(k);
        append(parameters, "int64_t " + name);
        append(names, name);
      }
      wholes += ", {" + names + "}";
    };
    add_sizes("_shape");
    if (p.view == strided) add_sizes("_stride");
    wholes += "}; ";
  }
  std::string text = " ";
  text += declaration;
  // A directive ends with its line, so the wrapper must not begin another one.
  std::ranges::replace(text, '\n', ' ');
  text.append("(").append(parameters).append(") { ").append(wholes);
  text.append(s.name).append("(").append(arguments).append("); }");
  return text;
}

}  // namespace

bool takes_local(const signature& s) noexcept {
  return s.begin != std::string::npos &&
         std::ranges::any_of(s.parameters, [](const auto& p) { return p.view == local; });
}

std::string with_wrappers(std::string source, std::span<const signature> signatures,
                          std::string_view sized, std::span<const local_memory> sizes) {
  if (includes_sycl(source)) return source;
  std::string text;
  std::size_t done = 0;
  for (const auto& s : signatures) {
    if (std::ranges::none_of(s.parameters, is_wrapped) || !obstacle(s).empty()) continue;
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
    if (!takes_local(s) || s.name == sized) {
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
    if (s.rank == 0) continue;  // not a kernel
    check_wrapper(s);
    for (const auto& p : s.parameters) {
      if (p.pointer || p.view != none || p.name.empty()) continue;  // no name: perhaps a macro
      const bool is_number = p.type && p.type->kind() != type_class::complex;
      if (is_number && (!p.type->is_record() || s.begin != std::string::npos)) continue;
      throw std::invalid_argument(
          "kernel '" + s.name + "', parameter '" + p.text + "': " + backend.name +
          " takes no structure by value; expected a number, a pointer, or, in a kernel that begins "
          "with USMX_KERNEL(rank), a structure of numbers that the source defines");
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
