// Records live allocations with their call stacks, to find leaks and the largest users of memory.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/resources.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#if __has_include(<execinfo.h>)
#include <execinfo.h>
#endif

#include "core/format.hpp"
#include "memory/allocation_failure.hpp"
#include "trace/thread_number.hpp"

namespace usmx {

namespace {

#if __has_include(<execinfo.h>)

/// Without this function and those of the resource, unless the compiler inlined them.
[[gnu::noinline]] std::vector<void*> callers_of_allocate() {
  constexpr int own = 2;
  std::array<void*, 32> found;
  const int count = backtrace(found.data(), static_cast<int>(found.size()));
  // Braces would make a vector of two elements.
  return std::vector<void*>(found.begin() + std::min(own, count), found.begin() + count);
}

std::string names_of(const std::vector<void*>& callers) {
  std::string text;
  const std::unique_ptr<char*, void (*)(void*)> names(
      backtrace_symbols(callers.data(), static_cast<int>(callers.size())), std::free);
  for (std::size_t k = 0; names != nullptr && k < callers.size(); ++k) {
    text += detail::format("    {}\n", names.get()[k]);
  }
  return text;
}

#else

std::vector<void*> callers_of_allocate() { return {}; }
std::string names_of(const std::vector<void*>&) { return {}; }

#endif

}  // namespace

tracking_resource::tracking_resource(std::shared_ptr<memory_resource> upstream, describe who)
    : stacked_resource(std::move(upstream)), who_(std::move(who)) {}

void* tracking_resource::serve(const request& asked) {
  block added{nullptr, asked.bytes, asked.alignment, 0, detail::thread_number(), {}, {}};
  if (who_) {
    added.note = who_();
  } else {
    added.callers = callers_of_allocate();
  }
  added.data = asked.pass_to(*upstream());
  void* const p = added.data;
  try {
    const std::scoped_lock lock(mutex_);
    added.number = ++requests_;
    alive_.insert_or_assign(p, std::move(added));
  } catch (...) {
    asked.undo(*upstream(), p);
    throw;
  }
  return p;
}

bool tracking_resource::take_back(const returned_block& b) noexcept {
  // Before the upstream frees it: from then on the address may be reused.
  decltype(alive_)::node_type gone;
  {
    const std::scoped_lock lock(mutex_);
    gone = alive_.extract(b.data);
  }
  if (b.pass_to(*upstream())) return true;
  const std::scoped_lock lock(mutex_);
  alive_.insert(std::move(gone));  // reinserts the node: this allocates nothing
  return false;
}

std::vector<tracking_resource::block> tracking_resource::alive() const {
  std::vector<block> found;
  {
    const std::scoped_lock lock(mutex_);
    found.reserve(alive_.size());
    for (const auto& [p, b] : alive_) found.push_back(b);
  }
  std::ranges::sort(found, {}, &block::number);
  return found;
}

std::string tracking_resource::report() const {
  const std::vector<block> found = alive();
  std::size_t bytes = 0;
  for (const block& b : found) bytes += b.bytes;
  std::string text = detail::format("{} blocks of {} USM are alive, {}\n", found.size(),
                                    name(kind()), detail::amount(bytes));
  for (const block& b : found) {
    text += detail::format("  request {}, thread {}: {}\n{}", b.number, b.thread,
                           detail::amount(b.bytes), b.note.empty() ? names_of(b.callers) : b.note);
  }
  return text;
}

}  // namespace usmx
