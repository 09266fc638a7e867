// The folder of compiled programs: written by many processes at once, read by strangers' luck, and
// never trusted. A file counts only if its checksum, its owner and its whole key agree.
// SPDX-License-Identifier: Apache-2.0
#include "program_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <stdexcept>

#include "usmx/program_cache.hpp"

namespace usmx {
namespace fs = std::filesystem;
namespace {

using detail::checksum;

constexpr std::string_view suffix = ".program";
/// The C++ that was made of Python functions, see python/usmx/_kernel/kept.py: in the same folder,
/// so that one limit and one `clear` hold for both.
constexpr std::string_view text_suffix = ".text";
constexpr std::array<char, 8> magic{'u', 's', 'm', 'x', 'p', 'r', 'g', '1'};

/// Before everything else in a file, in the byte order of the machine that wrote it: the key names
/// its processor, so no other reads it.
struct file_head {
  std::array<char, 8> tag = magic;
  std::uint64_t sum = 0;  // of all that follows
  std::uint64_t key = 0;  // sizes in bytes
  std::uint64_t device = 0;
  std::uint64_t kernels = 0;
  std::uint64_t binary = 0;
};

/// A file's text and where its parts are.
struct file_parts {
  std::string text;
  std::string_view key, device, kernels, binary;
};

std::string digits(std::uint64_t n) {
  std::array<char, 16> text{};
  for (auto& c : text) {
    c = "0123456789abcdef"[n >> 60];
    n <<= 4;
  }
  return {text.data(), text.size()};
}

fs::path path_of(const fs::path& folder, std::string_view key) {
  // Two sums make a name that is not met twice; if it is, the key in the file says so.
  return folder /
         (digits(checksum(key)) + digits(checksum(key, 0x9e3779b97f4a7c15u)) + std::string(suffix));
}

/// Whether nobody but this user can have written the file: what it holds will be executed.
bool is_ours(const fs::path& path) noexcept {
  struct stat about{};
  return ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) &&
         about.st_uid == ::geteuid() && (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::optional<file_parts> read(const fs::path& path) {
  if (!is_ours(path)) return {};
  std::ifstream file(path, std::ios::binary);
  file_head head;
  if (!file.read(reinterpret_cast<char*>(&head), sizeof head) || head.tag != magic) return {};
  std::error_code failed;
  const auto size = fs::file_size(path, failed);
  if (failed || size < sizeof head) return {};
  std::uint64_t rest = size - sizeof head;
  for (const auto part : {head.key, head.device, head.kernels, head.binary}) {
    if (part > rest) return {};
    rest -= part;
  }
  if (rest != 0) return {};
  file_parts parts;
  parts.text.resize(size - sizeof head);
  if (!file.read(parts.text.data(), static_cast<std::streamsize>(parts.text.size()))) return {};
  if (checksum(parts.text) != head.sum) return {};
  const std::string_view text = parts.text;
  std::size_t at = 0;
  const auto take = [&](std::uint64_t bytes) {
    const auto part = text.substr(at, bytes);
    at += bytes;
    return part;
  };
  parts.key = take(head.key);
  parts.device = take(head.device);
  parts.kernels = take(head.kernels);
  parts.binary = take(head.binary);
  return parts;
}

/// "name count\n" for each kernel.
std::optional<std::vector<detail::stored_program::entry>> read_kernels(std::string_view text) {
  std::vector<detail::stored_program::entry> kernels;
  while (!text.empty()) {
    const auto space = text.find(' ');
    const auto end = text.find('\n');
    if (end == std::string_view::npos || space > end) return {};
    std::size_t count = 0;
    const auto read = std::from_chars(text.data() + space + 1, text.data() + end, count);
    if (read.ec != std::errc{} || read.ptr != text.data() + end) return {};
    kernels.push_back({std::string(text.substr(0, space)), count});
    text.remove_prefix(end + 1);
  }
  return kernels;
}

struct found_file {
  fs::path path;
  std::uintmax_t bytes;
  fs::file_time_type last_used;
};

/// The programs and texts of the folder; what a process that died was writing is removed.
std::vector<found_file> files_in(const fs::path& folder) {
  std::vector<found_file> files;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    std::error_code gone;  // by another process, in this moment
    const auto time = entry->last_write_time(gone);
    const auto bytes = gone ? 0 : entry->file_size(gone);
    if (gone) continue;
    const auto name = entry->path().filename().string();
    if (name.ends_with(suffix) || name.ends_with(text_suffix)) {
      files.push_back({entry->path(), bytes, time});
    } else if ((name.find(suffix) != std::string::npos ||
                name.find(text_suffix) != std::string::npos) &&
               fs::file_time_type::clock::now() - time > std::chrono::hours(1)) {
      fs::remove(entry->path(), gone);
    }
  }
  return files;
}

void forget_oldest(const fs::path& folder, std::size_t most) {
  auto files = files_in(folder);
  std::uintmax_t held = 0;
  for (const auto& f : files) held += f.bytes;
  if (held <= most) return;
  std::ranges::sort(files, {}, &found_file::last_used);
  // A little below, so that not every program that is added has to look again.
  const auto enough = most - most / 10;
  for (const auto& f : files) {
    if (held <= enough) return;
    std::error_code gone;
    fs::remove(f.path, gone);
    held -= f.bytes;
  }
}

const char* variable(const char* name) noexcept {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

std::size_t read_size(std::string_view text) {
  std::uint64_t count = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  constexpr std::string_view units = "KMG";
  const auto place = unit.empty() ? 0 : units.find(unit) + 1;
  if (failed != std::errc{} || unit.size() > 1 || (place == 0 && !unit.empty()) ||
      count > std::numeric_limits<std::uint64_t>::max() >> (10 * place)) {
    throw std::invalid_argument("USMX_CACHE_SIZE: is \"" + std::string(text) +
                                "\", expected bytes, such as 268435456 or 256M");
  }
  return count << (10 * place);
}

}  // namespace

program_cache_settings program_cache_settings::from_environment() {
  program_cache_settings settings;
  if (const char* const value = variable("USMX_CACHE")) {
    const std::string_view text = value;
    if (text != "0" && text != "1") {
      throw std::invalid_argument("USMX_CACHE: is \"" + std::string(text) +
                                  "\", expected 0 (off) or 1 (on)");
    }
    settings.enabled = text == "1";
  }
  if (const char* const value = variable("USMX_CACHE_SIZE")) settings.most = read_size(value);
  if (const char* const value = variable("USMX_CACHE_DIR")) {
    settings.folder = value;
  } else if (const char* const home = variable("XDG_CACHE_HOME"); home && home[0] == '/') {
    settings.folder = fs::path(home) / "usmx";
  } else if (const char* const user = variable("HOME")) {
    settings.folder = fs::path(user) / ".cache" / "usmx";
  }
  return settings;
}

std::vector<cached_program> cached_programs() {
  const auto settings = program_cache_settings::from_environment();
  std::vector<cached_program> programs;
  if (settings.folder.empty()) return programs;
  for (auto& f : files_in(settings.folder)) {
    const auto parts = read(f.path);
    const auto kernels = parts ? read_kernels(parts->kernels) : std::nullopt;
    if (!kernels) continue;
    std::vector<std::string> names;
    for (const auto& k : *kernels) names.push_back(k.name);
    programs.push_back(
        {std::move(f.path), f.bytes, f.last_used, std::string(parts->device), std::move(names)});
  }
  std::ranges::sort(programs, std::greater{}, &cached_program::last_used);
  return programs;
}

cached_texts count_cached_texts() {
  const auto settings = program_cache_settings::from_environment();
  cached_texts texts;
  if (settings.folder.empty()) return texts;
  for (const auto& f : files_in(settings.folder)) {
    if (f.path.extension() != text_suffix) continue;
    ++texts.count;
    texts.bytes += f.bytes;
  }
  return texts;
}

std::size_t clear_cached_programs() {
  const auto settings = program_cache_settings::from_environment();
  std::size_t removed = 0;
  if (settings.folder.empty()) return removed;
  for (const auto& f : files_in(settings.folder)) {
    std::error_code failed;
    if (fs::remove(f.path, failed) && f.path.extension() == suffix) ++removed;
    if (failed) throw std::system_error(failed, f.path.string());
  }
  return removed;
}

namespace detail {

std::uint64_t checksum(std::string_view bytes, std::uint64_t seed) noexcept {
  for (const char c : bytes) {
    seed ^= static_cast<unsigned char>(c);
    seed *= 0x100000001b3u;
  }
  return seed;
}

std::optional<stored_program> load_program(std::string_view key) {
  const auto settings = program_cache_settings::from_environment();
  if (!settings.enabled || settings.folder.empty()) return {};
  const auto path = path_of(settings.folder, key);
  const auto parts = read(path);
  if (!parts || parts->key != key) return {};
  auto kernels = read_kernels(parts->kernels);
  if (!kernels) return {};
  // The time of the file is when it was last of use; a folder that cannot be written keeps its own.
  std::error_code ignored;
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  return stored_program{std::move(*kernels), {parts->binary.begin(), parts->binary.end()}};
}

void store_program(std::string_view key, std::string_view device,
                   const stored_program& program) noexcept {
  try {
    const auto settings = program_cache_settings::from_environment();
    if (!settings.enabled || settings.folder.empty()) return;
    std::string kernels;
    for (const auto& k : program.kernels) {
      kernels += k.name + " " + std::to_string(k.argument_count) + "\n";
    }
    std::string text;
    text.append(key).append(device).append(kernels);
    text.append(program.binary.data(), program.binary.size());
    file_head head;
    head.sum = checksum(text);
    head.key = key.size();
    head.device = device.size();
    head.kernels = kernels.size();
    head.binary = program.binary.size();
    if (text.size() + sizeof head > settings.most) return;

    std::error_code failed;
    if (fs::create_directories(settings.folder, failed) && !failed) {
      fs::permissions(settings.folder, fs::perms::owner_all, failed);
    }
    const auto path = path_of(settings.folder, key);
    // Under a name of its own first: whoever looks sees the whole file or none.
    static std::atomic<unsigned> number{0};
    auto draft = path;
    draft += ".";
    draft += std::to_string(::getpid()) + '.' + std::to_string(number++);
    const auto discard = [&] {
      std::error_code ignored;
      fs::remove(draft, ignored);
    };
    try {
      std::ofstream file(draft, std::ios::binary);
      fs::permissions(draft, fs::perms::owner_read | fs::perms::owner_write, failed);
      file.write(reinterpret_cast<const char*>(&head), sizeof head);
      file.write(text.data(), static_cast<std::streamsize>(text.size()));
      file.close();
      if (!file) return discard();
      fs::rename(draft, path, failed);
      if (failed) return discard();
    } catch (...) {
      discard();
      throw;
    }
    forget_oldest(settings.folder, settings.most);
  } catch (...) {  // what cannot be kept is compiled again
  }
}

void drop_program(std::string_view key) noexcept {
  try {
    std::error_code ignored;
    fs::remove(path_of(program_cache_settings::from_environment().folder, key), ignored);
  } catch (...) {  // it will be written over
  }
}

}  // namespace detail
}  // namespace usmx
