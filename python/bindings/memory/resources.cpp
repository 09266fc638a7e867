// The memory resources of `usmx.memory`. A new one is a header, a source, and a call of
// `bind_resource` here.
// SPDX-License-Identifier: Apache-2.0
#include "memory/resources.hpp"

#include <cerrno>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nanobind/stl/string.h>

#include "array/ndarray.hpp"
#include "memory/memory.hpp"
#include "memory/numpy_memory.hpp"
#include "protocols/protocols.hpp"
#include "support/containers.hpp"
#include "support/error_text.hpp"
#include "support/signature.hpp"
#include "support/text.hpp"
#include "usmx/error.hpp"

namespace usmx::python {
namespace {

/// What a callback raised, on its way through C++. No allocation_error, so that a pool above passes
/// it on instead of making a text of it.
class callback_error final : public std::bad_alloc {
 public:
  callback_error(std::size_t bytes, nb::python_error&& cause)
      : what_(detail::format(
            "cannot allocate {} bytes: the callback that should free memory raised {}", bytes,
            shown(nb::str(cause.type().attr("__name__"))))),
        cause_(std::make_shared<nb::python_error>(std::move(cause))) {}
  const char* what() const noexcept override { return what_.c_str(); }
  nb::python_error& cause() const noexcept { return *cause_; }

 private:
  std::string what_;
  std::shared_ptr<nb::python_error> cause_;  // an exception may be copied on threads without a GIL
};

bool ask(PyObject* callback, std::size_t bytes) {
  if (Py_IsInitialized() == 0) return false;
  const nb::gil_scoped_acquire held;
  try {
    const nb::object answer = nb::handle(callback)(bytes);
    const int again = PyObject_IsTrue(answer.ptr());
    if (again < 0) nb::raise_python_error();
    return again != 0;
  } catch (nb::python_error& e) {
    throw callback_error(bytes, std::move(e));
  }
}

constexpr int most_frames = 16;

/// The functions of Python that ask for memory, the innermost first; empty on a thread that runs
/// none.
std::string python_callers() {
  if (Py_IsInitialized() == 0 || PyGILState_GetThisThreadState() == nullptr) return {};
  const nb::gil_scoped_acquire held;
  const auto text_of = [](PyCodeObject* code, const char* name) -> std::string {
    const nb::object value = nb::handle(reinterpret_cast<PyObject*>(code)).attr(name);
    return shown(value);  // a path need not be text
  };
  std::string text;
  nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  for (int k = 0; k < most_frames && frame.is_valid(); ++k) {
    auto* const f = reinterpret_cast<PyFrameObject*>(frame.ptr());
    PyCodeObject* const code = PyFrame_GetCode(f);
    const nb::object keep = nb::steal(reinterpret_cast<PyObject*>(code));
    text += detail::format("    {}:{} in {}\n", text_of(code, "co_filename"),
                           PyFrame_GetLineNumber(f), text_of(code, "co_name"));
    frame = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(f)));
  }
  return text;
}

std::shared_ptr<failure_callback_resource> make_failure_callback(nb::handle upstream,
                                                                 nb::handle callback) {
  const auto& below = to_resource(upstream);
  if (PyCallable_Check(callback.ptr()) == 0) {
    wrong_type("callback", callback,
               "a function that takes the number of bytes and returns True to try again");
  }
  // The owner gives the function back with the GIL, whichever thread ends the resource.
  shared_owner keep = own_python(nb::borrow(callback), nullptr, 0);
  return std::make_shared<failure_callback_resource>(
      below, [keep = std::move(keep), function = callback.ptr()](std::size_t bytes) {
        return ask(function, bytes);
      });
}

std::shared_ptr<tracking_resource> make_tracking(nb::handle upstream) {
  return std::make_shared<tracking_resource>(to_resource(upstream), python_callers);
}

void bind_callback_errors() {
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const callback_error& e) {
      try {
        const nb::object type = nb::module_::import_("usmx._usmx").attr("AllocationError");
        const nb::object error = type(e.what());
        PyException_SetCause(error.ptr(), nb::borrow(e.cause().value()).release().ptr());
        PyErr_SetObject(type.ptr(), error.ptr());
      } catch (nb::python_error& other) {
        other.restore();
      }
    }
  });
}

// Borrowed: the module keeps them.
nb::handle resource_class;
std::unordered_map<std::type_index, nb::handle>& classes() {
  static auto* const known = new std::unordered_map<std::type_index, nb::handle>;
  return *known;
}

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

std::size_t to_limit(nb::handle obj, const char* where) {
  return obj.is_none() ? unlimited : read_size(obj, where);
}

nb::object from_limit(std::size_t bytes) {
  return bytes == unlimited ? nb::none() : nb::object(nb::int_(bytes));
}

std::string path_of(nb::handle path) {
  const nb::object text = nb::steal(PyOS_FSPath(path.ptr()));
  if (!text.is_valid()) nb::raise_python_error();
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(text.ptr(), &bytes) == 0) nb::raise_python_error();
  const nb::object keep = nb::steal(bytes);
  return PyBytes_AsString(bytes);
}

/// A queue of the resource's context for what is computed on its bytes.
sycl::queue queue_of(const memory_resource& resource, nb::handle queue) {
  if (!queue.is_none()) {
    sycl::queue asked = to_queue(queue);
    if (asked.get_context() != resource.context()) {
      throw nb::value_error("queue: its context is not that of the resource");
    }
    return asked;
  }
  const sycl::device device = resource.device();
  const sycl::queue& usual = default_queue(device);
  if (usual.get_context() == resource.context()) return usual;
  return queue_for(resource.context(), device);
}

nb::object allocate_from(const resource_object& self, nb::handle nbytes, nb::handle alignment,
                         nb::handle queue) {
  const std::size_t bytes = read_size(nbytes, "nbytes");
  const std::size_t aligned = read_size(alignment, "alignment");
  const sycl::queue place = queue_of(*self.resource, queue);
  const std::shared_ptr<memory_resource> from = self.resource;
  shared_owner owner;
  {
    const gil_released released;
    owner = allocate(from, bytes, aligned == 0 ? default_alignment : aligned);
  }
  any_view all = byte_run(owner->base(), bytes, from->kind(), false);
  return wrap_memory(array::over(std::move(all), place, std::move(owner)));
}

std::string described(const memory_resource& resource) {
  std::string text = detail::format("{} USM", name(resource.kind()));
  const std::string device = filter_string(resource.device());
  return device.empty() ? text : text + " on " + device;
}

std::string represent(nb::handle self) {
  return "<usmx.memory." + shown(nb::str(self.type().attr("__qualname__"))) + ": " +
         described(*self_of<resource_object>(self).resource) + ">";
}

nb::object upstream_of(const memory_resource& resource) {
  std::shared_ptr<memory_resource> below = resource.stands_on();
  return below == nullptr ? nb::none() : wrap_resource(std::move(below));
}

using figures = nb::typed<nb::dict, nb::str, int>;

figures figures_of(const statistics_resource& counted) {
  const statistics_resource::figures now = counted.now();
  figures out;
  out["bytes"] = now.bytes;
  out["peak_bytes"] = now.peak_bytes;
  out["total_bytes"] = now.total_bytes;
  out["blocks"] = now.blocks;
  out["peak_blocks"] = now.peak_blocks;
  out["total_blocks"] = now.total_blocks;
  out["failures"] = now.failures;
  return out;
}

figures figures_of(const pool_resource& pool) {
  const pool_stats now = pool.stats();
  figures out;
  out["used"] = now.used;
  out["blocks"] = now.blocks;
  out["held"] = now.held;
  out["chunks"] = now.chunks;
  out["peak"] = now.peak;
  return out;
}

figures figures_of(const queue_ordered_resource& ordered) {
  const queue_order_stats now = ordered.stats();
  figures out;
  out["bytes"] = now.bytes;
  out["blocks"] = now.blocks;
  out["queues"] = now.queues;
  out["reused"] = now.reused;
  out["passed"] = now.passed;
  return out;
}

nb::list alive_in(const tracking_resource& tracked) {
  nb::list out = new_list();
  for (const tracking_resource::block& b : tracked.alive()) {
    nb::dict one = new_dict();
    one["pointer"] = reinterpret_cast<std::uintptr_t>(b.data);
    one["nbytes"] = b.bytes;
    one["alignment"] = b.alignment;
    one["number"] = b.number;
    one["thread"] = b.thread;
    one["stack"] = b.note;
    out.append(one);
  }
  return out;
}

std::vector<binning_resource::bin> to_bins(nb::handle bins) {
  constexpr const char* expected = "a dict from the largest number of bytes to its resource";
  if (!nb::isinstance<nb::dict>(bins)) wrong_type("bins", bins, expected);
  std::vector<binning_resource::bin> out;
  // A list of its items: reading a size may run code that changes the dict.
  const nb::object items = nb::steal(PyDict_Items(bins.ptr()));
  if (!items.is_valid()) throw nb::python_error();
  for (Py_ssize_t k = 0; k < PyList_GET_SIZE(items.ptr()); ++k) {
    PyObject* const item = PyList_GET_ITEM(items.ptr(), k);
    out.push_back({read_size(PyTuple_GET_ITEM(item, 0), "bins: the largest size"),
                   to_resource(PyTuple_GET_ITEM(item, 1), "bins")});
  }
  return out;
}

void bind_base(nb::module_& m) {
  nb::class_<resource_object> c(
      m, "MemoryResource",
      "A memory resource: base of the classes that can be stacked on each other, of which\n"
      "``usmx.memory.set_resource`` and ``using`` choose one. Equal objects mean the same "
      "resource.\n\n"
      "Examples\n--------\n>>> import usmx.memory\n"
      ">>> isinstance(usmx.memory.get_resource(), usmx.memory.MemoryResource)\nTrue");
  c.attr("__module__") = "usmx.memory";
  resource_class = c;
  c.def("__repr__", represent);
  bind_html(c, "resource");
  c.def(
      "__eq__(self, other: object?, /) -> bool"_sig,
      [](const resource_object& self, nb::handle other) {
        return is_ready<resource_object>(other) &&
               nb::inst_ptr<resource_object>(other)->resource == self.resource;
      },
      nb::is_operator());
  c.def("__hash__", [](const resource_object& self) {
    return std::hash<std::shared_ptr<memory_resource>>()(self.resource);
  });
  c.def_prop_ro(
      "kind", [](const resource_object& self) { return name(self.resource->kind()); },
      "\"device\", \"shared\" or \"host\".", nb::sig("def kind(self) -> UsmKind"));
  c.def_prop_ro(
      "device", [](const resource_object& self) { return self.resource->device(); },
      "The device that the bytes are for.");
  c.def_prop_ro(
      "context", [](const resource_object& self) { return self.resource->context(); },
      "The context that the bytes belong to.");
  c.def_prop_ro(
      "upstream", [](const resource_object& self) { return upstream_of(*self.resource); },
      nb::for_getter(nb::sig("def upstream(self) -> MemoryResource | None")),
      "The resource that this one allocates from, None for the driver's.");
  c.def(
      "allocate(self, nbytes: int?, *, alignment: int = 0, "
      "queue: QueueLike = None) -> MemoryUSMDevice | MemoryUSMShared | MemoryUSMHost"_sig,
      allocate_from,
      "Allocate from this resource, regardless of the default.\n\n"
      "Parameters\n----------\n"
      "nbytes : int\n    Bytes.\n"
      "alignment : int\n    A power of two in bytes; 0 asks for 64.\n"
      "queue : Queue, optional\n    The queue that work on the bytes goes to, of the same "
      "context.\n\n"
      "Returns\n-------\nMemoryUSMDevice, MemoryUSMShared or MemoryUSMHost\n"
      "    Goes back when the last object that shows it is gone, or at ``free()``.\n\n"
      "Raises\n------\nAllocationError\n    There is not enough memory.");
  c.def(
      "deallocate(self, memory: MemoryUSMDevice | MemoryUSMShared | MemoryUSMHost?) -> None"_sig,
      [](const resource_object&, nb::handle obj) {
        if (!is_ready<memory>(obj)) wrong_type("memory", obj, "what allocate() returned");
        nb::inst_ptr<memory>(obj)->free();
      },
      "Give memory back to where it came from, as its ``free()`` does.\n\n"
      "Parameters\n----------\nmemory : MemoryUSMDevice, MemoryUSMShared or MemoryUSMHost\n"
      "    It has no bytes afterwards.\n\n"
      "Raises\n------\nBufferError\n    A buffer still shows the bytes.");
}

void bind_sources(nb::module_& m) {
  bind_resource<usm_resource>(
      m, "UsmResource",
      "The driver itself: each request is a call of the driver.\n\n"
      "Parameters\n----------\n"
      "kind : {'device', 'shared', 'host'}\n    The kind of USM.\n"
      "queue : Queue, Device, str or None\n    Whose context and device.\n\n"
      "Raises\n------\nDeviceError\n    The device lacks this kind of USM.",
      "__init__(self, kind: UsmKind = 'device', queue: QueueLike = None) -> None"_sig,
      [](nb::handle kind, nb::handle queue) {
        const sycl::queue place = to_queue(queue);
        return std::make_shared<usm_resource>(place.get_context(), place.get_device(),
                                              to_kind(kind, usm_kind::device));
      });
  bind_resource<pool_resource>(
      m, "PoolResource",
      "Divides large pieces of the upstream into blocks and keeps what comes back.\n\n"
      "Parameters\n----------\n"
      "upstream : MemoryResource\n    Where the pieces come from.\n"
      "most : int, optional\n    Bytes: never more than this from the upstream.\n"
      "release_above : int, optional\n"
      "    Bytes: above this, pieces go back as soon as they are free.",
      "__init__(self, upstream: MemoryResource?, *, most: int | None = None, "
      "release_above: int | None = None) -> None"_sig,
      [](nb::handle upstream, nb::handle most, nb::handle release_above) {
        return std::make_shared<pool_resource>(
            to_resource(upstream),
            pool_limits{.most = to_limit(most, "most"),
                        .release_above = to_limit(release_above, "release_above")});
      })
      .def(
          "stats", [](const resource_face<pool_resource>& self) { return figures_of(*self); },
          "What the pool holds at this moment.\n\n"
          "Returns\n-------\ndict\n    `used`: bytes of the blocks alive; `blocks`: how many are; "
          "`held`: bytes from the\n    upstream; `chunks`: in how many pieces; `peak`: the most "
          "bytes held.")
      .def(
          "trim(self, keep: int = 0) -> int"_sig,
          [](const resource_face<pool_resource>& self, nb::handle keep) {
            const std::size_t bytes = read_size(keep, "keep");
            const gil_released released;
            return (*self).trim(bytes);
          },
          "Give free pieces back to the upstream until at most `keep` bytes are held.\n\n"
          "Parameters\n----------\nkeep : int\n    Bytes. A piece with a block alive in it "
          "stays.\n\n"
          "Returns\n-------\nint\n    How many bytes went back.")
      .def(
          "reserve(self, nbytes: int) -> None"_sig,
          [](const resource_face<pool_resource>& self, nb::handle nbytes) {
            const std::size_t bytes = read_size(nbytes, "nbytes");
            const gil_released released;
            (*self).reserve(bytes);
          },
          "Take from the upstream until at least `nbytes` bytes are held.\n\n"
          "Parameters\n----------\nnbytes : int\n    Bytes, with those that are held already.\n\n"
          "Raises\n------\nAllocationError\n    There is not so much, or it is above `most`.")
      .def_prop_ro(
          "most",
          [](const resource_face<pool_resource>& self) {
            return from_limit((*self).limits().most);
          },
          "Bytes that are never passed; None without a limit.",
          nb::sig("def most(self) -> int | None"))
      .def_prop_ro(
          "release_above",
          [](const resource_face<pool_resource>& self) {
            return from_limit((*self).limits().release_above);
          },
          "Bytes above which free pieces go back; None without a limit.",
          nb::sig("def release_above(self) -> int | None"));
  bind_resource<queue_ordered_resource>(
      m, "QueueOrderedResource",
      "Keeps what is freed while a queue works on it, and gives it to the next who allocates on "
      "that\nqueue; to others only after the work. What serves by default is one on a pool.\n\n"
      "Parameters\n----------\n"
      "upstream : MemoryResource\n    Where blocks come from, and go back to after the work.",
      "__init__(self, upstream: MemoryResource?) -> None"_sig,
      [](nb::handle upstream) {
        return std::make_shared<queue_ordered_resource>(to_resource(upstream));
      })
      .def(
          "stats",
          [](const resource_face<queue_ordered_resource>& self) { return figures_of(*self); },
          "What waits at this moment.\n\n"
          "Returns\n-------\ndict\n    `bytes`, `blocks`: came back and wait; `queues`: for how "
          "many; `reused`: blocks that were\n    given out again without waiting, ever; `passed`: "
          "those that went to the upstream.")
      .def(
          "collect",
          [](const resource_face<queue_ordered_resource>& self) {
            const gil_released released;
            return (*self).collect();
          },
          "Return what no queue works on any more to the upstream.\n\n"
          "Returns\n-------\nint\n    How many blocks still wait.")
      .def(
          "drain",
          [](const resource_face<queue_ordered_resource>& self) {
            const gil_released released;
            (*self).drain();
          },
          "Wait for all that wait, and return them to the upstream.");
}

void bind_limits(nb::module_& m) {
  bind_resource<statistics_resource>(
      m, "StatisticsResource",
      "Counts what passes through to the upstream.\n\n"
      "Parameters\n----------\n"
      "upstream : MemoryResource\n    What serves all requests.",
      "__init__(self, upstream: MemoryResource?) -> None"_sig,
      [](nb::handle upstream) {
        return std::make_shared<statistics_resource>(to_resource(upstream));
      })
      .def(
          "stats", [](const resource_face<statistics_resource>& self) { return figures_of(*self); },
          "The figures of this moment.\n\n"
          "Returns\n-------\ndict\n    `bytes`, `blocks`: alive; `peak_...`: the most at once; "
          "`total_...`: ever;\n    `failures`: requests that raised.")
      .def(
          "reset_peaks",
          [](const resource_face<statistics_resource>& self) { (*self).reset_peaks(); },
          "Peaks begin anew from what is alive.");
  bind_resource<limiting_resource>(
      m, "LimitingResource",
      "Lets no more than `most` bytes be alive at once; above that it raises AllocationError.\n\n"
      "Parameters\n----------\n"
      "upstream : MemoryResource\n    What serves the requests below the limit.\n"
      "most : int\n    Bytes.",
      "__init__(self, upstream: MemoryResource?, most: int) -> None"_sig,
      [](nb::handle upstream, nb::handle most) {
        return std::make_shared<limiting_resource>(to_resource(upstream), read_size(most, "most"));
      })
      .def_prop_ro(
          "most", [](const resource_face<limiting_resource>& self) { return (*self).most(); },
          "The limit in bytes.")
      .def_prop_ro(
          "used", [](const resource_face<limiting_resource>& self) { return (*self).used(); },
          "Bytes alive.");
  bind_resource<binning_resource>(
      m, "BinningResource",
      "Serves each request from the resource for its size.\n\n"
      "Parameters\n----------\n"
      "upstream : MemoryResource\n    Serves what is larger than every bin.\n"
      "bins : dict\n    From the largest number of bytes that a bin serves to its resource.\n\n"
      "Examples\n--------\n>>> import usmx.memory\n>>> large = usmx.memory.get_resource()\n"
      ">>> small = usmx.memory.StatisticsResource(large)\n"
      ">>> with usmx.memory.using(usmx.memory.BinningResource(large, {256: small})):\n"
      "...     x, y = usmx.empty(8, usm_type=large.kind), usmx.empty(8000, usm_type=large.kind)\n"
      ">>> small.stats()[\"blocks\"]\n1",
      "__init__(self, upstream: MemoryResource?, "
      "bins: Mapping[int, MemoryResource]?) -> None"_sig,
      [](nb::handle upstream, nb::handle bins) {
        return std::make_shared<binning_resource>(to_resource(upstream), to_bins(bins));
      });
  bind_resource<aligned_resource>(
      m, "AlignedResource",
      "Aligns every block of at least `least_size` bytes to `alignment` bytes or more.\n\n"
      "Parameters\n----------\n"
      "upstream : MemoryResource\n    What serves all requests.\n"
      "alignment : int\n    Bytes: a power of two.\n"
      "least_size : int\n    Bytes; smaller blocks pass as they are asked for.\n\n"
      "Raises\n------\nValueError\n    `alignment` is not a power of two.",
      "__init__(self, upstream: MemoryResource?, alignment: int, "
      "least_size: int = 0) -> None"_sig,
      [](nb::handle upstream, nb::handle alignment, nb::handle least_size) {
        return std::make_shared<aligned_resource>(to_resource(upstream),
                                                  read_size(alignment, "alignment"),
                                                  read_size(least_size, "least_size"));
      });
  bind_resource<prefetch_resource>(
      m, "PrefetchResource",
      "Moves shared memory to the device as soon as it is there, on a queue; other kinds pass.\n\n"
      "Parameters\n----------\n"
      "upstream : MemoryResource\n    What serves all requests.\n"
      "queue : Queue, optional\n    In any form that names a queue; by default one of the device "
      "of the upstream.\n\n"
      "Raises\n------\nValueError\n    The context of `queue` is not that of the upstream.",
      "__init__(self, upstream: MemoryResource?, queue: QueueLike = None) -> None"_sig,
      [](nb::handle upstream, nb::handle queue) {
        const auto& below = to_resource(upstream);
        return std::make_shared<prefetch_resource>(below, queue_of(*below, queue));
      });
}

void bind_observers(nb::module_& m) {
  bind_resource<tracking_resource>(
      m, "TrackingResource",
      "Knows which blocks are alive and which lines of Python asked for them: for finding "
      "leaks.\n\n"
      "Parameters\n----------\n"
      "upstream : MemoryResource\n    What serves all requests.\n\n"
      "Examples\n--------\n>>> import usmx.memory\n"
      ">>> tracked = usmx.memory.TrackingResource(usmx.memory.get_resource())\n"
      ">>> with usmx.memory.using(tracked):\n"
      "...     kept = usmx.empty(1000, dtype=\"int8\", usm_type=tracked.kind)\n"
      ">>> [block[\"nbytes\"] for block in tracked.alive()]\n[1000]",
      "__init__(self, upstream: MemoryResource?) -> None"_sig, make_tracking)
      .def(
          "alive(self) -> list[dict[str, Any]]"_sig,
          [](const resource_face<tracking_resource>& self) { return alive_in(*self); },
          "What is alive, the oldest first.\n\n"
          "Returns\n-------\nlist of dict\n    `pointer`, `nbytes`, `alignment`, `number` of the "
          "request, `thread`, `stack`.")
      .def(
          "report", [](const resource_face<tracking_resource>& self) { return (*self).report(); },
          "What `alive` gives, as text.\n\nReturns\n-------\nstr\n    How much is alive, then each "
          "block and the lines that asked for it.");
  bind_resource<logging_resource>(
      m, "LoggingResource",
      "Writes a line of CSV for each request, which ``bench/replay.cpp`` gives to other "
      "resources:\nnanoseconds,thread,action,pointer,bytes,alignment.\n\n"
      "Parameters\n----------\n"
      "upstream : MemoryResource\n    What serves all requests.\n"
      "path : path\n    The file, which is written anew.\n\n"
      "Raises\n------\nOSError\n    The file cannot be written.\n\n"
      "Examples\n--------\n>>> import pathlib\n>>> import tempfile\n>>> import usmx.memory\n"
      ">>> with tempfile.TemporaryDirectory() as folder:\n"
      "...     path = folder + \"/requests.csv\"\n"
      "...     logged = usmx.memory.LoggingResource(usmx.memory.get_resource(), path)\n"
      "...     with usmx.memory.using(logged):\n"
      "...         x = usmx.empty(1000, usm_type=logged.kind)\n"
      "...     logged.flush()\n"
      "...     print(pathlib.Path(path).read_text().splitlines()[0])\n"
      "nanoseconds,thread,action,pointer,bytes,alignment",
      "__init__(self, upstream: MemoryResource?, path: str | PathLike[str]) -> None"_sig,
      [](nb::handle upstream, nb::handle path) {
        return std::make_shared<logging_resource>(to_resource(upstream), path_of(path));
      })
      .def(
          "flush", [](const resource_face<logging_resource>& self) { (*self).flush(); },
          "Write the lines that are kept in memory.\n\nRaises\n------\nOSError\n    One was lost.");
  bind_resource<failure_callback_resource>(
      m, "FailureCallbackResource",
      "Calls a function to free something when there is no memory left, and tries again as long "
      "as\n"
      "it returns True.\n\n"
      "Parameters\n----------\n"
      "upstream : MemoryResource\n    What serves the requests.\n"
      "callback : callable\n    Gets the number of bytes, runs on the thread that allocates, and "
      "may itself allocate and\n    free. It returns whether to try again; what it raises is the "
      "cause of an AllocationError.\n\n"
      "Examples\n--------\n>>> import usmx.memory\n>>> cache = [usmx.empty(1000)]\n"
      ">>> def free_something(nbytes):\n"
      "...     if not cache:\n"
      "...         return False\n"
      "...     cache.clear()\n"
      "...     return True\n"
      ">>> upstream = usmx.memory.LimitingResource(usmx.memory.get_resource(), 4096)\n"
      ">>> resource = usmx.memory.FailureCallbackResource(upstream, free_something)\n"
      ">>> with usmx.memory.using(resource):\n"
      "...     try:\n"
      "...         usmx.empty(10_000, usm_type=resource.kind)\n"
      "...     except usmx.AllocationError:\n"
      "...         print(cache)\n"
      "[]",
      "__init__(self, upstream: MemoryResource?, callback: Callable[[int], bool]?) -> None"_sig,
      make_failure_callback);
}

}  // namespace

resource_object::~resource_object() {
  if (resource == nullptr || resource.use_count() != 1) return;
  const gil_released released;  // what it holds may go back to the driver, which may wait
  resource.reset();
}

nb::object wrap_resource(std::shared_ptr<memory_resource> resource) {
  const auto known = classes().find(typeid(*resource));
  const nb::handle type = known == classes().end() ? resource_class : known->second;
  nb::object made = nb::inst_alloc(type);
  new (nb::inst_ptr<resource_object>(made)) resource_object(std::move(resource));
  nb::inst_mark_ready(made);
  return made;
}

void register_resource(std::type_index resource, nb::handle type) {
  classes().insert_or_assign(resource, type);
}

const std::shared_ptr<memory_resource>& to_resource(nb::handle obj, const char* where) {
  if (!is_ready<resource_object>(obj)) {
    wrong_type(where, obj, "a MemoryResource, such as usmx.memory.get_resource()");
  }
  return nb::inst_ptr<resource_object>(obj)->resource;
}

void bind_resources(nb::module_& m) {
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const std::system_error& e) {
      const nb::object arguments = nb::make_tuple(e.code().value(), e.what());
      PyErr_SetObject(PyExc_OSError, arguments.ptr());
    }
  });
  bind_callback_errors();
  bind_base(m);
  bind_sources(m);
  bind_limits(m);
  bind_observers(m);
  bind_default_resources(m);
  bind_numpy_memory(m);
}

}  // namespace usmx::python
