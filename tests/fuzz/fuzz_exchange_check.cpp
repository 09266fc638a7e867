// Any struct of the C-level exchange: what is accepted goes out and comes back as the same view,
// and what is refused says why.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/exchange.hpp"

#include <vector>

#include "input.hpp"

using usmx::any_view;
using usmx::fault;
namespace exchange = usmx::exchange;

namespace {

/// The verdict on a struct, with the view if it is accepted.
fault verdict_on(const sycl_usm_array& a, any_view& out) {
  try {
    const usmx::suai::fields f = exchange::read(a);
    const fault code = usmx::suai::check(f, out);
    if (usmx::suai::describe(f, code).empty() != (code == fault::none)) {
      broken("a fault without a sentence");
    }
    return code;
  } catch (const usmx::interop_error& e) {
    if (e.code() == fault::none || std::string(e.what()).empty())
      broken("a refusal without a word");
    return e.code();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  input in(data, size);
  const std::uint8_t what = in.byte();
  const char letters[] = "biufcV";
  const std::uint32_t usual_sizes[] = {1, 2, 4, 8, 16};
  sycl_usm_array a{};
  a.type = what & 1 ? letters[in.below(6)] : static_cast<char>(in.byte());
  a.itemsize = what & 2 ? usual_sizes[in.below(5)] : static_cast<std::uint32_t>(in.number());
  a.ndim = static_cast<std::int32_t>(what & 4 ? in.below(5) : in.number());
  const std::size_t listed = a.ndim > 0 && a.ndim <= 64 ? static_cast<std::size_t>(a.ndim) : 0;
  std::vector<std::int64_t> shape(listed);
  std::vector<std::int64_t> strides(listed);
  for (std::int64_t& n : shape) n = in.number();
  for (std::int64_t& n : strides) n = in.number();
  a.shape = what & 8 && in.below(8) == 0 ? nullptr : shape.data();
  a.strides = what & 16 ? strides.data() : nullptr;
  a.offset = what & 32 ? in.number() : 0;
  a.flags = what & 64 ? SYCL_USM_READ_ONLY : 0;
  a.data = reinterpret_cast<void*>(what & 128 ? 0x10000 + std::uintptr_t{in.byte()}
                                              : static_cast<std::uintptr_t>(in.number()));
  any_view v;
  if (verdict_on(a, v) != fault::none) {
    if (v.data() != nullptr || v.size() != 0) broken("a fault changed the result");
    return 0;
  }
  sycl_usm_array out{};
  exchange::describe(v, out);
  any_view back;
  if (verdict_on(out, back) != fault::none) broken("what we describe is refused");
  if (back.layout() != v.layout() || (v.size() > 0 && back.data() != v.data()) ||
      !(back.dtype() == v.dtype()) || back.read_only() != v.read_only()) {
    broken("another view came back");
  }
  return 0;
}
