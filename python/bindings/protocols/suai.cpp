// `__sycl_usm_array_interface__` both ways. From any object with the attribute to a checked array:
// the producer is asked once, each key is read once, and nothing of it is trusted. The dictionary
// for other libraries is made by copying a prepared one and filling in what differs.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "core/format.hpp"
#include "core/numbers.hpp"
#include "memory/memory.hpp"
#include "protocols/protocols.hpp"
#include "support/self.hpp"

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

/// The producer's mapping; values are strong references, because reading one may run code that
/// changes it.
class description {
 public:
  explicit description(nb::object mapping)
      : mapping_(std::move(mapping)), is_dict_(PyDict_Check(mapping_.ptr())) {
    if (!is_dict_ && !PyObject_HasAttrString(mapping_.ptr(), "keys")) {
      wrong_type(suai::attribute, mapping_, "a dict or another mapping");
    }
  }

  /// The dict, whose values may be plain; null for another mapping.
  PyObject* dict() const noexcept { return is_dict_ ? mapping_.ptr() : nullptr; }

  /// Not valid if the key is missing; None counts as missing where the protocol says so.
  nb::object get(key k) const {
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
      throw interop_error(missing,
                          detail::format("{}: is missing from {}", PyUnicode_AsUTF8(names().of[k]),
                                         suai::attribute));
    }
    return value;
  }

 private:
  nb::object mapping_;
  bool is_dict_;
};

/// A plain int of 64 bits; false for anything else.
bool read_plain(PyObject* value, std::int64_t& out) noexcept {
  if (!PyLong_CheckExact(value)) return false;
  int overflow = 0;
  out = PyLong_AsLongLongAndOverflow(value, &overflow);
  return overflow == 0;
}

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

/// Numbers in a tuple; false if one is not a plain int of 64 bits.
bool read_plain(PyObject* tuple, extents& out) {
  if (!PyTuple_CheckExact(tuple) || PyTuple_GET_SIZE(tuple) > max_rank) return false;
  out = extents(static_cast<std::size_t>(PyTuple_GET_SIZE(tuple)));
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (!read_plain(PyTuple_GET_ITEM(tuple, static_cast<Py_ssize_t>(k)), out[k])) return false;
  }
  return true;
}

/// The address and the flag of `data`.
bool read_plain(PyObject* pair, suai::fields& f) {
  if (!PyTuple_CheckExact(pair) || PyTuple_GET_SIZE(pair) != 2) return false;
  PyObject* const flag = PyTuple_GET_ITEM(pair, 1);
  std::int64_t address = 0;
  if (!read_plain(PyTuple_GET_ITEM(pair, 0), address) || address < 0) return false;
  if (flag != Py_True && flag != Py_False) return false;
  f.data = static_cast<std::uintptr_t>(address);
  f.read_only = flag == Py_True;
  return true;
}

/// A dict as nearly all are: interned keys, and values of Python's own types. Reading them runs no
/// code, so that one walk without references does. False, and `f` is to be read again, for others.
bool read_plain(PyObject* dict, suai::fields& f, PyObject*& syclobj) {
  const std::array<PyObject*, keys>& wanted = names().of;
  unsigned int found = 0;
  std::size_t next = 0;
  Py_ssize_t at = 0;
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  while (PyDict_Next(dict, &at, &name, &value) != 0) {
    std::size_t tried = 0;
    while (tried < keys && name != wanted[next]) ++tried, next = (next + 1) % keys;
    if (tried == keys) return false;
    bool is_plain = true;
    switch (static_cast<key>(next)) {
      case key::data:
        is_plain = read_plain(value, f);
        break;
      case key::shape:
        is_plain = read_plain(value, f.shape);
        break;
      case key::strides:
        is_plain = value == Py_None || read_plain(value, f.strides.emplace());
        break;
      case key::offset:
        is_plain = value == Py_None || read_plain(value, f.offset);
        break;
      case key::typestr:
        is_plain = PyUnicode_CheckExact(value) && PyUnicode_IS_COMPACT_ASCII(value);
        if (is_plain) {
          f.typestr.assign(static_cast<const char*>(PyUnicode_DATA(value)),
                           static_cast<std::size_t>(PyUnicode_GET_LENGTH(value)));
        }
        break;
      case key::version:
        is_plain = read_plain(value, f.version);
        break;
      case key::syclobj:
        syclobj = value;
        break;
      default:  // the fields of a record
        is_plain = value == Py_None;
    }
    if (!is_plain) return false;
    found |= 1U << next;
  }
  constexpr unsigned int required = 1U << key::data | 1U << key::shape | 1U << key::typestr |
                                    1U << key::version | 1U << key::syclobj;
  return (found & required) == required;
}

void read_data(nb::handle data, nb::handle producer, suai::fields& f) {
  constexpr const char* expected = "a tuple (address, read_only)";
  nb::object pair = nb::borrow(data);
  if (PyList_Check(data.ptr())) pair = nb::steal(PyList_AsTuple(data.ptr()));
  if (!PyTuple_Check(pair.ptr()) || PyTuple_GET_SIZE(pair.ptr()) != 2) {
    wrong_type("data", data, expected);
  }
  f.data = read_address(PyTuple_GET_ITEM(pair.ptr(), 0), "data[0]");
  f.read_only = read_flag(PyTuple_GET_ITEM(pair.ptr(), 1), "data[1]") &&
                !speaks_as_dpctl(Py_TYPE(producer.ptr()));
}

/// The bytes of a producer that gives no `data`: its buffer is the memory, and stays exported as
/// long as the returned object lives.
nb::object read_buffer(nb::handle producer, suai::fields& f, std::size_t& bytes) {
  if (PyObject_CheckBuffer(producer.ptr()) == 0) {
    throw interop_error(fault::data_null,
                        detail::format("data: is missing from {}, and {} has no buffer that could "
                                       "supply the memory; expected a tuple (address, read_only)",
                                       suai::attribute, Py_TYPE(producer.ptr())->tp_name));
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

void check_inside_buffer(const any_view& v, const suai::fields& f, std::size_t bytes) {
  auto* const base = reinterpret_cast<std::byte*>(f.data);
  if (v.size() == 0 || (v.first_byte() >= base && v.last_byte() <= base + bytes)) return;
  throw interop_error(fault::out_of_allocation,
                      detail::format("{}; it is the producer's buffer of {} bytes",
                                     suai::describe(f, fault::out_of_allocation), bytes));
}

/// `offset` counts from `data`, so both lie in one allocation. The elements alone would not show
/// that they left theirs where blocks of a pool stand side by side.
void check_offset(const any_view& v, const suai::fields& f, const sycl::queue& queue) {
  if (f.offset == 0 || v.size() == 0) return;
  const auto* const data = reinterpret_cast<const std::byte*>(f.data);
  if (data >= v.first_byte() && data < v.last_byte()) return;
  const allocation at = describe_allocation(data, queue.get_context());
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
  if (origin.queue) return *origin.queue;
  // Memory that the context does not know has no device; `bind` is the one to refuse it.
  const bool has_device = v.size() > 0 && kind_of(v.data(), origin.context) != usm_kind::unknown;
  return queue_for(origin.context, has_device ? device_of(v.data(), origin.context)
                                              : origin.context.get_devices().front());
}

[[noreturn]] void refuse_host_buffer(nb::handle producer) {
  throw interop_error(
      fault::not_usm,
      detail::format("data: is missing, and the buffer of {} that supplies the memory instead is "
                     "not USM of the context of syclobj; host memory has to be copied, for "
                     "instance by usmx.asarray(memoryview(obj))",
                     Py_TYPE(producer.ptr())->tp_name));
}

}  // namespace

any_view checked(const suai::fields& f) {
  any_view v;
  if (const fault code = suai::check(f, v); code != fault::none) {
    throw interop_error(code, suai::describe(f, code));
  }
  return v;
}

array bind_described(any_view v, const suai::fields& f, const sycl::queue& queue, nb::object keep,
                     traced& record) {
  check_offset(v, f, queue);
  auto* const first = v.first_byte();
  record.at(first);
  const auto bytes = static_cast<std::size_t>(v.last_byte() - first);
  return array::bind(std::move(v), queue, own_python(std::move(keep), first, bytes));
}

array bind_described(any_view v, const suai::fields& f, const sycl_origin& origin, nb::object keep,
                     traced& record) {
  const sycl::queue queue = queue_of(origin, v);
  return bind_described(std::move(v), f, queue, std::move(keep), record);
}

nb::object typedescr_of(const dtype& type) {
  const dtype::fields* const named = type.description();
  return named == nullptr ? nb::none() : nb::object(write_typedescr(*named));
}

bool speaks_as_dpctl(PyTypeObject* type) noexcept {
  // The getter tells whether it is dpctl that answers: a subclass with a property of its own speaks
  // for itself.
  PyObject* getter = _PyType_Lookup(type, names().attribute);
  if (getter == nullptr || Py_TYPE(getter) != &PyGetSetDescr_Type) return false;
  constexpr const char* module = "dpctl.memory.";
  PyTypeObject* const asked = PyDescr_TYPE(getter);
  return PyType_IsSubtype(type, asked) != 0 &&
         std::strncmp(asked->tp_name, module, std::strlen(module)) == 0;
}

namespace {

/// The queues of dpctl's Queue objects that were read last. Such an object means one queue as long
/// as it lives, and is kept for as long as it is here, so that no other takes its place. Asking it
/// makes a capsule and a copy of the queue. Guarded by the GIL.
class queues_of_dpctl {
 public:
  std::optional<sycl::queue> find(nb::handle obj) {
    for (const entry& e : entries_) {
      if (e.object.ptr() == obj.ptr()) return e.queue;
    }
    if (std::strcmp(Py_TYPE(obj.ptr())->tp_name, "dpctl._sycl_queue.SyclQueue") != 0) return {};
    entry fresh{nb::borrow(obj), to_origin(obj, "syclobj").queue};
    std::optional<sycl::queue> found = fresh.queue;
    if (closed_) return found;
    // What leaves may run code that comes back here: it ends last.
    std::swap(entries_[next_], fresh);
    next_ = (next_ + 1) % entries_.size();
    return found;
  }
  /// Before the interpreter goes, and for good.
  void close() noexcept {
    closed_ = true;
    for (entry& e : entries_) const entry last = std::exchange(e, {});
  }

 private:
  struct entry {
    nb::object object;
    std::optional<sycl::queue> queue;
  };

  std::array<entry, 4> entries_;
  std::size_t next_ = 0;
  bool closed_ = false;
};

queues_of_dpctl& known_queues() {
  // Leaked: Python is gone when statics are destroyed, and the runtime may be.
  static auto& recent = *new queues_of_dpctl;
  return recent;
}

/// The queue in an object that always has the same one: of ours or of dpctl, then in `room`. Null
/// for others.
const sycl::queue* known_queue(nb::handle obj, std::optional<sycl::queue>& room) {
  if (is_ready<sycl::queue>(obj)) return nb::inst_ptr<sycl::queue>(obj);
  room = known_queues().find(obj);
  return room ? &*room : nullptr;
}

}  // namespace

nb::object offer_suai(nb::handle obj) {
  // A class that has the attribute describes its instances, not itself.
  return PyType_Check(obj.ptr()) ? nb::object() : read_attribute(obj, names().attribute);
}

std::optional<array> import_suai(nb::handle obj, nb::object offer, const import_request&) {
  const description d(std::move(offer));
  traced record(trace_action::imported,
                [&] { return trace_subject{.label = trace_text(Py_TYPE(obj.ptr())->tp_name)}; });

  suai::fields f;
  nb::object keep = nb::borrow(obj);
  nb::object syclobj;
  std::optional<std::size_t> buffer_bytes;
  PyObject* origin = nullptr;
  if (d.dict() != nullptr && read_plain(d.dict(), f, origin)) {
    syclobj = nb::borrow(origin);
    f.read_only = f.read_only && !speaks_as_dpctl(Py_TYPE(obj.ptr()));
  } else {
    f = read_fields(d);
    if (const nb::object data = d.optional(key::data); data.is_valid()) {
      read_data(data, obj, f);
    } else {
      keep = read_buffer(obj, f, buffer_bytes.emplace());
    }
  }
  any_view v = checked(f);
  if (buffer_bytes) check_inside_buffer(v, f, *buffer_bytes);

  if (!syclobj.is_valid()) syclobj = d.required(key::syclobj, fault::not_usm);
  std::optional<sycl::queue> room;
  const sycl::queue* queue = known_queue(syclobj, room);
  if (queue == nullptr) queue = &room.emplace(queue_of(to_origin(syclobj, "syclobj"), v));
  if (buffer_bytes && v.size() > 0 &&
      kind_of(v.data(), queue->get_context()) == usm_kind::unknown) {
    refuse_host_buffer(obj);
  }
  array made = bind_described(std::move(v), f, *queue, std::move(keep), record);
  reached_without_queue(made);
  return made;
}

namespace {

nb::object owned(PyObject* o) {
  if (o == nullptr) throw nb::python_error();
  return nb::steal(o);
}

void set(const nb::object& dict, key k, const nb::object& value) {
  if (PyDict_SetItem(dict.ptr(), names().of[k], value.ptr()) != 0) throw nb::python_error();
}

/// Everything that is the same in each dictionary; lives as long as the process.
PyObject* common_entries() {
  static PyObject* const blank = [] {
    PyObject* const made = PyDict_New();
    const auto set_to = [&](key k, const nb::object& value) {
      PyDict_SetItem(made, names().of[k], value.ptr());
    };
    for (const key k : {key::data, key::shape, key::strides}) set_to(k, nb::none());
    set_to(key::offset, nb::int_(0));
    set_to(key::typestr, nb::none());
    set_to(key::version, nb::int_(suai::version));
    set_to(key::syclobj, nb::none());
    return made;
  }();
  return blank;
}

nb::object copy_of(nb::object dict) { return owned(PyDict_Copy(dict.ptr())); }

nb::object new_blank(const dtype& type, const nb::object& queue) {
  nb::object made = owned(PyDict_Copy(common_entries()));
  PyObject* text = PyUnicode_FromString(type.typestr().c_str());
  if (text != nullptr) PyUnicode_InternInPlace(&text);
  set(made, key::typestr, owned(text));
  set(made, key::syclobj, queue);
  return made;
}

/// The dictionaries that were handed out last, without what differs from array to array: making a
/// Queue object alone costs as much as copying one and filling it in. Guarded by the GIL.
class recent_blanks {
 public:
  /// A fresh dictionary with all keys, of which `typestr` and `syclobj` have their values. The
  /// queue of `syclobj` goes into `exposed` if it is another one.
  nb::object get(const sycl::queue& queue, const dtype& type, std::optional<sycl::queue>& exposed) {
    // Every call of Python may collect garbage, and with that come back here: no entry is held
    // across one.
    if (!knows_dpctl_ && dpctl_is_loaded()) {
      knows_dpctl_ = true;
      forget();
    }
    nb::object object;
    if (entry* const known = find(queue)) {
      if (known->exposed != queue) exposed = known->exposed;
      if (!type.is_record() && known->blank(type).is_valid()) return copy_of(known->blank(type));
      object = known->object;
    } else {
      queue_object others = queue_for_others(queue);
      if (others.queue != queue) exposed = others.queue;
      object = others.object;
      remember({queue, others.queue, std::move(others.object), {}});
    }
    nb::object made = new_blank(type, object);
    if (type.is_record()) return made;
    if (entry* const known = find(queue)) known->blank(type) = made;
    return copy_of(made);
  }
  /// The queue that others submit to where an array of `queue` is theirs to use.
  sycl::queue exposed_queue(const sycl::queue& queue) {
    if (entry* const known = find(queue);
        known != nullptr && (knows_dpctl_ || !dpctl_is_loaded())) {
      return *known->exposed;
    }
    std::optional<sycl::queue> other;
    get(queue, dtype(), other);
    return other.value_or(queue);
  }
  /// Before the interpreter goes, and for good.
  void close() noexcept {
    closed_ = true;
    forget();
  }

 private:
  struct entry {
    std::optional<sycl::queue> queue;
    std::optional<sycl::queue> exposed;
    nb::object object;
    std::array<nb::object, detail::number_rows.size()> blanks;

    nb::object& blank(const dtype& type) {
      return blanks[static_cast<std::size_t>(detail::number_row_index(type))];
    }
  };

  void forget() noexcept {
    for (entry& e : entries_) const entry last = std::exchange(e, {});
  }

  entry* find(const sycl::queue& queue) {
    for (entry& e : entries_) {
      if (e.queue == queue) return &e;
    }
    return nullptr;
  }

  void remember(entry fresh) {
    if (closed_) return;
    std::swap(entries_[next_], fresh);
    next_ = (next_ + 1) % entries_.size();
  }

  std::array<entry, 4> entries_;
  std::size_t next_ = 0;
  bool closed_ = false;
  bool knows_dpctl_ = false;
};

recent_blanks& blanks() {
  // Leaked: Python is gone when statics are destroyed, and the runtime may be.
  static auto& recent = *new recent_blanks;
  return recent;
}

nb::object write_data(const std::byte* p, bool read_only) {
  nb::object pair = owned(PyTuple_New(2));
  PyTuple_SET_ITEM(pair.ptr(), 0,
                   owned(PyLong_FromSize_t(reinterpret_cast<std::uintptr_t>(p))).release().ptr());
  PyTuple_SET_ITEM(pair.ptr(), 1, nb::borrow(read_only ? Py_True : Py_False).release().ptr());
  return pair;
}

}  // namespace

void forget_queues() noexcept {
  blanks().close();
  known_queues().close();
}

void expose_to_others(const array& a) { expose(a, blanks().exposed_queue(a.queue())); }

nb::dict export_suai(const array& a) {
  const traced record(trace_action::exported, [&] {
    return trace_subject{.bytes = a.elements().nbytes(), .address = a.data(), .kind = a.kind()};
  });
  reached_without_queue(a);
  // The protocol has no event: the consumer may use the memory at once. What other
  // libraries submitted meanwhile is theirs to order, or each look at the attribute would wait.
  wait_for_own_work(a);

  const any_view& v = a.elements();
  std::optional<sycl::queue> exposed;
  nb::object out = blanks().get(a.queue(), v.dtype(), exposed);
  expose(a, exposed ? *exposed : a.queue());
  set(out, key::shape, tuple_of(v.layout().shape()));
  if (const dtype::fields* named = v.dtype().description()) {
    set(out, key::typedescr, write_typedescr(*named));
  }
  // The lowest address and an offset, the form that every consumer understands.
  set(out, key::data, write_data(v.first_byte(), v.read_only()));
  if (!v.layout().is_c_contiguous()) {
    set(out, key::strides, tuple_of(v.layout().strides()));
    if (const std::int64_t first = v.layout().range().first; first != 0) {
      set(out, key::offset, nb::int_(-first));
    }
  }
  return nb::steal<nb::dict>(out.release());
}

namespace {

void bind_suai(nb::object type, array_access array_of) {
  bind_property(
      type, suai::attribute,
      nb::cpp_function(
          [array_of](nb::handle self) {
            const live_bytes held = array_of(self);
            return export_suai(*held);
          },
          nb::is_method(), nb::sig("def __sycl_usm_array_interface__(self) -> dict[str, Any]")));
}

}  // namespace

extern const protocol suai_protocol = {suai::attribute, offer_suai, import_suai, bind_suai};

}  // namespace usmx::python
