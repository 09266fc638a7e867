// Kernels from text in Python: RawModule, RawKernel, and the launch that turns Python arguments
// into those that the kernel declares, or says which one is wrong.
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <vector>

#include <array>
#include <cstddef>
#include <forward_list>
#include <memory_resource>
#include <utility>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "kernel/kernel_arguments.hpp"
#include "kernel/source/kernel_signature.hpp"
#include "kernel/source/kernel_template.hpp"
#include "protocols/protocols.hpp"
#include "runtime/runtime_bindings.hpp"
#include "support/bindings.hpp"
#include "support/error_text.hpp"
#include "support/pickling.hpp"
#include "support/self.hpp"
#include "support/signature.hpp"
#include "support/slot_errors.hpp"
#include "support/text.hpp"
#include "support/type_slots.hpp"
#include "usmx/detail/built_kernels.hpp"
#include "usmx/kernel.hpp"

namespace usmx::python {

/// Source and options.
class raw_module {
 public:
  raw_module(std::string source, std::vector<std::string> options)
      : source_(std::move(source)), options_(std::move(options)) {}

  const std::string& source() const noexcept { return source_; }
  const std::vector<std::string>& options() const noexcept { return options_; }
  program build(const sycl::queue& queue) const { return program::build(queue, source_, options_); }

 private:
  std::string source_;
  std::vector<std::string> options_;
};

/// One kernel of it. Cheap to copy: copies share what was built.
class raw_kernel {
 public:
  raw_kernel(std::shared_ptr<const raw_module> from, std::string name);

  /// Dimensions that the source declares, 0 if it cannot be told.
  int rank() const noexcept { return state_->rank; }
  const raw_module& from() const noexcept { return *state_->from; }
  const std::string& name() const noexcept { return state_->name; }

  /// The kernel for the queue's context and device, compiled the first time. Call without the GIL.
  const kernel& on(const sycl::queue& queue) const;
  /// The same if it was compiled before; null otherwise.
  const kernel* built_for(const sycl::queue& queue) const noexcept {
    return state_->built.find(queue);
  }

 private:
  struct state {
    std::shared_ptr<const raw_module> from;
    std::string name;
    int rank = 0;
    detail::built_kernels built;
  };
  std::shared_ptr<state> state_;
};

/// `k[global, local]`: a kernel with its range, waiting for arguments.
struct bound_launch {
  raw_kernel k;
  bracketed_range read;
};

namespace {

/// The kernel for a queue, compiled now if it is not. Lets go of the GIL. KeyError for a name that
/// the source does not have.
const kernel& compiled_on(const raw_kernel& k, const sycl::queue& queue) {
  try {
    const gil_released release;
    return k.on(queue);
  } catch (const std::out_of_range& e) {
    throw nb::key_error(e.what());  // the GIL is held again: the guard above has ended
  }
}

/// The one door to a launch. `args` is a tuple.
nb::object launch(const bound_launch& bound, nb::handle args, nb::handle queue_or_none,
                  nb::handle depends_on) {
  const auto& name = bound.k.name();
  const auto count = static_cast<std::size_t>(PyTuple_GET_SIZE(args.ptr()));
  const auto given = [&](std::size_t i) {
    return nb::handle(PyTuple_GET_ITEM(args.ptr(), static_cast<Py_ssize_t>(i)));
  };
  // Enough for a dozen arguments; what more there are come from the heap.
  alignas(std::max_align_t)
      std::array<std::byte, 12 * (sizeof(kernel_argument) + sizeof(memory_argument))>
          room;
  std::pmr::monotonic_buffer_resource in_room(room.data(), room.size());

  borrowed_arrays borrowed;
  std::pmr::vector<memory_argument> memory(&in_room);
  memory.reserve(count);
  queue_of_arrays place;
  for (std::size_t i = 0; i < count; ++i) {
    memory.push_back(to_memory(given(i), borrowed));
    if (memory[i].memory != nullptr) place.see(*memory[i].memory);
  }
  sycl::queue queue = queue_or_none.is_none() ? place.get() : to_queue(queue_or_none);
  const auto before = to_order(depends_on);

  const kernel* const built = bound.k.built_for(queue);
  const kernel& k = built != nullptr ? *built : compiled_on(bound.k, queue);

  if (k.argument_count() != kernel::unknown_count && count != k.argument_count()) {
    throw type_error("kernel '{}' takes {} arguments, got {}", name, k.argument_count(), count);
  }
  const auto called = [&](std::size_t i) {
    const bool is_known = k.parameters() && i < k.parameters()->size();
    return detail::format("argument {} of kernel '{}'{}", i, name,
                          is_known ? " (" + (*k.parameters())[i].text + ")" : "");
  };
  put_on_queue(borrowed, queue, memory, called, given);
  std::pmr::vector<kernel_argument> arguments(&in_room);
  std::forward_list<std::vector<std::byte>> records;
  std::forward_list<local_memory> locals;
  arguments.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto* p = k.parameters() ? &(*k.parameters())[i] : nullptr;
    const auto where = [&] { return called(i); };
    memory_argument& a = memory[i];
    // A structure by value may be given as bytes.
    if (a.memory && p && !p->pointer && is_host_memory(*a.memory)) a = {};
    if (p && p->view == kernel_parameter::view_form::local) {
      auto size = to_local_memory(given(i));
      if (!size) {
        throw type_error("{}: is of type {}; expected usmx.LocalMemory(shape, dtype)", where(),
                         python_type(given(i)));
      }
      arguments.emplace_back(locals.emplace_front(std::move(*size)));
      continue;
    }
    // Of rank 0, or memory of the host that only the device of this launch can use.
    if (!a.memory && p && p->pointer) a = to_memory_alone(given(i), borrowed, &queue);
    if (!a.memory) {
      const auto refuse_local = [&] {
        if (!to_local_memory(given(i))) return;
        throw type_error(
            "{}: is local memory, for which the parameter must be a usmx::local_view<T, N>",
            where());
      };
      if (p && p->pointer) {
        refuse_local();
        throw type_error("{}: {}", where(), no_memory_text(given(i), queue.get_device()));
      }
      if (p && p->type && p->type->is_record()) {
        records.push_front(to_record(given(i), *p->type, where()));
        arguments.emplace_back(*p->type, records.front().data());
      } else if (p && p->type && p->type->kind() == type_class::complex && !p->type_name.empty()) {
        records.push_front(to_complex(given(i), *p->type, where()));
        arguments.emplace_back(*p->type, records.front().data());
      } else if (const auto plain = plain_scalar(given(i), p)) {
        arguments.push_back(*plain);
      } else {
        refuse_local();
        arguments.push_back(to_scalar(given(i), p, where()));
      }
      continue;
    }
    if (a.untyped && p && p->pointer && p->type && !p->type->is_record()) {
      a.memory = &borrowed.add(retyped(*a.memory, *p->type));
    }
    check_pair(bound.read, name, i, *a.memory);
    const auto& where_elements = a.memory->elements().layout();
    const bool is_view = p && p->view != kernel_parameter::view_form::none;
    if (!is_view && !where_elements.is_c_contiguous()) {
      throw value_error(
          "{}: is {}, and a pointer knows no strides; pass x.copy(), or "
          "declare the parameter as usmx::strided<T, N>",
          where(), where_elements.is_f_contiguous() ? "in Fortran order" : "strided");
    }
    arguments.emplace_back(*a.memory);
  }
  return submit(k, queue, bound.read.range, arguments, borrowed, before ? &*before : nullptr);
}

/// `k[global, local](...)`, however it is spelled.
PyObject* call_launch(PyObject* self, PyObject* args, PyObject* keywords) noexcept {
  try {
    PyObject* queue = Py_None;
    PyObject* depends_on = Py_None;
    const auto& bound = self_of<bound_launch>(self);
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    for (Py_ssize_t at = 0; keywords != nullptr && PyDict_Next(keywords, &at, &key, &value) != 0;) {
      if (PyUnicode_CompareWithASCIIString(key, "queue") == 0) {
        queue = value;
      } else if (PyUnicode_CompareWithASCIIString(key, "depends_on") == 0) {
        depends_on = value;
      } else {
        nb::dict others = new_dict();
        for (const auto [word, v] : nb::borrow<nb::dict>(keywords)) {
          const auto text = to_text(word, "keyword");
          if (text != "queue" && text != "depends_on") others[word] = v;
        }
        refuse_keywords(nb::borrow<nb::kwargs>(others), bound.k.name());
      }
    }
    return launch(bound, args, queue, depends_on).release().ptr();
  } catch (...) {
    return raise_current();
  }
}

PyObject* bind_range(PyObject* self, PyObject* key) noexcept {
  // Borrowed: the module keeps it.
  static const nb::handle bound_class = nb::type<bound_launch>();
  try {
    const auto& k = self_of<raw_kernel>(self);
    const bracketed_range read = to_launch_range(key, k.rank());
    nb::object made = nb::inst_alloc(bound_class);
    new (nb::inst_ptr<bound_launch>(made)) bound_launch{k, read};
    nb::inst_mark_ready(made);
    return made.release().ptr();
  } catch (...) {
    return raise_current();
  }
}

nb::tuple names_of(const raw_module& m, nb::handle queue_or_none) {
  auto queue = to_queue(queue_or_none);
  const auto built = [&] {
    const gil_released release;
    return m.build(queue);
  }();
  nb::list names = new_list();
  for (const auto& name : built.names()) names.append(name);
  return nb::tuple(names);
}

}  // namespace

raw_kernel::raw_kernel(std::shared_ptr<const raw_module> from, std::string name)
    : state_(std::make_shared<state>()) {
  state_->from = std::move(from);
  state_->name = std::move(name);
  for (const auto& s : detail::read_signatures(state_->from->source())) {
    if (s.name == detail::template_name(state_->name)) state_->rank = s.rank;
  }
}

const kernel& raw_kernel::on(const sycl::queue& queue) const {
  return state_->built.get(queue, [&] { return from().build(queue).get(name()); });
}

void bind_kernel(nb::module_& m) {
  nb::class_<bound_launch> bound(m, "_Launch", "A kernel with its range, waiting for arguments.",
                                 nb::pooled());
  bound.def(
      "__call__",
      [](const bound_launch& self, const nb::args& args, nb::handle queue, nb::handle depends_on,
         const nb::kwargs& keywords) -> nb::typed<nb::object, event> {
        refuse_keywords(keywords, self.k.name());
        return launch(self, args, queue, depends_on);
      },
      // It takes other names too, to say itself what they are: no signature says that.
      nb::arg("args"), nb::kw_only(), nb::arg("queue") = nb::none(),
      nb::arg("depends_on") = nb::none(), nb::arg("keywords"),
      nb::sig("def __call__(self, *args: KernelArgument, queue: QueueLike = None, "
              "depends_on: EventsLike = None) -> Event"),
      R"(Submits the kernel and returns its Event: without waiting, unless memory of the host is
among the arguments.

Parameters
----------
*args
    One for each parameter of the kernel. Pointers take usmx arrays and memory, any object with
    ``__sycl_usm_array_interface__`` or ``__dlpack__``, and on devices that read the host's memory,
    as CPUs do, NumPy arrays and other buffers; C-contiguous, of the declared element type; views,
    ``usmx::strided<T, N>`` and ``usmx::dense<T, N>``, take the same with N dimensions, the first with
    any strides. ``usmx::local_view<T, N>`` takes usmx.LocalMemory with N lengths, each size compiled
    for itself. A struct of the source takes a NumPy record, a ctypes.Structure or bytes. Scalars
    take Python and NumPy numbers, checked against the range of the declared
    type.
queue : Queue, optional
    Where to run; any form that names a queue. By default the queue of the first array, without one
    the default queue.
depends_on : Event or sequence of Event, optional
    What must have finished before. By default everything pending on the memory of the arguments;
    with an explicit value, ``()`` too, the order is the caller's.

Raises
------
TypeError
    Wrong number of arguments, a scalar for a pointer or the reverse, another element type.
ValueError
    A scalar out of range, strided or read-only memory, memory of another context, a local range
    that does not fit.
KeyError
    The source has no kernel of that name.
BuildError
    The source does not compile.)");
  slots_of(bound).tp_call = call_launch;

  nb::class_<raw_kernel> of_text(m, "RawKernel",
                                 R"(A kernel written in SYCL C++, compiled at run time.

Without SYCL headers in the source, it sees the prelude of usmx, which needs no C++ compiler on the
machine: ``USMX_KERNEL(1) f(float* x) { x[usmx::global_id()] += 1; }``. It is compiled at its first
launch for a device, once in the process for equal source and options.

Parameters
----------
source : str
    The C++ text. It may contain several kernels.
name : str
    Which of them; of a template with its arguments, ``"scale<float>"``.
options : sequence of str, optional
    For the compiler, such as ``("-DN=8",)``.
contract : bool, optional
    Whether ``a * b + c`` may be rounded once, which is faster. By default each operation is
    rounded by itself, as in NumPy.
driver_math : bool, optional
    Whether ``exp``, ``log``, ``sin``, ``cos``, ``tanh``, ``atan2`` and ``hypot`` are the driver's
    on processors too, which may take less time. By default they have the bits of `usmx.exp` and
    the others.

Examples
--------
>>> k = usmx.RawKernel("USMX_KERNEL(1) f(float* x) { x[usmx::global_id()] += 1; }", "f")
>>> x = usmx.zeros(3, "float32")
>>> k[x.size](x).wait()         # k[global](...); k[global, local](...); k[(64, 32), (8, 8)](...)
)");
  of_text
      .def(
          "__init__(self, source: str, name: str, options: Sequence[str] = (), *, "
          "contract: bool = False, driver_math: bool = False) -> None"_sig,
          [](nb::pointer_and_handle<raw_kernel> self, const nb::str& source, const nb::str& name,
             nb::handle options, bool contract, bool driver_math) {
            auto text = std::make_shared<raw_module>(to_text(source, "source"),
                                                     to_options(options, contract, driver_math));
            initialise(self, std::move(text), to_text(name, "name"));
          })
      .def_prop_ro("name", &raw_kernel::name, "Name of the kernel in its source.")
      .def_prop_ro(
          "source", [](const raw_kernel& k) { return k.from().source(); }, "The C++ text.")
      .def_prop_ro(
          "options", [](const raw_kernel& k) { return nb::tuple(nb::cast(k.from().options())); },
          "Options for the compiler.", nb::sig("def options(self) -> tuple[str, ...]"))
      .def(
          "compile(self, queue: QueueLike = None) -> None"_sig,
          [](const raw_kernel& k, nb::handle queue) {
            static_cast<void>(compiled_on(k, to_queue(queue)));
          },
          "Compile now instead of at the first launch.\n\n"
          "Parameters\n----------\n"
          "queue : Queue, optional\n    For its device, in any form that names a queue; the "
          "default "
          "queue by default.\n\n"
          "Raises\n------\n"
          "BuildError\n    The source does not compile.\n"
          "KeyError\n    The source has no kernel of that name.")
      .def(
          "limits(self, queue: QueueLike = None, "
          "local: LocalMemory | Sequence[LocalMemory] = ()) -> KernelLimits"_sig,
          [](const raw_kernel& k, nb::handle queue, nb::handle local) {
            const auto where = to_queue(queue);
            const auto sizes = to_local_memories(local);
            const kernel found = compiled_on(k, where);
            const gil_released release;
            return (sizes.empty() ? found : found.with_local(sizes)).limits();
          },
          "Private memory, and limits of work-groups and sub-groups, on a device.\n\n"
          "Compiles the kernel if that did not happen yet.\n\n"
          "Parameters\n----------\n"
          "queue : Queue, optional\n    Of the device, in any form that names a queue; the default "
          "queue by default.\n"
          "local : LocalMemory or sequence of LocalMemory, optional\n    One for each "
          "``usmx::local_view`` among the parameters of the kernel.\n\n"
          "Returns\n-------\nKernelLimits\n\n"
          "Raises\n------\n"
          "BuildError\n    The source does not compile.")
      .def(
          "__getitem__(self, range: LaunchRange) -> _Launch"_sig,
          [](const raw_kernel& k, nb::handle range) {
            return bound_launch{k, to_launch_range(range, k.rank())};
          },
          "Binds a range: [global] or [global, local], each an int or a tuple of up to three.\n\n"
          "Two ints are a global and a local range if the source declares USMX_KERNEL(1), a range\n"
          "of two dimensions otherwise; [n, (m,)] and [(n, m), None] say it themselves.")
      .def(
          "__call__(self, *args: Never, **keywords: Never) -> Event"_sig,
          [](const raw_kernel& k, const nb::args&, const nb::kwargs&) -> nb::object {
            const std::string& name = k.name();
            throw type_error("kernel '{}' is launched over a range: {}[global_range](...)", name,
                             name);
          },
          "Raises TypeError: a range is missing.")
      .def("__repr__", [](const raw_kernel& k) { return "<usmx.RawKernel '" + k.name() + "'>"; });
  bind_pickling(of_text, [](const raw_kernel& k, nb::list& args, nb::dict&) {
    args.append(k.from().source());
    args.append(k.name());
    args.append(nb::tuple(nb::cast(k.from().options())));
  });
  refuse_iteration(of_text);
  slots_of(of_text).tp_as_mapping->mp_subscript = bind_range;

  nb::class_<raw_module> module(m, "RawModule",
                                R"(C++ source with several kernels, compiled at run time.

Parameters
----------
source : str
    The C++ text; see RawKernel.
options : sequence of str, optional
    For the compiler.
contract : bool, optional
    Whether ``a * b + c`` may be rounded once; see RawKernel.
driver_math : bool, optional
    Whether ``exp``, ``sin`` and others are the driver's; see RawKernel.

Examples
--------
>>> import usmx
>>> module = usmx.RawModule('''
... USMX_KERNEL(1) twice(float* x) { x[usmx::global_id()] *= 2; }
... USMX_KERNEL(1) plus(float* x) { x[usmx::global_id()] += 1; }
... ''')
>>> x = usmx.ones(4, dtype="float32")
>>> module.get_function("twice")[4](x).wait()
>>> module.get_function("plus")[4](x).wait()
>>> x.tolist()
[3.0, 3.0, 3.0, 3.0])");
  bind_pickling(module, [](const raw_module& text, nb::list& args, nb::dict&) {
    args.append(text.source());
    args.append(nb::tuple(nb::cast(text.options())));
  });
  module
      .def(
          "__init__(self, source: str, options: Sequence[str] = (), *, "
          "contract: bool = False, driver_math: bool = False) -> None"_sig,
          [](nb::pointer_and_handle<raw_module> self, const nb::str& source, nb::handle options,
             bool contract, bool driver_math) {
            initialise(self, to_text(source, "source"), to_options(options, contract, driver_math));
          })
      .def(
          "get_function(self, name: str) -> RawKernel"_sig,
          [](const raw_module& self, const nb::str& name) {
            return raw_kernel(std::make_shared<raw_module>(self), to_text(name, "name"));
          },
          "A kernel of the source.\n\n"
          "Parameters\n----------\n"
          "name : str\n    It is looked up at the first launch; of a template with its "
          "arguments, ``\"scale<float>\"``.\n\n"
          "Returns\n-------\nRawKernel")
      .def(
          "names(self, queue: QueueLike = None) -> tuple[str, ...]"_sig, &names_of,
          "Compile for a device, and give the names of all kernels.\n\n"
          "Parameters\n----------\n"
          "queue : Queue, optional\n    Of the device, in any form that names a queue; the default "
          "queue by default.\n\n"
          "Returns\n-------\ntuple of str\n\n"
          "Raises\n------\n"
          "BuildError\n    The source does not compile.")
      .def_prop_ro("source", &raw_module::source, "The C++ text.")
      .def_prop_ro(
          "options", [](const raw_module& s) { return nb::tuple(nb::cast(s.options())); },
          "Options for the compiler.", nb::sig("def options(self) -> tuple[str, ...]"));
}

// --- limits

namespace {

nb::object required(const kernel_limits& limits) {
  nb::list sizes = new_list();
  for (const std::size_t n : limits.required_work_group_size) {
    if (n != 0) sizes.append(n);
  }
  return nb::len(sizes) == 0 ? nb::none() : nb::object(nb::tuple(sizes));
}

std::string represent(const kernel_limits& limits) {
  return detail::format(
      "<usmx.KernelLimits: work-groups up to {}, sub-groups up to {}, {} bytes of private memory>",
      limits.max_work_group_size, limits.max_sub_group_size, limits.private_memory);
}

}  // namespace

void bind_kernel_limits(nb::module_& m) {
  nb::class_<kernel_limits> c(
      m, "KernelLimits",
      "What a kernel needs of a device as it was compiled for it, and what it allows there.\n\n"
      "A figure that the driver does not have is 0.");
  c.def_ro("max_work_group_size", &kernel_limits::max_work_group_size,
           "The most work-items that a work-group of this kernel may have.")
      .def_ro("preferred_work_group_size_multiple",
              &kernel_limits::preferred_work_group_size_multiple,
              "Work-groups of a multiple of this many items use the device best.")
      .def_prop_ro(
          "required_work_group_size", required,
          "An int for each dimension if the source demands a size, otherwise None.",
          nb::for_getter(nb::sig("def required_work_group_size(self) -> tuple[int, ...] | None")))
      .def_ro("private_memory", &kernel_limits::private_memory,
              "Bytes of private memory for each work-item; 0 if registers suffice.")
      .def_ro("max_sub_group_size", &kernel_limits::max_sub_group_size,
              "The most work-items that a sub-group may have.")
      .def_ro("max_sub_groups", &kernel_limits::max_sub_groups,
              "The most sub-groups that a work-group may have.")
      .def_ro("required_sub_group_size", &kernel_limits::required_sub_group_size,
              "The size that the source demands, otherwise 0.")
      .def("__repr__", represent);
}

}  // namespace usmx::python
