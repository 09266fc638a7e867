// A pool or a provider of UMF is a resource like any other. Both stand on a provider that asks
// SYCL, as those of UMF's users do.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/umf.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include <umf/pools/pool_disjoint.h>

#include "resource_suite.hpp"
#include "usmx/pool.hpp"

namespace usmx {
namespace {

/// What UMF is told about a memory_resource.
umf_memory_provider_ops_t provider_ops() {
  umf_memory_provider_ops_t ops{};
  ops.version = UMF_PROVIDER_OPS_VERSION_CURRENT;
  ops.initialize = [](const void* params, void** provider) {
    *provider = const_cast<void*>(params);
    return UMF_RESULT_SUCCESS;
  };
  ops.finalize = [](void*) { return UMF_RESULT_SUCCESS; };
  ops.alloc = [](void* provider, std::size_t bytes, std::size_t alignment, void** p) {
    try {
      *p = static_cast<memory_resource*>(provider)->allocate(
          bytes, std::max<std::size_t>(alignment, 4096));
      return UMF_RESULT_SUCCESS;
    } catch (...) {
      return UMF_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
  };
  ops.free = [](void* provider, void* p, std::size_t bytes) {
    static_cast<memory_resource*>(provider)->deallocate(p, bytes);
    return UMF_RESULT_SUCCESS;
  };
  ops.get_last_native_error = [](void*, const char** message, std::int32_t* error) {
    *message = "";
    *error = 0;
    return UMF_RESULT_SUCCESS;
  };
  ops.get_recommended_page_size = [](void*, std::size_t, std::size_t* bytes) {
    *bytes = 4096;
    return UMF_RESULT_SUCCESS;
  };
  ops.get_min_page_size = [](void*, const void*, std::size_t* bytes) {
    *bytes = 4096;
    return UMF_RESULT_SUCCESS;
  };
  ops.get_cache_line_size = [](void*, std::size_t* bytes) {
    *bytes = 64;
    return UMF_RESULT_SUCCESS;
  };
  ops.get_name = [](void*, const char** name) {
    *name = "usm";
    return UMF_RESULT_SUCCESS;
  };
  return ops;
}

/// A provider and a pool that end after the resource on them.
struct umf_handles {
  explicit umf_handles(const sycl::queue& q, usm_kind kind)
      : usm(q.get_context(), q.get_device(), kind) {
    static const umf_memory_provider_ops_t ops = provider_ops();
    umf_disjoint_pool_params_handle_t params = nullptr;
    CHECK_EQUAL(umfMemoryProviderCreate(&ops, &usm, &provider), UMF_RESULT_SUCCESS);
    CHECK_EQUAL(umfDisjointPoolParamsCreate(&params), UMF_RESULT_SUCCESS);
    CHECK_EQUAL(umfPoolCreate(umfDisjointPoolOps(), provider, params, 0, &pool),
                UMF_RESULT_SUCCESS);
    umfDisjointPoolParamsDestroy(params);
  }
  umf_handles(const umf_handles&) = delete;
  umf_handles& operator=(const umf_handles&) = delete;
  ~umf_handles() {
    umfPoolDestroy(pool);
    umfMemoryProviderDestroy(provider);
  }

  usm_resource usm;
  umf_memory_provider_handle_t provider = nullptr;
  umf_memory_pool_handle_t pool = nullptr;
};

template <class Resource, class Handle>
std::shared_ptr<memory_resource> made(const sycl::queue& q, usm_kind kind,
                                      Handle umf_handles::* handle) {
  auto keep = std::make_shared<umf_handles>(q, kind);
  auto resource =
      std::make_unique<Resource>((*keep).*handle, q.get_context(), q.get_device(), kind);
  return {resource.release(), [keep](memory_resource* r) { delete r; }};
}

std::shared_ptr<memory_resource> pooled(const sycl::queue& q, usm_kind kind) {
  return made<umf_resource>(q, kind, &umf_handles::pool);
}
std::shared_ptr<memory_resource> provided(const sycl::queue& q, usm_kind kind) {
  return made<umf_provider_resource>(q, kind, &umf_handles::provider);
}
std::shared_ptr<memory_resource> our_pool(const sycl::queue& q, usm_kind kind) {
  return std::make_shared<pool_resource>(provided(q, kind));
}
const int pool_added = resource_suite<pooled>::add("UmfResource");
const int provider_added = resource_suite<provided>::add("UmfProviderResource");
const int our_pool_added = resource_suite<our_pool>::add("PoolOnUmfProvider");

TEST(UmfResource, RefusesWhatCannotBe) {
  const sycl::queue q = default_queue();
  CHECK_THROWS(std::invalid_argument,
               umf_resource(nullptr, q.get_context(), q.get_device(), usm_kind::device));
  CHECK_THROWS(std::invalid_argument,
               umf_provider_resource(nullptr, q.get_context(), q.get_device(), usm_kind::device));
  const umf_handles handles(q, usm_kind::shared);
  CHECK_THROWS(std::invalid_argument,
               umf_resource(handles.pool, q.get_context(), q.get_device(), usm_kind::unknown));
}

}  // namespace
}  // namespace usmx
