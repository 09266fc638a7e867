// Asynchronous transfers: right data for any two sides, in the right order, with memory that lives
// as long as the commands, also if the caller drops it meanwhile.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <sycl/properties/queue_properties.hpp>

#include "check.hpp"
#include "copy_model.hpp"
#include "gate.hpp"
#include "messages.hpp"
#include "usmx/copy.hpp"
#include "usmx/resources.hpp"
#include "usmx/runtime.hpp"
#include "usmx/wait.hpp"

namespace {

using namespace usmx;
using namespace copy_model;

sycl::queue in_order() {
  return make_queue(default_queue().get_context(), default_queue().get_device(),
                    sycl::property::queue::in_order());
}
sycl::queue out_of_order() {
  return make_queue(default_queue().get_context(), default_queue().get_device(), {});
}

array ints(const sycl::queue& queue, usm_kind kind, std::int64_t n) {
  const std::int64_t shape[] = {n};
  return array::empty(queue, shape, dtype::of<std::int32_t>(), kind);
}

void set(const array& a, std::int32_t value) { fill(a, &value); }

any_view view_of(std::vector<std::int32_t>& values) {
  any_view out;
  CHECK(any_view::make(values.data(), dtype::of<std::int32_t>(),
                       packed({static_cast<std::int64_t>(values.size())}, 4), usm_kind::unknown,
                       false, out) == fault::none);
  return out;
}

std::vector<std::int32_t> values_of(const array& a) {
  std::vector<std::int32_t> out(static_cast<std::size_t>(a.elements().size()));
  copy_to_host(view_of(out), a);
  return out;
}

bool all_are(const std::vector<std::int32_t>& values, std::int32_t value) {
  return !values.empty() && std::ranges::count(values, value) == std::ssize(values);
}

constexpr std::int64_t many = 50000;  // elements: more bytes than the host copies by the way

template <class To, class From>
void copy_and_compare(std::mt19937& random, const sycl::queue& queue, const extents& shape,
                      usm_kind to_kind, usm_kind from_kind) {
  const picture to = random_picture(random, shape);
  const picture from = random_picture(random, shape);
  mirrored<To> dst(queue, to_kind, to.elements, 1);
  const mirrored<From> src(queue, from_kind, from.elements, 5);
  wait(copy_async(queue, dst.with(to), src.with(from)));
  const std::int64_t n = src.with(from).elements().size();
  for (std::int64_t k = 0; k < n; ++k) {
    dst.known[static_cast<std::size_t>(position(to, k))] =
        cast<To>(src.known[static_cast<std::size_t>(position(from, k))]);
  }
  dst.check_against_device();
}

/// Resets forced staging at the end of a test.
struct staging_forced {
  explicit staging_forced(staging_limits limits) { set_staging(limits); }
  staging_forced(const staging_forced&) = delete;
  ~staging_forced() { set_staging({}); }
};

}  // namespace

TEST(Async, EveryPairOfKindsAnyLayoutOnBothSortsOfQueue) {
  std::mt19937 random(1);
  for (const sycl::queue& queue : {in_order(), out_of_order()}) {
    for (const usm_kind to : kinds) {
      for (const usm_kind from : kinds) {
        copy_and_compare<float, float>(random, queue, {}, to, from);
        copy_and_compare<float, float>(random, queue, {1000}, to, from);
        copy_and_compare<float, float>(random, queue, {60, 70}, to, from);
        copy_and_compare<double, float>(random, queue, {90, 70}, to, from);
        copy_and_compare<float, float>(random, queue, {2, 3, 2, 3, 2, 3}, to, from);
      }
    }
  }
}

TEST(Async, HostMemoryOfAnyLayout) {
  std::mt19937 random(2);
  for (const sycl::queue& queue : {in_order(), out_of_order()}) {
    for (const usm_kind kind : kinds) {
      for (const extents& shape : {extents{}, extents{9000}, extents{40, 30}, extents{3, 50, 2}}) {
        const picture there = random_picture(random, shape);
        const picture here = random_picture(random, shape);
        mirrored<float> a(queue, kind, there.elements, 3);
        std::vector<double> plain(static_cast<std::size_t>(here.elements), -1);
        std::vector<double> expected = plain;
        const any_view host = seen(plain.data(), dtype::of<double>(), here, usm_kind::unknown);
        wait(copy_to_host_async(queue, host, a.with(there)));
        const std::int64_t n = host.size();
        for (std::int64_t k = 0; k < n; ++k) {
          expected[static_cast<std::size_t>(position(here, k))] =
              a.known[static_cast<std::size_t>(position(there, k))];
        }
        CHECK(plain == expected);
        for (double& x : plain) x += 100;
        wait(copy_from_host_async(queue, a.with(there), host));
        for (std::int64_t k = 0; k < n; ++k) {
          a.known[static_cast<std::size_t>(position(there, k))] =
              static_cast<float>(plain[static_cast<std::size_t>(position(here, k))]);
        }
        a.check_against_device();
      }
    }
  }
}

TEST(Async, ReturnsWhileTheQueueIsHeldAndFinishesAfterEverythingWasDropped) {
  for (const usm_kind from : kinds) {
    for (const usm_kind to : kinds) {
      sycl::queue queue = in_order();
      const array result = ints(queue, usm_kind::device, many);
      sycl::event copied;
      check::gate gate(queue);
      {
        const array src = ints(queue, from, many);
        const array dst = ints(queue, to, many);
        const std::int32_t seven = 7;
        fill_async(queue, src, &seven);
        copy_async(dst, src);
        copied = copy_async(result, dst);
      }
      CHECK(!is_done(copied));
      gate.open();
      wait(copied);
      CHECK(all_are(values_of(result), 7));
    }
  }
}

TEST(Async, ASmallCopyWithinReachIsMadeAtOnceUnlessSomethingIsPending) {
  sycl::queue queue = in_order();
  const array src = ints(queue, usm_kind::shared, 10);
  const array dst = ints(queue, usm_kind::host, 10);
  set(src, 3);
  CHECK(is_done(copy_async(dst, src)));
  CHECK(all_are(values_of(dst), 3));
  {
    // Held, but by nothing that concerns this memory.
    check::gate gate(queue);
    set(src, 4);
    CHECK(is_done(copy_async(dst, src)));
    CHECK(all_are(values_of(dst), 4));
  }
  check::gate gate(queue);
  src.used_on(queue);
  const std::int32_t five = 5;
  src.used_until(queue, queue.fill(src.data(), five, 10));
  const sycl::event copied = copy_async(dst, src);
  CHECK(!is_done(copied));
  gate.open();
  wait(copied);
  CHECK(all_are(values_of(dst), 5));
}

TEST(Async, WaitsForItsDependenciesOnOtherQueues) {
  for (const bool ordered : {true, false}) {
    sycl::queue other = in_order();
    sycl::queue queue = ordered ? in_order() : out_of_order();
    for (const usm_kind kind : kinds) {
      const array src = ints(queue, kind, many);
      const array dst = ints(queue, kind, many);
      set(src, 1);
      check::gate gate(other);
      // The owner does not know this command: only the event does.
      const std::int32_t two = 2;
      const sycl::event filled = other.fill(src.data(), two, static_cast<std::size_t>(many));
      const sycl::event copied = copy_async(queue, dst, src, std::span(&filled, 1));
      CHECK(!is_done(copied));
      gate.open();
      wait(copied);
      CHECK(all_are(values_of(dst), 2));
    }
  }
}

TEST(Async, WaitsForWhatItsMemoryIsUsedForOnOtherQueues) {
  for (const bool ordered : {true, false}) {
    sycl::queue other = ordered ? in_order() : out_of_order();
    sycl::queue queue = in_order();
    for (const usm_kind kind : kinds) {
      const array src = ints(queue, kind, many);
      const array dst = ints(queue, kind, many);
      set(src, 1);
      check::gate gate(other);
      const std::int32_t two = 2;
      fill_async(other, src, &two);
      const sycl::event copied = copy_async(queue, dst, src);
      CHECK(!is_done(copied));
      gate.open();
      wait(copied);
      CHECK(all_are(values_of(dst), 2));
    }
  }
}

TEST(Async, ForeignMemoryWaitsForItsWholeQueue) {
  sycl::queue theirs = in_order();
  sycl::queue ours = in_order();
  const array memory = ints(theirs, usm_kind::device, many);
  const std::int64_t shape[] = {many};
  const array src = array::adopt(theirs, memory.data(), shape, dtype::of<std::int32_t>(), nullptr);
  const array dst = ints(ours, usm_kind::device, many);
  check::gate gate(theirs);
  const std::int32_t six = 6;
  theirs.fill(memory.data(), six, static_cast<std::size_t>(many));
  const sycl::event copied = copy_async(dst, src);
  CHECK(!is_done(copied));
  gate.open();
  wait(copied);
  CHECK(all_are(values_of(dst), 6));
}

TEST(Async, KeepsHostMemoryUntilTheCommandHasPassed) {
  sycl::queue queue = in_order();
  const array dst = ints(queue, usm_kind::device, many);
  static std::atomic<int> freed;
  freed = 0;
  auto* const values = new std::vector<std::int32_t>(many, 9);
  shared_owner owner = adopt(values, values->size() * 4, [](void* p) {
    delete static_cast<std::vector<std::int32_t>*>(p);
    ++freed;
  });
  check::gate gate(queue);
  const sycl::event copied = copy_from_host_async(queue, dst, view_of(*values), {}, owner);
  owner.reset();
  collect();
  CHECK_EQUAL(freed.load(), 0);
  gate.open();
  wait(copied);
  collect();
  CHECK_EQUAL(freed.load(), 1);
  CHECK(all_are(values_of(dst), 9));
}

TEST(Async, PacksOnTheDeviceSoThatNobodyWaitsForACast) {
  sycl::queue queue = in_order();
  const array src = ints(queue, usm_kind::device, many);
  set(src, 3);
  std::vector<double> plain(many / 2);
  any_view host;
  CHECK(any_view::make(plain.data(), dtype::of<double>(), packed({many / 2}, 8), usm_kind::unknown,
                       false, host) == fault::none);
  std::int64_t shift = 0;
  const layout odd = src.elements().layout().sliced(0, 1, many / 2, 2, shift);
  const array every_other = src.with_view(src.elements().with_layout(odd, shift));
  copy_to_host(host, every_other);  // compiles
  plain.assign(plain.size(), 0);
  check::gate gate(queue);
  const sycl::event copied = copy_to_host_async(queue, host, every_other);
  CHECK(!is_done(copied));
  gate.open();
  wait(copied);
  CHECK(plain == std::vector<double>(many / 2, 3.0));
}

TEST(Async, BetweenContexts) {
  const sycl::device device = default_queue().get_device();
  const sycl::queue other(sycl::context(device), device, sycl::property::queue::in_order());
  for (const usm_kind from : kinds) {
    for (const usm_kind to : kinds) {
      const array a = ints(default_queue(), from, many);
      const array b = ints(other, to, many);
      set(a, 11);
      set(b, 0);
      wait(copy_async(b, a));
      CHECK(all_are(values_of(b), 11));
      set(b, 12);
      wait(copy_async(other, a, b));
      CHECK(all_are(values_of(a), 12));
      const std::int32_t thirteen = 13;
      wait(fill_async(default_queue(), a, &thirteen));
      copy(b, a);
      CHECK(all_are(values_of(b), 13));
    }
  }
  const sycl::queue third(sycl::context(device), device, sycl::property::queue::in_order());
  const array a = ints(other, usm_kind::device, many);
  const array b = ints(other, usm_kind::device, many);
  CHECK_THROWS(std::invalid_argument, copy_async(third, a, b));
  CHECK_THROWS(std::invalid_argument, copy(third, a, b));
  std::vector<std::int32_t> plain(many);
  CHECK_THROWS(std::invalid_argument, copy_to_host_async(third, view_of(plain), a));
  CHECK_THROWS(std::invalid_argument, copy_from_host_async(third, a, view_of(plain)));
  const std::int32_t one = 1;
  CHECK_THROWS(std::invalid_argument, fill_async(third, a, &one));
  CHECK_THROWS(std::invalid_argument, prefetch_async(third, a));
}

TEST(Async, NothingToDoWaitsForItsDependenciesAllTheSame) {
  sycl::queue other = in_order();
  sycl::queue queue = in_order();
  const array none = ints(queue, usm_kind::device, 0);
  CHECK(is_done(copy_async(none, none)));
  check::gate gate(other);
  const array some = ints(other, usm_kind::device, many);
  const std::int32_t one = 1;
  const sycl::event pending = fill_async(other, some, &one);
  const sycl::event nothing = copy_async(queue, none, none, std::span(&pending, 1));
  CHECK(!is_done(nothing));
  gate.open();
  wait(nothing);
  CHECK(is_done(pending));
}

TEST(Fill, WithoutWaitingEveryElementSizeAndNoGap) {
  std::mt19937 random(5);
  for (const sycl::queue& queue : {in_order(), out_of_order()}) {
    for (const usm_kind kind : kinds) {
      for_each_type(all_types{}, [&](auto type) {
        using T = decltype(type);
        for (const extents& shape : {extents{3000}, extents{40, 30}}) {
          const picture p = random_picture(random, shape);
          mirrored<T> a(queue, kind, p.elements, 2);
          const T value = sample<T>(83);
          wait(fill_async(queue, a.with(p), &value));
          const std::int64_t n = a.with(p).elements().size();
          for (std::int64_t k = 0; k < n; ++k)
            a.known[static_cast<std::size_t>(position(p, k))] = value;
          a.check_against_device();
        }
      });
    }
  }
}

TEST(Memset, SetsEveryByte) {
  for (const usm_kind kind : kinds) {
    const array a = ints(in_order(), kind, many);
    wait(memset_async(a.queue(), a, 0x11));
    CHECK(all_are(values_of(a), 0x11111111));
    memset(a, 0x22);
    CHECK(all_are(values_of(a), 0x22222222));
  }
}

TEST(Prefetch, ChangesNothingThatAnybodySees) {
  for (const usm_kind kind : kinds) {
    sycl::queue queue = in_order();
    const array a = ints(queue, kind, many);
    check::gate gate(queue);
    const std::int32_t four = 4;
    fill_async(queue, a, &four);
    sycl::event advised = mem_advise_async(queue, a, 0);
    sycl::event fetched = prefetch_async(queue, a);
    gate.open();
    wait(advised);
    wait(fetched);
    CHECK(all_are(values_of(a), 4));
  }
}

TEST(Pitched, RowsAndNothingBetweenThem) {
  std::mt19937 random(9);
  for (const usm_kind to : kinds) {
    for (const usm_kind from : kinds) {
      for (const auto& [width, rows, to_pitch, from_pitch] :
           {std::array<std::size_t, 4>{12, 5, 16, 12},
            {7, 100, 9, 13},
            {64, 300, 96, 64},
            {5, 1, 0, 0},
            {30, 40, 30, 30}}) {
        mirrored<std::uint8_t> dst(default_queue(), to, 40000, 1);
        const mirrored<std::uint8_t> src(default_queue(), from, 40000, 7);
        copy_2d(dst.flat, to_pitch, src.flat, from_pitch, width, rows);
        for (std::size_t r = 0; r < rows; ++r) {
          for (std::size_t k = 0; k < width; ++k)
            dst.known[r * to_pitch + k] = src.known[r * from_pitch + k];
        }
        dst.check_against_device();
        wait(copy_2d_async(default_queue(), dst.flat, from_pitch, src.flat, from_pitch, width,
                           rows));
        for (std::size_t r = 0; r < rows; ++r) {
          for (std::size_t k = 0; k < width; ++k)
            dst.known[r * from_pitch + k] = src.known[r * from_pitch + k];
        }
        dst.check_against_device();
      }
    }
  }
}

TEST(Pitched, RowsThatLeaveTheMemoryAreRefused) {
  const array a = ints(default_queue(), usm_kind::device, 100);  // 400 bytes
  const array b = ints(default_queue(), usm_kind::device, 1000);
  copy_2d(a, 100, b, 100, 100, 4);
  CHECK_THROWS(interop_error, copy_2d(a, 101, b, 101, 101, 4));
  CHECK_THROWS(interop_error, copy_2d(a, 101, b, 100, 100, 4));
  CHECK_THROWS(interop_error, copy_2d(a, std::size_t{1} << 62, b, 100, 100, 5));
  CHECK_THROWS(interop_error, copy_2d(a, 100, b, std::size_t{1} << 63, 100, 3));
  CHECK_THROWS(std::invalid_argument, copy_2d(a, 50, b, 100, 100, 2));
}

TEST(Staging, IsTakenAndRightForEveryLayoutAndCast) {
  const sycl::queue queue = in_order();
  const auto counted = std::make_shared<statistics_resource>(
      std::make_shared<usm_resource>(queue.get_context(), queue.get_device(), usm_kind::host));
  const auto before = default_resource(queue, usm_kind::host);
  set_default_resource(counted);
  std::mt19937 random(6);
  // Blocks of 1000 bytes: elements of eight bytes do not fill them, rows are cut.
  for (const std::size_t blocks : {2U, 3U}) {
    const staging_forced forced({.from = 2000, .block = 1000, .blocks = blocks});
    for (const extents& shape : {extents{9000}, extents{40, 70}, extents{3, 50, 20}}) {
      for (const bool straight : {true, false}) {
        picture here = random_picture(random, shape);
        picture there{shape, packed(shape, 4).strides(), 0, packed(shape, 4).size()};
        if (straight) here = there;
        mirrored<float> a(queue, usm_kind::device, there.elements, 3);
        const std::int64_t n = there.elements;
        const auto round_trip = [&](auto zero) {
          using T = decltype(zero);
          std::vector<T> plain(static_cast<std::size_t>(here.elements), T(-1));
          std::vector<T> expected = plain;
          const any_view host = seen(plain.data(), dtype::of<T>(), here, usm_kind::unknown);
          copy_to_host(host, a.with(there));
          for (std::int64_t k = 0; k < n; ++k) {
            expected[static_cast<std::size_t>(position(here, k))] =
                static_cast<T>(a.known[static_cast<std::size_t>(position(there, k))]);
          }
          CHECK(plain == expected);
          for (T& x : plain) x = x + 100;
          copy_from_host(a.with(there), host);
          for (std::int64_t k = 0; k < n; ++k) {
            a.known[static_cast<std::size_t>(position(there, k))] =
                static_cast<float>(plain[static_cast<std::size_t>(position(here, k))]);
          }
          a.check_against_device();
        };
        const std::size_t blocks_before = counted->now().total_blocks;
        round_trip(0.0F);
        round_trip(0.0);
        CHECK(counted->now().total_blocks >= blocks_before + 4 * blocks);
      }
    }
  }
  drain();
  CHECK_EQUAL(counted->now().blocks, std::size_t{0});
  set_default_resource(before);
  CHECK_EQUAL(check::message_of<std::invalid_argument>(
                  [] { set_staging(staging_limits{.block = 64, .blocks = 1}); }),
              "staging: 1 blocks of 64 bytes are not supported; expected at least 2 blocks of at "
              "least 1 byte");
}

TEST(Staging, WithoutPinnedMemoryACopyTakesAnotherWay) {
  const sycl::queue queue = in_order();
  const auto none = std::make_shared<limiting_resource>(
      std::make_shared<usm_resource>(queue.get_context(), queue.get_device(), usm_kind::host), 0);
  const auto before = default_resource(queue, usm_kind::host);
  set_default_resource(none);
  const staging_forced forced({.from = 2000, .block = 1000});
  std::vector<std::int32_t> plain(many, 21);
  const array a = ints(queue, usm_kind::device, many);
  copy_from_host(a, view_of(plain));
  plain.assign(many, 0);
  copy_to_host(view_of(plain), a);
  CHECK(all_are(plain, 21));
  set_default_resource(before);
}

TEST(Async, ManyThreadsCopyOnQueuesOfTheirOwnAndOnOneTogether) {
  const sycl::queue together = in_order();
  std::vector<std::jthread> threads;
  for (std::int32_t number = 0; number < 4; ++number) {
    threads.emplace_back([&together, number] {
      const sycl::queue own = number % 2 == 0 ? in_order() : together;
      const array a = ints(own, usm_kind::device, 6000);
      const array b = ints(own, usm_kind::shared, 6000);
      std::vector<std::int32_t> plain(6000);
      for (std::int32_t round = 1; round <= 20; ++round) {
        const std::int32_t value = 100 * number + round;
        fill_async(own, a, &value);
        copy_async(b, a);
        wait(copy_to_host_async(own, view_of(plain), b), own);
        CHECK(all_are(plain, value));
      }
    });
  }
}
