// Operands, and the C++ text that kernels from expressions have in common.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/expression.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "core/half.hpp"

namespace usmx {
namespace {

constexpr std::array<std::string_view, number_types> device_names = {
    "bool",     "int8_t",   "int16_t", "int32_t", "int64_t", "uint8_t",        "uint16_t",
    "uint32_t", "uint64_t", "half",    "float",   "double",  "complex<float>", "complex<double>"};

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
  switch (number_index(type)) {
    case 0:
      integer(read<std::uint8_t>(bytes) != 0);
      break;
    case 1:
      integer(read<std::int8_t>(bytes));
      break;
    case 2:
      integer(read<std::int16_t>(bytes));
      break;
    case 3:
      integer(read<std::int32_t>(bytes));
      break;
    case 4:
      integer(read<std::int64_t>(bytes));
      break;
    case 5:
      integer(read<std::uint8_t>(bytes));
      break;
    case 6:
      integer(read<std::uint16_t>(bytes));
      break;
    case 7:
      integer(read<std::uint32_t>(bytes));
      break;
    case 8:
      integer(read<std::uint64_t>(bytes));
      w.above = w.integer < 0;
      break;
    case 9:
      fraction(detail::from_half(read<detail::half_bits>(bytes)));
      break;
    case 10:
      fraction(static_cast<double>(read<float>(bytes)));
      break;
    case 11:
      fraction(read<double>(bytes));
      break;
    case 12: {
      const auto z = read<std::complex<float>>(bytes);
      fraction({z.real(), z.imag()});
      break;
    }
    default:
      fraction(read<std::complex<double>>(bytes));
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
      write(static_cast<std::uint8_t>(w.integer != 0));
      break;
    case type_class::integer:
    case type_class::unsigned_integer:
      if (weak_ && !fits(w, to)) {
        throw std::overflow_error((w.above ? std::to_string(static_cast<std::uint64_t>(w.integer))
                                           : std::to_string(w.integer)) +
                                  " does not fit into " + to.name());
      }
      // The low bytes of a number of two's complement.
      std::memcpy(out.data(), &w.integer, to.itemsize());
      break;
    case type_class::floating:
      if (to.itemsize() == 2) {
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

usm_kind strongest_kind(std::span<const operand> operands) noexcept {
  bool shared = false;
  bool host = false;
  for (const auto& o : operands) {
    if (!o.array()) continue;
    const usm_kind kind = o.array()->kind();
    if (kind == usm_kind::device) return usm_kind::device;
    shared |= kind == usm_kind::shared;
    host |= kind == usm_kind::host;
  }
  return shared ? usm_kind::shared : host ? usm_kind::host : usm_kind::device;
}

// --- C++ text -----------------------------------------------------------------------------------

std::string_view device_name(const dtype& type) noexcept {
  return device_names[static_cast<std::size_t>(number_index(type))];
}

std::string load_text(const dtype& as, const dtype& own, std::string_view pointer,
                      std::string_view index) {
  return "expression::load<" + std::string(device_name(as)) + ", " + std::string(device_name(own)) +
         ">(" + std::string(pointer) + ", " + std::string(index) + ")";
}

std::string store_text(const dtype& own, std::string_view pointer, std::string_view index,
                       std::string_view value) {
  return "expression::store<" + std::string(device_name(own)) + ">(" + std::string(pointer) + ", " +
         std::string(index) + ", " + std::string(value) + ");";
}

std::string placeholder_text(const expression_types& types) {
  std::string text;
  for (const auto& [name, type] : types.placeholders) {
    text += "using " + name + " = " + std::string(device_name(type)) + ";\n";
  }
  return text;
}

std::string number_declaration(const dtype& type, std::string_view name) {
  const std::string n(name);
  if (type.kind() != type_class::complex) return ", " + std::string(device_name(type)) + " " + n;
  const std::string part = type.itemsize() == 8 ? "float" : "double";
  return ", " + part + " _re" + n + ", " + part + " _im" + n;
}

std::string number_value(const dtype& type, std::string_view name) {
  const std::string n(name);
  if (type.kind() != type_class::complex) return n;
  return std::string(device_name(type)) + "(_re" + n + ", _im" + n + ")";
}

void add_number(std::vector<kernel_argument>& arguments, const dtype& type,
                const std::byte* bytes) {
  if (type.kind() != type_class::complex) {
    arguments.emplace_back(type, bytes);
    return;
  }
  const dtype part = type.itemsize() == 8 ? dtype::of<float>() : dtype::of<double>();
  arguments.emplace_back(part, bytes);
  arguments.emplace_back(part, bytes + part.itemsize());
}

void require_types(const sycl::device& device, const expression_types& types) {
  for (const auto* list : {&types.inputs, &types.outputs}) {
    for (const auto& type : *list) {
      const bool is_double = (type.kind() == type_class::floating && type.itemsize() == 8) ||
                             (type.kind() == type_class::complex && type.itemsize() == 16);
      const bool is_half = type.kind() == type_class::floating && type.itemsize() == 2;
      if ((is_double && !device.has(sycl::aspect::fp64)) ||
          (is_half && !device.has(sycl::aspect::fp16))) {
        throw build_error("the device does not compute with " + type.name(), "");
      }
    }
  }
}

}  // namespace usmx
