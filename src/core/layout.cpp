// SPDX-License-Identifier: Apache-2.0
#include "usmx/layout.hpp"

#include <limits>
#include <stdexcept>
#include <utility>

#include "core/format.hpp"

namespace usmx {
namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

// Products and sums that must be exact: true if the result fits.
bool multiply(std::int64_t a, std::int64_t b, std::int64_t& out) noexcept {
  return !__builtin_mul_overflow(a, b, &out);
}
bool add(std::int64_t a, std::int64_t b, std::int64_t& out) noexcept {
  return !__builtin_add_overflow(a, b, &out);
}

// As in NumPy, the other lengths must fit although one is zero, so that C order and Fortran order
// of an empty array have strides too.
bool product_fits(std::span<const std::int64_t> shape, std::int64_t itemsize) noexcept {
  for (const std::int64_t n : shape) {
    if (n != 0 && !multiply(itemsize, n, itemsize)) return false;
  }
  return true;
}

std::int64_t product(std::span<const std::int64_t> shape) noexcept {
  std::int64_t n = 1;
  for (const std::int64_t k : shape) n = k == 0 ? 0 : n * k;
  return n;
}

extents c_strides(const extents& shape) {
  extents strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t k = shape.size(); k-- > 0;) {
    strides[k] = step;
    if (shape[k] != 0) step *= shape[k];
  }
  return strides;
}

extents f_strides(const extents& shape) {
  extents strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    strides[k] = step;
    if (shape[k] != 0) step *= shape[k];
  }
  return strides;
}

fault check_shape(const extents& shape, std::size_t itemsize) noexcept {
  if (shape.size() > static_cast<std::size_t>(max_rank)) return fault::rank_too_high;
  if (std::ranges::any_of(shape.span(), [](std::int64_t n) { return n < 0; })) {
    return fault::shape_negative;
  }
  if (itemsize > static_cast<std::size_t>(largest)) return fault::shape_overflow;
  if (!product_fits(shape.span(), static_cast<std::int64_t>(itemsize))) {
    return fault::shape_overflow;
  }
  return fault::none;
}

[[noreturn]] void out_of_range(const char* what, std::int64_t value, const char* of,
                               std::int64_t limit) {
  throw std::out_of_range(
      detail::format("{}: {} is out of range for {} {}", what, value, of, limit));
}

std::size_t checked_axis(int axis, int rank) {
  if (axis < 0 || axis >= rank) out_of_range("axis", axis, "rank", rank);
  return static_cast<std::size_t>(axis);
}

}  // namespace

fault layout::measure() noexcept {
  size_ = product(shape_.span());
  const auto itemsize = static_cast<std::int64_t>(itemsize_);
  element_range r{0, 0};
  if (size_ > 0) {
    r.last = 1;
    for (std::size_t k = 0; k < shape_.size(); ++k) {
      std::int64_t reach = 0;
      if (!multiply(shape_[k] - 1, strides_[k], reach)) return fault::strides_overflow;
      std::int64_t& end = reach < 0 ? r.first : r.last;
      if (!add(end, reach, end)) return fault::strides_overflow;
    }
    // The whole span in bytes, so that a difference of two elements' addresses fits as well.
    std::int64_t span = 0;
    if (__builtin_sub_overflow(r.last, r.first, &span)) return fault::strides_overflow;
    if (!multiply(span, itemsize, span)) return fault::strides_overflow;
  }
  range_ = r;
  return fault::none;
}

fault layout::contiguous(extents (*strides_of)(const extents&), extents&& shape,
                         std::size_t itemsize, layout& out) {
  itemsize = std::max<std::size_t>(itemsize, 1);
  if (const fault f = check_shape(shape, itemsize); f != fault::none) return f;
  // No overflow is possible: all bytes are known to fit, and the strides follow from the shape.
  out.strides_ = strides_of(shape);
  out.size_ = product(shape.span());
  out.shape_ = std::move(shape);
  out.range_ = {0, out.size_};
  out.itemsize_ = itemsize;
  return fault::none;
}

fault layout::c_order(extents shape, std::size_t itemsize, layout& out) {
  return contiguous(c_strides, std::move(shape), itemsize, out);
}

fault layout::f_order(extents shape, std::size_t itemsize, layout& out) {
  return contiguous(f_strides, std::move(shape), itemsize, out);
}

fault layout::strided(extents shape, extents strides, std::size_t itemsize, layout& out) {
  itemsize = std::max<std::size_t>(itemsize, 1);
  if (const fault f = check_shape(shape, itemsize); f != fault::none) return f;
  if (strides.size() != shape.size()) return fault::strides_rank;
  layout made;
  made.shape_ = std::move(shape);
  made.strides_ = std::move(strides);
  made.itemsize_ = itemsize;
  if (const fault f = made.measure(); f != fault::none) return f;
  made.tame_unused_strides();
  out = std::move(made);
  return fault::none;
}

void layout::tame_unused_strides() {
  // A stride that no element uses may have any value. Keep it, as NumPy does, unless converting it
  // to bytes or negating it would overflow.
  const std::int64_t limit = largest / static_cast<std::int64_t>(itemsize_);
  const auto is_wild = [limit](std::int64_t s) { return s > limit || s < -limit; };
  if (std::ranges::none_of(strides_.span(), is_wild)) return;
  const extents tame = c_strides(shape_);
  for (std::size_t k = 0; k < strides_.size(); ++k) {
    if (is_wild(strides_[k])) strides_[k] = tame[k];
  }
}

bool layout::is_c_contiguous() const noexcept {
  if (size_ == 0) return true;
  std::int64_t step = 1;
  for (std::size_t k = shape_.size(); k-- > 0;) {
    if (shape_[k] == 1) continue;
    if (strides_[k] != step) return false;
    step *= shape_[k];
  }
  return true;
}

bool layout::is_f_contiguous() const noexcept {
  if (size_ == 0) return true;
  std::int64_t step = 1;
  for (std::size_t k = 0; k < shape_.size(); ++k) {
    if (shape_[k] == 1) continue;
    if (strides_[k] != step) return false;
    step *= shape_[k];
  }
  return true;
}

layout layout::sliced(int axis, std::int64_t start, std::int64_t count, std::int64_t step,
                      std::int64_t& shift) const {
  const std::size_t k = checked_axis(axis, rank());
  const std::int64_t length = shape_[k];
  if (step == 0) throw std::invalid_argument("step: 0 is not allowed; expected another integer");
  if (count < 0) {
    throw std::invalid_argument(detail::format("count: {} is negative; expected 0 or more", count));
  }
  layout result = *this;
  result.shape_[k] = count;
  if (count == 0) {
    shift = 0;
    (void)result.measure();
    return result;
  }
  std::int64_t last = 0;
  if (start < 0 || start >= length) out_of_range("start", start, "length", length);
  if (!multiply(count - 1, step, last) || !add(start, last, last) || last < 0 || last >= length) {
    out_of_range("count", count, "length", length);
  }
  // A stride that reaches no second element may overflow here; it is then not changed.
  std::int64_t& stride = result.strides_[k];
  if (!multiply(stride, step, stride)) stride = strides_[k];
  shift = size_ == 0 ? 0 : start * strides_[k];
  (void)result.measure();
  result.tame_unused_strides();
  return result;
}

layout layout::indexed(int axis, std::int64_t index, std::int64_t& shift) const {
  const std::size_t gone = checked_axis(axis, rank());
  if (index < 0 || index >= shape_[gone]) out_of_range("index", index, "length", shape_[gone]);
  layout result;
  result.itemsize_ = itemsize_;
  result.shape_ = extents(shape_.size() - 1);
  result.strides_ = extents(shape_.size() - 1);
  for (std::size_t k = 0, to = 0; k < shape_.size(); ++k) {
    if (k == gone) continue;
    result.shape_[to] = shape_[k];
    result.strides_[to++] = strides_[k];
  }
  shift = size_ == 0 ? 0 : index * strides_[gone];
  (void)result.measure();
  return result;
}

layout layout::permuted(std::span<const int> order) const {
  if (order.size() != shape_.size()) {
    throw std::invalid_argument(detail::format(
        "axes: has {} axes; expected each of the {} axes once", order.size(), shape_.size()));
  }
  layout result = *this;
  std::uint64_t seen = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::size_t from = checked_axis(order[k], rank());
    if (seen >> from & 1) {
      throw std::invalid_argument(
          detail::format("axes: {} appears twice; expected each axis once", from));
    }
    seen |= std::uint64_t{1} << from;
    result.shape_[k] = shape_[from];
    result.strides_[k] = strides_[from];
  }
  return result;
}

layout layout::with_axis(int axis) const {
  if (axis < 0 || axis > rank()) out_of_range("axis", axis, "rank", rank() + 1);
  if (rank() == max_rank) detail::require_valid(fault::rank_too_high);
  layout result = *this;
  result.shape_ = extents(shape_.size() + 1, 1);
  result.strides_ = extents(shape_.size() + 1, 0);
  for (std::size_t k = 0; k < shape_.size(); ++k) {
    const std::size_t to = k < static_cast<std::size_t>(axis) ? k : k + 1;
    result.shape_[to] = shape_[k];
    result.strides_[to] = strides_[k];
  }
  return result;
}

bool layout::reshaped(const extents& shape, layout& out) const {
  layout fresh;
  detail::require_valid(c_order(shape, itemsize_, fresh));
  if (fresh.size_ != size_) {
    throw std::invalid_argument(
        detail::format("shape: has {} elements; expected {}", fresh.size_, size_));
  }
  if (shape == shape_) {
    out = *this;
    return true;
  }
  if (is_c_contiguous()) {
    out = std::move(fresh);
    return true;
  }
  // Walk both shapes together: the shortest runs of old and of new dimensions with equally many
  // elements correspond. A run of old dimensions must be one evenly spaced sequence; the new
  // dimensions then divide it.
  extents from_shape(shape_.size()), from_strides(shape_.size());
  std::size_t from_rank = 0;
  for (std::size_t k = 0; k < shape_.size(); ++k) {
    if (shape_[k] == 1) continue;
    from_shape[from_rank] = shape_[k];
    from_strides[from_rank++] = strides_[k];
  }
  extents strides(shape.size());
  std::size_t from = 0, to = 0;
  while (from < from_rank && to < shape.size()) {
    std::size_t from_end = from + 1, to_end = to + 1;
    std::int64_t from_count = from_shape[from], to_count = shape[to];
    while (from_count != to_count) {
      if (to_count < from_count) {
        to_count *= shape[to_end++];
      } else {
        from_count *= from_shape[from_end++];
      }
    }
    for (std::size_t k = from; k + 1 < from_end; ++k) {
      std::int64_t next = 0;
      if (!multiply(from_shape[k + 1], from_strides[k + 1], next) || next != from_strides[k]) {
        return false;
      }
    }
    std::int64_t step = from_strides[from_end - 1];
    for (std::size_t k = to_end; k-- > to;) {
      strides[k] = step;
      // Overflows only before leading dimensions of length one, where no element is reached.
      std::int64_t next = 0;
      if (multiply(step, shape[k], next)) step = next;
    }
    from = from_end;
    to = to_end;
  }
  // Only dimensions of length one are left.
  for (; to < shape.size(); ++to) strides[to] = to == 0 ? 1 : strides[to - 1];
  return strided(shape, std::move(strides), itemsize_, out) == fault::none;
}

bool layout::broadcast(const extents& shape, layout& out) const {
  if (shape.size() < shape_.size()) return false;
  const std::size_t added = shape.size() - shape_.size();
  extents strides(shape.size());
  for (std::size_t k = 0; k < shape_.size(); ++k) {
    if (shape_[k] != shape[added + k] && shape_[k] != 1) return false;
    strides[added + k] = shape_[k] == 1 ? 0 : strides_[k];
  }
  return strided(shape, std::move(strides), itemsize_, out) == fault::none;
}

}  // namespace usmx
