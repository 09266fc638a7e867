// Reads what Python passes to a launch, for kernels from text and for those compiled from Python.
// SPDX-License-Identifier: Apache-2.0
#include "kernel/kernel_arguments.hpp"

#include <cmath>
#include <limits>

#include <cstring>
#include <span>

#include <algorithm>
#include <array>

#include "array/ndarray.hpp"
#include "core/cast.hpp"
#include "core/format.hpp"
#include "core/numbers.hpp"
#include "memory/numpy_numbers.hpp"
#include "protocols/protocols.hpp"
#include "support/attributes.hpp"
#include "support/containers.hpp"
#include "support/text.hpp"
#include "support/type_slots.hpp"
#include "usmx/submission.hpp"

namespace usmx::python {

std::string python_type(nb::handle obj) { return shown(nb::type_name(obj.type())); }

namespace {

std::vector<std::size_t> to_sizes(nb::handle obj, const char* where) {
  std::vector<std::size_t> sizes;
  const auto add = [&](nb::handle item) {
    if (!PyIndex_Check(item.ptr()) || PyBool_Check(item.ptr())) {
      throw type_error("{} range: expected an int or a tuple of ints, got {}", where,
                       python_type(item));
    }
    const auto n = PyNumber_AsSsize_t(item.ptr(), PyExc_OverflowError);
    if (n == -1 && PyErr_Occurred()) {
      if (PyErr_ExceptionMatches(PyExc_OverflowError) == 0) throw nb::python_error();
      PyErr_Clear();
      throw value_error("{} range: {} does not fit into 64 bits", where, repr_of(item));
    }
    if (n < 0) throw value_error("{} range: {} is negative", where, n);
    sizes.push_back(static_cast<std::size_t>(n));
  };
  if (nb::isinstance<nb::tuple>(obj) || nb::isinstance<nb::list>(obj)) {
    for (const nb::handle item : obj) add(item);
  } else {
    add(obj);
  }
  return sizes;
}

}  // namespace

bracketed_range to_launch_range(nb::handle key, int rank) {
  if (const Py_ssize_t n = plain_count(key.ptr()); n >= 0) {
    return {launch_range(std::array{static_cast<std::size_t>(n)})};
  }
  if (rank == 1 && PyTuple_CheckExact(key.ptr()) && PyTuple_GET_SIZE(key.ptr()) == 2) {
    const Py_ssize_t global = plain_count(PyTuple_GET_ITEM(key.ptr(), 0));
    const Py_ssize_t local = plain_count(PyTuple_GET_ITEM(key.ptr(), 1));
    if (global >= 0 && local >= 0) {
      return {launch_range(std::array{static_cast<std::size_t>(global)},
                           std::array{static_cast<std::size_t>(local)}),
              true};
    }
  }
  if (!nb::isinstance<nb::tuple>(key)) return {launch_range(to_sizes(key, "global"))};
  const auto parts = nb::borrow<nb::tuple>(key);
  const bool numbers =
      std::all_of(parts.begin(), parts.end(), [](nb::handle n) { return PyIndex_Check(n.ptr()); });
  if (numbers && (parts.size() < 2 || rank == 0 || rank > 1)) {
    return {launch_range(to_sizes(key, "global"))};
  }
  if (numbers && parts.size() == 2) {
    const auto global = to_sizes(parts[0], "global");
    const auto local = to_sizes(parts[1], "local");
    if (rank < 0) {
      throw type_error(
          "[{0}, {1}] is ambiguous, because it is unclear over how many dimensions the kernel "
          "runs; "
          "write [({0}, {1}), None] for a range of two dimensions, or [{0}, ({1},)] for a global "
          "and a local range",
          global[0], local[0]);
    }
    return {launch_range(global, local), true};
  }
  if (numbers && rank < 0) return {launch_range(to_sizes(key, "global"))};
  if (parts.size() == 1) return {launch_range(to_sizes(parts[0], "global"))};
  if (parts.size() != 2) {
    throw type_error(
        "a launch takes [global] or [global, local], each an int or a tuple of one to three ints; "
        "got {} values{}",
        parts.size(), rank == 1 ? " for a kernel over 1 dimension" : "");
  }
  const auto global = to_sizes(parts[0], "global");
  if (parts[1].is_none()) return {launch_range(global)};
  return {launch_range(global, to_sizes(parts[1], "local"))};
}

void check_pair(const bracketed_range& read, const std::string& kernel, std::size_t argument,
                std::span<const std::int64_t> shape) {
  if (!read.is_pair || shape.size() != 2) return;
  const std::size_t global = read.range.global()[0], local = read.range.local()[0];
  if (static_cast<std::size_t>(shape[0]) != global || static_cast<std::size_t>(shape[1]) != local) {
    return;
  }
  throw value_error(
      "kernel '{2}' runs over one dimension, for which [{0}, {1}] is a global range of {0} and a "
      "local range of {1}, but it is also the shape of argument {3}; write [x.size] for one "
      "work-item per element, or [{0}, ({1},)] if a local range is meant",
      global, local, kernel, argument);
}

array retyped(const array& bytes, const dtype& type) {
  const auto& v = bytes.elements();
  layout where;
  any_view typed;
  const auto count = static_cast<std::int64_t>(v.nbytes() / type.itemsize());
  auto code = layout::c_order(extents{count}, type.itemsize(), where);
  if (code == fault::none) {
    code = any_view::make(v.data(), type, std::move(where), v.kind(), v.read_only(), typed);
  }
  if (code != fault::none) throw interop_error(code, std::string(message(code)));
  return bytes.with_view(std::move(typed));
}

namespace {

memory_argument find_memory(nb::handle obj, borrowed_arrays& borrowed, const sycl::queue* queue,
                            bool rank_0_by_value) {
  if (const auto* a = array_of(obj)) return {a, false};
  // Numbers are asked before protocols: a look-up of attributes fails slowly.
  PyObject* const o = obj.ptr();
  if (PyLong_Check(o) || PyFloat_Check(o) || PyComplex_Check(o) || o == Py_None) return {};
  if (rank_0_by_value && type_of_numpy_number(Py_TYPE(o)) != nullptr) return {};
  // A copy of memory's own array, which blocks its `free()`.
  if (const auto* m = memory_of(obj)) return {&borrowed.add(*m), true};
  import_request request;
  request.host = true;
  request.queue = queue;
  bool is_host_view = false;
  request.is_host_view = &is_host_view;
  auto imported = import_array(obj, request);
  if (!imported) return {};
  const any_view& v = imported->elements();
  if (rank_0_by_value && v.rank() == 0 && is_host_memory(*imported)) return {};
  const bool bytes = v.dtype() == dtype::of<std::uint8_t>() && v.layout().is_c_contiguous() &&
                     !has_attribute(obj, "dtype");
  if (is_host_view || is_host_memory(*imported)) borrowed.note_host_view();
  return {&borrowed.add(*std::move(imported)), bytes};
}

}  // namespace

memory_argument to_memory(nb::handle obj, borrowed_arrays& borrowed, const sycl::queue* queue) {
  return find_memory(obj, borrowed, queue, true);
}

memory_argument to_memory_alone(nb::handle obj, borrowed_arrays& borrowed,
                                const sycl::queue* queue) {
  return find_memory(obj, borrowed, queue, false);
}

std::string no_memory_text(nb::handle obj, const sycl::device& device, std::string_view or_else) {
  const std::string type = python_type(obj);
  const bool has_elements = PyObject_CheckBuffer(obj.ptr()) != 0 && !PyBytes_Check(obj.ptr());
  if (has_elements && !reads_host_memory(device)) {
    return detail::format(
        "is of type {}, in memory of the host, which kernels on {} cannot use; usmx.asarray(x) "
        "copies it into USM",
        type, filter_string(device));
  }
  if (has_elements) {
    return detail::format(
        "is of type {}, with elements that kernels cannot use in place: byte-swapped, misaligned, "
        "or of another type than numbers; usmx.asarray(x) copies what can be converted",
        type);
  }
  return detail::format(
      "is of type {}; expected USM (a usmx array or memory, or {}) or a buffer{}; "
      "usmx.asarray(x) copies others into USM",
      type, expected_protocols(), or_else);
}

namespace {

/// Makes the event of the launch in `made`, which is complete.
void launch(event& made, const kernel& k, sycl::queue& queue, const launch_range& range,
            std::span<const kernel_argument> arguments, const std::vector<sycl::event>* before) {
  launch_line* const line = launch_line::of(queue);
  const bool needs_event = line == nullptr || !line->may_skip_event();
  std::optional<sycl::event> launched;
  {
    const gil_released release;
    std::span<const sycl::event> depends;
    if (before != nullptr) depends = *before;
    const ordering order = before == nullptr ? ordering::automatic : ordering::by_hand;
    if (needs_event) {
      launched = k.launch(queue, range, arguments, depends, order);
    } else {
      k.enqueue(queue, range, arguments, depends, order);
    }
  }
  if (launched) {
    made.be(std::move(*launched), queue);
  } else {
    made.be_behind(queue);
  }
  if (line != nullptr) line->watch(made);
}

}  // namespace

std::optional<std::vector<sycl::event>> to_order(nb::handle depends_on) {
  if (depends_on.is_none()) return {};
  return to_events(depends_on, "depends_on");
}

std::vector<sycl::event> order_of(const sycl::queue& queue,
                                  std::span<const array* const> arguments) {
  submission command(queue);
  for (const array* const a : arguments) {
    if (a != nullptr) command.after(*a);
  }
  return command.before();
}

void refuse_keywords(const nb::kwargs& keywords, const std::string& kernel) {
  if (keywords.size() == 0) return;
  std::string names;
  for (const auto [name, value] : keywords)
    names += (names.empty() ? "'" : ", '") + shown(nb::str(name)) + "'";
  throw type_error(
      "kernel '{}': got the keyword arguments {}; arguments of a kernel are positional, only "
      "queue= "
      "and depends_on= are passed by name",
      kernel, names);
}

nb::object submit(const kernel& k, sycl::queue& queue, const launch_range& range,
                  std::span<const kernel_argument> arguments, const borrowed_arrays& borrowed,
                  const std::vector<sycl::event>* before) {
  static const nb::handle event_class = nb::type<event>();
  nb::object made = nb::inst_alloc(event_class);
  auto* const e = new (nb::inst_ptr<event>(made)) event();
  nb::inst_mark_ready(made);
  try {
    launch(*e, k, queue, range, arguments, before);
  } catch (const interop_error& error) {
    if (error.code() == fault::kind_mismatch || error.code() == fault::dtype_mismatch) {
      throw nb::type_error(error.what());
    }
    throw;
  }
  if (borrowed.has_host_views()) e->wait();
  return made;
}

// --- local memory

std::optional<local_memory> to_local_memory(nb::handle obj) {
  // Not imported: there are none yet.
  const nb::object loaded = nb::module_::import_("sys").attr("modules");
  const nb::object module = loaded.attr("get")("usmx._kernel.language.local_memory");
  if (module.is_none() || !nb::isinstance(obj, module.attr("LocalMemory"))) return {};
  local_memory memory{to_dtype(obj.attr("dtype").attr("name")), {}};
  const auto lengths = nb::cast<nb::tuple>(obj.attr("shape"));
  memory.shape = extents(lengths.size());
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    memory.shape[k] = nb::cast<std::int64_t>(lengths[k]);
  }
  return memory;
}

std::vector<local_memory> to_local_memories(nb::handle obj) {
  std::vector<local_memory> memories;
  const auto add = [&](nb::handle item) {
    auto memory = to_local_memory(item);
    if (!memory) {
      throw type_error("local: expected usmx.LocalMemory or a sequence of them, got {}",
                       python_type(item));
    }
    memories.push_back(std::move(*memory));
  };
  if (nb::isinstance<nb::tuple>(obj) || nb::isinstance<nb::list>(obj)) {
    for (const nb::handle item : obj) add(item);
  } else {
    add(obj);
  }
  return memories;
}

// --- structs

namespace {

struct buffer {
  Py_buffer view{};
  explicit buffer(nb::handle obj) { get_bytes(obj, view, PyBUF_ND); }
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;
  ~buffer() { PyBuffer_Release(&view); }
  std::span<const std::byte> bytes() const noexcept {
    return {static_cast<const std::byte*>(view.buf), static_cast<std::size_t>(view.len)};
  }
};

template <class... Values>
[[noreturn]] void wrong(const std::string& where, fmt::format_string<Values...> what,
                        Values&&... values) {
  throw type_error("{}: {}", where, detail::format(what, std::forward<Values>(values)...));
}

std::size_t size_of(const field& f) {
  auto bytes = f.type.itemsize();
  for (const auto n : f.shape) bytes *= static_cast<std::size_t>(n);
  return bytes;
}

std::string describe(const std::string& typestr, nb::handle shape) {
  return nb::len(shape) == 0 ? typestr : typestr + repr_of(shape);
}
nb::tuple shape_of(const field& f) {
  nb::list sizes = new_list();
  for (const auto n : f.shape) sizes.append(n);
  return nb::tuple(sizes);
}

/// From a record with NumPy's `dtype`.
void copy(nb::handle numpy, std::span<const std::byte> from, const dtype& type, std::byte* to,
          const std::string& where) {
  std::vector<std::string> names;
  const nb::object given = numpy.attr("names");
  if (!given.is_none()) {
    for (const nb::handle name : given) names.push_back(to_text(name, "dtype.names"));
  }
  std::size_t count = 0, offset = 0;
  for (const auto& f : *type.members()) count += f.name.empty() ? 0 : 1;
  if (names.size() != count) {
    wrong(where, "has {} fields, expected {}", names.size(), count);
  }
  std::size_t at = 0;
  for (const auto& f : *type.members()) {
    const auto bytes = size_of(f);
    if (!f.name.empty()) {
      if (names[at] != f.name) {
        wrong(where, "field {} is '{}', expected '{}'", at, names[at], f.name);
      }
      const nb::object entry = numpy.attr("fields")[names[at].c_str()];
      const nb::object is = entry[0];
      const auto start = nb::cast<std::size_t>(entry[1]);
      const nb::object base = is.attr("base"), shape = is.attr("shape");
      const std::string typestr = to_text(nb::object(base.attr("str")), "dtype.str");
      const bool nested = f.type.members() && !base.attr("names").is_none();
      const auto inside = where + ": field '" + f.name + "'";
      if (!shape.equal(shape_of(f)) || (!nested && typestr != f.type.typestr())) {
        wrong(inside, "has type {}, expected {}", describe(typestr, shape),
              describe(f.type.typestr(), shape_of(f)));
      }
      const auto step = nb::cast<std::size_t>(base.attr("itemsize"));
      // A dtype that an object gives may be wrong.
      const auto held = nested ? bytes / f.type.itemsize() * step : bytes;
      if (start > from.size() || held > from.size() - start) wrong(inside, "is not in its buffer");
      if (nested) {
        for (std::size_t k = 0; k < bytes / f.type.itemsize(); ++k) {
          copy(base, from.subspan(start + k * step), f.type, to + offset + k * f.type.itemsize(),
               inside);
        }
      } else {
        std::memcpy(to + offset, from.data() + start, bytes);
      }
      ++at;
    }
    offset += bytes;
  }
}

}  // namespace

std::vector<std::byte> to_record(nb::handle obj, const dtype& type, const std::string& where) {
  std::vector<std::byte> bytes(type.itemsize());
  if (PyBytes_Check(obj.ptr())) {
    const buffer from(obj);
    if (from.bytes().size() != bytes.size()) {
      throw value_error("{}: has {} bytes, expected {}", where, from.bytes().size(), bytes.size());
    }
    std::memcpy(bytes.data(), from.bytes().data(), bytes.size());
    return bytes;
  }
  nb::object numpy = attribute_or_none(obj, "dtype");
  if (numpy.is_none() && has_attribute(obj, "_fields_") && PyObject_CheckBuffer(obj.ptr())) {
    // NumPy reads the layouts of ctypes, bit fields and unions included, which it refuses.
    numpy = nb::module_::import_("numpy").attr("dtype")(obj.type());
  }
  const bool is_one = !has_attribute(obj, "shape") || nb::len(nb::object(obj.attr("shape"))) == 0;
  if (numpy.is_none() || !is_one || !PyObject_CheckBuffer(obj.ptr()) ||
      attribute_or_none(numpy, "names").is_none()) {
    wrong(where, "is of type {}, expected one NumPy record, a ctypes.Structure or {} bytes",
          python_type(obj), bytes.size());
  }
  const buffer from(obj);
  copy(numpy, from.bytes(), type, bytes.data(), where);
  return bytes;
}

// --- numbers: converted by value and checked against the declared type, so that 300 never arrives
// as 44 and 2.5 never as 2

namespace {

[[noreturn]] void wrong_number(const std::string& where, nb::handle number,
                               const std::string& wanted) {
  throw type_error("{}: is of type {}, expected {}", where, python_type(number), wanted);
}

[[noreturn]] void out_of_range(const std::string& where, nb::handle number, const dtype& type) {
  throw value_error("{}: {} does not fit into {}", where, repr_of(number), type.name());
}

/// The letter of a NumPy scalar's format ('f', 'q', '?'), 0 for everything else; `bits` are its
/// bytes.
char format_of(nb::handle number, std::uint64_t& bits, std::size_t& size) {
  Py_buffer view;
  if (!PyObject_CheckBuffer(number.ptr())) return 0;
  if (PyObject_GetBuffer(number.ptr(), &view, PyBUF_FORMAT | PyBUF_ND) != 0) {
    PyErr_Clear();
    return 0;
  }
  char format = view.ndim == 0 && view.format && view.format[1] == 0 ? view.format[0] : '\0';
  size = static_cast<std::size_t>(view.itemsize);
  if (size > sizeof bits) format = 0;
  if (format != 0) std::memcpy(&bits, view.buf, size);
  PyBuffer_Release(&view);
  return format;
}

/// A NumPy scalar in its own type.
kernel_argument as_it_is(nb::handle number, const std::string& where) {
  std::uint64_t bits = 0;
  std::size_t size = 0;
  const char format = format_of(number, bits, size);
  const auto is = [&](const char* formats) { return format != 0 && std::strchr(formats, format); };
  const char letter = is("?") ? 'b' : is("bhilq") ? 'i' : is("BHILQ") ? 'u' : is("efd") ? 'f' : 0;
  dtype type;
  if (letter == 0 || dtype::parse(detail::format("{}{}{}", size == 1 ? "|" : "<", letter, size),
                                  type) != fault::none) {
    wrong_number(where, number,
                 "a real NumPy scalar of at most eight bytes: the source does not show the type of "
                 "this parameter, so the number must bring its own");
  }
  return {type, &bits};
}

template <class Number>
kernel_argument checked_integer(nb::handle number, const std::string& where) {
  const auto type = dtype::of<Number>();
  if (!PyIndex_Check(number.ptr())) wrong_number(where, number, "an integer for " + type.name());
  const auto value = nb::steal(PyNumber_Index(number.ptr()));
  if (!value.is_valid()) {
    // All arrays of NumPy have `__index__`, which refuses all but integers.
    if (!PyObject_CheckBuffer(number.ptr()) || !PyErr_ExceptionMatches(PyExc_TypeError)) {
      throw nb::python_error();
    }
    PyErr_Clear();
    wrong_number(where, number, "an integer for " + type.name());
  }
  if constexpr (std::is_signed_v<Number>) {
    int overflow = 0;
    const long long wide = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow != 0 || wide < std::numeric_limits<Number>::min() ||
        wide > std::numeric_limits<Number>::max()) {
      out_of_range(where, number, type);
    }
    return static_cast<Number>(wide);
  } else {
    const unsigned long long wide = PyLong_AsUnsignedLongLong(value.ptr());
    if (PyErr_Occurred()) {
      PyErr_Clear();
      out_of_range(where, number, type);
    }
    if (wide > std::numeric_limits<Number>::max()) out_of_range(where, number, type);
    return static_cast<Number>(wide);
  }
}

double checked_floating(nb::handle number, const dtype& type, const std::string& where) {
  // A complex NumPy scalar and an array of one element would convert too, with a warning at most.
  std::uint64_t bits = 0;
  std::size_t size = 0;
  if (!PyFloat_Check(number.ptr()) && PyObject_CheckBuffer(number.ptr()) &&
      format_of(number, bits, size) == 0) {
    wrong_number(where, number, "a real number for " + type.name());
  }
  const double value = PyFloat_AsDouble(number.ptr());
  if (value == -1.0 && PyErr_Occurred()) {
    if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
      PyErr_Clear();
      out_of_range(where, number, type);
    }
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
    PyErr_Clear();
    wrong_number(where, number, "a real number for " + type.name());
  }
  if (std::isfinite(value) && std::abs(value) > detail::number_row_of(type)->largest)
    out_of_range(where, number, type);
  return value;
}

kernel_argument checked_boolean(nb::handle number, const std::string& where) {
  // NumPy's bool has no `__index__`, and its array of rank 0 has one that refuses bools: both are
  // known by their buffer of one '?'.
  std::uint64_t bits = 0;
  std::size_t size = 0;
  if (!PyLong_Check(number.ptr()) && format_of(number, bits, size) == '?')
    return (bits & 0xff) != 0;
  if (PyIndex_Check(number.ptr())) {
    const auto value = nb::steal(PyNumber_Index(number.ptr()));
    if (!value.is_valid()) throw nb::python_error();
    const long bit = PyLong_AsLong(value.ptr());
    if (bit == 0 || bit == 1) return bit == 1;
    PyErr_Clear();
    out_of_range(where, number, dtype::of<bool>());
  }
  wrong_number(where, number, "a bool");
}

}  // namespace

kernel_argument to_scalar(nb::handle number, const kernel_parameter* parameter,
                          const std::string& where) {
  if (!parameter || !parameter->type) return as_it_is(number, where);
  const auto& type = *parameter->type;
  return detail::visit_number(
      type,
      [&]<class T>(std::type_identity<T>) -> kernel_argument
        requires(!detail::is_complex<T>::value)
      {
        if constexpr (std::is_same_v<T, bool>) {
          return checked_boolean(number, where);
        } else if constexpr (std::is_integral_v<T>) {
          return checked_integer<T>(number, where);
        } else {
          const auto value = detail::convert<T>(checked_floating(number, type, where));
          return {type, &value};
        }
      },
      [&]() -> kernel_argument {
        wrong_number(
            where, number,
            "a real number: in a source with SYCL's headers pass the parts of a complex one");
      });
}

std::vector<std::byte> to_complex(nb::handle number, const dtype& type, const std::string& where) {
  const auto wanted = "a number for " + type.name();
  // An array of one element would convert too.
  if (PyObject_CheckBuffer(number.ptr()) != 0) {
    Py_buffer view;
    if (PyObject_GetBuffer(number.ptr(), &view, PyBUF_FORMAT | PyBUF_STRIDES) != 0) {
      throw nb::python_error();
    }
    const bool is_number = view.ndim == 0;
    PyBuffer_Release(&view);
    if (!is_number) wrong_number(where, number, wanted);
  }
  const Py_complex value = PyComplex_AsCComplex(number.ptr());
  if (value.real == -1.0 && PyErr_Occurred()) {
    const bool is_large = PyErr_ExceptionMatches(PyExc_OverflowError) != 0;
    if (!is_large && PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw nb::python_error();
    PyErr_Clear();
    if (is_large) out_of_range(where, number, type);
    wrong_number(where, number, wanted);
  }
  std::vector<std::byte> bytes(type.itemsize());
  const auto write = [&]<class T>(T) {
    const std::array parts{static_cast<T>(value.real), static_cast<T>(value.imag)};
    if ((std::isfinite(value.real) && !std::isfinite(parts[0])) ||
        (std::isfinite(value.imag) && !std::isfinite(parts[1]))) {
      out_of_range(where, number, type);
    }
    std::memcpy(bytes.data(), parts.data(), bytes.size());
  };
  if (bytes.size() == 2 * sizeof(float)) {
    write(float());
  } else {
    write(double());
  }
  return bytes;
}

std::optional<kernel_argument> plain_scalar(nb::handle number,
                                            const kernel_parameter* parameter) noexcept {
  if (!parameter || !parameter->type) return {};
  const auto& type = *parameter->type;
  if (const dtype* const own = type_of_numpy_number(Py_TYPE(number.ptr()))) {
    if (*own != type || type.kind() == type_class::complex) return {};
    return kernel_argument(type, bytes_of_numpy_number(number.ptr()));
  }
  if (PyFloat_CheckExact(number.ptr()) && type.kind() == type_class::floating) {
    const double value = PyFloat_AS_DOUBLE(number.ptr());
    if (type.itemsize() == 8) return value;
    // Written so that NaN, which fits, takes the long way.
    if (type.itemsize() == 4 && std::abs(value) <= std::numeric_limits<float>::max()) {
      return static_cast<float>(value);
    }
  } else if (PyLong_CheckExact(number.ptr()) && type.kind() == type_class::integer) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (overflow != 0) return {};
    if (type.itemsize() == 8) return static_cast<std::int64_t>(value);
    if (type.itemsize() == 4 && value == static_cast<std::int32_t>(value)) {
      return static_cast<std::int32_t>(value);
    }
  }
  return {};
}

}  // namespace usmx::python
