// SPDX-License-Identifier: Apache-2.0
#include "heap.hpp"

#include <cstdlib>
#include <new>

std::size_t heap::requests = 0;
long heap::left = -1;

void* operator new(std::size_t bytes) {
  ++heap::requests;
  if (heap::left == 0) throw std::bad_alloc();
  if (heap::left > 0) --heap::left;
  if (void* p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}
void* operator new[](std::size_t bytes) { return operator new(bytes); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
