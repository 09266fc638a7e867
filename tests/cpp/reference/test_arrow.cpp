// The example of usmx/arrow.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>

#include <usmx/arrow.hpp>

#include "check.hpp"

namespace {

namespace arrow = usmx::arrow;

const std::array<float, 3> column{1, 2, 3};
const std::array<const void*, 2> column_buffers{nullptr, column.data()};

/// What a producer writes into the two structs of a receiver.
void produce(arrow::schema& type, arrow::array_data& data) {
  type = {};
  type.format = arrow::format_of(usmx::dtype::of<float>());
  type.flags = arrow::nullable_flag;
  type.release = [](arrow::schema* s) { s->release = nullptr; };
  data = {};
  data.length = 3;
  data.buffer_count = 2;
  data.buffers = const_cast<const void**>(column_buffers.data());
  data.release = [](arrow::array_data* a) { a->release = nullptr; };
}

}  // namespace

TEST(Arrow, Reference) {
  // Structs that are released once, however they are moved.
  arrow::owned<arrow::schema> type;
  arrow::owned<arrow::array_data> data;
  produce(*type.out(), *data.out());
  CHECK(!type.empty() && !arrow::is_released(*data));

  // The elements: a checked view that may only be read.
  usmx::any_view view;
  const arrow::finding wrong = arrow::check(*type, *data, true, view);
  CHECK(!wrong && view.size() == 3 && view.data() == column.data());

  // The type alone; a table has one for each column.
  arrow::element_type element;
  CHECK(!arrow::is_table(*type) && !arrow::read_type(*type, element));
  CHECK(element.type == usmx::dtype::of<float>() && element.inner.empty());
  CHECK(arrow::metadata_of(usmx::dtype::of<float>()).empty());

  // On a device: the same with where it is and what to wait for.
  arrow::device_array there{};
  produce(*type.out(), there.elements);
  there.device_type = usmx::dlpack::device_type::cpu;
  arrow::owned<arrow::device_array> mine(there);  // moved: `there` counts as released
  CHECK(arrow::is_released(there) && !mine.empty());
  arrow::device_array other = *mine;
  arrow::forget(*mine);
  arrow::release(other);
  CHECK(arrow::is_released(other));
}

TEST(Arrow, ReferenceOfStreams) {
  // Arrays of one type, one after the other; the end is a released one.
  arrow::stream from{};
  int left = 2;
  from.private_data = &left;
  from.get_next = [](arrow::stream* s, arrow::array_data* out) {
    arrow::schema type;
    *out = {};
    if ((*static_cast<int*>(s->private_data))-- > 0) produce(type, *out);
    return 0;
  };
  from.release = [](arrow::stream* s) { s->release = nullptr; };
  arrow::owned<arrow::stream> stream(from);
  std::int64_t length = 0;
  for (arrow::owned<arrow::array_data> each;;) {
    CHECK(stream->get_next(&*stream, each.out()) == 0);
    if (each.empty()) break;
    length += each->length;
    arrow::release(*each);
  }
  CHECK(length == 6);
  const arrow::device_stream none{};  // the same for arrays on a device
  CHECK(arrow::is_released(none));
}
