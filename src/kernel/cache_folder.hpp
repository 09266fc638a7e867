// The folder of compiled programs. Its files are executed, so it is opened once, and everything
// else uses that descriptor: a name is never looked up twice.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace usmx::detail {

/// Owns a file descriptor.
class descriptor {
 public:
  explicit descriptor(int number = -1) noexcept : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor() { close(); }

  /// True if that succeeded.
  bool close() noexcept;
  int number() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }

 private:
  int number_;
};

/// A folder that only this user can write to, and the files in it that this class has written.
///
/// Names of files are 32 hexadecimal digits and a suffix. Only those, and drafts that were left
/// behind, are listed, read or removed.
class cache_folder {
 public:
  static constexpr std::string_view program_suffix = ".program";
  /// C++ generated from Python functions, see python/usmx/_kernel/kept.py.
  static constexpr std::string_view text_suffix = ".text";

  /// An open file that only this user can have written.
  struct opened {
    descriptor file;
    std::string text;
    /// Sets the time of its last use to now.
    void touch() const noexcept;
  };
  struct entry {
    std::string name;
    std::uintmax_t bytes;
    std::filesystem::file_time_type last_used;
  };

  /// Empty if there is no such folder, or if it is not safe: then `problem` says why.
  static std::optional<cache_folder> open(const std::filesystem::path& path, bool create,
                                          std::string* problem = nullptr);
  /// A folder of an installed package, of any owner: who can write to it can write to the package,
  /// whose code runs as well. Empty if there is no such folder.
  static std::optional<cache_folder> open_installed(const std::filesystem::path& path);

  /// Empty if there is no such file, or if other users may have written it.
  std::optional<opened> read(const std::string& name) const;
  /// Writes the parts, one after the other, as the file of that name; true if that succeeded.
  /// Readers see the whole file, or the one before it.
  bool write(const std::string& name, std::span<const std::string_view> parts) const;
  bool remove(const std::string& name) const noexcept;
  /// The files. Removes drafts of processes that ended while writing.
  std::vector<entry> files() const;
  /// Lists the files, and removes the least recently used ones if they are more than this many
  /// bytes. Returns how many are left.
  std::uintmax_t shrink(std::uintmax_t most) const;

 private:
  cache_folder(descriptor folder, bool installed) noexcept
      : folder_(std::move(folder)), installed_(installed) {}
  /// Whether this folder's files may be trusted.
  bool is_safe(const struct stat& about) const noexcept;

  descriptor folder_;
  bool installed_;
};

}  // namespace usmx::detail
