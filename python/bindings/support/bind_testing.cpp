// What the tests of the package reach into libusmx for; not for users.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "support/bindings.hpp"
#include "usmx/detail/inspection.hpp"

namespace usmx::python {

void bind_testing(nb::module_& m) {
  m.def("_use_forms_of", &detail::use_forms_of, nb::arg("backend"),
        "Write and cut kernels as for the devices of a backend; \"\" ends it.");
  m.def("_keep_compiled_texts", &detail::keep_compiled_texts, nb::arg("keep"),
        "Start to keep what is compiled, or stop and forget it.");
  m.def(
      "_kept_compiled_texts",
      [] {
        nb::list all = new_list();
        for (const auto& text : detail::kept_compiled_texts()) {
          all.append(nb::make_tuple(text.source, text.options));
        }
        return all;
      },
      nb::sig("def _kept_compiled_texts() -> list[tuple[str, list[str]]]"),
      "The texts that were compiled and their options.");
}

}  // namespace usmx::python
