// Lets a program free its own caches when memory runs out.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/resources.hpp"

#include <stdexcept>
#include <utility>

#include "usmx/error.hpp"

namespace usmx {

failure_callback_resource::failure_callback_resource(std::shared_ptr<memory_resource> upstream,
                                                     callback on_failure)
    : stacked_resource(std::move(upstream)), on_failure_(std::move(on_failure)) {
  if (!on_failure_) throw std::invalid_argument("on_failure: is empty; expected a function");
}

void* failure_callback_resource::serve(const request& asked) {
  for (;;) {
    try {
      return asked.pass_to(*upstream());
    } catch (const allocation_error&) {
      if (!on_failure_(asked.bytes)) throw;
    }
  }
}

}  // namespace usmx
