// Host memory of other libraries, on its way to or from USM: bytes, bytearray, array.array,
// memoryview, NumPy's arrays and other objects with a buffer.
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string_view>
#include <utility>

#include <charconv>
#include <cstring>
#include <string>
#include <vector>

#include <algorithm>
#include <array>

#include "array/ndarray.hpp"
#include "core/format.hpp"
#include "memory/memory.hpp"
#include "memory/numpy_memory.hpp"
#include "protocols/protocols.hpp"
#include "support/attributes.hpp"
#include "support/error_text.hpp"
#include "support/text.hpp"
#include "usmx/dtype.hpp"

namespace usmx::python {
namespace {

/// An element type and whether its bytes stand in the other order.
struct buffer_element {
  dtype type;
  bool swapped = false;
};

constexpr int deepest = 32;
constexpr std::int64_t most_bytes = 2147483647;

/// Reads a PEP 3118 format such as "<f", "Zd" or "T{i:a:(2,3)d:b:}" in one pass. Empty if no dtype
/// describes it: text, objects, pointers, bit fields, a byte-swapped record.
class format_reader {
 public:
  explicit format_reader(std::string_view text) : rest_(text) {}

  std::optional<buffer_element> read() {
    // "5x" alone: bytes without a type, NumPy's V5.
    dtype::fields bytes;
    std::size_t count = 0;
    if (read_padding(bytes, count)) {
      if (!rest_.empty() || !bytes.front().name.empty()) return {};
      return buffer_element{bytes.front().type, false};
    }
    std::optional<item> element = read_item(0);
    if (!element || !rest_.empty() || !element->shape.empty()) return {};
    if (element->swapped && element->type.is_record()) return {};
    return buffer_element{element->type, element->swapped};
  }

 private:
  struct item {
    dtype type;
    bool swapped = false;
    std::size_t alignment = 1;
    std::vector<std::int64_t> shape;
  };

  bool skip(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  char take() {
    if (rest_.empty()) return '\0';
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  void read_byte_order() {
    while (!rest_.empty() &&
           std::string_view("@=<>!^").find(rest_.front()) != std::string_view::npos) {
      order_ = take();
    }
  }

  std::optional<std::int64_t> read_number() {
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), n);
    if (error != std::errc() || n < 0 || n > most_bytes) return {};
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return n;
  }

  /// "(2,3)" or a plain count.
  std::optional<std::vector<std::int64_t>> read_shape() {
    std::vector<std::int64_t> shape;
    if (skip('(')) {
      do {
        const std::optional<std::int64_t> n = read_number();
        if (!n) return {};
        shape.push_back(*n);
      } while (skip(','));
      if (!skip(')')) return {};
    } else if (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
      const std::optional<std::int64_t> n = read_number();
      if (!n) return {};
      if (*n != 1) shape.push_back(*n);
    }
    return shape;
  }

  std::optional<item> read_item(int depth) {
    if (depth > deepest) return {};
    read_byte_order();
    std::optional<std::vector<std::int64_t>> shape = read_shape();
    if (!shape) return {};
    read_byte_order();
    item out;
    if (rest_.starts_with("T{")) {
      rest_.remove_prefix(2);
      if (!read_record(out, depth)) return {};
    } else if (!read_scalar(out)) {
      return {};
    }
    out.shape = std::move(*shape);
    return out;
  }

  bool is_native() const { return order_ == '@' || order_ == '^'; }

  bool read_scalar(item& out) {
    const bool is_complex = skip('Z');
    const char code = take();
    std::string typestr = "<";
    const char* const size_of_long = is_native() && sizeof(long) == 8 ? "8" : "4";
    switch (code) {
      case '?':
        typestr += "b1";
        break;
      case 'b':
        typestr += "i1";
        break;
      case 'B':
      case 'c':
        typestr += "u1";
        break;
      case 'h':
        typestr += "i2";
        break;
      case 'H':
        typestr += "u2";
        break;
      case 'i':
        typestr += "i4";
        break;
      case 'I':
        typestr += "u4";
        break;
      case 'l':
        typestr += std::string("i") + size_of_long;
        break;
      case 'L':
        typestr += std::string("u") + size_of_long;
        break;
      case 'q':
      case 'n':
        typestr += "i8";
        break;
      case 'Q':
      case 'N':
        typestr += "u8";
        break;
      case 'e':
        typestr += "f2";
        break;
      case 'f':
        typestr += is_complex ? "c8" : "f4";
        break;
      case 'd':
        typestr += is_complex ? "c16" : "f8";
        break;
      default:
        return false;
    }
    if (is_complex && code != 'f' && code != 'd') return false;
    if (dtype::parse(typestr, out.type) != fault::none) return false;
    out.swapped = (order_ == '>' || order_ == '!') && out.type.itemsize() > 1;
    out.alignment = out.type.alignment();
    return true;
  }

  static void pad(dtype::fields& members, std::size_t bytes) {
    if (bytes == 0) return;
    field f;
    if (dtype::parse(detail::format("|V{}", bytes), f.type) == fault::none) members.push_back(f);
  }

  /// One field of padding for several in a row: NumPy writes "xxxx" where others write "4x".
  static dtype::fields merged(const dtype::fields& members) {
    dtype::fields all;
    std::size_t padding = 0;
    for (const field& f : members) {
      if (f.name.empty()) {
        padding += f.type.itemsize();
        continue;
      }
      pad(all, std::exchange(padding, 0));
      all.push_back(f);
    }
    pad(all, padding);
    return all;
  }

  bool read_record(item& out, int depth) {
    dtype::fields members;
    std::size_t at = 0;
    while (!skip('}')) {
      if (rest_.empty()) return false;
      read_byte_order();
      if (read_padding(members, at)) continue;
      std::optional<item> member = read_item(depth + 1);
      if (!member || !skip(':') || member->swapped) return false;
      field f;
      const std::size_t end = rest_.find(':');
      if (end == std::string_view::npos) return false;
      f.name = rest_.substr(0, end);
      rest_.remove_prefix(end + 1);
      if (order_ == '@') {  // the compiler's alignment is implied
        pad(members, (member->alignment - at % member->alignment) % member->alignment);
        out.alignment = std::max(out.alignment, member->alignment);
      }
      f.type = member->type;
      f.shape = std::move(member->shape);
      members.push_back(std::move(f));
      if (dtype::packed_size(members, at) != fault::none) return false;
    }
    return dtype::make_record(merged(members), at, out.type) == fault::none;
  }

  /// "3x": bytes without a name. "3x:name:", as NumPy writes it: a field of bytes.
  bool read_padding(dtype::fields& members, std::size_t& at) {
    const std::string_view before = rest_;
    std::int64_t n = 1;
    if (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
      n = read_number().value_or(0);
    }
    if (n == 0 || !skip('x')) {
      rest_ = before;
      return false;
    }
    const std::size_t known = members.size();
    pad(members, static_cast<std::size_t>(n));
    if (members.size() == known) {  // too many bytes for a type
      rest_ = before;
      return false;
    }
    if (skip(':')) {
      const std::size_t end = rest_.find(':');
      if (end == std::string_view::npos) return false;
      members.back().name = rest_.substr(0, end);
      rest_.remove_prefix(end + 1);
    }
    return dtype::packed_size(members, at) == fault::none;
  }

  std::string_view rest_;
  char order_ = '@';
};

/// Byte strides as element strides; empty if an element lies between two positions.
std::optional<extents> element_strides(const Py_buffer& b) {
  extents strides(static_cast<std::size_t>(b.ndim));
  for (int k = 0; k < b.ndim; ++k) {
    if (b.strides[k] % b.itemsize != 0 && b.shape[k] > 1) return {};
    strides[static_cast<std::size_t>(k)] = b.strides[k] / b.itemsize;
  }
  return strides;
}

void swap_bytes(std::byte* p, std::size_t bytes, const dtype& type) {
  const std::size_t width = type.alignment();  // a complex number is two numbers
  for (std::byte* const end = p + bytes; p != end; p += width) std::reverse(p, p + width);
}

}  // namespace

void host_buffer::releaser::operator()(Py_buffer* b) const noexcept {
  PyBuffer_Release(b);
  delete b;
}

namespace {

/// What a format means. Those of one letter, which nearly all buffers have, are read once.
std::optional<buffer_element> read_format(const char* format) {
  static const auto& of_letters = *new std::array<std::optional<buffer_element>, 128>([] {
    std::array<std::optional<buffer_element>, 128> all;
    for (std::size_t letter = 1; letter < all.size(); ++letter) {
      const char text = static_cast<char>(letter);
      all[letter] = format_reader(std::string_view(&text, 1)).read();
    }
    return all;
  }());
  const auto first = static_cast<unsigned char>(format[0]);
  if (first != 0 && first < of_letters.size() && format[1] == '\0') return of_letters[first];
  return format_reader(format).read();
}

/// Whether arrays of records are among the fields. NumPy leaves the padding between their elements
/// out of its formats, so that it could not be told from padding behind the last field.
bool has_arrays_of_records(const dtype::fields& members) {
  return std::ranges::any_of(members, [](const field& f) {
    const dtype::fields* const inner = f.type.members();
    return inner != nullptr && (!f.shape.empty() || has_arrays_of_records(*inner));
  });
}

/// Adds the bytes behind the last field, which NumPy's formats leave out.
void add_padding(dtype& type, std::size_t itemsize) {
  if (type.itemsize() >= itemsize) return;
  if (type.members() == nullptr || has_arrays_of_records(*type.members())) return;
  dtype::fields members = *type.members();
  field padding;
  auto bytes = itemsize - type.itemsize();
  if (!members.empty() && members.back().name.empty()) {
    bytes += members.back().type.itemsize();
    members.pop_back();
  }
  if (dtype::parse(detail::format("|V{}", bytes), padding.type) != fault::none) return;
  members.push_back(padding);
  dtype padded;
  if (dtype::make_record(std::move(members), itemsize, padded) == fault::none) type = padded;
}

/// What the elements of ctypes are if they are structures: its formats leave out the bytes between
/// fields (before Python 3.12) or behind them.
std::optional<dtype> structure_of_ctypes(PyObject* exporter) {
  for (int step = 0; step < 16 && exporter != nullptr && PyMemoryView_Check(exporter); ++step) {
    exporter = PyMemoryView_GET_BASE(exporter);
  }
  if (exporter == nullptr) return {};
  nb::object type = nb::borrow(reinterpret_cast<PyObject*>(Py_TYPE(exporter)));
  for (int step = 0; step < 64; ++step) {
    nb::object inner = attribute_or_none(type, "_type_");
    if (PyType_Check(inner.ptr()) == 0) break;
    type = std::move(inner);
  }
  if (!has_attribute(type, "_fields_")) return {};
  return to_dtype(nb::module_::import_("numpy").attr("dtype")(type));
}

std::optional<buffer_element> element_in(const Py_buffer& b, bool is_bfloat16) {
  if (is_bfloat16) return buffer_element{dtype::of<bfloat16>()};
  const char* const format = b.format != nullptr ? b.format : "B";
  std::optional<buffer_element> element = read_format(format);
  if (element && b.itemsize > 0 &&
      element->type.itemsize() > static_cast<std::size_t>(b.itemsize)) {
    // NumPy's scalars of packed records do not say that theirs are not aligned, as its arrays do.
    element = read_format(('^' + std::string(format)).c_str());
  }
  if (element && b.itemsize > 0 &&
      element->type.itemsize() < static_cast<std::size_t>(b.itemsize)) {
    if (const auto known = structure_of_ctypes(b.obj)) element->type = *known;
    add_padding(element->type, static_cast<std::size_t>(b.itemsize));
  }
  if (b.itemsize <= 0 || !element ||
      element->type.itemsize() != static_cast<std::size_t>(b.itemsize)) {
    return {};
  }
  return element;
}

void check_buffer(fault code) {
  if (code == fault::none) return;
  throw interop_error(code, detail::format("buffer: its {} {}", field_of(code), message(code)));
}

/// Where the elements lie; false if they cannot be used in place: byte-swapped, misaligned, or
/// between two positions.
bool find_in_place(const Py_buffer& b, const buffer_element& element, layout& where) {
  const bool aligned = reinterpret_cast<std::uintptr_t>(b.buf) % element.type.alignment() == 0;
  if (element.swapped || !aligned) return false;
  extents shape = b.ndim > 0 ? extents({b.shape, static_cast<std::size_t>(b.ndim)}) : extents();
  // An exporter of elements in C order may leave the strides out even if asked, as ctypes does.
  if (b.strides == nullptr) {
    check_buffer(layout::c_order(std::move(shape), element.type.itemsize(), where));
    return true;
  }
  std::optional<extents> strides = element_strides(b);
  if (!strides) return false;
  check_buffer(
      layout::strided(std::move(shape), std::move(*strides), element.type.itemsize(), where));
  return true;
}

}  // namespace

void host_buffer::describe(bool writable, bool is_bfloat16) {
  Py_buffer& b = *view_;
  const std::optional<buffer_element> described = element_in(b, is_bfloat16);
  if (!described) {
    throw type_error(
        "buffer: elements of format '{}' and {} bytes; expected numbers, booleans or records of "
        "them",
        b.format != nullptr ? b.format : "B", b.itemsize);
  }
  const buffer_element& element = *described;
  layout where;
  void* data = b.buf;
  if (!find_in_place(b, element, where)) {
    if (writable) {
      throw nb::value_error(
          "buffer: byte-swapped, misaligned, or with strides that are not a multiple of the "
          "element "
          "size; expected elements that can be written in place");
    }
    const auto bytes = static_cast<std::size_t>(b.len);
    copy_ = std::make_unique<std::byte[]>(bytes);
    if (PyBuffer_ToContiguous(copy_.get(), &b, b.len, 'C') != 0) throw nb::python_error();
    if (element.swapped) swap_bytes(copy_.get(), bytes, element.type);
    data = copy_.get();
    const extents shape =
        b.ndim > 0 ? extents({b.shape, static_cast<std::size_t>(b.ndim)}) : extents();
    check_buffer(layout::c_order(shape, element.type.itemsize(), where));
  }
  check_buffer(any_view::make(data, element.type, std::move(where), usm_kind::unknown,
                              b.readonly != 0, elements_));
}

bool has_references(const char* format) noexcept {
  if (format == nullptr) return false;
  for (bool in_name = false; *format != '\0'; ++format) {
    if (*format == ':') in_name = !in_name;
    if (!in_name && *format == 'O') return true;
  }
  return false;
}

void get_bytes(nb::handle obj, Py_buffer& out, int flags) {
  bool refers = false;
  if (PyObject_GetBuffer(obj.ptr(), &out, flags | PyBUF_FORMAT) == 0) {
    refers = has_references(out.format);
  } else {
    // Dates have no format, but bytes; strings of any length are references.
    PyErr_Clear();
    if (PyObject_GetBuffer(obj.ptr(), &out, flags) != 0) nb::raise_python_error();
    const nb::object type = attribute_or_none(obj, "dtype");
    refers = nb::getattr(type, "hasobject", nb::bool_(false)).equal(nb::bool_(true));
  }
  if (!refers) return;
  PyBuffer_Release(&out);
  throw nb::type_error(
      detail::format(
          "buffer: the elements of {} are references to Python objects, expected numbers "
          "or other plain bytes; convert them first, for example with "
          "astype('float64')",
          std::string(Py_TYPE(obj.ptr())->tp_name))
          .c_str());
}

namespace {

/// As PyObject_GetBuffer, also of NumPy's arrays of ml_dtypes' bfloat16, for which the buffer
/// protocol has no format: the buffer of a view of the same bytes as integers.
bool get_elements(nb::handle obj, Py_buffer& out, int flags, bool& is_bfloat16) {
  is_bfloat16 = false;
  // NumPy's scalars of dates are buffers of eight bytes; its arrays of dates are none at all.
  if (const std::string_view name = Py_TYPE(obj.ptr())->tp_name;
      name == "numpy.datetime64" || name == "numpy.timedelta64") {
    throw type_error(
        "buffer: {} is a date or a time; expected numbers, booleans or records of them",
        describe_value(obj));
  }
  if (PyObject_GetBuffer(obj.ptr(), &out, flags) == 0) return true;
  nb::python_error error;
  const nb::object type = attribute_or_none(obj, "dtype");
  if (attribute_or_none(type, "name").equal(new_text("bfloat16")) &&
      class_has(obj, "__array_interface__")) {
    const nb::object integers = obj.attr("view")("uint16");
    is_bfloat16 = PyObject_GetBuffer(integers.ptr(), &out, flags) == 0;
    if (is_bfloat16) return true;
    PyErr_Clear();
  }
  error.restore();
  return false;
}

}  // namespace

std::optional<host_buffer> host_buffer::borrow(nb::handle obj, bool writable) {
  if (PyObject_CheckBuffer(obj.ptr()) == 0) return {};
  auto raw = std::make_unique<Py_buffer>();
  const int flags = writable ? PyBUF_RECORDS : PyBUF_RECORDS_RO;
  bool is_bfloat16 = false;
  if (!get_elements(obj, *raw, flags, is_bfloat16)) throw nb::python_error();
  host_buffer out(std::unique_ptr<Py_buffer, releaser>(raw.release()));
  out.describe(writable, is_bfloat16);
  return out;
}

// --- the row of the table ------------------------------------------------------------------------

memory_behind find_memory_behind(PyObject* exporter) {
  memory_behind found;
  // Each object holds the next one, and no code of Python runs before the last one is held.
  PyObject* at = exporter;
  for (int step = 0; step < 16 && at != nullptr; ++step) {
    if (const numpy_array* const a = numpy_array_in(at)) {
      const numpy_owner maker = owner_of_numpy_block(*a);
      found.home = maker.queue;
      found.is_numpys = maker.is_numpy;
      if (found.home != nullptr || found.is_numpys) break;
      at = a->base;
    } else if (PyMemoryView_Check(at)) {
      at = PyMemoryView_GET_BASE(at);
    } else if (PyCapsule_CheckExact(at)) {
      // NumPy got the elements from a capsule of DLPack, which may be one of ours.
      found.holder = nb::borrow(at);
      found.lender = array_in_capsule(at);
      found.is_in_capsule = true;
      break;
    } else {
      found.holder = nb::borrow(at);
      found.lender = array_of(at);
      if (found.lender == nullptr) found.lender = memory_of(at);
      break;
    }
  }
  return found;
}

namespace {

nb::object offer_buffer(nb::handle obj) {
  return PyObject_CheckBuffer(obj.ptr()) != 0 && !PyBytes_CheckExact(obj.ptr()) ? nb::borrow(obj)
                                                                                : nb::object();
}

std::optional<array> import_buffer(nb::handle obj, nb::object, const import_request& request) {
  auto raw = std::make_unique<Py_buffer>();
  bool is_bfloat16 = false;
  if (!get_elements(obj, *raw, PyBUF_RECORDS_RO, is_bfloat16)) {
    // The reader of host elements asks again and reports it.
    PyErr_Clear();
    return {};
  }
  held_buffer view(raw.release());
  const Py_buffer& b = *view;
  if (b.obj == nullptr) return {};  // nothing says how long the memory stays
  const memory_behind behind = find_memory_behind(b.obj);
  if (!behind.is_found() && !request.host) return {};
  const std::optional<buffer_element> element = element_in(b, is_bfloat16);
  layout where;
  if (!element || !find_in_place(b, *element, where)) return {};
  any_view v;
  check_buffer(any_view::make(b.buf, element->type, std::move(where), usm_kind::unknown,
                              b.readonly != 0, v));
  return import_host_view(std::move(v), behind, Py_TYPE(obj.ptr()), request,
                          [&](std::byte* first, std::size_t bytes) {
                            return own_buffer(std::move(view), first, bytes);
                          });
}

}  // namespace

extern const protocol buffer_protocol = {nullptr, offer_buffer, import_buffer, nullptr};

}  // namespace usmx::python
