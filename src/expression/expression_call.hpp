// What kernels from expressions do alike with the operands of a call and the programs made for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <sycl/context.hpp>
#include <sycl/device.hpp>

#include "expression/source.hpp"
#include "runtime/backend.hpp"
#include "usmx/detail/built_kernels.hpp"
#include "usmx/expression.hpp"

namespace usmx::detail {

/// Throws std::invalid_argument if the queue's device does not reach the array's memory.
void check_memory(const sycl::queue& queue, const char* what, const expression_parameter& p,
                  const array& a);
/// Whether a word stands in C++ text by itself; comments and strings count as text.
bool has_word(std::string_view text, std::string_view word) noexcept;

/// Throws std::invalid_argument for what is no identifier of C++.
void check_kernel_name(std::string_view name);

/// Inputs and outputs of a kernel that has some inputs which are not raw and outputs which all are
/// not. Throws std::invalid_argument.
struct expression_signature {
  expression_signature() = default;
  expression_signature(std::string_view in_params, std::string_view out_params,
                       const std::string& name);

  std::vector<expression_parameter> inputs;
  std::vector<expression_parameter> outputs;
};

/// Checks number, contexts and raw layouts. Throws std::invalid_argument.
void check_inputs(const sycl::queue& queue, const expression_signature& signature,
                  const std::string& name, std::span<const operand> in);
/// Checks the memory of given outputs: within reach, writable, each element once and no other
/// output's. Throws std::invalid_argument, interop_error.
void check_output_memory(const sycl::queue& queue, std::span<const expression_parameter> parameters,
                         std::span<const expression_output> outputs);
/// Checks given outputs against each other and what they shall hold, and returns the types of the
/// call. Throws std::invalid_argument, interop_error, and build_error for a type that the device
/// does not compute with.
expression_types check_outputs(const sycl::queue& queue, const expression_signature& signature,
                               std::span<const operand> in,
                               std::span<const expression_output> outputs, const extents& shape);

/// Where the outputs of a call are written: into themselves, made if they were not given, or beside
/// those whose memory is still read.
class output_places {
 public:
  /// `is_read` says of a given output whether it may not be written while the inputs are read.
  output_places(const sycl::queue& queue, std::span<const operand> in,
                const expression_types& types, const extents& shape,
                std::span<expression_output> outputs,
                const std::function<bool(const array&)>& is_read);

  /// An array for each output, alive as long as this and the outputs are.
  std::vector<const array*> get() const;
  /// Copies what was written beside an output into it, after `last`; the last command's event.
  sycl::event settle(const sycl::queue& queue, sycl::event last) const;

 private:
  std::span<const expression_output> outputs_;
  std::vector<std::optional<array>> beside_;
};
/// Whether an output shares memory with an input.
bool overlaps(const array& out, const operand& in) noexcept;
bool overlaps_inputs(const array& out, std::span<const operand> in) noexcept;
/// Whether they are the same elements in the same places, of types of one size.
bool same_elements(const any_view& a, const any_view& b) noexcept;

/// What all inputs that are not raw broadcast to.
extents shape_of_inputs(const expression_signature& signature, std::span<const operand> in);
/// The step of an array, in elements, along each axis of a shape that it broadcasts to.
std::vector<std::int64_t> steps_over(const extents& shape, const array& a);

/// Adds what a kernel takes to the list, and returns its text if the list writes one.
using bind_function = std::function<std::string(parameter_list&)>;

struct compiled_expression {
  std::string source;
  kernel compiled;
};
/// Compiles a generated text for the place of the queue. Throws build_error, about the user's part
/// of the text if that is to blame.
compiled_expression compile_expression(const sycl::queue& queue, const std::string& name,
                                       std::span<const std::string> options,
                                       const bind_function& bind);

/// Kernels by what their text depends on. Thread-safe.
class program_table {
 public:
  /// Returns the kernel `name` of the text that `bind` writes, compiled for the place of the queue
  /// unless that was done before.
  const kernel& get(const sycl::queue& queue, const std::string& key, const std::string& name,
                    std::span<const std::string> options, const bind_function& bind);
  std::vector<std::string> sources() const;

 private:
  struct entry {
    built_kernels built;
    std::string source;
  };
  mutable std::mutex mutex_;
  std::unordered_map<std::string, entry> known_;
};

/// Launches so many groups of `items` with what `list` holds.
sycl::event launch_groups(const kernel& k, sycl::queue& queue, std::int64_t groups, int items,
                          const parameter_list& list, std::span<const sycl::event> depends);

/// The types of a call as part of a key.
std::string type_key(std::span<const operand> in, std::span<const array* const> given);

}  // namespace usmx::detail
