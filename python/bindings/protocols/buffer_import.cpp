// Host memory of other libraries, on its way to or from USM: bytes, bytearray, array.array,
// memoryview, NumPy's arrays and whatever else has a buffer.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "protocols/buffer_format.hpp"
#include "protocols/protocols.hpp"

namespace usmx::python {
namespace {

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

void host_buffer::describe(bool writable) {
  Py_buffer& b = *view_;
  const std::optional<buffer_element> element =
      parse_buffer_format(b.format != nullptr ? b.format : "B");
  if (!element || b.itemsize <= 0 ||
      element->type.itemsize() != static_cast<std::size_t>(b.itemsize)) {
    throw nb::type_error(("buffer: elements of format '" +
                          std::string(b.format != nullptr ? b.format : "B") + "' and " +
                          std::to_string(b.itemsize) +
                          " bytes; expected numbers, booleans or records of them")
                             .c_str());
  }
  const extents shape =
      b.ndim > 0 ? extents({b.shape, static_cast<std::size_t>(b.ndim)}) : extents();
  const bool aligned = reinterpret_cast<std::uintptr_t>(b.buf) % element->type.alignment() == 0;
  const bool in_place = !element->swapped && aligned;
  // An exporter of elements in C order may leave the strides out even if asked, as ctypes does.
  const bool is_plain = in_place && b.strides == nullptr;
  std::optional<extents> strides;
  if (in_place && !is_plain) strides = element_strides(b);

  layout where;
  void* data = b.buf;
  fault code = fault::none;
  if (is_plain) {
    code = layout::c_order(shape, element->type.itemsize(), where);
  } else if (strides) {
    code = layout::strided(shape, std::move(*strides), element->type.itemsize(), where);
  } else {
    if (writable) {
      throw nb::value_error(
          "buffer: byte-swapped, misaligned, or with strides that are no multiple of the element "
          "size; expected elements that can be written in place");
    }
    const auto bytes = static_cast<std::size_t>(b.len);
    copy_ = std::make_unique<std::byte[]>(bytes);
    if (PyBuffer_ToContiguous(copy_.get(), &b, b.len, 'C') != 0) throw nb::python_error();
    if (element->swapped) swap_bytes(copy_.get(), bytes, element->type);
    data = copy_.get();
    code = layout::c_order(shape, element->type.itemsize(), where);
  }
  if (code == fault::none) {
    code = any_view::make(data, element->type, std::move(where), usm_kind::unknown, b.readonly != 0,
                          elements_);
  }
  if (code != fault::none) {
    throw interop_error(
        code, "buffer: its " + std::string(field_of(code)) + " " + std::string(message(code)));
  }
}

std::optional<host_buffer> host_buffer::borrow(nb::handle obj, bool writable) {
  if (PyObject_CheckBuffer(obj.ptr()) == 0) return {};
  auto raw = std::make_unique<Py_buffer>();
  const int flags = writable ? PyBUF_RECORDS : PyBUF_RECORDS_RO;
  if (PyObject_GetBuffer(obj.ptr(), raw.get(), flags) != 0) throw nb::python_error();
  host_buffer out(std::unique_ptr<Py_buffer, releaser>(raw.release()));
  out.describe(writable);
  return out;
}

}  // namespace usmx::python
