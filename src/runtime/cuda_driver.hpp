// The functions of CUDA's driver that are used, declared by hand because no toolkit is needed, and
// the one way into a device's primary context. Tests pass functions of their own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include <sycl/device.hpp>

namespace usmx::detail {

/// 0 is CUDA_SUCCESS. Each is null where the driver does not have it.
struct cuda_driver {
  using device = int;              // CUdevice
  using context = void*;           // CUcontext
  using address = std::uintptr_t;  // CUdeviceptr

  int (*retain_primary)(context*, device) = nullptr;
  int (*push)(context) = nullptr;
  int (*pop)(context*) = nullptr;
  int (*range)(address*, std::size_t*, address) = nullptr;
  // For mappings that the program made itself; fails for all other memory.
  int (*retain_mapping)(unsigned long long*, void*) = nullptr;
  int (*release_mapping)(unsigned long long) = nullptr;
  int (*wait_for_stream)(void*) = nullptr;
  int (*wait_for_event)(void*) = nullptr;
  int (*make_event)(void**, unsigned) = nullptr;
  int (*record_event)(void*, void*) = nullptr;
  int (*put_behind_event)(void*, void*, unsigned) = nullptr;
  int (*drop_event)(void*) = nullptr;
  int (*call_on_host)(void*, void (*)(void*), void*) = nullptr;
  int (*allocate)(address*, std::size_t) = nullptr;
  int (*free)(address) = nullptr;
  // Handles for other processes; the driver takes and gives them by value.
  struct process_handle {
    std::byte bytes[64];
  };
  int (*memory_handle)(process_handle*, address) = nullptr;
  int (*open_memory)(address*, process_handle, unsigned) = nullptr;
  int (*close_memory)(address) = nullptr;
  int (*event_handle)(process_handle*, void*) = nullptr;
  int (*open_event)(void**, process_handle) = nullptr;

  /// The driver that SYCL's adapter has loaded. Only for devices of CUDA: it looks once.
  static const cuda_driver& loaded();
  /// The functions that a library has, which may be opened for it.
  static cuda_driver in(const char* library, bool opened);
};

/// Inside the primary context of a device, in which SYCL, CUDA's runtime and the libraries on top
/// of it work, for as long as this lives on its thread.
class inside_primary_context {
 public:
  inside_primary_context(cuda_driver::device device, const cuda_driver& driver);
  inside_primary_context(const inside_primary_context&) = delete;
  inside_primary_context& operator=(const inside_primary_context&) = delete;
  ~inside_primary_context();

  /// False if the driver refused, or lacks the functions.
  explicit operator bool() const noexcept { return driver_ != nullptr; }

 private:
  const cuda_driver* driver_ = nullptr;
};

/// The result of the driver for a CUstream or a CUevent; -1 if it cannot be asked.
int wait_for_cuda_stream(cuda_driver::device device, void* stream, const cuda_driver& driver);
int wait_for_cuda_event(cuda_driver::device device, void* event, const cuda_driver& driver);

/// What is submitted to `next` from now on comes after all that is on `first`, without the host.
/// The driver's result; -1 if it cannot be asked.
int order_cuda_streams(cuda_driver::device device, void* first, void* next,
                       const cuda_driver& driver);

/// `step` is called on a thread of the driver's when all that is on the stream has ended, and what
/// is submitted to the stream later waits for it. The driver's result; -1 if it cannot be asked.
int call_on_stream(void* stream, std::function<void()> step, const cuda_driver& driver);

/// `wait_for_native_stream` for an event: a pointer to a CUevent or to a sycl::event, by the
/// backend of the device. Throws device_error if it cannot be waited for.
void wait_for_native_event(const sycl::device& device, void* event);

}  // namespace usmx::detail
