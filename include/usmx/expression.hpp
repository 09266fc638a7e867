// What kernels made from expressions share: parameters written as "T x, raw float32 y", the types
// they take from operands, the loops that visit operands of any shape and stride, and the C++ text
// that loads an element. Elementwise kernels, reductions and scans stand on it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "usmx/array.hpp"
#include "usmx/kernel.hpp"
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
/// exist, a name that is no identifier or that is taken (`i`, keywords of C++, one used twice).
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

/// What newly made outputs live in: device memory if an operand does, otherwise shared, otherwise
/// host memory. Device memory without any array.
usm_kind strongest_kind(std::span<const operand> operands) noexcept;

// --- loops ------------------------------------------------------------------------------------

/// The shape that all broadcast to. Throws std::invalid_argument naming both shapes.
extents broadcast_shape(std::span<const extents* const> shapes);

enum class loop_order : std::uint8_t {
  /// In the order of the steps of the first operand, each of them positive: the fewest loops.
  any,
  /// The flat number of a turn is the index in C order.
  c,
};

/// The loops that visit some operands together, outermost first. Lengths of one are gone, axes that
/// form one run in every operand are one axis. Steps are in elements of the operand; zero repeats.
struct loops {
  std::vector<std::int64_t> lengths;
  /// Those of operand 0, then those of operand 1, ...
  std::vector<std::int64_t> steps;
  /// From each operand's first element to the one that the loops visit first.
  std::vector<std::int64_t> starts;
  /// Turns of all loops.
  std::int64_t size = 1;

  std::size_t rank() const noexcept { return lengths.size(); }
  std::span<const std::int64_t> steps_of(std::size_t operand) const noexcept {
    return {steps.data() + operand * rank(), rank()};
  }
  /// Whether the turns visit the operand's elements one after the other.
  bool is_run(std::size_t operand) const noexcept;
  /// Whether every turn visits the same element.
  bool is_one_element(std::size_t operand) const noexcept;
  /// Whether numbers of turns and distances from the first element fit into 31 bits.
  bool fits_31_bits() const noexcept;
};

/// `steps` holds one list of lengths.size() steps for each operand.
loops make_loops(std::span<const std::int64_t> lengths,
                 std::span<const std::span<const std::int64_t>> steps,
                 loop_order order = loop_order::any);
/// Operands of any shapes that broadcast to `shape`.
loops make_loops(const extents& shape, std::span<const layout* const> operands,
                 loop_order order = loop_order::any);

// --- C++ text ---------------------------------------------------------------------------------

/// The line that a program from expressions begins with: loads and stores, and the names
/// of the prelude without `usmx::`.
inline constexpr std::string_view expression_include =
    "#include \"usmx/expression.hpp\"\nusing namespace usmx;\n";

/// The name of a type on the device: "float", "uint8_t", "complex<double>".
std::string_view device_name(const dtype& type) noexcept;
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

}  // namespace usmx
