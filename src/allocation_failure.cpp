// Says why there is no memory in the words a user can act on.
// SPDX-License-Identifier: Apache-2.0
#include "allocation_failure.hpp"

#include <array>
#include <cstdio>
#include <utility>

#include "usmx/error.hpp"
#include "usmx/runtime.hpp"

namespace usmx::detail {

std::string amount(std::size_t bytes) {
  std::string text = std::to_string(bytes) + " bytes";
  if (bytes < 1024) return text;
  constexpr std::array units = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  std::array<char, 32> scaled{};
  std::snprintf(scaled.data(), scaled.size(), " (%.1f %s)", value, units[unit]);
  return text + scaled.data();
}

std::string describe(const sycl::device& device) {
  std::string text;
  std::string product;
  try {
    text = filter_string(device);
  } catch (...) {  // a device that is gone still deserves an error about the allocation
  }
  try {
    product = device.get_info<sycl::info::device::name>();
  } catch (...) {
  }
  if (text.empty()) return product.empty() ? "a device without a name" : product;
  return product.empty() ? text : text + " (" + product + ")";
}

[[noreturn]] void fail_allocation(std::size_t bytes, std::size_t alignment, usm_kind kind,
                                  const sycl::device& device, const std::string& cause) {
  std::string text = "cannot allocate " + amount(bytes) + " of " + name(kind) +
                     " USM, aligned to " + std::to_string(alignment) + ", on " + describe(device);
  if (const auto free = free_memory(device)) text += "; free there: " + amount(*free);
  try {
    const auto limit = device.get_info<sycl::info::device::max_mem_alloc_size>();
    if (bytes > limit) text += "; the most it gives at once: " + amount(limit);
  } catch (...) {
  }
  if (!cause.empty()) text += (cause.starts_with(';') ? "" : "; ") + cause;
  throw allocation_error(bytes, std::move(text));
}

}  // namespace usmx::detail
