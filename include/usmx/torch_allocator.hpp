// The pools for PyTorch: the functions that its pluggable allocators load by name from libusmx, so
// that tensors on XPU and CUDA devices are blocks of the same pools as our arrays.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <sycl/queue.hpp>

extern "C" {

/// For `torch.xpu.memory.XPUPluggableAllocator`: device memory for commands on `queue`, which
/// earlier commands there may still use. Throws usmx::allocation_error; null for zero bytes.
void* usmx_torch_xpu_allocate(std::size_t bytes, int device, sycl::queue* queue);
/// Frees it behind the commands that `queue` has so far; does not wait for them.
void usmx_torch_xpu_free(void* p, std::size_t bytes, int device, sycl::queue* queue) noexcept;

/// For `torch.cuda.memory.CUDAPluggableAllocator`: the same for a stream of CUDA, null for the
/// default one.
void* usmx_torch_cuda_allocate(std::ptrdiff_t bytes, int device, void* stream);
void usmx_torch_cuda_free(void* p, std::ptrdiff_t bytes, int device, void* stream) noexcept;
}
