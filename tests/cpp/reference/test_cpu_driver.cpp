// The example of usmx/cpu_driver.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <usmx/cpu_driver.hpp>
#include <usmx/runtime.hpp>

#include "check.hpp"

TEST(CpuDriver, Reference) {
  const usmx::driver_search& found = usmx::cpu_driver();
  if (usmx::devices().empty()) {
    std::printf("no device.%s\n", usmx::missing_driver_text().c_str());
  } else if (!found.driver.empty()) {
    std::printf("the CPU driver is %s\n", found.driver.c_str());
  }
  // A loader that was there before usmx may have looked for drivers too early.
  if (!found.early_loader.empty()) std::printf("first: %s\n", found.early_loader.c_str());
}
