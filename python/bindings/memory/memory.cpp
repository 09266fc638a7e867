// `usmx.memory`: contiguous bytes in USM that programs written for dpctl.memory can use unchanged,
// and that can also be sliced, freed early, made read-only and referenced weakly.
// SPDX-License-Identifier: Apache-2.0
#include "memory/memory.hpp"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/string.h>

#include "protocols/protocols.hpp"
#include "support/containers.hpp"
#include "support/error_text.hpp"
#include "support/examples.hpp"
#include "support/interrupts.hpp"
#include "support/signature.hpp"
#include "support/slot_errors.hpp"
#include "support/text.hpp"
#include "support/type_slots.hpp"
#include "usmx/error.hpp"
#include "usmx/suai.hpp"

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
    throw nb::buffer_error(
        detail::format("{} exported buffers still show this memory; release them before free()",
                       exports_)
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
  if (calls_ != 0 || (keep && keep.use_count() > ours)) {
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
  return live_bytes(const_cast<memory&>(m));  // only counted
}

live_bytes writable(const memory& m, const char* operation) {
  live_bytes bytes = live(m);
  if (bytes->elements().read_only()) {
    throw interop_error(
        fault::read_only,
        detail::format("{}: this memory is read-only and cannot be written", operation));
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
  if (code != fault::none) detail::require_valid(code, detail::format("{} bytes", count));
  if (read_only) out = out.as_read_only();
  return out;
}

any_view seen_as(const any_view& bytes, const layout& like, const dtype& type, fault& code) {
  layout where;
  any_view out;
  code = layout::c_order(like.shape(), type.itemsize(), where);
  if (code == fault::none) {
    code =
        any_view::make(bytes.data(), type, std::move(where), bytes.kind(), bytes.read_only(), out);
  }
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
  detail::require_valid(code);
  return out;
}

namespace {

bool is_byte_span(const any_view& v) noexcept {
  const bool is_byte =
      v.dtype().kind() == type_class::unsigned_integer && v.dtype().itemsize() == 1;
  return is_byte && v.rank() == 1 && v.layout().strides()[0] == 1;
}

}  // namespace

array byte_span(array a) {
  const any_view& v = a.elements();
  if (is_byte_span(v)) return a;
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
bool is_busy(const shared_owner& asked) noexcept {
  if (!asked) return false;
  if (const auto known = asked->try_busy()) return *known;
  const shared_owner keep = asked;
  const gil_released released;
  return keep->busy();
}

void expose_to_host(const array& a) {
  if (!a.keep_alive()) return;
  address_leaves(a.keep_alive());
  a.keep_alive()->exposed_to_host();
  wait_for_work(a);
}

host_access show_to_host(const array& a) {
  host_access view(a.keep_alive());
  wait_for_work(a);
  return view;
}

void wait_for_work(const array& a) {
  if (!a.keep_alive()) return;
  const auto known = a.keep_alive()->try_busy();
  const bool is_theirs = a.keep_alive()->is_lent() && a.kind() != usm_kind::unknown;
  if (!known.value_or(true) && !is_theirs) return;
  const shared_owner keep = a.keep_alive();
  const sycl::queue queue = a.queue();
  const waiting_without_gil released;
  if (known ? *known : keep->busy()) keep->wait();
  // What its own library submitted is known to the queue only.
  if (is_theirs) wait(queue);
}

void wait_for_own_work(const array& a) {
  if (!a.keep_alive()) return;
  const auto at_work = a.keep_alive()->try_own_work();
  if (!at_work.value_or(true)) return;
  const shared_owner keep = a.keep_alive();
  const waiting_without_gil released;
  if (at_work || keep->has_own_work()) keep->wait();
}

void remember_ended_work(const array& a) {
  if (!a.keep_alive() || a.keep_alive()->try_submitted()) return;
  const shared_owner keep = a.keep_alive();
  const gil_released released;
  keep->has_submitted_work();
}

void expose(const array& a, const sycl::queue& queue) {
  address_leaves(a.keep_alive());
  if (!a.keep_alive() || a.keep_alive()->try_exposed_on(queue, a.queue())) return;
  const shared_owner keep = a.keep_alive();
  const sycl::queue others = queue;
  const sycl::queue home = a.queue();
  const gil_released released;
  keep->exposed_on(others, home);
}

void expose(const array& a) { expose(a, a.queue()); }

// `np.frombuffer` of memory of dpctl knows no queue, and dpctl's copies use queues of their own.
void reached_without_queue(const array& a) {
  if (a.keep_alive() && host_accessible(a.kind())) a.keep_alive()->exposed_to_host();
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
    // The host is about to look: what was submitted before comes first. As of arrays, see there.
    const detail::uninterrupted whole;
    auto shown = std::make_unique<host_access>(show_to_host(bytes));
    if (PyBuffer_FillInfo(view, self, bytes.data(),
                          static_cast<Py_ssize_t>(bytes.elements().size()), read_only,
                          flags) != 0) {
      return -1;
    }
    view->internal = shown.release();
    m.count_export(1);
    return 0;
  } catch (...) {
    raise_current();
  }
  return -1;
}

void release_buffer(PyObject* self, Py_buffer* view) noexcept {
  // First: the last reference to the memory is that of `self`.
  delete static_cast<host_access*>(view->internal);
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

namespace {

// The classes, borrowed: the module keeps them.
nb::handle class_of_kind[4];
PyObject* not_usm_error = nullptr;

const char* class_name(usm_kind kind) noexcept {
  switch (kind) {
    case usm_kind::host:
      return "MemoryUSMHost";
    case usm_kind::shared:
      return "MemoryUSMShared";
    default:
      return "MemoryUSMDevice";
  }
}

nb::handle class_for(usm_kind kind) noexcept {
  // Memory without an element may have no kind; the strictest class fits it.
  return class_of_kind[static_cast<int>(kind == usm_kind::unknown ? usm_kind::device : kind)];
}

template <class... Args>
nb::object make(usm_kind kind, Args&&... args) {
  nb::object made = nb::inst_alloc(class_for(kind));
  new (nb::inst_ptr<memory>(made)) memory(std::forward<Args>(args)...);
  nb::inst_mark_ready(made);
  return made;
}

/// Another face of the same bytes, freed with the memory it was taken from.
nb::object view_of(nb::handle self, any_view bytes) {
  const memory& m = self_of<memory>(self);
  const usm_kind kind = m.bytes.kind();
  return make(kind, m.bytes.with_view(std::move(bytes)), m.is_view() ? m.root() : nb::borrow(self));
}

bool is_memory(nb::handle obj) noexcept { return is_ready<memory>(obj); }

array new_bytes(nb::handle size, std::int64_t alignment, nb::handle queue_like, usm_kind kind) {
  const Py_ssize_t bytes = PyNumber_AsSsize_t(size.ptr(), nullptr);  // clips what is too large
  if (bytes == -1 && PyErr_Occurred() != nullptr) nb::raise_python_error();
  if (bytes < 0 || bytes == PY_SSIZE_T_MAX) {
    throw value_error(
        "nbytes: {}{}", describe_value(size),
        bytes < 0 ? " is negative" : " is too large; at most 2**63 - 1 bytes are supported");
  }
  if (alignment < 0) {
    throw value_error("alignment: {} is negative; expected 0 (the default) or a power of two",
                      alignment);
  }
  const sycl::queue queue = to_queue(queue_like);
  const auto count = static_cast<std::size_t>(bytes);
  shared_owner owner = allocate_bytes(
      queue, kind, count, alignment == 0 ? default_alignment : static_cast<std::size_t>(alignment));
  any_view all = byte_run(owner->base(), count, kind, false);
  return array::over(std::move(all), queue, std::move(owner));
}

/// What a constructor makes of its argument. `root` is set if the result is a view of a memory of
/// ours.
array construct(nb::handle source, std::int64_t alignment, nb::handle queue, bool copy,
                usm_kind kind, nb::object& root) {
  std::optional<array> from;
  if (PyLong_Check(source.ptr()) == 0) from = to_array(source);
  if (!from) {
    if (!PyIndex_Check(source.ptr())) {
      PyErr_Format(not_usm_error, "%s: %s has no USM: expected a number of bytes (an int), or %s%s",
                   class_name(kind), Py_TYPE(source.ptr())->tp_name, expected_protocols().c_str(),
                   PyObject_CheckBuffer(source.ptr()) != 0
                       ? "; copy a buffer of the host with copy_from_host()"
                       : "");
      nb::raise_python_error();
    }
    return new_bytes(source, alignment, queue, kind);
  }
  if (copy) {
    nb::object where = queue.is_none() ? nb::cast(from->queue()) : nb::borrow(queue);
    array made = new_bytes(nb::int_(from->elements().nbytes()), alignment, where, kind);
    copy_elements(made, *from);
    return made;
  }
  if (from->kind() != kind && from->elements().size() != 0) {
    throw value_error("this is {} memory, {} holds {} memory; use {}, or copy=True",
                      name(from->kind()), class_name(kind), name(kind), class_name(from->kind()));
  }
  if (is_memory(source)) {
    const memory& m = *nb::inst_ptr<memory>(source);
    root = m.is_view() ? m.root() : nb::borrow(source);
  }
  array made = byte_span(*from);
  if (queue.is_none()) return made;
  const sycl::queue other = to_queue(queue);
  const gil_released released;
  return made.on(other);
}

/// Calls of the class. First what programs call most: memory of ours, a number of bytes, a queue.
template <usm_kind Kind>
PyObject* new_memory(PyObject* type, PyObject* const* args, std::size_t nargsf,
                     PyObject* keywords) noexcept {
  static PyObject* const queue_word = PyUnicode_InternFromString("queue");
  try {
    if (PyVectorcall_NARGS(nargsf) == 1 && keywords == nullptr && is_memory(args[0])) {
      const memory& m = *nb::inst_ptr<memory>(args[0]);
      const live_bytes held = live(m);
      if (held->kind() == Kind) {
        return make(Kind, array(*held), m.is_view() ? m.root() : nb::borrow(args[0]))
            .release()
            .ptr();
      }
    }
    const bool names_queue = keywords != nullptr && PyTuple_GET_SIZE(keywords) == 1 &&
                             PyTuple_GET_ITEM(keywords, 0) == queue_word;
    if (PyVectorcall_NARGS(nargsf) == 1 && (keywords == nullptr || names_queue)) {
      const Py_ssize_t bytes = plain_count(args[0]);
      const sycl::queue* const queue = plain_queue(names_queue ? args[1] : Py_None);
      if (bytes >= 0 && queue != nullptr) {
        const auto count = static_cast<std::size_t>(bytes);
        shared_owner owner = allocate_bytes(*queue, Kind, count);
        any_view all = byte_run(owner->base(), count, Kind, false);
        return make(Kind, std::move(all), *queue, std::move(owner)).release().ptr();
      }
    }
    return made_by_init(type, args, nargsf, keywords).release().ptr();
  } catch (...) {
    return raise_current();
  }
}

/// Of the three classes.
constexpr const char* parameters_doc =
    "\n\n"
    "Parameters\n----------\n"
    "nbytes_or_object : int or object\n"
    "    Bytes to allocate, which are not initialised; or USM of any library, which is shared.\n"
    "alignment : int\n    Of the address, in bytes: a power of two; 0 is that of the library.\n"
    "queue : Queue, optional\n"
    "    Of which commands use the memory, in any form that names a queue. By default that of the\n"
    "    object, or the default queue.\n"
    "copy : bool\n    Whether the bytes of an object are copied, of other kinds too.\n\n"
    "Raises\n------\n"
    "NotUSMError\n    The object has no USM.\n"
    "ValueError\n    Its memory is of another kind, without `copy`.\n"
    "AllocationError\n    There is not so much memory.";

template <class Memory, usm_kind Kind>
nb::class_<Memory, memory> bind_kind(nb::module_& m, const char* doc) {
  constexpr usm_kind kind = Kind;
  std::vector<PyType_Slot> slots{{slot_of_type_call, reinterpret_cast<void*>(new_memory<Kind>)}};
  for (const PyType_Slot* slot = memory_slots; slot->slot != 0; ++slot) slots.push_back(*slot);
  slots.push_back({0, nullptr});
  const std::string whole_doc = doc + std::string(parameters_doc);
  nb::class_<Memory, memory> c(m, class_name(kind), whole_doc.c_str(), nb::is_weak_referenceable(),
                               nb::type_slots(slots.data()), nb::pooled());
  c.def(
      "__init__(self, nbytes_or_object: int | SupportsUSM?, *, alignment: int = 0, "
      "queue: QueueLike = None, copy: bool = False) -> None"_sig,
      [](nb::pointer_and_handle<Memory> self, nb::handle source, std::int64_t alignment,
         nb::handle queue, bool copy) {
        nb::object root;
        array bytes = construct(source, alignment, queue, copy, kind, root);
        if (root.is_valid()) {
          initialise(self, std::move(bytes), std::move(root));
        } else {
          initialise(self, std::move(bytes));
        }
      });
  c.attr("__module__") = "usmx.memory";
  class_of_kind[static_cast<int>(kind)] = c;
  return c;
}

nb::object slice(nb::handle self, nb::handle key) {
  const live_bytes held = live(self_of<memory>(self));
  const array& bytes = *held;
  if (!PySlice_Check(key.ptr())) {
    throw nb::type_error(
        "memory is indexed by slices, m[16:64]; for single bytes of host-accessible memory use "
        "memoryview(m)[i]");
  }
  Py_ssize_t start = 0;
  Py_ssize_t stop = 0;
  Py_ssize_t step = 1;
  if (PySlice_Unpack(key.ptr(), &start, &stop, &step) != 0) nb::raise_python_error();
  if (step != 1) {
    throw value_error(
        "slice step: {}; memory is contiguous bytes, so only 1 is supported; "
        "usmx.asarray(m)[::step] gives a strided array",
        step);
  }
  const any_view& all = bytes.elements();
  const Py_ssize_t count =
      PySlice_AdjustIndices(static_cast<Py_ssize_t>(all.size()), &start, &stop, step);
  std::int64_t shift = 0;
  layout part = all.layout().sliced(0, start, count, 1, shift);
  return view_of(self, all.with_layout(std::move(part), shift));
}

/// As a method: the kind of this memory as `syclobj` sees it. Called on the class with an address:
/// the kind of the memory there.
usm_kind kind_at(nb::handle self_or_address, nb::handle syclobj) {
  const void* p = nullptr;
  if (is_memory(self_or_address)) {
    const live_bytes bytes = live(*nb::inst_ptr<memory>(self_or_address));
    if (syclobj.is_none()) return bytes->kind();
    return kind_of(bytes->data(), to_origin(syclobj).context);
  } else {
    if (!PyLong_Check(self_or_address.ptr())) {
      throw nb::type_error("get_usm_type: pass a memory, or an address as an int");
    }
    p = PyLong_AsVoidPtr(self_or_address.ptr());
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      throw nb::value_error("get_usm_type: the address does not fit a pointer");
    }
    if (syclobj.is_none()) {
      throw nb::type_error("get_usm_type: an address needs a syclobj: a context or a queue");
    }
  }
  return kind_of(p, to_origin(syclobj).context);
}

int kind_number(usm_kind kind) noexcept {
  // dpctl's numbers.
  switch (kind) {
    case usm_kind::device:
      return 1;
    case usm_kind::shared:
      return 2;
    case usm_kind::host:
      return 3;
    default:
      return 0;
  }
}

std::string describe(nb::handle self) {
  const memory& m = self_of<memory>(self);
  const std::string type = shown(nb::str(self.type().attr("__qualname__")));
  if (m.freed()) return "<usmx.memory." + type + ": freed>";
  std::array<char, 32> address{};
  std::snprintf(address.data(), address.size(), "0x%" PRIxPTR,
                reinterpret_cast<std::uintptr_t>(m.bytes.data()));
  std::string text =
      detail::format("<usmx.memory.{}: {} bytes of {} USM at {}", type, m.bytes.elements().size(),
                     name(m.bytes.kind()), address.data());
  const std::string device = filter_string(m.bytes.queue().get_device());
  if (!device.empty()) text += " on " + device;
  if (m.bytes.elements().read_only()) text += ", read-only";
  return text + ">";
}

/// Since protocol 5 the bytes are a buffer, which pickle may take out of band.
nb::object reduce(nb::handle self, int protocol) {
  const live_bytes bytes = live(self_of<memory>(self));
  nb::object data;
  if (protocol >= 5) {
    const bool in_place = host_accessible(bytes->kind());
    const nb::object source = in_place ? nb::borrow(self) : nb::object(self.attr("tobytes")());
    data = nb::steal(PyPickleBuffer_FromObject(source.ptr()));
    if (!data.is_valid()) throw nb::python_error();
  } else {
    data = self.attr("tobytes")();
  }
  return nb::make_tuple(
      nb::module_::import_("usmx.memory").attr("_rebuild"),
      nb::make_tuple(self.type(), data, filter_string(bytes->queue().get_device()),
                     bytes->elements().read_only()));
}

nb::object array_interface(const memory& m) {
  const live_bytes held = live(m);
  const array& bytes = *held;
  if (!host_accessible(bytes.kind())) {
    throw nb::attribute_error(
        "device memory has no __array_interface__, the host cannot access it; copy it with "
        "copy_to_host()");
  }
  expose_to_host(bytes);
  nb::dict d = new_dict();
  d["shape"] = nb::make_tuple(bytes.elements().size());
  d["typestr"] = "|u1";
  d["data"] =
      nb::make_tuple(reinterpret_cast<std::uintptr_t>(bytes.data()), bytes.elements().read_only());
  d["strides"] = nb::none();
  d["version"] = 3;
  return d;
}

}  // namespace

void raise_not_usm(nb::handle obj, const char* where) {
  const std::string type = Py_TYPE(obj.ptr())->tp_name;
  PyErr_Format(not_usm_error, "%s: %s has no USM: expected %s%s", where, type.c_str(),
               expected_protocols().c_str(),
               PyObject_CheckBuffer(obj.ptr()) != 0
                   ? "; copy a buffer of the host with copy_from_host()"
                   : "");
  nb::raise_python_error();
}

nb::object wrap_memory(array&& bytes) {
  const usm_kind kind = bytes.kind();
  if (is_byte_span(bytes.elements())) return make(kind, std::move(bytes));
  return make(kind, byte_span(std::move(bytes)));
}

const array* memory_of(nb::handle obj) noexcept {
  if (!is_memory(obj)) return nullptr;
  const memory& m = *nb::inst_ptr<memory>(obj);
  return m.freed() ? nullptr : &m.bytes;
}

namespace {

nb::object as_memory(nb::handle obj) {
  if (is_memory(obj)) return view_of(obj, live(*nb::inst_ptr<memory>(obj))->elements());
  std::optional<array> from = import_array(obj);
  if (!from) raise_not_usm(obj, "as_usm_memory");
  return wrap_memory(std::move(*from));
}

struct as_memory_call {
  static auto signature() {
    return "as_usm_memory(obj: SupportsUSM?) -> MemoryUSMDevice | MemoryUSMShared | "
           "MemoryUSMHost"_sig;
  }
  static constexpr auto run = as_memory;
};

}  // namespace

void bind_memory(nb::module_& m) {
  bind_python_owner();
  not_usm_error = PyErr_NewExceptionWithDoc(
      "usmx.memory.NotUSMError",
      "An object that describes no USM: the wrong type, and a wrong value\n"
      "for programs that expect the ValueError of dpctl.memory.",
      nb::make_tuple(nb::handle(PyExc_TypeError), nb::handle(PyExc_ValueError)).ptr(), nullptr);
  if (not_usm_error == nullptr) nb::raise_python_error();
  m.attr("NotUSMError") = nb::borrow(not_usm_error);

  nb::class_<memory> c(m, "_Memory", "A run of bytes in USM; base of the three classes.",
                       nb::is_weak_referenceable());
  c.attr("__module__") = "usmx.memory";
  const auto size = [](const memory& self) { return live(self)->elements().size(); };
  c.def_prop_ro("nbytes", size, "Bytes.");
  c.def_prop_ro("size", size, "Bytes.");
  c.def("__len__", size);
  c.def("__repr__", describe);
  bind_html(c, "memory");
  c.def("__getitem__(self, key: slice?) -> Self"_sig, slice);
  c.def("__reduce__(self) -> tuple[Any, ...]"_sig, [](nb::handle self) { return reduce(self, 0); });
  c.def("__reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]"_sig, reduce);
  c.def(
      "__sizeof__",
      [](nb::handle self) {
        const memory& held = self_of<memory>(self);
        const bool owns = !held.freed() && !held.is_view() && !borrowed_from_python(held.bytes);
        return static_cast<std::size_t>(Py_TYPE(self.ptr())->tp_basicsize) +
               (owns ? held.bytes.elements().nbytes() : 0);
      },
      "For `sys.getsizeof`: with the bytes that this object owns; views own none.");
  c.def("__enter__(self) -> Self"_sig, [](nb::object self) {
    static_cast<void>(live(self_of<memory>(self)));
    return self;
  });
  c.def("__exit__(self, *args: object) -> None"_sig, [](memory& self, nb::args raised) {
    try {
      self.free();
    } catch (const nb::builtin_exception&) {
      // What the block raised says more; its frames may hold the arrays that are in the way.
      if (raised.size() == 0 || raised[0].is_none()) throw;
    }
  });
  c.def(
      "free", &memory::free,
      "Give the bytes back now; commands that still run on them are waited for in the background.\n"
      "After it every use of this object and of its slices raises ValueError. What took the\n"
      "address through `__sycl_usm_array_interface__` must be done with it.\n\n"
      "Raises\n------\n"
      "BufferError\n    A memoryview, a NumPy array or another buffer still shows the bytes, or an "
      "array\n    or a call in another thread still uses them.");
  c.def_prop_ro("freed", &memory::freed, "True after `free()`.");
  c.def_prop_ro(
      "readonly", [](const memory& self) { return live(self)->elements().read_only(); },
      "True if the bytes must not be written through this object.");
  c.def(
      "as_readonly(self) -> Self"_sig,
      [](nb::handle self) {
        return view_of(self, live(self_of<memory>(self))->elements().as_read_only());
      },
      "The same bytes as an object that cannot write them.");
  c.def_prop_ro(
      "reference_obj",
      [](const memory& self) -> nb::object {
        return self.is_view() ? self.root() : lender_of(*live(self));
      },
      "The object that owns the bytes if this one does not, otherwise None.",
      nb::sig("def reference_obj(self) -> Any"));
  const auto queue = [](const memory& self) { return live(self)->queue(); };
  const auto device = [](const memory& self) { return live(self)->queue().get_device(); };
  const auto context = [](const memory& self) { return live(self)->queue().get_context(); };
  for (const char* name : {"queue", "_queue"}) {
    c.def_prop_ro(name, queue, "The queue that work on these bytes goes to.");
  }
  c.def_prop_ro("device", device, "The device the bytes were allocated for.");
  for (const char* name : {"context", "_context"}) {
    c.def_prop_ro(name, context, "The context the bytes belong to.");
  }
  bind_dpctl_names(c, [](nb::handle self) { return live(self_of<memory>(self))->queue(); });
  c.def_prop_ro(
      "_pointer",
      [](const memory& self) {
        const live_bytes bytes = live(self);
        if (host_accessible(bytes->kind()) && bytes->keep_alive()) {
          bytes->keep_alive()->exposed_to_host();
          wait_for_own_work(*bytes);
        }
        // The address may reach commands that are not known here: compute follows the queue.
        expose(*bytes);
        return reinterpret_cast<std::uintptr_t>(bytes->data());
      },
      "The address of the first byte.");
  c.def_prop_ro(
      "usm_type", [](const memory& self) { return name(live(self)->kind()); },
      "\"device\", \"shared\" or \"host\".", nb::sig("def usm_type(self) -> UsmKind"));
  const auto usm_type = [](nb::handle self, nb::handle syclobj) {
    return name(kind_at(self, syclobj));
  };
  c.def("get_usm_type(self, syclobj: QueueLike = None) -> str"_sig, usm_type,
        "\"device\", \"shared\", \"host\", or \"unknown\" where the context of `syclobj` does not "
        "know\nthe memory. On the class it takes an address: "
        "``MemoryUSMShared.get_usm_type(address, syclobj)``.");
  c.def(
      "get_usm_type_enum(self, syclobj: QueueLike = None) -> int"_sig,
      [](nb::handle self, nb::handle syclobj) { return kind_number(kind_at(self, syclobj)); },
      "The same as a number: unknown 0, device 1, shared 2, host 3.");
  def(m, "get_usm_type(ptr: SupportsUSM | int?, syclobj: QueueLike = None) -> str"_sig, usm_type,
      with_example(
          "get_usm_type",
          "The kind of USM at an address, or of a memory object.\n\n"
          "Parameters\n----------\nptr : int or memory\n    An address, or one of the three "
          "classes.\n"
          "syclobj : Context or Queue, optional\n    A context or a queue, which an address "
          "needs.\n\n"
          "Returns\n-------\nstr\n    \"device\", \"shared\", \"host\" or \"unknown\".")
          .c_str());
  bind_exports(c, [](nb::handle self) { return live(self_of<memory>(self)); });
  c.def_prop_ro("__array_interface__", array_interface,
                nb::sig("def __array_interface__(self) -> dict[str, Any]"));
  bind_copies(c);

  bind_kind<memory_shared, usm_kind::shared>(m, "USM that moves between host and device.");
  bind_kind<memory_host, usm_kind::host>(m, "USM that lives on the host; devices reach into it.");
  bind_kind<memory_device, usm_kind::device>(
      m, "USM that lives on the device, out of the host's reach.")
      .def("__array__(self, *args: object, **kwargs: object) -> NoReturn"_sig,
           [](nb::handle, nb::args, nb::kwargs) -> nb::object {
             // Without this NumPy makes a 0-d array of objects and says nothing.
             throw nb::type_error(
                 "the host cannot access device memory; copy it with copy_to_host() or tobytes()");
           });

  quick_call<as_memory_call>::def(
      m, with_example("as_usm_memory",
                      "The memory behind an object with `__sycl_usm_array_interface__`, without a "
                      "copy: the bytes\n"
                      "from its lowest to its highest element.\n\n"
                      "Parameters\n----------\nobj : object\n    Of any library.\n\n"
                      "Returns\n-------\nMemoryUSMDevice, MemoryUSMShared or MemoryUSMHost\n"
                      "    Keeps `obj` alive.\n\n"
                      "Raises\n------\n"
                      "NotUSMError\n    `obj` does not speak the protocol.\n"
                      "InteropError\n    What it describes is not valid.")
             .c_str());
}

}  // namespace usmx::python
