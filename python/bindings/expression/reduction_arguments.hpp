// What reductions and scans read alike from a call in Python.
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

/// A str; TypeError naming the argument for anything else.
/// None, a str of C++, or a number as C++ writes it.
std::optional<std::string> identity_argument(nb::handle obj);
/// An int; TypeError naming the argument for anything else, bool too.
int axis_argument(nb::handle obj);

/// Inputs and given outputs of a call, and where and when it runs.
struct expression_call {
  expression_call(std::span<const expression_parameter> inputs,
                  std::span<const expression_parameter> outputs, const std::string& name,
                  nb::args args, nb::handle out, nb::handle queue, nb::handle depends_on);

  /// The events that it comes after. Call without the GIL.
  std::vector<sycl::event> order() const;

  borrowed_arrays borrowed;
  std::vector<operand> in;
  /// Null for an output to be made.
  std::vector<const array*> out;
  std::vector<nb::object> out_objects;
  sycl::queue queue;
  std::optional<std::vector<sycl::event>> before;
};

/// Runs `enqueue(queue, in, outputs, before)` without the GIL and returns what Python gets: the
/// output, or a tuple of several.
template <class Enqueue>
nb::object run_call(expression_call& call, Enqueue enqueue) {
  std::vector<expression_output> outputs(call.out.size());
  for (std::size_t k = 0; k < outputs.size(); ++k) outputs[k].given = call.out[k];
  const bool has_readers_elsewhere = std::ranges::any_of(
      call.out_objects, [](const nb::object& o) { return !o.is_none() && is_read_by_others(o); });
  try {
    const gil_released release;
    enqueue(call.queue, call.in, outputs, call.order());
    if (has_readers_elsewhere) wait(call.queue);
  } catch (const interop_error& e) {
    if (e.code() == fault::kind_mismatch || e.code() == fault::dtype_mismatch) {
      throw nb::type_error(e.what());
    }
    throw;
  }
  nb::list results;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    results.append(call.out[k] ? call.out_objects[k] : wrap_array(std::move(outputs[k].made)));
  }
  return outputs.size() == 1 ? nb::object(results[0]) : nb::object(nb::tuple(results));
}

void bind_reduction(nb::module_& m);  // bind_reduction.cpp
void bind_scan(nb::module_& m);       // bind_scan.cpp

}  // namespace usmx::python
