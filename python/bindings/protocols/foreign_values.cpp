// Reads Python values that others made. Every reader takes a value exactly once and says where it
// stood when it is wrong, because the producer's author, not ours, has to act on the message.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <limits>

#include "protocols/protocols.hpp"

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
    const std::string place = std::string(where) + "[" + std::to_string(k) + "]";
    out[k] = read_integer(items[k], place.c_str(), too_big);
  }
  return out;
}

[[noreturn]] void too_many(const char* where, Py_ssize_t n) {
  throw interop_error(fault::rank_too_high, std::string(where) + ": " + std::to_string(n) +
                                                " dimensions; at most " + std::to_string(max_rank) +
                                                " are supported");
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

void wrong_type(const std::string& where, nb::handle value, const char* expected) {
  throw nb::type_error((where + ": " + describe_value(value) + "; expected " + expected).c_str());
}

void wrong_value(const std::string& where, nb::handle value, fault rule) {
  throw interop_error(rule,
                      where + ": " + describe_value(value) + " " + std::string(message(rule)));
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
                        std::string(where) + ": " + describe_value(value) + "; expected 64 bits");
  }
  return v;
}

std::uintptr_t read_address(nb::handle value, const char* where) {
  const nb::object number = as_int(value.ptr());
  if (!number.is_valid()) wrong_type(where, value, "the address as an integer");
  const std::size_t v = PyLong_AsSize_t(number.ptr());
  if (v == std::numeric_limits<std::size_t>::max() && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw interop_error(fault::address_overflow, std::string(where) + ": " + describe_value(value) +
                                                     "; expected an address, 0 <= address < 2**64");
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
      throw interop_error(too_big, std::string(where) + ": a sequence that ends after " +
                                       std::to_string(k) + " of the " + std::to_string(n) +
                                       " items of its length");
    }
    PyTuple_SET_ITEM(items.ptr(), k, item);
  }
  return read_items(&PyTuple_GET_ITEM(items.ptr(), 0), static_cast<std::size_t>(n), where, too_big);
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

}  // namespace usmx::python
