// Errors say where the page of troubleshooting explains them: as a note, so that the message stays
// one line that programs compare.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "support/bindings.hpp"

namespace usmx::python {

/// Adds the link to the error that is set, if the page has an entry for its message. The error is
/// set afterwards in any case.
void add_help_link() noexcept;
/// The messages that the page explains.
std::span<const std::string_view> all_help_headings() noexcept;
void bind_help_links(nb::module_& m);

}  // namespace usmx::python
