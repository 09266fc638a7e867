// A gate that counts the threads inside the driver, that a fork closes, and that knows which
// threads are left when the process ends.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver_gate.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <sycl/ext/oneapi/weak_object.hpp>

#include "core/fork_guard.hpp"
#include "core/format.hpp"
#include "runtime/backend.hpp"
#include "usmx/error.hpp"
#include "usmx/exit.hpp"
#include "usmx/wait.hpp"

namespace usmx::detail {
namespace {

using namespace std::chrono_literals;

/// How long a fork waits for threads that are inside. Most calls take microseconds; a wait for a
/// long kernel, or for something that the forking thread holds, takes longer than a fork may wait.
constexpr auto fork_patience = 3s;
/// How long a thread waits for the fork. Longer, because the fork waits as well.
constexpr auto entry_patience = 2 * fork_patience;
constexpr auto pause_between_looks = 50us;
/// A command completes a moment before the driver's thread that ran it has released its locks.
constexpr auto leaving = 20ms;

/// A queue that may be destroyed; a new one at the same address is a different one.
struct known_queue {
  std::size_t address = 0;
  sycl::ext::oneapi::weak_object<sycl::queue> queue;

  bool is(const sycl::queue& q) const noexcept {
    return address == std::hash<sycl::queue>()(q) && !queue.expired();
  }
};

std::atomic<int> users = 0;  // threads that have been in the driver and are alive
std::atomic<bool> was_used = false;
std::atomic<bool> lost = false;
/// The backend in use that no child of fork can use, and whether this is such a child.
std::atomic<const backend_row*> lost_by_fork = nullptr;
std::atomic<bool> lost_its_backend = false;
/// See end_at_once.
std::atomic<bool> never_ends = false;
/// In a child of a process that had used the driver, whose worker threads do not exist here.
std::atomic<bool> inherited = false;

/// What one thread does in the driver.
struct thread_state {
  int depth = 0;         // of driver_entry
  bool is_user = false;  // counted among `users`
  bool ended = false;    // other objects of the thread may end after this one
  known_queue last;      // that this thread submitted to

  void become_user() noexcept {
    if (is_user || ended) return;
    is_user = true;
    users.fetch_add(1, std::memory_order_relaxed);
    was_used.store(true, std::memory_order_relaxed);
  }
  ~thread_state() {
    if (is_user) users.fetch_sub(1, std::memory_order_relaxed);
    is_user = false;
    ended = true;
  }
};

thread_local thread_state here;
/// Named at each allocation; the TLS model reduces that to one instruction, as in pool.cpp.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool own_thread = false;

/// The queues that commands were submitted to.
class queue_book {
 public:
  static queue_book& instance() {
    static auto& only = *new queue_book;  // leaked: forks may come at any time
    return only;
  }

  void note(const sycl::queue& queue) {
    known_queue noted{std::hash<sycl::queue>()(queue), queue};
    {
      const std::scoped_lock lock(mutex_);
      std::erase_if(queues_, [](const known_queue& k) { return k.queue.expired(); });
      if (std::ranges::none_of(queues_, [&](const auto& k) { return k.is(queue); })) {
        queues_.push_back(noted);
      }
    }
    here.last = std::move(noted);
  }

  /// Whether all are idle before `end`. Queries them in a thread: a query that the scheduler does
  /// not answer, because it waits for the GIL that the forking thread holds, must not block it.
  bool are_idle_before(std::chrono::steady_clock::time_point end) {
    const auto idle = std::make_shared<std::atomic<bool>>(false);
    try {
      auto queues = alive();
      if (queues.empty()) return true;
      std::thread([idle, end, asked = std::move(queues)] {
        here.depth = 1;  // inside, although the gate is closed
        try {
          std::vector<sycl::event> last;
          for (const sycl::queue& q : asked) last.push_back(marker(q));
          while (!std::ranges::all_of(last, is_done)) {
            if (std::chrono::steady_clock::now() > end) return;
            std::this_thread::sleep_for(pause_between_looks);
          }
          std::this_thread::sleep_for(leaving);
          idle->store(true);
        } catch (...) {  // a queue that cannot be queried may be busy
        }
      }).detach();
    } catch (...) {  // no memory, no thread: nothing is known
      return false;
    }
    while (!idle->load() && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(pause_between_looks);
    }
    return idle->load();
  }

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  std::vector<sycl::queue> alive() {
    const std::scoped_lock lock(mutex_);
    std::vector<sycl::queue> queues;
    for (const known_queue& k : queues_) {
      if (std::optional<sycl::queue> q = k.queue.try_lock()) queues.push_back(std::move(*q));
    }
    return queues;
  }

  std::mutex mutex_;
  std::vector<known_queue> queues_;
};

class driver_gate final : public fork_guarded {
 public:
  explicit driver_gate(rank order) : is_for_commands_(order == rank::commands) {
    guard(*this, order);
  }

  void enter() noexcept {
    for (auto left = entry_patience / pause_between_looks;; --left) {
      inside_.fetch_add(1);
      // Threads that come while a fork waits queue behind it, or alternating threads would keep it
      // out. Not for ever: the fork may wait for a lock that this thread holds.
      if (!closed_.load() || left <= 0) return;
      inside_.fetch_sub(1);
      std::this_thread::sleep_for(pause_between_looks);
    }
  }
  void leave() noexcept { inside_.fetch_sub(1); }

  void before_fork() noexcept override {
    closed_.store(true);
    own_ = here.depth != 0 ? 1 : 0;  // a fork from a callback
    const auto end = std::chrono::steady_clock::now() + fork_patience;
    while (!(was_empty_ = inside_.load() <= own_) && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(pause_between_looks);
    }
    if (!is_for_commands_) return;
    queue_book& queues = queue_book::instance();
    was_empty_ = was_empty_ && !lost.load() && queues.are_idle_before(end);
    queues.lock();
  }
  void after_fork(bool in_child) noexcept override {
    if (is_for_commands_) queue_book::instance().unlock();
    if (in_child) {
      if (!was_empty_) lost.store(true);
      if (was_used.load()) inherited.store(true);
      if (lost_by_fork.load() != nullptr) {
        lost.store(true);
        lost_its_backend.store(true);
      }
      inside_.store(own_);
      users.store(here.is_user ? 1 : 0);
    }
    closed_.store(false);
  }

 private:
  bool is_for_commands_;
  // No std::shared_mutex: glibc's checks which thread unlocks it, and in the child that differs.
  std::atomic<int> inside_ = 0;
  std::atomic<bool> closed_ = false;
  int own_ = 0;
  bool was_empty_ = true;
};

// Never destroyed: memory is freed until the very end.
driver_gate& commands() {
  static auto& gate = *new driver_gate(fork_guarded::rank::commands);
  return gate;
}
driver_gate& allocator() {
  static auto& gate = *new driver_gate(fork_guarded::rank::driver);
  return gate;
}

const auto& book_at_load = queue_book::instance();  // see guard() in fork_guard.hpp
const auto& commands_at_load = commands();
const auto& allocator_at_load = allocator();

}  // namespace

driver_entry::driver_entry(std::nothrow_t) noexcept {
  if (here.depth++ != 0) return;
  here.become_user();
  commands().enter();
}

// The other constructor has ended, so what is thrown here runs the destructor.
driver_entry::driver_entry() : driver_entry(std::nothrow) {
  if (lost.load(std::memory_order_relaxed)) [[unlikely]] {
    if (lost_its_backend.load()) {
      throw device_error(format(
          "fork: this process was forked from one that had used a device of {0}, whose driver "
          "works "
          "in no child of fork; start processes with multiprocessing's 'spawn' or 'forkserver', or "
          "use the device only after the fork",
          lost_by_fork.load()->name));
    }
    throw device_error(
        "fork: this process was forked while threads or commands were inside the SYCL driver, so "
        "it cannot use a device; start processes with multiprocessing's 'spawn' or 'forkserver', "
        "or fork while no commands are running");
  }
}

driver_entry::~driver_entry() {
  if (--here.depth == 0) commands().leave();
}

void uses_driver_of(const backend_row& backend) noexcept {
  if (backend.lost_by_fork) lost_by_fork.store(&backend, std::memory_order_relaxed);
}

void submits_to(const sycl::queue& queue) {
  if (here.last.is(queue)) return;
  uses_driver_of(backend_of(queue));
  queue_book::instance().note(queue);
}

driver_entry_of_caller::driver_entry_of_caller() noexcept { ++here.depth; }
driver_entry_of_caller::~driver_entry_of_caller() { --here.depth; }

inside_driver::inside_driver() noexcept { allocator().enter(); }
inside_driver::~inside_driver() { allocator().leave(); }

void end_at_once() noexcept { never_ends.store(true); }

bool driver_is_lost() noexcept { return lost.load(std::memory_order_relaxed); }

void name_own_thread() noexcept { own_thread = true; }
bool on_own_thread() noexcept { return own_thread; }

}  // namespace usmx::detail

namespace usmx {

void end_beside_other_threads() noexcept {
  // Registered last, so it runs first: before the driver ends its own parts.
  static_cast<void>(on_exit(
      [](int status, void*) {
        const int own = detail::here.is_user ? 1 : 0;
        // The driver would wait for its threads at its exit, which a child of fork does not have.
        if (detail::users.load() <= own && !detail::inherited.load() &&
            !detail::never_ends.load()) {
          return;
        }
        std::fflush(nullptr);
        _exit(status);
      },
      nullptr));
}

}  // namespace usmx
