// Reads the sides of a transfer and makes them fit each other; see transfer_sides.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "memory/transfer_sides.hpp"

#include <cstring>
#include <string>
#include <utility>

#include "memory/memory.hpp"
#include "memory/ready.hpp"
#include "protocols/protocols.hpp"
#include "usmx/copy.hpp"
#include "usmx/error.hpp"
#include "usmx/trace.hpp"

namespace usmx::python {
namespace {

[[noreturn]] void refuse_read_only(const char* where, nb::handle obj) {
  throw interop_error(fault::read_only, std::string(where) + ": " + Py_TYPE(obj.ptr())->tp_name +
                                            " is read-only; expected memory that can be written");
}

host_buffer borrow(nb::handle obj, const char* where, bool to_write) {
  if (PyObject_CheckBuffer(obj.ptr()) == 0) {
    wrong_type(where, obj,
               ("USM (an array, memory, or " + expected_protocols() +
                ") or a buffer of the host such as a NumPy array")
                   .c_str());
  }
  if (!to_write) return std::move(*host_buffer::borrow(obj));
  try {
    return std::move(*host_buffer::borrow(obj, true));
  } catch (nb::python_error& e) {
    // The exporter's message does not name the argument.
    if (!e.matches(PyExc_BufferError) && !e.matches(PyExc_ValueError)) throw;
    const auto readable = host_buffer::borrow(obj);
    if (readable && readable->elements().read_only()) refuse_read_only(where, obj);
    throw;
  }
}

/// The first bytes of a view of contiguous bytes, seen as other elements in C order.
any_view seen_as(const any_view& bytes, const layout& like, const dtype& type, fault& code) {
  layout where;
  any_view out;
  code = layout::c_order(like.shape(), type.itemsize(), where);
  if (code == fault::none) {
    code =
        any_view::make(bytes.data(), type, std::move(where), bytes.kind(), bytes.read_only(), out);
  }
  return out;
}

/// `raw` as what `typed` holds; `typed` is taken apart into bytes if `raw` is not aligned for it.
void see_raw_as(transfer_side& raw, transfer_side& typed) {
  fault code = fault::none;
  any_view view = seen_as(raw.elements, typed.elements.layout(), typed.elements.dtype(), code);
  if (code != fault::none) {
    typed.elements = single_bytes(typed.elements);
    view = seen_as(raw.elements, typed.elements.layout(), dtype(), code);
  }
  if (code != fault::none) throw interop_error(code, std::string(message(code)));
  raw.elements = std::move(view);
}

bool is_bytes(nb::handle obj) noexcept {
  return PyBytes_CheckExact(obj.ptr()) || PyByteArray_CheckExact(obj.ptr());
}

/// Which queue the commands go to, and whether the host does it alone.
const sycl::queue* queue_of(const transfer_side& dst, const transfer_side& src,
                            const std::optional<sycl::queue>& queue) {
  if (queue) return &*queue;
  if (dst.usm) return &dst.usm->queue();
  return src.usm ? &src.usm->queue() : nullptr;
}

// --- the plain case: no command, no lock, no description of layouts

/// Up to here other threads of Python wait less for the copy than giving up their lock would cost.
constexpr std::size_t brief_bytes = 32 * 1024;
/// The letter of PEP 3118, in native order and size, that NumPy writes for a type; 0 for others.
char letter_of(const dtype& type) noexcept {
  const bool is_signed = type.kind() == type_class::integer;
  switch (type.kind()) {
    case type_class::boolean:
      return '?';
    case type_class::integer:
    case type_class::unsigned_integer:
      switch (type.itemsize()) {
        case 1:
          return is_signed ? 'b' : 'B';
        case 2:
          return is_signed ? 'h' : 'H';
        case 4:
          return is_signed ? 'i' : 'I';
        default:
          return is_signed ? 'l' : 'L';
      }
    case type_class::floating:
      return type.itemsize() == 2 ? 'e' : type.itemsize() == 4 ? 'f' : 'd';
    default:
      return 0;
  }
}

/// USM of ours in C order on which nothing is pending; null otherwise. Stays where it is as long as
/// `keep` lives: asking may let go of the GIL.
const array* idle_usm(nb::handle obj, bool& is_memory, shared_owner& keep) noexcept {
  if (!nb::inst_check(obj)) return nullptr;
  const array* a = memory_of(obj);
  is_memory = a != nullptr;
  if (a == nullptr) a = array_of(obj);
  if (a == nullptr) return nullptr;
  keep = a->keep_alive();
  if (a->elements().size() == 0 || !is_idle_for_host(*a)) return nullptr;
  return a->elements().layout().is_c_contiguous() ? a : nullptr;
}

bool fits(const Py_buffer& b, const array& a, bool is_memory) noexcept {
  if (static_cast<std::size_t>(b.len) != a.elements().nbytes()) return false;
  if (PyBuffer_IsContiguous(&b, 'C') == 0) return false;
  if (is_memory) return true;
  const extents& shape = a.elements().layout().shape();
  if (static_cast<std::size_t>(b.ndim) != shape.size()) return false;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (b.shape[k] != shape[k]) return false;
  }
  const char letter = letter_of(a.elements().dtype());
  return letter != 0 && b.format != nullptr && b.format[0] == letter && b.format[1] == 0;
}

/// Between `a` and the buffer of `obj`.
bool copy_with_buffer(const array& a, bool is_memory, nb::handle obj, bool to_buffer) {
  const int flags =
      PyBUF_STRIDES | (is_memory ? 0 : PyBUF_FORMAT) | (to_buffer ? PyBUF_WRITABLE : 0);
  Py_buffer b;
  if (PyObject_GetBuffer(obj.ptr(), &b, flags) != 0) {
    PyErr_Clear();
    return false;
  }
  const bool possible = fits(b, a, is_memory);
  if (possible) {
    move_bytes(a, to_buffer ? b.buf : a.data(), to_buffer ? a.data() : b.buf,
               a.elements().nbytes());
  }
  PyBuffer_Release(&b);
  return possible;
}

}  // namespace

bool is_idle_for_host(const array& a) noexcept {
  const shared_owner keep = a.keep_alive();
  // The longer way is the one that leaves records.
  return host_accessible(a.kind()) && a.elements().nbytes() < detail::large_bytes && keep &&
         !keep->is_lent() && !is_traced() && !is_busy(keep);
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

bool copy_at_once(nb::handle dst, nb::handle src) {
  bool dst_is_memory = false;
  bool src_is_memory = false;
  shared_owner to_kept;
  shared_owner from_kept;
  const array* const to = idle_usm(dst, dst_is_memory, to_kept);
  const array* const from = idle_usm(src, src_is_memory, from_kept);
  if (to != nullptr && to->elements().read_only()) return false;
  if (to != nullptr && from != nullptr) {
    const any_view& t = to->elements();
    const any_view& f = from->elements();
    const bool same = dst_is_memory && src_is_memory
                          ? t.nbytes() == f.nbytes()
                          : t.dtype() == f.dtype() && t.layout().shape() == f.layout().shape();
    if (!same || t.nbytes() > detail::small_bytes) return false;
    std::memmove(t.data(), f.data(), t.nbytes());
    return true;
  }
  if (to != nullptr)
    return !nb::inst_check(src) && copy_with_buffer(*to, dst_is_memory, src, false);
  return from != nullptr && !nb::inst_check(dst) &&
         copy_with_buffer(*from, src_is_memory, dst, true);
}

transfer_side transfer_side::read(nb::handle obj, const char* where, bool to_write) {
  transfer_side side;
  if (is_ready<memory>(obj)) {
    side.usm = *live(*nb::inst_ptr<memory>(obj));
    side.raw = true;
  } else if ((side.usm = import_array(obj, {.writable = to_write}))) {
    side.raw = flag_means_writable(obj);
  }
  if (side.usm) {
    side.elements = side.usm->elements();
    if (to_write && side.elements.read_only()) refuse_read_only(where, obj);
    return side;
  }
  side.host.emplace(borrow(obj, where, to_write));
  side.elements = side.host->elements();
  side.raw = is_bytes(obj);
  return side;
}

shared_owner transfer_side::keep_host() {
  if (!host) return {};
  auto* const held = new host_buffer(std::move(*host));
  PyObject* const capsule = PyCapsule_New(held, nullptr, [](PyObject* self) {
    delete static_cast<host_buffer*>(PyCapsule_GetPointer(self, nullptr));
  });
  if (capsule == nullptr) {
    delete held;
    throw nb::python_error();
  }
  host.reset();
  const auto bytes = static_cast<std::size_t>(elements.last_byte() - elements.first_byte());
  return own_python(nb::steal(capsule), elements.first_byte(), bytes);
}

void match_raw_bytes(transfer_side& dst, transfer_side& src) {
  if (!dst.raw && !src.raw) return;
  const std::size_t to = dst.elements.nbytes();
  const std::size_t from = src.elements.nbytes();
  if (to != from) {
    throw nb::value_error(("src: has " + std::to_string(from) + " bytes, dst has " +
                           std::to_string(to) +
                           "; expected the same number of bytes, since memory has no shape "
                           "(slice the longer one)")
                              .c_str());
  }
  if (to == 0) {
    src.elements = dst.elements = any_view();
  } else if (dst.raw) {
    see_raw_as(dst, src);
  } else {
    see_raw_as(src, dst);
  }
}

void copy_sides(transfer_side& dst, transfer_side& src, const std::optional<sycl::queue>& queue,
                std::span<const sycl::event> depends) {
  const gil_released released;
  const sycl::queue* const where = queue_of(dst, src, queue);
  if (dst.usm && src.usm) {
    if (!queue && depends.empty()) return usmx::copy(dst.with_elements(), src.with_elements());
    return usmx::copy(*where, dst.with_elements(), src.with_elements(), depends);
  }
  if (dst.usm) return usmx::copy_from_host(*where, dst.with_elements(), src.elements, depends);
  if (src.usm) return usmx::copy_to_host(*where, dst.elements, src.with_elements(), depends);
  wait(depends);
  convert_on_host(dst.elements, src.elements);
}

sycl::event copy_sides_async(transfer_side& dst, transfer_side& src,
                             const std::optional<sycl::queue>& queue,
                             std::span<const sycl::event> depends) {
  const shared_owner kept = dst.usm ? src.keep_host() : dst.keep_host();
  const gil_released released;
  const sycl::queue* const where = queue_of(dst, src, queue);
  if (dst.usm && src.usm) {
    if (!queue) return usmx::copy_async(dst.with_elements(), src.with_elements(), depends);
    return usmx::copy_async(*where, dst.with_elements(), src.with_elements(), depends);
  }
  if (dst.usm) {
    return usmx::copy_from_host_async(*where, dst.with_elements(), src.elements, depends, kept);
  }
  if (src.usm) {
    return usmx::copy_to_host_async(*where, dst.elements, src.with_elements(), depends, kept);
  }
  wait(depends);
  convert_on_host(dst.elements, src.elements);
  return {};
}

}  // namespace usmx::python
