// What the tests of the package reach into libusmx for; not for users.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "runtime/backend.hpp"
#include "runtime/driver_gate.hpp"
#include "support/bindings.hpp"
#include "support/containers.hpp"
#include "usmx/detail/inspection.hpp"

namespace usmx::python {
namespace {

/// The fields that decide what a test may expect, by their names in the table.
nb::dict fields_of(const detail::backend_row& row) {
  nb::dict fields = new_dict();
  fields["name"] = row.name;
  fields["lost_by_fork"] = row.lost_by_fork;
  fields["is_host"] = row.is_host;
  fields["keeps_binaries"] = row.keeps_binaries;
  fields["reads_apart"] = row.reads_apart;
  fields["takes_structs"] = row.takes_structs;
  fields["waits_in_turn"] = row.waits_in_turn;
  fields["most_alignment"] = row.most_alignment;
  fields["copies_to_host_by_driver"] = row.copies_to_host_by_driver;
  fields["groups_are_loops"] = row.forms.groups_are_loops;
  nb::dict dlpack = new_dict();
  dlpack["device"] = static_cast<int>(row.dlpack.device);
  dlpack["shared"] = static_cast<int>(row.dlpack.shared);
  dlpack["host"] = static_cast<int>(row.dlpack.host);
  fields["dlpack"] = dlpack;
  return fields;
}

}  // namespace

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
  m.def(
      "_uses_driver_of",
      [](std::string_view name) {
        for (const detail::backend_row& row : detail::named_backends()) {
          if (name == row.name) detail::uses_driver_of(row);
        }
      },
      nb::arg("backend"), "Take the driver of a backend for used, as a device of it would.");
  m.def(
      "_backend_row",
      [](nb::handle device) { return fields_of(detail::backend_of(to_device(device))); },
      nb::arg("device") = nb::none(),
      nb::sig("def _backend_row(device: Any = None) -> dict[str, Any]"),
      "What the table of backends says of a device.");
}

}  // namespace usmx::python
