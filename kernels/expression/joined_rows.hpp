// Kernels that join the elements of each row and go on with the same row: a group has a few rows,
// one after the other or, where groups are not loops, side by side, each for `Lanes` of its items;
// reads each several times while it is in the cache, and waits for nothing but itself.
//
// Elements are joined in the order of reduce.hpp, where one group has all of a row, so a sum has
// the bits here that it has there.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reduce.hpp"

namespace usmx::expression::rows {

/// The rows of a group.
struct range {
  int64_t first, last;

  range(int64_t rows, int64_t rows_a_group)
      : first(int64_t(group_id()) * rows_a_group), last(rows) {
    if (last - first > rows_a_group) last = first + rows_a_group;
  }
};

/// Joins the elements of each row: `row(number, slot)` is what the map knows of a row, and
/// `store(value, slot)` keeps the value of the row at this place of the group.
template <int Items, int Lanes, int Blocks, int Most, class Value, class Row, class Map, class Join,
          class Store>
[[gnu::always_inline]] inline void joined(const range& rows, int64_t length,
                                          Value (&values)[Most][Items], const Row& row,
                                          const Map& map, const Join& join, const Store& store) {
  const int item = int(local_id());
  const int wide = length < Lanes ? int(length) : Lanes;
  if constexpr (Most > 1) {
    static_assert(Lanes == Items);
    for (int64_t number = rows.first; number < rows.last; ++number) {
      const int64_t slot = number - rows.first;
      const auto where = row(number, slot);
      if (length >= Items) {
        values[slot][item] =
            reduce::row_of_one_item<Items, Blocks, 1, Value>(where, item, length, item, map, join);
      } else if (item < length) {
        values[slot][item] = map(where, item, 0);
      }
    }
    group_barrier();
    for (int64_t slot = item; slot < rows.last - rows.first; slot += Items) {
      Value sum = values[slot][0];
      for (int k = 1; k < wide; ++k) sum = join(sum, values[slot][k]);
      store(sum, slot);
    }
  } else {
    const int lane = item % Lanes, slot = item / Lanes;
    const bool is_here = rows.first + slot < rows.last;
    if (is_here && lane < length) {
      values[0][item] = reduce::row_of_one_item<Lanes, Blocks, reduce::rounds_of_core, Value>(
          row(rows.first + slot, slot), lane, length, lane, map, join);
    }
    reduce::by_halves<Items, Lanes>(values[0], item, is_here ? wide : 0, join);
    if (is_here && lane == 0) store(values[0][item], slot);
  }
  group_barrier();
}

/// `one(where, row, column)` for each element of the rows, so many at once.
template <int Items, int Lanes, int Rounds, class Row, class One>
[[gnu::always_inline]] inline void each_element(const range& rows, int64_t length, const Row& row,
                                                const One& one) {
  const int64_t lane = int64_t(local_id()) % Lanes;
  for (int64_t number = rows.first + int64_t(local_id()) / Lanes; number < rows.last;
       number += Items / Lanes) {
    const auto where = row(number, number - rows.first);
    int64_t column = 0;
    if constexpr (Rounds > 1) {
      for (; column + Lanes * Rounds <= length; column += Lanes * Rounds) {
#pragma clang loop unroll(full)
        for (int k = 0; k < Rounds; ++k) one(where, number, column + k * Lanes + lane);
      }
    }
    // All items have an element: no condition keeps the compiler from making vectors of them.
    for (; column + Lanes <= length; column += Lanes) one(where, number, column + lane);
    if (column + lane < length) one(where, number, column + lane);
  }
}

/// The elements of one row that an item keeps in registers: every `Lanes`th, `Blocks` of them in
/// each of so many rounds, and with `Rest` up to so many more. An item without a row has the first
/// of its group, and stores nothing.
template <int Items, int Lanes, int Blocks, int Rounds, bool Rest>
struct hand {
  static constexpr int full = Rounds * Blocks, size = full + (Rest ? Blocks : 0);
  int item, lane;
  bool is_here;
  int64_t slot, row, length;

  hand(const range& rows, int64_t its_length)
      : item(int(local_id())),
        lane(item % Lanes),
        is_here(rows.first + item / Lanes < rows.last),
        slot(item / Lanes),
        row(is_here ? rows.first + slot : rows.first),
        length(its_length) {}

  bool has(int k) const { return k < full || lane + k * Lanes < length; }
  /// `one(column, k)` for each.
  template <class One>
  [[gnu::always_inline]] void each(const One& one) const {
#pragma clang loop unroll(full)
    for (int k = 0; k < size; ++k) {
      if (has(k)) one(int64_t(lane + k * Lanes), k);
    }
  }
  /// Joins what the map makes of them, as reduce::row_of_one_item does.
  template <class Value, class Map, class Join>
  [[gnu::always_inline]] Value value(const Map& map, const Join& join) const {
    Value now;
    if constexpr (Rounds > 0) {
      Value blocks[Blocks];
#pragma clang loop unroll(full)
      for (int k = 0; k < full; ++k) {
        const Value next = map(lane + k * Lanes, k);
        blocks[k % Blocks] = k < Blocks ? next : join(blocks[k % Blocks], next);
      }
#pragma clang loop unroll(full)
      for (int w = Blocks / 2; w > 0; w /= 2) {
#pragma clang loop unroll(full)
        for (int b = 0; b < w; ++b) blocks[b] = join(blocks[b], blocks[b + w]);
      }
      now = blocks[0];
    }
#pragma clang loop unroll(full)
    for (int k = full; k < size; ++k) {
      if (!has(k)) continue;
      const Value next = map(lane + k * Lanes, k);
      now = k == 0 ? next : join(now, next);
    }
    return now;
  }
};

/// Joins the elements that items have in hand; `store(value, slot)` is seen by the items of the row
/// when it returns.
template <class Value, int Items, int Lanes, int Blocks, int Rounds, bool Rest, class Map,
          class Join, class Store>
[[gnu::always_inline]] inline void joined_in_hand(
    const hand<Items, Lanes, Blocks, Rounds, Rest>& mine, Value (&values)[1][Items], const Map& map,
    const Join& join, const Store& store) {
  const int wide = Rounds == 0 && mine.length < Lanes ? int(mine.length) : Lanes;
  const Value now = reduce::by_halves_in_hand<Items, Lanes>(
      values[0], mine.template value<Value>(map, join), mine.item, wide, join);
  if (mine.lane == 0) store(now, mine.slot);
  reduce::wait_for(Lanes);
}

/// `one(where, row)` for each of the rows.
template <int Items, class Row, class One>
[[gnu::always_inline]] inline void each_row(const range& rows, const Row& row, const One& one) {
  for (int64_t slot = int64_t(local_id()); slot < rows.last - rows.first; slot += Items)
    one(row(rows.first + slot, slot), rows.first + slot);
}

}  // namespace usmx::expression::rows
