// See usmx/arithmetic.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/arithmetic.hpp"

#include <memory>
#include <stdexcept>
#include <utility>

#include "core/format.hpp"

namespace usmx {

deferred_array::deferred_array(shared_deferred value) {
  auto held = std::make_unique<const shared_deferred>(std::move(value));
  (*held)->seen(true);
  value_ = {held.release(), [](const shared_deferred* last) {
              (*last)->seen(false);
              delete last;
            }};
}

const operation& detail::operation_of(std::string_view name) {
  const operation* const op = find_operation(name);
  if (op != nullptr) return *op;
  throw std::invalid_argument(format("name: '{}' is not an operation of the table", name));
}

}  // namespace usmx
