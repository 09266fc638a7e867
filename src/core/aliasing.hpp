// Whether two views share memory, and how.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "usmx/view.hpp"

namespace usmx::detail {

/// Whether the bytes from the lowest to the highest of both have a byte in common.
inline bool overlap(const any_view& a, const any_view& b) noexcept {
  return a.size() > 0 && b.size() > 0 && a.first_byte() < b.last_byte() &&
         b.first_byte() < a.last_byte();
}

/// True if both are elements of one size in the same places.
inline bool same_places(const any_view& a, const any_view& b) noexcept {
  return a.data() == b.data() && a.dtype().itemsize() == b.dtype().itemsize() &&
         a.layout() == b.layout();
}

/// True if both are the same elements in the same order.
inline bool is_same(const any_view& a, const any_view& b) noexcept {
  return a.dtype() == b.dtype() && same_places(a, b);
}

}  // namespace usmx::detail
