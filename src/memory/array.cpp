// Makes arrays and checks them: the elements of every array are USM of its context and lie inside
// one allocation, so that no other code has to check it again.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/array.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "core/format.hpp"
#include "memory/reach.hpp"
#include "usmx/runtime.hpp"
#include "usmx/wait.hpp"

namespace usmx {
namespace {

std::string hex(const void* p) {
  return detail::format("{:#x}", reinterpret_cast<std::uintptr_t>(p));
}

/// The message of the fault, and what comes after the rule.
[[noreturn]] void raise(fault code, const std::string& held, const std::string& more = {}) {
  throw interop_error(code, detail::fault_text(code, held) + more);
}

layout c_order(std::span<const std::int64_t> shape, dtype type) {
  layout where;
  if (const fault f = layout::c_order(extents(shape), type.itemsize(), where); f != fault::none) {
    raise(f, detail::shape_text(shape));
  }
  return where;
}

any_view view_of(void* data, dtype type, layout where, usm_kind kind) {
  any_view out;
  const fault f = any_view::make(data, std::move(type), std::move(where), kind, false, out);
  if (f != fault::none) raise(f, data == nullptr ? "" : hex(data));
  return out;
}

/// The kind of the elements' memory, once their whole extent is known to lie in one allocation of
/// `context`.
usm_kind checked_kind(const any_view& elements, const sycl::context& context) {
  if (elements.size() == 0) return elements.kind();
  const std::byte* first = elements.first_byte();
  const std::byte* last = elements.last_byte();
  const auto [kind, is_inside, extent] =
      detail::describe_bytes(elements.data(), first, last, context);
  if (kind == usm_kind::unknown) raise(fault::not_usm, hex(elements.data()));
  if (elements.kind() != usm_kind::unknown && elements.kind() != kind) {
    raise(fault::kind_mismatch, std::string(name(kind)) + " memory",
          std::string(", ") + name(elements.kind()));
  }
  if (!is_inside) {
    raise(fault::out_of_allocation, detail::format("{} .. {}", hex(first), hex(last)),
          extent
              ? detail::format(", {} .. {}", hex(extent->base), hex(extent->base + extent->bytes))
              : "");
  }
  return kind;
}

}  // namespace

array array::empty(const sycl::queue& queue, std::span<const std::int64_t> shape, dtype type,
                   usm_kind kind) {
  if (kind == usm_kind::unknown) {
    throw std::invalid_argument(
        "usm_type: unknown memory cannot be allocated; expected device, shared or host");
  }
  if (shape.size() == 1 && shape[0] >= 0) {
    std::int64_t bytes = 0;
    const auto item = static_cast<std::int64_t>(type.itemsize());
    if (!__builtin_mul_overflow(shape[0], item, &bytes)) {
      shared_owner owner = allocate(queue, kind, static_cast<std::size_t>(bytes));
      any_view elements;
      const fault f = any_view::row(owner->base(), type, shape[0], kind, elements);
      if (f != fault::none) raise(f, hex(owner->base()));
      return {std::move(elements), queue, std::move(owner)};
    }
  }
  layout where = c_order(shape, type);
  const std::size_t bytes = static_cast<std::size_t>(where.size()) * type.itemsize();
  shared_owner owner = allocate(queue, kind, bytes);
  any_view elements = view_of(owner->base(), std::move(type), std::move(where), kind);
  return {std::move(elements), queue, std::move(owner)};
}

void detail::came_back_on(const shared_owner& memory, const sycl::queue& queue) {
  if (!memory || !memory->is_shared_again() || !came_back(memory)) return;
  if (memory->try_exposed_on(queue, queue)) return;
  unlocked([&] { memory->exposed_on(queue); });
}

array array::bind(any_view elements, const sycl::queue& queue, shared_owner keep_alive) {
  const usm_kind kind = checked_kind(elements, queue.get_context());
  detail::came_back_on(keep_alive, queue);
  // Device memory may be that of another device of the context.
  if (kind != usm_kind::device || elements.size() == 0) {
    return {std::move(elements).with_kind(kind), queue, std::move(keep_alive)};
  }
  std::optional<sycl::queue> near = detail::queue_near(queue, kind, elements.data());
  return {std::move(elements).with_kind(kind), std::move(near), std::move(keep_alive)};
}

array array::over_host(any_view elements, const sycl::queue& queue, shared_owner keep_alive) {
  const sycl::device device = queue.get_device();
  if (!reads_host_memory(device)) {
    throw device_error(detail::format(
        "data: is memory of the host, which kernels on {} cannot use; copy it with usmx.asarray(x)",
        filter_string(device)));
  }
  if (keep_alive) keep_alive->exposed_to_host();
  return {std::move(elements).with_kind(usm_kind::unknown), queue, std::move(keep_alive)};
}

array array::adopt(const sycl::queue& queue, void* data, std::span<const std::int64_t> shape,
                   dtype type, std::function<void(void*)> deleter) {
  any_view elements;
  try {
    elements = view_of(data, type, c_order(shape, type), usm_kind::unknown);
    elements = std::move(elements).with_kind(checked_kind(elements, queue.get_context()));
  } catch (...) {
    if (deleter) deleter(data);
    throw;
  }
  const std::size_t bytes = elements.nbytes();
  // From here on the owner calls the deleter, also if it cannot be made.
  shared_owner owner = usmx::adopt(data, bytes, std::move(deleter));
  detail::came_back_on(owner, queue);
  return {std::move(elements), queue, std::move(owner)};
}

array array::on(const sycl::queue& queue) const {
  if (!queue_) throw std::invalid_argument("queue: the array has no memory; expected one that has");
  if (queue == *queue_) return *this;
  if (queue.get_context() != queue_->get_context()) {
    throw std::invalid_argument(
        "queue: its context is not that of the array's memory; copy the array instead");
  }
  detail::require_within_reach("queue", kind(), queue_->get_device(), queue.get_device());
  // The new queue is not ordered behind the pending commands of the old one.
  wait();
  if (owner_ && owner_->is_lent() && kind() != usm_kind::unknown) {
    // Its own library submits there, and nothing else tells that.
    usmx::wait(*queue_);
    owner_->exposed_on(*queue_);
  }
  return {any_view(view_), queue, owner_};
}

}  // namespace usmx
