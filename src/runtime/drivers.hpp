// Reaching the drivers below SYCL without linking to any of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace usmx::detail {

/// A function of a library that is loaded already; null otherwise.
template <class Function>
Function loaded_function(const char* library, const char* name) noexcept {
  // RTLD_NOLOAD: a driver that SYCL does not use does not know SYCL's objects.
  void* handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  return handle ? reinterpret_cast<Function>(dlsym(handle, name)) : nullptr;
}

/// False if the folder that the process works in was removed: the runtime then finds no drivers.
inline bool working_folder_exists() noexcept {
  char* const path = getcwd(nullptr, 0);
  std::free(path);
  return path != nullptr || errno != ENOENT;
}

inline constexpr const char* opencl_library = "libOpenCL.so.1";
inline constexpr const char* level_zero_library = "libze_loader.so.1";
inline constexpr const char* cuda_library = "libcuda.so.1";

}  // namespace usmx::detail
