// `__sycl_usm_exchange_api__` both ways: a table of C functions that a type offers, through which
// extensions exchange USM without a dictionary, and with the order of commands that a dictionary
// cannot express. The structs are usmx/exchange.h; the rules are on docs/exchange.md.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/exchange.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "kit/shared_elements.hpp"
#include "memory/memory.hpp"
#include "protocols/protocols.hpp"
#include "support/error_text.hpp"
#include "support/slot_errors.hpp"
#include "usmx/submission.hpp"

namespace usmx::python {
namespace {

using api = sycl_usm_exchange_api;
using detail::shared_elements;

constexpr const char* attribute = SYCL_USM_EXCHANGE_ATTRIBUTE;
constexpr const char* capsule_name = SYCL_USM_EXCHANGE_CAPSULE;

PyObject* attribute_name() {
  static PyObject* const name = PyUnicode_InternFromString(attribute);
  return name;
}

const sycl::queue& queue_at(const void* p) { return *static_cast<const sycl::queue*>(p); }
const sycl::event& event_at(const void* p) { return *static_cast<const sycl::event*>(p); }

// --- in -----------------------------------------------------------------------------------------

/// A function of the table; null if the producer has none, also because its table is older.
template <class Function>
Function function_of(const api& table, Function api::* member) noexcept {
  const auto* const place = reinterpret_cast<const char*>(&(table.*member));
  const auto end =
      static_cast<std::uint64_t>(place - reinterpret_cast<const char*>(&table)) + sizeof(Function);
  return end <= table.size ? table.*member : nullptr;
}

/// What a function of a producer gave: raises its error. One that fails must say why.
void succeeded(int result, const char* function, nb::handle producer) {
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  if (result == 0) return;
  throw value_error("{}.{}: {} for {} failed and set no error", attribute, function, result,
                    Py_TYPE(producer.ptr())->tp_name);
}

nb::object offer_exchange(nb::handle obj) {
  if (PyType_Check(obj.ptr())) return {};
  PyObject* const capsule = _PyType_Lookup(Py_TYPE(obj.ptr()), attribute_name());
  if (capsule == nullptr) return {};
  if (PyCapsule_IsValid(capsule, capsule_name) == 0) {
    wrong_type(attribute, capsule, detail::format("a capsule named '{}'", capsule_name));
  }
  const auto& table = *static_cast<const api*>(PyCapsule_GetPointer(capsule, capsule_name));
  if (table.major != SYCL_USM_EXCHANGE_MAJOR) {
    static PyObject* const dictionary = PyUnicode_InternFromString(suai::attribute);
    // A newer producer that has the dictionary as well can be read by that.
    if (_PyType_Lookup(Py_TYPE(obj.ptr()), dictionary) != nullptr) return {};
    throw interop_error(fault::version_unsupported,
                        detail::format("{}: version {}.{} is not supported; only {} is", attribute,
                                       table.major, table.minor, SYCL_USM_EXCHANGE_MAJOR));
  }
  if (function_of(table, &api::view) == nullptr) {
    throw interop_error(fault::version_unsupported,
                        detail::format("{}.view: is null, or outside of the {} bytes of the table",
                                       attribute, table.size));
  }
  return nb::borrow(capsule);
}

/// Where the memory is; copies, so that nothing of the producer is used later.
sycl_origin origin_of(const sycl_usm_array& a) {
  if (a.queue != nullptr) return {queue_at(a.queue).get_context(), queue_at(a.queue)};
  if (a.context != nullptr) return {*static_cast<const sycl::context*>(a.context), std::nullopt};
  throw interop_error(fault::not_usm,
                      "queue, context: both are null; expected a sycl::queue or a sycl::context");
}

/// The array of a struct, with what is pending as a use of its memory. `keep` owns the memory.
array bind_struct(const sycl_usm_array& a, const dtype::fields* members, nb::object keep,
                  traced& record) {
  const suai::fields f = exchange::read(a, members);
  // Before anything that runs Python: the struct may be borrowed.
  sycl_origin origin = origin_of(a);
  const std::optional<sycl::queue> theirs = origin.queue;
  std::optional<sycl::event> event;
  if (a.event != nullptr) event = event_at(a.event);
  const bool is_pending = event || (a.flags & SYCL_USM_PENDING) != 0;
  array made = bind_described(checked(f), f, origin, std::move(keep), record);
  if (!is_pending) return made;
  const sycl::queue queue = theirs.value_or(made.queue());
  const gil_released unlocked;
  made.used_on(queue);
  // Memory that came back may know of commands behind that event.
  const bool is_last = event && !came_back(made.keep_alive());
  is_last ? made.used_until(queue, *event) : made.used_until(queue);
  return made;
}

/// The fields of a record, asked for in Python's words.
std::optional<dtype::fields> members_of(const api& table, nb::handle obj) {
  const auto typedescr = function_of(table, &api::typedescr);
  if (typedescr == nullptr) return {};
  PyObject* listed = nullptr;
  const int result = typedescr(obj.ptr(), &listed);
  const nb::object list = nb::steal(listed);
  succeeded(result, "typedescr", obj);
  if (!list.is_valid() || list.is_none()) return {};
  return read_typedescr(list);
}

std::optional<array> import_exchange(nb::handle obj, nb::object offer, const import_request&) {
  const auto& table = *static_cast<const api*>(PyCapsule_GetPointer(offer.ptr(), capsule_name));
  traced record(trace_action::imported,
                [&] { return trace_subject{.label = trace_text(Py_TYPE(obj.ptr())->tp_name)}; });
  const auto look = [&] {
    sycl_usm_array a{};
    succeeded(table.view(obj.ptr(), &a), "view", obj);
    return a;
  };
  sycl_usm_array a = look();
  std::optional<dtype::fields> members;
  if (a.type == 'V') {
    members = members_of(table, obj);
    a = look();  // what was borrowed before that call is not valid any more
  }
  array made = bind_struct(a, members ? &*members : nullptr, nb::borrow(obj), record);
  if (const auto used = function_of(table, &api::used)) {
    // Commands of ours go to this queue from now on.
    const sycl::queue ours = made.queue();
    succeeded(used(obj.ptr(), &ours, nullptr), "used", obj);
  }
  return made;
}

// --- out: the table of our types ----------------------------------------------------------------

[[gnu::noinline]] [[noreturn]] void refuse(PyObject* object) {
  if (is_ready<memory>(object)) static_cast<void>(live(self_of<memory>(object)));
  wrong_type("object", object, "usmx.ndarray or memory of usmx");
}

const array& array_in(PyObject* object) {
  if (const array* const a = array_of(object)) return *a;
  if (const array* const a = memory_of(object)) return *a;
  refuse(object);
}

void fill(const array& a, sycl_usm_array& out) noexcept {
  exchange::describe(a.elements(), out);
  leaves(a.queue());
  address_leaves(a.keep_alive());
  out.queue = &a.queue();
  out.context = nullptr;
  out.event = nullptr;
  out.owner = nullptr;
  out.release = nullptr;
}

/// Whether commands of ours use the memory. If so, they come before what is submitted to the
/// array's queue if that is in-order, whichever queue they are on.
[[gnu::noinline]] bool is_pending_in_queue(const array& a, bool is_known) {
  const shared_owner keep = a.keep_alive();
  const array elements = a;
  const gil_released unlocked;
  if (!is_known && !keep->has_own_work()) return false;
  if (!elements.queue().is_in_order()) return true;
  submission command(elements.queue());
  command.after(elements);
  if (!command.before().empty()) command.submit();
  return true;
}

bool is_pending(const array& a) {
  if (!a.keep_alive()) return false;
  const std::optional<bool> at_work = a.keep_alive()->try_own_work();
  if (at_work == false) [[likely]]
    return false;
  return is_pending_in_queue(a, at_work.has_value());
}

void record_export(const array& a) {
  const traced record(trace_action::exported, [&] {
    return trace_subject{.bytes = a.elements().nbytes(), .address = a.data(), .kind = a.kind()};
  });
}

int api_view(PyObject* object, sycl_usm_array* out) noexcept {
  return guarded([&] {
    const array* a = &array_in(object);
    if (is_traced()) [[unlikely]]
      record_export(*a);
    const bool pending = is_pending(*a);
    // While the GIL was released, the memory may have been freed.
    if (pending) a = &array_in(object);
    fill(*a, *out);
    if (pending) out->flags |= SYCL_USM_PENDING;
  });
}

/// The `release` of an acquired struct: called from any thread, with the GIL or without.
void end_acquired(sycl_usm_array* self) noexcept {
  const std::unique_ptr<shared_elements> held(static_cast<shared_elements*>(self->owner));
  self->owner = nullptr;
  self->release = nullptr;
  if (held && Py_IsInitialized() != 0 && PyGILState_Check() != 0) give_back(held->elements);
}

int api_acquire(PyObject* object, sycl_usm_array* out) noexcept {
  return guarded([&] {
    auto held = std::make_unique<shared_elements>(shared_elements{array_in(object), {}});
    record_export(held->elements);
    if (is_pending(held->elements)) {
      const gil_released unlocked;
      submission command(held->elements.queue());
      command.after(held->elements);
      held->event = command.submit();
    }
    detail::share(std::move(held), end_acquired, *out);
  });
}

int api_order(PyObject* object, const void* queue) noexcept {
  return guarded([&] {
    const array a = array_in(object);
    const sycl::queue next = queue_at(queue);
    if (!is_pending(a)) return;
    if (next.get_context() != a.queue().get_context()) {
      wait_for_own_work(a);
      return;
    }
    const gil_released unlocked;
    submission command(next);
    command.after(a);
    if (!command.before().empty()) command.submit();
  });
}

int api_used(PyObject* object, const void* queue, const void* event) noexcept {
  return guarded([&] {
    const array a = array_in(object);
    const sycl::queue theirs = queue_at(queue);
    if (event == nullptr) {
      expose(a, theirs);
      return;
    }
    const shared_owner keep = a.keep_alive();
    if (!keep) return;
    const sycl::event last = event_at(event);
    const gil_released unlocked;
    keep->used_on(theirs);
    keep->used_until(theirs, last);
  });
}

int api_wait(PyObject* object) noexcept {
  return guarded([&] { wait_for_work(array_in(object)); });
}

int api_typedescr(PyObject* object, PyObject** list) noexcept {
  return guarded([&] {
    const array a = array_in(object);
    *list = typedescr_of(a.elements().dtype()).release().ptr();
  });
}

/// An owned struct as a Python object, which releases it with the GIL.
class taken {
 public:
  explicit taken(const sycl_usm_array& a)
      : held_(new sycl_usm_array(a)), capsule_(nb::steal(PyCapsule_New(held_, name, end))) {
    if (capsule_.is_valid()) return;
    delete held_;
    throw nb::python_error();
  }
  taken(const taken&) = delete;
  taken& operator=(const taken&) = delete;
  ~taken() {
    if (!is_kept_) held_->release = nullptr;  // the caller's
  }

  nb::object owner() const { return capsule_; }
  void keep() noexcept { is_kept_ = true; }

 private:
  static constexpr const char* name = "usmx.exchange.owner";

  static void end(PyObject* capsule) noexcept {
    const std::unique_ptr<sycl_usm_array> a(
        static_cast<sycl_usm_array*>(PyCapsule_GetPointer(capsule, name)));
    if (a->release == nullptr) return;
    // It may run Python, which must not meet an error that is on its way.
    const nb::error_scope kept;
    a->release(a.get());
  }

  sycl_usm_array* held_;
  nb::object capsule_;
  bool is_kept_ = false;
};

int api_make(sycl_usm_array* given, PyObject** made) noexcept {
  return guarded([&] {
    traced record(trace_action::imported, [&] { return trace_subject{.label = trace_text("C")}; });
    if (const array* const own = detail::shared_in(*given)) {
      // Ours, with the uses that it has; nothing can fail once the object is made.
      *made = wrap_array(*own).release().ptr();
      given->release(given);
      return;
    }
    taken owned(*given);
    nb::object out = wrap_array(bind_struct(*given, nullptr, owned.owner(), record));
    owned.keep();
    given->release = nullptr;
    given->owner = nullptr;
    *made = out.release().ptr();
  });
}

void bind_exchange(nb::object type, array_access) {
  static const api table{
      SYCL_USM_EXCHANGE_MAJOR,
      SYCL_USM_EXCHANGE_MINOR,
      sizeof(api),
      api_view,
      api_acquire,
      api_order,
      api_used,
      api_wait,
      api_typedescr,
      api_make,
  };
  detail::set_python_release(end_acquired);
  PyObject* const capsule = PyCapsule_New(const_cast<api*>(&table), capsule_name, nullptr);
  if (capsule == nullptr) throw nb::python_error();
  nb::setattr(type, attribute, nb::steal(capsule));
}

}  // namespace

extern const protocol exchange_protocol = {attribute, offer_exchange, import_exchange,
                                           bind_exchange};

}  // namespace usmx::python
