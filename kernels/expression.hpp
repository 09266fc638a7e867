// What a kernel made from an expression reads and writes its operands with: casts as NumPy makes
// them, and arrays that the expression indexes itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Apart from what expressions see, so that their own functions may have the same names.
namespace usmx::expression {

template <class A, class B>
inline constexpr bool is_same = false;
template <class A>
inline constexpr bool is_same<A, A> = true;
template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<complex<T>> = true;

/// A float without its fraction; the lowest number for what does not fit, as on the host.
template <class Integer, class Floating>
inline Integer truncate(Floating x) {
  constexpr Floating two_63 = Floating(9223372036854775808.0f);
  if constexpr (is_same<Integer, uint64_t>) {
    if (x >= two_63) {
      return x < 2 * two_63 ? uint64_t(int64_t(x - two_63)) ^ (uint64_t(1) << 63) : uint64_t(0);
    }
    return uint64_t(truncate<int64_t>(x));
  } else if constexpr (is_same<Integer, int64_t>) {
    return x >= -two_63 && x < two_63 ? int64_t(x) : int64_t(uint64_t(1) << 63);
  } else if constexpr (is_same<Integer, uint32_t>) {
    return uint32_t(truncate<int64_t>(x));
  } else {
    constexpr Floating two_31 = Floating(2147483648.0f);
    return Integer(x >= -two_31 && x < two_31 ? int32_t(x) : int32_t(uint32_t(1) << 31));
  }
}

/// The number in another type. Fractions are cut off; complex numbers lose their imaginary part.
template <class To, class From>
inline To convert(From x) {
  if constexpr (is_same<To, From>) {
    return x;
  } else if constexpr (is_complex<From> && is_same<To, bool>) {
    return x.re != 0 || x.im != 0;
  } else if constexpr (is_complex<From> && !is_complex<To>) {
    return convert<To>(x.re);
  } else if constexpr (is_same<To, bool>) {
    return x != From(0);
  } else if constexpr (is_complex<From>) {
    return To(x);
  } else if constexpr (is_complex<To>) {
    return To(convert<decltype(To::re)>(x));
  } else if constexpr (is_same<From, half> && !is_floating<To>) {
    return truncate<To>(float(x));
  } else if constexpr (is_floating<From> && !is_floating<To>) {
    return truncate<To>(x);
  } else if constexpr (is_floating<To> && !is_floating<From> && From(-1) < From(0)) {
    return to_floating<To>(x);
  } else {
    return To(x);
  }
}

template <class T>
inline T read(const T* p, int64_t i) {
  if constexpr (is_same<T, bool>)
    return reinterpret_cast<const uint8_t*>(p)[i] != 0;  // a foreign true need not be 1
  else
    return p[i];
}
template <class As, class Own>
inline As load(const Own* p, int64_t i) {
  return convert<As>(read(p, i));
}
/// The element itself where it can be named, so that it can be assigned to; otherwise its value.
template <class As, class Own>
inline decltype(auto) element(Own* p, int64_t i) {
  if constexpr (is_same<As, Own>)
    return (p[i]);
  else if constexpr (is_same<const As, Own> && !is_same<As, bool>)
    return (p[i]);
  else
    return load<As>(p, i);
}
template <class Own, class T>
inline void store(Own* p, int64_t i, T value) {
  p[i] = convert<Own>(value);
}

/// Neighbouring elements that are loaded at once.
template <class T, int N>
struct several {
  alignas(N * sizeof(T)) T at[N];
};
/// `p` is a multiple of their size.
template <int N, class T>
inline several<T, N> load_several(const T* p) {
  several<T, N> values;
  __builtin_memcpy(&values, __builtin_assume_aligned(p, sizeof values), sizeof values);
  return values;
}

/// A raw parameter with its elements in a row: indexed by the flat number of an element.
template <class As, class Own>
struct raw_row {
  Own* p;
  int64_t count;

  decltype(auto) operator[](int64_t i) const { return element<As>(p, i); }
  int64_t size() const { return count; }
};

/// One of any strides, indexed by the flat number of an element in C order.
template <class As, class Own, int Rank>
struct raw_strided {
  Own* p;
  int64_t count;
  int64_t lengths[Rank];
  int64_t steps[Rank];

  decltype(auto) operator[](int64_t i) const {
    int64_t at = 0;
    for (int axis = Rank - 1; axis > 0; --axis) {
      at += i % lengths[axis] * steps[axis];
      i /= lengths[axis];
    }
    return element<As>(p, at + i * steps[0]);
  }
  int64_t size() const { return count; }
};

}  // namespace usmx::expression
