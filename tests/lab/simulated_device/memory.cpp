// Pages, their protection, and what is wrong with a pointer.
// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <vector>

#include "settings.hpp"

namespace simulated {
namespace {

const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
constexpr std::size_t gib = std::size_t{1} << 30;
constexpr std::size_t largest = 12 * gib;     // as the driver on a machine of this size
constexpr std::size_t arena_size = 64 * gib;  // of addresses, not of memory
constexpr std::size_t scribbled = 64 << 20;   // a huge block stays untouched beyond this
constexpr unsigned char fresh = 0xCD;         // what new memory holds
constexpr unsigned char canary = 0xB5;  // what the unused rest of the first and last page holds

struct arena {
  char* begin;
  char* end;
  char* next;
};

// Never destroyed: the runtime frees memory while the process ends.
struct state {
  std::mutex mutex;
  std::map<char*, block> blocks;  // by base
  std::vector<arena> arenas;
  long allocations = 0;
  int open = 0;
};
state& s = *new state;

std::size_t round_up(std::size_t x, std::size_t to) { return (x + to - 1) / to * to; }

/// Addresses that nothing else uses, all forbidden. They are never used twice, so that a pointer to
/// freed memory stays wrong for ever.
char* reserve(std::size_t length) {
  if (s.arenas.empty() ||
      static_cast<std::size_t>(s.arenas.back().end - s.arenas.back().next) < length) {
    const std::size_t size = std::max(arena_size, length);
    void* p = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return nullptr;
    auto* begin = static_cast<char*>(p);
    s.arenas.push_back({begin, begin + size, begin});
  }
  char* p = s.arenas.back().next;
  s.arenas.back().next += length;
  return p;
}

bool was_ours(const void* p) {
  return std::ranges::any_of(s.arenas, [=](const arena& a) { return p >= a.begin && p < a.next; });
}

std::map<char*, block>::iterator around(const void* p) {
  auto* address = static_cast<char*>(const_cast<void*>(p));
  auto found = s.blocks.upper_bound(address);
  if (found == s.blocks.begin()) return s.blocks.end();
  --found;
  const block& b = found->second;
  return address < b.base + std::max<std::size_t>(b.size, 1) ? found : s.blocks.end();
}

bool map_pages(block& b, std::size_t pages_at) {
  b.pages = reinterpret_cast<char*>(pages_at);
  if (b.what != kind::device) {
    return mprotect(b.pages, b.length, PROT_READ | PROT_WRITE) == 0;
  }
  // The same pages twice: at an address that only the layer knows, and at the program's.
  const int file = memfd_create("simulated_device", MFD_CLOEXEC);
  if (file < 0) return false;
  bool mapped = ftruncate(file, static_cast<off_t>(b.length)) == 0;
  if (mapped) {
    void* alias = mmap(nullptr, b.length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    mapped = alias != MAP_FAILED;
    if (mapped) b.alias = static_cast<char*>(alias);
  }
  if (mapped) {
    const int access = s.open > 0 ? PROT_READ | PROT_WRITE : PROT_NONE;
    mapped = mmap(b.pages, b.length, access, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED;
  }
  ::close(file);
  return mapped;
}

void forbid(const block& b) {
  // A fresh mapping instead of a protection: it gives the memory back and merges with its
  // neighbours, of which the kernel allows only some ten thousand.
  mmap(b.pages, b.length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
       0);
  if (b.alias) munmap(b.alias, b.length);
}

/// Where the layer itself may read and write a block's pages.
char* inside(const block& b) { return b.alias ? b.alias : b.pages; }

void scribble(const block& b) {
  char* first = inside(b) + (b.base - b.pages);
  std::memset(first, fresh, std::min(b.size, scribbled));
  std::memset(inside(b), canary, static_cast<std::size_t>(b.base - b.pages));
  std::memset(first + b.size, canary,
              b.length - static_cast<std::size_t>(b.base - b.pages) - b.size);
}

void check_canaries(const block& b) {
  const auto intact = [](const char* from, const char* to) {
    return std::all_of(from, to, [](char c) { return static_cast<unsigned char>(c) == canary; });
  };
  const char* first = inside(b) + (b.base - b.pages);
  if (!intact(inside(b), first)) {
    defect("something wrote before %s memory %p of %zu bytes", name(b.what), b.base, b.size);
  }
  if (!intact(first + b.size, inside(b) + b.length)) {
    defect("something wrote past %s memory %p of %zu bytes", name(b.what), b.base, b.size);
  }
}

void protect_all(int access) noexcept {
  for (const auto& [base, b] : s.blocks) {
    if (b.what == kind::device) mprotect(b.pages, b.length, access);
  }
}

}  // namespace

const char* name(kind k) noexcept {
  return k == kind::host ? "host" : k == kind::device ? "device" : "shared";
}

char* allocate(kind what, cl_context context, cl_device_id device, std::size_t size,
               std::size_t alignment, cl_int& error) {
  error = CL_INVALID_BUFFER_SIZE;
  if (size == 0 || size > largest) return nullptr;
  if (alignment == 0) alignment = 64;
  error = CL_INVALID_VALUE;
  if ((alignment & (alignment - 1)) != 0 || alignment > (std::size_t{1} << 21)) return nullptr;

  block b{nullptr, size, what, context, device, nullptr, round_up(size, page), nullptr, 0};
  const std::size_t page_alignment = std::max(alignment, page);
  const std::size_t slack = page_alignment - page;
  const std::lock_guard lock(s.mutex);
  error = CL_OUT_OF_HOST_MEMORY;
  char* reserved = reserve(b.length + 2 * page + slack);
  if (!reserved) return nullptr;
  const std::size_t first =
      round_up(reinterpret_cast<std::uintptr_t>(reserved) + page, page_alignment);
  if (!map_pages(b, first)) {
    if (b.pages) forbid(b);
    return nullptr;
  }
  // Pushed against the forbidden page behind it, as far as the alignment allows: reading or writing
  // past the end is the commoner mistake.
  b.base = b.pages;
  if (!configuration().left_aligned && alignment <= page) {
    b.base += (b.length - size) / alignment * alignment;
  }
  b.number = ++s.allocations;
  scribble(b);
  s.blocks.emplace(b.base, b);
  error = CL_SUCCESS;
  return b.base;
}

void release(cl_context context, char* p, cl_int& error) {
  const std::lock_guard lock(s.mutex);
  error = CL_INVALID_VALUE;
  const auto found = s.blocks.find(p);
  if (found == s.blocks.end()) {
    const auto inner = around(p);
    if (inner != s.blocks.end()) {
      defect("free of %p, which is %td bytes inside an allocation", p, p - inner->second.base);
    } else if (was_ours(p)) {
      defect("free of %p, which was freed before", p);
    } else {
      defect("free of %p, which is not USM", p);
    }
    return;
  }
  if (found->second.context != context) {
    defect("free of %p in a context that it does not belong to", p);
    return;
  }
  check_canaries(found->second);
  forbid(found->second);
  s.blocks.erase(found);
  error = CL_SUCCESS;
}

bool find(const void* p, block& out) {
  const std::lock_guard lock(s.mutex);
  const auto found = around(p);
  if (found == s.blocks.end()) return false;
  out = found->second;
  return true;
}

verdict translate(const char* what, const void* p, std::size_t bytes, cl_context context,
                  void*& out) {
  out = const_cast<void*>(p);
  const std::lock_guard lock(s.mutex);
  const auto found = around(p);
  if (found == s.blocks.end()) {
    if (!was_ours(p)) return verdict::foreign;
    defect("%s uses %p, which was freed or never allocated", what, p);
    return verdict::refused;
  }
  const block& b = found->second;
  const auto offset = static_cast<std::size_t>(static_cast<const char*>(p) - b.base);
  if (bytes > b.size - offset) {
    defect("%s of %zu bytes at byte %zu of %s memory that has %zu", what, bytes, offset,
           name(b.what), b.size);
    return verdict::refused;
  }
  // This driver does it all the same; others crash.
  if (b.context != context) defect("%s uses %p in a context that it does not belong to", what, p);
  if (b.alias) out = b.alias + (b.base - b.pages) + offset;
  return verdict::fine;
}

void check_argument(const void* p, cl_context context) {
  const std::lock_guard lock(s.mutex);
  const auto found = around(p);
  if (found != s.blocks.end()) {
    if (found->second.context != context) {
      defect("kernel argument %p belongs to another context", p);
    }
  } else if (was_ours(p)) {
    // One past the end is a legal pointer, if an odd argument.
    const auto before = around(static_cast<const char*>(p) - 1);
    if (before == s.blocks.end()) defect("kernel argument %p was freed or never allocated", p);
  }
}

void open() noexcept {
  const std::lock_guard lock(s.mutex);
  if (s.open++ == 0) protect_all(PROT_READ | PROT_WRITE);
}

void close() noexcept {
  const std::lock_guard lock(s.mutex);
  if (--s.open == 0) protect_all(PROT_NONE);
}

bool explain(const void* address, char* text, std::size_t room) noexcept {
  const std::unique_lock lock(s.mutex, std::try_to_lock);
  if (!lock || !was_ours(address)) return false;
  auto next = s.blocks.upper_bound(static_cast<char*>(const_cast<void*>(address)));
  const bool beyond = next != s.blocks.begin();
  const bool before =
      next != s.blocks.end() &&
      next->second.pages - static_cast<const char*>(address) < static_cast<std::ptrdiff_t>(page);
  if (beyond) {
    const block& b = std::prev(next)->second;
    const auto offset = static_cast<const char*>(address) - b.base;
    if (static_cast<std::size_t>(offset) < b.size) {
      std::snprintf(text, room, "the host touched byte %td of %s memory of %zu bytes", offset,
                    name(b.what), b.size);
      return true;
    }
    if (address < b.pages + b.length + page) {
      std::snprintf(text, room, "access %td bytes past %s memory of %zu bytes",
                    offset - static_cast<std::ptrdiff_t>(b.size), name(b.what), b.size);
      return true;
    }
  }
  if (before) {
    const block& b = next->second;
    std::snprintf(text, room, "access %td bytes before %s memory of %zu bytes",
                  b.base - static_cast<const char*>(address), name(b.what), b.size);
    return true;
  }
  std::snprintf(text, room, "access to memory that was freed or never allocated");
  return true;
}

long live() noexcept {
  const std::lock_guard lock(s.mutex);
  return static_cast<long>(s.blocks.size());
}

std::size_t live_bytes() noexcept {
  const std::lock_guard lock(s.mutex);
  std::size_t sum = 0;
  for (const auto& [base, b] : s.blocks) sum += b.size;
  return sum;
}

void list_live() noexcept {
  const std::lock_guard lock(s.mutex);
  for (const auto& [base, b] : s.blocks) {
    std::fprintf(stderr,
                 "simulated device: LEAK: %s memory %p of %zu bytes, allocation number %ld\n",
                 name(b.what), base, b.size, b.number);
  }
}

}  // namespace simulated
