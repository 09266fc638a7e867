// Keeps a fork out while this thread calls the driver, for objects that public headers declare; see
// src/runtime/driver_gate.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <new>

namespace usmx::detail {

/// Guards every call of the driver: a fork waits as long as one of these lives. Taken before any
/// lock; inside of another one it costs nothing.
class driver_entry {
 public:
  /// Throws device_error in a child of fork that cannot use the driver.
  driver_entry();
  /// For calls that free or query; they must check that themselves.
  explicit driver_entry(std::nothrow_t) noexcept;
  ~driver_entry();
  driver_entry(const driver_entry&) = delete;
  driver_entry& operator=(const driver_entry&) = delete;
};

}  // namespace usmx::detail
