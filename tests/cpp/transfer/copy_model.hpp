// What the copy tests compare with: the plainest casts, layouts made at random, and arrays of which
// the host knows every byte.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "check.hpp"
#include "usmx/copy.hpp"

namespace copy_model {

using namespace usmx;

inline constexpr usm_kind kinds[] = {usm_kind::device, usm_kind::shared, usm_kind::host};

template <class... T>
struct types {};
using all_types = types<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                        std::uint16_t, std::uint32_t, std::uint64_t, sycl::half, float, double,
                        std::complex<float>, std::complex<double>>;

template <class F, class... T>
void for_each_type(types<T...>, F&& f) {
  (f(T{}), ...);
}

template <class T>
inline constexpr bool is_complex = detail::is_complex<T>::value;

/// The naive cast, right for values that fit.
template <class To, class From>
To cast(From x) {
  if constexpr (is_complex<From> && is_complex<To>) {
    using P = typename To::value_type;
    return {static_cast<P>(x.real()), static_cast<P>(x.imag())};
  } else if constexpr (is_complex<From>) {
    if constexpr (std::is_same_v<To, bool>) return x != From{};
    return cast<To>(x.real());
  } else if constexpr (is_complex<To>) {
    return To(static_cast<typename To::value_type>(x), 0);
  } else if constexpr (std::is_same_v<To, bool>) {
    return static_cast<double>(x) != 0;
  } else if constexpr (std::is_same_v<To, sycl::half>) {
    return static_cast<sycl::half>(static_cast<float>(x));
  } else {
    return static_cast<To>(x);
  }
}

template <class T>
T sample(std::int64_t k) {
  if constexpr (std::is_same_v<T, bool>) {
    return k % 3 != 0;
  } else if constexpr (is_complex<T>) {
    using P = typename T::value_type;
    return {static_cast<P>(k % 90), static_cast<P>(k % 7)};
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(k % 90);
  } else {
    return static_cast<T>(static_cast<float>(k % 90) + 0.25F);
  }
}

inline layout packed(const extents& shape, std::size_t itemsize) {
  layout out;
  CHECK(layout::c_order(shape, itemsize, out) == fault::none);
  return out;
}

/// A strided view somewhere inside of a flat array: lengths, steps (sign included), permutation.
struct picture {
  extents shape;
  extents strides;
  std::int64_t first = 0;
  std::int64_t elements = 0;  // that the flat array must have
};

inline picture random_picture(std::mt19937& random, const extents& shape) {
  std::vector<std::size_t> order(shape.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::shuffle(order.begin(), order.end(), random);
  picture out{shape, extents(shape.size()), 0, 1};
  std::int64_t room = 1;
  for (const std::size_t k : order) {
    const std::int64_t step = random() % 3 == 0 ? 2 : 1;
    const bool reversed = random() % 3 == 0;
    out.strides[k] = room * step * (reversed ? -1 : 1);
    if (reversed) out.first += room * step * (shape[k] - 1);
    room *= step * shape[k];
  }
  out.elements = room;
  return out;
}

inline std::int64_t position(const picture& p, std::int64_t linear) {
  std::int64_t at = p.first;
  for (std::size_t k = p.shape.size(); k-- > 0;) {
    at += linear % p.shape[k] * p.strides[k];
    linear /= p.shape[k];
  }
  return at;
}

inline any_view seen(void* data, dtype type, const picture& p, usm_kind kind) {
  layout where;
  CHECK(layout::strided(p.shape, p.strides, type.itemsize(), where) == fault::none);
  any_view out;
  auto* const first =
      static_cast<std::byte*>(data) + p.first * static_cast<std::int64_t>(type.itemsize());
  CHECK(any_view::make(first, std::move(type), std::move(where), kind, false, out) == fault::none);
  return out;
}

/// A flat array of one kind together with what the host knows to be in it.
template <class T>
struct mirrored {
  mirrored(const sycl::queue& queue, usm_kind kind, std::int64_t n, std::int64_t seed)
      : known(static_cast<std::size_t>(n)), flat(make(queue, kind, n)) {
    for (std::int64_t k = 0; k < n; ++k) known[static_cast<std::size_t>(k)] = sample<T>(k + seed);
    sycl::queue(queue).memcpy(flat.data(), known.data(), known.size() * sizeof(T)).wait();
  }
  static array make(const sycl::queue& queue, usm_kind kind, std::int64_t n) {
    const std::int64_t shape[] = {n};
    return array::empty(queue, shape, dtype::of<T>(), kind);
  }
  array with(const picture& p) const {
    return flat.with_view(seen(flat.data(), dtype::of<T>(), p, flat.kind()));
  }
  void check_against_device() const {
    mirror now(known.size());
    sycl::queue(flat.queue()).memcpy(now.data(), flat.data(), known.size() * sizeof(T)).wait();
    for (std::size_t k = 0; k < known.size(); ++k) CHECK(now[k] == known[k]);
  }
  // vector<bool> has no data().
  struct mirror {
    explicit mirror(std::size_t n) : items(new T[n]), count(n) {}
    T* data() { return items.get(); }
    const T* data() const { return items.get(); }
    T& operator[](std::size_t k) { return items[k]; }
    const T& operator[](std::size_t k) const { return items[k]; }
    std::size_t size() const { return count; }
    std::unique_ptr<T[]> items;
    std::size_t count;
  };
  mirror known;
  array flat;
};

}  // namespace copy_model
