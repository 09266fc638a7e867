// Where the elements of an n-dimensional array lie, counted in elements, never in bytes: the unit of
// the protocol, of DLPack and of kernels. Overflow is checked here once, so that nobody else has to.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "usmx/error.hpp"

namespace usmx {

/// The most dimensions an array can have; NumPy's limit.
inline constexpr int max_rank = 64;

/// A short list of 64-bit numbers that needs no heap up to four: a shape or a list of strides.
class extents {
 public:
  extents() noexcept = default;
  explicit extents(std::size_t n, std::int64_t value = 0) : size_(n) {
    if (n > inline_capacity) heap_ = std::make_unique<std::int64_t[]>(n);
    std::fill_n(data(), n, value);
  }
  extents(std::initializer_list<std::int64_t> v) : extents(std::span(v.begin(), v.size())) {}
  explicit extents(std::span<const std::int64_t> v) : extents(v.size()) {
    std::copy(v.begin(), v.end(), data());
  }
  extents(const extents& o) : extents(o.span()) {}
  extents(extents&& o) noexcept
      : size_(std::exchange(o.size_, 0)), inline_(o.inline_), heap_(std::move(o.heap_)) {}
  extents& operator=(extents o) noexcept {
    std::swap(size_, o.size_);
    std::swap(inline_, o.inline_);
    std::swap(heap_, o.heap_);
    return *this;
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  std::int64_t* data() noexcept { return heap_ ? heap_.get() : inline_.data(); }
  const std::int64_t* data() const noexcept { return heap_ ? heap_.get() : inline_.data(); }
  std::int64_t& operator[](std::size_t i) noexcept { return data()[i]; }
  std::int64_t operator[](std::size_t i) const noexcept { return data()[i]; }
  const std::int64_t* begin() const noexcept { return data(); }
  const std::int64_t* end() const noexcept { return data() + size_; }
  std::span<const std::int64_t> span() const noexcept { return {data(), size_}; }
  friend bool operator==(const extents& a, const extents& b) noexcept {
    return std::ranges::equal(a.span(), b.span());
  }

 private:
  static constexpr std::size_t inline_capacity = 4;
  std::size_t size_ = 0;
  std::array<std::int64_t, inline_capacity> inline_{};
  std::unique_ptr<std::int64_t[]> heap_;
};

/// The half-open range of element positions that a layout touches, relative to its first element:
/// `first` is zero or negative. Empty layouts touch nothing: {0, 0}.
struct element_range {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// Shape and strides of an array, both in elements and valid by construction: the element count, the
/// byte count for any itemsize up to the one it was made for, and every position fit in 63 bits.
class layout {
 public:
  /// The layout of a scalar: rank 0, one element.
  layout() noexcept = default;

  /// C order. Faults: rank_too_high, shape_negative, shape_overflow.
  static fault c_order(extents shape, std::size_t itemsize, layout& out) noexcept;
  /// Fortran order, same faults.
  static fault f_order(extents shape, std::size_t itemsize, layout& out) noexcept;
  /// Given strides. Faults: those of c_order, strides_rank, strides_overflow.
  static fault strided(extents shape, extents strides, std::size_t itemsize, layout& out) noexcept;

  int rank() const noexcept { return static_cast<int>(shape_.size()); }
  /// Number of elements.
  std::int64_t size() const noexcept { return size_; }
  const extents& shape() const noexcept { return shape_; }
  const extents& strides() const noexcept { return strides_; }
  element_range range() const noexcept { return range_; }

  /// As NumPy decides it: dimensions of length one do not matter, an empty array is both.
  bool is_c_contiguous() const noexcept;
  bool is_f_contiguous() const noexcept;

  /// What indexing with a slice or an integer does to one axis: the new layout plus the distance, in
  /// elements, from the old first element to the new one. `start` and `count` must lie inside.
  layout sliced(int axis, std::int64_t start, std::int64_t count, std::int64_t step,
                std::int64_t& shift) const;
  layout indexed(int axis, std::int64_t index, std::int64_t& shift) const;
  /// Axis i of the result is axis `order[i]` of this.
  layout permuted(std::span<const int> order) const;
  /// A dimension of length one before `axis`.
  layout with_axis(int axis) const;
  /// The same elements in C order with another shape, where that needs no copy. False if it does.
  /// The element counts must be equal.
  bool reshaped(const extents& shape, layout& out) const;
  /// Repeats dimensions of length one with stride zero. False if the shapes do not broadcast.
  bool broadcast(const extents& shape, layout& out) const;

  friend bool operator==(const layout& a, const layout& b) noexcept {
    return a.shape_ == b.shape_ && a.strides_ == b.strides_;
  }

 private:
  fault measure(std::size_t itemsize) noexcept;

  extents shape_;
  extents strides_;
  std::int64_t size_ = 1;
  element_range range_{0, 1};
};

}  // namespace usmx
