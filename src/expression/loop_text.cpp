// Pieces of C++ text; see loop_text.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "expression/loop_text.hpp"

#include "kernel/source/user_text.hpp"
#include "usmx/promotion.hpp"

namespace usmx::detail {

std::optional<dtype> value_type(const std::string& wanted, const expression_types& types) {
  if (wanted.empty()) return types.outputs.front();
  for (const auto& [placeholder, type] : types.placeholders) {
    if (placeholder == wanted) return type;
  }
  for (int k = 0; k < number_types; ++k) {
    const dtype type = number_type(k);
    if (wanted == type.name() || wanted == device_name(type)) return type;
  }
  return {};
}

value_text value_text_of(const std::string& wanted, const expression_types& types) {
  const auto number = value_type(wanted, types);
  if (!number) return {wanted, most_value_bytes};
  return {std::string(device_name(*number)), number->itemsize()};
}

std::string prologue(const expression_types& types, const std::string& preamble,
                     const value_text& value, std::string_view argument, const std::string& join) {
  const std::string bytes = std::to_string(value.bytes);
  return std::string(expression_include) + placeholder_text(types) +
         (preamble.empty() ? "" : marked("preamble", preamble)) + "\n" +
         "using usmx_value = " + value.type + ";\nstatic_assert(sizeof(usmx_value) <= " + bytes +
         ", \"reduce_type: has more than " + bytes +
         " bytes\");\ninline usmx_value usmx_join(usmx_value a, usmx_value b) { return "
         "usmx_value(" +
         marked(argument, join) + "); }\n";
}

std::string raw_type(std::size_t input, const dtype& as, const dtype& own) {
  return "struct usmx_raw" + std::to_string(input) + " {\nconst " + std::string(device_name(own)) +
         "* p;\nint64_t count;\n" + std::string(device_name(as)) +
         " operator[](int64_t i) const { return " + load_text(as, own, "p", "i") +
         "; }\nint64_t size() const { return count; }\n};\n";
}

std::string taken_apart(const std::string& flat, std::size_t rank, const std::string& loop,
                        const std::vector<std::string>& operands, const std::string& at) {
  if (rank == 0 || operands.empty()) return "";
  std::string out = "{ int64_t usmx_rest = " + flat + ";\n";
  for (std::size_t k = rank; k-- > 0;) {
    const std::string axis = loop + std::to_string(k);
    out += k == 0 ? "{ const int64_t usmx_k = usmx_rest;\n"
                  : "{ const int64_t usmx_k = usmx_rest % usmx_" + axis + "; usmx_rest /= usmx_" +
                        axis + ";\n";
    for (const auto& name : operands) {
      out += "usmx_" + name + at + " += usmx_k * usmx_" + name + "_" + axis + ";\n";
    }
    out += "}\n";
  }
  return out + "}\n";
}

}  // namespace usmx::detail
