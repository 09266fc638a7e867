// Functions of a few elements that the host can reach: it computes them at once, with the values
// that kernels give, because a launch takes longer than they do.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "usmx/array.hpp"
#include "usmx/operations.hpp"

namespace usmx::detail {

/// Whether the host may read the elements now: it can reach them, they are aligned, and no command
/// works on them. May let go of the language's lock, to ask a queue that others submit to.
bool is_idle_on_host(const array& a) noexcept;
/// The same without asking queues: false where that would be needed.
bool is_idle_at_once(const array& a) noexcept;
/// The same for 1 to `most_on_host` numbers, whose kernels would run on this processor too. All
/// functions below take such arrays. They make new arrays of the same kind of memory, and give
/// nothing where the values have to come from a kernel. Axes are inside.
bool is_small(const array& a) noexcept;
/// The same for an array in C order of any size, of which the host copies whole rows: one thread
/// has copied `most_bytes_of_rows` before a kernel on all has started.
bool has_rows_on_host(const array& a) noexcept;
inline constexpr std::int64_t most_bytes_of_rows = std::int64_t{2} << 20;
/// Shorter rows are left to kernels.
inline constexpr std::int64_t least_bytes_of_row = 1024;

/// An operand: an array, or a number.
struct small_operand {
  const array* elements = nullptr;
  const operand* number = nullptr;
};
/// What an operation gives of operands that broadcast to `shape`, in memory of `kind`; they need
/// not be few, and nothing is what comes of those that are not.
std::optional<array> operate_small(const sycl::queue& queue, const operation& op,
                                   const operation_types& types,
                                   std::span<const small_operand> operands, const extents& shape,
                                   usm_kind kind);
/// The same of a reduction along axes that are listed, counted from the front.
std::optional<array> reduce_small(const sycl::queue& queue, const array& a,
                                  const value_reduction& how, const reduction_axes& axes,
                                  usm_kind kind);
/// The variance of all elements: the sum of squared distances from the mean, divided by their
/// number less `correction`.
std::optional<array> variance_small(const array& a, double correction);

/// The elements in order along an axis; the sort is stable, and NaN comes last.
std::optional<array> sort_small(const array& a, int axis, bool descending);
/// Where each of them was, as int64.
std::optional<array> argsort_small(const array& a, int axis, bool descending);

/// How many elements of a sorted line come before each value, or do not come after it, as int64;
/// nothing for values of another type.
std::optional<array> search_small(const array& sorted, const array& values, bool right);

struct small_unique {
  array values;
  std::optional<array> first;    ///< where each value is first
  std::optional<array> inverse;  ///< which value each element has, in one dimension
  std::optional<array> counts;   ///< how often each is there
};
/// The different elements in order; of the rest what is asked for.
std::optional<small_unique> unique_small(const array& a, bool equal_nan, bool first, bool inverse,
                                         bool counts);

/// Sums or products of the elements up to each along an axis, in the order of kernels, as 64-bit
/// integers or floats of their own type.
std::optional<array> scan_small(const array& a, int axis, bool product);

/// The number, in C order, of the first of the largest or smallest elements, or of the first NaN.
std::optional<array> place_small(const array& a, bool largest);

/// How many elements are not 0.
std::optional<array> count_small(const array& a);
/// Their indices along each axis.
std::optional<std::vector<array>> nonzero_small(const array& a);
/// The elements at indices along an axis, also of an array that only `has_rows_on_host`; nothing if
/// one is outside of it. The host reads indices and masks now.
std::optional<array> take_small(const array& a, const any_view& indices, int axis);
/// The elements where a mask of the same shape is true, or at indices along the first axis.
std::optional<array> at_small(const array& a, const any_view& key);
/// Writes there one element, or as many as there are, of the same type. False if nothing was
/// written, and the values have to be brought there in another way. Waits for what reads `a`.
bool put_small(const array& a, const any_view& key, const any_view& value);

/// A copy in C order.
array copy_small(const array& a);
/// The same in another type; nothing for casts that are left to kernels.
std::optional<array> cast_small(const array& a, const dtype& type);
/// Arrays of one type behind each other along an axis; nothing if they do not fit together.
std::optional<array> concat_small(std::span<const array> arrays, int axis);
/// The same along a new axis.
std::optional<array> stack_small(std::span<const array> arrays, int axis);
/// Each element several times along an axis; nothing if that makes many.
std::optional<array> repeat_small(const array& a, std::int64_t times, int axis);

}  // namespace usmx::detail
