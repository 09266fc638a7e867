// The example of usmx/error.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include <usmx/error.hpp>
#include <usmx/kernel.hpp>
#include <usmx/runtime.hpp>
#include <usmx/typed_array.hpp>

#include "check.hpp"

TEST(Error, Reference) {
  const sycl::queue queue = usmx::default_queue();

  // Arrays that do not fit: the code for programs, the text for people.
  try {
    (void)usmx::on_host<double, 1>(usmx::zeros<float>(queue, {3}));
  } catch (const usmx::interop_error& error) {
    CHECK(error.code() == usmx::fault::dtype_mismatch);
    std::printf("%s\n", error.what());
  }
  CHECK(usmx::field_of(usmx::fault::strides_rank) == "strides");
  CHECK(usmx::message(usmx::fault::strides_rank) != "");

  // Kernels that do not compile carry the compiler's log, a device that is not there a list.
  try {
    (void)usmx::program::build(queue, "USMX_KERNEL(1) f(float* x) { x[0] = nothing; }");
  } catch (const usmx::build_error& error) {
    CHECK(error.log().find("nothing") != std::string::npos);
  }
  CHECK_THROWS(usmx::device_error, usmx::select_device("cpu:99"));

  // Memory that is not there.
  try {
    (void)usmx::empty<char>(queue, {std::int64_t{1} << 50});
  } catch (const usmx::allocation_error& error) {
    CHECK(error.bytes() == std::size_t{1} << 50);
  }
}
