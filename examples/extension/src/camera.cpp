// The native library's memory: USM that it allocates, found again by its address.
// SPDX-License-Identifier: Apache-2.0
#include "camera.hpp"

#include <map>
#include <mutex>
#include <new>

#include <sycl/usm.hpp>

namespace camera {
namespace {

std::mutex mutex;
std::map<std::uint16_t*, sycl::queue> taken;

}  // namespace

frame take(sycl::queue& queue, std::int64_t height, std::int64_t width) {
  const auto count = static_cast<std::size_t>(height * width);
  auto* pixels = sycl::malloc_shared<std::uint16_t>(count, queue);
  if (pixels == nullptr) throw std::bad_alloc();
  for (std::size_t k = 0; k < count; ++k) pixels[k] = static_cast<std::uint16_t>(k);
  const std::scoped_lock lock(mutex);
  taken.emplace(pixels, queue);
  return {pixels, height, width};
}

void give_back(std::uint16_t* pixels) {
  const std::scoped_lock lock(mutex);
  const auto at = taken.find(pixels);
  sycl::free(pixels, at->second);
  taken.erase(at);
}

int outstanding() {
  const std::scoped_lock lock(mutex);
  return static_cast<int>(taken.size());
}

}  // namespace camera
