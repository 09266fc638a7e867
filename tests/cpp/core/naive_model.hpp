// What layouts mean, written down a second time and as naively as possible: every element is
// enumerated, every number is 128 bits wide. The tests and the fuzzers hold the library against it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "usmx/layout.hpp"

namespace naive {

__extension__ using wide = __int128;
using numbers = std::vector<std::int64_t>;

inline constexpr wide largest = std::numeric_limits<std::int64_t>::max();
inline constexpr wide enough = wide{1} << 120;  // beyond this, only that it is too big matters

inline wide clamped(wide n) { return std::clamp(n, -enough, enough); }
inline wide product(wide a, wide b) {
  wide r = 0;
  if (__builtin_mul_overflow(a, b, &r)) return (a < 0) == (b < 0) ? enough : -enough;
  return clamped(r);
}

inline numbers list(const usmx::extents& e) { return {e.begin(), e.end()}; }
inline usmx::extents extents(const numbers& n) { return usmx::extents(std::span(n)); }

/// Every index of `shape`, the last one running fastest.
inline std::vector<numbers> indices(const numbers& shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return {};
  std::vector<numbers> all{{}};
  for (const std::int64_t n : shape) {
    std::vector<numbers> longer;
    for (const numbers& index : all) {
      for (std::int64_t i = 0; i < n; ++i) {
        longer.push_back(index);
        longer.back().push_back(i);
      }
    }
    all = std::move(longer);
  }
  return all;
}

/// What does not fit is nowhere: the lowest number, which no layout reaches.
inline std::int64_t narrow(wide at) {
  const bool fits = at <= largest && at >= -largest;
  return fits ? static_cast<std::int64_t>(at) : std::numeric_limits<std::int64_t>::min();
}

inline std::int64_t position(const numbers& index, const numbers& strides) {
  wide at = 0;
  for (std::size_t k = 0; k < index.size(); ++k) at += wide{index[k]} * strides[k];
  return narrow(at);
}

/// The position of every element in C order: each axis repeats what stands for one of its elements.
inline numbers positions(const numbers& shape, const numbers& strides) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return {};
  std::vector<wide> at{0};
  for (std::size_t k = 0; k < shape.size(); ++k) {
    std::vector<wide> longer;
    longer.reserve(at.size() * static_cast<std::size_t>(shape[k]));
    for (const wide p : at) {
      for (std::int64_t i = 0; i < shape[k]; ++i) longer.push_back(p + wide{i} * strides[k]);
    }
    at = std::move(longer);
  }
  numbers narrowed(at.size());
  std::transform(at.begin(), at.end(), narrowed.begin(), narrow);
  return narrowed;
}
inline numbers positions(const usmx::layout& l) {
  return positions(list(l.shape()), list(l.strides()));
}

inline numbers reversed(numbers n) {
  std::reverse(n.begin(), n.end());
  return n;
}

/// Contiguous means that walking the elements in order visits 0, 1, 2, ...
inline bool counts_up(const numbers& at) {
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (at[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}
inline bool is_c_contiguous(const numbers& shape, const numbers& strides) {
  return counts_up(positions(shape, strides));
}
inline bool is_f_contiguous(const numbers& shape, const numbers& strides) {
  return counts_up(positions(reversed(shape), reversed(strides)));
}

/// Strides under which `shape` visits exactly these positions, if there are any: a step along one
/// axis fixes that axis, then all elements are compared.
inline std::optional<numbers> strides_for(const numbers& shape, const numbers& at) {
  numbers strides(shape.size(), 0);
  if (at.empty()) return strides;
  std::int64_t step = 1;
  for (std::size_t k = shape.size(); k-- > 0;) {
    if (shape[k] > 1) strides[k] = at[static_cast<std::size_t>(step)] - at[0];
    step *= shape[k];
  }
  if (positions(shape, strides) != at) return std::nullopt;
  return strides;
}

/// The fault of `layout::strided`, and where the elements lie if there is none.
struct extent {
  usmx::fault fault = usmx::fault::none;
  wide first = 0, last = 0, count = 1;
};
inline extent measure(const numbers& shape, const numbers& strides, std::size_t itemsize) {
  using usmx::fault;
  const wide bytes = itemsize == 0 ? 1 : wide{itemsize};
  if (shape.size() > 64) return {fault::rank_too_high};
  wide nonzero = bytes;
  extent e;
  for (const std::int64_t n : shape) {
    if (n < 0) return {fault::shape_negative};
    if (n > 0) nonzero = product(nonzero, n);
    e.count = product(e.count, n);
  }
  if (nonzero > largest) return {fault::shape_overflow};
  if (strides.size() != shape.size()) return {fault::strides_rank};
  if (e.count == 0) return e;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const wide reach = product(wide{shape[k]} - 1, strides[k]);
    (reach < 0 ? e.first : e.last) += reach;
  }
  e.last += 1;
  if (product(clamped(e.last - e.first), bytes) > largest) return {fault::strides_overflow};
  return e;
}

}  // namespace naive
