// What the disk remembers of compiled programs, so that only the first process that needs one waits
// for the compiler: reading it back takes a millisecond instead of a tenth of a second or two.
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
/// The others are read each time.
struct program_cache_settings {
  bool enabled = true;
  /// Of usmx alone: it is used only if no other user can write to it. Empty if HOME is not set.
  std::filesystem::path folder;
  std::size_t most = std::size_t{256} << 20;
  /// The code of about two hundred programs that were compiled, or six hundred that were read: more
  /// than a process uses at a time, and little beside its data.
  std::size_t most_in_memory = std::size_t{256} << 20;

  /// Throws std::invalid_argument naming the variable that makes no sense.
  static program_cache_settings from_environment();
};

/// Why the folder is not used, such as "belongs to another user"; empty if it is, or is not there.
std::string program_cache_problem();

/// One program in the folder.
struct cached_program {
  std::filesystem::path file;
  std::size_t bytes = 0;
  std::filesystem::file_time_type last_used;
  std::string device;
  std::vector<std::string> kernels;
};

/// What the folder holds, what was used last first. Damaged files are left out.
std::vector<cached_program> cached_programs();
/// The C++ of kernels written in Python, which lies beside the programs and counts against the same
/// limit: how many files and how many bytes.
struct cached_texts {
  std::size_t count = 0;
  std::size_t bytes = 0;
};
cached_texts count_cached_texts();
/// Empties the folder, of both; how many programs went. Processes that run keep what they have
/// loaded.
std::size_t clear_cached_programs();

namespace detail {

/// Texts that were kept under exactly this key, which may be any bytes; empty if there are none.
/// Both throw std::invalid_argument if a variable makes no sense.
std::optional<std::vector<std::string>> load_texts(std::string_view key);
/// A disk that does not take them is no error.
void store_texts(std::string_view key, std::span<const std::string> texts);

}  // namespace detail
}  // namespace usmx
