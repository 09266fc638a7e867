// The one table of the types of numbers: what C++, NumPy, kernels, PEP 3118 and DLPack call each of
// them. What depends on a type of numbers asks `visit_number`, or reads a row.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "core/half.hpp"
#include "usmx/dlpack.hpp"
#include "usmx/dtype.hpp"
#include "usmx/promotion.hpp"

namespace usmx::detail {

// --- the table

/// What a type of numbers is called, and what no C++ type says.
struct number_names {
  std::string_view name;
  std::string_view on_device;
  /// PEP 3118, in native order and size, as NumPy writes it; empty if there is none.
  std::string_view format;
  dlpack::type_code dlpack;
  /// The largest finite number, of types with a fraction.
  double largest = 0;
  /// Class and size are those of another type, or of none that protocols know: it is described by
  /// a field of this name.
  bool is_described = false;
};

template <class T>
struct number : number_names {
  using type = T;
};

/// In the order of `number_index`. What follows the first `number_types` is stored and cast, and
/// expressions do not compute with it.
inline constexpr std::tuple numbers{
    number<bool>{{"bool", "bool", "?", dlpack::type_code::boolean}},
    number<std::int8_t>{{"int8", "int8_t", "b", dlpack::type_code::integer}},
    number<std::int16_t>{{"int16", "int16_t", "h", dlpack::type_code::integer}},
    number<std::int32_t>{{"int32", "int32_t", "i", dlpack::type_code::integer}},
    number<std::int64_t>{{"int64", "int64_t", "l", dlpack::type_code::integer}},
    number<std::uint8_t>{{"uint8", "uint8_t", "B", dlpack::type_code::unsigned_integer}},
    number<std::uint16_t>{{"uint16", "uint16_t", "H", dlpack::type_code::unsigned_integer}},
    number<std::uint32_t>{{"uint32", "uint32_t", "I", dlpack::type_code::unsigned_integer}},
    number<std::uint64_t>{{"uint64", "uint64_t", "L", dlpack::type_code::unsigned_integer}},
    number<half_bits>{{"float16", "half", "e", dlpack::type_code::floating, 65504.0}},
    number<float>{
        {"float32", "float", "f", dlpack::type_code::floating, std::numeric_limits<float>::max()}},
    number<double>{{"float64", "double", "d", dlpack::type_code::floating,
                    std::numeric_limits<double>::max()}},
    number<std::complex<float>>{{"complex64", "complex<float>", "Zf", dlpack::type_code::complex}},
    number<std::complex<double>>{
        {"complex128", "complex<double>", "Zd", dlpack::type_code::complex}},
    number<bfloat16>{{"bfloat16", "bfloat16", "", dlpack::type_code::bfloat, 0x1.fep127, true}},
};

// --- what follows from it

/// The class of a C++ type of the table.
template <class T>
inline constexpr type_class number_class = std::is_same_v<T, bool>  ? type_class::boolean
                                           : is_complex<T>::value   ? type_class::complex
                                           : !std::is_integral_v<T> ? type_class::floating
                                           : std::is_signed_v<T>    ? type_class::integer
                                                                    : type_class::unsigned_integer;

template <class T>
concept number_with_fraction = number_class<T> == type_class::floating;

/// Floating-point types of fewer digits than float, which C++ does not compute with.
template <class T>
concept small_float = number_with_fraction<T> && !std::is_floating_point_v<T>;

/// A row as data: for those that need no C++ type.
struct number_row : number_names {
  type_class kind;
  std::uint8_t itemsize;
};

template <class... T>
struct type_list {};

inline constexpr auto number_rows = std::apply(
    []<class... T>(const number<T>&... row) {
      return std::array{number_row{row, number_class<T>, std::uint8_t{sizeof(T)}}...};
    },
    numbers);
using number_list = decltype(std::apply(
    []<class... T>(const number<T>&...) { return type_list<T...>(); }, numbers));

static_assert(number_rows.size() >= number_types);

/// The first row of each class and size, -1 where there is none.
inline constexpr auto rows_by_class = [] {
  std::array<std::array<std::int8_t, 5>, 'u' - 'b' + 1> all{};
  for (auto& sizes : all) sizes.fill(-1);
  for (std::size_t k = number_rows.size(); k-- > 0;) {
    auto& sizes = all[static_cast<std::size_t>(static_cast<char>(number_rows[k].kind) - 'b')];
    sizes[std::countr_zero(number_rows[k].itemsize)] = static_cast<std::int8_t>(k);
  }
  return all;
}();
inline constexpr int bfloat16_row = [] {
  std::size_t k = 0;
  while (number_rows[k].name != "bfloat16") ++k;
  return static_cast<int>(k);
}();

/// For the letter of a class of numbers and one of their sizes, which are powers of two.
constexpr int number_row_index(char letter, std::size_t itemsize) noexcept {
  return rows_by_class[static_cast<std::size_t>(letter - 'b')][std::countr_zero(itemsize)];
}

/// The place of a type in the table, -1 for a record.
inline int number_row_index(const dtype& type) noexcept {
  if (type.is_record()) return -1;
  if (type.is_bfloat16()) return bfloat16_row;
  return number_row_index(static_cast<char>(type.kind()), type.itemsize());
}

/// Null for a record.
inline const number_row* number_row_of(const dtype& type) noexcept {
  const int k = number_row_index(type);
  return k < 0 ? nullptr : &number_rows[static_cast<std::size_t>(k)];
}

// --- code for each type

/// What the first type of a list gives that `visit` takes.
template <class Visit, class First, class... Rest>
struct visited : visited<Visit, Rest...> {};
template <class Visit, class First, class... Rest>
  requires std::invocable<const Visit&, std::type_identity<First>>
struct visited<Visit, First, Rest...>
    : std::invoke_result<const Visit&, std::type_identity<First>> {};

/// For types that are not visited: an empty result.
struct nothing {};

// Compilers make one jump of the comparisons.
template <int at, class Result, class First, class... Rest, class Visit, class Otherwise>
[[gnu::always_inline]] inline Result visit_at(int row, type_list<First, Rest...>,
                                              const Visit& visit, const Otherwise& otherwise) {
  if constexpr (std::invocable<const Visit&, std::type_identity<First>>) {
    static_assert(
        std::is_same_v<Result, std::invoke_result_t<const Visit&, std::type_identity<First>>>,
        "the result must be of one type for all types of numbers");
    if (row == at) return visit(std::type_identity<First>());
  }
  if constexpr (sizeof...(Rest) > 0) {
    return visit_at<at + 1, Result>(row, type_list<Rest...>(), visit, otherwise);
  } else if constexpr (std::invocable<const Otherwise&>) {
    return otherwise();
  } else {
    return Result();
  }
}

template <class... T, class Visit, class Otherwise>
auto visit_list(int row, type_list<T...> list, const Visit& visit, const Otherwise& otherwise) {
  return visit_at<0, typename visited<Visit, T...>::type>(row, list, visit, otherwise);
}

/// `visit(std::type_identity<T>())` with the C++ type of the elements; float16 is `half_bits`. A
/// constrained `visit` is asked for the types that it takes, and no code is made for the others.
/// Records and types that it does not take give `otherwise()`.
template <class Visit, class Otherwise = nothing>
auto visit_number(const dtype& type, const Visit& visit, const Otherwise& otherwise = {}) {
  return visit_list(number_row_index(type), number_list(), visit, otherwise);
}

/// The type of a row.
inline dtype type_of_row(int row) noexcept {
  const auto visit = []<class T>(std::type_identity<T>) { return dtype::of<T>(); };
  return visit_list(row, number_list(), visit, nothing());
}

/// A word of 16 bytes.
struct word16 {
  std::uint64_t low, high;
};

/// The same for the unsigned word of so many bytes: elements are moved as words.
template <class Visit, class Otherwise = nothing>
auto visit_word(std::size_t bytes, const Visit& visit, const Otherwise& otherwise = {}) {
  using words = type_list<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, word16>;
  return visit_list(std::has_single_bit(bytes) ? std::countr_zero(bytes) : -1, words(), visit,
                    otherwise);
}

}  // namespace usmx::detail
