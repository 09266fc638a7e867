// An upstream that returns addresses which must not be accessed: pools that never access the memory
// they divide can be tested with terabytes, and every access is caught. It runs out when told to.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include "check.hpp"
#include "usmx/error.hpp"
#include "usmx/memory.hpp"
#include "usmx/runtime.hpp"

namespace usmx {

class paper_resource final : public memory_resource {
 public:
  explicit paper_resource(usm_kind kind = usm_kind::device,
                          sycl::context context = default_queue().get_context())
      : kind_(kind), context_(std::move(context)), device_(default_queue().get_device()) {}
  ~paper_resource() override { CHECK_EQUAL(live(), 0u); }

  usm_kind kind() const noexcept override { return kind_; }
  sycl::context context() const override { return context_; }
  sycl::device device() const override { return device_; }

  /// Blocks and bytes that have not come back.
  std::size_t live() const {
    const std::scoped_lock lock(mutex_);
    return blocks_.size();
  }
  std::size_t held() const {
    const std::scoped_lock lock(mutex_);
    return held_;
  }

  std::atomic<std::size_t> capacity = std::numeric_limits<std::size_t>::max();
  std::atomic<int> calls = 0;     // of allocate
  std::atomic<int> fails = 0;     // how many of the next calls fail
  std::atomic<int> refusals = 0;  // calls that did

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    ++calls;
    const std::scoped_lock lock(mutex_);
    const bool told = fails > 0 && fails-- > 0;
    if (told || bytes > capacity || held_ > capacity - bytes) {
      ++refusals;
      throw allocation_error(bytes, "no more paper");
    }
    void* const p = mmap(nullptr, bytes + alignment, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw allocation_error(bytes, "no address is left");
    auto* const aligned =
        reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(p) + alignment - 1) & -alignment);
    blocks_[aligned] = {p, bytes, alignment};
    held_ += bytes;
    return aligned;
  }
  void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept override {
    const std::scoped_lock lock(mutex_);
    const auto found = blocks_.find(p);
    CHECK(found != blocks_.end());
    if (found == blocks_.end()) return;
    CHECK_EQUAL(found->second.bytes, bytes);
    CHECK_EQUAL(found->second.alignment, alignment);
    munmap(found->second.mapped, bytes + alignment);
    held_ -= bytes;
    blocks_.erase(found);
  }

  struct paper {
    void* mapped;
    std::size_t bytes;
    std::size_t alignment;
  };
  usm_kind kind_;
  sycl::context context_;
  sycl::device device_;
  mutable std::mutex mutex_;
  std::map<void*, paper> blocks_;
  std::size_t held_ = 0;
};

}  // namespace usmx
