// From any object with `__sycl_usm_array_interface__` to a checked array: the producer is asked
// once, each key is read once, and nothing of it is trusted.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>

#include "protocols/protocols.hpp"

namespace usmx::python {
namespace {

/// The keys of the dictionary, in the order in which most producers write them.
enum key : std::size_t { data, shape, strides, offset, typestr, version, syclobj, typedescr, keys };

/// Interned once: a lookup by an interned string compares pointers. Never released, because the
/// last import may happen while the interpreter goes down.
struct key_names {
  PyObject* attribute = PyUnicode_InternFromString(suai::attribute);
  std::array<PyObject*, keys> of{
      PyUnicode_InternFromString("data"),    PyUnicode_InternFromString("shape"),
      PyUnicode_InternFromString("strides"), PyUnicode_InternFromString("offset"),
      PyUnicode_InternFromString("typestr"), PyUnicode_InternFromString("version"),
      PyUnicode_InternFromString("syclobj"), PyUnicode_InternFromString("typedescr"),
  };
};

const key_names& names() {
  static const key_names n;
  return n;
}

/// The producer's dictionary; values are strong references, because reading one may run code that
/// changes the dictionary.
class description {
 public:
  explicit description(nb::object mapping)
      : mapping_(std::move(mapping)), is_dict_(PyDict_Check(mapping_.ptr())) {
    if (is_dict_) {
      take_interned();
    } else if (!PyObject_HasAttrString(mapping_.ptr(), "keys")) {
      wrong_type(suai::attribute, mapping_, "a dict or another mapping");
    }
  }

  /// Not valid if the key is missing; None counts as missing where the protocol says so.
  nb::object get(key k) const {
    // What was taken counts as long as nothing that was read since has changed the dict's size.
    if (taken_of_ != 0 && PyDict_GET_SIZE(mapping_.ptr()) == taken_of_) return taken_[k];
    if (is_dict_) {
      PyObject* value = PyDict_GetItemWithError(mapping_.ptr(), names().of[k]);
      if (value == nullptr && PyErr_Occurred() != nullptr) throw nb::python_error();
      return nb::borrow(value);
    }
    PyObject* value = PyObject_GetItem(mapping_.ptr(), names().of[k]);
    if (value == nullptr) {
      if (PyErr_ExceptionMatches(PyExc_KeyError) == 0) throw nb::python_error();
      PyErr_Clear();
    }
    return nb::steal(value);
  }

  nb::object optional(key k) const {
    nb::object value = get(k);
    return value.is_valid() && value.is_none() ? nb::object() : value;
  }

  nb::object required(key k, fault missing) const {
    nb::object value = get(k);
    if (!value.is_valid()) {
      throw interop_error(missing, std::string(PyUnicode_AsUTF8(names().of[k])) +
                                       ": is missing from " + suai::attribute);
    }
    return value;
  }

 private:
  /// The keys of nearly every dict are interned literals, and one walk costs less than eight
  /// lookups. If the walk meets a key that it does not know by its address, all are looked up.
  void take_interned() {
    const std::array<PyObject*, keys>& wanted = names().of;
    Py_ssize_t at = 0;
    Py_ssize_t taken = 0;
    std::size_t next = 0;
    PyObject* name = nullptr;
    PyObject* value = nullptr;
    while (PyDict_Next(mapping_.ptr(), &at, &name, &value) != 0) {
      for (std::size_t tried = 0; tried < keys; ++tried, next = (next + 1) % keys) {
        if (name != wanted[next]) continue;
        taken_[next] = nb::borrow(value);
        ++taken;
        break;
      }
    }
    if (taken == PyDict_GET_SIZE(mapping_.ptr())) taken_of_ = taken;
  }

  nb::object mapping_;
  bool is_dict_;
  Py_ssize_t taken_of_ = 0;
  std::array<nb::object, keys> taken_;
};

/// What describes the elements, except for where they are.
suai::fields read_fields(const description& d) {
  suai::fields f;
  f.version = read_integer(d.required(key::version, fault::version_unsupported), "version",
                           fault::version_unsupported);
  f.typestr = read_text(d.required(key::typestr, fault::typestr_malformed), "typestr",
                        fault::typestr_malformed);
  f.shape =
      read_extents(d.required(key::shape, fault::shape_overflow), "shape", fault::shape_overflow);
  if (const nb::object v = d.optional(key::strides); v.is_valid()) {
    f.strides = read_extents(v, "strides", fault::strides_overflow);
  }
  if (const nb::object v = d.optional(key::offset); v.is_valid()) {
    f.offset = read_integer(v, "offset", fault::offset_overflow);
  }
  if (const nb::object v = d.optional(key::typedescr); v.is_valid()) {
    f.typedescr = read_typedescr(v);
  }
  return f;
}

void read_data(nb::handle data, nb::handle producer, suai::fields& f) {
  constexpr const char* expected = "a tuple (address, read_only)";
  nb::object pair = nb::borrow(data);
  if (PyList_Check(data.ptr())) pair = nb::steal(PyList_AsTuple(data.ptr()));
  if (!PyTuple_Check(pair.ptr()) || PyTuple_GET_SIZE(pair.ptr()) != 2) {
    wrong_type("data", data, expected);
  }
  f.data = read_address(PyTuple_GET_ITEM(pair.ptr(), 0), "data[0]");
  f.read_only =
      read_flag(PyTuple_GET_ITEM(pair.ptr(), 1), "data[1]") && !flag_means_writable(producer);
}

/// The bytes of a producer that gives no `data`: its buffer is the memory, and stays exported as
/// long as the returned object lives.
nb::object read_buffer(nb::handle producer, suai::fields& f, std::size_t& bytes) {
  if (PyObject_CheckBuffer(producer.ptr()) == 0) {
    throw interop_error(fault::data_null,
                        "data: is missing from " + std::string(suai::attribute) + ", and " +
                            Py_TYPE(producer.ptr())->tp_name +
                            " has no buffer that could supply the memory; expected a tuple "
                            "(address, read_only)");
  }
  nb::object memory = nb::steal(PyMemoryView_FromObject(producer.ptr()));
  if (!memory.is_valid()) throw nb::python_error();
  const Py_buffer* buffer = PyMemoryView_GET_BUFFER(memory.ptr());
  if (PyBuffer_IsContiguous(buffer, 'C') == 0) {
    throw interop_error(fault::out_of_allocation,
                        "data: is missing, and the buffer that supplies the memory instead is not "
                        "contiguous");
  }
  f.data = reinterpret_cast<std::uintptr_t>(buffer->buf);
  f.read_only = buffer->readonly != 0;
  bytes = static_cast<std::size_t>(buffer->len);
  return memory;
}

any_view checked(const suai::fields& f) {
  any_view v;
  if (const fault code = suai::check(f, v); code != fault::none) {
    throw interop_error(code, suai::describe(f, code));
  }
  return v;
}

void check_inside_buffer(const any_view& v, const suai::fields& f, std::size_t bytes) {
  auto* const base = reinterpret_cast<std::byte*>(f.data);
  if (v.size() == 0 || (v.first_byte() >= base && v.last_byte() <= base + bytes)) return;
  throw interop_error(fault::out_of_allocation, suai::describe(f, fault::out_of_allocation) +
                                                    "; it is the producer's buffer of " +
                                                    std::to_string(bytes) + " bytes");
}

/// `offset` counts from `data`, so both lie in one allocation. The elements alone would not show
/// that they left theirs where blocks of a pool stand side by side.
void check_offset(const any_view& v, const suai::fields& f, const sycl::context& context) {
  if (f.offset == 0 || v.size() == 0) return;
  const auto* const data = reinterpret_cast<const std::byte*>(f.data);
  if (data >= v.first_byte() && data < v.last_byte()) return;
  const allocation at = describe_allocation(data, context);
  if (at.kind != usm_kind::unknown &&
      (!at.extent || (v.first_byte() >= at.extent->base &&
                      v.last_byte() <= at.extent->base + at.extent->bytes))) {
    return;
  }
  throw interop_error(fault::out_of_allocation, suai::describe(f, fault::out_of_allocation));
}

/// Compute follows data: where the producer named no queue, the one we keep for the device on which
/// its memory lives.
sycl::queue queue_of(const sycl_origin& origin, const any_view& v) {
  // Memory that the context does not know has no device; `bind` is the one to refuse it.
  const bool has_device = v.size() > 0 && kind_of(v.data(), origin.context) != usm_kind::unknown;
  return queue_for(origin.context, has_device ? device_of(v.data(), origin.context)
                                              : origin.context.get_devices().front());
}

[[noreturn]] void refuse_host_buffer(nb::handle producer) {
  throw interop_error(
      fault::not_usm,
      "data: is missing, and the buffer of " + std::string(Py_TYPE(producer.ptr())->tp_name) +
          " that supplies the memory instead is not USM of the context of syclobj; host memory "
          "has to be copied, for instance by usmx.asarray(memoryview(obj))");
}

}  // namespace

bool flag_means_writable(nb::handle producer) noexcept {
  // dpctl.memory writes True for memory that may be written. The getter tells whether it is the one
  // that answers: a subclass with a property of its own speaks for itself.
  PyObject* getter = _PyType_Lookup(Py_TYPE(producer.ptr()), names().attribute);
  if (getter == nullptr || Py_TYPE(getter) != &PyGetSetDescr_Type) return false;
  constexpr const char* module = "dpctl.memory.";
  return std::strncmp(PyDescr_TYPE(getter)->tp_name, module, std::strlen(module)) == 0;
}

nb::object offer_suai(nb::handle obj) {
  // A class that has the attribute describes its instances, not itself.
  return PyType_Check(obj.ptr()) ? nb::object() : read_attribute(obj, names().attribute);
}

std::optional<array> import_suai(nb::handle obj, nb::object offer, const import_request&) {
  const description d(std::move(offer));
  traced record(trace_action::imported,
                [&] { return trace_subject{.label = trace_text(Py_TYPE(obj.ptr())->tp_name)}; });

  suai::fields f = read_fields(d);
  nb::object keep = nb::borrow(obj);
  std::optional<std::size_t> buffer_bytes;
  if (const nb::object data = d.optional(key::data); data.is_valid()) {
    read_data(data, obj, f);
  } else {
    keep = read_buffer(obj, f, buffer_bytes.emplace());
  }
  any_view v = checked(f);
  if (buffer_bytes) check_inside_buffer(v, f, *buffer_bytes);

  sycl_origin origin = to_origin(d.required(key::syclobj, fault::not_usm), "syclobj");
  if (buffer_bytes && v.size() > 0 && kind_of(v.data(), origin.context) == usm_kind::unknown) {
    refuse_host_buffer(obj);
  }
  check_offset(v, f, origin.context);
  if (!origin.queue) origin.queue = queue_of(origin, v);
  auto* const first = v.first_byte();
  record.at(first);
  const auto bytes = static_cast<std::size_t>(v.last_byte() - first);
  return array::bind(std::move(v), *origin.queue, own_python(std::move(keep), first, bytes));
}

}  // namespace usmx::python
