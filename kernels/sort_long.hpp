// Sorting one long row on a CPU: elements are moved to buckets that fit into the cache of a core,
// and each bucket is sorted there by one item.
//
// Which bits differ at all is known before. The highest of these are a prefix of the key, by which
// elements are counted. Neighbouring prefixes are taken together, so that buckets are of about one
// size for any numbers. So moving to buckets writes to few places at once, and what writes to many
// places stays within a cache.
//
//   count_prefixes    an item for each chunk of the row
//   cut_buckets       one item
//   move_to_buckets   an item for each chunk
//   sort_bucket       an item for each bucket
//
// Where the prefix is all that differs, the row is known once it is counted:
//
//   list_prefixes     one item
//   fill_in_order     an item for each piece of the result
//   place_in_order    an item for each chunk of the row
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sort.hpp"

namespace usmx::sorting {

/// The bits of an element again, of a key that is not that of -0 or NaN.
template <form Form, class Word>
inline Word from_key(Word key, Word flip) {
  key ^= flip;
  if constexpr (Form == form::natural) {
    return key;
  } else if constexpr (Form == form::integer) {
    return Word(key ^ sign_bit<Word>);
  } else {
    return key & sign_bit<Word> ? Word(key ^ sign_bit<Word>) : Word(~key);
  }
}
/// Whether an element has a key of which it cannot be made again.
template <form Form, class Word>
inline bool is_lost(Word bits) {
  if constexpr (Form == form::floating) {
    return bits == sign_bit<Word> || is_nan(bits);
  } else {
    return false;
  }
}
/// The key of an element that is neither -0 nor NaN.
template <form Form, class Word>
inline Word exact_key(Word bits, Word flip) {
  if constexpr (Form == form::floating) {
    constexpr int last = 8 * int(sizeof(Word)) - 1;
    return Word(bits ^ (Word(Word(0) - (bits >> last)) | sign_bit<Word>)^flip);
  } else {
    return key<Form>(bits, flip);
  }
}

template <class Word, class Place>
struct [[gnu::packed]] placed_word {
  Word word;
  Place place;
};

/// An element on its way: its key where the element can be made of it again (`Exact`), else its
/// bits; with `Places` also where it was.
template <form Form, bool Exact, bool Places, class Word, class Place>
struct travelling;
template <form Form, bool Exact, class Word, class Place>
struct travelling<Form, Exact, false, Word, Place> {
  using type = Word;
  static type with(Word word, Place) { return word; }
};
template <form Form, bool Exact, class Word, class Place>
struct travelling<Form, Exact, true, Word, Place> {
  using type = placed_word<Word, Place>;
  static type with(Word word, Place place) { return {word, place}; }
};
template <class Word>
inline Word word_of(Word x) {
  return x;
}
template <class Word, class Place>
inline Word word_of(const placed_word<Word, Place>& x) {
  return x.word;
}

/// Some bits of each element by which it is counted. Those of floats are their own where keys are
/// made of them, for no element has to be changed then, else of the key; those of integers are of
/// how much they are more than the least one, `base`.
template <form Form, bool Exact, class Word>
struct prefixes {
  const Word* from;
  int lowest, bits;
  Word base, flip;

  uint32_t operator()(Word x) const {
    if constexpr (Form != form::floating) {
      x = Word(x - base);
    } else if constexpr (!Exact) {
      x = key<Form>(x, flip);
    }
    return uint32_t(x >> lowest) & mask();
  }
  uint32_t mask() const { return (1u << bits) - 1; }
  int count() const { return 1 << bits; }
  /// The prefix that stands at a place in the order of keys.
  int at(int place) const {
    if constexpr (Form != form::floating) {
      return flip != 0 ? int(mask()) - place : place;
    } else if constexpr (Exact) {
      const Word others = Word(exact_key<Form>(from[0], flip) & ~Word(Word(mask()) << lowest));
      return int((*this)(from_key<Form>(Word(others | Word(Word(place) << lowest)), flip)));
    } else {
      return place;
    }
  }
  /// The element with a prefix where nothing else differs.
  Word element(int prefix) const {
    const Word own = Word(Word(prefix) << lowest);
    if constexpr (Form != form::floating) return Word(base + own);
    return Word(from[0] & ~Word(Word(mask()) << lowest)) | own;
  }
};

/// Elements are counted in turn in four tables, because an element often has the prefix of the one
/// before it, whose count would have to be stored first. The counts of a chunk are the first table.
inline constexpr int tables = 4;

/// How many elements of a chunk have each prefix.
template <form Form, bool Exact, class Word, class Place>
inline void count_prefixes(const prefixes<Form, Exact, Word>& prefix, Place* counts,
                           const chunks& cut) {
  const Word* const from = prefix.from;
  const int values = prefix.count();
  const int64_t chunk = int64_t(group_id());
  Place* const all = counts + chunk * tables * values;
  for (int v = 0; v < tables * values; ++v) all[v] = 0;
  const int64_t end = cut.end(chunk);
  int64_t i = cut.begin(chunk);
  for (; i + tables <= end; i += tables) {
#pragma clang loop unroll(full)
    for (int t = 0; t < tables; ++t) ++all[t * values + int(prefix(from[i + t]))];
  }
  for (; i < end; ++i) ++all[prefix(from[i])];
  for (int t = 1; t < tables; ++t) {
    for (int v = 0; v < values; ++v) all[v] += all[t * values + v];
  }
}

/// Which bucket each prefix belongs to, where buckets begin, and where the elements of each chunk
/// go in them. A bucket has at most `limit` elements, but for one of a single prefix.
template <form Form, bool Exact, class Word, class Place>
inline void cut_buckets(const prefixes<Form, Exact, Word>& prefix, const Place* counts,
                        uint16_t* bucket_of, Place* next, int64_t* starts, int64_t chunks,
                        int64_t limit, int64_t buckets) {
  const int values = prefix.count();
  for (int64_t k = 0; k < chunks * buckets; ++k) next[k] = 0;
  int64_t bucket = 0, size = 0;
  for (int place = 0; place < values; ++place) {
    const int v = prefix.at(place);
    int64_t total = 0;
    for (int64_t c = 0; c < chunks; ++c) total += int64_t(counts[c * tables * values + v]);
    if (total != 0) {
      if (size != 0 && size + total > limit) {
        ++bucket;
        size = 0;
      }
      size += total;
      for (int64_t c = 0; c < chunks; ++c) {
        next[c * buckets + bucket] += counts[c * tables * values + v];
      }
    }
    bucket_of[v] = uint16_t(bucket);
  }
  Place before = 0;
  for (int64_t b = 0; b < buckets; ++b) {
    starts[b] = int64_t(before);
    for (int64_t c = 0; c < chunks; ++c) {
      const Place here = next[c * buckets + b];
      next[c * buckets + b] = before;
      before += here;
    }
  }
  starts[buckets] = int64_t(before);
}

template <form Form, bool Exact, bool Places, class Word, class Place>
inline void move_to_buckets(const prefixes<Form, Exact, Word>& prefix,
                            typename travelling<Form, Exact, Places, Word, Place>::type* to,
                            const uint16_t* bucket_of, Place* next, const chunks& cut,
                            int64_t buckets) {
  const int64_t chunk = int64_t(group_id()), end = cut.end(chunk);
  Place* const mine = next + chunk * buckets;
  for (int64_t i = cut.begin(chunk); i < end; ++i) {
    const Word x = prefix.from[i];
    const Place at = mine[bucket_of[prefix(x)]]++;
    to[at] = travelling<Form, Exact, Places, Word, Place>::with(
        Exact ? exact_key<Form>(x, prefix.flip) : x, Place(i));
  }
}

inline int bit_length(uint64_t x) { return x == 0 ? 0 : 64 - __builtin_clzll(x); }

/// Sorts the elements of a bucket, which are in `x`; `y` is as large, and may be `values`. `values`
/// and `places` are the row's; what is not asked for is not touched.
template <form Form, bool Exact, bool Places, class Place, class Word, class Element>
inline void sort_bucket(Element* x, Element* y, Word* values, bool has_values, int64_t* places,
                        const int64_t* starts, Word flip) {
  constexpr int most_counts = 2048;
  const int64_t begin = starts[group_id()], length = starts[group_id() + 1] - begin;
  if (length == 0) return;
  Element* now = x + begin;
  Element* other = y + begin;
  const auto key_at = [&](const Element& e) {
    if constexpr (Exact) {
      return word_of(e);
    } else {
      return key<Form>(word_of(e), flip);
    }
  };
  Word differ = 0;
  const Word first = key_at(now[0]);
  for (int64_t i = 1; i < length; ++i) differ |= Word(key_at(now[i]) ^ first);

  if (differ != 0) {
    const int top = bit_length(uint64_t(differ));
    const int low = __builtin_ctzll(uint64_t(differ));
    Place counts[most_counts];
    // From bit `from` up, by so many digits of `bits`.
    const auto by_digits = [&](int from, int passes, int bits) {
      const int values_of = 1 << bits;
      const Word mask = Word(values_of - 1);
      for (int v = 0; v < passes * values_of; ++v) counts[v] = 0;
      for (int64_t i = 0; i < length; ++i) {
        const Word k = Word(key_at(now[i]) >> from);
        for (int p = 0; p < passes; ++p) {
          ++counts[p * values_of + int(Word(k >> (p * bits)) & mask)];
        }
      }
      for (int p = 0; p < passes; ++p) {
        Place* const count = counts + p * values_of;
        const int shift = from + p * bits;
        Place before = 0;
        for (int v = 0; v < values_of; ++v) {
          const Place here = count[v];
          count[v] = before;
          before += here;
        }
        for (int64_t i = 0; i < length; ++i) {
          const Element e = now[i];
          other[count[int(Word(key_at(e) >> shift) & mask)]++] = e;
        }
        Element* const swapped = now;
        now = other;
        other = swapped;
      }
    };
    const int width = top - low;
    int lowest = low;
    if (length > 32) {
      const int size = bit_length(uint64_t(length));
      int wanted = size + 5;
      if (wanted > width) wanted = width;
      const int most = size < 12 ? (size < 8 ? 5 : 8) : 10;
      const int passes = (wanted + most - 1) / most;
      const int bits = (wanted + passes - 1) / passes;
      lowest = top - passes * bits;
      if (lowest < low) lowest = low;
      by_digits(lowest, passes, bits);
    } else {
      lowest = top;
    }
    if (lowest > low) {
      // Few neighbours are left that the lower bits put in another order.
      int64_t left = 8 * length;
      for (int64_t i = 1; i < length && left > 0; ++i) {
        const Word k = key_at(now[i]);
        if (key_at(now[i - 1]) <= k) continue;
        const Element e = now[i];
        int64_t at = i;
        for (; at > 0 && key_at(now[at - 1]) > k; --at) now[at] = now[at - 1];
        now[at] = e;
        left -= i - at;
      }
      if (left <= 0) {
        for (int from = low; from < top; from += 16) by_digits(from, 2, 8);
      }
    }
  }
  if (has_values) {
    for (int64_t i = 0; i < length; ++i) {
      const Word word = word_of(now[i]);
      values[begin + i] = Exact ? from_key<Form>(word, flip) : word;
    }
  }
  if constexpr (Places) {
    for (int64_t i = 0; i < length; ++i) places[begin + i] = int64_t(now[i].place);
  }
}

/// The different elements of a row in which nothing but the prefix differs, where those of each
/// begin in the result, and how many there are.
template <form Form, class Word, class Place>
inline void list_prefixes(const prefixes<Form, true, Word>& prefix, const Place* counts,
                          Word* values, int64_t* starts, int64_t* number, int64_t chunks) {
  int64_t found = 0, before = 0;
  for (int place = 0; place < prefix.count(); ++place) {
    const int v = prefix.at(place);
    int64_t total = 0;
    for (int64_t c = 0; c < chunks; ++c) {
      total += int64_t(counts[c * tables * prefix.count() + v]);
    }
    if (total == 0) continue;
    values[found] = prefix.element(v);
    starts[found++] = before;
    before += total;
  }
  starts[found] = before;
  number[0] = found;
}

/// A piece of the sorted row.
template <class Word>
inline void fill_in_order(const Word* values, const int64_t* starts, const int64_t* number,
                          Word* to, const chunks& cut) {
  const int64_t chunk = int64_t(group_id()), end = cut.end(chunk);
  int64_t low = 0, high = number[0], i = cut.begin(chunk);
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    if (starts[middle] <= i) {
      low = middle;
    } else {
      high = middle;
    }
  }
  for (; i < end; ++low) {
    const int64_t last = starts[low + 1] < end ? starts[low + 1] : end;
    const Word value = values[low];
    using wide = Word __attribute__((ext_vector_type(64 / sizeof(Word) > 8 ? 16 : 8)));
    const wide many = value;
    for (; i + int64_t(sizeof(wide) / sizeof(Word)) <= last; i += sizeof(wide) / sizeof(Word)) {
      __builtin_memcpy(to + i, &many, sizeof(wide));
    }
    for (; i < last; ++i) to[i] = value;
  }
}

/// Writes where the elements of a chunk were to where they go; `next` is that of `cut_buckets`
/// with a bucket for each prefix.
template <form Form, class Word, class Place>
inline void place_in_order(const prefixes<Form, true, Word>& prefix, int64_t* places,
                           const uint16_t* bucket_of, Place* next, const chunks& cut,
                           int64_t buckets) {
  const int64_t chunk = int64_t(group_id()), end = cut.end(chunk);
  Place* const mine = next + chunk * buckets;
  for (int64_t i = cut.begin(chunk); i < end; ++i) {
    places[mine[bucket_of[prefix(prefix.from[i])]]++] = i;
  }
}

}  // namespace usmx::sorting
