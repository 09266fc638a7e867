// `usmx.copy` and the other transfers: their two sides as Python names them, USM of any library or
// a buffer of the host, and copies that wait or return events.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "array/ndarray.hpp"
#include "core/format.hpp"
#include "core/numbers.hpp"
#include "memory/memory.hpp"
#include "memory/ready.hpp"
#include "protocols/protocols.hpp"
#include "runtime/runtime_bindings.hpp"
#include "support/error_text.hpp"
#include "support/examples.hpp"
#include "support/signature.hpp"
#include "usmx/copy.hpp"
#include "usmx/error.hpp"
#include "usmx/trace.hpp"

namespace usmx::python {
namespace {

/// One side, and what has to be held for it. Made and destroyed with the GIL.
struct transfer_side {
  /// Reads USM through the protocols, everything else through the buffer protocol. `where` is the
  /// argument's name. Throws TypeError for neither, interop_error if it is to be written and is
  /// read-only.
  static transfer_side read(nb::handle obj, const char* where, bool to_write);

  /// What keeps the host's memory exported; empty for USM, which has its owner. Moves `host` into
  /// it.
  shared_owner keep_host();
  array with_elements() const { return usm->with_view(elements); }

  any_view elements;
  std::optional<array> usm;
  std::optional<host_buffer> host;
  /// Of memory of the host that came by a protocol.
  shared_owner host_owner;
  /// Bytes without a type of their own: memory objects, bytes, bytearray.
  bool raw = false;
};

[[noreturn]] void refuse_read_only(const char* where, nb::handle obj) {
  throw interop_error(fault::read_only,
                      detail::format("{}: {} is read-only; expected memory that can be written",
                                     where, Py_TYPE(obj.ptr())->tp_name));
}

host_buffer borrow(nb::handle obj, const char* where, bool to_write) {
  if (PyObject_CheckBuffer(obj.ptr()) == 0 && !to_write && offers_host_elements(obj)) {
    return std::move(*host_buffer::borrow(nb::module_::import_("numpy").attr("asarray")(obj)));
  }
  if (PyObject_CheckBuffer(obj.ptr()) == 0) {
    wrong_type(where, obj,
               "USM (an array, memory, or " + expected_protocols() +
                   ") or a buffer of the host such as a NumPy array");
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

/// `raw` as what `typed` holds; `typed` is taken apart into bytes if `raw` is not aligned for it.
void see_raw_as(transfer_side& raw, transfer_side& typed) {
  fault code = fault::none;
  any_view view = seen_as(raw.elements, typed.elements.layout(), typed.elements.dtype(), code);
  if (code != fault::none) {
    typed.elements = single_bytes(typed.elements);
    view = seen_as(raw.elements, typed.elements.layout(), dtype(), code);
  }
  detail::require_valid(code);
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

/// USM of ours in C order on which nothing is pending; null otherwise. Stays where it is as long as
/// `held`: asking may let go of the GIL.
const array* idle_usm(nb::handle obj, bool& is_memory, std::optional<live_bytes>& held) noexcept {
  if (!nb::inst_check(obj)) return nullptr;
  const array* a = array_of(obj);
  if (a == nullptr) {
    if (memory_of(obj) == nullptr) return nullptr;
    is_memory = true;
    a = &*held.emplace(live(*nb::inst_ptr<memory>(obj)));
  }
  if (a->elements().size() == 0 || !is_idle_for_host(*a)) return nullptr;
  return a->elements().layout().is_c_contiguous() ? a : nullptr;
}

bool fits(const Py_buffer& b, const array& a, bool is_memory) noexcept {
  if (static_cast<std::size_t>(b.len) != a.elements().nbytes()) return false;
  if (PyBuffer_IsContiguous(&b, 'C') == 0) return false;
  if (is_memory) return !has_references(b.format);
  const extents& shape = a.elements().layout().shape();
  if (static_cast<std::size_t>(b.ndim) != shape.size()) return false;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (b.shape[k] != shape[k]) return false;
  }
  const detail::number_row* const type = detail::number_row_of(a.elements().dtype());
  return type != nullptr && b.format != nullptr && !type->format.empty() &&
         type->format == b.format;
}

/// Between `a` and the buffer of `obj`.
bool copy_with_buffer(const array& a, bool is_memory, nb::handle obj, bool to_buffer) {
  const int flags = PyBUF_STRIDES | PyBUF_FORMAT | (to_buffer ? PyBUF_WRITABLE : 0);
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

/// The first branch of a copy: makes it if it is between idle USM of ours and a buffer, or two
/// small pieces of USM, of one type and shape, contiguous and accessible to the host. False, and
/// nothing has happened, otherwise.
bool copy_at_once(nb::handle dst, nb::handle src) {
  bool dst_is_memory = false;
  bool src_is_memory = false;
  std::optional<live_bytes> to_held;
  std::optional<live_bytes> from_held;
  const array* const to = idle_usm(dst, dst_is_memory, to_held);
  const array* const from = idle_usm(src, src_is_memory, from_held);
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
  } else {
    std::optional<array> to_copy;
    side.usm = import_array(obj, {.writable = to_write, .to_copy = to_write ? nullptr : &to_copy});
    if (side.usm) side.raw = speaks_as_dpctl(Py_TYPE(obj.ptr()));
    if (to_copy) {
      side.elements = to_copy->elements();
      side.host_owner = to_copy->keep_alive();
      return side;
    }
    if (!side.usm && to_write && PyObject_CheckBuffer(obj.ptr()) == 0) {
      side.usm = import_array(obj, {.writable = true, .host = true});
    }
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
  if (!host) return host_owner;
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

/// Where one side is raw, it is seen as the other one's elements in C order; both must have the
/// same number of bytes. Throws ValueError naming both.
void match_raw_bytes(transfer_side& dst, transfer_side& src) {
  if (!dst.raw && !src.raw) return;
  const std::size_t to = dst.elements.nbytes();
  const std::size_t from = src.elements.nbytes();
  if (to != from) {
    throw value_error(
        "src: has {} bytes, dst has {}; expected the same number of bytes, since memory has no "
        "shape (slice the longer one)",
        from, to);
  }
  if (to == 0) {
    src.elements = dst.elements = any_view();
  } else if (dst.raw) {
    see_raw_as(dst, src);
  } else {
    see_raw_as(src, dst);
  }
}

/// Submits or makes the copy: everything that `copy`, `copy_2d` and their asynchronous forms share
/// once the views are right. Lets go of the GIL.
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

event copy_sides_async(transfer_side& dst, transfer_side& src,
                       const std::optional<sycl::queue>& queue,
                       std::span<const sycl::event> depends) {
  const shared_owner kept = dst.usm ? src.keep_host() : dst.keep_host();
  const gil_released released;
  const sycl::queue* const where = queue_of(dst, src, queue);
  if (dst.usm && src.usm) {
    sycl::event last =
        queue ? usmx::copy_async(*where, dst.with_elements(), src.with_elements(), depends)
              : usmx::copy_async(dst.with_elements(), src.with_elements(), depends);
    return {std::move(last), *where};
  }
  if (dst.usm) {
    return {usmx::copy_from_host_async(*where, dst.with_elements(), src.elements, depends, kept),
            *where};
  }
  if (src.usm) {
    return {usmx::copy_to_host_async(*where, dst.elements, src.with_elements(), depends, kept),
            *where};
  }
  wait(depends);
  convert_on_host(dst.elements, src.elements);
  return {};
}

std::optional<sycl::queue> optional_queue(nb::handle queue) {
  if (queue.is_none()) return {};
  return to_queue(queue);
}

/// Gives back what earlier transfers kept and need no longer.
void give_back_finished() {
  collect();
  release_waiting_objects();
}

void require_equal_shapes(const transfer_side& dst, const transfer_side& src) {
  if (dst.elements.layout().shape() == src.elements.layout().shape()) return;
  throw value_error("src: has shape {}, dst has shape {}; the shapes must be equal",
                    detail::shape_text(src.elements.layout().shape()),
                    detail::shape_text(dst.elements.layout().shape()));
}

struct both_sides {
  both_sides(nb::handle to, nb::handle from)
      : dst(transfer_side::read(to, "dst", true)), src(transfer_side::read(from, "src", false)) {}
  transfer_side dst;
  transfer_side src;
};

both_sides matching(nb::handle dst, nb::handle src) {
  both_sides sides(dst, src);
  match_raw_bytes(sides.dst, sides.src);
  require_equal_shapes(sides.dst, sides.src);
  return sides;
}

// --- progress

/// Bytes between two reports: often enough for a bar, seldom enough to cost nothing.
std::int64_t bytes_per_report(std::size_t total) {
  constexpr std::size_t least = std::size_t{1} << 20;
  constexpr std::size_t most = std::size_t{64} << 20;
  return static_cast<std::int64_t>(std::clamp(total / 100, least, most));
}

/// Cut along the first dimension that can be cut, and reported after each part.
void copy_in_parts(both_sides& sides, const std::optional<sycl::queue>& queue,
                   std::span<const sycl::event> depends, nb::handle progress) {
  const any_view to = sides.dst.elements;
  const any_view from = sides.src.elements;
  nb::object report = nb::module_::import_("usmx._progress").attr("Report")(progress, to.nbytes());
  nb::object leave = report.attr("close");
  try {
    int axis = 0;
    while (axis < to.rank() && to.layout().shape()[static_cast<std::size_t>(axis)] == 1) ++axis;
    if (to.size() == 0 || axis == to.rank()) {
      copy_sides(sides.dst, sides.src, queue, depends);
      report.attr("add")(to.nbytes());
    } else {
      const std::int64_t length = to.layout().shape()[static_cast<std::size_t>(axis)];
      const auto row = std::max<std::int64_t>(static_cast<std::int64_t>(to.nbytes()) / length, 1);
      const std::int64_t step = std::max<std::int64_t>(bytes_per_report(to.nbytes()) / row, 1);
      for (std::int64_t at = 0; at < length; at += step) {
        const std::int64_t count = std::min(step, length - at);
        sides.dst.elements = to.sliced(axis, at, count, 1);
        sides.src.elements = from.sliced(axis, at, count, 1);
        copy_sides(sides.dst, sides.src, queue, depends);
        report.attr("add")(sides.dst.elements.nbytes());
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
      }
    }
  } catch (...) {
    leave();
    throw;
  }
  leave();
}

bool overlap(const any_view& a, const any_view& b) noexcept {
  return a.size() != 0 && b.size() != 0 && a.first_byte() < b.last_byte() &&
         b.first_byte() < a.last_byte();
}

bool is_empty_tuple(nb::handle obj) noexcept {
  return PyTuple_CheckExact(obj.ptr()) && PyTuple_GET_SIZE(obj.ptr()) == 0;
}

void copy(nb::handle dst, nb::handle src, nb::handle queue, nb::handle depends_on,
          nb::handle progress) {
  const bool is_plain = queue.is_none() && progress.ptr() == Py_False && is_empty_tuple(depends_on);
  if (is_plain && copy_at_once(dst, src)) return;
  both_sides sides = matching(dst, src);
  const std::optional<sycl::queue> where = optional_queue(queue);
  const std::vector<sycl::event> depends = to_events(depends_on, "depends_on");
  const bool reports = !progress.is_none() && progress.ptr() != Py_False;
  // Parts of overlapping sides would overwrite each other's source.
  if (reports && !overlap(sides.dst.elements, sides.src.elements)) {
    return copy_in_parts(sides, where, depends, progress);
  }
  copy_sides(sides.dst, sides.src, where, depends);
}

event copy_async(nb::handle dst, nb::handle src, nb::handle queue, nb::handle depends_on) {
  give_back_finished();
  both_sides sides = matching(dst, src);
  const std::optional<sycl::queue> where = optional_queue(queue);
  return copy_sides_async(sides.dst, sides.src, where, to_events(depends_on, "depends_on"));
}

// --- pitched rows

both_sides pitched_sides(nb::handle dst, nb::handle dst_pitch, nb::handle src, nb::handle src_pitch,
                         nb::handle width, nb::handle height) {
  both_sides sides(dst, src);
  pitched to{read_size(dst_pitch, "dst_pitch"), read_size(width, "width"),
             read_size(height, "height")};
  pitched from{read_size(src_pitch, "src_pitch"), to.width, to.rows};
  const any_view all = sides.dst.elements;
  sides.dst.elements = rows_of(all, to, from, sides.src.elements.first_byte());
  sides.src.elements = rows_of(sides.src.elements, from, to, all.first_byte());
  return sides;
}

void copy_2d(nb::handle dst, nb::handle dst_pitch, nb::handle src, nb::handle src_pitch,
             nb::handle width, nb::handle height, nb::handle queue, nb::handle depends_on) {
  both_sides sides = pitched_sides(dst, dst_pitch, src, src_pitch, width, height);
  const std::optional<sycl::queue> where = optional_queue(queue);
  copy_sides(sides.dst, sides.src, where, to_events(depends_on, "depends_on"));
}

event copy_2d_async(nb::handle dst, nb::handle dst_pitch, nb::handle src, nb::handle src_pitch,
                    nb::handle width, nb::handle height, nb::handle queue, nb::handle depends_on) {
  give_back_finished();
  both_sides sides = pitched_sides(dst, dst_pitch, src, src_pitch, width, height);
  const std::optional<sycl::queue> where = optional_queue(queue);
  return copy_sides_async(sides.dst, sides.src, where, to_events(depends_on, "depends_on"));
}

// --- one side only

array to_usm(nb::handle obj, const char* where, bool to_write) {
  const std::optional<array> a = to_array(obj);
  if (!a) raise_not_usm(obj, where);
  if (to_write && a->elements().read_only()) {
    throw interop_error(fault::read_only,
                        detail::format("{}: the memory is read-only and cannot be written", where));
  }
  return *a;
}

std::uint8_t to_byte(nb::handle value) {
  const std::int64_t number = read_integer(value, "value", fault::typestr_malformed);
  if (number < 0 || number > 255) {
    throw value_error("value: {} is not a byte; expected 0 to 255", number);
  }
  return static_cast<std::uint8_t>(number);
}

using events = std::span<const sycl::event>;

/// Calls `submit(queue, memory, depends)` without the GIL.
template <class Submit>
auto with_usm(const array& a, nb::handle queue, nb::handle depends_on, Submit submit) {
  const sycl::queue on = queue.is_none() ? a.queue() : to_queue(queue);
  const std::vector<sycl::event> depends = to_events(depends_on, "depends_on");
  const gil_released released;
  using result = std::invoke_result_t<Submit, const sycl::queue&, const array&, events>;
  if constexpr (std::is_void_v<result>) {
    submit(on, a, events(depends));
  } else {
    return event(submit(on, a, events(depends)), on);
  }
}

event fill_async(nb::handle dst, nb::handle value, nb::handle queue, nb::handle depends_on) {
  const array to = to_usm(dst, "dst", true);
  const auto element = element_of(value, to.elements().dtype());
  return with_usm(to, queue, depends_on,
                  [&](const sycl::queue& on, const array& a, events depends) {
                    return usmx::fill_async(on, a, element.get(), depends);
                  });
}

void fill(nb::handle dst, nb::handle value, nb::handle queue, nb::handle depends_on) {
  const array to = to_usm(dst, "dst", true);
  const auto element = element_of(value, to.elements().dtype());
  with_usm(to, queue, depends_on, [&](const sycl::queue& on, const array& a, events depends) {
    usmx::fill(on, a, element.get(), depends);
  });
}

event memset_async(nb::handle dst, nb::handle value, nb::handle queue, nb::handle depends_on) {
  const std::uint8_t byte = to_byte(value);
  return with_usm(to_usm(dst, "dst", true), queue, depends_on,
                  [&](const sycl::queue& on, const array& a, events depends) {
                    return usmx::memset_async(on, a, byte, depends);
                  });
}

void memset(nb::handle dst, nb::handle value, nb::handle queue, nb::handle depends_on) {
  const std::uint8_t byte = to_byte(value);
  with_usm(to_usm(dst, "dst", true), queue, depends_on,
           [&](const sycl::queue& on, const array& a, events depends) {
             const std::vector<std::uint8_t> element(a.elements().dtype().itemsize(), byte);
             usmx::fill(on, a, element.data(), depends);
           });
}

event prefetch_async(nb::handle obj, nb::handle queue, nb::handle depends_on) {
  return with_usm(to_usm(obj, "obj", false), queue, depends_on,
                  [](const sycl::queue& on, const array& a, events depends) {
                    return usmx::prefetch_async(on, a, depends);
                  });
}

event mem_advise_async(nb::handle obj, nb::handle advice, nb::handle queue, nb::handle depends_on) {
  const std::int64_t number = read_integer(advice, "advice", fault::shape_overflow);
  if (number < 0 || number > std::numeric_limits<int>::max()) {
    throw value_error("advice: {}; expected a number of the backend, or 0", number);
  }
  return with_usm(to_usm(obj, "obj", false), queue, depends_on,
                  [&](const sycl::queue& on, const array& a, events depends) {
                    return usmx::mem_advise_async(on, a, static_cast<int>(number), depends);
                  });
}

// --- what they say

const std::string depends_doc =
    "depends_on : Event or sequence of Event, optional\n"
    "    What must have finished before, of usmx or dpctl; in addition to all commands pending\n"
    "    on the memory as far as usmx knows.\n";

const std::string order_doc =
    "queue : Queue, optional\n"
    "    Where the commands go, in any form that names a queue. Default: that of `dst` or, for\n"
    "    memory of the host, of the other side.\n" +
    depends_doc;

/// Of transfers that have one side.
const std::string own_order_doc =
    "queue : Queue, optional\n"
    "    Where the command goes, in any form that names a queue. Default: that of the memory.\n" +
    depends_doc;

const std::string event_doc =
    "\n"
    "Returns\n-------\n"
    "Event\n    ``event.wait()`` or ``await event`` raises if the command failed.";

const std::string copy_doc =
    "Copy `src` into `dst`, element by element, and wait.\n\n"
    "Parameters\n----------\n"
    "dst, src : array, memory, buffer\n"
    "    USM of any library (anything with `__sycl_usm_array_interface__`), or anything with a\n"
    "    buffer, such as NumPy's arrays, of any strides; one of each or two of a kind. The shapes\n"
    "    must be equal; elements are cast as by NumPy's ``casting=\"unsafe\"``. Memory objects,\n"
    "    bytes and bytearray have no element type: they hold the other side's elements in C "
    "order.\n" +
    order_doc +
    "progress : bool or callable, optional\n"
    "    True shows a bar of tqdm, which must be installed; a callable is called with the bytes\n"
    "    done and the bytes in all after each part.\n\n"
    "Raises\n------\n"
    "TypeError\n    A side is neither USM nor a buffer.\n"
    "ValueError\n    The shapes differ, `dst` is read-only, or the queue reaches neither side.\n"
    "ModuleNotFoundError\n    ``progress=True`` without tqdm.";

const std::string copy_async_doc =
    "Submit a copy of `src` into `dst` and return its Event; see `copy`.\n\n"
    "Both sides are kept until the copy has ended, even if they are dropped; buffers stay\n"
    "exported. Do not change memory of the host before that. Commands that are submitted to the\n"
    "queue of `dst` later, and every use of the USM through usmx, come after the copy.\n\n"
    "Steps that only the host can do after the device are done before this returns: scattering\n"
    "to strided memory of the host, and the way from one context to another. Few bytes within\n"
    "reach of the host, on which nothing is pending, are copied at once.\n\n"
    "Parameters\n----------\n"
    "dst, src : array, memory, buffer\n"
    "    As for `copy`.\n" +
    order_doc + event_doc;

/// What a transfer that waits and the one that returns its Event say.
struct transfer_doc {
  const char* summary;
  std::string parameters;
  const char* raises;

  std::string waiting() const {
    return detail::format("{}\n\nParameters\n----------\n{}\nRaises\n------\n{}", summary,
                          parameters, raises);
  }
  std::string asynchronous(const std::string& name) const {
    return detail::format(
        "Submit what `{}` does and return its Event.\n\n"
        "Parameters\n----------\n{}{}\n\nRaises\n------\n{}",
        name, parameters, event_doc, raises);
  }
};

const transfer_doc copy_2d_doc{
    "Copy rows of bytes that are not next to each other in memory, and wait.",
    "dst, src : array, memory, buffer\n"
    "    As for `copy`; both sides are seen as bytes from their lowest on.\n"
    "dst_pitch, src_pitch : int\n    Bytes from one row's beginning to the next's.\n"
    "width : int\n    Bytes of a row that are copied.\n"
    "height : int\n    How many rows.\n" +
        order_doc,
    "ValueError\n    The rows leave a side, or a pitch is smaller than the width."};

const transfer_doc fill_doc{
    "Set every element of USM to a number, and wait.",
    "dst : array, memory\n    USM of any library.\n"
    "value : number\n    Integers must fit the element type; of memory objects, a byte.\n" +
        own_order_doc,
    "NotUSMError\n    `dst` has no USM.\n"
    "OverflowError, TypeError\n    The number does not fit the element type.\n"
    "ValueError\n    `dst` is read-only."};

const transfer_doc memset_doc{"Set every byte of the elements of USM to a number, and wait.",
                              "dst : array, memory\n    USM of any library.\n"
                              "value : int\n    From 0 to 255.\n" +
                                  own_order_doc,
                              "NotUSMError\n    `dst` has no USM.\n"
                              "ValueError\n    The value is not a byte, or `dst` is read-only."};

const transfer_doc prefetch_doc{
    "Move shared memory to the device of `queue` before it is needed there, and wait.",
    "obj : array, memory\n    USM of any library; memory of other kinds stays where it is.\n" +
        own_order_doc,
    "NotUSMError\n    `obj` has no USM."};

const transfer_doc mem_advise_doc{"Tell the driver how memory will be used, and wait.",
                                  "obj : array, memory\n    USM of any library.\n"
                                  "advice : int\n"
                                  "    A number of the backend, CUDA or Level Zero; 0 takes it "
                                  "back. Other drivers do nothing.\n" +
                                      own_order_doc,
                                  "NotUSMError\n    `obj` has no USM.\n"
                                  "ValueError\n    A negative number."};

template <signature_text Name, signature_text Arguments, signature_text Result>
auto transfer_call() {
  return made_signature<Name + "(" + Arguments +
                        ", *, queue: QueueLike = None, depends_on: EventsLike? = ()) -> " +
                        Result>();
}

/// Each of them twice: one that waits, and one that returns its Event.
template <signature_text Name, signature_text Arguments, class Waiting, class Asynchronous>
void define(nb::module_& m, Waiting waiting, Asynchronous asynchronous, const transfer_doc& doc) {
  const std::string name(Name.view());
  def(m, transfer_call<Name, Arguments, "None">(), waiting,
      with_example(name, doc.waiting()).c_str());
  def(m, transfer_call<Name + "_async", Arguments, "Event">(), asynchronous,
      with_example(name + "_async", doc.asynchronous(name)).c_str());
}

}  // namespace

void bind_transfers(nb::module_& m) {
  def(m,
      "copy(dst: CopySide?, src: CopySide?, *, queue: QueueLike = None, "
      "depends_on: EventsLike? = (), "
      "progress: bool | Callable[[int, int], object]? = False) -> None"_sig,
      copy, with_example("copy", copy_doc).c_str());
  def(m,
      "copy_async(dst: CopySide?, src: CopySide?, *, queue: QueueLike = None, "
      "depends_on: EventsLike? = ()) -> Event"_sig,
      copy_async, with_example("copy_async", copy_async_doc).c_str());

  define<"copy_2d",
         "dst: CopySide?, dst_pitch: int, src: CopySide?, src_pitch: int, width: int, height: int">(
      m, copy_2d, copy_2d_async, copy_2d_doc);
  define<"fill", "dst: SupportsUSM?, value: Number?">(m, fill, fill_async, fill_doc);
  define<"memset", "dst: SupportsUSM?, value: SupportsIndex?">(m, memset, memset_async, memset_doc);
  define<"prefetch", "obj: SupportsUSM?">(
      m,
      [](nb::handle memory, nb::handle queue, nb::handle depends_on) {
        prefetch_async(memory, queue, depends_on).wait();
      },
      prefetch_async, prefetch_doc);
  define<"mem_advise", "obj: SupportsUSM?, advice: int">(
      m,
      [](nb::handle memory, nb::handle advice, nb::handle queue, nb::handle depends_on) {
        mem_advise_async(memory, advice, queue, depends_on).wait();
      },
      mem_advise_async, mem_advise_doc);
}

}  // namespace usmx::python
