// `usmx.numpy_memory`: inside of its block NumPy allocates from our pools, so that what NumPy
// computes is USM from the beginning and needs no copy.
// SPDX-License-Identifier: Apache-2.0
#include "memory/numpy_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "array/ndarray.hpp"
#include "core/fork_guard.hpp"
#include "core/format.hpp"
#include "memory/memory.hpp"
#include "support/attributes.hpp"
#include "support/error_text.hpp"
#include "support/self.hpp"
#include "support/signature.hpp"
#include "usmx/memory.hpp"

namespace usmx::python {
namespace {

// --- what NumPy's binary interface is (NEP 49), the same since 1.22

struct data_allocator {
  void* context;
  void* (*malloc)(void* context, std::size_t bytes);
  void* (*calloc)(void* context, std::size_t count, std::size_t size);
  void* (*realloc)(void* context, void* p, std::size_t bytes);
  void (*free)(void* context, void* p, std::size_t bytes);
};

struct data_handler {
  char name[127];
  std::uint8_t version;
  data_allocator allocator;
};

constexpr const char* handler_name = "mem_handler";

/// What we use of its table of functions. Null members until a block was made: NumPy is imported
/// only then.
struct numpy_functions {
  PyObject* (*set_handler)(PyObject*) = nullptr;
  PyObject* (*get_handler)() = nullptr;
};
numpy_functions api;

void load_numpy() {
  if (api.set_handler != nullptr) return;
  nb::object core = attribute_or_none(nb::module_::import_("numpy"), "_core");
  if (core.is_none()) core = nb::module_::import_("numpy.core");  // before version 2
  const nb::object capsule = core.attr("_multiarray_umath").attr("_ARRAY_API");
  auto** const table = static_cast<void**>(PyCapsule_GetPointer(capsule.ptr(), nullptr));
  if (table == nullptr) throw nb::python_error();
  constexpr std::size_t feature_version = 211;
  constexpr unsigned int with_handlers = 0x0f;  // 1.22
  if (reinterpret_cast<unsigned int (*)()>(table[feature_version])() < with_handlers) {
    throw std::runtime_error(
        "numpy_memory: this NumPy always allocates by itself; NumPy 1.22 or later is needed");
  }
  api.set_handler = reinterpret_cast<PyObject* (*)(PyObject*)>(table[304]);
  api.get_handler = reinterpret_cast<PyObject* (*)()>(table[305]);
}

// --- blocks of memory

/// Where the memory of a block of code is allocated. Each array of NumPy keeps it, in a capsule.
struct source {
  data_handler handler{};
  sycl::queue queue;
  usm_kind kind;
};

/// In front of the bytes that NumPy has: the size that NumPy gives back is not always the one it
/// asked for.
struct alignas(default_alignment) block_header {
  shared_owner keep;  // null: the memory is malloc's
  std::size_t bytes;
};
static_assert(sizeof(block_header) == default_alignment);

block_header* header_of(void* p) noexcept { return static_cast<block_header*>(p) - 1; }

void* behind_header(void* base, shared_owner keep, std::size_t bytes) noexcept {
  return new (base) block_header{std::move(keep), bytes} + 1;
}

/// A thread of NumPy may call without the GIL, and an interpreter that ends has none to let go of.
bool holds_gil() noexcept { return Py_IsInitialized() != 0 && PyGILState_Check() != 0; }

/// Null if there is no memory: NumPy raises the MemoryError.
void* allocate_block(const source& from, std::size_t bytes) noexcept {
  if (bytes > std::numeric_limits<std::ptrdiff_t>::max() - 2 * sizeof(block_header)) return nullptr;
  const std::size_t whole = bytes + sizeof(block_header);
  if (detail::in_forked_child()) {  // which the driver does not serve
    const std::size_t rounded = (whole + default_alignment - 1) / default_alignment;
    void* const base = std::aligned_alloc(default_alignment, rounded * default_alignment);
    return base == nullptr ? nullptr : behind_header(base, nullptr, bytes);
  }
  try {
    shared_owner keep = try_allocate(default_resource(from.queue, from.kind), whole);
    if (!keep) {
      std::optional<gil_released> released;
      if (holds_gil()) released.emplace();
      keep = allocate(from.queue, from.kind, whole);
    }
    std::byte* const base = keep->base();
    return behind_header(base, std::move(keep), bytes);
  } catch (...) {
    return nullptr;
  }
}

void free_block(void* p) noexcept {
  if (p == nullptr) return;
  block_header* const header = header_of(p);
  shared_owner keep = std::move(header->keep);
  header->~block_header();
  if (keep == nullptr) {
    std::free(header);
  } else if (!keep->try_release() && holds_gil()) {
    const gil_released released;
    keep.reset();
  }
}

void* numpy_malloc(void* context, std::size_t bytes) noexcept {
  return allocate_block(*static_cast<const source*>(context), bytes);
}

void* numpy_calloc(void* context, std::size_t count, std::size_t size) noexcept {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
  void* const p = numpy_malloc(context, bytes);
  if (p != nullptr) std::memset(p, 0, bytes);
  return p;
}

void* numpy_realloc(void* context, void* p, std::size_t bytes) noexcept {
  void* const moved = numpy_malloc(context, bytes);
  if (moved == nullptr || p == nullptr) return moved;
  std::memcpy(moved, p, std::min(bytes, header_of(p)->bytes));
  free_block(p);
  return moved;
}

void numpy_free(void*, void* p, std::size_t) noexcept { free_block(p); }

nb::object make_handler(const sycl::queue& queue, usm_kind kind) {
  auto made = std::make_unique<source>(source{{}, queue, kind});
  data_handler& handler = made->handler;
  const std::string title = detail::format("usmx {}", name(kind));
  std::ranges::copy(title, handler.name);
  handler.version = 1;
  handler.allocator = {made.get(), numpy_malloc, numpy_calloc, numpy_realloc, numpy_free};
  PyObject* const capsule = PyCapsule_New(&handler, handler_name, [](PyObject* self) noexcept {
    auto* const h = static_cast<data_handler*>(PyCapsule_GetPointer(self, handler_name));
    delete static_cast<source*>(h->allocator.context);
  });
  if (capsule == nullptr) throw nb::python_error();
  static_cast<void>(made.release());
  return nb::steal(capsule);
}

// --- blocks of code

/// What `with numpy_memory():` needs; one object may be entered several times.
struct numpy_memory {
  sycl::queue queue;
  usm_kind kind;
  /// NumPy keeps its handler in a context variable, so each entry has a handler of its own: the
  /// one that is set tells which entry is left.
  struct entry {
    nb::object handler;
    nb::object before;
  };
  std::vector<entry> entered{};
};

void enter(numpy_memory& self) {
  load_numpy();
  static_cast<void>(default_resource(self.queue, self.kind));  // an error belongs here
  nb::object handler = make_handler(self.queue, self.kind);
  self.entered.reserve(self.entered.size() + 1);
  nb::object before = nb::steal(api.set_handler(handler.ptr()));
  if (!before.is_valid()) throw nb::python_error();
  self.entered.push_back({std::move(handler), std::move(before)});
}

void leave(numpy_memory& self) {
  if (self.entered.empty()) throw std::runtime_error("numpy_memory: the block was not entered");
  const nb::object now = nb::steal(api.get_handler());
  if (!now.is_valid()) throw nb::python_error();
  const auto own = std::ranges::find_if(
      self.entered, [&](const numpy_memory::entry& e) { return e.handler.is(now); });
  if (own == self.entered.end()) {
    throw std::runtime_error(
        "numpy_memory: the block is left on another thread or in another context than the one that "
        "entered it, or NumPy was given another handler since");
  }
  const numpy_memory::entry left = std::move(*own);
  self.entered.erase(own);
  const nb::object same = nb::steal(api.set_handler(left.before.ptr()));
  if (!same.is_valid()) throw nb::python_error();
}

}  // namespace

bool is_numpy_type(PyTypeObject* type) noexcept {
  // A static type, whose name is its own. It stays, so that it is found once.
  static PyTypeObject* known = nullptr;
  if (type == known) return true;
  if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) != 0 ||
      std::strcmp(type->tp_name, "numpy.ndarray") != 0 ||
      type->tp_basicsize < static_cast<Py_ssize_t>(sizeof(numpy_array))) {
    return false;
  }
  known = type;
  return true;
}

const numpy_array* numpy_array_in(PyObject* object) noexcept {
  PyTypeObject* type = Py_TYPE(object);
  // The classes that programs derive from it begin with it.
  while (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) != 0 && type->tp_base != nullptr) {
    type = type->tp_base;
  }
  return is_numpy_type(type) ? reinterpret_cast<const numpy_array*>(object) : nullptr;
}

numpy_owner owner_of_numpy_block(const numpy_array& array) noexcept {
  // NumPy's own handler, which is one object: kept, so that no other takes its place.
  static PyObject* numpys = nullptr;
  if ((array.flags & numpy_array::owns_data) == 0 || array.handler == nullptr) return {};
  if (array.handler == numpys) return {nullptr, true};
  if (PyCapsule_IsValid(array.handler, handler_name) == 0) return {};
  const auto* const handler =
      static_cast<const data_handler*>(PyCapsule_GetPointer(array.handler, handler_name));
  if (handler->allocator.malloc == numpy_malloc) {
    return {&static_cast<const source*>(handler->allocator.context)->queue, false};
  }
  if (std::strcmp(handler->name, "default_allocator") != 0) return {};
  if (numpys == nullptr) numpys = Py_NewRef(array.handler);
  return {nullptr, true};
}

void bind_numpy_memory(nb::module_& m) {
  nb::class_<numpy_memory> c(
      m, "numpy_memory",
      "In a ``with`` block, NumPy allocates its arrays from the pools of usmx on this thread: they "
      "are USM.\n\n"
      "``usmx.asarray(a)`` of such an array is a view without a copy, on every device. Arrays may "
      "outlive\nthe block. Blocks may lie in each other: the innermost counts. NumPy knows nothing "
      "about commands:\nwait for the queue before NumPy reads what a kernel writes.\n\n"
      "Parameters\n----------\n"
      "kind : {'shared', 'host'}\n    The kind of USM.\n"
      "queue : Queue, Device, str or None\n    Where commands on the arrays run, unless another "
      "queue is named.\n\n"
      "Raises\n------\n"
      "ValueError\n    `kind` is 'device', which NumPy cannot read.\n"
      "DeviceError\n    The device has no USM of that kind.\n"
      "RuntimeError\n    The block is left on another thread than it was entered on.\n\n"
      "Examples\n--------\n>>> import numpy as np\n>>> import usmx\n"
      ">>> with usmx.numpy_memory():\n"
      "...     a = np.zeros(1000)\n"
      ">>> usmx.asarray(a, copy=False).usm_type\n'shared'");
  c.attr("__module__") = "usmx";
  c.def(
      "__init__(self, kind: UsmKind = 'shared', *, queue: QueueLike = None) -> None"_sig,
      [](nb::pointer_and_handle<numpy_memory> self, nb::handle kind, nb::handle queue) {
        const usm_kind wanted = to_kind(kind, usm_kind::shared);
        if (wanted == usm_kind::device) {
          throw nb::value_error(
              "kind: 'device' is not supported, NumPy cannot read device memory; expected 'shared' "
              "or 'host'");
        }
        initialise(self, to_queue(queue), wanted);
      });
  c.def("__enter__(self) -> Self"_sig, [](nb::handle self) {
    enter(self_of<numpy_memory>(self));
    return nb::borrow(self);
  });
  c.def("__exit__(self, *args: object) -> None"_sig,
        [](numpy_memory& self, nb::args) { leave(self); });
}

}  // namespace usmx::python
