// See usmx/arithmetic.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/arithmetic.hpp"

#include <stdexcept>
#include <utility>

#include "core/format.hpp"

namespace usmx {

struct deferred_array::holder {
  explicit holder(shared_deferred held) : value(std::move(held)) { value->seen(true); }
  holder(const holder&) = delete;
  holder& operator=(const holder&) = delete;
  ~holder() { value->seen(false); }

  shared_deferred value;
};

deferred_array::deferred_array(shared_deferred value)
    : held_(std::make_shared<const holder>(std::move(value))), value_(held_->value.get()) {}

const shared_deferred& deferred_array::value() const noexcept { return held_->value; }

const operation& detail::operation_of(std::string_view name) {
  const operation* const op = find_operation(name);
  if (op != nullptr) return *op;
  throw std::invalid_argument(format("name: '{}' is not an operation of the table", name));
}

}  // namespace usmx
