// What is known about each backend: what works there, which form of several is used, and why. Code
// that depends on a backend reads a row of this table; tests pass or choose a row of their own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <sycl/backend_types.hpp>
#include <sycl/device.hpp>
#include <sycl/queue.hpp>

#include "usmx/dlpack.hpp"

namespace usmx::detail {

/// The library below SYCL that is asked for native handles and for the extent of an allocation.
enum class driver_api : char { opencl, level_zero, cuda, none };

/// Whose handles other processes open to use device memory without a copy: process_handles.cpp.
enum class process_form : char { none, runtime, cuda };

/// How device code is written and cut into groups: each form gives the same values on every device,
/// so that all of them are tested on any.
struct kernel_forms {
  /// A work-group is a loop on one core: long groups are fast, and local memory is the first cache.
  bool groups_are_loops = false;
  /// The most work-items of a group of elementwise kernels and strided copies. On the CPU device a
  /// float32 triad of 1e7 takes 1.6 ms at 4096; on an H200 it runs at 3446 GB/s with 256, 2981 with
  /// 1024 and 1276 with 64.
  std::size_t most_items = 256;
  /// The most work-items of a group if a launch of one dimension has no local range; 0: the runtime
  /// chooses, which on CUDA means 1024. On an H200 a triad gains 16 % by 256, and n-body over few
  /// items runs twice as fast in groups that are small enough to give every core some.
  std::size_t plain_items = 256;
  /// The most rows of a group if a launch of several dimensions has no local range, see
  /// columns_of_tile; 0: the runtime chooses, which on CUDA means one row of 1024 items. A stencil
  /// reads the rows above and below its own: a group of 8 rows asks the second cache for 1.75 times
  /// its elements, one row for 3 times. In single rows a stencil of 8192 x 8192 took an H200 638
  /// us, a RawKernel of it 334.
  std::size_t tile_rows = 0;
  /// Elementwise kernels over contiguous arrays load so many bytes at once; 0: one element each. A
  /// triad of 2^28 float32 on an H200 runs at 4389 GB/s with float4, at 3446 without; the CPU
  /// device makes vectors of neighbouring items itself.
  std::size_t vector_bytes = 16;
  /// Groups that have started go on running while others of the same launch wait for them, as CUDA
  /// and processors do: long scans then take one launch, which reads and writes each element once,
  /// instead of three that read twice. Other devices promise nothing of the kind, and the CPU
  /// device gains nothing. Used by scan.cpp.
  bool groups_wait = false;
  /// Runs of elements that stay on the device are copied by a kernel if they have so many bytes
  /// together; 0: always by the driver. The driver of the CPU device writes 8 MiB and more past the
  /// caches: 16 MiB take it 0.9 ms, and a kernel 0.25 ms; below 1 MiB both take as long, and no
  /// kernel has to be compiled.
  std::size_t least_copied_by_kernel = 0;
};

/// What DLPack calls a backend's memory. `oneapi` stands for all three kinds.
struct dlpack_types {
  dlpack::device_type device = dlpack::device_type::oneapi;
  dlpack::device_type host = dlpack::device_type::oneapi;
  dlpack::device_type shared = dlpack::device_type::oneapi;
};

/// The type of memory of that kind; device memory where there is none.
constexpr dlpack::device_type device_type_of(const dlpack_types& types, usm_kind kind) noexcept {
  return kind == usm_kind::host     ? types.host
         : kind == usm_kind::shared ? types.shared
                                    : types.device;
}

/// One backend, for one type of device where that matters. The defaults are the cautious choice for
/// a backend that was never measured.
struct backend_row {
  sycl::backend backend;
  const char* name;
  driver_api api = driver_api::none;

  /// The device uses the host's cores and memory: memory that the host can access, it copies
  /// itself, and pinned memory makes no copy faster.
  bool is_host = false;
  /// New arrays have this kind of memory if their program does not say one. Where the device is the
  /// host, shared memory is the same memory, and the host may use it. Used by default_kind.cpp.
  usm_kind default_kind = usm_kind::device;

  /// Native waits of several threads hang or crash: threads wait in the order of wait.cpp. Seen on
  /// Intel's OpenCL CPU driver (docs/decisions/0010).
  bool waits_in_turn = false;
  /// `queue::wait` on an out-of-order queue skips streams that another thread synchronised before
  /// our command was enqueued: stale reads in CUDA, 0 of 12 runs right; waiting for the event of a
  /// barrier 12 of 12. Used by wait.cpp.
  bool waits_by_barrier_event = false;

  /// In a child of fork the driver refuses each call if the parent had used it. CUDA answers
  /// CUDA_ERROR_NOT_INITIALIZED. Used by driver_gate.cpp.
  bool lost_by_fork = false;

  /// The binary of an executable can be read and loaded again. CUDA's holds PTX, of which the
  /// driver keeps machine code by itself; before 2026.2 it was empty.
  bool keeps_binaries = false;
  /// A kernel that was read from one knows the size of group that its text demands. Of CUDA's this
  /// stands in a property, of which was not seen that it is read again. Used by program.cpp.
  bool binaries_hold_groups = true;
  /// A program that is read from its binary is read into a SYCL context of its own, over the same
  /// native one, and its kernels are taken over by their native handles. The runtime keeps what it
  /// reads for as long as the context lives: 0.43 MB a program. Elsewhere programs are compiled
  /// once what was read has taken its share of memory. Used by compile.cpp.
  bool reads_apart = false;
  /// The driver compiles for a kind of processor that CL_CONFIG_CPU_TARGET_ARCH names, and refuses
  /// binaries that are for a newer kind than its own: packages bring programs for several kinds.
  /// Used by compile.cpp.
  bool has_processor_kinds = false;
  /// `info::kernel::num_args` is the number of parameters. CUDA's adapter counts the arguments set
  /// so far, which is 0 before the first launch. Used by program.cpp.
  bool counts_arguments = true;
  /// Structures passed by value compile. sycl-jit ends in a segmentation fault for NVPTX
  /// (getPTXOpaqueType). Used by program.cpp.
  bool takes_structs = true;
  /// The compiler needs the device library of a CUDA toolkit, named by --cuda-path.
  bool needs_cuda_path = false;
  /// The optimiser of sycl-jit may run. For SPIR-V it may not: `x > 0 ? -1 : 0` as a float lost its
  /// sign; the driver's own optimiser takes as long and is right.
  bool optimises_early = false;

  /// The allocator supports alignments up to this one; beyond it an allocation of 1024 bytes
  /// with alignment 1024 failed on an H200. Used by memory.cpp.
  std::size_t most_alignment = std::numeric_limits<std::size_t>::max();
  /// The most work-groups along the last dimension of a range and along the others (CUDA's grid).
  /// Used by launches.
  std::size_t most_groups_last = std::numeric_limits<std::size_t>::max();
  std::size_t most_groups_other = std::numeric_limits<std::size_t>::max();
  /// The driver's own copy from the device to pageable memory is faster than staging: on an H200
  /// 15.9 GB/s against 5.8. Used by staging.cpp.
  bool copies_to_host_by_driver = false;

  /// The driver's copies from and to pageable memory, and between memory of the host, hold the
  /// thread that submits them until the queue gets there. Used by in_turn.cpp.
  bool copies_hold_host = false;

  /// Copies between the memory of two devices of one context run on the queue of either. Used by
  /// copy.cpp; where the driver refuses one, it goes through pinned memory. On the CPU device such
  /// copies between sub-devices can hang.
  bool copies_between_devices = false;

  /// `runtime` where SYCL's own handles may be there, which the device is asked for. CUDA's driver
  /// has events as well. Used by process_memory.cpp.
  process_form handles = process_form::none;

  /// Libraries that use CUDA or HIP without SYCL know the memory by those names. Used by the DLPack
  /// protocol.
  dlpack_types dlpack = {};

  kernel_forms forms = {};
};

/// All rows. A backend may have one for its CPU devices and one for its others.
std::span<const backend_row> backend_rows() noexcept;
/// One row for each name that a device filter knows.
std::span<const backend_row> named_backends() noexcept;
/// The row of a backend, for a CPU device or any other; the last row for one that is not known.
const backend_row& backend_row_of(sycl::backend backend, bool is_cpu = false) noexcept;
const backend_row& backend_of(const sycl::device& device);
const backend_row& backend_of(const sycl::queue& queue);

/// The forms of the device's backend, or those that were chosen with `choose_forms`.
const kernel_forms& forms_of(const sycl::device& device);
const kernel_forms& forms_of(const sycl::queue& queue);
/// Work-items of a group for a launch of one dimension without a local range; 0: the runtime's.
/// `most` is the kernel's own limit.
std::size_t plain_group(const kernel_forms& forms, std::size_t items, std::size_t most) noexcept;

/// Work-items of a group along each axis for a launch of several dimensions without a local range:
/// so many whole rows as suit a device whose groups are loops, or tiles of the last two axes;
/// zeros: the runtime's, which is one row. `most` is the kernel's own limit.
std::array<std::size_t, 3> group_of_rows(const kernel_forms& forms,
                                         std::span<const std::size_t> global,
                                         std::size_t most) noexcept;

/// Rows of a tile that divide `rows`, at most `forms.tile_rows`; fewer where a launch of so many
/// items would be too few groups for all cores.
std::size_t rows_of_tile(const kernel_forms& forms, std::size_t rows, std::size_t items) noexcept;
/// Columns of a tile of so many rows: so many sub-groups that it has `forms.plain_items` items, as
/// far as they divide the length or, where the launch gets more items, leave nine tenths of them
/// busy. On an H200 a stencil of 8192 x 8192 takes 247 us in tiles of 1 x 256, 249 in 4 x 64, 253
/// in 8 x 32, 321 in all of 128 items, and 635 in 1 x 64.
std::size_t columns_of_tile(const kernel_forms& forms, std::size_t rows, std::size_t length,
                            std::size_t items, bool divides) noexcept;
/// The fewest columns of a tile: the items of a sub-group.
constexpr std::size_t tile_length = 32;

/// All kernels written from now on have these forms, on any device; null ends it. For tests: the
/// forms have to outlive it.
void choose_forms(const kernel_forms* forms) noexcept;

}  // namespace usmx::detail
