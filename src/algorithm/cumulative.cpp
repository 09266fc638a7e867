// See cumulative.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "algorithm/cumulative.hpp"

#include <map>
#include <mutex>
#include <string>

#include "algorithm/axes.hpp"
#include "compute/in_memory_order.hpp"
#include "compute/named_reductions.hpp"
#include "compute/small_arrays.hpp"
#include "core/format.hpp"
#include "usmx/copy.hpp"
#include "usmx/promotion.hpp"
#include "usmx/scan.hpp"
#include "usmx/wait.hpp"

namespace usmx::detail {
namespace {

const scan_kernel& running(bool product, const dtype& value, const dtype& result) {
  static auto& mutex = *new std::mutex;  // leaked, as those of sorts
  static auto& known = *new std::map<std::string, scan_kernel>;
  const std::string key = format("{} {} {}", product, value.name(), result.name());
  const std::lock_guard lock(mutex);
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  scan_kernel made(format("{} x", value.name()), format("{} y", result.name()),
                   {.map = "x",
                    .scan = product ? "a * b" : "a + b",
                    .post_map = format("y = {}(a)", device_name(result)),
                    .scan_type = std::string(value.name())},
                   product ? "cumulative_prod" : "cumulative_sum");
  return known.emplace(key, std::move(made)).first->second;
}

array by_kernels(const array& a, int axis, bool product, const dtype* type) {
  const dtype& own = a.elements().dtype();
  const dtype result = type != nullptr ? *type : sum_type(own), value = added_in(result);
  const in_memory_order order(a);
  array x = a.with_view(order.view());
  if (own != value || !x.elements().layout().is_c_contiguous()) {
    const array copy = array::empty(a.queue(), x.shape(), value, usm_kind::device);
    copy_async(a.queue(), copy, x);
    x = copy;
  }
  array made = array::empty(a.queue(), x.shape(), result, kind_of_results(a));
  expression_output outputs[1];
  outputs[0].given = &made;
  const operand inputs[] = {x};
  running(product, value, result).submit(a.queue(), inputs, outputs, order.place_of(axis));
  return order.turned_back(std::move(made));
}

}  // namespace

array cumulative(const array& a, int axis, bool product, const dtype* type) {
  if (type == nullptr && is_small(a)) {
    if (auto few = scan_small(a, axis, product)) return *std::move(few);
  }
  array made;
  unlocked([&] { made = by_kernels(a, axis, product, type); });
  return made;
}

}  // namespace usmx::detail
