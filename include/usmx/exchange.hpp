// The C struct of `__sycl_usm_exchange_api__` in C++: what its fields say, for the check that the
// dictionary has, and how it describes an array.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "usmx/exchange.h"
#include "usmx/suai.hpp"

namespace usmx::exchange {

/// The letter of bfloat16, which has no class of its own: the one that ml_dtypes gave it.
inline constexpr char bfloat16_letter = 'E';

/// The fields of the struct as those of the dictionary, for `suai::check`; `members` are the fields
/// of a record, null for none. Reads `ndim` numbers at `shape` and, if it is not null, at
/// `strides`. Throws interop_error for what a dictionary cannot even say: ndim, a null shape, an
/// unknown type.
suai::fields read(const sycl_usm_array& a, const dtype::fields* members = nullptr);

/// Everything but queue, event and owner. Shape and strides are those of `v`, borrowed.
inline void describe(const any_view& v, sycl_usm_array& out) noexcept {
  out.data = v.data();
  out.offset = 0;
  out.shape = v.layout().shape().data();
  out.strides = v.layout().strides().data();
  out.ndim = v.rank();
  out.itemsize = static_cast<std::uint32_t>(v.dtype().itemsize());
  out.type = v.dtype().is_bfloat16() ? bfloat16_letter : static_cast<char>(v.dtype().kind());
  out.kind = static_cast<std::uint8_t>(v.kind());
  out.reserved = 0;
  out.flags = v.read_only() ? SYCL_USM_READ_ONLY : 0;
}

}  // namespace usmx::exchange
