// Stores compiled programs and the C++ of Python kernels: a record is read only if its checksum and
// its whole key match.
// SPDX-License-Identifier: Apache-2.0
#include "kernel/program_cache.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "core/format.hpp"
#include "kernel/cache_folder.hpp"
#include "usmx/program_cache.hpp"

namespace usmx {
namespace fs = std::filesystem;
namespace {

using detail::cache_folder;
using detail::checksum;
using detail::format;

constexpr std::array<char, 8> magic{'u', 's', 'm', 'x', 'p', 'r', 'g', '2'};
/// Comes before the sizes of the parts and the parts. In the byte order of the machine that wrote
/// it: the key of a program names its processor.
struct record_head {
  std::array<char, 8> tag = magic;
  std::uint64_t sum = 0;  // of all that follows it
  std::uint64_t parts = 0;
};
constexpr std::size_t summed_from = offsetof(record_head, parts);
/// Records have fewer; a damaged one may claim more.
constexpr std::uint64_t most_parts = 4096;

std::string name_of(std::string_view key, std::string_view suffix) {
  std::string name;
  // Two checksums make a name that is unique in practice; if it is not, the key in the file
  // differs.
  for (auto n : {checksum(key), checksum(key, 0x9e3779b97f4a7c15u)}) {
    for (int k = 0; k < 16; ++k, n <<= 4) name += "0123456789abcdef"[n >> 60];
  }
  return name.append(suffix);
}

template <class T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

/// The parts of a record, as views of its text; empty if it is damaged.
std::optional<std::vector<std::string_view>> decode(std::string_view text) {
  record_head head;
  if (text.size() < sizeof head) return {};
  std::memcpy(&head, text.data(), sizeof head);
  if (head.tag != magic || head.parts > most_parts) return {};
  if (checksum(text.substr(summed_from)) != head.sum) return {};
  std::string_view sizes = text.substr(sizeof head);
  if (sizes.size() < head.parts * sizeof(std::uint64_t)) return {};
  std::string_view rest = sizes.substr(head.parts * sizeof(std::uint64_t));
  std::vector<std::string_view> parts;
  for (std::uint64_t k = 0; k < head.parts; ++k) {
    std::uint64_t size = 0;
    std::memcpy(&size, sizes.data() + k * sizeof size, sizeof size);
    if (size > rest.size()) return {};
    parts.push_back(rest.substr(0, size));
    rest.remove_prefix(size);
  }
  if (!rest.empty()) return {};
  return parts;
}

/// Writes a record. If that fails, nothing is reported: the record will be made again.
void keep(std::string_view suffix, std::span<const std::string_view> parts) {
  const auto settings = program_cache_settings::from_environment();
  if (!settings.enabled || parts.size() > most_parts) return;
  record_head head;
  head.parts = parts.size();
  std::string sizes;
  std::size_t bytes = sizeof head;
  for (const auto part : parts) {
    const std::uint64_t size = part.size();
    sizes += bytes_of(size);
    bytes += sizeof size + part.size();
  }
  if (bytes > settings.most) return;
  head.sum = checksum(sizes, checksum(bytes_of(head.parts)));
  for (const auto part : parts) head.sum = checksum(part, head.sum);
  const auto folder = cache_folder::open(settings.folder, true);
  if (!folder) return;
  std::vector<std::string_view> all{bytes_of(head), sizes};
  all.insert(all.end(), parts.begin(), parts.end());
  if (folder->write(name_of(parts[0], suffix), all)) folder->shrink(settings.most);
}

/// The record with exactly this key.
std::optional<cache_folder::opened> find(std::string_view key, std::string_view suffix,
                                         std::vector<std::string_view>& parts) {
  const auto settings = program_cache_settings::from_environment();
  if (!settings.enabled) return {};
  const auto folder = cache_folder::open(settings.folder, false);
  if (!folder) return {};
  auto file = folder->read(name_of(key, suffix));
  if (!file) return {};
  auto read = decode(file->text);
  if (!read || read->empty() || read->front() != key) return {};
  parts = std::move(*read);
  return file;
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

/// A text that changes if one of the files changes: each path with a null byte after it, then size,
/// time and number. Empty if a file does not exist.
std::string about_files(std::string_view paths) {
  std::string text(paths);
  while (!paths.empty()) {
    const std::string path(paths.substr(0, paths.find('\0')));
    paths.remove_prefix(std::min(path.size() + 1, paths.size()));
    struct stat about{};
    if (::stat(path.c_str(), &about) != 0) return {};
    for (const auto n :
         {static_cast<std::int64_t>(about.st_size), static_cast<std::int64_t>(about.st_mtim.tv_sec),
          static_cast<std::int64_t>(about.st_mtim.tv_nsec),
          static_cast<std::int64_t>(about.st_ino)}) {
      text += format("{} ", n);
    }
  }
  return text;
}

/// The parts of a program's record.
enum program_part : std::size_t {
  key_part,
  device_part,
  kernels_part,
  files_part,
  about_part,
  binary_part,
  program_parts
};

const char* variable(const char* name) noexcept {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

std::size_t read_size(const char* name, std::string_view text) {
  std::uint64_t count = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  constexpr std::string_view units = "KMG";
  const auto place = unit.empty() ? 0 : units.find(unit) + 1;
  if (failed != std::errc{} || unit.size() > 1 || (place == 0 && !unit.empty()) ||
      count > std::numeric_limits<std::uint64_t>::max() >> (10 * place)) {
    throw std::invalid_argument(
        format("{}: '{}' is not a size; expected bytes, such as 268435456 or 256M", name, text));
  }
  return count << (10 * place);
}

}  // namespace

program_cache_settings program_cache_settings::from_environment() {
  program_cache_settings settings;
  if (const char* const value = variable("USMX_CACHE")) {
    const std::string_view text = value;
    if (text != "0" && text != "1") {
      throw std::invalid_argument(
          format("USMX_CACHE: '{}' is not supported; expected 0 (off) or 1 (on)", text));
    }
    settings.enabled = text == "1";
  }
  for (const auto& [name, size] : {std::pair{"USMX_CACHE_SIZE", &settings.most},
                                   {"USMX_PROGRAM_MEMORY", &settings.most_in_memory}}) {
    if (const char* const value = variable(name)) *size = read_size(name, value);
  }
  if (const char* const value = variable("USMX_CACHE_DIR")) {
    settings.folder = fs::path(value) / "usmx-programs";
  } else if (const char* const home = variable("XDG_CACHE_HOME"); home && home[0] == '/') {
    settings.folder = fs::path(home) / "usmx" / "programs";
  } else if (const char* const user = variable("HOME")) {
    settings.folder = fs::path(user) / ".cache" / "usmx" / "programs";
  }
  return settings;
}

std::string program_cache_problem() {
  const auto settings = program_cache_settings::from_environment();
  std::string problem;
  static_cast<void>(cache_folder::open(settings.folder, false, &problem));
  return problem;
}

std::vector<cached_program> cached_programs() {
  const auto settings = program_cache_settings::from_environment();
  std::vector<cached_program> programs;
  const auto folder = cache_folder::open(settings.folder, false);
  if (!folder) return programs;
  for (const auto& f : folder->files()) {
    if (!f.name.ends_with(cache_folder::program_suffix)) continue;
    const auto file = folder->read(f.name);
    const auto parts = file ? decode(file->text) : std::nullopt;
    if (!parts || parts->size() != program_parts) continue;
    const auto kernels = read_kernels((*parts)[kernels_part]);
    if (!kernels) continue;
    std::vector<std::string> names;
    for (const auto& k : *kernels) names.push_back(k.name);
    programs.push_back({settings.folder / f.name, f.bytes, f.last_used,
                        std::string((*parts)[device_part]), std::move(names)});
  }
  std::ranges::sort(programs, std::greater{}, &cached_program::last_used);
  return programs;
}

cached_texts count_cached_texts() {
  cached_texts texts;
  const auto folder = cache_folder::open(program_cache_settings::from_environment().folder, false);
  if (!folder) return texts;
  for (const auto& f : folder->files()) {
    if (!f.name.ends_with(cache_folder::text_suffix)) continue;
    ++texts.count;
    texts.bytes += f.bytes;
  }
  return texts;
}

std::size_t clear_cached_programs() {
  const auto settings = program_cache_settings::from_environment();
  std::size_t removed = 0;
  const auto folder = cache_folder::open(settings.folder, false);
  if (!folder) return removed;
  for (const auto& f : folder->files()) {
    if (!folder->remove(f.name)) {
      if (errno == ENOENT) continue;  // another process has removed it
      throw std::system_error(errno, std::generic_category(), (settings.folder / f.name).string());
    }
    if (f.name.ends_with(cache_folder::program_suffix)) ++removed;
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
  std::vector<std::string_view> parts;
  const auto file = find(key, cache_folder::program_suffix, parts);
  if (!file || parts.size() != program_parts) return {};
  auto kernels = read_kernels(parts[kernels_part]);
  if (!kernels || about_files(parts[files_part]) != parts[about_part]) return {};
  file->touch();
  const auto binary = parts[binary_part];
  return stored_program{std::move(*kernels), {binary.begin(), binary.end()}, {}};
}

void store_program(std::string_view key, std::string_view device,
                   const stored_program& program) noexcept {
  try {
    std::string kernels, files;
    for (const auto& k : program.kernels) {
      kernels += format("{} {}\n", k.name, k.argument_count);
    }
    for (const auto& path : program.files) files.append(path).append(1, '\0');
    const auto about = about_files(files);
    if (about.empty() != files.empty()) return;
    std::array<std::string_view, program_parts> parts;
    parts[key_part] = key;
    parts[device_part] = device;
    parts[kernels_part] = kernels;
    parts[files_part] = files;
    parts[about_part] = about;
    parts[binary_part] = {program.binary.data(), program.binary.size()};
    keep(cache_folder::program_suffix, parts);
  } catch (...) {  // other processes compile it again
  }
}

void drop_program(std::string_view key) noexcept {
  try {
    const auto folder =
        cache_folder::open(program_cache_settings::from_environment().folder, false);
    if (folder) folder->remove(name_of(key, cache_folder::program_suffix));
  } catch (...) {  // it will be overwritten
  }
}

std::optional<std::vector<std::string>> load_texts(std::string_view key) {
  std::vector<std::string_view> parts;
  const auto file = find(key, cache_folder::text_suffix, parts);
  if (!file) return {};
  file->touch();
  return std::vector<std::string>(parts.begin() + 1, parts.end());
}

void store_texts(std::string_view key, std::span<const std::string> texts) {
  std::vector<std::string_view> parts{key};
  parts.insert(parts.end(), texts.begin(), texts.end());
  keep(cache_folder::text_suffix, parts);
}

}  // namespace detail
}  // namespace usmx
