// Products of matrices and vectors, with NumPy's shapes and types: of large matrices in tiles by a
// kernel, of others as sums of products. The bits are the same from run to run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "usmx/array.hpp"

namespace usmx {

/// The products of matrices of the shapes (..., n, k) and (..., k, m), of which the axes before
/// broadcast; an array of one dimension is a row or a column, whose axis the result has not.
/// Numbers have the type that NumPy gives the operands; those of 16 bits are added in float32.
/// Throws std::invalid_argument if `k` differs or an operand has no dimensions, interop_error
/// (dtype_mismatch) for records, placement_error.
///
///   usmx::array y = usmx::matmul(weights, x);
array matmul(const array& x1, const array& x2);

/// The sums of the products of elements along an axis of each, of `x1` the conjugates; the other
/// axes broadcast. Throws std::invalid_argument for an axis that is not there, or of different
/// lengths.
array vecdot(const array& x1, const array& x2, int axis = -1);

/// Each element of one vector times each of the other: the shape (n, m). Throws
/// std::invalid_argument for other numbers of dimensions.
array outer(const array& x1, const array& x2);

}  // namespace usmx
