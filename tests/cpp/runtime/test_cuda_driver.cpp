// CUDA's primary context, streams and events without CUDA: recorded functions stand for the driver.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda_driver.hpp"

#include <memory>
#include <string>

#include "check.hpp"
#include "runtime/backend.hpp"
#include "usmx/memory.hpp"
#include "usmx/runtime.hpp"

namespace usmx::detail {
namespace {

/// What was called, in order.
std::string calls;
int refusal = 0;
int refused_record = 0;

cuda_driver recorded() {
  calls.clear();
  refusal = refused_record = 0;
  cuda_driver d;
  d.retain_primary = [](cuda_driver::context* out, cuda_driver::device device) {
    calls += "retain " + std::to_string(device) + "; ";
    *out = reinterpret_cast<void*>(0x100 + static_cast<std::uintptr_t>(device));
    return 0;
  };
  d.push = [](cuda_driver::context c) {
    calls += "push " + std::to_string(reinterpret_cast<std::uintptr_t>(c) - 0x100) + "; ";
    return refusal;
  };
  d.pop = [](cuda_driver::context*) {
    calls += "pop; ";
    return 0;
  };
  d.wait_for_stream = [](void* stream) {
    calls += "stream " + std::to_string(reinterpret_cast<std::uintptr_t>(stream)) + "; ";
    return 0;
  };
  d.wait_for_event = [](void*) {
    calls += "event; ";
    return 7;
  };
  d.make_event = [](void** out, unsigned flags) {
    calls += "make " + std::to_string(flags) + "; ";
    *out = reinterpret_cast<void*>(9);
    return 0;
  };
  d.record_event = [](void* event, void* stream) {
    calls += "record " + std::to_string(reinterpret_cast<std::uintptr_t>(event)) + " on " +
             std::to_string(reinterpret_cast<std::uintptr_t>(stream)) + "; ";
    return refused_record;
  };
  d.put_behind_event = [](void* stream, void* event, unsigned) {
    calls += std::to_string(reinterpret_cast<std::uintptr_t>(stream)) + " behind " +
             std::to_string(reinterpret_cast<std::uintptr_t>(event)) + "; ";
    return 0;
  };
  d.drop_event = [](void*) {
    calls += "drop; ";
    return 0;
  };
  return d;
}

TEST(CudaDriver, WaitsInsideThePrimaryContextOfTheDevice) {
  const cuda_driver driver = recorded();
  CHECK_EQUAL(wait_for_cuda_stream(3, reinterpret_cast<void*>(2), driver), 0);
  CHECK_EQUAL(calls, "retain 3; push 3; stream 2; pop; ");
  calls.clear();
  CHECK_EQUAL(wait_for_cuda_event(3, nullptr, driver), 7);  // the driver's own result
  CHECK_EQUAL(calls, "push 3; event; pop; ");               // retained once and kept
}

TEST(CudaDriver, OrdersStreamsByAnEventWithoutTheHost) {
  const cuda_driver driver = recorded();
  void* const first = reinterpret_cast<void*>(1);
  void* const next = reinterpret_cast<void*>(2);
  CHECK_EQUAL(order_cuda_streams(5, first, next, driver), 0);
  CHECK_EQUAL(calls, "retain 5; push 5; make 2; record 9 on 1; 2 behind 9; drop; pop; ");
  calls.clear();
  refused_record = 4;  // the event is given back all the same, and no stream waits for it
  CHECK_EQUAL(order_cuda_streams(5, first, next, driver), 4);
  CHECK_EQUAL(calls, "push 5; make 2; record 9 on 1; drop; pop; ");
  cuda_driver without = recorded();
  without.put_behind_event = nullptr;
  CHECK_EQUAL(order_cuda_streams(5, first, next, without), -1);
  CHECK_EQUAL(calls, "");
  const sycl::queue queue = default_queue();
  if (backend_of(queue).api == driver_api::cuda) return;
  CHECK(!put_behind_native_stream(queue, first));
  CHECK(!put_native_stream_behind(first, queue));
}

TEST(CudaDriver, CallsAStepOfTheHostOnceAndGivesItBackIfItIsRefused) {
  static void (*called)(void*) = nullptr;
  static void* given = nullptr;
  cuda_driver driver = recorded();
  driver.call_on_host = [](void* stream, void (*step)(void*), void* what) {
    calls += "call on " + std::to_string(reinterpret_cast<std::uintptr_t>(stream)) + "; ";
    called = step;
    given = what;
    return refusal;
  };
  int count = 0;
  const auto life = std::make_shared<int>();
  const auto step = [&count, life] { ++count; };
  CHECK_EQUAL(call_on_stream(reinterpret_cast<void*>(6), step, driver), 0);
  CHECK_EQUAL(calls, "call on 6; ");
  CHECK_EQUAL(count, 0);
  CHECK_EQUAL(life.use_count(), 3);
  called(given);
  CHECK_EQUAL(count, 1);
  CHECK_EQUAL(life.use_count(), 2);
  refusal = 3;
  CHECK_EQUAL(call_on_stream(nullptr, step, driver), 3);
  CHECK_EQUAL(life.use_count(), 2);
  driver.call_on_host = nullptr;
  CHECK_EQUAL(call_on_stream(nullptr, step, driver), -1);
}

TEST(CudaDriver, LeavesNoContextThatItCouldNotEnter) {
  const cuda_driver driver = recorded();
  refusal = 1;
  CHECK_EQUAL(wait_for_cuda_stream(4, nullptr, driver), -1);
  CHECK_EQUAL(calls.find("pop"), std::string::npos);
  CHECK_EQUAL(calls.find("stream"), std::string::npos);
  const cuda_driver nothing;
  CHECK_EQUAL(wait_for_cuda_stream(0, nullptr, nothing), -1);
  CHECK_EQUAL(wait_for_cuda_event(0, nullptr, nothing), -1);
}

TEST(CudaDriver, OtherBackendsSayThatTheyCannotWaitForAStream) {
  const sycl::device device = default_queue().get_device();
  if (backend_of(device).api == driver_api::cuda) {
    wait_for_native_stream(device, nullptr);
    return;
  }
  try {
    wait_for_native_stream(device, nullptr);
    CHECK(false);
  } catch (const device_error& e) {
    CHECK(std::string(e.what()).starts_with("stream: the driver of "));
  }
}

TEST(CudaDriver, AnEventOfSyclIsWaitedForOnOtherBackends) {
  const sycl::queue queue = default_queue();
  if (backend_of(queue).api == driver_api::cuda) return;
  const shared_owner block = allocate(queue, usm_kind::shared, 64);
  sycl::queue q = queue;
  sycl::event last = q.memset(block->base(), 5, 64);
  wait_for_native_event(queue.get_device(), &last);
  CHECK(block->base()[63] == std::byte{5});
}

TEST(CudaDriver, MemoryHasTheTypesOfItsBackend) {
  using dlpack::device_type;
  const dlpack_types& cuda = backend_row_of(sycl::backend::ext_oneapi_cuda).dlpack;
  CHECK(device_type_of(cuda, usm_kind::device) == device_type::cuda);
  CHECK(device_type_of(cuda, usm_kind::host) == device_type::cuda_host);
  CHECK(device_type_of(cuda, usm_kind::shared) == device_type::cuda_managed);
  const dlpack_types& opencl = backend_row_of(sycl::backend::opencl, true).dlpack;
  for (const usm_kind kind : {usm_kind::device, usm_kind::host, usm_kind::shared}) {
    CHECK(device_type_of(opencl, kind) == device_type::oneapi);
  }
}

}  // namespace
}  // namespace usmx::detail
