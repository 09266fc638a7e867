// Any fields of the protocol: the verdict must be the 128-bit model's, an accepted view must obey
// the laws, and all slices of it must lie inside it, element by element where that is
// little enough to enumerate.
// SPDX-License-Identifier: Apache-2.0
#include "input.hpp"
#include "naive_suai.hpp"

using usmx::any_view;
using usmx::dtype;
using usmx::fault;
using usmx::layout;
using usmx::suai::fields;

namespace {

constexpr std::int64_t enumerable = 128;

usmx::extents numbers(input& in, std::size_t rank) {
  usmx::extents e(rank);
  for (std::size_t k = 0; k < rank; ++k) e[k] = in.number();
  return e;
}

fields read(input& in) {
  const char* usual[] = {"|u1", "|b1",  "<i2",          "<f2", "<f4", "<f8", "<c8", "<c16",
                         "|V3", "|V12", "|V2147483647", "=i4", "|f4", ">f4", "<f3", "|O"};
  fields f;
  const std::uint8_t what = in.byte();
  f.typestr = what & 1 ? usual[in.below(16)] : in.text(in.below(6));
  f.version = what & 2 ? 1 : in.number();
  if ((what & 2) == 0 && in.below(2)) f.version = 1;
  f.read_only = what & 4;
  std::size_t rank = in.below(5);
  if ((what & 8) && in.below(16) == 0) rank = in.below(70);
  f.shape = numbers(in, rank);
  if (what & 16) f.strides = numbers(in, in.below(16) == 0 ? in.below(5) : rank);
  if (what & 32) f.offset = in.number();
  f.data =
      what & 64 ? 0x10000 + std::uintptr_t{in.byte()} : static_cast<std::uintptr_t>(in.number());
  if (what & 128) {
    dtype::fields members;
    for (unsigned n = in.below(4); n > 0; --n) {
      usmx::field member{in.text(in.below(2)), "", {}, {}};
      (void)dtype::parse(usual[in.below(11)], member.type);
      if (in.below(4) == 0) member.shape.push_back(in.number());
      members.push_back(std::move(member));
    }
    f.typedescr = std::move(members);
  }
  return f;
}

// Every element of `part` must be one of `whole`, at the address that `whole` gives it.
void must_lie_inside(const any_view& part, const any_view& whole, const char* how) {
  if (part.size() == 0) return;
  if (part.first_byte() < whole.first_byte() || part.last_byte() > whole.last_byte()) {
    broken(std::string("outside after ") + how);
  }
}

naive::numbers addresses(const any_view& v) {
  naive::numbers all = naive::positions(v.layout());
  for (std::int64_t& at : all) {
    at = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(v.data()) +
                                   static_cast<std::uintptr_t>(at) * v.dtype().itemsize());
  }
  return all;
}

void cut(const any_view& v, input& in) {
  any_view part = v;
  for (int turn = 0; turn < 4 && part.rank() > 0; ++turn) {
    const int axis = static_cast<int>(in.below(static_cast<unsigned>(part.rank())));
    const std::int64_t length = part.layout().shape()[static_cast<std::size_t>(axis)];
    if (length == 0) break;
    const std::int64_t start =
        static_cast<std::int64_t>(in.raw() % static_cast<std::uint64_t>(length));
    if (in.below(4) == 0) {
      part = part.indexed(axis, start);
      must_lie_inside(part, v, "indexing");
      continue;
    }
    std::int64_t step = in.number();
    if (step == 0 || step == INT64_MIN) step = 1;
    const std::int64_t room = step > 0 ? length - 1 - start : start;
    const std::int64_t count = room / (step > 0 ? step : -step) + 1 - (in.below(8) == 0);
    const any_view sliced = part.sliced(axis, start, count, step);
    must_lie_inside(sliced, v, "slicing");
    if (part.size() <= enumerable && part.rank() <= 8) {
      naive::numbers before = addresses(part);
      std::sort(before.begin(), before.end());
      for (const std::int64_t at : addresses(sliced)) {
        if (!std::binary_search(before.begin(), before.end(), at)) broken("a foreign element");
      }
    }
    part = sliced;
  }
}

void reshape(const any_view& v) {
  if (v.size() > enumerable || v.rank() > 8) return;
  const naive::numbers at = naive::positions(v.layout());
  std::vector<naive::numbers> shapes{{v.size()}, {1, v.size(), 1}, {v.size(), 1}};
  for (std::int64_t n = 2; n <= 8; ++n) {
    if (v.size() % n == 0)
      shapes.push_back({n, v.size() / n}), shapes.push_back({v.size() / n, 1, n});
  }
  for (const naive::numbers& shape : shapes) {
    layout r;
    const bool done = v.layout().reshaped(naive::extents(shape), r);
    if (done != naive::strides_for(shape, at).has_value()) broken("reshape without a copy");
    if (done && naive::positions(r) != at) broken("reshape moved elements");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  input in(data, size);
  const fields f = read(in);
  any_view v;
  const naive::verdict wanted = naive::judge(f);
  const fault found = usmx::suai::check(f, v);
  const std::string sentence = usmx::suai::describe(f, found);
  if (found != wanted.fault) broken("the model says otherwise: " + sentence);
  if (sentence.empty() != (found == fault::none)) broken("a fault without a sentence");
  if (found != fault::none) {
    if (v.data() != nullptr || v.size() != 0) broken("a fault changed the result");
    return 0;
  }
  if (const char* law = naive::broken_law(f, v, wanted)) broken(law);
  if (v.size() > 0 && v.size() <= enumerable && v.rank() <= 8) {
    const naive::numbers at = naive::positions(v.layout());
    const auto [low, high] = std::minmax_element(at.begin(), at.end());
    if (v.layout().range().first != *low || v.layout().range().last != *high + 1) {
      broken("the range is not that of the elements");
    }
    if (v.layout().is_c_contiguous() != naive::counts_up(at)) broken("contiguity");
    reshape(v);
  }
  cut(v, in);
  return 0;
}
