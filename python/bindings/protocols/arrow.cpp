// Arrow's C data, C device and C stream interfaces: arrays of contiguous numbers go out and come in
// without a copy, for pyarrow, polars, nanoarrow, pandas and all others that have the methods. The
// structs and their check are usmx/arrow.hpp, which knows no Python.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/arrow.hpp"

#include <array>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "array/ndarray.hpp"
#include "core/format.hpp"
#include "memory/memory.hpp"
#include "protocols/protocols.hpp"
#include "support/error_text.hpp"
#include "support/signature.hpp"
#include "support/text.hpp"
#include "usmx/copy.hpp"
#include "usmx/default_kind.hpp"

namespace usmx::python {
namespace {

using arrow::array_data;
using arrow::device_array;
using arrow::owned;
using arrow::schema;
using dlpack::device_type;

constexpr const char* array_method = "__arrow_c_array__";
constexpr const char* device_array_method = "__arrow_c_device_array__";
constexpr const char* stream_method = "__arrow_c_stream__";
constexpr const char* device_stream_method = "__arrow_c_device_stream__";

/// The names of the capsules. Static, as the protocol wants.
template <class Struct>
constexpr const char* capsule_name = nullptr;
template <>
constexpr const char* capsule_name<schema> = "arrow_schema";
template <>
constexpr const char* capsule_name<array_data> = "arrow_array";
template <>
constexpr const char* capsule_name<device_array> = "arrow_device_array";
template <>
constexpr const char* capsule_name<arrow::stream> = "arrow_array_stream";
template <>
constexpr const char* capsule_name<arrow::device_stream> = "arrow_device_array_stream";

[[noreturn]] void refuse(const std::string& message) { throw nb::buffer_error(message.c_str()); }

void require(const arrow::finding& found) {
  if (found) throw interop_error(found.code, found.text);
}

// --- out ----------------------------------------------------------------------------------------

/// What a struct of ours holds. One for each dimension: a consumer may move the struct of a child
/// away, and release the parent first.
struct schema_level {
  std::string format;
  std::string metadata;
  schema child{};
  std::array<schema*, 1> children{};
};
struct array_level {
  array keep;
  host_access shown;
  std::array<const void*, 2> buffers{};
  array_data child{};
  std::array<array_data*, 1> children{};
};

template <class Level, class Struct>
void end_level(Struct* s) noexcept {
  const std::unique_ptr<Level> level(static_cast<Level*>(s->private_data));
  s->release = nullptr;
  arrow::release(level->child);
  if constexpr (std::is_same_v<Level, array_level>) {
    level->shown.end();
    // Called from any thread, with the GIL or without.
    if (Py_IsInitialized() != 0 && PyGILState_Check() != 0) give_back(level->keep);
  }
}

/// Contiguous numbers of one dimension or more are what Arrow describes. BufferError.
void require_describable(const any_view& v) {
  if (arrow::format_of(v.dtype()) == nullptr) {
    refuse(
        detail::format("dtype: {} has no type in Arrow; view it as numbers, or exchange it by "
                       "__sycl_usm_array_interface__",
                       v.dtype().name()));
  }
  if (v.rank() == 0) refuse("shape: () is a number, and Arrow has arrays only; use x.reshape(1)");
  if (!v.layout().is_c_contiguous()) {
    refuse(detail::format(
        "strides: {}, with shape {}; Arrow has contiguous elements only; use "
        "x.copy()",
        detail::shape_text(v.layout().strides()), detail::shape_text(v.layout().shape())));
  }
}

schema describe_type(const any_view& v, std::size_t axis) {
  auto level = std::make_unique<schema_level>();
  const bool is_list = axis + 1 < static_cast<std::size_t>(v.rank());
  level->format = is_list ? detail::format("+w:{}", v.layout().shape()[axis + 1])
                          : std::string(arrow::format_of(v.dtype()));
  if (is_list) {
    level->child = describe_type(v, axis + 1);
    level->children[0] = &level->child;
  } else {
    level->metadata = arrow::metadata_of(v.dtype());
  }
  schema out{};
  out.format = level->format.c_str();
  out.name = axis == 0 ? "" : "item";
  out.metadata = level->metadata.empty() ? nullptr : level->metadata.c_str();
  out.flags = arrow::nullable_flag;
  out.child_count = is_list ? 1 : 0;
  out.children = is_list ? level->children.data() : nullptr;
  out.release = end_level<schema_level, schema>;
  out.private_data = level.release();
  return out;
}

/// `shown` is empty if the consumer is not the host.
array_data describe_elements(const array& a, std::size_t axis, std::int64_t length,
                             host_access&& shown) {
  const any_view& v = a.elements();
  auto level = std::make_unique<array_level>();
  level->keep = a;
  const bool is_list = axis + 1 < static_cast<std::size_t>(v.rank());
  if (is_list) {
    std::int64_t inner = 0;
    if (__builtin_mul_overflow(length, v.layout().shape()[axis + 1], &inner)) {
      refuse(detail::format("shape: {} has too many lists without elements",
                            detail::shape_text(v.layout().shape())));
    }
    level->child = describe_elements(a, axis + 1, inner, std::move(shown));
    level->children[0] = &level->child;
  } else {
    // Some consumers take no null pointer, not even for no bytes.
    alignas(64) static constexpr std::byte nothing{};
    level->shown = std::move(shown);
    level->buffers[1] = v.size() > 0 ? v.data() : static_cast<const void*>(&nothing);
  }
  array_data out{};
  out.length = length;
  out.buffer_count = is_list ? 1 : 2;
  out.buffers = level->buffers.data();
  out.child_count = is_list ? 1 : 0;
  out.children = is_list ? level->children.data() : nullptr;
  out.release = end_level<array_level, array_data>;
  out.private_data = level.release();
  return out;
}

/// A capsule for a struct, which it releases unless a consumer has moved it away.
template <class Struct>
nb::object to_capsule(Struct made) {
  owned<Struct> guarded(made);
  auto heap = std::make_unique<Struct>(*guarded);
  PyObject* const capsule =
      PyCapsule_New(heap.get(), capsule_name<Struct>, [](PyObject* self) noexcept {
        const std::unique_ptr<Struct> held(
            static_cast<Struct*>(PyCapsule_GetPointer(self, capsule_name<Struct>)));
        // A function of another library may run Python, which must not meet an error on its way.
        const nb::error_scope kept;
        arrow::release(*held);
      });
  if (capsule == nullptr) throw nb::python_error();
  static_cast<void>(heap.release());
  arrow::forget(*guarded);
  return nb::steal(capsule);
}

/// The consumer's wish is a type that others may have; a wrong object is an error all the same.
void check_request(nb::handle requested) {
  if (requested.is_none() || PyCapsule_IsValid(requested.ptr(), capsule_name<schema>) != 0) return;
  PyErr_Clear();
  wrong_type("requested_schema", requested, "None or a capsule named 'arrow_schema'");
}

nb::object to_pair(const array& a, nb::object elements) {
  return nb::make_tuple(to_capsule(describe_type(a.elements(), 0)), std::move(elements));
}

nb::object to_arrow_schema(const array& a) {
  require_describable(a.elements());
  return to_capsule(describe_type(a.elements(), 0));
}

nb::object to_arrow(const array& a, nb::handle requested) {
  check_request(requested);
  if (!host_accessible(a.kind())) {
    refuse(
        "device memory cannot be read by the host; use __arrow_c_device_array__, copy it with "
        "to_numpy(), or make the array with usm_type='shared'");
  }
  require_describable(a.elements());
  const traced record(trace_action::exported, [&] {
    return trace_subject{.bytes = a.elements().nbytes(), .address = a.data(), .kind = a.kind()};
  });
  host_access shown = show_to_host(a);  // the host looks next
  return to_pair(
      a, to_capsule(describe_elements(a, 0, a.elements().layout().shape()[0], std::move(shown))));
}

/// Where Arrow's consumers find the memory. They have nothing for memory of oneAPI, so what the
/// host can read is the host's to them.
dlpack::device device_in_arrow(const array& a) {
  const dlpack::device own = device_in_dlpack(a);
  if (own.type == device_type::oneapi && host_accessible(a.kind())) return {device_type::cpu, -1};
  if (own.type == device_type::cpu) return {device_type::cpu, -1};
  return own;
}

nb::object to_device_arrow(const array& a, nb::handle requested, const nb::kwargs& others) {
  check_request(requested);
  for (const auto& [name, value] : others) {
    if (value.is_none()) continue;
    PyErr_Format(PyExc_NotImplementedError, "%U: is not supported; expected requested_schema only",
                 name.ptr());
    throw nb::python_error();
  }
  require_describable(a.elements());
  const dlpack::device where = device_in_arrow(a);
  const traced record(trace_action::exported, [&] {
    return trace_subject{.bytes = a.elements().nbytes(), .address = a.data(), .kind = a.kind()};
  });
  // What is submitted is finished, so that no event is needed.
  host_access shown;
  if (where.type == device_type::cpu) {
    shown = show_to_host(a);
  } else {
    wait_for_own_work(a);
    expose_to_others(a);
  }
  device_array out{};
  out.device_id = where.id;
  out.device_type = where.type;
  out.elements = describe_elements(a, 0, a.elements().layout().shape()[0], std::move(shown));
  return to_pair(a, to_capsule(out));
}

// --- in -----------------------------------------------------------------------------------------

/// Moves the struct out of a capsule; the capsule is empty from now on.
template <class Struct>
owned<Struct> take_from(nb::handle capsule, const char* method) {
  constexpr const char* name = capsule_name<Struct>;
  if (!PyCapsule_CheckExact(capsule.ptr()) || PyCapsule_IsValid(capsule.ptr(), name) == 0) {
    const std::string expected = detail::format("a capsule named '{}'", name);
    wrong_type(detail::format("{}()", method), capsule, expected);
  }
  auto* const held = static_cast<Struct*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (arrow::is_released(*held)) {
    throw value_error(
        "capsule: '{}' was consumed already; call {}() again, a capsule serves one consumer", name,
        method);
  }
  return owned<Struct>(*held);
}

/// Keeps another library's array until Python lets go of the capsule.
nb::object to_owner(owned<array_data> elements) {
  constexpr const char* name = "usmx.arrow.owner";
  auto heap = std::make_unique<owned<array_data>>(std::move(elements));
  PyObject* const owner = PyCapsule_New(heap.get(), name, [](PyObject* self) noexcept {
    const nb::error_scope kept;
    delete static_cast<owned<array_data>*>(PyCapsule_GetPointer(self, name));
  });
  if (owner == nullptr) throw nb::python_error();
  static_cast<void>(heap.release());
  return nb::steal(owner);
}

/// The array behind the structs, without a copy.
struct imported_elements {
  array elements;
  /// Memory of the host that the request does not allow: for the caller to copy.
  bool is_to_copy;
};

imported_elements import_elements(const schema& type, owned<device_array> from, nb::handle producer,
                                  const import_request& request) {
  if (from->device_id != static_cast<std::int32_t>(from->device_id)) {
    refuse(detail::format("device_id: {} is not the number of a device", from->device_id));
  }
  const dlpack::device where{from->device_type, static_cast<std::int32_t>(from->device_id)};
  const bool is_host = where.type == device_type::cpu;
  const sycl::queue queue = is_host ? request.queue ? *request.queue : default_queue()
                                    : default_queue(device_from_dlpack(where));
  if (!is_host && from->sync_event != nullptr) {
    wait_for_foreign_event(queue.get_device(), from->sync_event);
  }
  traced record(trace_action::imported, [&] {
    return trace_subject{.label = trace_text(Py_TYPE(producer.ptr())->tp_name)};
  });
  any_view v;
  require(arrow::check(type, from->elements, is_host, v));
  std::byte* const first = v.first_byte();
  record.at(first);
  const bool is_usm = !is_host || shows_usm(v, queue);
  const auto bytes = static_cast<std::size_t>(v.last_byte() - first);
  shared_owner keep = own_python(to_owner(owned<array_data>(from->elements)), first, bytes);
  if (is_host) keep->exposed_to_host();
  if (is_usm) return {array::bind(std::move(v), queue, std::move(keep)), false};
  if (request.host && reads_host_memory(queue.get_device())) {
    return {array::over_host(std::move(v), queue, std::move(keep)), false};
  }
  return {array::over(std::move(v), queue, std::move(keep)), true};
}

/// What `take` of a row returns.
std::optional<array> settled(imported_elements found, const import_request& request) {
  if (!found.is_to_copy) return std::move(found.elements);
  if (request.to_copy != nullptr) *request.to_copy = std::move(found.elements);
  return {};
}

/// An array of the host as one that says so.
owned<device_array> on_host(owned<array_data> elements) {
  device_array out{};
  out.elements = *elements;
  out.device_id = -1;
  out.device_type = device_type::cpu;
  arrow::forget(*elements);
  return owned<device_array>(out);
}
owned<device_array> on_host(owned<device_array> elements) { return elements; }

/// Elements that no dtype describes, of an object that NumPy may have a conversion for: columns,
/// booleans as bits, values by index. What it makes of them is copied.
bool is_for_numpy(const schema& type, nb::handle obj, const import_request& request) {
  static PyObject* const method = PyUnicode_InternFromString("__array__");
  arrow::element_type ignored;
  return request.to_copy != nullptr && _PyType_Lookup(Py_TYPE(obj.ptr()), method) != nullptr &&
         arrow::read_type(type, ignored).code == fault::typestr_unsupported;
}

/// Missing elements are not left to NumPy, which makes NaN of them.
bool has_all(const array_data& a) noexcept {
  return a.null_count == 0 && (a.dictionary == nullptr || a.dictionary->null_count == 0);
}
bool has_all(const device_array& a) noexcept { return has_all(a.elements); }

template <class Struct>
std::optional<array> take_array(nb::handle obj, const nb::object& method, const char* name,
                                const import_request& request) {
  const nb::object pair = method();
  if (!PyTuple_Check(pair.ptr()) || PyTuple_GET_SIZE(pair.ptr()) != 2) {
    wrong_type(detail::format("{}()", name), pair, "a tuple of two capsules");
  }
  owned<schema> type = take_from<schema>(PyTuple_GET_ITEM(pair.ptr(), 0), name);
  owned<Struct> elements = take_from<Struct>(PyTuple_GET_ITEM(pair.ptr(), 1), name);
  if (is_for_numpy(*type, obj, request) && has_all(*elements)) return {};
  return settled(import_elements(*type, on_host(std::move(elements)), obj, request), request);
}

// --- streams

/// What a stream gives: its type, and its arrays that have elements.
template <class Stream>
class stream_reader {
 public:
  using element =
      std::conditional_t<std::is_same_v<Stream, arrow::stream>, array_data, device_array>;

  explicit stream_reader(owned<Stream> from) : from_(std::move(from)) {}

  owned<schema> read_type() {
    owned<schema> out;
    call("get_schema", [&] { return from_->get_schema(from_.out(), out.out()); });
    return out;
  }
  /// Released at the end.
  owned<element> next() {
    owned<element> out;
    call("get_next", [&] { return from_->get_next(from_.out(), out.out()); });
    return out;
  }

 private:
  /// The producer may compute, or wait for a thread that needs the GIL.
  template <class Function>
  void call(const char* what, Function function) {
    int result = 0;
    std::string text;
    {
      const gil_released unlocked;
      result = function();
      if (result == 0) return;
      const char* const said =
          from_->get_last_error != nullptr ? from_->get_last_error(from_.out()) : nullptr;
      text = said == nullptr ? "no message" : said;
    }
    throw value_error("{}: the stream failed with error {}: {}", what, result, text);
  }

  owned<Stream> from_;
};

/// An array without elements of a stream that gave none.
array empty_array(const arrow::element_type& type) {
  extents shape(type.inner.size() + 1);
  for (std::size_t k = 0; k < type.inner.size(); ++k) shape[k + 1] = type.inner[k];
  return array::empty(default_queue(), shape.span(), type.type);
}

/// All chunks in one array of USM: each element is copied once.
array joined(const std::vector<imported_elements>& chunks, const import_request& request) {
  const any_view& like = chunks.front().elements.elements();
  extents shape(like.layout().shape());
  shape[0] = 0;
  for (const imported_elements& chunk : chunks) {
    const std::int64_t more = chunk.elements.elements().layout().shape()[0];
    if (__builtin_add_overflow(shape[0], more, &shape[0])) {
      throw interop_error(fault::shape_overflow, "length: the chunks have too many elements");
    }
  }
  const sycl::queue queue = request.queue ? *request.queue : chunks.front().elements.queue();
  layout where;
  check(layout::c_order(shape, like.dtype().itemsize(), where), shape);
  array out = allocate_array(queue, std::move(where), like.dtype(), default_kind(queue));
  const gil_released unlocked;
  std::int64_t at = 0;
  for (const imported_elements& chunk : chunks) {
    const std::int64_t count = chunk.elements.elements().layout().shape()[0];
    const array part = out.with_view(out.elements().sliced(0, at, count, 1));
    if (chunk.elements.kind() == usm_kind::unknown) {
      copy_from_host(part, chunk.elements.elements());
    } else {
      copy(part, chunk.elements);
    }
    at += count;
  }
  return out;
}

/// Whether a stream is of no use to the request: reading it may compute, and may be possible once.
bool is_unwanted(const arrow::stream&, const import_request&) noexcept { return false; }
bool is_unwanted(const arrow::device_stream& s, const import_request& request) noexcept {
  return s.device_type == device_type::cpu && !request.host && request.to_copy == nullptr;
}

template <class Stream>
std::optional<array> take_stream(nb::handle obj, const nb::object& method, const char* name,
                                 const import_request& request) {
  owned<Stream> from = take_from<Stream>(method(), name);
  if (is_unwanted(*from, request)) return {};
  if (from->get_schema == nullptr || from->get_next == nullptr) {
    throw value_error("{}: the stream has no get_schema or no get_next", name);
  }
  stream_reader<Stream> reader(std::move(from));
  owned<schema> type = reader.read_type();
  if (is_for_numpy(*type, obj, request)) {
    bool all = true;
    while (all && !arrow::is_table(*type)) {
      auto next = reader.next();
      if (next.empty()) break;
      all = has_all(*next);
    }
    if (all) return {};
  }
  arrow::element_type elements;
  require(arrow::read_type(*type, elements));
  std::vector<imported_elements> chunks;
  std::optional<imported_elements> empty;
  for (;;) {
    auto next = reader.next();
    if (next.empty()) break;
    imported_elements chunk = import_elements(*type, on_host(std::move(next)), obj, request);
    if (chunk.elements.elements().size() == 0) {
      empty = std::move(chunk);
    } else {
      chunks.push_back(std::move(chunk));
    }
  }
  if (chunks.empty()) {
    return empty ? settled(std::move(*empty), request) : empty_array(elements);
  }
  if (chunks.size() == 1) return settled(std::move(chunks.front()), request);
  if (request.to_copy == nullptr) {
    throw value_error(
        "copy: the elements are in {} chunks, which have to be copied into one array; pass "
        "usmx.asarray(x), or combine them first, for example with combine_chunks() or rechunk()",
        chunks.size());
  }
  return joined(chunks, request);
}

// --- the rows of the table ----------------------------------------------------------------------

nb::object offer(nb::handle obj, PyObject* name) {
  static PyObject* const interface_name = PyUnicode_InternFromString("__array_interface__");
  // A buffer and an array interface say more: all dimensions, and whether they may be written.
  if (PyType_Check(obj.ptr()) || PyObject_CheckBuffer(obj.ptr()) != 0 ||
      _PyType_Lookup(Py_TYPE(obj.ptr()), interface_name) != nullptr) {
    return {};
  }
  // As in Python's own protocols, methods are those of the class.
  if (_PyType_Lookup(Py_TYPE(obj.ptr()), name) == nullptr) return {};
  nb::object method = nb::getattr(obj, nb::handle(name));
  // A class says by None that it does not have what its base has.
  return method.is_valid() && method.is_none() ? nb::object() : method;
}

nb::object offer_array(nb::handle obj) {
  static PyObject* const name = PyUnicode_InternFromString(array_method);
  return offer(obj, name);
}
nb::object offer_device_array(nb::handle obj) {
  static PyObject* const name = PyUnicode_InternFromString(device_array_method);
  return offer(obj, name);
}
nb::object offer_stream(nb::handle obj) {
  static PyObject* const name = PyUnicode_InternFromString(stream_method);
  return offer(obj, name);
}
nb::object offer_device_stream(nb::handle obj) {
  static PyObject* const name = PyUnicode_InternFromString(device_stream_method);
  return offer(obj, name);
}

std::optional<array> import_array_struct(nb::handle obj, nb::object method,
                                         const import_request& request) {
  return take_array<array_data>(obj, method, array_method, request);
}
std::optional<array> import_device_array(nb::handle obj, nb::object method,
                                         const import_request& request) {
  return take_array<device_array>(obj, method, device_array_method, request);
}
/// Some objects compute where they are asked for a stream.
std::optional<array> import_stream(nb::handle obj, nb::object method,
                                   const import_request& request) {
  if (!request.host && request.to_copy == nullptr) return {};
  return take_stream<arrow::stream>(obj, method, stream_method, request);
}
std::optional<array> import_device_stream(nb::handle obj, nb::object method,
                                          const import_request& request) {
  return take_stream<arrow::device_stream>(obj, method, device_stream_method, request);
}

constexpr const char* pair_doc =
    "Parameters\n----------\n"
    "requested_schema : capsule, optional\n    A type that the consumer would like; elements keep "
    "theirs.\n\n"
    "Returns\n-------\ntuple\n    Capsules of the type and of the elements.\n\n"
    "Raises\n------\nBufferError\n    Arrow cannot describe the array: complex numbers, records, "
    "elements that are not\n    contiguous";

void bind_arrow(nb::object type, array_access array_of) {
  def(
      type, "__arrow_c_schema__(self) -> CapsuleType"_sig,
      [array_of](nb::handle self) {
        const live_bytes held = array_of(self);
        return to_arrow_schema(*held);
      },
      "The element type and the inner lengths as an Arrow schema, in a capsule.");
  def(
      type,
      "__arrow_c_array__(self, requested_schema: CapsuleType | None = None) -> "
      "tuple[CapsuleType, CapsuleType]"_sig,
      [array_of](nb::handle self, nb::handle requested) {
        const live_bytes held = array_of(self);
        return to_arrow(*held, requested);
      },
      detail::format(
          "The elements as an Arrow array of the host, without a copy.\n\n{}, device memory.",
          pair_doc)
          .c_str());
  def(
      type,
      "__arrow_c_device_array__(self, requested_schema: CapsuleType | None = None, "
      "**kwargs: object) -> tuple[CapsuleType, CapsuleType]"_sig,
      [array_of](nb::handle self, nb::handle requested, const nb::kwargs& others) {
        const live_bytes held = array_of(self);
        return to_device_arrow(*held, requested, others);
      },
      detail::format("The elements as an Arrow array of their device, without a copy.\n\n{}.",
                     pair_doc)
          .c_str());
}

}  // namespace

extern const protocol arrow_device_protocol = {device_array_method, offer_device_array,
                                               import_device_array, bind_arrow};
extern const protocol arrow_protocol = {nullptr, offer_array, import_array_struct, nullptr};
extern const protocol arrow_device_stream_protocol = {nullptr, offer_device_stream,
                                                      import_device_stream, nullptr};
extern const protocol arrow_stream_protocol = {nullptr, offer_stream, import_stream, nullptr};

}  // namespace usmx::python
