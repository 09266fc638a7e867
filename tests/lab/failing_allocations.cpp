// An `operator new` for whole processes (LD_PRELOAD) that fails where the code of usmx allocates:
// other libraries' own allocations succeed, because they may end the process.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

std::intptr_t countdown = -1;
thread_local bool asking = false;

/// Whether the code that allocates is that of usmx, by the file it was loaded from.
bool is_ours(void* caller) {
  if (asking) return false;
  asking = true;
  Dl_info found{};
  const bool known = dladdr(caller, &found) != 0 && found.dli_fname != nullptr;
  asking = false;
  if (!known) return false;
  // The paths of other libraries may go through the folder of usmx: usmx/lib/../../libsycl.so.
  const char* const slash = std::strrchr(found.dli_fname, '/');
  return std::strstr(slash != nullptr ? slash : found.dli_fname, "usmx") != nullptr;
}

void* allocate(std::size_t bytes, void* caller) {
  if (countdown >= 0 && is_ours(caller) && countdown-- == 0) throw std::bad_alloc();
  if (void* const p = std::malloc(bytes == 0 ? 1 : bytes)) return p;
  throw std::bad_alloc();
}

}  // namespace

/// The nth allocation of usmx from now on fails; none if it is negative. Gives what was left.
extern "C" [[gnu::visibility("default")]] std::intptr_t fail_new(std::intptr_t nth) {
  const std::intptr_t left = countdown;
  countdown = nth;
  return left;
}

[[gnu::noinline, gnu::visibility("default")]] void* operator new(std::size_t bytes) {
  return allocate(bytes, __builtin_return_address(0));
}
[[gnu::noinline, gnu::visibility("default")]] void* operator new[](std::size_t bytes) {
  return allocate(bytes, __builtin_return_address(0));
}
[[gnu::visibility("default")]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::visibility("default")]] void operator delete[](void* p) noexcept { std::free(p); }
[[gnu::visibility("default")]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::visibility("default")]] void operator delete[](void* p, std::size_t) noexcept {
  std::free(p);
}
