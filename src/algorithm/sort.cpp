// Sorts of rows: each form of rows has a way that suits the device; the kernels stand in
// kernels/sort.hpp and kernels/sort_long.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/sort.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <limits>
#include <span>
#include <vector>

#include "algorithm/axes.hpp"
#include "algorithm/long_row.hpp"
#include "algorithm/own_kernels.hpp"
#include "algorithm/rows.hpp"
#include "algorithm/sort_rows.hpp"
#include "algorithm/sorted_elements.hpp"
#include "compute/in_memory_order.hpp"
#include "compute/on_host.hpp"
#include "compute/small_arrays.hpp"
#include "core/format.hpp"
#include "runtime/backend.hpp"
#include "usmx/copy.hpp"
#include "usmx/elementwise.hpp"
#include "usmx/error.hpp"
#include "usmx/scan.hpp"
#include "usmx/wait.hpp"

namespace usmx {
namespace {

using detail::in_groups;
using detail::one_by_one;
using detail::quotient_up;

constexpr std::int64_t items = 256;  ///< of a group
/// From here on fewer passes are worth larger tiles, and more counts for each of them.
constexpr std::int64_t long_row_of_tiles = 1 << 14;
/// Groups that count a row: each adds its counts once.
constexpr std::int64_t counting_groups = 2048;
/// Of a selection: places, rows, and elements of a row, from which on it beats a sort.
constexpr std::size_t most_ranked = 8;
constexpr std::int64_t most_ranked_rows = 64, least_ranked = 1 << 21;
constexpr std::int64_t short_row = 128;                       ///< a network sorts rows up to here
std::atomic<std::int64_t> wide_from = std::int64_t{1} << 32;  ///< 32 bits do not hold such places

detail::own_kernels& kernels() {
  static auto& all = *new detail::own_kernels("sort.cpp");  // leaked: sorts may come at any time
  return all;
}

/// Which bits of keys differ from those of the first one.
reduction_kernel differing(std::string_view form) {
  const std::string key = detail::format("usmx::sorting::key<usmx::sorting::form::{}>", form);
  return reduction_kernel("T x, raw T all, T flip", "T bits",
                          {.map = detail::format("{0}(x, flip) ^ {0}(T(all[0]), flip)", key),
                           .reduce = "a | b",
                           .post_map = "bits = a",
                           .identity = "0",
                           .preamble = "#include \"usmx/sort.hpp\"\n"},
                          "sort_differing");
}

const scan_kernel& before() {
  static auto& kernel = *new scan_kernel(
      "T x", "int64 y", {.map = "int64_t(x)", .scan = "a + b", .identity = "0", .exclusive = true},
      "sort_before");
  return kernel;
}

/// Sorts the rows of one array; its memory in between is of the device.
class sorter {
 public:
  /// `x` is contiguous and aligned, and its last axis is a row.
  sorter(const array& x, bool descending, bool places)
      : x_(x),
        queue_(x.queue()),
        elements_(x.elements().dtype()),
        length_(x.extent(x.rank() - 1)),
        rows_(x.size() / length_),
        descending_(descending),
        places_(places),
        wide_(length_ >= wide_from),
        flip_(elements_.flip(descending)) {}

  /// Writes the rows in order to `to`, if there is one, and gives where each element was, if that
  /// is asked for.
  std::optional<array> run(const array* to, usm_kind kind) {
    if (are_long()) return sort_long(to, kind);
    const std::int64_t units = detail::compute_units(queue_);
    const array target = to != nullptr ? *to : new_like_x();
    std::optional<array> found;
    if (!detail::forms_of(queue_).groups_are_loops) {
      if (length_ <= short_row) {
        found = by_group(target);
      } else if (length_ <= items * elements_of_item()) {
        found = by_group_in_digits(target);
      } else {
        found = detail::forms_of(queue_).groups_wait ? by_sweeps(target) : by_tiles(target);
      }
    } else if (rows_ >= 2 * units || length_ < detail::long_row::least) {
      found = by_item(target, std::min(rows_, 8 * units));
    } else {
      found = by_chunks(target, 4 * units);
    }
    if (!places_) return {};
    array order = array::empty(queue_, x_.shape(), dtype::of<std::int64_t>(), kind);
    copy_async(queue_, detail::as_words(order, dtype::of<std::int64_t>()), *found);
    return order;
  }

  /// Writes the elements at some places to `to`: a pass for each digit, which counts, and one
  /// kernel that knows them all.
  void select(const std::vector<std::int64_t>& places, const array& to) const {
    constexpr int bits = 8;
    const int digits = elements_.digits(bits);
    const auto count = static_cast<std::int64_t>(places.size());
    const std::int64_t size = std::max<std::int64_t>(items * elements_of_item(),
                                                     quotient_up(rows_ * length_, counting_groups));
    const std::int64_t in_row = quotient_up(length_, size);
    std::array<std::int64_t, most_ranked> r{};
    std::ranges::copy(places, r.begin());
    const array counts = new_row(rows_ * digits * count << bits, dtype::of<std::uint32_t>());
    constexpr std::uint64_t zero = 0;
    fill_async(queue_, counts, &zero);
    const std::int64_t most = count <= 4 ? 4 : std::int64_t{most_ranked};
    const auto asked = static_cast<std::int32_t>(count);
    const kernel& counts_digit = get("count_ranked", bits, false, most);
    for (std::int32_t number = 0; number < digits; ++number) {
      counts_digit.enqueue(queue_, in_groups(rows_ * in_row, items),
                           {x_, counts, length_, size, in_row, number, asked, r[0], r[1], r[2],
                            r[3], r[4], r[5], r[6], r[7]});
    }
    get("ranked", bits, false, most)
        .enqueue(queue_, in_groups(rows_, items),
                 {counts, to, asked, r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7]});
  }

  /// Whether the rows are sorted one after the other by kernels for a row.
  bool are_long() const {
    const bool many = rows_ >= 2 * detail::compute_units(queue_);
    return detail::forms_of(queue_).groups_are_loops && !many && elements_.are_long() &&
           length_ >= (rows_ == 1 ? 1 : 16) * detail::long_row::least;
  }

 private:
  array new_row(std::int64_t count, const dtype& type) const {
    return array::empty(queue_, std::span(&count, 1), type, usm_kind::device);
  }
  array new_like_x() const { return new_row(x_.size(), x_.elements().dtype()); }
  array new_places() const { return new_row(places_ ? x_.size() : 1, detail::place_type(wide_)); }
  const kernel& get(const char* name, int bits, bool places, std::int64_t each = 0) const {
    std::vector<std::string> options = elements_.options(wide_, places);
    options.push_back(detail::format("-DBITS={}", bits));
    options.push_back(detail::format("-DDIGITS={}", elements_.digits(bits)));
    options.push_back(detail::format("-DSHORT={}", short_row));
    options.push_back(detail::format("-DITEMS={}", items));
    options.push_back(detail::format("-DEACH={}", each));
    options.push_back(detail::format("-DCOUNT=uint{}_t", 8 * word_of_counts().itemsize()));
    return kernels().get(queue_, name, options);
  }

  std::optional<array> sort_long(const array* to, usm_kind kind) const {
    std::optional<array> order;
    if (places_) order = array::empty(queue_, x_.shape(), dtype::of<std::int64_t>(), kind);
    for (std::int64_t k = 0; k < rows_; ++k) {
      const array values = to != nullptr ? detail::part_of(*to, k * length_, length_) : array();
      const array places = order ? detail::part_of(*order, k * length_, length_) : array();
      const array row = detail::part_of(x_, k * length_, length_);
      detail::long_row(row, elements_, descending_, wide_)
          .sort(to != nullptr ? &values : nullptr, order ? &places : nullptr);
    }
    return order;
  }

  /// An item for some rows, one after the other.
  array by_item(const array& target, std::int64_t count) const {
    constexpr int bits = 8;
    const bool with_spare = length_ > 32;
    const array places = new_places();
    const array spare = with_spare ? new_like_x() : target;
    const array spare_places = with_spare ? new_places() : places;
    const array counts = new_row(with_spare ? count << bits : 1, dtype::of<std::int64_t>());
    get("sort_rows", bits, places_)
        .enqueue(queue_, one_by_one(count),
                 {x_, target, places, spare, spare_places, counts, rows_, length_,
                  static_cast<std::int32_t>(elements_.digits(bits)), flip_});
    return places;
  }

  /// Short rows in local memory.
  array by_group(const array& target) const {
    const auto width = static_cast<std::int64_t>(
        std::max<std::uint64_t>(2, std::bit_ceil(static_cast<std::uint64_t>(length_))));
    const array places = new_places();
    get("sort_tile", 8, places_)
        .enqueue(queue_, in_groups(quotient_up(rows_, short_row / width), items),
                 {x_, target, places, rows_, static_cast<std::int32_t>(length_),
                  static_cast<std::int32_t>(width), flip_});
    return places;
  }

  /// Chunks of a row, an item for each, digit by digit.
  array by_chunks(const array& target, std::int64_t most) const {
    const int bits = elements_.size >= 4 ? 11 : 8;
    std::int64_t in_row =
        std::max<std::int64_t>(1, std::min(most, length_ / (std::int64_t{8} << bits)));
    const std::int64_t size = quotient_up(length_, in_row);
    in_row = quotient_up(length_, size);
    const std::int64_t count = rows_ * in_row;
    const array counts = new_row(count << bits, detail::place_type(wide_));
    const array next = new_row(2 * count << bits, detail::place_type(wide_));
    return in_passes(target, digits_that_differ(bits), [&](const pass& p) {
      get("count_chunk", bits, false)
          .enqueue(queue_, one_by_one(count),
                   {p.from, counts, length_, size, in_row, p.lowest, flip_});
      get("move_chunk", bits, places_)
          .enqueue(queue_, one_by_one(count),
                   {p.from, p.to, p.places, p.new_places, counts, next, length_, size, in_row,
                    p.lowest, p.is_first, flip_});
    });
  }

  /// Tiles of a row, a group for each, digit by digit.
  array by_tiles(const array& target) const {
    const bool is_long = length_ >= long_row_of_tiles;
    const int bits = is_long ? 8 : 4;
    const std::int64_t each = elements_of_item() / (is_long ? 1 : 2);
    const std::int64_t size = items * each;
    const std::int64_t in_row = quotient_up(length_, size);
    const std::int64_t groups = rows_ * in_row;
    const std::int64_t shape[] = {rows_, in_row << bits};
    const array counts = array::empty(queue_, shape, dtype::of<std::uint32_t>(), usm_kind::device);
    return in_passes(target, all_digits(bits), [&](const pass& p) {
      get("count_tile", bits, false, each)
          .enqueue(queue_, in_groups(groups, items),
                   {p.from, counts, length_, size, in_row, p.lowest, flip_});
      const array begins = before()(queue_, {counts}, 1);
      get("move_tile", bits, places_, each)
          .enqueue(queue_, in_groups(groups, items),
                   {p.from, p.to, p.places, p.new_places, begins, length_, size, in_row, p.lowest,
                    p.is_first, flip_});
    });
  }

  /// Rows of one tile, a group for each: all digits in local memory.
  array by_group_in_digits(const array& target) const {
    constexpr int bits = 8;
    std::int64_t each = elements_of_item();
    while (each > 1 && length_ <= items * each / 2) each /= 2;
    const array places = new_places();
    get("sort_in_tile", bits, places_, each)
        .enqueue(queue_, in_groups(rows_, items),
                 {x_, target, places, static_cast<std::int32_t>(length_), flip_});
    return places;
  }

  /// The same as by tiles where groups may wait for each other: a kernel counts the digits of all
  /// passes, and each pass is one kernel.
  array by_sweeps(const array& target) const {
    constexpr int bits = 8;
    const std::int64_t each = elements_of_item(), size = items * each;
    const std::int64_t in_row = quotient_up(length_, size), tiles = rows_ * in_row;
    const int digits = elements_.digits(bits);
    const dtype& word = word_of_counts();
    const std::int64_t chunk = size * std::max<std::int64_t>(1, in_row / counting_groups);
    const std::int64_t chunks = quotient_up(length_, chunk);
    const std::int64_t shape[] = {rows_ * digits, std::int64_t{1} << bits};
    const array counts = array::empty(queue_, shape, word, usm_kind::device);
    // For each pass what tiles tell, and the number of the next group.
    const std::int64_t told = tiles << bits;
    const array boards = new_row(digits * (told + 1), word);
    constexpr std::uint64_t zero = 0;
    fill_async(queue_, counts, &zero);
    fill_async(queue_, boards, &zero);
    get("count_digits", bits, false)
        .enqueue(queue_, in_groups(rows_ * chunks, items),
                 {x_, counts, length_, chunk, chunks, flip_});
    const array begins = before()(queue_, {counts}, 1);
    return in_passes(target, all_digits(bits), [&](const pass& p) {
      const std::int64_t at = p.lowest / bits * (told + 1);
      get("sweep_tile", bits, places_, each)
          .enqueue(queue_, in_groups(tiles, items),
                   {p.from, p.to, p.places, p.new_places, begins, detail::part_of(boards, at, told),
                    detail::part_of(boards, at + told, 1), length_, size, in_row, p.lowest,
                    p.is_first, flip_});
    });
  }
  /// Two bits of a word say what it counts.
  dtype word_of_counts() const {
    return length_ < (std::int64_t{1} << 30) ? dtype::of<std::uint32_t>()
                                             : dtype::of<std::uint64_t>();
  }
  /// A tile and its places fit into 48 KiB of local memory.
  std::int64_t elements_of_item() const {
    return 64 / std::max<std::int64_t>(wide_ ? 8 : 4, elements_.size * elements_.parts);
  }

  std::vector<std::int32_t> all_digits(int bits) const {
    std::vector<std::int32_t> all;
    for (int k = 0; k < elements_.digits(bits); ++k) all.push_back(bits * k);
    return all;
  }
  /// The lowest bits of digits that are not equal in all keys; the host waits for these.
  std::vector<std::int32_t> digits_that_differ(int bits) const {
    const std::vector<std::int32_t> all = all_digits(bits);
    if (all.size() == 1 || elements_.parts > 1) return all;
    const array words = detail::as_words(x_, elements_.word());
    static auto& looks = *new detail::reductions_by_form;  // leaked, as kernels()
    const array bits_of = looks.get(elements_.form, [&] { return differing(elements_.form); })(
        queue_, {words, words, flip_});
    std::uint64_t left = detail::number_in(bits_of);
    std::vector<std::int32_t> found;
    while (left != 0) {
      const int lowest = std::countr_zero(left);
      found.push_back(lowest);
      left = lowest + bits >= 64 ? 0 : left >> (lowest + bits) << (lowest + bits);
    }
    if (found.empty()) found.push_back(0);  // a pass copies elements that are all the same
    return found;
  }

  struct pass {
    const array &from, &to, &places, &new_places;
    std::int32_t lowest, is_first;
  };
  /// One pass for each digit, from one memory to the other; the last one ends in `target`.
  template <class Go>
  array in_passes(const array& target, const std::vector<std::int32_t>& digits, Go go) const {
    const array spare = digits.size() > 1 ? new_like_x() : target;
    array places = new_places(), other = new_places();
    const array* now = &x_;
    for (std::size_t k = 0; k < digits.size(); ++k) {
      const array& to = (digits.size() - k) % 2 != 0 ? target : spare;
      go(pass{*now, to, other, places, digits[k], k == 0});
      now = &to;
      std::swap(places, other);
    }
    return other;
  }

  const array& x_;
  const sycl::queue& queue_;
  detail::sorted_elements elements_;
  std::int64_t length_, rows_;
  bool descending_, places_, wide_;
  std::uint64_t flip_;
};

const elementwise_kernel& search(bool right, bool has_sorter) {
  const auto make = [](bool of_right, bool sorter) {
    return new elementwise_kernel(
        detail::format("T value, raw T sorted, int64 count{}", sorter ? ", raw int64 sorter" : ""),
        "int64 place",
        detail::format("place = usmx::sorting::place_of<{}>(value, count, [&](int64_t k) {{ return "
                       "T(sorted[{}]); }})",
                       of_right, sorter ? "sorter[k]" : "k"),
        "searchsorted", elementwise_text{"#include \"usmx/sort.hpp\"\n", {}, {}, {}});
  };
  static const elementwise_kernel* const all[] = {make(false, false), make(true, false),
                                                  make(false, true), make(true, true)};
  return *all[(right ? 1 : 0) + (has_sorter ? 2 : 0)];
}

/// Bools as bytes of 0 and 1.
array as_bytes(const array& a) {
  array out = array::empty(a.queue(), a.shape(), dtype::of<std::uint8_t>(), usm_kind::device);
  copy_async(a.queue(), out, a);
  return out;
}

/// In C order, and aligned for words. Not read-only: nothing says of our kernels' parameters that
/// they are pointers to const, as those that take it are.
array in_c_order(const array& a) {
  const any_view& v = a.elements();
  const auto address = reinterpret_cast<std::uintptr_t>(v.data());
  const std::size_t part = v.dtype().itemsize() / (v.dtype().kind() == type_class::complex ? 2 : 1);
  if (v.layout().is_c_contiguous() && address % part == 0) {
    any_view writable;
    const fault found = any_view::make(v.data(), v.dtype(), v.layout(), v.kind(), false, writable);
    if (found != fault::none) throw interop_error(found, "sort: the array cannot be read");
    return a.with_view(std::move(writable));
  }
  array copy = array::empty(a.queue(), a.shape(), v.dtype(), usm_kind::device);
  copy_async(a.queue(), copy, a);
  return copy;
}

/// Rows of the last axis, by kernels.
detail::sorted_elements_of sorted(const array& a, bool descending, bool values, bool places) {
  const detail::sorted_elements elements(a.elements().dtype());
  const usm_kind kind = detail::kind_of_results(a);
  const auto empty = [&](const dtype& type) {
    return array::empty(a.queue(), a.shape(), type, kind);
  };
  detail::sorted_elements_of out;
  if (a.size() == 0) {
    if (values) out.values = empty(a.elements().dtype());
    if (places) out.places = empty(dtype::of<std::int64_t>());
    return out;
  }
  const array x = in_c_order(a);
  sorter rows(x, descending, places);
  // Rows that are not long are moved in any case.
  const bool has_values = values || !rows.are_long();
  if (has_values) out.values = empty(a.elements().dtype());
  out.places = rows.run(has_values ? &*out.values : nullptr, kind);
  if (!values) out.values.reset();
  return out;
}

void search_by_kernel(const array& sorted, const array& values, bool right, const array* sorter,
                      array& out) {
  if (sorted.size() == 0) {
    const std::int64_t none = 0;
    fill_async(values.queue(), out, &none);
    return;
  }
  // The CPU's compiler gets comparisons of bools in loops wrong.
  const bool is_bool = sorted.elements().dtype().kind() == type_class::boolean;
  const array line = is_bool ? as_bytes(sorted) : sorted,
              wanted = is_bool ? as_bytes(values) : values;
  expression_output outputs[1];
  outputs[0].given = &out;
  const operand inputs[] = {wanted, line, line.size(), sorter != nullptr ? *sorter : line};
  search(right, sorter != nullptr)
      .submit(values.queue(), std::span(inputs).first(sorter != nullptr ? 4 : 3), outputs);
}

}  // namespace

namespace detail {

std::int64_t use_wide_places_from(std::int64_t length) { return wide_from.exchange(length); }

sorted_elements_of sort_along(const array& a, const sort_request& wanted) {
  const auto& [axis, descending, values, places, keeps_order] = wanted;
  const bool in_c_order = a.elements().layout().is_c_contiguous();
  if (host_accessible(a.kind()) && a.size() <= most_at_high_cost && is_small(a) &&
      a.size() < wide_from && (in_c_order || keeps_order || !values)) {
    sorted_elements_of out;
    if (values) out.values = sort_small(a, axis, descending);
    if (places) out.places = argsort_small(a, axis, descending);
    if (out.values.has_value() == values && out.places.has_value() == places) return out;
  }
  sorted_elements_of out;
  unlocked([&] {
    const bool turns = keeps_order && !in_c_order && !places;
    const in_memory_order order(a, turns);
    const int at = order.place_of(axis);
    out = sorted(with_axis_last(a.with_view(order.view()), at), descending, values, places);
    if (out.values) out.values = order.turned_back(turned_back(*out.values, at));
    if (out.places) out.places = turned_back(*out.places, at);
  });
  return out;
}

bool select_by_digits(const array& rows, const std::vector<std::int64_t>& places,
                      const array& out) {
  const sorted_elements elements(rows.elements().dtype());
  const std::int64_t length = rows.extent(rows.rank() - 1);
  if (forms_of(rows.queue()).groups_are_loops || elements.parts > 1 ||
      places.size() > most_ranked || length < least_ranked ||
      rows.size() > most_ranked_rows * length ||
      length > std::numeric_limits<std::int32_t>::max()) {
    return false;
  }
  const array x = in_c_order(rows);
  sorter(x, false, false).select(places, as_words(out, elements.word()));
  return true;
}

sorted_elements_of sort_rows(const array& a, bool values, bool places) {
  return sort_along(a, {.axis = a.rank() - 1, .values = values, .places = places});
}

different_elements different_or_sorted(const array& row) {
  const sorted_elements elements(row.elements().dtype());
  if (row.size() == 0) return {*sort_rows(row, true, false).values, {}};
  const array x = in_c_order(row);
  if (!sorter(x, false, false).are_long()) {
    return {*sort_rows(x, true, false).values, {}};
  }
  const usm_kind kind = kind_of_results(row);
  const long_row looked_at(x, elements, false, x.size() >= wide_from);
  if (!looked_at.is_counted()) {
    array values = array::empty(x.queue(), x.shape(), x.elements().dtype(), kind);
    looked_at.sort(&values, nullptr);
    return {std::move(values), {}};
  }
  const long_row::different found = looked_at.different_elements();
  const auto count = static_cast<std::int64_t>(number_in(found.number));
  array values = array::empty(x.queue(), std::span(&count, 1), x.elements().dtype(), kind);
  copy_async(x.queue(), values, part_of(found.values, 0, count));
  return {std::move(values), part_of(found.starts, 0, count)};
}

array search_sorted(const array& sorted, const array& values, bool right, const array* sorter) {
  if (sorter == nullptr && is_small(sorted) && is_small(values)) {
    if (auto few = search_small(sorted, values, right)) return *std::move(few);
  }
  array out = array::empty(values.queue(), values.shape(), dtype::of<std::int64_t>(),
                           kind_of_results(values));
  if (values.size() != 0) unlocked([&] { search_by_kernel(sorted, values, right, sorter, out); });
  return out;
}

}  // namespace detail

array sort(const array& a, const sort_options& how) {
  return *detail::sort_along(a, {detail::axis_of(a, how.axis), how.descending}).values;
}

array argsort(const array& a, const sort_options& how) {
  return *detail::sort_along(a, {detail::axis_of(a, how.axis), how.descending, false, true}).places;
}

sorted_array sort_with_places(const array& a, const sort_options& how) {
  auto found = detail::sort_along(a, {detail::axis_of(a, how.axis), how.descending, true, true});
  return {*std::move(found.values), *std::move(found.places)};
}

array searchsorted(const array& sorted, const array& values, bool right) {
  const dtype& type = sorted.elements().dtype();
  if (sorted.rank() != 1) {
    throw std::invalid_argument(
        detail::format("sorted: has {} dimensions; expected one", sorted.rank()));
  }
  if (type != values.elements().dtype()) {
    throw std::invalid_argument(detail::format("values: are of {}; expected {}, as sorted has",
                                               values.elements().dtype().name(), type.name()));
  }
  detail::sorted_elements order(type);  // which refuses records
  return detail::search_sorted(sorted, values, right, nullptr);
}

}  // namespace usmx
