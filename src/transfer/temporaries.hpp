// Temporary memory of one transfer, on either side, and views of it. It lives until the last
// command of the transfer has ended, also if no thread waits for that.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "submission/command_chain.hpp"
#include "usmx/array.hpp"

namespace usmx::detail {

/// A checked view. Throws interop_error.
any_view view_of(void* data, const dtype& type, layout where, usm_kind kind);
/// An array that lies as a packed layout says, whose steps count elements.
array empty_in(const sycl::queue& queue, const layout& where, const dtype& type, usm_kind kind);
/// Contiguous bytes.
any_view bytes_at(void* data, std::size_t count, usm_kind kind);
layout packed_layout(const extents& shape, const dtype& type);
/// From the lowest byte of an element to the highest.
std::size_t span_of(const any_view& v) noexcept;
/// The view `like`, but with its lowest byte at `base`.
any_view moved_to(void* base, const any_view& like, usm_kind kind);

/// Bytes that the host and the commands may use, uninitialised: pinned memory if the device has its
/// own memory, because that is copied faster.
array host_bytes(command_chain& commands, std::size_t count);
/// Packed elements in such memory, of kind `unknown`: the host reads and writes them.
any_view staging_elements(command_chain& commands, const extents& shape, const dtype& type);
/// Packed elements in device memory.
array device_elements(command_chain& commands, const extents& shape, const dtype& type);

}  // namespace usmx::detail
