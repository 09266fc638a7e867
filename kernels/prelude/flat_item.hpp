// The item of a block of several dimensions that is launched as one of one dimension, so that its
// sub-groups take items that are next to each other: devices cut sub-groups at the ends of rows,
// CUDA does not.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "item.hpp"

namespace usmx {

/// As `nd_item`, of a block of these lengths; the last one varies fastest. The launch has all items
/// of a block along its last dimension, and as many blocks along each as before.
template <size_t... Lengths>
struct flat_item {
  static constexpr int rank = sizeof...(Lengths);
  using launched = nd_item<rank>;

  static constexpr size_t get_local_range(int d) {
    constexpr size_t lengths[] = {Lengths...};
    return lengths[d];
  }
  static constexpr size_t get_local_linear_range() { return (Lengths * ...); }
  static size_t get_local_linear_id() { return launched::get_local_id(rank - 1); }
  static size_t get_local_id(int d) {
    // Of 32 bits, in which devices divide faster.
    uint32_t id = uint32_t(get_local_linear_id());
    for (int k = rank - 1; k > d; --k) id /= uint32_t(get_local_range(k));
    return d == 0 ? id : id % uint32_t(get_local_range(d));
  }
  static size_t get_group(int d) { return launched::get_group(d); }
  static size_t get_group_range(int d) { return launched::get_group_range(d); }
  static size_t get_global_id(int d) { return get_group(d) * get_local_range(d) + get_local_id(d); }
  static size_t get_global_range(int d) { return get_group_range(d) * get_local_range(d); }
  static size_t get_group_linear_id() { return launched::get_group_linear_id(); }
  static size_t get_group_linear_range() { return launched::get_group_linear_range(); }
};

}  // namespace usmx
