// Compiled programs on disk, for the sources that build programs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace usmx::detail {

/// FNV-1a. It does not protect against attacks: callers also compare the whole key.
std::uint64_t checksum(std::string_view bytes, std::uint64_t seed = 0xcbf29ce484222325u) noexcept;

/// What a process needs to launch kernels that another process compiled.
struct stored_program {
  struct entry {
    std::string name;
    std::size_t argument_count;  // the runtime does not know it for a loaded binary
  };
  std::vector<entry> kernels;
  std::vector<char> binary;
  /// The files that the compiler read. If one has changed, the program is not found.
  std::vector<std::string> files = {};
};

/// The program that was stored with exactly this key; empty if there is none, if the cache is off,
/// or if the file is damaged or of another user. Throws what reading the settings throws.
std::optional<stored_program> load_program(std::string_view key);
/// Stores a program for other processes, and removes the least recently used ones above the limit.
/// A failure is not reported: the program runs without being stored.
void store_program(std::string_view key, std::string_view device,
                   const stored_program& program) noexcept;
/// Removes what is stored with the key, because the runtime cannot load it.
void drop_program(std::string_view key) noexcept;

}  // namespace usmx::detail
