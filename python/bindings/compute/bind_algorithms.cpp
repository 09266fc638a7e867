// Algorithms over rows of arrays. Each chooses by itself between the host, for small arrays that it
// can reach, and kernels; src/algorithm has the choice.
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/vector.h>

#include "algorithm/cumulative.hpp"
#include "algorithm/products.hpp"
#include "algorithm/select_rows.hpp"
#include "algorithm/sort_rows.hpp"
#include "array/ndarray.hpp"
#include "compute/operate.hpp"
#include "compute/plain_axis.hpp"
#include "compute/plain_libraries.hpp"
#include "compute/small_arrays.hpp"
#include "memory/memory.hpp"
#include "nvidia/nvidia.hpp"
#include "support/error_text.hpp"
#include "support/gil.hpp"
#include "support/signature.hpp"
#include "support/text.hpp"

namespace usmx::python {

namespace nvidia = detail::nvidia;

namespace {

nb::object wrapped(std::optional<array> made) {
  return made ? wrap_array(*std::move(made)) : nb::none();
}

/// The value now, with what is known of commands on it: algorithms ask whether the host may read.
/// They let go of the GIL by themselves where they leave the host.
array value_now(nb::handle x) {
  array a = value_of(x);
  remember_ended_work(a);
  return a;
}

/// An attribute as messages show it.
std::string text_of(nb::handle x, const char* attribute) {
  const nb::object value = x.attr(attribute);
  return shown(nb::str(nb::handle(value)));
}

/// From 0 up; None is the axis of one dimension. The package knows other objects than int, and the
/// messages.
int to_axis(nb::handle axis, int rank) {
  if (const auto plain = plain_or_only_axis(axis, rank)) return *plain;
  return nb::cast<int>(nb::module_::import_("usmx._namespace._common").attr("to_axis")(axis, rank));
}

bool has_records(nb::handle x) {
  return is_ready<ndarray>(x) && nb::inst_ptr<ndarray>(x)->dtype().is_record();
}

/// An array of numbers, which have an order; the package makes one of other objects, or refuses.
nb::object sortable(nb::handle x) {
  if (is_ready<ndarray>(x) && !has_records(x)) return nb::borrow(x);
  return nb::module_::import_("usmx._namespace.sorting").attr("sortable")(x);
}

/// None for records, which the package orders by their fields.
nb::object sort(nb::handle x, nb::handle axis, nb::handle descending, bool values, bool places) {
  if (has_records(x)) return nb::none();
  if (axis.is_none()) {
    return sort(sortable(x).attr("reshape")(-1), nb::int_(0), descending, values, places);
  }
  const array a = value_now(sortable(x));
  const detail::sort_request wanted{to_axis(axis, a.rank()), is_true(descending), values, places,
                                    values && !places};
  detail::sorted_elements_of made = detail::sort_along(a, wanted);
  if (!places) return wrapped(std::move(made.values));
  if (!values) return wrapped(std::move(made.places));
  return nb::make_tuple(wrapped(std::move(made.values)), wrapped(std::move(made.places)));
}

nb::object select(nb::handle x, const std::vector<std::int64_t>& kth, nb::handle axis,
                  nb::handle what) {
  using detail::selected;
  const std::string name = to_text(what, "what");
  const array a = value_now(sortable(x));
  const int at = to_axis(axis, a.rank());
  const selected wanted = name == "kth"      ? selected::kth
                          : name == "places" ? selected::places
                                             : selected::values;
  return wrap_array(detail::select_along(a, kth, at, wanted, wanted == selected::values));
}

nb::object search(nb::handle sorted, nb::handle values, bool right, nb::handle sorter) {
  const array line = value_now(sorted), wanted = value_now(values);
  const array order = sorter.is_none() ? array() : value_of(sorter);
  return wrap_array(
      detail::search_sorted(line, wanted, right, sorter.is_none() ? nullptr : &order));
}

nb::object cumulative(nb::handle x, nb::handle axis, bool product, nb::handle type) {
  const array a = value_now(x);
  if (axis.is_none() && a.rank() != 1) {
    throw value_error("axis: is needed for an array of shape {}", text_of(x, "shape"));
  }
  const int at = to_axis(axis, a.rank());
  const std::optional<dtype> of = type.is_none() ? std::nullopt : std::optional(to_dtype(type));
  if (a.elements().dtype().is_record() && !of) {
    throw type_error("dtype {} is not supported in kernels", text_of(x, "dtype"));
  }
  return wrap_array(detail::cumulative(a, at, product, of ? &*of : nullptr));
}

/// Of arrays of ours, which may not be computed yet.
operation_operands operands_of(nb::handle x1, nb::handle x2) {
  for (const nb::handle x : {x1, x2}) static_cast<void>(self_of<ndarray>(x));
  PyObject* const both[] = {x1.ptr(), x2.ptr()};
  operation_operands operands;
  operands.read(both);
  return operands;
}

nb::object vecdot(nb::handle x1, nb::handle x2, int axis) {
  const operation_operands operands = operands_of(x1, x2);
  return wrap_deferred(
      detail::vector_product(operands.queue(), operands.all[0], operands.all[1], axis));
}

}  // namespace

nb::object product_of(nb::handle x1, nb::handle x2) {
  const operation_operands operands = operands_of(x1, x2);
  const detail::matrix_product how(operands.all[0], operands.all[1]);
  if (!how.in_tiles) {
    return wrap_deferred(
        detail::sum_of_products(operands.queue(), operands.all[0], operands.all[1]));
  }
  const array a = value_of(x1), b = value_of(x2);
  const nb::object made = wrap_array(detail::empty_product(a, b, how));
  const array& to = value_of(made);
  if (to.size() == 0 || how.length == 0) return made;
  if (nvidia_computes(nvidia::library::blas, to.queue()) && nvidia::multiplies(a, b, to)) {
    const gil_released release;
    nvidia::multiply(a, b, to, false);
    return made;
  }
  const nb::object by_library = nb::module_::import_("usmx._namespace._libraries").attr("product");
  if (!nb::cast<bool>(by_library(x1, x2, made, how.work()))) {
    const gil_released release;
    detail::multiply_in_tiles(a, b, to);
  }
  return made;
}

void bind_algorithms(nb::module_& m) {
  def(m,
      "_sort(x: object?, axis: object?, descending: object?, values: bool, places: bool) -> Any"_sig,
      sort,
      "The elements along an axis in order, where each was as int64, or both; None for records.");
  def(m,
      "_search(sorted: ndarray, values: ndarray, right: bool = False, "
      "sorter: ndarray | None = None) -> ndarray"_sig,
      search,
      "How many elements of a sorted array come before each value of its type, or do not come "
      "after it.");
  def(m,
      "_cumulative(x: ndarray, axis: object?, product: bool, "
      "type: DTypeLike = None) -> ndarray"_sig,
      cumulative, "Sums or products of the elements up to each along an axis.");
  def(m, "_select(x: object, kth: Sequence[int], axis: object?, what: str) -> ndarray"_sig, select,
      "The lines of an axis with some places in order ('values'), where their elements were "
      "('places'), or the elements at these places alone ('kth').");
  def(m, "_matmul(x1: ndarray, x2: ndarray) -> ndarray"_sig, product_of, "See `usmx.matmul`.");
  def(m, "_vecdot(x1: ndarray, x2: ndarray, axis: int) -> ndarray"_sig, vecdot,
      "See `usmx.vecdot`.");
  def(
      m, "_different_or_sorted(x: ndarray) -> tuple[ndarray, ndarray | None]"_sig,
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
      "The different elements of a row in order and where each begins, if counting shows them; "
      "otherwise the sorted row and None.");
}

}  // namespace usmx::python
