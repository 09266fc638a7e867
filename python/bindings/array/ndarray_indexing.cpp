// Basic indexing as NumPy does it, always a view: integers, slices, an ellipsis, None, names of
// fields.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "array/ndarray.hpp"
#include "protocols/protocols.hpp"
#include "support/text.hpp"
#include "usmx/copy.hpp"

namespace usmx::python {
namespace {

/// What a key that holds many indices holds: the letter of its dtype's kind, or that of the first
/// element of a list. 0 for anything else.
char kind_of_indices(nb::handle key) {
  if (const array* const a = array_of(key)) return static_cast<char>(a->elements().dtype().kind());
  if (PyList_Check(key.ptr())) {
    nb::object first = nb::borrow(key);
    for (int depth = 0; PyList_Check(first.ptr()); ++depth) {  // a list may contain itself
      if (PyList_GET_SIZE(first.ptr()) == 0) return 'i';
      if (depth == max_rank) return '\0';
      first = nb::borrow(PyList_GET_ITEM(first.ptr(), 0));
    }
    return PyBool_Check(first.ptr()) ? 'b' : PyIndex_Check(first.ptr()) ? 'i' : '\0';
  }
  const nb::object kind = nb::getattr(nb::getattr(key, "dtype", nb::none()), "kind", nb::none());
  if (!nb::isinstance<nb::str>(kind)) return '\0';
  return to_text(kind, "dtype.kind")[0];
}

[[noreturn]] void refuse_key(nb::handle key) {
  const char kind = PyBool_Check(key.ptr()) ? 'b' : kind_of_indices(key);
  const char* const what = kind == 'b' ? "boolean masks are not supported yet"
                           : kind == 'i' || kind == 'u'
                               ? "indexing by an array or list of integers is not supported yet"
                               : nullptr;
  if (what != nullptr) {
    PyErr_Format(PyExc_TypeError,
                 "index: %s; select with x.to_numpy()[...] or a kernel, or use integers and slices",
                 what);
  } else {
    PyErr_Format(PyExc_TypeError,
                 "index: is of type %s; expected integers, slices, ... or None (for other indices, "
                 "use x.to_numpy()[...] or a kernel)",
                 Py_TYPE(key.ptr())->tp_name);
  }
  nb::raise_python_error();
}

/// `source_axis` is what the user calls the axis: integers before it have taken others away.
void apply_integer(any_view& v, nb::handle key, int axis, int source_axis) {
  const Py_ssize_t given = PyNumber_AsSsize_t(key.ptr(), PyExc_IndexError);
  if (given == -1 && PyErr_Occurred() != nullptr) nb::raise_python_error();
  const std::int64_t length = v.layout().shape()[static_cast<std::size_t>(axis)];
  const std::int64_t index = given < 0 ? given + length : given;
  if (index < 0 || index >= length) {
    throw nb::index_error(("index " + std::to_string(given) + " is out of bounds for axis " +
                           std::to_string(source_axis) + " with size " + std::to_string(length))
                              .c_str());
  }
  std::int64_t shift = 0;
  layout where = v.layout().indexed(axis, index, shift);
  v = v.with_layout(std::move(where), shift);
}

void apply_slice(any_view& v, nb::handle key, int axis) {
  Py_ssize_t start = 0;
  Py_ssize_t stop = 0;
  Py_ssize_t step = 1;
  if (PySlice_Unpack(key.ptr(), &start, &stop, &step) != 0) nb::raise_python_error();
  const Py_ssize_t length =
      static_cast<Py_ssize_t>(v.layout().shape()[static_cast<std::size_t>(axis)]);
  const Py_ssize_t count = PySlice_AdjustIndices(length, &start, &stop, step);
  std::int64_t shift = 0;
  layout where = v.layout().sliced(axis, start, count, step, shift);
  v = v.with_layout(std::move(where), shift);
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
  const nb::object rank = nb::getattr(key, "ndim", nb::none());
  return !PyLong_Check(rank.ptr()) || PyLong_AsLong(rank.ptr()) == 0;
}

/// `a["x"]`: one field of each record, where its distance is a multiple of its size.
any_view field_of_records(const any_view& v, nb::handle key) {
  const std::string wanted = to_text(key, "key");
  const dtype::fields* members = v.dtype().members();
  if (members == nullptr) {
    throw nb::index_error(("index: '" + wanted +
                           "'; only records have fields, these elements are " + v.dtype().name())
                              .c_str());
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
      throw nb::value_error(("'" + wanted + "': records of " +
                             std::to_string(v.dtype().itemsize()) +
                             " bytes cannot be seen in steps of " + std::to_string(itemsize) +
                             "; copy the array with to_numpy()")
                                .c_str());
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
    any_view out;
    check(any_view::make(static_cast<std::byte*>(v.data()) + at, f.type, std::move(where), v.kind(),
                         v.read_only(), out),
          "the field '" + wanted + "'");
    return out;
  }
  throw nb::index_error(
      ("'" + wanted + "' is not a field of " + repr_of(nb::cast(v.dtype()))).c_str());
}

}  // namespace

any_view indexed(const any_view& v, nb::handle key) {
  if (PyUnicode_Check(key.ptr())) return field_of_records(v, key);
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
  if (consumed > v.rank()) {
    throw nb::index_error(("too many indices for array: array is " + std::to_string(v.rank()) +
                           "-dimensional, but " + std::to_string(consumed) + " were indexed")
                              .c_str());
  }

  any_view out = v;
  int axis = 0;
  int source_axis = 0;
  for (Py_ssize_t k = 0; k < n; ++k) {
    const nb::handle item = items[k];
    if (item.ptr() == Py_Ellipsis) {
      axis += v.rank() - consumed;
      source_axis += v.rank() - consumed;
    } else if (item.is_none()) {
      out = out.with_layout(out.layout().with_axis(axis), 0);
      ++axis;
    } else if (PySlice_Check(item.ptr())) {
      apply_slice(out, item, axis++);
      ++source_axis;
    } else {
      apply_integer(out, item, axis, source_axis++);
    }
  }
  return out;
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
    throw nb::value_error(("could not broadcast from shape " + text_of(source.layout().shape()) +
                           " into shape " + text_of(shape))
                              .c_str());
  }
  return v.with_layout(std::move(where), 0);
}

}  // namespace

void assign(const array& target, nb::handle value) {
  const any_view& to = target.elements();
  const extents& shape = to.layout().shape();
  if (to.read_only()) throw nb::value_error("assignment destination is read-only");
  if (is_python_number(value)) {
    const auto element = std::make_unique<std::byte[]>(to.dtype().itemsize());
    to_element(value, to.dtype(), element.get());
    const gil_released released;
    return fill(target, element.get());
  }
  if (const std::optional<array> source = import_array(value)) {
    const any_view repeated = broadcast_to(source->elements(), shape);
    const gil_released released;
    return copy(target, source->with_view(repeated));
  }
  const host_elements source = host_elements::of(value, &to.dtype());
  const any_view repeated = broadcast_to(source.view(), shape);
  const gil_released released;
  copy_from_host(target, repeated);
}

}  // namespace usmx::python
