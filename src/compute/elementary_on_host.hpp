// The functions of kernels/prelude/elementary.hpp over a few elements, compiled for the host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "compute/on_host.hpp"

namespace usmx::detail {

enum class elementary_function : std::uint8_t { exp, log, sin, cos, tanh, atan2, hypot };

/// A `host_loop` of float or double, with the bits of kernels of the CPU.
template <elementary_function Function, class T>
void elementary_loop(std::byte* out, const std::byte* const* in, std::int64_t count);

}  // namespace usmx::detail
