// What operators do on arrays, which do not compute with them yet: single elements compare as the
// numbers that they are, and everything else raises an error that says what to use. A quiet False
// from comparing identities would be worse.
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include "array/ndarray.hpp"
#include "protocols/protocols.hpp"
#include "support/slot_errors.hpp"

namespace usmx::python {
namespace {

constexpr const char* alternatives =
    "; use usmx.fuse, usmx.ElementwiseKernel, dpnp.asarray(x), which shares the memory, or "
    "x.to_numpy()";

[[noreturn]] void refuse(const char* what) {
  throw nb::type_error((std::string(what) + alternatives).c_str());
}

[[noreturn]] void refuse_comparison() {
  refuse("comparing arrays of more than one element is not supported yet");
}

/// The only element of an array without dimensions as a Python number; not valid for others.
nb::object scalar_of(const array& a) {
  const any_view& v = a.elements();
  if (v.rank() != 0) return {};
  return from_element(bytes_in(to_bytes(a)), v.dtype());
}

/// A Python number compared with an element of a narrow type is rounded to that type, as NumPy does
/// it: an element that was set to 0.1 is equal to 0.1.
nb::object rounded(nb::object number, const dtype& type) {
  const type_class kind = type.kind();
  const bool is_narrow = (kind == type_class::floating && type.itemsize() < 8) ||
                         (kind == type_class::complex && type.itemsize() < 16);
  if (!is_narrow || !is_python_number(number)) return number;
  if (kind == type_class::floating && PyComplex_Check(number.ptr())) return number;
  std::byte element[16];
  try {
    to_element(number, type, element);
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_OverflowError)) throw;
    return number;  // an integer that no such element is equal to
  }
  return from_element(element, type);
}

/// Whether the other side knows how to compare itself with an array, as NumPy's arrays do.
nb::object comparison_of(nb::handle other, nb::handle self, int op) {
  static constexpr int swapped[] = {Py_GT, Py_GE, Py_EQ, Py_NE, Py_LT, Py_LE};
  const richcmpfunc known = Py_TYPE(other.ptr())->tp_richcompare;
  if (known == nullptr) return {};
  nb::object answer = nb::steal(known(other.ptr(), self.ptr(), swapped[op]));
  if (!answer.is_valid()) nb::raise_python_error();
  return answer.is(nb::handle(Py_NotImplemented)) ? nb::object() : answer;
}

nb::object compared(nb::handle self, nb::handle other, int op) {
  const array* const a = &value_of(self);
  if (const array* const b = array_of(other)) {
    const array right = *b;  // what is compared may change while Python runs
    const nb::object x = scalar_of(*a);
    const nb::object y = scalar_of(right);
    if (!x.is_valid() || !y.is_valid()) refuse_comparison();
    return nb::steal(PyObject_RichCompare(x.ptr(), y.ptr(), op));
  }
  // An array is never None, which is all that code that asks so wants to know.
  if (other.is_none() && (op == Py_EQ || op == Py_NE)) return nb::bool_(op == Py_NE);
  const dtype type = a->elements().dtype();
  if (const nb::object x = scalar_of(*a); x.is_valid()) {
    const nb::object y = rounded(nb::borrow(other), type);
    return nb::steal(PyObject_RichCompare(x.ptr(), y.ptr(), op));
  }
  nb::object answer = comparison_of(other, self, op);
  if (answer.is_valid()) return answer;
  refuse_comparison();
}

bool contained(nb::handle self, nb::handle value) {
  const array a = value_of(self);
  nb::object wanted = nb::borrow(value);
  if (const array* const other = array_of(value)) {
    wanted = scalar_of(*other);
    if (!wanted.is_valid()) refuse("`array in array` is not supported yet");
  }
  const any_view& v = a.elements();
  const dtype type = v.dtype();
  wanted = rounded(std::move(wanted), type);
  const nb::object bytes = to_bytes(a);
  for (std::int64_t k = 0; k < v.size(); ++k) {
    const nb::object element =
        from_element(bytes_in(bytes) + static_cast<std::size_t>(k) * type.itemsize(), type);
    const int is_equal = PyObject_RichCompareBool(element.ptr(), wanted.ptr(), Py_EQ);
    if (is_equal < 0) nb::raise_python_error();
    if (is_equal != 0) return true;
  }
  return false;
}

/// An operator of numbers. The other side's own comes first, if it has one: dpnp's and NumPy's
/// arrays know what to do with ours.
template <auto Slot>
PyObject* arithmetic(PyObject* left, PyObject* right) noexcept {
  for (PyObject* const side : {left, right}) {
    if (array_of(side) != nullptr || is_python_number(side)) continue;
    const PyNumberMethods* const theirs = Py_TYPE(side)->tp_as_number;
    if (theirs != nullptr && theirs->*Slot != nullptr) Py_RETURN_NOTIMPLEMENTED;
  }
  PyErr_Format(PyExc_TypeError, "arithmetic on usmx arrays is not supported yet%s", alternatives);
  return nullptr;
}

PyObject* power(PyObject* left, PyObject* right, PyObject*) noexcept {
  return arithmetic<&PyNumberMethods::nb_power>(left, right);
}

PyObject* unary(PyObject*) noexcept {
  PyErr_Format(PyExc_TypeError, "arithmetic on usmx arrays is not supported yet%s", alternatives);
  return nullptr;
}

PyObject* compare(PyObject* self, PyObject* other, int op) noexcept {
  try {
    nb::object answer = compared(self, other, op);
    return answer.release().ptr();  // null with an error, where Python's comparison raised
  } catch (...) {
    return raise_current();
  }
}

int contains(PyObject* self, PyObject* value) noexcept {
  try {
    return contained(self, value) ? 1 : 0;
  } catch (...) {
    raise_current();
    return -1;
  }
}

}  // namespace

void add_operators(std::vector<PyType_Slot>& slots) {
  const auto add = [&](int slot, auto* function) {
    slots.push_back({slot, reinterpret_cast<void*>(function)});
  };
  add(Py_tp_richcompare, compare);
  add(Py_sq_contains, contains);
  add(Py_nb_add, arithmetic<&PyNumberMethods::nb_add>);
  add(Py_nb_subtract, arithmetic<&PyNumberMethods::nb_subtract>);
  add(Py_nb_multiply, arithmetic<&PyNumberMethods::nb_multiply>);
  add(Py_nb_true_divide, arithmetic<&PyNumberMethods::nb_true_divide>);
  add(Py_nb_floor_divide, arithmetic<&PyNumberMethods::nb_floor_divide>);
  add(Py_nb_remainder, arithmetic<&PyNumberMethods::nb_remainder>);
  add(Py_nb_divmod, arithmetic<&PyNumberMethods::nb_divmod>);
  add(Py_nb_matrix_multiply, arithmetic<&PyNumberMethods::nb_matrix_multiply>);
  add(Py_nb_and, arithmetic<&PyNumberMethods::nb_and>);
  add(Py_nb_or, arithmetic<&PyNumberMethods::nb_or>);
  add(Py_nb_xor, arithmetic<&PyNumberMethods::nb_xor>);
  add(Py_nb_lshift, arithmetic<&PyNumberMethods::nb_lshift>);
  add(Py_nb_rshift, arithmetic<&PyNumberMethods::nb_rshift>);
  add(Py_nb_power, power);
  for (const int slot : {Py_nb_negative, Py_nb_positive, Py_nb_absolute, Py_nb_invert})
    add(slot, unary);
}

}  // namespace usmx::python
