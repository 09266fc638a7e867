// The rows of the table, and NumPy's choice of types: the first of an operation's types to which
// all operands can be cast without loss.
// SPDX-License-Identifier: Apache-2.0
#include "compute/operations.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "core/format.hpp"
#include "usmx/promotion.hpp"

namespace usmx {
namespace {

using enum result_rule;

constexpr operation rows[] = {
#include "compute/operations.inc"
};

/// Sets of types are bits in the order in which NumPy tries them: each signed type before the
/// unsigned one of its size. bfloat16 is last and in no set but its own: it is tried by `resolve`.
constexpr int type_at[number_types] = {0, 1, 5, 2, 6, 3, 7, 4, 8, 9, 10, 11, 12, 13, 14};
using type_set = std::uint16_t;

constexpr type_set set_of(std::string_view places) {
  type_set all = 0;
  for (const char c : places)
    all |= static_cast<type_set>(1 << (c <= '9' ? c - '0' : c - 'a' + 10));
  return all;
}
/// Where each type can go without loss, as numpy.can_cast(from, to, "safe") says.
constexpr type_set safe_casts[number_types] = {set_of("0123456789abcd"),
                                               set_of("1357"
                                                      "9abcd"),
                                               set_of("357"
                                                      "abcd"),
                                               set_of("57"
                                                      "bd"),
                                               set_of("7"
                                                      "bd"),
                                               set_of("2345678"
                                                      "9abcd"),
                                               set_of("45678"
                                                      "abcd"),
                                               set_of("678"
                                                      "bd"),
                                               set_of("8"
                                                      "bd"),
                                               set_of("9abcd"),
                                               set_of("abcd"),
                                               set_of("bd"),
                                               set_of("cd"),
                                               set_of("d"),
                                               set_of("abcd")};

type_set of_kind(char kind) {
  switch (kind) {
    case 'b':
      return set_of("0");
    case 'i':
      return set_of("1357");
    case 'u':
      return set_of("2468");
    case 'f':
      return set_of("9ab");
    default:
      return set_of("cd");
  }
}

type_set taken_by(const operation& op) {
  type_set all = 0;
  for (const operation_text& t : op.texts) {
    for (const char kind : t.kinds) all |= of_kind(kind);
  }
  return all;
}

bool is_unsigned_64(const dtype& t) noexcept {
  return t.kind() == type_class::unsigned_integer && t.itemsize() == 8;
}

dtype result_of(const operation& op, const dtype& computed) noexcept {
  if (op.result == boolean) return dtype::of<bool>();
  return op.result == part ? part_type(computed) : computed;
}

}  // namespace

namespace detail {
namespace {
bool is_logical(const operation& op) noexcept {
  return op.arity == 2 && op.name.starts_with("logical_");
}
}  // namespace
}  // namespace detail

std::string_view operation::text_of(const dtype& type) const noexcept {
  for (const operation_text& t : texts) {
    if (t.kinds.find(static_cast<char>(type.kind())) != std::string_view::npos) return t.text;
  }
  return {};
}

const operation* find_operation(std::string_view name) noexcept {
  const auto found = std::ranges::lower_bound(rows, name, {}, &operation::name);
  return found != std::end(rows) && found->name == name ? found : nullptr;
}

std::size_t row_number(const operation& op) noexcept {
  static_assert(std::size(rows) < most_rows);
  const bool is_row =
      std::greater_equal<>()(&op, std::begin(rows)) && std::less<>()(&op, std::end(rows));
  return is_row ? static_cast<std::size_t>(&op - rows) : most_rows - 1;
}

std::optional<operation_types> resolve(const operation& op,
                                       std::span<const operand_type> operands) noexcept {
  const auto numbers = operands.subspan(op.chooses ? 1 : 0);
  if (std::ranges::any_of(operands, [](const auto& o) { return number_index(o.type) < 0; })) {
    return {};
  }
  operation_types out;
  const std::optional<dtype> all = result_type(numbers);
  if (!all) return {};
  // A weak number has the type that it meets the others in.
  const auto type_of = [&](const operand_type& o) -> const dtype& {
    return o.weak ? *all : o.type;
  };
  if (!op.mixed.empty()) {
    const dtype &a = type_of(numbers[0]), &b = type_of(numbers[1]);
    const auto is_signed = [](const dtype& t) { return t.kind() == type_class::integer; };
    if ((is_unsigned_64(a) && is_signed(b)) || (is_signed(a) && is_unsigned_64(b))) {
      const dtype wide = dtype::of<std::int64_t>();
      out.operands[0] = is_signed(a) ? wide : a;
      out.operands[1] = is_signed(b) ? wide : b;
      out.result = result_of(op, wide);
      return out;
    }
  }
  if (detail::is_logical(op) && type_of(numbers[0]) != type_of(numbers[1])) {
    // Each is true or false by itself: no type that holds both is needed.
    std::ranges::fill(out.operands, dtype::of<bool>());
    out.result = dtype::of<bool>();
    return out;
  }
  type_set fitting = taken_by(op);
  bool are_wide = true;
  for (const operand_type& o : numbers) {
    const dtype& type = type_of(o);
    if (op.refused.find(static_cast<char>(type.kind())) != std::string_view::npos && *all == type) {
      return {};
    }
    are_wide &= op.wide.find(static_cast<char>(type.kind())) != std::string_view::npos;
    fitting &= safe_casts[number_index(type)];
  }
  if (are_wide) fitting &= set_of("bd");
  if (fitting == 0) return {};
  // What operands meet in bfloat16 is computed in it, also where one is an integer, which may lose
  // digits: NumPy has no such rule, PyTorch and JAX have it.
  const bool meet_in_bfloat16 =
      all->is_bfloat16() && !are_wide && (taken_by(op) & of_kind('f')) != 0;
  const dtype computed = meet_in_bfloat16 ? *all : number_type(type_at[std::countr_zero(fitting)]);
  std::ranges::fill(out.operands, computed);
  if (op.chooses) out.operands[0] = dtype::of<bool>();
  out.result = result_of(op, computed);
  return out;
}

namespace detail {
namespace {

bool is_integer(const dtype& t) noexcept {
  return t.kind() == type_class::integer || t.kind() == type_class::unsigned_integer;
}

/// Whether an integer is one of a type of integers; true for other numbers and types.
bool fits(const operand& number, const dtype& type) {
  if (!is_integer(number.type()) || !is_integer(type)) return true;
  try {
    static_cast<void>(number.number_as(type));
    return true;
  } catch (const std::overflow_error&) {
    return false;
  }
}

}  // namespace

operation_types types_of(const operation& op, std::span<const operand_type> operands) {
  if (const auto found = resolve(op, operands)) return *found;
  std::string names;
  for (const operand_type& t : operands) names += (names.empty() ? "" : ", ") + t.type.name();
  throw interop_error(fault::dtype_mismatch,
                      format("{} is not defined for elements of {}", op.name, names));
}

bool takes_any_integers(const operation& op) noexcept {
  return is_logical(op) || !op.mixed.empty();
}

std::optional<operand> exact_number(const operation& op, const operand& number,
                                    const dtype& other) {
  if (!takes_any_integers(op) || !number.weak() || fits(number, other)) return {};
  return is_logical(op) ? operand(true) : number.as_strong();
}

}  // namespace detail

}  // namespace usmx
