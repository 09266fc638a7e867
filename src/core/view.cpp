// SPDX-License-Identifier: Apache-2.0
#include "usmx/view.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace usmx {
namespace {

std::uintptr_t address(const void* p) noexcept { return reinterpret_cast<std::uintptr_t>(p); }

// Modulo 2^64, so that subtraction is addition too; the caller knows that the result is a byte of
// the address space.
std::uintptr_t moved(const void* p, std::int64_t elements, std::size_t itemsize) noexcept {
  return address(p) + static_cast<std::uintptr_t>(elements) * itemsize;
}

}  // namespace

const char* name(usm_kind k) noexcept {
  switch (k) {
    case usm_kind::host:
      return "host";
    case usm_kind::device:
      return "device";
    case usm_kind::shared:
      return "shared";
    default:
      return "unknown";
  }
}

fault any_view::make(void* data, usmx::dtype type, usmx::layout where, usm_kind kind,
                     bool read_only, any_view& out) {
  if (where.itemsize() < type.itemsize()) {
    const fault f = usmx::layout::strided(where.shape(), where.strides(), type.itemsize(), where);
    if (f != fault::none) return f;
  }
  if (where.size() > 0) {
    if (data == nullptr) return fault::data_null;
    // Both products fit: the layout was made for this itemsize.
    const auto below = static_cast<std::uintptr_t>(-where.range().first) * type.itemsize();
    const auto above = static_cast<std::uintptr_t>(where.range().last) * type.itemsize();
    if (below >= address(data)) return fault::address_overflow;
    if (above > std::numeric_limits<std::uintptr_t>::max() - address(data)) {
      return fault::address_overflow;
    }
    if (address(data) % type.alignment() != 0) return fault::data_misaligned;
  }
  out.data_ = data;
  out.type_ = std::move(type);
  out.layout_ = std::move(where);
  out.kind_ = kind;
  out.read_only_ = read_only;
  return fault::none;
}

fault any_view::row(void* data, const usmx::dtype& type, std::int64_t length, usm_kind kind,
                    any_view& out) noexcept {
  const auto itemsize = static_cast<std::int64_t>(std::max<std::size_t>(type.itemsize(), 1));
  std::int64_t bytes = 0;
  if (length < 0) return fault::shape_negative;
  if (__builtin_mul_overflow(length, itemsize, &bytes)) return fault::shape_overflow;
  if (length > 0) {
    if (data == nullptr) return fault::data_null;
    if (static_cast<std::uintptr_t>(bytes) >
        std::numeric_limits<std::uintptr_t>::max() - address(data)) {
      return fault::address_overflow;
    }
    if (address(data) % type.alignment() != 0) return fault::data_misaligned;
  }
  if (out.layout_.rank() != 1) out.layout_ = usmx::layout(usmx::layout::nothing{});
  out.data_ = data;
  out.type_ = type;
  out.layout_.shape_[0] = length;
  out.layout_.strides_[0] = 1;
  out.layout_.size_ = length;
  out.layout_.range_ = {0, length};
  out.layout_.itemsize_ = static_cast<std::size_t>(itemsize);
  out.kind_ = kind;
  out.read_only_ = false;
  return fault::none;
}

std::byte* any_view::first_byte() const noexcept {
  return reinterpret_cast<std::byte*>(moved(data_, layout_.range().first, type_.itemsize()));
}

std::byte* any_view::last_byte() const noexcept {
  return reinterpret_cast<std::byte*>(moved(data_, layout_.range().last, type_.itemsize()));
}

any_view any_view::with_layout(usmx::layout where, std::int64_t shift) const {
  any_view result;
  result.data_ = reinterpret_cast<void*>(moved(data_, shift, type_.itemsize()));
  result.type_ = type_;
  result.layout_ = std::move(where);
  result.kind_ = kind_;
  result.read_only_ = read_only_;
  return result;
}

any_view any_view::sliced(int axis, std::int64_t start, std::int64_t count,
                          std::int64_t step) const {
  std::int64_t shift = 0;
  usmx::layout where = layout_.sliced(axis, start, count, step, shift);
  return with_layout(std::move(where), shift);
}

any_view any_view::indexed(int axis, std::int64_t index) const {
  std::int64_t shift = 0;
  usmx::layout where = layout_.indexed(axis, index, shift);
  return with_layout(std::move(where), shift);
}

any_view any_view::as_read_only() const {
  any_view result = *this;
  result.read_only_ = true;
  return result;
}

any_view any_view::with_kind(usm_kind kind) const& { return any_view(*this).with_kind(kind); }

any_view any_view::with_kind(usm_kind kind) && {
  kind_ = kind;
  return std::move(*this);
}

}  // namespace usmx
