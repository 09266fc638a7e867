// Which work-item is running: ids and ranges in SYCL's order, where dimension 0 varies slowest.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend.hpp"
#include "types.hpp"

#define USMX_ID USMX_DEVICE __attribute__((const))
USMX_ID uint32_t __spirv_BuiltInSubgroupSize();
USMX_ID uint32_t __spirv_BuiltInSubgroupMaxSize();
USMX_ID uint32_t __spirv_BuiltInSubgroupId();
USMX_ID uint32_t __spirv_BuiltInNumSubgroups();
USMX_ID uint32_t __spirv_BuiltInSubgroupLocalInvocationId();
#undef USMX_ID

namespace usmx {

/// Waits until every work-item of the group has arrived and its writes, to local and to global
/// memory, can be seen by the group. All items of the group must call it.
// A function of its own on processors. Inlined behind `if (id == 0) tile[0] = 0;`, with an atomic
// operation on tile[0] after it, OpenCL's compiler for CPUs (2026.2) loses the operations of the
// first vector of items: the sum of 1 to 32 is 392. The called one costs nothing that is measured.
#ifdef USMX_SHORT_VECTOR
[[clang::noinline]]
#endif
inline void group_barrier() {
#ifdef USMX_BACKEND_BARRIERS
  backend::group_barrier();
#else
  // Scope of execution and memory: work-group. Sequentially consistent, local and global memory.
  __spirv_ControlBarrier(2, 2, 0x10 | 0x100 | 0x200);
#endif
}
#ifdef USMX_BACKEND_BARRIERS
using backend::fence;
using backend::sub_group_barrier;
#else
/// What this item wrote before is seen by others before what it writes next.
inline void fence() { __spirv_MemoryBarrier(1, 0x10 | 0x100 | 0x200); }
/// A barrier among the items of a sub-group.
inline void sub_group_barrier() { __spirv_ControlBarrier(3, 3, 0x10 | 0x80 | 0x100 | 0x200); }
#endif

/// The running work-item of a kernel over `Rank` dimensions, with the names of sycl::nd_item.
template <int Rank>
struct nd_item {
  // The device counts dimensions from the fastest one.
  static constexpr int axis(int dimension) { return Rank - 1 - dimension; }

  static size_t get_global_id(int d) { return backend::global_id(axis(d)); }
  static size_t get_global_range(int d) { return backend::global_range(axis(d)); }
  static size_t get_local_id(int d) { return backend::local_id(axis(d)); }
  static size_t get_local_range(int d) { return backend::local_range(axis(d)); }
  static size_t get_group(int d) { return backend::group_id(axis(d)); }
  static size_t get_group_range(int d) { return backend::group_range(axis(d)); }

  static size_t get_global_linear_id() {
    size_t id = 0;
    for (int d = 0; d < Rank; ++d) id = id * get_global_range(d) + get_global_id(d);
    return id;
  }
  static size_t get_local_linear_id() {
    size_t id = 0;
    for (int d = 0; d < Rank; ++d) id = id * get_local_range(d) + get_local_id(d);
    return id;
  }
  static size_t get_group_linear_id() {
    size_t id = 0;
    for (int d = 0; d < Rank; ++d) id = id * get_group_range(d) + get_group(d);
    return id;
  }
  static size_t get_global_linear_range() {
    size_t n = 1;
    for (int d = 0; d < Rank; ++d) n *= get_global_range(d);
    return n;
  }
  static size_t get_local_linear_range() {
    size_t n = 1;
    for (int d = 0; d < Rank; ++d) n *= get_local_range(d);
    return n;
  }
  static size_t get_group_linear_range() {
    size_t n = 1;
    for (int d = 0; d < Rank; ++d) n *= get_group_range(d);
    return n;
  }
  static void barrier() { group_barrier(); }
};

// The short way in kernels of one dimension.
inline size_t global_id() { return nd_item<1>::get_global_id(0); }
inline size_t global_range() { return nd_item<1>::get_global_range(0); }
inline size_t local_id() { return nd_item<1>::get_local_id(0); }
inline size_t local_range() { return nd_item<1>::get_local_range(0); }
inline size_t group_id() { return nd_item<1>::get_group(0); }
inline size_t group_range() { return nd_item<1>::get_group_range(0); }

}  // namespace usmx
