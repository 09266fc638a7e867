// A fork must not find a thread of ours in the driver's allocator: the child would wait for the
// driver's lock for ever, at the latest where it ends, because the driver then frees what it knows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace usmx::detail {

/// Forks wait as long as one of these lives. It stands around the driver's call alone: whatever
/// else takes a lock comes before.
class inside_driver {
 public:
  inside_driver() noexcept;
  ~inside_driver();
  inside_driver(const inside_driver&) = delete;
  inside_driver& operator=(const inside_driver&) = delete;
};

}  // namespace usmx::detail
