// What `default_resource` checks first: whether this thread has set its own resource.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include <sycl/queue.hpp>

#include "usmx/memory.hpp"

namespace usmx::detail {

/// How many `using_resource` exist on this thread. The TLS model reduces the access to one
/// instruction.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local std::size_t used_here;

/// The one of them for this queue and kind; null if there is none.
std::shared_ptr<memory_resource> find_used_here(const sycl::queue& queue, usm_kind kind);

}  // namespace usmx::detail
