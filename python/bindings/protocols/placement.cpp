// usmx.get_execution_queue and usmx.get_coerced_usm_type: compute follows data, for functions in
// Python that take arrays of any library.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/placement.hpp"

#include <string_view>
#include <vector>

#include "array/ndarray.hpp"
#include "core/format.hpp"
#include "protocols/protocols.hpp"
#include "support/error_text.hpp"
#include "support/examples.hpp"
#include "support/signature.hpp"
#include "support/text.hpp"

namespace usmx::python {
namespace {

/// The arguments of a call; of one that is a list or tuple its items, as dpctl takes them.
nb::tuple items_of(const nb::args& given) {
  if (given.size() == 1 && (PyList_Check(nb::handle(given[0]).ptr()) != 0 ||
                            PyTuple_Check(nb::handle(given[0]).ptr()) != 0)) {
    return nb::tuple(nb::object(given[0]));
  }
  return nb::borrow<nb::tuple>(given);
}

nb::object execution_queue_of(const nb::args& given) {
  std::vector<array> held;
  const nb::tuple items = items_of(given);
  for (std::size_t n = 0; n < items.size(); ++n) {
    import_request request;
    request.host = true;
    std::optional<array> a = import_array(items[n], request);
    if (!a) {
      wrong_type(detail::format("array {}", n), items[n], "an array: " + expected_protocols());
    }
    held.push_back(*std::move(a));
  }
  std::vector<const array*> arrays;
  for (const array& a : held) arrays.push_back(&a);
  const std::optional<sycl::queue> queue = usmx::execution_queue(arrays);
  return queue ? nb::cast(*queue) : nb::none();
}

/// What a text or an array says; empty for a text that names no kind.
std::optional<usm_kind> kind_said_by(nb::handle item, std::size_t number) {
  if (PyUnicode_Check(item.ptr()) != 0) {
    const std::string text = to_text(item, "usm_type");
    for (const usm_kind kind : {usm_kind::device, usm_kind::shared, usm_kind::host}) {
      if (text == name(kind)) return kind;
    }
    return {};
  }
  if (item.is_none()) return {};
  import_request request;
  request.host = true;
  const std::optional<array> a = import_array(item, request);
  if (!a) {
    wrong_type(detail::format("argument {}", number), item,
               "'device', 'shared', 'host' or an array: " + expected_protocols());
  }
  return a->kind();
}

nb::object coerced_usm_type(const nb::args& given) {
  const nb::tuple items = items_of(given);
  std::vector<usm_kind> kinds;
  for (std::size_t n = 0; n < items.size(); ++n) {
    const std::optional<usm_kind> kind = kind_said_by(items[n], n);
    if (!kind) return nb::none();
    kinds.push_back(*kind);
  }
  const std::optional<usm_kind> kind = coerced_kind(kinds);
  return kind ? nb::object(new_text(name(*kind))) : nb::none();
}

nb::str joint_kind_of(const nb::args& given) {
  joint_kind kinds;
  std::optional<sycl::queue> queue;
  for (const nb::handle item : given) {
    if (!is_ready<ndarray>(item)) continue;
    const ndarray& a = *nb::inst_ptr<ndarray>(item);
    a.tell(kinds);
    if (!queue) queue = a.queue();
  }
  return new_text(name(kinds.result(queue ? *queue : default_queue())));
}

}  // namespace

void bind_placement(nb::module_& m) {
  def(m, "_joint_kind(*operands: object) -> UsmKind"_sig, joint_kind_of,
      "The kind of memory of what is computed of these operands: the rule of all functions.\n"
      "Operands that are not arrays of usmx have no say.");
  def(m, "get_execution_queue(*arrays: Any) -> Queue | None"_sig, execution_queue_of,
      with_example(
          "get_execution_queue",
          "The queue that a computation with these arrays runs on, as kernels choose it.\n\n"
          "That is the queue of the first array in USM. Memory of the host, such as a NumPy "
          "array,\n"
          "follows the others.\n\n"
          "Parameters\n----------\n"
          "*arrays : array\n    Of any library; one list or tuple of them is taken too.\n\n"
          "Returns\n-------\nQueue or None\n    None without arrays.\n\n"
          "Raises\n------\n"
          "ExecutionPlacementError\n    No queue can use all of them: the message says where each "
          "is.\nTypeError\n    One of them is not an array.")
          .c_str());
  def(m, "get_coerced_usm_type(*usm_types: Any) -> UsmKind | None"_sig, coerced_usm_type,
      with_example(
          "get_coerced_usm_type",
          "The kind of memory for the result of a computation with operands of these kinds.\n\n"
          "'device' if one of them is, otherwise 'shared' if one is, otherwise 'host'.\n\n"
          "Parameters\n----------\n"
          "*usm_types : str or array\n    Kinds, or arrays of any library that have one; one "
          "list or "
          "tuple of them is\n    taken too. Memory of the host without USM counts as 'host'.\n\n"
          "Returns\n-------\nstr or None\n    None without operands, and if one of the texts is "
          "not "
          "a kind.")
          .c_str());
}

}  // namespace usmx::python
