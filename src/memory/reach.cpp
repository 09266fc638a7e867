// Which device can access which memory; see reach.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "memory/reach.hpp"

#include <sycl/exception.hpp>
#include <sycl/usm.hpp>

#include "core/format.hpp"
#include "memory/allocation_failure.hpp"
#include "usmx/placement.hpp"

namespace usmx::detail {
namespace {

bool is_part_of(sycl::device part, const sycl::device& whole) {
  try {
    while (part != whole) part = part.get_info<sycl::info::device::parent_device>();
    return true;
  } catch (const sycl::exception&) {  // a root device has no parent
    return false;
  }
}

}  // namespace

bool is_one_device(const sycl::device& a, const sycl::device& b) {
  return a == b || is_part_of(a, b) || is_part_of(b, a);
}

void require_within_reach(const std::string& what, usm_kind kind, const sycl::device& home,
                          const sycl::device& worker) {
  if (is_within_reach(kind, home, worker)) return;
  throw placement_error(
      format("{}: is device memory of {}, and the queue is of {}, which cannot access it; copy the "
             "array with to_device(queue), or use shared memory",
             what, describe(home), describe(worker)));
}

sycl::queue queue_near(const sycl::queue& named, usm_kind kind, const sycl::device& home) {
  if (is_within_reach(kind, home, named.get_device())) return named;
  return queue_for(named.get_context(), home);
}

sycl::queue queue_near(const sycl::queue& named, usm_kind kind, const void* data) {
  if (kind != usm_kind::device) return named;
  const sycl::context context = named.get_context();
  if (context.get_devices().size() < 2) return named;
  // For sub-devices the CPU driver reports any of them: the allocating queue is more precise.
  if (is_sub_device(named.get_device())) return named;
  try {
    return queue_near(named, kind, sycl::get_pointer_device(data, context));
  } catch (const sycl::exception&) {  // unknown to the driver: use the given queue
    return named;
  }
}

}  // namespace usmx::detail
