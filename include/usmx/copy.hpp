// Every move of elements, explicit and typed: any layout to any layout, any dtype to any dtype,
// between the host and every kind of USM. The host never touches device memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sycl/event.hpp>

#include "usmx/array.hpp"

namespace usmx {

/// Copies `src` into `dst`, elementwise, with NumPy's "unsafe" cast where dtypes differ, and waits.
/// Shapes must be equal (std::invalid_argument); `dst` must be writable (interop_error). Memory of
/// different contexts goes through host memory. Overlapping arrays are copied as if by way of a
/// temporary.
void copy(const array& dst, const array& src);

/// The same with plain host memory on one side. `dst`/`src` views have kind `host` or `unknown` and
/// must stay valid until the call returns.
void copy_to_host(const any_view& dst, const array& src);
void copy_from_host(const array& dst, const any_view& src);

/// A C-contiguous copy on `queue` with the given dtype and kind.
array copied(const array& src, const sycl::queue& queue, dtype type, usm_kind kind);

/// Sets every element to the `itemsize` bytes at `element`; waits.
void fill(const array& dst, const void* element);

/// Host side only: converts and copies between two views of host-accessible memory, any layout.
void convert_on_host(const any_view& dst, const any_view& src);

}  // namespace usmx
