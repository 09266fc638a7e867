// A Python object as the owner of memory: given back with the GIL held, from whatever thread the
// last array dies on, without ever taking the GIL where that could deadlock.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <memory>
#include <utility>

#include "memory.hpp"

namespace usmx::python {
namespace {

/// Objects that lost their last array on a thread without the GIL; a stack of links that are made
/// together with the owner, so that putting one there cannot fail.
struct waiting_object {
  PyObject* object = nullptr;
  waiting_object* next = nullptr;
};

std::atomic<waiting_object*> waiting{nullptr};

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

class python_owner final : public owner {
 public:
  python_owner(PyObject* object, std::unique_ptr<waiting_object> link, void* base,
               std::size_t bytes) noexcept
      : owner(base, bytes), link_(std::move(link)) {
    link_->object = object;
  }

  PyObject* object() const noexcept { return link_->object; }

  void release() noexcept override {
    if (interpreter_is_gone()) return;  // the reference goes with the process
    if (PyGILState_Check() != 0) {
      Py_DECREF(link_->object);
      return;
    }
    waiting_object* const link = link_.release();
    link->next = waiting.load(std::memory_order_relaxed);
    while (!waiting.compare_exchange_weak(link->next, link, std::memory_order_release,
                                          std::memory_order_relaxed)) {
    }
    // Refused when too many calls wait already; then the next use of the module gives it back.
    static_cast<void>(Py_AddPendingCall(release_pending, nullptr));
  }

 private:
  std::unique_ptr<waiting_object> link_;
};

void at_exit() {
  {
    const gil_released released;
    drain();
  }
  release_waiting_objects();
}

}  // namespace

shared_owner own_python(nb::object object, void* base, std::size_t bytes) {
  release_waiting_objects();
  auto made =
      std::make_unique<python_owner>(object.ptr(), std::make_unique<waiting_object>(), base, bytes);
  object.release();  // nothing throws between here and the owner's own reference to it
  return own(std::move(made));
}

int traverse_lender(const array& a, visitproc visit, void* arg) noexcept {
  if (a.keep_alive().use_count() != 1) return 0;
  const auto* const lender = dynamic_cast<const python_owner*>(a.keep_alive().get());
  return lender == nullptr ? 0 : visit(lender->object(), arg);
}

bool lent_by_python(const array& a) noexcept {
  return dynamic_cast<const python_owner*>(a.keep_alive().get()) != nullptr;
}

void give_back(array& a) noexcept {
  array last = std::exchange(a, array());
  if (last.keep_alive().use_count() == 1 && !lent_by_python(last)) {
    const gil_released released;
    last = array();
  }
}

nb::object lender_of(const array& a) {
  const auto* const lender = dynamic_cast<const python_owner*>(a.keep_alive().get());
  return lender == nullptr ? nb::none() : nb::borrow(lender->object());
}

void release_waiting_objects() noexcept {
  if (waiting.load(std::memory_order_relaxed) == nullptr) return;
  std::unique_ptr<waiting_object> link(waiting.exchange(nullptr, std::memory_order_acquire));
  while (link) {
    Py_DECREF(link->object);
    link.reset(link->next);
  }
}

void bind_python_owner(nb::module_& m) {
  m.def(
      "_drain", [] { at_exit(); },
      "Wait for all memory that was freed while commands were running on it, and free it.");
  m.def(
      "_collect",
      [] {
        release_waiting_objects();
        const gil_released released;
        return collect();
      },
      "Free the memory that no command uses any more; return how many allocations still wait.");
  nb::module_::import_("atexit").attr("register")(m.attr("_drain"));
}

}  // namespace usmx::python
