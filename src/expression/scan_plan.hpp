// What decides which program serves a stage of a scan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "expression/loop_text.hpp"
#include "usmx/scan.hpp"

namespace usmx::detail {

struct scan_program {
  /// Neighbouring items have neighbouring lines, each alone; otherwise a group shares a chunk of
  /// one line, tile by tile.
  bool across = false;
  /// Items of a group, and elements of a tile that each of them has.
  int items = 1;
  int blocks = 1;
  /// Scans totals in their place, not the inputs.
  bool folds = false;
  /// Leaves the total of each chunk and nothing else.
  bool totals = false;
  /// Begins each chunk with what the chunks before it come to.
  bool carries = false;
  /// All in one launch: groups wait for each other, see kernels/scan.hpp. Then `blocks` fit the
  /// type of the values, and so many neighbours are loaded and stored together.
  bool once = false;
  int elements = 1;
  /// Loops over lines, taken apart from a flat number.
  std::size_t kept_rank = 0;

  std::string key() const;
};

/// Tiles of which a group joins the totals itself, once what comes before all of them is known.
inline constexpr int scan_window = 128;

struct scan_source_parts {
  std::span<const expression_parameter> inputs;
  std::span<const expression_parameter> outputs;
  const scan_text* text;
  const std::string* post_map;
  const expression_types* types;
  /// The types of the elements of inputs and outputs.
  std::span<const dtype> own_inputs;
  std::span<const dtype> own_outputs;
  /// Which inputs are numbers.
  std::span<const bool> is_number;
  value_text value;
  std::string kernel_name;
};

std::string scan_source(const scan_source_parts& parts, const scan_program& program);

}  // namespace usmx::detail
