// Any tensor of DLPack: the verdict must be that of the other protocol's check on the same
// elements, and so must the view.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/dlpack.hpp"

#include <vector>

#include "input.hpp"
#include "usmx/suai.hpp"

using usmx::any_view;
using usmx::fault;
namespace dlpack = usmx::dlpack;

namespace {

bool is_bfloat16(const dlpack::data_type& t) {
  return t.code == dlpack::type_code::bfloat && t.bits == 16 && t.lanes == 1;
}

/// The type in the other protocol's words; "" if DLPack's has no counterpart.
std::string typestr_of(const dlpack::data_type& t) {
  if (is_bfloat16(t)) return "|V2";
  const char* const letters[] = {"i", "u", "f", "", "", "c", "b"};
  const auto code = static_cast<unsigned>(t.code);
  if (code > 6 || t.lanes != 1 || t.bits % 8 != 0 || *letters[code] == '\0') return "";
  return std::string("=") + letters[code] + std::to_string(t.bits / 8);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  input in(data, size);
  const std::uint8_t what = in.byte();
  const std::uint8_t usual_bits[] = {8, 16, 32, 64, 128};
  dlpack::tensor t{};
  t.type = {static_cast<dlpack::type_code>(in.below(8)),
            what & 1 ? usual_bits[in.below(5)] : in.byte(),
            static_cast<std::uint16_t>(what & 2 ? 1 : in.below(3))};
  t.where = {dlpack::device_type::oneapi, 0};
  t.rank = static_cast<std::int32_t>(what & 4 ? in.below(5) : in.number());
  const std::size_t listed = t.rank > 0 && t.rank <= 64 ? static_cast<std::size_t>(t.rank) : 0;
  std::vector<std::int64_t> shape(listed);
  std::vector<std::int64_t> strides(listed);
  for (std::int64_t& n : shape) n = in.number();
  for (std::int64_t& n : strides) n = in.number();
  t.shape = what & 8 && in.below(8) == 0 ? nullptr : shape.data();
  t.strides = what & 16 ? strides.data() : nullptr;
  t.byte_offset = what & 32   ? in.below(64)
                  : what & 64 ? static_cast<std::uint64_t>(in.number())
                              : 0;
  const auto address =
      what & 128 ? 0x10000 + std::uintptr_t{in.byte()} : static_cast<std::uintptr_t>(in.number());
  t.data = reinterpret_cast<void*>(address);

  any_view found;
  const fault verdict = dlpack::check(t, what & 1, found);
  const std::string sentence = dlpack::describe(t, verdict);
  if (sentence.empty() != (verdict == fault::none)) broken("a fault without a sentence");
  if (verdict != fault::none && (found.data() != nullptr || found.size() != 0)) {
    broken("a fault changed the result");
  }

  const std::string typestr = typestr_of(t.type);
  const bool has_shape = t.rank == 0 || t.shape != nullptr;
  if (t.rank < 0 || t.rank > 64 || !has_shape || typestr.empty()) {
    if (verdict == fault::none) broken("accepted what has no counterpart: " + sentence);
    return 0;
  }
  usmx::suai::fields f;
  f.typestr = typestr;
  if (is_bfloat16(t.type)) f.typedescr = *usmx::dtype::of<usmx::bfloat16>().description();
  f.shape = usmx::extents(std::span<const std::int64_t>(shape));
  if (t.strides != nullptr) f.strides = usmx::extents(std::span<const std::int64_t>(strides));
  f.read_only = what & 1;
  f.data = address;
  any_view wanted;
  // Without an element neither address nor offset is looked at.
  const bool wraps = __builtin_add_overflow(address, t.byte_offset, &f.data);
  fault model = usmx::suai::check(f, wanted);
  if (wanted.size() > 0 || model == fault::data_null || model == fault::data_misaligned ||
      model == fault::address_overflow) {
    if (address == 0) {
      model = fault::data_null;
    } else if (wraps || f.data == 0) {
      model = fault::address_overflow;
    }
  }
  // A type that the other protocol does not know either has more than one name there.
  if (model == fault::typestr_malformed || model == fault::typestr_byte_order) {
    model = fault::typestr_unsupported;
  }
  if (verdict != model) broken("the other protocol says otherwise: " + sentence);
  if (verdict == fault::none &&
      (found.layout() != wanted.layout() || (found.size() > 0 && found.data() != wanted.data()) ||
       !(found.dtype() == wanted.dtype()) || found.read_only() != wanted.read_only())) {
    broken("another view");
  }
  return 0;
}
