// `usmx.sum` and the other reductions of NumPy's names, of arrays of ours along axes that are
// there: each gives None for all other arguments, which `_namespace.statistics` reads.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array/ndarray.hpp"
#include "compute/named_reductions.hpp"
#include "compute/operate.hpp"
#include "compute/plain_axis.hpp"
#include "support/error_text.hpp"
#include "support/text.hpp"

namespace usmx::python {
namespace {

using detail::named_reduction;

/// Axes that are there, none of them twice; None for all.
std::optional<std::vector<int>> plain_axes(nb::handle axes, int rank) {
  std::vector<int> out;
  if (axes.is_none()) {
    for (int axis = 0; axis < rank; ++axis) out.push_back(axis);
    return out;
  }
  const bool is_tuple = PyTuple_CheckExact(axes.ptr());
  const Py_ssize_t count = is_tuple ? PyTuple_GET_SIZE(axes.ptr()) : 1;
  for (Py_ssize_t k = 0; k < count; ++k) {
    PyObject* const one = is_tuple ? PyTuple_GET_ITEM(axes.ptr(), k) : axes.ptr();
    const std::optional<int> axis = plain_axis(one, rank);
    if (!axis || std::ranges::find(out, *axis) != out.end()) return {};
    out.push_back(*axis);
  }
  return count == 0 ? std::nullopt : std::optional(std::move(out));
}

nb::object reduced(nb::handle x, nb::handle axis, nb::handle keepdims, named_reduction name) {
  if (!is_ready<ndarray>(x) || !PyBool_Check(keepdims.ptr())) return nb::none();
  const ndarray& holder = *nb::inst_ptr<ndarray>(x);
  reduction_axes axes;
  axes.axes = plain_axes(axis, static_cast<int>(holder.shape().size()));
  axes.keep = keepdims.is(nb::handle(Py_True));
  const std::optional<value_reduction> how = detail::reduction_of(name, holder.dtype());
  if (!axes.axes || !how || (!how->identity && holder.size() == 0)) return nb::none();
  PyObject* const one[] = {x.ptr()};
  operation_operands operands;
  operands.read(one);
  return wrap_deferred(reduce(operands.queue(), operands.all.front(), *how, axes));
}

}  // namespace

void bind_reductions(nb::module_& m) {
  m.def(
      "_reduced",
      [](nb::handle name, nb::handle x, nb::handle axis, nb::handle keepdims) {
        using enum named_reduction;
        static constexpr std::pair<std::string_view, named_reduction> all_names[] = {
            {"sum", sum},     {"prod", product}, {"mean", mean}, {"min", smallest},
            {"max", largest}, {"any", any},      {"all", all}};
        const std::string wanted = to_text(name, "name");
        const auto found = std::ranges::find(all_names, wanted,
                                             &std::pair<std::string_view, named_reduction>::first);
        if (found == std::ranges::end(all_names)) {
          throw value_error("name: '{}'; expected that of a reduction, such as 'sum'", wanted);
        }
        return reduced(x, axis, keepdims, found->second);
      },
      nb::arg("name"), nb::arg("x").none(), nb::arg("axis").none(), nb::arg("keepdims").none(),
      nb::sig(
          "def _reduced(name: str, x: object, axis: object, keepdims: object) -> ndarray | None"),
      "See the function of `usmx` of that name.");
}

}  // namespace usmx::python
