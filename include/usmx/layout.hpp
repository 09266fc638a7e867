// Where the elements of an n-dimensional array lie, counted in elements, never in bytes: the unit
// of the protocol, of DLPack and of kernels. Overflow is checked here once, so that no other code
// has to.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
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
    // All of the inline numbers, because a fixed count costs one store and no call.
    if (n <= inline_capacity) {
      inline_.fill(value);
    } else {
      heap_ = std::make_unique<std::int64_t[]>(n);
      std::fill_n(heap_.get(), n, value);
    }
  }
  extents(std::initializer_list<std::int64_t> v) : extents(std::span(v.begin(), v.size())) {}
  explicit extents(std::span<const std::int64_t> v) : extents(v.size()) {
    std::copy(v.begin(), v.end(), data());
  }
  extents(const extents& o) : size_(o.size_), inline_(o.inline_) {
    if (!o.heap_) return;
    heap_ = std::make_unique<std::int64_t[]>(size_);
    std::copy_n(o.heap_.get(), size_, heap_.get());
  }
  extents(extents&& o) noexcept
      : size_(std::exchange(o.size_, 0)), inline_(o.inline_), heap_(std::move(o.heap_)) {}
  extents& operator=(const extents& o) { return *this = extents(o); }
  extents& operator=(extents&& o) noexcept {
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

/// Shape and strides of an array, both in elements and valid by construction: the element count,
/// the span of all positions and every stride, each times the itemsize that the layout was made
/// for, fit in 63 bits. Functions that are not `noexcept` may throw std::bad_alloc above rank four.
class layout {
 public:
  /// The layout of a scalar: rank 0, one element.
  layout() noexcept = default;
  layout(const layout&) = default;
  layout(layout&&) noexcept = default;
  /// Strong guarantee: unchanged if memory runs out.
  layout& operator=(const layout& o) { return *this = layout(o); }
  layout& operator=(layout&&) noexcept = default;
  ~layout() = default;

  /// C order for elements of `itemsize` bytes. Faults: rank_too_high, shape_negative,
  /// shape_overflow (lengths of zero do not count, as in NumPy). `out` is written only on success,
  /// here and below.
  static fault c_order(extents shape, std::size_t itemsize, layout& out);
  /// Fortran order, same faults.
  static fault f_order(extents shape, std::size_t itemsize, layout& out);
  /// Given strides. Faults: those of c_order, strides_rank, strides_overflow. A stride that reaches
  /// no element (in an empty array, or of a dimension of length one) may have any value; one that
  /// is too large to be counted in bytes is replaced.
  static fault strided(extents shape, extents strides, std::size_t itemsize, layout& out);

  int rank() const noexcept { return static_cast<int>(shape_.size()); }
  /// Number of elements.
  std::int64_t size() const noexcept { return size_; }
  const extents& shape() const noexcept { return shape_; }
  const extents& strides() const noexcept { return strides_; }
  element_range range() const noexcept { return range_; }
  /// The size of an element, in bytes, up to which everything is known to fit.
  std::size_t itemsize() const noexcept { return itemsize_; }

  /// As in NumPy: dimensions of length one do not matter, an empty array is both.
  bool is_c_contiguous() const noexcept;
  bool is_f_contiguous() const noexcept;

  /// What indexing with a slice or an integer does to one axis: the new layout plus the distance,
  /// in elements, from the old first element to the new one (zero if either is empty). All `count`
  /// positions from `start` by `step` must lie inside; `start` is ignored if `count` is zero.
  /// Throws std::out_of_range if they do not, or if the axis does not exist; std::invalid_argument
  /// for a step of zero or a negative count.
  layout sliced(int axis, std::int64_t start, std::int64_t count, std::int64_t step,
                std::int64_t& shift) const;
  /// Throws std::out_of_range.
  layout indexed(int axis, std::int64_t index, std::int64_t& shift) const;
  /// Axis i of the result is axis `order[i]` of this. Throws std::invalid_argument or
  /// std::out_of_range if `order` is not a permutation of the axes.
  layout permuted(std::span<const int> order) const;
  /// A dimension of length one before `axis`, which may be the rank. Throws std::out_of_range, and
  /// interop_error (rank_too_high) at 64 dimensions.
  layout with_axis(int axis) const;
  /// The same elements in C order with another shape, where that needs no copy. False if it does.
  /// Throws std::invalid_argument if the element counts differ, interop_error for a bad shape.
  bool reshaped(const extents& shape, layout& out) const;
  /// Repeats dimensions of length one with stride zero. False if the shapes do not broadcast, or if
  /// the result would have more bytes than 63 bits can count.
  bool broadcast(const extents& shape, layout& out) const;

  friend bool operator==(const layout& a, const layout& b) noexcept {
    return a.shape_ == b.shape_ && a.strides_ == b.strides_;
  }

 private:
  friend class any_view;
  struct nothing {};
  /// Shape (0,): what an array without memory has.
  explicit layout(nothing) noexcept
      : shape_(std::size_t{1}, 0), strides_(std::size_t{1}, 1), size_(0), range_{0, 0} {}
  static fault contiguous(extents (*strides_of)(const extents&), extents&& shape,
                          std::size_t itemsize, layout& out);
  fault measure() noexcept;
  void tame_unused_strides();

  extents shape_;
  extents strides_;
  std::int64_t size_ = 1;
  element_range range_{0, 1};
  std::size_t itemsize_ = 1;
};

}  // namespace usmx
