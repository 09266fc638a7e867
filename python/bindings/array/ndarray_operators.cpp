// The operators of arrays: each is a row of the table of operations.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "array/ndarray.hpp"
#include "compute/operate.hpp"
#include "compute/plain_libraries.hpp"
#include "core/format.hpp"
#include "protocols/protocols.hpp"
#include "support/slot_errors.hpp"

namespace usmx::python {
namespace {

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

bool contained(nb::handle self, nb::handle value) {
  const array a = value_of(self);
  nb::object wanted = nb::borrow(value);
  if (const array* const other = array_of(value)) {
    wanted = scalar_of(*other);
    if (!wanted.is_valid()) {
      throw nb::type_error("`array in array`: write (x == y).any() or usmx.isin(x, y)");
    }
  }
  const any_view& v = a.elements();
  const dtype type = v.dtype();
  if (PyList_Check(wanted.ptr()) || (PyTuple_Check(wanted.ptr()) && !type.is_record())) {
    throw nb::type_error("`list in array`: write (x == usmx.asarray(y)).any()");
  }
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

const operation& row_of(const char* name) { return *find_operation(name); }

template <class Function>
PyObject* answered(Function function) noexcept {
  try {
    return function();
  } catch (...) {
    return raise_current();
  }
}

struct row_name {
  char text[16] = {};
  template <std::size_t N>
  consteval row_name(const char (&name)[N]) {  // NOLINT: implicit
    std::copy_n(name, N, text);
  }
};

// Each operator finds its row once.
template <row_name Name>
PyObject* binary(PyObject* left, PyObject* right) noexcept {
  return answered([&] {
    static const operation& op = row_of(Name.text);
    PyObject* const both[] = {left, right};
    return operate(op, both);
  });
}
template <row_name Name>
PyObject* in_place(PyObject* self, PyObject* other) noexcept {
  return answered([&] {
    static const operation& op = row_of(Name.text);
    return operate_in_place(op, self, other);
  });
}
template <row_name Name>
PyObject* unary(PyObject* self) noexcept {
  return answered([&] {
    static const operation& op = row_of(Name.text);
    PyObject* const one[] = {self};
    return operate(op, one);
  });
}

/// x ** 2 is exact, and quicker than a power.
const operation& power_row(PyObject* base, PyObject* exponent) {
  static const operation &any = row_of("power"), &two = row_of("square"), &half = row_of("sqrt"),
                         &inverse = row_of("reciprocal");
  if (!is_ready<ndarray>(base)) return any;
  const type_class kind = nb::inst_ptr<ndarray>(base)->dtype().kind();
  const bool has_fraction = kind == type_class::floating || kind == type_class::complex;
  const auto is = [&](long number, double value) {
    int overflow = 0;
    return PyLong_CheckExact(exponent)
               ? PyLong_AsLongAndOverflow(exponent, &overflow) == number && overflow == 0
               : PyFloat_CheckExact(exponent) && PyFloat_AS_DOUBLE(exponent) == value;
  };
  if (is(2, 2.0) && (has_fraction || PyLong_CheckExact(exponent))) return two;
  if (has_fraction && PyFloat_CheckExact(exponent) && PyFloat_AS_DOUBLE(exponent) == 0.5)
    return half;
  if (has_fraction && is(-1, -1.0)) return inverse;
  return any;
}

/// What a function of `usmx._namespace.linear_algebra` says of two operands.
PyObject* product_by(const char* function, PyObject* left, PyObject* right) noexcept {
  return answered([&]() -> PyObject* {
    return nb::module_::import_("usmx._namespace.linear_algebra")
        .attr(function)(nb::handle(left), nb::handle(right))
        .release()
        .ptr();
  });
}
/// `usmx.matmul`; NotImplemented if the other side is not an array.
PyObject* matrix_multiply(PyObject* left, PyObject* right) noexcept {
  // Of arrays of one kind the result has that kind, and there is nothing to convert.
  if (is_ready<ndarray>(left) && is_ready<ndarray>(right) &&
      nb::inst_ptr<ndarray>(left)->kind() == nb::inst_ptr<ndarray>(right)->kind()) {
    return answered([&]() -> PyObject* {
      try {
        return product_of(left, right).release().ptr();
      } catch (const std::invalid_argument&) {  // Python says what is wrong
      }
      return product_by("matmul_operator", left, right);
    });
  }
  return product_by("matmul_operator", left, right);
}
PyObject* matrix_multiply_in_place(PyObject* self, PyObject* other) noexcept {
  return product_by("matmul_in_place", self, other);
}

PyObject* divmod(PyObject* left, PyObject* right) noexcept {
  return answered([&]() -> PyObject* {
    PyObject* const both[] = {left, right};
    nb::object quotient = nb::steal(operate(row_of("floor_divide"), both));
    if (quotient.ptr() == Py_NotImplemented) return quotient.release().ptr();
    nb::object remainder = nb::steal(operate(row_of("remainder"), both));
    return nb::make_tuple(quotient, remainder).release().ptr();
  });
}

PyObject* power(PyObject* base, PyObject* exponent, PyObject* modulus) noexcept {
  return answered([&]() -> PyObject* {
    if (modulus != Py_None) throw nb::type_error("pow(x, y, z): a modulus is not supported");
    const operation& op = power_row(base, exponent);
    PyObject* const both[] = {base, exponent};
    return operate(op, std::span(both).first(op.arity == 1 ? 1 : 2));
  });
}

PyObject* in_place_power(PyObject* self, PyObject* other, PyObject*) noexcept {
  return answered([&] { return operate_in_place(power_row(self, other), self, other); });
}

PyObject* compare(PyObject* self, PyObject* other, int how) noexcept {
  return answered([&]() -> PyObject* {
    static const operation* const rows[] = {&row_of("less"),    &row_of("less_equal"),
                                            &row_of("equal"),   &row_of("not_equal"),
                                            &row_of("greater"), &row_of("greater_equal")};
    const ndarray& mine = self_of<ndarray>(self);
    if (mine.dtype().is_record() && mine.shape().empty()) {
      // A record of NumPy's, or a tuple.
      const nb::object x = scalar_of(value_of(self));
      const nb::object y =
          is_ready<ndarray>(other) ? scalar_of(value_of(other)) : nb::borrow(other);
      return PyObject_RichCompare(x.ptr(), y.is_valid() ? y.ptr() : other, how);
    }
    if (mine.dtype().is_record() && other != Py_None && (how == Py_EQ || how == Py_NE)) {
      return nb::module_::import_("usmx._namespace.records")
          .attr("compared")(nb::handle(self), nb::handle(other), how == Py_EQ)
          .release()
          .ptr();
    }
    nb::object beyond;
    if (PyLong_Check(other)) {
      // An integer that no element reaches is as good as an infinite one.
      int overflow = 0;
      PyLong_AsLongLongAndOverflow(other, &overflow);
      const bool is_known =
          overflow == 0 ||
          (overflow > 0 && nb::cast<int>(nb::borrow(other).attr("bit_length")()) <= 64);
      if (!is_known) {
        beyond = nb::float_(overflow * std::numeric_limits<double>::infinity());
        other = beyond.ptr();
      }
    }
    // None is compared by identity, which is all that code that asks so wants to know.
    if (other == Py_None && (how == Py_EQ || how == Py_NE)) return PyBool_FromLong(how == Py_NE);
    PyObject* const both[] = {self, other};
    PyObject* const answer = operate(*rows[how], both);
    // The other side may know an answer; if not, Python would compare identities.
    if (answer != Py_NotImplemented || Py_TYPE(other)->tp_richcompare == nullptr ||
        (how != Py_EQ && how != Py_NE)) {
      return answer;
    }
    Py_DECREF(answer);
    nb::object theirs = nb::steal(Py_TYPE(other)->tp_richcompare(other, self, how));
    if (!theirs.is_valid()) nb::raise_python_error();
    if (theirs.ptr() != Py_NotImplemented) return theirs.release().ptr();
    throw nb::type_error(
        detail::format("an array cannot be compared with {}", describe_value(other)).c_str());
  });
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
  const auto add_both = [&](int slot, int slot_in_place, auto* function, auto* function_in_place) {
    add(slot, function);
    add(slot_in_place, function_in_place);
  };
  add_both(Py_nb_add, Py_nb_inplace_add, binary<"add">, in_place<"add">);
  add_both(Py_nb_subtract, Py_nb_inplace_subtract, binary<"subtract">, in_place<"subtract">);
  add_both(Py_nb_multiply, Py_nb_inplace_multiply, binary<"multiply">, in_place<"multiply">);
  add_both(Py_nb_true_divide, Py_nb_inplace_true_divide, binary<"divide">, in_place<"divide">);
  add_both(Py_nb_floor_divide, Py_nb_inplace_floor_divide, binary<"floor_divide">,
           in_place<"floor_divide">);
  add_both(Py_nb_remainder, Py_nb_inplace_remainder, binary<"remainder">, in_place<"remainder">);
  add_both(Py_nb_and, Py_nb_inplace_and, binary<"bitwise_and">, in_place<"bitwise_and">);
  add_both(Py_nb_or, Py_nb_inplace_or, binary<"bitwise_or">, in_place<"bitwise_or">);
  add_both(Py_nb_xor, Py_nb_inplace_xor, binary<"bitwise_xor">, in_place<"bitwise_xor">);
  add_both(Py_nb_lshift, Py_nb_inplace_lshift, binary<"left_shift">, in_place<"left_shift">);
  add_both(Py_nb_rshift, Py_nb_inplace_rshift, binary<"right_shift">, in_place<"right_shift">);
  add(Py_nb_negative, unary<"negative">);
  add(Py_nb_positive, unary<"positive">);
  add(Py_nb_absolute, unary<"absolute">);
  add(Py_nb_invert, unary<"invert">);
  add_both(Py_nb_matrix_multiply, Py_nb_inplace_matrix_multiply, matrix_multiply,
           matrix_multiply_in_place);
  add(Py_nb_divmod, divmod);
  add(Py_nb_power, power);
  add(Py_nb_inplace_power, in_place_power);
}

}  // namespace usmx::python
