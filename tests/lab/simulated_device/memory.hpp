// The memory of the simulated device: every allocation on its own pages between forbidden ones,
// device memory forbidden to the host as well, and freed memory forbidden for ever.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CL/cl.h>

#include <cstddef>

namespace simulated {

enum class kind { host, device, shared };
const char* name(kind k) noexcept;

/// One allocation as the program sees it.
struct block {
  char* base = nullptr;  ///< what the program was given
  std::size_t size = 0;
  kind what = kind::host;
  cl_context context = nullptr;
  cl_device_id device = nullptr;
  char* pages = nullptr;  ///< first accessible page
  std::size_t length = 0;
  char* alias =
      nullptr;      ///< device memory: the same pages at an address that copies and fills may use
  long number = 0;  ///< the how-manieth allocation of the process
};

/// A new block, or null and the error in `error`.
char* allocate(kind what, cl_context context, cl_device_id device, std::size_t size,
               std::size_t alignment, cl_int& error);

/// Ends a block's life. Reports what is wrong with the pointer; `error` says what the driver would.
void release(cl_context context, char* p, cl_int& error);

/// True if `p` lies in a block that is alive; then `out` is filled.
bool find(const void* p, block& out);

/// What a command may do with `bytes` bytes at `p`.
enum class verdict { foreign, fine, refused };
/// Checks a command's memory and translates it to where the device sees it. `what` names the
/// command in reports. Memory that is not ours is left alone.
verdict translate(const char* what, const void* p, std::size_t bytes, cl_context context,
                  void*& out);
/// The same for a kernel's argument, whose extent is unknown.
void check_argument(const void* p, cl_context context);

/// While a kernel runs, device memory is accessible at its own address, to the host as well:
/// kernels run on host threads here, and pages have no owner. Calls nest.
void open() noexcept;
void close() noexcept;

/// What is forbidden at an address, for the report of a crash; false if it is none of ours or the
/// answer cannot be found safely now.
bool explain(const void* address, char* text, std::size_t room) noexcept;

/// From now on a crash on our pages is explained. Called late, because the driver installs handlers
/// of its own when it starts.
void watch_for_faults() noexcept;

long live() noexcept;
std::size_t live_bytes() noexcept;
/// Prints each block that is alive.
void list_live() noexcept;

}  // namespace simulated
