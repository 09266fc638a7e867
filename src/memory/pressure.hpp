// What a resource at the bottom can ask for when it finds no memory. Owners and default resources
// stand above it and answer; they are known here by one callback, so that nothing includes upwards.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include <sycl/device.hpp>

#include "usmx/memory_resource.hpp"

namespace usmx::detail {

/// The answers of the layer above. All of them may be called by any thread that allocates.
struct pressure_relief {
  /// Waits for everything that was freed while in use, and frees it.
  void (*drain)() noexcept;
  /// Returns unused memory of all default resources to the driver; the bytes that came back.
  std::size_t (*trim)() noexcept;
  /// See `holdings`.
  std::string (*holdings)(const sycl::device& device, const memory_resource* besides);
};

/// Called once, when the library is loaded; `relief` is never destroyed.
void set_pressure_relief(const pressure_relief& relief) noexcept;

/// Each asks the layer above, and does nothing before that is there.
void drain_under_pressure() noexcept;
std::size_t trim_under_pressure() noexcept;
/// "the pool of shared USM holds 2.0 MiB, of which 3 blocks use 1.5 MiB; …": what the default
/// resources of the device hold, without the pool on `besides`; empty if nothing.
std::string holdings(const sycl::device& device, const memory_resource* besides = nullptr);

}  // namespace usmx::detail
