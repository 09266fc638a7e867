// The folder in which compiled programs are kept. What lies there is executed, so it is opened
// once, and all that follows goes through that descriptor: a name is never looked up twice.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace usmx::detail {

/// Closes a file when it goes.
class descriptor {
 public:
  explicit descriptor(int number = -1) noexcept : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor() { close(); }

  /// Whether that succeeded.
  bool close() noexcept;
  int number() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }

 private:
  int number_;
};

/// A folder that this user alone can write to, and the files in it that were made by this class.
///
/// Files are named by 32 hexadecimal digits and a suffix. Only those, and drafts of our own that
/// were left behind, are ever listed, read or removed.
class cache_folder {
 public:
  static constexpr std::string_view program_suffix = ".program";
  /// The C++ that was made of Python functions, see python/usmx/_kernel/kept.py.
  static constexpr std::string_view text_suffix = ".text";

  /// A file that was opened and found to be this user's alone.
  struct opened {
    descriptor file;
    std::string text;
    /// Its time is when it was last of use.
    void touch() const noexcept;
  };
  struct entry {
    std::string name;
    std::uintmax_t bytes;
    std::filesystem::file_time_type last_used;
  };

  /// Empty if there is no such folder, or if it cannot be trusted: then `problem` says why.
  static std::optional<cache_folder> open(const std::filesystem::path& path, bool create,
                                          std::string* problem = nullptr);

  /// Empty if there is no such file, or if others may have written it.
  std::optional<opened> read(const std::string& name) const;
  /// Whether the parts, one behind the other, are now the file of that name. Readers see all of it
  /// or what was there before.
  bool write(const std::string& name, std::span<const std::string_view> parts) const;
  bool remove(const std::string& name) const noexcept;
  /// The files. Drafts of processes that died are removed on the way.
  std::vector<entry> files() const;
  /// Removes what was used longest ago until at most this many bytes are left.
  void shrink(std::uintmax_t most) const;

 private:
  explicit cache_folder(descriptor folder) noexcept : folder_(std::move(folder)) {}
  descriptor folder_;
};

}  // namespace usmx::detail
