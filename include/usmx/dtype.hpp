// An element type as the array protocols spell it ("<f4", "|b1", "|V12" + typedescr), without
// NumPy.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "usmx/error.hpp"

namespace usmx {

struct field;

/// A number of 16 bits with the exponent of float and 7 bits of its fraction: the upper half of a
/// float. A conversion from float rounds to the nearest, of two to the even one; arithmetic is that
/// of float. The same bits as `sycl::ext::oneapi::bfloat16`, `__nv_bfloat16` and ml_dtypes' type.
struct bfloat16 {
  std::uint16_t bits = 0;

  constexpr bfloat16() noexcept = default;
  constexpr bfloat16(float x) noexcept : bits(rounded(std::bit_cast<std::uint32_t>(x))) {}
  constexpr operator float() const noexcept {
    return std::bit_cast<float>(std::uint32_t{bits} << 16);
  }
  /// Of the number that has these bits.
  static constexpr bfloat16 of_bits(std::uint16_t bits) noexcept {
    bfloat16 x;
    x.bits = bits;
    return x;
  }

 private:
  static constexpr std::uint16_t rounded(std::uint32_t of) noexcept {
    // A NaN must not round to an infinity: it stays one, and quiet.
    if ((of & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>(of >> 16 | 0x40u);
    return static_cast<std::uint16_t>((of + 0x7fffu + (of >> 16 & 1u)) >> 16);
  }
};

/// The class of an element type; the value is the letter that the protocol uses.
enum class type_class : char {
  boolean = 'b',
  integer = 'i',
  unsigned_integer = 'u',
  floating = 'f',
  complex = 'c',
  record = 'V',
};

/// An element type in native byte order: class, size in bytes and, for records, their fields.
/// Cheap to copy; equal when class, size and fields are equal.
class dtype {
 public:
  using fields = std::vector<field>;

  /// One byte, unsigned: what raw memory is made of.
  constexpr dtype() noexcept = default;

  /// Reads a type string such as "<f4". Accepts '<', '|' and '=' (and '>' for one-byte types).
  /// Faults: typestr_malformed, typestr_unsupported ('O', 'S', 'M', ... or an unsupported size),
  /// typestr_byte_order. `out` is written only on success. Needs no heap.
  static fault parse(std::string_view typestr, dtype& out) noexcept;

  /// A packed record of the given fields, in order (padding is a field without a name); bfloat16
  /// if they are its `description`.
  /// `itemsize` is the size that the typestr promised. Faults: typedescr_malformed (a name or title
  /// twice, a negative length, more than 64 dimensions, more than 32 levels of records),
  /// typedescr_size (another size, none, or more than 2^31 - 1 bytes). `out` is written only on
  /// success.
  static fault make_record(fields members, std::size_t itemsize, dtype& out);
  /// The packed size in bytes of the given fields: the `itemsize` of a nested record, which no
  /// typestr states. Faults: typedescr_malformed, typedescr_size. `bytes` is written only on
  /// success.
  static fault packed_size(const fields& members, std::size_t& bytes) noexcept;

  /// The element type of a C++ type: bool, integers, float, double, std::complex, sycl::half,
  /// usmx::bfloat16.
  template <class T>
  static dtype of() noexcept;

  constexpr type_class kind() const noexcept { return class_; }
  /// Size of one element in bytes.
  constexpr std::size_t itemsize() const noexcept { return itemsize_; }
  /// Alignment in bytes that an element needs; 1 for records, which are packed.
  std::size_t alignment() const noexcept;
  /// Native spelling: "<f4", "|u1", "|V12". No protocol has one for bfloat16: it is "<V2", which
  /// `parse` reads as two bytes, and `description` names it.
  std::string typestr() const;
  /// NumPy's name: "float32", "bool", "complex64", "bfloat16", "record96".
  std::string name() const;
  bool is_record() const noexcept { return class_ == type_class::record; }
  /// Whether it is bfloat16, which is of the class `floating` and has two bytes, as float16 has.
  bool is_bfloat16() const noexcept { return is_bfloat16_; }
  /// The fields of a record, null for every other type and for a record without a description.
  const fields* members() const noexcept { return members_.get(); }
  /// What a protocol adds to the typestr: the members of a record; of bfloat16 one field of two
  /// bytes that is called "bfloat16", of which `make_record` makes bfloat16 again. Null for others.
  const fields* description() const noexcept;

  friend bool operator==(const dtype& a, const dtype& b) noexcept;

 private:
  constexpr dtype(type_class c, std::uint32_t size, bool is_bfloat16 = false) noexcept
      : class_(c), is_bfloat16_(is_bfloat16), itemsize_(size) {}

  type_class class_ = type_class::unsigned_integer;
  bool is_bfloat16_ = false;
  std::uint8_t levels_ = 0;  // of described records, this one included
  std::uint32_t itemsize_ = 1;
  std::shared_ptr<const fields> members_;
};

/// One member of a record: `shape` is empty for a scalar, an empty `name` is padding.
struct field {
  std::string name;
  std::string title;
  dtype type;
  std::vector<std::int64_t> shape;

  friend bool operator==(const field&, const field&) = default;
};

namespace detail {
template <class T>
struct is_complex : std::false_type {};
template <class T>
struct is_complex<std::complex<T>> : std::true_type {};
}  // namespace detail

/// Specialise to `true` for a two-byte floating-point type of your own (sycl::half has it already
/// in usmx/array.hpp).
template <class T>
inline constexpr bool is_half = false;

/// The type of T: bool, an integer, a floating-point or a complex number.
template <class T>
dtype dtype::of() noexcept {
  using U = std::remove_cv_t<T>;
  constexpr auto size = static_cast<std::uint32_t>(sizeof(U));
  if constexpr (std::is_same_v<U, bool>) {
    return {type_class::boolean, 1};
  } else if constexpr (std::is_same_v<U, std::byte>) {
    return {type_class::unsigned_integer, 1};
  } else if constexpr (std::is_same_v<U, bfloat16>) {
    return {type_class::floating, size, true};
  } else if constexpr (std::is_integral_v<U>) {
    return {std::is_signed_v<U> ? type_class::integer : type_class::unsigned_integer, size};
  } else if constexpr (std::is_floating_point_v<U> || is_half<U>) {
    static_assert(size <= 8, "long double has no type on a device");
    return {type_class::floating, size};
  } else if constexpr (detail::is_complex<U>::value) {
    return {type_class::complex, size};
  } else {
    static_assert(std::is_trivially_copyable_v<U>, "an element must be trivially copyable");
    return {type_class::record, size};
  }
}

}  // namespace usmx
