// Sorting rows of numbers by their digits, and the order of numbers that it follows.
//
// Elements are moved as they are. What decides is their key, made of their bits whenever a digit is
// asked for: an unsigned number in the order of the numbers, the same for -0 and +0 and for all
// NaN, which stand at the end in both directions. Equal keys stay in the order in which they came.
//
//   sort_rows                   an item sorts whole rows, one after another: for CPUs
//   count_chunk, move_chunk     a pass over one digit, an item for each chunk of a row: for CPUs
//   sort_tile                   a group sorts short rows in its local memory
//   count_tile, move_tile       a pass over one digit, a group for each tile of a row
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prelude.hpp"

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
    if (is_nan<Form>(bits)) return Word(~Word(0));
    if (bits == sign_bit<Word>) bits = 0;  // -0
    return Word((bits & sign_bit<Word> ? Word(~bits) : Word(bits | sign_bit<Word>)) ^ flip);
  }
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

/// How many elements of each chunk are between each two of `bins + 1` edges, which lie on a
/// straight line but for `off`, in bins, with what computing the place on it adds; the last bin
/// holds both of its edges. Rows of counts as those of `count_numbers`. The line says the bin of an
/// element that is farther than `off` from edges; others are compared with edges.
template <int Copies, class From, class T>
inline void count_between(const From* from, const T* edges, int64_t* counts, const chunks& cut,
                          int64_t bins, float off) {
  using wide = decltype(T() * 1.0f);  // half would overflow
  const int64_t chunk = int64_t(group_id());
  int64_t* const count = counts + chunk * Copies * bins;
  for (int64_t bin = 0; bin < Copies * bins; ++bin) count[bin] = 0;
  const T low = edges[0], high = edges[bins];
  const wide begin = wide(low), scale = wide(bins) / (wide(high) - begin);
  const wide above = wide(off), below = wide(1) - above, last = wide(bins) - above;
  const auto compare = [&](T x, int copy) {
    if (!(x >= low && x <= high)) return;
    const wide at = (wide(x) - begin) * scale;
    int64_t bin =
        at < wide(bins) ? int64_t(at) : bins - 1;  // and for NaN, of a line without length
    bin = bin < bins ? bin : bins - 1;
    while (bin > 0 && x < edges[bin]) --bin;
    while (bin + 1 < bins && x >= edges[bin + 1]) ++bin;
    ++count[copy * bins + bin];
  };
  const int64_t end = cut.end(chunk);
  int64_t i = cut.begin(chunk);
  for (; i + Copies <= end; i += Copies) {
    int32_t bin[Copies];
    bool is_sure = true;
#pragma clang loop unroll(full)
    for (int copy = 0; copy < Copies; ++copy) {
      const wide at = (wide(T(from[i + copy])) - begin) * scale,
                 whole = __builtin_elementwise_floor(at);
      is_sure &= (at > above) & (at < last) & (at - whole > above) & (at - whole < below);
      bin[copy] = int32_t(whole);
    }
#pragma clang loop unroll(full)
    for (int copy = 0; copy < Copies; ++copy) {
      if (is_sure) {
        ++count[copy * bins + bin[copy]];
      } else {
        compare(T(from[i + copy]), copy);
      }
    }
  }
  for (; i < end; ++i) compare(T(from[i]), 0);
}

// --- a group together ----------------------------------------------------------------------------

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

/// Local memory for a tile of elements.
template <class Element, class Place, int Bits, int Items, int Each>
struct tile_space {
  Element hand[Items * Each];
  Place places[Items * Each];
  uint16_t counts[(1 << Bits) * Items];
  uint32_t sums[2][Items];
  uint32_t starts[1 << Bits];
};
template <int Bits, int Items>
struct count_space {
  uint32_t counts[(1 << Bits) * Items];
  uint32_t sums[Items];
};

/// How often each digit is in each tile. Those of a digit are neighbours.
template <form Form, int Bits, int Items, class Word>
inline void count_tile(count_space<Bits, Items>& space, const element<Form, Word>* from,
                       uint32_t* counts, const chunks& cut, int lowest, Word flip) {
  constexpr int values = 1 << Bits, helpers = Items / values;
  static_assert(helpers * values == Items);
  const int item = int(local_id());
  const int64_t tile = int64_t(group_id());
  for (int d = 0; d < values; ++d) space.counts[d * Items + item] = 0;
  const int64_t end = cut.end(tile);
  for (int64_t i = cut.begin(tile) + item; i < end; i += Items) {
    ++space.counts[digit<Form, Bits>(from[i], lowest, flip) * Items + item];
  }
  group_barrier();
  uint32_t sum = 0;
  for (int k = 0; k < values; ++k) sum += space.counts[item * values + k];
  space.sums[item] = sum;
  group_barrier();
  if (item < values) {
    sum = 0;
    for (int k = 0; k < helpers; ++k) sum += space.sums[item * helpers + k];
    counts[(tile / cut.in_row * values + item) * cut.in_row + tile % cut.in_row] = sum;
  }
}

/// Moves the elements of a tile to where their digits are in the row: `before` holds for each digit
/// and tile how many elements of the row come earlier.
template <form Form, int Bits, bool Places, int Items, int Each, class Word, class Place>
inline void move_tile(tile_space<element<Form, Word>, Place, Bits, Items, Each>& space,
                      const element<Form, Word>* from, element<Form, Word>* to, const Place* places,
                      Place* new_places, const int64_t* before, const chunks& cut, int lowest,
                      bool is_first, Word flip) {
  using Element = element<Form, Word>;
  constexpr int values = 1 << Bits;
  static_assert(values * Each * Items / values < 65536);
  const int item = int(local_id());
  const int64_t tile = int64_t(group_id());
  const int64_t begin = cut.begin(tile), row = tile / cut.in_row * cut.length;
  const int here = int(cut.end(tile) - begin);
  for (int k = item; k < here; k += Items) {
    space.hand[k] = from[begin + k];
    if constexpr (Places) {
      space.places[k] = is_first ? Place(begin + k - row) : places[begin + k];
    }
  }
  for (int d = 0; d < values; ++d) space.counts[d * Items + item] = 0;
  group_barrier();

  // Each item has elements that are neighbours, and counts for each digit.
  const int first = item * Each;
  Element mine[Each];
  Place my_places[Each];
  for (int e = 0; e < Each; ++e) {
    if (first + e < here) {
      mine[e] = space.hand[first + e];
      if constexpr (Places) my_places[e] = space.places[first + e];
      ++space.counts[digit<Form, Bits>(mine[e], lowest, flip) * Items + item];
    }
  }
  group_barrier();

  // How many elements of the tile come before: a scan over all counts.
  uint32_t sum = 0;
  for (int k = 0; k < values; ++k) sum += space.counts[item * values + k];
  space.sums[0][item] = sum;
  int now = 0;
  for (int step = 1; step < Items; step *= 2) {
    group_barrier();
    space.sums[1 - now][item] =
        space.sums[now][item] + (item < step ? 0 : space.sums[now][item - step]);
    now = 1 - now;
  }
  group_barrier();
  uint32_t running = item == 0 ? 0 : space.sums[now][item - 1];
  for (int k = 0; k < values; ++k) {
    const uint32_t count = space.counts[item * values + k];
    space.counts[item * values + k] = uint16_t(running);
    running += count;
  }
  group_barrier();
  if (item < values) space.starts[item] = space.counts[item * Items];
  group_barrier();
  for (int e = 0; e < Each; ++e) {
    if (first + e < here) {
      const int k = space.counts[digit<Form, Bits>(mine[e], lowest, flip) * Items + item]++;
      space.hand[k] = mine[e];
      if constexpr (Places) space.places[k] = my_places[e];
    }
  }
  group_barrier();

  // Neighbours of one digit go to neighbouring places.
  for (int k = item; k < here; k += Items) {
    const Element x = space.hand[k];
    const uint32_t d = digit<Form, Bits>(x, lowest, flip);
    const int64_t at = (tile / cut.in_row * values + d) * cut.in_row + tile % cut.in_row;
    const int64_t out = row + before[at] + int64_t(k) - int64_t(space.starts[d]);
    to[out] = x;
    if constexpr (Places) new_places[out] = space.places[k];
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
