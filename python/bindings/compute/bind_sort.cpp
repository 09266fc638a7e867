// Sorts of rows for the package, which brings the axis to the end.
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/vector.h>

#include "algorithm/select_rows.hpp"
#include "algorithm/sort_rows.hpp"
#include "array/ndarray.hpp"
#include "support/bindings.hpp"
#include "support/gil.hpp"
#include "support/text.hpp"

namespace usmx::python {
namespace {

nb::object wrapped(std::optional<array> made) {
  return made ? wrap_array(*std::move(made)) : nb::none();
}

}  // namespace

void bind_sort(nb::module_& m) {
  m.def(
      "_sort_rows",
      [](nb::handle x, bool descending, bool values, bool places, bool wide) {
        const array a = value_of(x);
        detail::sorted_rows rows;
        {
          const gil_released release;
          rows = detail::sort_rows(a, descending, values, places, wide);
        }
        return nb::make_tuple(wrapped(std::move(rows.values)), wrapped(std::move(rows.places)));
      },
      nb::arg("x"), nb::arg("descending"), nb::arg("values"), nb::arg("places"), nb::arg("wide"),
      nb::sig("def _sort_rows(x: ndarray, descending: bool, values: bool, places: bool, wide: "
              "bool) -> tuple[Any, Any]"),
      "The last axis in order, and where each element was in it, as int64; None for what is not "
      "asked for.");
  m.def(
      "_select_rows",
      [](nb::handle x, const std::vector<std::int64_t>& kth, nb::handle what) {
        const std::string name = to_text(what, "what");
        const array a = value_of(x);
        array made;
        {
          const gil_released release;
          made = name == "kth"
                     ? detail::kth_of_rows(a, kth)
                     : detail::partition_rows(
                           a, kth,
                           name == "places" ? detail::selected::places : detail::selected::values);
        }
        return wrap_array(std::move(made));
      },
      nb::arg("x"), nb::arg("kth"), nb::arg("what"),
      nb::sig("def _select_rows(x: ndarray, kth: Sequence[int], what: str) -> ndarray"),
      "The rows of the last axis with some places in order, where their elements were, or the "
      "elements at these places alone.");
  m.def(
      "_different_or_sorted",
      [](nb::handle x) {
        const array a = value_of(x);
        detail::different_elements found;
        {
          const gil_released release;
          found = detail::different_or_sorted(a);
        }
        return nb::make_tuple(wrap_array(std::move(found.values)),
                              wrapped(std::move(found.starts)));
      },
      nb::arg("x"),
      nb::sig("def _different_or_sorted(x: ndarray) -> tuple[ndarray, ndarray | None]"),
      "The different elements of a row in order and where each begins, if counting shows them; "
      "otherwise the sorted row and None.");
}

}  // namespace usmx::python
