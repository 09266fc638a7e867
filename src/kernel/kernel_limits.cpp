// What the driver knows about a compiled kernel.
// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include <sycl/exception.hpp>
#include <sycl/info/info_desc.hpp>

#include "kernel/kernel_state.hpp"
#include "runtime/driver_gate.hpp"

namespace usmx {
namespace {

namespace about = sycl::info::kernel_device_specific;

/// Drivers may leave a question open, and then say so with an exception.
template <class Question, class Answer>
void ask(const sycl::kernel& k, const sycl::device& device, Answer& answer) {
  try {
    answer = static_cast<Answer>(k.get_info<Question>(device));
  } catch (const sycl::exception&) {
    answer = {};
  }
}

}  // namespace

kernel_limits kernel::limits() const {
  if (state_->unsized) {
    throw std::invalid_argument("kernel '" + state_->name +
                                "': its limits depend on the sizes of its local memory");
  }
  const detail::using_driver inside;
  const sycl::kernel k = state_->code();
  const sycl::device& device = state_->device;
  kernel_limits found;
  ask<about::work_group_size>(k, device, found.max_work_group_size);
  ask<about::preferred_work_group_size_multiple>(k, device,
                                                 found.preferred_work_group_size_multiple);
  ask<about::private_mem_size>(k, device, found.private_memory);
  ask<about::max_sub_group_size>(k, device, found.max_sub_group_size);
  ask<about::max_num_sub_groups>(k, device, found.max_sub_groups);
  ask<about::compile_sub_group_size>(k, device, found.required_sub_group_size);
  sycl::range<3> required{0, 0, 0};
  ask<about::compile_work_group_size>(k, device, required);
  // The runtime passes on what the driver says, whose first dimension is the fastest.
  const int rank = state_->rank == 0 ? 3 : state_->rank;
  for (int axis = 0; axis < rank; ++axis) {
    found.required_work_group_size[static_cast<std::size_t>(axis)] = required[rank - 1 - axis];
  }
  return found;
}

}  // namespace usmx
