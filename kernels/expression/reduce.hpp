// Reductions: how the items of a group share the elements, and in which order they are joined,
// which is the same in every run.
//
// No item starts with the identity: each starts with an element, so that none is needed and none
// counts. Of a kernel these functions take what differs from one to the next:
//
//   kept.at(number)            where a result begins in each input
//   rows.at(row)               where a row of elements begins, from there
//   map(where, i, column)      element i of a row, as a value
//   join(a, b)                 two values as one
//   store(value, place)        what becomes of a result, or of a part of one
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../prelude/vote.hpp"
#include "loops.hpp"
#include "moments.hpp"
#include "operand.hpp"
#include "product.hpp"

namespace usmx::expression::reduce {

/// How the elements of each result are cut: into rows, and the rows into parts.
struct work {
  int64_t results;      ///< all of them
  int64_t rows;         ///< of each result
  int64_t length;       ///< elements of a row
  int64_t rows_a_part;  ///< 1 if a row has several parts
  int64_t parts_a_row;
  int64_t chunk;  ///< elements of a row that a part has
  int64_t parts;  ///< of each result
};

/// The elements of one part: those from `begin` to `end` of some rows.
struct part {
  int64_t first_row, last_row;
  int64_t begin, end;

  part(const work& w, int64_t number)
      : first_row(number / w.parts_a_row * w.rows_a_part),
        last_row(min(first_row + w.rows_a_part, w.rows)),
        begin(number % w.parts_a_row * w.chunk),
        end(min(begin + w.chunk, w.length)) {}

 private:
  static int64_t min(int64_t a, int64_t b) { return a < b ? a : b; }
};

/// Which result it is, and which part of it. Tiled: `column` of the results `batch`.
struct place {
  int64_t result, part, batch, column;
};

/// What is asked of `_in_ind` and `_out_ind`, CuPy's names.
struct index_range {
  int64_t count;
  int64_t size() const { return count; }
};

/// The values of the items of a group, of several segments one after the other.
template <class Value, int Items, int Segments>
using tile = Value[Segments][Items];

/// Joins what is left from `at` on, at most so many elements, after all of them are loaded.
template <int Items, int Most, class Value, class Where, class Map, class Join>
[[gnu::always_inline]] inline Value with_rest(Value now, const Where& where, int64_t at,
                                              int64_t end, const Map& map, const Join& join) {
  Value next[Most];
#pragma clang loop unroll(full)
  for (int k = 0; k < Most; ++k) {
    if (at + k * Items < end) next[k] = map(where, at + k * Items, 0);
  }
#pragma clang loop unroll(full)
  for (int k = 0; k < Most; ++k) {
    if (at + k * Items < end) now = join(now, next[k]);
  }
  return now;
}

/// Joins every `Items`th element of a row from `at` on; there is one at least. All loads of so many
/// rounds are on their way before the first of them is joined.
template <int Items, int Blocks, int Rounds, class Value, class Where, class Map, class Join>
[[gnu::always_inline]] inline Value row_of_one_item(const Where& where, int64_t at, int64_t end,
                                                    int item, const Map& map, const Join& join) {
  Value now;
  const int64_t last = end + item;
  if (last - at >= Items * Blocks) {
    Value hand[Blocks];
#pragma clang loop unroll(full)
    for (int b = 0; b < Blocks; ++b) hand[b] = map(where, at + b * Items, 0);
    at += Items * Blocks;
    if constexpr (Rounds > 1) {
      for (; last - at >= Items * Blocks * Rounds; at += Items * Blocks * Rounds) {
        Value next[Rounds * Blocks];
#pragma clang loop unroll(full)
        for (int k = 0; k < Rounds * Blocks; ++k) next[k] = map(where, at + k * Items, 0);
#pragma clang loop unroll(full)
        for (int k = 0; k < Rounds * Blocks; ++k)
          hand[k % Blocks] = join(hand[k % Blocks], next[k]);
      }
    }
    for (; last - at >= Items * Blocks; at += Items * Blocks) {
#pragma clang loop unroll(full)
      for (int b = 0; b < Blocks; ++b) hand[b] = join(hand[b], map(where, at + b * Items, 0));
    }
#pragma clang loop unroll(full)
    for (int w = Blocks / 2; w > 0; w /= 2) {
#pragma clang loop unroll(full)
      for (int b = 0; b < w; ++b) hand[b] = join(hand[b], hand[b + w]);
    }
    now = hand[0];
  } else if constexpr (Rounds > 1) {
    now = map(where, at, 0);
    at += Items;
    return with_rest<Items, Blocks - 1>(now, where, at, end, map, join);
  } else {
    now = map(where, at, 0);
    at += Items;
  }
  if constexpr (Rounds > 1) {
    return last > at ? with_rest<Items, Blocks>(now, where, at, end, map, join) : now;
  }
  for (; last - at >= Items; at += Items) now = join(now, map(where, at, 0));
  if (at < end) now = join(now, map(where, at, 0));
  return now;
}

/// Where a group fills a core: an item with four elements in hand then has sixteen loads on their
/// way in rows of 4096 elements and of 16 384.
inline constexpr int rounds_of_core = 3;

/// Joins what the first `wide` of each `Lanes` items have, by halves; `values[item]` of the first
/// one is the result. Items of one sub-group wait for no other.
template <int Items, int Lanes, class Value, class Join>
[[gnu::always_inline]] inline void by_halves(Value (&values)[Items], int item, int wide,
                                             const Join& join) {
  const auto wait = [](int count) {
    if (count <= int(sub_group_max_size()))
      vote_barrier();
    else
      group_barrier();
  };
  const int lane = item % Lanes;
  wait(Lanes);
#pragma clang loop unroll(full)
  for (int half = Lanes / 2; half > 0; half /= 2) {
    if (lane < half && lane + half < wide) values[item] = join(values[item], values[item + half]);
    wait(half);
  }
}

/// Waits for so many neighbours, as by_halves does.
[[gnu::always_inline]] inline void wait_for(int count) {
  if (count <= int(sub_group_max_size()))
    vote_barrier();
  else
    group_barrier();
}

/// The same in the same order, returned to the first item. Each keeps its own value in a register,
/// and the first 32 items join what the others have after one wait.
template <int Items, int Lanes, class Value, class Join>
[[gnu::always_inline]] inline Value by_halves_in_hand(Value (&values)[Items], Value now, int item,
                                                      int wide, const Join& join) {
  constexpr int few = Lanes < 32 ? Lanes : 32, parts = Lanes / few;
  const int lane = item % Lanes;
  if (lane < wide) values[item] = now;
  wait_for(Lanes);
  if constexpr (parts > 1) {
    if (lane < few) {
      Value of[parts];
      of[0] = now;
#pragma clang loop unroll(full)
      for (int j = 1; j < parts; ++j) {
        if (lane + j * few < wide) of[j] = values[item + j * few];
      }
#pragma clang loop unroll(full)
      for (int w = parts / 2; w > 0; w /= 2) {
#pragma clang loop unroll(full)
        for (int j = 0; j < w; ++j) {
          if (lane + (j + w) * few < wide) of[j] = join(of[j], of[j + w]);
        }
      }
      values[item] = now = of[0];
    }
    wait_for(few);
  }
#pragma clang loop unroll(full)
  for (int half = few / 2; half > 0; half /= 2) {
    if (lane < half && lane + half < wide) values[item] = now = join(now, values[item + half]);
    if (half > 1) wait_for(half);
  }
  return now;
}

/// So many items share a result of few elements: neighbours read neighbouring elements, and a group
/// makes `Items / Lanes` results.
template <int Items, int Lanes, int Blocks, class Value, class Kept, class Rows, class Map,
          class Join, class Store>
[[gnu::always_inline]] inline void shared(const work& w, Value (&values)[Items], const Kept& kept,
                                          const Rows& rows, const Map& map, const Join& join,
                                          const Store& store) {
  const int item = int(local_id()), lane = item % Lanes;
  const int64_t result = int64_t(group_id()) * (Items / Lanes) + item / Lanes;
  const bool is_here = result < w.results;
  if (is_here && lane < w.length) {
    const auto base = kept.at(result);
    Value sum;
    for (int64_t row = 0; row < w.rows; ++row) {
      const Value now = row_of_one_item<Lanes, Blocks, rounds_of_core, Value>(
          base + rows.at(row), lane, w.length, lane, map, join);
      sum = row == 0 ? now : join(sum, now);
    }
    values[item] = sum;
  }
  by_halves<Items, Lanes>(values, item,
                          !is_here           ? 0
                          : w.length < Lanes ? int(w.length)
                                             : Lanes,
                          join);
  if (is_here && lane == 0) store(values[item], place{result, 0, 0, 0});
}

/// Neighbouring items read neighbouring elements of one result and join what they have. A group
/// makes `Segments` parts one after the other.
template <int Items, int Blocks, int Segments, class Value, class Kept, class Rows, class Map,
          class Join, class Store>
[[gnu::always_inline]] inline void along(const work& w, Value (&values)[Segments][Items],
                                         const Kept& kept, const Rows& rows, const Map& map,
                                         const Join& join, const Store& store) {
  constexpr int rounds = Segments > 1 ? 1 : rounds_of_core;
  const int item = int(local_id());
  const int64_t first = int64_t(group_id()) * Segments;
  for (int s = 0; s < Segments; ++s) {
    const int64_t segment = first + s;
    if (segment < w.results * w.parts) {
      const part mine(w, segment % w.parts);
      const auto base = kept.at(segment / w.parts);
      Value sum;
      // All items have an element: no condition keeps the compiler from making vectors of them.
      if (mine.end - mine.begin >= Items) {
        for (int64_t row = mine.first_row; row < mine.last_row; ++row) {
          const Value now = row_of_one_item<Items, Blocks, rounds, Value>(
              base + rows.at(row), mine.begin + item, mine.end, item, map, join);
          sum = row == mine.first_row ? now : join(sum, now);
        }
        values[s][item] = sum;
      } else if (item < mine.end - mine.begin) {
        for (int64_t row = mine.first_row; row < mine.last_row; ++row) {
          const Value now = map(base + rows.at(row), mine.begin + item, 0);
          sum = row == mine.first_row ? now : join(sum, now);
        }
        values[s][item] = sum;
      }
    }
  }
  if constexpr (Segments > 1) group_barrier();

  // How many items had an element of that part.
  const auto width = [&](int64_t number) {
    const int64_t left = w.length - number % w.parts_a_row * w.chunk;
    const int64_t here = left < w.chunk ? left : w.chunk;
    return here < Items ? int(here) : Items;
  };
  if constexpr (Segments > 1) {
    for (int s = item; s < Segments; s += Items) {
      const int64_t segment = first + s;
      if (segment < w.results * w.parts) {
        const int wide = width(segment % w.parts);
        Value sum = values[s][0];
        for (int k = 1; k < wide; ++k) sum = join(sum, values[s][k]);
        store(sum, place{segment / w.parts, segment % w.parts, 0, 0});
      }
    }
  } else {
    by_halves<Items, Items>(values[0], item, width(first % w.parts), join);
    if (item == 0) store(values[0][0], place{first / w.parts, first % w.parts, 0, 0});
  }
}

/// Neighbouring items make neighbouring results, each alone, `Blocks` of them at once, whose
/// columns are `Items` apart; so many rounds are loaded before the first of them is joined.
/// `where(row, block)` is where the elements of that column begin.
template <int Items, int Blocks, int Rounds, class Value, class Where, class Map, class Join,
          class Store>
[[gnu::always_inline]] inline void columns(const part& mine, int64_t column0, int64_t count,
                                           const Where& where, const Map& map, const Join& join,
                                           const Store& store) {
  const int64_t column1 = column0 + int64_t(local_id());
  if (column0 + Items * Blocks <= count) {
    Value hand[Blocks];
    for (int64_t row = mine.first_row; row < mine.last_row; ++row) {
      const auto at = where.row(row);
      int64_t i = mine.begin;
      if (row == mine.first_row) {
#pragma clang loop unroll(full)
        for (int b = 0; b < Blocks; ++b) hand[b] = map(where.block(at, b), i, column1 + b * Items);
        ++i;
      }
      if constexpr (Rounds > 1) {
        for (; mine.end - i >= Rounds; i += Rounds) {
          Value next[Rounds * Blocks];
#pragma clang loop unroll(full)
          for (int k = 0; k < Rounds * Blocks; ++k)
            next[k] =
                map(where.block(at, k % Blocks), i + k / Blocks, column1 + k % Blocks * Items);
#pragma clang loop unroll(full)
          for (int k = 0; k < Rounds * Blocks; ++k)
            hand[k % Blocks] = join(hand[k % Blocks], next[k]);
        }
      }
      for (; i < mine.end; ++i) {
#pragma clang loop unroll(full)
        for (int b = 0; b < Blocks; ++b)
          hand[b] = join(hand[b], map(where.block(at, b), i, column1 + b * Items));
      }
    }
    for (int b = 0; b < Blocks; ++b) store(hand[b], column1 + b * Items);
  } else {
    for (int b = 0; b < Blocks; ++b) {
      const int64_t column = column1 + b * Items;
      if (column < count) {
        Value sum;
        for (int64_t row = mine.first_row; row < mine.last_row; ++row) {
          const auto at = where.row(row);
          int64_t i = mine.begin;
          if (row == mine.first_row) sum = map(where.block(at, b), i++, column);
          for (; i < mine.end; ++i) sum = join(sum, map(where.block(at, b), i, column));
        }
        store(sum, column);
      }
    }
  }
}

/// Where results stand in tiles: all columns of a batch have one beginning.
template <class Base, class Rows>
struct of_batch {
  Base base;
  const Rows& rows;

  Base row(int64_t number) const { return base + rows.at(number); }
  const Base& block(const Base& at, int) const { return at; }
};
/// Where results have no common step: each has its own beginning.
template <int Blocks, class Base, class Rows>
struct of_each {
  Base own[Blocks];
  const Rows& rows;

  Base row(int64_t number) const { return rows.at(number); }
  Base block(const Base& at, int b) const { return at + own[b]; }
};

/// Results in batches of `count` columns with a common step, in tiles of `Items * Blocks`.
template <int Items, int Blocks, int Rounds, class Value, class Kept, class Rows, class Map,
          class Join, class Store>
[[gnu::always_inline]] inline void across(const work& w, int64_t count, int64_t tiles,
                                          const Kept& kept, const Rows& rows, const Map& map,
                                          const Join& join, const Store& store) {
  const int64_t group = int64_t(group_id()), batches = w.results / count;
  const int64_t column0 = group % tiles * (Items * Blocks);
  const int64_t batch = group / tiles % batches, number = group / tiles / batches;
  const of_batch<decltype(kept.at(0)), Rows> where{kept.at(batch), rows};
  columns<Items, Blocks, Rounds, Value>(
      part(w, number), column0, count, where, map, join, [&](const Value& value, int64_t column) {
        store(value, place{batch * count + column, number, batch, column});
      });
}

/// The same where each item finds its own place.
template <int Items, int Blocks, int Rounds, class Value, class Kept, class Rows, class Map,
          class Join, class Store>
[[gnu::always_inline]] inline void scattered(const work& w, const Kept& kept, const Rows& rows,
                                             const Map& map, const Join& join, const Store& store) {
  const int64_t tiles = (w.results + Items * Blocks - 1) / (Items * Blocks);
  const int64_t group = int64_t(group_id());
  const int64_t column0 = group % tiles * (Items * Blocks), number = group / tiles;
  of_each<Blocks, decltype(kept.at(0)), Rows> where{{}, rows};
  for (int b = 0; b < Blocks; ++b)
    where.own[b] = kept.at(column0 + b * Items + int64_t(local_id()));
  columns<Items, Blocks, Rounds, Value>(
      part(w, number), column0, w.results, where, map, join,
      [&](const Value& value, int64_t column) { store(value, place{column, number, 0, column}); });
}

/// The result of each empty reduction.
template <class Identity, class Store>
[[gnu::always_inline]] inline void nothing(int64_t results, const Identity& identity,
                                           const Store& store) {
  const int64_t result = int64_t(global_id());
  if (result < results) store(identity(), place{result, 0, 0, 0});
}

}  // namespace usmx::expression::reduce
