// What the items of a group or sub-group compute together. Every item of it must make the call.
// Operand types are fixed here: a wrong one crashes the device's compiler.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend.hpp"
#include "item.hpp"
#include "types.hpp"

namespace usmx {

// Inlined at once: a later pass would take a call of an inline function for one that each item may
// make by itself, and put two of them inside of a branch on what both ask.
#define USMX_TOGETHER __attribute__((always_inline))

// Scopes: 2 is the work-group, 3 the sub-group. Forms: 0 reduces, 1 scans with, 2 without itself.
#define USMX_GROUP(name, form, operation)                    \
  template <int Scope, class T>                              \
  USMX_TOGETHER inline T name(T x) {                         \
    if constexpr (T(0.5f) != T(0))                           \
      return __spirv_GroupF##operation(Scope, form, x);      \
    else                                                     \
      return USMX_GROUP_INTEGER_##operation(Scope, form, x); \
  }
#define USMX_GROUP_INTEGER_Add(scope, form, x) __spirv_GroupIAdd(scope, form, x)
#define USMX_GROUP_INTEGER_Min(scope, form, x) group_min(scope_of<scope>(), form_of<form>(), x)
#define USMX_GROUP_INTEGER_Max(scope, form, x) group_max(scope_of<scope>(), form_of<form>(), x)

template <int N>
struct scope_of {};
template <int N>
struct form_of {};
#define USMX_GROUP_ORDER(T, letter)                         \
  template <int Scope, int Form>                            \
  inline T group_min(scope_of<Scope>, form_of<Form>, T x) { \
    return __spirv_Group##letter##Min(Scope, Form, x);      \
  }                                                         \
  template <int Scope, int Form>                            \
  inline T group_max(scope_of<Scope>, form_of<Form>, T x) { \
    return __spirv_Group##letter##Max(Scope, Form, x);      \
  }
USMX_GROUP_ORDER(int32_t, S)
USMX_GROUP_ORDER(int64_t, S)
USMX_GROUP_ORDER(uint32_t, U)
USMX_GROUP_ORDER(uint64_t, U)

USMX_GROUP(reduce_sum, 0, Add)
USMX_GROUP(reduce_min, 0, Min)
USMX_GROUP(reduce_max, 0, Max)
USMX_GROUP(inclusive_scan_sum, 1, Add)
USMX_GROUP(inclusive_scan_min, 1, Min)
USMX_GROUP(inclusive_scan_max, 1, Max)
USMX_GROUP(exclusive_scan_sum, 2, Add)
USMX_GROUP(exclusive_scan_min, 2, Min)
USMX_GROUP(exclusive_scan_max, 2, Max)

#undef USMX_GROUP
#undef USMX_GROUP_ORDER
#undef USMX_GROUP_INTEGER_Add
#undef USMX_GROUP_INTEGER_Min
#undef USMX_GROUP_INTEGER_Max

/// The value of the item with that id: of a work-group a linear id.
template <int Scope, class T>
USMX_TOGETHER inline T broadcast(T x, int64_t id) {
  if constexpr (Scope == 3)
    return backend::shuffle(x, uint32_t(id));
  else
    return __spirv_GroupBroadcast(Scope, x, size_t(id));
}
template <int Scope>
USMX_TOGETHER inline bool any_of(bool condition) {
  return __spirv_GroupAny(Scope, condition);
}
template <int Scope>
USMX_TOGETHER inline bool all_of(bool condition) {
  return __spirv_GroupAll(Scope, condition);
}

#ifdef USMX_BACKEND_BARRIERS
using backend::sub_group_id;
using backend::sub_group_local_id;
using backend::sub_group_max_size;
#else
inline uint32_t sub_group_id() { return __spirv_BuiltInSubgroupId(); }
inline uint32_t sub_group_local_id() { return __spirv_BuiltInSubgroupLocalInvocationId(); }
inline uint32_t sub_group_max_size() { return __spirv_BuiltInSubgroupMaxSize(); }
#endif

/// The value of another item of the sub-group: by id, by id ^ mask, some ids below or above.
template <class T>
USMX_TOGETHER inline T shuffle(T x, uint32_t id) {
  return backend::shuffle(x, id);
}
template <class T>
USMX_TOGETHER inline T shuffle_xor(T x, uint32_t mask) {
  return backend::shuffle_xor(x, mask);
}
template <class T>
USMX_TOGETHER inline T shuffle_up(T x, uint32_t delta) {
  const uint32_t id = sub_group_local_id();
  return backend::shuffle(x, id < delta ? id : id - delta);
}
template <class T>
USMX_TOGETHER inline T shuffle_down(T x, uint32_t delta) {
  const uint32_t id = sub_group_local_id();
  const uint32_t from = id + delta;
  return backend::shuffle(x, from < __spirv_BuiltInSubgroupSize() ? from : id);
}

inline uint32_t sub_group_size() { return __spirv_BuiltInSubgroupSize(); }
inline uint32_t sub_group_count() { return __spirv_BuiltInNumSubgroups(); }

}  // namespace usmx
