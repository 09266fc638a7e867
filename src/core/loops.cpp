// Sorts and merges the axes of operands that are visited together; see usmx/loops.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/loops.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "core/format.hpp"

namespace usmx {
namespace {

/// The axes to visit: a row each of its length and its step in every operand.
class axis_table {
 public:
  axis_table(std::size_t axes, std::size_t operands) : width_(operands + 1) {
    if (axes * width_ > few_.size()) many_.resize(axes * width_);
    rows_ = many_.empty() ? few_.data() : many_.data();
  }
  axis_table(const axis_table&) = delete;
  axis_table& operator=(const axis_table&) = delete;

  std::size_t operands() const noexcept { return width_ - 1; }
  std::int64_t& length(std::size_t row) noexcept { return rows_[row * width_]; }
  std::int64_t& step(std::size_t row, std::size_t operand) noexcept {
    return rows_[row * width_ + 1 + operand];
  }

  /// By the steps of the first operand; where those are equal, of the next one.
  bool is_before(std::size_t a, std::size_t b) noexcept {
    for (std::size_t k = 0; k < operands(); ++k) {
      const auto x = std::abs(step(a, k)), y = std::abs(step(b, k));
      if (x != y) return x > y;
    }
    return false;
  }
  /// Whether `inner` continues where one iteration of `outer` ends, in every operand.
  bool continues(std::size_t outer, std::size_t inner) noexcept {
    for (std::size_t k = 0; k < operands(); ++k) {
      if (step(outer, k) != step(inner, k) * length(inner)) return false;
    }
    return true;
  }

 private:
  std::size_t width_;
  std::int64_t* rows_;
  std::array<std::int64_t, 64> few_;
  std::vector<std::int64_t> many_;
};

/// `step_of(operand, axis)` is asked once for each.
template <class StepOf>
loops merged(std::span<const std::int64_t> lengths, std::size_t operands, loop_order order,
             StepOf step_of) {
  loops out;
  out.starts = extents(operands);
  axis_table axes(lengths.size(), operands);
  std::array<std::uint8_t, max_rank> kept;  // rows, outermost first
  std::size_t count = 0;
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    out.size *= lengths[k];
    if (lengths[k] == 1) continue;
    axes.length(count) = lengths[k];
    std::int64_t sign = 0;
    for (std::size_t o = 0; o < operands; ++o) {
      const std::int64_t step = step_of(o, k);
      axes.step(count, o) = step;
      if (sign == 0) sign = step;
    }
    if (order == loop_order::any && sign < 0) {
      for (std::size_t o = 0; o < operands; ++o) {
        std::int64_t& step = axes.step(count, o);
        out.starts[o] += step * (lengths[k] - 1);
        step = -step;
      }
    }
    kept[count] = static_cast<std::uint8_t>(count);
    ++count;
  }
  if (out.size == 0) {
    out.starts = extents(operands);
    return out;
  }
  // By insertion: few axes, mostly sorted already. Equal ones keep their order.
  for (std::size_t k = 1; order == loop_order::any && k < count; ++k) {
    for (std::size_t at = k; at > 0 && axes.is_before(kept[at], kept[at - 1]); --at) {
      std::swap(kept[at], kept[at - 1]);
    }
  }
  std::size_t rank = 0;
  for (std::size_t k = 0; k < count; ++k) {
    if (rank > 0 && axes.continues(kept[rank - 1], kept[k])) {
      axes.length(kept[k]) *= axes.length(kept[rank - 1]);
      --rank;
    }
    kept[rank++] = kept[k];
  }
  out.lengths = extents(rank);
  out.steps = extents(operands * rank);
  for (std::size_t k = 0; k < rank; ++k) {
    out.lengths[k] = axes.length(kept[k]);
    for (std::size_t o = 0; o < operands; ++o) out.steps[o * rank + k] = axes.step(kept[k], o);
  }
  return out;
}

}  // namespace

extents broadcast_shape(std::span<const extents* const> shapes) {
  std::size_t rank = 0;
  for (const auto* s : shapes) rank = std::max(rank, s->size());
  extents out(rank, 1);
  for (const auto* s : shapes) {
    const std::size_t missing = rank - s->size();
    for (std::size_t k = 0; k < s->size(); ++k) {
      auto& length = out[missing + k];
      if ((*s)[k] == length || (*s)[k] == 1) continue;
      if (length != 1) {
        std::string all;
        for (const auto* other : shapes)
          all += (all.empty() ? "" : " and ") + detail::shape_text(*other);
        throw std::invalid_argument("shapes " + all + " do not broadcast together");
      }
      length = (*s)[k];
    }
  }
  return out;
}

std::int64_t broadcast_step(const layout& operand, const extents& shape,
                            std::size_t axis) noexcept {
  const std::size_t missing = shape.size() - operand.shape().size();
  if (axis < missing || operand.shape()[axis - missing] == 1) return 0;
  return operand.strides()[axis - missing];
}

bool loops::is_run(std::size_t operand, std::int64_t unit) const noexcept {
  const auto own = steps_of(operand);
  for (std::size_t k = rank(); k-- > 0;) {
    if (own[k] != unit) return false;
    unit *= lengths[k];
  }
  return true;
}

bool loops::is_one_element(std::size_t operand) const noexcept {
  return std::ranges::all_of(steps_of(operand), [](std::int64_t step) { return step == 0; });
}

bool loops::fits_31_bits() const noexcept {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (size > most) return false;
  for (std::size_t operand = 0; operand < starts.size(); ++operand) {
    std::int64_t reach = 0;
    for (std::size_t k = 0; k < rank(); ++k) {
      // Layouts are valid, so that no product of them leaves 63 bits.
      reach += (lengths[k] - 1) * std::abs(steps_of(operand)[k]);
    }
    if (reach > most) return false;
  }
  return true;
}

loops make_loops(std::span<const std::int64_t> lengths,
                 std::span<const std::span<const std::int64_t>> steps, loop_order order) {
  return merged(lengths, steps.size(), order,
                [&](std::size_t operand, std::size_t axis) { return steps[operand][axis]; });
}

loops make_loops(const extents& shape, std::span<const layout* const> operands, loop_order order) {
  return merged(shape.span(), operands.size(), order, [&](std::size_t operand, std::size_t axis) {
    return broadcast_step(*operands[operand], shape, axis);
  });
}

}  // namespace usmx
