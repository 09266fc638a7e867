// The table of operations as the library has it: written from python/usmx/_operations.py.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>

#include "usmx/operations.hpp"

namespace usmx {

/// What comes out: the type that is computed with, bool, or the part of a complex number.
enum class result_rule : std::uint8_t { same, boolean, part };

/// The C++ of an operation for operands of some kinds, the letters of NumPy's.
struct operation_text {
  std::string_view kinds, text;
};

struct operation {
  std::string_view name;
  int arity;
  result_rule result;
  /// Numbers of these kinds do not become others that the operation takes: "b" where NumPy refuses
  /// bools.
  std::string_view refused;
  /// Numbers of these kinds are computed as float64 or complex128, of any size.
  std::string_view wide;
  /// The first operand is a bool and has no part in the others' type.
  bool chooses;
  std::array<operation_text, 5> texts;
  /// Of a signed and an unsigned integer of 64 bits; empty if it casts them.
  std::string_view mixed;

  /// The text for operands of a type; empty if there is none.
  std::string_view text_of(const dtype& type) const noexcept;
};

/// The place of a row in the table, less than `most_rows`; that of a cast is the last.
std::size_t row_number(const operation& op) noexcept;
inline constexpr std::size_t most_rows = 256;

namespace detail {
/// As `resolve`. Throws interop_error (dtype_mismatch) where that finds none.
operation_types types_of(const operation& op, std::span<const operand_type> operands);
/// What takes the place of a number that the type of the other operand does not hold: integers are
/// compared by value, and logic only asks whether one is 0. Empty for all other numbers.
std::optional<operand> exact_number(const operation& op, const operand& number, const dtype& other);
/// Whether an operation takes integers of any two types by value.
bool takes_any_integers(const operation& op) noexcept;

/// How a thread locks `mutex`, which another thread has: at first by waiting. Python lets go of its
/// own lock meanwhile, which that thread may need.
void wait_for_lock(std::recursive_mutex& mutex);
void set_wait_for_lock(void (*wait)(std::recursive_mutex&)) noexcept;
}  // namespace detail

}  // namespace usmx
