// One call of a kernel from expressions, whichever kind it is: its operands are checked, their
// types found, its outputs made, its programs compiled once and launched in order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/aliasing.hpp"
#include "expression/source.hpp"
#include "kernel/kernel_table.hpp"
#include "usmx/copy.hpp"
#include "usmx/expression.hpp"

namespace usmx::detail {

/// Whether a word is in C++ text by itself; comments and strings count as text.
bool has_word(std::string_view text, std::string_view word) noexcept;
/// Throws std::invalid_argument naming the argument if there is nothing but white space.
void require_text(const char* argument, std::string_view text);
bool is_blank(std::string_view text) noexcept;

/// The parameters of a kernel and what its name is.
struct expression_signature {
  /// A kernel that `joins` values has an input that is not raw, contiguous raw inputs, and outputs
  /// which are not raw and not called `a` or `b`. Throws std::invalid_argument.
  expression_signature(std::string_view in_params, std::string_view out_params, std::string name,
                       bool joins);

  std::span<const expression_parameter> inputs() const noexcept {
    return {parameters.data(), input_count};
  }
  std::span<const expression_parameter> outputs() const noexcept {
    return std::span(parameters).subspan(input_count);
  }

  std::vector<expression_parameter> parameters;  // inputs, then outputs
  std::size_t input_count = 0;
  std::string name;
  bool joins;
};

/// What every kernel from expressions keeps.
struct expression_state {
  expression_state(expression_signature its_signature, std::string_view kind,
                   std::vector<std::string> its_options)
      : signature(std::move(its_signature)),
        kernel_name(signature.name + std::string(kind)),
        options(std::move(its_options)) {}

  expression_signature signature;
  /// Of the function in the texts.
  std::string kernel_name;
  std::vector<std::string> options;
  mutable kernel_table<expression_types> programs;
};
/// What the caller of a kernel asks for.
struct call_request {
  const sycl::queue& queue;
  std::span<const operand> in;
  std::span<expression_output> out;
  std::span<const sycl::event> depends;
  ordering order;
  bool needs_event;
};

/// Of a kernel whose calls take a `How`.
template <class How>
struct callable_state : expression_state {
  using expression_state::expression_state;
  virtual ~callable_state() = default;
  /// Returns the event of the last command, if the request needs one.
  virtual std::optional<sycl::event> run(const call_request& asked, const How& how) const = 0;
};
using expression_program = kernel_table<expression_types>::entry;

class expression_call {
 public:
  /// Checks number and memory of the operands: within reach, outputs writable, each element once
  /// and not shared with another output. Throws std::invalid_argument, interop_error.
  expression_call(const expression_state& kernel, const call_request& asked);

  const sycl::queue& queue() const noexcept { return asked_.queue; }
  std::span<const operand> in() const noexcept { return asked_.in; }
  std::size_t outputs() const noexcept { return asked_.out.size(); }
  const expression_signature& signature() const noexcept { return kernel_.signature; }
  /// Whether a parameter is visited element by element: an array that is not raw, or an output.
  bool is_visited(std::size_t parameter) const noexcept {
    return !signature().parameters[parameter].raw &&
           (parameter >= in().size() || in()[parameter].array());
  }
  /// Null for a number, and for an output that was not made yet. Outputs are where they are
  /// written, which may be a temporary.
  const array* array_at(std::size_t parameter) const noexcept {
    if (parameter < in().size()) return in()[parameter].array();
    const std::size_t o = parameter - in().size();
    if (!temporaries_.empty() && temporaries_[o]) return &*temporaries_[o];
    if (asked_.out[o].given) return asked_.out[o].given;
    return has_made_ ? &asked_.out[o].made : nullptr;
  }
  const array& output(std::size_t o) const noexcept { return *array_at(in().size() + o); }

  /// What all inputs that are not raw broadcast to.
  extents input_shape() const;
  /// Throws std::invalid_argument if a given output that is not raw has another shape.
  void check_output_shapes(const extents& shape) const;

  /// Given outputs are written in temporaries if `is_safe(input, output, parameter)` is false for
  /// an input that shares their memory. With `keeps` the temporaries begin with what was there.
  template <class IsSafe>
  void separate_outputs(bool keeps, IsSafe is_safe) {
    for (std::size_t o = 0; o < asked_.out.size(); ++o) {
      const array* out = asked_.out[o].given;
      if (!out || signature().outputs()[o].raw) continue;
      for (std::size_t j = 0; j < in().size(); ++j) {
        const array* a = in()[j].array();
        if (!a || !overlap(out->elements(), a->elements())) continue;
        if (is_safe(a->elements(), out->elements(), signature().parameters[j])) continue;
        write_in_temporary(o, keeps);
        break;
      }
    }
  }

  /// Types of operands and given outputs, as part of a key.
  std::string type_key() const;
  /// The program of a key, which includes `type_key`, with the types of the call. Throws
  /// interop_error (dtype_mismatch).
  expression_program& find(const std::string& key) const {
    return kernel_.programs.find(key, [&] { return types(); });
  }
  /// Packed, with the axes of a shape in the order in which the inputs have them.
  layout output_layout(const extents& shape) const;
  /// What `joint_kind` gives for the inputs.
  usm_kind kind_of_outputs() const;
  /// Makes the outputs that were not given. Throws allocation_error.
  void make_outputs(const expression_types& types, const layout& where);

  /// The kernel of the text that `bind(parameter_list&)` returns. Throws build_error, about the
  /// user's part of the text if that is to blame, and for a type that the device does not compute
  /// with.
  template <class Bind>
  const kernel& compiled(expression_program& program, Bind&& bind) const {
    return kernel_.programs.get(program, queue(), [&] {
      return compile(program.known, [&](parameter_list& list) { return bind(list); });
    });
  }
  /// Launches after all that was launched before. The last launch makes no event if none is needed.
  void launch(const kernel& k, const launch_range& range, const parameter_list& list, bool is_last);
  /// Launches so many groups of `items`, of the text that `bind` writes.
  template <class Bind>
  void launch_groups(const std::string& key, std::int64_t groups, int items, bool is_last,
                     Bind&& bind) {
    const kernel& k = compiled(find(key), bind);
    parameter_list list(false, 24);
    bind(list);
    const auto local = static_cast<std::size_t>(items);
    const std::size_t global = static_cast<std::size_t>(groups) * local;
    launch(k, launch_range(std::span(&global, 1), std::span(&local, 1)), list, is_last);
  }
  /// What is launched next comes after `event`.
  void then(sycl::event event);
  /// The events that the next command has to be given.
  std::span<const sycl::event> before() const noexcept { return before_; }

  /// Copies temporaries into their outputs. Returns the last event, if one is needed.
  std::optional<sycl::event> finish();
  /// Of a call without elements: only an event, of all that the call would come after.
  std::optional<sycl::event> finish_without_elements();

 private:
  expression_types types() const;
  std::pair<kernel, std::string> compile(
      const expression_types& types, const std::function<std::string(parameter_list&)>& bind) const;
  void write_in_temporary(std::size_t output, bool keeps);

  const expression_state& kernel_;
  const call_request& asked_;
  std::vector<std::optional<array>> temporaries_;
  bool has_made_ = false;
  std::span<const sycl::event> before_;
  std::vector<sycl::event> own_before_;
  std::optional<sycl::event> last_;
};

}  // namespace usmx::detail
