// Operands, the C++ text that kernels from expressions have in common, and their base class.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/expression.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "core/bfloat16.hpp"
#include "core/format.hpp"
#include "core/half.hpp"
#include "expression/call.hpp"
#include "kernel/kernel_state.hpp"
#include "usmx/reduction.hpp"

namespace usmx {
namespace {

using detail::format;

/// Any number by value: of an integer class, or with a fraction and an imaginary part.
struct wide_number {
  bool is_integer = true;
  std::int64_t integer = 0;
  bool above = false;  // an unsigned number beyond the signed ones, as its bits
  std::complex<double> number;
};

template <class T>
T read(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

wide_number widen(const dtype& type, const std::byte* bytes) {
  wide_number w;
  const auto integer = [&](auto value) { w.integer = static_cast<std::int64_t>(value); };
  const auto fraction = [&](std::complex<double> value) {
    w.is_integer = false;
    w.number = value;
  };
  const auto by_size = [&](auto one, auto two, auto four, auto eight) {
    type.itemsize() == 1   ? integer(read<decltype(one)>(bytes))
    : type.itemsize() == 2 ? integer(read<decltype(two)>(bytes))
    : type.itemsize() == 4 ? integer(read<decltype(four)>(bytes))
                           : integer(read<decltype(eight)>(bytes));
  };
  switch (type.kind()) {
    case type_class::boolean:
      integer(read<std::uint8_t>(bytes) != 0);
      break;
    case type_class::integer:
      by_size(std::int8_t(), std::int16_t(), std::int32_t(), std::int64_t());
      break;
    case type_class::unsigned_integer:
      by_size(std::uint8_t(), std::uint16_t(), std::uint32_t(), std::uint64_t());
      w.above = w.integer < 0;
      break;
    case type_class::floating:
      type.is_bfloat16()     ? fraction(static_cast<double>(float(read<bfloat16>(bytes))))
      : type.itemsize() == 2 ? fraction(detail::from_half(read<detail::half_bits>(bytes)))
      : type.itemsize() == 4 ? fraction(static_cast<double>(read<float>(bytes)))
                             : fraction(read<double>(bytes));
      break;
    default:
      type.itemsize() == 8 ? fraction(std::complex<double>(read<std::complex<float>>(bytes)))
                           : fraction(read<std::complex<double>>(bytes));
  }
  return w;
}

double real_part(const wide_number& w) {
  if (!w.is_integer) return w.number.real();
  return w.above ? static_cast<double>(static_cast<std::uint64_t>(w.integer))
                 : static_cast<double>(w.integer);
}

/// Whether an integer is one of an integer type.
bool fits(const wide_number& w, const dtype& to) {
  const int bits = static_cast<int>(8 * to.itemsize());
  if (to.kind() == type_class::unsigned_integer) {
    if (bits == 64) return w.above || w.integer >= 0;
    return !w.above && w.integer >= 0 && (w.integer >> bits) == 0;
  }
  if (w.above) return false;
  if (bits == 64) return true;
  const std::int64_t limit = std::int64_t{1} << (bits - 1);
  return w.integer >= -limit && w.integer < limit;
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
  const wide_number w = widen(type_, bytes_.data());
  const auto write = [&](auto value) { std::memcpy(out.data(), &value, sizeof value); };
  switch (to.kind()) {
    case type_class::boolean:
      write(static_cast<std::uint8_t>(w.is_integer ? w.integer != 0 : w.number != 0.0));
      break;
    case type_class::integer:
    case type_class::unsigned_integer:
      if (weak_ && !fits(w, to)) {
        const auto bits = static_cast<std::uint64_t>(w.integer);
        throw std::overflow_error(w.above
                                      ? format("{} does not fit into {}", bits, to.name())
                                      : format("{} does not fit into {}", w.integer, to.name()));
      }
      // The low bytes of a number of two's complement.
      std::memcpy(out.data(), &w.integer, to.itemsize());
      break;
    case type_class::floating:
      if (to.is_bfloat16()) {
        write(!w.is_integer ? detail::to_bfloat16(real_part(w))
              : w.above     ? detail::to_bfloat16(static_cast<std::uint64_t>(w.integer))
                            : detail::to_bfloat16(w.integer));
      } else if (to.itemsize() == 2) {
        write(detail::to_half(real_part(w)));
      } else if (to.itemsize() == 4) {
        write(static_cast<float>(real_part(w)));
      } else {
        write(real_part(w));
      }
      break;
    default: {
      const std::complex<double> z = w.is_integer ? real_part(w) : w.number;
      if (to.itemsize() == 8) {
        write(std::complex<float>(static_cast<float>(z.real()), static_cast<float>(z.imag())));
      } else {
        write(z);
      }
    }
  }
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
