// Arithmetic on arrays: the operations of the table by name, with NumPy's types, computed when
// their result is needed, many of them in one kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "usmx/array.hpp"
#include "usmx/expression.hpp"
#include "usmx/reduction.hpp"

namespace usmx {

/// A row of the table of operations: what is computed of one, two or three elements.
struct operation;

/// The operation of a name, "add" or "arctan2"; null if there is none.
const operation* find_operation(std::string_view name) noexcept;

/// The types of a call: what the operands are cast to, and what comes out.
struct operation_types {
  dtype operands[3];
  dtype result;
};
/// As NumPy chooses them; numbers of Python are weak. Empty if NumPy has no such operation on these
/// types. `operands` has as many as the operation takes.
std::optional<operation_types> resolve(const operation& op,
                                       std::span<const operand_type> operands) noexcept;

class deferred;
/// A value that is computed when it is needed. Shared by all that use it, thread-safe.
using shared_deferred = std::shared_ptr<deferred>;

/// What an operation is applied to: an array, a number, or a value that may not be computed yet.
using deferred_operand = std::variant<operand, shared_deferred>;

/// `apply(queue, *find_operation("add"), {x, 2.0})->get()` is `x + 2.0`.
///
/// Operations on values that were not computed become parts of one kernel, which is compiled once
/// for each form of expression. A value is computed at `get`, and before anything that changes,
/// exports or frees the memory of its operands.
class deferred {
 public:
  virtual ~deferred() = default;

  virtual const extents& shape() const noexcept = 0;
  virtual const usmx::dtype& dtype() const noexcept = 0;
  virtual usm_kind kind() const noexcept = 0;
  virtual const sycl::queue& queue() const noexcept = 0;
  /// Whether `get` returns at once.
  virtual bool is_computed() const noexcept = 0;
  /// Submits what computes it, once. Throws build_error, allocation_error, the same each time.
  virtual const array& get() = 0;
  /// Whether its elements are those of a view, or of the value that it is a view of: then a change
  /// of one changes the other.
  virtual bool is_shared() = 0;
  /// Whether something besides other values holds it: then it is kept when one of those is
  /// computed on the way.
  virtual void seen(bool is_seen) noexcept = 0;
};

/// Applies an operation to operands, which broadcast. Throws interop_error (dtype_mismatch) if it
/// does not take their types, std::invalid_argument for shapes that do not broadcast and operands
/// of other contexts, std::overflow_error for a number that does not fit, build_error for a type
/// that the device does not have.
shared_deferred apply(const sycl::queue& queue, const operation& op,
                      std::span<const deferred_operand> operands);
/// The same for a value that `store` or `settle` gets next: nothing is computed and nothing knows
/// of it, so that the elements of an operand may be its place.
shared_deferred compose(const sycl::queue& queue, const operation& op,
                        std::span<const deferred_operand> operands);
/// The value stays what it is now: computes it if others may write to its operands without our
/// knowing, and tells the operands' memory of it otherwise.
void settle(const shared_deferred& value);
/// Computes a value into elements that are there, of its shape, with a cast of the same kind.
/// Throws std::invalid_argument (shape, memory), interop_error (dtype_mismatch, read_only).
/// `passing` are values in it, or itself, that no caller is going to read: they are not kept. One
/// that is read after all is computed again.
void store(const shared_deferred& value, const array& out,
           std::span<const shared_deferred> passing = {});
/// A reduction of values that may not be computed yet: these are computed on the way.
struct value_reduction {
  /// Elements are cast to this type.
  dtype value;
  dtype result;
  /// As in reduction_text: `map` of `x`, `reduce` of `a` and `b`, `post_map` an expression of `a`
  /// and `n`.
  std::string map = "x";
  std::string reduce;
  std::string post_map = "a";
  std::optional<std::string> identity = {};
  std::string reduce_type = {};
};
/// Computed when it is needed, in one kernel with others along the same axes of the same data.
/// Throws as reduction_kernel does.
shared_deferred reduce(const sycl::queue& queue, const deferred_operand& what,
                       const value_reduction& how, const reduction_axes& axes = {});
/// Computes it into elements that are there. Throws as the form above.
void reduce(const sycl::queue& queue, const deferred_operand& what, const value_reduction& how,
            const reduction_axes& axes, const array& out);

/// The reductions that have a name in NumPy, with the types that NumPy gives their results: sums of
/// integers have 64 bits, a mean of integers is a double.
enum class named_reduction : std::uint8_t { sum, product, mean, smallest, largest, any, all };
/// Throws interop_error (dtype_mismatch) for records, and as `reduce` does.
shared_deferred reduce(const sycl::queue& queue, const deferred_operand& what,
                       named_reduction which, const reduction_axes& axes = {});

/// One step from the elements of a value to a part of them, or to another order of their axes.
struct view_step {
  enum class kind : char {
    slice,   // of `axis`: `count` elements from `first` by `step`
    take,    // element `first` of `axis`, which goes away
    insert,  // a new axis of length one before `axis`
    swap,    // `axis` and `other`
  };
  kind what = kind::slice;
  int axis = 0, other = 0;
  std::int64_t first = 0, count = 0, step = 1;
};
/// The part that all steps lead to, one after the other. Throws as the functions of `layout` do.
any_view stepped(any_view elements, std::span<const view_step> steps);
/// A view of a value that may not be computed yet; its elements are those of the value. As long as
/// only this view is left of a value, only the elements in it are computed.
shared_deferred view_of(const shared_deferred& value, std::vector<view_step> steps);

/// A kernel that computing a value would run.
struct planned_kernel {
  /// What it computes, one operation in a line.
  std::string text;
  extents shape;
  int operations = 0;
  /// Of memory that is read and written, and of values in between that need no memory: written once
  /// and read once if each operation were a kernel.
  std::size_t bytes_read = 0, bytes_written = 0, bytes_saved = 0;
};
/// The kernels, in order; none for a value that was computed. Nothing is computed.
std::vector<planned_kernel> explain(const shared_deferred& value);

/// Whether operations are computed where they are written, in this thread; false at first, or true
/// if the environment has USMX_EAGER=1.
bool is_eager() noexcept;
void set_eager(bool eager) noexcept;

/// The same elements in another type.
shared_deferred cast(const sycl::queue& queue, const deferred_operand& value, const dtype& type);

/// `start + k * step` for k from 0 to `count` - 1, in the type of `start`, int64 or float64. What
/// is made of all of them element by element needs no memory for them. Throws std::invalid_argument
/// for other types, and a negative count.
shared_deferred count_up(const sycl::queue& queue, const operand& start, const operand& step,
                         std::int64_t count, usm_kind kind);

}  // namespace usmx
