// Counts without a lock, so that it is cheap enough to stay on.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/resources.hpp"

namespace usmx {

namespace {

/// Adds and returns the sum.
std::size_t add(std::atomic<std::size_t>& to, std::size_t amount) noexcept {
  return to.fetch_add(amount, std::memory_order_relaxed) + amount;
}

void raise_to(std::atomic<std::size_t>& peak, std::size_t value) noexcept {
  std::size_t seen = peak.load(std::memory_order_relaxed);
  while (seen < value && !peak.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

std::size_t read(const std::atomic<std::size_t>& from) noexcept {
  return from.load(std::memory_order_relaxed);
}

}  // namespace

void* statistics_resource::serve(const request& asked) {
  void* p = nullptr;
  try {
    p = asked.pass_to(*upstream());
  } catch (...) {
    add(failures_, 1);
    throw;
  }
  raise_to(peak_bytes_, add(bytes_, asked.bytes));
  raise_to(peak_blocks_, add(blocks_, 1));
  add(total_bytes_, asked.bytes);
  add(total_blocks_, 1);
  return p;
}

bool statistics_resource::take_back(const returned_block& b) noexcept {
  if (!b.pass_to(*upstream())) return false;
  bytes_.fetch_sub(b.bytes, std::memory_order_relaxed);
  blocks_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

statistics_resource::figures statistics_resource::now() const noexcept {
  return {read(bytes_),       read(peak_bytes_),   read(total_bytes_), read(blocks_),
          read(peak_blocks_), read(total_blocks_), read(failures_)};
}

void statistics_resource::reset_peaks() noexcept {
  peak_bytes_.store(read(bytes_), std::memory_order_relaxed);
  peak_blocks_.store(read(blocks_), std::memory_order_relaxed);
}

}  // namespace usmx
