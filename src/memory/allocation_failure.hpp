// One text for every failed allocation, for all resources.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include <sycl/device.hpp>

#include "usmx/error.hpp"
#include "usmx/view.hpp"

namespace usmx::detail {

/// "1536 bytes (1.5 KiB)": people compare the second form, programs the first.
std::string amount(std::size_t bytes);
/// "1.5 KiB" alone, for amounts next to the requested one.
std::string scaled(std::size_t bytes);

/// "opencl:cpu:0 (name of the device)"; parts that cannot be queried are left out.
std::string describe(const sycl::device& device);

/// What `fail_allocation` throws: a resource whose upstream failed reports its own request and
/// repeats only the cause.
class failed_allocation final : public allocation_error {
 public:
  failed_allocation(std::size_t bytes, std::string what, std::string cause)
      : allocation_error(bytes, std::move(what)), cause_(std::move(cause)) {}
  const std::string& cause() const noexcept { return cause_; }

 private:
  std::string cause_;
};
/// The cause if it is known, the whole text otherwise.
std::string cause_of(const allocation_error& error);

/// Throws allocation_error: the request, the device, its free memory, and the cause.
[[noreturn]] void fail_allocation(std::size_t bytes, std::size_t alignment, usm_kind kind,
                                  const sycl::device& device, const std::string& cause);
/// The same, and what pools hold there: this is not part of the cause, so callers add it again.
[[noreturn]] void fail_allocation(std::size_t bytes, std::size_t alignment, usm_kind kind,
                                  const sycl::device& device, const std::string& cause,
                                  const std::string& held);

}  // namespace usmx::detail
