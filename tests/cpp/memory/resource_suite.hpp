// What every memory resource must do, written once: a new one is tested by the line
//   static const int added = resource_suite<make_it>::add("its_name");
// where `make_it` is a function (const sycl::queue&, usm_kind) -> std::shared_ptr<memory_resource>.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <source_location>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "check.hpp"
#include "usmx/error.hpp"
#include "usmx/memory.hpp"
#include "usmx/runtime.hpp"
#include "usmx/wait.hpp"

namespace usmx {

using resource_maker = std::shared_ptr<memory_resource> (*)(const sycl::queue&, usm_kind);

template <resource_maker Make>
class resource_suite {
 public:
  static int add(const std::string& name,
                 std::source_location where = std::source_location::current()) {
    add_test(where, name, "GivesEverySizeFromNothingToAGibibyte", sizes);
    add_test(where, name, "HonoursEveryAlignment", alignments);
    add_test(where, name, "RefusesAnAlignmentThatIsNoPowerOfTwo", bad_alignments);
    add_test(where, name, "SaysWhatItIs", identity);
    add_test(where, name, "BelongsToItsContextAlone", isolation);
    add_test(where, name, "LiveBlocksNeverOverlap", no_overlap);
    add_test(where, name, "BlocksKeepWhatWasWritten", contents);
    add_test(where, name, "GivesBytesAgainAfterTheyCameBack", reuse);
    add_test(where, name, "SaysWhatWasMissingWhenThereIsNotEnough", exhaustion);
    add_test(where, name, "TakesNullBack", null);
    add_test(where, name, "ServesManyThreads", threads);
    add_test(where, name, "TakesBytesBackOnAnotherThread", other_thread);
    add_test(where, name, "LeavesNothingBehind", nothing_left);
    return 0;
  }

 private:
  struct block {
    std::byte* data;
    std::size_t bytes;
    std::size_t alignment;
  };

  /// A resource that remembers what it handed out.
  class session {
   public:
    explicit session(usm_kind kind) : queue(default_queue()), resource(Make(queue, kind)) {}
    ~session() {
      for (const block& b : live_) resource->deallocate(b.data, b.bytes, b.alignment);
    }
    block get(std::size_t bytes, std::size_t alignment = default_alignment) {
      const block b{static_cast<std::byte*>(resource->allocate(bytes, alignment)), bytes,
                    alignment};
      const std::scoped_lock lock(mutex_);
      live_.push_back(b);
      return b;
    }
    void put(const block& b) {
      {
        const std::scoped_lock lock(mutex_);
        std::erase_if(live_, [&](const block& other) { return other.data == b.data; });
      }
      resource->deallocate(b.data, b.bytes, b.alignment);
    }
    std::size_t live() const { return live_.size(); }

    sycl::queue queue;
    std::shared_ptr<memory_resource> resource;

   private:
    std::mutex mutex_;
    std::vector<block> live_;
  };

  template <void (*Test)(usm_kind)>
  static void each_kind() {
    for (const usm_kind kind : {usm_kind::device, usm_kind::shared, usm_kind::host}) Test(kind);
  }

  template <class Test>
  static void add_test(const std::source_location& where, const std::string& suite,
                       const char* name, Test test) {
    check::add(where.file_name(), suite + "." + name, test);
  }

  /// Writes through the queue and reads back, as the host may not look at device memory.
  static bool holds(sycl::queue& q, std::byte* at, std::size_t bytes, std::uint8_t value) {
    std::vector<std::uint8_t> seen(bytes);
    wait(q.memcpy(seen.data(), at, bytes), q);
    return std::ranges::all_of(seen, [&](std::uint8_t b) { return b == value; });
  }

  static void check_ends(session& s, const block& b) {
    const std::size_t end = std::min<std::size_t>(b.bytes, 64);
    if (end == 0) return;
    s.queue.memset(b.data, 0x5a, end).wait();
    s.queue.memset(b.data + b.bytes - end, 0xa5, end).wait();
    CHECK(holds(s.queue, b.data + b.bytes - end, end, 0xa5));
    if (b.bytes >= 128) CHECK(holds(s.queue, b.data, end, 0x5a));
  }

  static void sizes() { each_kind<sizes_of>(); }
  static void sizes_of(usm_kind kind) {
    session s(kind);
    for (const std::size_t bytes :
         {0ul, 1ul, 2ul, 63ul, 64ul, 65ul, 511ul, 4096ul, 65535ul, 65536ul, 65537ul,
          (1ul << 20) - 1, 1ul << 20, 3ul << 20, 33ul << 20, 1ul << 30}) {
      const block b = s.get(bytes);
      CHECK(b.data != nullptr);
      CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(b.data) % default_alignment, 0u);
      CHECK_EQUAL(kind_of(b.data, s.resource->context()), kind);
      check_ends(s, b);
      s.put(b);
    }
  }

  static void alignments() { each_kind<alignments_of>(); }
  static void alignments_of(usm_kind kind) {
    session s(kind);
    for (std::size_t alignment = 1; alignment <= (1ul << 21); alignment *= 2) {
      for (const std::size_t bytes : {1ul, 100ul, 5000ul}) {
        const block b = s.get(bytes, alignment);
        CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(b.data) % alignment, 0u);
        check_ends(s, b);
      }
    }
  }

  static void bad_alignments() {
    session s(usm_kind::device);
    for (const std::size_t alignment : {0ul, 3ul, 48ul, ~0ul}) {
      CHECK_THROWS(std::invalid_argument, s.get(64, alignment));
    }
  }

  static void identity() { each_kind<identity_of>(); }
  static void identity_of(usm_kind kind) {
    session s(kind);
    CHECK_EQUAL(s.resource->kind(), kind);
    CHECK(s.resource->context() == s.queue.get_context());
    CHECK(s.resource->device() == s.queue.get_device());
  }

  static void isolation() { each_kind<isolation_of>(); }
  static void isolation_of(usm_kind kind) {
    session s(kind);
    const sycl::context other(s.queue.get_device());
    const sycl::queue queue_there(other, s.queue.get_device());
    const auto resource_there = Make(queue_there, kind);
    void* const there = resource_there->allocate(4096);
    const block here = s.get(4096);
    CHECK_EQUAL(kind_of(there, other), kind);
    CHECK_EQUAL(kind_of(there, s.queue.get_context()), usm_kind::unknown);
    CHECK_EQUAL(kind_of(here.data, other), usm_kind::unknown);
    resource_there->deallocate(there, 4096);
  }

  static void no_overlap() { each_kind<no_overlap_of>(); }
  static void no_overlap_of(usm_kind kind) {
    session s(kind);
    std::vector<block> blocks;
    for (std::size_t k = 0; k < 300; ++k) {
      blocks.push_back(s.get((k * 7919) % 20000, std::size_t{1} << (k % 10)));
    }
    std::ranges::sort(blocks, {}, &block::data);
    for (std::size_t k = 1; k < blocks.size(); ++k) {
      const block& before = blocks[k - 1];
      // Not even blocks of no bytes may share an address: it is what they are returned by.
      CHECK(before.data + std::max<std::size_t>(before.bytes, 1) <= blocks[k].data);
    }
  }

  static void contents() { each_kind<contents_of>(); }
  static void contents_of(usm_kind kind) {
    session s(kind);
    std::vector<block> blocks;
    for (std::size_t k = 0; k < 16; ++k) {
      blocks.push_back(s.get(1000 + k * 4099));
      s.queue.memset(blocks[k].data, static_cast<int>(k + 1), blocks[k].bytes).wait();
    }
    for (std::size_t k = 0; k < blocks.size(); k += 2) s.put(blocks[k]);
    for (std::size_t k = 1; k < blocks.size(); k += 2) {
      CHECK(holds(s.queue, blocks[k].data, blocks[k].bytes, static_cast<std::uint8_t>(k + 1)));
    }
  }

  static void reuse() { each_kind<reuse_of>(); }
  static void reuse_of(usm_kind kind) {
    session s(kind);
    for (std::size_t k = 0; k < 2000; ++k) {
      const block b = s.get((k * 104729) % 70000);
      if (k % 100 == 0) check_ends(s, b);
      s.put(b);
    }
    CHECK_EQUAL(s.live(), 0u);
  }

  static void exhaustion() { each_kind<exhaustion_of>(); }
  static void exhaustion_of(usm_kind kind) {
    session s(kind);
    for (const std::size_t bytes :
         {1ul << 46, 1ul << 62, std::numeric_limits<std::size_t>::max() - 100,
          std::numeric_limits<std::size_t>::max()}) {
      try {
        static_cast<void>(s.get(bytes));
        CHECK(!"memory that no device has");
      } catch (const allocation_error& e) {
        const std::string text = e.what();
        CHECK_EQUAL(e.bytes(), bytes);
        CHECK(text.find(std::to_string(bytes)) != std::string::npos);
        CHECK(text.find(name(kind)) != std::string::npos);
        CHECK(text.find(filter_string(s.queue.get_device())) != std::string::npos);
      }
    }
    check_ends(s, s.get(1 << 20));  // and it goes on
  }

  static void null() { each_kind<null_of>(); }
  static void null_of(usm_kind kind) {
    session s(kind);
    s.resource->deallocate(nullptr, 0);
    s.resource->deallocate(nullptr, 64);
    check_ends(s, s.get(64));
  }

  static void threads() { each_kind<threads_of>(); }
  static void threads_of(usm_kind kind) {
    session s(kind);
    std::vector<std::jthread> workers;
    for (std::size_t t = 0; t < 8; ++t) {
      workers.emplace_back([&s, t] {
        sycl::queue q = s.queue;
        for (std::size_t k = 0; k < 60; ++k) {
          const auto mark = static_cast<std::uint8_t>(t * 16 + k % 16);
          const block b = s.get(1 + (k * 7919 + t) % 30000);
          wait(q.memset(b.data, mark, b.bytes), q);
          CHECK(holds(q, b.data, b.bytes, mark));
          s.put(b);
        }
      });
    }
    workers.clear();
    CHECK_EQUAL(s.live(), 0u);
  }

  static void other_thread() { each_kind<other_thread_of>(); }
  static void other_thread_of(usm_kind kind) {
    session s(kind);
    for (std::size_t k = 0; k < 20; ++k) {
      const block b = s.get(5000);
      std::jthread([&] { s.put(b); }).join();
    }
    CHECK_EQUAL(s.live(), 0u);
  }

  static void nothing_left() { each_kind<nothing_left_of>(); }
  static void nothing_left_of(usm_kind kind) {
    std::vector<std::byte*> given;
    const sycl::context context = default_queue().get_context();
    {
      session s(kind);
      for (std::size_t k = 0; k < 50; ++k) given.push_back(s.get(1 + k * 3001).data);
      for (std::byte* p : given) CHECK_EQUAL(kind_of(p, context), kind);
    }
    for (std::byte* p : given) CHECK_EQUAL(kind_of(p, context), usm_kind::unknown);
  }
};

}  // namespace usmx
