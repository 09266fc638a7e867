// Reads usmx.LocalMemory, a class in Python that kernels written in Python take too.
// SPDX-License-Identifier: Apache-2.0
#include "kernel/kernel_local.hpp"

#include "array/ndarray.hpp"
#include "kernel/kernel_arguments.hpp"

namespace usmx::python {

std::optional<local_memory> to_local_memory(nb::handle obj) {
  // Not imported: nobody has made one.
  const nb::object loaded = nb::module_::import_("sys").attr("modules");
  const nb::object module = loaded.attr("get")("usmx._kernel.language.local_memory");
  if (module.is_none() || !nb::isinstance(obj, module.attr("LocalMemory"))) return {};
  local_memory memory{to_dtype(obj.attr("dtype").attr("name")), {}};
  const auto lengths = nb::cast<nb::tuple>(obj.attr("shape"));
  memory.shape = extents(lengths.size());
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    memory.shape[k] = nb::cast<std::int64_t>(lengths[k]);
  }
  return memory;
}

std::vector<local_memory> to_local_memories(nb::handle obj) {
  std::vector<local_memory> memories;
  const auto add = [&](nb::handle item) {
    auto memory = to_local_memory(item);
    if (!memory) {
      throw nb::type_error(
          ("local: expected usmx.LocalMemory or a sequence of them, got " + python_type(item))
              .c_str());
    }
    memories.push_back(std::move(*memory));
  };
  if (nb::isinstance<nb::tuple>(obj) || nb::isinstance<nb::list>(obj)) {
    for (const nb::handle item : obj) add(item);
  } else {
    add(obj);
  }
  return memories;
}

}  // namespace usmx::python
