// Axes that are plain ints, for calls that have no message of their own for others.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <nanobind/nanobind.h>

namespace usmx::python {

/// An axis that is there, from 0 up.
inline std::optional<int> plain_axis(nanobind::handle axis, int rank) noexcept {
  if (!PyLong_CheckExact(axis.ptr())) return {};
  int overflow = 0;
  const long given = PyLong_AsLongAndOverflow(axis.ptr(), &overflow);
  if (overflow != 0 || given < -rank || given >= rank) return {};
  return static_cast<int>(given < 0 ? given + rank : given);
}

/// The same; None is the only one.
inline std::optional<int> plain_or_only_axis(nanobind::handle axis, int rank) noexcept {
  return axis.is_none() && rank == 1 ? std::optional(0) : plain_axis(axis, rank);
}

}  // namespace usmx::python
