// What differs between the backends, behind functions of the same names: namespace usmx::backend.
// The one place that asks which backend a kernel is compiled for; the host's own compiler is one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(USMX_COMPILED_FOR_HOST)
#include "backend/host.hpp"
#elif defined(__NVPTX__)
#include "backend/nvptx.hpp"
#else
#include "backend/spirv.hpp"
#endif
