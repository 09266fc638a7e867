// The example of usmx/trace.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <usmx/copy.hpp>
#include <usmx/runtime.hpp>
#include <usmx/trace.hpp>
#include <usmx/typed_array.hpp>

#include "check.hpp"

TEST(Trace, Reference) {
  const sycl::queue queue = usmx::default_queue();

  // What all threads do between `start` and `stop`.
  usmx::trace_recorder recorder(1000);
  recorder.start();
  CHECK(usmx::is_traced());
  const auto x = usmx::zeros<float>(queue, {1000});
  usmx::copy(usmx::empty<float>(queue, {1000}), x);
  {
    const usmx::untraced quiet;  // not this
    usmx::copy(usmx::empty<float>(queue, {1000}), x);
  }
  {
    // What a program does itself; the subject is computed only while a recorder is on.
    const auto device = usmx::trace_text("the disk");
    usmx::traced record(usmx::trace_action::other,
                        [&] { return usmx::trace_subject{.bytes = 4000, .device = device}; });
    record.at(x.data());
  }
  // Or what was measured elsewhere.
  usmx::trace_record before;
  before.action = usmx::trace_action::wait;
  before.begin = usmx::trace_now() - 1000;
  before.end = usmx::trace_now();
  before.queue = usmx::trace_number(std::hash<sycl::queue>()(queue));
  usmx::trace_add(before);
  recorder.stop();

  std::size_t copied = 0, count[usmx::trace_actions] = {};
  for (const usmx::trace_record& record : recorder.records()) {
    std::printf("%s of %zu bytes on %s, %lld ns\n", usmx::name(record.action), record.bytes,
                usmx::trace_text(record.device).c_str(),
                static_cast<long long>(record.end - record.begin));
    if (record.action == usmx::trace_action::copy && record.counts) copied += record.bytes;
    ++count[static_cast<std::size_t>(record.action)];
  }
  CHECK(copied == 4000);
  CHECK(count[static_cast<std::size_t>(usmx::trace_action::other)] == 1);
}

namespace {

/// The line of the program that runs on this thread, as a number: here always the same.
std::uint32_t place() noexcept { return 7; }

}  // namespace

TEST(Trace, ReferenceOfPlacesAndDevices) {
  // For languages whose lines the compiler of C++ does not know.
  const usmx::trace_place_finder finder = &place;
  usmx::set_trace_place_finder(finder);
  usmx::trace_recorder recorder(10);
  recorder.start();
  {
    usmx::traced record(usmx::trace_action::kernel, [] { return usmx::trace_subject{}; });
    // When a device ran it, asked when records are read; empty while it runs.
    const usmx::trace_device_clock clock = [] {
      return std::optional(usmx::trace_device_times{.submitted = 1, .begin = 2, .end = 5});
    };
    record.measured_by(clock);
  }
  recorder.stop();
  usmx::set_trace_place_finder(nullptr);
  CHECK(recorder.records().at(0).place == 7);
}
