// A value that is computed when it is needed: what it is made of, and who has to know when its
// elements are about to change.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "compute/operations.hpp"
#include "usmx/memory.hpp"
#include "usmx/operations.hpp"

namespace usmx::detail {

/// A cast is an operation that does nothing with an operand in its type.
inline constexpr operation cast_row = {"astype", 1,     result_rule::same,    "",
                                       "",       false, {{{"biufc", "{0}"}}}, ""};
/// What views have in the place of an operation; they have steps.
inline constexpr operation view_row = cast_row;
/// What reductions have there; they have `reduces`.
inline constexpr operation reduction_row = cast_row;
/// What numbers that count up have there, of the first one and the step: `i` numbers the elements.
inline constexpr operation count_row = {
    "arange",
    2,
    result_rule::same,
    "",
    "",
    false,
    {{{"i", "{T}(uint64_t({0}) + uint64_t(i) * uint64_t({1}))"}, {"f", "{0} + {T}(i) * {1}"}}},
    ""};

class value;
using shared_value = std::shared_ptr<value>;
/// An array, a number, or a value.
using source = std::variant<array, operand, shared_value>;

/// One kernel has at most so many operations and operands: its text stays short, and no device has
/// fewer arguments.
inline constexpr int most_operations = 64;
inline constexpr int most_operands = 24;

/// What a kernel has that computes a value of some sources.
struct kernel_size {
  int operations = 1, operands = 0;

  /// At most: what sources have in common may be counted several times, as long as it fits.
  static kernel_size of(std::span<const source> sources);
  bool fits() const noexcept { return operations <= most_operations && operands <= most_operands; }
};

/// The values that a walk has come to. Each is visited once: what is used twice at each of many
/// levels would be visited twice as often at each.
class visited_values {
 public:
  visited_values() { values_.reserve(most_operations); }
  /// False if the walk was there before.
  bool is_new(const value& v) {
    if (std::ranges::find(values_, &v) != values_.end()) return false;
    values_.push_back(&v);
    return true;
  }

 private:
  std::vector<const value*> values_;
};

/// Of an array or a value.
const extents& shape_of(const source& s) noexcept;

/// Held while values are looked into or computed: one that several threads need is computed once.
/// Values are computed inside of others.
///
/// What is dropped meanwhile is kept until the lock is free: its owner may need another lock, as
/// Python's, that a thread holds which waits for this one.
class computing {
 public:
  computing() {
    if (!mutex().try_lock()) wait_for_lock(mutex());
    ++depth;
  }
  computing(const computing&) = delete;
  computing& operator=(const computing&) = delete;
  ~computing() {
    std::vector<std::vector<source>> ended;
    if (--depth == 0) ended.swap(dropped);
    mutex().unlock();
  }
  /// Ends them later.
  static void drop(std::vector<source>&& sources) noexcept {
    try {
      dropped.push_back(std::move(sources));
    } catch (...) {
      sources.clear();
    }
  }

 private:
  static std::recursive_mutex& mutex() {
    static auto& one = *new std::recursive_mutex;
    return one;
  }
  // Of the thread that has the lock.
  static inline thread_local int depth = 0;
  static inline thread_local std::vector<std::vector<source>> dropped;
};

class value final : public deferred,
                    public deferred_use,
                    public std::enable_shared_from_this<value> {
 public:
  value(const sycl::queue& queue, const operation& op, const operation_types& types,
        std::vector<source>&& sources, extents&& shape, usm_kind kind,
        const std::optional<kernel_size>& size = {})
      : op_(op),
        types_(types),
        shape_(std::move(shape)),
        kind_(kind),
        queue_(queue),
        size_(size ? *size : kernel_size::of(sources)),
        has_reductions_(std::ranges::any_of(sources, is_of_reductions)),
        sources_(std::move(sources)) {}

  /// One that was computed.
  value(array&& result, const operation_types& types, extents&& shape)
      : op_(cast_row),
        types_(types),
        shape_(std::move(shape)),
        kind_(result.kind()),
        queue_(result.queue()),
        computed_(true),
        result_(std::move(result)) {}

  const extents& shape() const noexcept override { return shape_; }
  const usmx::dtype& dtype() const noexcept override { return types_.result; }
  usm_kind kind() const noexcept override { return kind_; }
  const sycl::queue& queue() const noexcept override { return queue_; }
  bool is_computed() const noexcept override { return computed_.load(std::memory_order_acquire); }
  const array& get() override {
    compute_now();
    if (failure_) std::rethrow_exception(failure_);
    return result_;
  }
  void seen(bool is_seen) noexcept override {
    seen_.fetch_add(is_seen ? 1 : -1, std::memory_order_relaxed);
  }
  void compute() noexcept override;

  /// Whether it was part of a reduction before.
  bool is_reduced() noexcept { return std::exchange(reduced_, true); }
  const shared_value& base() const { return std::get<shared_value>(sources_[0]); }
  /// Whether nothing but one view is left of a value that was not computed: then the elements that
  /// are not in it are not needed. Other views would share memory with it.
  bool is_only_base() const;
  /// The elements of a view, if they can be computed without the rest; what has to be computed
  /// before, in `first`; neither, if its base has to.
  shared_value alone(shared_value& first) const;
  bool is_view() const noexcept { return &op_ == &view_row; }
  /// Whether its elements are made of their numbers, which parts of it do not keep.
  bool is_counted() const noexcept { return &op_ == &count_row; }
  bool is_shared() override;
  static shared_deferred view_of(shared_value base, std::vector<view_step>&& steps,
                                 extents&& shape);
  const kernel_size& size() const noexcept { return size_; }

  /// Whether it is made of reductions that were not computed when it was written.
  bool has_reductions() const noexcept { return has_reductions_; }

  /// A reduction along axes that are listed, counted from the front.
  static shared_value reduction_of(const sycl::queue& queue, source of, const value_reduction& how,
                                   const reduction_axes& axes, usm_kind kind);
  bool is_reduction() const noexcept { return &op_ == &reduction_row; }
  const value_reduction& how() const noexcept { return reduces_->how; }
  const reduction_axes& axes() const noexcept { return reduces_->axes; }
  /// What it joins: the elements in the type that it reduces, and their shape.
  shared_value reduced_elements() const;
  const extents& reduced_shape() const;
  const std::vector<source>& sources() const noexcept { return sources_; }
  /// Tells the memory of all arrays and the values that it is made of. True if others may write to
  /// some of it, which another thread may have let them do meanwhile.
  bool announce();

 private:
  friend class fused_kernel;
  friend class fused_rows;
  friend class waiting_reductions;

  const operation& op_;
  operation_types types_;
  extents shape_;
  usm_kind kind_;
  sycl::queue queue_;
  kernel_size size_;
  bool has_reductions_ = false;
  std::atomic<int> seen_{0};
  std::atomic<bool> computed_{false};
  // What follows is guarded by `computing` until the value is computed.
  std::vector<source> sources_;
  std::vector<std::weak_ptr<value>> made_of_this_;
  std::vector<view_step> steps_;  // of a view, from its only source
  struct reduction {
    value_reduction how;
    reduction_axes axes;
  };
  std::unique_ptr<const reduction> reduces_;  // of a reduction, what it does with its only source
  bool reduced_ = false;
  array result_;
  std::exception_ptr failure_;

  static bool is_of_reductions(const source& s) noexcept {
    const auto* v = std::get_if<shared_value>(&s);
    return v && !(*v)->is_computed() && ((*v)->is_reduction() || (*v)->has_reductions_);
  }
  void compute_now() noexcept;
  void compute(std::vector<shared_value>& known) noexcept;
  /// The elements are there.
  void finish(array&& result) noexcept;
  /// After that: what is made of the elements has to be computed before they change.
  void announce_users();
  void compute_view();
  void compute_reduction();
  static void compute_together(std::vector<shared_value> reductions);
  struct parts {
    std::unordered_map<const value*, shared_value> of;
    std::vector<shared_value> kept;  // a key's address is not used again meanwhile
  };
  shared_value seen_through(std::span<const view_step> steps, const extents& shape,
                            shared_value& first, parts& known) const;
};

inline const extents& shape_of(const source& s) noexcept {
  if (const auto* v = std::get_if<shared_value>(&s)) return (*v)->shape();
  return std::get<array>(s).elements().layout().shape();
}

}  // namespace usmx::detail
