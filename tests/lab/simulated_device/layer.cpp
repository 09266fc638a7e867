// A discrete device, simulated on the OpenCL CPU device: a layer of the OpenCL loader
// (OPENCL_LAYERS) that takes USM into its own hands. What a GPU would punish, and the CPU device
// lets pass, faults or is reported here: the host touching device memory, memory used after its end
// or past its bounds, in a foreign context, freed twice or never. Any call can be made to fail.
// SPDX-License-Identifier: Apache-2.0
#include <CL/cl_ext.h>
#include <CL/cl_layer.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string_view>

#include "commands.hpp"
#include "memory.hpp"
#include "settings.hpp"
#include "simulated_device.h"

namespace simulated {
namespace {

cl_icd_dispatch table;

// The driver's own extension functions, as the loader gave them out. Written before their first
// use.
struct driver_functions {
  clEnqueueMemcpyINTEL_fn memcpy = nullptr;
  clEnqueueMemFillINTEL_fn fill = nullptr;
  clEnqueueMigrateMemINTEL_fn migrate = nullptr;
  clEnqueueMemAdviseINTEL_fn advise = nullptr;
  clGetMemAllocInfoINTEL_fn info = nullptr;
  clSetKernelArgMemPointerINTEL_fn argument = nullptr;
} driver;

cl_context context_of(cl_command_queue queue) {
  cl_context context = nullptr;
  below->clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, nullptr);
  return context;
}

// --- memory
// ---------------------------------------------------------------------------------------

void* allocate_checked(call fault, kind what, cl_context context, cl_device_id device,
                       std::size_t size, cl_uint alignment, cl_int* error) {
  watch_for_faults();
  cl_int result = check(fault);
  void* p = nullptr;
  if (result == CL_SUCCESS) p = allocate(what, context, device, size, alignment, result);
  if (error) *error = result;
  return p;
}

void* CL_API_CALL alloc_device(cl_context context, cl_device_id device,
                               const cl_mem_properties_intel*, std::size_t size, cl_uint alignment,
                               cl_int* error) {
  return allocate_checked(call::alloc_device, kind::device, context, device, size, alignment,
                          error);
}

void* CL_API_CALL alloc_host(cl_context context, const cl_mem_properties_intel*, std::size_t size,
                             cl_uint alignment, cl_int* error) {
  return allocate_checked(call::alloc_host, kind::host, context, nullptr, size, alignment, error);
}

void* CL_API_CALL alloc_shared(cl_context context, cl_device_id device,
                               const cl_mem_properties_intel*, std::size_t size, cl_uint alignment,
                               cl_int* error) {
  return allocate_checked(call::alloc_shared, kind::shared, context, device, size, alignment,
                          error);
}

cl_int CL_API_CALL free_memory(cl_context context, void* p) {
  if (!p) return CL_SUCCESS;
  wait_for_running();
  cl_int error = CL_SUCCESS;
  release(context, static_cast<char*>(p), error);
  return error;
}

template <class T>
cl_int answer(const T& value, std::size_t room, void* out, std::size_t* needed) {
  if (needed) *needed = sizeof(T);
  if (!out) return CL_SUCCESS;
  if (room < sizeof(T)) return CL_INVALID_VALUE;
  std::memcpy(out, &value, sizeof(T));
  return CL_SUCCESS;
}

cl_int CL_API_CALL memory_info(cl_context context, const void* p, cl_mem_info_intel what,
                               std::size_t room, void* out, std::size_t* needed) {
  if (const cl_int error = check(call::info)) return error;
  block b;
  if (!find(p, b) || b.context != context) return driver.info(context, p, what, room, out, needed);
  switch (what) {
    case CL_MEM_ALLOC_TYPE_INTEL: {
      const cl_uint type = b.what == kind::host     ? CL_MEM_TYPE_HOST_INTEL
                           : b.what == kind::device ? CL_MEM_TYPE_DEVICE_INTEL
                                                    : CL_MEM_TYPE_SHARED_INTEL;
      return answer(type, room, out, needed);
    }
    case CL_MEM_ALLOC_BASE_PTR_INTEL:
      return answer(static_cast<void*>(b.base), room, out, needed);
    case CL_MEM_ALLOC_SIZE_INTEL:
      return answer(b.size, room, out, needed);
    case CL_MEM_ALLOC_DEVICE_INTEL:
      return answer(b.device, room, out, needed);
    default:
      return driver.info(context, p, what, room, out, needed);
  }
}

// --- commands
// -------------------------------------------------------------------------------------

cl_int CL_API_CALL copy(cl_command_queue queue, cl_bool blocking, void* to, const void* from,
                        std::size_t bytes, cl_uint waits, const cl_event* wait_list,
                        cl_event* event) {
  if (const cl_int error = check(call::memcpy)) return error;
  void* target = nullptr;
  void* source = nullptr;
  const cl_context context = context_of(queue);
  if (translate("a copy (to)", to, bytes, context, target) == verdict::refused ||
      translate("a copy (from)", from, bytes, context, source) == verdict::refused) {
    return CL_INVALID_VALUE;
  }
  return follow(queue, false, event, [&](cl_event* made) {
    return driver.memcpy(queue, blocking, target, source, bytes, waits, wait_list, made);
  });
}

cl_int CL_API_CALL fill(cl_command_queue queue, void* to, const void* pattern,
                        std::size_t pattern_size, std::size_t bytes, cl_uint waits,
                        const cl_event* wait_list, cl_event* event) {
  if (const cl_int error = check(call::fill)) return error;
  void* target = nullptr;
  if (translate("a fill", to, bytes, context_of(queue), target) == verdict::refused) {
    return CL_INVALID_VALUE;
  }
  return follow(queue, false, event, [&](cl_event* made) {
    return driver.fill(queue, target, pattern, pattern_size, bytes, waits, wait_list, made);
  });
}

/// Prefetches and hints move nothing here; the driver must not see addresses that it did not give
/// out.
cl_int hint(const char* what, cl_command_queue queue, const void* p, std::size_t bytes,
            cl_uint waits, const cl_event* wait_list, cl_event* event,
            const std::function<cl_int()>& real) {
  void* target = nullptr;
  switch (translate(what, p, bytes, context_of(queue), target)) {
    case verdict::refused:
      return CL_INVALID_VALUE;
    case verdict::fine:
      return follow(queue, false, event, [&](cl_event* made) {
        return below->clEnqueueMarkerWithWaitList(queue, waits, wait_list, made);
      });
    default:
      return real();
  }
}

cl_int CL_API_CALL migrate(cl_command_queue queue, const void* p, std::size_t bytes,
                           cl_mem_migration_flags flags, cl_uint waits, const cl_event* wait_list,
                           cl_event* event) {
  return hint("a prefetch", queue, p, bytes, waits, wait_list, event,
              [&] { return driver.migrate(queue, p, bytes, flags, waits, wait_list, event); });
}

cl_int CL_API_CALL advise(cl_command_queue queue, const void* p, std::size_t bytes,
                          cl_mem_advice_intel advice, cl_uint waits, const cl_event* wait_list,
                          cl_event* event) {
  return hint("a hint", queue, p, bytes, waits, wait_list, event,
              [&] { return driver.advise(queue, p, bytes, advice, waits, wait_list, event); });
}

cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint index, const void* p) {
  cl_context context = nullptr;
  below->clGetKernelInfo(kernel, CL_KERNEL_CONTEXT, sizeof context, &context, nullptr);
  if (p) check_argument(p, context);
  return driver.argument(kernel, index, p);
}

cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint rank,
                          const std::size_t* offset, const std::size_t* global,
                          const std::size_t* local, cl_uint waits, const cl_event* wait_list,
                          cl_event* event) {
  if (const cl_int error = check(call::kernel)) return error;
  return follow(queue, true, event, [&](cl_event* made) {
    return below->clEnqueueNDRangeKernel(queue, kernel, rank, offset, global, local, waits,
                                         wait_list, made);
  });
}

cl_int CL_API_CALL marker(cl_command_queue queue, cl_uint waits, const cl_event* wait_list,
                          cl_event* event) {
  if (const cl_int error = check(call::marker)) return error;
  return below->clEnqueueMarkerWithWaitList(queue, waits, wait_list, event);
}

cl_int CL_API_CALL barrier(cl_command_queue queue, cl_uint waits, const cl_event* wait_list,
                           cl_event* event) {
  if (const cl_int error = check(call::marker)) return error;
  return below->clEnqueueBarrierWithWaitList(queue, waits, wait_list, event);
}

// --- waiting, building, making queues
// -------------------------------------------------------------

cl_int CL_API_CALL wait_for_events(cl_uint count, const cl_event* events) {
  const cl_int result = below->clWaitForEvents(count, events);
  for (cl_uint i = 0; i < count; ++i) {
    cl_command_queue queue = nullptr;
    below->clGetEventInfo(events[i], CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, nullptr);
    settle(queue);
  }
  const cl_int error = check(call::wait);
  return error ? error : result;
}

cl_int CL_API_CALL finish_queue(cl_command_queue queue) {
  const cl_int result = below->clFinish(queue);
  settle(queue);
  const cl_int error = check(call::wait);
  return error ? error : result;
}

cl_int CL_API_CALL build(cl_program program, cl_uint count, const cl_device_id* devices,
                         const char* options, void(CL_CALLBACK* done)(cl_program, void*),
                         void* data) {
  if (const cl_int error = check(call::build)) return error;
  return below->clBuildProgram(program, count, devices, options, done, data);
}

cl_int CL_API_CALL compile(cl_program program, cl_uint count, const cl_device_id* devices,
                           const char* options, cl_uint header_count, const cl_program* headers,
                           const char** names, void(CL_CALLBACK* done)(cl_program, void*),
                           void* data) {
  if (check(call::build) != CL_SUCCESS) return CL_COMPILE_PROGRAM_FAILURE;
  return below->clCompileProgram(program, count, devices, options, header_count, headers, names,
                                 done, data);
}

cl_command_queue CL_API_CALL make_queue(cl_context context, cl_device_id device,
                                        const cl_queue_properties* properties, cl_int* error) {
  if (const cl_int fault = check(call::queue)) {
    if (error) *error = fault;
    return nullptr;
  }
  return below->clCreateCommandQueueWithProperties(context, device, properties, error);
}

cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info what, std::size_t room,
                               void* out, std::size_t* needed) {
  if (what == CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL && configuration().usm_only) {
    return answer(cl_device_unified_shared_memory_capabilities_intel{0}, room, out, needed);
  }
  return below->clGetDeviceInfo(device, what, room, out, needed);
}

// --- the layer itself
// -----------------------------------------------------------------------------

/// Remembers the driver's function and returns ours in its place.
template <class Function>
void* replace(Function& remembered, void* real, Function ours) {
  if (!real) return nullptr;
  remembered = reinterpret_cast<Function>(real);
  return reinterpret_cast<void*>(ours);
}

void* CL_API_CALL extension_function(cl_platform_id platform, const char* name) {
  void* real = below->clGetExtensionFunctionAddressForPlatform(platform, name);
  if (!real) return nullptr;
  const std::string_view wanted = name;
  if (wanted == "clDeviceMemAllocINTEL") return reinterpret_cast<void*>(alloc_device);
  if (wanted == "clHostMemAllocINTEL") return reinterpret_cast<void*>(alloc_host);
  if (wanted == "clSharedMemAllocINTEL") return reinterpret_cast<void*>(alloc_shared);
  if (wanted == "clMemFreeINTEL") return reinterpret_cast<void*>(free_memory);
  if (wanted == "clMemBlockingFreeINTEL") return reinterpret_cast<void*>(free_memory);
  if (wanted == "clGetMemAllocInfoINTEL") return replace(driver.info, real, memory_info);
  if (wanted == "clEnqueueMemcpyINTEL") return replace(driver.memcpy, real, copy);
  if (wanted == "clEnqueueMemFillINTEL") return replace(driver.fill, real, fill);
  if (wanted == "clEnqueueMigrateMemINTEL") return replace(driver.migrate, real, migrate);
  if (wanted == "clEnqueueMemAdviseINTEL") return replace(driver.advise, real, advise);
  if (wanted == "clSetKernelArgMemPointerINTEL")
    return replace(driver.argument, real, set_argument);
  return real;
}

/// Last of all, after the runtime has freed what it holds for the whole process.
[[gnu::destructor]] void report() {
  const settings& wanted = configuration();
  if (!below || !(wanted.report || wanted.strict)) return;
  std::fprintf(stderr, "simulated device: live=%ld bytes=%zu in_flight=%ld defects=%ld", live(),
               live_bytes(), in_flight(), defects());
  for (std::size_t i = 0; i < call_kinds; ++i) {
    const char* kind = name(static_cast<call>(i));
    std::fprintf(stderr, " %s=%ld", kind, calls(kind));
  }
  std::fputc('\n', stderr);
  list_live();
  // After the clean-up of all libraries, so nothing is cut short.
  if (wanted.strict && (live() != 0 || defects() != 0)) _exit(99);
}

}  // namespace
}  // namespace simulated

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t room, void* out,
                                           size_t* needed) {
  if (what == CL_LAYER_API_VERSION) {
    return simulated::answer(cl_layer_api_version{CL_LAYER_API_VERSION_100}, room, out, needed);
  }
  if (what == CL_LAYER_NAME) {
    struct {
      char text[24];
    } name{"usmx simulated device"};
    return simulated::answer(name, room, out, needed);
  }
  return CL_INVALID_VALUE;
}

EXPORTED cl_int CL_API_CALL clInitLayerWithProperties(cl_uint entries,
                                                      const cl_icd_dispatch* target,
                                                      cl_uint* entries_out,
                                                      const cl_icd_dispatch** layer,
                                                      const cl_layer_properties*) {
  using namespace simulated;
  constexpr auto ours = static_cast<cl_uint>(sizeof(cl_icd_dispatch) / sizeof(void*));
  static_cast<void>(configuration());  // complains now rather than at the first call
  below = target;
  std::memcpy(&table, target, std::min(entries, ours) * sizeof(void*));
  table.clGetExtensionFunctionAddressForPlatform = extension_function;
  table.clGetDeviceInfo = device_info;
  table.clEnqueueNDRangeKernel = launch;
  table.clEnqueueMarkerWithWaitList = marker;
  table.clEnqueueBarrierWithWaitList = barrier;
  table.clWaitForEvents = wait_for_events;
  table.clFinish = finish_queue;
  table.clBuildProgram = build;
  table.clCompileProgram = compile;
  table.clCreateCommandQueueWithProperties = make_queue;
  *entries_out = std::min(entries, ours);
  *layer = &table;
  return CL_SUCCESS;
}

EXPORTED cl_int CL_API_CALL clDeinitLayer() { return CL_SUCCESS; }

EXPORTED int simulated_device_fail(const char* kind, long nth, int onwards) {
  return simulated::fail(kind, nth, onwards != 0) ? 1 : 0;
}
EXPORTED long simulated_device_calls(const char* kind) { return simulated::calls(kind); }
EXPORTED const char* simulated_device_kind(size_t index) {
  return index < simulated::call_kinds ? simulated::name(static_cast<simulated::call>(index))
                                       : nullptr;
}
EXPORTED long simulated_device_live(void) { return simulated::live(); }
EXPORTED size_t simulated_device_live_bytes(void) { return simulated::live_bytes(); }
EXPORTED long simulated_device_in_flight(void) { return simulated::in_flight(); }
EXPORTED long simulated_device_defects(void) { return simulated::defects(); }
