// The example of usmx/version.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <usmx/version.hpp>

#include "check.hpp"

static_assert(USMX_VERSION_MAJOR > 0 || USMX_VERSION_MINOR >= 1, "needs usmx 0.1");

TEST(Version, Reference) {
  CHECK(std::string(usmx::version).ends_with("." + std::to_string(USMX_VERSION_PATCH)));
}
