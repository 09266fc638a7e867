// What `default_resource` asks first: whether this thread uses a resource of its own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include <sycl/queue.hpp>

#include "usmx/memory.hpp"

namespace usmx::detail {

/// How many `using_resource` live on this thread. The model is what keeps the access to one
/// instruction.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local std::size_t used_here;

/// The one of them that serves this queue and kind; null if none does.
std::shared_ptr<memory_resource> find_used_here(const sycl::queue& queue, usm_kind kind);

}  // namespace usmx::detail
