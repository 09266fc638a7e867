// Arguments, ranges and launches; every check that SYCL leaves out is made here.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/kernel.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include <sycl/handler.hpp>

#include "kernel_state.hpp"
#include "traced_queue.hpp"

namespace usmx {
namespace {

std::string describe(std::span<const std::size_t> sizes) {
  std::string text = "(";
  for (const auto n : sizes) text += (text.size() > 1 ? ", " : "") + std::to_string(n);
  return text + (sizes.size() == 1 ? ",)" : ")");
}

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

/// A scalar goes by its bits: the runtime only looks at size and bytes, and a struct would not be
/// portable.
void set(sycl::handler& h, int index, const kernel_argument& a) {
  if (!a.is_scalar()) {
    h.set_arg(index, const_cast<void*>(a.pointer()));
    return;
  }
  switch (a.type().itemsize()) {
    case 1:
      return h.set_arg(index, static_cast<std::uint8_t>(a.bits()));
    case 2:
      return h.set_arg(index, static_cast<std::uint16_t>(a.bits()));
    case 4:
      return h.set_arg(index, static_cast<std::uint32_t>(a.bits()));
    default:
      return h.set_arg(index, a.bits());
  }
}

}  // namespace

// --- arguments and ranges -----------------------------------------------------------------------

kernel_argument::kernel_argument(const dtype& type, const void* bytes) noexcept
    : form_(form::scalar), type_(type) {
  std::memcpy(&bits_, bytes, std::min<std::size_t>(type.itemsize(), sizeof bits_));
}

launch_range::launch_range(std::span<const std::size_t> global,
                           std::span<const std::size_t> local) {
  if (global.empty() || global.size() > 3) {
    throw std::invalid_argument("global range: has " + std::to_string(global.size()) +
                                " dimensions, expected 1, 2 or 3");
  }
  rank_ = static_cast<int>(global.size());
  std::ranges::copy(global, global_.begin());
  if (local.empty()) return;
  if (local.size() != global.size()) {
    throw std::invalid_argument("local range: " + describe(local) +
                                " must have as many dimensions " + "as the global range " +
                                describe(global));
  }
  for (std::size_t k = 0; k < local.size(); ++k) {
    if (local[k] == 0 || global[k] % local[k] != 0) {
      throw std::invalid_argument("local range: " + describe(local) +
                                  " must divide the global range " + describe(global) +
                                  " in every dimension");
    }
  }
  has_local_ = true;
  std::ranges::copy(local, local_.begin());
}

std::size_t launch_range::size() const noexcept { return global_[0] * global_[1] * global_[2]; }

// --- kernels ------------------------------------------------------------------------------------

const std::string& kernel::name() const noexcept { return state_->name; }
const std::optional<std::vector<kernel_parameter>>& kernel::parameters() const noexcept {
  return state_->parameters;
}
std::size_t kernel::argument_count() const noexcept { return state_->argument_count; }
int kernel::rank() const noexcept { return state_->rank; }
std::size_t kernel::max_work_group_size() const noexcept { return state_->max_work_group_size; }

void kernel::check(const sycl::queue& queue, const launch_range& range,
                   std::span<const kernel_argument> arguments) const {
  const auto& s = *state_;
  const auto context = queue.get_context();
  if (context != s.context || queue.get_device() != s.device) {
    throw std::invalid_argument("queue: kernel '" + s.name + "' was compiled for another " +
                                (context != s.context ? "context" : "device"));
  }
  if (arguments.size() != s.argument_count) {
    throw std::invalid_argument("kernel '" + s.name + "' takes " +
                                std::to_string(s.argument_count) + " arguments, got " +
                                std::to_string(arguments.size()));
  }
  if (s.rank != 0 && s.rank != range.rank()) {
    throw std::invalid_argument("range: " + describe(range.global()) + " has another number of " +
                                "dimensions than the " + std::to_string(s.rank) + " of kernel '" +
                                s.name + "'");
  }
  const auto local = range.local();
  const auto group =
      std::accumulate(local.begin(), local.end(), std::size_t{1}, std::multiplies<>());
  if (group > s.max_work_group_size) {
    throw std::invalid_argument("local range: " + describe(local) + " has " +
                                std::to_string(group) + " work-items, kernel '" + s.name +
                                "' takes at most " + std::to_string(s.max_work_group_size) +
                                " in a group");
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& a = arguments[i];
    const auto* p = s.parameters ? &(*s.parameters)[i] : nullptr;
    const auto where = [&] {
      return "argument " + std::to_string(i) + " of kernel '" + s.name + "'" +
             (p ? " (" + p->text + ")" : "");
    };
    if (p && p->pointer == a.is_scalar()) {
      throw interop_error(fault::kind_mismatch, where() + ": " +
                                                    (a.is_scalar() ? "is a scalar, expected USM"
                                                                   : "is USM, expected a scalar"));
    }
    if (a.is_scalar()) {
      // Without a declared type the sizes must agree all the same; the runtime checks that much.
      if (p && p->type && !(*p->type == a.type())) {
        throw interop_error(fault::dtype_mismatch, where() + ": has type " + a.type().name() +
                                                       ", expected " + p->type->name());
      }
      continue;
    }
    const auto* array = a.array();
    if (!array) continue;
    if (array->queue().get_context() != context) {
      throw std::invalid_argument(where() +
                                  ": the array's memory belongs to another context than the queue");
    }
    const auto& elements = array->elements();
    if (p && p->type && !(*p->type == elements.dtype())) {
      throw interop_error(fault::dtype_mismatch, where() + ": has elements of " +
                                                     elements.dtype().name() + ", expected " +
                                                     p->type->name());
    }
    if (elements.read_only() && !(p && p->read_only)) {
      throw interop_error(fault::read_only,
                          where() + ": is read-only, the parameter must be a pointer to const");
    }
  }
}

sycl::event kernel::launch(sycl::queue& queue, const launch_range& range,
                           std::span<const kernel_argument> arguments,
                           std::span<const sycl::event> depends) const {
  check(queue, range, arguments);
  const std::vector<sycl::event> before(depends.begin(), depends.end());
  // No work-item: nothing may be submitted, but what the caller waits for is still `depends`.
  if (range.size() == 0) return queue.ext_oneapi_submit_barrier(before);
  traced record(trace_action::kernel,
                [&] { return detail::traced_on(queue, {.label = trace_text(state_->name)}); });
  for (const auto& a : arguments) {
    if (a.array()) a.array()->used_on(queue);
  }
  const sycl::event launched = queue.submit([&](sycl::handler& h) {
    h.depends_on(before);
    int index = 0;
    for (const auto& a : arguments) set(h, index++, a);
    switch (range.rank()) {
      case 1:
        return run<1>(h, range, state_->handle);
      case 2:
        return run<2>(h, range, state_->handle);
      default:
        return run<3>(h, range, state_->handle);
    }
  });
  detail::measure(record, queue, launched);
  for (const auto& a : arguments) {
    if (a.array()) a.array()->used_until(queue, launched);
  }
  return launched;
}

}  // namespace usmx
