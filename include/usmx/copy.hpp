// Every move of elements, explicit and typed: any layout to any layout, any dtype to any dtype,
// between the host and every kind of USM, waited for or not. The host never touches device memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include <sycl/device.hpp>
#include <sycl/event.hpp>
#include <sycl/queue.hpp>

#include "usmx/array.hpp"

namespace usmx {

// What all of them have in common:
//
// * Shapes must be equal (std::invalid_argument); the destination must be writable and records stay
//   the same record (interop_error). Where dtypes differ, elements are cast as by NumPy's "unsafe".
// * Commands wait for `depends` and for everything that was submitted on the memory as far as
//   anybody knows: named uses, and for memory that others made the whole queue that came with it.
//   What is submitted on an array later, or by the host, waits for them.
// * The memory of arrays lives until the last command has passed. Plain host memory must do so by
//   itself, or `keep_alive` does it.
// * Forms that end in `_async` return the event of the last command. It is complete at once where
//   nothing was left to do: few bytes within reach of the host. Steps that only the host can do
//   after the device (scattering to strided host memory, passing from one context to another, any
//   device without the kernel for a cast) are done before they return. Asynchronous errors are
//   thrown by waiting for the event.
// * `queue` is where the commands go; it must reach one of the arrays. Forms without it take the
//   destination's queue, or that of the only array.

/// Copies `src` into `dst`, elementwise, and waits. Memory of different contexts goes through host
/// memory. Overlapping arrays are copied as if by way of a temporary.
void copy(const array& dst, const array& src);
void copy(const sycl::queue& queue, const array& dst, const array& src,
          std::span<const sycl::event> depends = {});
sycl::event copy_async(const sycl::queue& queue, const array& dst, const array& src,
                       std::span<const sycl::event> depends = {});
sycl::event copy_async(const array& dst, const array& src,
                       std::span<const sycl::event> depends = {});

/// The same with plain host memory on one side: views of kind `host` or `unknown`. Elements that
/// have to be converted for the device are read before `copy_from_host_async` returns.
void copy_to_host(const any_view& dst, const array& src);
void copy_from_host(const array& dst, const any_view& src);
void copy_to_host(const sycl::queue& queue, const any_view& dst, const array& src,
                  std::span<const sycl::event> depends = {});
void copy_from_host(const sycl::queue& queue, const array& dst, const any_view& src,
                    std::span<const sycl::event> depends = {});
sycl::event copy_to_host_async(const sycl::queue& queue, const any_view& dst, const array& src,
                               std::span<const sycl::event> depends = {},
                               const shared_owner& keep_alive = {});
sycl::event copy_from_host_async(const sycl::queue& queue, const array& dst, const any_view& src,
                                 std::span<const sycl::event> depends = {},
                                 const shared_owner& keep_alive = {});

/// A C-contiguous copy on `queue` with the given dtype and kind.
array copied(const array& src, const sycl::queue& queue, dtype type, usm_kind kind);

/// Rows of `width` bytes each, `pitch` bytes from one row's beginning to the next's, beginning at
/// the lowest byte of each array; `elements()` only says where that is and how far it goes.
/// Throws interop_error (out_of_allocation) if the rows leave the array, std::invalid_argument for
/// a pitch smaller than the width.
struct pitched {
  std::size_t pitch = 0;
  std::size_t width = 0;
  std::size_t rows = 0;
};
/// The view of these rows, for any of the copies above: shape (rows, bytes of a row), of words as
/// wide as `pitch`, `width` and the address allow; `other_pitch` and `other` narrow them further.
any_view rows_of(const any_view& elements, const pitched& where, const pitched& other_where,
                 const void* other);
void copy_2d(const array& dst, std::size_t dst_pitch, const array& src, std::size_t src_pitch,
             std::size_t width, std::size_t rows);
sycl::event copy_2d_async(const sycl::queue& queue, const array& dst, std::size_t dst_pitch,
                          const array& src, std::size_t src_pitch, std::size_t width,
                          std::size_t rows, std::span<const sycl::event> depends = {});

/// Sets every element to the `itemsize` bytes at `element`, which are read before this returns.
void fill(const array& dst, const void* element);
void fill(const sycl::queue& queue, const array& dst, const void* element,
          std::span<const sycl::event> depends = {});
sycl::event fill_async(const sycl::queue& queue, const array& dst, const void* element,
                       std::span<const sycl::event> depends = {});
/// Sets every byte of every element.
void memset(const array& dst, std::uint8_t value);
sycl::event memset_async(const sycl::queue& queue, const array& dst, std::uint8_t value,
                         std::span<const sycl::event> depends = {});

/// Moves shared memory to the device of `queue` before somebody needs it there: the bytes from the
/// lowest element to the highest. Memory of other kinds is where it belongs: nothing to do.
sycl::event prefetch_async(const sycl::queue& queue, const array& a,
                           std::span<const sycl::event> depends = {});
/// Tells the driver how the memory will be used; what `advice` means is the backend's own (CUDA's
/// and Level Zero's numbers), 0 takes it back. Drivers without the notion do nothing.
sycl::event mem_advise_async(const sycl::queue& queue, const array& a, int advice,
                             std::span<const sycl::event> depends = {});

/// Host side only: converts and copies between two views of host-accessible memory, any layout.
void convert_on_host(const any_view& dst, const any_view& src);

/// When and how copies that are waited for go through pinned blocks, the host filling one while the
/// device empties another.
struct staging_limits {
  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
  std::size_t from = std::size_t{16} << 20;  ///< bytes from which on it is done
  std::size_t block = std::size_t{4} << 20;  ///< bytes of a block
  std::size_t blocks = 3;                    ///< how many
};
/// What holds for a device: never on a CPU, whose memory is the host's.
staging_limits staging_of(const sycl::device& device);
/// From now on these hold for every device of the process; empty for what suits each. Throws
/// std::invalid_argument for less than two blocks, or empty ones.
void set_staging(std::optional<staging_limits> limits);

}  // namespace usmx
