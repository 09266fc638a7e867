// New arrays: of elements of the host, of any object (asarray), and by the creation functions under
// NumPy's names.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <optional>

#include "array/ndarray.hpp"
#include "compute/on_host.hpp"
#include "kernel/kernel_state.hpp"
#include "memory/memory.hpp"
#include "protocols/protocols.hpp"
#include "support/attributes.hpp"
#include "support/error_text.hpp"
#include "support/examples.hpp"
#include "support/signature.hpp"
#include "support/slot_errors.hpp"
#include "support/text.hpp"
#include "support/type_slots.hpp"
#include "usmx/copy.hpp"
#include "usmx/default_kind.hpp"

namespace usmx::python {
namespace {

bool is_nest(nb::handle obj) noexcept {
  return PyList_CheckExact(obj.ptr()) || PyTuple_CheckExact(obj.ptr());
}

nb::handle item_of(nb::handle nest, Py_ssize_t k) noexcept {
  return PySequence_Fast_ITEMS(nest.ptr())[k];
}

/// What a nest of lists holds: its shape and the widest kind of number.
class nest_survey {
 public:
  /// False if there is something in it that only NumPy may know.
  bool visit(nb::handle obj) {
    for (nb::handle at = obj; is_nest(at);) {
      if (lengths_.size() == max_rank) return false;
      const Py_ssize_t n = PySequence_Fast_GET_SIZE(at.ptr());
      lengths_.push_back(n);
      if (n == 0) break;
      at = item_of(at, 0);
    }
    return look(obj, 0);
  }
  extents shape() const { return extents(std::span<const std::int64_t>(lengths_)); }
  dtype type() const {
    switch (widest_) {
      case 0:
        return dtype::of<bool>();
      case 1:
        return needs_unsigned_ ? dtype::of<std::uint64_t>() : dtype::of<std::int64_t>();
      case 3:
        return dtype::of<std::complex<double>>();
      default:
        return dtype::of<double>();  // also of an empty list
    }
  }

 private:
  bool look(nb::handle obj, std::size_t depth) {
    if (depth < lengths_.size()) {
      if (!is_nest(obj) || PySequence_Fast_GET_SIZE(obj.ptr()) != lengths_[depth])
        ragged(obj, depth);
      for (Py_ssize_t k = 0; k < lengths_[depth]; ++k) {
        if (!look(item_of(obj, k), depth + 1)) return false;
      }
      return true;
    }
    if (is_nest(obj)) ragged(obj, depth);
    if (!is_python_number(obj)) return false;
    const int rank = PyBool_Check(obj.ptr())    ? 0
                     : PyLong_Check(obj.ptr())  ? 1
                     : PyFloat_Check(obj.ptr()) ? 2
                                                : 3;
    widest_ = std::max(widest_, rank);
    if (rank == 1 && natural_dtype(obj).kind() == type_class::unsigned_integer)
      needs_unsigned_ = true;
    return true;
  }
  [[noreturn]] void ragged(nb::handle, std::size_t depth) {
    throw value_error(
        "the nested sequences differ in length or depth at level {}; all must have the same length",
        depth);
  }

  std::vector<std::int64_t> lengths_;
  int widest_ = -1;
  bool needs_unsigned_ = false;
};

void write_nest(nb::handle obj, std::size_t depth, std::size_t rank, const dtype& type,
                std::byte*& out) {
  if (depth == rank) {
    to_element(obj, type, out);
    out += type.itemsize();
    return;
  }
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(obj.ptr());
  for (Py_ssize_t k = 0; k < n; ++k) write_nest(item_of(obj, k), depth + 1, rank, type, out);
}

/// What to do with elements of a kind that no dtype of ours describes; null for other kinds.
const char* advice_for(char kind) {
  switch (kind) {
    case 'M':
    case 'm':
      return "dates and times are not supported; pass x.view('int64'), and see the result with "
             ".view(dtype) in NumPy";
    case 'U':
    case 'S':
    case 'T':
      return "text is not supported; only numbers, booleans and records of them are";
    case 'O':
      return "Python objects are not supported; convert to numbers first, for example with "
             "astype('float64')";
    default:
      return nullptr;
  }
}

/// Raises what helps if `obj` has elements that no dtype describes; otherwise returns.
void refuse_elements_of(nb::handle obj, nb::handle given) {
  const nb::object type = attribute_or_none(obj, "dtype");
  const nb::object kind = attribute_or_none(type, "kind");
  if (!nb::isinstance<nb::str>(kind)) return;
  const char* const advice = advice_for(to_text(kind, "dtype.kind")[0]);
  if (advice == nullptr) return;
  const std::string name = shown(nb::type_name(given.type()));
  throw type_error("obj: {} of dtype {}; {}", name, shown(nb::str(type)), advice);
}

/// The elements of a buffer. A producer that cannot describe them raises what it likes.
std::optional<host_buffer> borrowed(nb::handle obj, nb::handle given) {
  try {
    return host_buffer::borrow(obj);
  } catch (nb::python_error&) {
    refuse_elements_of(obj, given);
    throw;
  } catch (const nb::builtin_exception&) {
    refuse_elements_of(obj, given);
    throw;
  }
}

/// What NumPy makes of an object; it must not end as an array of Python objects.
/// NumPy does not look whether what an `__array_interface__` describes lies in the buffer that it
/// names as its data; the array has that as its base.
void check_inside_base(nb::handle made) {
  const nb::object base = made.attr("base");
  Py_buffer whole;
  if (PyObject_CheckBuffer(base.ptr()) == 0) return;
  if (PyObject_GetBuffer(base.ptr(), &whole, PyBUF_SIMPLE) != 0) return PyErr_Clear();
  const auto first = reinterpret_cast<std::uintptr_t>(whole.buf);
  const auto bytes = static_cast<std::size_t>(whole.len);
  PyBuffer_Release(&whole);  // `base` keeps the memory
  const nb::tuple bounds(nb::module_::import_("numpy.lib.array_utils").attr("byte_bounds")(made));
  if (nb::cast<std::size_t>(made.attr("size")) == 0 ||
      (nb::cast<std::uintptr_t>(bounds[0]) >= first &&
       nb::cast<std::uintptr_t>(bounds[1]) <= first + bytes)) {
    return;
  }
  const nb::object shape = made.attr("shape");
  throw interop_error(fault::out_of_allocation,
                      detail::format("data: the elements of shape {} do not lie inside the {} "
                                     "bytes of the buffer",
                                     shown(nb::str(nb::handle(shape))), bytes));
}

nb::object through_numpy(nb::handle obj, const dtype* wanted) {
  const nb::object np = numpy();
  if (!np.is_valid()) {
    wrong_type(
        "obj", obj,
        "USM, a buffer, a number or nested lists of numbers (more is understood with NumPy)");
  }
  // Only lists need the type: arrays are cast on the way into USM.
  const nb::object type = wanted != nullptr && !wanted->is_bfloat16() &&
                                  PySequence_Check(obj.ptr()) && !has_attribute(obj, "dtype")
                              ? dtype_object(*wanted)
                              : nb::none();
  nb::object made = np.attr("asarray")(obj, type);
  check_inside_base(made);
  // An object that is not a sequence becomes one element: itself.
  if (nb::cast<std::size_t>(made.attr("ndim")) > 0 || nb::isinstance<nb::str>(obj))
    refuse_elements_of(made, obj);
  if (nb::cast<bool>(nb::bool_(made.attr("dtype").attr("hasobject")))) {
    wrong_type("obj", obj, "USM, a buffer, a number or nested sequences of numbers");
  }
  return made;
}

}  // namespace

host_elements host_elements::of(nb::handle obj, const dtype* wanted) {
  host_elements out;
  const bool is_number = is_python_number(obj);
  nest_survey survey;
  if (is_number ||
      (is_nest(obj) && (wanted == nullptr || !wanted->is_record()) && survey.visit(obj))) {
    const extents shape = is_number ? extents() : survey.shape();
    const dtype type = wanted != nullptr ? *wanted : is_number ? natural_dtype(obj) : survey.type();
    layout where;
    check(layout::c_order(shape, type.itemsize(), where), shape);
    const std::size_t bytes = static_cast<std::size_t>(where.size()) * type.itemsize();
    out.bytes_.reset(new std::byte[std::max<std::size_t>(bytes, 16)]);
    std::byte* at = out.bytes_.get();
    write_nest(obj, 0, shape.size(), type, at);
    out.view_ = checked_view(out.bytes_.get(), type, std::move(where), usm_kind::unknown, true);
    return out;
  }
  if (!is_nest(obj) && PyObject_CheckBuffer(obj.ptr())) {
    if (auto buffer = borrowed(obj, obj)) {
      out.buffer_.emplace(std::move(*buffer));
      return out;
    }
  }
  if (!is_nest(obj)) {
    std::optional<array> by_protocol;
    static_cast<void>(import_array(obj, {.to_copy = &by_protocol}));
    if (by_protocol) {
      out.view_ = by_protocol->elements();
      out.owner_ = by_protocol->keep_alive();
      return out;
    }
  }
  const nb::object made = through_numpy(obj, wanted);
  auto buffer = borrowed(made, obj);
  if (!buffer) wrong_type("obj", obj, "USM, a buffer, a number or nested sequences of numbers");
  out.buffer_.emplace(std::move(*buffer));
  return out;
}

namespace {

constexpr const char* place_doc =
    "usm_type : {'device', 'shared', 'host'}, optional\n    The kind of memory; None is that of "
    "`default_usm_type`, or of the array given.\n"
    "device : str, Device or Queue, optional\n    Where the array lives; its cached queue is "
    "taken.\n"
    "queue : Queue, str, dpctl.SyclQueue or capsule, optional\n    The queue on which the array is "
    "computed.\n";

/// How a function that takes a place is called, for type checkers and help().
/// The call of a function that makes an array: where that is comes last among the arguments.
template <signature_text Begin, signature_text End = "">
auto placed_call() {
  return made_signature<Begin +
                        ", usm_type: UsmKind | None = None, device: DeviceLike = None, "
                        "queue: QueueLike = None" +
                        End + ") -> ndarray">();
}

template <signature_text Name>
auto shaped_call() {
  return placed_call<Name + "(shape: ShapeLike, dtype: DTypeLike = None, order: Order = 'C', *">();
}

/// NumPy's names: `subok` changes nothing, as there are no classes derived from arrays.
template <signature_text Begin>
auto like_call() {
  return placed_call<Begin +
                     ", dtype: DTypeLike = None, order: OrderLike = 'K', subok: bool = True, "
                     "shape: ShapeLike | None = None, *">();
}

std::string with_places(const char* text, const char* raises = "") {
  return detail::format(
      "{}{}\nReturns\n-------\nndarray\n\nRaises\n------\n{}AllocationError\n    There is not "
      "enough memory.\nDeviceError\n    No device fits, or it lacks this kind of memory.",
      text, place_doc, raises);
}

/// double, or float on a device that computes with nothing wider.
dtype default_floating(const sycl::queue& queue) {
  return queue.get_device().has(sycl::aspect::fp64) ? dtype::of<double>() : dtype::of<float>();
}

layout layout_of(const extents& shape, std::size_t itemsize, char order) {
  layout out;
  const fault code =
      order == 'F' ? layout::f_order(shape, itemsize, out) : layout::c_order(shape, itemsize, out);
  check(code, shape);
  return out;
}

void fill_with(const array& a, const std::byte* element) {
  const gil_released released;
  fill(a, element);
}

void fill_with(const array& a, nb::handle number) {
  fill_with(a, element_of(number, a.elements().dtype()).get());
}

void fill_zero(const array& a) {
  const auto zero = std::make_unique<std::byte[]>(a.elements().dtype().itemsize());
  fill_with(a, zero.get());
}

/// What all functions do that take a shape: the elements, their queue and their owner, for
/// `finish`.
template <class Finish>
auto make(nb::handle shape, nb::handle type, nb::handle order, nb::handle usm_type,
          nb::handle device, nb::handle queue, Finish finish) {
  const Py_ssize_t length = plain_count(shape.ptr());
  const extents lengths = length < 0 ? to_shape(shape) : extents{length};
  const char layout_order = to_order(order, "CF");
  std::optional<sycl::queue> named;
  const sycl::queue* place = device.is_none() ? plain_queue(queue.ptr()) : nullptr;
  if (place == nullptr) place = &named.emplace(to_place(queue, device));
  const usm_kind kind = to_kind(usm_type, *place);
  const dtype t = type.is_none() ? default_floating(*place) : to_dtype(type);

  any_view elements;
  shared_owner owner;
  std::int64_t bytes = 0;
  if (length >= 0 &&
      !__builtin_mul_overflow(length, static_cast<std::int64_t>(t.itemsize()), &bytes)) {
    owner = allocate_bytes(*place, kind, static_cast<std::size_t>(bytes));
    const fault code = any_view::row(owner->base(), t, length, kind, elements);
    if (code != fault::none) check(code);
  } else {
    layout where = layout_of(lengths, t.itemsize(), layout_order);
    owner = allocate_bytes(*place, kind, static_cast<std::size_t>(where.size()) * t.itemsize());
    check(any_view::make(owner->base(), t, std::move(where), kind, false, elements));
  }
  return finish(std::move(elements), *place, std::move(owner));
}

array make(nb::handle shape, nb::handle type, nb::handle order, nb::handle usm_type,
           nb::handle device, nb::handle queue) {
  return make(shape, type, order, usm_type, device, queue, array::over);
}

struct empty_call {
  static auto signature() { return shaped_call<"empty">(); }
  static nb::object run(nb::handle shape, nb::handle type, nb::handle order, nb::handle usm_type,
                        nb::handle device, nb::handle queue) {
    return make(shape, type, order, usm_type, device, queue, wrap_allocated);
  }
};

/// Whether the elements lie as `order` says, "C" or "F"; "K" takes any.
bool lies_in_order(const layout& where, char order) noexcept {
  const char one = order_of(order, where);
  return one == 'C' ? where.is_c_contiguous() : one != 'F' || where.is_f_contiguous();
}

/// What the functions named `..._like` do; `x` may be of any library.
array make_like(nb::handle x, nb::handle type, nb::handle order, nb::handle shape,
                nb::handle usm_type, nb::handle device, nb::handle queue) {
  const std::optional<array> like = import_array(x);
  const char wanted = to_order(order);
  // In another shape the order is kept if that has as many axes.
  const auto where = [&](const layout& source, const dtype& t) {
    if (shape.is_none()) return ordered_layout(source, t.itemsize(), wanted);
    const extents lengths = to_shape(shape);
    const bool in_fortran_order =
        wanted == 'F' || (wanted != 'C' && lengths.size() == source.shape().size() &&
                          lies_in_order(source, 'F') && !lies_in_order(source, 'C'));
    return layout_of(lengths, t.itemsize(), in_fortran_order ? 'F' : 'C');
  };
  if (!like) {
    // Host elements give shape and type only.
    const host_elements source = host_elements::of(x);
    const dtype t = type.is_none() ? source.view().dtype() : to_dtype(type);
    const sycl::queue place = to_place(queue, device);
    return allocate_array(place, where(source.view().layout(), t), t, to_kind(usm_type, place));
  }
  const sycl::queue place =
      queue.is_none() && device.is_none() ? like->queue() : to_place(queue, device);
  const dtype t = type.is_none() ? like->elements().dtype() : to_dtype(type);
  return allocate_array(place, where(like->elements().layout(), t), t, to_kind(usm_type, *like));
}

bool names_a_device(nb::handle device) noexcept {
  return PyUnicode_Check(device.ptr()) || nb::isinstance<sycl::device>(device);
}

/// The place asked for, for something that is somewhere already: a device by name that it is on
/// leaves it on its queue.
sycl::queue place_for(const array& a, nb::handle device, nb::handle queue) {
  if (queue.is_none() && device.is_none()) return a.queue();
  if (queue.is_none() && names_a_device(device) &&
      to_device(device, "device") == a.queue().get_device()) {
    return a.queue();
  }
  return to_place(queue, device);
}

bool within_reach(const array& a, const sycl::queue& queue) {
  return a.queue() == queue || (a.queue().get_context() == queue.get_context() &&
                                a.queue().get_device() == queue.get_device());
}

array copied_from_host(const any_view& source, const dtype* wanted, nb::handle usm_type,
                       nb::handle device, nb::handle queue) {
  const dtype t = wanted != nullptr ? *wanted : source.dtype();
  const sycl::queue place = to_place(queue, device);
  array out = allocate_array(place, ordered_layout(source.layout(), t.itemsize(), 'K'), t,
                             to_kind(usm_type, place));
  const gil_released released;
  copy_from_host(out, source);
  return out;
}

/// Whether an object is an array in memory of a device, of any library.
bool is_device_array(nb::handle obj) {
  return has_attribute(obj, "__sycl_usm_array_interface__") ||
         has_attribute(obj, "__cuda_array_interface__");
}

/// Whether an array of ours, or in memory of a device, is among the elements of nested lists.
bool has_arrays(nb::handle sequence, std::size_t depth = 0) {
  if (depth > max_rank) return false;
  const PyTypeObject* plain = nullptr;  // the type of the last element that is none
  // A look at an attribute may run code of Python, which may change the list.
  for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(sequence.ptr()); ++k) {
    if (PyObject* const number = item_of(sequence, k).ptr();
        PyFloat_CheckExact(number) || PyLong_CheckExact(number)) {
      continue;
    }
    const nb::object item = nb::borrow(item_of(sequence, k));
    if (nb::isinstance<ndarray>(item)) return true;
    if (is_nest(item)) {
      if (has_arrays(item, depth + 1)) return true;
    } else if (Py_TYPE(item.ptr()) != plain) {
      if (is_device_array(item)) return true;
      plain = Py_TYPE(item.ptr());
    }
  }
  return false;
}

array from_host(nb::handle obj, const dtype* wanted, nb::handle usm_type, nb::handle device,
                nb::handle queue) {
  const host_elements source = host_elements::of(obj, wanted);
  return copied_from_host(source.view(), wanted, usm_type, device, queue);
}

// --- arange

/// start + k * delta for the first `n` of them, in the widest type of their class; cast on the way
/// in.
template <class Wide>
array counted_by_host(const Wide& start, const Wide& delta, std::int64_t n, const dtype& type,
                      const sycl::queue& queue, usm_kind kind) {
  array out = allocate_array(queue, layout_of(extents{n}, type.itemsize(), 'C'), type, kind);
  const gil_released released;
  constexpr std::int64_t block = std::int64_t{1} << 20;
  const auto values =
      std::make_unique<Wide[]>(static_cast<std::size_t>(std::clamp<std::int64_t>(n, 1, block)));
  for (std::int64_t first = 0; first < n; first += block) {
    const std::int64_t count = std::min(block, n - first);
    for (std::int64_t k = 0; k < count; ++k) {
      if constexpr (std::is_integral_v<Wide>) {
        // Unsigned arithmetic: the last step may leave the range without being used.
        values[static_cast<std::size_t>(k)] = static_cast<Wide>(
            static_cast<std::uint64_t>(start) +
            static_cast<std::uint64_t>(first + k) * static_cast<std::uint64_t>(delta));
      } else {
        values[static_cast<std::size_t>(k)] = start + static_cast<double>(first + k) * delta;
      }
    }
    const any_view source =
        checked_view(values.get(), dtype::of<Wide>(), layout_of(extents{count}, sizeof(Wide), 'C'),
                     usm_kind::unknown, true);
    std::int64_t shift = 0;
    layout part = out.elements().layout().sliced(0, first, count, 1, shift);
    copy_from_host(out.with_view(out.elements().with_layout(std::move(part), shift)), source);
  }
  return out;
}

template <class Wide>
nb::object counted(const Wide& start, const Wide& delta, std::int64_t n, const dtype& type,
                   const sycl::queue& queue, usm_kind kind) {
  const dtype wide = dtype::of<Wide>();
  const sycl::device device = queue.get_device();
  if (n > detail::most_on_host && detail::computes_with(device, wide) &&
      detail::computes_with(device, type)) {
    shared_deferred all = count_up(queue, operand(start), operand(delta), n, kind);
    return wrap_deferred(type == wide ? std::move(all) : cast(queue, all, type));
  }
  // Without a kernel, which would have to be compiled.
  return wrap_array(counted_by_host(start, delta, n, type, queue, kind));
}

[[noreturn]] void refuse_step() {
  PyErr_SetString(PyExc_ZeroDivisionError, "step: 0 is not allowed");
  nb::raise_python_error();
}

nb::object arange(nb::handle start, nb::handle stop, nb::handle step, nb::handle type,
                  nb::handle usm_type, nb::handle device, nb::handle queue) {
  const nb::object zero = nb::int_(0);
  const nb::object one = nb::int_(1);
  const nb::handle from = stop.is_none() ? nb::handle(zero) : start;
  const nb::handle to = stop.is_none() ? start : stop;
  const nb::handle by = step.is_none() ? nb::handle(one) : step;
  const sycl::queue place = to_place(queue, device);
  const usm_kind kind = to_kind(usm_type, place);
  bool all_integers = true;
  for (const nb::handle x : {from, to, by}) all_integers &= PyIndex_Check(x.ptr()) != 0;
  const dtype t = !type.is_none() ? to_dtype(type)
                  : all_integers  ? dtype::of<std::int64_t>()
                                  : default_floating(place);
  if (t.is_record()) wrong_type("dtype", dtype_object(t), "a type of numbers");
  const auto check_bools = [&](std::uint64_t n) {
    if (t.kind() == type_class::boolean && n > 2) {
      wrong_type("dtype", dtype_object(t), "a type of numbers, for more than two elements");
    }
  };

  const bool are_integers =
      t.kind() == type_class::integer || t.kind() == type_class::unsigned_integer;
  // NumPy stores the first two elements and counts on from them, modulo the range of the type.
  const auto check_stored = [&](const nb::object& number) {
    if (are_integers) element_of(number, t);
  };

  if (all_integers) {
    const std::int64_t first = read_integer(from, "start", fault::shape_overflow);
    const std::int64_t last = read_integer(to, "stop", fault::shape_overflow);
    const std::int64_t delta = read_integer(by, "step", fault::shape_overflow);
    if (delta == 0) refuse_step();
    const std::uint64_t span =
        delta > 0 ? static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first)
                  : static_cast<std::uint64_t>(first) - static_cast<std::uint64_t>(last);
    const std::uint64_t size =
        delta > 0 ? static_cast<std::uint64_t>(delta) : 0 - static_cast<std::uint64_t>(delta);
    const bool is_empty = delta > 0 ? last <= first : last >= first;
    const std::uint64_t n = is_empty ? 0 : (span - 1) / size + 1;
    if (n > static_cast<std::uint64_t>(INT64_MAX))
      check(fault::shape_overflow, detail::format("{}", n));
    check_bools(n);
    if (t != dtype::of<std::int64_t>()) {
      if (n > 0) check_stored(nb::int_(first));
      if (n > 1) check_stored(nb::int_(first + delta));
    }
    return counted(first, delta, static_cast<std::int64_t>(n), t, place, kind);
  }
  const auto real = [](nb::handle x, const char* where) {
    const double value = PyFloat_AsDouble(x.ptr());
    if (value == -1 && PyErr_Occurred() != nullptr) {
      if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) nb::raise_python_error();
      PyErr_Clear();
      wrong_type(where, x, "a number");
    }
    if (!std::isfinite(value)) throw value_error("{}: {} is not finite", where, describe_value(x));
    return value;
  };
  const double first = real(from, "start");
  const double last = real(to, "stop");
  const double delta = real(by, "step");
  if (delta == 0) refuse_step();
  const double n = std::ceil((last - first) / delta);
  if (!(n < 9.2e18)) check(fault::shape_overflow, detail::format("{}", n));
  const auto count = std::max<std::int64_t>(static_cast<std::int64_t>(n), 0);
  check_bools(static_cast<std::uint64_t>(count));
  if (count > 0) check_stored(nb::float_(first));
  if (count > 1) check_stored(nb::float_(first + delta));
  // NumPy steps by the difference of the first two elements, as they were rounded.
  const auto fits = [](double x) { return std::fabs(x) < 9.2e18; };
  if (are_integers && fits(first) && fits(first + delta)) {
    const auto whole = static_cast<std::int64_t>(first);
    return counted(whole, static_cast<std::int64_t>(first + delta) - whole, count, t, place, kind);
  }
  return counted(first, (first + delta) - first, count, t, place, kind);
}

}  // namespace

array placed(const array& a, const sycl::queue& queue, const dtype& type, usm_kind kind,
             bool always_copy, char order) {
  const any_view& v = a.elements();
  const bool same_kind = a.kind() == kind || (a.kind() == usm_kind::unknown && v.size() == 0);
  if (!always_copy && same_kind && v.dtype() == type && within_reach(a, queue)) {
    const gil_released released;
    return a.on(queue);
  }
  // Memory of the host is copied as asarray copies it.
  const usm_kind wanted = kind == usm_kind::unknown ? default_kind(queue) : kind;
  array out =
      allocate_array(queue, ordered_layout(v.layout(), type.itemsize(), order), type, wanted);
  const gil_released released;
  copy(out, a);
  return out;
}

namespace {

/// The same where memory of the host is copied: `is_to_copy` if a protocol gave such memory.
std::optional<array> foreign_or_to_copy(nb::handle obj, bool& is_to_copy) {
  std::optional<array> to_copy;
  std::optional<array> found = import_array(obj, {.to_copy = &to_copy});
  is_to_copy = to_copy.has_value();
  if (is_to_copy) found = std::move(to_copy);
  return found;
}

/// The array of an object that is not ours, with `in_place` also over memory of the host.
std::optional<array> foreign_array(nb::handle obj, bool in_place, bool& is_to_copy) {
  if (in_place) return import_array(obj, {.host = true});
  return foreign_or_to_copy(obj, is_to_copy);
}

/// What was copied from the host, whose order it has; again if another one is asked for.
nb::object in_order(array a, char order) {
  if (lies_in_order(a.elements().layout(), order)) return wrap_array(std::move(a));
  return wrap_array(placed(a, a.queue(), a.elements().dtype(), a.kind(), true, order));
}

}  // namespace

nb::object as_array(nb::handle obj, nb::handle type, nb::handle usm_type, nb::handle device,
                    nb::handle queue, nb::handle copy_if, char order) {
  std::optional<dtype> wanted;
  if (!type.is_none()) wanted = to_dtype(type);
  const array* own = array_of(obj);
  bool is_to_copy = false;
  // What it gives is made in place: an array is large.
  std::optional<array> imported = own == nullptr && !is_python_number(obj) && !is_nest(obj)
                                      ? foreign_array(obj, is_false(copy_if), is_to_copy)
                                      : std::optional<array>();
  if (imported) own = &*imported;
  if (is_to_copy) {
    return in_order(
        copied_from_host(own->elements(), wanted ? &*wanted : nullptr, usm_type, device, queue),
        order);
  }
  if (own == nullptr) {
    if (is_false(copy_if)) {
      throw nb::value_error(
          "copy: the elements are in host memory that the device cannot use in place and must be "
          "copied into USM, but copy=False");
    }
    if (is_nest(obj) && has_arrays(obj)) {
      const nb::object joined = nb::module_::import_("usmx._namespace.sequences")
                                    .attr("joined")(obj, type, usm_type, device, queue);
      return order == 'K' ? joined : in_order(value_of(joined), order);
    }
    return in_order(from_host(obj, wanted ? &*wanted : nullptr, usm_type, device, queue), order);
  }
  const array& a = *own;
  const dtype& t = wanted ? *wanted : a.elements().dtype();
  // Without an element there is no kind; memory of the host has none of USM's.
  const bool any_kind = a.elements().size() == 0 && a.kind() == usm_kind::unknown;
  std::optional<sycl::queue> other;
  const bool stays = queue.is_none() && device.is_none();
  const sycl::queue& place = stays ? a.queue() : other.emplace(place_for(a, device, queue));
  const usm_kind kind = any_kind ? to_kind(usm_type, place) : to_kind(usm_type, a.kind());
  const bool has_order = lies_in_order(a.elements().layout(), order);
  if (is_false(copy_if)) {
    const char* reason = !(t == a.elements().dtype())    ? "of another dtype"
                         : kind != a.kind() && !any_kind ? "of another usm_type"
                         : !within_reach(a, place)       ? "in another context or on another device"
                         : !has_order                    ? "in another order"
                                                         : nullptr;
    if (reason != nullptr) {
      throw value_error("copy: the elements are {}, but copy=False", reason);
    }
  }
  const bool always = is_true(copy_if) || !has_order;
  if (!always && place == a.queue() && t == a.elements().dtype() && kind == a.kind())
    return imported ? wrap_array(std::move(*imported)) : nb::borrow(obj);
  return wrap_array(placed(a, place, t, kind, always, order));
}

namespace {

nb::object as_array_in_order(nb::handle obj, nb::handle type, nb::handle usm_type,
                             nb::handle device, nb::handle queue, nb::handle copy_if,
                             nb::handle order) {
  const char wanted = order.is_none() ? 'K' : to_order(order);
  return as_array(obj, type, usm_type, device, queue, copy_if, wanted);
}

struct asarray_call {
  static auto signature() {
    return placed_call<"asarray(obj: ArrayLike?, dtype: DTypeLike = None, *",
                       ", copy: bool | None = None, order: OrderLike | None = None">();
  }
  static constexpr auto run = as_array_in_order;
};

}  // namespace

void bind_creation(nb::module_& m) {
  def(
      m, "_default_kind(device: DeviceLike = None) -> UsmKind"_sig,
      [](nb::handle device) { return new_text(name(default_kind(to_queue(device, "device")))); },
      "See `usmx.default_usm_type`.");
  def(
      m, "_set_default_kind(kind: UsmKind | None) -> UsmKind | None"_sig,
      [](nb::handle kind) {
        const auto before = set_default_kind(
            kind.is_none() ? std::nullopt : std::optional(to_kind(kind, usm_kind::unknown)));
        return before ? nb::object(new_text(name(*before))) : nb::object(nb::none());
      },
      "See `usmx.default_usm_type`. Returns what was chosen before.");
  quick_call<asarray_call>::def(
      m,
      with_example(
          "asarray",
          with_places(
              "Anything as an array: without a copy if it is USM already, of any library.\n\n"
              "Parameters\n----------\n"
              "obj : object\n    An ndarray, an array of another library "
              "(`__sycl_usm_array_interface__`, DLPack,\n"
              "    Arrow, `__cuda_array_interface__`), a buffer, a NumPy array, a number, or "
              "nested\n"
              "    sequences of numbers. What is not USM is copied into it. Arrays in nested lists "
              "are\n    joined where the first of them is.\n"
              "dtype : dtype, optional\n    The element type; None keeps it.\n"
              "copy : bool, optional\n    True copies always, None if needed. False never: memory "
              "of "
              "the host is then used in\n    place by devices that read it, and `usm_type` is "
              "'unknown'.\n"
              "order : {'K', 'C', 'F', 'A'}, optional\n    The order of the elements in memory. "
              "None and 'K' keep it; another one may need a\n    copy.\n",
              "ValueError\n    A copy is needed and ``copy=False``; sequences that are ragged.\n"
              "InteropError\n    What `obj` says about its memory is not valid.\n"
              "TypeError\n    `obj` holds no elements that a dtype describes.\n"))
          .c_str());
  const auto define = [&](const auto& call, const char* summary, const std::string& parameters,
                          const char* raises, auto body) {
    def(m, call, body,
        with_example(
            call.name(),
            with_places(
                detail::format("{}\n\nParameters\n----------\n{}", summary, parameters).c_str(),
                raises))
            .c_str());
  };
  const std::string shape_doc = "shape : int or tuple of int\n    Lengths.\n";
  const std::string fill_doc = "fill_value : number or array\n    What the elements are set to.\n";
  const std::string order_doc = "order : {'C', 'F'}\n    The order of the elements in memory.\n";
  const std::string like_doc =
      " : ndarray or object\n    Of any library; an array of the host gives shape and dtype.\n";
  const std::string any_order_doc =
      "order : {'K', 'C', 'F', 'A'}\n    The order of the elements in memory; 'K' is that of "
      "the other array.\n";

  define(placed_call<"from_numpy(obj: ArrayLike, *">(),
         "A copy of a NumPy array, or of any other buffer, in USM.",
         "obj : numpy.ndarray or buffer\n    Elements in host memory.\n", "",
         [](nb::handle obj, nb::handle usm_type, nb::handle device, nb::handle queue) {
           return wrap_array(from_host(obj, nullptr, usm_type, device, queue));
         });

  const auto shaped = [&](const auto& call, const char* summary, auto&& body) {
    define(call, summary,
           shape_doc +
               "dtype : dtype, optional\n    The element type; None is float64 (float32 on devices "
               "without "
               "float64).\n" +
               order_doc,
           "",
           [body](nb::handle shape, nb::handle type, nb::handle order, nb::handle usm_type,
                  nb::handle device, nb::handle queue) {
             array a = make(shape, type, order, usm_type, device, queue);
             body(a);
             return wrap_array(std::move(a));
           });
  };
  shaped(empty_call::signature(), "An array with uninitialised elements.", [](const array&) {});
  quick_call<empty_call>::open(m.attr("empty"));
  shaped(shaped_call<"zeros">(), "An array of zeros.", [](const array& a) { fill_zero(a); });
  shaped(shaped_call<"ones">(), "An array of ones.",
         [](const array& a) { fill_with(a, nb::int_(1)); });

  const std::string type_doc =
      "dtype : dtype, optional\n    The element type; None is that of the array.\n";
  const std::string other_shape_doc =
      "subok : bool\n    As NumPy's; it changes nothing.\n"
      "shape : int or tuple of int, optional\n    Other lengths than those of the array.\n";
  const auto like = [&](const auto& call, const char* summary, auto&& body) {
    define(call, summary,
           std::string(call.name_of(0)) + like_doc + type_doc + any_order_doc + other_shape_doc, "",
           [body](nb::handle x, nb::handle type, nb::handle order, nb::handle, nb::handle shape,
                  nb::handle usm_type, nb::handle device, nb::handle queue) {
             array a = make_like(x, type, order, shape, usm_type, device, queue);
             body(a);
             return wrap_array(std::move(a));
           });
  };
  like(like_call<"empty_like(prototype: ArrayLike">(),
       "An array with uninitialised elements in the shape of another array.", [](const array&) {});
  like(like_call<"zeros_like(a: ArrayLike">(), "Zeros in the shape of another array.",
       [](const array& a) { fill_zero(a); });
  like(like_call<"ones_like(a: ArrayLike">(), "Ones in the shape of another array.",
       [](const array& a) { fill_with(a, nb::int_(1)); });

  define(placed_call<"full(shape: ShapeLike, fill_value: ArrayLike, dtype: DTypeLike = None, "
                     "order: Order = 'C', *">(),
         "An array of one value, or of an array that is broadcast.",
         shape_doc + fill_doc +
             "dtype : dtype, optional\n    The element type; None is that of the value.\n" +
             order_doc,
         "OverflowError\n    The value does not fit into `dtype`.\n",
         [](nb::handle shape, nb::handle value, nb::handle type, nb::handle order,
            nb::handle usm_type, nb::handle device, nb::handle queue) {
           nb::object t = nb::borrow(type);
           nb::object held = nb::borrow(value);
           if (array_of(value) == nullptr && !is_python_number(value) && !is_nest(value)) {
             const nb::object absent = nb::none();
             held = as_array(value, absent, absent, absent, absent, absent);
           }
           value = held;
           if (type.is_none()) {
             const array* a = array_of(value);
             t = nb::cast(a != nullptr ? a->elements().dtype()
                                       : host_elements::of(value).view().dtype());
           }
           const array a = make(shape, t, order, usm_type, device, queue);
           assign(a, value);
           return wrap_array(a);
         });
  define(like_call<"full_like(a: ArrayLike, fill_value: ArrayLike">(),
         "One value in the shape of another array.",
         "a" + like_doc + fill_doc + type_doc + any_order_doc + other_shape_doc,
         "OverflowError\n    The value does not fit into `dtype`.\n",
         [](nb::handle x, nb::handle value, nb::handle type, nb::handle order, nb::handle,
            nb::handle shape, nb::handle usm_type, nb::handle device, nb::handle queue) {
           const array a = make_like(x, type, order, shape, usm_type, device, queue);
           assign(a, value);
           return wrap_array(a);
         });
  define(
      placed_call<"arange(start: float | SupportsIndex, stop: float | SupportsIndex | None = None, "
                  "step: float | SupportsIndex = 1, dtype: DTypeLike = None, *">(),
      "Numbers from `start` up to but without `stop`, as range() counts.",
      "start, stop, step : number\n    A single number is `stop`.\n"
      "dtype : dtype, optional\n    None is int64 for integers, otherwise float64.\n",
      "OverflowError\n    One of the first two numbers does not fit into `dtype`.\n"
      "ValueError\n    Numbers that are not finite.\n"
      "ZeroDivisionError\n    A step of zero.\n",
      [](nb::handle start, nb::handle stop, nb::handle step, nb::handle type, nb::handle usm_type,
         nb::handle device,
         nb::handle queue) { return arange(start, stop, step, type, usm_type, device, queue); });
}

}  // namespace usmx::python
