// Reads what Python passes to a kernel made from an expression, arrays of any library and numbers
// with the type that NumPy would see in them, and calls the kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernel/kernel_arguments.hpp"
#include "runtime/runtime_bindings.hpp"
#include "support/bindings.hpp"
#include "usmx/expression.hpp"

namespace usmx::python {

/// None, a str of C++, or a number as C++ writes it.
std::optional<std::string> identity_argument(nb::handle obj);
/// A Python int as an operand. OverflowError beyond 64 bits, which begins with `where`.
operand whole_number(PyObject* number, const std::string& where = {});
/// An int; TypeError naming the argument for anything else, bool too.
int axis_argument(nb::handle obj);

/// Inputs and given outputs of a call, and where and when it runs. The objects are borrowed from
/// it.
class expression_call {
 public:
  /// An input is an ndarray or memory of ours, any object with a protocol, a buffer in memory that
  /// the device uses, a NumPy scalar (strong) or a Python number (weak); an output is such memory
  /// that may be written. TypeError naming the parameter for anything else: host memory is never
  /// copied silently.
  /// OverflowError beyond 64 bits, ValueError for a read-only output.
  expression_call(const expression_kernel& kernel, PyObject* args, PyObject* out, nb::handle queue,
                  nb::handle depends_on);

  /// Runs `kernel.submit` without the GIL and returns what Python gets: the output, or a tuple of
  /// several. `how` is the argument that each kind of kernel has for itself.
  template <class Kernel, class How>
  nb::object run(const Kernel& kernel, const How& how) {
    try {
      const gil_released release;
      kernel.submit(queue_, in_, std::span(out_), how, before_, order_);
      if (waits_) wait(queue_);
    } catch (const interop_error& e) {
      if (e.code() == fault::kind_mismatch || e.code() == fault::dtype_mismatch) {
        throw nb::type_error(e.what());
      }
      throw;
    }
    return result();
  }

 private:
  nb::object result();

  borrowed_arrays borrowed_;
  std::vector<operand> in_;
  std::vector<expression_output> out_;
  /// Null for an output to be made.
  std::vector<PyObject*> out_objects_;
  /// An output is not an array of ours, whose readers may not know of our queue; or an argument is
  /// a view of the host, see borrowed_arrays.
  bool waits_ = false;
  sycl::queue queue_;
  std::vector<sycl::event> before_;
  ordering order_;
};

/// The parameters as they were written.
nb::tuple signature_of(std::span<const expression_parameter> parameters);

/// The first two arguments of the constructors, for pickles.
void add_parameters(nb::list& args, const expression_kernel& kernel);

/// What all three classes have.
template <class Kernel>
void bind_expression_kernel(nb::class_<Kernel>& c, const char* class_name) {
  c.def_prop_ro(
       "name", [](const Kernel& k) { return k.name(); }, "As traces show it.")
      .def("__repr__", [class_name](const Kernel& k) {
        return "<usmx." + std::string(class_name) + " '" + k.name() + "'>";
      });
}

void bind_reduction(nb::module_& m);  // bind_reduction.cpp
void bind_scan(nb::module_& m);       // bind_reduction.cpp

}  // namespace usmx::python
