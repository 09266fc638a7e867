// Lets tests inspect the library; see usmx/detail/inspection.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/detail/inspection.hpp"

#include <mutex>
#include <stdexcept>

#include "core/format.hpp"
#include "kernel/compile.hpp"
#include "runtime/backend.hpp"

namespace usmx::detail {
namespace {

struct kept {
  std::mutex mutex;
  bool on = false;
  std::vector<compiled_text> texts;
};
kept& the_kept() {
  static auto& all = *new kept;  // leaked: a thread may compile after static objects end
  return all;
}

}  // namespace

void use_forms_of(std::string_view backend) {
  if (backend.empty()) return choose_forms(nullptr);
  for (const auto& row : named_backends()) {
    if (backend == row.name) return choose_forms(&row.forms);
  }
  throw std::invalid_argument(format("backend: '{}' is not supported; expected one of {}", backend,
                                     joined(named_backends(), &backend_row::name)));
}

void keep_compiled_texts(bool keep) {
  const std::scoped_lock lock(the_kept().mutex);
  the_kept().on = keep;
  the_kept().texts.clear();
}

std::vector<compiled_text> kept_compiled_texts() {
  const std::scoped_lock lock(the_kept().mutex);
  return the_kept().texts;
}

void keep_compiled_text(const std::string& source, const std::vector<std::string>& options) {
  const std::scoped_lock lock(the_kept().mutex);
  if (the_kept().on) the_kept().texts.push_back({source, options});
}

}  // namespace usmx::detail
