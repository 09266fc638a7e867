// Arrow's structs without Python: every fault with the sentence it becomes, lists as dimensions,
// and structs that are released once, however they are moved.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/arrow.hpp"

#include <array>
#include <string>

#include "check.hpp"

using usmx::any_view;
using usmx::dtype;
using usmx::extents;
using usmx::fault;
namespace arrow = usmx::arrow;

namespace {

void end(arrow::schema* s) { s->release = nullptr; }
int ended = 0;
void end(arrow::array_data* a) {
  ++ended;
  a->release = nullptr;
}

/// Six numbers of four bytes from 0x1000 on, as lists of `inner` where that is not 0.
struct example {
  explicit example(const char* format, std::int64_t length = 6) {
    type.format = format;
    type.release = end;
    data.length = length;
    data.buffer_count = 2;
    data.buffers = buffers.data();
    data.release = end;
  }
  example(const example&) = delete;

  /// Turns it into a list whose child this was.
  void wrap(const char* format, std::int64_t length, std::int64_t offset = 0) {
    inner_type = type;
    inner_data = data;
    type.format = format;
    type.child_count = 1;
    type.children = type_children.data();
    data.length = length;
    data.offset = offset;
    data.null_count = 0;
    data.buffer_count = 1;
    data.buffers = list_buffers.data();
    data.child_count = 1;
    data.children = data_children.data();
  }

  std::array<std::uint8_t, 4> bits{0xff, 0xff, 0xff, 0xff};
  std::array<const void*, 2> buffers{nullptr, reinterpret_cast<const void*>(0x1000)};
  std::array<const void*, 1> list_buffers{nullptr};
  arrow::schema inner_type{};
  arrow::array_data inner_data{};
  std::array<arrow::schema*, 1> type_children{&inner_type};
  std::array<arrow::array_data*, 1> data_children{&inner_data};
  arrow::schema type{};
  arrow::array_data data{};
};

arrow::finding verdict(const example& e, bool host_reads = true) {
  any_view v;
  arrow::finding found = arrow::check(e.type, e.data, host_reads, v);
  if (found) CHECK(v.data() == nullptr && v.size() == 0);
  return found;
}

}  // namespace

TEST(ArrowCheck, MakesAReadOnlyViewOfWhatWasDescribed) {
  example e("i");
  e.data.offset = 2;
  e.data.length = 4;
  any_view v;
  CHECK(!arrow::check(e.type, e.data, true, v));
  CHECK(v.layout().shape() == extents({4}) && v.read_only() && v.dtype() == dtype::of<int>());
  CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(v.data()), 0x1008u);
}

TEST(ArrowCheck, FixedSizeListsAreDimensionsAndOffsetsAddUp) {
  example e("i", 20);
  e.data.offset = 1;
  e.wrap("+w:3", 2, 4);  // the lists 4 and 5: child elements 12 to 17, positions 13 to 18
  any_view v;
  CHECK(!arrow::check(e.type, e.data, true, v));
  CHECK(v.layout().shape() == extents({2, 3}) && v.layout().is_c_contiguous());
  CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(v.data()), 0x1000u + 13 * 4);
}

TEST(ArrowCheck, AnEmptyArrayMayBeNull) {
  example e("g", 0);
  e.buffers[1] = nullptr;
  any_view v;
  CHECK(!arrow::check(e.type, e.data, true, v));
  CHECK_EQUAL(v.size(), 0);
  CHECK(v.dtype() == dtype::of<double>());
}

TEST(ArrowCheck, MissingElementsAreFoundWhereTheyMatter) {
  example e("i", 3);
  e.data.offset = 2;
  e.buffers[0] = e.bits.data();
  e.bits[0] = 0b11100010;  // elements 0, 2, 3 and 4 of the buffer are missing
  e.data.null_count = 3;
  CHECK_EQUAL(verdict(e).text,
              "null_count: 3 of 3 elements are missing; give them a value first, for example with "
              "fill_null(0)");
  e.data.null_count = -1;
  CHECK_EQUAL(verdict(e).code, fault::typestr_unsupported);
  CHECK_EQUAL(verdict(e, false).text,
              "null_count: -1, so elements may be missing, and the host cannot read the bits that "
              "tell; give them a value first, for example with fill_null(0)");
  e.data.offset = 5;  // elements 5, 6 and 7 are there
  CHECK(!verdict(e));
  CHECK(verdict(e, false));
  e.data.null_count = 0;
  CHECK(!verdict(e, false));
}

TEST(ArrowCheck, MissingElementsAreCountedOverManyBytes) {
  for (std::int64_t first = 0; first < 20; ++first) {
    for (std::int64_t count = 1; first + count <= 32; ++count) {
      example e("c", count);
      e.data.offset = first;
      e.data.null_count = -1;
      e.buffers[0] = e.bits.data();
      CHECK(!verdict(e));
      for (const std::int64_t gone : {first, first + count / 2, first + count - 1}) {
        e.bits = {0xff, 0xff, 0xff, 0xff};
        e.bits[static_cast<std::size_t>(gone / 8)] ^= static_cast<std::uint8_t>(1 << (gone % 8));
        CHECK(verdict(e).text.starts_with("null_count: 1 of "));
      }
      e.bits = {0, 0, 0, 0};
      for (std::int64_t k = first; k < first + count; ++k) {
        e.bits[static_cast<std::size_t>(k / 8)] |= static_cast<std::uint8_t>(1 << (k % 8));
      }
      CHECK(!verdict(e));
    }
  }
}

TEST(ArrowCheck, EveryFaultHasItsSentence) {
  const auto says = [](const char* format, auto change, fault code, const std::string& words) {
    example e(format);
    change(e);
    const arrow::finding found = verdict(e);
    CHECK_EQUAL(found.code, code);
    if (!found.text.starts_with(words)) CHECK_EQUAL(found.text, words);
  };
  const auto nothing = [](example&) {};
  const std::string supported =
      "expected numbers (c, C, s, S, i, I, l, L, e, f, g), arrow.bool8, or fixed-size lists (+w) "
      "of them";
  using enum fault;
  says("b", nothing, typestr_unsupported,
       "format: 'b' (booleans as bits) is not supported; " + supported +
           "; cast them, for example with cast('uint8')");
  says("u", nothing, typestr_unsupported, "format: 'u' (text) is not supported; ");
  says("vz", nothing, typestr_unsupported, "format: 'vz' (binary) is not supported; ");
  says("tsu:UTC", nothing, typestr_unsupported,
       "format: 'tsu:UTC' (dates and times) is not supported; ");
  says("d:10,2", nothing, typestr_unsupported, "format: 'd:10,2' (decimal numbers)");
  says("+l", nothing, typestr_unsupported, "format: '+l' (nested)");
  says("+s", nothing, typestr_unsupported, "format: '+s' (a struct or a table)");
  says("\n", nothing, typestr_unsupported, "format: '\\x0a' (unknown)");
  says("ii", nothing, typestr_unsupported, "format: 'ii' (unknown)");
  says("", nothing, typestr_unsupported, "format: '' (unknown)");
  for (const char* list : {"+w:", "+w:-1", "+w:x", "+w:3 ", "+w:99999999999999999999"}) {
    says(list, nothing, typestr_malformed, std::string("format: '") + list + "'; expected");
  }
  says("+w:3", nothing, typestr_malformed, "n_children: 0 of a fixed-size list; expected 1");
  says("i", [](example& e) { e.type.format = nullptr; }, typestr_malformed, "format: is null");
  says("i", [](example& e) { e.type.release = nullptr; }, typestr_malformed, "release: is null");
  says("i", [](example& e) { e.type.child_count = 2; }, typestr_malformed, "n_children: 2");
  says(
      "i", [](example& e) { e.type.dictionary = &e.inner_type; }, typestr_unsupported,
      "dictionary: values by index (format 'i') are not supported; decode them");
  says("i", [](example& e) { e.data.release = nullptr; }, data_null, "release: is null");
  says("i", [](example& e) { e.data.length = -1; }, shape_negative, "length: -1; expected");
  says("i", [](example& e) { e.data.offset = -1; }, offset_overflow, "offset: -1, with length 6");
  says("i", [](example& e) { e.data.offset = INT64_MAX - 5; }, offset_overflow, "offset: 92233");
  says("i", [](example& e) { e.data.offset = INT64_MAX - 6; }, address_overflow, "offset: 92233");
  says("i", [](example& e) { e.data.length = INT64_MAX; }, shape_overflow, "length: shape (92");
  says("i", [](example& e) { e.data.buffer_count = 1; }, data_null, "n_buffers: 1; expected 2");
  says(
      "i", [](example& e) { e.data.buffers = nullptr; }, data_null,
      "n_buffers: 2, and buffers is null; expected 2");
  says("i", [](example& e) { e.data.child_count = 1; }, typestr_malformed, "n_children: 1;");
  says("i", [](example& e) { e.data.null_count = -2; }, typestr_malformed, "null_count: -2;");
  says(
      "i", [](example& e) { e.data.null_count = 2; }, typestr_malformed,
      "null_count: 2, but buffers[0]");
  says(
      "i", [](example& e) { e.buffers[1] = nullptr; }, data_null,
      "buffers[1]: is null, but the array has elements, with shape (6,)");
  says(
      "i", [](example& e) { e.buffers[1] = reinterpret_cast<const void*>(0x1002); },
      data_misaligned, "buffers[1]: 0x1002 + 0 elements is not aligned");
  says(
      "i", [](example& e) { e.wrap("+w:4", 2); }, out_of_allocation,
      "length: 6 of a list's child; the list needs 8 elements from 0 on");
  says(
      "i", [](example& e) { e.wrap("+w:3", 1, 2); }, out_of_allocation,
      "length: 6 of a list's child; the list needs 3 elements from 6 on");
  says(
      "i", [](example& e) { e.wrap("+w:4611686018427387904", 4); }, shape_overflow,
      "length: 4 lists of 4611686018427387904");
  says(
      "i",
      [](example& e) {
        e.wrap("+w:3", 2);
        e.inner_data.release = nullptr;
      },
      data_null, "release: is null");
}

TEST(ArrowType, GoesOutAndComesBackTheSame) {
  for (const char* typestr :
       {"|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8"}) {
    dtype type;
    CHECK_EQUAL(dtype::parse(typestr, type), fault::none);
    example e(arrow::format_of(type));
    const std::string metadata = arrow::metadata_of(type);
    if (!metadata.empty()) e.type.metadata = metadata.c_str();
    arrow::element_type back;
    CHECK(!arrow::read_type(e.type, back));
    CHECK(back.type == type && back.inner.empty());
  }
  for (const char* typestr : {"<c8", "<c16", "|V12"}) {
    dtype type;
    CHECK_EQUAL(dtype::parse(typestr, type), fault::none);
    CHECK(arrow::format_of(type) == nullptr);
  }
}

TEST(ArrowType, OtherExtensionsAreTheirStorage) {
  for (const std::int32_t length : {3, -1}) {
    std::string metadata;
    const auto add = [&](std::int32_t n) {
      metadata.append(reinterpret_cast<const char*>(&n), sizeof n);
    };
    add(1);
    add(length);
    metadata += "abc";
    add(0);
    example e("c");
    e.type.metadata = metadata.c_str();
    arrow::element_type back;
    CHECK(!arrow::read_type(e.type, back));
    CHECK(back.type == dtype::of<std::int8_t>());
  }
}

TEST(ArrowOwned, ReleasesOnceWhereverItWasMoved) {
  ended = 0;
  {
    arrow::array_data theirs{};
    theirs.release = end;
    arrow::owned<arrow::array_data> first(theirs);
    CHECK(theirs.release == nullptr && !first.empty());
    arrow::owned<arrow::array_data> second(std::move(first));
    CHECK(first.empty());
    CHECK_EQUAL(ended, 0);
  }
  CHECK_EQUAL(ended, 1);
  {
    arrow::device_array theirs{};
    theirs.elements.release = end;
    const arrow::owned<arrow::device_array> taken(theirs);
    CHECK(arrow::is_released(theirs));
  }
  CHECK_EQUAL(ended, 2);
}
