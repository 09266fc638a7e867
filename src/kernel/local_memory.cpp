// Kernels whose local memory gets its size at the launch. Only sizes that are compiled in work on
// every backend, so there is one kernel for each.
// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <stdexcept>

#include <sycl/info/info_desc.hpp>

#include "core/format.hpp"
#include "kernel/kernel_state.hpp"

namespace usmx {
namespace {

using enum kernel_parameter::view_form;

/// Far more sizes than a program has; one that takes every size loses those it used first.
constexpr std::size_t most_sizes = 256;

bool same(const std::vector<local_memory>& a, std::span<const local_memory> b) {
  return std::ranges::equal(a, b, [](const local_memory& x, const local_memory& y) {
    return x.type == y.type && x.shape == y.shape;
  });
}

/// As much as can be counted: more does not exist.
std::size_t bytes_of(const local_memory& memory) {
  std::size_t bytes = memory.type.itemsize();
  for (const auto n : memory.shape) {
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(n), &bytes)) {
      return std::numeric_limits<std::size_t>::max() / 16;
    }
  }
  return bytes;
}

}  // namespace

kernel kernel::sized_for(std::span<const kernel_argument> arguments) const {
  check_count(arguments.size());
  std::vector<local_memory> sizes;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if ((*state_->parameters)[i].view != local) continue;
    if (!arguments[i].local()) {
      throw interop_error(fault::kind_mismatch,
                          describe_argument(i) + ": expected local memory, by type and shape");
    }
    sizes.push_back(*arguments[i].local());
  }
  return with_local(sizes);
}

kernel kernel::with_local(std::span<const local_memory> sizes) const {
  const auto& s = *state_;
  std::size_t count = 0, bytes = 0;
  for (std::size_t i = 0; s.parameters && i < s.parameters->size(); ++i) {
    const auto& p = (*s.parameters)[i];
    if (p.view != local || count++ >= sizes.size()) continue;
    const auto& given = sizes[count - 1];
    if (!(given.type == *p.type)) {
      throw interop_error(fault::dtype_mismatch, describe_argument(i) + ": has elements of " +
                                                     given.type.name() + ", expected " +
                                                     p.type->name());
    }
    if (given.shape.size() != static_cast<std::size_t>(p.rank)) {
      throw interop_error(fault::rank_mismatch,
                          describe_argument(i) + ": has " + std::to_string(given.shape.size()) +
                              " dimensions, expected " + std::to_string(p.rank));
    }
    if (std::ranges::any_of(given.shape, [](auto n) { return n < 1; })) {
      throw std::invalid_argument(describe_argument(i) + ": has shape " +
                                  detail::shape_text(given.shape) +
                                  ", expected lengths of at least 1");
    }
    bytes += bytes_of(given);
  }
  if (count != sizes.size()) {
    throw std::invalid_argument("kernel '" + s.name + "' takes " + std::to_string(count) +
                                " sizes of local memory, got " + std::to_string(sizes.size()));
  }
  if (!s.unsized) {
    if (same(s.local, sizes)) return *this;
    throw std::invalid_argument("kernel '" + s.name +
                                "' was compiled for other sizes of local memory");
  }
  if (const auto most = s.device.get_info<sycl::info::device::local_mem_size>(); bytes > most) {
    throw std::invalid_argument("local memory of kernel '" + s.name + "': takes " +
                                std::to_string(bytes) + " bytes, the device has " +
                                std::to_string(most) + " for a group");
  }
  auto& known = *s.unsized;
  {
    const std::lock_guard lock(known.mutex);
    for (const auto& [size, made] : known.made) {
      if (same(size, sizes)) return made;
    }
  }
  auto from = known.from;
  from.sized = s.name;
  from.sizes.assign(sizes.begin(), sizes.end());
  auto made = program::build(std::move(from)).get(s.name);
  const std::lock_guard lock(known.mutex);
  if (known.made.size() >= most_sizes) known.made.erase(known.made.begin());
  known.made.emplace_back(std::vector(sizes.begin(), sizes.end()), made);
  return made;
}

}  // namespace usmx
