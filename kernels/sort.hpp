// Sorting rows of numbers by their digits, and the order of numbers that it follows.
//
// Elements are moved as they are. What decides is their key, made of their bits whenever a digit is
// asked for: an unsigned number in the order of the numbers, the same for -0 and +0 and for all
// NaN, which stand at the end in both directions. Equal keys stay in the order in which they came.
//
//   sort_rows                   an item sorts whole rows, one after another: for CPUs
//   count_chunk, move_chunk     a pass over one digit, an item for each chunk of a row: for CPUs
//   sort_tile                   a group sorts short rows in its local memory
//   sort_in_tile                a group sorts a longer row, digit by digit, in its local memory
//   count_tile, move_tile       a pass over one digit, a group for each tile of a row
//   count_digits, come_earlier  the same without counting in each pass, where groups may wait
//   count_ranked, ranked        elements of some places, digit by digit, without a sort
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prelude.hpp"
#include "prelude/vote.hpp"
#include "turn.hpp"

namespace usmx::sorting {

/// What the bits of an element are.
enum class form { truth, natural, integer, floating, bfloat16, complex };

/// The parts of a complex number.
template <class Word>
struct parts {
  Word re, im;
};

template <form Form, class Word>
struct element_of {
  using type = Word;
};
template <class Word>
struct element_of<form::complex, Word> {
  using type = parts<Word>;
};
template <form Form, class Word>
using element = typename element_of<Form, Word>::type;

template <class Word>
inline constexpr Word sign_bit = Word(Word(1) << (8 * sizeof(Word) - 1));
template <class Word>
inline constexpr Word infinity = Word(0x7C00);
template <>
inline constexpr uint32_t infinity<uint32_t> = 0x7F800000u;
template <>
inline constexpr uint64_t infinity<uint64_t> = 0x7FF0000000000000ull;

template <form Form = form::floating, class Word>
inline bool is_nan(Word bits) {
  constexpr Word largest = Form == form::bfloat16 ? Word(0x7F80) : infinity<Word>;
  return Word(bits & Word(~sign_bit<Word>)) > largest;
}

/// An unsigned number in the order of the numbers; `flip` is all ones for the other direction.
template <form Form, class Word>
inline Word key(Word bits, Word flip) {
  if constexpr (Form == form::truth) {
    return Word(Word(bits != 0) ^ (flip & 1));  // a foreign true need not be 1
  } else if constexpr (Form == form::natural) {
    return Word(bits ^ flip);
  } else if constexpr (Form == form::integer) {
    return Word(bits ^ sign_bit<Word> ^ flip);
  } else {
    if (Word(bits & Word(~sign_bit<Word>)) == 0) bits = 0;  // -0
    const Word is_negative = Word(bits >> (8 * sizeof(Word) - 1));
    const Word ordered = Word(bits ^ Word(Word(Word(0) - is_negative) | sign_bit<Word>) ^ flip);
    return is_nan<Form>(bits) ? Word(~Word(0)) : ordered;
  }
}
/// The element with that key.
template <form Form, class Word>
inline Word element_with(Word key) {
  if constexpr (Form == form::truth || Form == form::natural)
    return key;
  else if constexpr (Form == form::integer)
    return Word(key ^ sign_bit<Word>);
  else
    return (key & sign_bit<Word>) != 0 ? Word(key ^ sign_bit<Word>) : Word(~key);
}
/// Complex numbers stand in the order of which of their parts are NaN.
template <class Word>
inline uint32_t nan_parts(parts<Word> z) {
  return 2 * uint32_t(is_nan(z.re)) + uint32_t(is_nan(z.im));
}

template <form Form, class Word>
inline bool is_less(Word a, Word b, Word flip) {
  return key<Form>(a, flip) < key<Form>(b, flip);
}
template <form Form, class Word>
inline bool is_less(parts<Word> a, parts<Word> b, Word flip) {
  const uint32_t a_nan = nan_parts(a), b_nan = nan_parts(b);
  if (a_nan != b_nan) return a_nan < b_nan;
  const Word a_re = key<form::floating>(a.re, flip), b_re = key<form::floating>(b.re, flip);
  if (a_re != b_re) return a_re < b_re;
  return key<form::floating>(a.im, flip) < key<form::floating>(b.im, flip);
}

/// A digit of the key, from its lowest bit up. Complex numbers have those of the imaginary part,
/// those of the real part, and one that says which parts are NaN; each begins at a whole digit.
template <form Form, int Bits, class Word>
inline uint32_t digit(Word bits, int lowest, Word flip) {
  return uint32_t(key<Form>(bits, flip) >> lowest) & ((1u << Bits) - 1);
}
template <form Form, int Bits, class Word>
inline uint32_t digit(parts<Word> z, int lowest, Word flip) {
  constexpr int each = (8 * int(sizeof(Word)) + Bits - 1) / Bits * Bits;
  if (lowest >= 2 * each) return nan_parts(z);
  if (lowest >= each) return digit<form::floating, Bits>(z.re, lowest - each, flip);
  return digit<form::floating, Bits>(z.im, lowest, flip);
}

/// An element that no other one comes after, in each digit.
template <form Form, class Word>
inline element<Form, Word> last_element(Word flip) {
  constexpr Word all = Word(~Word(0));
  if constexpr (Form == form::complex) {
    return {all, all};  // NaN
  } else if constexpr (Form == form::truth) {
    return Word((flip & 1) ^ 1);
  } else if constexpr (Form == form::natural) {
    return Word(~flip);
  } else if constexpr (Form == form::integer) {
    return Word(Word(~flip) ^ sign_bit<Word>);
  } else {
    return all;  // NaN
  }
}

// --- an item by itself ---------------------------------------------------------------------------

/// Sorts by insertion what is too short to be worth counting.
template <form Form, bool Places, class Word, class Place, class Element>
inline void insert(const Element* from, Element* to, Place* places, int64_t length, Word flip) {
  for (int64_t i = 0; i < length; ++i) {
    const Element x = from[i];
    int64_t at = i;
    for (; at > 0 && is_less<Form>(x, to[at - 1], flip); --at) {
      to[at] = to[at - 1];
      if constexpr (Places) places[at] = places[at - 1];
    }
    to[at] = x;
    if constexpr (Places) places[at] = Place(i);
  }
}

/// Rows that one item sorts one after another: to `to`, and to `places` where each element was.
/// `spare` and `spare_places` are as large, `counts` is for one digit.
template <form Form, int Bits, bool Places, class Word, class Place>
inline void sort_rows(const element<Form, Word>* from, element<Form, Word>* to, Place* places,
                      element<Form, Word>* spare, Place* spare_places, int64_t* counts,
                      int64_t rows, int64_t length, int digits, Word flip) {
  using Element = element<Form, Word>;
  constexpr int values = 1 << Bits;
  const int64_t items = int64_t(group_range()), item = int64_t(group_id());
  const int64_t first = rows / items * item + (item < rows % items ? item : rows % items);
  const int64_t last = first + rows / items + (item < rows % items ? 1 : 0);
  int64_t* const count = counts + item * values;
  for (int64_t row = first; row < last; ++row) {
    const int64_t at = row * length;
    if (length <= 32) {
      insert<Form, Places>(from + at, to + at, places + (Places ? at : 0), length, flip);
      continue;
    }
    const Element* now = from + at;
    const Place* now_places = nullptr;
    Element* next = to + at;
    Place* next_places = places + (Places ? at : 0);
    Element* other = spare + at;
    Place* other_places = spare_places + (Places ? at : 0);
    for (int lowest = 0; lowest < digits * Bits; lowest += Bits) {
      for (int d = 0; d < values; ++d) count[d] = 0;
      for (int64_t i = 0; i < length; ++i) ++count[digit<Form, Bits>(now[i], lowest, flip)];
      if (count[digit<Form, Bits>(now[0], lowest, flip)] == length) continue;  // all the same
      int64_t before = 0;
      for (int d = 0; d < values; ++d) {
        const int64_t here = count[d];
        count[d] = before;
        before += here;
      }
      for (int64_t i = 0; i < length; ++i) {
        const Element x = now[i];
        const int64_t k = count[digit<Form, Bits>(x, lowest, flip)]++;
        next[k] = x;
        if constexpr (Places) next_places[k] = now_places ? now_places[i] : Place(i);
      }
      now = next;
      now_places = next_places;
      next = other;
      next_places = other_places;
      other = const_cast<Element*>(now);
      other_places = const_cast<Place*>(now_places);
    }
    if (now != to + at) {
      for (int64_t i = 0; i < length; ++i) to[at + i] = now[i];
      if constexpr (Places) {
        for (int64_t i = 0; i < length; ++i) {
          places[at + i] = now_places ? now_places[i] : Place(i);
        }
      }
    }
  }
}

/// Rows cut into chunks of the same size, but for the last.
struct chunks {
  int64_t length, size, in_row;

  int64_t begin(int64_t number) const { return number / in_row * length + number % in_row * size; }
  int64_t end(int64_t number) const {
    const int64_t row = number / in_row * length, last = (number % in_row + 1) * size;
    return row + (last < length ? last : length);
  }
};

/// How often each digit is in each chunk.
template <form Form, int Bits, class Word, class Place>
inline void count_chunk(const element<Form, Word>* from, Place* counts, const chunks& cut,
                        int lowest, Word flip) {
  constexpr int values = 1 << Bits;
  const int64_t chunk = int64_t(group_id());
  Place* const count = counts + chunk * values;
  for (int d = 0; d < values; ++d) count[d] = 0;
  const int64_t end = cut.end(chunk);
  for (int64_t i = cut.begin(chunk); i < end; ++i) {
    ++count[digit<Form, Bits>(from[i], lowest, flip)];
  }
}

/// Moves each element of a chunk to where its digit is in the row. `next` is as large as `counts`,
/// twice. Without `Places` these are not touched; they are made in the first pass.
template <form Form, int Bits, bool Places, class Word, class Place>
inline void move_chunk(const element<Form, Word>* from, element<Form, Word>* to,
                       const Place* places, Place* new_places, const Place* counts, Place* next,
                       const chunks& cut, int lowest, bool is_first, Word flip) {
  constexpr int values = 1 << Bits;
  const int64_t chunk = int64_t(group_id()), in_row = chunk % cut.in_row;
  const Place* const row_counts = counts + (chunk - in_row) * values;
  Place* const mine = next + chunk * 2 * values;
  Place* const whole = mine + values;
  for (int d = 0; d < 2 * values; ++d) mine[d] = 0;
  for (int64_t other = 0; other < cut.in_row; ++other) {
    const Place* const count = row_counts + other * values;
    for (int d = 0; d < values; ++d) whole[d] += count[d];
    if (other < in_row) {
      for (int d = 0; d < values; ++d) mine[d] += count[d];
    }
  }
  Place before = 0;
  for (int d = 0; d < values; ++d) {
    mine[d] += before;
    before += whole[d];
  }
  const int64_t row = chunk / cut.in_row * cut.length, end = cut.end(chunk);
  if (int64_t(whole[digit<Form, Bits>(from[row], lowest, flip)]) == cut.length) {
    // The digit is the same in the whole row, as the high ones of small integers are.
    for (int64_t i = cut.begin(chunk); i < end; ++i) to[i] = from[i];
    if constexpr (Places) {
      for (int64_t i = cut.begin(chunk); i < end; ++i) {
        new_places[i] = is_first ? Place(i - row) : places[i];
      }
    }
    return;
  }
  for (int64_t i = cut.begin(chunk); i < end; ++i) {
    const element<Form, Word> x = from[i];
    const int64_t k = row + int64_t(mine[digit<Form, Bits>(x, lowest, flip)]++);
    to[k] = x;
    if constexpr (Places) new_places[k] = is_first ? Place(i - row) : places[i];
  }
}

/// How often each number from 0 to bins - 1 is in each chunk; others are not counted. A chunk has
/// `Copies` rows of counts, which neighbours take in turn: the same number again and again does not
/// wait for itself. `largest` is the largest number of the chunk, where negative ones are larger
/// than all others.
template <int Copies, class Number>
inline void count_numbers(const Number* from, int64_t* counts, uint64_t* largest, const chunks& cut,
                          int64_t bins) {
  const int64_t chunk = int64_t(group_id());
  int64_t* const count = counts + chunk * Copies * bins;
  for (int64_t bin = 0; bin < Copies * bins; ++bin) count[bin] = 0;
  uint64_t most = 0;
  const auto add = [&](int64_t i, int copy) {
    const auto number = uint64_t(int64_t(from[i]));
    most = number > most ? number : most;
    if (number < uint64_t(bins)) ++count[copy * bins + int64_t(number)];
  };
  const int64_t end = cut.end(chunk);
  int64_t i = cut.begin(chunk);
  for (; i + Copies <= end; i += Copies) {
#pragma clang loop unroll(full)
    for (int copy = 0; copy < Copies; ++copy) add(i + copy, copy);
  }
  for (; i < end; ++i) add(i, 0);
  largest[chunk] = most;
}

/// `bins + 1` edges, which lie on a straight line but for `off`, in bins, with what computing the
/// place on it adds; the last bin holds both of its edges.
template <class T>
class even_edges {
  using wide = decltype(T() * 1.0f);  // half would overflow

 public:
  static constexpr int lanes = 8;
  using lane_numbers [[clang::ext_vector_type(lanes)]] = wide;
  using lane_bins [[clang::ext_vector_type(lanes)]] = int32_t;

  even_edges(const T* edges, int64_t bins, float off)
      : edges_(edges),
        bins_(bins),
        low_(edges[0]),
        high_(edges[bins]),
        begin_(low_),
        scale_(wide(bins) / (wide(high_) - begin_)),
        above_(off),
        below_(wide(1) - above_),
        last_(wide(bins) - above_) {}

  /// The bin that the line says, and whether it is sure: the element is farther than `off` from
  /// edges.
  USMX_BACKEND_INLINE bool on_line(T x, int32_t& bin) const {
    const wide at = (wide(x) - begin_) * scale_, whole = __builtin_elementwise_floor(at);
    bin = int32_t(whole);
    return is_sure(at, at - whole);
  }
  /// The same of eight elements next to each other, as one vector: compilers do not make
  /// one of them. Whether all are sure.
  template <class From>
  bool on_line(const From* from, lane_bins& bins) const {
    lane_numbers x;
#pragma clang loop unroll(full)
    for (int k = 0; k < lanes; ++k) x[k] = wide(T(from[k]));
    const lane_numbers at = (x - begin_) * scale_, whole = __builtin_elementwise_floor(at);
    bins = __builtin_convertvector(whole, lane_bins);
    return __builtin_reduce_and(is_sure(at, at - whole)) != 0;
  }
  /// The bin of any element, found by comparing; -1 outside of all.
  USMX_BACKEND_INLINE int64_t compared(T x) const {
    if (!(x >= low_ && x <= high_)) return -1;
    const wide at = (wide(x) - begin_) * scale_;
    int64_t bin =
        at < wide(bins_) ? int64_t(at) : bins_ - 1;  // and for NaN, of a line without length
    bin = bin < bins_ ? bin : bins_ - 1;
    while (bin > 0 && x < edges_[bin]) --bin;
    while (bin + 1 < bins_ && x >= edges_[bin + 1]) ++bin;
    return bin;
  }

 private:
  template <class Place>
  auto is_sure(Place at, Place in_bin) const {
    return (at > above_) & (at < last_) & (in_bin > above_) & (in_bin < below_);
  }

  const T* edges_;
  int64_t bins_;
  T low_, high_;
  wide begin_, scale_, above_, below_, last_;
};

/// How many elements of each chunk are between each two of even edges. Rows of counts as those of
/// `count_numbers`.
template <int Copies, class From, class T>
inline void count_between(const From* from, int64_t* counts, const T* edges, float off,
                          const chunks& cut, int64_t bins) {
  const even_edges<T> between(edges, bins, off);
  const int64_t chunk = int64_t(group_id());
  int64_t* const count = counts + chunk * Copies * bins;
  for (int64_t bin = 0; bin < Copies * bins; ++bin) count[bin] = 0;
  const auto compare = [&](T x, int copy) {
    const int64_t bin = between.compared(x);
    if (bin >= 0) ++count[copy * bins + bin];
  };
  const int64_t end = cut.end(chunk);
  int64_t i = cut.begin(chunk);
  constexpr int lanes = even_edges<T>::lanes;
  for (; i + lanes <= end; i += lanes) {
    typename even_edges<T>::lane_bins bin;
    if (between.on_line(from + i, bin)) {
#pragma clang loop unroll(full)
      for (int k = 0; k < lanes; ++k) ++count[k % Copies * bins + bin[k]];
    } else {
      for (int k = 0; k < lanes; ++k) compare(T(from[i + k]), k % Copies);
    }
  }
  for (; i < end; ++i) compare(T(from[i]), 0);
}

// --- a group together ----------------------------------------------------------------------------

/// Adds to `counts` how many of the numbers 0 to size - 1 have each bin: `bin_of` has it, or -1 for
/// none, from what `load` has of a number. A group counts in `space`, its local memory of `copies`
/// rows of counts, which its sub-groups take in turn. It and all that calls it are parts of the
/// kernel: a function would not know that `space` is local memory, where an addition is one
/// instruction.
template <class Load, class Bin>
[[gnu::always_inline]] inline void count_together(uint32_t* space, int64_t* counts, int64_t size,
                                                  int64_t bins, int64_t copies, const Load& load,
                                                  const Bin& bin_of) {
  for (int64_t k = int64_t(local_id()); k < copies * bins; k += int64_t(local_range())) {
    space[k] = 0;
  }
  group_barrier();
  uint32_t* const own = space + int64_t(sub_group_id()) % copies * bins;
  constexpr int at_once = 8;  // loads that are on their way before the first bin is computed
  const int64_t step = int64_t(global_range());
  for (int64_t first = int64_t(global_id()); first < size; first += at_once * step) {
    decltype(load(first)) of[at_once];
#pragma clang loop unroll(full)
    for (int k = 0; k < at_once; ++k) {
      if (first + k * step < size) of[k] = load(first + k * step);
    }
#pragma clang loop unroll(full)
    for (int k = 0; k < at_once; ++k) {
      const int32_t bin = first + k * step < size ? bin_of(of[k]) : -1;
      if (bin >= 0) atomic_add(&own[bin], 1u);
    }
  }
  group_barrier();
  for (int64_t bin = int64_t(local_id()); bin < bins; bin += int64_t(local_range())) {
    uint32_t sum = 0;
    for (int64_t copy = 0; copy < copies; ++copy) sum += space[copy * bins + bin];
    if (sum != 0) atomic_add(&counts[bin], int64_t(sum));
  }
}

/// `count_numbers` by groups, which add to one row of counts; `largest` is that of each group.
template <class Number>
[[gnu::always_inline]] inline void count_numbers(uint32_t* space, const Number* from,
                                                 int64_t* counts, uint64_t* largest, int64_t size,
                                                 int64_t bins, int64_t copies) {
  uint64_t most = 0;
  count_together(
      space, counts, size, bins, copies,
      [&](int64_t i) __attribute__((always_inline)) { return from[i]; },
      [&](Number x) __attribute__((always_inline)) {
        const auto number = uint64_t(int64_t(x));
        most = number > most ? number : most;
        return number < uint64_t(bins) ? int32_t(number) : -1;
      });
  most = reduce_max<2>(most);
  if (local_id() == 0) largest[group_id()] = most;
}

/// `count_between` by groups, which add to one row of counts.
template <class From, class T>
[[gnu::always_inline]] inline void count_between(uint32_t* space, const From* from, int64_t* counts,
                                                 const T* edges, float off, int64_t size,
                                                 int64_t bins, int64_t copies) {
  const even_edges<T> between(edges, bins, off);
  count_together(
      space, counts, size, bins, copies,
      [&](int64_t i) __attribute__((always_inline)) { return T(from[i]); },
      [&](T x) __attribute__((always_inline)) {
        int32_t bin;
        return between.on_line(x, bin) ? bin : int32_t(between.compared(x));
      });
}

/// Short rows in local memory, each padded to a power of two.
template <class Element, int Size>
struct short_rows {
  Element hand[Size];
  uint32_t places[Size];
};
inline constexpr uint32_t padding = 0xFFFFFFFFu;

/// Whether an element stands before another; none are equal, for their places differ.
template <form Form, class Word, class Element>
inline bool stands_before(const Element& a, uint32_t a_place, const Element& b, uint32_t b_place,
                          Word flip) {
  if (a_place == padding || b_place == padding) return a_place < b_place;
  if (is_less<Form>(a, b, flip)) return true;
  return !is_less<Form>(b, a, flip) && a_place < b_place;
}

/// A bitonic network over rows of `width`, a power of two that is at least `length`.
template <form Form, bool Places, int Size, class Word, class Place>
inline void sort_tile(short_rows<element<Form, Word>, Size>& space, const element<Form, Word>* from,
                      element<Form, Word>* to, Place* places, int64_t rows, int length, int width,
                      Word flip) {
  using Element = element<Form, Word>;
  const int item = int(local_id()), items = int(local_range());
  const int64_t first = int64_t(group_id()) * (Size / width);
  for (int k = item; k < Size; k += items) {
    const int64_t row = first + k / width;
    const int i = k % width;
    const bool is_there = row < rows && i < length;
    space.places[k] = is_there ? uint32_t(i) : padding;
    if (is_there) space.hand[k] = from[row * length + i];
  }
  for (int sorted = 2; sorted <= width; sorted *= 2) {
    for (int step = sorted / 2; step > 0; step /= 2) {
      group_barrier();
      for (int pair = item; pair < Size / 2; pair += items) {
        const int a = 2 * pair - (pair & (step - 1)), b = a + step;
        const bool is_up = (a & (width - 1) & sorted) == 0;
        const Element x = space.hand[a], y = space.hand[b];
        const uint32_t p = space.places[a], q = space.places[b];
        if ((p != padding || q != padding) && stands_before<Form>(y, q, x, p, flip) == is_up) {
          space.hand[a] = y;
          space.hand[b] = x;
          space.places[a] = q;
          space.places[b] = p;
        }
      }
    }
  }
  group_barrier();
  for (int k = item; k < Size; k += items) {
    const int64_t row = first + k / width;
    const int i = k % width;
    if (row < rows && i < length) {
      to[row * length + i] = space.hand[k];
      if constexpr (Places) places[row * length + i] = Place(space.places[k]);
    }
  }
}

/// How often each digit is in each tile. Those of a digit are neighbours. `space` is local memory.
template <form Form, int Bits, int Items, int Each, class Word>
[[gnu::always_inline]] inline void count_tile(uint32_t (&space)[1 << Bits],
                                              const element<Form, Word>* from, uint32_t* counts,
                                              const chunks& cut, int lowest, Word flip) {
  constexpr int values = 1 << Bits;
  const int item = int(local_id());
  const int64_t tile = int64_t(group_id()), begin = cut.begin(tile);
  const int here = int(cut.end(tile) - begin);
  const ballot_word earlier = items_before();
  element<Form, Word> mine[Each];
#pragma clang loop unroll(full)
  for (int e = 0; e < Each; ++e) {
    const int k = item + e * Items;
    if (k < here) mine[e] = from[begin + k];
  }
  for (int d = item; d < values; d += Items) space[d] = 0;
  group_barrier();
#pragma clang loop unroll(full)
  for (int e = 0; e < Each; ++e) {
    const bool is_there = item + e * Items < here;
    const uint32_t d = is_there ? digit<Form, Bits>(mine[e], lowest, flip) : 0;
    // One of the items with a digit counts for all of them: many equal ones do not wait in turn.
    const ballot_word same = items_with_same<Bits>(d, ballot(is_there));
    if (is_there && (same & earlier) == 0) atomic_add(&space[d], number_of(same));
  }
  group_barrier();
  for (int d = item; d < values; d += Items) {
    counts[(tile / cut.in_row * values + d) * cut.in_row + tile % cut.in_row] = space[d];
  }
}

/// Local memory for a tile of elements: first counts of each sub-group, then the elements in order.
template <class Element, bool Places, class Place, int Bits, int Items, int Each>
struct tile_space {
  static constexpr int sub_groups = Items / 8;  ///< at the most
  static constexpr int size = Items * Each;
  union {
    uint16_t counts[sub_groups][1 << Bits];
    struct {
      Element hand[size];
      Place places[Places ? size : 1];
    };
  };
  uint16_t starts[1 << Bits];
};

/// The elements of a tile that an item has in hand: as many as a sub-group has items, `Each` times.
struct own_elements {
  int step, first, here;

  explicit own_elements(int each, int here)
      : step(int(sub_group_max_size())),
        first(int(local_id()) / step * each * step + int(local_id()) % step),
        here(here) {}
  int at(int e) const { return first + e * step; }
  bool has(int e) const { return e * step < here - first; }
  bool are_all(int each) const { return here == each * int(local_range()); }
};

/// Reads what an item has in hand; `other` is where a tile ends early.
template <class Element, int Each>
[[gnu::always_inline]] inline void take(Element (&mine)[Each], const own_elements& own,
                                        const Element* from, const Element& other) {
  if (own.are_all(Each)) {
#pragma clang loop unroll(full)
    for (int e = 0; e < Each; ++e) mine[e] = from[own.at(e)];
  } else {
#pragma clang loop unroll(full)
    for (int e = 0; e < Each; ++e) mine[e] = own.has(e) ? from[own.at(e)] : other;
  }
}

/// Where each element that an item has stands in the tile, in the order of a digit.
/// `before(d, count)` is called by an item for each digit, with how many elements have it.
template <form Form, int Bits, class Word, class Space, class Element, int Each, class Before>
[[gnu::always_inline]] inline void rank(Space& space, const own_elements& own,
                                        const Element (&mine)[Each], int lowest, Word flip,
                                        uint32_t (&at)[Each], const Before& before) {
  constexpr int values = 1 << Bits;
  const int item = int(local_id()), items = int(local_range());
  const ballot_word before_me = items_before(), all = ballot(true);
  uint16_t* const count = space.counts[item / own.step];
  for (int d = item % own.step; d < values; d += own.step) count[d] = 0;
  vote_barrier();
  // A sub-group counts for each digit how many it had before.
#pragma clang loop unroll(full)
  for (int e = 0; e < Each; ++e) {
    const uint32_t d = digit<Form, Bits>(mine[e], lowest, flip);
    const ballot_word same = items_with_same<Bits>(d, all);
    const uint32_t earlier = count[d], among = number_of(ballot_word(same & before_me));
    vote_barrier();
    if (among == 0) count[d] = uint16_t(earlier + number_of(same));
    vote_barrier();
    at[e] = d << 16 | (earlier + among);
  }
  group_barrier();

  // How many elements of the tile come before: of earlier sub-groups, and of smaller digits.
  uint32_t sum = 0;
  if (item < values) {
    for (int other = 0; other < items / own.step; ++other) {
      const uint16_t there = space.counts[other][item];
      space.counts[other][item] = uint16_t(sum);
      sum += there;
    }
  }
  const uint32_t start = exclusive_scan_sum<2>(sum);
  if (item < values) {
    space.starts[item] = uint16_t(start);
    const bool is_last =
        digit<Form, Bits>(last_element<Form>(flip), lowest, flip) == uint32_t(item);
    before(item, is_last ? sum - uint32_t(Space::size - own.here) : sum);
  }
  group_barrier();
#pragma clang loop unroll(full)
  for (int e = 0; e < Each; ++e) {
    const uint32_t d = at[e] >> 16;
    at[e] = (at[e] & 0xFFFFu) + count[d] + space.starts[d];
  }
  group_barrier();
}

/// A tile of a row: where the row begins, where the tile does in it, and how many elements it has.
/// Numbers of tiles have 32 bits: a division of 64 is a call or a branch.
struct tile_of_row {
  uint32_t row, number;
  int64_t row_begin, begin;
  int here;

  tile_of_row(uint32_t tile, const chunks& cut)
      : row(tile / uint32_t(cut.in_row)),
        number(tile % uint32_t(cut.in_row)),
        row_begin(int64_t(row) * cut.length),
        begin(int64_t(number) * cut.size),
        here(int(begin + cut.size < cut.length ? cut.size : cut.length - begin)) {}
};

/// Moves the elements of a tile to where their digits are in the row. `before(d, count)` is how
/// many elements of the row with the digit, of which the tile has so many, or a smaller one come
/// earlier.
template <form Form, int Bits, bool Places, int Items, int Each, class Word, class Place,
          class Before>
[[gnu::always_inline]] inline void move_tile(
    tile_space<element<Form, Word>, Places, Place, Bits, Items, Each>& space,
    Place (&shift)[1 << Bits], const tile_of_row& tile, const element<Form, Word>* from,
    element<Form, Word>* to, const Place* places, Place* new_places, int lowest, bool is_first,
    Word flip, const Before& before) {
  using Element = element<Form, Word>;
  static_assert(Items * Each < 65536 && (1 << Bits) <= Items);
  const int item = int(local_id());
  const own_elements own(Each, tile.here);
  from += tile.row_begin + tile.begin;
  if constexpr (Places) places += tile.row_begin + tile.begin;
  Element mine[Each];
  take(mine, own, from, last_element<Form>(flip));
  uint32_t at[Each];
  rank<Form, Bits>(space, own, mine, lowest, flip, at,
                   [&](int d, uint32_t count) { shift[d] = Place(before(d, count)); });
#pragma clang loop unroll(full)
  for (int e = 0; e < Each; ++e) {
    space.hand[at[e]] = mine[e];
  }
  if constexpr (Places) {
    // All are on their way before the first one is put down.
    Place was[Each];
#pragma clang loop unroll(full)
    for (int e = 0; e < Each; ++e) was[e] = Place(tile.begin + own.at(e));
    if (!is_first) take(was, own, places, Place(0));
#pragma clang loop unroll(full)
    for (int e = 0; e < Each; ++e) space.places[at[e]] = was[e];
  }
  group_barrier();

  // Neighbours of one digit go to neighbouring places.
  to += tile.row_begin;
  if constexpr (Places) new_places += tile.row_begin;
  for (int k = item; k < own.here; k += Items) {
    const Element x = space.hand[k];
    const uint32_t d = digit<Form, Bits>(x, lowest, flip);
    const Place out = Place(shift[d] - Place(space.starts[d]) + Place(k));
    to[out] = x;
    if constexpr (Places) new_places[out] = space.places[k];
  }
}

// --- with one look at each element in a pass -----------------------------------------------------
//
// Where groups that have started go on running, a tile learns from those before it in its row how
// many of their elements have its digits. So a pass is one kernel, after one that counts the digits
// of all passes.

/// How often each digit of each pass is in each row; a group for each chunk of a row. `counts` are
/// 0 before.
template <form Form, int Bits, int Digits, class Word, class Count>
[[gnu::always_inline]] inline void count_digits(uint32_t (&space)[Digits][1 << Bits],
                                                const element<Form, Word>* from, Count* counts,
                                                const chunks& cut, Word flip) {
  constexpr int values = 1 << Bits;
  const int item = int(local_id()), items = int(local_range());
  const int64_t chunk = int64_t(group_id()), begin = cut.begin(chunk);
  const int here = int(cut.end(chunk) - begin);
  uint32_t* const all = &space[0][0];
  for (int d = item; d < Digits * values; d += items) all[d] = 0;
  group_barrier();
  from += begin;
#pragma clang loop unroll_count(4)
  for (int k = item; k < here; k += items) {
    const element<Form, Word> x = from[k];
#pragma clang loop unroll(full)
    for (int p = 0; p < Digits; ++p) {
      atomic_add(&space[p][digit<Form, Bits>(x, p * Bits, flip)], 1u);
    }
  }
  group_barrier();
  counts += chunk / cut.in_row * (Digits * values);
  for (int d = item; d < Digits * values; d += items) {
    if (all[d] != 0) atomic_add(&counts[d], Count(all[d]));
  }
}

// --- some places of a row -----------------------------------------------------------------------
//
// A pass counts the next digit, from the highest on, of the elements whose digits before it are
// those of a place's element. What these are each group finds out by itself, from the counts of
// earlier passes.

/// What is known of the element at each place: its first digits, and how many elements with the
/// same ones come before it. `first_alike` is the first place with the same digits, which counts
/// for all.
template <int Bits, int Most>
struct ranked_space {
  uint32_t counts[2][Most][1 << Bits];
  uint64_t begins[Most], next_begins[Most];
  uint32_t rank[Most], next_rank[Most];
  int first_alike[Most];

  void compare(int places) {
    const int item = int(local_id());
    if (item < places) {
      int first = item;
      for (int p = item - 1; p >= 0; --p) first = begins[p] == begins[item] ? p : first;
      first_alike[item] = first;
    }
    group_barrier();
  }
};

/// The first `passes` digits of each place's element. There are as many items as a digit has
/// values; `counts` has those of each pass and place of the row.
template <int Bits, int Most>
[[gnu::always_inline]] inline void follow(ranked_space<Bits, Most>& space,
                                          const int64_t (&ranks)[8], int places,
                                          const uint32_t* counts, int passes) {
  constexpr int values = 1 << Bits;
  const int item = int(local_id());
  if (item == 0) {
#pragma clang loop unroll(full)
    for (int p = 0; p < Most; ++p) {
      space.begins[p] = 0;
      space.rank[p] = uint32_t(ranks[p]);
    }
  }
  group_barrier();
  space.compare(places);
  for (int pass = 0; pass < passes; ++pass, counts += places * values) {
    for (int p = 0; p < places; ++p)
      space.counts[0][p][item] = counts[space.first_alike[p] * values + item];
    int now = 0;
    group_barrier();
    for (int step = 1; step < values; step *= 2) {
      for (int p = 0; p < places; ++p) {
        const uint32_t before = item < step ? 0 : space.counts[now][p][item - step];
        space.counts[1 - now][p][item] = space.counts[now][p][item] + before;
      }
      now = 1 - now;
      group_barrier();
    }
    for (int p = 0; p < places; ++p) {
      const uint32_t before = item == 0 ? 0 : space.counts[now][p][item - 1];
      if (before <= space.rank[p] && space.rank[p] < space.counts[now][p][item]) {
        space.next_begins[p] = space.begins[p] << Bits | uint32_t(item);
        space.next_rank[p] = space.rank[p] - before;
      }
    }
    group_barrier();
    if (item < places) {
      space.begins[item] = space.next_begins[item];
      space.rank[item] = space.next_rank[item];
    }
    group_barrier();
    space.compare(places);
  }
}

/// Counts the digit of that pass; a group for each chunk of a row. `counts` of all passes are 0
/// before the first one.
template <form Form, int Bits, int Digits, int Most, class Word>
[[gnu::always_inline]] inline void count_ranked(ranked_space<Bits, Most>& space,
                                                uint32_t (&own)[Most][1 << Bits], const Word* from,
                                                const int64_t (&ranks)[8], int places,
                                                uint32_t* counts, const chunks& cut, int pass) {
  constexpr int values = 1 << Bits;
  const int item = int(local_id());
  const int64_t chunk = int64_t(group_id()), begin = cut.begin(chunk);
  const int here = int(cut.end(chunk) - begin);
  counts += chunk / cut.in_row * (int64_t(Digits) * places * values);
  for (int p = 0; p < places; ++p) own[p][item] = 0;
  follow(space, ranks, places, counts, pass);
  const int lowest = (Digits - 1 - pass) * Bits;
  from += begin;
  // High digits are few: items with the same one count it together.
  const ballot_word before = items_before();
#pragma clang loop unroll_count(4)
  for (int first = 0; first < here; first += values) {
    const bool is_here = first + item < here;
    const uint64_t digits =
        uint64_t(key<Form>(from[is_here ? first + item : 0], Word(0))) >> lowest;
    const auto d = uint32_t(digits & (values - 1));
    for (int p = 0; p < places; ++p) {
      if (space.first_alike[p] != p) continue;
      const ballot_word there = ballot(is_here && space.begins[p] == digits >> Bits);
      if (there == 0) continue;
      const ballot_word same = items_with_same<Bits>(d, there);
      if ((same & before) == 0 && (there >> sub_group_local_id() & 1) != 0)
        atomic_add(&own[p][d], number_of(same));
    }
  }
  group_barrier();
  for (int p = 0; p < places; ++p) {
    if (own[p][item] != 0) atomic_add(&counts[(pass * places + p) * values + item], own[p][item]);
  }
}

/// Writes the elements of all places, a group for each row.
template <form Form, int Bits, int Digits, int Most, class Word>
[[gnu::always_inline]] inline void ranked(ranked_space<Bits, Most>& space,
                                          const int64_t (&ranks)[8], int places,
                                          const uint32_t* counts, Word* to) {
  const int64_t row = int64_t(group_id());
  const int item = int(local_id());
  follow(space, ranks, places, counts + row * (int64_t(Digits) * places << Bits), Digits);
  if (item < places) to[row * places + item] = element_with<Form>(Word(space.begins[item]));
}

/// What tiles tell about their digits: how many of them a tile has, later how many there are up to
/// its end. Two bits say which; 0 before the launch.
template <class Count>
struct told {
  static constexpr int bits = 8 * sizeof(Count) - 2;
  static constexpr Count own = Count(1) << bits, up_to_end = Count(2) << bits;
  static constexpr Count number(Count word) { return word & (own - 1); }
};

/// How many elements of a digit earlier tiles of the row have; tells later ones.
template <int Bits, class Count>
inline Count come_earlier(Count* board, bool has_earlier, int d, Count count) {
  using what = told<Count>;
  Count* const mine = board + d;
  Count earlier = 0;
  if (has_earlier) {
    atomic_store(mine, Count(count | what::own));
    for (const Count* other = mine - (1 << Bits);; other -= 1 << Bits) {
      Count word = atomic_load(other);
      while (word == 0) word = atomic_load(other);
      earlier += what::number(word);
      if ((word & what::up_to_end) != 0) break;
    }
  }
  atomic_store(mine, Count((earlier + count) | what::up_to_end));
  return earlier;
}

/// A row that a tile holds: all passes are made in local memory.
template <form Form, int Bits, int Digits, bool Places, int Items, int Each, class Word,
          class Place>
[[gnu::always_inline]] inline void sort_in_tile(
    tile_space<element<Form, Word>, Places, uint16_t, Bits, Items, Each>& space,
    const element<Form, Word>* from, element<Form, Word>* to, Place* places, int length,
    Word flip) {
  using Element = element<Form, Word>;
  const int item = int(local_id());
  const int64_t row = int64_t(group_id()) * length;
  const own_elements own(Each, length);
  Element mine[Each];
  take(mine, own, from + row, last_element<Form>(flip));
  uint16_t was[Each];
#pragma clang loop unroll(full)
  for (int e = 0; e < Each; ++e) was[e] = uint16_t(own.at(e));
#pragma clang loop unroll(disable)
  for (int p = 0; p < Digits; ++p) {
    uint32_t at[Each];
    rank<Form, Bits>(space, own, mine, p * Bits, flip, at, [](int, uint32_t) {});
#pragma clang loop unroll(full)
    for (int e = 0; e < Each; ++e) {
      space.hand[at[e]] = mine[e];
      if constexpr (Places) space.places[at[e]] = was[e];
    }
    group_barrier();
    if (p + 1 < Digits) {
#pragma clang loop unroll(full)
      for (int e = 0; e < Each; ++e) {
        mine[e] = space.hand[own.at(e)];
        if constexpr (Places) was[e] = space.places[own.at(e)];
      }
      group_barrier();
    }
  }
  for (int k = item; k < length; k += Items) {
    to[row + k] = space.hand[k];
    if constexpr (Places) places[row + k] = Place(space.places[k]);
  }
}

// --- in sorted elements --------------------------------------------------------------------------

/// Whether a number stands before another one in ascending order.
template <class T>
inline bool is_before(T a, T b) {
  return a < b || (b != b && a == a);
}
template <class T>
inline bool is_before(complex<T> a, complex<T> b) {
  const int a_nan = 2 * int(a.re != a.re) + int(a.im != a.im);
  const int b_nan = 2 * int(b.re != b.re) + int(b.im != b.im);
  if (a_nan != b_nan) return a_nan < b_nan;
  if (a.re < b.re) return true;
  return (a.re == b.re || a_nan >= 2) && a.im < b.im;
}

/// How many of the elements `at(0)`, ..., `at(count - 1)`, which are sorted, come before a value,
/// or do not come after it.
template <bool Right, class T, class At>
inline int64_t place_of(T value, int64_t count, const At& at) {
  int64_t low = 0, high = count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    const T other = at(middle);
    if (Right ? !is_before(value, other) : is_before(other, value)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace usmx::sorting
