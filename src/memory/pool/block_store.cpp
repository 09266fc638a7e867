// Best fit and coalescing for long runs, slabs for short blocks; see block_store.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "memory/pool/block_store.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>
#include <utility>

namespace usmx::detail {
namespace {

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

static_assert(bin_of(0) == 0 && bin_of(64) == 0 && bin_of(65) == 1 && bin_of(512) == 7);
static_assert([] {
  for (std::size_t b = 0; b < bins; ++b) {
    if (bin_of(bin_bytes(b)) != b || bin_of(bin_bytes(b) + 1) != b + 1) return b == bins - 1;
  }
  return true;
}());
static_assert(bin_bytes(slab_bins - 1) == most_in_slab && bin_bytes(bins - 1) == most_in_bin);
static_assert([] {
  for (std::size_t b = slab_bins; b < bins; ++b) {
    if (bin_bytes(b) % granule != 0) return false;
  }
  return true;
}());

void mark_start(chunk& c, const run* r) noexcept {
  const auto k = static_cast<std::size_t>(r - c.runs);
  c.starts[k / 64] |= std::uint64_t{1} << k % 64;
  c.words[k / 4096] |= std::uint64_t{1} << k / 64 % 64;
}

void clear_start(chunk& c, const run* r) noexcept {
  const auto k = static_cast<std::size_t>(r - c.runs);
  if ((c.starts[k / 64] &= ~(std::uint64_t{1} << k % 64)) == 0) {
    c.words[k / 4096] &= ~(std::uint64_t{1} << k / 64 % 64);
  }
}

/// The last set bit at or before `k`; `none` without one.
std::size_t last_bit(const std::uint64_t* bits, std::size_t k) noexcept {
  for (std::uint64_t word = bits[k / 64] << (63 - k % 64); word == 0; word = bits[k / 64]) {
    if (k < 64) return none;
    k = k / 64 * 64 - 1;
  }
  const std::uint64_t word = bits[k / 64] << (63 - k % 64);
  return k - static_cast<std::size_t>(std::countl_zero(word));
}

/// The first granule of the run around `k`. Granule 0 always begins one.
std::size_t start_of(const chunk& c, std::size_t k) noexcept {
  const std::size_t word = k / 64;
  const std::uint64_t here = c.starts[word] << (63 - k % 64);
  if (here != 0) return k - static_cast<std::size_t>(std::countl_zero(here));
  const std::size_t before = last_bit(c.words.get(), word - 1);
  return before * 64 + 63 - static_cast<std::size_t>(std::countl_zero(c.starts[before]));
}

}  // namespace

chunk::chunk(std::byte* first, std::size_t length)
    : base(first),
      bytes(length),
      runs(nullptr),
      starts(new std::uint64_t[(length / granule + 63) / 64]()),
      words(new std::uint64_t[(length / granule + 4095) / 4096]()) {
  // The system maps zero pages on first access, and for a long block most are never accessed.
  runs = static_cast<run*>(std::calloc(length / granule, sizeof(run)));
  if (runs == nullptr) throw std::bad_alloc();
}

chunk::~chunk() {
  const run* const last = runs + bytes / granule;
  // A chunk that was never added does not have a run yet.
  for (const run* r = runs; r != last && r->granules != 0; r += r->granules) delete r->divided;
  std::free(runs);
}

slab::slab(std::byte* first, std::size_t of_bin, std::size_t of_blocks)
    : base(first),
      bytes(bin_bytes(of_bin)),
      reciprocal(((std::size_t{1} << 40) + bytes - 1) / bytes),
      bin(of_bin),
      count(static_cast<std::uint32_t>(of_blocks)),
      left(count),
      free(new std::uint16_t[of_blocks]),
      asked(new std::size_t[of_blocks]()) {
  // The lowest is on top: blocks that are used together lie together.
  for (std::uint32_t k = 0; k < count; ++k) free[k] = static_cast<std::uint16_t>(count - 1 - k);
}

// --- free runs

std::size_t block_store::list_of(std::size_t granules) noexcept {
  if (granules < 32) return granules;
  const auto width = static_cast<std::size_t>(std::bit_width(granules));
  return 32 + (width - 6) * 16 + ((granules >> (width - 5)) & 15);
}

run* block_store::best_fit(std::size_t granules) noexcept {
  // Runs of the first list may be too short, all others are long enough: their first list with one
  // holds the best. Long lists are cut short, or many equal runs would make this slow.
  constexpr int most_looked_at = 64;
  std::size_t list = list_of(granules);
  for (std::size_t word = list / 64; word < filled_.size(); ++word) {
    std::uint64_t left = filled_[word];
    if (word == list / 64) left &= ~std::uint64_t{0} << list % 64;
    for (; left != 0; left &= left - 1) {
      const std::size_t k = word * 64 + static_cast<std::size_t>(std::countr_zero(left));
      run* best = nullptr;
      int looked_at = 0;
      for (run* r = free_runs_[k]; r != nullptr && looked_at < most_looked_at; r = r->next) {
        if (r->granules == granules) return r;
        if (r->granules > granules && (best == nullptr || r->granules < best->granules)) best = r;
        ++looked_at;
      }
      if (best != nullptr) return best;
    }
  }
  return nullptr;
}

void block_store::insert(chunk& home, run* r, std::size_t granules) noexcept {
  const std::size_t list = list_of(granules);
  r->home = &home;
  r->previous = nullptr;
  r->next = free_runs_[list];
  if (r->next != nullptr) r->next->previous = r;
  free_runs_[list] = r;
  filled_[list / 64] |= std::uint64_t{1} << list % 64;
  run* const last = r + granules - 1;
  r->granules = last->granules = static_cast<std::uint32_t>(granules);
  r->free = last->free = true;
  mark_start(home, r);
  free_granules_ += granules;
  if (granules == home.bytes / granule) ++free_chunks_;
}

void block_store::erase(run* r) noexcept {
  free_granules_ -= r->granules;
  if (r->granules == r->home->bytes / granule) --free_chunks_;
  const std::size_t list = list_of(r->granules);
  (r->previous == nullptr ? free_runs_[list] : r->previous->next) = r->next;
  if (r->next != nullptr) r->next->previous = r->previous;
  if (free_runs_[list] == nullptr) filled_[list / 64] &= ~(std::uint64_t{1} << list % 64);
  r[r->granules - 1].free = false;
  r->free = false;
}

block block_store::take_run(std::size_t granules, std::size_t alignment, std::size_t bin) noexcept {
  const std::size_t slack = alignment <= granule ? 0 : alignment / granule - 1;
  run* r = best_fit(granules + slack);
  if (r == nullptr) return {};
  erase(r);
  chunk& home = *r->home;
  const std::size_t length = r->granules;
  std::size_t before = 0;
  if (slack != 0) {
    const auto address = reinterpret_cast<std::uintptr_t>(home.address(r));
    before = (-address & (alignment - 1)) / granule;
  }
  const std::size_t after = length - before - granules;
  if (before != 0) insert(home, r, before);
  r += before;
  if (after != 0) insert(home, r + granules, after);
  mark_start(home, r);
  r->granules = static_cast<std::uint32_t>(granules);
  r->bin = static_cast<std::uint8_t>(bin);
  return {home.address(r), &r->asked};
}

bool block_store::would_cut_chunk(std::size_t granules) noexcept {
  const run* const r = best_fit(granules);
  return r != nullptr && r->granules == r->home->bytes / granule && r->granules >= 2 * granules;
}

void block_store::put_run(chunk& home, run* r) noexcept {
  std::size_t granules = r->granules;
  run* const after = r + granules;
  if (after != home.runs + home.bytes / granule && after->free) {
    granules += after->granules;
    erase(after);
    clear_start(home, after);
  }
  if (r != home.runs && r[-1].free) {
    run* const before = r - r[-1].granules;
    granules += before->granules;
    erase(before);
    clear_start(home, r);
    r = before;
  }
  insert(home, r, granules);
}

// --- slabs

void block_store::link(slab* s) noexcept {
  s->previous = nullptr;
  s->next = slabs_[s->bin];
  if (s->next != nullptr) s->next->previous = s;
  slabs_[s->bin] = s;
}

void block_store::unlink(slab* s) noexcept {
  (s->previous == nullptr ? slabs_[s->bin] : s->previous->next) = s->next;
  if (s->next != nullptr) s->next->previous = s->previous;
}

slab* block_store::make_slab(std::size_t bin) {
  const std::size_t granules = slab_bytes(bin) / granule;
  const block whole = take_run(granules, granule, no_bin);
  if (!whole) return nullptr;
  run* const first = find(whole.data)->at(whole.data);
  slab* made = nullptr;
  try {
    made = new slab(whole.data, bin, blocks_in_slab(bin));
  } catch (...) {
    put(whole.data);
    throw;
  }
  for (std::size_t k = 0; k < granules; ++k) first[k].divided = made;
  link(made);
  ++empty_[bin];
  return made;
}

void block_store::dissolve(slab* s) noexcept {
  unlink(s);
  --empty_[s->bin];
  chunk& home = *find(s->base);
  run* const first = home.at(s->base);
  for (std::size_t k = 0; k < first->granules; ++k) first[k].divided = nullptr;
  put_run(home, first);
  delete s;
}

void block_store::dissolve_empty_slabs() noexcept {
  for (slab* first : slabs_) {
    for (slab* s = first; s != nullptr;) {
      slab* const next = s->next;
      if (s->left == s->count) dissolve(s);
      s = next;
    }
  }
}

block block_store::take(std::size_t bin) {
  if (bin >= slab_bins) return take_run(bin_bytes(bin) / granule, granule, bin);
  slab* s = slabs_[bin];
  if (s == nullptr) s = make_slab(bin);
  if (s == nullptr) return {};
  if (s->left == s->count) --empty_[bin];
  const std::size_t slot = s->free[--s->left];
  if (s->left == 0) unlink(s);
  return {s->base + slot * s->bytes, &s->asked[slot]};
}

void block_store::put(std::byte* p) noexcept {
  chunk& home = *find(p);
  run* const r = home.at(p);
  slab* const s = r->divided;
  if (s == nullptr) return put_run(home, r);
  if (s->left == 0) link(s);
  s->free[s->left++] = static_cast<std::uint16_t>(s->slot_of(p));
  if (s->left != s->count) return;
  // One is kept, so that repeatedly allocating a single block does not make a slab each time.
  if (++empty_[s->bin] > 1) dissolve(s);
}

// --- chunks

chunk* block_store::find(const std::byte* p) const noexcept {
  const auto base = [](const std::unique_ptr<chunk>& c) { return c->base; };
  auto after = std::ranges::upper_bound(chunks_, p, {}, base);
  if (after == chunks_.begin() || !(*--after)->holds(p)) return nullptr;
  return after->get();
}

std::optional<allocation_extent> block_store::block_around(const std::byte* p) noexcept {
  chunk* const home = find(p);
  if (home == nullptr) return {};
  std::byte* base = nullptr;
  std::size_t* asked = nullptr;
  const run* const here = home->at(p);
  if (slab* const s = here->divided) {
    const std::size_t slot = s->slot_of(p);
    if (slot >= s->count) return {};
    base = s->base + slot * s->bytes;
    asked = &s->asked[slot];
  } else {
    run* const first = home->runs + start_of(*home, static_cast<std::size_t>(here - home->runs));
    base = home->address(first);
    asked = &first->asked;
  }
  const std::size_t noted = std::atomic_ref(*asked).load(std::memory_order_acquire);
  if (noted == 0 || static_cast<std::size_t>(p - base) >= std::max<std::size_t>(noted - 1, 1)) {
    return {};
  }
  return allocation_extent{base, noted - 1};
}

void block_store::add(std::unique_ptr<chunk> c) noexcept {
  chunk& added = *c;
  bytes_ += added.bytes;
  const auto base = [](const std::unique_ptr<chunk>& other) { return other->base; };
  chunks_.insert(std::ranges::upper_bound(chunks_, added.base, {}, base), std::move(c));
  insert(added, added.runs, added.bytes / granule);
}

/// The largest chunk without blocks that has at most so many bytes.
chunk* block_store::largest_free(std::size_t at_most) const noexcept {
  chunk* largest = nullptr;
  if (free_chunks_ == 0) return nullptr;
  for (const auto& c : chunks_) {
    if (!c->runs->free || c->runs->granules != c->bytes / granule || c->bytes > at_most) continue;
    if (largest == nullptr || c->bytes > largest->bytes) largest = c.get();
  }
  return largest;
}

void block_store::remove(chunk* c, std::unique_ptr<chunk>& removed) noexcept {
  erase(c->runs);
  bytes_ -= c->bytes;
  const auto at = std::ranges::find(chunks_, c, &std::unique_ptr<chunk>::get);
  c->next = std::move(removed);
  removed = std::move(*at);
  chunks_.erase(at);
}

std::unique_ptr<chunk> block_store::remove_free(std::size_t keep) noexcept {
  std::unique_ptr<chunk> removed;
  while (bytes_ > keep) {
    chunk* const c = largest_free(none);
    if (c == nullptr) break;
    remove(c, removed);
  }
  return removed;
}

std::unique_ptr<chunk> block_store::remove_free_at_most(std::size_t bytes) noexcept {
  std::unique_ptr<chunk> removed;
  while (chunk* const c = largest_free(bytes)) {
    bytes -= c->bytes;
    remove(c, removed);
  }
  return removed;
}

std::unique_ptr<chunk> block_store::remove_all() noexcept {
  std::unique_ptr<chunk> removed;
  for (std::unique_ptr<chunk>& c : chunks_) {
    c->next = std::move(removed);
    removed = std::move(c);
  }
  chunks_.clear();
  bytes_ = free_granules_ = 0;
  return removed;
}

// --- what is held

namespace {

void append(std::vector<held_block>& to, std::size_t offset, std::size_t bytes, std::size_t noted) {
  const bool used = noted != 0;
  if (!used && !to.empty() && to.back().now == held_block::state::free) {
    to.back().bytes += bytes;
    return;
  }
  to.push_back({offset, bytes, used ? noted - 1 : 0,
                used ? held_block::state::used : held_block::state::free});
}

}  // namespace

std::vector<held_chunk> block_store::snapshot() const {
  const auto noted = [](std::size_t& asked) {
    return std::atomic_ref(asked).load(std::memory_order_relaxed);
  };
  std::vector<held_chunk> all;
  all.reserve(chunks_.size());
  for (const auto& c : chunks_) {
    held_chunk& out = all.emplace_back(held_chunk{c->base, c->bytes, {}});
    run* const last = c->runs + c->bytes / granule;
    for (run* r = c->runs; r != last; r += r->granules) {
      const auto offset = static_cast<std::size_t>(c->address(r) - c->base);
      const std::size_t bytes = r->granules * granule;
      if (slab* const s = r->divided) {
        for (std::size_t k = 0; k < s->count; ++k) {
          append(out.blocks, offset + k * s->bytes, s->bytes, noted(s->asked[k]));
        }
        const std::size_t rest = bytes - s->count * s->bytes;
        if (rest != 0) append(out.blocks, offset + bytes - rest, rest, 0);
      } else {
        append(out.blocks, offset, bytes, r->free ? 0 : noted(r->asked));
      }
    }
  }
  return all;
}

}  // namespace usmx::detail
