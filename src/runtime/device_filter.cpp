// From "level_zero:gpu:1" to a device and back, with errors that say which part is wrong and which
// devices are available.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/format.hpp"
#include "runtime/backend.hpp"
#include "runtime/cache.hpp"
#include "runtime/driver_gate.hpp"
#include "runtime/drivers.hpp"
#include "usmx/cpu_driver.hpp"
#include "usmx/runtime.hpp"

namespace usmx {
namespace {

using detail::format;
using device_type = sycl::info::device_type;

struct type_row {
  device_type value;
  const char* name;
  int rank;  // place in devices()
};
constexpr std::array<type_row, 4> types = {{
    {device_type::gpu, "gpu", 0},
    {device_type::accelerator, "accelerator", 1},
    {device_type::cpu, "cpu", 2},
    {device_type::custom, "custom", 3},
}};

const type_row* row_of(device_type type) noexcept {
  for (const auto& row : types)
    if (row.value == type) return &row;
  return nullptr;
}

/// A root device with the properties that filters use, so that matching does not call a driver.
struct root {
  sycl::device device;
  const char* backend;
  const char* type;
  std::string filter;
};

/// In quotes, with zero bytes visible, because messages end at the first one.
std::string quoted(std::string_view text) {
  std::string out(1, '\'');
  for (const char c : text) out += c == '\0' ? std::string_view("\\0") : std::string_view(&c, 1);
  return out.append(1, '\'');
}

/// How the environment limits the runtime's search, for otherwise confusing errors.
std::string selector_hint() {
  const char* selector = std::getenv("ONEAPI_DEVICE_SELECTOR");
  if (!selector) return {};
  return format(" ONEAPI_DEVICE_SELECTOR={} is set and may hide devices: unset it to see them.",
                quoted(selector));
}

std::string no_device_text() {
  if (!detail::working_folder_exists()) detail::end_at_once();  // see existing_folder
  return format("no SYCL device: no driver was found.{}{} `usmx doctor` shows details.",
                selector_hint(), missing_driver_text());
}

/// While the runtime starts, the process is in a folder that exists. The runtime asks for the path
/// of the working folder, finds no drivers where it was removed, and then never ends its process.
class existing_folder {
 public:
  existing_folder() noexcept {
    if (detail::working_folder_exists()) return;
    left_ = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (left_ >= 0 && chdir("/") != 0) leave();
  }
  existing_folder(const existing_folder&) = delete;
  existing_folder& operator=(const existing_folder&) = delete;
  ~existing_folder() {
    // Relative paths go on to name nothing, instead of files of the root.
    if (left_ >= 0 && fchdir(left_) != 0) std::perror("usmx: fchdir");
    leave();
  }

 private:
  void leave() noexcept {
    if (left_ >= 0) close(std::exchange(left_, -1));
  }
  int left_ = -1;
};

std::vector<sycl::device> runtime_devices() {
  const existing_folder here;
  try {
    return sycl::device::get_devices();
  } catch (const sycl::exception& e) {
    // For example an invalid selector, or a driver that fails to start.
    throw device_error(
        format("the SYCL runtime could not list its devices: {}{}", e.what(), selector_hint()));
  }
}

std::vector<root> find_roots() {
  struct candidate {
    sycl::device device;
    int rank;
  };
  std::vector<candidate> found;
  for (auto& device : runtime_devices()) {
    const auto* row = row_of(device.get_info<sycl::info::device::device_type>());
    found.push_back({std::move(device), row ? row->rank : 4});
  }
  std::ranges::stable_sort(found, {}, &candidate::rank);
  std::vector<root> roots;
  for (auto& c : found) {
    const char* backend = backend_name(c.device.get_backend());
    const char* type = device_type_name(c.device);
    const auto index = std::ranges::count_if(
        roots, [&](const root& r) { return r.backend == backend && r.type == type; });
    roots.push_back({std::move(c.device), backend, type, format("{}:{}:{}", backend, type, index)});
  }
  return roots;
}

/// Queried from the runtime once: it looks for drivers only once itself. While there is no device,
/// it is queried again, which costs nothing then. Leaked: see src/runtime/cache.hpp.
const std::vector<root>& roots() {
  static std::atomic<const std::vector<root>*> known{nullptr};
  static const auto& none = *new std::vector<root>;
  static auto& one_at_a_time = *new std::mutex;
  if (const auto* found = known.load(std::memory_order_acquire)) return *found;
  const std::lock_guard lock(one_at_a_time);
  if (const auto* found = known.load(std::memory_order_acquire)) return *found;
  auto found = find_roots();
  if (found.empty()) return none;
  const auto* kept = new std::vector<root>(std::move(found));
  known.store(kept, std::memory_order_release);
  return *kept;
}

std::string list_of_devices() {
  std::string text;
  for (const auto& r : roots()) {
    text += format("{}{} ({})", text.empty() ? "" : "; ", r.filter,
                   r.device.get_info<sycl::info::device::name>());
  }
  return text;
}

struct filter_parts {
  std::string_view backend;  // empty: any
  std::string_view type;     // empty: any
  std::optional<std::size_t> index;
};

[[noreturn]] void refuse(std::string_view filter, std::string_view part, const char* why) {
  throw std::invalid_argument(
      format("device filter {}: {} {}; expected [backend:][type:][index], the backend one of {}, "
             "the type one of {}, the index a number from 0",
             quoted(filter), quoted(part), why,
             detail::joined(detail::named_backends(), &detail::backend_row::name),
             detail::joined(types, &type_row::name)));
}

std::string_view backend_part(std::string_view part) noexcept {
  if (part.starts_with("ext_oneapi_")) part.remove_prefix(11);
  for (const auto& row : detail::named_backends())
    if (part == row.name) return row.name;
  return {};
}

std::string_view type_part(std::string_view part) noexcept {
  if (part == "acc") part = "accelerator";
  for (const auto& row : types)
    if (part == row.name) return row.name;
  return {};
}

/// `filter` is lower case and has no comma; `whole` is what the caller wrote.
filter_parts parse(std::string_view filter, std::string_view whole) {
  filter_parts parts;
  int place = 0;  // of the next part: 0 backend, 1 type, 2 index, 3 nothing more
  for (std::size_t at = 0; at <= filter.size();) {
    const auto end = std::min(filter.find(':', at), filter.size());
    const std::string_view part = filter.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == "*") {
      // Left out, but its colon counts.
      if (end < filter.size() && ++place > 2) refuse(whole, whole, "has too many parts");
      continue;
    }
    if (const auto backend = backend_part(part); !backend.empty()) {
      if (place > 0) refuse(whole, part, "is a backend and must come first");
      parts.backend = backend;
      place = 1;
    } else if (const auto type = type_part(part); !type.empty()) {
      if (place > 1) refuse(whole, part, "is a device type and must come before the index, once");
      parts.type = type;
      place = 2;
    } else if (part.find_first_not_of("0123456789") == std::string_view::npos) {
      if (place > 2) refuse(whole, part, "is one part too many");
      std::size_t index = 0;
      const auto [stop, error] = std::from_chars(part.data(), part.data() + part.size(), index);
      if (error != std::errc()) refuse(whole, part, "is too large for an index");
      parts.index = index;
      place = 3;
    } else {
      refuse(whole, part, "is neither a backend, a device type nor an index");
    }
  }
  return parts;
}

const root* match(const filter_parts& parts) {
  std::size_t skip = parts.index.value_or(0);
  for (const auto& r : roots()) {
    if (!parts.backend.empty() && parts.backend != r.backend) continue;
    if (!parts.type.empty() && parts.type != r.type) continue;
    if (skip-- == 0) return &r;
  }
  return nullptr;
}

const sycl::device& default_device() {
  // The runtime's own choice, so that every SYCL library of the process means the same device.
  static const sycl::device& device = *new sycl::device([] {
    if (roots().empty()) throw device_error(no_device_text());
    return sycl::device(sycl::default_selector_v);
  }());
  return device;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

}  // namespace

const char* backend_name(sycl::backend backend) noexcept {
  return detail::backend_row_of(backend).name;
}

const char* device_type_name(const sycl::device& device) {
  const auto* row = row_of(device.get_info<sycl::info::device::device_type>());
  return row ? row->name : "unknown";
}

std::vector<sycl::device> devices() {
  std::vector<sycl::device> all;
  for (const auto& r : roots()) all.push_back(r.device);
  return all;
}

namespace {

/// Throws if no device matches.
const root* find_root(std::string_view filter) {
  const std::string text = lower(filter);
  const std::string_view list = text;
  // The whole filter is parsed before devices are matched, so that errors behind a match are found.
  std::vector<filter_parts> alternatives;
  for (std::size_t at = 0; at <= list.size();) {
    const auto end = std::min(list.find(',', at), list.size());
    alternatives.push_back(parse(list.substr(at, end - at), filter));
    at = end + 1;
  }
  for (const auto& parts : alternatives)
    if (const root* found = match(parts)) return found;
  if (roots().empty()) throw device_error(no_device_text());
  const bool without_cpu = std::ranges::none_of(
      roots(), [](const root& r) { return r.type == std::string_view("cpu"); });
  throw device_error(format("no device matches the filter {}; available: {}{}", quoted(filter),
                            list_of_devices(), without_cpu ? "." + missing_driver_text() : ""));
}

}  // namespace

sycl::device select_device(std::string_view filter) {
  if (filter.empty()) return default_device();
  // Devices do not change once there are some. Programs write a filter in a few ways; one that
  // makes texts without end would fill the memory.
  static auto& known = *new detail::lasting_cache<std::string, const root*>;
  static std::atomic<int> room = 32;
  if (const auto* const found = known.find(filter)) return (*found)->device;
  const root* const found = find_root(filter);
  if (room.fetch_sub(1, std::memory_order_relaxed) > 0) {
    known.get(std::string(filter), [&] { return found; });
  }
  return found->device;
}

std::string filter_string(const sycl::device& device) {
  for (const auto& r : roots())
    if (r.device == device) return r.filter;
  return {};
}

}  // namespace usmx
