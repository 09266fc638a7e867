// What tests of libusmx reach into it for: the forms that kernels have on devices that are not
// there, and the texts that were compiled.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace usmx::detail {

/// Kernels are written and cut from now on as for the devices of this backend ("cuda", ...); ""
/// ends it. Throws std::invalid_argument for a name that no backend has.
void use_forms_of(std::string_view backend);

/// A text as the compiler gets it, without the prelude.
struct compiled_text {
  std::string source;
  std::vector<std::string> options;
};
/// Starts to keep what is compiled, or stops and forgets it.
void keep_compiled_texts(bool keep);
std::vector<compiled_text> kept_compiled_texts();

}  // namespace usmx::detail
