// What copies ask of their loops; see copy_loops.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "transfer/copy_loops.hpp"

#include <bit>
#include <functional>
#include <numeric>
#include <stdexcept>

#include "core/format.hpp"
#include "usmx/promotion.hpp"

namespace usmx::detail {

std::int64_t copy_loops::count(std::size_t depth) const noexcept {
  const auto first = lengths.span().first(depth);
  return std::accumulate(first.begin(), first.end(), std::int64_t{1}, std::multiplies<>());
}

dtype widest_word(std::uint64_t mix) noexcept {
  return number_type(number_index(dtype::of<std::uint8_t>()) + std::countr_zero(mix | 8));
}

bool same_bytes(const dtype& a, const dtype& b) noexcept {
  const auto is_integer = [](const dtype& t) {
    return t.kind() == type_class::integer || t.kind() == type_class::unsigned_integer;
  };
  return a == b || (is_integer(a) && is_integer(b) && a.itemsize() == b.itemsize());
}

copy_loops make_copy_loops(const any_view& dst, const any_view& src) {
  const std::size_t rank = dst.layout().shape().size();
  std::array<std::int64_t, max_rank> to, from;
  const auto scale = [&](const any_view& v, std::array<std::int64_t, max_rank>& steps) {
    const auto item = static_cast<std::int64_t>(v.dtype().itemsize());
    for (std::size_t k = 0; k < rank; ++k) steps[k] = v.layout().strides()[k] * item;
    return std::span<const std::int64_t>(steps).first(rank);
  };
  const std::span<const std::int64_t> both[] = {scale(dst, to), scale(src, from)};
  return {make_loops(dst.layout().shape().span(), both)};
}

void check_copy(const any_view& dst, const any_view& src) {
  if (!(dst.layout().shape() == src.layout().shape())) {
    throw std::invalid_argument(format("shape: {} cannot be copied to {}; the shapes must be equal",
                                       shape_text(src.layout().shape().span()),
                                       shape_text(dst.layout().shape().span())));
  }
  if (dst.read_only()) {
    throw interop_error(fault::read_only,
                        format("{}: the destination of a copy {}", field_of(fault::read_only),
                               message(fault::read_only)));
  }
  if ((dst.dtype().is_record() || src.dtype().is_record()) && !(dst.dtype() == src.dtype())) {
    throw interop_error(
        fault::dtype_mismatch,
        format("typestr: {} cannot become {}; records are copied to the same record only",
               src.dtype().name(), dst.dtype().name()));
  }
}

}  // namespace usmx::detail
