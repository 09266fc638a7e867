// Reduces two layouts to the fewest loops that visit both; see loop_nest.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "transfer/loop_nest.hpp"

#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <string>

#include "core/format.hpp"

namespace usmx::detail {
std::int64_t loop_nest::count(int depth) const noexcept {
  return std::accumulate(shape.begin(), shape.begin() + depth, std::int64_t{1},
                         std::multiplies<>());
}

int loop_nest::fastest_source(int inner) const noexcept {
  int best = -1;
  std::int64_t step = std::abs(from[static_cast<std::size_t>(inner)]);
  if (step == 0) return -1;
  for (int k = 0; k < rank; ++k) {
    const std::int64_t s = std::abs(from[static_cast<std::size_t>(k)]);
    if (k != inner && s != 0 && s < step) {
      best = k;
      step = s;
    }
  }
  return best;
}

loop_nest loop_nest::with_next_to_inner(int axis) const noexcept {
  loop_nest out = *this;
  const auto rotate = [&](std::array<std::int64_t, max_rank>& v) {
    std::rotate(v.begin() + axis, v.begin() + axis + 1, v.begin() + rank - 1);
  };
  rotate(out.shape);
  rotate(out.to);
  rotate(out.from);
  return out;
}

bool loop_nest::is_one_run(std::size_t itemsize) const noexcept {
  const auto item = static_cast<std::int64_t>(itemsize);
  return rank == 0 || (rank == 1 && to[0] == item && from[0] == item);
}

bool same_bytes(const dtype& a, const dtype& b) noexcept {
  const auto is_integer = [](const dtype& t) {
    return t.kind() == type_class::integer || t.kind() == type_class::unsigned_integer;
  };
  return a == b || (is_integer(a) && is_integer(b) && a.itemsize() == b.itemsize());
}

loop_nest make_nest(const any_view& dst, const any_view& src) noexcept {
  const extents& shape = dst.layout().shape();
  const auto to_item = static_cast<std::int64_t>(dst.dtype().itemsize());
  const auto from_item = static_cast<std::int64_t>(src.dtype().itemsize());

  loop_nest raw;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] == 1) continue;
    const auto r = static_cast<std::size_t>(raw.rank++);
    raw.shape[r] = shape[k];
    raw.to[r] = dst.layout().strides()[k] * to_item;
    raw.from[r] = src.layout().strides()[k] * from_item;
    if (raw.to[r] < 0) {
      raw.to_shift += raw.to[r] * (shape[k] - 1);
      raw.from_shift += raw.from[r] * (shape[k] - 1);
      raw.to[r] = -raw.to[r];
      raw.from[r] = -raw.from[r];
    }
  }

  // By insertion: few dimensions, mostly sorted already. Equal steps keep the order of the axes, in
  // which they were most likely written.
  const auto before = [&raw](std::size_t a, std::size_t b) {
    return raw.to[a] != raw.to[b] ? raw.to[a] > raw.to[b]
                                  : std::abs(raw.from[a]) > std::abs(raw.from[b]);
  };
  std::array<std::size_t, max_rank> order;
  const auto end = order.begin() + raw.rank;
  for (auto it = order.begin(); it != end; ++it) {
    *it = static_cast<std::size_t>(it - order.begin());
    for (auto at = it; at != order.begin() && before(*at, *(at - 1)); --at)
      std::iter_swap(at, at - 1);
  }

  loop_nest out;
  out.to_shift = raw.to_shift;
  out.from_shift = raw.from_shift;
  for (auto it = order.begin(); it != end; ++it) {
    const std::size_t k = *it;
    if (out.rank > 0) {
      const auto last = static_cast<std::size_t>(out.rank - 1);
      if (out.to[last] == raw.to[k] * raw.shape[k] &&
          out.from[last] == raw.from[k] * raw.shape[k]) {
        out.shape[last] *= raw.shape[k];
        out.to[last] = raw.to[k];
        out.from[last] = raw.from[k];
        continue;
      }
    }
    const auto r = static_cast<std::size_t>(out.rank++);
    out.shape[r] = raw.shape[k];
    out.to[r] = raw.to[k];
    out.from[r] = raw.from[k];
  }
  return out;
}

void check_copy(const any_view& dst, const any_view& src) {
  if (!(dst.layout().shape() == src.layout().shape())) {
    throw std::invalid_argument("shape: " + shape_text(src.layout().shape()) +
                                " cannot be copied to " + shape_text(dst.layout().shape()) +
                                "; the shapes must be equal");
  }
  if (dst.read_only()) {
    throw interop_error(fault::read_only, std::string(field_of(fault::read_only)) +
                                              ": the destination of a copy " +
                                              std::string(message(fault::read_only)));
  }
  if ((dst.dtype().is_record() || src.dtype().is_record()) && !(dst.dtype() == src.dtype())) {
    throw interop_error(fault::dtype_mismatch, "typestr: " + src.dtype().name() +
                                                   " cannot become " + dst.dtype().name() +
                                                   "; records are copied to the same record only");
  }
}

}  // namespace usmx::detail
