// For tests of libusmx: the forms of kernels for devices that the machine does not have, and the
// texts that were compiled.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace usmx::detail {

/// From now on kernels are generated and their ranges divided as for devices of this backend
/// ("cuda", ...); "" ends it. Throws std::invalid_argument for other names.
void use_forms_of(std::string_view backend);

/// A text as the compiler gets it, without the prelude.
struct compiled_text {
  std::string source;
  std::vector<std::string> options;
};
/// Starts to keep texts that are compiled, or stops and drops them.
void keep_compiled_texts(bool keep);
std::vector<compiled_text> kept_compiled_texts();

}  // namespace usmx::detail
