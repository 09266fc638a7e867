// Views: other shapes of the same elements, and basic indexing. Copies only where NumPy copies.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "array/ndarray.hpp"
#include "compute/operate.hpp"
#include "core/aliasing.hpp"
#include "core/kept_order.hpp"
#include "protocols/protocols.hpp"
#include "support/attributes.hpp"
#include "support/error_text.hpp"
#include "support/examples.hpp"
#include "support/signature.hpp"
#include "support/text.hpp"
#include "usmx/copy.hpp"

namespace usmx::python {
namespace {

/// A shape with at most one -1, which takes what the others leave.
extents complete_shape(nb::handle given, std::int64_t size) {
  extents shape = to_shape(given);
  std::int64_t known = 1;
  std::int64_t* open = nullptr;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] == -1 && open == nullptr) {
      open = &shape[k];
    } else if (shape[k] < 0) {
      throw value_error("shape: {} is not allowed; only one -1 may be negative",
                        detail::shape_text(shape));
    } else if (__builtin_mul_overflow(known, shape[k], &known)) {
      check(fault::shape_overflow, shape);
    }
  }
  if (open != nullptr && known > 0 && size % known == 0) {
    *open = size / known;
    known = size;
  }
  if (known != size || (open != nullptr && *open == -1)) {
    throw value_error("cannot reshape array of size {} into shape {}", size,
                      detail::shape_text(to_shape(given)));
  }
  return shape;
}

extents reversed(const extents& e) {
  extents out(e.size());
  std::reverse_copy(e.begin(), e.end(), out.data());
  return out;
}

layout transposed(const layout& l) {
  std::vector<int> order(static_cast<std::size_t>(l.rank()));
  std::iota(order.rbegin(), order.rend(), 0);
  return l.permuted(order);
}

bool reshaped(const layout& from, const extents& shape, char order, layout& out) {
  if (order == 'C') return from.reshaped(shape, out);
  layout turned;
  if (!transposed(from).reshaped(reversed(shape), turned)) return false;
  out = transposed(turned);
  return true;
}

std::vector<int> axis_order(nb::handle axes, int rank) {
  std::vector<int> order;
  if (axes.is_none() || (nb::len(axes) == 0 && rank != 0)) {
    order.resize(static_cast<std::size_t>(rank));
    std::iota(order.rbegin(), order.rend(), 0);
    return order;
  }
  for (const nb::handle axis : axes) order.push_back(to_axis(axis, rank));
  std::vector<int> sorted = order;
  std::ranges::sort(sorted);
  if (sorted.size() != static_cast<std::size_t>(rank) ||
      std::ranges::adjacent_find(sorted) != sorted.end()) {
    throw value_error("axes: expected each of the {} axes once", rank);
  }
  return order;
}

int rank_of(nb::handle self) { return static_cast<int>(self_of<ndarray>(self).shape().size()); }

/// An order of axes as exchanges of two.
std::vector<view_step> exchanges(const std::vector<int>& order) {
  std::vector<int> now(order.size());
  std::iota(now.begin(), now.end(), 0);
  std::vector<view_step> steps;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto from = static_cast<std::size_t>(std::ranges::find(now, order[k]) - now.begin());
    if (from == k) continue;
    std::swap(now[k], now[from]);
    steps.push_back({.what = view_step::kind::swap,
                     .axis = static_cast<int>(k),
                     .other = static_cast<int>(from)});
  }
  return steps;
}

nb::object permuted(nb::handle self, const std::vector<int>& order) {
  ndarray& a = self_of<ndarray>(self);
  if (const shared_deferred later = a.later()) {
    return wrap_deferred(view_of(later, exchanges(order)));
  }
  const any_view& v = a.value().elements();
  return wrap_view(a.value(), v.with_layout(v.layout().permuted(order), 0));
}

nb::object transpose(nb::handle self, nb::handle axes) {
  return permuted(self, axis_order(axes, rank_of(self)));
}

nb::object swap_axes(nb::handle self, int first, int second) {
  std::vector<int> order(static_cast<std::size_t>(rank_of(self)));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<std::size_t>(first)], order[static_cast<std::size_t>(second)]);
  return permuted(self, order);
}

nb::object matrix_transpose(nb::handle self) {
  const int rank = rank_of(self);
  if (rank < 2) throw nb::value_error("mT: needs at least two dimensions");
  return swap_axes(self, rank - 2, rank - 1);
}

nb::object squeeze(nb::handle self, nb::handle axis) {
  any_view v = value_of(self).elements();
  std::vector<bool> drop(static_cast<std::size_t>(v.rank()), axis.is_none());
  if (!axis.is_none()) {
    const nb::object axes =
        PyIndex_Check(axis.ptr()) ? nb::object(nb::make_tuple(axis)) : nb::borrow(axis);
    for (const nb::handle one : axes) {
      const auto k = static_cast<std::size_t>(to_axis(one, v.rank()));
      if (v.layout().shape()[k] != 1) {
        throw nb::value_error(
            "axis: cannot select an axis to squeeze out which has size not equal to one");
      }
      drop[k] = true;
    }
  }
  for (std::size_t k = drop.size(); k-- > 0;) {
    if (!drop[k] || v.layout().shape()[k] != 1) continue;
    std::int64_t shift = 0;
    layout where = v.layout().indexed(static_cast<int>(k), 0, shift);
    v = v.with_layout(std::move(where), shift);
  }
  return wrap_view(value_of(self), std::move(v));
}

/// The shape and strides in elements of another size, along a contiguous last axis.
void resize_elements(extents& shape, extents& strides, std::size_t from, std::size_t to) {
  const auto old_size = static_cast<std::int64_t>(from);
  const auto new_size = static_cast<std::int64_t>(to);
  if (shape.size() == 0) {
    throw nb::value_error(
        "dtype: has another size; an array without dimensions needs a type of the same size");
  }
  const std::size_t last = shape.size() - 1;
  if (strides[last] != 1 && shape[last] > 1) {
    throw nb::value_error(
        "dtype: has another size, and the last axis is not contiguous; copy the array first");
  }
  const std::int64_t bytes = shape[last] * old_size;
  if (new_size < old_size ? old_size % new_size != 0 : bytes % new_size != 0) {
    throw value_error(
        "dtype: elements of {} bytes do not divide {} bytes; expected a size that does", new_size,
        new_size < old_size ? old_size : bytes);
  }
  for (std::size_t k = 0; k < last; ++k) {
    const std::int64_t step = strides[k] * old_size;
    if (step % new_size != 0 && shape[k] > 1) {
      throw value_error("dtype: the step of axis {} is {} bytes, not a multiple of {} bytes", k,
                        step, new_size);
    }
    strides[k] = step / new_size;
  }
  shape[last] = bytes / new_size;
  strides[last] = 1;
}

nb::object view_as(nb::handle self, nb::handle type) {
  const array& a = value_of(self);
  const any_view& v = a.elements();
  const dtype wanted = type.is_none() ? v.dtype() : to_dtype(type);
  extents shape = v.layout().shape();
  extents strides = v.layout().strides();
  if (wanted.itemsize() != v.dtype().itemsize()) {
    resize_elements(shape, strides, v.dtype().itemsize(), wanted.itemsize());
  }
  layout where;
  check(layout::strided(std::move(shape), std::move(strides), wanted.itemsize(), where));
  return wrap_view(a, checked_view(v.data(), wanted, std::move(where), v.kind(), v.read_only()));
}

/// The real (0) or imaginary (1) parts of complex elements.
nb::object complex_part(nb::handle self, int part) {
  const array& a = value_of(self);
  const any_view& v = a.elements();
  if (v.dtype().kind() != type_class::complex) {
    throw value_error("self: is of {}; expected complex numbers", v.dtype().name());
  }
  const std::size_t bytes = v.dtype().itemsize() / 2;
  const dtype half = bytes == 4 ? dtype::of<float>() : dtype::of<double>();
  extents strides = v.layout().strides();
  for (std::size_t k = 0; k < strides.size(); ++k) strides[k] *= 2;
  layout where;
  check(layout::strided(extents(v.layout().shape()), std::move(strides), bytes, where));
  auto* const first = static_cast<std::byte*>(v.data()) + static_cast<std::size_t>(part) * bytes;
  return wrap_view(a, checked_view(first, half, std::move(where), v.kind(), v.read_only()));
}

/// As NumPy walks in order "K": the longest steps first, and axes that repeat elements where they
/// are.
layout in_order_of_walk(const layout& l) {
  return l.permuted(detail::kept_order(l.shape(), std::array{&l}));
}

/// NumPy promises contiguous elements here, also where reshape would give a strided view.
nb::object ravel(nb::handle self, nb::handle order_name) {
  const char wanted = to_order(order_name);
  const layout& l = value_of(self).elements().layout();
  if (wanted == 'K') {
    return reshape(self, nb::int_(-1), wanted, nb::bool_(!in_order_of_walk(l).is_c_contiguous()));
  }
  const char order = order_of(wanted, l);
  const bool is_contiguous = order == 'C' ? l.is_c_contiguous() : l.is_f_contiguous();
  return reshape(self, nb::int_(-1), order, nb::bool_(!is_contiguous));
}

nb::object flatten(nb::handle self, nb::handle order) {
  return reshape(self, nb::int_(-1), to_order(order), nb::bool_(true));
}

}  // namespace

nb::object reshape(nb::handle self, nb::handle shape, char order, nb::handle copy_if) {
  const array& own = value_of(self);
  std::optional<array> turned;
  if (order == 'K') {
    const any_view& given = own.elements();
    turned = own.with_view(given.with_layout(in_order_of_walk(given.layout()), 0));
    order = 'C';
  }
  const array& a = turned ? *turned : own;
  const any_view& v = a.elements();
  const extents wanted = complete_shape(shape, v.size());
  order = order_of(order, v.layout());
  const bool always = is_true(copy_if);
  layout where;
  if (!always && reshaped(v.layout(), wanted, order, where))
    return wrap_view(a, v.with_layout(std::move(where), 0));
  if (!always && !copy_if.is_none()) {
    throw nb::value_error("copy: this shape needs a copy, but copy=False");
  }
  const array packed = allocate_array(
      a.queue(), ordered_layout(v.layout(), v.dtype().itemsize(), order), v.dtype(), a.kind());
  {
    const gil_released released;
    copy(packed, a);
  }
  if (!reshaped(packed.elements().layout(), wanted, order, where))
    throw value_error("shape: {} is not possible for these elements", detail::shape_text(wanted));
  return wrap_view(packed, packed.elements().with_layout(std::move(where), 0));
}

void bind_shape(nb::class_<ndarray>& c, nb::module_& m) {
  c.def(
      "reshape(self, *shape: SupportsIndex | Sequence[SupportsIndex], "
      "order: OrderLike = 'C', copy: bool | None = None) -> ndarray"_sig,
      [](nb::handle self, const nb::args& shape, nb::handle order, nb::handle copy_if) {
        return reshape(self, one_sequence(shape), to_order(order), copy_if);
      },
      "The elements in another shape; a view wherever the layout allows it.\n\n"
      "Parameters\n----------\n"
      "*shape : int or tuple of int\n    One length may be -1: it takes what the others leave.\n"
      "order : {'C', 'F', 'A'}\n    The order in which elements are read and placed.\n"
      "copy : bool, optional\n    True copies always, False never, None if needed.\n\n"
      "Returns\n-------\nndarray\n    Of the same type; a view if nothing was copied.\n\n"
      "Raises\n------\n"
      "ValueError\n    The sizes differ, or a copy is needed and forbidden.");
  c.def(
      "transpose(self, *axes: SupportsIndex | Sequence[SupportsIndex]) -> ndarray"_sig,
      [](nb::handle self, const nb::args& axes) {
        const bool none = axes.size() == 0 || (axes.size() == 1 && nb::handle(axes[0]).is_none());
        return transpose(self, none ? nb::object(nb::none()) : one_sequence(axes));
      },
      "A view with the axes in another order.\n\n"
      "Parameters\n----------\n"
      "*axes : int or tuple of int\n    Each axis once: axis i of the result is axis ``axes[i]`` "
      "of this. Without\n    them the order is reversed.\n\n"
      "Returns\n-------\nndarray\n    A view.\n\n"
      "Raises\n------\n"
      "ValueError\n    An axis is missing, twice or not there.");
  c.def(
      "permute(self, *axes: SupportsIndex | Sequence[SupportsIndex]) -> ndarray"_sig,
      [](nb::handle self, const nb::args& axes) { return transpose(self, one_sequence(axes)); },
      "A view whose axis i is axis ``axes[i]`` of this.\n\n"
      "Parameters\n----------\n"
      "*axes : int or tuple of int\n    Each axis once.\n\n"
      "Returns\n-------\nndarray\n    A view.\n\n"
      "Raises\n------\n"
      "ValueError\n    An axis is missing, twice or not there.");
  c.def("view(self, dtype: DTypeLike = None) -> ndarray"_sig, view_as,
        "The same bytes as elements of another type; None is the type that they have.\n\n"
        "Parameters\n----------\n"
        "dtype : dtype, optional\n    Of another size only if the last axis is contiguous; its "
        "length "
        "changes then.\n\n"
        "Returns\n-------\nndarray\n    A view of the same bytes.\n\n"
        "Raises\n------\n"
        "ValueError\n    The bytes are not a whole number of such elements, or are not aligned for "
        "them.");
  c.def("_part(self, part: int) -> ndarray"_sig, complex_part,
        "A view of the real (0) or imaginary (1) parts of complex numbers.");
  c.def(
      "swapaxes(self, axis1: SupportsIndex, axis2: SupportsIndex) -> ndarray"_sig,
      [](nb::handle self, nb::handle first, nb::handle second) {
        const int rank = rank_of(self);
        return swap_axes(self, to_axis(first, rank), to_axis(second, rank));
      },
      "A view with two axes exchanged.\n\n"
      "Parameters\n----------\n"
      "axis1, axis2 : int\n    Negative ones count from the last axis.\n\n"
      "Returns\n-------\nndarray\n    A view.\n\n"
      "Raises\n------\n"
      "IndexError, ValueError\n    There is no such axis: NumPy's AxisError, which is both.");
  c.def_prop_ro(
      "T", [](nb::handle self) { return transpose(self, nb::none()); },
      "A view with the axes in reverse.", nb::sig("def T(self) -> ndarray"));
  c.def_prop_ro("mT", matrix_transpose, "A view with the last two axes exchanged.",
                nb::sig("def mT(self) -> ndarray"));
  c.def("squeeze(self, axis: SupportsIndex | Sequence[SupportsIndex] | None = None) -> ndarray"_sig,
        squeeze,
        "A view without dimensions of length one.\n\n"
        "Parameters\n----------\n"
        "axis : int or tuple of int, optional\n    Which of them; all by default.\n\n"
        "Returns\n-------\nndarray\n    A view.\n\n"
        "Raises\n------\nValueError\n    An axis has another length.");
  c.def("ravel(self, order: OrderLike = 'C') -> ndarray"_sig, ravel,
        "The elements contiguous in one dimension.\n\n"
        "Parameters\n----------\n"
        "order : {'C', 'F', 'A', 'K'}\n    The order in which they are read: rows first, columns "
        "first, 'F' if the\n    array is in Fortran order, or as they are in memory.\n\n"
        "Returns\n-------\n"
        "ndarray\n    A view if the elements are contiguous in that order already.");
  c.def("flatten(self, order: OrderLike = 'C') -> ndarray"_sig, flatten,
        "A copy of the elements in one dimension.\n\n"
        "Parameters\n----------\n"
        "order : {'C', 'F', 'A', 'K'}\n    As for `ravel`.\n\n"
        "Returns\n-------\nndarray\n    In memory of its own.");
  def(
      m, "broadcast_to(array: ArrayLike, shape: ShapeLike, subok: bool = False) -> ndarray"_sig,
      [](nb::handle x, nb::handle shape, nb::handle) {
        const array* a = array_of(x);
        if (a == nullptr) wrong_type("array", x, "a usmx.ndarray");
        layout where;
        const extents wanted = to_shape(shape);
        if (!a->elements().layout().broadcast(wanted, where)) {
          throw value_error("shape: {} cannot be broadcast to {}",
                            detail::shape_text(a->elements().layout().shape()),
                            detail::shape_text(wanted));
        }
        return wrap_view(*a, a->elements().with_layout(std::move(where), 0).as_read_only());
      },
      with_example("broadcast_to",
                   "A read-only view in which dimensions of length one are repeated by a stride of "
                   "zero.\n\n"
                   "Parameters\n----------\n"
                   "array : ndarray\n    The elements.\n"
                   "shape : int or tuple of int\n    Lengths of `array`, but for those that are "
                   "one, and for new axes in front.\n"
                   "subok : bool\n    As NumPy's; it changes nothing.\n\n"
                   "Returns\n-------\nndarray\n    It has the memory of `array`.\n\n"
                   "Raises\n------\nValueError\n    The shapes do not fit together.")
          .c_str());
}

namespace {

/// Lists, tuples in a key, and ranges.
bool is_sequence_of_indices(nb::handle o) noexcept {
  return PyList_Check(o.ptr()) || PyTuple_Check(o.ptr()) || PyRange_Check(o.ptr());
}

/// What a key that holds many indices holds: the letter of its dtype's kind, or that of the first
/// element of a sequence. 0 for anything else.
char kind_of_indices(nb::handle key) {
  if (const array* const a = array_of(key)) return static_cast<char>(a->elements().dtype().kind());
  if (is_sequence_of_indices(key)) {
    nb::object first = nb::borrow(key);
    for (int depth = 0; is_sequence_of_indices(first); ++depth) {  // a list may contain itself
      const Py_ssize_t length = PySequence_Size(first.ptr());
      if (length < 0) nb::raise_python_error();
      if (length == 0) return 'i';
      if (depth == max_rank) return '\0';
      first = nb::steal(PySequence_GetItem(first.ptr(), 0));
      if (!first.is_valid()) nb::raise_python_error();
    }
    return PyBool_Check(first.ptr()) ? 'b' : PyIndex_Check(first.ptr()) ? 'i' : '\0';
  }
  // Buffers without a dtype say what they hold when they are read.
  if (PyObject_CheckBuffer(key.ptr()) && !PyBytes_Check(key.ptr()) &&
      !PyByteArray_Check(key.ptr()) && !has_attribute(key, "dtype")) {
    return 'i';
  }
  const nb::object kind = attribute_or_none(attribute_or_none(key, "dtype"), "kind");
  if (nb::isinstance<nb::str>(kind)) return to_text(kind, "dtype.kind")[0];
  // What has elements by a protocol says what they are when they are read.
  if (PyUnicode_Check(key.ptr()) || PyIndex_Check(key.ptr()) || PyFloat_Check(key.ptr()))
    return '\0';
  return import_array(key, {.host = true}) || offers_host_elements(key) ? 'i' : '\0';
}

[[noreturn]] void refuse_key(nb::handle key) {
  PyErr_Format(PyExc_IndexError,
               "index: is of type %s; expected integers, slices, ..., None, or arrays or lists of "
               "integers or bools",
               Py_TYPE(key.ptr())->tp_name);
  nb::raise_python_error();
}

/// What an index is applied to: elements that are there.
struct seen_elements {
  any_view v;

  std::int64_t length(int axis) const { return v.layout().shape()[static_cast<std::size_t>(axis)]; }
  void take(int axis, std::int64_t index) {
    std::int64_t shift = 0;
    layout where = v.layout().indexed(axis, index, shift);
    v = v.with_layout(std::move(where), shift);
  }
  void slice(int axis, std::int64_t first, std::int64_t count, std::int64_t step) {
    std::int64_t shift = 0;
    layout where = v.layout().sliced(axis, first, count, step, shift);
    v = v.with_layout(std::move(where), shift);
  }
  void insert(int axis) { v = v.with_layout(v.layout().with_axis(axis), 0); }
};

/// Elements that are not computed yet.
struct later_elements {
  std::vector<std::int64_t> shape;
  std::vector<view_step> steps = {};

  std::int64_t length(int axis) const { return shape[static_cast<std::size_t>(axis)]; }
  void take(int axis, std::int64_t index) {
    shape.erase(shape.begin() + axis);
    steps.push_back({.what = view_step::kind::take, .axis = axis, .first = index});
  }
  void slice(int axis, std::int64_t first, std::int64_t count, std::int64_t step) {
    shape[static_cast<std::size_t>(axis)] = count;
    steps.push_back({.axis = axis, .first = first, .count = count, .step = step});
  }
  void insert(int axis) {
    shape.insert(shape.begin() + axis, 1);
    steps.push_back({.what = view_step::kind::insert, .axis = axis});
  }
};

/// `source_axis` is what the user calls the axis: integers before it have taken others away.
template <class Elements>
void apply_integer(Elements& v, nb::handle key, int axis, int source_axis) {
  const Py_ssize_t given = PyNumber_AsSsize_t(key.ptr(), PyExc_IndexError);
  if (given == -1 && PyErr_Occurred() != nullptr) nb::raise_python_error();
  const std::int64_t length = v.length(axis);
  const std::int64_t index = given < 0 ? given + length : given;
  if (index < 0 || index >= length) {
    throw index_error("index {} is out of bounds for axis {} with size {}", given, source_axis,
                      length);
  }
  v.take(axis, index);
}

template <class Elements>
void apply_slice(Elements& v, nb::handle key, int axis) {
  Py_ssize_t start = 0;
  Py_ssize_t stop = 0;
  Py_ssize_t step = 1;
  if (PySlice_Unpack(key.ptr(), &start, &stop, &step) != 0) nb::raise_python_error();
  const Py_ssize_t length = static_cast<Py_ssize_t>(v.length(axis));
  const Py_ssize_t count = PySlice_AdjustIndices(length, &start, &stop, step);
  v.slice(axis, start, count, step);
}

/// True for integers; arrays have `__index__` too, and only those without dimensions are integers.
bool is_integer(nb::handle key) {
  if (PyLong_CheckExact(key.ptr())) return true;
  if (!PyIndex_Check(key.ptr()) || PyBool_Check(key.ptr())) return false;
  if (PyLong_Check(key.ptr())) return true;
  if (const array* const a = array_of(key)) {
    const type_class kind = a->elements().dtype().kind();
    return a->elements().rank() == 0 &&
           (kind == type_class::integer || kind == type_class::unsigned_integer);
  }
  const nb::object rank = attribute_or_none(key, "ndim");
  return !PyLong_Check(rank.ptr()) || PyLong_AsLong(rank.ptr()) == 0;
}

/// `a["x"]`: one field of each record, where its distance is a multiple of its size.
any_view field_of_records(const any_view& v, nb::handle key) {
  const std::string wanted = to_text(key, "key");
  const dtype::fields* members = v.dtype().members();
  if (members == nullptr) {
    throw index_error("index: '{}'; only records have fields, these elements are {}", wanted,
                      v.dtype().name());
  }
  std::size_t at = 0;
  for (const field& f : *members) {
    std::size_t count = 1;
    for (const std::int64_t n : f.shape) count *= static_cast<std::size_t>(n);
    const std::size_t itemsize = f.type.itemsize();
    if (f.name != wanted) {
      at += itemsize * count;
      continue;
    }
    if (v.dtype().itemsize() % itemsize != 0) {
      throw value_error(
          "'{}': records of {} bytes cannot be seen in steps of {}; copy the array with to_numpy()",
          wanted, v.dtype().itemsize(), itemsize);
    }
    const auto ratio = static_cast<std::int64_t>(v.dtype().itemsize() / itemsize);
    const std::size_t outer = v.layout().shape().size();
    extents shape(outer + f.shape.size());
    extents strides(outer + f.shape.size());
    std::int64_t step = 1;
    for (std::size_t k = f.shape.size(); k-- > 0; step *= f.shape[k]) {
      shape[outer + k] = f.shape[k];
      strides[outer + k] = step;
    }
    for (std::size_t k = 0; k < outer; ++k) {
      shape[k] = v.layout().shape()[k];
      strides[k] = v.layout().strides()[k] * ratio;
    }
    layout where;
    check(layout::strided(std::move(shape), std::move(strides), itemsize, where));
    return checked_view(static_cast<std::byte*>(v.data()) + at, f.type, std::move(where), v.kind(),
                        v.read_only(), "the field '" + wanted + "'");
  }
  throw value_error("'{}' is not a field of {}", wanted, repr_of(nb::cast(v.dtype())));
}

/// `a[["x", "y"]]`: records with some of the fields. What is between them is padding to the new
/// type, and copies of records copy padding: so the view is read-only.
any_view some_fields_of_records(const any_view& v, nb::handle names) {
  const dtype::fields* members = v.dtype().members();
  if (members == nullptr) {
    throw index_error("index: {}; only records have fields, these elements are {}", repr_of(names),
                      v.dtype().name());
  }
  dtype::fields kept;
  std::vector<std::string> wanted;
  for (const nb::handle name : nb::borrow<nb::list>(names)) {
    wanted.push_back(to_text(name, "key"));
    if (std::ranges::none_of(*members, [&](const field& f) { return f.name == wanted.back(); })) {
      throw nb::key_error(
          detail::format("'{}' is not a field of {}", wanted.back(), repr_of(nb::cast(v.dtype())))
              .c_str());
    }
  }
  std::size_t next = 0;
  std::size_t between = 0;  // as one: NumPy says it so, and equal records are spelled alike
  const auto pad = [&] {
    if (between == 0) return;
    field padding;
    check(dtype::parse(detail::format("|V{}", between), padding.type));
    kept.push_back(std::move(padding));
    between = 0;
  };
  for (const field& f : *members) {
    if (next < wanted.size() && f.name == wanted[next]) {
      pad();
      kept.push_back(f);
      ++next;
      continue;
    }
    std::size_t bytes = f.type.itemsize();
    for (const std::int64_t n : f.shape) bytes *= static_cast<std::size_t>(n);
    between += bytes;
  }
  pad();
  if (next < wanted.size()) {
    throw value_error("index: {}; a view has each field once, in the order that they have in {}",
                      repr_of(names), repr_of(nb::cast(v.dtype())));
  }
  dtype type;
  check(dtype::make_record(std::move(kept), v.dtype().itemsize(), type));
  layout where = v.layout();
  return checked_view(v.data(), std::move(type), std::move(where), v.kind(), true);
}

}  // namespace

bool names_fields(nb::handle key) {
  return PyList_Check(key.ptr()) && PyList_GET_SIZE(key.ptr()) > 0 &&
         PyUnicode_Check(PyList_GET_ITEM(key.ptr(), 0));
}

bool is_advanced(nb::handle key) {
  const auto one = [](nb::handle item) {
    if (PyBool_Check(item.ptr())) return true;
    if (item.is_none() || PySlice_Check(item.ptr()) || item.ptr() == Py_Ellipsis ||
        is_integer(item)) {
      return false;
    }
    const char kind = kind_of_indices(item);
    return kind == 'b' || kind == 'i' || kind == 'u';
  };
  if (!PyTuple_Check(key.ptr())) return one(key);
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(key.ptr()); ++k) {
    if (one(PyTuple_GET_ITEM(key.ptr(), k))) return true;
  }
  return false;
}

nb::handle key_of_rows(nb::handle self, nb::handle key) {
  if (!PyTuple_CheckExact(key.ptr()) || PyTuple_GET_SIZE(key.ptr()) == 0) return key;
  const nb::handle first = PyTuple_GET_ITEM(key.ptr(), 0);
  if (!is_ready<ndarray>(first) && !holds_host_elements(first)) return key;
  Py_ssize_t n = PyTuple_GET_SIZE(key.ptr());
  if (n > 1 && PyTuple_GET_ITEM(key.ptr(), n - 1) == Py_Ellipsis) --n;
  if (!is_ready<ndarray>(self) ||
      n > static_cast<Py_ssize_t>(nb::inst_ptr<ndarray>(self)->shape().size()))
    return key;
  for (Py_ssize_t k = 1; k < n; ++k) {
    PyObject* const item = PyTuple_GET_ITEM(key.ptr(), k);
    if (!PySlice_Check(item)) return key;
    const auto* const part = reinterpret_cast<const PySliceObject*>(item);
    if (part->start != Py_None || part->stop != Py_None || part->step != Py_None) return key;
  }
  return first;
}

namespace {

template <class Elements>
void apply_key(Elements& out, int rank, nb::handle key) {
  PyObject* const* items = nullptr;
  PyObject* const single[] = {key.ptr()};
  Py_ssize_t n = 1;
  if (PyTuple_Check(key.ptr())) {
    items = PySequence_Fast_ITEMS(key.ptr());
    n = PyTuple_GET_SIZE(key.ptr());
  } else {
    items = single;
  }

  int consumed = 0;
  bool has_ellipsis = false;
  for (Py_ssize_t k = 0; k < n; ++k) {
    if (items[k] == Py_Ellipsis) {
      if (has_ellipsis) throw nb::index_error("an index can only have a single ellipsis ('...')");
      has_ellipsis = true;
    } else if (items[k] != Py_None) {
      if (!PySlice_Check(items[k]) && !is_integer(items[k])) refuse_key(items[k]);
      ++consumed;
    }
  }
  if (consumed > rank) {
    throw index_error("too many indices for array: array is {}-dimensional, but {} were indexed",
                      rank, consumed);
  }

  int axis = 0;
  int source_axis = 0;
  for (Py_ssize_t k = 0; k < n; ++k) {
    const nb::handle item = items[k];
    if (item.ptr() == Py_Ellipsis) {
      axis += rank - consumed;
      source_axis += rank - consumed;
    } else if (item.is_none()) {
      out.insert(axis++);
    } else if (PySlice_Check(item.ptr())) {
      apply_slice(out, item, axis++);
      ++source_axis;
    } else {
      apply_integer(out, item, axis, source_axis++);
    }
  }
}

}  // namespace

any_view indexed(const any_view& v, nb::handle key) {
  if (PyUnicode_Check(key.ptr())) return field_of_records(v, key);
  if (names_fields(key)) return some_fields_of_records(v, key);
  seen_elements out{v};
  apply_key(out, v.rank(), key);
  return std::move(out.v);
}

nb::object part_of(nb::handle self, nb::handle key) {
  ndarray& a = self_of<ndarray>(self);
  if (const shared_deferred later = a.later();
      later && !PyUnicode_Check(key.ptr()) && !names_fields(key)) {
    const extents& shape = later->shape();
    later_elements out{{shape.begin(), shape.end()}};
    apply_key(out, static_cast<int>(shape.size()), key);
    return wrap_deferred(view_of(later, std::move(out.steps)));
  }
  return wrap_view(a.value(), indexed(a.value().elements(), key));
}

namespace {

/// `source` repeated to the shape of `target`; leading dimensions of length one may be too many.
any_view broadcast_to(const any_view& source, const extents& shape) {
  any_view v = source;
  while (v.rank() > static_cast<int>(shape.size()) && v.layout().shape()[0] == 1) {
    std::int64_t shift = 0;
    layout where = v.layout().indexed(0, 0, shift);
    v = v.with_layout(std::move(where), shift);
  }
  layout where;
  if (!v.layout().broadcast(shape, where)) {
    throw value_error("could not broadcast from shape {} into shape {}",
                      detail::shape_text(source.layout().shape()), detail::shape_text(shape));
  }
  return v.with_layout(std::move(where), 0);
}

}  // namespace

namespace {

/// Computes a value that no other code is going to read where it belongs, without memory in
/// between.
bool store_later(const array& target, nb::handle value) {
  PyObject* const object = value.ptr();
  const std::vector<shared_deferred> passing = passing_values({&object, 1});
  if (passing.empty()) return false;
  const shared_deferred& what = passing.front();
  if (what->queue() != target.queue() || !(what->shape() == target.elements().layout().shape()) ||
      what->dtype() != target.elements().dtype() || what->is_shared()) {
    return false;
  }
  store(what, target, passing);
  return true;
}

}  // namespace

void assign(const array& target, nb::handle value) {
  const any_view& to = target.elements();
  const extents& shape = to.layout().shape();
  if (to.read_only()) throw nb::value_error("assignment destination is read-only");
  // As in NumPy: no number is NaN among floats, and False among bools.
  nb::object stand_in;
  if (value.is_none()) {
    switch (to.dtype().kind()) {
      case type_class::floating:
      case type_class::complex:
        stand_in = nb::float_(std::numeric_limits<double>::quiet_NaN());
        break;
      case type_class::boolean:
        stand_in = nb::bool_(false);
        break;
      default:
        break;  // refused below
    }
    if (stand_in.is_valid()) value = stand_in;
  }
  // NumPy's integers are checked as Python's are: neither wraps.
  if (is_python_number(value) || (PyIndex_Check(value.ptr()) && is_numpy_scalar(value))) {
    const auto element = element_of(value, to.dtype());
    const gil_released released;
    return fill(target, element.get());
  }
  if (store_later(target, value)) return;
  std::optional<array> to_copy;
  if (const std::optional<array> source = import_array(value, {.to_copy = &to_copy})) {
    // What `x[:9] += 1` ends with: Python assigns the part to itself.
    if (detail::is_same(source->elements(), to)) return;
    const array repeated = source->with_view(broadcast_to(source->elements(), shape));
    // The host sees neither: what comes next on the queue finds the elements there.
    const bool is_in_order = is_ready<ndarray>(value) && target.kind() == usm_kind::device &&
                             source->kind() == usm_kind::device &&
                             source->queue() == target.queue();
    const gil_released released;
    if (!is_in_order) return copy(target, repeated);
    copy_async(target.queue(), target, repeated);
    return;
  }
  std::optional<host_elements> source;
  if (!to_copy) source.emplace(host_elements::of(value, &to.dtype()));
  const any_view repeated = broadcast_to(source ? source->view() : to_copy->elements(), shape);
  const gil_released released;
  copy_from_host(target, repeated);
}

}  // namespace usmx::python
