// A view exists only after its check: all pointers near both ends of the address space, all layouts
// that could leave it, and the typed form that kernels take.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/view.hpp"

#include <limits>
#include <string>

#include "check.hpp"
#include "heap.hpp"
#include "naive_suai.hpp"

using naive::wide;
using usmx::any_view;
using usmx::dtype;
using usmx::extents;
using usmx::fault;
using usmx::layout;
using usmx::usm_kind;
using usmx::view;

namespace {

constexpr std::uintptr_t top = std::numeric_limits<std::uintptr_t>::max();

void* pointer(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

layout strided(extents shape, extents strides, std::size_t itemsize = 8) {
  layout l;
  CHECK_EQUAL(layout::strided(std::move(shape), std::move(strides), itemsize, l), fault::none);
  return l;
}

any_view made(void* data, dtype type, layout where, bool read_only = false) {
  any_view v;
  CHECK_EQUAL(any_view::make(data, type, std::move(where), usm_kind::shared, read_only, v),
              fault::none);
  return v;
}

}  // namespace

TEST(AnyView, AcceptsExactlyWhatLiesInTheAddressSpaceAndIsAligned) {
  std::vector<std::uintptr_t> addresses;
  for (std::uintptr_t k = 0; k <= 40; ++k) {
    for (const std::uintptr_t base : {std::uintptr_t{0}, std::uintptr_t{1} << 63, top - 40}) {
      addresses.push_back(base + k);
      if (base > 40) addresses.push_back(base - k);
    }
  }
  const std::int64_t far = std::int64_t{1} << 59;
  const std::vector<layout> layouts{
      layout(),
      strided({3}, {1}),
      strided({3}, {-1}),
      strided({2, 2}, {-3, 2}),
      strided({0}, {1}),
      strided({4}, {0}),
      strided({2}, {far}),
      strided({2}, {-far}),
      strided({2, 2}, {-far / 2, far / 2}),
      strided({2}, {std::numeric_limits<std::int64_t>::max() / 8 - 1}),
      strided({2}, {-std::numeric_limits<std::int64_t>::max() / 8 + 1}),
  };
  const std::vector<dtype> types{dtype::of<bool>(), dtype::of<short>(), dtype::of<float>(),
                                 dtype::of<double>(), dtype::of<std::complex<float>>()};
  std::size_t accepted = 0, refused = 0;
  for (const std::uintptr_t address : addresses) {
    for (const layout& l : layouts) {
      for (const dtype& t : types) {
        usmx::suai::fields f;
        f.typestr = t.typestr();
        f.shape = l.shape();
        f.strides = l.strides();
        f.data = address;
        const naive::verdict wanted = naive::judge(f);
        any_view v;
        const fault found = any_view::make(pointer(address), t, l, usm_kind::device, false, v);
        CHECK_EQUAL(found, wanted.fault);
        ++(found == fault::none ? accepted : refused);
        if (found != fault::none || wanted.fault != fault::none) continue;
        CHECK(naive::address(v.data()) == wanted.data);
        CHECK(naive::address(v.first_byte()) == wanted.first_byte);
        CHECK(naive::address(v.last_byte()) == wanted.last_byte);
        CHECK_EQUAL(v.nbytes(), static_cast<std::size_t>(l.size()) * t.itemsize());
        CHECK(v.layout() == l && v.dtype() == t && v.kind() == usm_kind::device && !v.read_only());
      }
    }
  }
  CHECK(accepted > 1000);
  CHECK(refused > 1000);
}

TEST(AnyView, FaultsLeaveTheResultAlone) {
  any_view v = made(pointer(64), dtype::of<float>(), strided({2}, {1}));
  CHECK_EQUAL(any_view::make(nullptr, dtype(), layout(), usm_kind::host, true, v),
              fault::data_null);
  CHECK_EQUAL(any_view::make(pointer(66), dtype::of<float>(), layout(), usm_kind::host, true, v),
              fault::data_misaligned);
  CHECK_EQUAL(any_view::make(pointer(top), dtype(), layout(), usm_kind::host, true, v),
              fault::address_overflow);
  CHECK(v.data() == pointer(64));
  CHECK_EQUAL(any_view::make(pointer(top - 1), dtype(), layout(), usm_kind::host, true, v),
              fault::none);
  CHECK(v.last_byte() == pointer(top));
  v = made(pointer(64), dtype::of<float>(), strided({2}, {1}));
  CHECK_EQUAL(any_view::make(pointer(top), dtype(), strided({2}, {1}), usm_kind::host, true, v),
              fault::address_overflow);
  CHECK(v.data() == pointer(64) && v.size() == 2 && v.kind() == usm_kind::shared && !v.read_only());
}

TEST(AnyView, LayoutsMadeForSmallerElementsAreMeasuredAgain) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  any_view v;
  const auto make = [&](layout l, const dtype& t) {
    return any_view::make(pointer(64), t, std::move(l), usm_kind::host, false, v);
  };
  CHECK_EQUAL(make(strided({2}, {most / 8}, 1), dtype::of<double>()), fault::strides_overflow);
  CHECK_EQUAL(make(strided({most / 8 + 1}, {0}, 1), dtype::of<double>()), fault::shape_overflow);
  CHECK_EQUAL(make(strided({most / 8}, {0}, 1), dtype::of<double>()), fault::none);
  CHECK_EQUAL(v.layout().itemsize(), 8);
  layout repeated;
  CHECK_EQUAL(make(layout(), dtype::of<double>()), fault::none);
  CHECK(!v.layout().broadcast({most / 8 + 1}, repeated));
}

TEST(AnyView, WithoutElementsThePointerMayBeAnything) {
  for (const std::uintptr_t address : {std::uintptr_t{0}, std::uintptr_t{3}, top}) {
    const any_view v = made(pointer(address), dtype::of<double>(), strided({3, 0}, {-9, 7}));
    CHECK(v.data() == pointer(address));
    CHECK(v.first_byte() == v.last_byte());
    CHECK_EQUAL(v.nbytes(), 0);
  }
}

TEST(AnyView, StartsEmpty) {
  const any_view v;
  CHECK(v.data() == nullptr);
  CHECK_EQUAL(v.size(), 0);
  CHECK_EQUAL(v.rank(), 1);
  CHECK_EQUAL(v.nbytes(), 0);
  CHECK(v.kind() == usm_kind::unknown && !v.read_only() && v.dtype() == dtype());
}

TEST(AnyView, ChangesOnlyWhatItIsAskedToChange) {
  float memory[12] = {};
  const any_view v = made(memory, dtype::of<float>(), strided({3, 4}, {4, 1}));
  std::int64_t shift = 0;
  const layout row = v.layout().indexed(0, 2, shift);
  const any_view r = v.with_layout(row, shift);
  CHECK(r.data() == memory + 8 && r.layout() == row && r.dtype() == v.dtype());
  CHECK(r.kind() == usm_kind::shared && !r.read_only());
  CHECK(r.as_read_only().read_only() && !r.read_only());
  CHECK(r.as_read_only().data() == r.data() && r.as_read_only().kind() == r.kind());
  CHECK(r.as_read_only().with_layout(row, 0).read_only());
  CHECK(r.with_kind(usm_kind::host).kind() == usm_kind::host && r.kind() == usm_kind::shared);
  const layout reversed = row.sliced(0, 3, 4, -1, shift);
  const any_view b = r.with_layout(reversed, shift);
  CHECK(b.data() == memory + 11);
  CHECK(b.first_byte() == r.first_byte() && b.last_byte() == r.last_byte());
  CHECK(b.with_layout(row, -3).data() == r.data());
}

TEST(AnyView, CutsMoveThePointerToTheFirstElementThatIsLeft) {
  float memory[12] = {};
  const any_view v = made(memory, dtype::of<float>(), strided({3, 4}, {4, 1}), true);
  const any_view column = v.indexed(1, 3);
  CHECK(column.data() == memory + 3 && column.layout() == strided({3}, {4}));
  const any_view reversed = column.sliced(0, 2, 3, -1);
  CHECK(reversed.data() == memory + 11 && reversed.layout() == strided({3}, {-4}));
  CHECK(reversed.first_byte() == column.first_byte());
  CHECK(reversed.read_only() && reversed.kind() == usm_kind::shared);
  CHECK(v.sliced(0, 1, 0, 1).data() == memory && v.sliced(0, 1, 0, 1).size() == 0);
  CHECK_THROWS(std::out_of_range, v.indexed(0, 3));
  CHECK_THROWS(std::out_of_range, v.sliced(1, 0, 5, 1));
}

TEST(AnyView, NoMemoryIsAnExceptionAndLeavesTheResultAlone) {
  const any_view deep = made(pointer(64), dtype::of<float>(),
                             strided(extents(std::size_t{9}, 1), extents(std::size_t{9}, 1)));
  any_view v = made(pointer(128), dtype::of<double>(), strided({2}, {1}));
  int refused = 0;
  for (bool done = false; !done; ++refused) {
    heap::left = refused;
    try {
      v = deep;
      v = deep.as_read_only().with_kind(usm_kind::host);
      done = true;
    } catch (const std::bad_alloc&) {
    }
    heap::left = -1;
    const bool old = v.size() == 2 && v.data() == pointer(128) && v.dtype() == dtype::of<double>();
    const bool fresh = v.rank() == 9 && v.data() == pointer(64) && v.dtype() == dtype::of<float>();
    CHECK(old || fresh);
  }
  CHECK(refused > 3);
}

TEST(Kinds, SayTheirNamesAndWhoMayRead) {
  CHECK_EQUAL(std::string(usmx::name(usm_kind::unknown)), "unknown");
  CHECK_EQUAL(std::string(usmx::name(usm_kind::host)), "host");
  CHECK_EQUAL(std::string(usmx::name(usm_kind::device)), "device");
  CHECK_EQUAL(std::string(usmx::name(usm_kind::shared)), "shared");
  CHECK(host_accessible(usm_kind::host) && host_accessible(usm_kind::shared));
  // Memory that no USM function allocated is the host's own.
  CHECK(!host_accessible(usm_kind::device) && host_accessible(usm_kind::unknown));
}

TEST(View, TypedFormReachesTheSameElements) {
  std::int32_t memory[12];
  for (int i = 0; i < 12; ++i) memory[i] = i;
  const any_view v = made(memory + 3, dtype::of<std::int32_t>(), strided({3, 4}, {4, -1}));
  view<std::int32_t, 2> t;
  CHECK_EQUAL(v.typed(t), fault::none);
  CHECK(t.data == memory + 3 && t.size() == 12 && t.extent(0) == 3 && t.extent(1) == 4);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) CHECK_EQUAL(t(i, j), 4 * i + 3 - j);
  }
  t(1, 2) = -5;
  CHECK_EQUAL(memory[5], -5);
  view<const std::int32_t, 0> scalar;
  CHECK_EQUAL(made(memory, dtype::of<std::int32_t>(), layout()).typed(scalar), fault::none);
  CHECK(scalar.size() == 1 && scalar() == 0);
}

TEST(View, Bfloat16IsATypeOfItsOwn) {
  usmx::bfloat16 memory[2] = {1.5f, -2.0f};
  const any_view v = made(memory, dtype::of<usmx::bfloat16>(), strided({2}, {1}));
  view<const usmx::bfloat16, 1> t;
  CHECK_EQUAL(v.typed(t), fault::none);
  CHECK_EQUAL(t(0) + t(1), -0.5f);
  view<const std::uint16_t, 1> bits;
  CHECK_EQUAL(v.typed(bits), fault::dtype_mismatch);
  view<const usmx::bfloat16, 1> none;
  CHECK_EQUAL(made(memory, dtype::of<std::uint16_t>(), strided({2}, {1})).typed(none),
              fault::dtype_mismatch);
}

TEST(View, TypeRankAndRightToWriteMustFit) {
  float memory[4] = {};
  const any_view v = made(memory, dtype::of<float>(), strided({2, 2}, {2, 1}));
  view<float, 2> writable;
  view<const float, 2> readable;
  view<float, 1> flat;
  view<std::int32_t, 2> other;
  view<std::complex<float>, 2> complex;
  CHECK_EQUAL(v.typed(other), fault::dtype_mismatch);
  CHECK_EQUAL(v.typed(complex), fault::dtype_mismatch);
  CHECK_EQUAL(v.typed(flat), fault::rank_mismatch);
  CHECK_EQUAL(v.as_read_only().typed(writable), fault::read_only);
  CHECK_EQUAL(v.as_read_only().typed(flat), fault::rank_mismatch);
  CHECK_EQUAL(v.as_read_only().typed(readable), fault::none);
  CHECK_EQUAL(v.typed(writable), fault::none);
  CHECK(writable.data == memory && readable.data == memory);
}

TEST(View, RecordsFitStructsOfTheirSizeAndAlignment) {
  struct point {
    double x, y;
  };
  point memory[3] = {{1, 2}, {3, 4}, {5, 6}};
  dtype record;
  CHECK_EQUAL(
      dtype::make_record({{"x", "", dtype::of<double>(), {}}, {"y", "", dtype::of<double>(), {}}},
                         16, record),
      fault::none);
  view<point, 1> t;
  CHECK_EQUAL(made(memory, record, strided({3}, {1}, 16)).typed(t), fault::none);
  CHECK_EQUAL(t(2).y, 6.0);
  CHECK_EQUAL(made(memory, dtype::of<point>(), strided({3}, {1}, 16)).typed(t), fault::none);
  char* bytes = reinterpret_cast<char*>(memory);
  CHECK_EQUAL(made(bytes + 4, record, strided({2}, {1}, 16)).typed(t), fault::data_misaligned);
  CHECK_EQUAL(made(bytes + 4, record, strided({0}, {1}, 16)).typed(t), fault::none);
  view<char, 1> small;
  CHECK_EQUAL(made(memory, record, strided({3}, {1}, 16)).typed(small), fault::dtype_mismatch);
}

TEST(AnyView, ARowIsWhatItsLayoutWouldMake) {
  alignas(64) char memory[64] = {};
  for (const dtype& type : {dtype(), dtype::of<double>()}) {
    for (const std::int64_t length : {0, 1, 8}) {
      any_view row;
      CHECK_EQUAL(any_view::row(memory, type, length, usm_kind::host, row), fault::none);
      layout where;
      CHECK_EQUAL(layout::c_order({length}, type.itemsize(), where), fault::none);
      any_view same;
      CHECK_EQUAL(any_view::make(memory, type, where, usm_kind::host, false, same), fault::none);
      CHECK(row.layout() == same.layout());
      CHECK_EQUAL(row.layout().range().last, same.layout().range().last);
      CHECK_EQUAL(row.layout().itemsize(), same.layout().itemsize());
      CHECK(row.data() == same.data() && row.dtype() == same.dtype());
      CHECK(row.kind() == same.kind() && !row.read_only());
    }
  }
  any_view reused = made(memory, dtype(), strided({2, 3}, {1, 2}, 1));
  CHECK_EQUAL(any_view::row(memory, dtype(), 5, usm_kind::host, reused), fault::none);
  CHECK_EQUAL(reused.rank(), 1);
  CHECK_EQUAL(reused.last_byte() - reused.first_byte(), 5);
}

TEST(AnyView, ARowIsChecked) {
  any_view v;
  const auto row = [&](void* data, dtype type, std::int64_t length) {
    return any_view::row(data, type, length, usm_kind::host, v);
  };
  alignas(8) char memory[16];
  CHECK_EQUAL(row(memory, dtype(), -1), fault::shape_negative);
  CHECK_EQUAL(row(memory, dtype::of<double>(), std::int64_t{1} << 61), fault::shape_overflow);
  CHECK_EQUAL(row(nullptr, dtype(), 1), fault::data_null);
  CHECK_EQUAL(row(nullptr, dtype(), 0), fault::none);
  CHECK_EQUAL(row(memory + 1, dtype::of<double>(), 1), fault::data_misaligned);
  CHECK_EQUAL(row(pointer(~std::uintptr_t{0}), dtype(), 2), fault::address_overflow);
}

static_assert(std::is_trivially_copyable_v<view<const float, 2>>);
static_assert(std::is_trivially_copyable_v<view<std::complex<double>, 0>>);
static_assert(std::is_trivially_copyable_v<view<int, usmx::max_rank>>);
static_assert(std::is_standard_layout_v<view<float, 3>>);
static_assert([] {
  int memory[6] = {0, 1, 2, 3, 4, 5};
  const view<int, 2> v{memory + 4, {2, 3}, {1, -2}};
  return v(0, 0) == 4 && v(1, 2) == 1 && v.size() == 6;
}());
