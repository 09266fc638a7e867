// Platforms and devices for Python: finding them, dividing them, comparing them; and the functions
// that list them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <sycl/event.hpp>

#include "core/format.hpp"
#include "runtime/backend.hpp"
#include "runtime/runtime_bindings.hpp"
#include "support/containers.hpp"
#include "support/examples.hpp"
#include "support/signature.hpp"
#include "support/text.hpp"
#include "usmx/cpu_driver.hpp"

namespace usmx::python {
namespace {

using partition = sycl::info::partition_property;
using domain = sycl::info::partition_affinity_domain;

struct domain_row {
  const char* name;
  domain value;
};
constexpr domain_row domains[] = {
    {"numa", domain::numa},         {"L4_cache", domain::L4_cache},
    {"L3_cache", domain::L3_cache}, {"L2_cache", domain::L2_cache},
    {"L1_cache", domain::L1_cache}, {"next_partitionable", domain::next_partitionable},
};

domain domain_named(std::string_view name) {
  for (const auto& row : domains)
    if (name == row.name) return row.value;
  throw std::invalid_argument(
      detail::format("partition: '{}' is not an affinity domain; expected one of {}", name,
                     detail::joined(domains, &domain_row::name)));
}

std::size_t unit_count(nb::handle item) {
  const long long n = PyLong_Check(item.ptr()) && !PyBool_Check(item.ptr())
                          ? PyLong_AsLongLong(item.ptr())
                          : throw nb::type_error(
                                "partition: expected a number of compute units, a "
                                "list of such, or the name of an affinity domain");
  if (n == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    throw std::invalid_argument("partition: more compute units than fit 64 bits");
  }
  if (n <= 0)
    throw std::invalid_argument(
        detail::format("partition: {} compute units; expected at least 1", n));
  return static_cast<std::size_t>(n);
}

/// The driver's refusals, with what was asked and what the device has.
template <class Make>
std::vector<sycl::device> divide(const sycl::device& device, const std::string& asked, Make make) {
  try {
    return make();
  } catch (const sycl::exception& e) {
    const auto units = device.get_info<sycl::info::device::max_compute_units>();
    const auto most = device.get_info<sycl::info::device::partition_max_sub_devices>();
    throw std::invalid_argument(
        detail::format("partition: {} cannot be divided {}; it has {} compute units and at most {} "
                       "sub-devices ({})",
                       described(device), asked, units, most, e.what()));
  }
}

std::vector<sycl::device> sub_devices(const sycl::device& device, nb::handle how) {
  if (nb::isinstance<nb::str>(how)) {
    const std::string name = to_text(how, "partition");
    const domain by = domain_named(name);
    return divide(device, "by " + name, [&] {
      return device.create_sub_devices<partition::partition_by_affinity_domain>(by);
    });
  }
  if (PyLong_Check(how.ptr())) {
    const std::size_t units = unit_count(how);
    return divide(device, detail::format("into parts of {} compute units", units),
                  [&] { return device.create_sub_devices<partition::partition_equally>(units); });
  }
  if (!PyList_Check(how.ptr()) && !PyTuple_Check(how.ptr())) unit_count(how);  // tells what to pass
  std::vector<std::size_t> counts;
  for (nb::handle item : nb::iter(how)) {
    counts.push_back(unit_count(item));
  }
  if (counts.empty()) throw std::invalid_argument("partition: the list of counts is empty");
  return divide(
      device,
      detail::format("into parts of [{}] compute units",
                     detail::joined(counts, [](std::size_t n) { return detail::format("{}", n); })),
      [&] { return device.create_sub_devices<partition::partition_by_counts>(counts); });
}

nb::object parent_of(const sycl::device& device) {
  if (!is_sub_device(device)) return nb::none();
  return nb::cast(device.get_info<sycl::info::device::parent_device>());
}

nb::object filter_of(const sycl::device& device) {
  const std::string filter = filter_string(device);
  return filter.empty() ? nb::none() : nb::object(new_text(filter));
}

nb::object reduce(nb::handle self) {
  const nb::object filter = filter_of(self_of<sycl::device>(self));
  if (filter.is_none())
    throw nb::type_error(
        "a sub-device cannot be pickled: it has no filter string; pickle its parent_device");
  return nb::make_tuple(self.type(), nb::make_tuple(filter));
}

sycl::ext::oneapi::peer_access peer_value(std::string_view name) {
  if (name == "access_supported") return sycl::ext::oneapi::peer_access::access_supported;
  if (name == "atomics_supported") return sycl::ext::oneapi::peer_access::atomics_supported;
  throw std::invalid_argument(
      detail::format("value: '{}'; expected 'access_supported' or 'atomics_supported'", name));
}

void bind_platform(nb::module_& m) {
  using sycl::platform;
  nb::class_<platform> type(
      m, "Platform", nb::is_weak_referenceable(),
      "A driver and the devices that it serves. Equal if SYCL knows them as one.");
  bind_identity(type);
  type.def_prop_ro("name",
                   [](const platform& p) { return p.get_info<sycl::info::platform::name>(); })
      .def_prop_ro("vendor",
                   [](const platform& p) { return p.get_info<sycl::info::platform::vendor>(); })
      .def_prop_ro("version",
                   [](const platform& p) { return p.get_info<sycl::info::platform::version>(); })
      .def_prop_ro(
          "backend", [](const platform& p) { return backend_name(p.get_backend()); },
          "\"opencl\", \"level_zero\", \"cuda\", \"hip\", ...")
      .def_prop_ro(
          "devices", [](const platform& p) { return p.get_devices(); },
          nb::sig("def devices(self) -> list[Device]"), "Its root devices.")
      .def_prop_ro(
          "default_context",
          [](const platform& p) { return default_context(p.get_devices().front()); },
          nb::sig("def default_context(self) -> Context"),
          "The context that libraries share by default.")
      .def_prop_ro(
          "native", [](const platform& p) { return native_handle(p); },
          "cl_platform_id or ze_driver_handle_t as an integer, borrowed.")
      .def("__repr__", [](const platform& p) {
        const std::size_t n = p.get_devices().size();
        return "<usmx.Platform '" + p.get_info<sycl::info::platform::name>() + "', " +
               backend_name(p.get_backend()) + ", " +
               (n == 1 ? "1 device>" : detail::format("{} devices>", n));
      });
}

}  // namespace

std::string described(const sycl::device& device) {
  const std::string name = " (" + device.get_info<sycl::info::device::name>() + ")";
  if (const std::string filter = filter_string(device); !filter.empty()) return filter + name;
  sycl::device root = device;
  while (is_sub_device(root)) root = root.get_info<sycl::info::device::parent_device>();
  return "a sub-device of " + filter_string(root) + name;
}

void bind_platform_and_device(nb::module_& m) {
  bind_platform(m);
  using sycl::device;
  nb::class_<device> type(
      m, "Device", nb::is_weak_referenceable(),
      "A device, found by name or taken from another library.\n\n"
      "Parameters\n----------\n"
      "source : str, Device, Queue, object with filter_string or _get_capsule(), or None\n"
      "    A filter string ``backend:type:index`` with any part left out (``\"cpu\"``,\n"
      "    ``\"level_zero:gpu:1\"``, ``\"0\"``), alternatives separated by commas; or an object "
      "that\n"
      "    names a device. None is the default device of the runtime.\n\n"
      "Raises\n------\n"
      "ValueError\n    If the filter string is malformed: which part, and what is expected.\n"
      "DeviceError\n    If there is no such device: with those there are, or what to install.");
  bind_identity(type);
  // As the device of an array of dpctl has them, with the queue that the device has by default.
  bind_dpctl_names(type,
                   [](nb::handle self) { return default_queue(self_of<sycl::device>(self)); });
  type.def("__init__(self, source: DeviceLike = None) -> None"_sig,
           [](device* self, nb::handle source) { new (self) device(to_device(source, "source")); })
      .def_prop_ro(
          "filter_string", &filter_of, nb::sig("def filter_string(self) -> str | None"),
          "The full filter string, \"opencl:cpu:0\"; None for a sub-device, which has none.")
      .def_prop_ro(
          "backend", [](const device& d) { return backend_name(d.get_backend()); },
          "\"opencl\", \"level_zero\", \"cuda\", \"hip\", ...")
      .def_prop_ro("device_type", &device_type_name,
                   "\"cpu\", \"gpu\", \"accelerator\" or \"custom\".")
      .def_prop_ro("is_cpu", [](const device& d) { return d.is_cpu(); })
      .def_prop_ro(
          "_is_host", [](const device& d) { return detail::backend_of(d).is_host; },
          "The host's own cores and memory: NumPy computes with the same bytes.")
      .def_prop_ro(
          "_groups_are_loops", [](const device& d) { return detail::forms_of(d).groups_are_loops; },
          "Groups are loops on a core, so algorithms for few long rows of work suit it.")
      .def_prop_ro("is_gpu", [](const device& d) { return d.is_gpu(); })
      .def_prop_ro("is_accelerator", [](const device& d) { return d.is_accelerator(); })
      .def_prop_ro("platform", [](const device& d) { return d.get_platform(); })
      .def_prop_ro(
          "sycl_platform", [](const device& d) { return d.get_platform(); },
          "dpctl's name of platform.")
      .def_prop_ro("parent_device", &parent_of, nb::sig("def parent_device(self) -> Device | None"),
                   "The device that this sub-device is a part of; None for a root device.")
      .def_prop_ro(
          "usm_kinds",
          [](const device& d) {
            nb::list kinds = new_list();
            if (d.has(sycl::aspect::usm_device_allocations)) kinds.append("device");
            if (d.has(sycl::aspect::usm_shared_allocations)) kinds.append("shared");
            if (d.has(sycl::aspect::usm_host_allocations)) kinds.append("host");
            return nb::tuple(kinds);
          },
          nb::sig("def usm_kinds(self) -> tuple[str, ...]"),
          "Kinds of USM that it can allocate: of \"device\", \"shared\" and \"host\".")
      .def_prop_ro(
          "native", [](const device& d) { return native_handle(d); },
          "cl_device_id, ze_device_handle_t or CUdevice as an integer. Borrowed: valid as long "
          "as this object lives; retain it with the driver to keep it longer.")
      .def("create_sub_devices(self, partition: int | Sequence[int] | str) -> list[Device]"_sig,
           &sub_devices,
           "Divide the device.\n\n"
           "Parameters\n----------\n"
           "partition : int, sequence of int, or str\n"
           "    Compute units of each of as many parts as fit; or of each part in turn; or what "
           "the\n"
           "    parts shall share: \"numa\", \"L4_cache\" ... \"L1_cache\", "
           "\"next_partitionable\".\n\n"
           "Returns\n-------\nlist of Device\n\n"
           "Raises\n------\nValueError\n    If the device cannot be divided so.\n\n"
           "Notes\n-----\n"
           "On the CPU driver a copy between memory of two sub-devices that share a context can "
           "hang\n"
           "now and then (a defect of the runtime: it frees inside a callback). Give each "
           "sub-device\n"
           "its own context, as Queue(sub_device) does, and copy through host memory.")
      .def(
          "can_access_peer(self, peer: Device, value: str = 'access_supported') -> bool"_sig,
          [](device& d, device& peer, const nb::str& value) {
            return d.ext_oneapi_can_access_peer(peer, peer_value(to_text(value, "value")));
          },
          "Whether kernels of this device can use device memory of another one.\n\n"
          "Parameters\n----------\n"
          "peer : Device\n    The other device.\n"
          "value : {'access_supported', 'atomics_supported'}\n    Whether it is about all accesses "
          "or about atomics.\n\n"
          "Returns\n-------\nbool\n\n"
          "Raises\n------\nValueError\n    Another `value`.")
      .def(
          "enable_peer_access(self, peer: Device) -> None"_sig,
          [](device& d, device& peer) { d.ext_oneapi_enable_peer_access(peer); },
          "Let kernels of this device use device memory of another one; see `can_access_peer`.\n\n"
          "Parameters\n----------\n"
          "peer : Device\n    The other device.")
      .def(
          "disable_peer_access(self, peer: Device) -> None"_sig,
          [](device& d, device& peer) { d.ext_oneapi_disable_peer_access(peer); },
          "End what `enable_peer_access` began.\n\n"
          "Parameters\n----------\n"
          "peer : Device\n    The other device.")
      .def("__reduce__(self) -> tuple[Any, ...]"_sig, &reduce)
      .def("__repr__", [](const device& d) { return "<usmx.Device " + described(d) + ">"; });
  bind_html(type, "device");
  bind_device_info(type);
}

void bind_runtime(nb::module_& m) {
  bind_platform_and_device(m);
  bind_event(m);
  bind_context_and_queue(m);
  def(m, "devices() -> list[Device]"_sig, &devices,
      with_example("devices",
                   "All devices, best first: GPUs, accelerators, CPUs.\n\n"
                   "Returns\n-------\n"
                   "list of Device\n    Empty without a driver.")
          .c_str());
  def(
      m, "platforms() -> list[Platform]"_sig,
      [] {
        std::vector<sycl::platform> found;
        for (const auto& device : devices())
          if (const auto p = device.get_platform(); std::ranges::find(found, p) == found.end())
            found.push_back(p);
        return found;
      },
      with_example("platforms",
                   "Every platform that has a device, in the order of `devices`.\n\n"
                   "Returns\n-------\n"
                   "list of Platform\n    Empty without a driver.")
          .c_str());
  def(
      m, "default_queue(device: DeviceLike = None) -> Queue"_sig,
      [](nb::handle device) {
        return device.is_none() ? default_queue() : default_queue(to_device(device));
      },
      with_example(
          "default_queue",
          "The shared in-order queue of a device in its default context, made once.\n\n"
          "Parameters\n----------\n"
          "device : Device, str or None\n    None is the default device.\n\n"
          "Returns\n-------\nQueue\n    Equal ones in each call for one device.\n\n"
          "Raises\n------\n"
          "DeviceError\n    If there is no such device: with those there are, or what to install.")
          .c_str());
  def(
      m, "_cpu_driver() -> dict[str, Any]"_sig,
      [] {
        const auto& found = cpu_driver();
        nb::dict report = new_dict();
        report["driver"] = found.driver;
        report["shown"] = found.shown;
        report["early_loader"] = found.early_loader;
        report["early_tbb"] = found.early_tbb;
        report["early_users"] = found.early_users;
        return report;
      },
      "The CPU driver of this environment, and what was loaded before usmx.");
}

}  // namespace usmx::python
