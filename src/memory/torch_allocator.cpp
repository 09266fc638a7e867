// Blocks of the pools that PyTorch holds: found again by their address, and freed behind the
// commands of the queue that PyTorch frees them on.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/torch_allocator.hpp"

#include <functional>
#include <mutex>
#include <unordered_map>
#include <utility>

#include <sycl/backend.hpp>

#include "core/fork_guard.hpp"
#include "core/format.hpp"
#include "usmx/memory.hpp"
#include "usmx/runtime.hpp"
#include "usmx/wait.hpp"

namespace usmx {
namespace {

class torch_blocks {
 public:
  static torch_blocks& instance() {
    // Never destroyed: tensors may outlive every static object.
    static auto& only = *new torch_blocks;
    return only;
  }

  void* add(shared_owner keep) {
    void* const p = keep->base();
    const std::scoped_lock lock(mutex_);
    blocks_.emplace(p, std::move(keep));
    return p;
  }

  /// Null for an address that is not of a block.
  shared_owner take(void* p) noexcept {
    const std::scoped_lock lock(mutex_);
    const auto found = blocks_.find(p);
    if (found == blocks_.end()) return nullptr;
    shared_owner keep = std::move(found->second);
    blocks_.erase(found);
    return keep;
  }

 private:
  detail::guarded_mutex mutex_{detail::guarded_mutex::rank::lists};
  std::unordered_map<void*, shared_owner> blocks_;
};

const auto& at_load = torch_blocks::instance();  // see guard() in fork_guard.hpp

void* allocate_for(const sycl::queue& queue, std::size_t bytes) {
  if (bytes == 0) return nullptr;
  return torch_blocks::instance().add(allocate(queue, usm_kind::device, bytes));
}

void free_behind(const sycl::queue& queue, void* p) noexcept {
  const shared_owner keep = torch_blocks::instance().take(p);
  if (keep == nullptr) return;
  try {
    keep->used_on(queue);
    keep->used_until(queue);
  } catch (...) {  // no memory for the record: wait instead
    try {
      wait(queue);
    } catch (...) {  // a queue that cannot even wait runs no commands any more
    }
  }
}

auto& queues_mutex = *new detail::guarded_mutex(detail::guarded_mutex::rank::lists);

/// The queue that submits to a stream of CUDA. Streams of PyTorch live as long as the process.
const sycl::queue& queue_of(int device, void* stream) {
  struct place {
    int device;
    void* stream;
    bool operator==(const place&) const = default;
  };
  struct hash {
    std::size_t operator()(const place& p) const noexcept {
      return std::hash<void*>()(p.stream) ^ (static_cast<std::size_t>(p.device) << 48U);
    }
  };
  static auto& known = *new std::unordered_map<place, sycl::queue, hash>;
  const std::scoped_lock lock(queues_mutex);
  const auto found = known.find({device, stream});
  if (found != known.end()) return found->second;
  const sycl::device on = select_device(detail::format("cuda:gpu:{}", device));
  // What make_queue of the CUDA extension calls, with the device: a context may have several.
  constexpr bool keep_ownership = true;
  sycl::queue made =
      sycl::detail::make_queue(reinterpret_cast<ur_native_handle_t>(stream), 0, default_context(on),
                               &on, keep_ownership, {}, {}, sycl::backend::ext_oneapi_cuda);
  return known.emplace(place{device, stream}, std::move(made)).first->second;
}

}  // namespace
}  // namespace usmx

void* usmx_torch_xpu_allocate(std::size_t bytes, int, sycl::queue* queue) {
  return usmx::allocate_for(*queue, bytes);
}

void usmx_torch_xpu_free(void* p, std::size_t, int, sycl::queue* queue) noexcept {
  if (p != nullptr) usmx::free_behind(*queue, p);
}

void* usmx_torch_cuda_allocate(std::ptrdiff_t bytes, int device, void* stream) {
  return usmx::allocate_for(usmx::queue_of(device, stream), static_cast<std::size_t>(bytes));
}

void usmx_torch_cuda_free(void* p, std::ptrdiff_t, int device, void* stream) noexcept {
  if (p != nullptr) usmx::free_behind(usmx::queue_of(device, stream), p);
}
