// A scan that reads and writes each element once: groups hand on what the elements before theirs
// come to, without a launch in between.
//
// Each group takes a number as it starts and waits for groups of smaller numbers alone, which have
// started: it ends wherever groups that have started go on running. What is joined with what
// depends on the place of a tile and never on time, so sums of floats are the same in every run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace usmx::expression::scan {

/// Local memory of a group: a tile with a gap after each 32 values, for the sake of its banks.
template <class Value, int Items, int Blocks>
struct workspace {
  Value hand[Items * Blocks + Items * Blocks / 32];
  Value sums[2][Items];
  Value carry;
  uint32_t number;

  Value& at(int k) { return hand[k + k / 32]; }
};

/// What groups tell each other in global memory. Flags are 0 before the launch.
template <class Value>
struct board {
  uint32_t* next_number;
  /// For each tile whether its total stands in `totals`, for each window of tiles whether what
  /// comes before it stands in `carries`.
  uint32_t* has_total;
  uint32_t* has_carry;
  Value* totals;
  Value* carries;

  board(uint32_t* flags, Value* values, int64_t tiles)
      : next_number(flags),
        has_total(flags + 1),
        has_carry(flags + 1 + tiles),
        totals(values),
        carries(values + tiles) {}
};

/// The number of this group, in the order in which groups start.
template <class Space>
inline int64_t take_number(Space& space, uint32_t* next) {
  if (local_id() == 0) space.number = atomic_add(next, uint32_t(1));
  group_barrier();
  return int64_t(space.number);
}

template <class Value>
inline void tell(Value* where, uint32_t* flag, const Value& value) {
  *where = value;
  fence();
  atomic_store(flag, uint32_t(1));
}
template <class Value>
inline Value hear(const Value* where, const uint32_t* flag) {
  while (atomic_load(flag) == 0) {
  }
  fence();
  return *where;
}

/// Joins what the first `count` items have in sums[0], in their order; the result stands in the
/// returned one of the two.
template <class Value, int Items, class Join>
inline int join_items(Value (&sums)[2][Items], int count, const Join& join) {
  const int item = int(local_id());
  int now = 0;
  group_barrier();
  for (int step = 1; step < count; step *= 2) {
    if (item < count) {
      sums[1 - now][item] =
          item < step ? sums[now][item] : join(sums[now][item - step], sums[now][item]);
    }
    now = 1 - now;
    group_barrier();
  }
  return now;
}

/// One tile of a line of `tiles`, the elements from `begin` to `end`. `load(i, values)` and
/// `store(i, values)` take `Elements` neighbours, `load_one` and `store_one` a single one.
/// `first()` stands before the first element of an exclusive scan.
template <int Items, int Blocks, int Window, int Elements, bool Exclusive, class Value, class Load,
          class LoadOne, class Join, class First, class Store, class StoreOne>
inline void tile(workspace<Value, Items, Blocks>& space, const board<Value>& told, int64_t line,
                 int64_t part, int64_t tiles, int64_t begin, int64_t end, const Load& load,
                 const LoadOne& load_one, const Join& join, const First& first, const Store& store,
                 const StoreOne& store_one) {
  static_assert(Window > 1 && Window <= Items && Blocks % Elements == 0);
  constexpr int size = Items * Blocks;
  const int item = int(local_id()), here = int(end - begin);
  // Items beside each other take neighbours beside each other, row by row.
  const int in_row = item * Elements;
  const bool is_last = part + 1 == tiles;

  if (here == size) {
    // All loads are on their way before the first value is put down.
    Value several[Blocks];
#pragma unroll
    for (int r = 0; r < Blocks; r += Elements) load(begin + r * Items + in_row, several + r);
#pragma unroll
    for (int r = 0; r < Blocks; ++r) {
      space.at(r / Elements * Elements * Items + in_row + r % Elements) = several[r];
    }
  } else {
    for (int k = item; k < here; k += Items) space.at(k) = load_one(begin + k);
  }
  group_barrier();

  // Each item joins its own elements, which are neighbours; then the items join what they have.
  const int from = item * Blocks, to = min(from + Blocks, here);
  if (from < here) {
    Value own = space.at(from);
    for (int k = from + 1; k < to; ++k) own = join(own, space.at(k));
    space.sums[0][item] = own;
  }
  const int busy = (here + Blocks - 1) / Blocks;
  int now = join_items(space.sums, busy, join);
  const Value total = space.sums[now][busy - 1];
  const Value before = space.sums[now][from < here && item > 0 ? item - 1 : 0];
  group_barrier();

  // The total of this tile is told before anything is waited for.
  const int64_t at = line * tiles + part;
  if (item == 0 && !is_last) tell(told.totals + at, told.has_total + at, total);
  const int inside = int(part % Window);
  const int64_t windows = (tiles + Window - 1) / Window;
  const int64_t window = line * windows + part / Window;
  Value carry{};
  if (inside > 0) {
    const int64_t other = at - inside + item;
    if (item < inside) space.sums[0][item] = hear(told.totals + other, told.has_total + other);
    now = join_items(space.sums, inside, join);
    carry = space.sums[now][inside - 1];
  }
  if (part >= Window) {
    if (item == 0) space.carry = hear(told.carries + window, told.has_carry + window);
    group_barrier();
    carry = inside > 0 ? join(space.carry, carry) : space.carry;
  }
  if (item == 0 && inside == Window - 1 && !is_last) {
    tell(told.carries + window + 1, told.has_carry + window + 1, join(carry, total));
  }

  if (from < here) {
    Value own = carry;
    bool any = part > 0;
    if (item > 0) {
      own = any ? join(own, before) : before;
      any = true;
    }
    for (int k = from; k < to; ++k) {
      const Value next = space.at(k);
      if constexpr (Exclusive) space.at(k) = any ? own : first();
      own = any ? join(own, next) : next;
      any = true;
      if constexpr (!Exclusive) space.at(k) = own;
    }
  }
  group_barrier();
  if (here == size) {
#pragma unroll
    for (int r = 0; r < Blocks; r += Elements) {
      Value several[Elements];
      for (int e = 0; e < Elements; ++e) several[e] = space.at(r * Items + in_row + e);
      store(begin + r * Items + in_row, several);
    }
  } else {
    for (int k = item; k < here; k += Items) store_one(begin + k, space.at(k));
  }
}

}  // namespace usmx::expression::scan
