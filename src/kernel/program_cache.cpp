// Stores compiled programs and the C++ of Python kernels: a record is read only if its checksum and
// its whole key match.
// SPDX-License-Identifier: Apache-2.0
#include "kernel/program_cache.hpp"

#include <dlfcn.h>
#include <sys/stat.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <mutex>
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

/// A record as it is written: its head, the sizes of the parts, the parts.
struct record {
  record_head head;
  std::string sizes;
  std::size_t bytes = sizeof(record_head);
  std::vector<std::string_view> all;

  explicit record(std::span<const std::string_view> parts) {
    head.parts = parts.size();
    for (const auto part : parts) {
      const std::uint64_t size = part.size();
      sizes += bytes_of(size);
      bytes += sizeof size + part.size();
    }
    head.sum = checksum(sizes, checksum(bytes_of(head.parts)));
    for (const auto part : parts) head.sum = checksum(part, head.sum);
    all = {bytes_of(head), sizes};
    all.insert(all.end(), parts.begin(), parts.end());
  }
  record(const record&) = delete;
  record& operator=(const record&) = delete;
};

/// When files must be removed again. To know what the folder holds, all its files are listed, which
/// takes longer than a small kernel's compilation when there are fifty thousand. So after a listing
/// this process may write a part of what is left below the limit before it lists them again; the
/// other parts are for processes that write at the same time.
class next_listing {
 public:
  static next_listing& get() {
    static auto& one = *new next_listing;
    return one;
  }
  void after_write(const cache_folder& folder, const program_cache_settings& settings,
                   std::uintmax_t written) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;  // another thread lists them now, this file with the others
    if (folder_ == settings.folder && most_ == settings.most && written <= may_write_) {
      may_write_ -= written;
      return;
    }
    const auto held = folder.shrink(settings.most);
    folder_ = settings.folder;
    most_ = settings.most;
    may_write_ = held < most_ ? (most_ - held) / writers : 0;
  }

 private:
  next_listing() = default;
  static constexpr std::uintmax_t writers = 8;
  std::mutex mutex_;
  fs::path folder_;
  std::uintmax_t most_ = 0;
  std::uintmax_t may_write_ = 0;
};

/// Writes a record. If that fails, nothing is reported: the record will be made again.
void keep(std::string_view suffix, std::span<const std::string_view> parts) {
  const auto settings = program_cache_settings::from_environment();
  if (!settings.enabled || parts.size() > most_parts) return;
  const record made(parts);
  if (made.bytes > settings.most) return;
  const auto folder = cache_folder::open(settings.folder, true);
  if (!folder) return;
  if (folder->write(name_of(parts[0], suffix), made.all)) {
    next_listing::get().after_write(*folder, settings, made.bytes);
  }
}

/// A record, and the file that its parts are views of.
struct found_record {
  cache_folder::opened file;
  std::vector<std::string_view> parts;
};

/// The record with exactly this key in a folder.
std::optional<found_record> find_in(const std::optional<cache_folder>& folder, std::string_view key,
                                    std::string_view suffix) {
  if (!folder) return {};
  auto file = folder->read(name_of(key, suffix));
  if (!file) return {};
  auto parts = decode(file->text);
  if (!parts || parts->empty() || parts->front() != key) return {};
  return found_record{std::move(*file), std::move(*parts)};
}

/// The record with exactly this key in the folder of this user.
std::optional<found_record> find(std::string_view key, std::string_view suffix) {
  const auto settings = program_cache_settings::from_environment();
  if (!settings.enabled) return {};
  auto found = find_in(cache_folder::open(settings.folder, false), key, suffix);
  if (found) found->file.touch();
  return found;
}

/// The folders of packages. That of usmx lies next to its library.
class package_folders {
 public:
  static package_folders& get() {
    static auto& all = *new package_folders;
    return all;
  }
  void add(const fs::path& folder) {
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(folders_, folder) == folders_.end()) folders_.push_back(folder);
  }
  std::vector<fs::path> list() const {
    const std::lock_guard lock(mutex_);
    return folders_;
  }

 private:
  package_folders() {
    Dl_info where{};
    const auto own = reinterpret_cast<void*>(&program_cache_problem);
    if (dladdr(own, &where) == 0 || where.dli_fname == nullptr) return;
    std::error_code failed;
    const auto library = fs::absolute(where.dli_fname, failed);
    if (!failed) folders_.push_back(library.parent_path() / "usmx-programs");
  }
  mutable std::mutex mutex_;
  std::vector<fs::path> folders_;
};

/// The first record with exactly this key in the folders of packages.
std::optional<found_record> find_installed(std::string_view key, std::string_view suffix) {
  if (!program_cache_settings::from_environment().enabled) return {};
  for (const auto& path : package_folders::get().list()) {
    if (auto found = find_in(cache_folder::open_installed(path), key, suffix)) return found;
  }
  return {};
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

/// Calls `act` with each undamaged program of a folder.
template <class Act>
void each_program(const std::optional<cache_folder>& folder, const Act& act) {
  if (!folder) return;
  for (const auto& f : folder->files()) {
    if (!f.name.ends_with(cache_folder::program_suffix)) continue;
    const auto file = folder->read(f.name);
    const auto parts = file ? decode(file->text) : std::nullopt;
    if (!parts || parts->size() != program_parts) continue;
    if (auto kernels = read_kernels((*parts)[kernels_part])) act(f, *parts, std::move(*kernels));
  }
}

/// What CPUID says in its leaf 7.
struct processor_features {
  std::uint32_t ebx = 0, ecx = 0, edx = 0;

  static const processor_features& of_this_machine() {
    static const processor_features found = [] {
      processor_features f;
#if defined(__x86_64__)
      unsigned a = 0, b = 0, c = 0, d = 0;
      if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) f = {b, c, d};
#endif
      return f;
    }();
    return found;
  }
  bool include(const processor_features& needed) const noexcept {
    return (ebx & needed.ebx) == needed.ebx && (ecx & needed.ecx) == needed.ecx &&
           (edx & needed.edx) == needed.edx;
  }
};

constexpr std::uint32_t bits(std::initializer_list<int> places) {
  std::uint32_t set = 0;
  for (const int place : places) set |= std::uint32_t{1} << place;
  return set;
}
constexpr std::uint32_t avx2 = bits({5});
constexpr std::uint32_t avx512_of_skylake = avx2 | bits({16, 17, 28, 30, 31});  // f dq cd bw vl
constexpr std::uint32_t avx512_of_icelake = avx512_of_skylake | bits({21});     // ifma
// vbmi vbmi2 gfni vaes vpclmulqdq vnni bitalg vpopcntdq
constexpr std::uint32_t more_of_icelake = bits({1, 6, 8, 9, 10, 11, 12, 14});
constexpr std::uint32_t pconfig = bits({18});
constexpr std::uint32_t amx_and_fp16 = bits({22, 23, 24, 25});

/// As CL_CONFIG_CPU_TARGET_ARCH names them, the newest first. The driver reads a binary of its own
/// kind in a millisecond. It refuses those of newer kinds, and prepares for 0.1 s of work before
/// the refusal and before the first binary of an older kind: so binaries that the processor lacks
/// something for are not offered.
struct processor_kind {
  std::string_view name;
  processor_features needs;
};
constexpr std::array<processor_kind, 6> kinds{{
    {"sapphirerapids", {avx512_of_icelake, more_of_icelake, amx_and_fp16}},
    {"icelake-server", {avx512_of_icelake, more_of_icelake, pconfig}},
    {"icelake-client", {avx512_of_icelake, more_of_icelake, 0}},
    {"cascadelake", {avx512_of_skylake, bits({11}), 0}},
    {"skx", {avx512_of_skylake, 0, 0}},
    {"core-avx2", {avx2, 0, 0}},
}};

/// Takes the place of the kind in the keys of objects.
constexpr std::string_view object_kind = "object";

/// Where objects are kept while a package is built.
struct recording {
  fs::path folder;
  std::atomic<bool> is_on = false;
  static recording& get() {
    static auto& one = *new recording;
    return one;
  }
};

/// The key of a package's program for one kind.
std::string for_kind(std::string_view portable, std::string_view kind) {
  return std::string(portable).append(1, '\0').append(kind);
}

/// The parts of a program's record with their texts.
class program_record {
 public:
  program_record(std::string_view key, std::string_view device,
                 const detail::stored_program& from) {
    for (const auto& k : from.kernels) kernels_ += format("{} {}\n", k.name, k.argument_count);
    for (const auto& path : from.files) files_.append(path).append(1, '\0');
    about_ = about_files(files_);
    parts_[key_part] = key;
    parts_[device_part] = device;
    parts_[kernels_part] = kernels_;
    parts_[files_part] = files_;
    parts_[about_part] = about_;
    parts_[binary_part] = {from.binary.data(), from.binary.size()};
  }
  program_record(const program_record&) = delete;
  program_record& operator=(const program_record&) = delete;
  /// False if a file does not exist any more.
  bool is_whole() const { return about_.empty() == files_.empty(); }
  std::span<const std::string_view> parts() const { return parts_; }

 private:
  std::string kernels_, files_, about_;
  std::array<std::string_view, program_parts> parts_;
};

/// The program of a record; empty if a file that its compiler read has changed.
std::optional<detail::stored_program> program_of(const std::optional<found_record>& found) {
  if (!found || found->parts.size() != program_parts) return {};
  const auto& parts = found->parts;
  auto kernels = read_kernels(parts[kernels_part]);
  if (!kernels || about_files(parts[files_part]) != parts[about_part]) return {};
  const auto binary = parts[binary_part];
  return detail::stored_program{std::move(*kernels), {binary.begin(), binary.end()}, {}};
}

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
  for (const auto& [name, on] :
       {std::pair{"USMX_CACHE", &settings.enabled}, {"USMX_NOTICES", &settings.notices}}) {
    const char* const value = variable(name);
    if (!value) continue;
    const std::string_view text = value;
    if (text != "0" && text != "1") {
      throw std::invalid_argument(
          format("{}: '{}' is not supported; expected 0 (off) or 1 (on)", name, text));
    }
    *on = text == "1";
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
  each_program(folder, [&](const auto& f, const auto& parts, auto&& kernels) {
    std::vector<std::string> names;
    for (auto& k : kernels) names.push_back(std::move(k.name));
    programs.push_back({settings.folder / f.name, f.bytes, f.last_used,
                        std::string(parts[device_part]), std::move(names)});
  });
  std::ranges::sort(programs, std::greater{}, &cached_program::last_used);
  return programs;
}

void record_programs(const fs::path& folder) {
  auto& here = recording::get();
  here.folder = folder;
  here.is_on = true;
}

void add_installed_programs(const fs::path& folder) { package_folders::get().add(folder); }

std::vector<installed_programs> installed_program_folders() {
  std::vector<installed_programs> all;
  for (const auto& path : package_folders::get().list()) {
    const auto folder = cache_folder::open_installed(path);
    if (!folder) continue;
    installed_programs about{.folder = path, .kinds = {}};
    for (const auto& f : folder->files()) about.bytes += f.bytes;
    each_program(folder, [&](const auto&, const auto& parts, auto&&) {
      ++about.programs;
      std::string kind(parts[device_part]);
      if (std::ranges::count(about.kinds, kind) == 0) about.kinds.push_back(std::move(kind));
    });
    std::ranges::sort(about.kinds, {}, [](const auto& kind) {
      return std::ranges::find(kinds, kind, &processor_kind::name) - kinds.begin();
    });
    all.push_back(std::move(about));
  }
  return all;
}

std::vector<std::string_view> processor_kinds() {
  std::vector<std::string_view> names;
  for (const auto& kind : kinds) names.push_back(kind.name);
  return names;
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

bool find_program(const program_keys& keys, const std::function<bool(stored_program&)>& accept) {
  const auto settings = program_cache_settings::from_environment();
  if (!settings.enabled || keys.exact.empty()) return false;
  if (auto stored = program_of(find(keys.exact, cache_folder::program_suffix))) {
    if (accept(*stored)) return true;
    if (const auto folder = cache_folder::open(settings.folder, false)) {
      folder->remove(name_of(keys.exact, cache_folder::program_suffix));
    }
  }
  if (keys.portable.empty()) return false;
  // The driver need not refuse the same kinds again for each program.
  static std::atomic<std::size_t> newest = 0;
  for (std::size_t k = newest; k < kinds.size(); ++k) {
    if (!processor_features::of_this_machine().include(kinds[k].needs)) continue;
    auto stored = program_of(
        find_installed(for_kind(keys.portable, kinds[k].name), cache_folder::program_suffix));
    if (!stored) continue;
    if (accept(*stored)) return true;
    newest = k + 1;
  }
  return false;
}

void store_program(std::string_view key, std::string_view device,
                   const stored_program& program) noexcept {
  try {
    const program_record made(key, device, program);
    if (made.is_whole()) keep(cache_folder::program_suffix, made.parts());
  } catch (...) {  // other processes compile it again
  }
}

bool is_recording() noexcept { return recording::get().is_on; }

void record_object(std::string_view portable, const stored_program& object) {
  if (!is_recording() || portable.empty()) return;
  const auto key = for_kind(portable, object_kind);
  const program_record made(key, object_kind, object);
  const auto folder = cache_folder::open_installed(recording::get().folder);
  if (folder) folder->write(name_of(key, cache_folder::program_suffix), record(made.parts()).all);
}

std::size_t link_recorded(const fs::path& objects, const fs::path& package, std::string_view kind,
                          const std::function<std::vector<char>(std::vector<char>&)>& link) {
  const auto into = cache_folder::open_installed(package);
  if (!into) {
    throw std::system_error(std::make_error_code(std::errc::not_a_directory), package.string());
  }
  std::size_t written = 0;
  each_program(cache_folder::open_installed(objects), [&](const auto&, const auto& parts,
                                                          auto&& kernels) {
    auto portable = parts[key_part];
    portable.remove_suffix(object_kind.size() + 1);
    const auto key = for_kind(portable, kind);
    std::vector<char> binary(parts[binary_part].begin(), parts[binary_part].end());
    const stored_program program{std::move(kernels), link(binary), {}};
    const program_record made(key, kind, program);
    written +=
        into->write(name_of(key, cache_folder::program_suffix), record(made.parts()).all) ? 1 : 0;
  });
  return written;
}

std::optional<std::vector<std::string>> load_texts(std::string_view key,
                                                   std::string_view portable) {
  auto found = find(key, cache_folder::text_suffix);
  if (!found && !portable.empty()) found = find_installed(portable, cache_folder::text_suffix);
  if (!found) return {};
  return std::vector<std::string>(found->parts.begin() + 1, found->parts.end());
}

void store_texts(std::string_view key, std::span<const std::string> texts) {
  std::vector<std::string_view> parts{key};
  parts.insert(parts.end(), texts.begin(), texts.end());
  keep(cache_folder::text_suffix, parts);
}

bool store_texts_for_package(const fs::path& path, std::string_view portable,
                             std::span<const std::string> texts) {
  std::vector<std::string_view> parts{portable};
  parts.insert(parts.end(), texts.begin(), texts.end());
  const auto folder = cache_folder::open_installed(path);
  return folder && parts.size() <= most_parts &&
         folder->write(name_of(portable, cache_folder::text_suffix), record(parts).all);
}

}  // namespace detail
}  // namespace usmx
