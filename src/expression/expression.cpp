// Operands, the C++ text that kernels from expressions have in common, and their base class.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/expression.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

#include "core/cast.hpp"
#include "core/format.hpp"
#include "core/numbers.hpp"
#include "expression/call.hpp"
#include "kernel/kernel_state.hpp"
#include "usmx/reduction.hpp"

namespace usmx {
namespace {

using detail::format;

template <class T>
T read(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

/// Writes a number in another type. Of Python's numbers those that an integer type does not have
/// are refused, and integers become floats by way of double, as in NumPy.
template <class Wide>
void store(Wide number, const dtype& type, bool is_weak, std::byte* to) {
  detail::visit_number(type, [&]<class To>(std::type_identity<To>) {
    To value;
    if constexpr (!std::is_integral_v<Wide> || detail::small_float<To> ||
                  std::is_same_v<To, bool>) {
      value = detail::convert<To>(number);
    } else if constexpr (std::is_integral_v<To>) {
      if (is_weak && !std::in_range<To>(number)) {
        throw std::overflow_error(format("{} does not fit into {}", number, type.name()));
      }
      value = static_cast<To>(number);
    } else {
      value = detail::convert<To>(static_cast<double>(number));
    }
    std::memcpy(to, &value, sizeof value);
  });
}

}  // namespace

// --- operands -----------------------------------------------------------------------------------

operand::operand(const dtype& type, const void* bytes) noexcept : type_(type) {
  std::memcpy(bytes_.data(), bytes, std::min(type.itemsize(), bytes_.size()));
}

template <class T>
void operand::hold(T value) noexcept {
  type_ = dtype::of<T>();
  std::memcpy(bytes_.data(), &value, sizeof value);
}
template void operand::hold(bool) noexcept;
template void operand::hold(double) noexcept;
template void operand::hold(std::int64_t) noexcept;
template void operand::hold(std::uint64_t) noexcept;
template void operand::hold(std::complex<double>) noexcept;

std::array<std::byte, 16> operand::number_as(const dtype& to) const {
  if (type_ == to) return bytes_;
  std::array<std::byte, 16> out{};
  detail::visit_number(type_, [&]<class From>(std::type_identity<From>) {
    store(detail::widen<From>(bytes_.data()), to, weak_, out.data());
  });
  return out;
}

// --- C++ text -----------------------------------------------------------------------------------

std::string load_text(const dtype& as, const dtype& own, std::string_view pointer,
                      std::string_view index) {
  return format("expression::load<{}, {}>({}, {})", device_name(as), device_name(own), pointer,
                index);
}

std::string store_text(const dtype& own, std::string_view pointer, std::string_view index,
                       std::string_view value) {
  return format("expression::store<{}>({}, {}, {});", device_name(own), pointer, index, value);
}

std::string placeholder_text(const expression_types& types) {
  std::string text;
  for (const auto& [name, type] : types.placeholders) {
    text += format("using {} = {};\n", name, device_name(type));
  }
  return text;
}

std::string number_declaration(const dtype& type, std::string_view name) {
  const std::string_view part = device_name(passed_type(type));
  if (type.kind() != type_class::complex) return format(", {} {}", part, name);
  return format(", {0} _re{1}, {0} _im{1}", part, name);
}

std::string number_value(const dtype& type, std::string_view name) {
  if (type.is_bfloat16()) return format("{}({})", device_name(type), name);
  if (type.kind() != type_class::complex) return std::string(name);
  return format("{0}(_re{1}, _im{1})", device_name(type), name);
}

void add_number(std::vector<kernel_argument>& arguments, const dtype& type,
                const std::byte* bytes) {
  if (type.is_bfloat16()) {
    arguments.emplace_back(static_cast<float>(read<bfloat16>(bytes)));
    return;
  }
  const dtype part = part_type(type);
  arguments.emplace_back(part, bytes);
  if (part != type) arguments.emplace_back(part, bytes + part.itemsize());
}

void require_types(const sycl::device& device, const expression_types& types) {
  for (const auto* list : {&types.inputs, &types.outputs}) {
    for (const auto& type : *list) detail::require_type(device, type);
  }
}

// --- kernels ------------------------------------------------------------------------------------

std::span<const expression_parameter> expression_kernel::inputs() const noexcept {
  return state_->signature.inputs();
}
std::span<const expression_parameter> expression_kernel::outputs() const noexcept {
  return state_->signature.outputs();
}
const std::string& expression_kernel::name() const noexcept { return state_->signature.name; }
std::vector<std::string> expression_kernel::sources() const { return state_->programs.sources(); }

namespace {

template <class How>
std::optional<sycl::event> run(const detail::expression_state& state,
                               const detail::call_request& asked, const How& how) {
  return static_cast<const detail::callable_state<How>&>(state).run(asked, how);
}

}  // namespace

template <class How>
expression_kernel_with<How>::expression_kernel_with(
    std::shared_ptr<const detail::callable_state<How>> state) noexcept
    : expression_kernel(std::move(state)) {}

template <class How>
array expression_kernel_with<How>::operator()(const sycl::queue& queue,
                                              std::initializer_list<operand> inputs,
                                              const How& how) const {
  if (outputs().size() != 1) {
    throw std::invalid_argument(
        format("outputs: '{}' has {}; call enqueue()", name(), outputs().size()));
  }
  expression_output out;
  submit(queue, std::span(inputs.begin(), inputs.size()), std::span(&out, 1), how);
  return std::move(out.made);
}

template <class How>
sycl::event expression_kernel_with<How>::enqueue(const sycl::queue& queue,
                                                 std::span<const operand> in,
                                                 std::span<expression_output> out, const How& how,
                                                 std::span<const sycl::event> depends,
                                                 ordering order) const {
  return *run(*state_, {queue, in, out, depends, order, true}, how);
}

template <class How>
void expression_kernel_with<How>::submit(const sycl::queue& queue, std::span<const operand> in,
                                         std::span<expression_output> out, const How& how,
                                         std::span<const sycl::event> depends,
                                         ordering order) const {
  run(*state_, {queue, in, out, depends, order, false}, how);
}

template class expression_kernel_with<std::optional<std::int64_t>>;
template class expression_kernel_with<reduction_axes>;
template class expression_kernel_with<std::optional<int>>;

}  // namespace usmx
