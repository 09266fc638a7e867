// Everything that can be wrong with foreign memory has one name here, so that a pure check can stay
// `noexcept` and its caller can still say which field, what it held and what was expected.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace usmx {

/// What a check found. `fault::none` is success; every other value names one field and one rule.
enum class fault : std::uint8_t {
  none,
  rank_too_high,
  shape_negative,
  shape_overflow,
  shape_null,
  typestr_malformed,
  typestr_unsupported,
  typestr_byte_order,
  typedescr_malformed,
  typedescr_size,
  strides_rank,
  strides_overflow,
  offset_overflow,
  address_overflow,
  data_null,
  data_misaligned,
  version_unsupported,
  not_usm,
  kind_mismatch,
  out_of_allocation,
  read_only,
  dtype_mismatch,
  rank_mismatch,
};

/// What is wrong, as a sentence without subject: "is not ...". Never null; empty for none.
/// The message table is in src/core/error.cpp.
std::string_view message(fault f) noexcept;

/// The field of the protocol that a fault is about: "shape", "typestr", "data", ... Never null.
std::string_view field_of(fault f) noexcept;

/// Memory of another library cannot be used as described. Python sees a ValueError.
class interop_error : public std::invalid_argument {
 public:
  interop_error(fault code, const std::string& what) : std::invalid_argument(what), code_(code) {}
  /// Which rule was broken: programs ask this instead of the text.
  fault code() const noexcept { return code_; }

 private:
  fault code_;
};

/// USM could not be allocated: `what()` says bytes, kind, device and, where known, its free memory.
/// Python sees a MemoryError.
class allocation_error : public std::bad_alloc {
 public:
  allocation_error(std::size_t bytes, std::string what) : bytes_(bytes), what_(std::move(what)) {}
  const char* what() const noexcept override { return what_.c_str(); }
  /// The requested bytes.
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::size_t bytes_;
  std::string what_;
};

/// Kernel source could not be built; `what()` carries the compiler's log. Python sees a
/// RuntimeError.
class build_error : public std::runtime_error {
 public:
  build_error(const std::string& what, std::string log)
      : std::runtime_error(what), log_(std::move(log)) {}
  /// What the compiler said; empty if it was not called.
  const std::string& log() const noexcept { return log_; }

 private:
  std::string log_;
};

/// No SYCL device, platform or driver matches; `what()` says what is available and what to
/// install. Python sees a RuntimeError.
class device_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace usmx
