// How far elements lie from their mean, in one pass. Each item counts distances from its first
// element: sums of squares would lose the digits that a large mean takes, and means that are
// corrected with each element need a division for each. Two items then join counts, means and
// squares: an element that is far from all others makes the sums of its own item less exact, and
// the whole larger by at least as much.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace usmx::expression {

/// `count` elements: the sums of their distances from `from`, and of the squares of these.
template <class T>
struct moments {
  T count, from, sum, squares;
};

template <class T>
[[gnu::always_inline]] inline moments<T> moments_of(T x) {
  return {T(1), x, x - x, T(0)};  // NaN of an infinity, which has no distance from itself
}

/// The sum of the squares of the distances from the mean.
template <class T>
[[gnu::always_inline]] inline T spread(const moments<T>& a) {
  const T made = a.squares - a.sum * (a.sum / a.count);
  return made < T(0) ? T(0) : made;  // NaN stays
}

template <class T>
[[gnu::always_inline]] inline moments<T> joined(const moments<T>& a, const moments<T>& b) {
  if (b.count == T(1)) {  // known where an element is joined
    const T away = b.from - a.from;
    return {a.count + T(1), a.from, a.sum + away, a.squares + away * away};
  }
  // What is counted from is their mean from here on.
  const T count = a.count + b.count, share = b.count / count;
  const T of_a = a.sum / a.count, of_b = b.sum / b.count;
  const T away = (b.from - a.from) + (of_b - of_a);
  return {count, a.from + (of_a + away * share), T(0),
          spread(a) + spread(b) + away * away * (a.count * share)};
}

}  // namespace usmx::expression
