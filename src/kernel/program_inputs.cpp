// Reads the directives of a text as a preprocessor does, and the list of files that a compiler
// read.
// SPDX-License-Identifier: Apache-2.0
#include "kernel/program_inputs.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "core/format.hpp"
#include "kernel/source/kernel_text.hpp"
#include "usmx/kernel.hpp"

namespace usmx::detail {
namespace {

/// Whether the effect of the option depends only on its text: it names no file.
bool is_plain(std::string_view option) {
  if (option.size() < 2 || option[0] != '-' || option.find("__has_") != std::string_view::npos) {
    return false;
  }
  const auto mentions = [&](std::string_view what) {
    return option.find(what) != std::string_view::npos;
  };
  switch (option[1]) {
    case 'D':
    case 'U':
    case 'O':
    case 'g':
      return true;
    case 'W':
      return !mentions(",");  // -Wp,-include,file
    case 'f': {
      // A loaded binary has no addresses of device globals: the runtime crashes.
      for (const auto what : {"device_global", "module", "plugin", "profile", "pch", "trigraphs"}) {
        if (mentions(what)) return false;
      }
      constexpr std::array valued{
          "-ffp-contract=", "-ffp-model=", "-fdenormal-fp-math=", "-fsycl-id-queries-range="};
      return !mentions("=") ||
             std::ranges::any_of(valued, [&](auto name) { return option.starts_with(name); });
    }
    default:
      return false;
  }
}

/// `"usmx/expression.hpp"`: a file of kernels/.
bool is_own_header(std::string_view path) {
  constexpr std::string_view prefix = "\"usmx/";
  if (!path.starts_with(prefix) || !path.ends_with('"')) return false;
  path.remove_prefix(prefix.size());
  path.remove_suffix(1);
  return !kernel_file(path).empty();
}

/// `<cupy/complex.cuh>`: a file of kernels/includes/, which texts include by the name that it has
/// in the library they were written for. Empty if it is none.
std::string file_of_name(std::string_view path) {
  if (path.size() < 3) return {};
  const std::string file = "includes/" + std::string(path.substr(1, path.size() - 2));
  return kernel_file(file).empty() ? std::string() : "usmx/" + file;
}

/// `<sycl/sycl.hpp>`, `<cmath>`, `<stdint.h>`: found in the compiler or in a folder of the system.
bool is_system_header(std::string_view path) {
  if (path.size() < 3 || path.front() != '<' || path.back() != '>') return false;
  path = path.substr(1, path.size() - 2);
  if (path.find("..") != std::string_view::npos) return false;
  return path.starts_with("sycl/") || path.starts_with("CL/") ||
         std::ranges::all_of(path, [](char c) { return is_word(c); });
}

bool is_set(const char* name) noexcept {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

}  // namespace

program_input input_of(std::string_view source, std::span<const std::string> options) {
  using enum program_input;
  if (!std::ranges::all_of(options, is_plain)) return files;
  const auto spliced = without_splices(source).text;
  // Also where a macro makes them. In a comment they only cost a compilation.
  for (const auto word : {"__has_", "__DATE__", "__TIME", "device_global"}) {
    if (spliced.find(word) != std::string::npos) return files;
  }
  auto found = text;
  for (const auto& line : directives_of(spliced)) {
    if (line.name == "import" || line.name == "embed") return files;
    if (line.name == "pragma" && line.rest.find("module") != std::string::npos) return files;
    if (line.name.find("include") == std::string::npos || is_own_header(line.rest)) continue;
    if (line.name != "include") return files;
    // Files of ours may include headers of the standard library.
    if (!is_system_header(line.rest) && file_of_name(line.rest).empty()) return files;
    found = headers;
  }
  // Variables that name folders which come before those of the system.
  if (found == headers &&
      (is_set("CPATH") || is_set("CPLUS_INCLUDE_PATH") || is_set("C_INCLUDE_PATH"))) {
    return files;
  }
  return found;
}

std::vector<std::string> own_headers(std::string_view source) {
  std::vector<std::string> found;
  for (const auto& line : directives_of(without_splices(source).text)) {
    if (line.name != "include") continue;
    if (auto file = file_of_name(line.rest); !file.empty()) found.push_back(std::move(file));
    if (!is_own_header(line.rest) || !line.rest.ends_with(".hpp\"")) continue;
    found.push_back(line.rest.substr(1, line.rest.size() - 2));
  }
  return found;
}

read_files::read_files() : memory_(::memfd_create("usmx-read-files", MFD_CLOEXEC)) {}
read_files::~read_files() {
  if (memory_ >= 0) ::close(memory_);
}

std::vector<std::string> read_files::options() const {
  if (memory_ < 0) return {};
  return {"-MD", "-MF", format("/proc/self/fd/{}", memory_)};
}

bool read_files::get(std::vector<std::string>& paths) const {
  if (memory_ < 0) return false;
  std::string list;
  std::array<char, 4096> part;
  for (off_t at = 0;;) {
    const auto got = ::pread(memory_, part.data(), part.size(), at);
    if (got < 0) return false;
    if (got == 0) break;
    list.append(part.data(), static_cast<std::size_t>(got));
    at += got;
  }
  // "rtc_1.o: rtc_1.cpp usmx/prelude.hpp \<newline>  /usr/include/stdlib.h", as make reads it.
  const auto is_in_memory = [](std::string_view name) {
    if (name.starts_with("rtc_") || name.starts_with("/sycl-jit-toolchain/")) return true;
    // "usmx/expression/../cuda.hpp". A folder usmx may also be where the process runs.
    const std::string path = std::filesystem::path(name).lexically_normal().generic_string();
    return path == "usmx/options.hpp" ||
           (path.starts_with("usmx/") && !kernel_file(std::string_view(path).substr(5)).empty());
  };
  const auto colon = list.find(": ");
  if (colon == std::string::npos) return false;
  std::string path;
  for (std::size_t i = colon + 1; i <= list.size(); ++i) {
    const char c = i < list.size() ? list[i] : '\n';
    const char next = i + 1 < list.size() ? list[i + 1] : '\n';
    if (c == '\\' && (next == ' ' || next == '#' || next == '\\')) {
      path += next;
      ++i;
    } else if (c == '$' && next == '$') {
      path += '$';
      ++i;
    } else if (is_space(c) || (c == '\\' && next == '\n')) {
      if (!path.empty() && !is_in_memory(path)) {
        if (path[0] != '/') return false;
        paths.push_back(path);
      }
      path.clear();
    } else {
      path += c;
    }
  }
  return true;
}

}  // namespace usmx::detail
