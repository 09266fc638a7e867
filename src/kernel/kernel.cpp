// Arguments, ranges and launches; every check that SYCL leaves out is made here.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/kernel.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#include <sycl/ext/oneapi/experimental/enqueue_functions.hpp>
#include <sycl/handler.hpp>

#include "core/format.hpp"
#include "kernel/kernel_state.hpp"
#include "memory/reach.hpp"
#include "runtime/backend.hpp"
#include "runtime/traced_queue.hpp"
#include "usmx/submission.hpp"

namespace usmx {
namespace {

template <int Rank>
sycl::range<Rank> to_range(std::span<const std::size_t> n) {
  if constexpr (Rank == 1)
    return {n[0]};
  else if constexpr (Rank == 2)
    return {n[0], n[1]};
  else
    return {n[0], n[1], n[2]};
}

template <int Rank>
void run(sycl::handler& h, const launch_range& r, const sycl::kernel& k) {
  const auto global = to_range<Rank>(r.global());
  if (r.local().empty()) {
    h.parallel_for(global, k);
  } else {
    h.parallel_for(sycl::nd_range<Rank>(global, to_range<Rank>(r.local())), k);
  }
}

/// Sets what stands for one argument, from `index` on. A scalar goes by its bits: the runtime only
/// looks at size and bytes, and a struct would not be portable.
void set(sycl::handler& h, int& index, const kernel_argument& a, const kernel_parameter* p) {
  using enum kernel_parameter::view_form;
  if (a.local()) return;  // compiled in
  if (p && p->view != none) {
    const auto& where = a.array()->elements().layout();
    h.set_arg(index++, const_cast<void*>(a.pointer()));
    for (const auto n : where.shape()) h.set_arg(index++, std::int64_t{n});
    if (p->view != strided) return;
    for (const auto n : where.strides()) h.set_arg(index++, std::int64_t{n});
    return;
  }
  if (a.is_scalar() && a.type().is_record()) {
    const auto* const bytes = static_cast<const std::byte*>(a.pointer());
    const auto size = a.type().itemsize();
    for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + at, std::min(size - at, sizeof word));
      h.set_arg(index++, word);
    }
    return;
  }
  if (!a.is_scalar()) {
    h.set_arg(index++, const_cast<void*>(a.pointer()));
    return;
  }
  switch (a.type().itemsize()) {
    case 1:
      return h.set_arg(index++, static_cast<std::uint8_t>(a.bits()));
    case 2:
      return h.set_arg(index++, static_cast<std::uint16_t>(a.bits()));
    case 4:
      return h.set_arg(index++, static_cast<std::uint32_t>(a.bits()));
    default:
      return h.set_arg(index++, a.bits());
  }
}

void fill_in(sycl::handler& h, const launch_range& range,
             std::span<const kernel_argument> arguments, std::span<const sycl::event> depends,
             const sycl::kernel& k, const std::optional<std::vector<kernel_parameter>>& declared) {
  for (const auto& event : depends) h.depends_on(event);
  int index = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    set(h, index, arguments[i], declared ? &(*declared)[i] : nullptr);
  }
  switch (range.rank()) {
    case 1:
      return run<1>(h, range, k);
    case 2:
      return run<2>(h, range, k);
    default:
      return run<3>(h, range, k);
  }
}

/// A range without groups gets those that suit the device, if `most` items are allowed in one.
launch_range in_groups(const sycl::queue& queue, const std::string& kernel_name,
                       const launch_range& range, std::size_t most) {
  if (!range.local().empty() || most == 0) return range;
  if (range.rank() != 1) {
    return detail::fit_groups(detail::backend_of(queue), kernel_name, range, most);
  }
  const std::size_t local = detail::plain_group(detail::forms_of(queue), range.size(), most);
  return local == 0 ? range : launch_range(range.global(), std::span(&local, 1));
}

/// What a launch comes after, and the memory that it uses.
void prepare(submission& command, std::span<const kernel_argument> arguments,
             std::span<const sycl::event> depends, ordering order) {
  command.after(depends);
  for (const kernel_argument& a : arguments) {
    if (a.array() == nullptr) continue;
    order == ordering::automatic ? command.uses(*a.array()) : command.keep(*a.array());
  }
}

/// No work-item: nothing may be submitted, but what the caller waits for is still what the launch
/// would come after.
sycl::event launch_nothing(const sycl::queue& queue, std::span<const kernel_argument> arguments,
                           std::span<const sycl::event> depends, ordering order) {
  submission command(queue);
  command.after(depends);
  for (const kernel_argument& a : arguments) {
    if (a.array() != nullptr && order == ordering::automatic) command.after(*a.array());
  }
  return command.submit([](sycl::queue& q, const std::vector<sycl::event>& before) {
    return q.ext_oneapi_submit_barrier(before);
  });
}

}  // namespace

namespace detail {

void check_groups(const backend_row& backend, const std::string& kernel_name,
                  const launch_range& range) {
  const auto local = range.local();
  for (std::size_t axis = 0; axis < local.size(); ++axis) {
    const bool is_last = axis + 1 == local.size();
    const auto most = is_last ? backend.most_groups_last : backend.most_groups_other;
    const auto groups = local[axis] == 0 ? 0 : range.global()[axis] / local[axis];
    if (groups <= most) continue;
    throw std::invalid_argument(
        "range: " + shape_text(range.global()) + " in groups of " + shape_text(local) + " has " +
        std::to_string(groups) + " groups along axis " + std::to_string(axis) + ", " +
        backend.name + " takes at most " + std::to_string(most) + " there in kernel '" +
        kernel_name + "'; take larger groups, or put the longest axis last");
  }
}

launch_range fit_groups(const backend_row& backend, const std::string& kernel_name,
                        const launch_range& range, std::size_t most) {
  const auto global = range.global();
  const std::size_t last = global.size() - 1;
  const auto others = global.first(last);
  if (range.size() == 0 ||
      std::ranges::all_of(others, [&](auto n) { return n <= backend.most_groups_other; })) {
    return range;
  }
  std::array<std::size_t, 3> local{1, 1, 1};
  std::size_t items = 1;
  const auto largest = std::min<std::size_t>(most, 256);
  for (std::size_t axis = 0; axis <= last; ++axis) {
    const std::size_t n = global[axis];
    const std::size_t limit = axis == last ? backend.most_groups_last : backend.most_groups_other;
    // Few items along the slow axes leave more for the fast one, whose neighbours share memory.
    std::size_t length = (n + limit - 1) / limit;
    while (length * items <= most && n % length != 0) ++length;
    if (length * items > most) {
      throw std::invalid_argument(
          "range: " + shape_text(global) + " has " + std::to_string(n) + " work-items along axis " +
          std::to_string(axis) + ", which cannot be cut into at most " + std::to_string(limit) +
          " groups of equal size, as " + backend.name + " needs it in kernel '" + kernel_name +
          "'; put the longest axis last, or round it up");
    }
    if (axis == last) {
      for (std::size_t more = largest / items; more > length; --more) {
        if (n % more == 0) length = more;
      }
    }
    local[axis] = length;
    items *= length;
  }
  return launch_range(global, std::span(local).first(last + 1));
}

launch_range range_in_groups(const kernel& k, const kernel_forms& forms, std::size_t size) {
  const std::size_t local = std::min(
      {forms.most_items, k.max_work_group_size(), std::bit_ceil(std::max<std::size_t>(size, 1))});
  const std::size_t global = (size + local - 1) / local * local;
  return launch_range(std::span(&global, 1), std::span(&local, 1));
}

}  // namespace detail

// --- arguments and ranges -----------------------------------------------------------------------

kernel_argument::kernel_argument(const dtype& type, const void* bytes) noexcept
    : form_(form::scalar), type_(type) {
  if (type.is_record()) {
    pointer_ = bytes;
  } else {
    std::memcpy(&bits_, bytes, std::min<std::size_t>(type.itemsize(), sizeof bits_));
  }
}

// --- kernels ------------------------------------------------------------------------------------

const std::string& kernel::name() const noexcept { return state_->name; }
const std::optional<std::vector<kernel_parameter>>& kernel::parameters() const noexcept {
  return state_->parameters;
}
std::size_t kernel::argument_count() const noexcept { return state_->argument_count; }
int kernel::rank() const noexcept { return state_->rank; }
bool kernel::is_for(const sycl::queue& queue) const noexcept {
  return queue.get_context() == state_->context && queue.get_device() == state_->device;
}
std::size_t kernel::max_work_group_size() const noexcept { return state_->max_work_group_size; }

std::string kernel::describe_argument(std::size_t index) const {
  const auto& s = *state_;
  return "argument " + std::to_string(index) + " of kernel '" + s.name + "'" +
         (s.parameters ? " (" + (*s.parameters)[index].text + ")" : "");
}

void kernel::check_count(std::size_t arguments) const {
  if (arguments == state_->argument_count || state_->argument_count == unknown_count) return;
  throw std::invalid_argument("kernel '" + state_->name + "' takes " +
                              std::to_string(state_->argument_count) + " arguments, got " +
                              std::to_string(arguments));
}

void kernel::check_range(const launch_range& range) const {
  const auto& s = *state_;
  if (s.rank != 0 && s.rank != range.rank()) {
    throw std::invalid_argument("range: " + detail::shape_text(range.global()) +
                                " has another number of dimensions than the " +
                                std::to_string(s.rank) + " of kernel '" + s.name + "'");
  }
  const auto local = range.local();
  const auto group =
      std::accumulate(local.begin(), local.end(), std::size_t{1}, std::multiplies<>());
  if (group > s.max_work_group_size) {
    throw std::invalid_argument("local range: " + detail::shape_text(local) + " has " +
                                std::to_string(group) + " work-items, kernel '" + s.name +
                                "' takes at most " + std::to_string(s.max_work_group_size) +
                                " in a group");
  }
  detail::check_groups(*s.backend, s.name, range);
}

void kernel::check(const sycl::queue& queue, const launch_range& range,
                   std::span<const kernel_argument> arguments) const {
  const auto& s = *state_;
  if (!is_for(queue)) {
    throw std::invalid_argument("queue: kernel '" + s.name + "' was compiled for another " +
                                (queue.get_context() != s.context ? "context" : "device"));
  }
  check_count(arguments.size());
  // A kernel that `with_local` gave takes local memory of its sizes alone.
  if (!s.local.empty()) static_cast<void>(sized_for(arguments));
  check_range(range);
  const auto local = range.local();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& a = arguments[i];
    const auto* p = s.parameters ? &(*s.parameters)[i] : nullptr;
    const auto where = [&] { return describe_argument(i); };
    if (a.local()) {
      if (!p || p->view != kernel_parameter::view_form::local) {
        throw interop_error(fault::kind_mismatch,
                            where() +
                                ": is local memory, for which the parameter must be a "
                                "usmx::local_view<T, N>");
      }
      if (local.empty()) {
        throw std::invalid_argument("local range: is missing; kernel '" + s.name +
                                    "' shares local memory in work-groups");
      }
      continue;
    }
    if (p && p->pointer == a.is_scalar()) {
      throw interop_error(fault::kind_mismatch, where() + ": " +
                                                    (a.is_scalar() ? "is a scalar, expected USM"
                                                                   : "is USM, expected a scalar"));
    }
    if (a.is_scalar()) {
      // Without a declared type the sizes must agree all the same; the runtime checks that much.
      if (a.type().is_record() && !(p && p->type)) {
        throw interop_error(fault::kind_mismatch,
                            where() + ": is a struct, which the source does not show");
      }
      // A struct of C++ says its size alone.
      const bool same_size = p && p->type && p->type->is_record() && a.type().is_record() &&
                             !a.type().members() && p->type->itemsize() == a.type().itemsize();
      if (p && p->type && !same_size && !(*p->type == a.type())) {
        throw interop_error(fault::dtype_mismatch, where() + ": has type " + a.type().name() +
                                                       ", expected " + p->type->name());
      }
      continue;
    }
    const auto* array = a.array();
    using enum kernel_parameter::view_form;
    if (!array) {
      if (p && p->view != none) {
        throw interop_error(fault::kind_mismatch,
                            where() + ": is a pointer without a shape, expected an array");
      }
      continue;
    }
    if (array->queue() != queue && array->queue().get_context() != s.context) {
      throw std::invalid_argument(where() +
                                  ": the array's memory belongs to another context than the queue");
    }
    const auto& elements = array->elements();
    if (array->queue() != queue && elements.kind() == usm_kind::device) {
      detail::require_within_reach(where(), usm_kind::device, array->queue().get_device(),
                                   s.device);
    }
    if (p && p->type && !(*p->type == elements.dtype())) {
      throw interop_error(fault::dtype_mismatch, where() + ": has elements of " +
                                                     elements.dtype().name() + ", expected " +
                                                     p->type->name());
    }
    if (elements.read_only() && !(p && p->read_only)) {
      throw interop_error(fault::read_only, where() + ": is read-only, the parameter must be a " +
                                                (p && p->view != none ? "view of const elements"
                                                                      : "pointer to const"));
    }
    if (!p || p->view == none) continue;
    if (elements.rank() != p->rank) {
      throw interop_error(fault::rank_mismatch,
                          where() + ": has " + std::to_string(elements.rank()) +
                              " dimensions, expected " + std::to_string(p->rank));
    }
    if (p->view == dense && !elements.layout().is_c_contiguous()) {
      throw std::invalid_argument(where() +
                                  ": is strided, expected C order without gaps; pass x.copy(), or "
                                  "declare usmx::strided");
    }
  }
}

sycl::event kernel::submit(sycl::queue& queue, const launch_range& range,
                           std::span<const kernel_argument> arguments,
                           std::span<const sycl::event> depends, ordering order) const {
  if (range.size() == 0) return launch_nothing(queue, arguments, depends, order);
  traced record(trace_action::kernel,
                [&] { return detail::traced_on(queue, {.label = trace_text(state_->name)}); });
  submission command(queue, record);
  const launch_range cut = in_groups(queue, state_->name, range,
                                     state_->has_group_size ? 0 : state_->max_work_group_size);
  const sycl::kernel code = state_->code();
  prepare(command, arguments, depends, order);
  return command.submit([&](sycl::queue& q, const std::vector<sycl::event>& before) {
    return q.submit(
        [&](sycl::handler& h) { fill_in(h, cut, arguments, before, code, state_->parameters); });
  });
}

void kernel::submit_without_event(sycl::queue& queue, const launch_range& range,
                                  std::span<const kernel_argument> arguments,
                                  std::span<const sycl::event> depends, ordering order) const {
  // A record may want the device's times, which only an event knows.
  if (is_traced() || range.size() == 0) {
    submit(queue, range, arguments, depends, order);
    return;
  }
  submission command(queue);
  const launch_range cut = in_groups(queue, state_->name, range,
                                     state_->has_group_size ? 0 : state_->max_work_group_size);
  const sycl::kernel code = state_->code();
  prepare(command, arguments, depends, order);
  command.submit([&](sycl::queue& q, const std::vector<sycl::event>& before) {
    sycl::ext::oneapi::experimental::submit(
        q, [&](sycl::handler& h) { fill_in(h, cut, arguments, before, code, state_->parameters); });
  });
}

sycl::event kernel::launch(sycl::queue& queue, const launch_range& range,
                           std::span<const kernel_argument> arguments,
                           std::span<const sycl::event> depends, ordering order) const {
  if (state_->unsized) return sized_for(arguments).launch(queue, range, arguments, depends, order);
  check(queue, range, arguments);
  return submit(queue, range, arguments, depends, order);
}

void kernel::enqueue(sycl::queue& queue, const launch_range& range,
                     std::span<const kernel_argument> arguments,
                     std::span<const sycl::event> depends, ordering order) const {
  if (state_->unsized) return sized_for(arguments).enqueue(queue, range, arguments, depends, order);
  check(queue, range, arguments);
  submit_without_event(queue, range, arguments, depends, order);
}

sycl::event detail::own_launch::launch(const kernel& k, sycl::queue& queue,
                                       const launch_range& range,
                                       std::span<const kernel_argument> arguments,
                                       std::span<const sycl::event> depends, ordering order) {
  k.check_count(arguments.size());
  k.check_range(range);
  return k.submit(queue, range, arguments, depends, order);
}

void detail::own_launch::enqueue(const kernel& k, sycl::queue& queue, const launch_range& range,
                                 std::span<const kernel_argument> arguments,
                                 std::span<const sycl::event> depends, ordering order) {
  k.check_count(arguments.size());
  k.check_range(range);
  k.submit_without_event(queue, range, arguments, depends, order);
}

}  // namespace usmx
