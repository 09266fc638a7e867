// The part of SYCL's runtime that Python has no equivalent for: devices, and the shared queues.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <sycl/event.hpp>

#include "runtime/runtime_bindings.hpp"
#include "usmx/cpu_driver.hpp"

namespace usmx::python {

void bind_runtime(nb::module_& m) {
  bind_platform_and_device(m);
  bind_event(m);
  bind_context_and_queue(m);
  m.def("devices", &devices, nb::sig("def devices() -> list[Device]"),
        "All devices, best first: GPUs, accelerators, CPUs. Empty without a driver.");
  m.def(
      "platforms",
      [] {
        std::vector<sycl::platform> found;
        for (const auto& device : devices())
          if (const auto p = device.get_platform(); std::ranges::find(found, p) == found.end())
            found.push_back(p);
        return found;
      },
      nb::sig("def platforms() -> list[Platform]"),
      "Every platform that has a device, in the order of devices(). Empty without a driver.");
  m.def(
      "default_queue",
      [](nb::handle device) {
        return device.is_none() ? default_queue() : default_queue(to_device(device));
      },
      nb::arg("device").none() = nb::none(),
      "The shared in-order queue of a device in its default context, made once.\n\n"
      "Parameters\n----------\n"
      "device : Device, str or None\n    None is the default device.\n\n"
      "Raises\n------\n"
      "DeviceError\n    If there is no such device: with those there are, or what to install.",
      nb::sig("def default_queue(device: DeviceLike = None) -> Queue"));
  m.def(
      "_cpu_driver",
      [] {
        const auto& found = cpu_driver();
        nb::dict report;
        report["driver"] = found.driver;
        report["shown"] = found.shown;
        report["early_loader"] = found.early_loader;
        report["early_tbb"] = found.early_tbb;
        report["early_users"] = found.early_users;
        return report;
      },
      nb::sig("def _cpu_driver() -> dict[str, Any]"),
      "The CPU driver of this environment, and what was loaded before usmx.");
}

}  // namespace usmx::python
