// See cast.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "core/cast.hpp"

#include <algorithm>

namespace usmx::detail {
namespace {

template <class From>
void load_row(void* out, const std::byte* from, std::int64_t step, std::int64_t n) {
  auto* const to = static_cast<wide<From>*>(out);
  for (std::int64_t k = 0; k < n; ++k) to[k] = widen<From>(from + k * step);
}

template <class Wide, class To>
void store_row(std::byte* to, std::int64_t step, const void* in, std::int64_t n) {
  const auto* const from = static_cast<const Wide*>(in);
  for (std::int64_t k = 0; k < n; ++k) {
    const To value = convert<To>(from[k]);
    std::memcpy(to + k * step, &value, sizeof(To));
  }
}

using row_storer = void (*)(std::byte*, std::int64_t, const void*, std::int64_t);

template <class Wide>
row_storer storer_of(const dtype& type) noexcept {
  return visit_number(
      type, []<class To>(std::type_identity<To>) -> row_storer { return store_row<Wide, To>; });
}

}  // namespace

row_cast::row_cast(const dtype& to, const dtype& from) noexcept {
  visit_number(from, [&]<class From>(std::type_identity<From>) {
    load_ = load_row<From>;
    store_ = storer_of<wide<From>>(to);
  });
}

void row_cast::operator()(std::byte* to, std::int64_t to_step, const std::byte* from,
                          std::int64_t from_step, std::int64_t count) const noexcept {
  constexpr std::int64_t block = 512;
  alignas(64) std::byte buffer[block * sizeof(std::complex<double>)];
  for (std::int64_t k = 0; k < count; k += block) {
    const std::int64_t here = std::min(block, count - k);
    load_(buffer, from + k * from_step, from_step, here);
    store_(to + k * to_step, to_step, buffer, here);
  }
}

void row_cast::operator()(void* to, const void* from) const noexcept {
  std::complex<double> number;
  load_(&number, static_cast<const std::byte*>(from), 0, 1);
  store_(static_cast<std::byte*>(to), 0, &number, 1);
}

}  // namespace usmx::detail
