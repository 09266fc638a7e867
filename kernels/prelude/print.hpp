// printf of the device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend.hpp"

/// USMX_PRINT("%d of %d\n", i, n): the format is a literal.
#define USMX_PRINT(text, ...)                                 \
  do {                                                        \
    static USMX_BACKEND_TEXT usmx_text[] = text;              \
    USMX_BACKEND_PRINT(usmx_text __VA_OPT__(, ) __VA_ARGS__); \
  } while (0)
