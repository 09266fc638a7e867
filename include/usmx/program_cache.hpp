// Compiled programs on disk, so that only the first process that needs one waits for the compiler:
// loading one takes a millisecond instead of 0.1 to 2 seconds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace usmx {

/// Where programs are kept and how many bytes of them.
///
/// From the environment: USMX_CACHE=0 turns it off; programs are kept in
/// $XDG_CACHE_HOME/usmx/programs (~/.cache/usmx/programs), or in the folder usmx-programs of the
/// one that USMX_CACHE_DIR names; USMX_CACHE_SIZE sets the limit in bytes, also as 64K, 256M or 1G,
/// and USMX_PROGRAM_MEMORY that of a process, which is read once: `program::set_memory_limit`.
/// The other variables are read each time.
struct program_cache_settings {
  bool enabled = true;
  /// Of usmx only: not used if other users can write to it. Empty if HOME is not set.
  std::filesystem::path folder;
  std::size_t most = std::size_t{256} << 20;
  /// The code of about 200 programs that were compiled, or 600 that were loaded: more than a
  /// process uses at a time, and little compared with its data.
  std::size_t most_in_memory = std::size_t{256} << 20;

  /// Throws std::invalid_argument naming the variable with a wrong value.
  static program_cache_settings from_environment();
};

/// Why the folder is not used, such as "belongs to another user"; empty if it is used or missing.
std::string program_cache_problem();

/// One program in the folder.
struct cached_program {
  std::filesystem::path file;
  std::size_t bytes = 0;
  std::filesystem::file_time_type last_used;
  std::string device;
  std::vector<std::string> kernels;
};

/// The programs in the folder, the most recently used first. Damaged files are left out.
std::vector<cached_program> cached_programs();
/// The C++ of kernels written in Python, which is in the same folder and counts against the same
/// limit: how many files and how many bytes.
struct cached_texts {
  std::size_t count = 0;
  std::size_t bytes = 0;
};
cached_texts count_cached_texts();
/// Removes both from the folder; returns how many programs there were. Running processes keep what
/// they have loaded.
std::size_t clear_cached_programs();

namespace detail {

/// Texts that were stored with exactly this key, which may be any bytes; empty if there are none.
/// Both throw std::invalid_argument if a variable has a wrong value.
std::optional<std::vector<std::string>> load_texts(std::string_view key);
/// If they cannot be written, nothing is reported.
void store_texts(std::string_view key, std::span<const std::string> texts);

}  // namespace detail
}  // namespace usmx
