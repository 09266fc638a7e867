// What processes keep for each other: compiled programs, and the C++ of Python kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace usmx::detail {

/// FNV-1a. Not against malice: what it finds is compared whole.
std::uint64_t checksum(std::string_view bytes, std::uint64_t seed = 0xcbf29ce484222325u) noexcept;

/// What a process needs to launch kernels that another one compiled.
struct stored_program {
  struct entry {
    std::string name;
    std::size_t argument_count;  // the runtime cannot be asked about a binary
  };
  std::vector<entry> kernels;
  std::vector<char> binary;
  /// The files that the compiler read. Once one has changed, the program is not found.
  std::vector<std::string> files = {};
};

/// The program that was stored under exactly this key; empty if there is none, if the cache is off,
/// or if the file is damaged or somebody else's. Throws what reading the settings throws.
std::optional<stored_program> load_program(std::string_view key);
/// Keeps a program for other processes, and forgets those used longest ago above the limit. A disk
/// that does not take it is no error: the program runs all the same.
void store_program(std::string_view key, std::string_view device,
                   const stored_program& program) noexcept;
/// Forgets what is stored under the key, because the runtime did not take it.
void drop_program(std::string_view key) noexcept;

}  // namespace usmx::detail
