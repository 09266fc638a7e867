// What `usmx.fuse` finds a function to do: its symbols name values of a captured_function, which
// chooses types and writes the kernel as lazy arrays do.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "array/ndarray.hpp"
#include "compute/captured_function.hpp"
#include "compute/operate.hpp"
#include "support/containers.hpp"
#include "support/error_text.hpp"
#include "support/text.hpp"
#include "usmx/elementwise.hpp"
#include "usmx/reduction.hpp"

namespace usmx::python {
namespace {

using detail::captured_function;

std::size_t add_number(captured_function& self, nb::handle value) {
  PyObject* const one[] = {value.ptr()};
  operation_operands read;
  const bool is_read = read.read(one);
  const operand* const number = is_read ? std::get_if<operand>(&read.all.front()) : nullptr;
  if (number == nullptr || number->array()) throw type_error("value: expected a number");
  return self.add_number(*number);
}

std::size_t apply(captured_function& self, nb::handle name, std::vector<std::size_t> operands) {
  const std::string text = to_text(name, "name");
  if (const auto part = self.apply_part(text, operands)) return *part;
  const operation* const op = find_operation(text);
  if (op == nullptr || op->arity != static_cast<int>(operands.size())) {
    throw value_error("name: '{}': there is no such operation of {} values", text, operands.size());
  }
  try {
    return self.apply(*op, operands);
  } catch (const interop_error& e) {
    if (e.code() == fault::dtype_mismatch) throw nb::type_error(e.what());
    throw;
  }
}

}  // namespace

void bind_captured(nb::module_& m) {
  nb::class_<captured_function>(m, "_CapturedFunction",
                                "What a fused function does to its arguments, in numbered values.")
      .def(nb::init<>())
      .def(
          "argument",
          [](captured_function& self, nb::handle dtype, bool weak) {
            return self.add_argument(to_dtype(dtype), weak);
          },
          nb::arg("dtype"), nb::arg("weak"),
          nb::sig("def argument(self, dtype: DTypeLike, weak: bool) -> int"),
          "The next argument; one that is a number of Python's is weak.")
      .def("number", add_number, nb::arg("value"),
           nb::sig("def number(self, value: object) -> int"), "A number of the function itself.")
      .def("same", &captured_function::add_same, nb::arg("value"), nb::arg("weak"),
           nb::sig("def same(self, value: int, weak: bool) -> int"),
           "The same value as a weak one, or as one that is not.")
      .def(
          "cast",
          [](captured_function& self, std::size_t value, nb::handle dtype) {
            return self.add_cast(value, to_dtype(dtype));
          },
          nb::arg("value"), nb::arg("dtype"),
          nb::sig("def cast(self, value: int, dtype: DTypeLike) -> int"),
          "The value in another type.")
      .def("apply", apply, nb::arg("name"), nb::arg("operands"),
           nb::sig("def apply(self, name: str, operands: Sequence[int]) -> int"),
           "What an operation of the table gives; also \"complex\", \"mantissa\", \"exponent\" and "
           "\"ldexp\".")
      .def(
          "dtype",
          [](const captured_function& self, std::size_t value) {
            return dtype_object(self.type(value));
          },
          nb::arg("value"), nb::sig("def dtype(self, value: int) -> NumpyDType"),
          "The type of a value.")
      .def("is_weak", &captured_function::is_weak, nb::arg("value"),
           nb::sig("def is_weak(self, value: int) -> bool"), "Whether it adapts to other types.")
      .def(
          "fits",
          [](const captured_function& self) {
            nb::list out = new_list();
            for (const auto& [argument, type] : self.fits()) {
              out.append(nb::make_tuple(argument, dtype_object(type)));
            }
            return out;
          },
          nb::sig("def fits(self) -> list[tuple[int, NumpyDType]]"),
          "Arguments that are ints of Python's, and the types that they have to fit into.")
      .def(
          "elementwise",
          [](const captured_function& self, const std::vector<std::size_t>& outputs,
             nb::handle name, bool contract, bool driver_math) {
            return self.elementwise(outputs, to_text(name, "name"),
                                    to_options(nb::make_tuple(), contract, driver_math));
          },
          nb::arg("outputs"), nb::arg("name"), nb::arg("contract"), nb::arg("driver_math"),
          nb::sig("def elementwise(self, outputs: Sequence[int], name: str, contract: bool, "
                  "driver_math: bool) -> ElementwiseKernel"),
          "The kernel that stores values.")
      .def(
          "reduction",
          [](captured_function& self, std::size_t of, nb::handle name, bool contract,
             bool driver_math, nb::handle value, nb::handle result, nb::handle map,
             nb::handle reduce, nb::handle post_map, nb::handle identity, nb::handle reduce_type) {
            return self.reduction(
                of, to_reduction(value, result, map, reduce, post_map, identity, reduce_type),
                to_text(name, "name"), to_options(nb::make_tuple(), contract, driver_math));
          },
          nb::arg("of"), nb::arg("name"), nb::arg("contract"), nb::arg("driver_math"),
          nb::kw_only(), nb::arg("value"), nb::arg("result"), nb::arg("map") = "x",
          nb::arg("reduce"), nb::arg("post_map") = "a", nb::arg("identity") = nb::none(),
          nb::arg("reduce_type") = "",
          nb::sig("def reduction(self, of: int, name: str, contract: bool, driver_math: bool, *, "
                  "value: DTypeLike, result: DTypeLike, map: str = 'x', reduce: str, post_map: "
                  "str = 'a', identity: str | None = None, reduce_type: str = '') -> "
                  "ReductionKernel"),
          "The kernel that reduces a value, as `_reduce` reduces arrays.");
}

}  // namespace usmx::python
