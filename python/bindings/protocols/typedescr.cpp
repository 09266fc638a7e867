// The fields of a record, from and to the list that the array interface calls `descr` and this
// protocol `typedescr`. Foreign lists may contain themselves: depth and number are limited.
// SPDX-License-Identifier: Apache-2.0
#include "protocols/protocols.hpp"

namespace usmx::python {
namespace {

constexpr int deepest = 32;
constexpr int most_fields = 10'000;

class typedescr_reader {
 public:
  dtype::fields read(nb::handle list, const std::string& where, int depth) {
    if (depth > deepest) malformed(where, "is nested more than 32 levels deep");
    // A copy: reading an item may run code that changes the list.
    const nb::object items = nb::steal(PySequence_Tuple(list.ptr()));
    if (!items.is_valid()) throw nb::python_error();
    dtype::fields out;
    const Py_ssize_t n = PyTuple_GET_SIZE(items.ptr());
    for (Py_ssize_t k = 0; k < n; ++k) {
      if (++seen_ > most_fields) malformed(where, "has more than 10000 fields");
      out.push_back(
          read_one(PyTuple_GET_ITEM(items.ptr(), k), where + "[" + std::to_string(k) + "]", depth));
    }
    return out;
  }

 private:
  field read_one(nb::handle item, const std::string& where, int depth) {
    PyObject* entry = item.ptr();
    if (!PyTuple_Check(entry)) wrong_type(where, item, "a tuple (name, type[, shape])");
    const Py_ssize_t n = PyTuple_GET_SIZE(entry);
    if (n != 2 && n != 3) malformed(where, "is not (name, type) or (name, type, shape)");
    field out;
    read_name(PyTuple_GET_ITEM(entry, 0), where, out);
    if (n == 3) out.shape = read_shape(PyTuple_GET_ITEM(entry, 2), where);
    read_type(PyTuple_GET_ITEM(entry, 1), where, depth, out.type);
    return out;
  }

  static void read_name(nb::handle name, const std::string& where, field& out) {
    PyObject* n = name.ptr();
    if (!PyTuple_Check(n)) {
      if (!PyUnicode_Check(n)) wrong_type(where, name, "a name (str) or (title, name)");
      out.name = read_text(name, where, fault::typedescr_malformed);
      return;
    }
    if (PyTuple_GET_SIZE(n) != 2 || !PyUnicode_Check(PyTuple_GET_ITEM(n, 0)) ||
        !PyUnicode_Check(PyTuple_GET_ITEM(n, 1))) {
      wrong_type(where, name, "a name (str) or (title, name)");
    }
    out.title = read_text(PyTuple_GET_ITEM(n, 0), where, fault::typedescr_malformed);
    out.name = read_text(PyTuple_GET_ITEM(n, 1), where, fault::typedescr_malformed);
  }

  static std::vector<std::int64_t> read_shape(nb::handle shape, const std::string& where) {
    extents e = PyIndex_Check(shape.ptr())
                    ? extents{read_integer(shape, where.c_str(), fault::typedescr_size)}
                    : read_extents(shape, where.c_str(), fault::typedescr_size);
    for (const std::int64_t extent : e) {
      if (extent < 0) malformed(where, "has a negative length in its shape");
    }
    return {e.begin(), e.end()};
  }

  void read_type(nb::handle type, const std::string& where, int depth, dtype& out) {
    if (PyUnicode_Check(type.ptr())) {
      const std::string text = read_text(type, where, fault::typestr_malformed);
      const fault code = dtype::parse(text, out);
      if (code != fault::none) wrong_value(where, type, code);
      return;
    }
    if (!PyList_Check(type.ptr())) wrong_type(where, type, "a type string or a list of fields");
    dtype::fields inner = read(type, where, depth + 1);
    std::size_t bytes = 0;
    fault code = dtype::packed_size(inner, bytes);
    if (code == fault::none) code = dtype::make_record(std::move(inner), bytes, out);
    if (code != fault::none) malformed(where, std::string(message(code)).c_str());
  }

  [[noreturn]] static void malformed(const std::string& where, const char* rule) {
    throw interop_error(fault::typedescr_malformed, where + " " + rule);
  }

  int seen_ = 0;
};

nb::object write_field(const field& f) {
  nb::object name = nb::str(f.name.c_str());
  if (!f.title.empty()) name = nb::make_tuple(nb::str(f.title.c_str()), name);
  const dtype::fields* inner = f.type.members();
  const nb::object type = inner != nullptr ? nb::object(write_typedescr(*inner))
                                           : nb::object(nb::str(f.type.typestr().c_str()));
  if (f.shape.empty()) return nb::make_tuple(name, type);
  nb::list shape;
  for (const std::int64_t n : f.shape) shape.append(nb::int_(n));
  return nb::make_tuple(name, type, nb::tuple(shape));
}

}  // namespace

dtype::fields read_typedescr(nb::handle value) {
  if (!PyList_Check(value.ptr()) && !PyTuple_Check(value.ptr())) {
    wrong_type("typedescr", value, "a list of (name, type[, shape])");
  }
  return typedescr_reader().read(value, "typedescr", 0);
}

nb::list write_typedescr(const dtype::fields& members) {
  nb::list out;
  for (const field& f : members) out.append(write_field(f));
  return out;
}

}  // namespace usmx::python
