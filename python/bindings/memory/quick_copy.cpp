// The shortest way between a buffer and memory within reach of the host: no command, no lock, no
// description of layouts. Whatever is not as plain as that takes the way that says what is wrong.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <utility>

#include "memory/memory.hpp"
#include "memory/transfer_sides.hpp"
#include "usmx/trace.hpp"

namespace usmx::python {
namespace {

/// Up to here other threads of Python wait less for the copy than giving up their lock would cost.
constexpr std::size_t brief_bytes = 32 * 1024;
/// Up to here memory of two arrays is copied by the host on any device.
constexpr std::size_t small_bytes = 16 * 1024;
/// From here the device may copy with more threads than one, so the long way decides.
constexpr std::size_t large_bytes = std::size_t{4} << 20;

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
  return host_accessible(a.kind()) && a.elements().nbytes() < large_bytes && keep &&
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

bool copy_quickly(nb::handle dst, nb::handle src) {
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
    if (!same || t.nbytes() > small_bytes) return false;
    std::memmove(t.data(), f.data(), t.nbytes());
    return true;
  }
  if (to != nullptr)
    return !nb::inst_check(src) && copy_with_buffer(*to, dst_is_memory, src, false);
  return from != nullptr && !nb::inst_check(dst) &&
         copy_with_buffer(*from, src_is_memory, dst, true);
}

}  // namespace usmx::python
