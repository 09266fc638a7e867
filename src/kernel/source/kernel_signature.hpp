// What the text of a program declares about its functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "usmx/kernel.hpp"

namespace usmx::detail {

/// "class T = float": a parameter of a template.
struct template_parameter {
  std::string text, name, preset;
  bool is_pack = false;
};

struct signature {
  std::string name;
  /// Dimensions that a kernel is declared over; 0 for other functions.
  int rank = 0;
  std::vector<kernel_parameter> parameters;
  /// Offsets in the source: USMX_KERNEL (npos: none), the bracket of the parameters, the end.
  std::size_t begin = std::string::npos, bracket = 0, end = 0;
  /// Of a kernel that is a template, which is compiled only with arguments.
  std::vector<template_parameter> template_parameters = {};

  bool is_template() const noexcept { return !template_parameters.empty(); }
};

/// Every function with a body at namespace level, in order. `options` contribute their -D macros.
std::vector<signature> read_signatures(std::string_view source,
                                       std::span<const std::string> options = {});

/// Whether the source includes real SYCL headers, with which it cannot use the prelude.
bool includes_sycl(std::string_view source);

}  // namespace usmx::detail
