// `usmx.ndarray`: the array of the library as Python sees it: the object, where it is, and the
// arguments that its functions have in common. What it does stands in the files ndarray_*.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "array/ndarray.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <nanobind/stl/string.h>

#include "core/kept_order.hpp"
#include "memory/memory.hpp"
#include "protocols/protocols.hpp"
#include "support/attributes.hpp"
#include "support/error_text.hpp"
#include "support/signature.hpp"
#include "support/text.hpp"
#include "support/type_slots.hpp"
#include "usmx/default_kind.hpp"

namespace usmx::python {
namespace {
/// Whether an object is one length: numbers are, and arrays of rank 0, which are sequences by type
/// but have no length.
bool is_one_length(nb::handle obj) {
  if (PyIndex_Check(obj.ptr()) == 0) return false;
  if (PySequence_Check(obj.ptr()) == 0) return true;
  if (PySequence_Size(obj.ptr()) >= 0) return false;
  if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw nb::python_error();
  PyErr_Clear();
  return true;
}
}  // namespace

extents to_shape(nb::handle obj) {
  if (PyTuple_CheckExact(obj.ptr())) {
    extents lengths(static_cast<std::size_t>(PyTuple_GET_SIZE(obj.ptr())));
    std::size_t read = 0;
    while (read < lengths.size()) {
      const Py_ssize_t n = plain_count(PyTuple_GET_ITEM(obj.ptr(), static_cast<Py_ssize_t>(read)));
      if (n < 0) break;
      lengths[read++] = n;
    }
    if (read == lengths.size() && read <= static_cast<std::size_t>(max_rank)) return lengths;
  }
  if (is_one_length(obj)) {
    return extents{read_integer(obj, "shape", fault::shape_overflow)};
  }
  return read_extents(obj, "shape", fault::shape_overflow);
}

usm_kind to_kind(nb::handle obj, usm_kind otherwise) {
  if (obj.is_none()) return otherwise;
  // Names in programs are interned.
  static const std::array<std::pair<PyObject*, usm_kind>, 3> interned = {
      {{PyUnicode_InternFromString("device"), usm_kind::device},
       {PyUnicode_InternFromString("shared"), usm_kind::shared},
       {PyUnicode_InternFromString("host"), usm_kind::host}}};
  for (const auto& [text, kind] : interned) {
    if (obj.ptr() == text) return kind;
  }
  const std::string text = to_text(obj, "usm_type", "'device', 'shared' or 'host'");
  for (const usm_kind kind : {usm_kind::device, usm_kind::shared, usm_kind::host}) {
    if (text == name(kind)) return kind;
  }
  throw value_error("usm_type: '{}'; expected 'device', 'shared' or 'host'", text);
}

usm_kind to_kind(nb::handle obj, const sycl::queue& queue) {
  return obj.is_none() ? default_kind(queue) : to_kind(obj, usm_kind::unknown);
}

usm_kind to_kind(nb::handle obj, const array& like) {
  return obj.is_none() ? kind_or_default(like) : to_kind(obj, usm_kind::unknown);
}

sycl::queue to_place(nb::handle queue, nb::handle device) {
  if (queue.is_none()) return to_queue(device, "device");
  sycl::queue place = to_queue(queue, "queue");
  if (!device.is_none() && to_device(device, "device") != place.get_device()) {
    throw nb::value_error("device: is not the device of queue; one of the two is enough");
  }
  return place;
}

int to_axis(nb::handle obj, int rank) {
  const std::int64_t axis = read_integer(obj, "axis", fault::shape_overflow);
  if (axis < -rank || axis >= rank) {
    // NumPy's, which is a ValueError and an IndexError.
    const auto type = nb::module_::import_("numpy.exceptions").attr("AxisError");
    PyErr_SetString(
        type.ptr(),
        detail::format("axis: {} is out of bounds for an array of dimension {}", axis, rank)
            .c_str());
    nb::raise_python_error();
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

char to_order(nb::handle obj, const char* allowed) {
  if (PyUnicode_CheckExact(obj.ptr()) && PyUnicode_GET_LENGTH(obj.ptr()) == 1) {
    const Py_UCS4 letter = PyUnicode_READ_CHAR(obj.ptr(), 0) & ~Py_UCS4{0x20};
    for (const char* one = allowed; *one != 0; ++one) {
      if (letter == static_cast<unsigned char>(*one)) return *one;
    }
  }
  const std::string text = to_text(obj, "order", "'C', 'F', 'A' or 'K'");
  if (text.size() == 1) {
    const char order = static_cast<char>(text.front() & ~0x20);
    if (std::string_view(allowed).find(order) != std::string_view::npos) return order;
  }
  throw value_error("order: '{}'; expected one of the letters {}", text, allowed);
}

bool is_true(nb::handle copy) { return !copy.is_none() && nb::cast<bool>(nb::bool_(copy)); }
bool is_false(nb::handle copy) { return !copy.is_none() && !is_true(copy); }

char order_of(char order, const layout& like) noexcept {
  if (order != 'A') return order;
  return like.is_f_contiguous() && !like.is_c_contiguous() ? 'F' : 'C';
}

usm_kind kind_or_default(const array& a) {
  return a.kind() == usm_kind::unknown ? default_kind(a.queue()) : a.kind();
}

nb::object one_sequence(const nb::args& args) {
  if (args.size() == 1 && !PyIndex_Check(nb::handle(args[0]).ptr())) return nb::object(args[0]);
  return nb::borrow<nb::tuple>(args);
}

std::vector<int> order_in_memory(const layout& like) { return detail::order_of_steps(like); }

layout ordered_layout(const layout& like, std::size_t itemsize, char order) {
  const extents& shape = like.shape();
  layout out;
  order = order_of(order, like);
  if (order == 'K' && like.is_c_contiguous()) order = 'C';
  if (order == 'K' && like.is_f_contiguous()) order = 'F';
  if (order == 'C') {
    check(layout::c_order(shape, itemsize, out), shape);
    return out;
  }
  if (order == 'F') {
    check(layout::f_order(shape, itemsize, out), shape);
    return out;
  }
  extents strides(shape.size());
  std::int64_t step = 1;
  const std::vector<int> axes = order_in_memory(like);
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    const auto k = static_cast<std::size_t>(*axis);
    strides[k] = step;
    step *= std::max<std::int64_t>(shape[k], 1);
  }
  check(layout::strided(shape, std::move(strides), itemsize, out), shape);
  return out;
}

array allocate_array(const sycl::queue& queue, layout where, dtype type, usm_kind kind) {
  shared_owner owner =
      allocate_bytes(queue, kind, static_cast<std::size_t>(where.size()) * type.itemsize());
  any_view elements = checked_view(owner->base(), std::move(type), std::move(where), kind, false);
  return array::over(std::move(elements), queue, std::move(owner));
}

namespace {

// Borrowed: the module keeps it.
nb::handle ndarray_class;

/// Shape and strides as the constructor got them.
layout asked_layout(nb::handle shape, nb::handle strides, char order, std::size_t itemsize) {
  const extents lengths = to_shape(shape);
  layout out;
  if (strides.is_none()) {
    check(order == 'F' ? layout::f_order(lengths, itemsize, out)
                       : layout::c_order(lengths, itemsize, out),
          lengths);
    return out;
  }
  extents steps = read_extents(strides, "strides", fault::strides_overflow);
  const std::string held = detail::shape_text(steps);
  check(layout::strided(lengths, std::move(steps), itemsize, out), held);
  return out;
}

/// For products of two 64-bit numbers. ISO C++ has no such type.
__extension__ using wide = __int128;

/// An array over memory that is there: ours, or anything that speaks a protocol.
array over_memory(nb::handle buffer, layout where, const dtype& type, std::int64_t offset,
                  nb::handle queue) {
  const std::optional<array> source = to_array(buffer);
  if (!source)
    wrong_type("buffer", buffer,
               "'device', 'shared', 'host', a memory of usmx or " + expected_protocols());
  const array bytes = byte_span(*source);
  const auto size = static_cast<std::int64_t>(bytes.elements().size());
  const auto item = static_cast<std::int64_t>(type.itemsize());
  const element_range reach = where.range();
  // In 128 bits: the offset has not been checked before.
  const auto first = (static_cast<wide>(offset) + reach.first) * item;
  const auto last = (static_cast<wide>(offset) + reach.last) * item;
  if (where.size() > 0 && (first < 0 || last > size)) {
    throw interop_error(
        fault::out_of_allocation,
        detail::format("buffer: shape {} with strides {} at offset {} exceeds its {} bytes",
                       detail::shape_text(where.shape()), detail::shape_text(where.strides()),
                       offset, size));
  }
  auto* const data = static_cast<std::byte*>(bytes.data()) + (where.size() > 0 ? offset * item : 0);
  const array out = bytes.with_view(checked_view(data, type, std::move(where), bytes.kind(),
                                                 bytes.elements().read_only(), "the buffer"));
  if (queue.is_none()) return out;
  const sycl::queue place = to_queue(queue);
  const gil_released released;
  return out.on(place);
}

array construct(nb::handle shape, nb::handle type, nb::handle buffer, nb::handle strides,
                std::int64_t offset, nb::handle order, nb::handle queue) {
  const char layout_order = to_order(order, "CF");
  const dtype t = type.is_none() ? dtype::of<double>() : to_dtype(type);
  layout where = asked_layout(shape, strides, layout_order, t.itemsize());
  if (!buffer.is_none() && !nb::isinstance<nb::str>(buffer))
    return over_memory(buffer, std::move(where), t, offset, queue);

  const sycl::queue place = to_queue(queue);
  const usm_kind kind = to_kind(buffer, place);
  const element_range reach = where.range();
  std::int64_t last = 0;
  if (__builtin_add_overflow(offset, reach.last, &last) ||
      (where.size() > 0 && offset + reach.first < 0)) {
    throw interop_error(
        fault::out_of_allocation,
        detail::format("offset: {} is too small; new memory begins at element 0", offset));
  }
  layout room;
  check(layout::c_order(extents{last}, t.itemsize(), room), detail::format("{} elements", last));
  const array all = allocate_array(place, std::move(room), t, kind);
  auto* const data =
      static_cast<std::byte*>(all.data()) + offset * static_cast<std::int64_t>(t.itemsize());
  return all.with_view(checked_view(data, t, std::move(where), kind, false));
}

/// Everything that the owner keeps alive, or what the array reaches if it has no owner.
nb::object whole_memory(const array& a) {
  const shared_owner& owner = a.keep_alive();
  if (!owner || a.elements().size() == 0) return wrap_memory(a);
  const usmx::owner& kept = *kept_by(owner);
  return wrap_memory(
      a.with_view(byte_run(kept.base(), kept.bytes(), a.kind(), a.elements().read_only())));
}

std::int64_t offset_of(const array& a) noexcept {
  const shared_owner& owner = a.keep_alive();
  if (!owner || a.elements().size() == 0) return -a.elements().layout().range().first;
  return (static_cast<std::byte*>(a.data()) - kept_by(owner)->base()) /
         static_cast<std::int64_t>(a.elements().dtype().itemsize());
}

/// `a.flags`: what NumPy's users ask of a layout. Keeps the array it speaks of.
struct array_flags {
  nb::object of;
  const any_view& view() const { return value_of(of).elements(); }
};

void set_writeable(const array_flags& flags, bool writeable) {
  ndarray& holder = self_of<ndarray>(flags.of);
  if (writeable == !holder.value().elements().read_only()) return;
  if (writeable)
    throw nb::value_error("writeable: the memory is read-only and cannot be made writeable");
  holder.make_read_only();
  holder.dpnp_view.reset();
}

/// NumPy's names are those of the attributes in capitals, or short.
std::string flag_name(const nb::str& key) {
  static constexpr std::pair<std::string_view, std::string_view> short_names[] = {
      {"C", "c_contiguous"}, {"F", "f_contiguous"}, {"W", "writeable"}, {"A", "aligned"},
      {"B", "behaved"},      {"CA", "carray"},      {"FA", "farray"},
  };
  std::string name = to_text(key, "key");
  for (const auto& [given, meant] : short_names) {
    if (name == given) return std::string(meant);
  }
  for (char& letter : name) {
    letter = static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter + 32 : letter);
  }
  return name;
}

void bind_flags(nb::module_& m) {
  nb::class_<array_flags> c(m, "_Flags", "Layout and access of an array.");
  refuse_iteration(c);
  const auto is_c = [](const array_flags& f) { return f.view().layout().is_c_contiguous(); };
  const auto is_f = [](const array_flags& f) { return f.view().layout().is_f_contiguous(); };
  const auto is_either = [is_c, is_f](const array_flags& f) { return is_c(f) || is_f(f); };
  const auto is_writeable = [](const array_flags& f) { return !f.view().read_only(); };
  c.def_prop_ro("c_contiguous", is_c, "True if the elements are C-contiguous.");
  c.def_prop_ro("f_contiguous", is_f, "True if the elements are Fortran-contiguous.");
  c.def_prop_ro("contiguous", is_c, "As `c_contiguous`.");
  c.def_prop_ro("forc", is_either, "True if the elements are contiguous in either order.");
  c.def_prop_ro(
      "fnc", [is_c, is_f](const array_flags& f) { return is_f(f) && !is_c(f); },
      "Fortran order only.");
  c.def_prop_ro("fortran", is_f, "As `f_contiguous`.");
  c.def_prop_ro("behaved", is_writeable, "Aligned and writeable.");
  c.def_prop_ro(
      "carray", [is_c, is_writeable](const array_flags& f) { return is_c(f) && is_writeable(f); },
      "Behaved, and C-contiguous.");
  c.def_prop_ro(
      "farray",
      [is_c, is_f, is_writeable](const array_flags& f) {
        return is_f(f) && !is_c(f) && is_writeable(f);
      },
      "Behaved, and Fortran order only.");
  c.def_prop_ro("aligned", [](const array_flags&) { return true; }, "Always True.");
  c.def_prop_rw("writeable", is_writeable, set_writeable,
                "False for read-only memory; can be set to False.");
  c.def_prop_rw("writable", is_writeable, set_writeable, "As `writeable`.");
  c.def("__getitem__(self, name: str, /) -> bool"_sig, [](nb::handle self, const nb::str& key) {
    static_cast<void>(self_of<array_flags>(self));
    const std::string name = flag_name(key);
    if (!has_attribute(self, name.c_str())) throw nb::key_error(to_text(key, "key").c_str());
    return nb::object(self.attr(name.c_str()));
  });
  c.def("__setitem__(self, name: str, value: bool, /) -> None"_sig,
        [](nb::handle self, const nb::str& key, bool value) {
          const std::string name = flag_name(key);
          if (name != "writeable" && name != "writable") {
            throw nb::key_error(to_text(key, "key").c_str());
          }
          set_writeable(self_of<array_flags>(self), value);
        });
  c.def("__eq__(self, other: object, /) -> bool"_sig,
        [is_c, is_f, is_writeable](nb::handle self, nb::handle other) -> nb::object {
          const array_flags& a = self_of<array_flags>(self);
          if (!nb::isinstance<array_flags>(other)) return nb::borrow(Py_NotImplemented);
          const array_flags& b = self_of<array_flags>(other);
          return nb::bool_(is_c(a) == is_c(b) && is_f(a) == is_f(b) &&
                           is_writeable(a) == is_writeable(b));
        });
  c.def("__repr__", [is_c, is_f, is_writeable](const array_flags& f) {
    const auto line = [](const char* name, bool value) {
      return detail::format("  {} : {}", name, value ? "True" : "False");
    };
    return line("C_CONTIGUOUS", is_c(f)) + "\n" + line("F_CONTIGUOUS", is_f(f)) + "\n" +
           line("WRITEABLE", is_writeable(f)) + "\n" + line("ALIGNED", true);
  });
}

void bind_properties(nb::class_<ndarray>& c) {
  const auto of = [](nb::handle self) -> const ndarray& { return self_of<ndarray>(self); };
  c.def_prop_ro(
      "shape", [of](nb::handle self) { return tuple_of(of(self).shape()); }, "Lengths.",
      nb::sig("def shape(self) -> tuple[int, ...]"));
  c.def_prop_ro(
      "strides",
      [](nb::handle self) { return tuple_of(value_of(self).elements().layout().strides()); },
      "Steps along each axis in elements, as the protocol counts them (NumPy counts bytes).",
      nb::sig("def strides(self) -> tuple[int, ...]"));
  c.def_prop_ro(
      "offset", [](nb::handle self) { return offset_of(value_of(self)); },
      "Elements from the beginning of `usm_data` to the first element.");
  c.def_prop_ro(
      "ndim", [of](nb::handle self) { return of(self).shape().size(); }, "Number of axes.");
  c.def_prop_ro("size", [of](nb::handle self) { return of(self).size(); }, "Number of elements.");
  c.def_prop_ro(
      "itemsize", [of](nb::handle self) { return of(self).dtype().itemsize(); },
      "Bytes of an element.");
  c.def_prop_ro(
      "nbytes",
      [of](nb::handle self) {
        return static_cast<std::size_t>(of(self).size()) * of(self).dtype().itemsize();
      },
      "Bytes of all elements, as if they were contiguous.");
  c.def_prop_ro(
      "dtype", [of](nb::handle self) { return dtype_object(of(self).dtype()); },
      "The element type: a numpy.dtype where NumPy is installed, otherwise a usmx.dtype.",
      nb::sig("def dtype(self) -> NumpyDType"));
  c.def_prop_ro(
      "_typestr", [of](nb::handle self) { return of(self).dtype().typestr(); },
      "The element type as the protocols spell it; reading it exports nothing.");
  c.def_prop_ro(
      "usm_type", [of](nb::handle self) { return name(of(self).kind()); },
      "'device', 'shared' or 'host'; 'unknown' for foreign arrays without elements.",
      nb::sig("def usm_type(self) -> UsmKind"));
  c.def_prop_ro(
      "flags",
      [of](nb::object self) {
        static_cast<void>(of(self));
        return array_flags{std::move(self)};
      },
      "Layout and access.");
  c.def_prop_ro(
      "queue", [of](nb::handle self) { return of(self).queue(); },
      "The queue on which it is computed.");
  c.def_prop_ro(
      "device", [of](nb::handle self) { return of(self).queue().get_device(); },
      "The device of its queue.");
  c.def_prop_ro(
      "context", [of](nb::handle self) { return of(self).queue().get_context(); },
      "The context that its memory belongs to.");
  bind_dpctl_names(
      c, [](nb::handle self) { return self_of<ndarray>(self).queue(); }, queue_for_dpnp);
  for (const char* name : {"usm_data", "base"}) {
    c.def_prop_ro(
        name, [](nb::handle self) { return whole_memory(value_of(self)); },
        nb::sig("def (self) -> MemoryUSMDevice | MemoryUSMShared | MemoryUSMHost"),
        "The memory behind the array, all of it, without a copy.");
  }
  for (const char* name : {"pointer", "_pointer"}) {
    c.def_prop_ro(
        name,
        [](nb::handle self) {
          const array& a = value_of(self);
          if (host_accessible(a.kind()) && a.keep_alive()) {
            a.keep_alive()->exposed_to_host();
            wait_for_own_work(a);
          }
          expose(a);  // the address may reach commands of others
          return reinterpret_cast<std::uintptr_t>(a.data());
        },
        "The address of the first element.");
  }
  c.def(
      "_compute", [](nb::handle self) { value_of(self); },
      "Submits what was deferred. `pointer` does that too, but lets others use the memory.");
  c.def_prop_ro(
      "_is_deferred",
      [](nb::handle self) {
        const shared_deferred later = self_of<ndarray>(self).later();
        return later && !later->is_computed();
      },
      "Whether the elements are not computed yet.");
  c.def(
      "wait", [](nb::handle self) { wait_for_work(value_of(self)); },
      "Wait until the elements are there: what was deferred is computed, and commands on the "
      "memory "
      "have\nended. It costs nothing where nothing is pending; `queue.wait()` waits for all of a "
      "queue.\n\n"
      "Raises\n------\nDeviceError\n    A command failed.");
  c.def(
      "_is_aligned",
      [](nb::handle self) {
        const any_view& v = value_of(self).elements();
        return reinterpret_cast<std::uintptr_t>(v.data()) % v.dtype().itemsize() == 0;
      },
      "Whether the address of the first element is a multiple of its size.");
  bind_exports(c, [](nb::handle self) { return live_bytes(value_of(self)); });
}

}  // namespace

nb::object wrap_array(array&& elements) {
  nb::object out = nb::inst_alloc(ndarray_class);
  new (nb::inst_ptr<ndarray>(out)) ndarray(std::move(elements));
  nb::inst_mark_ready(out);
  return out;
}

nb::object wrap_deferred(shared_deferred value) {
  if (value->is_computed()) return wrap_array(value->get());
  nb::object out = nb::inst_alloc(ndarray_class);
  new (nb::inst_ptr<ndarray>(out)) ndarray(std::move(value));
  nb::inst_mark_ready(out);
  return out;
}

nb::object wrap_allocated(any_view&& elements, const sycl::queue& queue, shared_owner owner) {
  nb::object out = nb::inst_alloc(ndarray_class);
  new (nb::inst_ptr<ndarray>(out))
      ndarray(array::over(std::move(elements), queue, std::move(owner)));
  nb::inst_mark_ready(out);
  return out;
}

nb::object wrap_view(const array& a, any_view elements) {
  return wrap_array(a.with_view(std::move(elements)));
}

const array* array_of(nb::handle obj) {
  return is_ready<ndarray>(obj) ? &nb::inst_ptr<ndarray>(obj)->value() : nullptr;
}

void ndarray::compute() {
  const shared_deferred later = later_;
  array computed = later->get();
  if (later_ != later) return;  // another thread did, while this one waited for it
  value_ = std::move(computed);
  later_->seen(false);
  later_.reset();
}

void ndarray::become(shared_deferred later) {
  later->seen(true);
  if (later_) later_->seen(false);
  later_ = std::move(later);
}

void bind_array(nb::module_& m) {
  bind_dtype(m);
  bind_flags(m);
  nb::class_<ndarray> c(
      m, "ndarray",
      "An n-dimensional array in USM: elements, the queue on which they are computed, and the "
      "memory\n"
      "they keep alive. Slices, transposed and reshaped arrays are views of the same memory.\n\n"
      "Parameters\n----------\n"
      "shape : int or tuple of int\n    Lengths.\n"
      "dtype : dtype, optional\n    The element type; float64 by default.\n"
      "buffer : {'device', 'shared', 'host'} or memory, optional\n"
      "    The kind of memory to allocate, or memory to lie in: a ``usmx.memory`` object or any "
      "with\n"
      "    `__sycl_usm_array_interface__`. Contents of new memory are undefined. None allocates\n"
      "    the kind of `usmx.default_usm_type`.\n"
      "strides : tuple of int, optional\n    Steps along each axis in elements; may be zero or "
      "negative.\n"
      "offset : int\n    Elements from the beginning of the buffer to the first element.\n"
      "order : {'C', 'F'}\n    The order of the elements where no strides are given.\n"
      "queue : Queue, optional\n    The queue on which the array is computed; by default that of "
      "the "
      "memory.\n\n"
      "Raises\n------\n"
      "InteropError\n    The elements do not lie inside the buffer, or shape or strides overflow.\n"
      "AllocationError\n    There is not enough memory.",
      nb::is_weak_referenceable(), nb::type_slots(ndarray_slots()), nb::pooled());
  c.attr("__module__") = "usmx";
  ndarray_class = c;
  c.def(
      "__init__(self, shape: ShapeLike, dtype: DTypeLike = None, "
      "buffer: UsmKind | SupportsUSM | None = None, strides: Sequence[int] | None = None, "
      "offset: SupportsIndex = 0, order: Order = 'C', queue: QueueLike = None) -> None"_sig,
      [](nb::pointer_and_handle<ndarray> self, nb::handle shape, nb::handle type, nb::handle buffer,
         nb::handle strides, nb::handle offset, nb::handle order, nb::handle queue) {
        initialise(self,
                   construct(shape, type, buffer, strides,
                             read_integer(offset, "offset", fault::offset_overflow), order, queue));
      });
  c.def("_getitem(self, key: Index?) -> ndarray"_sig, [](nb::handle self, nb::handle key) {
    static_cast<void>(self_of<ndarray>(self));
    if (is_advanced(key)) {
      return nb::object(nb::module_::import_("usmx._namespace.indexing").attr("get")(self, key));
    }
    return part_of(self, key);
  });
  c.def("__setitem__(self, key: Index?, value: ArrayLike?) -> None"_sig,
        [](nb::handle self, nb::handle key, nb::handle value) {
          const array& a = value_of(self);
          if (small_put(self, key_of_rows(self, key), value)) return;
          if (is_advanced(key)) {
            nb::module_::import_("usmx._namespace.indexing").attr("put")(self, key, value);
            return;
          }
          if (names_fields(key) && a.elements().dtype().members() != nullptr) {
            nb::module_::import_("usmx._namespace.records").attr("put_fields")(self, key, value);
            return;
          }
          assign(a.with_view(indexed(a.elements(), key)), value);
        });
  c.def("__repr__", [](nb::handle self) { return represent(value_of(self)); });
  bind_html(c, "array");
  c.def("__str__", [](nb::handle self) { return represent(value_of(self), 0); });
  bind_properties(c);
  bind_shape(c, m);
  bind_conversions(c, m);
  bind_creation(m);
  m.attr("usm_ndarray") = c;
}

}  // namespace usmx::python
