// The one place that states the version: CMake, the Python package and the wheel read it from here.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#define USMX_VERSION_MAJOR 0
#define USMX_VERSION_MINOR 2
#define USMX_VERSION_PATCH 0

namespace usmx {

/// The version of the headers, as "major.minor.patch".
inline constexpr const char* version = "0.2.0";

}  // namespace usmx
