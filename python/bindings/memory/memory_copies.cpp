// Copies between USM and everything else that holds bytes: buffers of the host in any layout, and
// objects of any library that speaks the protocol.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <string>
#include <vector>

#include "memory/memory.hpp"
#include "memory/ready.hpp"
#include "protocols/protocols.hpp"
#include "support/error_text.hpp"
#include "support/signature.hpp"
#include "usmx/copy.hpp"
#include "usmx/error.hpp"
#include "usmx/trace.hpp"

namespace usmx::python {
namespace {

/// A buffer that a Python object exported, held for as long as the copy runs.
class byte_buffer {
 public:
  byte_buffer(nb::handle obj, bool to_write) {
    get_bytes(obj, buffer_, PyBUF_STRIDES | (to_write ? PyBUF_WRITABLE : 0));
  }
  byte_buffer(const byte_buffer&) = delete;
  byte_buffer& operator=(const byte_buffer&) = delete;
  ~byte_buffer() { PyBuffer_Release(&buffer_); }

  std::size_t bytes() const noexcept { return static_cast<std::size_t>(buffer_.len); }
  std::byte* data() const noexcept { return static_cast<std::byte*>(buffer_.buf); }
  bool contiguous() const noexcept { return PyBuffer_IsContiguous(&buffer_, 'C') != 0; }

  /// Any layout as single bytes: one more dimension for the bytes of an element. So the type of the
  /// elements, and whether they are aligned, does not matter.
  any_view elements() const {
    const auto rank = static_cast<std::size_t>(buffer_.ndim);
    extents shape(rank + 1);
    extents strides(rank + 1);
    for (std::size_t k = 0; k < rank; ++k) {
      shape[k] = buffer_.shape[k];
      strides[k] = buffer_.strides[k];
    }
    shape[rank] = buffer_.itemsize;
    strides[rank] = 1;
    layout where;
    any_view out;
    fault code = layout::strided(std::move(shape), std::move(strides), 1, where);
    if (code == fault::none) {
      code = any_view::make(data(), dtype(), std::move(where), usm_kind::unknown,
                            buffer_.readonly != 0, out);
    }
    if (code != fault::none) {
      throw interop_error(code, detail::format("buffer: its {} {}", field_of(code), message(code)));
    }
    return out;
  }

 private:
  Py_buffer buffer_{};
};

array shaped_as(const array& a, const layout& like, const dtype& type, fault& code) {
  any_view out = seen_as(a.elements(), like, type, code);
  return code == fault::none ? a.with_view(std::move(out)) : a;
}

array first_bytes(const array& a, std::size_t count) {
  return a.with_view(
      byte_run(static_cast<std::byte*>(a.data()), count, a.kind(), a.elements().read_only()));
}

[[noreturn]] void raise_sizes(const char* what, std::size_t source, std::size_t destination) {
  throw value_error("{}: the source has {} bytes, the destination only {}", what, source,
                    destination);
}

void to_host(const array& from, void* data) {
  if (from.elements().size() == 0) return;
  const any_view to =
      byte_run(static_cast<std::byte*>(data), static_cast<std::size_t>(from.elements().size()),
               usm_kind::unknown, false);
  const gil_released released;
  usmx::copy_to_host(to, from);
}

nb::object copy_to_host(const memory& m, nb::object obj) {
  const std::size_t size = live(m)->elements().nbytes();
  if (obj.is_none()) {
    obj = nb::module_::import_("numpy").attr("empty")(size, "u1");
  }
  const byte_buffer to(obj, true);
  if (to.bytes() < size) raise_sizes("copy_to_host", size, to.bytes());
  const live_bytes held = live(m);  // asked again: the buffer's owner may have run code
  const array& idle = *held;
  if (to.contiguous() && idle.elements().nbytes() == size && is_idle_for_host(idle)) {
    move_bytes(idle, to.data(), idle.data(), size);
    return obj;
  }
  const array& from = idle;
  if (to.contiguous()) {
    to_host(from, to.data());
    return obj;
  }
  if (to.bytes() != size) {
    throw value_error(
        "copy_to_host: a destination that is not contiguous must have exactly {} bytes, it has {}",
        size, to.bytes());
  }
  const any_view grid = to.elements();
  fault code = fault::none;
  const array source = shaped_as(from, grid.layout(), dtype(), code);
  const gil_released released;
  usmx::copy_to_host(grid, source);
  return obj;
}

void copy_from_host(const memory& m, nb::handle obj) {
  static_cast<void>(writable(m, "copy_from_host"));
  const byte_buffer from(obj, false);
  const std::size_t size = from.bytes();
  const live_bytes held = live(m);  // asked again: the buffer's owner may have run code
  const array& idle = *held;
  if (size > idle.elements().nbytes())
    raise_sizes("copy_from_host", size, idle.elements().nbytes());
  if (size == 0) return;
  if (from.contiguous() && is_idle_for_host(idle)) {
    return move_bytes(idle, idle.data(), from.data(), size);
  }
  const array to = idle;
  const any_view source =
      from.contiguous() ? byte_run(from.data(), size, usm_kind::unknown, true) : from.elements();
  fault code = fault::none;
  const array destination = shaped_as(to, source.layout(), dtype(), code);
  const gil_released released;
  const auto* const begin = destination.elements().first_byte();
  const auto* const end = destination.elements().last_byte();
  if (source.first_byte() < end && begin < source.last_byte()) {
    // A buffer of this very memory: SYCL copies may not overlap.
    std::vector<std::byte> aside(size);
    const any_view kept = byte_run(aside.data(), size, usm_kind::unknown, false)
                              .with_layout(destination.elements().layout(), 0);
    convert_on_host(kept, source);
    usmx::copy_from_host(destination, kept);
    return;
  }
  usmx::copy_from_host(destination, source);
}

void copy_from_device(const memory& m, nb::handle obj) {
  const array to = *writable(m, "copy_from_device");
  const std::optional<array> from = to_array(obj);
  if (!from) raise_not_usm(obj, "copy_from_device");
  const std::size_t size = from->elements().nbytes();
  if (size > to.elements().nbytes()) raise_sizes("copy_from_device", size, to.elements().nbytes());
  copy_elements(first_bytes(to, size), *from);
}

void memset(const memory& m, nb::handle value) {
  const array to = *writable(m, "memset");
  if (!PyIndex_Check(value.ptr())) {
    throw nb::type_error("memset: val must be an integer from 0 to 255");
  }
  const Py_ssize_t number = PyNumber_AsSsize_t(value.ptr(), nullptr);  // clips
  if (number == -1 && PyErr_Occurred() != nullptr) nb::raise_python_error();
  if (number < 0 || number > 255) {
    throw value_error("memset: val is {}, a byte holds 0 to 255", describe_value(value));
  }
  const auto byte = static_cast<unsigned char>(number);
  const gil_released released;
  if (to.elements().size() != 0) fill(to, &byte);
}

nb::bytes tobytes(const memory& m) {
  const array from = *live(m);
  nb::object made = nb::steal(
      PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(from.elements().nbytes())));
  if (!made.is_valid()) nb::raise_python_error();
  to_host(from, PyBytes_AS_STRING(made.ptr()));
  return nb::borrow<nb::bytes>(made);
}

/// Up to here other threads of Python wait less for the copy than giving up their lock would cost.
constexpr std::size_t brief_bytes = 32 * 1024;

}  // namespace

bool is_idle_for_host(const array& a) noexcept {
  // Last, because it may let go of the GIL. The longer way is the one that leaves records.
  const shared_owner& owner = a.keep_alive();
  return host_accessible(a.kind()) && a.elements().nbytes() < detail::large_bytes && owner &&
         !owner->is_lent() && !is_traced() && !is_busy(owner);
}

void move_bytes(const array& holds, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  if (bytes <= brief_bytes) {
    std::memmove(to, from, bytes);
    return;
  }
  const shared_owner keep = holds.keep_alive();  // another thread may free the memory meanwhile
  const gil_released released;
  std::memmove(to, from, bytes);
}

void copy_elements(const array& to, const array& from) {
  if (from.elements().size() == 0) return;
  fault code = fault::none;
  array source = from;
  array destination = to;
  if (from.elements().layout().is_c_contiguous()) {
    source = byte_span(from);
  } else {
    destination = shaped_as(to, from.elements().layout(), from.elements().dtype(), code);
    if (code != fault::none) {  // not aligned for the elements: take them apart into bytes
      source = from.with_view(single_bytes(from.elements()));
      destination = shaped_as(to, source.elements().layout(), dtype(), code);
    }
  }
  const gil_released released;
  copy(destination, source);
}

void bind_copies(nb::class_<memory>& c) {
  c.def("copy_to_host(self, obj: Buffer | None = None) -> Any"_sig, copy_to_host,
        "Copy the bytes into a writable buffer and return it.\n\n"
        "Parameters\n----------\n"
        "obj : buffer, optional\n"
        "    At least `nbytes` bytes, of any type and shape; elements that are not contiguous are\n"
        "    filled in C order. Default: a new NumPy array of uint8, shape (nbytes,).\n\n"
        "Raises\n------\n"
        "ValueError\n    The buffer is too small.\n"
        "BufferError\n    The buffer is read-only.");
  c.def("copy_from_host(self, obj: Buffer?) -> None"_sig, copy_from_host,
        "Copy a buffer of the host, of any type and shape, to the beginning of this memory.\n\n"
        "Raises\n------\n"
        "ValueError\n    The buffer has more bytes than the memory, or the memory is read-only.\n"
        "TypeError\n    `obj` has no buffer.");
  c.def("copy_from_device(self, obj: SupportsUSM?) -> None"_sig, copy_from_device,
        "Copy the elements of an object with `__sycl_usm_array_interface__`, in C order, to the\n"
        "beginning of this memory.\n\n"
        "Raises\n------\n"
        "ValueError\n    It has more bytes than the memory, or the memory is read-only.\n"
        "NotUSMError\n    `obj` does not speak the protocol.");
  c.def("memset(self, val: SupportsIndex? = 0) -> None"_sig, memset,
        "Set every byte to `val`, an integer 0 to 255.");
  c.def("tobytes", tobytes, "A copy of the bytes as a `bytes` object.");
  c.def("__bytes__", tobytes);
}

}  // namespace usmx::python
