// See long_row.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "algorithm/long_row.hpp"

#include <algorithm>
#include <bit>
#include <string_view>

#include "algorithm/own_kernels.hpp"
#include "algorithm/rows.hpp"
#include "core/format.hpp"
#include "usmx/reduction.hpp"

namespace usmx::detail {
namespace {

constexpr std::int64_t tables = 4;  // as in kernels/sort_long.hpp
/// Bytes of a bucket: a processor finds the addresses of so many pages at once.
constexpr std::int64_t bucket_bytes = 65536;
/// Buckets have at least this part of a row: a pass over all of it writes to no more places.
constexpr std::int64_t most_of_buckets = 512;

/// Which bits of floats differ, and whether keys lose any; of integers the least and the most,
/// compared as keys.
reduction_kernel looking(std::string_view form) {
  const std::string own = format("usmx::sorting::form::{}", form);
  std::string first = format("usmx::sorting::key<{}>(x, T(0))", own), second = first;
  std::string_view join =
      "looked{T(a.first < b.first ? a.first : b.first), "
      "T(a.second > b.second ? a.second : b.second)}";
  if (form == "floating") {
    first = "x ^ T(all[0])";
    second = format("usmx::sorting::is_lost<{}>(x)", own);
    join = "looked{T(a.first | b.first), T(a.second | b.second)}";
  }
  return reduction_kernel(
      "T x, raw T all", "T first, T second",
      {.map = format("looked{{T({}), T({})}}", first, second),
       .reduce = std::string(join),
       .post_map = "first = a.first, second = a.second",
       .reduce_type = "looked",
       .preamble = "#include \"usmx/sort_long.hpp\"\nstruct looked { T first, second; };\n"},
      "sort_looking");
}

own_kernels& kernels() {
  static auto& all = *new own_kernels("sort_long.cpp");  // leaked: sorts may come at any time
  return all;
}

}  // namespace

long_row::long_row(const array& row, const sorted_elements& elements, bool descending, bool wide)
    : row_(row),
      elements_(elements),
      flip_(elements.flip(descending)),
      wide_(wide),
      length_(row.size()) {
  const sycl::queue& queue = row.queue();
  const std::int64_t chunks =
      std::max<std::int64_t>(1, std::min(4 * compute_units(queue), length_ >> 15));
  size_ = quotient_up(length_, chunks);
  chunks_ = quotient_up(length_, size_);

  const array words = as_words(row, elements.word());
  expression_output outputs[2];
  const operand inputs[] = {words, words};
  static auto& looks = *new reductions_by_form;  // leaked, as kernels()
  looks.get(elements.form, [&] { return looking(elements.form); }).submit(queue, inputs, outputs);
  const std::uint64_t first = number_in(outputs[0].get()), second = number_in(outputs[1].get());
  int top = 0, low = 0;
  std::uint64_t base = 0;
  if (std::string_view(elements.form) != "floating") {
    top = static_cast<int>(std::bit_width(second - first));
    const bool is_signed = std::string_view(elements.form) == "integer";
    base = is_signed ? first ^ std::uint64_t{1} << (8 * elements.size - 1) : first;
  } else if (second != 0) {  // of keys that are not made of all bits of an element, any may differ
    top = static_cast<int>(8 * elements.size);
    exact_ = false;
  } else {
    top = static_cast<int>(std::bit_width(first));
    low = first == 0 ? 0 : std::countr_zero(first);
  }
  const int most = length_ < std::int64_t{1} << 22 ? 12 : 14;
  const int bits = std::min(std::max(top - low, 1), most);
  is_counted_ = exact_ && top - low <= most;
  window_ = {std::max(top - bits, 0), bits, base};
  prefixes_ = std::int64_t{1} << bits;
  counts_ = new_row(chunks_ * tables * prefixes_, place_type(wide));
  get("count_prefixes")
      .enqueue(queue, one_by_one(chunks_),
               {row_, window_.lowest, window_.bits, window_.base, flip_, counts_, length_, size_,
                chunks_});
}

array long_row::new_row(std::int64_t count, const dtype& type) const {
  return array::empty(row_.queue(), std::span(&count, 1), type, usm_kind::device);
}

const kernel& long_row::get(const char* name, bool places) const {
  std::vector<std::string> options = elements_.options(wide_, places);
  options.push_back(exact_ ? "-DEXACT=true" : "-DEXACT=false");
  return kernels().get(row_.queue(), name, options);
}

long_row::different long_row::different_elements() const {
  different out{new_row(prefixes_, row_.elements().dtype()),
                new_row(prefixes_ + 1, dtype::of<std::int64_t>()),
                new_row(1, dtype::of<std::int64_t>())};
  get("list_prefixes")
      .enqueue(row_.queue(), one_by_one(1),
               {row_, window_.lowest, window_.bits, window_.base, flip_, counts_, out.values,
                out.starts, out.number, chunks_});
  return out;
}

/// The bucket of each prefix, where the elements of chunks go, and where buckets begin.
long_row::bucket_places long_row::buckets(std::int64_t limit, std::int64_t most) const {
  bucket_places out{new_row(prefixes_, dtype::of<std::uint16_t>()),
                    new_row(chunks_ * most, place_type(wide_)),
                    new_row(most + 1, dtype::of<std::int64_t>())};
  get("cut_buckets")
      .enqueue(row_.queue(), one_by_one(1),
               {row_, window_.lowest, window_.bits, window_.base, flip_, counts_, out.bucket_of,
                out.next, out.starts, chunks_, limit, most});
  return out;
}

void long_row::sort(const array* values, const array* places) const {
  if (is_counted_) {
    sort_by_counts(values, places);
  } else {
    sort_by_buckets(values, places);
  }
}

void long_row::sort_by_counts(const array* values, const array* places) const {
  if (values != nullptr) {
    const different found = different_elements();
    get("fill_in_order")
        .enqueue(row_.queue(), one_by_one(chunks_),
                 {found.values, found.starts, found.number, *values, length_, size_, chunks_});
  }
  if (places != nullptr) {
    const bucket_places to = buckets(0, prefixes_);
    get("place_in_order")
        .enqueue(row_.queue(), one_by_one(chunks_),
                 {row_, window_.lowest, window_.bits, window_.base, flip_, *places, to.bucket_of,
                  to.next, length_, size_, chunks_, prefixes_});
  }
}

void long_row::sort_by_buckets(const array* values, const array* places) const {
  const bool has_places = places != nullptr;
  const std::int64_t bytes = elements_.size + (has_places ? (wide_ ? 8 : 4) : 0);
  const std::int64_t limit = std::max(bucket_bytes / bytes, length_ / most_of_buckets);
  const std::int64_t most = 2 * (length_ / limit) + 2;
  const bucket_places to = buckets(limit, most);
  const array x = new_row(length_ * bytes, dtype::of<std::uint8_t>());
  const array y = values != nullptr && !has_places
                      ? *values
                      : new_row(length_ * bytes, dtype::of<std::uint8_t>());
  get("move_to_buckets", has_places)
      .enqueue(row_.queue(), one_by_one(chunks_),
               {row_, window_.lowest, window_.bits, window_.base, flip_, x, to.bucket_of, to.next,
                length_, size_, chunks_, most});
  const array no_values = values == nullptr ? new_row(1, elements_.word()) : array();
  const array no_places = has_places ? array() : new_row(1, dtype::of<std::int64_t>());
  get("sort_bucket", has_places)
      .enqueue(row_.queue(), one_by_one(most),
               {x, y, values != nullptr ? *values : no_values,
                static_cast<std::int32_t>(values != nullptr), has_places ? *places : no_places,
                to.starts, flip_});
}

}  // namespace usmx::detail
