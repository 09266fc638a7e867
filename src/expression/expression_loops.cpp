// Which loops visit operands of any shapes and strides together, and the fewest of them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <stdexcept>

#include "core/format.hpp"
#include "usmx/expression.hpp"

namespace usmx {
namespace {

/// One axis with its step in every operand.
struct axis {
  std::int64_t length;
  std::vector<std::int64_t> steps;

  /// Whether `inner` goes on where one turn of this axis ends, in every operand.
  bool continues(const axis& inner) const {
    for (std::size_t k = 0; k < steps.size(); ++k) {
      if (steps[k] != inner.steps[k] * inner.length) return false;
    }
    return true;
  }
  /// By the steps of the first operand; where those are equal, of the next one.
  bool before(const axis& other) const {
    for (std::size_t k = 0; k < steps.size(); ++k) {
      const auto a = std::abs(steps[k]);
      const auto b = std::abs(other.steps[k]);
      if (a != b) return a > b;
    }
    return false;
  }
};

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

bool loops::is_run(std::size_t operand) const noexcept {
  std::int64_t run = 1;
  const auto own = steps_of(operand);
  for (std::size_t k = rank(); k-- > 0;) {
    if (own[k] != run) return false;
    run *= lengths[k];
  }
  return true;
}

bool loops::is_one_element(std::size_t operand) const noexcept {
  return std::ranges::all_of(steps_of(operand), [](std::int64_t step) { return step == 0; });
}

bool loops::fits_31_bits() const noexcept {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (size > most) return false;
  if (rank() == 0) return true;
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
  loops out;
  out.starts.assign(steps.size(), 0);
  std::vector<axis> axes;
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    out.size *= lengths[k];
    if (lengths[k] == 1) continue;
    axis a{lengths[k], {}};
    for (const auto& s : steps) a.steps.push_back(s[k]);
    axes.push_back(std::move(a));
  }
  if (out.size == 0) return out;

  if (order == loop_order::any) {
    for (auto& a : axes) {
      const auto first = std::ranges::find_if(a.steps, [](std::int64_t step) { return step != 0; });
      if (first == a.steps.end() || *first > 0) continue;
      for (std::size_t k = 0; k < a.steps.size(); ++k) {
        out.starts[k] += a.steps[k] * (a.length - 1);
        a.steps[k] = -a.steps[k];
      }
    }
    std::ranges::stable_sort(axes, [](const axis& a, const axis& b) { return a.before(b); });
  }

  std::vector<axis> merged;
  for (auto& a : axes) {
    if (!merged.empty() && merged.back().continues(a)) {
      a.length *= merged.back().length;
      merged.back() = std::move(a);
    } else {
      merged.push_back(std::move(a));
    }
  }
  for (const auto& a : merged) out.lengths.push_back(a.length);
  for (std::size_t k = 0; k < steps.size(); ++k) {
    for (const auto& a : merged) out.steps.push_back(a.steps[k]);
  }
  return out;
}

loops make_loops(const extents& shape, std::span<const layout* const> operands, loop_order order) {
  std::vector<std::vector<std::int64_t>> steps;
  for (const auto* where : operands) {
    auto& own = steps.emplace_back(shape.size(), 0);
    const std::size_t missing = shape.size() - where->shape().size();
    for (std::size_t k = 0; k < where->shape().size(); ++k) {
      if (where->shape()[k] != 1) own[missing + k] = where->strides()[k];
    }
  }
  const std::vector<std::span<const std::int64_t>> spans(steps.begin(), steps.end());
  return make_loops(shape.span(), spans, order);
}

}  // namespace usmx
