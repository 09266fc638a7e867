// Compiled programs on disk, for the sources that build programs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
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

/// What a program is stored under.
struct program_keys {
  /// All that the compiler's result depends on; empty if the program is not kept on disk.
  std::string exact;
  /// The same without this machine: for packages, which hold programs for several kinds of
  /// processors. Empty if the backend has no such kinds.
  std::string portable;
};

/// Offers what is stored with exactly these keys, until one is accepted: first what this user's
/// processes compiled, then what packages brought, for the newest kind of processor first. What is
/// refused is removed from the user's folder. Nothing is offered if the cache is off, or if a file
/// is damaged or of another user. Throws what reading the settings throws.
bool find_program(const program_keys& keys, const std::function<bool(stored_program&)>& accept);
/// Stores a program for other processes, and removes the least recently used ones above the limit.
/// A failure is not reported: the program runs without being stored.
void store_program(std::string_view key, std::string_view device,
                   const stored_program& program) noexcept;

/// Keeps an object, from which the executable is linked, in the folder that `record_programs`
/// named. Nothing happens if there is none.
void record_object(std::string_view portable, const stored_program& object);
/// Whether there is such a folder.
bool is_recording() noexcept;
/// Calls `link` with each object of a folder, and writes what comes out into the folder of a
/// package, for a kind of processor; how many.
std::size_t link_recorded(const std::filesystem::path& objects,
                          const std::filesystem::path& package, std::string_view kind,
                          const std::function<std::vector<char>(std::vector<char>&)>& link);

}  // namespace usmx::detail
