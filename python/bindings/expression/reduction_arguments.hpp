// What all kernels from expressions read alike from a call in Python.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "expression/expression_arguments.hpp"
#include "kernel/kernel_arguments.hpp"
#include "runtime/runtime_bindings.hpp"
#include "support/bindings.hpp"

namespace usmx::python {

/// None, a str of C++, or a number as C++ writes it.
std::optional<std::string> identity_argument(nb::handle obj);
/// An int; TypeError naming the argument for anything else, bool too.
int axis_argument(nb::handle obj);

/// Inputs and given outputs of a call, and where and when it runs. The objects are borrowed from
/// it.
struct expression_call {
  expression_call(std::span<const expression_parameter> inputs,
                  std::span<const expression_parameter> outputs, const std::string& name,
                  PyObject* args, PyObject* out, nb::handle queue, nb::handle depends_on);

  /// The events that it comes after. Call without the GIL.
  std::vector<sycl::event> order() const;

  borrowed_arrays borrowed;
  std::vector<operand> in;
  std::vector<expression_output> out;
  /// Null for an output to be made.
  std::vector<PyObject*> out_objects;
  /// Inputs that are numbers and outputs that are made are null.
  std::vector<const array*> arrays;
  bool has_readers_elsewhere = false;
  sycl::queue queue;
  std::optional<std::vector<sycl::event>> before;
};

/// Runs `enqueue(queue, in, outputs, before)` without the GIL and returns what Python gets: the
/// output, or a tuple of several.
template <class Enqueue>
nb::object run_call(expression_call& call, Enqueue enqueue) {
  try {
    const gil_released release;
    enqueue(call.queue, call.in, std::span(call.out), call.order());
    if (call.has_readers_elsewhere) wait(call.queue);
  } catch (const interop_error& e) {
    if (e.code() == fault::kind_mismatch || e.code() == fault::dtype_mismatch) {
      throw nb::type_error(e.what());
    }
    throw;
  }
  const auto result = [&](std::size_t n) {
    if (call.out_objects[n] != nullptr) return nb::borrow(call.out_objects[n]);
    return wrap_array(std::move(call.out[n].made));
  };
  if (call.out.size() == 1) return result(0);
  const nb::object all = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(call.out.size())));
  if (!all.is_valid()) throw nb::python_error();
  for (std::size_t n = 0; n < call.out.size(); ++n) {
    PyTuple_SET_ITEM(all.ptr(), static_cast<Py_ssize_t>(n), result(n).release().ptr());
  }
  return all;
}

void bind_reduction(nb::module_& m);  // bind_reduction.cpp
void bind_scan(nb::module_& m);       // bind_scan.cpp

}  // namespace usmx::python
