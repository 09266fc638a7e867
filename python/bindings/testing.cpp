// What only the tests of the package ask of the library, in one class; not for users.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "algorithm/sort_rows.hpp"
#include "array/ndarray.hpp"
#include "memory/memory.hpp"
#include "memory/process_memory.hpp"
#include "protocols/protocols.hpp"
#include "runtime/backend.hpp"
#include "runtime/driver_gate.hpp"
#include "runtime/process_handles.hpp"
#include "support/containers.hpp"
#include "support/error_text.hpp"
#include "support/help_link.hpp"
#include "support/signature.hpp"
#include "support/text.hpp"
#include "usmx/copy.hpp"
#include "usmx/detail/inspection.hpp"
#include "usmx/promotion.hpp"

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

/// The type that operands meet in, by type strings; weak ones are Python numbers.
nb::object type_in_common(nb::handle texts, const std::vector<bool>& weak) {
  const auto types = to_texts(texts, "types", "a sequence of type strings");
  if (types.size() != weak.size()) throw nb::value_error("weak: expected one for each type");
  std::vector<operand_type> operands;
  for (std::size_t k = 0; k < types.size(); ++k) {
    dtype type;
    check(dtype::parse(types[k], type), types[k]);
    operands.push_back({type, weak[k]});
  }
  const auto found = result_type(operands);
  return found ? nb::cast(found->typestr()) : nb::none();
}

bool casts_of_same_kind(const nb::str& from_, const nb::str& to_) {
  const std::string from = to_text(from_, "from_"), to = to_text(to_, "to");
  dtype a, b;
  check(dtype::parse(from, a), from);
  check(dtype::parse(to, b), to);
  return can_cast_same_kind(a, b);
}

/// (from, block, blocks), or None for what suits each device.
void stage(nb::handle limits) {
  if (limits.is_none()) return set_staging({});
  const extents three = read_extents(limits, "limits", fault::shape_overflow);
  if (three.size() != 3) wrong_type("limits", limits, "three numbers, or None");
  for (const std::int64_t n : three) {
    if (n < 0) throw value_error("limits: {} is negative; expected 0 or more", n);
  }
  const auto at = [&](std::size_t k) { return static_cast<std::size_t>(three[k]); };
  set_staging(staging_limits{at(0), at(1), at(2)});
}

nb::list headings() {
  nb::list all = new_list();
  for (const std::string_view heading : all_help_headings()) all.append(new_text(heading));
  return all;
}

nb::list compiled_texts() {
  nb::list all = new_list();
  for (const auto& text : detail::kept_compiled_texts()) {
    all.append(nb::make_tuple(text.source, text.options));
  }
  return all;
}

void use_process_form(nb::handle form, nb::handle library) {
  const std::string name = to_text(form, "form"), file = to_text(library, "library");
  detail::use_process_form(name == "cuda"      ? detail::process_form::cuda
                           : name == "runtime" ? detail::process_form::runtime
                                               : detail::process_form::none,
                           file.empty() ? nullptr : file.c_str());
}

struct for_tests {};

}  // namespace

void bind_testing(nb::module_& m) {
  nb::class_<for_tests>(m, "_Testing", "What only the tests of the package ask for.")
      .def("use_forms_of(backend: str) -> None"_sig, &detail::use_forms_of,
           "Write and cut kernels as for the devices of a backend; \"\" ends it.")
      .def("keep_compiled_texts(keep: bool) -> None"_sig, &detail::keep_compiled_texts,
           "Start to keep what is compiled, or stop and forget it.")
      .def("kept_compiled_texts() -> list[tuple[str, list[str]]]"_sig, compiled_texts,
           "The texts that were compiled and their options.")
      .def(
          "uses_driver_of(backend: str) -> None"_sig,
          [](std::string_view name) {
            for (const detail::backend_row& row : detail::named_backends()) {
              if (name == row.name) detail::uses_driver_of(row);
            }
          },
          "Take the driver of a backend for used, as a device of it would.")
      .def(
          "backend_row(device: Any = None) -> dict[str, Any]"_sig,
          [](nb::handle device) { return fields_of(detail::backend_of(to_device(device))); },
          "What the table of backends says of a device.")
      .def("exchange_as(backend: str, waited: Any = None) -> None"_sig, exchange_as,
           "Treat all devices as those of a backend when memory is exchanged, and call "
           "`waited` instead of\nwaiting for streams and events; \"\" ends it.")
      .def_static(
          "expected_protocols", [] { return new_text(expected_protocols()); },
          "The objects that memory can be imported from, for messages.")
      .def(
          "given(a: int, b: str?, /, c: float = -1.5, d: str = 'x, (y', *, e: object | None, "
          "f: bytes = b'z', g: tuple[int, ...] = (), h: bool = True, i: int = 300, "
          "j: Any = None) -> tuple[Any, ...]"_sig,
          [](nb::handle a, nb::handle b, nb::handle c, nb::handle d, nb::handle e, nb::handle f,
             nb::handle g, nb::handle h, nb::handle i,
             nb::handle j) { return nb::make_tuple(a, b, c, d, e, f, g, h, i, j); },
          "What a function with each kind of parameter was given.")
      .def("help_headings() -> list[str]"_sig, headings,
           "The messages that the page of troubleshooting explains.")
      .def("set_staging(limits: tuple[int, int, int] | None) -> None"_sig, stage,
           "Copies by way of the host: from so many bytes on, by blocks of so many, and so "
           "many blocks.")
      .def("use_wide_places_from(length: int) -> int"_sig, detail::use_wide_places_from,
           "Sorted rows of so many elements and more have places of 64 bits. Returns what "
           "held before.")
      .def("result_type(types: object, weak: Sequence[bool]) -> object"_sig, type_in_common,
           "The type that operands of these type strings meet in; weak ones are Python "
           "numbers.")
      .def("can_cast_same_kind(from_: str, to: str) -> bool"_sig, casts_of_same_kind,
           "Whether elements are cast without being asked to.")
      .def_static("drain", &drain_and_trim,
                  "Wait for all memory that was freed while commands were running on it, and give "
                  "all free memory back to the driver.")
      .def_static(
          "collect",
          [] {
            release_waiting_objects();
            const gil_released released;
            return collect();
          },
          "Free the memory that no command uses any more; return how many allocations still wait.")
      .def("use_process_form(form: str, library: str = '') -> None"_sig, use_process_form,
           "All devices have handles of this form, with the driver's functions of a "
           "library.")
      .def_static("free_left_process_memory", detail::free_left_process_memory,
                  "Free blocks whose receivers are gone; how many wait for theirs.");
}

}  // namespace usmx::python
