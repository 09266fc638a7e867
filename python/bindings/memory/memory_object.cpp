// The life of a memory object: views that go with their root, an early `free()` that buffers can
// block, and bytes that are given back without holding the GIL.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "memory/memory.hpp"
#include "support/slot_errors.hpp"
#include "usmx/error.hpp"

namespace usmx::python {

memory::memory(array a, nb::object of) noexcept : bytes(std::move(a)), root_(std::move(of)) {
  memory& first = root_memory();
  next_ = first.next_;
  previous_ = &first;
  if (next_ != nullptr) next_->previous_ = this;
  first.next_ = this;
}

memory::~memory() {
  if (is_view()) {
    previous_->next_ = next_;
    if (next_ != nullptr) next_->previous_ = previous_;
  }
  give_back(bytes);
}

void memory::free() {
  if (exports_ != 0) {
    throw nb::buffer_error((std::to_string(exports_) +
                            " exported buffers still show this memory; release them before free()")
                               .c_str());
  }
  if (freed_) return;
  if (is_view()) {
    freed_ = true;  // the bytes are the root's to give back
    return;
  }
  const shared_owner& keep = bytes.keep_alive();
  long ours = 1;
  for (const memory* view = next_; view != nullptr; view = view->next_) ++ours;
  if (keep && keep.use_count() > ours) {
    throw nb::buffer_error(
        "an array, another memory object or a call still uses this memory; delete the arrays, or "
        "let the memory go with the last of them instead of free()");
  }
  freed_ = true;
  for (memory* view = next_; view != nullptr; view = view->next_) {
    view->freed_ = true;
    if (keep) view->bytes = array();  // the root's own reference is the last one
  }
  if (!keep) return;  // without an owner there is nothing to give back
  give_back(bytes);
  bytes = array();
}

void memory::count_export(int change) noexcept {
  exports_ += change;
  if (is_view()) root_memory().exports_ += change;
}

live_bytes live(const memory& m) {
  if (m.freed()) throw nb::value_error("this memory was freed");
  return live_bytes(m.bytes);
}

live_bytes writable(const memory& m, const char* operation) {
  live_bytes bytes = live(m);
  if (bytes->elements().read_only()) {
    throw interop_error(fault::read_only, std::string(operation) +
                                              ": this memory is read-only and cannot be written");
  }
  return bytes;
}

namespace {

[[gnu::noinline]] shared_owner allocate_without_gil(const sycl::queue& queue, usm_kind kind,
                                                    std::size_t bytes, std::size_t alignment) {
  const gil_released released;
  return allocate(queue, kind, bytes, alignment);
}

}  // namespace

shared_owner allocate_bytes(const sycl::queue& queue, usm_kind kind, std::size_t bytes,
                            std::size_t alignment) {
  release_waiting_objects();
  shared_owner owner = try_allocate(default_resource(queue, kind), bytes, alignment);
  if (!owner) owner = allocate_without_gil(queue, kind, bytes, alignment);
  return owner;
}

any_view byte_run(std::byte* first, std::size_t count, usm_kind kind, bool read_only) {
  any_view out;
  const fault code = any_view::row(first, dtype(), static_cast<std::int64_t>(count), kind, out);
  if (code != fault::none) {
    throw interop_error(code, std::to_string(count) + " bytes: " + std::string(field_of(code)) +
                                  " " + std::string(message(code)));
  }
  if (read_only) out = out.as_read_only();
  return out;
}

any_view single_bytes(const any_view& v) {
  const auto rank = static_cast<std::size_t>(v.rank());
  const auto size = static_cast<std::int64_t>(v.dtype().itemsize());
  extents shape(rank + 1, size);
  extents strides(rank + 1, 1);
  for (std::size_t k = 0; k < rank; ++k) {
    shape[k] = v.layout().shape()[k];
    strides[k] = v.layout().strides()[k] * size;
  }
  layout where;
  any_view out;
  fault code = layout::strided(std::move(shape), std::move(strides), 1, where);
  if (code == fault::none) {
    code = any_view::make(v.data(), dtype(), std::move(where), v.kind(), v.read_only(), out);
  }
  if (code != fault::none) {
    throw interop_error(code, "bytes of the elements: " + std::string(field_of(code)) + " " +
                                  std::string(message(code)));
  }
  return out;
}

array byte_span(array a) {
  const any_view& v = a.elements();
  const bool is_byte =
      v.dtype().kind() == type_class::unsigned_integer && v.dtype().itemsize() == 1;
  if (is_byte && v.rank() == 1 && v.layout().strides()[0] == 1) return a;
  any_view bytes =
      byte_run(v.first_byte(), static_cast<std::size_t>(v.last_byte() - v.first_byte()), v.kind(),
               v.read_only());
  return std::move(a).with_view(std::move(bytes));
}

std::optional<array> to_array(nb::handle obj) {
  if (is_ready<memory>(obj)) return *live(*nb::inst_ptr<memory>(obj));
  return import_array(obj);
}

// A queue is asked through the runtime's scheduler, whose lock a thread may hold that waits for the
// GIL: dpctl's host tasks do.
bool is_busy(shared_owner keep) noexcept {
  if (!keep) return false;
  if (const auto known = keep->try_busy()) return *known;
  const gil_released released;
  return keep->busy();
}

void wait_for_work(const array& a) {
  const shared_owner keep = a.keep_alive();
  if (!is_busy(keep)) return;
  const gil_released released;
  keep->wait();
}

void expose(const array& a) {
  const shared_owner keep = a.keep_alive();
  if (!keep || keep->try_exposed_on(a.queue())) return;
  const sycl::queue queue = a.queue();
  const gil_released released;
  keep->exposed_on(queue);
}

// --- PEP 3118: NumPy, memoryview, file.readinto and others that know buffers see the bytes of
// shared and host memory in place

namespace {

int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  view->obj = nullptr;
  try {
    memory& m = self_of<memory>(self);
    const live_bytes held = live(m);
    const array& bytes = *held;
    if (bytes.kind() == usm_kind::device) {
      PyErr_SetString(PyExc_TypeError,
                      "device memory has no buffer, the host cannot access it; copy it with "
                      "copy_to_host() or tobytes()");
      return -1;
    }
    const bool read_only = bytes.elements().read_only();
    if (read_only && (flags & PyBUF_WRITABLE) != 0) {
      PyErr_SetString(PyExc_BufferError, "this memory is read-only; request a read-only buffer");
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
