// Memory resources that add one behaviour each to an upstream resource: they can be stacked in any
// order, so a program builds the combination it needs.
//   auto counted = std::make_shared<statistics_resource>(
//       std::make_shared<limiting_resource>(default_resource(queue, usm_kind::device), 1 << 30));
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <sycl/event.hpp>
#include <sycl/queue.hpp>

#include "usmx/memory.hpp"

namespace usmx {

/// The common base of resources with one upstream: requests and blocks are passed on together with
/// their queue, so that a queue-ordered upstream keeps its order.
/// Thread-safe if the upstream is.
class stacked_resource : public memory_resource {
 public:
  /// Throws std::invalid_argument without an upstream.
  explicit stacked_resource(std::shared_ptr<memory_resource> upstream);
  usm_kind kind() const noexcept override { return upstream_->kind(); }
  sycl::context context() const override { return upstream_->context(); }
  sycl::device device() const override { return upstream_->device(); }
  const std::shared_ptr<memory_resource>& upstream() const noexcept { return upstream_; }
  std::shared_ptr<memory_resource> stands_on() const noexcept override { return upstream_; }

 protected:
  /// A request, with its queue if there is one.
  struct request {
    std::size_t bytes;
    std::size_t alignment;
    const sycl::queue* queue = nullptr;
    std::optional<sycl::event>* pending = nullptr;

    void* pass_to(memory_resource& upstream) const;
    /// Frees what that resource allocated, after an error.
    void undo(memory_resource& upstream, void* p) const noexcept;
  };
  /// A freed block, with the queue whose commands may use it until `last`, if any.
  struct returned_block {
    void* data;
    std::size_t bytes;
    std::size_t alignment;
    const sycl::queue* queue = nullptr;
    const sycl::event* last = nullptr;

    /// False, and nothing was changed, if that resource is not queue-ordered. Never without
    /// a queue.
    bool pass_to(memory_resource& upstream) const noexcept;
  };

 private:
  virtual void* serve(const request& asked) { return asked.pass_to(*upstream_); }
  /// False, and nothing was changed, if the block cannot be taken before its commands have ended.
  virtual bool take_back(const returned_block& b) noexcept { return b.pass_to(*upstream_); }

  void* do_allocate(std::size_t bytes, std::size_t alignment) final {
    return serve({bytes, alignment});
  }
  void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept final {
    take_back({p, bytes, alignment});
  }
  void* do_allocate_on(const sycl::queue& queue, std::size_t bytes, std::size_t alignment,
                       std::optional<sycl::event>& pending) final {
    return serve({bytes, alignment, &queue, &pending});
  }
  bool do_deallocate_on(const sycl::queue& queue, const sycl::event& last, void* p,
                        std::size_t bytes, std::size_t alignment) noexcept final {
    return take_back({p, bytes, alignment, &queue, &last});
  }

  std::shared_ptr<memory_resource> upstream_;
};

/// Counts allocations, in requested bytes.
class statistics_resource final : public stacked_resource {
 public:
  struct figures {
    std::size_t bytes = 0;         ///< in use
    std::size_t peak_bytes = 0;    ///< the most in use at once
    std::size_t total_bytes = 0;   ///< of all allocations
    std::size_t blocks = 0;        ///< in use
    std::size_t peak_blocks = 0;   ///< the most in use at once
    std::size_t total_blocks = 0;  ///< of all allocations
    std::size_t failures = 0;      ///< requests that threw
  };
  using stacked_resource::stacked_resource;
  /// The figures of one moment; exact while no thread allocates.
  figures now() const noexcept;
  /// Resets the peaks to the current use.
  void reset_peaks() noexcept;

 private:
  void* serve(const request& asked) override;
  bool take_back(const returned_block& b) noexcept override;

  std::atomic<std::size_t> bytes_{0}, peak_bytes_{0}, total_bytes_{0};
  std::atomic<std::size_t> blocks_{0}, peak_blocks_{0}, total_blocks_{0}, failures_{0};
};

/// Limits the bytes in use to `most`. Above that it throws allocation_error.
class limiting_resource final : public stacked_resource {
 public:
  limiting_resource(std::shared_ptr<memory_resource> upstream, std::size_t most);
  std::size_t most() const noexcept { return most_; }
  /// Bytes in use.
  std::size_t used() const noexcept { return used_.load(std::memory_order_relaxed); }

 private:
  void* serve(const request& asked) override;
  bool take_back(const returned_block& b) noexcept override;

  std::size_t most_;
  std::atomic<std::size_t> used_{0};
};

/// Allocates each request from the resource for its size.
class binning_resource final : public stacked_resource {
 public:
  struct bin {
    std::size_t most;  ///< bytes: the largest request that it serves
    std::shared_ptr<memory_resource> resource;
  };
  /// `upstream` is used above the largest bin. Throws std::invalid_argument if a bin has no
  /// resource or one of another context, device or kind.
  binning_resource(std::shared_ptr<memory_resource> upstream, std::vector<bin> bins);

 private:
  memory_resource& serving(std::size_t bytes) const noexcept;
  void* serve(const request& asked) override;
  bool take_back(const returned_block& b) noexcept override;

  std::vector<bin> bins_;  // by size
};

/// Aligns every block of at least `from` bytes to `least` bytes or more: for huge pages, direct
/// file access or vector loads that rely on it.
class aligned_resource final : public stacked_resource {
 public:
  /// Throws std::invalid_argument if `least` is not a power of two.
  aligned_resource(std::shared_ptr<memory_resource> upstream, std::size_t least,
                   std::size_t from = 0);

 private:
  std::size_t alignment_of(std::size_t bytes, std::size_t asked) const noexcept;
  void* serve(const request& asked) override;
  bool take_back(const returned_block& b) noexcept override;

  std::size_t least_;
  std::size_t from_;
};

/// Records live blocks, their order and their call stacks. For finding leaks: a request
/// takes microseconds.
class tracking_resource final : public stacked_resource {
 public:
  struct block {
    void* data;
    std::size_t bytes;           ///< as requested
    std::size_t alignment;       ///< bytes
    std::size_t number;          ///< of the request, counted from 1
    std::size_t thread;          ///< a number for each thread
    std::vector<void*> callers;  ///< return addresses, the innermost first; empty if unknown
    std::string note;            ///< the result of `describe`
  };
  /// Describes the caller, on its thread: for programs whose callers are not C++ functions.
  using describe = std::function<std::string()>;
  explicit tracking_resource(std::shared_ptr<memory_resource> upstream, describe who = {});
  /// The live blocks, the oldest first.
  std::vector<block> alive() const;
  /// The same as text, with the names of the callers where the system knows them.
  std::string report() const;

 private:
  void* serve(const request& asked) override;
  bool take_back(const returned_block& b) noexcept override;

  describe who_;
  mutable std::mutex mutex_;
  std::unordered_map<void*, block> alive_;
  std::size_t requests_ = 0;
};

/// Writes a line for each request, as CSV that a replay can read:
/// nanoseconds,thread,action,pointer,bytes,alignment with action allocate, deallocate or fail.
class logging_resource final : public stacked_resource {
 public:
  /// Writes a new file. Throws std::system_error if it cannot be opened.
  logging_resource(std::shared_ptr<memory_resource> upstream, const std::string& path);
  /// Lines are kept until this or the end. Throws std::system_error if a line was not written.
  void flush();

 private:
  void* serve(const request& asked) override;
  bool take_back(const returned_block& b) noexcept override;
  void write(const char* action, const void* p, std::size_t bytes, std::size_t alignment) noexcept;
  void write_locked(const char* action, const void* p, std::size_t bytes,
                    std::size_t alignment) noexcept;

  std::mutex mutex_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::chrono::steady_clock::time_point begin_;
};

/// Calls a function to free something when there is no memory left, and tries again as long as it
/// returns true.
class failure_callback_resource final : public stacked_resource {
 public:
  /// Gets the requested bytes; runs on the thread of the request, and may free and allocate.
  using callback = std::function<bool(std::size_t bytes)>;
  /// Throws std::invalid_argument for an empty function.
  failure_callback_resource(std::shared_ptr<memory_resource> upstream, callback on_failure);

 private:
  void* serve(const request& asked) override;

  callback on_failure_;
};

/// Prefetches new shared memory to the device, on a queue; other kinds are passed on unchanged.
/// A freed block waits for its prefetch.
class prefetch_resource final : public stacked_resource {
 public:
  /// Throws std::invalid_argument if the queue is of another context.
  prefetch_resource(std::shared_ptr<memory_resource> upstream, sycl::queue queue);

 private:
  void* serve(const request& asked) override;
  bool take_back(const returned_block& b) noexcept override;

  sycl::queue queue_;
  std::mutex mutex_;
  std::unordered_map<void*, sycl::event> pending_;
};

}  // namespace usmx
