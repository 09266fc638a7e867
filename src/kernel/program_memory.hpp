// The programs of this process, found by their source. The code of each takes a megabyte or more,
// so the least recently used code leaves memory above a limit.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <sycl/context.hpp>
#include <sycl/device.hpp>

#include "usmx/kernel.hpp"

namespace usmx::detail {

/// A program whose code can leave memory. It and its kernels stay usable: the next launch brings
/// the code back.
class held_program {
 public:
  held_program() = default;
  held_program(const held_program&) = delete;
  held_program& operator=(const held_program&) = delete;
  virtual ~held_program() = default;

  /// Releases the code. Running kernels, and handles that callers have, keep it alive.
  virtual void drop_code() const noexcept = 0;

  /// Marks it as used now. The clock counts programs that came into memory: this must be cheap.
  void touch() const noexcept {
    const auto now = clock.load(std::memory_order_relaxed);
    if (used_.load(std::memory_order_relaxed) != now) used_.store(now, std::memory_order_relaxed);
  }
  std::uint64_t used() const noexcept { return used_.load(std::memory_order_relaxed); }

  static inline std::atomic<std::uint64_t> clock = 1;

 private:
  mutable std::atomic<std::uint64_t> used_ = 0;
};

/// Two requests with equal keys are the same program. The parts of the text are separated by null
/// bytes, which source text does not contain.
struct program_key {
  std::string text;
  sycl::context context;
  sycl::device device;

  bool operator==(const program_key&) const = default;
};
struct program_key_hash {
  std::size_t operator()(const program_key& k) const {
    return std::hash<std::string>()(k.text) ^ (std::hash<sycl::context>()(k.context) * 31) ^
           (std::hash<sycl::device>()(k.device) * 17);
  }
};

/// Thread-safe. Its lock is not held while a program is compiled, waited for or dropped.
class program_memory {
 public:
  using held = std::shared_ptr<const held_program>;
  using made = std::shared_future<held>;

  /// The instance of this process. Never destroyed: at exit the runtime may end before our statics.
  static program_memory& get();

  /// The program if there is one, ready or being made. Otherwise `promised` is added, and the
  /// result is empty.
  std::optional<made> find_or_add(const program_key& key, const made& promised);
  /// The next request makes it again.
  void forget(const program_key& key);
  /// The code of this program is in memory now; without a program, the same failure would occur
  /// each time. Above the limit the least recently used ones leave; this one stays.
  void keep(const program_key& key, const held& program, std::size_t bytes);
  /// Reserves a part of the limit for code that cannot leave; false if there is no room for it.
  bool reserve_for_good(std::size_t bytes);

  program::memory_use use() const;
  /// Returns the limit before.
  std::size_t set_limit(std::size_t bytes);

 private:
  struct entry {
    made result;                              // invalid: the code was dropped
    std::weak_ptr<const held_program> alive;  // then, as long as there are references to it
    std::size_t bytes = 0;                    // 0: not made yet, or dropped
    std::uint64_t failed_at = 0;              // 0: no failure
  };
  using entries = std::unordered_map<program_key, entry, program_key_hash>;

  program_memory();
  std::vector<held> choose(const program_key* newest);
  void drop(std::vector<held> chosen);

  mutable std::mutex mutex_;
  entries entries_;
  std::size_t bytes_ = 0, for_good_ = 0, programs_for_good_ = 0;
  std::size_t limit_;
};

/// The memory that a program's code takes, from the size of its binary. Neither the runtime nor the
/// driver reports it: this is a linear fit to what the CPU device took for programs of 5 to 64 KB,
/// where a compiled one keeps the text of its intermediate form and a loaded one does not.
std::size_t estimated_bytes(bool is_read, std::size_t binary) noexcept;

}  // namespace usmx::detail
