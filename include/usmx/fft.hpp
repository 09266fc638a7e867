// Discrete Fourier transforms along an axis, of any length: passes of small factors, or a
// convolution for lengths that have others.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "usmx/array.hpp"

namespace usmx {

/// What the transform is divided by, of the number of elements n.
enum class fft_norm : std::uint8_t {
  backward,  ///< the inverse by n
  ortho,     ///< both by the root of n
  forward    ///< this one by n
};

/// What is transformed, along which axis, and which direction is divided.
struct fft_options {
  /// How many elements are transformed: lines are cut, or filled with zeros. By default all; those
  /// of `irfft` twice the number less one.
  std::optional<std::int64_t> n = {};
  /// Negative ones count from the end.
  int axis = -1;
  fft_norm norm = fft_norm::backward;
};

/// The transform of the lines along an axis, as complex64 for float16, bfloat16, float32 and
/// complex64, otherwise as complex128, in the kind of memory of `x`. Throws std::invalid_argument
/// for an axis that is not there and for fewer than one element, interop_error (dtype_mismatch)
/// for records.
///
///   usmx::array spectrum = usmx::rfft(signal);
array fft(const array& x, const fft_options& how = {});
/// The inverse of `fft`.
array ifft(const array& x, const fft_options& how = {});
/// The first n / 2 + 1 elements of the transform of real numbers, which has all others too; of
/// complex numbers interop_error (dtype_mismatch).
array rfft(const array& x, const fft_options& how = {});
/// The inverse of `rfft`: n real numbers.
array irfft(const array& x, const fft_options& how = {});

}  // namespace usmx
