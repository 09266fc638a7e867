// The CPU driver that came with the runtime: where it is, how the OpenCL loader learns of it
// without a variable of the user's, and what to say if that was too late.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace usmx {

/// What was found, and done, when libusmx was loaded.
struct driver_search {
  /// libintelocl.so of the environment; empty if there is none.
  std::string driver;
  /// Whether OCL_ICD_FILENAMES names it because usmx put it there, in this process or in its
  /// parent.
  bool shown = false;
  /// An OpenCL loader and a libtbb that were in the process before; empty if there was none. The
  /// runtime uses what was first.
  std::string early_loader;
  std::string early_tbb;
  /// Who brought the loader: packages and libraries that need libsycl or libOpenCL.
  std::vector<std::string> early_users;
};

/// The search that was made when the library was loaded.
const driver_search& cpu_driver() noexcept;

/// Why the CPU driver does not answer and which line helps, as sentences that begin with a space.
std::string missing_driver_text();

}  // namespace usmx
