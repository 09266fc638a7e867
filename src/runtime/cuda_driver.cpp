// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda_driver.hpp"

#include <memory>
#include <utility>

#include "runtime/cache.hpp"
#include "runtime/drivers.hpp"

namespace usmx::detail {
namespace {

/// The driver calls it once, with what `call_on_stream` gave it.
void call_and_delete(void* step) noexcept {
  const std::unique_ptr<std::function<void()>> owned(static_cast<std::function<void()>*>(step));
  (*owned)();
}

}  // namespace

cuda_driver cuda_driver::in(const char* library, bool opened) {
  if (opened) dlopen(library, RTLD_NOW);
  cuda_driver d;
  const auto find = [&]<class Function>(Function& out, const char* name) {
    out = loaded_function<Function>(library, name);
  };
  find(d.retain_primary, "cuDevicePrimaryCtxRetain");
  find(d.push, "cuCtxPushCurrent_v2");
  find(d.pop, "cuCtxPopCurrent_v2");
  find(d.range, "cuMemGetAddressRange_v2");
  find(d.retain_mapping, "cuMemRetainAllocationHandle");
  find(d.release_mapping, "cuMemRelease");
  find(d.wait_for_stream, "cuStreamSynchronize");
  find(d.wait_for_event, "cuEventSynchronize");
  find(d.make_event, "cuEventCreate");
  find(d.record_event, "cuEventRecord");
  find(d.put_behind_event, "cuStreamWaitEvent");
  find(d.drop_event, "cuEventDestroy_v2");
  find(d.call_on_host, "cuLaunchHostFunc");
  find(d.allocate, "cuMemAlloc_v2");
  find(d.free, "cuMemFree_v2");
  find(d.memory_handle, "cuIpcGetMemHandle");
  find(d.open_memory, "cuIpcOpenMemHandle_v2");
  find(d.close_memory, "cuIpcCloseMemHandle");
  find(d.event_handle, "cuIpcGetEventHandle");
  find(d.open_event, "cuIpcOpenEventHandle");
  return d;
}

const cuda_driver& cuda_driver::loaded() {
  static const cuda_driver driver = in(cuda_library, false);
  return driver;
}

inside_primary_context::inside_primary_context(cuda_driver::device device,
                                               const cuda_driver& driver) {
  if (!driver.retain_primary || !driver.push || !driver.pop) return;
  // Each is retained once and kept: the devices live as long as the process.
  using key = std::pair<const cuda_driver*, cuda_driver::device>;
  static auto& primaries = *new lasting_cache<key, cuda_driver::context>;
  const cuda_driver::context primary = primaries.get({&driver, device}, [&] {
    cuda_driver::context made = nullptr;
    return driver.retain_primary(&made, device) == 0 ? made : nullptr;
  });
  if (primary != nullptr && driver.push(primary) == 0) driver_ = &driver;
}

inside_primary_context::~inside_primary_context() {
  if (driver_ == nullptr) return;
  cuda_driver::context left = nullptr;
  driver_->pop(&left);
}

int wait_for_cuda_stream(cuda_driver::device device, void* stream, const cuda_driver& driver) {
  const inside_primary_context inside(device, driver);
  return inside && driver.wait_for_stream ? driver.wait_for_stream(stream) : -1;
}

int wait_for_cuda_event(cuda_driver::device device, void* event, const cuda_driver& driver) {
  const inside_primary_context inside(device, driver);
  return inside && driver.wait_for_event ? driver.wait_for_event(event) : -1;
}

int order_cuda_streams(cuda_driver::device device, void* first, void* next,
                       const cuda_driver& driver) {
  if (!driver.make_event || !driver.record_event || !driver.put_behind_event ||
      !driver.drop_event) {
    return -1;
  }
  const inside_primary_context inside(device, driver);
  if (!inside) return -1;
  constexpr unsigned without_times = 2;  // CU_EVENT_DISABLE_TIMING: faster, and no times are read
  void* event = nullptr;
  int result = driver.make_event(&event, without_times);
  if (result != 0) return result;
  result = driver.record_event(event, first);
  if (result == 0) result = driver.put_behind_event(next, event, 0);
  // The driver keeps it until both streams are past it.
  driver.drop_event(event);
  return result;
}

int call_on_stream(void* stream, std::function<void()> step, const cuda_driver& driver) {
  if (!driver.call_on_host) return -1;
  auto owned = std::make_unique<std::function<void()>>(std::move(step));
  const int result = driver.call_on_host(stream, call_and_delete, owned.get());
  if (result == 0) static_cast<void>(owned.release());
  return result;
}

}  // namespace usmx::detail
