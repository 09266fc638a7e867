// How much memory each default resource holds, including the resources below it.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include <nanobind/stl/string.h>

#include "memory/memory.hpp"
#include "memory/resources.hpp"
#include "runtime/runtime_bindings.hpp"

namespace usmx::python {
namespace {

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
  nb::list rows;
  for (const auto& resource : default_resources()) {
    const use now = use_of(resource);
    nb::dict row;
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

}  // namespace

void bind_resource_report(nb::module_& m) {
  m.def("_stats", stats, "The rows of ``usmx.memory.stats()``.",
        nb::sig("def _stats() -> list[dict[str, Any]]"));
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
      "Give free memory of all default resources back to the driver.\n\n"
      "Returns\n-------\nint\n    Bytes that went back. Pieces with a block alive in them stay.");
}

}  // namespace usmx::python
