// Selections: on a device whose groups are loops the host finds some elements of a few rows in less
// time than kernels take to sort them; elsewhere kernels find them digit by digit. Of many rows,
// all elements are sorted.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/select.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <type_traits>

#include "algorithm/axes.hpp"
#include "algorithm/rows.hpp"
#include "algorithm/select_rows.hpp"
#include "algorithm/sort_rows.hpp"
#include "compute/in_memory_order.hpp"
#include "core/format.hpp"
#include "runtime/backend.hpp"
#include "usmx/copy.hpp"
#include "usmx/elementwise.hpp"
#include "usmx/error.hpp"
#include "usmx/wait.hpp"

namespace usmx {
namespace {

using detail::selected;

/// Elements that are sorted at least as soon.
constexpr std::int64_t few = 256;
/// More places than that take as long as sorting.
constexpr std::size_t most_places = 64;
/// Processors so small sort no rows sooner, and on others each has so many.
constexpr std::int64_t few_units = 8, rows_of_unit = 2;

/// The places from 0 up, in the order in which they were given.
std::vector<std::int64_t> checked(const std::vector<std::int64_t>& kth, std::int64_t length) {
  std::vector<std::int64_t> out;
  for (const std::int64_t place : kth) {
    if (place < -length || place >= length) {
      throw std::invalid_argument(
          detail::format("kth: {} is out of bounds for an axis of length {}", place, length));
    }
    out.push_back(place < 0 ? place + length : place);
  }
  return out;
}

bool selects(const array& a, const std::vector<std::int64_t>& kth, std::int64_t least) {
  const std::int64_t length = a.extent(a.rank() - 1);
  if (!detail::forms_of(a.queue()).groups_are_loops || a.size() < least) return false;
  if (kth.size() > most_places || length > std::numeric_limits<std::uint32_t>::max()) return false;
  const std::int64_t units = detail::compute_units(a.queue());
  return units <= few_units || a.size() / length < rows_of_unit * units;
}

// --- order: numbers as unsigned integers in the order of sorts, of which each has its own

template <class Word>
class keys {
 public:
  explicit keys(const dtype& type) : kind_(type.kind()) {
    if (kind_ != type_class::floating) return;
    const int mantissa = type.is_bfloat16()  ? 7
                         : sizeof(Word) == 2 ? 10
                         : sizeof(Word) == 4 ? 23
                                             : 52;
    const auto infinity = static_cast<Word>(static_cast<Word>(sign - 1) >> mantissa << mantissa);
    least_ = static_cast<Word>(sign - 1 - infinity);  // of -infinity; NaNs are below or above
  }
  Word of(Word x) const {
    if (kind_ == type_class::boolean) return x != 0;
    if (kind_ == type_class::integer) return x ^ sign;
    if (kind_ != type_class::floating) return x;
    return static_cast<Word>(((x & sign) != 0 ? static_cast<Word>(~x) : x | sign) - least_);
  }
  Word element(Word key) const {
    if (kind_ == type_class::integer) return key ^ sign;
    if (kind_ != type_class::floating) return key;
    const auto x = static_cast<Word>(key + least_);
    return (x & sign) != 0 ? x ^ sign : static_cast<Word>(~x);
  }

 private:
  static constexpr Word sign = static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));
  type_class kind_;
  Word least_ = 0;
};

template <class Real>
struct pair_of {
  Real real, imaginary;
  int parts_without_number() const { return 2 * std::isnan(real) + std::isnan(imaginary); }
};

/// Complex numbers by their real parts, then their imaginary ones; NaN in the real part comes last.
template <class Real>
bool operator<(const pair_of<Real>& a, const pair_of<Real>& b) {
  const int left = a.parts_without_number(), right = b.parts_without_number();
  if (left != right) return left < right;
  if (left < 2 && a.real != b.real) return a.real < b.real;
  return left % 2 == 0 && a.imaginary < b.imaginary;
}

template <class Real>
class keys<pair_of<Real>> {
 public:
  explicit keys(const dtype&) {}
  pair_of<Real> of(pair_of<Real> x) const { return x; }
  pair_of<Real> element(pair_of<Real> key) const { return key; }
};

/// An element and where it was.
template <class Key>
struct placed {
  Key key;
  std::uint32_t at;
  placed() = default;
  placed(Key k, std::uint32_t place) : key(k), at(place) {}
  std::uint32_t place() const { return at; }
  friend bool operator<(const placed& a, const placed& b) { return a.key < b.key; }
};

/// Both in one number, which is compared and moved without a branch.
template <class Key>
  requires(std::is_unsigned_v<Key> && sizeof(Key) <= 4)
struct placed<Key> {
  std::uint64_t both;
  placed() = default;
  placed(Key k, std::uint32_t place) : both(std::uint64_t{k} << 32 | place) {}
  std::uint32_t place() const { return static_cast<std::uint32_t>(both); }
  friend bool operator<(const placed& a, const placed& b) { return a.both < b.both; }
};

// --- selection

/// Moves the elements of which that is true to the front; where the others begin. Without a branch,
/// of which half would be foreseen wrong.
template <class T, class Is>
T* split(T* first, const T* last, Is is) {
  T* to = first;
  for (T* at = first; at != last; ++at) {
    const T x = *at;
    *at = *to;
    *to = x;
    to += is(x) ? 1 : 0;
  }
  return to;
}

/// Sorts a few elements without a branch that depends on them.
template <class T>
void sort_short(T* row, std::int64_t count) {
  for (std::int64_t i = 1; i < count; ++i) {
    T last = row[i];
    for (std::int64_t j = 0; j < i; ++j) {
      const T here = row[j];
      const bool swaps = last < here;
      row[j] = swaps ? last : here;
      last = swaps ? here : last;
    }
    row[i] = last;
  }
}

/// An element near that of place `kth`, from a sample: on that side of it of which more are left,
/// so that most elements are behind the place where the row is split.
template <class T>
T pivot(const T* first, std::int64_t count, std::int64_t kth, std::uint64_t& random) {
  constexpr std::int64_t most = 512, part = 16;
  T sample[most];
  const std::int64_t taken = std::clamp(count / part, std::int64_t{3}, most);
  for (std::int64_t k = 0; k < taken; ++k) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    sample[k] = first[(random >> 33) % static_cast<std::uint64_t>(count)];
  }
  const auto margin = static_cast<std::int64_t>(std::sqrt(static_cast<double>(taken)));
  const auto rank = static_cast<std::int64_t>(
      static_cast<double>(kth) / static_cast<double>(count) * static_cast<double>(taken));
  const std::int64_t at =
      std::clamp(2 * kth < count ? rank + margin : rank - margin, std::int64_t{0}, taken - 1);
  std::nth_element(sample, sample + at, sample + taken);
  return sample[at];
}

/// Brings the elements of `kth`, which ascend, to their places. Those of [begin, end) belong there.
template <class T>
void select(T* row, std::int64_t begin, std::int64_t end, std::span<const std::int64_t> kth) {
  constexpr std::int64_t short_part = 16;
  std::uint64_t random = 1;
  for (int rounds = 0; !kth.empty(); ++rounds) {
    if (end - begin <= short_part) return sort_short(row + begin, end - begin);
    if (rounds > 100) return std::sort(row + begin, row + end);
    const std::int64_t middle = kth[kth.size() / 2];
    const T by = pivot(row + begin, end - begin, middle - begin, random);
    std::int64_t cut = split(row + begin, row + end, [&](const T& x) { return x < by; }) - row;
    const bool is_least = cut == begin;  // then those that equal it are done
    if (is_least) {
      cut = split(row + begin, row + end, [&](const T& x) { return !(by < x); }) - row;
    }
    const auto behind = std::ranges::lower_bound(kth, cut) - kth.begin();
    const auto before = static_cast<std::size_t>(behind);
    if (before == kth.size() && !is_least) {
      end = cut;
      continue;
    }
    if (!is_least) select(row, begin, cut, kth.first(before));
    kth = kth.subspan(before);
    begin = cut;
  }
}

// --- memory

/// Elements of an array that the host writes: its own memory, or a copy of it.
class written_here {
 public:
  explicit written_here(const array& out) : out_(out) {
    if (!host_accessible(out.kind())) {
      copy_ = std::make_unique_for_overwrite<std::byte[]>(out.elements().nbytes());
    }
  }
  void* data() const { return copy_ ? copy_.get() : out_.data(); }
  any_view view() const { return detail::host_view_of(out_, data()); }
  void finish() const {
    if (copy_) copy_from_host(out_, view());
  }

 private:
  const array& out_;
  std::unique_ptr<std::byte[]> copy_;
};

struct request {
  std::span<const std::int64_t> in_order;  ///< which ascend
  const std::vector<std::int64_t>* given;  ///< for values that are picked
  bool places;
};

template <class T>
void select_all(const array& a, const array& out, const request& wanted) {
  const keys<T> order(a.elements().dtype());
  const std::int64_t length = a.extent(a.rank() - 1), rows = a.size() / length;
  const written_here to(out);
  std::unique_ptr<std::byte[]> own;
  void* from = to.data();
  if (wanted.places || wanted.given != nullptr) {
    own = std::make_unique_for_overwrite<std::byte[]>(a.elements().nbytes());
    from = own.get();
  }
  copy_to_host(detail::host_view_of(a, from), a);
  std::vector<placed<T>> line(wanted.places ? static_cast<std::size_t>(length) : 0);
  for (std::int64_t r = 0; r < rows; ++r) {
    T* const row = static_cast<T*>(from) + r * length;
    if (wanted.places) {
      for (std::int64_t k = 0; k < length; ++k) {
        line[static_cast<std::size_t>(k)] =
            placed<T>(order.of(row[k]), static_cast<std::uint32_t>(k));
      }
      select(line.data(), 0, length, wanted.in_order);
      auto* const at = static_cast<std::int64_t*>(to.data()) + r * length;
      for (std::int64_t k = 0; k < length; ++k) at[k] = line[static_cast<std::size_t>(k)].place();
      continue;
    }
    for (std::int64_t k = 0; k < length; ++k) row[k] = order.of(row[k]);
    select(row, 0, length, wanted.in_order);
    if (wanted.given == nullptr) {
      for (std::int64_t k = 0; k < length; ++k) row[k] = order.element(row[k]);
    } else {
      T* picked = static_cast<T*>(to.data()) + r * static_cast<std::int64_t>(wanted.given->size());
      for (const std::int64_t place : *wanted.given) *picked++ = order.element(row[place]);
    }
  }
  to.finish();
}

void select_on_host(const array& a, const array& out, const std::vector<std::int64_t>& kth,
                    bool picks, bool places) {
  std::vector<std::int64_t> in_order = kth;
  std::ranges::sort(in_order);
  const request wanted{in_order, picks ? &kth : nullptr, places};
  const dtype& type = a.elements().dtype();
  if (type.kind() == type_class::complex) {
    type.itemsize() == 8 ? select_all<pair_of<float>>(a, out, wanted)
                         : select_all<pair_of<double>>(a, out, wanted);
  } else if (type.itemsize() == 1) {
    select_all<std::uint8_t>(a, out, wanted);
  } else if (type.itemsize() == 2) {
    select_all<std::uint16_t>(a, out, wanted);
  } else if (type.itemsize() == 4) {
    select_all<std::uint32_t>(a, out, wanted);
  } else {
    select_all<std::uint64_t>(a, out, wanted);
  }
}

const elementwise_kernel& pick() {
  static const auto& kernel = *new elementwise_kernel(  // leaked, as those of sorts
      "int64 at, raw T sorted, int64 length, int64 count", "T z",
      "z = sorted[i / count * length + at]", "kth_values");
  return kernel;
}

void check_order(const array& a) {
  if (a.elements().dtype().kind() == type_class::record) {
    throw interop_error(fault::dtype_mismatch, "select: records have no order; expected numbers");
  }
}

/// Rows of the last axis.
array partition_rows(const array& a, const std::vector<std::int64_t>& kth, selected what) {
  const bool places = what == selected::places;
  if (a.size() != 0) {  // nothing has a place, and no place is refused
    const std::vector<std::int64_t> all = checked(kth, a.extent(a.rank() - 1));
    if (selects(a, all, few + 1)) {
      array out = array::empty(a.queue(), a.shape(),
                               places ? dtype::of<std::int64_t>() : a.elements().dtype(),
                               detail::kind_of_results(a));
      select_on_host(a, out, all, false, places);
      return out;
    }
  }
  detail::sorted_elements_of rows = detail::sort_rows(a, !places, places);
  return *std::move(places ? rows.places : rows.values);
}

array kth_of_rows(const array& a, const std::vector<std::int64_t>& kth) {
  const std::int64_t length = a.extent(a.rank() - 1);
  std::vector<std::int64_t> all = checked(kth, length);
  extents shape(a.shape());
  shape[static_cast<std::size_t>(a.rank() - 1)] = static_cast<std::int64_t>(all.size());
  array out =
      array::empty(a.queue(), shape.span(), a.elements().dtype(), detail::kind_of_results(a));
  if (out.size() == 0) return out;
  if (selects(a, all, 1)) {
    select_on_host(a, out, all, true, false);
    return out;
  }
  if (detail::select_by_digits(a, all, out)) return out;
  const array rows = *detail::sort_rows(a, true, false).values;
  const auto count = static_cast<std::int64_t>(all.size());
  array at =
      array::empty(a.queue(), std::span(&count, 1), dtype::of<std::int64_t>(), usm_kind::device);
  copy_from_host(at, detail::host_view_of(at, all.data()));
  expression_output outputs[1];
  outputs[0].given = &out;
  const operand inputs[] = {at, rows, length, count};
  pick().submit(a.queue(), inputs, outputs);
  return out;
}

}  // namespace

namespace detail {

array select_along(const array& a, const std::vector<std::int64_t>& kth, int axis, selected what,
                   bool keeps_order) {
  check_order(a);
  array made;
  unlocked([&] {
    const in_memory_order order(a, keeps_order);
    const int at = order.place_of(axis);
    const array rows = with_axis_last(a.with_view(order.view()), at);
    made = turned_back(
        what == selected::kth ? kth_of_rows(rows, kth) : partition_rows(rows, kth, what), at);
    if (keeps_order) made = order.turned_back(made);
  });
  return made;
}

}  // namespace detail

array partition(const array& a, const std::vector<std::int64_t>& kth, int axis) {
  return detail::select_along(a, kth, detail::axis_of(a, axis), selected::values);
}

array argpartition(const array& a, const std::vector<std::int64_t>& kth, int axis) {
  return detail::select_along(a, kth, detail::axis_of(a, axis), selected::places);
}

array kth_values(const array& a, const std::vector<std::int64_t>& kth, int axis) {
  return detail::select_along(a, kth, detail::axis_of(a, axis), selected::kth);
}

}  // namespace usmx
