// Explains why an allocation failed, with what a user can change.
// SPDX-License-Identifier: Apache-2.0
#include "memory/allocation_failure.hpp"

#include <array>
#include <utility>

#include "core/format.hpp"
#include "usmx/error.hpp"
#include "usmx/memory_resource.hpp"
#include "usmx/runtime.hpp"

namespace usmx::detail {

std::string amount(std::size_t bytes) {
  return bytes < 1024 ? scaled(bytes) : format("{} bytes ({})", bytes, scaled(bytes));
}

std::string scaled(std::size_t bytes) {
  if (bytes < 1024) return format("{} bytes", bytes);
  constexpr std::array units = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  return format("{:.1f} {}", value, units[unit]);
}

std::string describe(const sycl::device& device) {
  std::string text;
  std::string product;
  try {
    text = filter_string(device);
  } catch (...) {  // the error about the allocation matters more than the device's name
  }
  try {
    product = device.get_info<sycl::info::device::name>();
  } catch (...) {
  }
  if (text.empty()) return product.empty() ? "a device without a name" : product;
  return product.empty() ? text : format("{} ({})", text, product);
}

std::string cause_of(const allocation_error& error) {
  const auto* const known = dynamic_cast<const failed_allocation*>(&error);
  return known == nullptr ? error.what() : known->cause();
}

void fail_allocation(std::size_t bytes, std::size_t alignment, usm_kind kind,
                     const sycl::device& device, const std::string& cause) {
  fail_allocation(bytes, alignment, kind, device, cause, {});
}

void fail_allocation(std::size_t bytes, std::size_t alignment, usm_kind kind,
                     const sycl::device& device, const std::string& cause,
                     const std::string& held) {
  std::string text = format("cannot allocate {} of {} USM", amount(bytes), name(kind));
  if (alignment > default_alignment) text += format(", aligned to {},", alignment);
  text += " on " + describe(device);
  if (const auto free = free_memory(device)) text += "; free memory: " + scaled(*free);
  try {
    const auto limit = device.get_info<sycl::info::device::max_mem_alloc_size>();
    if (bytes > limit) text += "; the largest possible allocation: " + scaled(limit);
  } catch (...) {
  }
  for (const std::string& more : {cause, held}) {
    if (!more.empty()) text += "; " + more;
  }
  throw failed_allocation(bytes, std::move(text), cause);
}

}  // namespace usmx::detail
