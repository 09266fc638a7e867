// Products, decompositions and transforms by cuBLAS, cuSOLVER and cuFFT, as commands like any
// other: they come after what was submitted on the arrays, which live until the command has ended.
// Stacks of matrices are one command. The libraries were loaded before.
//
// NVIDIA's libraries read matrices in Fortran's order, so of a contiguous array in C order they see
// the transposes. "Turned" matrices are those whose memory holds the transpose.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <sycl/queue.hpp>

#include "nvidia/functions.hpp"
#include "usmx/array.hpp"

namespace usmx::detail::nvidia {

/// Whether a library was loaded that computes on the device of a queue.
bool computes(library which, const sycl::queue& queue);
/// For tests, which load stand-ins: also on devices that are not CUDA's.
void compute_everywhere(bool everywhere) noexcept;

/// Whether `multiply` reads the matrices of an array where they are: rows or columns are
/// contiguous, and there is one distance between the matrices.
bool is_read(const array& a);

/// Whether `multiply` takes the three as they are, and gains by it: where each element is one
/// product, kernels compute them.
bool multiplies(const array& a, const array& b, const array& made);
/// `made = a @ b` of matrices that `is_read` is true of, each in a stack like `made` or alone. All
/// have the type of `made`, which is contiguous: float16, bfloat16, float32, float64 or complex.
/// With `reduced`, float32 is multiplied with the 10 binary digits of TF32.
void multiply(const array& a, const array& b, const array& made, bool reduced);

/// L and U in the place of contiguous square matrices, of which the library sees the transposes;
/// which lines were exchanged (from 1), and where a matrix is singular (0: it is not).
void lu(const array& a, const array& exchanged, const array& failed);

/// Solves with what `lu` made, in the place of `b`, whose rows are the right sides: one stack of
/// them for each matrix. With `turned` for the transposes of the matrices.
void solve(const array& a, const array& exchanged, const array& b, bool turned);

/// The lower triangles L of ``L @ L^H`` in the place of turned Hermitian matrices, of which they
/// are read; the upper ones keep what they held. `failed` is not 0 for a matrix that is not
/// positive definite.
void cholesky(const array& a, const array& failed);

/// Reflections and R in the place of turned matrices, and the factors of the reflections.
void qr(const array& a, const array& factors);
/// The columns of Q in the place of turned matrices whose first columns hold the reflections.
void qr_columns(const array& q, const array& factors);

/// Eigenvalues, ascending, of turned Hermitian matrices, of which the lower triangle is read.
/// They are lost; with `vectors`, eigenvectors stand in the rows of the memory afterwards.
void eigh(const array& a, const array& values, const array& failed, bool vectors);

/// Singular values, descending, of contiguous matrices that are not tall, which are lost; vectors
/// if `u` and `vh` are given. By QR iterations, or by Jacobi's rotations: then `u` is the adjoint
/// of what it would be otherwise.
void svd(const array& a, const array& values, const array* u, const array* vh, const array& failed,
         bool by_rotations);

/// Whether `transform` takes lines along the last axis of an array as they are, real or complex.
bool transforms_lines(const array& from, bool are_real);
/// Transforms of n numbers each, which stand `inner` numbers apart; not scaled. Complex numbers to
/// complex ones, real ones to the first half of complex ones, or back from these.
void transform(const array& from, const array& to, std::int64_t n, std::int64_t inner,
               bool inverse);

}  // namespace usmx::detail::nvidia
