// Transfers with nothing on the other side: one value everywhere, and what the driver is told about
// memory that stays where it is.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <vector>

#include "memory/ready.hpp"
#include "runtime/traced_queue.hpp"
#include "transfer/copy_paths.hpp"
#include "transfer/loop_nest.hpp"
#include "transfer/temporaries.hpp"
#include "usmx/copy.hpp"

namespace usmx {
namespace {

using detail::command_chain;
using detail::is_dense;
using detail::is_ready;
using detail::small_bytes;

/// Copies of what the caller gave, aligned as a view of it must be.
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
  const fault f = layout::strided(like.layout().shape(), zero, like.dtype().itemsize(), where);
  if (f != fault::none)
    throw interop_error(f, std::string(field_of(f)) + ": " + std::string(message(f)));
  return detail::view_of(const_cast<void*>(element), like.dtype(), std::move(where), kind)
      .as_read_only();
}

template <class T>
void fill_run(command_chain& commands, void* data, const void* element, std::size_t count) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  commands.then(commands.queue().fill(data, value, count, commands.before()));
}

/// `count` elements in a row in USM.
void fill_dense(command_chain& commands, std::byte* data, const std::byte* element,
                std::size_t itemsize, std::size_t count) {
  if (std::all_of(element, element + itemsize, [&](std::byte b) { return b == element[0]; })) {
    commands.then(commands.queue().memset(data, std::to_integer<int>(element[0]), itemsize * count,
                                          commands.before()));
    return;
  }
  switch (itemsize) {
    case 2:
      return fill_run<std::uint16_t>(commands, data, element, count);
    case 4:
      return fill_run<std::uint32_t>(commands, data, element, count);
    case 8:
      return fill_run<std::uint64_t>(commands, data, element, count);
    default:
      break;
  }
  // What the runtime has no pattern for grows by doubling.
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
      "queue: of another context than the memory; pass a queue of the memory's context");
}

trace_subject subject(const sycl::queue& queue, const any_view& v) {
  return detail::traced_on(queue, {.bytes = v.nbytes(), .address = v.data(), .kind = v.kind()});
}

std::size_t bytes_between(const any_view& v) { return detail::span_of(v); }

}  // namespace

void fill(const array& dst, const void* element) { fill(dst.queue(), dst, element); }

void fill(const sycl::queue& queue, const array& dst, const void* element,
          std::span<const sycl::event> depends) {
  const any_view& to = dst.elements();
  element_bytes one(element, to.dtype().itemsize());
  const any_view source = repeated(one.data(), to, usm_kind::unknown);
  detail::check_copy(to, source);
  check_queue(queue, dst);
  if (to.size() == 0) return wait(depends);
  const traced record(trace_action::fill, [&] { return subject(queue, to); });
  if (host_accessible(to.kind())) {
    wait(depends);
    detail::wait_for(dst);
    return convert_on_host(to, source);
  }
  command_chain commands(queue, true);
  commands.after(depends);
  run_and_wait(commands, [&](command_chain& c) { submit_fill(c, dst, one.data()); });
}

sycl::event fill_async(const sycl::queue& queue, const array& dst, const void* element,
                       std::span<const sycl::event> depends) {
  const any_view& to = dst.elements();
  element_bytes one(element, to.dtype().itemsize());
  const any_view source = repeated(one.data(), to, usm_kind::unknown);
  detail::check_copy(to, source);
  check_queue(queue, dst);
  traced record(trace_action::fill, [&] { return subject(queue, to); });
  if (host_accessible(to.kind()) && detail::is_quick(queue, to.nbytes(), depends) &&
      is_ready(dst)) {
    convert_on_host(to, source);
    return {};
  }
  command_chain commands(queue, false, &record);
  commands.after(depends);
  if (to.size() == 0) return commands.end();
  return run(commands, [&](command_chain& c) { submit_fill(c, dst, one.data()); });
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
