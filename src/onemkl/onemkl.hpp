// oneMKL's products, decompositions and transforms of arrays, as commands like any other: they come
// after what was submitted on the arrays, which live until the command has ended.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "usmx/array.hpp"

namespace usmx::detail::onemkl {

/// Loads the adapter from a file. Returns why it could not, empty if it is there; asks once.
const std::string& load(const std::string& path);

/// `made = a @ b` of contiguous matrices, or of transposes of such, each in a stack of `count` or
/// alone (`step` 0). All are of the type of `made`, which is of float or complex numbers.
void multiply(const array& a, bool a_turned, std::int64_t a_step, const array& b, bool b_turned,
              std::int64_t b_step, const array& made);

/// Eigenvalues, ascending, of contiguous Hermitian matrices, of which the lower triangle is read.
/// They are lost; with `vectors`, conjugate eigenvectors stand in their rows afterwards.
void eigh(const array& a, const array& values, bool vectors);

/// Singular values, descending, of contiguous matrices, which are lost; vectors if `u` and `vh` are
/// given: all of them if `full`.
void svd(const array& a, const array& values, const array* u, const array* vh, bool full);

/// The transform of each line of contiguous complex numbers, times a factor.
void transform(const array& from, const array& to, bool inverse, double scale);

}  // namespace usmx::detail::onemkl
