// Arrays as something else: buffers, another dtype, another kind or place, NumPy's arrays, Python's
// numbers, bytes.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <numeric>
#include <vector>

#include "array/ndarray.hpp"
#include "compute/operate.hpp"
#include "core/numbers.hpp"
#include "memory/memory.hpp"
#include "protocols/protocols.hpp"
#include "support/attributes.hpp"
#include "support/containers.hpp"
#include "support/error_text.hpp"
#include "support/interrupts.hpp"
#include "support/signature.hpp"
#include "support/slot_errors.hpp"
#include "support/text.hpp"
#include "support/type_slots.hpp"
#include "usmx/copy.hpp"

namespace usmx::python {
namespace {

/// What a buffer points at in addition to the elements.
struct buffer_details {
  std::string format;
  std::vector<Py_ssize_t> shape;
  std::vector<Py_ssize_t> strides;
  // Keeps the elements where they are even if the object changes.
  array elements;
  host_access shown;
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
  if (v.dtype().is_bfloat16() && asks(PyBUF_FORMAT)) {
    return refuse(PyExc_BufferError,
                  "dtype: bfloat16 has no format in the buffer protocol; use to_numpy() for an "
                  "array of ml_dtypes, x.view('uint16') for the bits, or astype('float32')");
  }
  auto details = std::make_unique<buffer_details>();
  details->elements = a;
  {
    // The host is about to look: what was submitted before comes first. NumPy takes every error of
    // a buffer for a missing one, and what a handler of a signal raised would be lost.
    const detail::uninterrupted whole;
    details->shown = show_to_host(details->elements);
  }
  const auto itemsize = static_cast<Py_ssize_t>(v.dtype().itemsize());
  details->format = buffer_format(v.dtype());
  for (std::size_t k = 0; k < v.layout().shape().size(); ++k) {
    details->shape.push_back(v.layout().shape()[k]);
    details->strides.push_back(v.layout().strides()[k] * itemsize);
  }
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
    const nb::handle rows = key_of_rows(self, key);
    if (!is_ready<ndarray>(rows) && !holds_host_elements(rows)) {
      return part_of(self, key).release().ptr();
    }
    nb::object few = small_at(self, rows);
    if (!few.is_none()) return few.release().ptr();
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
  if (!is_ready<ndarray>(self)) return refuse_uninitialised(self);
  const extents& shape = nb::inst_ptr<ndarray>(self)->shape();
  if (shape.empty()) return refuse(PyExc_TypeError, "len() of a 0-d array");
  return static_cast<Py_ssize_t>(shape[0]);
}

PyObject* iterate(PyObject* self) noexcept {
  if (!is_ready<ndarray>(self)) {
    refuse_uninitialised(self);
    return nullptr;
  }
  if (nb::inst_ptr<ndarray>(self)->shape().empty()) {
    refuse(PyExc_TypeError, "iteration over a 0-d array");
    return nullptr;
  }
  return PySeqIter_New(self);
}

void append_format(std::string& out, const dtype& type) {
  const detail::number_row* const row = detail::number_row_of(type);
  if (row != nullptr && !row->format.empty()) {
    // In a record sizes are those of the standard.
    out += row->format == "l" ? "q" : row->format == "L" ? "Q" : row->format;
    return;
  }
  if (type.members() == nullptr) {
    out += detail::format("{}x", type.itemsize());
    return;
  }
  out += "T{";
  for (const field& f : *type.members()) {
    if (!f.shape.empty()) {
      out += '(';
      for (std::size_t k = 0; k < f.shape.size(); ++k)
        out += detail::format("{}{}", k == 0 ? "" : ",", f.shape[k]);
      out += ')';
    }
    if (f.name.empty()) {
      out += detail::format("{}x", f.type.itemsize());
      continue;
    }
    // Standard sizes without alignment: what the fields of a packed record are.
    if (f.type.description() == nullptr && !f.type.is_record()) out += '<';
    append_format(out, f.type);
    out += ":" + f.name + ":";
  }
  out += '}';
}

}  // namespace

std::string buffer_format(const dtype& type) {
  // Native sizes are understood by memoryview as well; 'l' is what NumPy calls int64.
  const detail::number_row* const row = detail::number_row_of(type);
  if (row != nullptr && !row->format.empty()) return std::string(row->format);
  std::string out;
  append_format(out, type);
  return out;
}

int traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? traverse_lender(nb::inst_ptr<ndarray>(self)->known(), visit, arg)
                              : 0;
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

namespace {

nb::object numpy_or_error(const char* what) {
  nb::object np = numpy();
  if (!np.is_valid()) {
    throw nb::import_error(
        detail::format("{} needs NumPy; install it with: pip install numpy", what).c_str());
  }
  return np;
}

nb::object to_numpy(nb::handle self) {
  const array& a = value_of(self);
  if (waits_before_copying()) wait_for_work(a);
  const nb::object np = numpy_or_error("to_numpy()");
  const dtype& type = a.elements().dtype();
  const nb::object wanted = type.is_bfloat16() ? to_numpy_dtype(type) : dtype_object(type);
  nb::object out = np.attr("empty")(self.attr("shape"), wanted);
  const std::optional<host_buffer> target = host_buffer::borrow(out, true);
  const gil_released released;
  copy_to_host(target->elements(), a);
  return out;
}

/// `np.r_` and `np.c_` make arrays of NumPy of all that they join, and ask no other library.
bool asked_by_numpys_r() {
  PyFrameObject* const frame = PyEval_GetFrame();
  if (frame == nullptr) return false;
  const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  const nb::object file = attribute_or_none(code, "co_filename");
  return nb::isinstance<nb::str>(file) && shown(file).find("index_tricks") != std::string::npos;
}

/// Of device memory only what is a number, as `float(x)` is copied; NumPy would otherwise make an
/// array of one Python object.
nb::object to_numpy_protocol(nb::handle self, nb::handle type, nb::handle copy_if) {
  const bool is_device = value_of(self).kind() == usm_kind::device;
  const bool may_copy = copy_if.is_none() || is_true(copy_if);
  if (is_device && !(may_copy && value_of(self).elements().rank() == 0)) {
    if (asked_by_numpys_r()) {
      throw nb::type_error(
          "the host cannot access device memory, and np.r_ and np.c_ join on the host; usmx.r_ and "
          "usmx.c_ join where arrays are");
    }
    throw nb::type_error(
        "the host cannot access device memory; copy it with to_numpy(), or make the array with "
        "usm_type='shared'");
  }
  const nb::object np = numpy_or_error("__array__");
  nb::object view;
  if (is_device) {
    view = to_numpy(self);
    // What is written to a copy would not reach the device.
    if (copy_if.is_none()) view.attr("setflags")(nb::arg("write") = false);
  } else if (const dtype& own = value_of(self).elements().dtype(); own.is_bfloat16()) {
    const nb::object numpys = to_numpy_dtype(own);
    const nb::object bits = self.attr("view")("uint16");
    view = np.attr("asarray")(nb::steal(PyMemoryView_FromObject(bits.ptr()))).attr("view")(numpys);
  } else {
    view = np.attr("asarray")(nb::steal(PyMemoryView_FromObject(self.ptr())));
  }
  nb::object wanted = type.is_none() ? nb::object(view.attr("dtype")) : nb::borrow(type);
  const bool always = is_true(copy_if) && !is_device;
  const bool same = nb::cast<bool>(nb::bool_(view.attr("dtype").equal(np.attr("dtype")(wanted))));
  if (!same && !copy_if.is_none() && !always)
    throw nb::value_error("copy: another dtype needs a copy, but copy=False");
  return same && !always ? view : view.attr("astype")(wanted);
}

nb::object array_interface(nb::handle self) {
  const array& a = value_of(self);
  const any_view& v = a.elements();
  if (a.kind() == usm_kind::device) {
    throw nb::attribute_error(
        "device memory has no __array_interface__, the host cannot access it; copy it with "
        "to_numpy()");
  }
  if (v.dtype().is_bfloat16()) {
    throw nb::attribute_error(
        "bfloat16 has no __array_interface__, because it has no type string; use to_numpy() for an "
        "array of ml_dtypes, or astype('float32')");
  }
  expose_to_host(a);
  nb::dict d = new_dict();
  d["shape"] = self.attr("shape");
  d["typestr"] = v.dtype().typestr().c_str();
  if (v.dtype().members() != nullptr) d["descr"] = write_typedescr(*v.dtype().members());
  d["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(v.data()), v.read_only());
  nb::list strides = new_list();
  for (const std::int64_t s : v.layout().strides())
    strides.append(s * static_cast<std::int64_t>(v.dtype().itemsize()));
  d["strides"] = nb::tuple(strides);
  d["version"] = 3;
  return d;
}

/// The one element of an array, in host memory; `what` begins the error for arrays of another size.
nb::object only_element(const array& a, const char* what) {
  const any_view& v = a.elements();
  if (v.size() != 1) {
    throw type_error("{} an array of size 1; this has shape {}", what,
                     detail::shape_text(v.layout().shape()));
  }
  return from_element(bytes_in(to_bytes(a)), v.dtype());
}

nb::object item(nb::handle self, const nb::args& index) {
  const array& a = value_of(self);
  if (index.size() == 0) {
    // A wrong length is a wrong value here, and a wrong type in float(x): as in NumPy.
    if (a.elements().size() != 1) {
      throw value_error("item() without an index takes an array of size 1; this has shape {}",
                        detail::shape_text(a.elements().layout().shape()));
    }
    return only_element(a, "item() takes");
  }
  nb::object key = nb::borrow<nb::tuple>(index);
  if (index.size() == 1 && PyTuple_Check(nb::handle(index[0]).ptr())) key = nb::object(index[0]);
  if (nb::len(key) == 1 && a.elements().rank() != 1) {
    nb::object flat = reshape(self, nb::int_(-1), 'C', nb::none());
    return only_element(value_of(flat).with_view(indexed(value_of(flat).elements(), key)),
                        "item() takes");
  }
  return only_element(a.with_view(indexed(a.elements(), key)), "item() takes");
}

/// What Python's number does that a 0-d array is; `what` begins the error for other arrays.
nb::object as_number(nb::handle self, const char* method, const char* what, nb::handle digits) {
  const array& a = value_of(self);
  if (a.elements().rank() != 0) {
    throw type_error(
        "{} a 0-d array; this has shape {}; usmx.round, floor, ceil and trunc take all", what,
        detail::shape_text(a.elements().layout().shape()));
  }
  const nb::object call = only_element(a, what).attr(method);
  return digits.is_none() ? call() : call(digits);
}

nb::object formatted(nb::handle self, const nb::str& form) {
  if (nb::len(form) == 0) return nb::str(self);
  const array& a = value_of(self);
  if (a.elements().rank() != 0) {
    throw type_error("format: '{}' is for a 0-d array; this has shape {}", to_text(form, "format"),
                     detail::shape_text(a.elements().layout().shape()));
  }
  return nb::steal(PyObject_Format(only_element(a, "format() takes").ptr(), form.ptr()));
}

nb::object nested(const std::byte*& at, const dtype& type, const extents& shape, std::size_t axis) {
  if (axis == shape.size()) {
    nb::object element = from_element(at, type);
    at += type.itemsize();
    return element;
  }
  nb::list out = new_list();
  for (std::int64_t k = 0; k < shape[axis]; ++k) out.append(nested(at, type, shape, axis + 1));
  return out;
}

nb::object to_list(const array& a) {
  const nb::object bytes = to_bytes(a);
  const std::byte* at = bytes_in(bytes);
  return nested(at, a.elements().dtype(), a.elements().layout().shape(), 0);
}

/// Whether the elements lie in that order, of which `A` is C or Fortran.
bool lies_in(const array& a, char order) {
  const layout& l = a.elements().layout();
  return (order != 'F' && l.is_c_contiguous()) || (order != 'C' && l.is_f_contiguous());
}

nb::object as_type(nb::handle self, nb::handle type, nb::handle order, nb::handle casting,
                   nb::handle, bool always_copy) {
  const ndarray& holder = self_of<ndarray>(self);
  const dtype wanted = to_dtype(type);
  if (!PyUnicode_Check(casting.ptr()) ||
      PyUnicode_CompareWithASCIIString(casting.ptr(), "unsafe") != 0) {
    nb::module_::import_("usmx._namespace._outputs")
        .attr("check_cast")(self.attr("dtype"), nb::cast(wanted), casting, "dtype");
  }
  const char kept = to_order(order);
  if (!always_copy && wanted == holder.dtype() && (kept == 'K' || lies_in(value_of(self), kept))) {
    return nb::borrow(self);
  }
  // What is computed later has the order of its operands.
  const bool is_in_order = !holder.later() && holder.known().elements().layout().is_c_contiguous();
  if (is_in_order ? kept != 'F' : holder.later() && kept == 'K') {
    nb::object few = wanted == holder.dtype() ? small_copy(self) : small_cast(self, wanted);
    if (!few.is_none()) return few;
    if (auto later = cast_later(self, wanted)) return wrap_deferred(*std::move(later));
  }
  const array& a = value_of(self);
  return wrap_array(placed(a, a.queue(), wanted, kind_or_default(a), true, kept));
}

nb::object copied_array(nb::handle self, nb::handle order, nb::handle usm_type, nb::handle device,
                        nb::handle queue) {
  const array& a = value_of(self);
  const char kept = to_order(order);
  const bool is_plain = usm_type.is_none() && device.is_none() && queue.is_none();
  // The host's copies of a few elements are in C order.
  const bool is_row = a.elements().rank() < 2;
  if (is_plain &&
      (kept == 'C' || is_row || (kept != 'F' && a.elements().layout().is_c_contiguous()))) {
    if (nb::object few = small_copy(self); !few.is_none()) return few;
  }
  const sycl::queue place =
      queue.is_none() && device.is_none() ? a.queue() : to_place(queue, device);
  const usm_kind kind = to_kind(usm_type, a);
  return wrap_array(placed(a, place, a.elements().dtype(), kind, true, kept));
}

struct copy_call {
  static auto signature() {
    return "copy(self, order: OrderLike = 'C', *, usm_type: UsmKind | None = None, "
           "device: DeviceLike = None, queue: QueueLike = None) -> ndarray"_sig;
  }
  static constexpr auto run = copied_array;
};

nb::object to_device_place(nb::handle self, nb::handle place, nb::handle stream) {
  static_cast<void>(value_of(self));
  if (!stream.is_none()) {
    const sycl::queue queue = to_place(stream, nb::none());
    if (queue.get_device() != to_place(nb::none(), place).get_device()) {
      throw nb::value_error("stream: its device is not the one given; pass a queue of that device");
    }
    return as_array(self, nb::none(), nb::none(), nb::none(), stream, nb::none());
  }
  return as_array(self, nb::none(), nb::none(), place, nb::none(), nb::none());
}

/// The class of dpnp's arrays if some part of dpnp is loaded.
nb::object dpnp_class() {
  for (const char* name : {"dpnp.tensor", "dpctl.tensor"}) {
    const nb::object module = nb::steal(PyImport_GetModule(new_text(name).ptr()));
    if (module.is_valid() && has_attribute(module, "usm_ndarray"))
      return module.attr("usm_ndarray");
  }
  return {};
}

/// dpnp's way in. Its reader of the dictionary refuses negative strides, its constructor takes
/// them. The result is kept: dpnp.asarray copies unless `sycl_queue` of this object and of that one
/// are the same Python object, and each memory of dpctl makes its own.
nb::object as_dpnp(nb::handle self) {
  ndarray& holder = self_of<ndarray>(self);
  const nb::object type = dpnp_class();
  if (!type.is_valid()) throw nb::attribute_error("__usm_ndarray__: dpnp is not loaded");
  if (holder.dtype().is_record()) {
    throw nb::attribute_error("__usm_ndarray__: dpnp has no records");
  }
  const array& a = holder.value();
  const any_view& v = a.elements();
  if (holder.dpnp_view.is_valid()) {
    // Every access hands the memory over once more.
    wait_for_own_work(a);
    expose_to_others(a);
    return holder.dpnp_view;
  }
  const nb::object memory =
      nb::module_::import_("dpctl.memory").attr("as_usm_memory")(wrap_memory(byte_span(a)));
  const auto distance = static_cast<std::byte*>(v.data()) - v.first_byte();
  nb::object out =
      type(self.attr("shape"), nb::arg("dtype") = dtype_object(v.dtype()),
           nb::arg("buffer") = memory, nb::arg("strides") = self.attr("strides"),
           nb::arg("offset") = distance / static_cast<std::ptrdiff_t>(v.dtype().itemsize()));
  if (v.read_only()) out.attr("flags").attr("writable") = false;
  holder.dpnp_view = out;
  return out;
}

}  // namespace

nb::object to_bytes(const array& a) {
  const any_view& v = a.elements();
  nb::object out =
      nb::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(v.nbytes())));
  if (!out.is_valid()) {
    PyErr_Clear();  // its own error has no text
    throw std::bad_alloc();
  }
  char* const text = PyBytes_AS_STRING(out.ptr());
  // Python promises no alignment for the text of a bytes object; it is nearly always there.
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(text) % v.dtype().alignment() == 0;
  const std::unique_ptr<std::byte[]> aside(is_aligned ? nullptr : new std::byte[v.nbytes() + 16]);
  layout where;
  check(layout::c_order(v.layout().shape(), v.dtype().itemsize(), where));
  void* const landing = is_aligned ? static_cast<void*>(text) : aside.get();
  const any_view target =
      checked_view(landing, v.dtype(), std::move(where), usm_kind::unknown, false);
  if (waits_before_copying()) wait_for_work(a);
  {
    const gil_released released;
    copy_to_host(target, a);
  }
  if (!is_aligned) std::memcpy(text, aside.get(), v.nbytes());
  return out;
}

nb::object queue_for_dpnp(nb::handle self) {
  const any_view& v = value_of(self).elements();
  if (v.size() == 0 || v.dtype().is_record() || !dpnp_class().is_valid()) return {};
  return as_dpnp(self).attr("sycl_queue");
}

void bind_conversions(nb::class_<ndarray>& c, nb::module_& m) {
  const auto none = nb::none();
  c.def("to_numpy(self) -> NumpyArray"_sig, to_numpy,
        "A copy of the elements as a NumPy array, in C order.\n\n"
        "Returns\n-------\n"
        "numpy.ndarray\n    Of the same type; bfloat16 is that of ml_dtypes.\n\n"
        "Raises\n------\nImportError\n    NumPy is not installed.");
  c.def(
      "to_host(self) -> ndarray"_sig,
      [](nb::handle self) {
        static_cast<void>(value_of(self));
        return as_array(self, nb::none(), new_text("host"), nb::none(), nb::none(), nb::none());
      },
      "The elements in host USM, which NumPy sees in place.\n\n"
      "Returns\n-------\n"
      "ndarray\n    The array itself if its elements are there.");
  c.def(
      "to_device(self, device: DeviceLike, *, stream: Any = None) -> ndarray"_sig, to_device_place,
      "The elements on another device or queue; copied unless device and context stay the same.\n\n"
      "Parameters\n----------\n"
      "device : str, Device, Queue, dpctl.SyclQueue or capsule\n    Where to.\n"
      "stream : Queue, dpctl.SyclQueue or capsule, optional\n    The queue of `device` on which "
      "the "
      "result is; None is `device` if that is a queue, and\n    its default queue if not.\n\n"
      "Returns\n-------\n"
      "ndarray\n    Of the same kind of memory; the array itself if nothing changes.\n\n"
      "Raises\n------\nValueError\n    `stream` is a queue of another device.");
  c.def(
      "astype(self, dtype: DTypeLike, order: OrderLike = 'K', casting: str = 'unsafe', "
      "subok: bool = True, copy: bool = True) -> ndarray"_sig,
      as_type,
      "A copy with another element type.\n\n"
      "Parameters\n----------\n"
      "dtype : dtype\n    The element type.\n"
      "order : {'K', 'C', 'F', 'A'}\n    The order of the elements in memory.\n"
      "casting : {'unsafe', 'no', 'equiv', 'safe', 'same_kind'}\n    What may be cast.\n"
      "subok : bool\n    As NumPy's; it changes nothing.\n"
      "copy : bool\n    False gives the array itself if the type is the same.\n\n"
      "Returns\n-------\n"
      "ndarray\n    Of the same shape; floats become integers by cutting off their decimals.\n\n"
      "Raises\n------\nTypeError\n    `casting` does not allow it.");
  quick_call<copy_call>::def(
      c,
      "A copy of the elements.\n\n"
      "Parameters\n----------\n"
      "order : {'C', 'F', 'A', 'K'}\n    Their order in memory: rows first, columns first, 'F' "
      "if the\n    array is in Fortran order, or as they are.\n"
      "usm_type : {'device', 'shared', 'host'}, optional\n    The kind of memory; that of the "
      "array by default.\n"
      "device : str, Device or Queue, optional\n    Where the copy lives; its cached queue is "
      "taken.\n"
      "queue : Queue, str, dpctl.SyclQueue or capsule, optional\n    The queue of the copy; that "
      "of the array by default.\n\n"
      "Returns\n-------\nndarray\n    In memory of its own.");
  c.def("__copy__(self) -> ndarray"_sig,
        [none](nb::handle self) { return copied_array(self, new_text("K"), none, none, none); });
  c.def("__deepcopy__(self, memo: object) -> ndarray"_sig, [none](nb::handle self, nb::handle) {
    return copied_array(self, new_text("K"), none, none, none);
  });
  c.def("item(self, *index: SupportsIndex | tuple[SupportsIndex, ...]) -> Any"_sig, item,
        "One element as a number of Python.\n\n"
        "Parameters\n----------\n"
        "*index : int or tuple of int\n    An index for each axis, or one that counts in C order; "
        "none if there is only one element.\n\n"
        "Returns\n-------\n"
        "bool, int, float or complex\n    The host waits for it.\n\n"
        "Raises\n------\n"
        "ValueError\n    No index, and an array of another size than 1.\n"
        "IndexError\n    There is no such element.");
  c.def(
      "tolist(self) -> Any"_sig, [](nb::handle self) { return to_list(value_of(self)); },
      "The elements as numbers of Python.\n\n"
      "Returns\n-------\n"
      "list or number\n    A list for each axis; a number of an array without dimensions.");
  c.def(
      "tobytes(self, order: OrderLike | None = 'C') -> bytes"_sig,
      [](nb::handle self, nb::handle order) {
        const array& a = value_of(self);
        const char wanted = order.is_none() ? 'C' : to_order(order);
        if (order_of(wanted, a.elements().layout()) != 'F') return to_bytes(a);
        std::vector<int> reversed(static_cast<std::size_t>(a.elements().rank()));
        std::iota(reversed.rbegin(), reversed.rend(), 0);
        const any_view& v = a.elements();
        return to_bytes(a.with_view(v.with_layout(v.layout().permuted(reversed), 0)));
      },
      "The bytes of the elements.\n\n"
      "Parameters\n----------\n"
      "order : {'C', 'F', 'A', 'K'}\n    Rows first, or columns first; 'A' is 'F' only for "
      "arrays that are in that order, and 'K' is 'C'.\n\n"
      "Returns\n-------\nbytes");
  c.def("__bool__", [](nb::handle self) {
    if (value_of(self).elements().size() != 1) {
      throw nb::value_error("the truth value of an array is ambiguous unless it has one element");
    }
    const nb::object only = only_element(value_of(self), "bool() takes");
    const int truth = PyObject_IsTrue(only.ptr());
    if (truth < 0) nb::raise_python_error();
    return truth != 0;
  });
  c.def("__int__(self) -> int"_sig, [](nb::handle self) {
    return nb::steal(PyNumber_Long(only_element(value_of(self), "int() takes").ptr()));
  });
  c.def("__float__(self) -> float"_sig, [](nb::handle self) {
    return nb::steal(PyNumber_Float(only_element(value_of(self), "float() takes").ptr()));
  });
  c.def("__complex__(self) -> complex"_sig, [](nb::handle self) {
    return nb::handle(reinterpret_cast<PyObject*>(&PyComplex_Type))(
        only_element(value_of(self), "complex() takes"));
  });
  c.def("__index__(self) -> int"_sig, [](nb::handle self) {
    const any_view& v = value_of(self).elements();
    const type_class t = v.dtype().kind();
    if (v.rank() != 0 || (t != type_class::integer && t != type_class::unsigned_integer)) {
      throw nb::type_error("only 0-d arrays of integers can be converted to an index");
    }
    return only_element(value_of(self), "an index is");
  });
  c.def("__format__(self, format_spec: str, /) -> str"_sig, formatted);
  c.def("__round__(self, ndigits: int | None = None) -> Any"_sig,
        [](nb::handle self, nb::handle digits) {
          return as_number(self, "__round__", "round() takes", digits);
        });
  c.def("__floor__(self) -> int"_sig, [none](nb::handle self) {
    return as_number(self, "__floor__", "math.floor() takes", none);
  });
  c.def("__ceil__(self) -> int"_sig,
        [none](nb::handle self) { return as_number(self, "__ceil__", "math.ceil() takes", none); });
  c.def("__trunc__(self) -> int"_sig, [none](nb::handle self) {
    return as_number(self, "__trunc__", "math.trunc() takes", none);
  });
  c.def("__array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> NumpyArray"_sig,
        to_numpy_protocol);
  c.def_prop_ro("__array_interface__", array_interface,
                nb::sig("def __array_interface__(self) -> dict[str, Any]"));
  c.def_prop_ro("__usm_ndarray__", as_dpnp, nb::sig("def __usm_ndarray__(self) -> Any"));
  bind_pickles(c, m);
}

}  // namespace usmx::python
