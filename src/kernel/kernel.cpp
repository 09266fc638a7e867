// Checks arguments and ranges, which SYCL does not, and launches kernels.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/kernel.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <sycl/exception.hpp>
#include <sycl/ext/oneapi/experimental/enqueue_functions.hpp>
#include <sycl/handler.hpp>
#include <sycl/info/info_desc.hpp>

#include "core/format.hpp"
#include "core/numbers.hpp"
#include "kernel/kernel_state.hpp"
#include "kernel/kernel_wrapper.hpp"
#include "runtime/backend.hpp"
#include "runtime/driver_gate.hpp"
#include "runtime/traced_queue.hpp"
#include "usmx/placement.hpp"
#include "usmx/promotion.hpp"
#include "usmx/submission.hpp"

namespace usmx {

using detail::format;
using detail::shape_text;

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

/// Sets the arguments of the runtime for one of ours, from `index` on. A scalar is passed as bits:
/// the runtime only looks at size and bytes, and a struct would not be portable.
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
  if (a.is_scalar() && a.type().is_bfloat16()) return h.set_arg(index++, a.bits());  // one word
  if (a.is_scalar() && detail::is_in_words(a.type())) {
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
  detail::visit_word(a.type().itemsize(), [&]<std::unsigned_integral T>(std::type_identity<T>) {
    h.set_arg(index++, static_cast<T>(a.bits()));
  });
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

/// A range without groups gets groups that suit the device, of at most `most` items.
launch_range in_groups(const sycl::queue& queue, const std::string& kernel_name,
                       const launch_range& range, std::size_t most) {
  if (!range.local().empty() || most == 0) return range;
  if (range.rank() != 1) {
    const auto& backend = detail::backend_of(queue);
    const auto group = detail::group_of_rows(detail::forms_of(queue), range.global(), most);
    if (group[0] != 0) {
      const launch_range cut(range.global(), std::span(group).first(range.rank()));
      if (detail::are_few(backend, cut)) return cut;
    }
    return detail::fit_groups(backend, kernel_name, range, most);
  }
  const std::size_t local = detail::plain_group(detail::forms_of(queue), range.size(), most);
  return local == 0 ? range : launch_range(range.global(), std::span(&local, 1));
}

namespace about = sycl::info::kernel_device_specific;

/// Drivers need not know an answer; then they throw.
template <class Question, class Answer>
void ask(const sycl::kernel& k, const sycl::device& device, Answer& answer) {
  try {
    answer = static_cast<Answer>(k.get_info<Question>(device));
  } catch (const sycl::exception&) {
    answer = {};
  }
}

/// More sizes of local memory than a program uses; if there are more, the first ones are dropped.
constexpr std::size_t most_sizes = 256;

bool same(const std::vector<local_memory>& a, std::span<const local_memory> b) {
  return std::ranges::equal(a, b, [](const local_memory& x, const local_memory& y) {
    return x.type == y.type && x.shape == y.shape;
  });
}

/// More bytes than can be counted are as many as no device has.
std::size_t bytes_of(const local_memory& memory) {
  std::size_t bytes = memory.type.itemsize();
  for (const auto n : memory.shape) {
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(n), &bytes)) {
      return std::numeric_limits<std::size_t>::max() / 16;
    }
  }
  return bytes;
}

/// What the runtime says of a launch that it refused names neither the kernel nor, for one that
/// declares too much local memory, how much there is.
std::string refused_text(const std::string& kernel_name, const sycl::device& device,
                         const sycl::exception& error) {
  const std::string_view said = error.what();
  std::string text = format("kernel '{}': {}", kernel_name, said);
  if (said.find("OUT_OF_RESOURCES") != said.npos) {
    text += format(
        "; it may use too much local memory, of which the device has {} bytes for a work-group",
        device.get_info<sycl::info::device::local_mem_size>());
  }
  return text;
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
    throw std::invalid_argument(format(
        "range: {} in groups of {} has {} groups along axis {} of kernel '{}'; {} supports at most "
        "{} there. Use larger groups, or put the longest axis last",
        shape_text(range.global()), shape_text(local), groups, axis, kernel_name, backend.name,
        most));
  }
}

bool are_few(const backend_row& backend, const launch_range& range) noexcept {
  const auto global = range.global();
  for (std::size_t axis = 0; axis + 1 < global.size(); ++axis) {
    if (global[axis] / range.local()[axis] > backend.most_groups_other) return false;
  }
  return true;
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
          format("range: {} has {} work-items along axis {} of kernel '{}', which cannot be "
                 "divided into at most {} equal groups, the limit of {}; put the longest axis "
                 "last, or round it up",
                 shape_text(global), n, axis, kernel_name, limit, backend.name));
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

bool computes_with(const sycl::device& device, const dtype& type) {
  const dtype part = part_type(type);
  // Kernels compute with bfloat16 in float, which each device has.
  if (part.kind() != type_class::floating || part.is_bfloat16()) return true;
  if (part.itemsize() == 8) return device.has(sycl::aspect::fp64);
  return part.itemsize() != 2 || device.has(sycl::aspect::fp16);
}

void require_type(const sycl::device& device, const dtype& type) {
  if (type.kind() == type_class::record) {
    throw interop_error(fault::dtype_mismatch,
                        format("{} has no arithmetic; expected numbers", type.name()));
  }
  if (computes_with(device, type)) return;
  throw build_error(format("the device does not compute with {}", part_type(type).name()), "");
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
  if (detail::is_in_words(type) && !type.is_bfloat16()) {
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
  const std::string text = format("argument {} of kernel '{}'", index, s.name);
  return s.parameters ? format("{} ({})", text, (*s.parameters)[index].text) : text;
}

void kernel::check_count(std::size_t arguments) const {
  if (arguments == state_->argument_count || state_->argument_count == unknown_count) return;
  throw std::invalid_argument(format("kernel '{}' takes {} arguments, got {}", state_->name,
                                     state_->argument_count, arguments));
}

void kernel::check_range(const launch_range& range) const {
  const auto& s = *state_;
  if (s.rank != 0 && s.rank != range.rank()) {
    throw std::invalid_argument(format("range: {} has {} dimensions; kernel '{}' needs {}",
                                       shape_text(range.global()), range.rank(), s.name, s.rank));
  }
  const auto local = range.local();
  const auto group =
      std::accumulate(local.begin(), local.end(), std::size_t{1}, std::multiplies<>());
  if (group > s.max_work_group_size) {
    throw std::invalid_argument(
        format("local range: {} has {} work-items; kernel '{}' supports at most {} in a group",
               shape_text(local), group, s.name, s.max_work_group_size));
  }
  detail::check_groups(*s.backend, s.name, range);
}

void kernel::check(const sycl::queue& queue, const launch_range& range,
                   std::span<const kernel_argument> arguments) const {
  const auto& s = *state_;
  if (!is_for(queue)) {
    throw std::invalid_argument(
        format("queue: kernel '{}' was compiled for another {}; build the program for this queue",
               s.name, queue.get_context() != s.context ? "context" : "device"));
  }
  check_count(arguments.size());
  // A kernel that `with_local` returned takes local memory of its sizes only.
  if (!s.local.empty()) static_cast<void>(sized_for(arguments));
  check_range(range);
  const auto local = range.local();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& a = arguments[i];
    const auto* p = s.parameters ? &(*s.parameters)[i] : nullptr;
    // "argument 0 of kernel 'f' (float* x): " and what is wrong with it.
    const auto refuse = [&](fault code, std::string_view what) {
      throw interop_error(code, format("{}: {}", describe_argument(i), what));
    };
    const auto require_type = [&](std::string_view what, const dtype& type) {
      refuse(fault::dtype_mismatch,
             format("{} {}; expected {}", what, type.name(), p->type->name()));
    };
    if (a.local()) {
      if (!p || p->view != kernel_parameter::view_form::local) {
        refuse(fault::kind_mismatch,
               "is local memory; the parameter must be a usmx::local_view<T, N>");
      }
      if (local.empty()) {
        throw std::invalid_argument(format(
            "local range: is missing; kernel '{}' shares local memory in work-groups", s.name));
      }
      continue;
    }
    if (p && p->pointer == a.is_scalar()) {
      refuse(fault::kind_mismatch,
             a.is_scalar() ? "is a scalar; expected USM" : "is USM; expected a scalar");
    }
    if (a.is_scalar()) {
      // Without a declared type the runtime still checks that the sizes agree.
      if (a.type().is_record() && !(p && p->type)) {
        refuse(fault::kind_mismatch, "is a struct that the source does not define");
      }
      // Of a struct of C++ only the size is known.
      const bool same_size = p && p->type && p->type->is_record() && a.type().is_record() &&
                             !a.type().members() && p->type->itemsize() == a.type().itemsize();
      if (p && p->type && !same_size && !(*p->type == a.type())) {
        require_type("has type", a.type());
      }
      continue;
    }
    const auto* array = a.array();
    using enum kernel_parameter::view_form;
    if (!array) {
      if (p && p->view != none) {
        refuse(fault::kind_mismatch, "is a pointer without a shape; expected an array");
      }
      continue;
    }
    if (!can_use(queue, *array)) refuse_placement(describe_argument(i), *array, queue);
    const auto& elements = array->elements();
    if (p && p->type && !(*p->type == elements.dtype())) {
      require_type("has elements of", elements.dtype());
    }
    if (elements.read_only() && !(p && p->read_only)) {
      refuse(fault::read_only, p && p->view != none
                                   ? "is read-only; the parameter must be a view of const elements"
                                   : "is read-only; the parameter must be a pointer to const");
    }
    if (!p || p->view == none) continue;
    if (elements.rank() != p->rank) {
      refuse(fault::rank_mismatch,
             format("has {} dimensions; expected {}", elements.rank(), p->rank));
    }
    if (p->view == dense && !elements.layout().is_c_contiguous()) {
      throw std::invalid_argument(
          format("{}: is not C-contiguous; pass x.copy(), or declare usmx::strided",
                 describe_argument(i)));
    }
  }
}

namespace {

/// The bytes of the elements of all arrays, of each array once, and those of a broadcast axis once:
/// what a kernel moves that reads or writes each of them once.
std::size_t bytes_of(std::span<const kernel_argument> arguments) noexcept {
  std::size_t sum = 0;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const array* a = arguments[k].array();
    if (a == nullptr) continue;
    const any_view& elements = a->elements();
    const auto is_same = [&](const kernel_argument& b) {
      return b.array() != nullptr && b.array()->data() == a->data() &&
             b.array()->elements().nbytes() == elements.nbytes();
    };
    if (std::ranges::any_of(arguments.first(k), is_same)) continue;
    std::size_t bytes = elements.nbytes();
    for (int axis = 0; bytes != 0 && axis < elements.rank(); ++axis) {
      const auto extent = static_cast<std::size_t>(elements.layout().shape()[axis]);
      if (elements.layout().strides()[axis] == 0) bytes /= extent;
    }
    sum += bytes;
  }
  return sum;
}

}  // namespace

std::optional<sycl::event> kernel::submit(const sycl::queue& queue, const launch_range& range,
                                          std::span<const kernel_argument> arguments,
                                          std::span<const sycl::event> depends, ordering order,
                                          bool needs_event) const {
  traced record(trace_action::kernel, [&] {
    return detail::traced_on(queue,
                             {.bytes = bytes_of(arguments), .label = trace_text(state_->name)});
  });
  submission command(queue, record);
  const auto order_command = [&](bool is_used) {
    command.after(depends);
    for (const kernel_argument& a : arguments) {
      if (a.array() == nullptr) continue;
      if (order == ordering::automatic) command.after(*a.array());
      if (is_used) command.keep(*a.array());
    }
  };
  if (range.size() == 0) {
    record.cancel();
    order_command(false);
    return command.submit();
  }
  const launch_range cut = in_groups(queue, state_->name, range,
                                     state_->has_group_size ? 0 : state_->max_work_group_size);
  const sycl::kernel code = state_->code();
  order_command(true);
  const auto fill = [&](sycl::handler& h, const std::vector<sycl::event>& before) {
    fill_in(h, cut, arguments, before, code, state_->parameters);
  };
  try {
    // A record may want the device's times, which only an event knows.
    if (needs_event || is_traced()) {
      return command.submit([&](sycl::queue& q, const std::vector<sycl::event>& before) {
        return q.submit([&](sycl::handler& h) { fill(h, before); });
      });
    }
    command.submit([&](sycl::queue& q, const std::vector<sycl::event>& before) {
      sycl::ext::oneapi::experimental::submit(q, [&](sycl::handler& h) { fill(h, before); });
    });
  } catch (const sycl::exception& error) {
    throw sycl::exception(error.code(), refused_text(state_->name, state_->device, error));
  }
  return {};
}

sycl::event kernel::launch(const sycl::queue& queue, const launch_range& range,
                           std::span<const kernel_argument> arguments,
                           std::span<const sycl::event> depends, ordering order) const {
  if (state_->unsized) return sized_for(arguments).launch(queue, range, arguments, depends, order);
  check(queue, range, arguments);
  return *submit(queue, range, arguments, depends, order, true);
}

void kernel::enqueue(const sycl::queue& queue, const launch_range& range,
                     std::span<const kernel_argument> arguments,
                     std::span<const sycl::event> depends, ordering order) const {
  if (state_->unsized) return sized_for(arguments).enqueue(queue, range, arguments, depends, order);
  check(queue, range, arguments);
  submit(queue, range, arguments, depends, order, false);
}

std::optional<sycl::event> detail::own_launch::run(const kernel& k, const sycl::queue& queue,
                                                   const launch_range& range,
                                                   std::span<const kernel_argument> arguments,
                                                   std::span<const sycl::event> depends,
                                                   ordering order, bool needs_event) {
  k.check_count(arguments.size());
  k.check_range(range);
  return k.submit(queue, range, arguments, depends, order, needs_event);
}

// --- limits

kernel_limits kernel::limits() const {
  if (state_->unsized) {
    throw std::invalid_argument(
        format("kernel '{}': its limits depend on the sizes of its local memory; pass these sizes",
               state_->name));
  }
  const detail::driver_entry inside;
  const sycl::kernel k = state_->code();
  const sycl::device& device = state_->device;
  kernel_limits found;
  ask<about::work_group_size>(k, device, found.max_work_group_size);
  ask<about::preferred_work_group_size_multiple>(k, device,
                                                 found.preferred_work_group_size_multiple);
  ask<about::private_mem_size>(k, device, found.private_memory);
  ask<about::max_sub_group_size>(k, device, found.max_sub_group_size);
  ask<about::max_num_sub_groups>(k, device, found.max_sub_groups);
  ask<about::compile_sub_group_size>(k, device, found.required_sub_group_size);
  sycl::range<3> required{0, 0, 0};
  ask<about::compile_work_group_size>(k, device, required);
  // The runtime passes on what the driver says, whose first dimension is the fastest.
  const int rank = state_->rank == 0 ? 3 : state_->rank;
  for (int axis = 0; axis < rank; ++axis) {
    found.required_work_group_size[static_cast<std::size_t>(axis)] = required[rank - 1 - axis];
  }
  return found;
}

// --- local memory

// Only sizes that are compiled in work on every backend, so there is one kernel for each.

kernel kernel::sized_for(std::span<const kernel_argument> arguments) const {
  check_count(arguments.size());
  std::vector<local_memory> sizes;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if ((*state_->parameters)[i].view != kernel_parameter::view_form::local) continue;
    if (!arguments[i].local()) {
      throw interop_error(fault::kind_mismatch,
                          describe_argument(i) + ": expected local memory, with a type and shape");
    }
    sizes.push_back(*arguments[i].local());
  }
  return with_local(sizes);
}

kernel kernel::with_local(std::span<const local_memory> sizes) const {
  const auto& s = *state_;
  std::size_t count = 0, bytes = 0;
  for (std::size_t i = 0; s.parameters && i < s.parameters->size(); ++i) {
    const auto& p = (*s.parameters)[i];
    if (p.view != kernel_parameter::view_form::local || count++ >= sizes.size()) continue;
    const auto& given = sizes[count - 1];
    const std::string where = describe_argument(i);
    if (!(given.type == *p.type)) {
      throw interop_error(fault::dtype_mismatch, format("{}: has elements of {}; expected {}",
                                                        where, given.type.name(), p.type->name()));
    }
    if (given.shape.size() != static_cast<std::size_t>(p.rank)) {
      throw interop_error(fault::rank_mismatch, format("{}: has {} dimensions; expected {}", where,
                                                       given.shape.size(), p.rank));
    }
    if (std::ranges::any_of(given.shape, [](auto n) { return n < 1; })) {
      throw std::invalid_argument(format("{}: has shape {}; expected lengths of at least 1", where,
                                         shape_text(given.shape)));
    }
    bytes += bytes_of(given);
  }
  if (count != sizes.size()) {
    throw std::invalid_argument(
        format("kernel '{}' takes {} sizes of local memory, got {}", s.name, count, sizes.size()));
  }
  if (!s.unsized) {
    if (same(s.local, sizes)) return *this;
    throw std::invalid_argument(
        format("kernel '{}' was compiled for other sizes of local memory; call with_local of the "
               "kernel without sizes",
               s.name));
  }
  if (const auto most = s.device.get_info<sycl::info::device::local_mem_size>(); bytes > most) {
    throw std::invalid_argument(
        format("local memory of kernel '{}': takes {} bytes; the device has {} for a work-group",
               s.name, bytes, most));
  }
  auto& known = *s.unsized;
  {
    const std::lock_guard lock(known.mutex);
    for (const auto& [size, made] : known.made) {
      if (same(size, sizes)) return made;
    }
  }
  auto from = known.from;
  from.sized = s.code_name;
  from.sizes.assign(sizes.begin(), sizes.end());
  auto made = program::build(std::move(from)).get(s.code_name);
  const std::lock_guard lock(known.mutex);
  if (known.made.size() >= most_sizes) known.made.erase(known.made.begin());
  known.made.emplace_back(std::vector(sizes.begin(), sizes.end()), made);
  return made;
}

}  // namespace usmx
