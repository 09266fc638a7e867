// printf of the device, for backends that have a constant address space (all but CUDA).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "types.hpp"

USMX_DEVICE int __spirv_ocl_printf(const __attribute__((opencl_constant)) char*, ...);

/// USMX_PRINT("%d of %d\n", i, n): the format is a literal.
#define USMX_PRINT(text, ...)                                              \
  do {                                                                     \
    static const __attribute__((opencl_constant)) char usmx_text[] = text; \
    __spirv_ocl_printf(usmx_text __VA_OPT__(, ) __VA_ARGS__);              \
  } while (0)
