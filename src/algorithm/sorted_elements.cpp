// See sorted_elements.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "algorithm/sorted_elements.hpp"

#include <string_view>

#include "core/format.hpp"
#include "core/numbers.hpp"
#include "usmx/error.hpp"

namespace usmx::detail {
namespace {

const char* form_of(const dtype& type) {
  switch (type.kind()) {
    case type_class::boolean:
      return "truth";
    case type_class::unsigned_integer:
      return "natural";
    case type_class::integer:
      return "integer";
    case type_class::floating:
      return type.is_bfloat16() ? "bfloat16" : "floating";
    case type_class::complex:
      return "complex";
    case type_class::record:
      break;
  }
  throw interop_error(fault::dtype_mismatch, "sort: records have no order; expected numbers");
}

}  // namespace

sorted_elements::sorted_elements(const dtype& type)
    : form(form_of(type)),
      size(static_cast<std::int64_t>(type.itemsize())),
      parts(type.kind() == type_class::complex ? 2 : 1) {
  size /= parts;
}

bool sorted_elements::are_long() const noexcept {
  const std::string_view name = form;
  return size >= 4 && (name == "natural" || name == "integer" || name == "floating");
}

int sorted_elements::digits(int bits) const noexcept {
  if (std::string_view(form) == "truth") return 1;
  const int each = (8 * static_cast<int>(size) + bits - 1) / bits;
  return parts == 1 ? each : 2 * each + 1;
}

dtype sorted_elements::word() const {
  return visit_word(static_cast<std::size_t>(size),
                    []<std::unsigned_integral T>(std::type_identity<T>) { return dtype::of<T>(); });
}

std::vector<std::string> sorted_elements::options(bool wide, bool places) const {
  return {format("-DFORM={}", form), format("-DWORD=uint{}_t", 8 * size),
          format("-DPLACE={}", wide ? "int64_t" : "uint32_t"),
          format("-DHAS_PLACES={}", places ? "true" : "false")};
}

}  // namespace usmx::detail
