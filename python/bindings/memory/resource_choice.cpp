// The default resource: for all threads, or for one thread and the length of a block.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "array/ndarray.hpp"
#include "memory/resources.hpp"

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

}  // namespace

void bind_resource_choice(nb::module_& m) {
  m.def(
      "get_resource",
      [](nb::handle queue, nb::handle kind) {
        return wrap_resource(default_resource(to_queue(queue), to_kind(kind, usm_kind::device)));
      },
      nb::arg("queue") = nb::none(), nb::arg("kind") = "device",
      "The resource that serves by default, here and now.\n\n"
      "Parameters\n----------\n"
      "queue : Queue, Device, str or None\n    Whose context and device.\n"
      "kind : {'device', 'shared', 'host'}\n    The kind of USM.",
      nb::sig(
          "def get_resource(queue: QueueLike = None, kind: UsmKind = 'device') -> MemoryResource"));
  m.def(
      "set_resource",
      [](nb::handle resource) -> nb::object {
        std::shared_ptr<memory_resource> before;
        {
          const std::shared_ptr<memory_resource> next = to_resource(resource, "resource");
          const gil_released released;
          before = set_default_resource(next);
        }
        return before == nullptr ? nb::none() : wrap_resource(std::move(before));
      },
      nb::arg("resource").none(),
      "From now on `resource` serves its context, device and kind by default, for all threads and\n"
      "all libraries of the process that are built on usmx. What was allocated before goes back "
      "to\n"
      "where it came from.\n\n"
      "Returns\n-------\nMemoryResource or None\n    The previous default; None if it was not used "
      "yet.",
      nb::sig("def set_resource(resource: MemoryResource) -> MemoryResource | None"));
  nb::class_<resource_block> c(
      m, "using",
      "In a ``with`` block, `resource` serves its context, device and kind by default on this "
      "thread,\nfor all libraries that are built on usmx; other threads are left alone. Blocks may "
      "lie in\neach other: the innermost counts. The block has the resource as its value.\n\n"
      "Raises\n------\nRuntimeError\n    The block is left on another thread than it was entered "
      "on.");
  c.attr("__module__") = "usmx.memory";
  c.def(
      "__init__",
      [](nb::pointer_and_handle<resource_block> self, nb::handle resource) {
        initialise(self, to_resource(resource, "resource"));
      },
      nb::arg("resource").none(), nb::sig("def __init__(self, resource: MemoryResource) -> None"));
  c.def(
      "__enter__",
      [](resource_block& self) {
        self.entered.push_back(
            {std::this_thread::get_id(), std::make_unique<using_resource>(self.resource)});
        return wrap_resource(self.resource);
      },
      nb::sig("def __enter__(self) -> MemoryResource"));
  c.def(
      "__exit__",
      [](resource_block& self, nb::args) {
        if (self.entered.empty()) throw std::runtime_error("using: the block was not entered");
        const auto own =
            std::ranges::find(self.entered.rbegin(), self.entered.rend(),
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
      },
      nb::sig("def __exit__(self, *args: object) -> None"));
}

}  // namespace usmx::python
