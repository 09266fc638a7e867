// Device memory and events that other processes of the machine open by handles: one row of
// functions for each form that drivers have. docs/decisions/0112.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <sycl/device.hpp>
#include <sycl/queue.hpp>

#include "runtime/backend.hpp"
#include "usmx/error.hpp"

namespace usmx::detail {

/// The driver has nothing behind a handle: what it names is gone if its process has ended.
class nothing_behind_handle : public device_error {
 public:
  using device_error::device_error;
};

using handle_bytes = std::vector<std::byte>;

/// What a form can do. All throw device_error with the status of the driver; those that are
/// noexcept have no caller who could act on it. The queue says the device and the context.
struct process_handles {
  /// What `usmx.ipc.ways` calls the form.
  const char* name;

  /// A block of its own, because a handle opens all of what the driver allocated at once. Null
  /// without memory. Both are null where blocks come from the runtime, as all USM does.
  void* (*allocate)(const sycl::queue&, std::size_t bytes);
  void (*free)(const sycl::queue&, void*) noexcept;

  handle_bytes (*handle_of)(const sycl::queue&, void*);
  /// Opened again while it is open, memory is at the same place, and closed as often. Throws
  /// nothing_behind_handle.
  void* (*open)(const sycl::queue&, std::span<const std::byte>);
  void (*close)(const sycl::queue&, void*) noexcept;

  /// Events that are recorded on a queue's stream and waited for on that of another process. All
  /// are null where order is by waiting.
  void* (*make_event)(const sycl::queue&);
  handle_bytes (*event_handle_of)(const sycl::queue&, void* event);
  /// Null if the event is gone, which it only is behind its commands.
  void* (*open_event)(const sycl::queue&, std::span<const std::byte>);
  void (*drop_event)(const sycl::queue&, void* event) noexcept;
  void (*record)(const sycl::queue&, void* event, void* stream);
  void (*put_behind)(const sycl::queue&, void* stream, void* event);
};

/// The functions for a device; null, and `why` says why, where there are none.
const process_handles* process_handles_of(const sycl::device& device, std::string* why = nullptr);

/// For tests: all devices have this form from now on, with the functions of CUDA's driver that the
/// library has, if one is named. `none` ends it.
void use_process_form(process_form form, const char* library);

}  // namespace usmx::detail
