// DLPack: arrays of any library that has it come in without a copy, and ours go out, ordered as the
// other side asks. The structs and their check are usmx/dlpack.hpp, which knows no Python.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/dlpack.hpp"
#include "support/attributes.hpp"
#include "support/containers.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "array/ndarray.hpp"
#include "core/format.hpp"
#include "memory/memory.hpp"
#include "protocols/protocols.hpp"
#include "runtime/backend.hpp"
#include "support/error_text.hpp"
#include "support/examples.hpp"
#include "support/signature.hpp"
#include "support/slot_errors.hpp"
#include "support/type_slots.hpp"
#include "usmx/copy.hpp"
#include "usmx/submission.hpp"

namespace usmx::python {
namespace {

using dlpack::device_type;
using dlpack::managed_tensor;
using dlpack::versioned_tensor;

constexpr const char* attribute = "__dlpack__";
constexpr const char* table_attribute = "__dlpack_c_exchange_api__";
constexpr const char* table_name = "dlpack_exchange_api";

/// The names of the capsules, which say whether they were consumed. Static, as the protocol wants.
template <class Managed>
struct capsule_names;
template <>
struct capsule_names<managed_tensor> {
  static constexpr const char* fresh = "dltensor";
  static constexpr const char* used = "used_dltensor";
};
template <>
struct capsule_names<versioned_tensor> {
  static constexpr const char* fresh = "dltensor_versioned";
  static constexpr const char* used = "used_dltensor_versioned";
};

[[noreturn]] void refuse(const std::string& message) { throw nb::buffer_error(message.c_str()); }

// --- out: what `__dlpack__` gives --------------------------------------------------------------

/// What a capsule of ours holds: the struct that others read, and the array that it describes.
/// Shape and strides are the array's own.
template <class Managed>
struct exported {
  explicit exported(array&& a) noexcept : elements(std::move(a)) {}
  explicit exported(const array& a) : elements(a) {}

  Managed managed{};
  array elements;
  host_access shown;  // if the consumer is the host, or submits to a queue that is not known

  static void drop(Managed* m) noexcept {
    const std::unique_ptr<exported> self(static_cast<exported*>(m->context));
    self->shown.end();
    // Called from any thread, with the GIL or without.
    if (Py_IsInitialized() != 0 && PyGILState_Check() != 0) give_back(self->elements);
  }
};

dlpack::tensor describe(const array& a, const dlpack::device& where) {
  const any_view& v = a.elements();
  dlpack::tensor t{};
  t.data = v.size() > 0 ? v.data() : nullptr;
  t.where = where;
  t.rank = v.rank();
  if (!dlpack::describe_type(v.dtype(), t.type)) {
    refuse(
        "dtype: records are not supported by DLPack; exchange them by "
        "__sycl_usm_array_interface__, or view them as numbers");
  }
  // The protocol does not say const; consumers must not write them.
  t.shape = const_cast<std::int64_t*>(v.layout().shape().data());
  t.strides = const_cast<std::int64_t*>(v.layout().strides().data());
  return t;
}

template <class Managed, class Array>
std::unique_ptr<exported<Managed>> make_exported(Array&& a, const dlpack::device& where,
                                                 std::uint64_t flags) {
  auto out = std::make_unique<exported<Managed>>(std::forward<Array>(a));
  Managed& m = out->managed;
  m.elements = describe(out->elements, where);
  m.context = out.get();
  m.deleter = exported<Managed>::drop;
  if constexpr (std::is_same_v<Managed, versioned_tensor>) {
    m.version = dlpack::supported;
    m.flags = flags | (out->elements.elements().read_only() ? dlpack::read_only_flag : 0);
  }
  return out;
}

template <class Managed>
void end_capsule(PyObject* capsule) noexcept {
  if (PyCapsule_IsValid(capsule, capsule_names<Managed>::fresh) == 0) return;  // consumed
  auto* const m =
      static_cast<Managed*>(PyCapsule_GetPointer(capsule, capsule_names<Managed>::fresh));
  if (m->deleter != nullptr) m->deleter(m);
}

template <class Managed, class Array>
nb::object to_capsule(Array&& a, const dlpack::device& where, std::uint64_t flags,
                      host_access&& shown) {
  auto out = make_exported<Managed>(std::forward<Array>(a), where, flags);
  out->shown = std::move(shown);
  PyObject* const capsule =
      PyCapsule_New(&out->managed, capsule_names<Managed>::fresh, end_capsule<Managed>);
  if (capsule == nullptr) throw nb::python_error();
  static_cast<void>(out.release());
  return nb::steal(capsule);
}

/// None and integers name no queue of SYCL.
bool names_queue(nb::handle stream) noexcept {
  return !stream.is_none() && PyLong_Check(stream.ptr()) == 0;
}

/// `stream`: where the consumer submits next. A queue is made to wait, without the host; so is a
/// stream of CUDA for device memory, by an event. None and every other device get finished
/// elements.
void order(const array& a, nb::handle stream, const dlpack::device& where) {
  if (PyBool_Check(stream.ptr())) wrong_type("stream", stream, "None, an integer or a queue");
  if (!names_queue(stream)) {
    // -1 is "no order is needed". Defined for CUDA and ROCm only; others mean host memory by it.
    const bool is_stream = where.type != device_type::oneapi && where.type != device_type::cpu;
    if (is_stream && !stream.is_none() && PyLong_AsLongLong(stream.ptr()) == -1) {
      PyErr_Clear();
      return;
    }
    PyErr_Clear();
    // What the host can read too has to be finished: it would not ask the stream.
    if (is_stream && !stream.is_none() && a.kind() == usm_kind::device) {
      const std::uintptr_t address = PyLong_AsUnsignedLongLong(stream.ptr());
      if (PyErr_Occurred() != nullptr) {
        PyErr_Clear();
      } else if (put_foreign_stream_behind(reinterpret_cast<void*>(address), a)) {
        address_leaves(a.keep_alive());
        return;
      }
    }
    wait_for_own_work(a);
    return;
  }
  const sycl::queue queue = to_queue(stream, "stream");
  if (queue.get_context() != a.queue().get_context()) {
    wait_for_own_work(a);
    return;
  }
  const gil_released unlocked;
  submission command(queue);
  command.after(a);
  if (!command.before().empty()) {
    command.submit([](sycl::queue& q, const std::vector<sycl::event>& before) {
      return q.ext_oneapi_submit_barrier(before);
    });
  }
  address_leaves(a.keep_alive());
  if (a.keep_alive()) a.keep_alive()->exposed_on(queue, a.queue());
}

std::optional<bool> read_copy(nb::handle copy) {
  if (copy.is_none()) return {};
  if (!PyBool_Check(copy.ptr())) wrong_type("copy", copy, "True, False or None");
  return copy.ptr() == Py_True;
}

/// Two numbers; empty for another number of them.
std::optional<std::array<std::int64_t, 2>> read_pair(nb::handle value, const char* where) {
  if (PyTuple_CheckExact(value.ptr()) && PyTuple_GET_SIZE(value.ptr()) == 2) {
    // The plain case, which needs no text for a place.
    std::array<std::int64_t, 2> pair;
    bool is_plain = true;
    for (std::size_t k = 0; k < 2; ++k) {
      PyObject* const item = PyTuple_GET_ITEM(value.ptr(), static_cast<Py_ssize_t>(k));
      int overflow = 1;
      if (PyLong_CheckExact(item)) pair[k] = PyLong_AsLongLongAndOverflow(item, &overflow);
      is_plain &= overflow == 0;
    }
    if (is_plain) return pair;
  }
  const extents read = read_extents(value, where, fault::version_unsupported);
  if (read.size() != 2) return {};
  return std::array{read[0], read[1]};
}

/// (major, minor), or (0, 0) for None: the consumer knows no versions.
dlpack::version read_version(nb::handle version) {
  if (version.is_none()) return {0, 0};
  const auto read = read_pair(version, "max_version");
  const auto pair = read.value_or(std::array<std::int64_t, 2>{-1, -1});
  if (pair[0] < 0 || pair[1] < 0) {
    wrong_type("max_version", version, "a tuple (major, minor)");
  }
  const auto clip = [](std::int64_t n) {
    return static_cast<std::uint32_t>(std::min<std::int64_t>(n, 1 << 20));
  };
  return {clip(pair[0]), clip(pair[1])};
}

std::optional<dlpack::device> read_device(nb::handle device) {
  if (device.is_none()) return {};
  const auto pair = read_pair(device, "dl_device");
  if (!pair || (*pair)[0] != static_cast<std::int32_t>((*pair)[0]) ||
      (*pair)[1] != static_cast<std::int32_t>((*pair)[1])) {
    wrong_type("dl_device", device, "a tuple (device type, device number)");
  }
  return dlpack::device{static_cast<device_type>((*pair)[0]),
                        static_cast<std::int32_t>((*pair)[1])};
}

array copy_in(const array& a, usm_kind kind) {
  array out = allocate_array(
      a.queue(), ordered_layout(a.elements().layout(), a.elements().dtype().itemsize(), 'K'),
      a.elements().dtype(), kind);
  const gil_released unlocked;
  copy(out, a);
  return out;
}

/// The capsule, once what was submitted on the memory is before what the consumer does.
template <class Array>
nb::object hand_out(Array&& a, bool to_host, const dlpack::device& where, nb::handle stream,
                    const dlpack::version& wanted, std::uint64_t flags) {
  host_access shown;
  if (to_host) {
    shown = show_to_host(a);  // the host looks next, and submits nothing to a queue
  } else {
    // Where the consumer named no queue, nothing can be put before what it submits later: while it
    // has the memory, commands of usmx return when they have ended, as for a view of the host.
    if (where.type == device_type::oneapi && !names_queue(stream)) {
      shown = host_access(a.keep_alive());
    }
    order(a, stream, where);
    expose_to_others(a);
  }
  if (wanted.major >= 1) {
    return to_capsule<versioned_tensor>(std::forward<Array>(a), where, flags, std::move(shown));
  }
  if (a.elements().read_only()) {
    refuse(
        "max_version: read-only memory needs version (1, 0) or later of DLPack; pass "
        "max_version=(1, 0), or a copy");
  }
  return to_capsule<managed_tensor>(std::forward<Array>(a), where, flags, std::move(shown));
}

/// Whether the memory, which has a name of its own, may be named as memory of the device that was
/// asked for: some consumers know memory of CUDA that the host sees too by the device's name only.
bool is_reached_from(const array& a, const dlpack::device& own, const dlpack::device& asked) {
  const detail::dlpack_types& types = exchange_row(a.queue().get_device()).dlpack;
  const dlpack::device plain{types.device, own.type == types.shared ? own.id : asked.id};
  return a.kind() != usm_kind::unknown && own.type != types.device && asked == plain &&
         device_from_dlpack(asked) == a.queue().get_device();
}

nb::object to_dlpack(const array& a, nb::handle stream, nb::handle max_version,
                     nb::handle dl_device, nb::handle copy_if) {
  const dlpack::version wanted = read_version(max_version);
  const std::optional<dlpack::device> asked = read_device(dl_device);
  const std::optional<bool> copied = read_copy(copy_if);
  const traced record(trace_action::exported, [&] {
    return trace_subject{.bytes = a.elements().nbytes(), .address = a.data(), .kind = a.kind()};
  });

  constexpr dlpack::device host{device_type::cpu, 0};
  const bool to_host = asked && *asked == host;
  dlpack::device own = to_host ? host : device_in_dlpack(a);
  if (asked && *asked != own && !is_reached_from(a, own, *asked)) {
    refuse(detail::format(
        "dl_device: {} is not where the array is; expected {}, or (1, 0) for the host",
        text_of(*asked), text_of(own)));
  }
  if (asked) own = *asked;
  if (copied.value_or(to_host && !host_accessible(a.kind()))) {
    const bool kept = !to_host && a.kind() != usm_kind::unknown;
    array made = copy_in(a, kept ? a.kind() : usm_kind::host);
    return hand_out(std::move(made), to_host, own, stream, wanted, dlpack::copied_flag);
  }
  if (to_host && !host_accessible(a.kind())) {
    refuse("copy: the host cannot read device memory without a copy, but copy=False");
  }
  return hand_out(a, to_host, own, stream, wanted, 0);
}

// --- in: what other libraries give --------------------------------------------------------------

/// A tensor that was taken out of its capsule or came from C: its deleter is called exactly once,
/// with the GIL, by the capsule that this makes.
template <class Managed>
class taken {
 public:
  explicit taken(Managed* m) noexcept : managed_(m) {}
  taken(taken&& o) noexcept : managed_(std::exchange(o.managed_, nullptr)) {}
  taken& operator=(taken&&) = delete;
  ~taken() { end(managed_); }

  Managed& operator*() const noexcept { return *managed_; }
  Managed* operator->() const noexcept { return managed_; }

  /// The object that ends it from now on.
  nb::object as_object() && {
    constexpr const char* name = "usmx.dlpack.owner";
    PyObject* const owner = PyCapsule_New(managed_, name, [](PyObject* self) noexcept {
      end(static_cast<Managed*>(PyCapsule_GetPointer(self, name)));
    });
    if (owner == nullptr) throw nb::python_error();
    managed_ = nullptr;
    return nb::steal(owner);
  }

 private:
  static void end(Managed* m) noexcept {
    if (m == nullptr || m->deleter == nullptr) return;
    // A deleter may run Python, which must not meet an error that is on its way.
    const nb::error_scope kept;
    m->deleter(m);
  }

  Managed* managed_;
};

/// The array of a tensor. Host memory gives an array only where `request` and the device allow it.
template <class Managed>
std::optional<array> import_tensor(taken<Managed> managed, nb::handle producer,
                                   const import_request& request) {
  bool read_only = false;
  if constexpr (std::is_same_v<Managed, versioned_tensor>) {
    if (managed->version.major != dlpack::supported.major) {
      refuse(detail::format("version: {}.{} of DLPack is not supported; only 1 is",
                            managed->version.major, managed->version.minor));
    }
    read_only = (managed->flags & dlpack::read_only_flag) != 0;
  }
  const dlpack::tensor& t = managed->elements;
  traced record(trace_action::imported, [&] {
    return trace_subject{.label = trace_text(Py_TYPE(producer.ptr())->tp_name)};
  });
  any_view v;
  if (const fault code = dlpack::check(t, read_only, v); code != fault::none) {
    throw interop_error(code, dlpack::describe(t, code));
  }
  record.at(v.first_byte());
  const bool is_host = t.where.type == device_type::cpu;
  const sycl::queue queue = is_host ? request.queue ? *request.queue : default_queue()
                                    : default_queue(device_from_dlpack(t.where));
  if (is_host && request.is_host_view != nullptr) *request.is_host_view = true;
  const bool is_usm = !is_host || shows_usm(v, queue);
  const bool is_taken = is_usm || (request.host && reads_host_memory(queue.get_device()));
  if (!is_taken && request.to_copy == nullptr) return {};
  std::byte* const first = v.first_byte();
  const auto bytes = static_cast<std::size_t>(v.last_byte() - first);
  shared_owner keep = own_python(std::move(managed).as_object(), first, bytes);
  if (!is_taken) {
    *request.to_copy = array::over(std::move(v), queue, std::move(keep));
    return {};
  }
  if (is_host) keep->exposed_to_host();
  return is_usm ? array::bind(std::move(v), queue, std::move(keep))
                : array::over_host(std::move(v), queue, std::move(keep));
}

template <class Managed>
const array* exported_in(PyObject* capsule, const char* name) noexcept {
  if (PyCapsule_IsValid(capsule, name) == 0) return nullptr;
  const auto* const m = static_cast<const Managed*>(PyCapsule_GetPointer(capsule, name));
  if (m->deleter != exported<Managed>::drop) return nullptr;
  return &static_cast<const exported<Managed>*>(m->context)->elements;
}

/// Takes the tensor out of a capsule, once. Invalid if it is not a capsule of this kind.
template <class Managed>
std::optional<taken<Managed>> take_from(nb::handle capsule) {
  using names = capsule_names<Managed>;
  if (PyCapsule_IsValid(capsule.ptr(), names::used) != 0) {
    throw value_error(
        "capsule: was consumed already; call __dlpack__ again, a capsule serves one consumer");
  }
  if (PyCapsule_IsValid(capsule.ptr(), names::fresh) == 0) return {};
  auto* const m = static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), names::fresh));
  if (PyCapsule_SetName(capsule.ptr(), names::used) != 0) throw nb::python_error();
  return taken<Managed>(m);
}

std::optional<array> import_capsule(nb::handle capsule, nb::handle producer,
                                    const import_request& request) {
  if (!PyCapsule_CheckExact(capsule.ptr())) {
    wrong_type(attribute, capsule, "a capsule");
  }
  if (auto m = take_from<versioned_tensor>(capsule)) {
    return import_tensor(std::move(*m), producer, request);
  }
  if (auto m = take_from<managed_tensor>(capsule)) {
    return import_tensor(std::move(*m), producer, request);
  }
  const char* const name = PyCapsule_GetName(capsule.ptr());
  PyErr_Clear();
  throw value_error("capsule: its name is '{}'; expected 'dltensor' or 'dltensor_versioned'",
                    name == nullptr ? "" : name);
}

/// (type, number) as the producer says it.
dlpack::device ask_device(nb::handle obj) {
  const nb::object pair = nb::getattr(obj, "__dlpack_device__")();
  const std::optional<dlpack::device> d = read_device(pair);
  if (!d) wrong_type("__dlpack_device__()", pair, "a tuple (device type, device number)");
  return *d;
}

/// The consumer's stream, as the producer of such memory understands it.
nb::object stream_for(const dlpack::device& d) {
  if (d.type != device_type::cuda && d.type != device_type::cuda_managed &&
      d.type != device_type::rocm) {
    return nb::none();
  }
  const sycl::queue& queue = default_queue(device_from_dlpack(d));
  leaves(queue);
  return nb::int_(native_handle(queue));
}

/// The capsule of a producer; of one older than version 1, which takes no arguments, without them.
/// It was not asked for a copy then: `copies` becomes false.
nb::object ask(nb::handle obj, const dlpack::device& where, const import_request& request,
               bool& copies) {
  const nb::object call = nb::getattr(obj, attribute);
  nb::dict named = new_dict();
  named["max_version"] = nb::make_tuple(dlpack::supported.major, dlpack::supported.minor);
  if (nb::object stream = stream_for(where); !stream.is_none()) named["stream"] = stream;
  if (request.copy) named["copy"] = *request.copy;
  copies = request.copy == true;
  try {
    return call(**named);
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_TypeError)) throw;
  }
  copies = false;
  nb::dict old = new_dict();
  if (named.contains("stream")) old["stream"] = named["stream"];
  return call(**old);
}

/// The table of C functions of the object's type; null if it has none of a version that we read.
const dlpack::exchange_table* table_of(PyTypeObject* type) {
  static PyObject* const name = PyUnicode_InternFromString(table_attribute);
  PyObject* const capsule = _PyType_Lookup(type, name);
  if (capsule == nullptr || PyCapsule_IsValid(capsule, table_name) == 0) return nullptr;
  const auto* header =
      static_cast<const dlpack::exchange_header*>(PyCapsule_GetPointer(capsule, table_name));
  while (header != nullptr && header->version.major != dlpack::supported.major) {
    header = header->previous;
  }
  return reinterpret_cast<const dlpack::exchange_table*>(header);
}

/// Whether the work of the producer on its current stream is done, or ordered before ours: a table
/// gives elements without order.
void wait_for_producer(const dlpack::exchange_table& table, const dlpack::device& d) {
  if (d.type == device_type::cpu) return;
  void* stream = nullptr;
  if (table.current_stream == nullptr || table.current_stream(d.type, d.id, &stream) != 0) {
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
    refuse(
        "current_work_stream: is missing from the exchange table, and the memory is not the "
        "host's");
  }
  if (d.type != device_type::oneapi || stream == nullptr) {
    // A stream of CUDA or ROCm as an integer, which the driver can order or wait for.
    const sycl::device device = device_from_dlpack(d);
    come_after_foreign_stream(device, stream, d.type == exchange_row(device).dlpack.device);
    return;
  }
  // The stream of oneAPI is the address of a sycl::queue.
  sycl::queue queue = *static_cast<sycl::queue*>(stream);
  const gil_released unlocked;
  wait(queue);
}

std::optional<array> import_by_table(const dlpack::exchange_table& table, nb::handle obj,
                                     const import_request& request) {
  versioned_tensor* out = nullptr;
  if (table.from_object(obj.ptr(), &out) != 0) throw nb::python_error();
  if (out == nullptr) refuse("managed_tensor_from_py_object_no_sync: gave no tensor");
  taken<versioned_tensor> managed(out);
  if (managed->version.major == dlpack::supported.major) {
    wait_for_producer(table, managed->elements.where);
  }
  return import_tensor(std::move(managed), obj, request);
}

/// Whether the buffer says more than DLPack, and sooner: NumPy's arrays. JAX's arrays have a buffer
/// too, but not of types for which the buffer protocol has no format, such as bfloat16.
bool has_better_buffer(nb::handle obj) {
  if (PyObject_CheckBuffer(obj.ptr()) == 0) return false;
  if (class_has(obj, "__array_interface__")) return true;
  Py_buffer raw;
  if (PyObject_GetBuffer(obj.ptr(), &raw, PyBUF_RECORDS_RO) == 0) {
    PyBuffer_Release(&raw);
    return true;
  }
  PyErr_Clear();
  return false;
}

nb::object offer_dlpack(nb::handle obj) {
  static PyObject* const name = PyUnicode_InternFromString(attribute);
  if (PyType_Check(obj.ptr()) || _PyType_Lookup(Py_TYPE(obj.ptr()), name) == nullptr ||
      !read_attribute(obj, name).is_valid() || !has_attribute(obj, "__dlpack_device__")) {
    return {};
  }
  return has_better_buffer(obj) ? nb::object() : nb::borrow(obj);
}

std::optional<array> import_object(nb::handle obj, const import_request& request, bool& copies) {
  if (const dlpack::exchange_table* const table = table_of(Py_TYPE(obj.ptr()));
      table != nullptr && table->from_object != nullptr && !request.copy) {
    return import_by_table(*table, obj, request);
  }
  const dlpack::device where = ask_device(obj);
  if (where.type == device_type::cpu && !request.host) {
    // To be copied; Arrow says more of its arrays: bits, text, missing values.
    if (request.to_copy == nullptr || class_has(obj, "__arrow_c_array__")) return {};
  }
  return import_capsule(ask(obj, where, request, copies), obj, request);
}

std::optional<array> import_dlpack(nb::handle obj, nb::object, const import_request& request) {
  bool copies = false;
  if (request.host || request.to_copy == nullptr) return import_object(obj, request, copies);
  try {
    return import_object(obj, request, copies);
  } catch (nb::python_error& e) {
    // A producer that refuses is asked by its next protocol, if it has one for the host.
    if (!e.matches(PyExc_BufferError) || !has_attribute(obj, "__array__")) throw;
    return {};
  }
}

/// `from_dlpack`: shares what it can, and copies what the device cannot use unless it must not.
nb::object from_dlpack(nb::handle x, nb::handle device, nb::handle copy_if) {
  static PyObject* const name = PyUnicode_InternFromString(attribute);
  import_request request;
  request.copy = read_copy(copy_if);
  request.host = true;
  std::optional<sycl::queue> place;
  if (!device.is_none()) request.queue = &place.emplace(to_place(nb::none(), device));
  const nb::object none = nb::none();

  if (array_of(x) != nullptr) return as_array(x, none, none, device, none, copy_if);
  bool copies = false;
  std::optional<array> a;
  if (PyCapsule_CheckExact(x.ptr())) {
    a = import_capsule(x, x, request);
    if (!a) refuse("device: the device cannot use memory of the host; pass the array itself");
  } else if (_PyType_Lookup(Py_TYPE(x.ptr()), name) == nullptr) {
    wrong_type("x", x, "an object with __dlpack__, or a capsule of one");
  } else if (PyObject_CheckBuffer(x.ptr()) == 0) {
    a = import_object(x, request, copies);
  } else if (request.copy != true) {
    a = import_array(x, request);  // the buffer may say more; see `has_better_buffer`
  }
  if (!a) return as_array(x, none, none, device, none, copy_if);
  nb::object shared = wrap_array(std::move(*a));
  // A copy that the producer was not asked for, as of a capsule, is made here.
  const bool is_to_copy = request.copy == true && !copies;
  if (device.is_none() && !is_to_copy) return shared;
  return as_array(shared, none, none, device, none,
                  request.copy == false || is_to_copy ? nb::borrow(copy_if) : none);
}

// --- the table of C functions that our type offers ---------------------------------------------

const array& array_in(PyObject* object) {
  if (const array* const a = array_of(object)) return *a;
  if (const array* const a = memory_of(object)) return *a;
  wrong_type("object", object, "usmx.ndarray or memory that was not freed");
}

/// The consumer works on `current_stream` of the device, so that queue is put behind ours.
void put_before_current(const array& a) {
  const sycl::queue& current = default_queue(a.queue().get_device());
  if (current == a.queue()) {
    expose(a);
  } else {
    order(a, nb::cast(current), {device_type::oneapi, 0});
  }
}

int table_from_object(void* object, versioned_tensor** out) noexcept {
  return guarded([&] {
    const array& a = array_in(static_cast<PyObject*>(object));
    auto made = make_exported<versioned_tensor>(a, device_in_dlpack(a), 0);
    put_before_current(a);
    *out = &made.release()->managed;
  });
}

int table_view_object(void* object, dlpack::tensor* out) noexcept {
  return guarded([&] {
    const array& a = array_in(static_cast<PyObject*>(object));
    const dlpack::tensor t = describe(a, device_in_dlpack(a));
    put_before_current(a);
    *out = t;
  });
}

int table_to_object(versioned_tensor* elements, void** out) noexcept {
  return guarded([&] {
    taken<versioned_tensor> managed(elements);
    import_request request;
    request.host = true;
    std::optional<array> a = import_tensor(std::move(managed), nb::none(), request);
    if (!a) refuse("device: the default device cannot use memory of the host; copy it first");
    *out = wrap_array(std::move(*a)).release().ptr();
  });
}

int table_allocate(dlpack::tensor* prototype, versioned_tensor** out, void* error_context,
                   void (*set_error)(void*, const char*, const char*)) noexcept {
  // May be called without the GIL: errors go to the caller's function, not to Python.
  try {
    any_view like;
    dlpack::tensor empty = *prototype;
    empty.strides = nullptr;
    empty.byte_offset = 0;
    empty.data = reinterpret_cast<void*>(std::uintptr_t{1} << 12);  // not looked at
    if (const fault code = dlpack::check(empty, false, like); code != fault::none) {
      throw interop_error(code, dlpack::describe(empty, code));
    }
    const bool is_host = empty.where.type == device_type::cpu;
    const sycl::queue queue =
        is_host ? default_queue() : default_queue(device_from_dlpack(empty.where));
    array made = array::empty(queue, like.layout().shape().span(), like.dtype(),
                              is_host ? usm_kind::host : usm_kind::device);
    address_leaves(made.keep_alive());
    if (made.keep_alive()) made.keep_alive()->exposed_on(queue);
    *out = &make_exported<versioned_tensor>(std::move(made), empty.where, 0).release()->managed;
    return 0;
  } catch (const std::bad_alloc& e) {
    set_error(error_context, "MemoryError", e.what());
  } catch (const std::exception& e) {
    set_error(error_context, "ValueError", e.what());
  }
  return -1;
}

int table_current_stream(device_type type, std::int32_t id, void** out) noexcept {
  return guarded([&] {
    *out = nullptr;
    if (type == device_type::cpu) return;
    const sycl::queue& queue = default_queue(device_from_dlpack({type, id}));
    leaves(queue);
    *out = type == device_type::oneapi ? const_cast<sycl::queue*>(&queue)
                                       : reinterpret_cast<void*>(native_handle(queue));
  });
}

nb::object own_table() {
  static dlpack::exchange_table table{
      {dlpack::supported, nullptr},
      table_allocate,
      table_from_object,
      table_to_object,
      table_view_object,
      table_current_stream,
  };
  PyObject* const capsule = PyCapsule_New(&table, table_name, nullptr);
  if (capsule == nullptr) throw nb::python_error();
  return nb::steal(capsule);
}

/// The array in an object of either kind that has the protocol.
live_bytes elements_of(nb::handle self) {
  if (const array* const a = array_of(self)) return live_bytes(*a);
  return live(self_of<memory>(self));
}

/// `Owner` is the class of `self`.
template <class Owner>
struct dlpack_call {
  static auto signature() {
    return "__dlpack__(self, *, stream: QueueLike | int = None, "
           "max_version: tuple[int, int] | None = None, "
           "dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> CapsuleType"_sig;
  }
  static nb::object run(nb::handle self, nb::handle stream, nb::handle max_version,
                        nb::handle dl_device, nb::handle copy_if) {
    if (!is_ready<Owner>(self)) refuse_self(self, nb::type<Owner>());
    const live_bytes held = elements_of(self);
    return to_dlpack(*held, stream, max_version, dl_device, copy_if);
  }
};

void bind_dlpack(nb::object type, array_access array_of) {
  const char* const doc =
      "The elements as a DLPack capsule, for `from_dlpack` of other libraries.\n\n"
      "Parameters\n----------\n"
      "stream : Queue or int, optional\n    Where the consumer submits next. A queue "
      "waits for what was submitted on the\n    memory; for None or a number this "
      "call waits.\n"
      "max_version : tuple of int, optional\n    The newest version that the consumer "
      "reads; None asks for the form before 1.0.\n"
      "dl_device : tuple of int, optional\n    ``(1, 0)`` asks for host memory: "
      "without a copy unless it is device memory.\n"
      "copy : bool, optional\n    True copies always, False never, None if needed.\n\n"
      "Raises\n------\n"
      "BufferError\n    DLPack cannot describe the memory as asked.";
  if (type.is(nb::type<ndarray>())) {
    quick_call<dlpack_call<ndarray>>::def(type, doc);
  } else {
    quick_call<dlpack_call<memory>>::def(type, doc);
  }
  nb::setattr(type, table_attribute, own_table());
  def(
      type, "__dlpack_device__(self) -> tuple[int, int]"_sig,
      [array_of](nb::handle self) {
        const live_bytes held = array_of(self);
        const dlpack::device d = device_in_dlpack(*held);
        return nb::make_tuple(static_cast<std::int32_t>(d.type), d.id);
      },
      "The kind of device in DLPack's numbers (14: oneAPI), and its number.");
}

}  // namespace

const array* array_in_capsule(PyObject* capsule) noexcept {
  const array* const found = exported_in<versioned_tensor>(capsule, "numpy_dltensor_versioned");
  return found != nullptr ? found : exported_in<managed_tensor>(capsule, "numpy_dltensor");
}

namespace {

struct from_dlpack_call {
  static auto signature() {
    return "from_dlpack(x: SupportsDLPack | CapsuleType?, /, *, device: DeviceLike = None, "
           "copy: bool | None = None) -> ndarray"_sig;
  }
  static constexpr auto run = from_dlpack;
};

}  // namespace

void bind_from_dlpack(nb::module_& m) {
  quick_call<from_dlpack_call>::def(
      m,
      with_example(
          "from_dlpack",
          "An array of another library through DLPack, without a copy where the device can use its "
          "memory.\n\n"
          "Memory of the host is shared on devices whose kernels read it, as CPUs do: `usm_type` "
          "is "
          "then\n'unknown'. On other devices it is copied into USM.\n\n"
          "Parameters\n----------\n"
          "x : object or capsule\n    An object with `__dlpack__` and `__dlpack_device__`.\n"
          "device : str, Device or Queue, optional\n    Where the array is used; by default where "
          "it "
          "is.\n"
          "copy : bool, optional\n    True copies always, False never, None if needed.\n\n"
          "Returns\n-------\nndarray\n\n"
          "Raises\n------\n"
          "BufferError\n    The memory is on a device that SYCL does not know here.\n"
          "InteropError\n    What `x` says about its memory is not valid.\n"
          "ValueError\n    A copy is needed and ``copy=False``; a capsule that was consumed.")
          .c_str());
}

extern const protocol dlpack_protocol = {attribute, offer_dlpack, import_dlpack, bind_dlpack};

}  // namespace usmx::python
