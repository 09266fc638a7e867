// Memory that the work-items of a group share, and memory of one item.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "types.hpp"
#include "view.hpp"

namespace usmx {

namespace local_memory {

/// The compiler puts no object with a constructor there: of such a type it is the bytes alone.
template <class T, bool = __is_trivially_constructible(T)>
struct object {
  T value;
  T& get() { return value; }
};
template <class T>
struct object<T, false> {
  alignas(T) char bytes[sizeof(T)];
  T& get() { return *reinterpret_cast<T*>(bytes); }
};

}  // namespace local_memory

/// One object per work-group, declared inside a kernel: `usmx::local<float[16][18]> tile;`, then
/// `tile[y][x]`. Not initialised; call group_barrier() between writing and another item's reading.
template <class T>
class [[__sycl_detail__::wg_scope]] local {
 public:
  local() = default;
  local(const local&) = delete;
  local& operator=(const local&) = delete;

  operator T&() { return object_.get(); }
  T& get() { return object_.get(); }
  template <class I>
  decltype(auto) operator[](I i) {
    return (object_.get()[i]);
  }

 private:
  local_memory::object<T> object_;
};

/// Local memory of a size that the launch says, as a parameter of a kernel:
/// `usmx::local_view<float, 2> tile`, then `tile(y, x)` and `tile.shape[0]`.
template <class T, int Rank>
using local_view = dense<T, Rank>;

/// Sets an item's own array to zeros.
template <class T>
inline void clear(T& array) {
  __builtin_memset(&array, 0, sizeof array);
}

}  // namespace usmx
