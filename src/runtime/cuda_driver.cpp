// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda_driver.hpp"

#include <utility>

#include "runtime/cache.hpp"
#include "runtime/drivers.hpp"

namespace usmx::detail {

const cuda_driver& cuda_driver::loaded() {
  const auto find = []<class Function>(Function& out, const char* name) {
    out = loaded_function<Function>(cuda_library, name);
  };
  static const cuda_driver driver = [&] {
    cuda_driver d;
    find(d.retain_primary, "cuDevicePrimaryCtxRetain");
    find(d.push, "cuCtxPushCurrent_v2");
    find(d.pop, "cuCtxPopCurrent_v2");
    find(d.range, "cuMemGetAddressRange_v2");
    find(d.retain_mapping, "cuMemRetainAllocationHandle");
    find(d.release_mapping, "cuMemRelease");
    find(d.wait_for_stream, "cuStreamSynchronize");
    find(d.wait_for_event, "cuEventSynchronize");
    return d;
  }();
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

}  // namespace usmx::detail
