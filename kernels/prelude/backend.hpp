// What differs between the backends, behind functions of the same names: namespace usmx::backend.
// The one place that asks which backend a kernel is compiled for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifdef __NVPTX__
#include "backend/nvptx.hpp"
#else
#include "backend/spirv.hpp"
#endif
