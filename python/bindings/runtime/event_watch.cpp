// One thread that looks at events and writes to file descriptors. It never sees Python: what it
// wakes is an event loop, on the loop's own thread.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/event_watch.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "usmx/wait.hpp"

namespace usmx::python {
namespace {

class descriptor {
 public:
  explicit descriptor(int number) : number_(number) {
    if (number_ < 0) throw std::system_error(errno, std::generic_category(), "await event");
  }
  descriptor(descriptor&& o) noexcept : number_(std::exchange(o.number_, -1)) {}
  descriptor& operator=(descriptor&& o) noexcept {
    std::swap(number_, o.number_);
    return *this;
  }
  ~descriptor() {
    if (number_ >= 0) close(number_);
  }
  int get() const noexcept { return number_; }
  /// Wakes its reader.
  void signal() const noexcept {
    const std::uint64_t one = 1;
    static_cast<void>(!write(number_, &one, sizeof(one)));  // there may be no reader any more
  }
  int release() noexcept { return std::exchange(number_, -1); }

 private:
  int number_;
};

class watcher {
 public:
  void add(const sycl::event& event, descriptor wake) {
    const std::scoped_lock lock(mutex_);
    if (stopped_) {  // the process ends: a loop that still runs waits for the event by itself
      wake.signal();
      return;
    }
    watched_.push_back({event, std::move(wake)});
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    changed_.notify_one();
  }

  void stop() noexcept {
    std::vector<entry> forgotten;
    std::thread last;
    {
      const std::scoped_lock lock(mutex_);
      stopped_ = true;
      forgotten = std::exchange(watched_, {});
      last = std::move(thread_);
    }
    for (const entry& e : forgotten) e.wake.signal();
    changed_.notify_one();
    if (last.joinable()) last.join();
  }

 private:
  struct entry {
    sycl::event event;
    descriptor wake;
  };

  void run() noexcept {
    // No driver can be asked to call when the first of several events is done without calling from
    // a thread of its own. Looking costs 70 ns, so this thread sleeps all but a thousandth.
    constexpr std::chrono::microseconds shortest{20};
    constexpr std::chrono::microseconds longest{1000};
    auto pause = shortest;
    std::unique_lock lock(mutex_);
    while (!stopped_) {
      if (watched_.empty()) {
        changed_.wait(lock);
        pause = shortest;
        continue;
      }
      std::vector<entry> looked_at = std::exchange(watched_, {});
      lock.unlock();
      const bool found = wake_finished(looked_at);
      lock.lock();
      if (stopped_) return;  // what is left ends with this thread
      for (entry& e : looked_at) watched_.push_back(std::move(e));
      pause = found ? shortest : std::min(2 * pause, longest);
      if (!watched_.empty()) changed_.wait_for(lock, pause);
    }
  }

  static bool wake_finished(std::vector<entry>& entries) noexcept {
    const std::size_t before = entries.size();
    std::erase_if(entries, [](const entry& e) {
      if (!is_done(e.event)) return false;
      e.wake.signal();
      return true;
    });
    return entries.size() != before;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<entry> watched_;
  std::thread thread_;
  bool stopped_ = false;
};

/// One for each process: after a fork the thread, and the holder of the lock, are the parent's.
/// Leaked, since a thread may be in it until the very end.
watcher& the_watcher() {
  struct owned {
    pid_t process = getpid();
    watcher threads;
  };
  static std::atomic<owned*> current{nullptr};
  owned* known = current.load(std::memory_order_acquire);
  if (known != nullptr && known->process == getpid()) return known->threads;
  auto* const fresh = new owned;
  if (current.compare_exchange_strong(known, fresh, std::memory_order_acq_rel)) {
    return fresh->threads;
  }
  delete fresh;
  return known->threads;
}

}  // namespace

int watch(const sycl::event& event) {
  descriptor theirs(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  // One of our own: the other may be closed, and its number used again, at any time.
  descriptor ours(dup(theirs.get()));
  the_watcher().add(event, std::move(ours));
  return theirs.release();
}

void stop_watching() noexcept { the_watcher().stop(); }

}  // namespace usmx::python
