// What a kernel computes, as numbers, and the only writer of its text: of lazy arrays and of fused
// functions. Equal forms have equal texts, so that a text is written once for each. A key of some
// bytes for each operation is made in a twentieth of the time of its text.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compute/operations.hpp"
#include "usmx/elementwise.hpp"
#include "usmx/reduction.hpp"

namespace usmx::detail {

class expression_form {
 public:
  /// An operand of an operation: an input, or what an earlier operation gives.
  struct place {
    enum class kind : char { input = 'x', step = 'v', named = 'k' };

    kind what = kind::input;
    std::uint32_t number = 0;

    bool operator==(const place&) const = default;
  };
  /// One operation.
  struct step {
    const operation* op;
    operation_types types;
    std::array<place, 3> from;
    std::uint8_t count;
  };

  expression_form() {
    steps_.reserve(16);
    inputs_.reserve(8);
    key_.reserve(160);
  }

  place add_input(const dtype& type, bool is_array);
  /// What has a name of its own: a result of another kernel where a plan is described, or a number
  /// that is a part of the text. Such a form is not found again by its key.
  place add_named(std::string_view name, const dtype& type);
  place add_step(const operation& op, const operation_types& types, std::span<const place> from);
  /// Output `o0`, `o1` ... is what a step gives.
  void add_output(const place& p);
  /// What is joined of a step, for the key alone.
  void add_reduction(const place& p, const value_reduction& how);
  /// One more letter of the key.
  void add_letter(char letter) { key_ += letter; }

  const std::string& key() const noexcept { return key_; }
  std::span<const step> steps() const noexcept { return steps_; }
  /// A number that is not always used in its own type: kernels take it in this one.
  void take_input_as(std::uint32_t number, const dtype& type) { inputs_[number] = type; }
  /// Whether the numbers of elements are an operand, so that no input need have their shape.
  bool counts() const noexcept { return counts_; }

  /// "x2" or "v7".
  std::string name(const place& p) const;
  const dtype& type(const place& p) const noexcept;
  const step& at(std::size_t number) const noexcept { return steps_[number]; }
  /// The variable of a step, in one line, and all of them.
  std::string line(std::size_t number) const;
  std::string lines() const;
  /// What the texts of the table are written for.
  static constexpr const char* prologue =
      "#include \"usmx/fusion.hpp\"\nusing namespace usmx::fusion;\n";
  /// The variable in a type.
  std::string converted(const place& p, const dtype& as) const;
  /// "float32 x0, int32 x1" and "float32 o0": the parameters of a kernel.
  std::string inputs() const;
  std::string outputs() const;

  /// The kernel that stores the outputs.
  elementwise_kernel elementwise(std::string name, std::vector<std::string> options = {}) const;
  /// A step that is reduced, and how.
  struct joined {
    place of;
    const value_reduction* how;
  };
  /// The kernel that computes elements and joins them at once; several reductions are joined as
  /// the members of a structure.
  reduction_kernel reduction(std::span<const joined> reductions, std::string name,
                             std::vector<std::string> options = {}) const;

 private:
  std::vector<step> steps_;
  std::vector<dtype> inputs_;
  std::vector<std::pair<std::string, dtype>> named_;
  std::vector<place> outputs_;
  std::string key_;
  bool counts_ = false;

  /// With `{0}` and `{T}` in it.
  std::string_view text_of(const step& s) const noexcept;
  /// "float x0, int32_t x1" as a function in C++ declares them, and "x0, x1" as it is called.
  std::string declared_inputs() const;
  std::string passed_inputs() const;
};

/// The type that a reduction joins.
std::string joined_type(const value_reduction& how);
/// C++ of the functions `map0`, `join0` and `end0` of a reduction, with its number.
std::string functions_of(const value_reduction& how, std::size_t number);

/// Kernels by the keys of their forms. Programs have few forms of expressions; one that makes them
/// without end begins anew.
template <class Kernel>
class known_kernels {
 public:
  template <class Make>
  Kernel get(const std::string& key, Make&& make) {
    constexpr std::size_t most = 4096;
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    if (known_.size() >= most) known_.clear();
    return known_.emplace(key, make()).first->second;
  }

 private:
  std::unordered_map<std::string, Kernel> known_;
};

}  // namespace usmx::detail
