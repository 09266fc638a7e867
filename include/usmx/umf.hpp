// Memory from the Unified Memory Framework, for programs that have a pool or a provider of their
// own. Nothing else of usmx needs UMF: programs that include this link libumf.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

#include <umf/memory_pool.h>
#include <umf/memory_provider.h>

#include "usmx/memory_resource.hpp"

namespace usmx {

namespace detail {
/// Throws the allocation_error of all resources; in libusmx.
[[noreturn]] void fail_allocation(std::size_t bytes, std::size_t alignment, usm_kind kind,
                                  const sycl::device& device, const std::string& cause);
}  // namespace detail

/// The common base of resources on UMF: UMF handles do not know the context of their memory.
class umf_source : public memory_resource {
 public:
  usm_kind kind() const noexcept override { return kind_; }
  sycl::context context() const override { return context_; }
  sycl::device device() const override { return device_; }

 protected:
  umf_source(const void* handle, sycl::context context, sycl::device device, usm_kind kind)
      : context_(std::move(context)), device_(std::move(device)), kind_(kind) {
    if (handle == nullptr) throw std::invalid_argument("handle: is null; expected a UMF handle");
    if (kind == usm_kind::unknown) {
      throw std::invalid_argument("kind: unknown is not supported; pass the kind of the handle");
    }
  }
  /// `p`, if it matches the request; frees it with `free` if not.
  template <class Free>
  void* checked(void* p, std::size_t bytes, std::size_t alignment, Free free) const {
    if (p == nullptr) detail::fail_allocation(bytes, alignment, kind_, device_, "UMF has no more");
    if (reinterpret_cast<std::uintptr_t>(p) % alignment == 0) return p;
    free(p);
    detail::fail_allocation(bytes, alignment, kind_, device_, "the pointer of UMF is not aligned");
  }
  /// UMF adds to what it is asked for, and may count past the end.
  static bool is_possible(std::size_t bytes, std::size_t alignment) noexcept {
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / 4;
    return bytes <= most && alignment <= most;
  }

 private:
  sycl::context context_;
  sycl::device device_;
  usm_kind kind_;
};

/// Blocks of a UMF pool, which has to outlive the resource and to give USM of `kind` of that
/// context and device: that cannot be checked before memory was allocated.
class umf_resource final : public umf_source {
 public:
  /// Throws std::invalid_argument for a null handle or an unknown kind.
  umf_resource(umf_memory_pool_handle_t pool, sycl::context context, sycl::device device,
               usm_kind kind)
      : umf_source(pool, std::move(context), std::move(device), kind), pool_(pool) {}

 private:
  /// Above a page, UMF's disjoint pool gives its provider back another address than it got. Those
  /// blocks are cut out of larger ones here.
  static constexpr std::size_t page = 4096;

  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    const bool is_cut = alignment > page;
    const std::size_t asked = std::max<std::size_t>(bytes, 1) + (is_cut ? alignment : 0);
    void* const p = is_possible(bytes, alignment)
                        ? umfPoolAlignedMalloc(pool_, asked, std::min(alignment, page))
                        : nullptr;
    if (!is_cut || p == nullptr) {
      return checked(p, bytes, alignment, [this](void* wrong) { umfPoolFree(pool_, wrong); });
    }
    auto* const block = static_cast<std::byte*>(p);
    auto* const cut = block + (-reinterpret_cast<std::uintptr_t>(block) & (alignment - 1));
    try {
      const std::scoped_lock lock(mutex_);
      whole_.emplace(cut, p);
    } catch (...) {
      umfPoolFree(pool_, p);
      throw;
    }
    return cut;
  }
  void do_deallocate(void* p, std::size_t, std::size_t alignment) noexcept override {
    if (alignment > page) {
      const std::scoped_lock lock(mutex_);
      p = whole_.extract(p).mapped();
    }
    umfPoolFree(pool_, p);
  }

  std::mutex mutex_;
  std::unordered_map<void*, void*> whole_;  // the larger blocks of those that were cut
  umf_memory_pool_handle_t pool_;
};

/// The same for a UMF provider, which is called for each request. Put a pool_resource on top.
class umf_provider_resource final : public umf_source {
 public:
  /// Throws std::invalid_argument for a null handle or an unknown kind.
  umf_provider_resource(umf_memory_provider_handle_t provider, sycl::context context,
                        sycl::device device, usm_kind kind)
      : umf_source(provider, std::move(context), std::move(device), kind), provider_(provider) {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    void* p = nullptr;
    if (is_possible(bytes, alignment) &&
        umfMemoryProviderAlloc(provider_, size_of(bytes), alignment, &p) != UMF_RESULT_SUCCESS) {
      p = nullptr;
    }
    return checked(p, bytes, alignment,
                   [&](void* wrong) { umfMemoryProviderFree(provider_, wrong, size_of(bytes)); });
  }
  void do_deallocate(void* p, std::size_t bytes, std::size_t) noexcept override {
    umfMemoryProviderFree(provider_, p, size_of(bytes));
  }
  static std::size_t size_of(std::size_t bytes) noexcept { return std::max<std::size_t>(bytes, 1); }

  umf_memory_provider_handle_t provider_;
};

}  // namespace usmx
