// A pointer whose layout was checked. If one exists, nothing downstream needs to check it again.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "usmx/dtype.hpp"
#include "usmx/layout.hpp"

namespace usmx {

/// The kinds of USM. `unknown` is memory that SYCL did not allocate in the context at hand.
enum class usm_kind : std::uint8_t { unknown, host, device, shared };

/// "unknown", "host", "device" or "shared".
const char* name(usm_kind k) noexcept;
/// Whether the host may read and write through the pointer.
constexpr bool host_accessible(usm_kind k) noexcept {
  return k == usm_kind::host || k == usm_kind::shared;
}

/// A typed, trivially copyable view of `Rank` dimensions: what a kernel or a function takes.
/// Strides are in elements; `data` is the element with all indices zero.
template <class T, int Rank>
struct view {
  static_assert(Rank >= 0 && Rank <= max_rank);
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
  any_view() noexcept = default;

  /// Checks that every element lies inside the address space, that `data` may be null only if there
  /// is no element, and that it is aligned for its dtype.
  /// Faults: address_overflow, data_null, data_misaligned.
  static fault make(void* data, dtype type, layout where, usm_kind kind, bool read_only,
                    any_view& out) noexcept;

  /// The element with all indices zero; null only for an empty view.
  void* data() const noexcept { return data_; }
  const usmx::dtype& dtype() const noexcept { return type_; }
  const usmx::layout& layout() const noexcept { return layout_; }
  usm_kind kind() const noexcept { return kind_; }
  bool read_only() const noexcept { return read_only_; }

  int rank() const noexcept { return layout_.rank(); }
  std::int64_t size() const noexcept { return layout_.size(); }
  /// Bytes of all elements, without the gaps between them.
  std::size_t nbytes() const noexcept {
    return static_cast<std::size_t>(layout_.size()) * type_.itemsize();
  }
  /// The lowest byte that an element occupies, and one past the highest.
  std::byte* first_byte() const noexcept;
  std::byte* last_byte() const noexcept;

  /// The same elements seen through another layout, `shift` elements further on. The caller took
  /// `where` from this view's own layout, so it cannot leave it.
  any_view with_layout(usmx::layout where, std::int64_t shift) const noexcept;
  any_view as_read_only() const noexcept;
  any_view with_kind(usm_kind kind) const noexcept;

  /// Typed form. Faults: dtype_mismatch, rank_mismatch, read_only (for a non-const `T`).
  template <class T, int Rank>
  fault typed(view<T, Rank>& out) const noexcept {
    if (!(type_ == usmx::dtype::of<T>())) return fault::dtype_mismatch;
    if (rank() != Rank) return fault::rank_mismatch;
    if (read_only_ && !std::is_const_v<T>) return fault::read_only;
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
