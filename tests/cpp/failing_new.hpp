// Lets the nth `new` of a thread fail, to see that nothing is leaked when it throws. Replaces `new`
// for the whole program, so exactly one file of it includes this.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

// The n-th `new` of this thread from now fails; negative: none does.
inline thread_local int new_fails_in = -1;

// Not inlined, or the compiler sees malloc meet delete and calls it a mistake.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (new_fails_in >= 0 && new_fails_in-- == 0) throw std::bad_alloc();
  if (void* const p = std::malloc(bytes == 0 ? 1 : bytes)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
