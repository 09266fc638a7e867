// The default resources: which one serves all threads, or one thread inside of a block, and how
// much memory each of them holds.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <nanobind/stl/string.h>

#include "array/ndarray.hpp"
#include "memory/memory.hpp"
#include "memory/resources.hpp"
#include "runtime/runtime_bindings.hpp"
#include "support/containers.hpp"
#include "support/examples.hpp"
#include "support/signature.hpp"

namespace usmx::python {
namespace {

/// What `with using(resource):` needs; one object may be entered several times.
struct resource_block {
  explicit resource_block(std::shared_ptr<memory_resource> r) noexcept : resource(std::move(r)) {}
  resource_block(const resource_block&) = delete;
  resource_block& operator=(const resource_block&) = delete;
  ~resource_block() = default;

  std::shared_ptr<memory_resource> resource;
  /// Taken out of the list before the GIL is let go of: other threads enter and leave it too.
  struct entry {
    std::thread::id thread;
    std::unique_ptr<using_resource> block;
  };
  std::vector<entry> entered;
};

/// What a stack of resources knows; empty what none of them counts.
struct use {
  std::optional<std::size_t> used, blocks, peak, held;
};

void fill_in(std::optional<std::size_t>& what, std::size_t value) {
  if (!what) what = value;
}

/// The nearest to the caller that counts is believed.
use use_of(std::shared_ptr<memory_resource> resource) {
  use found;
  for (; resource != nullptr; resource = resource->stands_on()) {
    if (const auto* counted = dynamic_cast<const statistics_resource*>(resource.get())) {
      const statistics_resource::figures now = counted->now();
      fill_in(found.used, now.bytes);
      fill_in(found.blocks, now.blocks);
      fill_in(found.peak, now.peak_bytes);
    }
    if (const auto* pool = dynamic_cast<const pool_resource*>(resource.get())) {
      const pool_stats now = pool->stats();
      fill_in(found.used, now.used);
      fill_in(found.blocks, now.blocks);
      fill_in(found.held, now.held);
      fill_in(found.peak, now.peak);
    }
  }
  return found;
}

nb::object or_none(const std::optional<std::size_t>& value) {
  return value ? nb::object(nb::int_(*value)) : nb::none();
}

nb::list stats() {
  nb::list rows = new_list();
  for (const auto& resource : default_resources()) {
    const use now = use_of(resource);
    nb::dict row = new_dict();
    row["device"] = described(resource->device());
    row["kind"] = name(resource->kind());
    row["used"] = or_none(now.used);
    row["blocks"] = or_none(now.blocks);
    row["peak"] = or_none(now.peak);
    row["held"] = or_none(now.held);
    row["resource"] = wrap_resource(resource);
    rows.append(row);
  }
  return rows;
}

/// Pools may stand on pools: the outermost first, so that what it gives back can go on.
std::size_t trim(std::shared_ptr<memory_resource> resource) noexcept {
  std::size_t bytes = 0;
  for (; resource != nullptr; resource = resource->stands_on()) {
    if (auto* const pool = dynamic_cast<pool_resource*>(resource.get())) bytes = pool->trim(0);
  }
  return bytes;
}

void bind_choice(nb::module_& m) {
  def(
      m, "get_resource(queue: QueueLike = None, kind: UsmKind = 'device') -> MemoryResource"_sig,
      [](nb::handle queue, nb::handle kind) {
        return wrap_resource(default_resource(to_queue(queue), to_kind(kind, usm_kind::device)));
      },
      with_example("get_resource",
                   "The resource that serves by default, here and now.\n\n"
                   "Parameters\n----------\n"
                   "queue : Queue, Device, str or None\n    Whose context and device.\n"
                   "kind : {'device', 'shared', 'host'}\n    The kind of USM.\n\n"
                   "Returns\n-------\nMemoryResource\n    That of the innermost `using` of "
                   "this thread, otherwise that of `set_resource`.")
          .c_str());
  def(
      m, "set_resource(resource: MemoryResource?) -> MemoryResource | None"_sig,
      [](nb::handle resource) -> nb::object {
        std::shared_ptr<memory_resource> before;
        {
          const std::shared_ptr<memory_resource> next = to_resource(resource, "resource");
          const gil_released released;
          before = set_default_resource(next);
        }
        return before == nullptr ? nb::none() : wrap_resource(std::move(before));
      },
      with_example("set_resource",
                   "From now on `resource` serves its context, device and kind by default, for all "
                   "threads and\n"
                   "all libraries of the process that are built on usmx. What was allocated before "
                   "goes back "
                   "to\n"
                   "where it came from.\n\n"
                   "Parameters\n----------\nresource : MemoryResource\n    The new default.\n\n"
                   "Returns\n-------\nMemoryResource or None\n    The previous default; None if it "
                   "was not used "
                   "yet.")
          .c_str());
  nb::class_<resource_block> c(
      m, "using",
      "In a ``with`` block, `resource` serves its context, device and kind by default on this "
      "thread,\nfor all libraries that are built on usmx; other threads are left alone. Blocks may "
      "lie in\neach other: the innermost counts. The block has the resource as its value.\n\n"
      "Parameters\n----------\nresource : MemoryResource\n    What serves there.\n\n"
      "Raises\n------\nRuntimeError\n    The block is left on another thread than it was entered "
      "on.\n\n"
      "Examples\n--------\n>>> import usmx.memory\n"
      ">>> counted = usmx.memory.StatisticsResource(usmx.memory.get_resource())\n"
      ">>> with usmx.memory.using(counted) as resource:\n"
      "...     x = usmx.empty(1000, usm_type=resource.kind)\n"
      ">>> counted.stats()[\"blocks\"]\n1");
  c.attr("__module__") = "usmx.memory";
  c.def("__init__(self, resource: MemoryResource?) -> None"_sig,
        [](nb::pointer_and_handle<resource_block> self, nb::handle resource) {
          initialise(self, to_resource(resource, "resource"));
        });
  c.def("__enter__(self) -> MemoryResource"_sig, [](resource_block& self) {
    self.entered.push_back(
        {std::this_thread::get_id(), std::make_unique<using_resource>(self.resource)});
    return wrap_resource(self.resource);
  });
  c.def("__exit__(self, *args: object) -> None"_sig, [](resource_block& self, nb::args) {
    if (self.entered.empty()) throw std::runtime_error("using: the block was not entered");
    const auto own = std::ranges::find(self.entered.rbegin(), self.entered.rend(),
                                       std::this_thread::get_id(), &resource_block::entry::thread);
    if (own == self.entered.rend()) {
      throw std::runtime_error(
          "using: the block is left on another thread than the one that entered it, which goes "
          "on using the resource");
    }
    const std::unique_ptr<using_resource> block = std::move(own->block);
    self.entered.erase(std::next(own).base());
    const gil_released released;
    static_cast<void>(block->end());
  });
}

}  // namespace

void bind_default_resources(nb::module_& m) {
  bind_choice(m);
  def(m, "_stats() -> list[dict[str, Any]]"_sig, stats, "The rows of ``usmx.memory.stats()``.");
  m.def(
      "trim",
      [] {
        release_waiting_objects();
        const gil_released released;
        static_cast<void>(collect());
        std::size_t bytes = 0;
        for (const auto& resource : default_resources()) bytes += trim(resource);
        return bytes;
      },
      with_example(
          "trim",
          "Give free memory of all default resources back to the driver.\n\n"
          "Returns\n-------\nint\n    Bytes that went back. Pieces with a block alive in them "
          "stay.")
          .c_str());
}

}  // namespace usmx::python
