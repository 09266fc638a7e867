// See compile_notice.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "kernel/compile_notice.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "core/format.hpp"
#include "usmx/program_cache.hpp"

namespace usmx::detail {
namespace {

constexpr std::chrono::nanoseconds enough = std::chrono::seconds(1);

constinit std::atomic<std::int64_t> spent = 0;  // nanoseconds
constinit std::atomic<bool> said = false;

void say() noexcept {
  if (said.exchange(true)) return;
  try {
    const auto settings = program_cache_settings::from_environment();
    const std::string text = format(
        "usmx: compiling kernels; {} (USMX_NOTICES=0 hides this line)\n",
        settings.enabled
            ? format("they are kept in {}, and `usmx cache --warm` compiles common ones beforehand",
                     settings.folder.native())
            : std::string("USMX_CACHE=0 keeps none of them for the next process"));
    static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
  } catch (...) {  // a line less
  }
}

}  // namespace

compile_time_record::~compile_time_record() {
  spent += (std::chrono::steady_clock::now() - begun_) / std::chrono::nanoseconds(1);
}

patience compile_time_record::until_notice() const {
  if (said || !program_cache_settings::from_environment().notices || !::isatty(STDERR_FILENO)) {
    return {};
  }
  return {std::max(enough - std::chrono::nanoseconds(spent), std::chrono::nanoseconds(0)), say};
}

}  // namespace usmx::detail
