// What a kernel is once it is found in its program.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <sycl/context.hpp>
#include <sycl/device.hpp>
#include <sycl/kernel.hpp>

#include "usmx/kernel.hpp"

namespace usmx {

struct kernel::state {
  std::string name;
  sycl::kernel handle;
  sycl::context context;
  sycl::device device;
  std::size_t argument_count;
  std::size_t max_work_group_size;
  int rank;
  std::optional<std::vector<kernel_parameter>> parameters;
};

}  // namespace usmx
