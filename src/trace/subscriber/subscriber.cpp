// Counts the operations of the SYCL runtime, on every backend, so that a test can measure "zero
// copy". A subscriber of XPTI, the runtime's own tracing: libsycl loads it if the environment says
// so (see python/usmx/counters.py) and reports each call of the layer below SYCL to it.
// SPDX-License-Identifier: Apache-2.0
#include "subscriber.h"

#include <cxxabi.h>
#include <dlfcn.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include <unified-runtime/ur_api.h>
#include <xpti/xpti_data_types.h>

namespace {

enum counter : std::size_t {
  device_allocations,
  device_bytes,
  host_allocations,
  host_bytes,
  shared_allocations,
  shared_bytes,
  frees,
  copies,
  bytes_copied,
  fills,
  bytes_filled,
  prefetches,
  kernels,
  builds,
  failed,
  counter_count,
};

constexpr std::array<const char*, counter_count> counter_names{
    "device_allocations", "device_bytes", "host_allocations", "host_bytes",   "shared_allocations",
    "shared_bytes",       "frees",        "copies",           "bytes_copied", "fills",
    "bytes_filled",       "prefetches",   "kernels",          "builds",       "failed"};

constexpr std::size_t function_count = 1024;

std::atomic<bool> attached{false};
std::array<std::atomic<std::uint64_t>, counter_count> counters{};
std::array<std::atomic<std::uint64_t>, function_count> calls{};
std::array<std::atomic<const char*>, function_count> function_names{};
std::atomic<usmx_trace_sink> sink{nullptr};

void add(counter which, std::uint64_t amount) noexcept {
  counters[which].fetch_add(amount, std::memory_order_relaxed);
}

/// What one call means: up to two counters and by how much each grows.
struct effect {
  counter event = counter_count;
  counter bytes = counter_count;
  std::uint64_t size = 0;
};

template <class Parameters>
const Parameters& as(const void* arguments) noexcept {
  return *static_cast<const Parameters*>(arguments);
}

template <class Parameters>
effect sized(counter event, counter bytes, const void* arguments) noexcept {
  return {event, bytes, *as<Parameters>(arguments).psize};
}

template <class Parameters>
effect pitched(counter event, counter bytes, const void* arguments) noexcept {
  const auto& p = as<Parameters>(arguments);
  return {event, bytes, std::uint64_t{*p.pwidth} * *p.pheight};
}

template <class Parameters>
effect boxed(const void* arguments) noexcept {
  const ur_rect_region_t& r = *as<Parameters>(arguments).pregion;
  return {copies, bytes_copied, std::uint64_t{r.width} * r.height * r.depth};
}

template <class Parameters>
effect counted(const void* arguments) noexcept {
  return {copies, bytes_copied, *as<Parameters>(arguments).pcount};
}

/// The table of what is counted. Buffers are counted as well as USM, because a library that uses a
/// sycl::buffer copies too. Image copies count without bytes, because their size is in
/// pixels.
effect effect_of(std::uint32_t function, const void* arguments) noexcept {
  switch (function) {
    case UR_FUNCTION_USM_DEVICE_ALLOC:
      return sized<ur_usm_device_alloc_params_t>(device_allocations, device_bytes, arguments);
    case UR_FUNCTION_USM_HOST_ALLOC:
      return sized<ur_usm_host_alloc_params_t>(host_allocations, host_bytes, arguments);
    case UR_FUNCTION_USM_SHARED_ALLOC:
      return sized<ur_usm_shared_alloc_params_t>(shared_allocations, shared_bytes, arguments);
    case UR_FUNCTION_ENQUEUE_USM_DEVICE_ALLOC_EXP:
      return sized<ur_enqueue_usm_device_alloc_exp_params_t>(device_allocations, device_bytes,
                                                             arguments);
    case UR_FUNCTION_ENQUEUE_USM_HOST_ALLOC_EXP:
      return sized<ur_enqueue_usm_host_alloc_exp_params_t>(host_allocations, host_bytes, arguments);
    case UR_FUNCTION_ENQUEUE_USM_SHARED_ALLOC_EXP:
      return sized<ur_enqueue_usm_shared_alloc_exp_params_t>(shared_allocations, shared_bytes,
                                                             arguments);
    case UR_FUNCTION_USM_FREE:
    case UR_FUNCTION_ENQUEUE_USM_FREE_EXP:
      return {frees};

    case UR_FUNCTION_ENQUEUE_USM_MEMCPY:
      return sized<ur_enqueue_usm_memcpy_params_t>(copies, bytes_copied, arguments);
    case UR_FUNCTION_ENQUEUE_USM_MEMCPY_2D:
      return pitched<ur_enqueue_usm_memcpy_2d_params_t>(copies, bytes_copied, arguments);
    case UR_FUNCTION_ENQUEUE_MEM_BUFFER_READ:
      return sized<ur_enqueue_mem_buffer_read_params_t>(copies, bytes_copied, arguments);
    case UR_FUNCTION_ENQUEUE_MEM_BUFFER_WRITE:
      return sized<ur_enqueue_mem_buffer_write_params_t>(copies, bytes_copied, arguments);
    case UR_FUNCTION_ENQUEUE_MEM_BUFFER_COPY:
      return sized<ur_enqueue_mem_buffer_copy_params_t>(copies, bytes_copied, arguments);
    case UR_FUNCTION_ENQUEUE_MEM_BUFFER_READ_RECT:
      return boxed<ur_enqueue_mem_buffer_read_rect_params_t>(arguments);
    case UR_FUNCTION_ENQUEUE_MEM_BUFFER_WRITE_RECT:
      return boxed<ur_enqueue_mem_buffer_write_rect_params_t>(arguments);
    case UR_FUNCTION_ENQUEUE_MEM_BUFFER_COPY_RECT:
      return boxed<ur_enqueue_mem_buffer_copy_rect_params_t>(arguments);
    case UR_FUNCTION_ENQUEUE_DEVICE_GLOBAL_VARIABLE_WRITE:
      return counted<ur_enqueue_device_global_variable_write_params_t>(arguments);
    case UR_FUNCTION_ENQUEUE_DEVICE_GLOBAL_VARIABLE_READ:
      return counted<ur_enqueue_device_global_variable_read_params_t>(arguments);
    case UR_FUNCTION_ENQUEUE_MEM_IMAGE_READ:
    case UR_FUNCTION_ENQUEUE_MEM_IMAGE_WRITE:
    case UR_FUNCTION_ENQUEUE_MEM_IMAGE_COPY:
    case UR_FUNCTION_BINDLESS_IMAGES_IMAGE_COPY_EXP:
      return {copies};

    case UR_FUNCTION_ENQUEUE_USM_FILL:
      return sized<ur_enqueue_usm_fill_params_t>(fills, bytes_filled, arguments);
    case UR_FUNCTION_ENQUEUE_USM_FILL_2D:
      return pitched<ur_enqueue_usm_fill_2d_params_t>(fills, bytes_filled, arguments);
    case UR_FUNCTION_ENQUEUE_MEM_BUFFER_FILL:
      return sized<ur_enqueue_mem_buffer_fill_params_t>(fills, bytes_filled, arguments);
    case UR_FUNCTION_ENQUEUE_USM_PREFETCH:
      return {prefetches};

    case UR_FUNCTION_ENQUEUE_KERNEL_LAUNCH_WITH_ARGS_EXP:
      return {kernels};
    case UR_FUNCTION_PROGRAM_BUILD:
    case UR_FUNCTION_PROGRAM_BUILD_EXP:
      return {builds};
    default:
      return {};
  }
}

// --- what listeners get in addition

std::int64_t now() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// When the calls began that this thread is in. They rarely nest, and never deeply.
struct begun {
  std::uint64_t instance = 0;
  std::int64_t time = 0;
};
thread_local std::array<begun, 4> open_calls{};
thread_local std::size_t next_call = 0;

void on_call(std::uint16_t, xpti::trace_event_data_t*, xpti::trace_event_data_t*,
             std::uint64_t instance, const void*) {
  if (sink.load(std::memory_order_relaxed) == nullptr) return;
  open_calls[next_call++ % open_calls.size()] = {instance, now()};
}

std::int64_t begin_of(std::uint64_t instance, std::int64_t end) noexcept {
  for (const begun& b : open_calls) {
    if (b.instance == instance && b.time != 0) return b.time;
  }
  return end;  // it began before there was a listener
}

/// The names of kernels from their creation; a launch has only the handle.
struct kernel_names {
  std::mutex mutex;
  std::unordered_map<const void*, std::string> names;
};
kernel_names& kernels_made() {
  static auto& all = *new kernel_names;  // leaked: the runtime is used until the process ends
  return all;
}

/// As in the source: SYCL compilers name kernels by types, and kernels from text by functions.
std::string readable(const char* kernel) {
  for (const std::string_view prefix : {"typeinfo name for ", "__sycl_kernel_"}) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> plain(
        abi::__cxa_demangle(kernel, nullptr, nullptr, &status), std::free);
    const std::string_view name = status == 0 && plain ? plain.get() : kernel;
    if (name.starts_with(prefix)) return std::string(name.substr(prefix.size()));
  }
  return kernel;
}

void note_kernel(const void* arguments) noexcept {
  const auto& p = as<ur_kernel_create_params_t>(arguments);
  kernel_names& all = kernels_made();
  try {
    const std::scoped_lock lock(all.mutex);
    all.names[**p.pphKernel] = readable(*p.ppKernelName);
  } catch (...) {  // then it stays without a name
  }
}

template <class Parameters>
void describe_allocation(usmx_trace_call& call, int kind, const void* arguments) noexcept {
  call.kind = kind;
  call.address = **as<Parameters>(arguments).pppMem;
}

/// All parameters of commands begin with the queue.
template <class Parameters>
const Parameters& on_queue(usmx_trace_call& call, const void* arguments) noexcept {
  const auto& p = as<Parameters>(arguments);
  call.queue = *p.phQueue;
  return p;
}

/// Memory, queue and kernel of a successful call, as far as they are reported.
void describe(std::uint32_t function, const void* arguments, usmx_trace_call& call,
              std::string& kernel) {
  constexpr int host = 1, device = 2, shared = 3;
  switch (function) {
    case UR_FUNCTION_USM_DEVICE_ALLOC:
      return describe_allocation<ur_usm_device_alloc_params_t>(call, device, arguments);
    case UR_FUNCTION_USM_HOST_ALLOC:
      return describe_allocation<ur_usm_host_alloc_params_t>(call, host, arguments);
    case UR_FUNCTION_USM_SHARED_ALLOC:
      return describe_allocation<ur_usm_shared_alloc_params_t>(call, shared, arguments);
    case UR_FUNCTION_ENQUEUE_USM_DEVICE_ALLOC_EXP:
      return describe_allocation<ur_enqueue_usm_device_alloc_exp_params_t>(call, device, arguments);
    case UR_FUNCTION_ENQUEUE_USM_HOST_ALLOC_EXP:
      return describe_allocation<ur_enqueue_usm_host_alloc_exp_params_t>(call, host, arguments);
    case UR_FUNCTION_ENQUEUE_USM_SHARED_ALLOC_EXP:
      return describe_allocation<ur_enqueue_usm_shared_alloc_exp_params_t>(call, shared, arguments);
    case UR_FUNCTION_USM_FREE:
      call.address = *as<ur_usm_free_params_t>(arguments).ppMem;
      return;
    case UR_FUNCTION_ENQUEUE_USM_FREE_EXP:
      call.address = *on_queue<ur_enqueue_usm_free_exp_params_t>(call, arguments).ppMem;
      return;
    case UR_FUNCTION_ENQUEUE_USM_MEMCPY: {
      const auto& p = on_queue<ur_enqueue_usm_memcpy_params_t>(call, arguments);
      call.address = *p.ppDst;
      call.source = *p.ppSrc;
      return;
    }
    case UR_FUNCTION_ENQUEUE_USM_MEMCPY_2D: {
      const auto& p = on_queue<ur_enqueue_usm_memcpy_2d_params_t>(call, arguments);
      call.address = *p.ppDst;
      call.source = *p.ppSrc;
      return;
    }
    case UR_FUNCTION_ENQUEUE_USM_FILL:
      call.address = *on_queue<ur_enqueue_usm_fill_params_t>(call, arguments).ppMem;
      return;
    case UR_FUNCTION_ENQUEUE_USM_PREFETCH: {
      const auto& p = on_queue<ur_enqueue_usm_prefetch_params_t>(call, arguments);
      call.address = *p.ppMem;
      call.bytes = *p.psize;
      return;
    }
    case UR_FUNCTION_ENQUEUE_KERNEL_LAUNCH_WITH_ARGS_EXP: {
      const auto& p = on_queue<ur_enqueue_kernel_launch_with_args_exp_params_t>(call, arguments);
      kernel_names& all = kernels_made();
      const std::scoped_lock lock(all.mutex);
      if (const auto found = all.names.find(*p.phKernel); found != all.names.end()) {
        kernel = found->second;
      }
      return;
    }
    default:
      return;
  }
}

int what_of(counter event) noexcept {
  switch (event) {
    case device_allocations:
    case host_allocations:
    case shared_allocations:
      return usmx_trace_allocation;
    case frees:
      return usmx_trace_free;
    case copies:
      return usmx_trace_copy;
    case fills:
      return usmx_trace_fill;
    case prefetches:
      return usmx_trace_prefetch;
    case kernels:
      return usmx_trace_kernel;
    default:
      return usmx_trace_build;
  }
}

void tell(usmx_trace_sink to, std::uint64_t instance, const xpti::function_with_args_t& reported,
          const effect& e, bool did_fail) noexcept {
  usmx_trace_call call{};
  std::string kernel;
  call.what = what_of(e.event);
  call.bytes = e.bytes == counter_count ? 0 : e.size;
  call.end = now();
  call.begin = begin_of(instance, call.end);
  call.failed = did_fail ? 1 : 0;
  try {
    if (!did_fail) describe(reported.function_id, reported.args_data, call, kernel);
  } catch (...) {  // no memory for the name
  }
  if (!kernel.empty()) call.name = kernel.c_str();
  to(&call);
}

/// Runs at the end of each call of the runtime, on the calling thread.
void on_return(std::uint16_t, xpti::trace_event_data_t*, xpti::trace_event_data_t*,
               std::uint64_t instance, const void* data) {
  const auto& call = *static_cast<const xpti::function_with_args_t*>(data);
  if (call.function_id < function_count) {
    function_names[call.function_id].store(call.function_name, std::memory_order_relaxed);
    calls[call.function_id].fetch_add(1, std::memory_order_relaxed);
  }
  const effect e = effect_of(call.function_id, call.args_data);
  const bool did_fail =
      call.ret_data && *static_cast<const ur_result_t*>(call.ret_data) != UR_RESULT_SUCCESS;
  if (call.function_id == UR_FUNCTION_KERNEL_CREATE && !did_fail) note_kernel(call.args_data);
  if (e.event == counter_count) return;
  // If the driver does not support a call, the runtime makes another one instead.
  const bool is_unsupported = did_fail && *static_cast<const ur_result_t*>(call.ret_data) ==
                                              UR_RESULT_ERROR_UNSUPPORTED_FEATURE;
  if (const usmx_trace_sink to = sink.load(std::memory_order_acquire); to && !is_unsupported) {
    tell(to, instance, call, e, did_fail);
  }
  if (did_fail) {
    add(failed, 1);
    return;
  }
  add(e.event, 1);
  if (e.bytes != counter_count) add(e.bytes, e.size);
}

/// The tracing framework that libsycl loaded. Not linked: the wheel holds the same library under
/// two file names, and a subscriber that binds to the other one gets no calls.
template <class Function>
Function* framework_function(const char* name) noexcept {
  const char* path = std::getenv("XPTI_FRAMEWORK_DISPATCHER");
  if (!path) return nullptr;
  void* framework = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  return framework ? reinterpret_cast<Function*>(dlsym(framework, name)) : nullptr;
}

}  // namespace

/// Called by the framework for each stream of events that the runtime opens.
extern "C" void xptiTraceInit(unsigned, unsigned, const char*, const char* stream) {
  if (std::string_view{stream} != "ur.call") return;
  const auto register_stream =
      framework_function<xpti::stream_id_t(const char*)>("xptiRegisterStream");
  const auto register_callback = framework_function<xpti::result_t(
      xpti::stream_id_t, std::uint16_t, xpti::tracepoint_callback_api_t)>("xptiRegisterCallback");
  if (!register_stream || !register_callback) return;
  register_callback(register_stream(stream),
                    static_cast<std::uint16_t>(xpti::trace_point_type_t::function_with_args_begin),
                    on_call);
  register_callback(register_stream(stream),
                    static_cast<std::uint16_t>(xpti::trace_point_type_t::function_with_args_end),
                    on_return);
  attached.store(true);
}

extern "C" void xptiTraceFinish(const char*) {}

int usmx_trace_attached() { return attached.load() ? 1 : 0; }
void usmx_trace_set_sink(usmx_trace_sink to) { sink.store(to, std::memory_order_release); }
size_t usmx_trace_counters() { return counter_count; }
const char* usmx_trace_counter_name(size_t index) {
  return index < counter_count ? counter_names[index] : nullptr;
}
void usmx_trace_read(uint64_t* values) {
  for (const auto& value : counters) *values++ = value.load(std::memory_order_relaxed);
}
size_t usmx_trace_functions() { return function_count; }
const char* usmx_trace_function_name(size_t id) {
  return id < function_count ? function_names[id].load(std::memory_order_relaxed) : nullptr;
}
void usmx_trace_read_calls(uint64_t* values) {
  for (const auto& value : calls) *values++ = value.load(std::memory_order_relaxed);
}
