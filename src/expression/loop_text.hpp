// Pieces of C++ that reductions and scans write alike. Their own names begin with usmx_, so that
// those of the user's expressions are free.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "usmx/expression.hpp"

namespace usmx::detail {

/// How `a` and `b` of a kernel are called in C++, and how many bytes they have at the most.
struct value_text {
  std::string type;
  std::size_t bytes = 0;
};
/// The most bytes of a structure of the user's.
inline constexpr std::size_t most_value_bytes = 32;
/// The type of `a` and `b` if it is a number's: `wanted` names it, or it is that of the first
/// output.
std::optional<dtype> value_type(const std::string& wanted, const expression_types& types);
value_text value_text_of(const std::string& wanted, const expression_types& types);

/// What stands before the kernel: types, the preamble, `usmx_value`, and `usmx_join` of `a` and
/// `b`, which came by `argument`.
std::string prologue(const expression_types& types, const std::string& preamble,
                     const value_text& value, std::string_view argument, const std::string& join);
/// `usmx_raw0`, the type of a raw input with its elements in a row.
std::string raw_type(std::size_t input, const dtype& as, const dtype& own);

/// Adds to the positions of some operands (usmx_NAME + `at`) what the flat number of a loop nest
/// stands for: lengths are usmx_LOOP1, ..., steps usmx_NAME_LOOP0, ...
std::string taken_apart(const std::string& flat, std::size_t rank, const std::string& loop,
                        const std::vector<std::string>& operands, const std::string& at);

}  // namespace usmx::detail
