// Examples for docstrings; see examples.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "support/bindings.hpp"

namespace usmx::python {

/// The docstring of a function, with its example at the end.
std::string with_example(std::string_view name, std::string_view doc);
/// The same for classes and exceptions, whose docstrings can be changed.
void add_class_examples(nb::handle module);

}  // namespace usmx::python
