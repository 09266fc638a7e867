// Holds a queue back until the test lets it go: what "work is still running" means in a test that
// measures no time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <sycl/backend.hpp>
#include <sycl/queue.hpp>

#include "usmx/runtime.hpp"

namespace check {

/// A function of a driver, which is loaded with it.
template <class Function>
Function driver_function(const char* library, const char* name) {
  void* const handle = dlopen(library, RTLD_NOW);
  void* const found = handle == nullptr ? nullptr : dlsym(handle, name);
  if (found == nullptr) throw std::runtime_error(name);
  return reinterpret_cast<Function>(found);
}

/// An event of OpenCL that the host completes.
class user_event {
 public:
  explicit user_event(sycl::queue& queue) {
    const auto create = load<cl_event(CL_API_CALL*)(cl_context, cl_int*)>("clCreateUserEvent");
    const auto context = sycl::get_native<sycl::backend::opencl>(queue.get_context());
    cl_int error = CL_SUCCESS;
    event_ = create(context, &error);
    load<cl_int(CL_API_CALL*)(cl_context)>("clReleaseContext")(context);  // get_native kept it
    if (error != CL_SUCCESS) throw std::runtime_error("clCreateUserEvent failed");
    queue.ext_oneapi_submit_barrier({sycl::make_event<sycl::backend::opencl>(
        std::vector<cl_event>{event_}, queue.get_context())});
  }
  void complete() const {
    load<cl_int(CL_API_CALL*)(cl_event, cl_int)>("clSetUserEventStatus")(event_, CL_COMPLETE);
  }

 private:
  template <class Function>
  static Function load(const char* name) {
    return driver_function<Function>("libOpenCL.so.1", name);
  }

  cl_event event_ = nullptr;
};

/// A word of pinned memory that a stream of CUDA waits for.
class stream_flag {
 public:
  explicit stream_flag(sycl::queue& queue) {
    constexpr unsigned portable_and_mapped = 3;
    constexpr unsigned at_least = 0;
    void* context = nullptr;
    void* memory = nullptr;
    const auto device = static_cast<int>(usmx::native_handle(queue.get_device()));
    done(load<int (*)(void**, int)>("cuDevicePrimaryCtxRetain")(&context, device), "context");
    done(load<int (*)(void*)>("cuCtxPushCurrent_v2")(context), "context");
    const int allocated = load<int (*)(void**, std::size_t, unsigned)>("cuMemHostAlloc")(
        &memory, sizeof(std::uint32_t), portable_and_mapped);
    int waits = 0;
    if (allocated == 0) {
      flag_ = new (memory) std::atomic<std::uint32_t>(0);
      waits = load<int (*)(std::uintptr_t, void*, unsigned, unsigned)>("cuStreamWaitValue32_v2")(
          usmx::native_handle(queue), memory, 1, at_least);
    }
    load<int (*)(void**)>("cuCtxPopCurrent_v2")(&context);
    done(allocated, "memory");
    done(waits, "wait");
    queue.ext_oneapi_submit_barrier();  // so that SYCL knows of a command
  }
  void complete() const { flag_->store(1); }

 private:
  template <class Function>
  static Function load(const char* name) {
    return driver_function<Function>("libcuda.so.1", name);
  }
  static void done(int result, const char* what) {
    if (result != 0) throw std::runtime_error("gate: CUDA refuses the " + std::string(what));
  }

  std::atomic<std::uint32_t>* flag_ = nullptr;  // stays allocated: the stream may still read it
};

/// From its construction to `open()` nothing that is submitted to the queue starts. Needs a device
/// of OpenCL or CUDA, and for CUDA an in-order queue, because only one stream is held back.
class gate {
 public:
  explicit gate(sycl::queue& queue) {
    switch (queue.get_backend()) {
      case sycl::backend::opencl:
        open_ = [event = user_event(queue)] { event.complete(); };
        return;
      case sycl::backend::ext_oneapi_cuda:
        open_ = [flag = stream_flag(queue)] { flag.complete(); };
        return;
      default:
        throw std::runtime_error("a gate needs a queue of an OpenCL or CUDA device");
    }
  }
  gate(const gate&) = delete;
  gate& operator=(const gate&) = delete;
  ~gate() { open(); }

  void open() {
    if (open_) std::exchange(open_, nullptr)();
  }

 private:
  std::function<void()> open_;
};

}  // namespace check
