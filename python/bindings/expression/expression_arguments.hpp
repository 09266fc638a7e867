// Reads what Python passes to a kernel made from an expression: arrays of any library, and numbers
// with the type that NumPy would see in them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "kernel/kernel_arguments.hpp"
#include "support/bindings.hpp"
#include "usmx/expression.hpp"

namespace usmx::python {

/// An input: an ndarray or memory of ours, any object with a protocol, a buffer that is USM, a
/// NumPy scalar (strong) or a Python number (weak). TypeError naming the parameter for anything
/// else; host memory is never copied behind the caller's back. OverflowError beyond 64 bits.
operand read_operand(nb::handle obj, const expression_parameter& parameter,
                     borrowed_arrays& borrowed);
/// An output: USM that may be written. TypeError, ValueError.
const array& read_output(nb::handle obj, const expression_parameter& parameter,
                         borrowed_arrays& borrowed);
/// Whether who reads the output next may not know of our queue, as every object but ours: then the
/// call has to wait before it returns.
inline bool is_read_by_others(nb::handle output) noexcept { return !nb::inst_check(output); }
/// Where a call runs: `queue=`, else the queue of its first array, else the default queue.
sycl::queue queue_of_call(nb::handle queue_or_none, std::span<const operand> operands,
                          std::span<const array* const> outputs = {});

void bind_promotion(nb::module_& m);

}  // namespace usmx::python
