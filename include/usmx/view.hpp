// A pointer with a checked layout. Code that takes one need not check it again.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "usmx/dtype.hpp"
#include "usmx/layout.hpp"

namespace usmx {

/// The kinds of USM. `unknown` is memory that SYCL did not allocate in the context in question.
enum class usm_kind : std::uint8_t { unknown, host, device, shared };

/// "unknown", "host", "device" or "shared".
const char* name(usm_kind k) noexcept;
/// Whether the host may read and write through the pointer. An array of `unknown` memory is one
/// over memory of the host, see array::over_host.
constexpr bool host_accessible(usm_kind k) noexcept { return k != usm_kind::device; }

/// A typed, trivially copyable view of `Rank` dimensions: what a kernel or a function takes.
/// Strides are in elements; `data` is the element with all indices zero.
template <class T, int Rank>
struct view {
  static_assert(Rank >= 0 && Rank <= max_rank, "a rank between 0 and 64");
  using value_type = T;
  static constexpr int rank = Rank;

  T* data = nullptr;
  std::int64_t shape[Rank == 0 ? 1 : Rank] = {};
  std::int64_t strides[Rank == 0 ? 1 : Rank] = {};

  /// The element at the given indices. Not checked: kernels call it.
  template <class... I>
  constexpr T& operator()(I... i) const noexcept {
    static_assert(sizeof...(I) == Rank, "one index for each dimension");
    std::int64_t at = 0;
    [[maybe_unused]] int axis = 0;
    ((at += static_cast<std::int64_t>(i) * strides[axis++]), ...);
    return data[at];
  }
  /// Length of dimension `axis`.
  constexpr std::int64_t extent(int axis) const noexcept { return shape[axis]; }
  /// Number of elements.
  constexpr std::int64_t size() const noexcept {
    std::int64_t n = 1;
    for (int k = 0; k < Rank; ++k) n *= shape[k];
    return n;
  }
};

/// A checked view whose element type and rank are known at run time only.
class any_view {
 public:
  /// No elements: shape (0,), bytes, null.
  any_view() noexcept : layout_(usmx::layout::nothing{}) {}
  any_view(const any_view&) = default;
  any_view(any_view&&) noexcept = default;
  /// Strong guarantee: unchanged if memory runs out.
  any_view& operator=(const any_view& o) { return *this = any_view(o); }
  any_view& operator=(any_view&&) noexcept = default;
  ~any_view() = default;

  /// Checks that every element lies inside the address space (above address zero, below its last
  /// byte), that `data` may be null only if there is no element, and that it is aligned for its
  /// dtype. The pointer of an empty view may be anything.
  /// Faults: address_overflow, data_null, data_misaligned, and those of layout::strided if `where`
  /// was made for smaller elements. `out` is written only on success.
  static fault make(void* data, usmx::dtype type, usmx::layout where, usm_kind kind, bool read_only,
                    any_view& out);
  /// The same for `length` contiguous elements, in less time.
  static fault row(void* data, const usmx::dtype& type, std::int64_t length, usm_kind kind,
                   any_view& out) noexcept;

  /// The element with all indices zero; null only for an empty view.
  void* data() const noexcept { return data_; }
  const usmx::dtype& dtype() const noexcept { return type_; }
  const usmx::layout& layout() const noexcept { return layout_; }
  usm_kind kind() const noexcept { return kind_; }
  bool read_only() const noexcept { return read_only_; }

  int rank() const noexcept { return layout_.rank(); }
  std::int64_t size() const noexcept { return layout_.size(); }
  /// Bytes of all elements, without space between them.
  std::size_t nbytes() const noexcept {
    return static_cast<std::size_t>(layout_.size()) * type_.itemsize();
  }
  /// The lowest byte that an element occupies, and one past the highest.
  std::byte* first_byte() const noexcept;
  std::byte* last_byte() const noexcept;

  /// The same elements seen through another layout, `shift` elements further on. The caller took
  /// `where` from this view's own layout, so it cannot leave it.
  any_view with_layout(usmx::layout where, std::int64_t shift) const;
  /// One axis cut or dropped, as usmx::layout does it; throws as it does.
  any_view sliced(int axis, std::int64_t start, std::int64_t count, std::int64_t step) const;
  any_view indexed(int axis, std::int64_t index) const;
  any_view as_read_only() const;
  any_view with_kind(usm_kind kind) const&;
  any_view with_kind(usm_kind kind) &&;

  /// Typed form. Faults: dtype_mismatch, rank_mismatch, read_only (for a non-const `T`),
  /// data_misaligned. A record fits any struct of its size: C++ has no names to compare. Records
  /// are packed, so the pointer may be misaligned for the struct.
  template <class T, int Rank>
  fault typed(view<T, Rank>& out) const noexcept {
    const auto wanted = usmx::dtype::of<T>();
    if (type_.kind() != wanted.kind() || type_.itemsize() != wanted.itemsize()) {
      return fault::dtype_mismatch;
    }
    if (rank() != Rank) return fault::rank_mismatch;
    if (read_only_ && !std::is_const_v<T>) return fault::read_only;
    if (size() > 0 && reinterpret_cast<std::uintptr_t>(data_) % alignof(T) != 0) {
      return fault::data_misaligned;
    }
    out.data = static_cast<T*>(data_);
    for (int k = 0; k < Rank; ++k) {
      out.shape[k] = layout_.shape()[static_cast<std::size_t>(k)];
      out.strides[k] = layout_.strides()[static_cast<std::size_t>(k)];
    }
    return fault::none;
  }

 private:
  void* data_ = nullptr;
  usmx::dtype type_;
  usmx::layout layout_;
  usm_kind kind_ = usm_kind::unknown;
  bool read_only_ = false;
};

}  // namespace usmx
