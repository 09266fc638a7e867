// SPDX-License-Identifier: Apache-2.0
#include "failing_new.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

thread_local int new_fails_in = -1;

// Not inlined, or the compiler sees malloc meet delete and calls it a mistake.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (new_fails_in >= 0 && new_fails_in-- == 0) throw std::bad_alloc();
  if (void* const p = std::malloc(bytes == 0 ? 1 : bytes)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
