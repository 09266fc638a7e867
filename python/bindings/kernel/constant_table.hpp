// Constant tables of Python kernels whose values change: kernels get them as an argument that
// the launch adds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "support/bindings.hpp"

namespace usmx::python {

/// The values of one table, on the host and on each device that reads them. Until the first update
/// kernels have the values in their text, and this is empty. Thread-safe.
class constant_table {
 public:
  constant_table() = default;
  constant_table(const constant_table&) = delete;
  constant_table& operator=(const constant_table&) = delete;

  /// Kernels that are launched from now on read these values, which are copied. What was launched
  /// before keeps its own: nothing is overwritten and no thread waits. Let go of the GIL.
  void update(const any_view& values);
  bool is_updated() const noexcept { return updated_.load(std::memory_order_acquire); }

  /// The values in memory of the queue's device, filled when it first asks for them; adds to
  /// `before` what a command on `queue` has to wait for. Only after an update. Let go of the GIL.
  array on(const sycl::queue& queue, std::vector<sycl::event>& before);

 private:
  struct version;
  std::shared_ptr<version> current() const;

  mutable std::mutex mutex_;
  std::shared_ptr<version> current_;
  std::atomic<bool> updated_{false};
};

/// A table as Python holds it; kernels made from its text hold it too.
struct table_handle {
  std::shared_ptr<constant_table> table = std::make_shared<constant_table>();
};

void bind_constant_table(nb::module_& m);

}  // namespace usmx::python
