// Records of operations on memory, with their times and the lines of the program that caused them:
// the source of traces, of assertions of zero copy and of memory snapshots. Costs one relaxed load
// for each operation while no recorder is on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "usmx/view.hpp"

namespace usmx {

/// What an operation did.
enum class trace_action : std::uint8_t {
  allocate,         ///< a block was allocated, from any resource
  deallocate,       ///< and freed
  driver_allocate,  ///< the SYCL runtime was called
  driver_free,
  copy,       ///< requested by a caller: how the bytes moved is recorded inside
  host_copy,  ///< the host copied bytes without the runtime
  fill,
  prefetch,
  kernel,
  build,     ///< a program was compiled or loaded
  wait,      ///< for a command, an event or a queue
  imported,  ///< memory of another library became an array
  exported,  ///< an array's address was exported through a protocol
  other,
};
inline constexpr std::size_t trace_actions = 14;
/// "allocate", "driver allocate", "host copy", ... Never null.
const char* name(trace_action a) noexcept;

/// What is known when an operation begins. Leave out what does not apply.
struct trace_subject {
  std::size_t bytes = 0;
  const void* address = nullptr;      ///< of the memory; of a copy's destination
  const void* source = nullptr;       ///< of a copy
  usm_kind kind = usm_kind::unknown;  ///< of the memory; of a copy's destination
  usm_kind from = usm_kind::unknown;  ///< of a copy's source
  std::uint32_t queue = 0;            ///< trace_number of a queue; 0 is none
  std::uint32_t device = 0;           ///< trace_text of a device's name; 0 is none
  std::uint32_t label = 0;            ///< trace_text of a kernel's or library's name; 0 is none
};

/// An operation that has ended. Times are nanoseconds of std::chrono::steady_clock.
struct trace_record : trace_subject {
  trace_action action = trace_action::other;
  /// The enclosing record on the same thread: a host copy inside a copy is a part of it.
  std::optional<trace_action> inside;
  /// It is not part of a larger record of its kind: in a sum over those that count, no byte is
  /// counted twice. A copy inside a fill does not count.
  bool counts = true;
  bool failed = false;
  /// Reported by the SYCL runtime itself, for calls of any library; see
  /// python/usmx/counters.py.
  bool by_runtime = false;
  /// Of an allocation: the driver was not called.
  bool reused = false;
  std::uint32_t thread = 0;  ///< the system's number
  std::uint32_t place = 0;   ///< the line of a program that caused it; 0 is unknown
  std::int64_t begin = 0;
  std::int64_t end = 0;
  /// When the device executed it, on the host's clock; 0 if that was not measured: the queue has no
  /// profiling, and no recorder lets kernels run one by one.
  std::int64_t device_begin = 0;
  std::int64_t device_end = 0;
};

/// When a device executed a command, in nanoseconds of its own clock.
struct trace_device_times {
  std::int64_t submitted = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
/// Called when records are read; empty while the command has not ended.
using trace_device_clock = std::function<std::optional<trace_device_times>()>;

namespace detail {
/// How many recorders are on. Not inline: a module that hides its symbols would have its own.
extern std::atomic<std::uint32_t> trace_listeners;
/// How many of them let kernels run one by one.
extern std::atomic<std::uint32_t> trace_timers;
struct trace_frame;
}  // namespace detail

/// Whether a recorder is on.
inline bool is_traced() noexcept {
  return detail::trace_listeners.load(std::memory_order_relaxed) != 0;
}

/// A number for a text, the same for the same text, and back. Kept for the whole process: meant for
/// names of devices and kernels. 0 is the empty text.
std::uint32_t trace_text(std::string_view text) noexcept;
std::string trace_text(std::uint32_t number);
/// A small number, from 1 on, for the hash of a queue.
std::uint32_t trace_number(std::size_t hash) noexcept;

/// Records an operation from its construction to its end, as failed if an exception ends it.
/// The description is computed only while a recorder is on:
///
///   const traced record(trace_action::fill, [&] { return trace_subject{.bytes = n}; });
///
/// The same action directly inside itself is one record, so that a copy that consists of copies
/// counts once.
class traced {
 public:
  template <class Describe>
  traced(trace_action action, Describe&& describe) noexcept {
    if (is_traced()) [[unlikely]]
      begin(action, std::forward<Describe>(describe)());
  }
  traced(const traced&) = delete;
  traced& operator=(const traced&) = delete;
  ~traced() {
    if (frame_) [[unlikely]]
      end();
  }

  /// Whether this is recorded, so that details can be added.
  explicit operator bool() const noexcept { return frame_ != nullptr; }
  /// Adds what is known only later: the address.
  void at(const void* address) noexcept {
    if (frame_) [[unlikely]]
      set_address(address);
  }
  /// Discards the record, because nothing was done.
  void cancel() noexcept {
    if (frame_) [[unlikely]]
      drop();
  }
  /// Whether it is a kernel that a recorder wants to run alone, so that its time is known: code
  /// that submits it waits before and after, and calls `ran`.
  bool runs_alone() const noexcept {
    return frame_ != nullptr && detail::trace_timers.load(std::memory_order_relaxed) != 0 &&
           is_kernel();
  }
  /// Sets when the device executed it, in nanoseconds of `trace_now`.
  void ran(std::int64_t begin, std::int64_t end) noexcept {
    if (frame_) set_times(begin, end);
  }
  /// Sets the source of the device's times, which is called later.
  void measured_by(trace_device_clock clock) noexcept {
    if (frame_) set_clock(std::move(clock));
  }

 private:
  void begin(trace_action action, const trace_subject& subject) noexcept;
  void end() noexcept;
  void drop() noexcept;
  void set_address(const void* address) noexcept;
  void set_clock(trace_device_clock clock) noexcept;
  void set_times(std::int64_t begin, std::int64_t end) noexcept;
  bool is_kernel() const noexcept;

  detail::trace_frame* frame_ = nullptr;
};

/// While one exists, operations of this thread are not recorded: printing an array, for example.
class untraced {
 public:
  untraced() noexcept;
  untraced(const untraced&) = delete;
  untraced& operator=(const untraced&) = delete;
  ~untraced();
};

/// Keeps the records between `start` and `stop`. Any number may be on at once, each records all
/// threads. Thread-safe.
class trace_recorder {
 public:
  /// What happens when there are more records than it keeps.
  enum class keep : std::uint8_t { first, latest };
  /// Whether kernels run as they are submitted, or one by one, so that each has a time.
  enum class kernels : std::uint8_t { as_submitted, one_by_one };
  /// A live block that was allocated while it was on.
  struct block {
    const void* address = nullptr;
    std::size_t bytes = 0;
    usm_kind kind = usm_kind::unknown;
    std::uint32_t place = 0;
    std::uint32_t thread = 0;
    std::int64_t since = 0;
  };

  explicit trace_recorder(std::size_t most, keep which = keep::first,
                          kernels how = kernels::as_submitted);
  trace_recorder(const trace_recorder&) = delete;
  trace_recorder& operator=(const trace_recorder&) = delete;
  ~trace_recorder();

  /// Starts and drops earlier records. Does nothing if it is on.
  void start();
  void stop() noexcept;
  bool is_on() const noexcept;
  /// When it was started last, and stopped; 0 if it was not.
  std::int64_t started() const noexcept;
  std::int64_t stopped() const noexcept;
  /// In the order in which they ended, with the device's times as far as they are known.
  std::vector<trace_record> records() const;
  /// The number of records that were dropped because of the limit.
  std::size_t dropped() const noexcept;
  std::vector<block> blocks() const;

  struct state;

 private:
  std::shared_ptr<state> state_;
};

/// The current time of the clock of records.
inline std::int64_t trace_now() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Gives a finished record to all recorders: for operations that were measured elsewhere.
/// `counts`, `inside`, `thread` and `place` are filled in.
void trace_add(trace_record record) noexcept;

/// Returns the current line of the program on the calling thread, as a number that the function's
/// author can resolve; 0 if none. Called when an operation begins, without a lock.
using trace_place_finder = std::uint32_t (*)() noexcept;
void set_trace_place_finder(trace_place_finder finder) noexcept;

}  // namespace usmx
