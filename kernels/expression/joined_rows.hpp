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

/// The elements of one row that an item keeps in registers. `Lanes` items share the row, and join
/// it in the order of `Width` items with so many blocks in hand, which is that of a reduction
/// alone: with fewer items each does what several would do, with more each has fewer blocks. An
/// item has every `Lanes`th element of so many rounds, and with `Rest` up to so many more. One
/// without a row has the first of its group, and stores nothing.
template <int Items, int Lanes, int Width, int Blocks, int Rounds, bool Rest>
struct hand {
  /// Each of so many neighbours, `Lanes` apart, is joined for itself first.
  static constexpr int slots = Lanes < Width ? Width / Lanes : 1;
  static constexpr int blocks = Width * Blocks / Lanes, full = Rounds * blocks;
  /// What is behind the rounds belongs to the first `Width` items.
  static constexpr int step = Lanes < Width ? Lanes : Width;
  static constexpr int size = full + (Rest ? Blocks * slots : 0);
  /// Items that do the work of several have two elements for each at least.
  static constexpr int sure = Rounds == 0 && slots > 1 ? 2 * slots : full;
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

  int column(int k) const {
    return lane + (k < full ? k * Lanes : full * Lanes + (k - full) * step);
  }
  bool has(int k) const {
    return k < sure || ((Lanes <= Width || lane < Width) && column(k) < length);
  }
  /// `one(column, k)` for each.
  template <class One>
  [[gnu::always_inline]] void each(const One& one) const {
#pragma clang loop unroll(full)
    for (int k = 0; k < size; ++k) {
      if (has(k)) one(int64_t(column(k)), k);
    }
  }
  /// Joins what the map makes of full rounds, as reduce::row_of_one_item does, for each slot.
  template <class Value, class Map, class Join>
  [[gnu::always_inline]] void join_rounds(Value (&now)[slots], const Map& map,
                                          const Join& join) const {
    if constexpr (Rounds > 0) {
      Value of[blocks];
#pragma clang loop unroll(full)
      for (int k = 0; k < full; ++k) {
        const Value next = map(column(k), k);
        of[k % blocks] = k < blocks ? next : join(of[k % blocks], next);
      }
#pragma clang loop unroll(full)
      for (int w = blocks / 2; w >= slots; w /= 2) {
#pragma clang loop unroll(full)
        for (int b = 0; b < w; ++b) of[b] = join(of[b], of[b + w]);
      }
#pragma clang loop unroll(full)
      for (int s = 0; s < slots; ++s) now[s] = of[s];
    }
  }
  /// The same with what is behind them, and one value of all slots.
  template <class Value, class Map, class Join>
  [[gnu::always_inline]] Value with_rest(Value (&now)[slots], const Map& map,
                                         const Join& join) const {
#pragma clang loop unroll(full)
    for (int k = full; k < size; ++k) {
      if (!has(k)) continue;
      const Value next = map(column(k), k);
      Value& own = now[(k - full) % slots];
      own = k < slots ? next : join(own, next);
    }
#pragma clang loop unroll(full)
    for (int w = slots / 2; w > 0; w /= 2) {
#pragma clang loop unroll(full)
      for (int s = 0; s < w; ++s) now[s] = join(now[s], now[s + w]);
    }
    return now[0];
  }
};

/// Joins the elements that items have in hand; `store(value, slot)` is seen by the items of the row
/// when it returns.
template <class Value, int Items, int Lanes, int Width, int Blocks, int Rounds, bool Rest,
          class Map, class Join, class Store>
[[gnu::always_inline]] inline void joined_in_hand(
    const hand<Items, Lanes, Width, Blocks, Rounds, Rest>& mine, Value (&values)[1][Items],
    const Map& map, const Join& join, const Store& store) {
  Value of[hand<Items, Lanes, Width, Blocks, Rounds, Rest>::slots], now;
  mine.join_rounds(of, map, join);
  if constexpr (Lanes > Width) {
    // The halves that a reduction alone has in registers; the first items go on.
    static_assert(Rounds > 0 && Items == Lanes);
    values[0][mine.item] = of[0];
    group_barrier();
    if (mine.item < Width) {
      constexpr int parts = Lanes / Width;
      Value part[parts];
#pragma clang loop unroll(full)
      for (int j = 0; j < parts; ++j) part[j] = values[0][mine.item + j * Width];
#pragma clang loop unroll(full)
      for (int w = parts / 2; w > 0; w /= 2) {
#pragma clang loop unroll(full)
        for (int j = 0; j < w; ++j) part[j] = join(part[j], part[j + w]);
      }
      of[0] = part[0];
      now = mine.with_rest(of, map, join);
    }
    now = reduce::by_halves_in_hand<Items, Width>(values[0], now, mine.item,
                                                  mine.item < Width ? Width : 0, join);
  } else {
    const int wide = Rounds == 0 && mine.length < Lanes ? int(mine.length) : Lanes;
    now = reduce::by_halves_in_hand<Items, Lanes>(values[0], mine.with_rest(of, map, join),
                                                  mine.item, wide, join);
  }
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
