// A Python object as the owner of memory: given back with the GIL held, from any thread that
// the last array dies on, without ever taking the GIL where that could deadlock.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <memory>
#include <typeinfo>
#include <utility>

#include "memory/memory.hpp"
#include "runtime/event_watch.hpp"
#include "usmx/exit.hpp"

namespace usmx::python {
namespace {

class python_owner;

/// Owners of objects that lost their last array on a thread without the GIL; a stack linked through
/// the owners themselves, so that putting one there cannot fail.
std::atomic<python_owner*> waiting{nullptr};

bool interpreter_is_gone() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  if (Py_IsFinalizing()) return true;
#endif
  return Py_IsInitialized() == 0;  // false from the first steps of finalisation on
}

int release_pending(void*) {
  release_waiting_objects();
  return 0;
}

/// Without the GIL: what is settled may need a host task to end first, and that one the GIL.
int collect_pending(void*) {
  {
    const gil_released released;
    collect();
  }
  release_waiting_objects();
  return 0;
}

class python_owner final : public owner {
 public:
  python_owner(PyObject* object, void* base, std::size_t bytes) noexcept
      : owner(base, bytes), object_(object) {}
  /// A memoryview would do the same; as an object of its own it costs a third of an import.
  python_owner(held_buffer buffer, void* base, std::size_t bytes) noexcept
      : owner(base, bytes), object_(buffer->obj), buffer_(std::move(buffer)) {}

  PyObject* object() const noexcept { return object_; }

  /// With the GIL, which `dispose` sees to.
  void release() noexcept override {
    if (buffer_ != nullptr) {
      buffer_.reset();  // which has the reference to the object
    } else {
      Py_DECREF(object_);
    }
  }

  /// The owner after this one on the stack; ends this one. With the GIL.
  python_owner* end() noexcept {
    python_owner* const next = after_;
    owner::dispose();
    return next;
  }

 private:
  void dispose() noexcept override {
    if (interpreter_is_gone()) {  // the reference goes with the process
      static_cast<void>(buffer_.release());
      delete this;
      return;
    }
    if (PyGILState_Check() != 0) {
      owner::dispose();
      return;
    }
    after_ = waiting.load(std::memory_order_relaxed);
    while (!waiting.compare_exchange_weak(after_, this, std::memory_order_release,
                                          std::memory_order_relaxed)) {
    }
    // Refused when too many calls wait already; then the next use of the module gives it back.
    static_cast<void>(Py_AddPendingCall(release_pending, nullptr));
  }

  PyObject* object_;
  held_buffer buffer_;
  python_owner* after_ = nullptr;
};

/// Null for other memory. The class is final, so its type says all that a dynamic_cast,
/// which every end of an array would pay for, could find out.
const python_owner* python_owner_of(const array& a) noexcept {
  const owner* o = a.keep_alive().get();
  if (o != nullptr && o->is_shared_again()) o = kept_by(a.keep_alive());
  if (o == nullptr || typeid(*o) != typeid(python_owner)) return nullptr;
  return static_cast<const python_owner*>(o);
}

}  // namespace

shared_owner own_python(nb::object object, void* base, std::size_t bytes) {
  release_waiting_objects();
  auto made = std::make_unique<python_owner>(object.ptr(), base, bytes);
  object.release();  // nothing throws between here and the owner's own reference to it
  return own(std::move(made));
}

shared_owner own_buffer(held_buffer buffer, void* base, std::size_t bytes) {
  release_waiting_objects();
  return own(std::make_unique<python_owner>(std::move(buffer), base, bytes));
}

int traverse_lender(const array& a, visitproc visit, void* arg) noexcept {
  if (a.keep_alive().use_count() != 1) return 0;
  const python_owner* const lender = python_owner_of(a);
  return lender == nullptr ? 0 : visit(lender->object(), arg);
}

bool borrowed_from_python(const array& a) noexcept { return python_owner_of(a) != nullptr; }

void give_back(array& a) noexcept {
  if (a.keep_alive().use_count() != 1 || borrowed_from_python(a) || a.keep_alive()->try_release())
    return;
  array last = std::exchange(a, array());
  const gil_released released;
  last = array();
}

nb::object lender_of(const array& a) {
  const python_owner* const lender = python_owner_of(a);
  return lender == nullptr ? nb::none() : nb::borrow(lender->object());
}

void release_waiting_objects() noexcept {
  if (waiting.load(std::memory_order_relaxed) == nullptr) return;
  python_owner* owner = waiting.exchange(nullptr, std::memory_order_acquire);
  while (owner != nullptr) owner = owner->end();
}

void drain_and_trim() {
  {
    const gil_released released;
    trim_default_resources();
  }
  release_waiting_objects();
}

void bind_python_owner() {
  // Memory of other libraries goes back soon, not with the next allocation of ours.
  call_when_put_aside([]() noexcept {
    if (!interpreter_is_gone()) static_cast<void>(Py_AddPendingCall(collect_pending, nullptr));
  });
  // The last that an ending interpreter calls. Where all its places are taken, a daemon thread
  // inside the driver may end the process by a signal.
  static_cast<void>(Py_AtExit(end_beside_other_threads));
  nb::module_::import_("atexit").attr("register")(nb::cpp_function([] {
    {
      const gil_released released;
      stop_watching();
    }
    drain_and_trim();
  }));
}

}  // namespace usmx::python
