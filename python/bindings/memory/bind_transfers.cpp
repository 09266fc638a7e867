// `usmx.copy` and the other transfers as Python calls them: waited for, or as events.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include "array/ndarray.hpp"
#include "memory/memory.hpp"
#include "memory/transfer_sides.hpp"
#include "protocols/protocols.hpp"
#include "runtime/runtime_bindings.hpp"
#include "usmx/copy.hpp"

namespace usmx::python {
namespace {

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
  throw nb::value_error(("src: has shape " + text_of(src.elements.layout().shape()) +
                         ", dst has shape " + text_of(dst.elements.layout().shape()) +
                         "; the shapes must be equal")
                            .c_str());
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
// ----------------------------------------------------------------------------------

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

sycl::event copy_async(nb::handle dst, nb::handle src, nb::handle queue, nb::handle depends_on) {
  give_back_finished();
  both_sides sides = matching(dst, src);
  const std::optional<sycl::queue> where = optional_queue(queue);
  return copy_sides_async(sides.dst, sides.src, where, to_events(depends_on, "depends_on"));
}

// --- pitched rows
// ------------------------------------------------------------------------------

std::size_t to_bytes(nb::handle number, const char* where) {
  const std::int64_t value = read_integer(number, where, fault::shape_overflow);
  if (value < 0) {
    throw nb::value_error((std::string(where) + ": " + std::to_string(value) +
                           " is negative; expected a number of bytes")
                              .c_str());
  }
  return static_cast<std::size_t>(value);
}

both_sides pitched_sides(nb::handle dst, nb::handle dst_pitch, nb::handle src, nb::handle src_pitch,
                         nb::handle width, nb::handle height) {
  both_sides sides(dst, src);
  pitched to{to_bytes(dst_pitch, "dst_pitch"), to_bytes(width, "width"),
             to_bytes(height, "height")};
  pitched from{to_bytes(src_pitch, "src_pitch"), to.width, to.rows};
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

sycl::event copy_2d_async(nb::handle dst, nb::handle dst_pitch, nb::handle src,
                          nb::handle src_pitch, nb::handle width, nb::handle height,
                          nb::handle queue, nb::handle depends_on) {
  give_back_finished();
  both_sides sides = pitched_sides(dst, dst_pitch, src, src_pitch, width, height);
  const std::optional<sycl::queue> where = optional_queue(queue);
  return copy_sides_async(sides.dst, sides.src, where, to_events(depends_on, "depends_on"));
}

// --- one side only
// -----------------------------------------------------------------------------

array to_usm(nb::handle obj, const char* where, bool to_write) {
  const std::optional<array> a = to_array(obj);
  if (!a) raise_not_usm(obj, where);
  if (to_write && a->elements().read_only()) {
    throw interop_error(fault::read_only,
                        std::string(where) + ": the memory is read-only and cannot be written");
  }
  return *a;
}

std::uint8_t to_byte(nb::handle value) {
  const std::int64_t number = read_integer(value, "value", fault::typestr_malformed);
  if (number < 0 || number > 255) {
    throw nb::value_error(
        ("value: " + std::to_string(number) + " is not a byte; expected 0 to 255").c_str());
  }
  return static_cast<std::uint8_t>(number);
}

/// Calls `submit(queue, memory, depends)` without the GIL.
template <class Submit>
auto with_usm(const array& a, nb::handle queue, nb::handle depends_on, Submit submit) {
  const sycl::queue on = queue.is_none() ? a.queue() : to_queue(queue);
  const std::vector<sycl::event> depends = to_events(depends_on, "depends_on");
  const gil_released released;
  return submit(on, a, std::span<const sycl::event>(depends));
}

using events = std::span<const sycl::event>;

std::unique_ptr<std::byte[]> element_of(nb::handle number, const dtype& type) {
  auto element = std::make_unique<std::byte[]>(type.itemsize());
  to_element(number, type, element.get());
  return element;
}

sycl::event fill_async(nb::handle dst, nb::handle value, nb::handle queue, nb::handle depends_on) {
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

sycl::event memset_async(nb::handle dst, nb::handle value, nb::handle queue,
                         nb::handle depends_on) {
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

sycl::event prefetch_async(nb::handle obj, nb::handle queue, nb::handle depends_on) {
  return with_usm(to_usm(obj, "obj", false), queue, depends_on,
                  [](const sycl::queue& on, const array& a, events depends) {
                    return usmx::prefetch_async(on, a, depends);
                  });
}

sycl::event mem_advise_async(nb::handle obj, nb::handle advice, nb::handle queue,
                             nb::handle depends_on) {
  const std::int64_t number = read_integer(advice, "advice", fault::shape_overflow);
  if (number < 0 || number > std::numeric_limits<int>::max()) {
    throw nb::value_error(
        ("advice: " + std::to_string(number) + "; expected a number of the backend, or 0").c_str());
  }
  return with_usm(to_usm(obj, "obj", false), queue, depends_on,
                  [&](const sycl::queue& on, const array& a, events depends) {
                    return usmx::mem_advise_async(on, a, static_cast<int>(number), depends);
                  });
}

void wait_without_gil(const sycl::event& event) {
  const gil_released released;
  wait(event);
}

// --- what they say
// -----------------------------------------------------------------------------

const std::string order_doc =
    "queue : Queue, optional\n"
    "    Where the commands go, in any form that names a queue. Default: that of `dst` or, for\n"
    "    memory of the host, of the other side.\n"
    "depends_on : Event or sequence of Event, optional\n"
    "    What must have finished before, of usmx or dpctl; in addition to all commands pending\n"
    "    on the memory as far as usmx knows.\n";

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
    order_doc +
    "\n"
    "Returns\n-------\n"
    "Event\n    ``event.wait()`` or ``await event`` raises if the copy failed.";

}  // namespace

void bind_transfers(nb::module_& m) {
  const auto no_queue = nb::arg("queue").none() = nb::none();
  const auto no_events = nb::arg("depends_on").none() = nb::tuple();

  m.def("copy", copy, nb::arg("dst").none(), nb::arg("src").none(), nb::kw_only(), no_queue,
        no_events, nb::arg("progress").none() = false, copy_doc.c_str(),
        nb::sig("def copy(dst: CopySide, src: CopySide, *, queue: QueueLike = None, depends_on: "
                "EventsLike = (), progress: bool | Callable[[int, int], object] = False) -> None"));
  m.def("copy_async", copy_async, nb::arg("dst").none(), nb::arg("src").none(), nb::kw_only(),
        no_queue, no_events, copy_async_doc.c_str(),
        nb::sig("def copy_async(dst: CopySide, src: CopySide, *, queue: QueueLike = None, "
                "depends_on: EventsLike = ()) -> Event"));

  m.def("copy_2d", copy_2d, nb::arg("dst").none(), nb::arg("dst_pitch"), nb::arg("src").none(),
        nb::arg("src_pitch"), nb::arg("width"), nb::arg("height"), nb::kw_only(), no_queue,
        no_events,
        "Copy `height` rows of `width` bytes, `dst_pitch` and `src_pitch` bytes from one row's\n"
        "beginning to the next's, and wait. Both sides are seen as bytes from their lowest on.\n\n"
        "Raises\n------\n"
        "ValueError\n    The rows leave a side, or a pitch is smaller than the width.",
        nb::sig(
            "def copy_2d(dst: CopySide, dst_pitch: int, src: CopySide, src_pitch: int, width: int, "
            "height: int, *, queue: QueueLike = None, depends_on: EventsLike = ()) -> None"));
  m.def(
      "copy_2d_async", copy_2d_async, nb::arg("dst").none(), nb::arg("dst_pitch"),
      nb::arg("src").none(), nb::arg("src_pitch"), nb::arg("width"), nb::arg("height"),
      nb::kw_only(), no_queue, no_events,
      "Submit a pitched copy and return its Event; see `copy_2d` and `copy_async`.",
      nb::sig(
          "def copy_2d_async(dst: CopySide, dst_pitch: int, src: CopySide, src_pitch: int, width: "
          "int, height: int, *, queue: QueueLike = None, depends_on: EventsLike = ()) -> Event"));

  m.def("fill", fill, nb::arg("dst").none(), nb::arg("value").none(), nb::kw_only(), no_queue,
        no_events,
        "Set every element of USM to a number, and wait. The number must fit the element type.\n\n"
        "Raises\n------\n"
        "NotUSMError\n    `dst` has no USM.\n"
        "OverflowError, TypeError\n    The number does not fit the element type.\n"
        "ValueError\n    `dst` is read-only.",
        nb::sig("def fill(dst: SupportsUSM, value: Number, *, queue: QueueLike = None, "
                "depends_on: EventsLike = ()) -> None"));
  m.def("fill_async", fill_async, nb::arg("dst").none(), nb::arg("value").none(), nb::kw_only(),
        no_queue, no_events, "Submit a fill and return its Event; see `fill`.",
        nb::sig("def fill_async(dst: SupportsUSM, value: Number, *, queue: QueueLike = "
                "None, depends_on: EventsLike = ()) -> Event"));
  m.def("memset", memset, nb::arg("dst").none(), nb::arg("value").none(), nb::kw_only(), no_queue,
        no_events,
        "Set every byte of the elements of USM to `value`, 0 to 255, and wait.\n\n"
        "Raises\n------\n"
        "NotUSMError\n    `dst` has no USM.\n"
        "ValueError\n    The value is not a byte, or `dst` is read-only.",
        nb::sig("def memset(dst: SupportsUSM, value: SupportsIndex, *, queue: QueueLike = None, "
                "depends_on: EventsLike = ()) -> None"));
  m.def("memset_async", memset_async, nb::arg("dst").none(), nb::arg("value").none(), nb::kw_only(),
        no_queue, no_events, "Submit a memset and return its Event; see `memset`.",
        nb::sig("def memset_async(dst: SupportsUSM, value: SupportsIndex, *, queue: QueueLike = "
                "None, depends_on: EventsLike = ()) -> Event"));

  m.def(
      "prefetch",
      [](nb::handle obj, nb::handle queue, nb::handle depends_on) {
        wait_without_gil(prefetch_async(obj, queue, depends_on));
      },
      nb::arg("obj").none(), nb::kw_only(), no_queue, no_events,
      "Move shared memory to the device of `queue` before it is needed there, and wait. Memory of\n"
      "other kinds is where it belongs: nothing happens.",
      nb::sig("def prefetch(obj: SupportsUSM, *, queue: QueueLike = None, depends_on: EventsLike = "
              "()) -> None"));
  m.def("prefetch_async", prefetch_async, nb::arg("obj").none(), nb::kw_only(), no_queue, no_events,
        "Submit a prefetch and return its Event; see `prefetch`.",
        nb::sig("def prefetch_async(obj: SupportsUSM, *, queue: QueueLike = None, depends_on: "
                "EventsLike = ()) -> Event"));
  m.def(
      "mem_advise",
      [](nb::handle obj, nb::handle advice, nb::handle queue, nb::handle depends_on) {
        wait_without_gil(mem_advise_async(obj, advice, queue, depends_on));
      },
      nb::arg("obj").none(), nb::arg("advice"), nb::kw_only(), no_queue, no_events,
      "Tell the driver how memory will be used, and wait. What `advice` means is the backend's "
      "own\n"
      "(the numbers of CUDA or Level Zero); 0 takes it back. Drivers without the notion do "
      "nothing.",
      nb::sig("def mem_advise(obj: SupportsUSM, advice: int, *, queue: QueueLike = None, "
              "depends_on: EventsLike = ()) -> None"));
  m.def("mem_advise_async", mem_advise_async, nb::arg("obj").none(), nb::arg("advice"),
        nb::kw_only(), no_queue, no_events,
        "Submit an advice and return its Event; see `mem_advise`.",
        nb::sig("def mem_advise_async(obj: SupportsUSM, advice: int, *, queue: QueueLike = None, "
                "depends_on: EventsLike = ()) -> Event"));

  // For tests: (from, block, blocks), or None for what suits each device.
  m.def(
      "_set_staging",
      [](nb::handle limits) {
        if (limits.is_none()) return set_staging({});
        const extents three = read_extents(limits, "limits", fault::shape_overflow);
        if (three.size() != 3) wrong_type("limits", limits, "three numbers, or None");
        for (const std::int64_t n : three) {
          if (n < 0)
            throw nb::value_error(
                ("limits: " + std::to_string(n) + " is negative; expected 0 or more").c_str());
        }
        const auto at = [&](std::size_t k) { return static_cast<std::size_t>(three[k]); };
        set_staging(staging_limits{at(0), at(1), at(2)});
      },
      nb::arg("limits").none(),
      nb::sig("def _set_staging(limits: tuple[int, int, int] | None) -> None"));
}

}  // namespace usmx::python
