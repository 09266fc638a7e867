// Our kinds of USM as SYCL's enumeration.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

#include <sycl/usm/usm_enums.hpp>

#include "usmx/view.hpp"

namespace usmx::detail {

/// Throws std::invalid_argument for unknown.
inline sycl::usm::alloc to_sycl(usm_kind kind) {
  switch (kind) {
    case usm_kind::host:
      return sycl::usm::alloc::host;
    case usm_kind::device:
      return sycl::usm::alloc::device;
    case usm_kind::shared:
      return sycl::usm::alloc::shared;
    case usm_kind::unknown:
      break;
  }
  throw std::invalid_argument("kind: unknown is not supported; expected host, device or shared");
}

}  // namespace usmx::detail
