// Resources that ask Python something: on the thread that allocates, with the GIL, and never while
// a lock of ours is held.
// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "memory/resources.hpp"
#include "protocols/protocols.hpp"
#include "support/text.hpp"
#include "usmx/error.hpp"

namespace usmx::python {
namespace {

/// What a callback raised, on its way through C++. No allocation_error, so that a pool above passes
/// it on instead of making a text of it.
class callback_error final : public std::bad_alloc {
 public:
  callback_error(std::size_t bytes, nb::python_error&& cause)
      : what_("cannot allocate " + std::to_string(bytes) +
              " bytes: the callback that should free memory raised " +
              shown(nb::str(cause.type().attr("__name__")))),
        cause_(std::make_shared<nb::python_error>(std::move(cause))) {}
  const char* what() const noexcept override { return what_.c_str(); }
  nb::python_error& cause() const noexcept { return *cause_; }

 private:
  std::string what_;
  std::shared_ptr<nb::python_error> cause_;  // an exception may be copied on threads without a GIL
};

bool ask(PyObject* callback, std::size_t bytes) {
  if (Py_IsInitialized() == 0) return false;
  const nb::gil_scoped_acquire held;
  try {
    const nb::object answer = nb::handle(callback)(bytes);
    const int again = PyObject_IsTrue(answer.ptr());
    if (again < 0) nb::raise_python_error();
    return again != 0;
  } catch (nb::python_error& e) {
    throw callback_error(bytes, std::move(e));
  }
}

constexpr int most_frames = 16;

/// The functions of Python that ask for memory, the innermost first; empty on a thread that runs
/// none.
std::string python_callers() {
  if (Py_IsInitialized() == 0 || PyGILState_GetThisThreadState() == nullptr) return {};
  const nb::gil_scoped_acquire held;
  const auto text_of = [](PyCodeObject* code, const char* name) -> std::string {
    const nb::object value = nb::handle(reinterpret_cast<PyObject*>(code)).attr(name);
    return shown(value);  // a path need not be text
  };
  std::string text;
  nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  for (int k = 0; k < most_frames && frame.is_valid(); ++k) {
    auto* const f = reinterpret_cast<PyFrameObject*>(frame.ptr());
    PyCodeObject* const code = PyFrame_GetCode(f);
    const nb::object keep = nb::steal(reinterpret_cast<PyObject*>(code));
    text += "    " + text_of(code, "co_filename") + ":" + std::to_string(PyFrame_GetLineNumber(f)) +
            " in " + text_of(code, "co_name") + "\n";
    frame = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(f)));
  }
  return text;
}

}  // namespace

std::shared_ptr<failure_callback_resource> make_failure_callback(nb::handle upstream,
                                                                 nb::handle callback) {
  const auto& below = to_resource(upstream);
  if (PyCallable_Check(callback.ptr()) == 0) {
    wrong_type("callback", callback,
               "a function that takes the number of bytes and returns True to try again");
  }
  // The owner gives the function back with the GIL, whichever thread ends the resource.
  shared_owner keep = own_python(nb::borrow(callback), nullptr, 0);
  return std::make_shared<failure_callback_resource>(
      below, [keep = std::move(keep), function = callback.ptr()](std::size_t bytes) {
        return ask(function, bytes);
      });
}

std::shared_ptr<tracking_resource> make_tracking(nb::handle upstream) {
  return std::make_shared<tracking_resource>(to_resource(upstream), python_callers);
}

void bind_callback_errors() {
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const callback_error& e) {
      try {
        const nb::object type = nb::module_::import_("usmx._usmx").attr("AllocationError");
        const nb::object error = type(e.what());
        PyException_SetCause(error.ptr(), nb::borrow(e.cause().value()).release().ptr());
        PyErr_SetObject(type.ptr(), error.ptr());
      } catch (nb::python_error& other) {
        other.restore();
      }
    }
  });
}

}  // namespace usmx::python
