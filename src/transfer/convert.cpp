// Copies and casts elements in host memory: any layout to any layout, any dtype to any dtype. A
// cast goes through a block of the widest type of its class, so that the number of loops grows with
// the number of dtypes and not with its square.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <complex>
#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "core/aliasing.hpp"
#include "core/bfloat16.hpp"
#include "core/format.hpp"
#include "core/half.hpp"
#include "runtime/traced_queue.hpp"
#include "transfer/copy_loops.hpp"
#include "transfer/temporaries.hpp"
#include "usmx/copy.hpp"

namespace usmx {
namespace {

using detail::copy_loops;
using detail::half_bits;
using detail::traced_views;
using wide_complex = std::complex<double>;

constexpr std::int64_t block = 512;

// --- the same dtype: bytes are copied

struct bytes16 {
  std::uint64_t low, high;
};

template <class T>
void move_row(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step,
              std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) {
    T value;  // with memcpy: records and host views need not be aligned
    std::memcpy(&value, from + k * from_step, sizeof(T));
    std::memcpy(to + k * to_step, &value, sizeof(T));
  }
}

using row_mover = void (*)(std::byte*, std::int64_t, const std::byte*, std::int64_t, std::int64_t);

row_mover mover_for(std::size_t bytes) noexcept {
  switch (bytes) {
    case 1:
      return move_row<std::uint8_t>;
    case 2:
      return move_row<std::uint16_t>;
    case 4:
      return move_row<std::uint32_t>;
    case 8:
      return move_row<std::uint64_t>;
    case 16:
      return move_row<bytes16>;
    default:
      return nullptr;
  }
}

/// Two inner dimensions, in tiles: the two sides are contiguous along different ones, and element
/// by element one of them would need a new cache line each time.
void move_tiles(row_mover move, std::byte* to, const std::byte* from, std::int64_t rows,
                std::int64_t columns, const std::int64_t (&to_step)[2],
                const std::int64_t (&from_step)[2]) {
  constexpr std::int64_t tile = 32;
  for (std::int64_t i = 0; i < rows; i += tile) {
    const std::int64_t i_end = std::min(i + tile, rows);
    for (std::int64_t j = 0; j < columns; j += tile) {
      const std::int64_t width = std::min(tile, columns - j);
      for (std::int64_t r = i; r < i_end; ++r) {
        move(to + r * to_step[0] + j * to_step[1], to_step[1],
             from + r * from_step[0] + j * from_step[1], from_step[1], width);
      }
    }
  }
}

/// A transposition: `to` has contiguous rows of elements, `from` contiguous columns. Whole cache
/// lines are read, transposed in a buffer and written. With a pitch that is a power of two all
/// lines of a tile compete for one place in the cache, so none may be needed twice.
template <class T>
void transpose(std::byte* to, std::int64_t to_pitch, const std::byte* from, std::int64_t from_pitch,
               std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t item = sizeof(T);
  constexpr std::int64_t tile = 64 / item;
  constexpr std::int64_t band = 128;  // rows and columns whose pages fit the TLB
  const auto move_tile = [&](std::int64_t i, std::int64_t j, std::int64_t high, std::int64_t wide) {
    T in[tile][tile];
    T out[tile][tile];
    for (std::int64_t c = 0; c < wide; ++c) {
      std::memcpy(in[c], from + (j + c) * from_pitch + i * item, high * item);
    }
    for (std::int64_t r = 0; r < high; ++r) {
      for (std::int64_t c = 0; c < wide; ++c) out[r][c] = in[c][r];
    }
    for (std::int64_t r = 0; r < high; ++r) {
      std::memcpy(to + (i + r) * to_pitch + j * item, out[r], wide * item);
    }
  };
  for (std::int64_t i0 = 0; i0 < rows; i0 += band) {
    for (std::int64_t j0 = 0; j0 < columns; j0 += band) {
      const std::int64_t i_end = std::min(i0 + band, rows);
      const std::int64_t j_end = std::min(j0 + band, columns);
      for (std::int64_t i = i0; i < i_end; i += tile) {
        for (std::int64_t j = j0; j < j_end; j += tile) {
          // Two calls, so that the compiler knows the lengths of most tiles.
          if (i + tile <= i_end && j + tile <= j_end) {
            move_tile(i, j, tile, tile);
          } else {
            move_tile(i, j, std::min(tile, i_end - i), std::min(tile, j_end - j));
          }
        }
      }
    }
  }
}

using transposer = void (*)(std::byte*, std::int64_t, const std::byte*, std::int64_t, std::int64_t,
                            std::int64_t);

transposer transposer_for(std::size_t bytes) noexcept {
  switch (bytes) {
    case 1:
      return transpose<std::uint8_t>;
    case 2:
      return transpose<std::uint16_t>;
    case 4:
      return transpose<std::uint32_t>;
    case 8:
      return transpose<std::uint64_t>;
    case 16:
      return transpose<bytes16>;
    default:
      return nullptr;
  }
}

void move_elements(const copy_loops& nest, std::byte* to, const std::byte* from,
                   std::size_t itemsize) {
  const auto item = static_cast<std::int64_t>(itemsize);
  if (nest.rank() == 0) {
    std::memcpy(to, from, itemsize);
    return;
  }
  const std::size_t inner = nest.rank() - 1;
  if (nest.to(inner) == item && nest.from(inner) == item) {
    const auto run = static_cast<std::size_t>(nest.length(inner)) * itemsize;
    nest.each(inner, [&](std::int64_t d, std::int64_t s) { std::memcpy(to + d, from + s, run); });
    return;
  }
  const row_mover move = mover_for(itemsize);
  if (move == nullptr) {
    nest.each(nest.rank(),
              [&](std::int64_t d, std::int64_t s) { std::memcpy(to + d, from + s, itemsize); });
    return;
  }
  if (nest.rank() >= 2) {
    const int outer = nest.fastest_source(inner);
    if (outer >= 0) {
      const copy_loops swapped = nest.with_next_to_inner(static_cast<std::size_t>(outer));
      const std::int64_t rows = swapped.length(inner - 1);
      const std::int64_t columns = swapped.length(inner);
      const std::int64_t to_step[2] = {swapped.to(inner - 1), swapped.to(inner)};
      const std::int64_t from_step[2] = {swapped.from(inner - 1), swapped.from(inner)};
      const bool is_transposed = to_step[1] == item && from_step[0] == item;
      swapped.each(inner - 1, [&](std::int64_t d, std::int64_t s) {
        if (is_transposed) {
          transposer_for(itemsize)(to + d, to_step[0], from + s, from_step[1], rows, columns);
        } else {
          move_tiles(move, to + d, from + s, rows, columns, to_step, from_step);
        }
      });
      return;
    }
  }
  const std::int64_t n = nest.length(inner), to_step = nest.to(inner), from_step = nest.from(inner);
  nest.each(inner,
            [&](std::int64_t d, std::int64_t s) { move(to + d, to_step, from + s, from_step, n); });
}

// --- casts

/// The class of the intermediate block of a cast. Integers have 64 bits, so that they are exact;
/// every floating-point value is exact as a double.
enum class middle { unsigned_integer, integer, floating, complex };

template <class T>
T read(const std::byte* p) noexcept {
  T value;
  std::memcpy(&value, p, sizeof(T));
  return value;
}

/// Converts a double to an integer as x86 does, and so NumPy: towards zero, and to the lowest
/// number if it does not fit. In C++ that is undefined.
template <class Integer>
Integer truncate(double x) noexcept {
  constexpr double two_63 = 9223372036854775808.0;
  if constexpr (std::is_same_v<Integer, std::uint64_t>) {
    if (x >= two_63) {
      return x < 2 * two_63 ? static_cast<std::uint64_t>(x - two_63) ^ (std::uint64_t{1} << 63)
                            : std::uint64_t{0};
    }
    return static_cast<std::uint64_t>(truncate<std::int64_t>(x));
  } else if constexpr (std::is_same_v<Integer, std::int64_t>) {
    return x >= -two_63 && x < two_63 ? static_cast<std::int64_t>(x)
                                      : std::numeric_limits<std::int64_t>::min();
  } else if constexpr (std::is_same_v<Integer, std::uint32_t>) {
    return static_cast<std::uint32_t>(truncate<std::int64_t>(x));
  } else {
    // Smaller ones are converted through 32 bits.
    const std::int32_t whole = x >= -2147483648.0 && x < 2147483648.0
                                   ? static_cast<std::int32_t>(x)
                                   : std::numeric_limits<std::int32_t>::min();
    return static_cast<Integer>(whole);
  }
}

template <class To, class From>
To convert(From x) noexcept {
  if constexpr (std::is_same_v<From, wide_complex>) {
    if constexpr (std::is_same_v<To, bool>) {
      return x.real() != 0 || x.imag() != 0;
    } else if constexpr (detail::is_complex<To>::value) {
      using Part = typename To::value_type;
      return {static_cast<Part>(x.real()), static_cast<Part>(x.imag())};
    } else {
      return convert<To>(x.real());
    }
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From{};
  } else if constexpr (std::is_same_v<To, half_bits>) {
    return detail::to_half(static_cast<double>(x));
  } else if constexpr (std::is_same_v<To, bfloat16>) {
    return detail::to_bfloat16(x);
  } else if constexpr (detail::is_complex<To>::value) {
    return {static_cast<typename To::value_type>(x), 0};
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    return truncate<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <class From, class Middle>
void load_row(void* out, const std::byte* from, std::int64_t step, std::int64_t n) {
  auto* const to = static_cast<Middle*>(out);
  for (std::int64_t k = 0; k < n; ++k) {
    if constexpr (std::is_same_v<From, bool>) {
      to[k] = read<std::uint8_t>(from + k * step) != 0;
    } else if constexpr (std::is_same_v<From, half_bits>) {
      to[k] = detail::from_half(read<half_bits>(from + k * step));
    } else if constexpr (std::is_same_v<From, bfloat16>) {
      to[k] = static_cast<double>(static_cast<float>(read<bfloat16>(from + k * step)));
    } else {
      const From value = read<From>(from + k * step);
      if constexpr (detail::is_complex<From>::value) {
        to[k] = {static_cast<double>(value.real()), static_cast<double>(value.imag())};
      } else {
        to[k] = static_cast<Middle>(value);
      }
    }
  }
}

template <class Middle, class To>
void store_row(std::byte* to, std::int64_t step, const void* in, std::int64_t n) {
  const auto* const from = static_cast<const Middle*>(in);
  for (std::int64_t k = 0; k < n; ++k) {
    const To value = convert<To>(from[k]);
    std::memcpy(to + k * step, &value, sizeof(To));
  }
}

using row_loader = void (*)(void*, const std::byte*, std::int64_t, std::int64_t);
using row_storer = void (*)(std::byte*, std::int64_t, const void*, std::int64_t);

struct loader {
  row_loader load;
  middle through;
};

/// Not for records, which check_copy allows to be copied to the same record only.
loader loader_of(const dtype& type) noexcept {
  switch (type.kind()) {
    case type_class::boolean:
      return {load_row<bool, std::uint64_t>, middle::unsigned_integer};
    case type_class::unsigned_integer:
      switch (type.itemsize()) {
        case 1:
          return {load_row<std::uint8_t, std::uint64_t>, middle::unsigned_integer};
        case 2:
          return {load_row<std::uint16_t, std::uint64_t>, middle::unsigned_integer};
        case 4:
          return {load_row<std::uint32_t, std::uint64_t>, middle::unsigned_integer};
        default:
          return {load_row<std::uint64_t, std::uint64_t>, middle::unsigned_integer};
      }
    case type_class::integer:
      switch (type.itemsize()) {
        case 1:
          return {load_row<std::int8_t, std::int64_t>, middle::integer};
        case 2:
          return {load_row<std::int16_t, std::int64_t>, middle::integer};
        case 4:
          return {load_row<std::int32_t, std::int64_t>, middle::integer};
        default:
          return {load_row<std::int64_t, std::int64_t>, middle::integer};
      }
    case type_class::floating:
      switch (type.itemsize()) {
        case 2:
          return type.is_bfloat16() ? loader{load_row<bfloat16, double>, middle::floating}
                                    : loader{load_row<half_bits, double>, middle::floating};
        case 4:
          return {load_row<float, double>, middle::floating};
        default:
          return {load_row<double, double>, middle::floating};
      }
    case type_class::complex:
      return type.itemsize() == 8
                 ? loader{load_row<std::complex<float>, wide_complex>, middle::complex}
                 : loader{load_row<std::complex<double>, wide_complex>, middle::complex};
    case type_class::record:
      break;
  }
  return {};
}

template <class Middle>
row_storer storer_from(const dtype& type) noexcept {
  const std::size_t size = type.itemsize();
  switch (type.kind()) {
    case type_class::boolean:
      return store_row<Middle, bool>;
    case type_class::unsigned_integer:
      return size == 1   ? store_row<Middle, std::uint8_t>
             : size == 2 ? store_row<Middle, std::uint16_t>
             : size == 4 ? store_row<Middle, std::uint32_t>
                         : store_row<Middle, std::uint64_t>;
    case type_class::integer:
      return size == 1   ? store_row<Middle, std::int8_t>
             : size == 2 ? store_row<Middle, std::int16_t>
             : size == 4 ? store_row<Middle, std::int32_t>
                         : store_row<Middle, std::int64_t>;
    case type_class::floating:
      return type.is_bfloat16() ? store_row<Middle, bfloat16>
             : size == 2        ? store_row<Middle, half_bits>
             : size == 4        ? store_row<Middle, float>
                                : store_row<Middle, double>;
    case type_class::complex:
      return size == 8 ? store_row<Middle, std::complex<float>>
                       : store_row<Middle, std::complex<double>>;
    case type_class::record:
      break;
  }
  return nullptr;
}

row_storer storer_of(const dtype& type, middle through) noexcept {
  switch (through) {
    case middle::unsigned_integer:
      return storer_from<std::uint64_t>(type);
    case middle::integer:
      return storer_from<std::int64_t>(type);
    case middle::floating:
      return storer_from<double>(type);
    case middle::complex:
      return storer_from<wide_complex>(type);
  }
  return nullptr;
}

void cast_elements(const copy_loops& nest, std::byte* to, const dtype& to_type,
                   const std::byte* from, const dtype& from_type) {
  const loader in = loader_of(from_type);
  const row_storer store = storer_of(to_type, in.through);

  alignas(64) std::byte buffer[block * sizeof(wide_complex)];
  const std::size_t inner = nest.rank() == 0 ? 0 : nest.rank() - 1;
  const std::int64_t n = nest.rank() == 0 ? 1 : nest.length(inner);
  const std::int64_t to_step = nest.inner_step(0), from_step = nest.inner_step(1);
  nest.each(inner, [&](std::int64_t d, std::int64_t s) {
    for (std::int64_t k = 0; k < n; k += block) {
      const std::int64_t count = std::min(block, n - k);
      in.load(buffer, from + s + k * from_step, from_step, count);
      store(to + d + k * to_step, to_step, buffer, count);
    }
  });
}

void convert_apart(const any_view& dst, const any_view& src) {
  const traced record(trace_action::host_copy, [&] { return traced_views(dst, src); });
  const copy_loops nest = detail::make_copy_loops(dst, src);
  std::byte* const to = nest.begin_of(dst, 0);
  const std::byte* const from = nest.begin_of(src, 1);
  if (detail::same_bytes(dst.dtype(), src.dtype())) {
    move_elements(nest, to, from, dst.dtype().itemsize());
  } else {
    cast_elements(nest, to, dst.dtype(), from, src.dtype());
  }
}

}  // namespace

void convert_on_host(const any_view& dst, const any_view& src) {
  detail::check_copy(dst, src);
  if (dst.size() == 0) return;
  if (!detail::overlap(dst, src)) return convert_apart(dst, src);
  if (detail::is_same(dst, src)) return;

  layout packed;
  if (layout::c_order(src.layout().shape(), src.dtype().itemsize(), packed) != fault::none) {
    throw std::length_error("copy: not enough host memory for the elements");
  }
  // Default-initialised: the bytes are written at once.
  const std::unique_ptr<std::byte[]> bytes(new std::byte[src.nbytes()]);
  const any_view temporary =
      detail::view_of(bytes.get(), src.dtype(), std::move(packed), usm_kind::unknown);
  convert_apart(temporary, src);
  convert_apart(dst, temporary);
}

}  // namespace usmx
