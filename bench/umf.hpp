// The rival of both benchmarks: UMF's disjoint pool on pages of the system.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <stdexcept>

#include <umf/memory_pool.h>
#include <umf/pools/pool_disjoint.h>
#include <umf/providers/provider_os_memory.h>

namespace bench {

class umf {
 public:
  umf() {
    umf_os_memory_provider_params_handle_t pages = nullptr;
    umf_disjoint_pool_params_handle_t params = nullptr;
    const bool made =
        umfOsMemoryProviderParamsCreate(&pages) == UMF_RESULT_SUCCESS &&
        umfMemoryProviderCreate(umfOsMemoryProviderOps(), pages, &provider_) ==
            UMF_RESULT_SUCCESS &&
        umfDisjointPoolParamsCreate(&params) == UMF_RESULT_SUCCESS &&
        // How much free memory it keeps is an option: generous here.
        umfDisjointPoolParamsSetCapacity(params, 64) == UMF_RESULT_SUCCESS &&
        umfDisjointPoolParamsSetMaxPoolableSize(params, 512 << 20) == UMF_RESULT_SUCCESS &&
        umfPoolCreate(umfDisjointPoolOps(), provider_, params, 0, &pool_) == UMF_RESULT_SUCCESS;
    if (!made) throw std::runtime_error("UMF made no pool");
    umfDisjointPoolParamsDestroy(params);
    umfOsMemoryProviderParamsDestroy(pages);
  }
  umf(const umf&) = delete;
  umf& operator=(const umf&) = delete;
  ~umf() {
    umfPoolDestroy(pool_);
    umfMemoryProviderDestroy(provider_);
  }
  struct source {
    umf_memory_pool_handle_t pool;
    void* get(std::size_t bytes) { return umfPoolAlignedMalloc(pool, bytes, 64); }
    void put(void* p, std::size_t) { umfPoolFree(pool, p); }
  };
  source blocks() const { return {pool_}; }

 private:
  umf_memory_provider_handle_t provider_ = nullptr;
  umf_memory_pool_handle_t pool_ = nullptr;
};

}  // namespace bench
