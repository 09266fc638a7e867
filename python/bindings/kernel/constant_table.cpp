// Keeps one set of values for each update, with a copy for each device that launched with them.
// Old sets live as long as launches read them, as all memory that a queue was named to.
// SPDX-License-Identifier: Apache-2.0
#include "kernel/constant_table.hpp"

#include <cstring>
#include <utility>

#include "core/format.hpp"
#include "support/signature.hpp"
#include "usmx/copy.hpp"

namespace usmx::python {

struct constant_table::version {
  struct place {
    sycl::context context;
    sycl::device device;
    array memory;
    /// The copy that fills it, until it is known to have ended.
    std::optional<sycl::event> filling;
  };

  std::shared_ptr<std::byte[]> bytes;
  any_view values;

  std::mutex mutex;
  std::vector<place> places;
};

void constant_table::update(const any_view& values) {
  auto next = std::make_shared<version>();
  next->bytes = std::make_shared<std::byte[]>(values.nbytes());
  layout where;
  detail::require_valid(layout::c_order(values.layout().shape(), values.dtype().itemsize(), where));
  detail::require_valid(any_view::make(next->bytes.get(), values.dtype(), std::move(where),
                                       usm_kind::unknown, false, next->values));
  convert_on_host(next->values, values);
  {
    const std::lock_guard lock(mutex_);
    current_.swap(next);
  }
  updated_.store(true, std::memory_order_release);
}

std::shared_ptr<constant_table::version> constant_table::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

array constant_table::on(const sycl::queue& queue, std::vector<sycl::event>& before) {
  const auto values = current();
  const auto context = queue.get_context();
  const auto device = queue.get_device();
  {
    const std::lock_guard lock(values->mutex);
    for (auto& p : values->places) {
      if (p.context != context || p.device != device) continue;
      const bool ordered = p.memory.queue() == queue && queue.is_in_order();
      if (!ordered && p.filling) {
        if (is_done(*p.filling)) {
          p.filling.reset();
        } else {
          before.push_back(*p.filling);
        }
      }
      return p.memory;
    }
  }
  // Without the lock: a resource may call Python. Threads that come at once each fill their own.
  const auto& shape = values->values.layout().shape();
  array memory = array::empty(queue, shape.span(), values->values.dtype(), usm_kind::device);
  // The bytes are read when the copy runs, which may be after the next update. Only they are kept:
  // what holds the copies for devices as well would keep this one after its last launch.
  const auto keep =
      adopt(values->bytes.get(), values->values.nbytes(), [bytes = values->bytes](void*) {});
  const sycl::event filling = copy_from_host_async(queue, memory, values->values, {}, keep);
  if (!queue.is_in_order()) before.push_back(filling);
  const std::lock_guard lock(values->mutex);
  values->places.push_back({context, device, memory, filling});
  return memory;
}

void bind_constant_table(nb::module_& m) {
  nb::class_<table_handle>(m, "_ConstantTable", "Where kernels have the values of a table from.")
      .def(nb::init<>())
      .def(
          "update(self, values: ArrayLike) -> None"_sig,
          [](const table_handle& self, nb::handle values) {
            const auto buffer = host_buffer::borrow(values);
            if (!buffer) throw nb::type_error("values: expected an array of the host");
            const auto table = self.table;
            const gil_released release;
            table->update(buffer->elements());
          },
          "Replace them for all launches that follow.")
      .def_prop_ro(
          "is_updated", [](const table_handle& self) { return self.table->is_updated(); },
          "Whether kernels are given the values, and not made for them.");
}

}  // namespace usmx::python
