// Scans: how the elements of a line are shared and joined, always in their order, so that the
// expression need not be commutative.
//
// Nothing starts with the identity, only an exclusive scan stores it. Of a kernel these functions
// take what differs from one to the next:
//
//   begin.at(line), target.at(line)     where a line begins in each input and output
//   load(count<N>, where, i, values)    elements i, ..., i + N - 1 of a line, as values
//   join(a, b)                          what came before and the next, as one
//   first()                             stands before the first element of an exclusive scan
//   store(count<N>, where, i, values)   what becomes of them
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../turn.hpp"
#include "elementwise.hpp"
#include "loops.hpp"

namespace usmx::expression::scan {

/// So many neighbours.
template <int N>
struct count {};

template <int N, class T>
inline T* aligned(count<N>, T* p) {
  return expression::aligned<N>(p);
}

/// `map(i, k, pointers...)` makes a value of the inputs at `k` of pointers to element i - k.
template <int N, class Value, class Map, class... Loaded>
[[gnu::always_inline]] inline void map_each(Value* to, int64_t i, const Map& map,
                                            const Loaded&... loaded) {
#pragma unroll
  for (int k = 0; k < N; ++k) to[k] = map(i + k, k, loaded.at...);
}
template <int N, class Value, class Map, class... Inputs>
[[gnu::always_inline]] inline void load(count<N>, Value* to, int64_t i, const Map& map,
                                        const Inputs*... inputs) {
  if constexpr (N == 1) {
    *to = map(i, 0, inputs...);  // by way of memory the CPU's compiler makes no vectors
  } else {
    map_each<N>(to, i, map, load_several<N>(inputs)...);
  }
}
/// `put(i, value, k, pointers...)` makes of a value the outputs at `k`.
template <int N, class Value, class Put, class... Outputs>
[[gnu::always_inline]] inline void store(count<N>, const Value* from, int64_t i, const Put& put,
                                         Outputs*... outputs) {
  if constexpr (N == 1) {
    put(i, *from, 0, outputs...);
  } else {
#pragma unroll
    for (int k = 0; k < N; ++k) put(i + k, from[k], k, outputs...);
  }
}
/// Stores nothing, where only totals are wanted.
struct no_store {
  template <class... Arguments>
  void operator()(const Arguments&...) const {}
};

/// Lines of elements, each cut into chunks.
struct work {
  int64_t lines, length, chunk, chunks;
};
/// The elements of one chunk.
struct part {
  int64_t line, number, begin, end;

  part(const work& w, int64_t of_line, int64_t nth)
      : line(of_line),
        number(nth),
        begin(nth * w.chunk),
        end(begin + w.chunk < w.length ? begin + w.chunk : w.length) {}
};

/// What is done with chunks: each is a line of its own, leaves its total and nothing else, or
/// begins with what the chunks before it come to.
enum class task { whole, totals, carried };

// --- one chunk for each item or group ------------------------------------------------------------

/// Neighbouring items have neighbouring lines, each alone. Totals of chunks of one number are
/// neighbours.
template <task Task, bool Exclusive, class Value, class Begin, class Target, class Load, class Join,
          class First, class Store>
[[gnu::always_inline]] inline void across(const work& w, Value* totals, const Begin& begin,
                                          const Target& target, const Load& load, const Join& join,
                                          const First& first, const Store& store) {
  const int64_t id = int64_t(global_id());
  if (id >= w.lines * w.chunks) return;
  const part mine(w, id % w.lines, id / w.lines);
  const auto from = begin.at(mine.line);
  Value next;
  if constexpr (Task == task::totals) {
    Value sum;
    load(count<1>(), from, mine.begin, &sum);
    for (int64_t i = mine.begin + 1; i < mine.end; ++i) {
      load(count<1>(), from, i, &next);
      sum = join(sum, next);
    }
    totals[mine.number * w.lines + mine.line] = sum;
  } else {
    const auto to = target.at(mine.line);
    Value carry;
    int64_t i = mine.begin;
    if (Task == task::carried && mine.number > 0) {
      carry = totals[(mine.number - 1) * w.lines + mine.line];
    } else {
      load(count<1>(), from, i, &carry);
      if constexpr (Exclusive) {
        const Value before = first();
        store(count<1>(), to, i, &before);
      } else {
        store(count<1>(), to, i, &carry);
      }
      ++i;
    }
    for (; i < mine.end; ++i) {
      load(count<1>(), from, i, &next);
      if constexpr (Exclusive) store(count<1>(), to, i, &carry);
      carry = join(carry, next);
      if constexpr (!Exclusive) store(count<1>(), to, i, &carry);
    }
  }
}

/// Local memory of a group: the values of a tile, and what items have, twice.
template <class Value, int Items, int Blocks>
struct tile_values {
  Value hand[Items * Blocks];
  Value sums[2][Items];
};

/// A group shares a chunk of one line, tile by tile. Totals of a line are neighbours.
template <task Task, bool Exclusive, class Value, int Items, int Blocks, class Begin, class Target,
          class Load, class Join, class First, class Store>
[[gnu::always_inline]] inline void along(tile_values<Value, Items, Blocks>& space, const work& w,
                                         Value* totals, const Begin& begin, const Target& target,
                                         const Load& load, const Join& join, const First& first,
                                         const Store& store) {
  constexpr int size = Items * Blocks;
  const int item = int(local_id());
  const int64_t group = int64_t(group_id());
  const part mine(w, group / w.chunks, group % w.chunks);
  const auto from = begin.at(mine.line);
  const auto to = target.at(mine.line);
  Value carry{};
  bool any = false;
  if (Task == task::carried && mine.number > 0) {
    carry = totals[mine.line * w.chunks + mine.number - 1];
    any = true;
  }
  for (int64_t at = mine.begin; at < mine.end; at += size) {
    const int here = mine.end - at < size ? int(mine.end - at) : size;
    for (int k = item; k < here; k += Items) load(count<1>(), from, at + k, &space.hand[k]);
    group_barrier();
    // Each item joins its own elements, which are neighbours; then the items join what they have.
    const int own_first = item * Blocks;
    const int own_last = own_first + Blocks < here ? own_first + Blocks : here;
    if (own_first < here) {
      Value own = space.hand[own_first];
      for (int k = own_first + 1; k < own_last; ++k) own = join(own, space.hand[k]);
      space.sums[0][item] = own;
    }
    group_barrier();
    int now = 0;
    for (int step = 1; step < Items; step *= 2) {
      if (own_first < here) {
        space.sums[1 - now][item] = item < step
                                        ? space.sums[now][item]
                                        : join(space.sums[now][item - step], space.sums[now][item]);
      }
      now = 1 - now;
      group_barrier();
    }
    const Value all = space.sums[now][(here - 1) / Blocks];
    if constexpr (Task != task::totals) {
      if (own_first < here) {
        Value own = carry;
        bool has = any;
        if (item > 0) {
          const Value before = space.sums[now][item - 1];
          own = has ? join(own, before) : before;
          has = true;
        }
        for (int k = own_first; k < own_last; ++k) {
          const Value next = space.hand[k];
          if constexpr (Exclusive) space.hand[k] = has ? own : first();
          own = has ? join(own, next) : next;
          has = true;
          if constexpr (!Exclusive) space.hand[k] = own;
        }
      }
      group_barrier();
      for (int k = item; k < here; k += Items) store(count<1>(), to, at + k, &space.hand[k]);
    }
    carry = any ? join(carry, all) : all;
    any = true;
    group_barrier();
  }
  if constexpr (Task == task::totals) {
    if (item == 0) totals[mine.line * w.chunks + mine.number] = carry;
  }
}

// --- all in one launch ---------------------------------------------------------------------------
//
// Each element is read and written once: groups hand on what the elements before theirs come to,
// without a launch in between. Each group takes a number as it starts and waits for groups of
// smaller numbers alone, which have started: it ends wherever groups that have started go on
// running. What is joined with what depends on the place of a tile and never on time, so sums of
// floats are the same in every run.

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
template <class Value, class Word>
struct board {
  /// Values of up to four bytes stand in the words of their flags: no fence has to order them.
  static constexpr bool in_words = sizeof(Word) == 8;

  uint32_t* next_number;
  /// For each tile, and for each window of tiles, whether its total stands in `totals`; for each
  /// window of windows whether what comes before it stands in `carries`.
  Word* has_total;
  Word* has_window;
  Word* has_carry;
  Value* totals;
  Value* windows;
  Value* carries;

  board(Word* flags, Value* values, int64_t tiles, int64_t all_windows)
      : next_number((uint32_t*)flags),
        has_total(flags + 1),
        has_window(has_total + tiles),
        has_carry(has_window + all_windows),
        totals(values),
        windows(totals + tiles),
        carries(windows + all_windows) {}
};

template <class Value, class Word>
inline void tell(Value* where, Word* flag, const Value& value) {
  if constexpr (board<Value, Word>::in_words) {
    uint32_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    atomic_store(flag, Word(1) << 32 | bits);
  } else {
    *where = value;
    fence();
    atomic_store(flag, Word(1));
  }
}
template <class Value, class Word>
inline Value hear(const Value* where, const Word* flag) {
  Word seen;
  do {
    seen = atomic_load(flag);
  } while (seen == 0);
  if constexpr (board<Value, Word>::in_words) {
    const auto bits = uint32_t(seen);
    Value value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
  } else {
    fence();
    return *where;
  }
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

/// One tile of a line of `tiles`, the elements from `begin` to `end`. `load` and `store`
/// know the line.
template <int Window, int Elements, bool Exclusive, class Value, class Word, int Items, int Blocks,
          class Load, class Join, class First, class Store>
[[gnu::always_inline]] inline void tile(workspace<Value, Items, Blocks>& space,
                                        const board<Value, Word>& told, int64_t line, int64_t part,
                                        int64_t tiles, int64_t begin, int64_t end, const Load& load,
                                        const Join& join, const First& first, const Store& store) {
  static_assert(Window > 1 && 2 * Window <= Items && Blocks % Elements == 0);
  constexpr int size = Items * Blocks;
  const int item = int(local_id()), here = int(end - begin);
  // Neighbouring items take neighbouring elements, row by row.
  const int in_row = item * Elements;
  const bool is_last = part + 1 == tiles;

  if (here == size) {
    // All loads are on their way before the first value is put down.
    Value several[Blocks];
#pragma unroll
    for (int r = 0; r < Blocks; r += Elements) {
      load(count<Elements>(), begin + r * Items + in_row, several + r);
    }
#pragma unroll
    for (int r = 0; r < Blocks; ++r) {
      space.at(r / Elements * Elements * Items + in_row + r % Elements) = several[r];
    }
  } else {
    for (int k = item; k < here; k += Items) load(count<1>(), begin + k, &space.at(k));
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

  // The total of this tile is told before anything is waited for, and that of a window before
  // anything is waited for that came before the window.
  const int64_t at = line * tiles + part;
  if (item == 0 && !is_last) tell(told.totals + at, told.has_total + at, total);
  const int64_t of_line = part / Window, windows = (tiles + Window - 1) / Window;
  const int64_t outer = of_line / Window, outers = (windows + Window - 1) / Window;
  const int64_t window = line * windows + of_line, carried = line * outers + outer;
  // So many tiles come before this one in its window, so many windows before that in theirs.
  const int inside = int(part % Window), earlier = int(of_line % Window);
  const bool is_end = inside == Window - 1 && !is_last;
  if (is_end) {
    const int64_t other = at - inside + item;
    if (item < inside) space.sums[0][item] = hear(told.totals + other, told.has_total + other);
    now = join_items(space.sums, inside, join);
    if (item == 0) {
      tell(told.windows + window, told.has_window + window,
           join(space.sums[now][inside - 1], total));
    }
    group_barrier();
  }
  Value carry{};
  if (earlier + inside > 0) {
    if (item < earlier) {
      const int64_t other = window - earlier + item;
      space.sums[0][item] = hear(told.windows + other, told.has_window + other);
    } else if (item < earlier + inside) {
      const int64_t other = at - inside + item - earlier;
      space.sums[0][item] = hear(told.totals + other, told.has_total + other);
    }
    now = join_items(space.sums, earlier + inside, join);
    carry = space.sums[now][earlier + inside - 1];
  }
  if (outer > 0) {
    if (item == 0) space.carry = hear(told.carries + carried, told.has_carry + carried);
    group_barrier();
    carry = earlier + inside > 0 ? join(space.carry, carry) : space.carry;
  }
  if (item == 0 && is_end && earlier == Window - 1) {
    tell(told.carries + carried + 1, told.has_carry + carried + 1, join(carry, total));
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
      store(count<Elements>(), begin + r * Items + in_row, several);
    }
  } else {
    for (int k = item; k < here; k += Items) store(count<1>(), begin + k, &space.at(k));
  }
}

/// Tiles of `w.chunk` elements, as many as there are groups.
template <int Window, int Elements, bool Exclusive, class Value, class Word, int Items, int Blocks,
          class Begin, class Target, class Load, class Join, class First, class Store>
[[gnu::always_inline]] inline void once(workspace<Value, Items, Blocks>& space,
                                        const board<Value, Word>& told, const work& w,
                                        const Begin& begin, const Target& target, const Load& load,
                                        const Join& join, const First& first, const Store& store) {
  const int64_t number = take_number(space.number, told.next_number);
  const part mine(w, number / w.chunks, number % w.chunks);
  const auto from = begin.at(mine.line);
  const auto to = target.at(mine.line);
  tile<Window, Elements, Exclusive>(
      space, told, mine.line, mine.number, w.chunks, mine.begin, mine.end,
      [&](auto n, int64_t i, Value* values) { load(n, from, i, values); }, join, first,
      [&](auto n, int64_t i, const Value* values) { store(n, to, i, values); });
}

}  // namespace usmx::expression::scan
