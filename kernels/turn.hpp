// The order in which groups start.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prelude.hpp"

namespace usmx {

/// The number of this group in the order in which groups start, for all its items; `next` is 0
/// before the launch, `number` is local memory. A group that waits only for groups of smaller
/// numbers waits for groups that have started.
template <class T>
[[gnu::always_inline]] inline T take_number(T& number, T* next) {
  if (local_id() == 0) number = atomic_add(next, T(1));
  group_barrier();
  return number;
}

}  // namespace usmx
