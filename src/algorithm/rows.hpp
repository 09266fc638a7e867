// What algorithms over rows of elements have in common.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <sycl/queue.hpp>

#include "usmx/array.hpp"
#include "usmx/launch_range.hpp"

namespace usmx::detail {

inline std::int64_t quotient_up(std::int64_t a, std::int64_t b) noexcept { return (a + b - 1) / b; }

std::int64_t compute_units(const sycl::queue& queue);
/// So many items, each in a group of its own.
launch_range one_by_one(std::int64_t items);
/// So many groups of `items` items.
launch_range in_groups(std::int64_t groups, std::int64_t items);

/// The type of places in a row: 32 bits, or 64 if that is too few.
dtype place_type(bool wide) noexcept;
/// The same bytes of a contiguous array as a row of another type.
array as_words(const array& row, const dtype& type);
/// Elements of a contiguous array as a row.
array part_of(const array& a, std::int64_t first, std::int64_t count);
/// A view in C order of memory of the host for as many elements.
any_view host_view_of(const array& a, void* data);
/// The only element, an integer without a sign, for which the host waits.
std::uint64_t number_in(const array& one);

}  // namespace usmx::detail
