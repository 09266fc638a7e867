// What a kernel needs and allows on a device, as Python sees it.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <nanobind/stl/string.h>

#include "support/bindings.hpp"
#include "usmx/kernel.hpp"

namespace usmx::python {
namespace {

nb::object required(const kernel_limits& limits) {
  nb::list sizes;
  for (const std::size_t n : limits.required_work_group_size) {
    if (n != 0) sizes.append(n);
  }
  return nb::len(sizes) == 0 ? nb::none() : nb::object(nb::tuple(sizes));
}

std::string represent(const kernel_limits& limits) {
  return "<usmx.KernelLimits: work-groups up to " + std::to_string(limits.max_work_group_size) +
         ", sub-groups up to " + std::to_string(limits.max_sub_group_size) + ", " +
         std::to_string(limits.private_memory) + " bytes of private memory>";
}

}  // namespace

void bind_kernel_limits(nb::module_& m) {
  nb::class_<kernel_limits> c(
      m, "KernelLimits",
      "What a kernel needs of a device as it was compiled for it, and what it allows there.\n\n"
      "A figure that the driver does not have is 0.");
  c.def_ro("max_work_group_size", &kernel_limits::max_work_group_size,
           "The most work-items that a work-group of this kernel may have.")
      .def_ro("preferred_work_group_size_multiple",
              &kernel_limits::preferred_work_group_size_multiple,
              "Work-groups of a multiple of this many items use the device best.")
      .def_prop_ro(
          "required_work_group_size", required,
          "An int for each dimension if the source demands a size, otherwise None.",
          nb::for_getter(nb::sig("def required_work_group_size(self) -> tuple[int, ...] | None")))
      .def_ro("private_memory", &kernel_limits::private_memory,
              "Bytes of private memory for each work-item; 0 if registers suffice.")
      .def_ro("max_sub_group_size", &kernel_limits::max_sub_group_size,
              "The most work-items that a sub-group may have.")
      .def_ro("max_sub_groups", &kernel_limits::max_sub_groups,
              "The most sub-groups that a work-group may have.")
      .def_ro("required_sub_group_size", &kernel_limits::required_sub_group_size,
              "The size that the source demands, otherwise 0.")
      .def("__repr__", represent);
}

}  // namespace usmx::python
