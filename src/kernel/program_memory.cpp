// Which programs stay in memory; see program_memory.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "kernel/program_memory.hpp"

#include <algorithm>
#include <utility>

#include "usmx/program_cache.hpp"

namespace usmx::detail {

program_memory::program_memory()
    : limit_(program_cache_settings::from_environment().most_in_memory) {}

program_memory& program_memory::get() {
  static auto& all = *new program_memory;
  return all;
}

std::optional<program_memory::made> program_memory::find_or_add(const program_key& key,
                                                                const made& promised) {
  const std::lock_guard lock(mutex_);
  auto& e = entries_[key];
  if (e.result.valid()) {
    if (e.failed_at != 0) e.failed_at = held_program::clock.load(std::memory_order_relaxed);
    return e.result;
  }
  if (auto program = e.alive.lock()) {
    std::promise<held> there;
    there.set_value(std::move(program));
    return there.get_future().share();
  }
  e.result = promised;
  return {};
}

void program_memory::forget(const program_key& key) {
  const std::lock_guard lock(mutex_);
  entries_.erase(key);
}

void program_memory::keep(const program_key& key, const held& program, std::size_t bytes) {
  std::vector<held> chosen;
  {
    const std::lock_guard lock(mutex_);
    const auto now = held_program::clock.fetch_add(1, std::memory_order_relaxed) + 1;
    auto& e = entries_[key];
    if (program) {
      program->touch();
      if (!e.result.valid()) {
        std::promise<held> there;
        there.set_value(program);
        e.result = there.get_future().share();
      }
    } else {
      e.failed_at = now;
    }
    bytes_ += bytes - e.bytes;
    e.bytes = bytes;
    chosen = choose(&key);
  }
  drop(std::move(chosen));
}

bool program_memory::reserve_for_good(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > limit_ || for_good_ > limit_ - bytes) return false;
  for_good_ += bytes;
  ++programs_for_good_;
  return true;
}

/// Takes the oldest out until the rest fits.
std::vector<program_memory::held> program_memory::choose(const program_key* newest) {
  std::vector<held> chosen;
  if (bytes_ <= limit_) return chosen;
  struct candidate {
    std::uint64_t used;
    entries::iterator at;
    held program;
  };
  std::vector<candidate> candidates;
  for (auto at = entries_.begin(); at != entries_.end();) {
    auto& e = at->second;
    if (!e.result.valid() && e.alive.expired()) {
      at = entries_.erase(at);
      continue;
    }
    if (e.bytes != 0 && !(newest && at->first == *newest)) {
      auto program = e.failed_at != 0 ? held() : e.result.get();
      candidates.push_back({program ? program->used() : e.failed_at, at, std::move(program)});
    }
    ++at;
  }
  std::ranges::sort(candidates, {}, &candidate::used);
  for (auto& c : candidates) {
    if (bytes_ <= limit_) break;
    auto& e = c.at->second;
    bytes_ -= std::exchange(e.bytes, 0);
    if (c.program) {
      e.alive = c.program;
      e.result = {};
      chosen.push_back(std::move(c.program));
    } else {
      entries_.erase(c.at);
    }
  }
  return chosen;
}

void program_memory::drop(std::vector<held> chosen) {
  for (const auto& program : chosen) program->drop_code();
}

program::memory_use program_memory::use() const {
  const std::lock_guard lock(mutex_);
  program::memory_use found;
  found.limit = limit_;
  found.bytes = bytes_ + for_good_;
  found.permanent = for_good_;
  found.programs = programs_for_good_;
  for (const auto& [key, e] : entries_) found.programs += e.bytes != 0 && e.failed_at == 0;
  return found;
}

std::size_t program_memory::set_limit(std::size_t bytes) {
  std::vector<held> chosen;
  std::size_t before = bytes;
  {
    const std::lock_guard lock(mutex_);
    std::swap(limit_, before);
    chosen = choose(nullptr);
  }
  drop(std::move(chosen));
  return before;
}

std::size_t estimated_bytes(bool is_read, std::size_t binary) noexcept {
  return is_read ? (std::size_t{360} << 10) + 14 * binary : (std::size_t{900} << 10) + 50 * binary;
}

}  // namespace usmx::detail
