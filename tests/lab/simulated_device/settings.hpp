// How the layer is told what to do, and how it says what it found: environment in, stderr out,
// because the program under test knows nothing of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CL/cl.h>

#include <string_view>

namespace simulated {

/// Words in USMX_SIMULATED_DEVICE, separated by commas.
struct settings {
  bool report = false;        ///< "report": one line of totals and each leak when the process ends
  bool left_aligned = false;  ///< "left": allocations begin at a page, to catch reads before them
  bool report_early_free = false;  ///< "early-free": a free while commands run is a defect
  bool strict = false;           ///< "strict": a process that had a defect or a leak exits with 99
  bool abort_on_defect = false;  ///< "abort": stop at the first defect, for a stack trace
  bool usm_only = false;         ///< "usm-only": kernels cannot use memory of the host without USM
};

const settings& configuration() noexcept;

/// Counts and prints one defect of the program under test.
[[gnu::format(printf, 1, 2)]] void defect(const char* format, ...) noexcept;
long defects() noexcept;

/// What can be made to fail, by name as in USMX_FAULTS="memcpy:3,alloc_host:1+".
enum class call {
  alloc_device,
  alloc_host,
  alloc_shared,
  memcpy,
  fill,
  kernel,
  build,
  wait,
  marker,
  queue,
  info,
  lost,  // any command at all: from then on the device is gone
};
inline constexpr std::size_t call_kinds = 12;

const char* name(call kind) noexcept;
/// Counts one call; the error it has to return, or CL_SUCCESS to go on.
cl_int check(call kind) noexcept;
bool fail(std::string_view kind, long nth, bool onwards) noexcept;
long calls(std::string_view kind) noexcept;

}  // namespace simulated
