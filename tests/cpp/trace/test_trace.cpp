// What is recorded must be what happened: each operation once, by whom, how long and whether it
// failed, from any number of threads, and nothing at all without a recorder.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sycl/properties/queue_properties.hpp>

#include "check.hpp"
#include "gate.hpp"
#include "usmx/copy.hpp"
#include "usmx/error.hpp"
#include "usmx/kernel.hpp"
#include "usmx/pool.hpp"
#include "usmx/runtime.hpp"
#include "usmx/trace.hpp"
#include "usmx/wait.hpp"

using usmx::trace_action;
using usmx::trace_record;
using usmx::trace_recorder;
using usmx::traced;
using usmx::usm_kind;

namespace {

struct session {
  explicit session(std::size_t most = 100'000,
                   trace_recorder::keep which = trace_recorder::keep::first)
      : recorder(most, which) {
    recorder.start();
  }
  std::vector<trace_record> stop() {
    recorder.stop();
    return recorder.records();
  }
  trace_recorder recorder;
};

std::vector<trace_record> of(const std::vector<trace_record>& all, trace_action action) {
  std::vector<trace_record> out;
  std::ranges::copy_if(all, std::back_inserter(out),
                       [&](const trace_record& r) { return r.action == action; });
  return out;
}

usmx::array numbers(usm_kind kind, std::int64_t count) {
  const std::int64_t shape[] = {count};
  return usmx::array::empty(usmx::default_queue(), shape, usmx::dtype::of<float>(), kind);
}

void note(trace_action action, std::size_t bytes) {
  const traced record(action, [&] { return usmx::trace_subject{.bytes = bytes}; });
}

}  // namespace

TEST(Trace, NothingIsAskedOrKeptWhileNobodyListens) {
  bool asked = false;
  {
    const traced record(trace_action::other, [&] {
      asked = true;
      return usmx::trace_subject{};
    });
    CHECK(!record);
  }
  CHECK(!asked);
  CHECK(!usmx::is_traced());
  trace_recorder never(10);
  CHECK_EQUAL(never.records().size(), 0u);
}

TEST(Trace, RecordsBeginAndEndInOrderOnTheThreadThatDidIt) {
  session s;
  note(trace_action::fill, 7);
  const std::int64_t between = usmx::trace_now();
  std::thread([] { note(trace_action::prefetch, 8); }).join();
  const auto records = s.stop();
  CHECK_EQUAL(records.size(), 2u);
  if (records.size() != 2) return;
  CHECK_EQUAL(records[0].bytes, 7u);
  CHECK(s.recorder.started() <= records[0].begin && records[0].begin <= records[0].end);
  CHECK(records[0].end <= between && between <= records[1].begin);
  CHECK(records[1].end <= s.recorder.stopped());
  CHECK(records[0].thread != records[1].thread);
  CHECK_EQUAL(std::string(name(records[1].action)), std::string("prefetch"));
}

TEST(Trace, WhatHappensInsideSomethingOfItsSortDoesNotCount) {
  session s;
  {
    const traced fill(trace_action::fill, [] { return usmx::trace_subject{}; });
    const traced copy(trace_action::copy, [] { return usmx::trace_subject{}; });
    const traced same(trace_action::copy, [] { return usmx::trace_subject{}; });
    const traced allocation(trace_action::allocate, [] { return usmx::trace_subject{}; });
    CHECK(copy && allocation && !same);
  }
  const auto records = s.stop();
  CHECK_EQUAL(records.size(), 3u);
  if (records.size() != 3) return;
  CHECK(records[0].action == trace_action::allocate && records[0].counts);
  CHECK(records[1].action == trace_action::copy && !records[1].counts);
  CHECK(records[1].inside == trace_action::fill);
  CHECK(records[2].counts && !records[2].inside);
}

TEST(Trace, WhatIsCancelledLeavesNoRecord) {
  session s;
  {
    traced outer(trace_action::copy, [] { return usmx::trace_subject{}; });
    {
      traced inner(trace_action::fill, [] { return usmx::trace_subject{}; });
      inner.cancel();
      CHECK(!inner);
      note(trace_action::wait, 0);
    }
  }
  const auto records = s.stop();
  CHECK_EQUAL(records.size(), 2u);
  if (!records.empty()) CHECK(records[0].inside == trace_action::copy);
}

TEST(Trace, ABlockThatWaitsForAQueueIsGivenBackOnce) {
  sycl::queue queue = usmx::default_queue();
  const auto resource = usmx::default_resource(queue, usm_kind::device);
  session s;
  {
    check::gate gate(queue);
    usmx::shared_owner o = usmx::allocate(resource, queue, 1000);
    o->used_on(queue);
    o.reset();
    CHECK_EQUAL(of(s.recorder.records(), trace_action::deallocate).size(), 1u);
    const usmx::shared_owner again = usmx::allocate(resource, queue, 1000);
    CHECK_EQUAL(s.recorder.blocks().size(), 1u);
    gate.open();
  }
  usmx::drain();
  const auto records = s.stop();
  CHECK_EQUAL(of(records, trace_action::allocate).size(), 2u);
  CHECK_EQUAL(of(records, trace_action::deallocate).size(), 2u);
  CHECK_EQUAL(s.recorder.blocks().size(), 0u);
}

TEST(Trace, AnOperationThatThrowsIsRecordedAsFailed) {
  session s;
  try {
    const traced outer(trace_action::copy, [] { return usmx::trace_subject{}; });
    try {
      const traced inner(trace_action::allocate, [] { return usmx::trace_subject{}; });
      throw std::runtime_error("no");
    } catch (const std::runtime_error&) {
      note(trace_action::wait, 0);
    }
  } catch (...) {
  }
  const auto records = s.stop();
  CHECK_EQUAL(records.size(), 3u);
  if (records.size() != 3) return;
  CHECK(records[0].failed);
  CHECK(!records[1].failed);
  CHECK(!records[2].failed);
}

TEST(Trace, WhatASilentThreadDoesIsNotRecorded) {
  session s;
  {
    const usmx::untraced quiet;
    note(trace_action::copy, 1);
    std::thread([] { note(trace_action::copy, 2); }).join();
  }
  note(trace_action::copy, 3);
  const auto records = s.stop();
  CHECK_EQUAL(records.size(), 2u);
  for (const trace_record& r : records) CHECK(r.bytes != 1);
}

TEST(Trace, RecordersHearOnlyWhatEndsBetweenTheirStartAndStop) {
  session outer;
  note(trace_action::copy, 1);
  {
    session inner;
    note(trace_action::copy, 2);
    CHECK_EQUAL(inner.stop().size(), 1u);
  }
  note(trace_action::copy, 3);
  CHECK(outer.recorder.is_on());
  CHECK_EQUAL(outer.stop().size(), 3u);
  note(trace_action::copy, 4);
  CHECK_EQUAL(outer.recorder.records().size(), 3u);
  CHECK(!usmx::is_traced());
}

TEST(Trace, ARecorderThatIsStartedAgainBeginsAnew) {
  session s(1);
  note(trace_action::copy, 1);
  note(trace_action::copy, 2);
  s.recorder.start();  // it is on
  CHECK_EQUAL(s.recorder.dropped(), 1u);
  CHECK_EQUAL(s.stop().size(), 1u);
  s.recorder.start();
  CHECK_EQUAL(s.recorder.dropped(), 0u);
  CHECK_EQUAL(s.stop().size(), 0u);
}

TEST(Trace, WhatFindsNoRoomIsCounted) {
  session first(3);
  session latest(3, trace_recorder::keep::latest);
  for (std::size_t k = 1; k <= 5; ++k) note(trace_action::copy, k);
  const auto kept = first.stop();
  const auto newest = latest.stop();
  CHECK_EQUAL(kept.size(), 3u);
  CHECK_EQUAL(newest.size(), 3u);
  CHECK_EQUAL(kept.back().bytes, 3u);
  CHECK_EQUAL(newest.front().bytes, 3u);
  CHECK_EQUAL(newest.back().bytes, 5u);
  CHECK_EQUAL(first.recorder.dropped(), 2u);
  CHECK_EQUAL(latest.recorder.dropped(), 2u);
}

TEST(Trace, NoRecordOfManyThreadsIsLostOrTorn) {
  constexpr std::size_t threads = 8;
  constexpr std::size_t rounds = 500;
  session s;
  std::atomic<bool> go{false};
  std::vector<std::thread> workers;
  for (std::size_t t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      while (!go) std::this_thread::yield();
      for (std::size_t k = 0; k < rounds; ++k) {
        note(trace_action::copy, t * rounds + k);
        if (k % 100 == 0) {
          session mine(10);  // others come and go meanwhile
          static_cast<void>(mine.recorder.records());
        }
      }
    });
  }
  go = true;
  for (std::thread& w : workers) w.join();
  const auto records = s.stop();
  CHECK_EQUAL(records.size(), threads * rounds);
  std::vector<std::size_t> seen;
  for (const trace_record& r : records) seen.push_back(r.bytes);
  std::ranges::sort(seen);
  std::vector<std::size_t> all(threads * rounds);
  std::iota(all.begin(), all.end(), std::size_t{0});
  CHECK(seen == all);
}

TEST(Trace, AnAllocationOfTheDriverIsToldFromAReusedBlock) {
  const auto pool = std::make_shared<usmx::pool_resource>(std::make_shared<usmx::usm_resource>(
      usmx::default_queue().get_context(), usmx::default_queue().get_device(), usm_kind::device));
  session s;
  const void* place = nullptr;
  for (int k = 0; k < 2; ++k) {
    const usmx::shared_owner o = usmx::allocate(pool, 1000);
    place = o->base();
  }
  const auto records = s.stop();
  const auto allocations = of(records, trace_action::allocate);
  const auto driver = of(records, trace_action::driver_allocate);
  CHECK_EQUAL(allocations.size(), 2u);
  CHECK_EQUAL(driver.size(), 1u);
  CHECK_EQUAL(of(records, trace_action::deallocate).size(), 2u);
  if (allocations.size() != 2 || driver.size() != 1) return;
  CHECK(!allocations[0].reused && allocations[1].reused);
  CHECK(allocations[1].address == place);
  CHECK(allocations[1].kind == usm_kind::device && allocations[1].bytes == 1000);
  CHECK(driver[0].inside == trace_action::allocate && !driver[0].counts);
  CHECK(driver[0].bytes >= 2 << 20);
  CHECK_EQUAL(usmx::trace_text(driver[0].device),
              usmx::filter_string(usmx::default_queue().get_device()));
}

TEST(Trace, BlocksThatAreAliveAreKnown) {
  session s;
  usmx::shared_owner kept =
      usmx::allocate(usmx::default_resource(usmx::default_queue(), usm_kind::shared), 123);
  static_cast<void>(
      usmx::allocate(usmx::default_resource(usmx::default_queue(), usm_kind::host), 5));
  auto blocks = s.recorder.blocks();
  CHECK_EQUAL(blocks.size(), 1u);
  if (!blocks.empty()) {
    CHECK(blocks[0].address == kept->base() && blocks[0].bytes == 123);
    CHECK(blocks[0].kind == usm_kind::shared);
  }
  kept.reset();
  CHECK_EQUAL(s.recorder.blocks().size(), 0u);
}

TEST(Trace, AnAllocationThatFailsIsNoBlock) {
  session s;
  struct failing final : usmx::memory_resource {
    usm_kind kind() const noexcept override { return usm_kind::host; }
    sycl::context context() const override { return usmx::default_queue().get_context(); }
    sycl::device device() const override { return usmx::default_queue().get_device(); }
    void* do_allocate(std::size_t bytes, std::size_t) override {
      throw usmx::allocation_error(bytes, "none left");
    }
    void do_deallocate(void*, std::size_t, std::size_t) noexcept override {}
  };
  CHECK_THROWS(usmx::allocation_error, usmx::allocate(std::make_shared<failing>(), 64));
  const auto records = of(s.stop(), trace_action::allocate);
  CHECK_EQUAL(records.size(), 1u);
  if (!records.empty()) CHECK(records[0].failed);
  CHECK_EQUAL(s.recorder.blocks().size(), 0u);
}

TEST(Trace, ACopySaysFromWhereToWhereAndHowManyBytes) {
  const usmx::array device = numbers(usm_kind::device, 100);
  const usmx::array shared = numbers(usm_kind::shared, 100);
  const usmx::array host = numbers(usm_kind::host, 100);
  const float zero = 0;
  usmx::fill(device, &zero);
  usmx::fill(shared, &zero);
  session s;
  usmx::copy(device, shared);
  usmx::copy(host, shared);
  usmx::fill(shared, &zero);
  std::vector<float> plain(100);
  usmx::any_view there;
  usmx::layout where;
  const usmx::extents shape{100};
  CHECK(usmx::layout::c_order(shape, 4, where) == usmx::fault::none);
  CHECK(usmx::any_view::make(plain.data(), usmx::dtype::of<float>(), where, usm_kind::unknown,
                             false, there) == usmx::fault::none);
  usmx::copy_to_host(there, device);
  const auto records = s.stop();
  std::vector<trace_record> counted;
  std::ranges::copy_if(records, std::back_inserter(counted), [](const trace_record& r) {
    return r.counts && (r.action == trace_action::copy || r.action == trace_action::host_copy);
  });
  CHECK_EQUAL(counted.size(), 3u);
  if (counted.size() != 3) return;
  CHECK(counted[0].kind == usm_kind::device && counted[0].from == usm_kind::shared);
  CHECK(counted[0].address == device.data() && counted[0].source == shared.data());
  CHECK(counted[1].kind == usm_kind::host && counted[1].from == usm_kind::shared);
  CHECK(counted[2].kind == usm_kind::unknown && counted[2].from == usm_kind::device);
  for (const trace_record& r : counted) CHECK_EQUAL(r.bytes, 400u);
  CHECK_EQUAL(of(records, trace_action::fill).size(), 1u);
}

TEST(Trace, HostMemoryAloneIsNobodysCopy) {
  float from = 1;
  double to = 0;
  usmx::any_view a, b;
  CHECK(usmx::any_view::make(&to, usmx::dtype::of<double>(), usmx::layout(), usm_kind::unknown,
                             false, a) == usmx::fault::none);
  CHECK(usmx::any_view::make(&from, usmx::dtype::of<float>(), usmx::layout(), usm_kind::unknown,
                             true, b) == usmx::fault::none);
  session s;
  usmx::convert_on_host(a, b);
  CHECK_EQUAL(to, 1.0);
  CHECK_EQUAL(s.stop().size(), 0u);
}

TEST(Trace, AKernelHasItsNameAndTheTimesOfTheDevice) {
  sycl::queue queue = usmx::make_queue(
      usmx::default_queue().get_context(), usmx::default_queue().get_device(),
      {sycl::property::queue::in_order(), sycl::property::queue::enable_profiling()});
  const usmx::array x = numbers(usm_kind::device, 1000).on(queue);
  const float one = 1;
  usmx::fill(x, &one);
  session s;
  const auto built = usmx::program::build(
      queue, "USMX_KERNEL(1) traced_scale(float* x, float a) { x[usmx::global_id()] *= a; }");
  usmx::wait(built.get("traced_scale").launch(queue, 1000, {x, 2.0f}), queue);
  const auto records = s.stop();
  const auto kernels = of(records, trace_action::kernel);
  CHECK_EQUAL(kernels.size(), 1u);
  CHECK_EQUAL(of(records, trace_action::build).size(), 1u);
  CHECK(!of(records, trace_action::wait).empty());
  if (kernels.empty()) return;
  CHECK_EQUAL(usmx::trace_text(kernels[0].label), std::string("traced_scale"));
  CHECK(kernels[0].queue != 0);
  CHECK(kernels[0].device_begin >= kernels[0].begin);
  CHECK(kernels[0].device_end > kernels[0].device_begin);
}

TEST(Trace, TheDevicesClockIsSetByTheTimeOfSubmission) {
  session s;
  bool is_done = false;
  {
    traced record(trace_action::kernel, [] { return usmx::trace_subject{}; });
    record.measured_by([&]() -> std::optional<usmx::trace_device_times> {
      if (!is_done) return {};
      return usmx::trace_device_times{1000, 1500, 1800};
    });
  }
  CHECK_EQUAL(s.recorder.records().at(0).device_end, 0);
  is_done = true;
  const trace_record r = s.stop().at(0);
  CHECK_EQUAL(r.device_begin - r.begin, 500);
  CHECK_EQUAL(r.device_end - r.begin, 800);
}

TEST(Trace, FinishedRecordsOfOthersAreAddedAsTheyAre) {
  session s;
  trace_record theirs;
  theirs.action = trace_action::copy;
  theirs.by_runtime = true;
  theirs.begin = 5;
  theirs.end = 6;
  usmx::trace_add(theirs);
  {
    const traced ours(trace_action::kernel, [] { return usmx::trace_subject{}; });
    usmx::trace_add(theirs);
  }
  const auto records = s.stop();
  CHECK_EQUAL(records.size(), 3u);
  if (records.size() != 3) return;
  CHECK(records[0].counts && records[0].begin == 5 && records[0].thread != 0);
  CHECK(!records[1].counts && records[1].inside == trace_action::kernel);
}
