// Which line of Python asked for an operation. Python is looked at only while the thread holds the
// GIL anyway; what is recorded later, without it, carries the line that was remembered when it was
// let go. So no record ever waits for the GIL, and a thread of the SYCL runtime has no line.
// SPDX-License-Identifier: Apache-2.0
#include "trace/trace_place.hpp"

#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace usmx::python {
namespace {

thread_local std::uint32_t remembered = 0;

struct place {
  PyCodeObject* code;  // kept, so that its address stays its own
  int line;
};

struct key_hash {
  std::size_t operator()(const std::pair<PyCodeObject*, int>& k) const noexcept {
    return std::hash<const void*>()(k.first) * 31 + static_cast<std::size_t>(k.second);
  }
};

/// Guarded by the GIL. Never destroyed: there may be no interpreter by then.
struct place_table {
  std::vector<place> places;
  std::unordered_map<std::pair<PyCodeObject*, int>, std::uint32_t, key_hash> numbers;
  std::string own_folder;  // of the Python files of usmx, whose lines nobody asked for
};

place_table& table() {
  static auto& all = *new place_table;
  return all;
}

enum class author { user, library, usmx };

author author_of(PyCodeObject* code) noexcept {
  Py_ssize_t length = 0;
  const char* text = PyUnicode_AsUTF8AndSize(code->co_filename, &length);
  if (text == nullptr) {
    PyErr_Clear();
    return author::user;
  }
  const std::string_view file(text, static_cast<std::size_t>(length));
  const std::string& own = table().own_folder;
  if (!own.empty() && file.starts_with(own)) return author::usmx;
  const auto has = [&](const char* folder) { return file.find(folder) != file.npos; };
  return has("/site-packages/") || has("/dist-packages/") ? author::library : author::user;
}

std::uint32_t number_of(PyCodeObject* code, int line) {
  place_table& all = table();
  const auto [found, is_new] =
      all.numbers.try_emplace({code, line}, static_cast<std::uint32_t>(all.places.size() + 1));
  if (is_new) {
    Py_INCREF(code);
    all.places.push_back({code, line});
  }
  return found->second;
}

/// The innermost line of the user; if all is libraries, the innermost outside of usmx. Needs the
/// GIL.
std::uint32_t current_place() noexcept {
  std::uint32_t in_library = 0;
  PyThreadState* const thread = PyThreadState_Get();
  nb::object frame = nb::steal(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(thread)));
  try {
    while (frame.is_valid()) {
      auto* const f = reinterpret_cast<PyFrameObject*>(frame.ptr());
      const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(f)));
      auto* const c = reinterpret_cast<PyCodeObject*>(code.ptr());
      const author who = author_of(c);
      if (who == author::user) return number_of(c, PyFrame_GetLineNumber(f));
      if (who == author::library && in_library == 0) {
        in_library = number_of(c, PyFrame_GetLineNumber(f));
      }
      frame = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(f)));
    }
  } catch (...) {  // no memory for a place
  }
  return in_library;
}

std::uint32_t find_place() noexcept {
  if (remembered != 0) return remembered;
  if (Py_IsInitialized() == 0 || PyGILState_Check() == 0) return 0;
  return current_place();
}

}  // namespace

std::uint32_t remember_place() noexcept { return std::exchange(remembered, current_place()); }
void forget_place(std::uint32_t previous) noexcept { remembered = previous; }

nb::object place_of(std::uint32_t number) {
  const place_table& all = table();
  if (number == 0 || number > all.places.size()) return nb::none();
  const place& p = all.places[number - 1];
  return nb::make_tuple(nb::borrow(p.code->co_filename), p.line, nb::borrow(p.code->co_qualname));
}

void find_places_outside(std::string folder) {
  table().own_folder = std::move(folder);
  set_trace_place_finder(find_place);
}

}  // namespace usmx::python
