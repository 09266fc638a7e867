// The owner in a struct of the C-level exchange that usmx made: known again when the struct comes
// back, so that the array is the same memory with the same uses, and not memory of another library.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include <sycl/event.hpp>

#include "usmx/array.hpp"
#include "usmx/exchange.h"

namespace usmx::detail {

/// What `owner` of such a struct points to. Shape, strides, queue and event are these.
struct shared_elements {
  array elements;
  std::optional<sycl::event> event;
};

/// Fills the struct, and gives it the owner.
void share(std::unique_ptr<shared_elements> held, void (*release)(sycl_usm_array*),
           sycl_usm_array& out) noexcept;
/// The array of a struct that `share` filled and that was not changed since; null for others.
const array* shared_in(const sycl_usm_array& a) noexcept;
/// The bindings have a `release` of their own, which knows the GIL.
void set_python_release(void (*release)(sycl_usm_array*)) noexcept;

}  // namespace usmx::detail
