// Reads Python values of other libraries. Every reader takes a value exactly once and names its
// place when it is wrong, because the author of the producer has to act on the message.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <limits>

#include "protocols/protocols.hpp"
#include "support/containers.hpp"
#include "support/error_text.hpp"
#include "support/text.hpp"

namespace usmx::python {
namespace {

constexpr std::size_t longest_text = 80;

bool is_numpy_bool(PyObject* value) noexcept {
  const char* type = Py_TYPE(value)->tp_name;
  return std::strcmp(type, "numpy.bool") == 0 || std::strcmp(type, "numpy.bool_") == 0;
}

/// A new reference to an int for anything that is one; null and no error if it is none.
nb::object as_int(PyObject* value) {
  if (PyBool_Check(value)) return {};
  if (PyLong_Check(value)) return nb::borrow(value);
  if (!PyIndex_Check(value)) return {};
  PyObject* index = PyNumber_Index(value);
  if (index == nullptr) throw nb::python_error();
  return nb::steal(index);
}

extents read_items(PyObject* const* items, std::size_t n, const char* where, fault too_big) {
  extents out(n);
  for (std::size_t k = 0; k < n; ++k) {
    // The plain case needs no text for its place.
    if (PyLong_CheckExact(items[k])) {
      int overflow = 0;
      const long long v = PyLong_AsLongLongAndOverflow(items[k], &overflow);
      if (overflow == 0) {
        out[k] = v;
        continue;
      }
    }
    const std::string place = detail::format("{}[{}]", where, k);
    out[k] = read_integer(items[k], place.c_str(), too_big);
  }
  return out;
}

[[noreturn]] void too_many(const char* where, Py_ssize_t n) {
  throw interop_error(
      fault::rank_too_high,
      detail::format("{}: {} dimensions; at most {} are supported", where, n, max_rank));
}

}  // namespace

std::string describe_value(nb::handle value) {
  std::string text;
  // Lists may hold what takes long to print, and numbers of 10 000 digits refuse to be printed.
  if (PyObject* repr = PyObject_Repr(value.ptr())) {
    if (const char* utf8 = PyUnicode_AsUTF8(repr)) text = utf8;
    Py_DECREF(repr);
  }
  PyErr_Clear();
  if (text.size() > longest_text) {
    std::size_t end = longest_text;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    text.resize(end);
    text += "...";
  }
  if (value.is_none()) return "None";
  const std::string type = Py_TYPE(value.ptr())->tp_name;
  return text.empty() ? "a value (" + type + ")" : text + " (" + type + ")";
}

void wrong_type(const std::string& where, nb::handle value, std::string_view expected) {
  throw type_error("{}: {}; expected {}", where, describe_value(value), expected);
}

void wrong_value(const std::string& where, nb::handle value, fault rule) {
  throw interop_error(rule,
                      detail::format("{}: {} {}", where, describe_value(value), message(rule)));
}

std::int64_t read_integer(nb::handle value, const char* where, fault too_big) {
  if (PyLong_CheckExact(value.ptr())) {
    int overflow = 0;
    const long long v = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow == 0) return v;
  }
  const nb::object number = as_int(value.ptr());
  if (!number.is_valid()) wrong_type(where, value, "an integer");
  int overflow = 0;
  const long long v = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0) {
    throw interop_error(too_big,
                        detail::format("{}: {}; expected 64 bits", where, describe_value(value)));
  }
  return v;
}

std::uintptr_t read_address(nb::handle value, const char* where) {
  const nb::object number = as_int(value.ptr());
  if (!number.is_valid()) wrong_type(where, value, "the address as an integer");
  const std::size_t v = PyLong_AsSize_t(number.ptr());
  if (v == std::numeric_limits<std::size_t>::max() && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw interop_error(fault::address_overflow,
                        detail::format("{}: {}; expected an address, 0 <= address < 2**64", where,
                                       describe_value(value)));
  }
  return v;
}

extents read_extents(nb::handle value, const char* where, fault too_big) {
  PyObject* v = value.ptr();
  if (PyTuple_Check(v)) {
    const Py_ssize_t n = PyTuple_GET_SIZE(v);
    if (n > max_rank) too_many(where, n);
    return read_items(&PyTuple_GET_ITEM(v, 0), static_cast<std::size_t>(n), where, too_big);
  }
  constexpr const char* expected = "a tuple of integers";
  if (PyUnicode_Check(v) || PyBytes_Check(v) || PyByteArray_Check(v) || !PySequence_Check(v) ||
      PyObject_HasAttrString(v, "keys")) {
    wrong_type(where, value, expected);
  }
  const Py_ssize_t n = PySequence_Size(v);
  if (n < 0) throw nb::python_error();
  if (n > max_rank) too_many(where, n);
  // Taken out before any item is looked at: an item's `__index__` may change the sequence.
  const nb::object items = nb::steal(PyTuple_New(n));
  if (!items.is_valid()) throw nb::python_error();
  for (Py_ssize_t k = 0; k < n; ++k) {
    PyObject* item = PySequence_GetItem(v, k);
    if (item == nullptr) {
      if (PyErr_ExceptionMatches(PyExc_IndexError) == 0) throw nb::python_error();
      PyErr_Clear();
      throw interop_error(
          too_big, detail::format("{}: a sequence that ends after {} of the {} items of its length",
                                  where, k, n));
    }
    PyTuple_SET_ITEM(items.ptr(), k, item);
  }
  return read_items(&PyTuple_GET_ITEM(items.ptr(), 0), static_cast<std::size_t>(n), where, too_big);
}

std::size_t read_size(nb::handle value, const char* where) {
  const std::int64_t bytes = read_integer(value, where, fault::shape_overflow);
  if (bytes < 0) throw value_error("{}: {} is negative; expected a number of bytes", where, bytes);
  return static_cast<std::size_t>(bytes);
}

nb::tuple tuple_of(const extents& e) {
  const nb::object out = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(e.size())));
  if (!out.is_valid()) throw nb::python_error();
  for (std::size_t k = 0; k < e.size(); ++k) {
    PyObject* const item = PyLong_FromLongLong(e[k]);
    if (item == nullptr) throw nb::python_error();
    PyTuple_SET_ITEM(out.ptr(), static_cast<Py_ssize_t>(k), item);
  }
  return nb::borrow<nb::tuple>(out);
}

std::string read_text(nb::handle value, const std::string& where, fault malformed) {
  if (!PyUnicode_Check(value.ptr())) wrong_type(where, value, "a str such as '<f4'");
  Py_ssize_t n = 0;
  const char* text = PyUnicode_AsUTF8AndSize(value.ptr(), &n);
  if (text == nullptr) {
    PyErr_Clear();
    wrong_value(where, value, malformed);
  }
  return {text, static_cast<std::size_t>(n)};
}

bool read_flag(nb::handle value, const char* where) {
  if (value.ptr() == Py_True) return true;
  if (value.ptr() == Py_False) return false;
  if (is_numpy_bool(value.ptr())) return PyObject_IsTrue(value.ptr()) == 1;
  if (const nb::object number = as_int(value.ptr()); number.is_valid()) {
    int overflow = 0;
    const long long v = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (overflow == 0 && (v == 0 || v == 1)) return v == 1;
  }
  wrong_type(where, value, "True (read-only) or False");
}

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
          read_one(PyTuple_GET_ITEM(items.ptr(), k), detail::format("{}[{}]", where, k), depth));
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
    throw interop_error(fault::typedescr_malformed, detail::format("{} {}", where, rule));
  }

  int seen_ = 0;
};

nb::object write_field(const field& f) {
  nb::object name = new_text(f.name);
  if (!f.title.empty()) name = nb::make_tuple(new_text(f.title), name);
  const dtype::fields* inner = f.type.description();
  const nb::object type = inner != nullptr ? nb::object(write_typedescr(*inner))
                                           : nb::object(new_text(f.type.typestr()));
  if (f.shape.empty()) return nb::make_tuple(name, type);
  nb::list shape = new_list();
  for (const std::int64_t n : f.shape) shape.append(nb::int_(n));
  return nb::make_tuple(name, type, nb::tuple(shape));
}

}  // namespace

dtype::fields read_typedescr(nb::handle value, const char* where) {
  if (!PyList_Check(value.ptr()) && !PyTuple_Check(value.ptr())) {
    wrong_type(where, value, "a list of (name, type[, shape])");
  }
  return typedescr_reader().read(value, where, 0);
}

nb::list write_typedescr(const dtype::fields& members) {
  nb::list out = new_list();
  for (const field& f : members) out.append(write_field(f));
  return out;
}

}  // namespace usmx::python
