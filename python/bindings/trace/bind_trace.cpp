// Recorders for Python: they start and stop here, and what they kept becomes tuples that
// python/usmx/_tracing/trace.py gives names to.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>

#include <nanobind/nanobind.h>

#include <mutex>
#include <unordered_map>
#include <utility>

#include <nanobind/stl/string.h>

#include <map>
#include <unordered_set>
#include <vector>

#include "support/bindings.hpp"
#include "support/gil.hpp"
#include "support/self.hpp"
#include "support/signature.hpp"
#include "support/text.hpp"
#include "trace/subscriber/subscriber.h"
#include "usmx/pool.hpp"
#include "usmx/queue_ordered.hpp"
#include "usmx/trace.hpp"

namespace usmx::python {

namespace {

thread_local std::uint32_t remembered = 0;

struct place {
  PyCodeObject* code;  // kept, so that its address stays its own
  int line;
};

struct key_hash {
  std::size_t operator()(const std::pair<PyCodeObject*, int>& k) const noexcept {
    return std::hash<const void*>()(k.first) * 31 + static_cast<std::size_t>(k.second);
  }
};

/// Guarded by the GIL. Never destroyed: there may be no interpreter by then.
struct place_table {
  std::vector<place> places;
  std::unordered_map<std::pair<PyCodeObject*, int>, std::uint32_t, key_hash> numbers;
  std::string own_folder;  // of the Python files of usmx, whose lines are not shown
};

place_table& table() {
  static auto& all = *new place_table;
  return all;
}

enum class author { user, library, usmx };

author author_of(PyCodeObject* code) noexcept {
  Py_ssize_t length = 0;
  const char* text = PyUnicode_AsUTF8AndSize(code->co_filename, &length);
  if (text == nullptr) {
    PyErr_Clear();
    return author::user;
  }
  const std::string_view file(text, static_cast<std::size_t>(length));
  const std::string& own = table().own_folder;
  if (!own.empty() && file.starts_with(own)) return author::usmx;
  const auto has = [&](const char* folder) { return file.find(folder) != file.npos; };
  return has("/site-packages/") || has("/dist-packages/") ? author::library : author::user;
}

std::uint32_t number_of(PyCodeObject* code, int line) {
  place_table& all = table();
  const auto [found, is_new] =
      all.numbers.try_emplace({code, line}, static_cast<std::uint32_t>(all.places.size() + 1));
  if (is_new) {
    Py_INCREF(code);
    all.places.push_back({code, line});
  }
  return found->second;
}

/// The innermost line of the user; if all is libraries, the innermost outside of usmx. Needs the
/// GIL.
std::uint32_t current_place() noexcept {
  std::uint32_t in_library = 0;
  PyThreadState* const thread = PyThreadState_Get();
  nb::object frame = nb::steal(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(thread)));
  try {
    while (frame.is_valid()) {
      auto* const f = reinterpret_cast<PyFrameObject*>(frame.ptr());
      const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(f)));
      auto* const c = reinterpret_cast<PyCodeObject*>(code.ptr());
      const author who = author_of(c);
      if (who == author::user) return number_of(c, PyFrame_GetLineNumber(f));
      if (who == author::library && in_library == 0) {
        in_library = number_of(c, PyFrame_GetLineNumber(f));
      }
      frame = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(f)));
    }
  } catch (...) {  // no memory for a place
  }
  return in_library;
}

std::uint32_t find_place() noexcept {
  if (remembered != 0) return remembered;
  if (Py_IsInitialized() == 0 || PyGILState_Check() == 0) return 0;
  return current_place();
}

}  // namespace

std::uint32_t remember_place() noexcept { return std::exchange(remembered, current_place()); }
void forget_place(std::uint32_t previous) noexcept { remembered = previous; }

namespace {

/// (file, line, function) of the place with that number; None for 0.
nb::object place_of(std::uint32_t number) {
  const place_table& all = table();
  if (number == 0 || number > all.places.size()) return nb::none();
  const place& p = all.places[number - 1];
  return nb::make_tuple(nb::borrow(p.code->co_filename), p.line, nb::borrow(p.code->co_qualname));
}

/// From now on records name lines: the innermost one that is not in `folder`, which ends in a
/// slash.
void find_places_outside(std::string folder) {
  table().own_folder = std::move(folder);
  set_trace_place_finder(find_place);
}

nb::object text_or_none(std::uint32_t number) {
  return number == 0 ? nb::object(nb::none()) : nb::object(nb::cast(trace_text(number)));
}

nb::object time_or_none(std::int64_t time) {
  return time == 0 ? nb::object(nb::none()) : nb::object(nb::int_(time));
}

nb::object kind_or_none(usm_kind kind) {
  return kind == usm_kind::unknown ? nb::object(nb::none()) : nb::object(new_text(name(kind)));
}

std::uintptr_t number_of(const void* p) noexcept { return reinterpret_cast<std::uintptr_t>(p); }

/// The runtime's report of a copy has bare addresses. Blocks that the same records saw come and go
/// are known from there; of others the contexts are asked that libraries share, now: such a block
/// that is not alive any more looks like the host's memory.
class kind_finder {
 public:
  usm_kind of(const void* p) {
    if (p == nullptr) return usm_kind::unknown;
    const auto* const at = static_cast<const std::byte*>(p);
    if (auto after = blocks_.upper_bound(at); after != blocks_.begin()) {
      const auto& [base, found] = *--after;
      if (at < base + found.bytes) return found.kind;
    }
    if (!asked_) {
      for (const sycl::device& d : devices()) contexts_.push_back(default_context(d));
      asked_ = true;
    }
    for (const sycl::context& c : contexts_) {
      if (const usm_kind kind = kind_of(p, c); kind != usm_kind::unknown) return kind;
    }
    return usm_kind::unknown;
  }
  void complete(trace_record& r) {
    if (!r.by_runtime || r.failed) return;
    const auto* const at = static_cast<const std::byte*>(r.address);
    if (r.action == trace_action::driver_allocate) blocks_[at] = {r.bytes, r.kind};
    if (r.action == trace_action::driver_free) {
      if (const auto known = blocks_.find(at); known != blocks_.end()) {
        r.bytes = known->second.bytes;
        r.kind = known->second.kind;
        blocks_.erase(known);
      }
    }
    if (!r.counts || r.kind != usm_kind::unknown) return;
    switch (r.action) {
      case trace_action::copy:
        r.from = of(r.source);
        [[fallthrough]];
      case trace_action::fill:
      case trace_action::prefetch:
        r.kind = of(r.address);
        return;
      default:
        return;
    }
  }

 private:
  struct block {
    std::size_t bytes;
    usm_kind kind;
  };
  std::map<const std::byte*, block> blocks_;
  bool asked_ = false;
  std::vector<sycl::context> contexts_;
};

nb::object to_tuple(const trace_record& r) {
  const nb::object inside =
      r.inside ? nb::object(new_text(name(*r.inside))) : nb::object(nb::none());
  return nb::make_tuple(name(r.action), r.bytes, kind_or_none(r.kind), kind_or_none(r.from),
                        number_of(r.address), number_of(r.source), text_or_none(r.device), r.queue,
                        text_or_none(r.label), r.thread, r.begin, r.end,
                        time_or_none(r.device_begin), time_or_none(r.device_end), place_of(r.place),
                        inside, r.counts, r.failed, r.reused, r.by_runtime);
}

nb::list records_of(const trace_recorder& recorder) {
  std::vector<trace_record> records;
  {
    const gil_released unlocked;
    records = recorder.records();
    kind_finder kinds;
    for (trace_record& r : records) kinds.complete(r);
  }
  nb::list out = new_list();
  for (const trace_record& r : records) out.append(to_tuple(r));
  return out;
}

nb::list blocks_of(const trace_recorder& recorder) {
  nb::list out = new_list();
  for (const trace_recorder::block& b : recorder.blocks()) {
    out.append(nb::make_tuple(number_of(b.address), b.bytes, name(b.kind), b.since, b.thread,
                              place_of(b.place)));
  }
  return out;
}

trace_action action_of(int what) noexcept {
  switch (what) {
    case usmx_trace_allocation:
      return trace_action::driver_allocate;
    case usmx_trace_free:
      return trace_action::driver_free;
    case usmx_trace_copy:
      return trace_action::copy;
    case usmx_trace_fill:
      return trace_action::fill;
    case usmx_trace_prefetch:
      return trace_action::prefetch;
    case usmx_trace_kernel:
      return trace_action::kernel;
    case usmx_trace_build:
      return trace_action::build;
    default:
      return trace_action::other;
  }
}

/// What libusmx_trace.so calls, on the thread that used the runtime. No Python here.
extern "C" void take_runtime_call(const usmx_trace_call* call) {
  trace_record r;
  r.action = action_of(call->what);
  r.by_runtime = true;
  r.bytes = call->bytes;
  r.address = call->address;
  r.source = call->source;
  r.kind = static_cast<usm_kind>(call->kind);
  r.queue = call->queue == nullptr ? 0 : trace_number(number_of(call->queue));
  r.label = call->name == nullptr ? 0 : trace_text(call->name);
  r.begin = call->begin;
  r.end = call->end;
  r.failed = call->failed != 0;
  trace_add(r);
}

/// The blocks that came back and wait for their queue; to the pool below they are in use.
std::unordered_set<const void*> waiting_blocks() {
  std::unordered_set<const void*> out;
  for (auto resource : default_resources()) {
    for (; resource != nullptr; resource = resource->stands_on()) {
      const auto* ordered = dynamic_cast<const queue_ordered_resource*>(resource.get());
      if (ordered == nullptr) continue;
      for (const queue_ordered_resource::block& b : ordered->waiting()) out.insert(b.data);
    }
  }
  return out;
}

/// Tuples of tuples, as python/usmx/_tracing/snapshot.py names them.
nb::list pools_held() {
  std::vector<held_pool> pools;
  std::unordered_set<const void*> waiting;
  {
    const gil_released unlocked;
    waiting = waiting_blocks();
    pools = held_pools();
  }
  constexpr const char* states[] = {"used", "free", "waiting"};
  nb::list out = new_list();
  for (const held_pool& pool : pools) {
    nb::list chunks = new_list();
    std::size_t used = 0;
    for (const held_chunk& chunk : pool.chunks) {
      nb::list blocks = new_list();
      for (held_block b : chunk.blocks) {
        if (b.now == held_block::state::used && waiting.contains(chunk.base + b.offset)) {
          b.now = held_block::state::waiting;
        }
        if (b.now == held_block::state::used) used += b.asked;
        blocks.append(nb::make_tuple(b.offset, b.bytes, b.asked, states[static_cast<int>(b.now)]));
      }
      chunks.append(nb::make_tuple(number_of(chunk.base), chunk.bytes, blocks));
    }
    out.append(nb::make_tuple(name(pool.kind), filter_string(pool.device), pool.stats.held, used,
                              pool.stats.peak, chunks));
  }
  return out;
}

}  // namespace

void bind_trace(nb::module_& m) {
  nb::class_<trace_recorder>(m, "_TraceRecorder")
      .def("__init__(self, most: int, latest: bool, one_by_one: bool = False) -> None"_sig,
           [](nb::pointer_and_handle<trace_recorder> self, std::size_t most, bool latest,
              bool one_by_one) {
             initialise(self, most,
                        latest ? trace_recorder::keep::latest : trace_recorder::keep::first,
                        one_by_one ? trace_recorder::kernels::one_by_one
                                   : trace_recorder::kernels::as_submitted);
           })
      .def("start", &trace_recorder::start)
      .def("stop", &trace_recorder::stop)
      .def_prop_ro("on", &trace_recorder::is_on)
      .def_prop_ro("started", &trace_recorder::started)
      .def_prop_ro("stopped", &trace_recorder::stopped)
      .def_prop_ro("dropped", &trace_recorder::dropped)
      .def("records(self) -> list[tuple[object, ...]]"_sig, records_of)
      .def("blocks(self) -> list[tuple[object, ...]]"_sig, blocks_of)
      .def("find_places_outside(folder: str) -> None"_sig,
           [](const nb::str& folder) { find_places_outside(to_text(folder, "folder")); })
      .def_static("now", trace_now)
      .def("held_pools() -> list[tuple[object, ...]]"_sig, pools_held)
      .def_static("sink", [] { return reinterpret_cast<std::uintptr_t>(&take_runtime_call); });
}

}  // namespace usmx::python
