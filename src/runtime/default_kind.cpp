// The kind of memory of new arrays whose program does not say one; see usmx/default_kind.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/default_kind.hpp"

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "core/format.hpp"
#include "runtime/backend.hpp"
#include "usmx/runtime.hpp"

namespace usmx {
namespace {

/// `unknown` stands for no choice.
std::atomic<usm_kind> chosen = usm_kind::unknown;

/// What the environment names; `unknown` without it. Read once, but a wrong value is an error each
/// time, not only of the first array.
usm_kind named_by_environment() {
  static const usm_kind named = [] {
    const char* const value = std::getenv("USMX_USM_TYPE");
    if (value == nullptr || *value == '\0') return usm_kind::unknown;
    for (const usm_kind kind : {usm_kind::device, usm_kind::shared, usm_kind::host}) {
      if (std::string_view(value) == name(kind)) return kind;
    }
    throw std::invalid_argument(detail::format(
        "USMX_USM_TYPE: '{}' is not supported; expected 'device', 'shared' or 'host'", value));
  }();
  return named;
}

/// `unknown` if each device has its own.
usm_kind of_all_devices() {
  const usm_kind kind = chosen.load(std::memory_order_relaxed);
  return kind != usm_kind::unknown ? kind : named_by_environment();
}

}  // namespace

usm_kind default_kind(const sycl::device& device) {
  const usm_kind kind = of_all_devices();
  return kind != usm_kind::unknown ? kind : detail::backend_of(device).default_kind;
}

usm_kind default_kind(const sycl::queue& queue) {
  const usm_kind kind = of_all_devices();
  return kind != usm_kind::unknown ? kind : detail::backend_of(queue).default_kind;
}

std::optional<usm_kind> set_default_kind(std::optional<usm_kind> kind) {
  if (kind == usm_kind::unknown) {
    throw std::invalid_argument("kind: is unknown; expected device, shared or host memory");
  }
  const usm_kind before = chosen.exchange(kind.value_or(usm_kind::unknown));
  return before == usm_kind::unknown ? std::nullopt : std::optional(before);
}

}  // namespace usmx
