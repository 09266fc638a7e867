// Elements from the host, on their way into USM: buffers as they are, numbers and nested lists
// without NumPy, everything else through NumPy where it is installed.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <complex>
#include <cstring>

#include "ndarray.hpp"
#include "protocols.hpp"

namespace usmx::python {
namespace {

bool is_nest(nb::handle obj) noexcept {
  return PyList_CheckExact(obj.ptr()) || PyTuple_CheckExact(obj.ptr());
}

nb::handle item_of(nb::handle nest, Py_ssize_t k) noexcept {
  return PySequence_Fast_ITEMS(nest.ptr())[k];
}

/// What a nest of lists holds: its shape and the widest kind of number.
class nest_survey {
 public:
  /// False if there is something in it that only NumPy may know.
  bool visit(nb::handle obj) {
    for (nb::handle at = obj; is_nest(at);) {
      if (lengths_.size() == max_rank) return false;
      const Py_ssize_t n = PySequence_Fast_GET_SIZE(at.ptr());
      lengths_.push_back(n);
      if (n == 0) break;
      at = item_of(at, 0);
    }
    return look(obj, 0);
  }
  extents shape() const { return extents(std::span<const std::int64_t>(lengths_)); }
  dtype type() const {
    switch (widest_) {
      case 0:
        return dtype::of<bool>();
      case 1:
        return needs_unsigned_ ? dtype::of<std::uint64_t>() : dtype::of<std::int64_t>();
      case 3:
        return dtype::of<std::complex<double>>();
      default:
        return dtype::of<double>();  // also of an empty list
    }
  }

 private:
  bool look(nb::handle obj, std::size_t depth) {
    if (depth < lengths_.size()) {
      if (!is_nest(obj) || PySequence_Fast_GET_SIZE(obj.ptr()) != lengths_[depth])
        ragged(obj, depth);
      for (Py_ssize_t k = 0; k < lengths_[depth]; ++k) {
        if (!look(item_of(obj, k), depth + 1)) return false;
      }
      return true;
    }
    if (is_nest(obj)) ragged(obj, depth);
    if (!is_python_number(obj)) return false;
    const int rank = PyBool_Check(obj.ptr())    ? 0
                     : PyLong_Check(obj.ptr())  ? 1
                     : PyFloat_Check(obj.ptr()) ? 2
                                                : 3;
    widest_ = std::max(widest_, rank);
    if (rank == 1 && natural_dtype(obj).kind() == type_class::unsigned_integer)
      needs_unsigned_ = true;
    return true;
  }
  [[noreturn]] void ragged(nb::handle, std::size_t depth) {
    throw nb::value_error(("the nested sequences differ in length or depth at level " +
                           std::to_string(depth) + "; an array is rectangular")
                              .c_str());
  }

  std::vector<std::int64_t> lengths_;
  int widest_ = -1;
  bool needs_unsigned_ = false;
};

void write_nest(nb::handle obj, std::size_t depth, std::size_t rank, const dtype& type,
                std::byte*& out) {
  if (depth == rank) {
    to_element(obj, type, out);
    out += type.itemsize();
    return;
  }
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(obj.ptr());
  for (Py_ssize_t k = 0; k < n; ++k) write_nest(item_of(obj, k), depth + 1, rank, type, out);
}

/// What NumPy makes of an object; it must not end as an array of Python objects.
nb::object through_numpy(nb::handle obj, const dtype* wanted) {
  const nb::object np = numpy();
  if (!np.is_valid()) {
    wrong_type(
        "obj", obj,
        "USM, a buffer, a number or nested lists of numbers (more is understood with NumPy)");
  }
  // Only lists need the type: arrays are cast on the way into USM.
  const nb::object type =
      wanted != nullptr && PySequence_Check(obj.ptr()) && !nb::hasattr(obj, "dtype")
          ? dtype_object(*wanted)
          : nb::none();
  nb::object made = np.attr("asarray")(obj, type);
  if (nb::cast<bool>(nb::bool_(made.attr("dtype").attr("hasobject")))) {
    wrong_type("obj", obj, "USM, a buffer, a number or nested sequences of numbers");
  }
  return made;
}

}  // namespace

host_elements host_elements::of(nb::handle obj, const dtype* wanted) {
  host_elements out;
  const bool is_number = is_python_number(obj);
  nest_survey survey;
  if (is_number ||
      (is_nest(obj) && (wanted == nullptr || !wanted->is_record()) && survey.visit(obj))) {
    const extents shape = is_number ? extents() : survey.shape();
    const dtype type = wanted != nullptr ? *wanted : is_number ? natural_dtype(obj) : survey.type();
    layout where;
    check(layout::c_order(shape, type.itemsize(), where), text_of(shape));
    const std::size_t bytes = static_cast<std::size_t>(where.size()) * type.itemsize();
    out.bytes_.reset(new std::byte[std::max<std::size_t>(bytes, 16)]);
    std::byte* at = out.bytes_.get();
    write_nest(obj, 0, shape.size(), type, at);
    check(any_view::make(out.bytes_.get(), type, std::move(where), usm_kind::unknown, true,
                         out.view_));
    return out;
  }
  if (!is_nest(obj) && PyObject_CheckBuffer(obj.ptr())) {
    if (auto buffer = host_buffer::borrow(obj)) {
      out.buffer_.emplace(std::move(*buffer));
      return out;
    }
  }
  const nb::object made = through_numpy(obj, wanted);
  auto buffer = host_buffer::borrow(made);
  if (!buffer) wrong_type("obj", obj, "USM, a buffer, a number or nested sequences of numbers");
  out.buffer_.emplace(std::move(*buffer));
  return out;
}

}  // namespace usmx::python
