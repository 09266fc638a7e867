// Products of floats whose parts leave the range of the type, though the whole does not. Elements
// are joined in an order of the kernel's: one part may come to 0 and another to infinity, and 0
// times infinity is NaN. So what stands for a part also has its product without a range. The host
// compiles this file too, so nothing is included.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace usmx::expression {

/// A unit of the exponent, and what products of two of these stay within.
template <class T>
struct range_of;
template <>
struct range_of<float> {
  static constexpr float up = 0x1p64f, down = 0x1p-64f, low = 0x1p-32f, high = 0x1p32f;
  static constexpr float largest = 0x1.fffffep127f;
};
template <>
struct range_of<double> {
  static constexpr double up = 0x1p512, down = 0x1p-512, low = 0x1p-256, high = 0x1p256;
  static constexpr double largest = 0x1.fffffffffffffp1023;
};

/// `plain` is the product as it is rounded by the type; `scaled` with `units` is the same number
/// as long as that is finite. `count` is how many elements it is of, up to `many`.
template <class T>
struct product {
  T plain, scaled;
  __INT32_TYPE__ units, count;
};
/// From so many elements on, the order in which they are joined is not that of NumPy.
constexpr __INT32_TYPE__ many = 16;

/// Scales by powers of two alone, which rounds nothing.
template <class T>
[[gnu::always_inline]] inline product<T> within_range(T plain, T scaled, __INT32_TYPE__ units,
                                                      __INT32_TYPE__ count) {
  using range = range_of<T>;
  const T size = scaled < 0 ? -scaled : scaled;
  const bool small = size > 0 && size < range::low;
  const bool large = size >= range::high && size <= range::largest;
  return {plain,
          scaled * (small   ? range::up
                    : large ? range::down
                            : T(1)),
          units + (small   ? -1
                   : large ? 1
                           : 0),
          count < many ? count : many};
}

template <class T>
[[gnu::always_inline]] inline product<T> start(T x) {
  const product<T> once = within_range(x, x, 0, 1);
  return within_range(x, once.scaled, once.units, 1);
}

/// The product of an empty part.
template <class T>
[[gnu::always_inline]] inline product<T> product_of_none() {
  return {T(1), T(1), 0, 0};
}

template <class T>
[[gnu::always_inline]] inline product<T> joined(const product<T>& a, const product<T>& b) {
  return within_range(a.plain * b.plain, a.scaled * b.scaled, a.units + b.units, a.count + b.count);
}

/// The plain product, unless it is NaN only because of the order: of elements that are all finite.
/// If one of many is 0, so is the product, wherever it stands; of few, NumPy's order says what
/// comes first: 0, or what is too large, which 0 does not undo.
template <class T>
[[gnu::always_inline]] inline T ended(const product<T>& a) {
  const T size = a.scaled < 0 ? -a.scaled : a.scaled;
  if (a.plain == a.plain || !(size <= range_of<T>::largest)) return a.plain;
  if (size == 0 && a.count < many) return a.plain;
  T made = a.scaled;
  for (int k = 0; k < 4; ++k) {  // more of them are 0 or infinity
    made *= k < a.units ? range_of<T>::up : k < -a.units ? range_of<T>::down : T(1);
  }
  return made;
}

}  // namespace usmx::expression
