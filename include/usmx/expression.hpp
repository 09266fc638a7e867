// What kernels made from expressions share: parameters written as "T x, raw float32 y", the types
// they take from operands, and the C++ text that loads an element. Elementwise kernels, reductions
// and scans derive from `expression_kernel`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "usmx/array.hpp"
#include "usmx/kernel.hpp"
#include "usmx/loops.hpp"
#include "usmx/promotion.hpp"

namespace usmx {

// --- parameters -------------------------------------------------------------------------------

/// One parameter of an expression: "raw T x".
struct expression_parameter {
  /// As written, for messages.
  std::string text;
  /// "T" or "float32".
  std::string type;
  std::string name;
  /// The expression indexes it itself, so it takes no part in broadcasting.
  bool raw = false;
  /// Empty if `type` is a placeholder, which takes its type from the operands.
  std::optional<dtype> fixed;
};

/// Reads "T x, raw float32 y". Types have NumPy's names; a capital letter begins a placeholder, and
/// any single letter is one. `field` names the text in messages.
/// Throws std::invalid_argument naming the parameter: no type or no name, a type that does not
/// exist, a name that is not an identifier or that is taken (`i`, keywords of C++, one used twice).
std::vector<expression_parameter> parse_parameters(std::string_view text, std::string_view field);

namespace detail {
/// "input 'x' (T x)", as messages begin.
std::string called(const char* what, const expression_parameter& p);
}  // namespace detail

// --- operands ---------------------------------------------------------------------------------

/// What a call passes for one parameter: an array, which must outlive the call, or a number.
class operand {
 public:
  operand(const array& a) noexcept : array_(&a) {}  // NOLINT: implicit
  /// A number of C++ is weak as one of Python is: `x + 2` has the type of `x`.
  template <class T>
    requires(std::is_arithmetic_v<T>)
  operand(T value) noexcept : weak_(!std::is_same_v<T, bool>) {  // NOLINT: implicit
    if constexpr (std::is_same_v<T, bool>)
      hold(value);
    else if constexpr (std::is_floating_point_v<T>)
      hold(static_cast<double>(value));
    else if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8)
      hold(static_cast<std::uint64_t>(value));
    else
      hold(static_cast<std::int64_t>(value));
  }
  operand(std::complex<double> value) noexcept : weak_(true) { hold(value); }  // NOLINT: implicit
  /// A number of a type of its own, as NumPy's scalars are, known by its bytes.
  operand(const dtype& type, const void* bytes) noexcept;

  /// Null for a number.
  const usmx::array* array() const noexcept { return array_; }
  bool weak() const noexcept { return weak_; }
  /// The number with the type that it has by itself.
  operand as_strong() const noexcept {
    operand strong(*this);
    strong.weak_ = false;
    return strong;
  }
  const dtype& type() const noexcept { return array_ ? array_->elements().dtype() : type_; }
  /// The number in another type, one of those that it can be cast to. Throws std::overflow_error
  /// if a weak integer does not fit.
  std::array<std::byte, 16> number_as(const dtype& to) const;

 private:
  template <class T>
  void hold(T value) noexcept;

  const usmx::array* array_ = nullptr;
  bool weak_ = false;
  dtype type_;
  alignas(16) std::array<std::byte, 16> bytes_{};
};

/// One output of a call: an array that must outlive it, or one that the call makes.
struct expression_output {
  const array* given = nullptr;
  array made;

  const array& get() const noexcept { return given ? *given : made; }
};

/// The types that the parameters and placeholders of an expression have in a call.
struct expression_types {
  std::vector<dtype> inputs;
  std::vector<dtype> outputs;
  /// Placeholder and type, in the order of their first use.
  std::vector<std::pair<std::string, dtype>> placeholders;
};

/// A placeholder has the type that NumPy gives the operands of all inputs that name it; one that
/// only outputs name has that of the given output. An empty `given` is an output to be made.
/// Throws interop_error (dtype_mismatch) naming the parameter: no operand says the type, no cast of
/// the same kind leads from an operand or to a given output, a raw output of another type, a
/// record.
expression_types resolve_types(std::span<const expression_parameter> inputs,
                               std::span<const expression_parameter> outputs,
                               std::span<const operand> in,
                               std::span<const std::optional<dtype>> given);

// --- C++ text ---------------------------------------------------------------------------------

/// The line that a program from expressions begins with: loads and stores, and the names
/// of the prelude without `usmx::`.
inline constexpr std::string_view expression_include =
    "#include \"usmx/expression.hpp\"\nusing namespace usmx;\n";

/// "expression::load<float, int16_t>(x_, at)": an element of type `own`, as a value of type `as`.
std::string load_text(const dtype& as, const dtype& own, std::string_view pointer,
                      std::string_view index);
/// "expression::store<float>(z_, at, z);" with a cast to the type `own` of the elements.
std::string store_text(const dtype& own, std::string_view pointer, std::string_view index,
                       std::string_view value);
/// "using T = float;" for each placeholder.
std::string placeholder_text(const expression_types& types);
/// How a number travels to a kernel: one scalar, for complex ones real and imaginary part, named
/// `name` or `_re` and `_im` + `name`. `declaration` appends ", float x_", `value` is what the
/// kernel makes of it.
std::string number_declaration(const dtype& type, std::string_view name);
std::string number_value(const dtype& type, std::string_view name);
void add_number(std::vector<kernel_argument>& arguments, const dtype& type, const std::byte* bytes);

/// Throws build_error if the device does not compute with a type.
void require_types(const sycl::device& device, const expression_types& types);

// --- kernels ----------------------------------------------------------------------------------

namespace detail {
struct expression_state;
template <class How>
struct callable_state;
}  // namespace detail

/// What elementwise kernels, reductions and scans have in common; see `expression_kernel_with`.
///
/// A program is compiled for each list of types and kind of layout, once in a process and once on
/// the machine. Cheap to copy, thread-safe.
class expression_kernel {
 public:
  std::span<const expression_parameter> inputs() const noexcept;
  std::span<const expression_parameter> outputs() const noexcept;
  const std::string& name() const noexcept;
  /// The C++ text of every program that was compiled for this kernel so far, in no order.
  std::vector<std::string> sources() const;

 protected:
  explicit expression_kernel(std::shared_ptr<const detail::expression_state> state) noexcept
      : state_(std::move(state)) {}

  std::shared_ptr<const detail::expression_state> state_;
};

/// The calls of one kind of kernel. `How` is what a call says besides its operands: the number of
/// elements, the axes of a reduction, the axis of a scan.
///
/// They throw std::invalid_argument (number of operands, shapes, axes, contexts, outputs that
/// overlap), interop_error (kind_mismatch, dtype_mismatch, read_only), std::overflow_error (a
/// number that does not fit), build_error, allocation_error.
template <class How>
class expression_kernel_with : public expression_kernel {
 public:
  /// Returns the only output, in the kind of memory that `joint_kind` gives. Throws
  /// std::invalid_argument if there are several outputs: `enqueue` takes those.
  array operator()(const sycl::queue& queue, std::initializer_list<operand> inputs,
                   const How& how = {}) const;

  /// Computes into `outputs`, of which those without a `given` array are made. The call comes after
  /// `depends` and, unless `order` is by_hand, after all that was submitted on its arrays on any
  /// queue. Returns the event of the last command.
  sycl::event enqueue(const sycl::queue& queue, std::span<const operand> inputs,
                      std::span<expression_output> outputs, const How& how = {},
                      std::span<const sycl::event> depends = {},
                      ordering order = ordering::automatic) const;
  /// The same without an event, which is quicker: wait for the queue, for the outputs, or for a
  /// `marker` on the queue.
  void submit(const sycl::queue& queue, std::span<const operand> inputs,
              std::span<expression_output> outputs, const How& how = {},
              std::span<const sycl::event> depends = {},
              ordering order = ordering::automatic) const;

 protected:
  explicit expression_kernel_with(
      std::shared_ptr<const detail::callable_state<How>> state) noexcept;
};

}  // namespace usmx
