// Why this exists: a launch takes SYCL 2 us, and reading its arguments in every form that they may
// have took another. What is not plain goes the long way from its beginning, and that alone makes
// messages; nothing is left out that it checks, because the launch itself checks most.
// SPDX-License-Identifier: Apache-2.0
#include "kernel/quick_launch.hpp"

#include <array>
#include <memory_resource>
#include <utility>
#include <vector>

#include "kernel/kernel_arguments.hpp"
#include "kernel/kernel_scalar.hpp"
#include "kernel/raw_kernel.hpp"
#include "support/self.hpp"
#include "support/slot_errors.hpp"

namespace usmx::python {
namespace {

// The slots that were there before.
binaryfunc slow_range = nullptr;
ternaryfunc slow_launch = nullptr;
nb::handle bound_class;

/// An int that is a length; false for anything else.
bool plain_length(PyObject* obj, std::size_t& length) {
  if (!PyLong_CheckExact(obj)) return false;
  const Py_ssize_t n = PyLong_AsSsize_t(obj);
  if (n < 0) PyErr_Clear();
  length = static_cast<std::size_t>(n);
  return n >= 0;
}

PyObject* plain_range(PyObject* self, PyObject* key) {
  const auto& k = self_of<raw_kernel>(self);
  std::array<std::size_t, 1> global{}, local{};
  const bool has_local = PyTuple_CheckExact(key);
  if (has_local) {
    // Two ints are a range of two dimensions unless the kernel has one.
    if (k.rank() != 1 || PyTuple_GET_SIZE(key) != 2 ||
        !plain_length(PyTuple_GET_ITEM(key, 0), global[0]) ||
        !plain_length(PyTuple_GET_ITEM(key, 1), local[0])) {
      return nullptr;
    }
  } else if (!plain_length(key, global[0])) {
    return nullptr;
  }
  const bracketed_range range{has_local ? launch_range(global, local) : launch_range(global),
                              has_local};
  nb::object made = nb::inst_alloc(bound_class);
  new (nb::inst_ptr<bound_launch>(made)) bound_launch{k, range};
  nb::inst_mark_ready(made);
  return made.release().ptr();
}

PyObject* bind_range(PyObject* self, PyObject* key) noexcept {
  try {
    if (PyObject* const made = plain_range(self, key)) return made;
  } catch (...) {  // the long way says what is wrong
  }
  return slow_range(self, key);
}

/// The array in an argument for this pointer or view, null if it is none that goes as it is.
const array* plain_array(PyObject* obj, const kernel_parameter& p) {
  const array* const a = array_of(obj);
  if (a == nullptr) return nullptr;
  const layout& where = a->elements().layout();
  const bool fits = p.view != kernel_parameter::view_form::none || where.is_c_contiguous() ||
                    where.is_f_contiguous();
  return fits ? a : nullptr;
}

/// The queue of the first array; null if there is none of ours.
const sycl::queue* queue_of(PyObject* args) {
  for (Py_ssize_t n = 0; n < PyTuple_GET_SIZE(args); ++n) {
    PyObject* const obj = PyTuple_GET_ITEM(args, n);
    if (PyLong_CheckExact(obj) || PyFloat_CheckExact(obj)) continue;
    const array* const a = array_of(obj);
    return a == nullptr ? nullptr : &a->queue();
  }
  return nullptr;
}

/// Null without an error if the call is not plain.
PyObject* plain_launch(PyObject* self, PyObject* args) {
  const auto& bound = self_of<bound_launch>(self);
  const sycl::queue* const place = queue_of(args);
  const kernel* const k = place == nullptr ? nullptr : bound.k.built_for(*place);
  if (k == nullptr || !k->parameters()) return nullptr;
  const std::vector<kernel_parameter>& parameters = *k->parameters();
  if (parameters.size() != static_cast<std::size_t>(PyTuple_GET_SIZE(args))) return nullptr;

  // Enough for a dozen; what more there are come from the heap.
  alignas(kernel_argument) std::array<std::byte, 12 * sizeof(kernel_argument)> room;
  std::pmr::monotonic_buffer_resource in_room(room.data(), room.size());
  std::pmr::vector<kernel_argument> arguments(&in_room);
  arguments.reserve(parameters.size());
  for (std::size_t n = 0; n < parameters.size(); ++n) {
    PyObject* const obj = PyTuple_GET_ITEM(args, static_cast<Py_ssize_t>(n));
    const kernel_parameter& p = parameters[n];
    if (p.view == kernel_parameter::view_form::local) return nullptr;
    if (p.pointer) {
      const array* const a = plain_array(obj, p);
      if (a == nullptr) return nullptr;
      check_pair(bound.read, bound.k.name(), n, *a);
      arguments.emplace_back(*a);
    } else {
      const auto number = plain_scalar(obj, &p);
      if (!number) return nullptr;
      arguments.push_back(*number);
    }
  }
  sycl::queue queue = *place;
  return submit(*k, queue, bound.read.range, arguments).release().ptr();
}

PyObject* launch(PyObject* self, PyObject* args, PyObject* keywords) noexcept {
  if (keywords == nullptr || PyDict_GET_SIZE(keywords) == 0) {
    try {
      if (PyObject* const made = plain_launch(self, args)) return made;
    } catch (...) {
      return raise_current();
    }
  }
  return slow_launch(self, args, keywords);
}

}  // namespace

void quicken_raw_kernel(nb::handle kernel, nb::handle bound) {
  bound_class = bound;
  const auto type_of = [](nb::handle type) { return reinterpret_cast<PyTypeObject*>(type.ptr()); };
  slow_range = std::exchange(type_of(kernel)->tp_as_mapping->mp_subscript, bind_range);
  slow_launch = std::exchange(type_of(bound)->tp_call, launch);
}

}  // namespace usmx::python
