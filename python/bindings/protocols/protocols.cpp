// The table of the protocols through which memory comes in: a new protocol is one row here and one
// file beside this one.
// SPDX-License-Identifier: Apache-2.0
#include "protocols/protocols.hpp"

namespace usmx::python {
namespace {

/// Our own objects carry their array inside: no dictionary, no checks, no driver.
std::optional<array> import_own(nb::handle obj) {
  if (!nb::inst_check(obj)) return {};
  if (const array* a = array_of(obj)) return *a;
  if (const array* m = memory_of(obj)) return *m;
  return {};
}

/// Empty means "does not speak it", and the next row is asked.
using importer = std::optional<array> (*)(nb::handle);
constexpr importer protocols[] = {
    import_own,
    import_suai,
};

}  // namespace

std::optional<array> import_array(nb::handle obj) {
  for (const importer try_import : protocols) {
    if (std::optional<array> a = try_import(obj)) return a;
  }
  return {};
}

void bind_protocols(nb::module_& m) {
  m.def(
      "_imported",
      [](nb::handle obj) {
        std::optional<array> a = import_array(obj);
        return a ? wrap_array(std::move(*a)) : nb::none();
      },
      nb::arg("obj").none(),
      "The array that another library's object describes, None if it describes none. Asks once.");
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(forget_queues));
}

}  // namespace usmx::python
