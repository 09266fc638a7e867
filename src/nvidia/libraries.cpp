// Finds the functions, and says what their statuses mean.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/format.hpp"
#include "nvidia/functions.hpp"
#include "usmx/error.hpp"

namespace usmx::detail::nvidia {
namespace {

std::atomic<const blas_functions*> loaded_blas = nullptr;
std::atomic<const solver_functions*> loaded_solver = nullptr;
std::atomic<const transform_functions*> loaded_transforms = nullptr;

/// The functions of one library; the first that it lacks is in `missing`.
class symbols {
 public:
  explicit symbols(void* opened) noexcept : opened_(opened) {}

  template <class Function>
  void find(Function& out, const std::string& name) {
    out = reinterpret_cast<Function>(dlsym(opened_, name.c_str()));
    if (out == nullptr && missing.empty()) missing = name;
  }
  /// `names` are those of real and of complex numbers, without the letter of the type.
  template <class Function>
  void find(of_each_type<Function>& out, const std::string& before, const char* real,
            const char* complex) {
    constexpr char letters[] = {'S', 'D', 'C', 'Z'};
    for (std::size_t k = 0; k < out.size(); ++k)
      find(out[k], before + letters[k] + (k < 2 ? real : complex));
  }
  template <class Function>
  void find(of_each_type<Function>& out, const std::string& before, const char* name) {
    find(out, before, name, name);
  }

  std::string missing;

 private:
  void* opened_;
};

void find_all(symbols& in, blas_functions& f) {
  in.find(f.create, "cublasCreate_v2");
  in.find(f.destroy, "cublasDestroy_v2");
  in.find(f.set_stream, "cublasSetStream_v2");
  in.find(f.multiply, "cublasGemmStridedBatchedEx");
  in.find(f.lu_of_many, "cublas", "getrfBatched");
  in.find(f.solve_many, "cublas", "getrsBatched");
}

void find_all(symbols& in, solver_functions& f) {
  in.find(f.create, "cusolverDnCreate");
  in.find(f.destroy, "cusolverDnDestroy");
  in.find(f.set_stream, "cusolverDnSetStream");
  in.find(f.create_jacobi, "cusolverDnCreateGesvdjInfo");
  in.find(f.destroy_jacobi, "cusolverDnDestroyGesvdjInfo");
  in.find(f.set_tolerance, "cusolverDnXgesvdjSetTolerance");
  in.find(f.lu_size, "cusolverDn", "getrf_bufferSize");
  in.find(f.lu, "cusolverDn", "getrf");
  in.find(f.solve, "cusolverDn", "getrs");
  in.find(f.cholesky_size, "cusolverDn", "potrf_bufferSize");
  in.find(f.cholesky, "cusolverDn", "potrf");
  in.find(f.cholesky_of_many, "cusolverDn", "potrfBatched");
  in.find(f.qr_size, "cusolverDn", "geqrf_bufferSize");
  in.find(f.qr, "cusolverDn", "geqrf");
  in.find(f.columns_size, "cusolverDn", "orgqr_bufferSize", "ungqr_bufferSize");
  in.find(f.columns, "cusolverDn", "orgqr", "ungqr");
  in.find(f.eigh_size, "cusolverDn", "syevd_bufferSize", "heevd_bufferSize");
  in.find(f.eigh, "cusolverDn", "syevd", "heevd");
  in.find(f.svd_size, "cusolverDn", "gesvd_bufferSize");
  in.find(f.svd, "cusolverDn", "gesvd");
  in.find(f.jacobi_size, "cusolverDn", "gesvdj_bufferSize");
  in.find(f.jacobi, "cusolverDn", "gesvdj");
}

void find_all(symbols& in, transform_functions& f) {
  in.find(f.create, "cufftCreate");
  in.find(f.destroy, "cufftDestroy");
  in.find(f.set_stream, "cufftSetStream");
  in.find(f.set_own_memory, "cufftSetAutoAllocation");
  in.find(f.set_memory, "cufftSetWorkArea");
  in.find(f.make, "cufftMakePlanMany64");
  in.find(f.complex_single, "cufftExecC2C");
  in.find(f.complex_double, "cufftExecZ2Z");
  in.find(f.real_single, "cufftExecR2C");
  in.find(f.real_double, "cufftExecD2Z");
  in.find(f.to_real_single, "cufftExecC2R");
  in.find(f.to_real_double, "cufftExecZ2D");
}

template <class Functions>
std::string load_into(std::atomic<const Functions*>& out, const std::vector<std::string>& files) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (out != nullptr) return {};
  std::string why = "no file was found";
  for (const std::string& file : files) {
    void* const opened = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) {
      why = dlerror();
      continue;
    }
    symbols in(opened);
    Functions found;
    find_all(in, found);
    if (in.missing.empty()) {
      out = new Functions(std::move(found));  // for as long as the process lives
      return {};
    }
    why = format("{} lacks the function {}", file, in.missing);
    dlclose(opened);
  }
  return why;
}

template <class Functions>
const Functions& loaded(const std::atomic<const Functions*>& functions, const char* name) {
  const Functions* const found = functions;
  if (found == nullptr) throw std::logic_error(format("{} was not loaded", name));
  return *found;
}

struct meaning {
  int status;
  const char* words;
};
constexpr meaning of_blas[] = {
    {1, "not initialised"},       {3, "no memory"},
    {7, "invalid value"},         {8, "not for this architecture"},
    {11, "memory is not mapped"}, {13, "execution failed"},
    {14, "internal error"},       {15, "not supported"},
};
constexpr meaning of_solver[] = {
    {1, "not initialised"},      {2, "no memory"},
    {3, "invalid value"},        {4, "not for this architecture"},
    {5, "memory is not mapped"}, {6, "execution failed"},
    {7, "internal error"},       {8, "type not supported"},
    {9, "not supported"},
};
constexpr meaning of_transforms[] = {
    {1, "invalid plan"},    {2, "no memory"},      {3, "invalid type"},
    {4, "invalid value"},   {5, "internal error"}, {6, "execution failed"},
    {7, "not initialised"}, {8, "invalid size"},   {11, "invalid device"},
    {13, "no work memory"}, {16, "not supported"}, {17, "a library that it needs is missing"},
};

}  // namespace

std::string load(library which, const std::vector<std::string>& files) {
  switch (which) {
    case library::blas:
      return load_into(loaded_blas, files);
    case library::solver:
      return load_into(loaded_solver, files);
    case library::transforms:
      return load_into(loaded_transforms, files);
  }
  throw std::invalid_argument("which: no such library of NVIDIA's");
}

bool is_loaded(library which) noexcept {
  return which == library::blas     ? loaded_blas != nullptr
         : which == library::solver ? loaded_solver != nullptr
                                    : loaded_transforms != nullptr;
}

const blas_functions& blas() { return loaded(loaded_blas, "cuBLAS"); }
const solver_functions& solver() { return loaded(loaded_solver, "cuSOLVER"); }
const transform_functions& transforms() { return loaded(loaded_transforms, "cuFFT"); }

void check(library which, int status, const char* function) {
  if (status == 0) return;
  using list = std::span<const meaning>;
  const list meanings = which == library::blas     ? list(of_blas)
                        : which == library::solver ? list(of_solver)
                                                   : list(of_transforms);
  const char* words = "unknown";
  for (const auto& [number, its] : meanings)
    if (number == status) words = its;
  constexpr const char* names[] = {"cuBLAS", "cuSOLVER", "cuFFT"};
  throw device_error(format("{}: {} gave status {} ({})", names[static_cast<int>(which)], function,
                            status, words));
}

}  // namespace usmx::detail::nvidia
