// What a kernel computes, as numbers: equal forms have equal texts, so that a text is written once
// for each. A key of some bytes for each operation is made in a twentieth of the time of its text.
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

namespace usmx::detail {

class expression_form {
 public:
  /// An operand of an operation: an input, or what an earlier operation gives.
  struct place {
    enum class kind : char { input = 'x', step = 'v', planned = 'k' };

    kind what = kind::input;
    std::uint8_t number = 0;

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
  /// A result of another kernel, by its name; such a form is described, and never run.
  place add_planned(std::string name, const dtype& type);
  place add_step(const operation& op, const operation_types& types, std::span<const place> from);
  /// Output `o0`, `o1` ... is what a step gives.
  void add_output(const place& p);
  /// What is joined of a step, for the key alone.
  void add_reduction(const place& p, const value_reduction& how);
  /// One more letter of the key.
  void add_letter(char letter) { key_ += letter; }

  const std::string& key() const noexcept { return key_; }
  std::size_t operations() const noexcept { return steps_.size(); }
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
  /// "float32 x0, int32 x1", or in C++ with `names` of types of the device, or the names alone.
  std::string inputs() const;
  std::string declared_inputs() const;
  std::string passed_inputs() const;
  /// "float32 o0", and "o0 = v3;".
  std::string outputs() const;
  std::string stores() const;

 private:
  std::vector<step> steps_;
  std::vector<dtype> inputs_;
  std::vector<std::pair<std::string, dtype>> planned_;
  std::vector<place> outputs_;
  std::string key_;
  bool counts_ = false;

  /// With `{0}` and `{T}` in it.
  std::string_view text_of(const step& s) const noexcept;
};

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
