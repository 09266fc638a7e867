// Opens, checks, writes and removes the files of the cache, always relative to one open folder.
// SPDX-License-Identifier: Apache-2.0
#include "kernel/cache_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <memory>

namespace usmx::detail {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view draft_prefix = "draft-";
constexpr std::size_t name_digits = 32;

bool is_name(std::string_view text) noexcept {
  return text.size() == name_digits && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}
bool is_own_file(std::string_view name) noexcept {
  if (!is_name(name.substr(0, name_digits))) return false;
  name.remove_prefix(name_digits);
  return name == cache_folder::program_suffix || name == cache_folder::text_suffix;
}
bool is_draft(std::string_view name) noexcept {
  return name.starts_with(draft_prefix) && is_name(name.substr(draft_prefix.size()));
}

/// Whether this user alone can have written what was opened.
bool is_ours(const struct stat& about) noexcept {
  return about.st_uid == ::geteuid() && (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// A name that other programs cannot predict, so that they cannot create the file first.
std::string draft_name() {
  std::array<unsigned char, name_digits / 2> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return {};
  std::string name(draft_prefix);
  for (const unsigned b : bytes) {
    name += "0123456789abcdef"[b >> 4];
    name += "0123456789abcdef"[b & 15];
  }
  return name;
}

bool write_all(int file, std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const auto written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool read_all(int file, std::string& text) noexcept {
  std::size_t done = 0;
  while (done < text.size()) {
    const auto got = ::read(file, text.data() + done, text.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

fs::file_time_type last_write(const struct stat& about) {
  const auto since =
      std::chrono::seconds(about.st_mtim.tv_sec) + std::chrono::nanoseconds(about.st_mtim.tv_nsec);
  return std::chrono::time_point_cast<fs::file_time_type::duration>(
      std::chrono::file_clock::from_sys(std::chrono::sys_time<std::chrono::nanoseconds>(since)));
}

}  // namespace

bool descriptor::close() noexcept {
  return number_ >= 0 && ::close(std::exchange(number_, -1)) == 0;
}

void cache_folder::opened::touch() const noexcept {
  // A folder that cannot be written keeps its own times.
  static_cast<void>(::futimens(file.number(), nullptr));
}

std::optional<cache_folder> cache_folder::open(const fs::path& path, bool create,
                                               std::string* problem) {
  if (path.empty()) return {};
  const auto refuse = [&](const char* why) {
    if (problem) *problem = why;
    return std::optional<cache_folder>();
  };
  const fs::path above = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (create) {
    std::error_code failed;  // seen when it is opened
    fs::create_directories(above, failed);
  }
  // The parent may be a symbolic link; our own folder may not.
  const descriptor parent(::open(above.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!parent) return {};
  const auto leaf = path.filename();
  if (create) static_cast<void>(::mkdirat(parent.number(), leaf.c_str(), S_IRWXU));
  descriptor folder(
      ::openat(parent.number(), leaf.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) {
    return errno == ENOTDIR ? refuse("is not a folder, or is a symbolic link") : std::nullopt;
  }
  struct stat about{};
  if (::fstat(folder.number(), &about) != 0) return {};
  if (about.st_uid != ::geteuid()) return refuse("belongs to another user");
  if (!is_ours(about)) return refuse("is writable by other users; chmod go-w makes it safe");
  return cache_folder(std::move(folder), false);
}

std::optional<cache_folder> cache_folder::open_installed(const fs::path& path) {
  descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return {};
  return cache_folder(std::move(folder), true);
}

bool cache_folder::is_safe(const struct stat& about) const noexcept {
  return installed_ || is_ours(about);
}

std::optional<cache_folder::opened> cache_folder::read(const std::string& name) const {
  // O_NONBLOCK: opening a pipe of that name must not block.
  opened found{descriptor(::openat(folder_.number(), name.c_str(),
                                   O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)),
               {}};
  struct stat about{};
  if (!found.file || ::fstat(found.file.number(), &about) != 0) return {};
  if (!S_ISREG(about.st_mode) || !is_safe(about)) return {};
  found.text.resize(static_cast<std::size_t>(about.st_size));
  if (!read_all(found.file.number(), found.text)) return {};
  return found;
}

bool cache_folder::write(const std::string& name, std::span<const std::string_view> parts) const {
  const auto draft = draft_name();
  if (draft.empty()) return false;
  descriptor file(::openat(folder_.number(), draft.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                           S_IRUSR | S_IWUSR));
  if (!file) return false;
  const bool whole = std::ranges::all_of(
      parts, [&](std::string_view part) { return write_all(file.number(), part); });
  // Some file systems report that the disk is full only when the file is closed.
  const bool closed = file.close();
  if (whole && closed &&
      ::renameat(folder_.number(), draft.c_str(), folder_.number(), name.c_str()) == 0) {
    return true;
  }
  static_cast<void>(::unlinkat(folder_.number(), draft.c_str(), 0));
  return false;
}

bool cache_folder::remove(const std::string& name) const noexcept {
  return (is_own_file(name) || is_draft(name)) &&
         ::unlinkat(folder_.number(), name.c_str(), 0) == 0;
}

std::vector<cache_folder::entry> cache_folder::files() const {
  std::vector<entry> found;
  // Opened again, because the position in the list belongs to the descriptor.
  const int again = ::openat(folder_.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (again < 0) return found;
  const std::unique_ptr<DIR, int (*)(DIR*)> list(::fdopendir(again), &::closedir);
  if (!list) {
    ::close(again);
    return found;
  }
  while (const dirent* const item = ::readdir(list.get())) {
    const std::string name = item->d_name;
    if (!is_own_file(name) && !is_draft(name)) continue;
    struct stat about{};
    if (::fstatat(folder_.number(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(about.st_mode) || !(installed_ || about.st_uid == ::geteuid())) continue;
    const auto time = last_write(about);
    if (!is_draft(name)) {
      found.push_back({name, static_cast<std::uintmax_t>(about.st_size), time});
    } else if (!installed_ && fs::file_time_type::clock::now() - time > std::chrono::hours(1)) {
      remove(name);  // its process ended while writing it
    }
  }
  return found;
}

std::uintmax_t cache_folder::shrink(std::uintmax_t most) const {
  auto held_files = files();
  std::uintmax_t held = 0;
  for (const auto& f : held_files) held += f.bytes;
  if (held <= most) return held;
  std::ranges::sort(held_files, {}, &entry::last_used);
  // A little below the limit, so that the next programs need not remove files again.
  const auto enough = most - most / 10;
  for (const auto& f : held_files) {
    if (held <= enough) break;
    remove(f.name);
    held -= f.bytes;
  }
  return held;
}

}  // namespace usmx::detail
