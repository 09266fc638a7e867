// Elements from the host, on their way into USM: buffers as they are, numbers and nested lists
// without NumPy, everything else through NumPy where it is installed.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <complex>
#include <cstring>

#include "array/ndarray.hpp"
#include "protocols/protocols.hpp"
#include "support/text.hpp"

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
                           std::to_string(depth) + "; all must have the same length")
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

/// What to do with elements of a kind that no dtype of ours describes; null for other kinds.
const char* advice_for(char kind) {
  switch (kind) {
    case 'M':
    case 'm':
      return "dates and times are not supported; pass x.view('int64'), and see the result with "
             ".view(dtype) in NumPy";
    case 'U':
    case 'S':
    case 'T':
      return "text is not supported; only numbers, booleans and records of them are";
    case 'O':
      return "Python objects are not supported; convert to numbers first, for example with "
             "astype('float64')";
    default:
      return nullptr;
  }
}

/// Raises what helps if `obj` has elements that no dtype describes; otherwise returns.
void refuse_elements_of(nb::handle obj, nb::handle given) {
  const nb::object type = nb::getattr(obj, "dtype", nb::none());
  const nb::object kind = nb::getattr(type, "kind", nb::none());
  if (!nb::isinstance<nb::str>(kind)) return;
  const char* const advice = advice_for(to_text(kind, "dtype.kind")[0]);
  if (advice == nullptr) return;
  const std::string name = shown(nb::type_name(given.type()));
  throw nb::type_error(
      ("obj: " + name + " of dtype " + shown(nb::str(type)) + "; " + advice).c_str());
}

/// The elements of a buffer. A producer that cannot describe them raises what it likes.
std::optional<host_buffer> borrowed(nb::handle obj, nb::handle given) {
  try {
    return host_buffer::borrow(obj);
  } catch (nb::python_error&) {
    refuse_elements_of(obj, given);
    throw;
  } catch (const nb::builtin_exception&) {
    refuse_elements_of(obj, given);
    throw;
  }
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
  // An object that is not a sequence becomes one element: itself.
  if (nb::cast<std::size_t>(made.attr("ndim")) > 0 || nb::isinstance<nb::str>(obj))
    refuse_elements_of(made, obj);
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
    if (auto buffer = borrowed(obj, obj)) {
      out.buffer_.emplace(std::move(*buffer));
      return out;
    }
  }
  const nb::object made = through_numpy(obj, wanted);
  auto buffer = borrowed(made, obj);
  if (!buffer) wrong_type("obj", obj, "USM, a buffer, a number or nested sequences of numbers");
  out.buffer_.emplace(std::move(*buffer));
  return out;
}

}  // namespace usmx::python
