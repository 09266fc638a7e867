// Kernels that are templates: a name with arguments, `scale<float>`, becomes a kernel of its own,
// because the runtime finds kernels only by the plain names of functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace usmx::detail {

/// Whether a name has the arguments of a template.
bool names_instance(std::string_view name) noexcept;

/// `scale` of `scale<float>` and of `a::scale<float>`; other names as they are.
std::string_view template_name(std::string_view name) noexcept;

/// A source, and the name of the kernel in it.
struct instance {
  std::string source, name;
};
/// The source with a kernel, on a line after all others, that calls the template named with its
/// arguments. Throws std::out_of_range if there is no such template, std::invalid_argument if the
/// arguments are not those that it takes.
instance instantiated(std::string_view source, std::string_view name);

/// The name that was asked for, of a kernel of `instantiated`; of others their own.
std::string shown_name(std::string_view name);

}  // namespace usmx::detail
