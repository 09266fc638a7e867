// Compares what a Python function reads now with what it read when a program was made of it: a
// pointer for each name as long as nothing changed, the values themselves where an object is new.
// SPDX-License-Identifier: Apache-2.0
#include "kernel/captured_values.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#include "core/format.hpp"
#include "support/attributes.hpp"
#include "support/containers.hpp"
#include "support/self.hpp"
#include "support/signature.hpp"
#include "support/text.hpp"

namespace usmx::python {
namespace {

/// Tuples in tuples deeper than this are compared as objects.
constexpr int most_depth = 32;

bool is_same_text(PyObject* now, PyObject* then) { return PyUnicode_Compare(now, then) == 0; }

bool is_same_double(double a, double b) noexcept {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

/// The bytes of a buffer; empty if the object gives none.
bool has_bytes(PyObject* obj, const char* bytes, Py_ssize_t size) {
  Py_buffer view;
  if (PyObject_GetBuffer(obj, &view, PyBUF_FULL_RO) != 0) {
    PyErr_Clear();
    return false;
  }
  bool same = view.len == size;
  if (same && size != 0) {
    if (PyBuffer_IsContiguous(&view, 'C') != 0) {
      same = std::memcmp(view.buf, bytes, static_cast<std::size_t>(size)) == 0;
    } else {
      std::vector<char> copy(static_cast<std::size_t>(size));
      same = PyBuffer_ToContiguous(copy.data(), &view, size, 'C') == 0 &&
             std::memcmp(copy.data(), bytes, copy.size()) == 0;
    }
  }
  PyBuffer_Release(&view);
  if (PyErr_Occurred() != nullptr) PyErr_Clear();
  return same;
}

/// Whether two objects mean the same in a program. Objects that may change are the same only if
/// they are one object: what is in them has rows of its own.
bool is_same(PyObject* now, PyObject* then, int depth = 0) {
  if (now == then) return true;
  if (Py_TYPE(now) != Py_TYPE(then)) return false;
  if (PyLong_CheckExact(now)) {
    const int found = PyObject_RichCompareBool(now, then, Py_EQ);
    if (found < 0) PyErr_Clear();
    return found == 1;
  }
  if (PyFloat_CheckExact(now)) {
    return is_same_double(PyFloat_AS_DOUBLE(now), PyFloat_AS_DOUBLE(then));
  }
  if (PyComplex_CheckExact(now)) {
    const Py_complex a = PyComplex_AsCComplex(now), b = PyComplex_AsCComplex(then);
    return is_same_double(a.real, b.real) && is_same_double(a.imag, b.imag);
  }
  if (PyUnicode_CheckExact(now)) return is_same_text(now, then);
  if (PyBytes_CheckExact(now)) {
    return PyBytes_GET_SIZE(now) == PyBytes_GET_SIZE(then) &&
           std::memcmp(PyBytes_AS_STRING(now), PyBytes_AS_STRING(then),
                       static_cast<std::size_t>(PyBytes_GET_SIZE(now))) == 0;
  }
  if (PyTuple_Check(now)) {
    const Py_ssize_t size = PyTuple_GET_SIZE(now);
    if (depth == most_depth || size != PyTuple_GET_SIZE(then)) return false;
    for (Py_ssize_t k = 0; k < size; ++k) {
      if (!is_same(PyTuple_GET_ITEM(now, k), PyTuple_GET_ITEM(then, k), depth + 1)) return false;
    }
    return true;
  }
  // A bound method is made anew at each look.
  if (PyMethod_Check(now)) {
    return PyMethod_GET_FUNCTION(now) == PyMethod_GET_FUNCTION(then) &&
           PyMethod_GET_SELF(now) == PyMethod_GET_SELF(then);
  }
  if (is_numpy_scalar(now)) {
    Py_buffer view;
    if (PyObject_GetBuffer(then, &view, PyBUF_FULL_RO) != 0) {
      PyErr_Clear();
      return false;
    }
    const bool same = has_bytes(now, static_cast<const char*>(view.buf), view.len);
    PyBuffer_Release(&view);
    // Of one class, dates of two units and text of two lengths have one dtype object each.
    return same && nb::handle(now).attr("dtype").equal(nb::handle(then).attr("dtype"));
  }
  return false;
}

/// Also where one or both are missing.
bool is_same_or_missing(PyObject* now, PyObject* then) {
  return now == then || (now != nullptr && then != nullptr && is_same(now, then));
}

nb::object defaults_of(PyObject* function) {
  PyObject* const values = PyFunction_GetDefaults(function);
  return nb::borrow(values != nullptr ? values : Py_None);
}

/// What a container holds, as a tuple that later looks are compared with.
nb::object items_of(PyObject* where) {
  if (PyDict_Check(where)) {
    nb::list all = new_list();
    PyObject *key = nullptr, *value = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(where, &at, &key, &value) != 0;) {
      all.append(nb::handle(key));
      all.append(nb::handle(value));
    }
    return nb::tuple(all);
  }
  PyObject* const made = PySequence_Tuple(where);
  if (made == nullptr) throw nb::python_error();
  return nb::steal(made);
}

bool has_items(PyObject* where, PyObject* then) {
  const Py_ssize_t size = PyTuple_GET_SIZE(then);
  if (PyDict_Check(where)) {
    if (PyDict_Size(where) * 2 != size) return false;
    PyObject *key = nullptr, *value = nullptr;
    Py_ssize_t at = 0;
    for (Py_ssize_t k = 0; k < size && PyDict_Next(where, &at, &key, &value) != 0; k += 2) {
      if (!is_same(key, PyTuple_GET_ITEM(then, k)) ||
          !is_same(value, PyTuple_GET_ITEM(then, k + 1))) {
        return false;
      }
    }
    return true;
  }
  if (PyList_Check(where)) {
    if (PyList_GET_SIZE(where) != size) return false;
    for (Py_ssize_t k = 0; k < size && k < PyList_GET_SIZE(where); ++k) {
      if (!is_same(PyList_GET_ITEM(where, k), PyTuple_GET_ITEM(then, k))) return false;
    }
    return true;
  }
  return is_same(items_of(where).ptr(), then);
}

/// Code and defaults of a function as one tuple.
nb::object about_function(PyObject* f) {
  PyObject* const named = PyFunction_GetKwDefaults(f);
  const nb::object by_name =
      named != nullptr && PyDict_Check(named) ? items_of(named) : nb::object(nb::none());
  return nb::make_tuple(nb::borrow(PyFunction_GetCode(f)), defaults_of(f), by_name);
}

bool holds(const captured_values::row& r) {
  using enum captured_values::place;
  PyObject* const where = r.where.ptr();
  PyObject* const then = r.value.ptr();
  switch (r.what) {
    case name: {
      PyObject* const now = PyDict_GetItemWithError(where, r.name.ptr());
      if (now == then) return true;
      if (now == nullptr) PyErr_Clear();
      return is_same_or_missing(now, then);
    }
    case cell:
      return is_same_or_missing(PyCell_GET(where), then);
    case attribute: {
      const nb::object now = nb::steal(PyObject_GetAttr(where, r.name.ptr()));
      if (!now.is_valid()) PyErr_Clear();
      return is_same_or_missing(now.ptr(), then);
    }
    case function: {
      if (PyFunction_GetCode(where) != PyTuple_GET_ITEM(then, 0)) return false;
      PyObject* const defaults = PyFunction_GetDefaults(where);
      if (!is_same(defaults != nullptr ? defaults : Py_None, PyTuple_GET_ITEM(then, 1))) {
        return false;
      }
      PyObject* const named = PyFunction_GetKwDefaults(where);
      PyObject* const before = PyTuple_GET_ITEM(then, 2);
      if (named == nullptr || before == Py_None) return named == nullptr && before == Py_None;
      return has_items(named, before);
    }
    case items:
      return has_items(where, then);
    case item: {
      const nb::object now = nb::steal(PyObject_CallMethod(where, "item", nullptr));
      if (!now.is_valid()) PyErr_Clear();
      return is_same_or_missing(now.ptr(), then);
    }
    default:
      return has_bytes(where, PyBytes_AS_STRING(then), PyBytes_GET_SIZE(then));
  }
}

captured_values::row read_row(nb::handle given) {
  using enum captured_values::place;
  const auto parts = nb::cast<nb::tuple>(given);
  const std::string what = to_text(nb::object(parts[0]), "what");
  captured_values::row r{name, nb::object(parts[1]), {}, {}};
  PyObject* const where = r.where.ptr();
  if (what == "function") {
    if (!PyFunction_Check(where)) throw nb::type_error("captured: expected a function");
    r.what = function;
    r.value = about_function(where);
  } else if (what == "items") {
    if (!PyDict_Check(where) && !PyList_Check(where) && !PyAnySet_Check(where)) {
      throw nb::type_error("captured: expected a list, a dictionary or a set");
    }
    r.what = items;
    r.value = items_of(where);
  } else if (what == "bytes") {
    r.what = bytes;
    r.value = nb::object(parts[2]);
    if (!PyBytes_Check(r.value.ptr())) throw nb::type_error("captured: expected bytes");
  } else if (what == "item") {
    r.what = item;
    r.value = nb::object(parts[2]);
  } else {
    r.what = what == "cell" ? cell : what == "attribute" ? attribute : name;
    const bool fits = r.what == cell        ? PyCell_Check(where)
                      : r.what == attribute ? true
                                            : PyDict_Check(where) != 0;
    if (!fits) throw nb::type_error("captured: expected a cell or a dictionary");
    if (r.what != cell) r.name = nb::object(parts[2]);
    if (nb::len(parts) > 3) r.value = nb::object(parts[3]);
  }
  return r;
}

int traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<captured_values>(self)->traverse(visit, arg) : 0;
}

int clear(PyObject* self) noexcept {
  if (nb::inst_ready(self)) nb::inst_ptr<captured_values>(self)->clear();
  return 0;
}

PyType_Slot slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {0, nullptr},
};

}  // namespace

bool captured_values::hold() const {
  // By number: what runs meanwhile may end the list.
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    if (!holds(rows_[k])) return false;
  }
  return true;
}

int captured_values::traverse(visitproc visit, void* arg) const noexcept {
  for (const row& r : rows_) {
    Py_VISIT(r.where.ptr());
    Py_VISIT(r.name.ptr());
    Py_VISIT(r.value.ptr());
  }
  return 0;
}

bool still_holds(nb::handle captured) {
  if (!captured.is_valid() || !is_ready<captured_values>(captured)) return true;
  const nb::object alive = nb::borrow(captured);
  return nb::inst_ptr<captured_values>(alive)->hold();
}

void bind_captured_values(nb::module_& m) {
  nb::class_<captured_values>(m, "_Captured", "What a function read when a program was made of it.",
                              nb::type_slots(slots))
      .def("__init__(self, rows: list[Any]) -> None"_sig,
           [](nb::pointer_and_handle<captured_values> self, const nb::list& rows) {
             std::vector<captured_values::row> all;
             for (const nb::handle given : rows) all.push_back(read_row(given));
             initialise(self, std::move(all));
           })
      .def(
          "holds", [](nb::handle self) { return self_of<captured_values>(self).hold(); },
          "Whether each place still holds what it held.");
}

}  // namespace usmx::python
