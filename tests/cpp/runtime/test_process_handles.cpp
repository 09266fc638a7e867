// Which devices have handles for other processes, and what is said of those that have none. What
// the functions do is tested between processes: tests/python/transfer/test_ipc_of_devices.py.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/process_handles.hpp"

#include <stdexcept>
#include <string>

#include "check.hpp"
#include "runtime/backend.hpp"
#include "usmx/runtime.hpp"

namespace usmx::detail {
namespace {

TEST(ProcessHandles, TheRowOfABackendSaysWhoseTheyAre) {
  using enum sycl::backend;
  CHECK(backend_row_of(ext_oneapi_cuda).handles == process_form::cuda);
  CHECK(backend_row_of(ext_oneapi_level_zero).handles == process_form::runtime);
  CHECK(backend_row_of(ext_oneapi_hip).handles == process_form::runtime);
  CHECK(backend_row_of(opencl, true).handles == process_form::none);
}

TEST(ProcessHandles, ADeviceWithoutThemSaysWhy) {
  const sycl::device device = default_queue().get_device();
  std::string why;
  if (process_handles_of(device, &why) != nullptr) {
    CHECK_EQUAL(why, "");
    return;
  }
  CHECK_EQUAL(why, "the backend has no memory between processes");
  CHECK(process_handles_of(device) == nullptr);
}

TEST(ProcessHandles, ALibraryThatLacksFunctionsIsNamed) {
  try {
    use_process_form(process_form::cuda, "libm.so.6");
    CHECK(false);
  } catch (const std::invalid_argument& e) {
    CHECK_EQUAL(std::string(e.what()), "library: libm.so.6 lacks functions of the driver");
  }
}

}  // namespace
}  // namespace usmx::detail
