// The loops that visit operands of any shapes and strides together, and the fewest of them: what
// copies, conversions and kernels from expressions run or pass to a device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "usmx/layout.hpp"

namespace usmx {

/// The shape that all broadcast to. Throws std::invalid_argument naming both shapes.
extents broadcast_shape(std::span<const extents* const> shapes);

/// In which order loops visit elements.
enum class loop_order : std::uint8_t {
  /// In the order of the steps of the first operand, each of them positive: the fewest loops.
  any,
  /// The flat number of an iteration is the index in C order.
  c,
};

/// The loops that visit some operands together, outermost first. Lengths of one are gone, axes that
/// form one run in every operand are one axis. Zero steps repeat an element. Needs no heap for two
/// operands of rank two.
struct loops {
  extents lengths;
  /// Those of operand 0, then those of operand 1, ... in the unit of the steps that were given.
  extents steps;
  /// From each operand's first element to the one that the loops visit first.
  extents starts;
  /// Iterations of all loops.
  std::int64_t size = 1;

  std::size_t rank() const noexcept { return lengths.size(); }
  std::span<const std::int64_t> steps_of(std::size_t operand) const noexcept {
    return steps.span().subspan(operand * rank(), rank());
  }
  /// Of the innermost loop; 0 without loops.
  std::int64_t inner_step(std::size_t operand) const noexcept {
    return rank() == 0 ? 0 : steps[operand * rank() + rank() - 1];
  }
  /// Whether the iterations visit the operand's elements one after the other; `unit` is the step
  /// from one to the next.
  bool is_run(std::size_t operand, std::int64_t unit = 1) const noexcept;
  /// Whether every iteration visits the same element.
  bool is_one_element(std::size_t operand) const noexcept;
  /// Whether numbers of iterations and distances from the first element fit into 31 bits.
  bool fits_31_bits() const noexcept;
};

/// `steps` has one list of lengths.size() steps for each operand. Products of lengths and steps
/// must fit in 63 bits, as those of layouts do.
loops make_loops(std::span<const std::int64_t> lengths,
                 std::span<const std::span<const std::int64_t>> steps,
                 loop_order order = loop_order::any);
/// Operands of any shapes that broadcast to `shape`.
loops make_loops(const extents& shape, std::span<const layout* const> operands,
                 loop_order order = loop_order::any);

/// The step of an operand, in elements, along axis `axis` of a shape that it broadcasts to.
std::int64_t broadcast_step(const layout& operand, const extents& shape, std::size_t axis) noexcept;

}  // namespace usmx
