// The functions of cuBLAS, cuSOLVER and cuFFT that are used, and their numbers, declared by hand
// because no toolkit is needed to build. Tests load stand-ins with the same names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace usmx::detail::nvidia {

// The numbers are those of cublas_api.h, cusolver_common.h, cufft.h and library_types.h.
enum class operation : int { none = 0, transpose = 1 };
enum class triangle : int { lower = 0, upper = 1 };
enum class data_type : int { f32 = 0, f64 = 1, f16 = 2, c64 = 4, c128 = 5, bf16 = 14 };
enum class compute_type : int { f32 = 68, f64 = 70, tf32 = 77 };
enum class transform_type : int {
  complex_single = 0x29,
  real_single = 0x2a,
  to_real_single = 0x2c,
  complex_double = 0x69,
  real_double = 0x6a,
  to_real_double = 0x6c,
};
inline constexpr int default_algorithm = -1;
inline constexpr int forward = -1, inverse = 1;

using handle = void*;
using plan = int;
using stream = void*;

/// One function for each of float, double and complex numbers of both, in the order of LAPACK's
/// letters S, D, C and Z. They differ in the types that the pointers have, and in nothing else.
template <class Function>
using of_each_type = std::array<Function, 4>;

/// Matrices are in Fortran's order. Each function returns 0, or a status that `said` explains.
struct blas_functions {
  int (*create)(handle*) = nullptr;
  int (*destroy)(handle) = nullptr;
  int (*set_stream)(handle, stream) = nullptr;
  int (*multiply)(handle, operation, operation, int, int, int, const void*, const void*, data_type,
                  int, long long, const void*, data_type, int, long long, const void*, void*,
                  data_type, int, long long, int, compute_type, int) = nullptr;
  of_each_type<int (*)(handle, int, void* const*, int, int*, int*, int)> lu_of_many = {};
  of_each_type<int (*)(handle, operation, int, int, const void* const*, int, const int*,
                       void* const*, int, int*, int)>
      solve_many = {};
};

struct solver_functions {
  int (*create)(handle*) = nullptr;
  int (*destroy)(handle) = nullptr;
  int (*set_stream)(handle, stream) = nullptr;
  int (*create_jacobi)(handle*) = nullptr;
  int (*destroy_jacobi)(handle) = nullptr;
  int (*set_tolerance)(handle, double) = nullptr;
  of_each_type<int (*)(handle, int, int, void*, int, int*)> lu_size = {};
  of_each_type<int (*)(handle, int, int, void*, int, void*, int*, int*)> lu = {};
  of_each_type<int (*)(handle, operation, int, int, const void*, int, const int*, void*, int, int*)>
      solve = {};
  of_each_type<int (*)(handle, triangle, int, void*, int, int*)> cholesky_size = {};
  of_each_type<int (*)(handle, triangle, int, void*, int, void*, int, int*)> cholesky = {};
  of_each_type<int (*)(handle, triangle, int, void* const*, int, int*, int)> cholesky_of_many = {};
  of_each_type<int (*)(handle, int, int, void*, int, int*)> qr_size = {};
  of_each_type<int (*)(handle, int, int, void*, int, void*, void*, int, int*)> qr = {};
  of_each_type<int (*)(handle, int, int, int, const void*, int, const void*, int*)> columns_size =
      {};
  of_each_type<int (*)(handle, int, int, int, void*, int, const void*, void*, int, int*)> columns =
      {};
  of_each_type<int (*)(handle, int, triangle, int, const void*, int, const void*, int*)> eigh_size =
      {};
  of_each_type<int (*)(handle, int, triangle, int, void*, int, void*, void*, int, int*)> eigh = {};
  of_each_type<int (*)(handle, int, int, int*)> svd_size = {};
  of_each_type<int (*)(handle, signed char, signed char, int, int, void*, int, void*, void*, int,
                       void*, int, void*, int, void*, int*)>
      svd = {};
  of_each_type<int (*)(handle, int, int, int, int, const void*, int, const void*, const void*, int,
                       const void*, int, int*, handle)>
      jacobi_size = {};
  of_each_type<int (*)(handle, int, int, int, int, void*, int, void*, void*, int, void*, int, void*,
                       int, int*, handle)>
      jacobi = {};
};

struct transform_functions {
  int (*create)(plan*) = nullptr;
  int (*destroy)(plan) = nullptr;
  int (*set_stream)(plan, stream) = nullptr;
  int (*set_own_memory)(plan, int) = nullptr;
  int (*set_memory)(plan, void*) = nullptr;
  int (*make)(plan, int, long long*, long long*, long long, long long, long long*, long long,
              long long, transform_type, long long, std::size_t*) = nullptr;
  int (*complex_single)(plan, void*, void*, int) = nullptr;
  int (*complex_double)(plan, void*, void*, int) = nullptr;
  int (*real_single)(plan, void*, void*) = nullptr;
  int (*real_double)(plan, void*, void*) = nullptr;
  int (*to_real_single)(plan, void*, void*) = nullptr;
  int (*to_real_double)(plan, void*, void*) = nullptr;
};

enum class library : int { blas, solver, transforms };

/// Loads a library from the first of the files that has all functions. Returns why none does; empty
/// if it is there. Asks once for each library, and again after a failure.
std::string load(library which, const std::vector<std::string>& files);
bool is_loaded(library which) noexcept;
/// What was loaded. Throws std::logic_error before.
const blas_functions& blas();
const solver_functions& solver();
const transform_functions& transforms();

/// Throws device_error that names the function and what its status means; nothing of 0.
void check(library which, int status, const char* function);

}  // namespace usmx::detail::nvidia
