// How kernels see the elements that they sort.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "usmx/dtype.hpp"

namespace usmx::detail {

/// Words, or pairs of them; the forms are those of kernels/sort.hpp.
struct sorted_elements {
  const char* form;
  std::int64_t size;  ///< bytes of a word
  int parts;          ///< words of an element

  /// Throws interop_error (dtype_mismatch) for records.
  explicit sorted_elements(const dtype& type);

  /// What keys are flipped by, so that the largest comes first.
  std::uint64_t flip(bool descending) const noexcept {
    return descending ? ~std::uint64_t{0} >> (64 - 8 * size) : 0;
  }
  /// Numbers of 32 or 64 bits.
  bool are_long() const noexcept;
  /// How many digits of so many bits a key has.
  int digits(int bits) const noexcept;
  /// An unsigned integer as wide as a word.
  dtype word() const;
  /// What kernels are compiled with: FORM, WORD, PLACE, HAS_PLACES.
  std::vector<std::string> options(bool wide, bool places) const;
};

}  // namespace usmx::detail
