// The CPU driver that is installed with the runtime: where it is, how the OpenCL loader finds it
// without an environment variable of the user, and the message if that was too late.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace usmx {

/// What was found and set when libusmx was loaded.
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
  /// What loaded the loader: packages and libraries that need libsycl or libOpenCL.
  std::vector<std::string> early_users;
};

/// The search that was made when the library was loaded.
const driver_search& cpu_driver() noexcept;

/// Why the CPU driver was not found and how to fix it, as sentences that begin with a space.
std::string missing_driver_text();

}  // namespace usmx
