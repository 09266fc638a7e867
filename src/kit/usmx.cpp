// The C functions of usmx/usmx.h: each is a call of the C++ library whose exception becomes a
// status and a text.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/usmx.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <sycl/exception.hpp>

#include "core/format.hpp"
#include "kit/shared_elements.hpp"
#include "usmx/array.hpp"
#include "usmx/copy.hpp"
#include "usmx/exchange.hpp"
#include "usmx/runtime.hpp"
#include "usmx/submission.hpp"
#include "usmx/version.hpp"
#include "usmx/wait.hpp"

struct usmx_queue {
  sycl::queue queue;
};
struct usmx_array {
  usmx::array elements;
};

namespace usmx {
namespace {

std::string& last_error() {
  static thread_local std::string text;
  return text;
}

usmx_status failed(usmx_status status, const char* text) noexcept {
  try {
    last_error() = text;
  } catch (...) {
    last_error().clear();
  }
  return status;
}

/// Runs `body`; no exception leaves a C function.
template <class Body>
usmx_status guarded(Body body) noexcept {
  try {
    body();
    return USMX_OK;
  } catch (const std::bad_alloc& e) {
    return failed(USMX_NO_MEMORY, e.what());
  } catch (const std::logic_error& e) {
    return failed(USMX_INVALID, e.what());
  } catch (const device_error& e) {
    return failed(USMX_NO_DEVICE, e.what());
  } catch (const sycl::exception& e) {
    return failed(USMX_RUNTIME_ERROR, e.what());
  } catch (const std::exception& e) {
    return failed(USMX_OTHER_ERROR, e.what());
  } catch (...) {
    return failed(USMX_OTHER_ERROR, "an unknown exception");
  }
}

/// The object behind a pointer that must not be null.
template <class T>
T& required(T* p, const char* name) {
  if (p == nullptr) throw std::invalid_argument(detail::format("{}: is null", name));
  return *p;
}

const sycl::queue& queue_at(const void* p, const char* name = "sycl_queue") {
  return required(static_cast<const sycl::queue*>(p), name);
}

const array& elements_of(const usmx_array* a, const char* name = "array") {
  return required(a, name).elements;
}

const sycl::queue& queue_or(const usmx_queue* queue, const array& a) {
  return queue != nullptr ? queue->queue : a.queue();
}

dtype parse(const char* typestr) {
  dtype out;
  const std::string_view text = &required(typestr, "typestr");
  detail::require_valid(dtype::parse(text, out), text);
  return out;
}

/// Bytes of the host as elements like those of `a`, in C order.
any_view bytes_of_host(const array& a, const void* bytes, std::size_t count, const char* name,
                       bool read_only) {
  const any_view& v = a.elements();
  if (count != v.nbytes()) {
    throw std::invalid_argument(
        detail::format("bytes: {}; expected the {} of all elements", count, v.nbytes()));
  }
  if (count > 0) required(static_cast<const char*>(bytes), name);
  layout where;
  detail::require_valid(layout::c_order(v.layout().shape(), v.dtype().itemsize(), where));
  if (reinterpret_cast<std::uintptr_t>(bytes) % v.dtype().alignment() != 0) {
    throw interop_error(
        fault::data_misaligned,
        detail::format("{}: is not aligned for elements of type {}", name, v.dtype().name()));
  }
  any_view out;
  detail::require_valid(any_view::make(const_cast<void*>(bytes), v.dtype(), std::move(where),
                                       usm_kind::unknown, read_only, out));
  return out;
}

const void* one_element(const array& a, const void* element, std::size_t bytes) {
  if (bytes != a.elements().dtype().itemsize()) {
    throw std::invalid_argument(detail::format("bytes: {}; expected the {} of an element", bytes,
                                               a.elements().dtype().itemsize()));
  }
  return &required(static_cast<const char*>(element), "element");
}

void end_shared(sycl_usm_array* self) noexcept {
  delete static_cast<detail::shared_elements*>(self->owner);
  self->owner = nullptr;
  self->release = nullptr;
}

/// Of the bindings; null until they are loaded.
std::atomic<void (*)(sycl_usm_array*)> python_release{nullptr};

void describe(const array& a, bool is_pending, sycl_usm_array& out) noexcept {
  exchange::describe(a.elements(), out);
  if (is_pending) out.flags |= SYCL_USM_PENDING;
  leaves(a.queue());
  address_leaves(a.keep_alive());
  out.queue = &a.queue();
  out.context = nullptr;
  out.event = nullptr;
  out.owner = nullptr;
  out.release = nullptr;
}

bool has_own_work(const array& a) { return a.keep_alive() && a.keep_alive()->has_own_work(); }

/// The memory of a struct that was taken: `release` is called once, after the last command.
shared_owner owner_of(const sycl_usm_array& described, const any_view& v) {
  auto held = std::make_shared<sycl_usm_array>(described);
  held->release = nullptr;  // the caller's until nothing can fail
  const auto bytes = static_cast<std::size_t>(v.last_byte() - v.first_byte());
  shared_owner made = adopt(v.first_byte(), bytes, [held](void*) {
    if (held->release != nullptr) held->release(held.get());
  });
  held->release = described.release;
  return made;
}

sycl::queue queue_of(const sycl_usm_array& described, const any_view& v) {
  if (described.queue != nullptr) return queue_at(described.queue);
  if (described.context == nullptr) {
    throw interop_error(fault::not_usm,
                        "queue, context: both are null; expected a sycl::queue or a sycl::context");
  }
  const auto& context = *static_cast<const sycl::context*>(described.context);
  return queue_for(context,
                   v.size() > 0 ? device_of(v.data(), context) : context.get_devices().front());
}

array take(sycl_usm_array& described) {
  if (const array* const own = detail::shared_in(described)) {
    array same = *own;
    described.release(&described);
    return same;
  }
  const suai::fields f = exchange::read(described);
  any_view v;
  if (const fault code = suai::check(f, v); code != fault::none) {
    throw interop_error(code, suai::describe(f, code));
  }
  const sycl::queue queue = queue_of(described, v);
  // Checked before anything is taken over: a failure changes nothing.
  array made = array::bind(std::move(v), queue, {});
  made = array::over(made.elements(), made.queue(), owner_of(described, made.elements()));
  detail::came_back_on(made.keep_alive(), queue);
  // Memory that came back may know of commands behind that event.
  if (described.event != nullptr && !came_back(made.keep_alive())) {
    made.used_on(queue);
    made.used_until(queue, *static_cast<const sycl::event*>(described.event));
  } else if (described.event != nullptr || (described.flags & SYCL_USM_PENDING) != 0) {
    made.used_on(queue);
    made.used_until(queue);
  }
  described.release = nullptr;
  described.owner = nullptr;
  return made;
}

template <class T, class Make>
usmx_status make(T** out, Make value) noexcept {
  return guarded([&] {
    required(out, "out") = nullptr;
    *out = new T{value()};
  });
}

}  // namespace

namespace detail {

void share(std::unique_ptr<shared_elements> held, void (*release)(sycl_usm_array*),
           sycl_usm_array& out) noexcept {
  describe(held->elements, held->event.has_value(), out);
  if (held->event) out.event = &*held->event;
  out.release = release;
  out.owner = held.release();
}

const array* shared_in(const sycl_usm_array& a) noexcept {
  if (a.release == nullptr || a.owner == nullptr) return nullptr;
  if (a.release != end_shared && a.release != python_release.load(std::memory_order_relaxed)) {
    return nullptr;
  }
  const auto& held = *static_cast<const shared_elements*>(a.owner);
  sycl_usm_array as_made;
  describe(held.elements, false, as_made);
  const bool is_same = a.data == as_made.data && a.offset == 0 && a.shape == as_made.shape &&
                       a.strides == as_made.strides && a.ndim == as_made.ndim &&
                       a.itemsize == as_made.itemsize && a.type == as_made.type &&
                       ((a.flags ^ as_made.flags) & SYCL_USM_READ_ONLY) == 0 &&
                       a.queue == as_made.queue;
  return is_same ? &held.elements : nullptr;
}

void set_python_release(void (*release)(sycl_usm_array*)) noexcept {
  python_release.store(release, std::memory_order_relaxed);
}

}  // namespace detail
}  // namespace usmx

using namespace usmx;  // NOLINT: the functions below are the C names of what is in it

const char* usmx_error(void) { return last_error().c_str(); }
const char* usmx_version(void) { return usmx::version; }

usmx_status usmx_queue_open(const char* filter, usmx_queue** out) {
  return make(out, [&] {
    return filter == nullptr ? default_queue() : default_queue(select_device(filter));
  });
}

usmx_status usmx_queue_share(const void* sycl_queue, usmx_queue** out) {
  return make(out, [&] { return queue_at(sycl_queue); });
}

usmx_status usmx_queue_wait(const usmx_queue* queue) {
  return guarded([&] { usmx::wait(required(queue, "queue").queue); });
}

usmx_status usmx_queue_device(const usmx_queue* queue, char* text, size_t size) {
  return guarded([&] {
    const std::string name = filter_string(required(queue, "queue").queue.get_device());
    if (size == 0) return;
    const std::size_t count = std::min(size - 1, name.size());
    std::memcpy(&required(text, "text"), name.data(), count);
    text[count] = '\0';
  });
}

const void* usmx_queue_sycl(const usmx_queue* queue) {
  return queue == nullptr ? nullptr : &queue->queue;
}

void usmx_queue_close(usmx_queue* queue) { delete queue; }

usmx_status usmx_array_new(const usmx_queue* queue, const char* typestr, int32_t ndim,
                           const int64_t* shape, int kind, usmx_array** out) {
  return make(out, [&] {
    if (ndim < 0 || ndim > max_rank) {
      throw interop_error(
          fault::rank_too_high,
          detail::format("ndim: {} is not supported; 0 to {} dimensions are", ndim, max_rank));
    }
    if (ndim > 0) required(shape, "shape");
    if (kind != SYCL_USM_HOST && kind != SYCL_USM_DEVICE && kind != SYCL_USM_SHARED) {
      throw std::invalid_argument(
          detail::format("kind: {}; expected 1 (host), 2 (device) or 3 (shared)", kind));
    }
    return array::empty(required(queue, "queue").queue,
                        std::span(shape, static_cast<std::size_t>(ndim)), parse(typestr),
                        static_cast<usm_kind>(kind));
  });
}

usmx_status usmx_array_take(sycl_usm_array* described, usmx_array** out) {
  return guarded([&] {
    required(out, "out") = nullptr;
    auto room = std::make_unique<usmx_array>();  // nothing can fail after `take`
    room->elements = take(required(described, "described"));
    *out = room.release();
  });
}

usmx_status usmx_array_copy_reference(const usmx_array* a, usmx_array** out) {
  return make(out, [&] { return elements_of(a); });
}

usmx_status usmx_array_describe(const usmx_array* a, sycl_usm_array* out) {
  return guarded([&] {
    const array& elements = elements_of(a);
    describe(elements, has_own_work(elements), required(out, "out"));
  });
}

usmx_status usmx_array_share(const usmx_array* a, sycl_usm_array* out) {
  return guarded([&] {
    sycl_usm_array& target = required(out, "out");
    auto held = std::make_unique<detail::shared_elements>(
        detail::shared_elements{elements_of(a), std::nullopt});
    if (has_own_work(held->elements)) {
      submission command(held->elements.queue());
      command.after(held->elements);
      held->event = command.submit();
    }
    detail::share(std::move(held), end_shared, target);
  });
}

void* usmx_array_data(const usmx_array* a) { return a == nullptr ? nullptr : a->elements.data(); }

void usmx_array_free(usmx_array* a) { delete a; }

usmx_status usmx_array_copy(const usmx_array* to, const usmx_array* from) {
  return guarded([&] { copy(elements_of(to, "to"), elements_of(from, "from")); });
}

usmx_status usmx_array_copy_async(const usmx_queue* queue, const usmx_array* to,
                                  const usmx_array* from) {
  return guarded([&] {
    const array& target = elements_of(to, "to");
    copy_async(queue_or(queue, target), target, elements_of(from, "from"));
  });
}

usmx_status usmx_array_read(const usmx_array* from, void* to, size_t bytes) {
  return guarded([&] {
    const array& a = elements_of(from, "from");
    copy_to_host(bytes_of_host(a, to, bytes, "to", false), a);
  });
}

usmx_status usmx_array_write(const usmx_array* to, const void* from, size_t bytes) {
  return guarded([&] {
    const array& a = elements_of(to, "to");
    copy_from_host(a, bytes_of_host(a, from, bytes, "from", true));
  });
}

usmx_status usmx_array_fill(const usmx_array* to, const void* element, size_t bytes) {
  return guarded([&] {
    const array& a = elements_of(to, "to");
    fill(a, one_element(a, element, bytes));
  });
}

usmx_status usmx_array_fill_async(const usmx_queue* queue, const usmx_array* to,
                                  const void* element, size_t bytes) {
  return guarded([&] {
    const array& a = elements_of(to, "to");
    fill_async(queue_or(queue, a), a, one_element(a, element, bytes));
  });
}

usmx_status usmx_array_wait(const usmx_array* a) {
  return guarded([&] { elements_of(a).wait(); });
}

usmx_status usmx_array_order(const usmx_array* a, const void* sycl_queue) {
  return guarded([&] {
    const array& elements = elements_of(a);
    const sycl::queue& next = queue_at(sycl_queue);
    if (next.get_context() != elements.queue().get_context()) {
      elements.wait();
      return;
    }
    submission command(next);
    command.after(elements);
    if (!command.before().empty()) command.submit();
  });
}

usmx_status usmx_array_used(const usmx_array* a, const void* sycl_queue, const void* sycl_event) {
  return guarded([&] {
    const array& elements = elements_of(a);
    const sycl::queue& queue = queue_at(sycl_queue);
    if (sycl_event != nullptr) {
      elements.used_on(queue);
      elements.used_until(queue, *static_cast<const sycl::event*>(sycl_event));
    } else if (elements.keep_alive()) {
      address_leaves(elements.keep_alive());
      elements.keep_alive()->exposed_on(queue, elements.queue());
    }
  });
}
