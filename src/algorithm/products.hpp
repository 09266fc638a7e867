// Products as the bindings and usmx/matmul.hpp call them. Operands may not be computed yet: sums of
// products compute them on the way.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "usmx/operations.hpp"

namespace usmx::detail {

/// How two operands are multiplied.
struct matrix_product {
  /// Checks the shapes. Throws as `matmul`.
  matrix_product(const deferred_operand& x1, const deferred_operand& x2);

  /// By `multiply_in_tiles`, or by a library; otherwise as `sum_of_products`.
  bool in_tiles;
  dtype type;
  /// Each result is a sum of so many products.
  std::int64_t length;
  /// Of the result in tiles.
  extents shape;
  /// So many products are made for all of it.
  std::int64_t work() const noexcept;
};

/// Of matrices that are not in tiles.
shared_deferred sum_of_products(const sycl::queue& queue, const deferred_operand& x1,
                                const deferred_operand& x2);
/// See `vecdot`.
shared_deferred vector_product(const sycl::queue& queue, const deferred_operand& x1,
                               const deferred_operand& x2, int axis);

/// New memory for a result in tiles; that of no products is 0.
array empty_product(const array& x1, const array& x2, const matrix_product& how);
/// `made = x1 @ x2`, where `made` has elements and products.
void multiply_in_tiles(const array& x1, const array& x2, const array& made);

}  // namespace usmx::detail
