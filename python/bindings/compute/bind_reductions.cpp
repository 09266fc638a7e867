// `usmx.sum` and the other reductions of NumPy's names, of arrays of ours along axes that are
// there: each gives None for all other arguments, which `_namespace.statistics` reads.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array/ndarray.hpp"
#include "compute/named_reductions.hpp"
#include "compute/operate.hpp"
#include "compute/plain_axis.hpp"
#include "compute/small_arrays.hpp"
#include "support/containers.hpp"
#include "support/error_text.hpp"
#include "support/self.hpp"
#include "support/signature.hpp"
#include "support/text.hpp"

namespace usmx::python {
namespace {

using detail::named_reduction;

/// Axes that are there, none of them twice, in order.
std::optional<std::vector<int>> plain_axes(nb::handle axes, int rank) {
  std::vector<int> out;
  const bool is_tuple = PyTuple_CheckExact(axes.ptr());
  const Py_ssize_t count = is_tuple ? PyTuple_GET_SIZE(axes.ptr()) : 1;
  for (Py_ssize_t k = 0; k < count; ++k) {
    PyObject* const one = is_tuple ? PyTuple_GET_ITEM(axes.ptr(), k) : axes.ptr();
    const std::optional<int> axis = plain_axis(one, rank);
    if (!axis || std::ranges::find(out, *axis) != out.end()) return {};
    out.push_back(*axis);
  }
  std::ranges::sort(out);
  return count == 0 ? std::nullopt : std::optional(std::move(out));
}

nb::object reduced(nb::handle x, nb::handle axis, nb::handle keepdims, named_reduction name) {
  if (!is_ready<ndarray>(x) || !PyBool_Check(keepdims.ptr())) return nb::none();
  const ndarray& holder = *nb::inst_ptr<ndarray>(x);
  const std::size_t rank = holder.shape().size();
  reduction_axes axes;
  axes.axes = axis.is_none() ? reduced_axes({}, rank) : plain_axes(axis, static_cast<int>(rank));
  axes.keep = keepdims.is(nb::handle(Py_True));
  const std::optional<value_reduction> how = detail::reduction_of(name, holder.dtype());
  if (!axes.axes || !how || (!how->identity && holder.size() == 0)) return nb::none();
  if (const array* const found = computed_at_once(holder)) {
    const array a = *found;  // memory for the result may let other threads run
    if (auto few = detail::reduce_small(a.queue(), a, *how, axes, a.kind())) {
      return wrap_array(*std::move(few));
    }
  }
  PyObject* const one[] = {x.ptr()};
  operation_operands operands;
  operands.read(one);
  return wrap_deferred(reduce(operands.queue(), operands.all.front(), *how, axes));
}

named_reduction to_name(nb::handle name) {
  const std::string text = to_text(name, "name");
  const auto found = detail::find_reduction(text);
  if (!found) throw value_error("name: '{}'; expected that of a reduction, such as 'sum'", text);
  return *found;
}

}  // namespace

void bind_reductions(nb::module_& m) {
  def(
      m, "_reduced(name: str, x: object?, axis: object?, keepdims: object?) -> ndarray | None"_sig,
      [](nb::handle name, nb::handle x, nb::handle axis, nb::handle keepdims) {
        return reduced(x, axis, keepdims, to_name(name));
      },
      "See the function of `usmx` of that name.");
  nb::class_<value_reduction>(m, "_Reduction",
                              "What a reduction of a name does with elements of a type.")
      .def(
          "__init__(self, name: str, type: DTypeLike, dtype: DTypeLike = None) -> None"_sig,
          [](nb::pointer_and_handle<value_reduction> self, nb::handle name, nb::handle type,
             nb::handle dtype) {
            std::optional<usmx::dtype> asked;
            if (!dtype.is_none()) asked = to_dtype(dtype);
            auto how = detail::reduction_of(to_name(name), to_dtype(type), asked);
            if (!how) throw nb::type_error("records have no sum, mean or order");
            initialise(self, *std::move(how));
          },
          "``dtype`` is the type that a call names for the result.")
      .def_prop_ro(
          "value", [](const value_reduction& how) { return dtype_object(how.value); },
          nb::sig("def value(self) -> NumpyDType"), "The type that is computed in.")
      .def_prop_ro(
          "result", [](const value_reduction& how) { return dtype_object(how.result); },
          nb::sig("def result(self) -> NumpyDType"), "That of the result.")
      .def_prop_ro(
          "keywords",
          [](const value_reduction& how) {
            nb::dict made = new_dict();
            made["value"] = dtype_object(how.value);
            made["result"] = dtype_object(how.result);
            made["reduce"] = new_text(how.reduce);
            made["post_map"] = new_text(how.post_map);
            made["identity"] = how.identity ? nb::object(new_text(*how.identity)) : nb::none();
            return made;
          },
          nb::sig("def keywords(self) -> dict[str, Any]"), "Both and the texts, for ``_reduce``.");
}

}  // namespace usmx::python
