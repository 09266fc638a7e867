// What the docstrings of bound functions and classes end with: each has an example, and
// tests/python/package/test_docstring_examples.py runs them.
// SPDX-License-Identifier: Apache-2.0
#include "support/examples.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "support/text.hpp"

namespace usmx::python {
namespace {

using example = std::pair<std::string_view, std::string_view>;

constexpr auto examples = std::to_array<example>({
    {"empty",
     ">>> import usmx\n"
     ">>> x = usmx.empty((2, 3), \"float32\")\n"
     ">>> x.shape, x.dtype.name\n"
     "((2, 3), 'float32')"},
    {"zeros",
     ">>> import usmx\n"
     ">>> print(usmx.zeros((2, 2)))\n"
     "[[0., 0.],\n"
     " [0., 0.]]"},
    {"ones",
     ">>> import usmx\n"
     ">>> print(usmx.ones(3, \"int32\"))\n"
     "[1, 1, 1]"},
    {"full",
     ">>> import usmx\n"
     ">>> print(usmx.full(3, 7))\n"
     "[7, 7, 7]"},
    {"arange",
     ">>> import usmx\n"
     ">>> print(usmx.arange(0, 10, 3))\n"
     "[0, 3, 6, 9]"},
    {"empty_like",
     ">>> import usmx\n"
     ">>> usmx.empty_like(usmx.ones((2, 3))).shape\n"
     "(2, 3)"},
    {"zeros_like",
     ">>> import usmx\n"
     ">>> print(usmx.zeros_like(usmx.arange(3)))\n"
     "[0, 0, 0]"},
    {"ones_like",
     ">>> import usmx\n"
     ">>> print(usmx.ones_like(usmx.arange(3)))\n"
     "[1, 1, 1]"},
    {"full_like",
     ">>> import usmx\n"
     ">>> print(usmx.full_like(usmx.arange(3), 7))\n"
     "[7, 7, 7]"},
    {"from_numpy",
     ">>> import usmx\n"
     ">>> import numpy as np\n"
     ">>> print(usmx.from_numpy(np.arange(3)))\n"
     "[0, 1, 2]"},
    {"asarray",
     ">>> import usmx\n"
     ">>> print(usmx.asarray([[1, 2], [3, 4]], dtype=\"float32\"))\n"
     "[[1., 2.],\n"
     " [3., 4.]]"},
    {"from_dlpack",
     ">>> import usmx\n"
     ">>> x = usmx.arange(3)\n"
     ">>> usmx.from_dlpack(x).pointer == x.pointer\n"
     "True"},
    {"broadcast_to",
     ">>> import usmx\n"
     ">>> print(usmx.broadcast_to(usmx.arange(2), (2, 2)))\n"
     "[[0, 1],\n"
     " [0, 1]]"},
    {"devices",
     ">>> import usmx\n"
     ">>> all(isinstance(device, usmx.Device) for device in usmx.devices())\n"
     "True"},
    {"platforms",
     ">>> import usmx\n"
     ">>> all(len(platform.devices) > 0 for platform in usmx.platforms())\n"
     "True"},
    {"default_queue",
     ">>> import usmx\n"
     ">>> usmx.default_queue() == usmx.default_queue(usmx.Device())\n"
     "True"},
    {"program_memory",
     ">>> import usmx\n"
     ">>> sorted(usmx.program_memory())\n"
     "['bytes', 'limit', 'permanent', 'programs']"},
    {"set_program_memory",
     ">>> import usmx\n"
     ">>> before = usmx.set_program_memory(64 << 20)\n"
     ">>> usmx.set_program_memory(before) == 64 << 20\n"
     "True"},
    {"get_execution_queue",
     ">>> import usmx\n"
     ">>> x = usmx.ones(3)\n"
     ">>> usmx.get_execution_queue(x, x) == x.queue\n"
     "True"},
    {"get_coerced_usm_type",
     ">>> import usmx\n"
     ">>> usmx.get_coerced_usm_type(\"host\", \"device\")\n"
     "'device'"},
    {"copy",
     ">>> import usmx\n"
     ">>> import numpy as np\n"
     ">>> x = usmx.zeros(3)\n"
     ">>> usmx.copy(x, np.arange(3.0))\n"
     ">>> print(x)\n"
     "[0., 1., 2.]"},
    {"copy_async",
     ">>> import usmx\n"
     ">>> import numpy as np\n"
     ">>> x = usmx.zeros(3)\n"
     ">>> usmx.copy_async(x, np.arange(3.0)).wait()\n"
     ">>> print(x)\n"
     "[0., 1., 2.]"},
    {"copy_2d",
     ">>> import usmx\n"
     ">>> rows = usmx.zeros((2, 8), \"uint8\")\n"
     ">>> usmx.copy_2d(rows, 8, usmx.full(6, 7, \"uint8\"), 3, 3, 2)\n"
     ">>> print(rows[0])\n"
     "[7, 7, 7, 0, 0, 0, 0, 0]"},
    {"copy_2d_async",
     ">>> import usmx\n"
     ">>> rows = usmx.zeros((2, 8), \"uint8\")\n"
     ">>> usmx.copy_2d_async(rows, 8, usmx.full(6, 7, \"uint8\"), 3, 3, 2).wait()\n"
     ">>> print(rows[1])\n"
     "[7, 7, 7, 0, 0, 0, 0, 0]"},
    {"fill",
     ">>> import usmx\n"
     ">>> x = usmx.zeros(3)\n"
     ">>> usmx.fill(x, 7)\n"
     ">>> print(x)\n"
     "[7., 7., 7.]"},
    {"fill_async",
     ">>> import usmx\n"
     ">>> x = usmx.zeros(3)\n"
     ">>> usmx.fill_async(x, 7).wait()\n"
     ">>> print(x)\n"
     "[7., 7., 7.]"},
    {"memset",
     ">>> import usmx\n"
     ">>> x = usmx.zeros(2, \"uint16\")\n"
     ">>> usmx.memset(x, 1)\n"
     ">>> print(x)\n"
     "[257, 257]"},
    {"memset_async",
     ">>> import usmx\n"
     ">>> x = usmx.zeros(2, \"uint16\")\n"
     ">>> usmx.memset_async(x, 1).wait()\n"
     ">>> print(x)\n"
     "[257, 257]"},
    {"prefetch",
     ">>> import usmx\n"
     ">>> usmx.prefetch(usmx.zeros(1000, usm_type=\"shared\"))"},
    {"prefetch_async",
     ">>> import usmx\n"
     ">>> usmx.prefetch_async(usmx.zeros(1000, usm_type=\"shared\")).wait()"},
    {"mem_advise",
     ">>> import usmx\n"
     ">>> usmx.mem_advise(usmx.zeros(1000, usm_type=\"shared\"), 0)"},
    {"mem_advise_async",
     ">>> import usmx\n"
     ">>> usmx.mem_advise_async(usmx.zeros(1000, usm_type=\"shared\"), 0).wait()"},
    {"get_resource",
     ">>> import usmx.memory\n"
     ">>> usmx.memory.get_resource(kind=\"device\").kind\n"
     "'device'"},
    {"set_resource",
     ">>> import usmx.memory\n"
     ">>> counted = usmx.memory.StatisticsResource(usmx.memory.get_resource())\n"
     ">>> before = usmx.memory.set_resource(counted)\n"
     ">>> x = usmx.empty(1000, usm_type=\"device\")\n"
     ">>> usmx.memory.set_resource(before) is not None\n"
     "True\n"
     ">>> counted.stats()[\"bytes\"] >= x.nbytes\n"
     "True"},
    {"as_usm_memory",
     ">>> import usmx.memory\n"
     ">>> usmx.memory.as_usm_memory(usmx.zeros(3, \"float64\")).nbytes\n"
     "24"},
    {"trim",
     ">>> import usmx.memory\n"
     ">>> usmx.memory.trim() >= 0\n"
     "True"},
    {"ndarray",
     ">>> import usmx\n"
     ">>> x = usmx.ndarray((2, 3), \"float32\")\n"
     ">>> x[:] = 1\n"
     ">>> x.sum().item()\n"
     "6.0"},
    {"dtype",
     ">>> import usmx\n"
     ">>> usmx.dtype(\"float32\").itemsize\n"
     "4"},
    {"Device",
     ">>> import usmx\n"
     ">>> device = usmx.Device()\n"
     ">>> device.max_compute_units > 0, device == usmx.Device(device.filter_string)\n"
     "(True, True)"},
    {"Platform",
     ">>> import usmx\n"
     ">>> usmx.Device().platform in usmx.platforms()\n"
     "True"},
    {"Context",
     ">>> import usmx\n"
     ">>> context = usmx.Context(usmx.Device())\n"
     ">>> usmx.Device() in context.devices\n"
     "True"},
    {"Queue",
     ">>> import usmx\n"
     ">>> queue = usmx.Queue(enable_profiling=True)\n"
     ">>> x = usmx.ones(3, queue=queue)\n"
     ">>> x.queue == queue\n"
     "True"},
    {"Event",
     ">>> import usmx\n"
     ">>> event = usmx.copy_async(usmx.zeros(3), usmx.ones(3))\n"
     ">>> event.wait()\n"
     ">>> event.is_done\n"
     "True"},
    {"AllocationError",
     ">>> import usmx\n"
     ">>> try:\n"
     "...     usmx.empty(1 << 60, \"uint8\")\n"
     "... except usmx.AllocationError as error:\n"
     "...     print(\"cannot allocate\" in str(error))\n"
     "True"},
    {"BuildError",
     ">>> import usmx\n"
     ">>> try:\n"
     "...     usmx.RawKernel(\"USMX_KERNEL(1) f(float* x) { wrong }\", \"f\")[1](usmx.ones(1, "
     "\"float32\"))\n"
     "... except usmx.BuildError as error:\n"
     "...     print(\"wrong\" in error.log)\n"
     "True"},
    {"DeviceError",
     ">>> import usmx\n"
     ">>> try:\n"
     "...     usmx.Device(\"gpu:99\")\n"
     "... except usmx.DeviceError as error:\n"
     "...     print(\"no device matches\" in str(error))\n"
     "True"},
    {"InteropError",
     ">>> import usmx\n"
     ">>> class Wrong:\n"
     "...     __sycl_usm_array_interface__ = {}\n"
     ">>> try:\n"
     "...     usmx.asarray(Wrong())\n"
     "... except usmx.InteropError as error:\n"
     "...     print(\"is missing\" in str(error))\n"
     "True"},
    {"ExecutionPlacementError",
     ">>> import usmx\n"
     ">>> issubclass(usmx.ExecutionPlacementError, ValueError)\n"
     "True"},
    {"MemoryUSMDevice",
     ">>> import usmx.memory\n"
     ">>> memory = usmx.memory.MemoryUSMDevice(64)\n"
     ">>> memory.copy_from_host(bytes(range(64)))\n"
     ">>> memory.tobytes()[:3]\n"
     "b'\\x00\\x01\\x02'"},
    {"MemoryUSMShared",
     ">>> import usmx.memory\n"
     ">>> memory = usmx.memory.MemoryUSMShared(64)\n"
     ">>> memoryview(memory)[0] = 7\n"
     ">>> memory.tobytes()[:1]\n"
     "b'\\x07'"},
    {"MemoryUSMHost",
     ">>> import usmx.memory\n"
     ">>> memory = usmx.memory.MemoryUSMHost(64)\n"
     ">>> memory.get_usm_type(), len(memory)\n"
     "('host', 64)"},
    {"NotUSMError",
     ">>> import usmx.memory\n"
     ">>> try:\n"
     "...     usmx.memory.as_usm_memory(b\"\")\n"
     "... except usmx.memory.NotUSMError as error:\n"
     "...     print(\"has no USM\" in str(error))\n"
     "True"},
    {"StatisticsResource",
     ">>> import usmx.memory\n"
     ">>> counted = usmx.memory.StatisticsResource(usmx.memory.get_resource())\n"
     ">>> with usmx.memory.using(counted):\n"
     "...     x = usmx.empty(1000, usm_type=\"device\")\n"
     ">>> counted.stats()[\"bytes\"] >= x.nbytes\n"
     "True"},
    {"LimitingResource",
     ">>> import usmx.memory\n"
     ">>> limited = usmx.memory.LimitingResource(usmx.memory.get_resource(), 1 << 20)\n"
     ">>> with usmx.memory.using(limited):\n"
     "...     try:\n"
     "...         usmx.empty(2 << 20, \"uint8\", usm_type=\"device\")\n"
     "...     except usmx.AllocationError as error:\n"
     "...         print(\"limit\" in str(error))\n"
     "True"},
    {"PoolResource",
     ">>> import usmx.memory\n"
     ">>> pool = usmx.memory.PoolResource(usmx.memory.UsmResource())\n"
     ">>> with usmx.memory.using(pool):\n"
     "...     x = usmx.empty(1000, usm_type=\"device\")\n"
     ">>> pool.stats()[\"used\"] >= x.nbytes\n"
     "True"},
    {"UsmResource",
     ">>> import usmx.memory\n"
     ">>> usmx.memory.UsmResource(kind=\"host\").kind\n"
     "'host'"},
    {"AlignedResource",
     ">>> import usmx.memory\n"
     ">>> aligned = usmx.memory.AlignedResource(usmx.memory.UsmResource(), 4096)\n"
     ">>> with usmx.memory.using(aligned):\n"
     "...     x = usmx.empty(3, usm_type=\"device\")\n"
     ">>> x.pointer % 4096\n"
     "0"},
    {"QueueOrderedResource",
     ">>> import usmx.memory\n"
     ">>> ordered = usmx.memory.QueueOrderedResource(usmx.memory.UsmResource())\n"
     ">>> ordered.upstream is not None\n"
     "True"},
    {"PrefetchResource",
     ">>> import usmx.memory\n"
     ">>> shared = usmx.memory.UsmResource(kind=\"shared\")\n"
     ">>> usmx.memory.PrefetchResource(shared).kind\n"
     "'shared'"},
    {"get_usm_type",
     ">>> import usmx.memory\n"
     ">>> usmx.memory.get_usm_type(usmx.memory.MemoryUSMHost(64))\n"
     "'host'"},
});

std::string_view example_of(std::string_view name) {
  const auto found = std::ranges::find(examples, name, &example::first);
  return found == examples.end() ? std::string_view() : found->second;
}

}  // namespace

std::string with_example(std::string_view name, std::string_view doc) {
  std::string all(doc);
  const std::string_view found = example_of(name);
  if (found.empty()) return all;
  while (all.ends_with('\n')) all.pop_back();
  all += "\n\nExamples\n--------\n";
  all += found;
  return all;
}

void add_class_examples(nb::handle module) {
  for (const auto& [name, text] : examples) {
    const nb::object found = nb::getattr(module, new_text(name), nb::none());
    if (!nb::type_check(found) && PyExceptionClass_Check(found.ptr()) == 0) continue;
    const nb::object doc = nb::getattr(found, "__doc__", nb::none());
    const std::string before = nb::isinstance<nb::str>(doc) ? shown(doc) : "";
    found.attr("__doc__") = new_text(with_example(name, before));
  }
}

}  // namespace usmx::python
