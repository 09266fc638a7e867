// Reads the arguments that the functions of arrays have in common, with errors that name them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "array/ndarray.hpp"
#include "memory/memory.hpp"
#include "protocols/protocols.hpp"
#include "support/text.hpp"
#include "support/type_slots.hpp"

namespace usmx::python {

std::string text_of(const extents& shape) {
  std::string out = "(";
  for (std::size_t k = 0; k < shape.size(); ++k)
    out += (k == 0 ? "" : ", ") + std::to_string(shape[k]);
  return out + (shape.size() == 1 ? ",)" : ")");
}

void check(fault code, const std::string& held) {
  if (code == fault::none) return;
  throw interop_error(code, std::string(field_of(code)) + ": " + held + (held.empty() ? "" : " ") +
                                std::string(message(code)));
}

extents to_shape(nb::handle obj) {
  if (PyTuple_CheckExact(obj.ptr())) {
    extents lengths(static_cast<std::size_t>(PyTuple_GET_SIZE(obj.ptr())));
    std::size_t read = 0;
    while (read < lengths.size()) {
      const Py_ssize_t n = plain_count(PyTuple_GET_ITEM(obj.ptr(), static_cast<Py_ssize_t>(read)));
      if (n < 0) break;
      lengths[read++] = n;
    }
    if (read == lengths.size() && read <= static_cast<std::size_t>(max_rank)) return lengths;
  }
  if (PyIndex_Check(obj.ptr()) && !PySequence_Check(obj.ptr())) {
    return extents{read_integer(obj, "shape", fault::shape_overflow)};
  }
  return read_extents(obj, "shape", fault::shape_overflow);
}

usm_kind to_kind(nb::handle obj, usm_kind otherwise) {
  if (obj.is_none()) return otherwise;
  // Names in programs are interned.
  static const std::array<std::pair<PyObject*, usm_kind>, 3> interned = {
      {{PyUnicode_InternFromString("device"), usm_kind::device},
       {PyUnicode_InternFromString("shared"), usm_kind::shared},
       {PyUnicode_InternFromString("host"), usm_kind::host}}};
  for (const auto& [text, kind] : interned) {
    if (obj.ptr() == text) return kind;
  }
  const std::string text = to_text(obj, "usm_type", "'device', 'shared' or 'host'");
  for (const usm_kind kind : {usm_kind::device, usm_kind::shared, usm_kind::host}) {
    if (text == name(kind)) return kind;
  }
  throw nb::value_error(
      ("usm_type: '" + text + "'; expected 'device', 'shared' or 'host'").c_str());
}

sycl::queue to_place(nb::handle queue, nb::handle device) {
  if (queue.is_none()) return to_queue(device, "device");
  sycl::queue place = to_queue(queue, "queue");
  if (!device.is_none() && to_device(device, "device") != place.get_device()) {
    throw nb::value_error("device: is not the device of queue; one of the two is enough");
  }
  return place;
}

int to_axis(nb::handle obj, int rank) {
  const std::int64_t axis = read_integer(obj, "axis", fault::shape_overflow);
  if (axis < -rank || axis >= rank) {
    throw nb::value_error(("axis: " + std::to_string(axis) +
                           " is out of bounds for an array of dimension " + std::to_string(rank))
                              .c_str());
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

char to_order(nb::handle obj, const char* allowed) {
  if (PyUnicode_CheckExact(obj.ptr()) && PyUnicode_GET_LENGTH(obj.ptr()) == 1) {
    const Py_UCS4 letter = PyUnicode_READ_CHAR(obj.ptr(), 0) & ~Py_UCS4{0x20};
    for (const char* one = allowed; *one != 0; ++one) {
      if (letter == static_cast<unsigned char>(*one)) return *one;
    }
  }
  const std::string text = to_text(obj, "order", "'C', 'F', 'A' or 'K'");
  if (text.size() == 1) {
    const char order = static_cast<char>(text.front() & ~0x20);
    if (std::string_view(allowed).find(order) != std::string_view::npos) return order;
  }
  throw nb::value_error(("order: '" + text + "'; expected one of the letters " + allowed).c_str());
}

nb::object one_sequence(const nb::args& args) {
  if (args.size() == 1 && !PyIndex_Check(nb::handle(args[0]).ptr())) return nb::object(args[0]);
  return nb::borrow<nb::tuple>(args);
}

layout ordered_layout(const layout& like, std::size_t itemsize, char order) {
  const extents& shape = like.shape();
  layout out;
  if (order == 'A') order = like.is_f_contiguous() && !like.is_c_contiguous() ? 'F' : 'C';
  if (order == 'K' && like.is_c_contiguous()) order = 'C';
  if (order == 'K' && like.is_f_contiguous()) order = 'F';
  if (order == 'C') {
    check(layout::c_order(shape, itemsize, out), text_of(shape));
    return out;
  }
  if (order == 'F') {
    check(layout::f_order(shape, itemsize, out), text_of(shape));
    return out;
  }
  // As NumPy keeps an order: by the size of the steps, ties as in C; directions are not kept.
  std::vector<std::size_t> axes(shape.size());
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  std::stable_sort(axes.begin(), axes.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(like.strides()[a]) > std::abs(like.strides()[b]);
  });
  extents strides(shape.size());
  std::int64_t step = 1;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    strides[*axis] = step;
    step *= std::max<std::int64_t>(shape[*axis], 1);
  }
  check(layout::strided(shape, std::move(strides), itemsize, out), text_of(shape));
  return out;
}

array allocate_array(const sycl::queue& queue, layout where, dtype type, usm_kind kind) {
  shared_owner owner =
      allocate_bytes(queue, kind, static_cast<std::size_t>(where.size()) * type.itemsize());
  any_view elements;
  check(any_view::make(owner->base(), std::move(type), std::move(where), kind, false, elements));
  return array::over(std::move(elements), queue, std::move(owner));
}

}  // namespace usmx::python
