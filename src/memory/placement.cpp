// Which arrays a computation can use together; see usmx/placement.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/placement.hpp"

#include <algorithm>

#include "core/format.hpp"
#include "memory/allocation_failure.hpp"
#include "memory/reach.hpp"
#include "usmx/default_kind.hpp"

namespace usmx {
namespace {

/// "shared memory on opencl:cpu:0 (name)".
std::string place_of(const array& a) {
  if (is_host_memory(a)) return "memory of the host";
  const bool has_kind = a.kind() != usm_kind::unknown;
  return detail::format("{}memory on {}", has_kind ? std::string(name(a.kind())) + " " : "",
                        detail::describe(a.queue().get_device()));
}

}  // namespace

bool can_use(const sycl::queue& queue, const array& a) {
  if (a.queue() == queue) return true;
  if (is_host_memory(a)) return reads_host_memory(queue.get_device());
  return a.queue().get_context() == queue.get_context() &&
         detail::is_within_reach(a.kind(), a.queue().get_device(), queue.get_device());
}

void refuse_placement(const std::string& what, const array& a, const sycl::queue& queue) {
  const std::string device = detail::describe(queue.get_device());
  if (is_host_memory(a)) {
    throw placement_error(detail::format(
        "{}: is memory of the host, which kernels on {} cannot use; usmx.asarray(x, copy=True, "
        "queue=queue) copies it there",
        what, device));
  }
  if (a.queue().get_context() != queue.get_context()) {
    throw placement_error(detail::format(
        "{}: its memory belongs to another context than the queue: it is {}, and the queue is on "
        "{}; move it with x.to_device(queue), or pass queue=x.queue",
        what, place_of(a), device));
  }
  detail::require_within_reach(what, a.kind(), a.queue().get_device(), queue.get_device());
  throw placement_error(
      detail::format("{}: is {}, which the queue on {} cannot use", what, place_of(a), device));
}

std::optional<sycl::queue> execution_queue(std::span<const array* const> arrays) {
  if (arrays.empty()) return {};
  const auto usm = std::ranges::find_if(arrays, [](const array* a) { return !is_host_memory(*a); });
  const sycl::queue& queue = (usm == arrays.end() ? arrays.front() : *usm)->queue();
  if (std::ranges::all_of(arrays, [&](const array* a) { return can_use(queue, *a); })) {
    return queue;
  }
  std::string places;
  for (std::size_t n = 0; n < arrays.size(); ++n) {
    const array& a = *arrays[n];
    const bool is_apart = !is_host_memory(a) && a.queue().get_context() != queue.get_context();
    places += detail::format("{}array {} is {}{}", n == 0 ? "" : ", ", n, place_of(a),
                             is_apart ? " in another context" : "");
  }
  throw placement_error(detail::format(
      "arrays: no queue can use all of them: {}; move them to one place with x.to_device(queue)",
      places));
}

void joint_kind::add(usm_kind kind, int rank) noexcept {
  seen_[rank > 0 ? 1 : 0][static_cast<std::size_t>(kind)] = true;
}

usm_kind joint_kind::result(const sycl::queue& queue) const {
  for (const auto& kinds : {seen_[1], seen_[0]}) {
    for (const usm_kind kind : {usm_kind::device, usm_kind::shared, usm_kind::host}) {
      if (kinds[static_cast<std::size_t>(kind)]) return kind;
    }
  }
  return default_kind(queue);
}

std::optional<usm_kind> coerced_kind(std::span<const usm_kind> kinds) noexcept {
  if (kinds.empty()) return {};
  for (const usm_kind kind : {usm_kind::device, usm_kind::shared}) {
    if (std::ranges::find(kinds, kind) != kinds.end()) return kind;
  }
  return usm_kind::host;
}

}  // namespace usmx
