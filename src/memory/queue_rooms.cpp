// See queue_rooms.hpp: the list of rooms, iterated without holding its lock, because waiting
// may take long and the awaited thread may make or destroy a resource.
// SPDX-License-Identifier: Apache-2.0
#include "memory/queue_rooms.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include "core/fork_guard.hpp"
#include "runtime/wait_forms.hpp"
#include "usmx/wait.hpp"

namespace usmx::detail {
namespace {

class room_list {
 public:
  static room_list& instance() {
    static auto& only = *new room_list;  // never destroyed: resources may outlive static objects
    return only;
  }

  void open(const std::shared_ptr<queue_room>& room) {
    const std::scoped_lock lock(mutex_);
    rooms_.push_back({room.get(), room});
  }
  void close(const queue_room& room) noexcept {
    const std::scoped_lock lock(mutex_);
    std::erase_if(rooms_, [&](const entry& e) { return e.address == &room; });
  }

  /// Calls `visit` with each room that still exists when it is reached; needs no memory.
  template <class Visit>
  void each(Visit visit) noexcept {
    for (std::size_t k = 0;; ++k) {
      std::shared_ptr<queue_room> room;
      {
        const std::scoped_lock lock(mutex_);
        if (k >= rooms_.size()) return;
        room = rooms_[k].room.lock();
      }
      if (room) visit(*room);
    }
  }

 private:
  struct entry {
    const queue_room* address;
    std::weak_ptr<queue_room> room;
  };

  guarded_mutex mutex_{guarded_mutex::rank::lists};
  std::vector<entry> rooms_;
};

const auto& at_load = room_list::instance();  // see guard() in fork_guard.hpp

}  // namespace

void open_room(const std::shared_ptr<queue_room>& room) { room_list::instance().open(room); }
void close_room(const queue_room& room) noexcept { room_list::instance().close(room); }

std::size_t collect_rooms() noexcept {
  std::size_t waiting = 0;
  room_list::instance().each([&](queue_room& room) { waiting += room.collect(); });
  return waiting;
}

void drain_rooms() noexcept {
  room_list::instance().each([](queue_room& room) { room.drain(); });
}

bool settle_rooms(const memory_resource& source) noexcept {
  bool some = false;
  room_list::instance().each([&](queue_room& room) { some |= room.settle(source); });
  return some;
}

void wait_quietly(const sycl::event& event) noexcept {
  const uninterrupted until_it_has_ended;
  try {
    usmx::wait(event);
  } catch (...) {
  }
}

bool has_passed(const sycl::event& event) noexcept {
  try {
    return status(event) == command_status::complete;
  } catch (...) {
    wait_quietly(event);
    return true;
  }
}

}  // namespace usmx::detail
