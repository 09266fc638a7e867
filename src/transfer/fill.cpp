// Commands on one array: fills, prefetches and hints to the driver.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <vector>

#include "core/format.hpp"
#include "core/numbers.hpp"
#include "memory/ready.hpp"
#include "runtime/traced_queue.hpp"
#include "transfer/copy_loops.hpp"
#include "transfer/copy_paths.hpp"
#include "transfer/temporaries.hpp"
#include "usmx/copy.hpp"

namespace usmx {
namespace {

using detail::command_chain;
using detail::is_dense;
using detail::is_ready;
using detail::small_bytes;

/// A copy of the caller's element, aligned as its view must be.
class element_bytes {
 public:
  element_bytes(const void* element, std::size_t itemsize) {
    if (itemsize > sizeof(few_)) many_.resize(itemsize);
    std::memcpy(data(), element, itemsize);
  }
  std::byte* data() noexcept { return many_.empty() ? few_ : many_.data(); }

 private:
  alignas(16) std::byte few_[16];
  std::vector<std::byte> many_;
};

/// One element at `element`, repeated over the shape of `like`.
any_view repeated(const void* element, const any_view& like, usm_kind kind) {
  const extents zero(static_cast<std::size_t>(like.rank()), 0);
  layout where;
  detail::require_valid(
      layout::strided(like.layout().shape(), zero, like.dtype().itemsize(), where));
  return detail::view_of(const_cast<void*>(element), like.dtype(), std::move(where), kind)
      .as_read_only();
}

template <class T>
void fill_run(command_chain& commands, void* data, const void* element, std::size_t count) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  commands.then(commands.queue().fill(data, value, count, commands.before()));
}

/// `count` contiguous elements in USM.
void fill_dense(command_chain& commands, std::byte* data, const std::byte* element,
                std::size_t itemsize, std::size_t count) {
  if (std::all_of(element, element + itemsize, [&](std::byte b) { return b == element[0]; })) {
    commands.then(commands.queue().memset(data, std::to_integer<int>(element[0]), itemsize * count,
                                          commands.before()));
    return;
  }
  const bool is_word =
      detail::visit_word(itemsize, [&]<std::unsigned_integral T>(std::type_identity<T>)
                           requires(sizeof(T) > 1)
                         {
                           fill_run<T>(commands, data, element, count);
                           return true;
                         });
  if (is_word) return;
  // The runtime has no patterns of other sizes: copies the first element, then twice as many each
  // time.
  const std::size_t total = itemsize * count;
  const array seed = detail::host_bytes(commands, itemsize);
  std::memcpy(seed.data(), element, itemsize);
  commands.memcpy(data, seed.data(), itemsize);
  for (std::size_t done = itemsize; done < total;) {
    const std::size_t next = std::min(done, total - done);
    commands.memcpy(data + done, data, next);
    done += next;
  }
}

void submit_fill(command_chain& commands, const array& dst, const std::byte* element) {
  const any_view& to = dst.elements();
  const std::size_t itemsize = to.dtype().itemsize();
  commands.uses(dst);
  if (is_dense(to)) {
    return fill_dense(commands, to.first_byte(), element, itemsize,
                      static_cast<std::size_t>(to.size()));
  }
  const array on_host = detail::host_bytes(commands, itemsize);
  std::memcpy(on_host.data(), element, itemsize);
  const array seed = detail::device_elements(commands, extents{1}, to.dtype());
  commands.memcpy(seed.data(), on_host.data(), itemsize);
  detail::on_device(commands, to, repeated(seed.data(), to, usm_kind::device));
}

void check_queue(const sycl::queue& queue, const array& a) {
  if (queue.get_context() == a.queue().get_context()) return;
  throw std::invalid_argument(
      "queue: its context is not that of the memory; pass a queue of the memory's context");
}

/// The element of a fill, and its view as the source of a copy to all elements of `dst`. Throws if
/// `queue` cannot fill them.
struct fill_source {
  fill_source(const sycl::queue& queue, const array& dst, const void* given)
      : element(given, dst.elements().dtype().itemsize()),
        view(repeated(element.data(), dst.elements(), usm_kind::unknown)) {
    detail::check_copy(dst.elements(), view);
    check_queue(queue, dst);
  }
  fill_source(const fill_source&) = delete;  // the view points into the element
  fill_source& operator=(const fill_source&) = delete;

  element_bytes element;
  any_view view;
};

trace_subject subject(const sycl::queue& queue, const any_view& v) {
  return detail::traced_on(queue, {.bytes = v.nbytes(), .address = v.data(), .kind = v.kind()});
}

std::size_t bytes_between(const any_view& v) { return detail::span_of(v); }

}  // namespace

void fill(const array& dst, const void* element) { fill(dst.queue(), dst, element); }

void fill(const sycl::queue& queue, const array& dst, const void* element,
          std::span<const sycl::event> depends) {
  const any_view& to = dst.elements();
  fill_source source(queue, dst, element);
  if (to.size() == 0) return wait(depends);
  const traced record(trace_action::fill, [&] { return subject(queue, to); });
  if (host_accessible(to.kind())) {
    wait(depends);
    detail::wait_for(dst);
    return convert_on_host(to, source.view);
  }
  command_chain commands(queue, true);
  commands.after(depends);
  run_and_wait(commands, [&](command_chain& c) { submit_fill(c, dst, source.element.data()); });
}

sycl::event fill_async(const sycl::queue& queue, const array& dst, const void* element,
                       std::span<const sycl::event> depends) {
  const any_view& to = dst.elements();
  fill_source source(queue, dst, element);
  if (to.size() == 0) {
    command_chain order(queue, false);
    order.after(depends);
    return order.end();
  }
  traced record(trace_action::fill, [&] { return subject(queue, to); });
  if (host_accessible(to.kind()) && detail::is_quick(queue, to.nbytes(), depends) &&
      is_ready(dst)) {
    convert_on_host(to, source.view);
    return {};
  }
  command_chain commands(queue, false, &record);
  commands.after(depends);
  return run(commands, [&](command_chain& c) { submit_fill(c, dst, source.element.data()); });
}

void memset(const array& dst, std::uint8_t value) {
  const std::vector<std::uint8_t> element(dst.elements().dtype().itemsize(), value);
  fill(dst, element.data());
}

sycl::event memset_async(const sycl::queue& queue, const array& dst, std::uint8_t value,
                         std::span<const sycl::event> depends) {
  const std::vector<std::uint8_t> element(dst.elements().dtype().itemsize(), value);
  return fill_async(queue, dst, element.data(), depends);
}

sycl::event prefetch_async(const sycl::queue& queue, const array& a,
                           std::span<const sycl::event> depends) {
  check_queue(queue, a);
  command_chain commands(queue, false);
  commands.after(depends);
  commands.after(a);
  if (a.kind() != usm_kind::shared || a.elements().size() == 0) return commands.end();
  const traced record(trace_action::prefetch, [&] { return subject(queue, a.elements()); });
  commands.keep(a);
  return run(commands, [&](command_chain& c) {
    c.then(c.queue().prefetch(a.elements().first_byte(), bytes_between(a.elements()), c.before()));
  });
}

sycl::event mem_advise_async(const sycl::queue& queue, const array& a, int advice,
                             std::span<const sycl::event> depends) {
  check_queue(queue, a);
  command_chain commands(queue, false);
  commands.after(depends);
  commands.after(a);
  if (a.elements().size() == 0) return commands.end();
  commands.keep(a);
  return run(commands, [&](command_chain& c) {
    c.then(c.queue().mem_advise(a.elements().first_byte(), bytes_between(a.elements()), advice,
                                c.before()));
  });
}

}  // namespace usmx
