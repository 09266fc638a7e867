// SPDX-License-Identifier: Apache-2.0
#include "memory/process_memory.hpp"

#include <sys/file.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <list>
#include <utility>

#include "core/format.hpp"
#include "memory/allocation_failure.hpp"
#include "memory/pressure.hpp"
#include "runtime/driver_gate.hpp"
#include "usmx/error.hpp"
#include "usmx/memory_resource.hpp"

namespace usmx::detail {
namespace {

/// The first byte of the file: what a receiver that comes too late finds.
constexpr char is_gone = 1;

/// Whether receivers have the block. Without any, none can come from now on.
bool has_receivers(int descriptor) noexcept {
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) return true;
  // One that has opened the file, and waits for its lock, looks at this.
  return pwrite(descriptor, &is_gone, 1, 0) != 1;
}

/// As a receiver. False if the owner let go of the block.
bool take_part(int descriptor) noexcept {
  if (flock(descriptor, LOCK_SH | LOCK_NB) != 0) return false;
  char state = is_gone;
  return pread(descriptor, &state, 1, 0) == 1 && state != is_gone;
}

/// Whether the process that made the block has ended; the file has its number behind the state.
bool has_ended_owner(int descriptor) {
  std::int64_t process = 0;
  if (pread(descriptor, &process, sizeof process, sizeof process) != sizeof process) return false;
  std::ifstream file(format("/proc/{}/stat", process));
  std::string line;
  if (!std::getline(file, line)) return true;
  const auto state = line.find_first_not_of(' ', line.rfind(')') + 1);
  return state != line.npos && (line[state] == 'Z' || line[state] == 'X');  // not waited for yet
}

usm_resource blocks_of(const sycl::queue& queue) {
  return {queue.get_context(), queue.get_device(), usm_kind::device};
}

void free_block(const process_handles& functions, const sycl::queue& queue, void* base,
                const process_place& place) noexcept {
  if (base == nullptr) {
    // There was no memory.
  } else if (functions.free != nullptr) {
    functions.free(queue, base);
  } else {
    try {
      blocks_of(queue).deallocate(base, place.bytes);
    } catch (...) {
    }
  }
  close(place.descriptor);
}

/// A block that nothing here uses any more, and receivers do.
struct left_block {
  const process_handles* functions;
  sycl::queue queue;
  void* base;
  process_place place;
};

struct known_blocks {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<owner>> open;
  std::list<left_block> left;
};
known_blocks& blocks() {
  static auto& all = *new known_blocks;  // leaked: memory may end after the static objects
  return all;
}

array bytes_over(const sycl::queue& queue, const shared_owner& memory, std::size_t bytes) {
  any_view elements;
  const fault code = any_view::row(memory->base(), dtype::of<std::uint8_t>(),
                                   static_cast<std::int64_t>(bytes), usm_kind::unknown, elements);
  require_valid(code, "handle");
  // The driver is asked what is there: its kind, and where it ends.
  array all = array::bind(std::move(elements), queue, memory);
  if (all.kind() != usm_kind::device) {
    throw interop_error(fault::not_usm, "handle: the memory that it opens is not device memory");
  }
  return all;
}

shared_owner memory_known_as(const std::string& token) {
  known_blocks& all = blocks();
  const std::scoped_lock lock(all.mutex);
  const auto found = all.open.find(token);
  return found == all.open.end() ? nullptr : found->second.lock();
}

void remember(const std::string& token, const shared_owner& memory) {
  known_blocks& all = blocks();
  const std::scoped_lock lock(all.mutex);
  all.open[token] = memory;
}

}  // namespace

process_owner::process_owner(const process_handles& functions, const sycl::queue& queue, void* base,
                             process_place place, bool is_opened, handle_bytes handle)
    : owner(base, place.bytes, false),
      functions_(functions),
      queue_(queue),
      place_(std::move(place)),
      is_opened_(is_opened),
      handle_(std::move(handle)),
      process_(getpid()) {}

process_owner::~process_owner() = default;

const process_owner::known_event& process_owner::own_event() {
  const std::scoped_lock lock(mutex_);
  if (own_.event == nullptr) {
    void* const made = functions_.make_event(queue_);
    try {
      own_.handle = functions_.event_handle_of(queue_, made);
    } catch (...) {
      functions_.drop_event(queue_, made);
      throw;
    }
    own_.event = made;
  }
  return own_;
}

void* process_owner::opened_event(std::span<const std::byte> handle) {
  const std::scoped_lock lock(mutex_);
  std::string name(reinterpret_cast<const char*>(handle.data()), handle.size());
  const auto found = opened_.find(name);
  if (found != opened_.end()) return found->second;
  void* const opened = functions_.open_event(queue_, handle);
  if (opened != nullptr) opened_.emplace(std::move(name), opened);
  return opened;
}

void process_owner::release() noexcept {
  if (getpid() != process_) {
    // The block is the parent's, and so is the lock: both have one open file.
    close(place_.descriptor);
    return;
  }
  const inside_driver inside;
  for (const auto& [handle, event] : opened_) functions_.drop_event(queue_, event);
  if (own_.event != nullptr) functions_.drop_event(queue_, own_.event);
  {
    known_blocks& all = blocks();
    const std::scoped_lock lock(all.mutex);
    const auto found = all.open.find(place_.token);
    if (found != all.open.end() && found->second.expired()) all.open.erase(found);
  }
  if (is_opened_) {
    functions_.close(queue_, base());
    close(place_.descriptor);  // ends the lock: the owner may free the block
  } else if (!has_receivers(place_.descriptor)) {
    free_block(functions_, queue_, base(), place_);
  } else {
    known_blocks& all = blocks();
    const std::scoped_lock lock(all.mutex);
    all.left.push_back({&functions_, queue_, base(), std::move(place_)});
  }
}

array make_process_memory(const sycl::queue& queue, process_place place) {
  const driver_entry inside;
  const process_handles& functions = *process_handles_of(queue.get_device());
  free_left_process_memory();
  shared_owner memory;
  void* base = nullptr;
  try {
    if (functions.allocate == nullptr) {
      base = blocks_of(queue).allocate(place.bytes);
    } else {
      base = functions.allocate(queue, place.bytes);
      if (base == nullptr) {
        drain_under_pressure();
        trim_under_pressure();
        base = functions.allocate(queue, place.bytes);
      }
    }
    if (base == nullptr) {
      fail_allocation(place.bytes, default_alignment, usm_kind::device, queue.get_device(),
                      "the driver has no block of its own for other processes");
    }
    handle_bytes handle = functions.handle_of(queue, base);
    memory = own(
        std::make_unique<process_owner>(functions, queue, base, place, false, std::move(handle)));
    remember(place.token, memory);
    return bytes_over(queue, memory, place.bytes);
  } catch (...) {
    if (!memory) free_block(functions, queue, base, place);
    throw;
  }
}

std::optional<array> open_process_memory(const sycl::queue& queue, process_place place,
                                         std::span<const std::byte> handle) {
  const driver_entry inside;
  const process_handles& functions = *process_handles_of(queue.get_device());
  free_left_process_memory();
  if (!take_part(place.descriptor)) {
    close(place.descriptor);
    return {};
  }
  shared_owner memory;
  void* base = nullptr;
  try {
    base = functions.open(queue, handle);
    memory = own(std::make_unique<process_owner>(functions, queue, base, place, true,
                                                 handle_bytes(handle.begin(), handle.end())));
    remember(place.token, memory);
    return bytes_over(queue, memory, place.bytes);
  } catch (const nothing_behind_handle&) {
    const bool is_behind_its_owner = has_ended_owner(place.descriptor);
    close(place.descriptor);
    if (is_behind_its_owner) return {};
    throw;
  } catch (...) {
    if (!memory) {
      if (base != nullptr) functions.close(queue, base);
      close(place.descriptor);
    }
    throw;
  }
}

std::optional<array> find_process_memory(const std::string& token) {
  const shared_owner memory = memory_known_as(token);
  const auto* const block = dynamic_cast<const process_owner*>(memory.get());
  if (block == nullptr) return {};
  return bytes_over(block->queue(), memory, block->place().bytes);
}

process_owner* process_owner_of(const array& a) noexcept {
  return dynamic_cast<process_owner*>(a.keep_alive().get());
}

std::size_t free_left_process_memory() noexcept {
  std::list<left_block> free;
  known_blocks& all = blocks();
  {
    const std::scoped_lock lock(all.mutex);
    for (auto block = all.left.begin(); block != all.left.end();) {
      const auto next = std::next(block);
      if (!has_receivers(block->place.descriptor)) free.splice(free.end(), all.left, block);
      block = next;
    }
  }
  for (const left_block& block : free) {
    free_block(*block.functions, block.queue, block.base, block.place);
  }
  const std::scoped_lock lock(all.mutex);
  return all.left.size();
}

}  // namespace usmx::detail
