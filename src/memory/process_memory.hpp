// Device memory that other processes of the machine open, and that of others which is open here.
// docs/decisions/0112.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include <sycl/queue.hpp>

#include "runtime/process_handles.hpp"
#include "usmx/array.hpp"
#include "usmx/memory.hpp"

namespace usmx::detail {

/// What all processes know of a block: the word that names it, and an open file which each of them
/// has. Receivers hold a lock on it that the kernel takes away when they end, however they do.
struct process_place {
  std::string token;
  std::size_t bytes = 0;
  int descriptor = -1;  // the owner's from here on
};

/// A block of memory that several processes have: made here, or opened. The owner of a block frees
/// it when no receiver is left: at its end, or when a later call finds that.
class process_owner final : public owner {
 public:
  process_owner(const process_handles& functions, const sycl::queue& queue, void* base,
                process_place place, bool is_opened, handle_bytes handle);
  ~process_owner() override;

  const process_place& place() const noexcept { return place_; }
  const handle_bytes& handle() const noexcept { return handle_; }
  const process_handles& functions() const noexcept { return functions_; }
  const sycl::queue& queue() const noexcept { return queue_; }

  /// The event of this process and its handle, made when they are first asked for.
  struct known_event {
    void* event = nullptr;
    handle_bytes handle = {};
  };
  const known_event& own_event();
  /// The event of another process; null if it is gone.
  void* opened_event(std::span<const std::byte> handle);

  void release() noexcept override;

 private:
  const process_handles& functions_;
  sycl::queue queue_;
  process_place place_;
  bool is_opened_;
  handle_bytes handle_;
  int process_;  // not a child of fork

  std::mutex mutex_;
  known_event own_;
  std::map<std::string, void*> opened_;  // by their handles
};

/// A block of this process, as an array of bytes whose values are undefined. Throws
/// allocation_error, device_error.
array make_process_memory(const sycl::queue& queue, process_place place);

/// The block of another process, as an array of bytes: the one that is open already, or opened now.
/// Empty if its owner let go of it or ended, so that no driver opens it. Throws device_error,
/// interop_error if what was opened is not device memory of so many bytes.
std::optional<array> open_process_memory(const sycl::queue& queue, process_place place,
                                         std::span<const std::byte> handle);
/// The block of that name, if it is in use here.
std::optional<array> find_process_memory(const std::string& token);

/// The owner of an array's memory, if it is such a block; null otherwise.
process_owner* process_owner_of(const array& a) noexcept;

/// Frees blocks whose last receiver is gone; how many wait for theirs.
std::size_t free_left_process_memory() noexcept;

}  // namespace usmx::detail
