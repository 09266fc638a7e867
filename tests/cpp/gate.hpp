// Holds a queue back until the test lets it go: what "work is still running" means in a test that
// measures no time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <dlfcn.h>

#include <stdexcept>
#include <vector>

#include <sycl/backend.hpp>
#include <sycl/queue.hpp>

namespace check {

/// From its construction to `open()` nothing that is submitted to the queue starts. Needs an OpenCL
/// queue, because only OpenCL has events that the host completes.
class gate {
 public:
  explicit gate(sycl::queue& queue) {
    if (queue.get_backend() != sycl::backend::opencl) {
      throw std::runtime_error("a gate needs a queue of an OpenCL device");
    }
    const auto create = load<cl_event(CL_API_CALL*)(cl_context, cl_int*)>("clCreateUserEvent");
    const auto context = sycl::get_native<sycl::backend::opencl>(queue.get_context());
    cl_int error = CL_SUCCESS;
    event_ = create(context, &error);
    load<cl_int(CL_API_CALL*)(cl_context)>("clReleaseContext")(context);  // get_native kept it
    if (error != CL_SUCCESS) throw std::runtime_error("clCreateUserEvent failed");
    queue.ext_oneapi_submit_barrier({sycl::make_event<sycl::backend::opencl>(
        std::vector<cl_event>{event_}, queue.get_context())});
  }
  gate(const gate&) = delete;
  gate& operator=(const gate&) = delete;
  ~gate() { open(); }

  void open() {
    if (event_ == nullptr) return;
    load<cl_int(CL_API_CALL*)(cl_event, cl_int)>("clSetUserEventStatus")(event_, CL_COMPLETE);
    event_ = nullptr;
  }

 private:
  template <class Function>
  static Function load(const char* name) {
    static void* const library = dlopen("libOpenCL.so.1", RTLD_NOW);
    void* const found = library == nullptr ? nullptr : dlsym(library, name);
    if (found == nullptr) throw std::runtime_error(name);
    return reinterpret_cast<Function>(found);
  }

  cl_event event_ = nullptr;
};

}  // namespace check
