// Copies and casts elements in host memory: any layout to any layout, any dtype to any dtype.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "core/aliasing.hpp"
#include "core/cast.hpp"
#include "core/format.hpp"
#include "core/numbers.hpp"
#include "core/tiled_loops.hpp"
#include "runtime/traced_queue.hpp"
#include "transfer/copy_loops.hpp"
#include "transfer/temporaries.hpp"
#include "usmx/copy.hpp"

namespace usmx {
namespace {

using detail::copy_loops;
using detail::traced_views;
using detail::visit_word;

// --- the same dtype: bytes are copied

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

/// Null for elements that do not have the size of a word.
row_mover mover_for(std::size_t bytes) noexcept {
  return visit_word(bytes, []<class T>(std::type_identity<T>) -> row_mover { return move_row<T>; });
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
  return visit_word(bytes,
                    []<class T>(std::type_identity<T>) -> transposer { return transpose<T>; });
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
    const int outer = nearest_loop(nest, 1);
    if (outer >= 0) {
      copy_loops swapped = nest;
      put_next_to_inner(swapped, static_cast<std::size_t>(outer));
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

void cast_elements(const copy_loops& nest, std::byte* to, const dtype& to_type,
                   const std::byte* from, const dtype& from_type) {
  const detail::row_cast cast(to_type, from_type);
  const std::size_t inner = nest.rank() == 0 ? 0 : nest.rank() - 1;
  const std::int64_t n = nest.rank() == 0 ? 1 : nest.length(inner);
  const std::int64_t to_step = nest.inner_step(0), from_step = nest.inner_step(1);
  nest.each(inner,
            [&](std::int64_t d, std::int64_t s) { cast(to + d, to_step, from + s, from_step, n); });
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
