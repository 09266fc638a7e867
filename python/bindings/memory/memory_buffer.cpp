// PEP 3118: NumPy, memoryview, file.readinto and everything else that knows buffers sees the bytes
// of shared and host memory in place.
// SPDX-License-Identifier: Apache-2.0
#include "memory/memory.hpp"
#include "support/slot_errors.hpp"

namespace usmx::python {
namespace {

int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  view->obj = nullptr;
  try {
    memory& m = self_of<memory>(self);
    const live_bytes held = live(m);
    const array& bytes = *held;
    if (bytes.kind() == usm_kind::device) {
      PyErr_SetString(PyExc_TypeError,
                      "device memory has no buffer, the host cannot see it; copy it with "
                      "copy_to_host() or tobytes()");
      return -1;
    }
    const bool read_only = bytes.elements().read_only();
    if (read_only && (flags & PyBUF_WRITABLE) != 0) {
      PyErr_SetString(PyExc_BufferError, "this memory is read-only; ask for a read-only buffer");
      return -1;
    }
    // The host is about to look: what was submitted before comes first.
    wait_for_work(bytes);
    if (PyBuffer_FillInfo(view, self, bytes.data(),
                          static_cast<Py_ssize_t>(bytes.elements().size()), read_only,
                          flags) != 0) {
      return -1;
    }
    m.count_export(1);
    return 0;
  } catch (...) {
    raise_current();
  }
  return -1;
}

void release_buffer(PyObject* self, Py_buffer*) noexcept {
  nb::inst_ptr<memory>(self)->count_export(-1);
}

int traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const memory& m = *nb::inst_ptr<memory>(self);
  Py_VISIT(m.root().ptr());
  return traverse_lender(m.bytes, visit, arg);
}

}  // namespace

PyType_Slot memory_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
    {0, nullptr},
};

}  // namespace usmx::python
