// `__array_interface__` of NumPy and `__cuda_array_interface__`, which is the same dictionary with
// a stream; and `__array__`, by which other objects give NumPy their elements.
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <utility>

#include "core/format.hpp"
#include "memory/memory.hpp"
#include "protocols/protocols.hpp"
#include "runtime/backend.hpp"
#include "support/containers.hpp"
#include "support/error_text.hpp"

namespace usmx::python {

extern const protocol buffer_protocol;  // buffer_import.cpp

namespace {

constexpr const char* host_attribute = "__array_interface__";
constexpr const char* cuda_attribute = "__cuda_array_interface__";
constexpr std::int64_t newest_version = 3;

/// The dictionary of either protocol. Values are strong references, because reading one may run
/// code that changes it.
class description {
 public:
  description(nb::object dict, const char* attribute)
      : dict_(std::move(dict)), attribute_(attribute) {
    if (!PyDict_Check(dict_.ptr())) wrong_type(attribute, dict_, "a dict");
  }

  /// Not valid if the key is missing or None.
  nb::object optional(const char* key) const {
    const nb::str name(key);
    PyObject* const value = PyDict_GetItemWithError(dict_.ptr(), name.ptr());
    if (value == nullptr && PyErr_Occurred() != nullptr) throw nb::python_error();
    return value == Py_None ? nb::object() : nb::borrow(value);
  }
  nb::object required(const char* key, fault missing) const {
    nb::object value = optional(key);
    if (!value.is_valid()) {
      throw interop_error(missing, detail::format("{}: is missing from {}", key, attribute_));
    }
    return value;
  }
  const nb::object& dict() const noexcept { return dict_; }
  const char* attribute() const noexcept { return attribute_; }

 private:
  nb::object dict_;
  const char* attribute_;
};

/// Steps in bytes as steps in elements. Those of dimensions of length one reach no element.
extents element_strides(const extents& bytes, const extents& shape, std::size_t itemsize) {
  extents out(bytes);
  const auto step = static_cast<std::int64_t>(itemsize);
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    if (bytes[k] % step != 0 && (k >= shape.size() || shape[k] > 1)) {
      throw interop_error(
          fault::strides_overflow,
          detail::format("strides: {} bytes are not multiples of an element of {} bytes",
                         detail::shape_text(bytes), itemsize));
    }
    out[k] = bytes[k] / step;
  }
  return out;
}

/// Everything but the address. Both dictionaries count strides in bytes.
suai::fields read_fields(const description& d, std::int64_t oldest_version, std::int64_t& version) {
  version = read_integer(d.required("version", fault::version_unsupported), "version",
                         fault::version_unsupported);
  if (version < oldest_version || version > newest_version) {
    throw interop_error(fault::version_unsupported,
                        detail::format("version: {} of {} is not supported; expected {}", version,
                                       d.attribute(), newest_version));
  }
  if (d.optional("mask").is_valid()) {
    throw interop_error(fault::typestr_unsupported,
                        "mask: elements that are masked are not supported; give them a value "
                        "first");
  }
  suai::fields f;
  f.typestr = read_text(d.required("typestr", fault::typestr_malformed), "typestr",
                        fault::typestr_malformed);
  f.shape =
      read_extents(d.required("shape", fault::shape_overflow), "shape", fault::shape_overflow);
  if (const nb::object v = d.optional("descr"); v.is_valid() && f.typestr.find('V') < 2) {
    f.typedescr = read_typedescr(v);
  }
  if (const nb::object v = d.optional("strides"); v.is_valid()) {
    dtype type;
    extents steps = read_extents(v, "strides", fault::strides_overflow);
    // A type that is not valid is reported by the check.
    if (dtype::parse(f.typestr, type) == fault::none && steps.size() == f.shape.size()) {
      steps = element_strides(steps, f.shape, type.itemsize());
    }
    f.strides = std::move(steps);
  }
  return f;
}

constexpr const char* expected_pair = "a tuple (address, read_only)";

void read_pair(nb::handle data, suai::fields& f) {
  if (!PyTuple_Check(data.ptr()) || PyTuple_GET_SIZE(data.ptr()) != 2) {
    wrong_type("data", data, expected_pair);
  }
  f.data = read_address(PyTuple_GET_ITEM(data.ptr(), 0), "data[0]");
  f.read_only = read_flag(PyTuple_GET_ITEM(data.ptr(), 1), "data[1]");
}

any_view checked(const suai::fields& f) {
  any_view v;
  if (const fault code = suai::check(f, v); code != fault::none) {
    throw interop_error(code, suai::describe(f, code));
  }
  return v;
}

shared_owner own_all(nb::handle obj, const nb::object& also, const any_view& v) {
  std::byte* const first = v.first_byte();
  return own_python(nb::make_tuple(obj, also), first,
                    static_cast<std::size_t>(v.last_byte() - first));
}

// --- `__array_interface__`

/// The bytes of an object with a buffer, in which the elements lie `offset` bytes behind the begin.
nb::object read_buffer(nb::handle holder, std::int64_t offset, suai::fields& f, std::size_t& left) {
  nb::object view = nb::steal(PyMemoryView_FromObject(holder.ptr()));
  if (!view.is_valid()) throw nb::python_error();
  const Py_buffer& b = *PyMemoryView_GET_BUFFER(view.ptr());
  if (PyBuffer_IsContiguous(&b, 'C') == 0) {
    throw interop_error(fault::out_of_allocation,
                        "data: the buffer that has the elements is not contiguous");
  }
  if (offset < 0 || offset > b.len) {
    throw interop_error(
        fault::offset_overflow,
        detail::format("offset: {} is not inside the buffer of {} bytes", offset, b.len));
  }
  f.data = reinterpret_cast<std::uintptr_t>(b.buf) + static_cast<std::uintptr_t>(offset);
  f.read_only = b.readonly != 0;
  left = static_cast<std::size_t>(b.len - offset);
  return view;
}

void check_inside(const any_view& v, const suai::fields& f, std::size_t bytes) {
  const auto* const base = reinterpret_cast<const std::byte*>(f.data);
  if (v.size() == 0 || (v.first_byte() >= base && v.last_byte() <= base + bytes)) return;
  throw interop_error(fault::out_of_allocation,
                      detail::format("data: the elements of shape {} do not lie inside the {} "
                                     "bytes of the buffer",
                                     detail::shape_text(v.layout().shape()), bytes));
}

/// Memory of the host: looked at only where that is wanted, because some objects copy all elements
/// for it. What has a buffer was asked for that.
nb::object offer_itself(nb::handle obj) {
  const bool is_other = PyType_Check(obj.ptr()) != 0 || PyObject_CheckBuffer(obj.ptr()) != 0;
  return is_other ? nb::object() : nb::borrow(obj);
}

std::optional<array> taken_on_host(any_view v, const sycl::queue& queue, shared_owner keep) {
  keep->exposed_to_host();
  if (shows_usm(v, queue)) return array::bind(std::move(v), queue, std::move(keep));
  if (!reads_host_memory(queue.get_device())) return {};
  return array::over_host(std::move(v), queue, std::move(keep));
}

std::optional<array> import_array_interface(nb::handle obj, nb::object,
                                            const import_request& request) {
  static PyObject* const name = PyUnicode_InternFromString(host_attribute);
  if (!request.host) return {};
  nb::object offer = read_attribute(obj, name);
  if (!offer.is_valid()) return {};
  if (request.is_host_view != nullptr) *request.is_host_view = true;
  traced record(trace_action::imported,
                [&] { return trace_subject{.label = trace_text(Py_TYPE(obj.ptr())->tp_name)}; });
  const description d(std::move(offer), host_attribute);
  std::int64_t version = 0;
  suai::fields f = read_fields(d, newest_version, version);
  nb::object keep = d.dict();
  std::optional<std::size_t> bytes;
  const nb::object data = d.optional("data");
  if (data.is_valid() && PyTuple_Check(data.ptr())) {
    read_pair(data, f);
  } else {
    std::int64_t offset = 0;
    if (const nb::object v = d.optional("offset"); v.is_valid()) {
      offset = read_integer(v, "offset", fault::offset_overflow);
    }
    const nb::handle holder = data.is_valid() ? nb::handle(data) : obj;
    if (PyObject_CheckBuffer(holder.ptr()) == 0) {
      wrong_type("data", holder, detail::format("{} or an object with a buffer", expected_pair));
    }
    keep = read_buffer(holder, offset, f, bytes.emplace());
  }
  any_view v = checked(f);
  if (bytes) check_inside(v, f, *bytes);
  record.at(v.first_byte());
  const sycl::queue queue = request.queue != nullptr ? *request.queue : default_queue();
  shared_owner owner = own_all(obj, keep, v);
  return taken_on_host(std::move(v), queue, std::move(owner));
}

// --- `__array__`

/// The elements as NumPy gets them without a copy; not valid if there is no such way.
nb::object without_copy(nb::handle obj) {
  static PyObject* const name = PyUnicode_InternFromString("__array__");
  static PyObject* const structure = PyUnicode_InternFromString("__array_struct__");
  try {
    if (_PyType_Lookup(Py_TYPE(obj.ptr()), name) == nullptr ||
        !read_attribute(obj, name).is_valid()) {
      // NumPy reads a structure of C in place.
      if (!read_attribute(obj, structure).is_valid()) return {};
      return nb::module_::import_("numpy").attr("asarray")(obj);
    }
    nb::object made = nb::getattr(obj, nb::handle(name))(nb::arg("copy") = false);
    return PyObject_CheckBuffer(made.ptr()) != 0 ? made : nb::object();
  } catch (nb::python_error& e) {
    // What NumPy asks for: ValueError where a copy is needed. TypeError: a method without `copy`.
    if (!e.matches(PyExc_ValueError) && !e.matches(PyExc_TypeError) &&
        !e.matches(PyExc_RuntimeError)) {
      throw;
    }
    return {};
  }
}

/// Keeps a buffer until Python lets go of the capsule.
nb::object to_owner(host_buffer buffer) {
  constexpr const char* name = "usmx.buffer.owner";
  auto heap = std::make_unique<host_buffer>(std::move(buffer));
  PyObject* const owner = PyCapsule_New(heap.get(), name, [](PyObject* self) noexcept {
    delete static_cast<host_buffer*>(PyCapsule_GetPointer(self, name));
  });
  if (owner == nullptr) throw nb::python_error();
  static_cast<void>(heap.release());
  return nb::steal(owner);
}

/// For the host to copy; empty for elements that no dtype describes.
std::optional<array> borrowed(const nb::object& made, const sycl::queue& queue) {
  try {
    std::optional<host_buffer> buffer = host_buffer::borrow(made);
    if (!buffer) return {};
    any_view v = buffer->elements();
    shared_owner keep = own_all(to_owner(std::move(*buffer)), made, v);
    return array::over(std::move(v), queue, std::move(keep));
  } catch (const nb::builtin_exception&) {
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_ValueError) && !e.matches(PyExc_BufferError)) throw;
  }
  return {};
}

/// For `copy=None` only objects that have a stream of Arrow too: what they would convert for it,
/// missing elements among it, stays as it is. All others are copied as NumPy copies them.
std::optional<array> import_by_method(nb::handle obj, nb::object, const import_request& request) {
  static PyObject* const stream = PyUnicode_InternFromString("__arrow_c_stream__");
  const bool has_stream = _PyType_Lookup(Py_TYPE(obj.ptr()), stream) != nullptr;
  if (!request.host && (request.to_copy == nullptr || !has_stream)) return {};
  const nb::object made = without_copy(obj);
  if (!made.is_valid()) return {};
  if (std::optional<array> a = buffer_protocol.take(made, made, request)) return a;
  if (request.to_copy != nullptr) {
    *request.to_copy = borrowed(made, request.queue ? *request.queue : default_queue());
  }
  return {};
}

// --- `__cuda_array_interface__`

nb::object offer_cuda(nb::handle obj) {
  static PyObject* const name = PyUnicode_InternFromString(cuda_attribute);
  return PyType_Check(obj.ptr()) ? nb::object() : read_attribute(obj, name);
}

bool is_cuda(const sycl::device& device) {
  return exchange_row(device).api == detail::driver_api::cuda;
}

/// The device whose context knows the memory; the first one for no elements.
sycl::device cuda_device_of(const any_view& v, const suai::fields& f) {
  bool any = false;
  for (const sycl::device& device : root_devices()) {
    if (!is_cuda(device)) continue;
    any = true;
    if (v.size() == 0) return device;
    const sycl::context context = default_context(device);
    if (kind_of(v.data(), context) != usm_kind::unknown) {
      return usmx::device_of(v.data(), context);
    }
  }
  throw interop_error(
      fault::not_usm,
      any ? detail::format("data: 0x{:x} is not known to a device of CUDA", f.data)
          : detail::format("data: 0x{:x} is memory of CUDA, and SYCL has no device of CUDA here; "
                           "copy it to the host first",
                           f.data));
}

/// None: there is nothing to wait for. 1 and 2 are the default streams, others are addresses.
/// Before version 3 there was no stream, and work was submitted to the default one.
std::optional<std::uintptr_t> read_stream(const description& d, std::int64_t version) {
  const nb::object value = d.optional("stream");
  if (!value.is_valid()) return version < 3 ? std::optional<std::uintptr_t>(1) : std::nullopt;
  const std::uintptr_t stream = read_address(value, "stream");
  if (stream == 0) {
    throw value_error(
        "stream: 0 is ambiguous in {}; expected None, 1 for the default stream, 2 for that of the "
        "thread, or the address of a stream",
        cuda_attribute);
  }
  return stream;
}

std::optional<array> import_cuda(nb::handle obj, nb::object offer, const import_request&) {
  const description d(std::move(offer), cuda_attribute);
  traced record(trace_action::imported,
                [&] { return trace_subject{.label = trace_text(Py_TYPE(obj.ptr())->tp_name)}; });
  std::int64_t version = 0;
  suai::fields f = read_fields(d, 0, version);
  read_pair(d.required("data", fault::data_null), f);
  any_view v = checked(f);
  const std::optional<std::uintptr_t> stream = read_stream(d, version);
  record.at(v.first_byte());
  const sycl::device device = cuda_device_of(v, f);
  shared_owner keep = own_all(obj, d.dict(), v);
  if (stream) {
    come_after_foreign_stream(device, reinterpret_cast<void*>(*stream),
                              kind_of(v.data(), default_context(device)) == usm_kind::device);
  }
  return array::bind(std::move(v), default_queue(device), std::move(keep));
}

nb::dict export_cuda(const array& a) {
  if (!is_cuda(a.queue().get_device())) {
    throw nb::attribute_error(
        detail::format("{}: the array is on {}, which is not a device of CUDA", cuda_attribute,
                       filter_string(a.queue().get_device()))
            .c_str());
  }
  const any_view& v = a.elements();
  if (v.dtype().is_bfloat16()) {
    throw nb::attribute_error(
        detail::format("{}: bfloat16 has no type string; exchange it by DLPack, or its bits by "
                       "x.view('uint16')",
                       cuda_attribute)
            .c_str());
  }
  if (a.kind() == usm_kind::unknown && v.size() > 0) {
    throw nb::attribute_error(
        detail::format("{}: the array is in memory of the host", cuda_attribute).c_str());
  }
  const traced record(trace_action::exported, [&] {
    return trace_subject{.bytes = v.nbytes(), .address = a.data(), .kind = a.kind()};
  });
  // The stream of one queue would not order what other queues do; without one, all is finished.
  wait_for_own_work(a);
  expose_to_others(a);
  nb::dict d = new_dict();
  d["shape"] = tuple_of(v.layout().shape());
  d["typestr"] = v.dtype().typestr().c_str();
  if (v.dtype().members() != nullptr) d["descr"] = write_typedescr(*v.dtype().members());
  const auto address = v.size() > 0 ? reinterpret_cast<std::uintptr_t>(v.data()) : 0;
  d["data"] = nb::make_tuple(address, v.read_only());
  if (v.layout().is_c_contiguous()) {
    d["strides"] = nb::none();
  } else {
    extents steps(v.layout().strides());
    for (std::size_t k = 0; k < steps.size(); ++k) {
      steps[k] *= static_cast<std::int64_t>(v.dtype().itemsize());
    }
    d["strides"] = tuple_of(steps);
  }
  d["stream"] = nb::none();
  d["version"] = newest_version;
  return d;
}

void bind_cuda(nb::object type, array_access array_of) {
  bind_property(
      type, cuda_attribute,
      nb::cpp_function(
          [array_of](nb::handle self) {
            const live_bytes held = array_of(self);
            return export_cuda(*held);
          },
          nb::is_method(), nb::sig("def __cuda_array_interface__(self) -> dict[str, Any]")));
}

}  // namespace

extern const protocol cuda_protocol = {cuda_attribute, offer_cuda, import_cuda, bind_cuda};
extern const protocol array_interface_protocol = {nullptr, offer_itself, import_array_interface,
                                                  nullptr};
extern const protocol array_method_protocol = {nullptr, offer_itself, import_by_method, nullptr};

}  // namespace usmx::python
