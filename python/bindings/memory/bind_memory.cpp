// `usmx.memory` in C++: runs of bytes in USM that programs written for dpctl.memory can use as they
// are, and that can also be sliced, freed, made read-only and referenced weakly.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>

#include <array>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "memory/memory.hpp"
#include "protocols/protocols.hpp"
#include "support/slot_errors.hpp"
#include "support/text.hpp"
#include "support/type_slots.hpp"
#include "usmx/error.hpp"
#include "usmx/suai.hpp"

namespace usmx::python {
namespace {

// The classes, borrowed: the module keeps them.
nb::handle class_of_kind[4];
PyObject* not_usm_error = nullptr;

const char* class_name(usm_kind kind) noexcept {
  switch (kind) {
    case usm_kind::host:
      return "MemoryUSMHost";
    case usm_kind::shared:
      return "MemoryUSMShared";
    default:
      return "MemoryUSMDevice";
  }
}

nb::handle class_for(usm_kind kind) noexcept {
  // Memory without an element may have no kind; the strictest class fits it.
  return class_of_kind[static_cast<int>(kind == usm_kind::unknown ? usm_kind::device : kind)];
}

template <class... Args>
nb::object make(usm_kind kind, Args&&... args) {
  nb::object made = nb::inst_alloc(class_for(kind));
  new (nb::inst_ptr<memory>(made)) memory(std::forward<Args>(args)...);
  nb::inst_mark_ready(made);
  return made;
}

/// Another face of the same bytes, freed with the memory it was taken from.
nb::object view_of(nb::handle self, any_view bytes) {
  const memory& m = self_of<memory>(self);
  const usm_kind kind = m.bytes.kind();
  return make(kind, m.bytes.with_view(std::move(bytes)), m.is_view() ? m.root() : nb::borrow(self));
}

bool is_memory(nb::handle obj) noexcept { return is_ready<memory>(obj); }

array new_bytes(nb::handle size, std::int64_t alignment, nb::handle queue_like, usm_kind kind) {
  const Py_ssize_t bytes = PyNumber_AsSsize_t(size.ptr(), nullptr);  // clips what is too large
  if (bytes == -1 && PyErr_Occurred() != nullptr) nb::raise_python_error();
  if (bytes < 0 || bytes == PY_SSIZE_T_MAX) {
    throw nb::value_error(
        ("nbytes: " + describe_value(size) +
         (bytes < 0 ? " is negative" : " is too large; at most 2**63 - 1 bytes are supported"))
            .c_str());
  }
  if (alignment < 0) {
    throw nb::value_error(("alignment: " + std::to_string(alignment) +
                           " is negative; expected 0 (the default) or a power of two")
                              .c_str());
  }
  const sycl::queue queue = to_queue(queue_like);
  const auto count = static_cast<std::size_t>(bytes);
  shared_owner owner = allocate_bytes(
      queue, kind, count, alignment == 0 ? default_alignment : static_cast<std::size_t>(alignment));
  any_view all = byte_run(owner->base(), count, kind, false);
  return array::over(std::move(all), queue, std::move(owner));
}

/// What a constructor makes of its argument. `root` is set if the result is a view of a memory of
/// ours.
array construct(nb::handle source, std::int64_t alignment, nb::handle queue, bool copy,
                usm_kind kind, nb::object& root) {
  std::optional<array> from;
  if (PyLong_Check(source.ptr()) == 0) from = to_array(source);
  if (!from) {
    if (!PyIndex_Check(source.ptr())) {
      PyErr_Format(not_usm_error, "%s: %s has no USM: expected a number of bytes (an int), or %s%s",
                   class_name(kind), Py_TYPE(source.ptr())->tp_name, expected_protocols().c_str(),
                   PyObject_CheckBuffer(source.ptr()) != 0
                       ? "; copy a buffer of the host with copy_from_host()"
                       : "");
      nb::raise_python_error();
    }
    return new_bytes(source, alignment, queue, kind);
  }
  if (copy) {
    nb::object where = queue.is_none() ? nb::cast(from->queue()) : nb::borrow(queue);
    array made = new_bytes(nb::int_(from->elements().nbytes()), alignment, where, kind);
    copy_elements(made, *from);
    return made;
  }
  if (from->kind() != kind && from->elements().size() != 0) {
    throw nb::value_error((std::string("this is ") + name(from->kind()) + " memory, " +
                           class_name(kind) + " holds " + name(kind) + " memory; use " +
                           class_name(from->kind()) + ", or copy=True")
                              .c_str());
  }
  if (is_memory(source)) {
    const memory& m = *nb::inst_ptr<memory>(source);
    root = m.is_view() ? m.root() : nb::borrow(source);
  }
  array made = byte_span(*from);
  if (queue.is_none()) return made;
  const sycl::queue other = to_queue(queue);
  const gil_released released;
  return made.on(other);
}

/// Calls of the class. First what programs call most: a number of bytes, and a queue.
template <usm_kind Kind>
PyObject* new_memory(PyObject* type, PyObject* const* args, std::size_t nargsf,
                     PyObject* keywords) noexcept {
  static PyObject* const queue_word = PyUnicode_InternFromString("queue");
  try {
    const bool names_queue = keywords != nullptr && PyTuple_GET_SIZE(keywords) == 1 &&
                             PyTuple_GET_ITEM(keywords, 0) == queue_word;
    if (PyVectorcall_NARGS(nargsf) == 1 && (keywords == nullptr || names_queue)) {
      const Py_ssize_t bytes = plain_count(args[0]);
      const sycl::queue* const queue = plain_queue(names_queue ? args[1] : Py_None);
      if (bytes >= 0 && queue != nullptr) {
        const auto count = static_cast<std::size_t>(bytes);
        shared_owner owner = allocate_bytes(*queue, Kind, count);
        any_view all = byte_run(owner->base(), count, Kind, false);
        return make(Kind, std::move(all), *queue, std::move(owner)).release().ptr();
      }
    }
    return made_by_init(type, args, nargsf, keywords).release().ptr();
  } catch (...) {
    return raise_current();
  }
}

template <class Memory, usm_kind Kind>
nb::class_<Memory, memory> bind_kind(nb::module_& m, const char* doc) {
  constexpr usm_kind kind = Kind;
  std::vector<PyType_Slot> slots{{slot_of_type_call, reinterpret_cast<void*>(new_memory<Kind>)}};
  for (const PyType_Slot* slot = memory_slots; slot->slot != 0; ++slot) slots.push_back(*slot);
  slots.push_back({0, nullptr});
  nb::class_<Memory, memory> c(m, class_name(kind), doc, nb::is_weak_referenceable(),
                               nb::type_slots(slots.data()), nb::pooled());
  c.def(
      "__init__",
      [](nb::pointer_and_handle<Memory> self, nb::handle source, std::int64_t alignment,
         nb::handle queue, bool copy) {
        nb::object root;
        array bytes = construct(source, alignment, queue, copy, kind, root);
        if (root.is_valid()) {
          initialise(self, std::move(bytes), std::move(root));
        } else {
          initialise(self, std::move(bytes));
        }
      },
      nb::arg("nbytes_or_object").none(), nb::kw_only(), nb::arg("alignment") = 0,
      nb::arg("queue") = nb::none(), nb::arg("copy") = false,
      nb::sig("def __init__(self, nbytes_or_object: int | SupportsUSM, *, alignment: int = 0, "
              "queue: QueueLike = None, copy: bool = False) -> None"));
  c.attr("__module__") = "usmx.memory";
  class_of_kind[static_cast<int>(kind)] = c;
  return c;
}

nb::object slice(nb::handle self, nb::handle key) {
  const live_bytes held = live(self_of<memory>(self));
  const array& bytes = *held;
  if (!PySlice_Check(key.ptr())) {
    throw nb::type_error(
        "memory is indexed by slices, m[16:64]; for single bytes of host-accessible memory use "
        "memoryview(m)[i]");
  }
  Py_ssize_t start = 0;
  Py_ssize_t stop = 0;
  Py_ssize_t step = 1;
  if (PySlice_Unpack(key.ptr(), &start, &stop, &step) != 0) nb::raise_python_error();
  if (step != 1) {
    throw nb::value_error(("slice step: " + std::to_string(step) +
                           "; memory is contiguous bytes, so only 1 is supported; "
                           "usmx.asarray(m)[::step] gives a strided array")
                              .c_str());
  }
  const any_view& all = bytes.elements();
  const Py_ssize_t count =
      PySlice_AdjustIndices(static_cast<Py_ssize_t>(all.size()), &start, &stop, step);
  std::int64_t shift = 0;
  layout part = all.layout().sliced(0, start, count, 1, shift);
  return view_of(self, all.with_layout(std::move(part), shift));
}

/// As a method: the kind of this memory as `syclobj` sees it. Called on the class with an address:
/// the kind of the memory there.
usm_kind kind_at(nb::handle self_or_address, nb::handle syclobj) {
  const void* p = nullptr;
  if (is_memory(self_or_address)) {
    const live_bytes bytes = live(*nb::inst_ptr<memory>(self_or_address));
    if (syclobj.is_none()) return bytes->kind();
    return kind_of(bytes->data(), to_origin(syclobj).context);
  } else {
    if (!PyLong_Check(self_or_address.ptr())) {
      throw nb::type_error("get_usm_type: pass a memory, or an address as an int");
    }
    p = PyLong_AsVoidPtr(self_or_address.ptr());
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      throw nb::value_error("get_usm_type: the address does not fit a pointer");
    }
    if (syclobj.is_none()) {
      throw nb::type_error("get_usm_type: an address needs a syclobj: a context or a queue");
    }
  }
  return kind_of(p, to_origin(syclobj).context);
}

int kind_number(usm_kind kind) noexcept {
  // dpctl's numbers.
  switch (kind) {
    case usm_kind::device:
      return 1;
    case usm_kind::shared:
      return 2;
    case usm_kind::host:
      return 3;
    default:
      return 0;
  }
}

std::string describe(nb::handle self) {
  const memory& m = self_of<memory>(self);
  const std::string type = shown(nb::str(self.type().attr("__qualname__")));
  if (m.freed()) return "<usmx.memory." + type + ": freed>";
  std::array<char, 32> address{};
  std::snprintf(address.data(), address.size(), "0x%" PRIxPTR,
                reinterpret_cast<std::uintptr_t>(m.bytes.data()));
  std::string text = "<usmx.memory." + type + ": " + std::to_string(m.bytes.elements().size()) +
                     " bytes of " + name(m.bytes.kind()) + " USM at " + address.data();
  const std::string device = filter_string(m.bytes.queue().get_device());
  if (!device.empty()) text += " on " + device;
  if (m.bytes.elements().read_only()) text += ", read-only";
  return text + ">";
}

nb::object reduce(nb::handle self) {
  const live_bytes bytes = live(self_of<memory>(self));
  return nb::make_tuple(
      nb::module_::import_("usmx.memory").attr("_rebuild"),
      nb::make_tuple(self.type(), self.attr("tobytes")(),
                     filter_string(bytes->queue().get_device()), bytes->elements().read_only()));
}

nb::object array_interface(const memory& m) {
  const live_bytes held = live(m);
  const array& bytes = *held;
  if (!host_accessible(bytes.kind())) {
    throw nb::attribute_error(
        "device memory has no __array_interface__, the host cannot access it; copy it with "
        "copy_to_host()");
  }
  wait_for_work(bytes);
  nb::dict d;
  d["shape"] = nb::make_tuple(bytes.elements().size());
  d["typestr"] = "|u1";
  d["data"] =
      nb::make_tuple(reinterpret_cast<std::uintptr_t>(bytes.data()), bytes.elements().read_only());
  d["strides"] = nb::none();
  d["version"] = 3;
  return d;
}

}  // namespace

void raise_not_usm(nb::handle obj, const char* where) {
  const std::string type = Py_TYPE(obj.ptr())->tp_name;
  PyErr_Format(not_usm_error, "%s: %s has no USM: expected %s%s", where, type.c_str(),
               expected_protocols().c_str(),
               PyObject_CheckBuffer(obj.ptr()) != 0
                   ? "; copy a buffer of the host with copy_from_host()"
                   : "");
  nb::raise_python_error();
}

nb::object wrap_memory(array bytes) {
  array all = byte_span(std::move(bytes));
  const usm_kind kind = all.kind();
  return make(kind, std::move(all));
}

const array* memory_of(nb::handle obj) noexcept {
  if (!is_memory(obj)) return nullptr;
  const memory& m = *nb::inst_ptr<memory>(obj);
  return m.freed() ? nullptr : &m.bytes;
}

void bind_memory(nb::module_& m) {
  bind_python_owner(m);
  not_usm_error = PyErr_NewExceptionWithDoc(
      "usmx.memory.NotUSMError",
      "An object that describes no USM: the wrong type, and a wrong value\n"
      "for programs that expect the ValueError of dpctl.memory.",
      nb::make_tuple(nb::handle(PyExc_TypeError), nb::handle(PyExc_ValueError)).ptr(), nullptr);
  if (not_usm_error == nullptr) nb::raise_python_error();
  m.attr("NotUSMError") = nb::borrow(not_usm_error);

  nb::class_<memory> c(m, "_Memory", "A run of bytes in USM; base of the three classes.",
                       nb::is_weak_referenceable());
  c.attr("__module__") = "usmx.memory";
  const auto size = [](const memory& self) { return live(self)->elements().size(); };
  c.def_prop_ro("nbytes", size, "Bytes.");
  c.def_prop_ro("size", size, "Bytes.");
  c.def("__len__", size);
  c.def("__repr__", describe);
  c.def(
      "_repr_html_",
      [](nb::handle self) {
        static_cast<void>(self_of<memory>(self));
        return nb::module_::import_("usmx._notebook").attr("memory")(self);
      },
      nb::sig("def _repr_html_(self) -> str"));
  c.def("__getitem__", slice, nb::arg("key").none(),
        nb::sig("def __getitem__(self, key: slice) -> Self"));
  c.def("__reduce__", reduce, nb::sig("def __reduce__(self) -> tuple[Any, ...]"));
  c.def(
      "__sizeof__",
      [](nb::handle self) {
        const memory& held = self_of<memory>(self);
        const bool owns = !held.freed() && !held.is_view() && !lent_by_python(held.bytes);
        return static_cast<std::size_t>(Py_TYPE(self.ptr())->tp_basicsize) +
               (owns ? held.bytes.elements().nbytes() : 0);
      },
      "For `sys.getsizeof`: with the bytes that this object owns; views own none.");
  c.def(
      "__enter__",
      [](nb::object self) {
        static_cast<void>(live(self_of<memory>(self)));
        return self;
      },
      nb::sig("def __enter__(self) -> Self"));
  c.def(
      "__exit__",
      [](memory& self, nb::args raised) {
        try {
          self.free();
        } catch (const nb::builtin_exception&) {
          // What the block raised says more; its frames may hold the arrays that are in the way.
          if (raised.size() == 0 || raised[0].is_none()) throw;
        }
      },
      nb::sig("def __exit__(self, *args: object) -> None"));
  c.def(
      "free", &memory::free,
      "Give the bytes back now; commands that still run on them are waited for in the background.\n"
      "After it every use of this object and of its slices raises ValueError. What took the\n"
      "address through `__sycl_usm_array_interface__` must be done with it.\n\n"
      "Raises\n------\n"
      "BufferError\n    A memoryview, a NumPy array or another buffer still shows the bytes, or an "
      "array\n    or a call in another thread still uses them.");
  c.def_prop_ro("freed", &memory::freed, "True after `free()`.");
  c.def_prop_ro(
      "readonly", [](const memory& self) { return live(self)->elements().read_only(); },
      "True if the bytes must not be written through this object.");
  c.def(
      "as_readonly",
      [](nb::handle self) {
        return view_of(self, live(self_of<memory>(self))->elements().as_read_only());
      },
      "The same bytes as an object that cannot write them.",
      nb::sig("def as_readonly(self) -> Self"));
  c.def_prop_ro(
      "reference_obj",
      [](const memory& self) -> nb::object {
        return self.is_view() ? self.root() : lender_of(*live(self));
      },
      "The object that owns the bytes if this one does not, otherwise None.",
      nb::sig("def reference_obj(self) -> Any"));
  const auto queue = [](const memory& self) { return live(self)->queue(); };
  const auto device = [](const memory& self) { return live(self)->queue().get_device(); };
  const auto context = [](const memory& self) { return live(self)->queue().get_context(); };
  for (const char* name : {"queue", "_queue"}) {
    c.def_prop_ro(name, queue, "The queue that work on these bytes goes to.");
  }
  c.def_prop_ro("device", device, "The device the bytes were allocated for.");
  for (const char* name : {"context", "_context"}) {
    c.def_prop_ro(name, context, "The context the bytes belong to.");
  }
  bind_dpctl_names(c, [](nb::handle self) { return live(self_of<memory>(self))->queue(); });
  c.def_prop_ro(
      "_pointer",
      [](const memory& self) {
        const live_bytes bytes = live(self);
        // The address may reach commands that are not known here: compute follows the queue.
        expose(*bytes);
        return reinterpret_cast<std::uintptr_t>(bytes->data());
      },
      "The address of the first byte.");
  c.def_prop_ro(
      "usm_type", [](const memory& self) { return name(live(self)->kind()); },
      "\"device\", \"shared\" or \"host\".", nb::sig("def usm_type(self) -> UsmKind"));
  const auto usm_type = [](nb::handle self, nb::handle syclobj) {
    return name(kind_at(self, syclobj));
  };
  c.def("get_usm_type", usm_type, nb::arg("syclobj") = nb::none(),
        "\"device\", \"shared\", \"host\", or \"unknown\" where the context of `syclobj` does not "
        "know\nthe memory. On the class it takes an address: "
        "``MemoryUSMShared.get_usm_type(address, syclobj)``.",
        nb::sig("def get_usm_type(self, syclobj: QueueLike = None) -> str"));
  c.def(
      "get_usm_type_enum",
      [](nb::handle self, nb::handle syclobj) { return kind_number(kind_at(self, syclobj)); },
      nb::arg("syclobj") = nb::none(),
      "The same as a number: unknown 0, device 1, shared 2, host 3.",
      nb::sig("def get_usm_type_enum(self, syclobj: QueueLike = None) -> int"));
  m.def("get_usm_type", usm_type, nb::arg("ptr").none(), nb::arg("syclobj") = nb::none(),
        "The kind of USM at an address, or of a memory object.\n\n"
        "Returns\n-------\nstr\n    \"device\", \"shared\", \"host\" or \"unknown\".",
        nb::sig("def get_usm_type(ptr: SupportsUSM | int, syclobj: QueueLike = None) -> str"));
  bind_exports(c, [](nb::handle self) {
    const array& bytes = *live(self_of<memory>(self));
    return held_array{bytes.keep_alive(), &bytes};
  });
  c.def_prop_ro("__array_interface__", array_interface,
                nb::sig("def __array_interface__(self) -> dict[str, Any]"));
  bind_copies(c);

  bind_kind<memory_shared, usm_kind::shared>(m, "USM that moves between host and device.");
  bind_kind<memory_host, usm_kind::host>(m, "USM that lives on the host; devices reach into it.");
  bind_kind<memory_device, usm_kind::device>(
      m, "USM that lives on the device, out of the host's reach.")
      .def(
          "__array__",
          [](nb::handle, nb::args, nb::kwargs) -> nb::object {
            // Without this NumPy makes a 0-d array of objects and says nothing.
            throw nb::type_error(
                "the host cannot access device memory; copy it with copy_to_host() or tobytes()");
          },
          nb::sig("def __array__(self, *args: object, **kwargs: object) -> NoReturn"));

  m.def(
      "as_usm_memory",
      [](nb::handle obj) {
        std::optional<array> from = to_array(obj);
        if (!from) raise_not_usm(obj, "as_usm_memory");
        if (is_memory(obj)) return view_of(obj, from->elements());
        return wrap_memory(std::move(*from));
      },
      nb::arg("obj").none(),
      "The memory behind an object with `__sycl_usm_array_interface__`, without a copy: the bytes\n"
      "from its lowest to its highest element.\n\n"
      "Raises\n------\n"
      "NotUSMError\n    `obj` does not speak the protocol.\n"
      "InteropError\n    What it describes is not valid.",
      nb::sig("def as_usm_memory(obj: SupportsUSM) -> MemoryUSMDevice | MemoryUSMShared | "
              "MemoryUSMHost"));
}

}  // namespace usmx::python
