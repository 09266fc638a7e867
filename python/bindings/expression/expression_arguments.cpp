// SPDX-License-Identifier: Apache-2.0
#include "expression/expression_arguments.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "array/ndarray.hpp"
#include "kernel/kernel_arguments.hpp"
#include "protocols/protocols.hpp"
#include "runtime/runtime_bindings.hpp"
#include "support/text.hpp"

namespace usmx::python {
namespace {

using detail::called;

operand weak_integer(PyObject* number, const expression_parameter& p) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow == 0) return operand(static_cast<std::int64_t>(value));
  const unsigned long long large = overflow > 0 ? PyLong_AsUnsignedLongLong(number) : 0;
  if (overflow < 0 || PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    PyErr_Format(PyExc_OverflowError, "%s: %R has more than 64 bits", called("input", p).c_str(),
                 number);
    nb::raise_python_error();
  }
  return operand(static_cast<std::uint64_t>(large));
}

[[noreturn]] void refuse(const char* what, const expression_parameter& p, nb::handle obj,
                         const std::string& advice) {
  throw nb::type_error(
      (called(what, p) + ": is of type " + python_type(obj) + ", expected " + advice).c_str());
}

std::string expected() {
  return "USM (a usmx array, or " + expected_protocols() +
         ") or a number; usmx.asarray() copies others into USM";
}

/// A number or an array in a buffer; memory that is no USM is refused.
operand from_buffer(nb::handle obj, const expression_parameter& p, borrowed_arrays& borrowed) {
  const auto buffer = host_buffer::borrow(obj);
  if (!buffer) refuse("input", p, obj, expected());
  const any_view& elements = buffer->elements();
  if (elements.dtype().is_record()) refuse("input", p, obj, expected());
  // NumPy's scalars, and arrays of rank 0, which NumPy sees as the same.
  if (elements.rank() == 0) return operand(elements.dtype(), elements.data());
  if (elements.size() > 0 &&
      kind_of(elements.data(), default_queue().get_context()) == usm_kind::unknown) {
    refuse("input", p, obj, expected());
  }
  auto* const first = elements.first_byte();
  borrowed.push_front(array::bind(
      elements, default_queue(),
      own_python(nb::borrow(obj), first, static_cast<std::size_t>(elements.last_byte() - first))));
  return operand(borrowed.front());
}

/// Not a number, not an array of ours.
const array* foreign_array(nb::handle obj, borrowed_arrays& borrowed) {
  auto imported = import_array(obj);  // of a memory object a copy, which blocks its `free()`
  if (!imported) return nullptr;
  borrowed.push_front(std::move(*imported));
  return &borrowed.front();
}

}  // namespace

operand read_operand(nb::handle obj, const expression_parameter& p, borrowed_arrays& borrowed) {
  if (const auto* a = array_of(obj)) return operand(*a);
  PyObject* const o = obj.ptr();
  if (PyBool_Check(o)) return operand(o == Py_True);
  // NumPy's float64 and complex128 are Python numbers too, with a type of their own.
  if (PyFloat_CheckExact(o)) return operand(PyFloat_AS_DOUBLE(o));
  if (PyLong_Check(o)) return weak_integer(o, p);
  if (PyComplex_CheckExact(o)) {
    return operand(std::complex<double>(PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o)));
  }
  if (o == Py_None || PyUnicode_Check(o)) refuse("input", p, obj, expected());
  if (const auto* a = foreign_array(obj, borrowed)) return operand(*a);
  if (PyObject_CheckBuffer(o)) return from_buffer(obj, p, borrowed);
  refuse("input", p, obj, expected());
}

const array& read_output(nb::handle obj, const expression_parameter& p, borrowed_arrays& borrowed) {
  const auto* a = array_of(obj);
  if (a == nullptr) a = foreign_array(obj, borrowed);
  if (a == nullptr) {
    refuse("output", p, obj, "USM: a usmx array or memory, or " + expected_protocols());
  }
  if (a->elements().read_only()) {
    throw interop_error(fault::read_only, called("output", p) + ": is read-only");
  }
  return *a;
}

sycl::queue queue_of_call(nb::handle queue_or_none, std::span<const operand> operands,
                          std::span<const array* const> outputs) {
  if (!queue_or_none.is_none()) return to_queue(queue_or_none);
  for (const auto& o : operands) {
    if (o.array()) return o.array()->queue();
  }
  for (const auto* a : outputs) {
    if (a) return a->queue();
  }
  return default_queue();
}

void bind_promotion(nb::module_& m) {
  m.def(
      "_result_type",
      [](nb::handle texts, const std::vector<bool>& weak) -> nb::object {
        const auto types = to_texts(texts, "types", "a sequence of type strings");
        if (types.size() != weak.size()) throw nb::value_error("weak: expected one for each type");
        std::vector<operand_type> operands;
        for (std::size_t k = 0; k < types.size(); ++k) {
          dtype type;
          check(dtype::parse(types[k], type), types[k]);
          operands.push_back({type, weak[k]});
        }
        const auto found = result_type(operands);
        return found ? nb::cast(found->typestr()) : nb::none();
      },
      nb::arg("types"), nb::arg("weak"),
      "The type that operands of these type strings meet in; weak ones are Python numbers.");
  m.def(
      "_can_cast_same_kind",
      [](const nb::str& from_text, const nb::str& to_text_) {
        const std::string from = to_text(from_text, "from_");
        const std::string to = to_text(to_text_, "to");
        dtype a, b;
        check(dtype::parse(from, a), from);
        check(dtype::parse(to, b), to);
        return can_cast_same_kind(a, b);
      },
      nb::arg("from_"), nb::arg("to"), "Whether elements are cast without being asked to.");
}

}  // namespace usmx::python
