// Values that are computed when they are needed. A value keeps what it is made of; computing it
// writes all that was not computed before into the text of one elementwise kernel, which is found
// again by the form of the expression.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compute/on_host.hpp"
#include "compute/operations.hpp"
#include "core/aliasing.hpp"
#include "core/format.hpp"
#include "kernel/kernel_state.hpp"
#include "runtime/backend.hpp"
#include "usmx/copy.hpp"
#include "usmx/detail/driver_gate.hpp"
#include "usmx/elementwise.hpp"
#include "usmx/loops.hpp"
#include "usmx/memory.hpp"
#include "usmx/operations.hpp"
#include "usmx/placement.hpp"
#include "usmx/reduction.hpp"

namespace usmx {
namespace {

using detail::format;

/// One kernel has at most so many operations and operands: its text stays short, and no device has
/// fewer arguments.
constexpr int most_operations = 64;
constexpr int most_operands = 24;

/// What the texts of the table are written for.
constexpr const char* fusion_prologue =
    "#include \"usmx/fusion.hpp\"\nusing namespace usmx::fusion;\n";

/// A cast is an operation that does nothing with an operand in its type.
constexpr operation cast_row = {"astype", 1,     result_rule::same,    "",
                                "",       false, {{{"biufc", "{0}"}}}, ""};
/// What views have in the place of an operation; they have steps.
constexpr operation view_row = cast_row;

class value;
using shared_value = std::shared_ptr<value>;
/// An array, a number, or a value.
using source = std::variant<array, operand, shared_value>;

/// Held while values are looked into or computed: one that several threads need is computed once.
/// Values are computed inside of others.
///
/// What is dropped meanwhile is kept until the lock is free: its owner may need another lock, as
/// Python's, that a thread holds which waits for this one.
class computing {
 public:
  computing() {
    if (!mutex().try_lock()) detail::wait_for_lock(mutex());
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
        std::vector<source>&& sources, extents&& shape, usm_kind kind)
      : op_(op),
        types_(types),
        shape_(std::move(shape)),
        kind_(kind),
        queue_(queue),
        sources_(std::move(sources)) {
    for (const source& s : sources_) {
      if (const auto* inner = std::get_if<shared_value>(&s); inner && !(*inner)->is_computed()) {
        operations_ += (*inner)->operations_;
        operands_ += (*inner)->operands_;
      } else {
        ++operands_;
      }
    }
  }

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
  bool is_shared() override;
  static shared_deferred view_of(shared_value base, std::vector<view_step>&& steps,
                                 extents&& shape);
  int operations() const noexcept { return operations_; }
  int operands() const noexcept { return operands_; }
  /// Tells the memory of all arrays and the values that it is made of.
  void announce();

 private:
  friend class expression_text;

  const operation& op_;
  operation_types types_;
  extents shape_;
  usm_kind kind_;
  sycl::queue queue_;
  /// At most, counting what values have in common several times.
  int operations_ = 1, operands_ = 0;
  std::atomic<int> seen_{0};
  std::atomic<bool> computed_{false};
  // What follows is guarded by `computing` until the value is computed.
  std::vector<source> sources_;
  std::vector<std::weak_ptr<value>> made_of_this_;
  std::vector<view_step> steps_;  // of a view, from its only source
  bool reduced_ = false;
  array result_;
  std::exception_ptr failure_;

  void compute_now() noexcept;
  /// The elements are there.
  void finish(array&& result) noexcept;
  /// After that: what is made of the elements has to be computed before they change.
  void announce_users();
  void compute_view();
  struct parts {
    std::unordered_map<const value*, shared_value> of;
    std::vector<shared_value> kept;  // a key's address is not used again meanwhile
  };
  shared_value seen_through(std::span<const view_step> steps, const extents& shape,
                            shared_value& first, parts& known) const;
};

/// The kernel of a value: its text, what it is called with, and which values it computes.
class expression_text {
 public:
  /// After `compute_repeated`: nothing that the text is made of is computed while it is written.
  explicit expression_text(value& root) : root_(root) { name_of(root); }
  expression_text(const expression_text&) = delete;
  expression_text& operator=(const expression_text&) = delete;
  ~expression_text() {
    std::vector<source> arrays;
    for (array& a : arrays_) arrays.emplace_back(std::move(a));
    for (auto& [v, part] : in_place_) arrays.emplace_back(std::move(part));
    computing::drop(std::move(arrays));
  }
  /// Computes nothing: what is needed first is added to `plan`, and then this.
  expression_text(value& root, std::vector<planned_kernel>& plan) : root_(root), plan_(&plan) {
    name_of(root);
    describe();
  }

  /// Computes the root, and the other values that are seen; with `out` only the root, into that.
  void run(const array* out = nullptr);
  /// Computes what the root repeats for each element that it is broadcast to. Commands on the same
  /// memory may compute other values of the expression on the way, and the root itself.
  static void compute_repeated(value& root);
  /// Computes the root on the way of a reduction.
  array reduce(const value_reduction& how, const reduction_axes& axes, const array* out);

 private:
  std::vector<operand> operands() const;
  /// A value that is not computed and has to be before: one of another shape than the root's, a
  /// view that shares memory.
  static shared_value repeated_in(const value& v, const extents& shape);
  std::string planned_name(value& v);

  /// The variable of a value; its lines are written first.
  std::string name_of(value& v);
  std::string name_of_view(value& v);
  std::string name_of(const array& a);
  std::string name_of(const operand& number, const dtype& as);
  std::string source_text(const source& s, const dtype& as);
  void add_input(const dtype& type, const std::string& name);
  void describe();

  value& root_;
  std::vector<planned_kernel>* plan_ = nullptr;
  std::size_t planned_bytes_ = 0;  // of operands that are not computed yet
  std::string lines_, inputs_, outputs_, ends_;
  std::string declared_, passed_;  // the same inputs for a function in C++
  std::vector<array> arrays_;
  std::vector<std::pair<int, operand>> operands_;  // the number of an array, or -1 and a number
  std::unordered_map<value*, std::string> names_;
  std::vector<value*> computed_;
  std::unordered_map<value*, std::string> planned_;
  std::unordered_map<value*, shared_value> in_place_;  // of views whose base is not computed
};

std::size_t count_of(const extents& shape) noexcept {
  std::size_t count = 1;
  for (const std::int64_t length : shape) count *= static_cast<std::size_t>(length);
  return count;
}
std::size_t bytes_of(const value& v) noexcept { return count_of(v.shape()) * v.dtype().itemsize(); }

void expression_text::describe() {
  planned_kernel made;
  made.text = lines_;
  made.shape = root_.shape_;
  made.operations = static_cast<int>(names_.size());
  made.bytes_read = planned_bytes_;
  for (const array& a : arrays_) {
    // Elements that are repeated are read once.
    const any_view& v = a.elements();
    made.bytes_read +=
        std::min(v.nbytes(), static_cast<std::size_t>(v.last_byte() - v.first_byte()));
  }
  for (const auto& [v, name] : names_) {
    if (std::ranges::find(computed_, v) != computed_.end()) {
      made.bytes_written += bytes_of(*v);
    } else {
      made.bytes_saved += 2 * bytes_of(*v);
    }
  }
  plan_->push_back(std::move(made));
}

std::string replaced(std::string_view text, std::span<const std::string> operands,
                     std::string_view type) {
  std::string out;
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (text[k] != '{') {
      out += text[k];
      continue;
    }
    const char which = text[k + 1];
    out += which == 'T' ? type : std::string_view(operands[static_cast<std::size_t>(which - '0')]);
    k += 2;
  }
  return out;
}

std::string expression_text::name_of(value& v) {
  if (const auto known = names_.find(&v); known != names_.end()) return known->second;
  std::vector<std::string> operands;
  for (std::size_t k = 0; k < v.sources_.size(); ++k) {
    operands.push_back(source_text(v.sources_[k], v.types_.operands[k]));
  }
  const dtype& computed = v.types_.operands[v.op_.chooses ? 1 : 0];
  const bool is_mixed = v.sources_.size() == 2 && v.types_.operands[0] != v.types_.operands[1];
  const std::string_view text = is_mixed ? v.op_.mixed : v.op_.text_of(computed);
  std::string name = format("v{}", names_.size());
  const std::string_view type = device_name(v.types_.result);
  lines_ += format("const {0} {1} = {0}({2});\n", type, name,
                   replaced(text, operands, device_name(computed)));
  names_.emplace(&v, name);
  if (&v == &root_ || v.seen_.load(std::memory_order_relaxed) > 0) {
    outputs_ +=
        format("{}{} o{}", outputs_.empty() ? "" : ", ", v.types_.result.name(), computed_.size());
    ends_ += format("o{} = {};\n", computed_.size(), name);
    computed_.push_back(&v);
  }
  return name;
}

void expression_text::add_input(const dtype& type, const std::string& name) {
  const char* const comma = inputs_.empty() ? "" : ", ";
  inputs_ += format("{}{} {}", comma, type.name(), name);
  declared_ += format("{}{} {}", comma, device_name(type), name);
  passed_ += comma + name;
}

std::string expression_text::name_of(const array& a) {
  for (std::size_t k = 0; k < operands_.size(); ++k) {
    if (operands_[k].first < 0) continue;
    if (detail::is_same(arrays_[static_cast<std::size_t>(operands_[k].first)].elements(),
                        a.elements())) {
      return format("x{}", k);
    }
  }
  std::string name = format("x{}", operands_.size());
  add_input(a.elements().dtype(), name);
  operands_.emplace_back(static_cast<int>(arrays_.size()), operand(false));
  arrays_.push_back(a);
  return name;
}

std::string expression_text::name_of(const operand& number, const dtype& as) {
  std::string name = format("x{}", operands_.size());
  add_input(as, name);
  const auto bytes = number.number_as(as);
  operands_.emplace_back(-1, operand(as, bytes.data()));
  return name;
}

std::string expression_text::planned_name(value& v) {
  shared_value part, first;
  const bool is_part = v.is_view() && !(part = v.alone(first));
  value* const of = is_part ? v.base().get() : part ? part.get() : &v;
  const auto [known, is_new] = planned_.try_emplace(part ? &v : of);
  if (is_new) {
    expression_text(*of, *plan_);
    known->second = format("k{}", plan_->size() - 1);
    planned_bytes_ += bytes_of(*of);
  }
  return is_part ? known->second + "[...]" : known->second;
}

std::string expression_text::name_of_view(value& v) {
  if (const auto known = in_place_.find(&v); known != in_place_.end()) {
    return name_of(*known->second);
  }
  shared_value first;
  shared_value part = v.alone(first);
  if (!part) {
    if (plan_ == nullptr) return name_of(v.get());
    return v.base()->is_computed() ? name_of(v.base()->get()) : planned_name(v);
  }
  return name_of(*in_place_.emplace(&v, std::move(part)).first->second);
}

std::string expression_text::source_text(const source& s, const dtype& as) {
  if (const auto* number = std::get_if<operand>(&s)) return name_of(*number, as);
  std::string name;
  dtype own;
  const auto from_array = [&](const array& a) {
    name = name_of(a);
    own = a.elements().dtype();
  };
  if (const auto* a = std::get_if<array>(&s)) {
    from_array(*a);
  } else {
    value& inner = *std::get<shared_value>(s);
    // Repeated for each element that it is broadcast to, it would be computed many times.
    if (inner.is_computed() || (plan_ == nullptr && !(inner.shape_ == root_.shape_))) {
      from_array(inner.get());
    } else if (!(inner.shape_ == root_.shape_)) {
      name = planned_name(inner);
      own = inner.types_.result;
    } else if (inner.is_view()) {
      name = name_of_view(inner);
      own = inner.types_.result;
    } else {
      name = name_of(inner);
      own = inner.types_.result;
    }
  }
  return own == as ? name : format("expression::convert<{}>({})", device_name(as), name);
}

/// Kernels by their parameters and lines. Programs have few forms of expressions; one that makes
/// them without end begins anew.
elementwise_kernel kernel_of(const std::string& inputs, const std::string& outputs,
                             const std::string& lines) {
  constexpr std::size_t most = 4096;
  static auto& known = *new std::unordered_map<std::string, elementwise_kernel>;
  std::string key = inputs + ';' + outputs + ';' + lines;
  if (const auto found = known.find(key); found != known.end()) return found->second;
  if (known.size() >= most) known.clear();
  elementwise_text text;
  text.preamble = fusion_prologue;
  return known
      .emplace(std::move(key), elementwise_kernel(inputs, outputs, lines, "usmx", std::move(text)))
      .first->second;
}

std::vector<operand> expression_text::operands() const {
  std::vector<operand> in;
  for (const auto& [number, what] : operands_) {
    in.push_back(number < 0 ? what : operand(arrays_[static_cast<std::size_t>(number)]));
  }
  return in;
}

reduction_kernel kernel_of(const std::string& inputs, const std::string& declared,
                           const std::string& passed, const std::string& lines,
                           const std::string& value, const value_reduction& how) {
  constexpr std::size_t most = 4096;
  static auto& known = *new std::unordered_map<std::string, reduction_kernel>;
  std::string key = inputs + ';' + lines + ';' + how.value.name() + ';' + how.result.name() + ';' +
                    how.map + ';' + how.reduce + ';' + how.post_map + ';' +
                    how.identity.value_or("-") + ';' + how.reduce_type;
  if (const auto found = known.find(key); found != known.end()) return found->second;
  if (known.size() >= most) known.clear();
  const std::string_view type = device_name(how.value);
  reduction_text text;
  text.preamble = format("{}inline {} computed({}) {{\n{}return {};\n}}\n", fusion_prologue, type,
                         declared, lines, value);
  if (how.map == "x") {
    text.map = format("computed({})", passed);
  } else {
    text.preamble += format("inline auto mapped({} x) {{ return {}; }}\n", type, how.map);
    text.map = format("mapped(computed({}))", passed);
  }
  text.reduce = how.reduce;
  text.post_map = format("o0 = {}({});", device_name(how.result), how.post_map);
  text.identity = how.identity;
  text.reduce_type = how.reduce_type.empty() ? std::string(type) : how.reduce_type;
  return known
      .emplace(std::move(key),
               reduction_kernel(inputs, how.result.name() + " o0", std::move(text), "usmx"))
      .first->second;
}

array expression_text::reduce(const value_reduction& how, const reduction_axes& axes,
                              const array* given) {
  const reduction_kernel kernel =
      kernel_of(inputs_, declared_, passed_, lines_, names_.at(&root_), how);
  const std::vector<operand> in = operands();
  expression_output out;
  out.given = given;
  const detail::only_reading inputs;
  kernel.submit(root_.queue_, in, std::span(&out, 1), axes);
  return given != nullptr ? *given : std::move(out.made);
}

void expression_text::run(const array* given) {
  const elementwise_kernel kernel = kernel_of(inputs_, outputs_, lines_ + ends_);
  const std::vector<operand> in = operands();
  std::vector<expression_output> out(computed_.size());
  if (given != nullptr) out.back().given = given;  // the root is written last
  {
    const detail::only_reading inputs;
    kernel.submit(root_.queue_, in, out);
  }
  if (given != nullptr) computed_.pop_back();
  for (std::size_t k = 0; k < computed_.size(); ++k) computed_[k]->finish(std::move(out[k].made));
  for (value* v : computed_) v->announce_users();
  // Last: what they are made of may end with them.
  for (value* v : computed_) computing::drop(std::exchange(v->sources_, {}));
}

shared_value expression_text::repeated_in(const value& v, const extents& shape) {
  for (const source& s : v.sources_) {
    const auto* inner = std::get_if<shared_value>(&s);
    if (inner == nullptr || (*inner)->is_computed()) continue;
    if (!((*inner)->shape_ == shape)) return *inner;
    if ((*inner)->is_view()) {
      shared_value first;
      if (!(*inner)->alone(first)) return first ? first : *inner;
      continue;
    }
    if (shared_value found = repeated_in(**inner, shape)) return found;
  }
  return nullptr;
}

void expression_text::compute_repeated(value& root) {
  while (const shared_value inner = repeated_in(root, root.shape_)) inner->get();
}

void value::compute_now() noexcept {
  if (is_computed()) return;
  // Before the lock, as everywhere: a fork waits for threads in the driver.
  const detail::driver_entry inside(std::nothrow);
  const computing lock;
  if (is_computed()) return;
  try {
    const shared_value keep = shared_from_this();
    if (is_view()) return compute_view();
    expression_text::compute_repeated(*this);
    if (!is_computed()) expression_text(*this).run();
  } catch (...) {
    failure_ = std::current_exception();
    computing::drop(std::exchange(sources_, {}));
    computed_.store(true, std::memory_order_release);
  }
}

void value::finish(array&& result) noexcept {
  result_ = std::move(result);
  computed_.store(true, std::memory_order_release);
}

void value::announce_users() {
  const auto users = std::exchange(made_of_this_, {});
  const shared_owner& owner = result_.keep_alive();
  if (!owner) return;
  for (const auto& user : users) {
    if (const auto v = user.lock(); v && !v->is_computed()) owner->used_later(user);
  }
}

bool value::is_shared() {
  const computing lock;
  if (is_computed() || is_view()) return true;
  return std::ranges::any_of(made_of_this_, [](const auto& user) {
    const auto v = user.lock();
    return v && v->is_view();
  });
}

bool value::is_only_base() const {
  if (seen_.load(std::memory_order_relaxed) > 0) return false;
  int views = 0;
  for (const auto& user : made_of_this_) {
    const auto v = user.lock();
    views += v && v->is_view() && !v->is_computed() ? 1 : 0;
  }
  return views <= 1;
}

shared_value value::alone(shared_value& first) const {
  if (base()->is_computed() || !base()->is_only_base()) return nullptr;
  parts known;
  return base()->seen_through(steps_, shape_, first, known);
}

shared_value value::seen_through(std::span<const view_step> steps, const extents& shape,
                                 shared_value& first, parts& known) const {
  if (const auto found = known.of.find(this); found != known.of.end()) return found->second;
  std::vector<source> sources;
  const auto add = [&](const array& a) {
    layout repeated;
    if (!a.elements().layout().broadcast(shape_, repeated)) return false;  // too many bytes
    const any_view all = a.elements().with_layout(std::move(repeated), 0);
    sources.emplace_back(a.with_view(stepped(all, steps)));
    return true;
  };
  for (const source& s : sources_) {
    if (const auto* a = std::get_if<array>(&s)) {
      if (!add(*a)) return nullptr;
      continue;
    }
    const auto* inner = std::get_if<shared_value>(&s);
    if (inner == nullptr) {
      sources.push_back(s);
    } else if ((*inner)->is_computed()) {
      if (!add((*inner)->get())) return nullptr;
    } else if (!((*inner)->shape_ == shape_) ||
               (*inner)->seen_.load(std::memory_order_relaxed) > 0) {
      first = *inner;
      return nullptr;
    } else {
      shared_value whole = *inner;
      if (whole->is_view()) {
        whole = (*inner)->alone(first);
        if (!whole) {
          if (!first) first = *inner;
          return nullptr;
        }
        known.kept.push_back(whole);
      }
      shared_value part = whole->seen_through(steps, shape, first, known);
      if (!part) return nullptr;
      sources.emplace_back(std::move(part));
    }
  }
  auto made =
      std::make_shared<value>(queue_, op_, types_, std::move(sources), extents(shape), kind_);
  known.of.emplace(this, made);
  return made;
}

shared_deferred value::view_of(shared_value base, std::vector<view_step>&& steps, extents&& shape) {
  if (base->is_view()) {  // views of views share what the first one is of
    steps.insert(steps.begin(), base->steps_.begin(), base->steps_.end());
    base = shared_value(base->base());
  }
  const operation_types types = base->types_;
  const sycl::queue queue = base->queue_;
  const usm_kind kind = base->kind_;
  std::vector<source> sources;
  sources.emplace_back(std::move(base));
  const auto made =
      std::make_shared<value>(queue, view_row, types, std::move(sources), std::move(shape), kind);
  made->steps_ = std::move(steps);
  made->announce();
  return made;
}

void value::compute_view() {
  std::optional<array> elements;
  const shared_value whole = base();
  while (!elements && !whole->is_computed()) {
    shared_value first;
    if (const shared_value part = alone(first)) {
      elements = part->get();
    } else if (first) {
      first->get();
    } else {
      break;
    }
  }
  if (!elements) {
    const array& a = whole->get();
    elements = a.with_view(stepped(a.elements(), steps_));
  }
  finish(*std::move(elements));
  announce_users();
  computing::drop(std::exchange(sources_, {}));
}

void value::compute() noexcept {
  if (is_computed()) return;
  const detail::driver_entry inside(std::nothrow);
  const computing lock;
  if (is_computed()) return;
  if (seen_.load(std::memory_order_relaxed) > 0) return compute_now();
  // Not needed itself, only by what is made of it.
  for (const auto& known : std::vector(made_of_this_)) {
    if (const auto v = known.lock()) v->compute();
  }
}

void value::announce() {
  const detail::driver_entry inside;
  const computing lock;
  for (const source& s : sources_) {
    if (const auto* a = std::get_if<array>(&s)) {
      if (const shared_owner& owner = a->keep_alive()) owner->used_later(weak_from_this());
    } else if (const auto* v = std::get_if<shared_value>(&s)) {
      auto& users = (*v)->made_of_this_;
      if (users.size() == users.capacity()) {
        std::erase_if(users, [](const auto& user) { return user.expired(); });
      }
      users.push_back(weak_from_this());
    }
  }
}

/// Others may write to this memory without our knowing.
bool may_change(const array& a) noexcept {
  return a.elements().size() > 0 && (!a.keep_alive() || a.keep_alive()->is_exposed());
}

/// A few elements that the host can reach, with nothing pending on them, are computed there.
std::optional<array> on_host(const sycl::queue& queue, const operation& op,
                             const operation_types& types, std::span<const source> sources,
                             const extents& shape, usm_kind kind) {
  if (!host_accessible(kind) || op.chooses) return {};
  std::int64_t count = 1;
  for (const std::int64_t length : shape) count *= length;
  if (count > detail::most_on_host || count == 0 || types.operands[0] != types.operands[1]) {
    return {};
  }
  const dtype& type = types.operands[0];
  const detail::host_loop loop = detail::loop_on_host(op, type);
  if (loop == nullptr || !detail::backend_of(queue.get_device()).is_host) return {};
  detail::host_operand in[3];
  std::array<std::byte, 16> numbers[3];
  for (std::size_t k = 0; k < sources.size(); ++k) {
    if (const auto* number = std::get_if<operand>(&sources[k])) {
      numbers[k] = number->number_as(type);
      in[k] = {numbers[k].data(), false};
      continue;
    }
    const auto* a = std::get_if<array>(&sources[k]);
    if (a == nullptr) return {};
    const any_view& v = a->elements();
    const bool is_row = v.layout().is_c_contiguous() && v.layout().shape() == shape;
    if (v.dtype() != type || !host_accessible(v.kind()) || (!is_row && v.size() != 1)) return {};
    const shared_owner& owner = a->keep_alive();
    if (owner && owner->try_busy().value_or(true)) return {};
    in[k] = {static_cast<const std::byte*>(v.data()), is_row};
  }
  array out = array::empty(queue, shape.span(), types.result, kind);
  loop(static_cast<std::byte*>(out.data()), in, count);
  return out;
}

dtype type_of(const deferred_operand& o) {
  if (const auto* v = std::get_if<shared_deferred>(&o)) return (*v)->dtype();
  return std::get<operand>(o).type();
}

/// Whether an integer is one of a type of integers; true for other numbers and types.
bool fits(const operand& number, const dtype& type) {
  const auto is_integer = [](const dtype& t) {
    return t.kind() == type_class::integer || t.kind() == type_class::unsigned_integer;
  };
  if (!is_integer(number.type()) || !is_integer(type)) return true;
  try {
    static_cast<void>(number.number_as(type));
    return true;
  } catch (const std::overflow_error&) {
    return false;
  }
}

shared_deferred make(const sycl::queue& queue, const operation& op, const operation_types& types,
                     std::span<const deferred_operand> operands) {
  std::vector<source> sources;
  std::vector<operand> kinds;
  std::vector<const extents*> shapes;
  sources.reserve(operands.size());
  bool at_once = is_eager();
  int operations = 1, arrays = 0;
  for (const deferred_operand& o : operands) {
    if (const auto* inner = std::get_if<shared_deferred>(&o)) {
      auto v = std::static_pointer_cast<value>(*inner);
      if (!v->is_computed() && (operations + v->operations() > most_operations ||
                                arrays + v->operands() > most_operands || v->queue() != queue)) {
        v->get();
      }
      if (v->is_computed()) {
        sources.emplace_back(v->get());
        at_once |= may_change(std::get<array>(sources.back()));
        ++arrays;
      } else {
        operations += v->operations();
        arrays += v->operands();
        sources.emplace_back(std::move(v));
      }
      continue;
    }
    const auto& plain = std::get<operand>(o);
    ++arrays;
    if (!plain.array()) {
      sources.emplace_back(plain);
      continue;
    }
    at_once |= may_change(*plain.array());
    sources.emplace_back(*plain.array());
  }
  bool is_shared = false, is_host = false, is_device = false;
  for (std::size_t k = 0; k < sources.size(); ++k) {
    if (auto* a = std::get_if<array>(&sources[k])) {
      if (!can_use(queue, *a)) {
        refuse_placement(format("operand {} of {}", k + 1, op.name), *a, queue);
      }
      shapes.push_back(&a->elements().layout().shape());
      const usm_kind kind = a->kind();
      is_device |= kind == usm_kind::device;
      is_shared |= kind == usm_kind::shared;
      is_host |= kind == usm_kind::host || (kind == usm_kind::unknown && a->elements().size() > 0);
    } else if (auto* v = std::get_if<shared_value>(&sources[k])) {
      shapes.push_back(&(*v)->shape());
      is_device |= (*v)->kind() == usm_kind::device;
      is_shared |= (*v)->kind() == usm_kind::shared;
      is_host |= (*v)->kind() == usm_kind::host;
    } else {
      // What does not fit is an error of this line, not of the one that looks at the result.
      const auto& number = std::get<operand>(sources[k]);
      const auto bytes = number.number_as(types.operands[k]);
      sources[k] = operand(types.operands[k], bytes.data());
    }
  }
  for (std::size_t k = 0; k < operands.size(); ++k) {
    detail::require_type(queue.get_device(), types.operands[k]);
  }
  const usm_kind kind = is_device   ? usm_kind::device
                        : is_shared ? usm_kind::shared
                        : is_host   ? usm_kind::host
                                    : usm_kind::device;
  extents shape = broadcast_shape(shapes);
  if (auto small = on_host(queue, op, types, sources, shape, kind)) {
    return std::make_shared<value>(*std::move(small), types, std::move(shape));
  }
  const auto made =
      std::make_shared<value>(queue, op, types, std::move(sources), std::move(shape), kind);
  if (at_once) {
    made->get();
  } else {
    made->announce();
  }
  return made;
}

}  // namespace

namespace detail {
namespace {
std::atomic<void (*)(std::recursive_mutex&)> how_to_wait{nullptr};
}  // namespace

void set_wait_for_lock(void (*wait)(std::recursive_mutex&)) noexcept { how_to_wait.store(wait); }

void wait_for_lock(std::recursive_mutex& mutex) {
  if (const auto wait_for = how_to_wait.load()) {
    wait_for(mutex);
  } else {
    mutex.lock();
  }
}
}  // namespace detail

shared_deferred apply(const sycl::queue& queue, const operation& op,
                      std::span<const deferred_operand> operands) {
  if (operands.size() != static_cast<std::size_t>(op.arity)) {
    throw std::invalid_argument(
        format("{} takes {} operands, got {}", op.name, op.arity, operands.size()));
  }
  std::array<operand_type, 3> types;
  std::array<deferred_operand, 2> exact = {operand(false), operand(false)};
  if (!op.mixed.empty() && operands.size() == 2) {
    // Integers are compared by value: what does not fit into the other's type is no error here.
    for (const std::size_t k : {0, 1}) {
      const auto* number = std::get_if<operand>(&operands[k]);
      const auto other = type_of(operands[1 - k]);
      if (number && !number->array() && number->weak() && !fits(*number, other)) {
        exact[k] = number->as_strong();
        exact[1 - k] = operands[1 - k];
        return apply(queue, op, exact);
      }
    }
  }
  for (std::size_t k = 0; k < operands.size(); ++k) {
    if (const auto* v = std::get_if<shared_deferred>(&operands[k])) {
      types[k] = {(*v)->dtype(), false};
    } else {
      const auto& o = std::get<operand>(operands[k]);
      types[k] = {o.type(), o.weak()};
    }
  }
  const auto given = std::span<const operand_type>(types).first(operands.size());
  const auto resolved = resolve(op, given);
  if (!resolved) {
    std::string names;
    for (const operand_type& t : given) names += (names.empty() ? "" : ", ") + t.type.name();
    throw interop_error(fault::dtype_mismatch,
                        format("{} is not defined for elements of {}", op.name, names));
  }
  return make(queue, op, *resolved, operands);
}

void store(const shared_deferred& what, const array& out) {
  auto& v = static_cast<value&>(*what);
  if (!(v.shape() == out.elements().layout().shape())) {
    throw std::invalid_argument(format("out: has shape {}, expected {}",
                                       detail::shape_text(out.elements().layout().shape().span()),
                                       detail::shape_text(v.shape().span())));
  }
  const detail::driver_entry inside;
  const computing lock;
  if (v.is_computed() || v.is_view()) {
    copy_async(v.queue(), out, v.get());
    return;
  }
  if (const shared_owner& owner = out.keep_alive()) owner->submit_deferred();
  expression_text::compute_repeated(v);
  expression_text(v).run(&out);
}

std::vector<planned_kernel> explain(const shared_deferred& what) {
  std::vector<planned_kernel> plan;
  const detail::driver_entry inside;
  const computing lock;
  auto& v = static_cast<value&>(*what);
  if (v.is_computed()) return plan;
  if (!v.is_view()) {
    expression_text(v, plan);
    return plan;
  }
  shared_value first;
  if (const shared_value part = v.alone(first)) {
    expression_text(*part, plan);
  } else if (!v.base()->is_computed()) {
    expression_text(*v.base(), plan);
  }
  return plan;
}

namespace {

std::atomic<bool>& eager() noexcept {
  static std::atomic<bool> flag{[] {
    const char* const asked = std::getenv("USMX_EAGER");
    return asked != nullptr && std::string_view(asked) == "1";
  }()};
  return flag;
}

}  // namespace

bool is_eager() noexcept { return eager().load(std::memory_order_relaxed); }
void set_eager(bool is_eager_now) noexcept {
  eager().store(is_eager_now, std::memory_order_relaxed);
}

array reduce(const sycl::queue& queue, const deferred_operand& what, const value_reduction& how,
             const reduction_axes& axes, const array* out) {
  const detail::driver_entry inside;
  const computing lock;
  operation_types types;
  std::ranges::fill(types.operands, how.value);
  types.result = how.value;
  std::vector<source> sources;
  extents shape;
  usm_kind kind = usm_kind::device;
  if (const auto* known = std::get_if<shared_deferred>(&what)) {
    auto v = std::static_pointer_cast<value>(*known);
    shape = v->shape();
    kind = v->kind();
    // Reduced once more, it is worth to be stored.
    if (v->is_reduced() || v->queue() != queue) v->get();
    if (v->is_computed()) {
      sources.emplace_back(v->get());
    } else {
      sources.emplace_back(std::move(v));
    }
  } else {
    const array& a = *std::get<operand>(what).array();
    shape = a.elements().layout().shape();
    kind = a.kind();
    sources.emplace_back(a);
  }
  const auto root =
      std::make_shared<value>(queue, cast_row, types, std::move(sources), std::move(shape), kind);
  detail::require_type(queue.get_device(), how.value);
  detail::require_type(queue.get_device(), how.result);
  if (out != nullptr && out->keep_alive()) out->keep_alive()->submit_deferred();
  expression_text::compute_repeated(*root);
  return expression_text(*root).reduce(how, axes, out);
}

namespace {

layout stepped(layout where, std::span<const view_step> steps, std::int64_t& shift) {
  for (const view_step& s : steps) {
    std::int64_t by = 0;
    switch (s.what) {
      case view_step::kind::slice:
        where = where.sliced(s.axis, s.first, s.count, s.step, by);
        break;
      case view_step::kind::take:
        where = where.indexed(s.axis, s.first, by);
        break;
      case view_step::kind::insert:
        where = where.with_axis(s.axis);
        break;
      case view_step::kind::swap: {
        std::vector<int> order(static_cast<std::size_t>(where.rank()));
        std::iota(order.begin(), order.end(), 0);
        std::swap(order.at(static_cast<std::size_t>(s.axis)),
                  order.at(static_cast<std::size_t>(s.other)));
        where = where.permuted(order);
        break;
      }
    }
    shift += by;
  }
  return where;
}

}  // namespace

any_view stepped(any_view elements, std::span<const view_step> steps) {
  std::int64_t shift = 0;
  layout where = stepped(elements.layout(), steps, shift);
  return elements.with_layout(std::move(where), shift);
}

shared_deferred view_of(const shared_deferred& of, std::vector<view_step> steps) {
  auto base = std::static_pointer_cast<value>(of);
  layout whole;
  detail::require_valid(layout::c_order(base->shape(), base->dtype().itemsize(), whole));
  std::int64_t shift = 0;
  const layout where = stepped(whole, steps, shift);
  const detail::driver_entry inside;
  const computing lock;
  if (base->is_computed()) {
    const array& a = base->get();
    operation_types types;
    types.result = base->dtype();
    return std::make_shared<value>(a.with_view(stepped(a.elements(), steps)), types,
                                   extents(where.shape()));
  }
  return value::view_of(std::move(base), std::move(steps), extents(where.shape()));
}

shared_deferred cast(const sycl::queue& queue, const deferred_operand& what, const dtype& type) {
  operation_types types;
  std::ranges::fill(types.operands, type);
  types.result = type;
  return make(queue, cast_row, types, std::span(&what, 1));
}

}  // namespace usmx
