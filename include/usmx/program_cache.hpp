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

#include <sycl/queue.hpp>

namespace usmx {

/// Where programs are kept and how many bytes of them.
///
/// From the environment: USMX_CACHE=0 turns it off; programs are kept in
/// $XDG_CACHE_HOME/usmx/programs (~/.cache/usmx/programs), or in the folder usmx-programs of the
/// one that USMX_CACHE_DIR names; USMX_CACHE_SIZE sets the limit in bytes, also as 64K, 256M or 1G,
/// and USMX_PROGRAM_MEMORY that of a process, which is read once: `program::set_memory_limit`.
/// USMX_NOTICES=0 turns notices off.
/// The other variables are read each time.
struct program_cache_settings {
  bool enabled = true;
  /// Of usmx only: not used if other users can write to it. Empty if HOME is not set.
  std::filesystem::path folder;
  std::size_t most = std::size_t{256} << 20;
  /// The code of about 200 programs that were compiled, or 600 that were loaded: more than a
  /// process uses at a time, and little compared with its data.
  std::size_t most_in_memory = std::size_t{256} << 20;
  /// Whether a line on a terminal says that kernels have been compiled for a second.
  bool notices = true;

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
  std::string device;                ///< what it was compiled for
  std::vector<std::string> kernels;  ///< names
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
/// they have loaded. Throws std::system_error for a file that cannot be removed.
std::size_t clear_cached_programs();

/// A folder of a package that holds programs, compiled when the package was built.
struct installed_programs {
  std::filesystem::path folder;
  std::size_t programs = 0;        ///< for all kinds of processors together
  std::size_t bytes = 0;           ///< of these and of the C++ of Python kernels
  std::vector<std::string> kinds;  ///< of processors, as the driver names them
};

/// From now on programs are looked for in this folder too, after the user's own. It is trusted like
/// the package that it lies in. What does not fit this version of usmx, of the runtime and of the
/// driver is not used.
void add_installed_programs(const std::filesystem::path& folder);
/// The folders: that next to the library, if there is one, and those that were added.
std::vector<installed_programs> installed_program_folders();

/// From now on an object of each program that this process compiles is written into the folder, for
/// `link_for_package`. Call it once, before anything is compiled.
void record_programs(const std::filesystem::path& folder);
/// Makes programs of the objects in a folder, for the kind of processor that
/// CL_CONFIG_CPU_TARGET_ARCH names, and writes them into the folder of a package. Nothing is run:
/// the kind may be newer than this processor. Returns how many were written. Throws
/// std::invalid_argument for another kind, and for a device that is not a processor.
std::size_t link_for_package(const sycl::queue& queue, const std::filesystem::path& objects,
                             const std::filesystem::path& package);
/// The kinds of processors that programs of packages are looked for, the newest first.
std::vector<std::string_view> processor_kinds();

namespace detail {

/// Texts that were stored with exactly this key, which may be any bytes; empty if there are none.
/// With `portable`, those that a package brought are looked for under it. Both functions throw
/// std::invalid_argument if a variable has a wrong value.
std::optional<std::vector<std::string>> load_texts(std::string_view key,
                                                   std::string_view portable = {});
/// Writes texts into the folder of a package; true if that succeeded.
bool store_texts_for_package(const std::filesystem::path& folder, std::string_view portable,
                             std::span<const std::string> texts);
/// If they cannot be written, nothing is reported.
void store_texts(std::string_view key, std::span<const std::string> texts);

}  // namespace detail
}  // namespace usmx
