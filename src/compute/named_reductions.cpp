// See named_reductions.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "compute/named_reductions.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "core/format.hpp"
#include "usmx/promotion.hpp"

namespace usmx::detail {
namespace {

/// The sum `a` divided by the number of elements; of complex numbers both parts.
std::string divided(const dtype& type) {
  const std::string_view part = device_name(part_type(type));
  return type.kind() == type_class::complex ? format("a.re / {0}(n), a.im / {0}(n)", part)
                                            : format("a / {}(n)", part);
}

}  // namespace

dtype added_in(const dtype& type) noexcept {
  return type.kind() == type_class::floating && type.itemsize() == 2 ? dtype::of<float>() : type;
}

dtype sum_type(const dtype& type) noexcept {
  switch (type.kind()) {
    case type_class::boolean:
    case type_class::integer:
      return dtype::of<std::int64_t>();
    case type_class::unsigned_integer:
      return dtype::of<std::uint64_t>();
    default:
      return type;
  }
}

std::optional<named_reduction> find_reduction(std::string_view name) noexcept {
  using enum named_reduction;
  static constexpr std::pair<std::string_view, named_reduction> all_names[] = {
      {"sum", sum},     {"prod", product}, {"mean", mean}, {"min", smallest},
      {"max", largest}, {"any", any},      {"all", all}};
  const auto* const found =
      std::ranges::find(all_names, name, &std::pair<std::string_view, named_reduction>::first);
  return found == std::end(all_names) ? std::nullopt : std::optional(found->second);
}

std::optional<value_reduction> reduction_of(named_reduction name, const dtype& elements,
                                            const std::optional<dtype>& asked) {
  const dtype& type = asked ? *asked : elements;
  if (elements.is_record() || type.is_record()) return {};
  value_reduction how;
  switch (name) {
    case named_reduction::sum:
    case named_reduction::product:
      how.result = asked ? *asked : sum_type(type);
      how.value = added_in(how.result);
      how.reduce = name == named_reduction::sum ? "a + b" : "a * b";
      how.identity.emplace(name == named_reduction::sum ? "0" : "1");
      return how;
    case named_reduction::mean: {
      const bool is_float =
          type.kind() == type_class::floating || type.kind() == type_class::complex;
      how.result = is_float ? type : dtype::of<double>();
      how.value = added_in(how.result);
      how.reduce = "a + b";
      how.identity = "0";
      how.post_map = divided(how.value);
      return how;
    }
    case named_reduction::smallest:
    case named_reduction::largest:
      how.result = how.value = type;
      how.reduce = name == named_reduction::smallest ? "smaller(a, b)" : "larger(a, b)";
      return how;
    case named_reduction::any:
    case named_reduction::all:
      how.result = how.value = dtype::of<bool>();
      how.reduce = name == named_reduction::any ? "a || b" : "a && b";
      how.identity.emplace(name == named_reduction::any ? "false" : "true");
      return how;
  }
  return {};
}

std::optional<value_reduction> product_in_range(const value_reduction& how) {
  const bool is_plain =
      how.reduce == "a * b" && how.map == "x" && how.post_map == "a" && how.reduce_type.empty();
  if (!is_plain || how.value.kind() != type_class::floating || how.value.itemsize() < 4) return {};
  value_reduction ranged = how;
  ranged.map = "expression::start(x)";
  ranged.reduce = "expression::joined(a, b)";
  ranged.post_map = "expression::ended(a)";
  ranged.identity = format("expression::product_of_none<{}>()", device_name(how.value));
  ranged.reduce_type = format("expression::product<{}>", device_name(how.value));
  return ranged;
}

}  // namespace usmx::detail

namespace usmx {

shared_deferred reduce(const sycl::queue& queue, const deferred_operand& what,
                       named_reduction which, const reduction_axes& axes) {
  const auto* number = std::get_if<operand>(&what);
  if (number != nullptr && number->array() == nullptr) {
    throw std::invalid_argument("what: is a number; expected an array");
  }
  const dtype& type = number != nullptr ? number->type() : std::get<shared_deferred>(what)->dtype();
  const auto how = detail::reduction_of(which, type);
  if (!how) {
    throw interop_error(fault::dtype_mismatch,
                        detail::format("dtype: {} has no sum, mean or order", type.name()));
  }
  return reduce(queue, what, *how, axes);
}

}  // namespace usmx
