// All copies of elements, explicit and typed: any layout to any layout, any dtype to any dtype,
// between the host and every kind of USM, blocking or not. The host never touches device memory.
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

// Rules for all of them:
//
// * Shapes must be equal (std::invalid_argument); the destination must be writable, and records are
//   copied to the same record only (interop_error). Different dtypes are cast as by NumPy's
//   "unsafe".
// * Commands wait for `depends` and for all commands on the memory that are known: recorded uses,
//   and for memory of other libraries all commands of the queue that came with it.
//   Commands on an array that are submitted later, or by the host, wait for them.
// * The memory of arrays lives until the last command has ended. Plain host memory must live as
//   long; `keep_alive` can keep it.
// * Forms that end in `_async` return the event of the last command. It is complete at once if
//   the host did the copy: few bytes that the host can access. Steps that only the host can do
//   after the device (scattering to strided host memory, copying from one context to another, any
//   device without the kernel for a cast) are done before they return. Asynchronous errors are
//   thrown by waiting for the event.
// * `queue` gets the commands; its device must have access to one of the arrays. Forms without it
//   use the destination's queue, or that of the only array.

/// Copies `src` into `dst`, elementwise, and waits. Memory of different contexts goes through host
/// memory. Overlapping arrays are copied as if through a temporary.
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
/// the lowest byte of each array, of which `elements()` only gives the first and last byte.
/// Throws interop_error (out_of_allocation) if the rows exceed the array, std::invalid_argument for
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

/// Moves shared memory to the device of `queue` before a kernel needs it there: the bytes from the
/// lowest element to the highest. Does nothing for memory of other kinds.
sycl::event prefetch_async(const sycl::queue& queue, const array& a,
                           std::span<const sycl::event> depends = {});
/// Tells the driver how the memory will be used; what `advice` means is the backend's own (CUDA's
/// and Level Zero's numbers), 0 resets it. Drivers without such hints do nothing.
sycl::event mem_advise_async(const sycl::queue& queue, const array& a, int advice,
                             std::span<const sycl::event> depends = {});

/// Host side only: converts and copies between two views of host-accessible memory, any layout.
/// Throws as the copies above do, and std::length_error or std::bad_alloc if overlapping elements
/// need more memory of the host than there is.
void convert_on_host(const any_view& dst, const any_view& src);

/// When and how blocking copies use pinned blocks, of which the host fills one while the device
/// empties another.
struct staging_limits {
  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
  std::size_t from = std::size_t{16} << 20;  ///< smallest copy that uses blocks, in bytes
  std::size_t block = std::size_t{4} << 20;  ///< bytes of a block
  std::size_t blocks = 3;                    ///< how many
};
/// The limits for a device: never on a CPU, whose memory is the host's.
staging_limits staging_of(const sycl::device& device);
/// Sets the limits for every device of the process; empty restores the defaults. Throws
/// std::invalid_argument for less than two blocks, or empty ones.
void set_staging(std::optional<staging_limits> limits);

}  // namespace usmx
