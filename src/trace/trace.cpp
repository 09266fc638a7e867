// Records operations and gives the records to all listeners.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/trace.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <deque>
#include <exception>
#include <mutex>
#include <unordered_map>

#include "core/fork_guard.hpp"

namespace usmx {
namespace detail {

std::atomic<std::uint32_t> trace_listeners{0};
std::atomic<std::uint32_t> trace_timers{0};

/// An operation in progress. They are on the thread's stack of operations.
struct trace_frame {
  trace_record record;
  trace_device_clock clock;
  int exceptions = 0;           // in flight when it began
  bool reached_driver = false;  // an allocation: an inner operation called it
  trace_frame* outer = nullptr;
};

}  // namespace detail

namespace {

using detail::trace_frame;

constexpr std::array<const char*, trace_actions> action_names{
    "allocate", "free",   "driver allocate", "driver free", "copy",   "host copy", "fill",
    "prefetch", "kernel", "build",           "wait",        "import", "export",    "other"};

thread_local trace_frame* innermost = nullptr;
thread_local int silenced = 0;

std::atomic<trace_place_finder> place_finder{nullptr};

std::uint32_t system_thread() noexcept {
  thread_local const auto number = static_cast<std::uint32_t>(gettid());
  return number;
}

std::uint32_t place_now() noexcept {
  const trace_place_finder find = place_finder.load(std::memory_order_acquire);
  return find != nullptr ? find() : 0;
}

/// Actions that are about the same bytes, so that one inside another must not count.
int sort_of(trace_action a) noexcept {
  switch (a) {
    case trace_action::allocate:
    case trace_action::driver_allocate:
      return 1;
    case trace_action::deallocate:
    case trace_action::driver_free:
      return 2;
    case trace_action::copy:
    case trace_action::host_copy:
    case trace_action::fill:
      return 3;
    default:
      return 4 + static_cast<int>(a);
  }
}

void place_inside(trace_record& r) noexcept {
  if (innermost == nullptr) return;
  r.inside = innermost->record.action;
  for (const trace_frame* f = innermost; f != nullptr; f = f->outer) {
    // The runtime's reports of our own calls repeat our records.
    if (r.by_runtime || sort_of(f->record.action) == sort_of(r.action)) r.counts = false;
  }
}

}  // namespace

const char* name(trace_action a) noexcept {
  const auto index = static_cast<std::size_t>(a);
  return index < action_names.size() ? action_names[index] : "other";
}

// --- listeners

struct trace_recorder::state {
  struct timed {
    trace_record record;
    trace_device_clock clock;
  };

  state(std::size_t at_most, keep which_, kernels how_) : most(at_most), which(which_), how(how_) {}

  void add(const trace_record& r, const trace_device_clock& clock) {
    if (!r.failed) note_block(r);
    if (entries.size() >= most) {
      ++dropped;
      if (which == keep::first || entries.empty()) return;
      entries.pop_front();
    }
    entries.push_back({r, clock});
  }

  void note_block(const trace_record& r) {
    if (r.action == trace_action::allocate) {
      blocks[r.address] = {r.address, r.bytes, r.kind, r.place, r.thread, r.end};
    } else if (r.action == trace_action::deallocate) {
      // The address may have been reused already, before the record of its free comes.
      const auto known = blocks.find(r.address);
      if (known != blocks.end() && known->second.since <= r.begin) blocks.erase(known);
    }
  }

  const std::size_t most;
  const keep which;
  const kernels how;
  std::deque<timed> entries;
  std::unordered_map<const void*, block> blocks;
  std::size_t dropped = 0;
  std::int64_t started = 0;
  std::int64_t stopped = 0;
  bool on = false;
};

namespace {

using detail::guarded_mutex;

struct listeners {
  guarded_mutex mutex{guarded_mutex::rank::records};  // of the states as well
  std::vector<std::shared_ptr<trace_recorder::state>> on;
};

listeners& all_listeners() {
  static auto& all = *new listeners;  // leaked: arrays may be freed after every static object
  return all;
}

struct text_table {
  guarded_mutex mutex{guarded_mutex::rank::records};
  std::deque<std::string> texts{""};
  std::unordered_map<std::string_view, std::uint32_t> numbers{{"", 0}};
  std::unordered_map<std::size_t, std::uint32_t> hashes;
};

text_table& texts() {
  static auto& table = *new text_table;
  return table;
}

const auto& listeners_at_load = all_listeners();  // see guard() in fork_guard.hpp
const auto& texts_at_load = texts();

void publish(const trace_record& r, const trace_device_clock& clock) noexcept {
  listeners& all = all_listeners();
  const std::scoped_lock lock(all.mutex);
  for (const auto& listener : all.on) {
    try {
      listener->add(r, clock);
    } catch (...) {  // no memory for a record: the operation goes on
      ++listener->dropped;
    }
  }
}

}  // namespace

// --- operations

void traced::begin(trace_action action, const trace_subject& subject) noexcept {
  if (silenced != 0 || (innermost != nullptr && innermost->record.action == action)) return;
  // Between two places of host memory: no USM takes part, so it does not count as a copy.
  if (action == trace_action::host_copy && innermost == nullptr &&
      subject.kind == usm_kind::unknown && subject.from == usm_kind::unknown) {
    return;
  }
  try {
    auto frame = std::make_unique<trace_frame>();
    trace_record& r = frame->record;
    static_cast<trace_subject&>(r) = subject;
    r.action = action;
    r.thread = system_thread();
    r.place = place_now();
    place_inside(r);
    if (action == trace_action::driver_allocate) {
      for (trace_frame* f = innermost; f != nullptr; f = f->outer) f->reached_driver = true;
    }
    frame->exceptions = std::uncaught_exceptions();
    frame->outer = innermost;
    r.begin = trace_now();
    innermost = frame_ = frame.release();
  } catch (...) {  // no memory for a record
  }
}

void traced::end() noexcept {
  const std::unique_ptr<trace_frame> frame(frame_);
  frame->record.end = trace_now();
  frame->record.failed = std::uncaught_exceptions() > frame->exceptions;
  frame->record.reused = frame->record.action == trace_action::allocate && !frame->reached_driver;
  innermost = frame->outer;
  publish(frame->record, frame->clock);
}

void traced::drop() noexcept {
  innermost = frame_->outer;
  delete std::exchange(frame_, nullptr);
}

void traced::set_address(const void* address) noexcept { frame_->record.address = address; }

void traced::set_clock(trace_device_clock clock) noexcept { frame_->clock = std::move(clock); }

void traced::set_times(std::int64_t begin, std::int64_t end) noexcept {
  frame_->record.device_begin = begin;
  frame_->record.device_end = end;
}

bool traced::is_kernel() const noexcept { return frame_->record.action == trace_action::kernel; }

void trace_add(trace_record record) noexcept {
  if (silenced != 0 || !is_traced()) return;
  record.thread = system_thread();
  if (record.place == 0) record.place = place_now();
  place_inside(record);
  publish(record, {});
}

untraced::untraced() noexcept { ++silenced; }
untraced::~untraced() { --silenced; }

void set_trace_place_finder(trace_place_finder finder) noexcept {
  place_finder.store(finder, std::memory_order_release);
}

// --- names

std::uint32_t trace_text(std::string_view text) noexcept {
  text_table& table = texts();
  try {
    const std::scoped_lock lock(table.mutex);
    if (const auto known = table.numbers.find(text); known != table.numbers.end()) {
      return known->second;
    }
    const auto number = static_cast<std::uint32_t>(table.texts.size());
    table.texts.emplace_back(text);
    table.numbers.emplace(table.texts.back(), number);
    return number;
  } catch (...) {
    return 0;
  }
}

std::string trace_text(std::uint32_t number) {
  text_table& table = texts();
  const std::scoped_lock lock(table.mutex);
  return number < table.texts.size() ? table.texts[number] : std::string();
}

std::uint32_t trace_number(std::size_t hash) noexcept {
  text_table& table = texts();
  try {
    const std::scoped_lock lock(table.mutex);
    const auto next = static_cast<std::uint32_t>(table.hashes.size() + 1);
    return table.hashes.try_emplace(hash, next).first->second;
  } catch (...) {
    return 0;
  }
}

// --- recorders

trace_recorder::trace_recorder(std::size_t most, keep which, kernels how)
    : state_(std::make_shared<state>(most, which, how)) {}

trace_recorder::~trace_recorder() { stop(); }

void trace_recorder::start() {
  listeners& all = all_listeners();
  std::deque<state::timed> forgotten;  // destroyed after the lock, with the events in it
  const std::scoped_lock lock(all.mutex);
  if (state_->on) return;
  all.on.push_back(state_);
  forgotten.swap(state_->entries);
  state_->blocks.clear();
  state_->dropped = 0;
  state_->on = true;
  state_->started = trace_now();
  state_->stopped = 0;
  detail::trace_listeners.fetch_add(1);
  if (state_->how == kernels::one_by_one) detail::trace_timers.fetch_add(1);
}

void trace_recorder::stop() noexcept {
  listeners& all = all_listeners();
  const std::scoped_lock lock(all.mutex);
  if (!state_->on) return;
  std::erase(all.on, state_);
  state_->on = false;
  state_->stopped = trace_now();
  detail::trace_listeners.fetch_sub(1);
  if (state_->how == kernels::one_by_one) detail::trace_timers.fetch_sub(1);
}

bool trace_recorder::is_on() const noexcept {
  const std::scoped_lock lock(all_listeners().mutex);
  return state_->on;
}

std::int64_t trace_recorder::started() const noexcept {
  const std::scoped_lock lock(all_listeners().mutex);
  return state_->started;
}

std::int64_t trace_recorder::stopped() const noexcept {
  const std::scoped_lock lock(all_listeners().mutex);
  return state_->stopped;
}

std::vector<trace_record> trace_recorder::records() const {
  std::vector<state::timed> entries;
  {
    const std::scoped_lock lock(all_listeners().mutex);
    entries.assign(state_->entries.begin(), state_->entries.end());
  }
  std::vector<trace_record> out;
  out.reserve(entries.size());
  for (auto& [record, clock] : entries) {
    // Queried without the lock, because this calls the runtime.
    if (const auto times = clock ? clock() : std::nullopt) {
      // The command was submitted while the record was open; that is where the two clocks meet.
      record.device_begin = record.begin + (times->begin - times->submitted);
      record.device_end = record.device_begin + (times->end - times->begin);
    }
    out.push_back(std::move(record));
  }
  return out;
}

std::size_t trace_recorder::dropped() const noexcept {
  const std::scoped_lock lock(all_listeners().mutex);
  return state_->dropped;
}

std::vector<trace_recorder::block> trace_recorder::blocks() const {
  std::vector<block> out;
  {
    const std::scoped_lock lock(all_listeners().mutex);
    out.reserve(state_->blocks.size());
    for (const auto& [address, b] : state_->blocks) out.push_back(b);
  }
  std::ranges::sort(out, {}, &block::address);
  return out;
}

}  // namespace usmx
