// Why this exists: reading keyword arguments, letting go of the GIL and asking a queue for its
// context takes longer than a block of a pool. No check is left out: what is not plain, and what
// fails here, goes the long way from its beginning.
// SPDX-License-Identifier: Apache-2.0
#include "array/quick_calls.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

#include "array/ndarray.hpp"
#include "memory/memory.hpp"

namespace usmx::python {
namespace {

// The functions that were there before. Borrowed: the module keeps their objects.
std::array<vectorcallfunc, 4> slow_memory;
vectorcallfunc slow_empty = nullptr;
vectorcallfunc slow_queue = nullptr;
std::array<nb::handle, 4> memory_class;
nb::handle queue_class;

PyObject* interned(const char* text) { return PyUnicode_InternFromString(text); }

/// Names of arguments are interned where they are written in a program.
struct names {
  PyObject* queue = interned("queue");
  PyObject* dtype = interned("dtype");
  PyObject* usm_type = interned("usm_type");
};
const names& words() {
  static const auto* const all = new names;
  return *all;
}

/// The queue in a Queue of ours, the default one for None; null for anything else.
const sycl::queue* plain_queue(PyObject* obj) {
  if (obj == Py_None) return &default_queue();
  return is_ready<sycl::queue>(obj) ? nb::inst_ptr<sycl::queue>(obj) : nullptr;
}

/// A number of elements or bytes that is an int and not negative; -1 for anything else.
Py_ssize_t plain_count(PyObject* obj) {
  if (!PyLong_CheckExact(obj)) return -1;
  const Py_ssize_t count = PyLong_AsSsize_t(obj);
  if (count == -1) PyErr_Clear();
  return count;
}

/// Without waiting and with the GIL, or not at all.
shared_owner plain_owner(const sycl::queue& queue, std::size_t bytes, usm_kind kind) {
  release_waiting_objects();
  return try_allocate(default_resource(queue, kind), bytes);
}

PyObject* plain_memory(PyObject* const* args, std::size_t nargsf, PyObject* keywords,
                       usm_kind kind) {
  if (PyVectorcall_NARGS(nargsf) != 1) return nullptr;
  PyObject* place = Py_None;
  if (keywords != nullptr) {
    if (PyTuple_GET_SIZE(keywords) != 1 || PyTuple_GET_ITEM(keywords, 0) != words().queue)
      return nullptr;
    place = args[1];
  }
  const Py_ssize_t count = plain_count(args[0]);
  if (count < 0) return nullptr;
  const sycl::queue* const queue = plain_queue(place);
  if (queue == nullptr) return nullptr;
  const auto bytes = static_cast<std::size_t>(count);
  shared_owner owner = plain_owner(*queue, bytes, kind);
  if (!owner) return nullptr;
  any_view all;
  if (any_view::row(owner->base(), dtype(), count, kind, all) != fault::none) return nullptr;
  nb::object made = nb::inst_alloc(memory_class[static_cast<std::size_t>(kind)]);
  new (nb::inst_ptr<memory>(made)) memory(std::move(all), *queue, std::move(owner));
  nb::inst_mark_ready(made);
  return made.release().ptr();
}

template <usm_kind Kind>
PyObject* new_memory(PyObject* type, PyObject* const* args, std::size_t nargsf,
                     PyObject* keywords) noexcept {
  try {
    if (PyObject* const made = plain_memory(args, nargsf, keywords, Kind)) return made;
  } catch (...) {  // the long way says what is wrong
  }
  return slow_memory[static_cast<std::size_t>(Kind)](type, args, nargsf, keywords);
}

// --- empty
// ---------------------------------------------------------------------------------------------

/// Element types by the object that named them. Only objects that cannot change their meaning are
/// kept, and kept alive, so that an address means one object.
class known_dtypes {
 public:
  /// Empty if the object names none that is known yet and may be kept. A copy: Python code may run
  /// before the caller is done with it and put another type into the same place.
  std::optional<dtype> find(PyObject* obj) {
    entry& e = entries_[(std::bit_cast<std::uintptr_t>(obj) >> 4) % entries_.size()];
    if (e.object.ptr() == obj) return e.type;
    if (!PyUnicode_CheckExact(obj) && !PyType_Check(obj)) return {};
    const dtype type = to_dtype(obj);
    if (type.is_record()) return {};
    entry next{nb::borrow(obj), type};
    std::swap(e, next);  // what was here ends with `next`, when the place is whole again
    return type;
  }
  void clear() noexcept { entries_ = {}; }

 private:
  struct entry {
    nb::object object;
    dtype type;
  };
  std::array<entry, 64> entries_;
};

known_dtypes& dtypes() {
  static auto* const known = new known_dtypes;
  return *known;
}

bool plain_kind(PyObject* obj, usm_kind& kind) {
  static const std::array<std::pair<PyObject*, usm_kind>, 3> kinds = {
      {{interned("device"), usm_kind::device},
       {interned("shared"), usm_kind::shared},
       {interned("host"), usm_kind::host}}};
  for (const auto& [text, k] : kinds) {
    if (obj == text) {
      kind = k;
      return true;
    }
  }
  return obj == Py_None;
}

/// The layout of a tuple of lengths in C order.
bool plain_layout(PyObject* tuple, const dtype& type, layout& where) {
  if (!PyTuple_CheckExact(tuple)) return false;
  extents shape(static_cast<std::size_t>(PyTuple_GET_SIZE(tuple)));
  for (std::size_t k = 0; k < shape.size(); ++k) {
    shape[k] = plain_count(PyTuple_GET_ITEM(tuple, static_cast<Py_ssize_t>(k)));
    if (shape[k] < 0) return false;
  }
  return layout::c_order(std::move(shape), type.itemsize(), where) == fault::none;
}

/// Memory for elements, and the elements; false if that takes the long way.
bool plain_elements(PyObject* shape, const dtype& type, const sycl::queue& queue, usm_kind kind,
                    shared_owner& owner, any_view& elements) {
  if (PyLong_CheckExact(shape)) {
    const Py_ssize_t count = plain_count(shape);
    std::int64_t bytes = 0;
    if (count < 0 || __builtin_mul_overflow(count, type.itemsize(), &bytes)) return false;
    owner = plain_owner(queue, static_cast<std::size_t>(bytes), kind);
    return owner && any_view::row(owner->base(), type, count, kind, elements) == fault::none;
  }
  layout where;
  if (!plain_layout(shape, type, where)) return false;
  owner = plain_owner(queue, static_cast<std::size_t>(where.size()) * type.itemsize(), kind);
  return owner && any_view::make(owner->base(), type, std::move(where), kind, false, elements) ==
                      fault::none;
}

PyObject* plain_empty(PyObject* const* args, std::size_t nargsf, PyObject* keywords) {
  const Py_ssize_t positional = PyVectorcall_NARGS(nargsf);
  if (positional != 1 && positional != 2) return nullptr;
  PyObject* type_object = positional == 2 ? args[1] : nullptr;
  const sycl::queue* queue = nullptr;
  usm_kind kind = usm_kind::device;
  for (Py_ssize_t k = 0; keywords != nullptr && k < PyTuple_GET_SIZE(keywords); ++k) {
    PyObject* const word = PyTuple_GET_ITEM(keywords, k);
    PyObject* const value = args[positional + k];
    if (word == words().dtype && type_object == nullptr) {
      type_object = value;
    } else if (word == words().queue) {
      if ((queue = plain_queue(value)) == nullptr) return nullptr;
    } else if (word != words().usm_type || !plain_kind(value, kind)) {
      return nullptr;
    }
  }
  if (queue == nullptr) queue = &default_queue();
  // None depends on what the device computes with, and that is asked on the long way.
  if (type_object == nullptr || type_object == Py_None) return nullptr;
  const std::optional<dtype> type = dtypes().find(type_object);
  if (!type) return nullptr;
  shared_owner owner;
  any_view elements;
  if (!plain_elements(args[0], *type, *queue, kind, owner, elements)) return nullptr;
  return wrap_allocated(std::move(elements), *queue, std::move(owner)).release().ptr();
}

PyObject* new_empty(PyObject* function, PyObject* const* args, std::size_t nargsf,
                    PyObject* keywords) noexcept {
  try {
    if (PyObject* const made = plain_empty(args, nargsf, keywords)) return made;
  } catch (...) {  // the long way says what is wrong
  }
  return slow_empty(function, args, nargsf, keywords);
}

// --- queues

PyObject* plain_new_queue(PyObject* const* args, std::size_t nargsf, PyObject* keywords) {
  const Py_ssize_t positional = PyVectorcall_NARGS(nargsf);
  if (keywords != nullptr || positional > 1) return nullptr;
  const sycl::queue* queue = nullptr;
  if (positional == 0) {
    queue = &default_queue();
  } else if (PyUnicode_CheckExact(args[0])) {
    Py_ssize_t size = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(args[0], &size);
    if (text == nullptr) {
      PyErr_Clear();
      return nullptr;
    }
    queue = &default_queue(select_device({text, static_cast<std::size_t>(size)}));
  } else {
    return nullptr;
  }
  nb::object made = nb::inst_alloc(queue_class);
  new (nb::inst_ptr<sycl::queue>(made)) sycl::queue(*queue);
  nb::inst_mark_ready(made);
  return made.release().ptr();
}

PyObject* new_queue(PyObject* type, PyObject* const* args, std::size_t nargsf,
                    PyObject* keywords) noexcept {
  try {
    if (PyObject* const made = plain_new_queue(args, nargsf, keywords)) return made;
  } catch (...) {  // the long way says what is wrong
  }
  return slow_queue(type, args, nargsf, keywords);
}

/// Puts a function before the one that is called when the type is. Classes that Python derives do
/// not inherit it.
vectorcallfunc put_before(nb::handle type, vectorcallfunc quick) {
  auto* const t = reinterpret_cast<PyTypeObject*>(type.ptr());
  const vectorcallfunc before = t->tp_vectorcall;
  if (before == nullptr) return nullptr;
  return std::exchange(t->tp_vectorcall, quick);
}

}  // namespace

void quicken_memory(nb::handle type, usm_kind kind) {
  const auto k = static_cast<std::size_t>(kind);
  memory_class[k] = type;
  slow_memory[k] = put_before(type, kind == usm_kind::host     ? new_memory<usm_kind::host>
                                    : kind == usm_kind::shared ? new_memory<usm_kind::shared>
                                                               : new_memory<usm_kind::device>);
  queue_class = nb::type<sycl::queue>();
}

void quicken_empty(nb::handle function) {
  const Py_ssize_t offset = Py_TYPE(function.ptr())->tp_vectorcall_offset;
  if (offset <= 0) return;
  auto& called =
      *reinterpret_cast<vectorcallfunc*>(reinterpret_cast<char*>(function.ptr()) + offset);
  slow_empty = std::exchange(called, new_empty);
}

void quicken_queue(nb::handle type) { slow_queue = put_before(type, new_queue); }

}  // namespace usmx::python
