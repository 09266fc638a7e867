// The two sides of a transfer as Python names them: USM of any library, or a buffer of the host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <sycl/event.hpp>

#include "support/bindings.hpp"

namespace usmx::python {

/// One side, and what has to be held for it. Made and destroyed with the GIL.
struct transfer_side {
  /// Reads USM through the protocols, everything else through the buffer protocol. `where` is the
  /// argument's name. Throws TypeError for neither, interop_error if it is to be written and is
  /// read-only.
  static transfer_side read(nb::handle obj, const char* where, bool to_write);

  /// What keeps the host's memory exported; empty for USM, which has its owner. Moves `host` into
  /// it.
  shared_owner keep_host();
  array with_elements() const { return usm->with_view(elements); }

  any_view elements;
  std::optional<array> usm;
  std::optional<host_buffer> host;
  /// Bytes without a type of their own: memory objects, bytes, bytearray.
  bool raw = false;
};

/// Where one side is raw, it is seen as the other one's elements in C order; both must have the
/// same number of bytes. Throws ValueError naming both.
void match_raw_bytes(transfer_side& dst, transfer_side& src);

/// Submits or makes the copy: everything that `copy`, `copy_2d` and their asynchronous forms share
/// once the views are right. Lets go of the GIL.
void copy_sides(transfer_side& dst, transfer_side& src, const std::optional<sycl::queue>& queue,
                std::span<const sycl::event> depends);
sycl::event copy_sides_async(transfer_side& dst, transfer_side& src,
                             const std::optional<sycl::queue>& queue,
                             std::span<const sycl::event> depends);

/// The first branch of a copy: makes it if it is between idle USM of ours and a buffer, or two
/// small pieces of USM, of one type and shape, contiguous and accessible to the host. False, and
/// nothing has happened, otherwise.
bool copy_at_once(nb::handle dst, nb::handle src);

}  // namespace usmx::python
