// Exceptions of Python with formatted texts, where nanobind's own take a finished one:
// `throw value_error("axis: {} is out of bounds", axis)`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include <nanobind/nanobind.h>

#include "core/format.hpp"

namespace usmx::python {

namespace nb = nanobind;

template <class... Values>
nb::builtin_exception value_error(fmt::format_string<Values...> text, Values&&... values) {
  return nb::value_error(detail::format(text, std::forward<Values>(values)...).c_str());
}

template <class... Values>
nb::builtin_exception type_error(fmt::format_string<Values...> text, Values&&... values) {
  return nb::type_error(detail::format(text, std::forward<Values>(values)...).c_str());
}

template <class... Values>
nb::builtin_exception index_error(fmt::format_string<Values...> text, Values&&... values) {
  return nb::index_error(detail::format(text, std::forward<Values>(values)...).c_str());
}

}  // namespace usmx::python
