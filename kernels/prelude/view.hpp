// An array as a kernel sees it: a pointer with lengths and strides, which arrive as single scalars.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "types.hpp"

namespace usmx {

/// An index as Python counts: one that is negative from the end.
inline int64_t from_end(int64_t i, int64_t length) { return i < 0 ? i + length : i; }

/// Contiguous in C order: x[i], x(i, j).
template <class T, int Rank>
struct dense {
  using value_type = T;
  T* data;
  int64_t shape[Rank == 0 ? 1 : Rank];

  T& operator[](int64_t i) const { return data[i]; }
  template <class... Index>
  T& operator()(Index... index) const {
    int64_t at = 0;
    int axis = 0;
    ((at = at * shape[axis++] + int64_t(index)), ...);
    return data[at];
  }
  int64_t size() const {
    int64_t n = 1;
    for (int k = 0; k < Rank; ++k) n *= shape[k];
    return n;
  }
};

/// With strides in elements, of either sign.
template <class T, int Rank>
struct strided {
  using value_type = T;
  T* data;
  int64_t shape[Rank == 0 ? 1 : Rank];
  int64_t strides[Rank == 0 ? 1 : Rank];

  T& operator[](int64_t i) const { return data[i * strides[0]]; }
  template <class... Index>
  T& operator()(Index... index) const {
    int64_t at = 0;
    int axis = 0;
    ((at += int64_t(index) * strides[axis++]), ...);
    return data[at];
  }
  int64_t size() const {
    int64_t n = 1;
    for (int k = 0; k < Rank; ++k) n *= shape[k];
    return n;
  }
};

/// The same array for a function that only reads it.
template <class T, int Rank>
inline dense<const T, Rank> readable(const dense<T, Rank>& a) {
  dense<const T, Rank> same{a.data, {}};
  for (int k = 0; k < Rank; ++k) same.shape[k] = a.shape[k];
  return same;
}
template <class T, int Rank>
inline strided<const T, Rank> readable(const strided<T, Rank>& a) {
  strided<const T, Rank> same{a.data, {}, {}};
  for (int k = 0; k < Rank; ++k) same.shape[k] = a.shape[k], same.strides[k] = a.strides[k];
  return same;
}

/// The part of an array at its first indices: row(a, i) of a matrix.
template <class T, int Rank, class... Index>
inline dense<T, Rank - int(sizeof...(Index))> row(const dense<T, Rank>& a, Index... index) {
  constexpr int given = int(sizeof...(Index));
  dense<T, Rank - given> part{a.data, {}};
  int64_t at = 0;
  int axis = 0;
  ((at = at * a.shape[axis++] + int64_t(index)), ...);
  for (int k = given; k < Rank; ++k) at *= part.shape[k - given] = a.shape[k];
  part.data += at;
  return part;
}
template <class T, int Rank, class... Index>
inline strided<T, Rank - int(sizeof...(Index))> row(const strided<T, Rank>& a, Index... index) {
  constexpr int given = int(sizeof...(Index));
  strided<T, Rank - given> part{a.data, {}, {}};
  int axis = 0;
  ((part.data += int64_t(index) * a.strides[axis++]), ...);
  for (int k = given; k < Rank; ++k) {
    part.shape[k - given] = a.shape[k];
    part.strides[k - given] = a.strides[k];
  }
  return part;
}

/// How many items before an element a line of a processor's cache begins, or a part of it that is
/// as long as a vector of items: vectors that begin there store into one line, not into two.
template <class T>
inline int64_t items_behind_line(const T* element) {
  constexpr uint64_t line = 64, vector = 16;
  return int64_t(reinterpret_cast<uint64_t>(element) % line / sizeof(T) % vector);
}

/// A slice of Python: what a bound is that is not given.
constexpr int64_t not_given = int64_t(uint64_t(1) << 63);
struct slice {
  int64_t start, stop, step;
};
template <class T>
constexpr bool is_slice = false;
template <>
constexpr bool is_slice<slice> = true;

/// Takes the axes of an array one by one: an index leaves its axis out, a slice keeps a part of it.
template <class T, int Rank, int Kept>
struct slicer {
  strided<T, Rank> from;
  strided<T, Kept> to;
  int axis = 0, kept = 0;

  void take(int64_t index) { to.data += index * from.strides[axis++]; }
  void take(slice s) {
    const int64_t n = from.shape[axis];
    const bool down = s.step < 0;
    // As Python has it: bounds from the end, then those that the axis has.
    const auto bound = [&](int64_t at, int64_t otherwise) {
      if (at == not_given) return otherwise;
      if (at < 0) at += n;
      const int64_t least = down ? -1 : 0, most = down ? n - 1 : n;
      return at < least ? least : at > most ? most : at;
    };
    const int64_t first = bound(s.start, down ? n - 1 : 0);
    const int64_t last = bound(s.stop, down ? -1 : n);
    int64_t length = 0;
    if (down && first > last) length = (first - last - 1) / -s.step + 1;
    if (s.step > 0 && first < last) length = (last - first - 1) / s.step + 1;
    if (length > 0) to.data += first * from.strides[axis];
    to.shape[kept] = length;
    to.strides[kept++] = from.strides[axis++] * s.step;
  }
};

/// The same array with strides.
template <class T, int Rank>
inline strided<T, Rank> with_strides(const dense<T, Rank>& a) {
  strided<T, Rank> same{a.data, {}, {}};
  int64_t stride = 1;
  for (int k = Rank - 1; k >= 0; --k) {
    same.shape[k] = a.shape[k];
    same.strides[k] = stride;
    stride *= a.shape[k];
  }
  return same;
}
template <class T, int Rank>
inline strided<T, Rank> with_strides(const strided<T, Rank>& a) {
  return a;
}

/// A part of an array: an index or a slice for each of its axes, all of those that are left out.
template <class T, int Rank, class... Spec>
inline auto sliced(const strided<T, Rank>& a, Spec... specs) {
  constexpr int left = Rank - int(sizeof...(Spec));
  constexpr int kept = (left + ... + int(is_slice<Spec>));
  slicer<T, Rank, kept> made{a, {a.data, {}, {}}};
  (made.take(specs), ...);
  for (int k = 0; k < left; ++k) made.take(slice{not_given, not_given, 1});
  return made.to;
}

}  // namespace usmx
