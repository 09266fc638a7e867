// Transforms as the bindings and usmx/fft.hpp call them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "usmx/fft.hpp"

namespace usmx::detail {

enum class transform_kind : std::uint8_t { fft, ifft, rfft, irfft };

/// What transforms contiguous complex lines, of which there are some, times a factor: kernels of
/// ours, or a library. Lines of one element stay what they are.
using lines_transform = array (*)(const array& lines, bool inverse, double scale);
array transform_lines(const array& lines, bool inverse, double scale);

/// Of n numbers along `axis`, which is not negative; `x` has no records.
/// The result is a view with the axis at its place.
array transform(transform_kind kind, const array& x, std::int64_t n, int axis, fft_norm norm,
                lines_transform of_lines = transform_lines);

}  // namespace usmx::detail
