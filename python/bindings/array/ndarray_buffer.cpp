// The raw slots of `usmx.ndarray`: the buffer protocol, and indexing on its shortest way.
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <vector>

#include "array/ndarray.hpp"
#include "memory/memory.hpp"
#include "support/slot_errors.hpp"

namespace usmx::python {
namespace {

/// What a buffer points at in addition to the elements.
struct buffer_details {
  std::string format;
  std::vector<Py_ssize_t> shape;
  std::vector<Py_ssize_t> strides;
  // Keeps the elements where they are even if the object changes.
  array elements;
};

int refuse(PyObject* type, const char* message) noexcept {
  PyErr_SetString(type, message);
  return -1;
}

/// For slots: Python has checked the type of `self`, not that it was initialised.
int refuse_uninitialised(PyObject* self) noexcept {
  try {
    refuse_self(self, nb::type<ndarray>());
  } catch (...) {
    raise_current();
  }
  return -1;
}

int fill_buffer(PyObject* self, Py_buffer* view, int flags) {
  const array& a = value_of(self);
  const any_view& v = a.elements();
  if (a.kind() == usm_kind::device) {
    return refuse(PyExc_TypeError,
                  "device memory has no buffer, the host cannot access it; copy it with "
                  "to_numpy(), or make the array with usm_type='shared'");
  }
  if (v.read_only() && (flags & PyBUF_WRITABLE) != 0) {
    return refuse(PyExc_BufferError, "the array is read-only; request a read-only buffer");
  }
  const bool is_c = v.layout().is_c_contiguous();
  const bool is_f = v.layout().is_f_contiguous();
  const auto asks = [flags](int what) { return (flags & what) == what; };
  if ((asks(PyBUF_C_CONTIGUOUS) && !is_c) || (asks(PyBUF_F_CONTIGUOUS) && !is_f) ||
      (asks(PyBUF_ANY_CONTIGUOUS) && !is_c && !is_f) || (!asks(PyBUF_STRIDES) && !is_c)) {
    return refuse(PyExc_BufferError,
                  "the elements are not contiguous in the requested order; use copy()");
  }
  // The host is about to look: what was submitted before comes first.
  wait_for_work(a);

  auto details = std::make_unique<buffer_details>();
  const auto itemsize = static_cast<Py_ssize_t>(v.dtype().itemsize());
  details->format = buffer_format(v.dtype());
  for (std::size_t k = 0; k < v.layout().shape().size(); ++k) {
    details->shape.push_back(v.layout().shape()[k]);
    details->strides.push_back(v.layout().strides()[k] * itemsize);
  }
  details->elements = a;
  view->buf = v.data();
  view->len = static_cast<Py_ssize_t>(v.nbytes());
  view->readonly = v.read_only() ? 1 : 0;
  view->itemsize = itemsize;
  view->format = asks(PyBUF_FORMAT) ? details->format.data() : nullptr;
  view->ndim = asks(PyBUF_ND) ? v.rank() : 1;
  view->shape = asks(PyBUF_ND) ? details->shape.data() : nullptr;
  view->strides = asks(PyBUF_STRIDES) ? details->strides.data() : nullptr;
  view->suboffsets = nullptr;
  view->internal = details.release();
  view->obj = Py_NewRef(self);
  return 0;
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  view->obj = nullptr;
  try {
    return fill_buffer(self, view, flags);
  } catch (...) {
    raise_current();
    return -1;
  }
}

void release_buffer(PyObject*, Py_buffer* view) noexcept {
  delete static_cast<buffer_details*>(view->internal);
}

/// `a[key]` without the way through a bound function. What fails is done again by one, which knows
/// how every C++ exception is called in Python.
PyObject* get_item(PyObject* self, PyObject* key) noexcept {
  try {
    return wrap_view(value_of(self), indexed(value_of(self).elements(), key)).release().ptr();
  } catch (...) {
    PyErr_Clear();
  }
  return PyObject_CallMethod(self, "_getitem", "(O)", key);
}

PyObject* get_sequence_item(PyObject* self, Py_ssize_t index) noexcept {
  PyObject* const key = PyLong_FromSsize_t(index);
  if (key == nullptr) return nullptr;
  PyObject* const item = get_item(self, key);
  Py_DECREF(key);
  return item;
}

Py_ssize_t get_length(PyObject* self) noexcept {
  const array* const a = array_of(self);
  if (a == nullptr) return refuse_uninitialised(self);
  const extents& shape = a->elements().layout().shape();
  if (shape.empty()) return refuse(PyExc_TypeError, "len() of a 0-d array");
  return static_cast<Py_ssize_t>(shape[0]);
}

PyObject* iterate(PyObject* self) noexcept {
  const array* const a = array_of(self);
  if (a == nullptr || a->elements().rank() == 0) {
    if (a == nullptr) {
      refuse_uninitialised(self);
    } else {
      refuse(PyExc_TypeError, "iteration over a 0-d array");
    }
    return nullptr;
  }
  return PySeqIter_New(self);
}

void append_format(std::string& out, const dtype& type) {
  static constexpr const char* integers[] = {"b", "h", "", "i", "", "", "", "q"};
  const std::size_t size = type.itemsize();
  switch (type.kind()) {
    case type_class::boolean:
      out += '?';
      return;
    case type_class::integer:
      out += integers[size - 1];
      return;
    case type_class::unsigned_integer:
      out += static_cast<char>(integers[size - 1][0] - 'a' + 'A');
      return;
    case type_class::floating:
      out += size == 2 ? 'e' : size == 4 ? 'f' : 'd';
      return;
    case type_class::complex:
      out += size == 8 ? "Zf" : "Zd";
      return;
    case type_class::record:
      break;
  }
  if (type.members() == nullptr) {
    out += std::to_string(size) + "x";
    return;
  }
  out += "T{";
  for (const field& f : *type.members()) {
    if (!f.shape.empty()) {
      out += '(';
      for (std::size_t k = 0; k < f.shape.size(); ++k)
        out += (k == 0 ? "" : ",") + std::to_string(f.shape[k]);
      out += ')';
    }
    if (f.name.empty()) {
      out += std::to_string(f.type.itemsize()) + "x";
      continue;
    }
    // Standard sizes without alignment: what the fields of a packed record are.
    if (f.type.members() == nullptr && !f.type.is_record()) out += '<';
    append_format(out, f.type);
    out += ":" + f.name + ":";
  }
  out += '}';
}

}  // namespace

std::string buffer_format(const dtype& type) {
  std::string out;
  // Native sizes are understood by memoryview as well; 'l' is what NumPy calls int64.
  if (!type.is_record() && type.itemsize() == 8 && type.kind() == type_class::integer) return "l";
  if (!type.is_record() && type.itemsize() == 8 && type.kind() == type_class::unsigned_integer)
    return "L";
  append_format(out, type);
  return out;
}

int traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? traverse_lender(value_of(self), visit, arg) : 0;
}

const PyType_Slot* ndarray_slots() {
  static const std::vector<PyType_Slot> all = [] {
    std::vector<PyType_Slot> slots = {
        {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
        {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
        {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
        {Py_mp_subscript, reinterpret_cast<void*>(get_item)},
        {Py_mp_length, reinterpret_cast<void*>(get_length)},
        {Py_sq_length, reinterpret_cast<void*>(get_length)},
        {Py_sq_item, reinterpret_cast<void*>(get_sequence_item)},
        {Py_tp_iter, reinterpret_cast<void*>(iterate)},
    };
    add_operators(slots);
    slots.push_back({0, nullptr});
    return slots;
  }();
  return all.data();
}

}  // namespace usmx::python
