// Where the elements of several operands stand that loops visit together.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../prelude.hpp"

namespace usmx::expression {

/// 0, 1, ..., N - 1, as a pack of template arguments.
template <int... I>
struct indices {};
template <class Int, Int... I>
using make_indices = indices<I...>;
template <int N>
using up_to = __make_integer_seq<make_indices, int, N>;

/// A place in each of some operands, in elements from its first one.
template <int Operands>
struct positions {
  int64_t of[Operands > 0 ? Operands : 1];
};

/// Loops over the elements of some operands, outermost first. A step that is known when the text is
/// written stands there as a number, and costs nothing.
template <int Rank, int Operands, class Count = int64_t, class Distance = int64_t>
struct loops {
  Count lengths[Rank > 1 ? Rank - 1 : 1];  ///< of all but the outermost
  Distance steps[Operands > 0 ? Operands : 1][Rank > 0 ? Rank : 1];

  /// The places at one iteration; `flat` numbers them in C order.
  positions<Operands> at(Count flat) const {
    Count index[Rank > 0 ? Rank : 1];
    unravel(flat, index, up_to<Rank>());
    return positions_of(index, up_to<Operands>());
  }

 private:
  template <int... A>
  void unravel(Count rest, Count* index, indices<A...>) const {
    (take<Rank - 1 - A>(rest, index), ...);
  }
  template <int Axis>
  void take(Count& rest, Count* index) const {
    if constexpr (Axis == 0) {
      index[0] = rest;
    } else {
      index[Axis] = rest % lengths[Axis - 1];
      rest /= lengths[Axis - 1];
    }
  }
  template <int... O>
  positions<Operands> positions_of(const Count* index, indices<O...>) const {
    return {{int64_t(distance<O>(index, up_to<Rank>()))...}};
  }
  template <int Operand, int... A>
  Distance distance(const Count* index, indices<A...>) const {
    return (Distance(0) + ... + Distance(Distance(index[A]) * steps[Operand][A]));
  }
};

/// The sum of both places, of each operand.
template <int Operands, int... O>
inline void add(positions<Operands>& a, const positions<Operands>& b, indices<O...>) {
  ((a.of[O] += b.of[O]), ...);
}
template <int Operands>
inline positions<Operands> operator+(positions<Operands> a, const positions<Operands>& b) {
  add(a, b, up_to<Operands>());
  return a;
}

}  // namespace usmx::expression
