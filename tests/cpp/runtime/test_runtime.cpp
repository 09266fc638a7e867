// Devices by name, queues shared by all, and what the drivers know about allocations.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/runtime.hpp"
#include "usmx/wait.hpp"

#include <dlfcn.h>
#include <sycl/properties/queue_properties.hpp>
#include <sycl/usm.hpp>
#include <thread>

#include "check.hpp"

namespace {

struct filter_case {
  const char* filter;
  const char* device;
};

std::string thrown_text(const char* filter) {
  try {
    usmx::select_device(filter);
  } catch (const std::exception& e) {
    return e.what();
  }
  return "nothing";
}

bool holds(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

/// References that OpenCL counts for an object, through the loaded driver's own query.
unsigned references(std::uintptr_t handle, const char* query, unsigned what) {
  using info = int (*)(void*, unsigned, std::size_t, void*, std::size_t*);
  void* loader = dlopen("libOpenCL.so.1", RTLD_LAZY | RTLD_NOLOAD);
  const auto ask = reinterpret_cast<info>(dlsym(loader, query));
  unsigned count = 0;
  CHECK_EQUAL(ask(reinterpret_cast<void*>(handle), what, sizeof count, &count, nullptr), 0);
  return count;
}
constexpr unsigned context_reference_count = 0x1080;
constexpr unsigned queue_reference_count = 0x1092;

}  // namespace

TEST(Devices, AreSortedAndNamedByTheirFilterStrings) {
  const auto all = usmx::devices();
  CHECK(!all.empty());
  for (const auto& device : all) CHECK(usmx::select_device(usmx::filter_string(device)) == device);
  bool seen_cpu = false;
  for (const auto& device : all) {
    CHECK(!(seen_cpu && device.is_gpu()));
    seen_cpu |= device.is_cpu();
  }
}

TEST(Filter, EveryPartCanBeLeftOut) {
  constexpr filter_case cases[] = {
      {"opencl:cpu:0", "opencl:cpu:0"},
      {"opencl:cpu", "opencl:cpu:0"},
      {"cpu:0", "opencl:cpu:0"},
      {"cpu", "opencl:cpu:0"},
      {"OpenCL:CPU", "opencl:cpu:0"},
      {"*:cpu:*", "opencl:cpu:0"},
      {"level_zero:accelerator:7,cpu", "opencl:cpu:0"},
  };
  for (const auto& c : cases)
    CHECK_EQUAL(usmx::filter_string(usmx::select_device(c.filter)), c.device);
  // On a machine with a GPU these may name it.
  for (const char* filter : {"opencl", "opencl:0", "opencl::0"})
    CHECK(usmx::select_device(filter).get_backend() == sycl::backend::opencl);
  CHECK(usmx::select_device("::0") == usmx::devices().front());
  CHECK(usmx::select_device("0") == usmx::devices().front());
  CHECK(usmx::select_device("") == sycl::device(sycl::default_selector_v));
}

TEST(Filter, MalformedNamesThePartThatIsWrong) {
  constexpr filter_case cases[] = {
      {"cpu:opencl", "'opencl' is a backend and must come first"},
      {"0:cpu", "'cpu' is a device type and must come before the index"},
      {"cpu:cpu", "'cpu' is a device type"},
      {"opencl:opencl", "'opencl' is a backend"},
      {"0:0", "'0' is one part too many"},
      {"opencl:cpu:0:0", "'0' is one part too many"},
      {":::", "too many parts"},
      {"-1", "'-1' is neither"},
      {"+1", "'+1' is neither"},
      {"0x1", "'0x1' is neither"},
      {" cpu", "' cpu' is neither"},
      {"host", "'host' is neither"},
      {"gpu,cpux", "'cpux' is neither"},
      {"cpu,gpux", "'gpux' is neither"},
      {"cpu:0,cpu:0:0:0", "one part too many"},
      {"99999999999999999999999", "too large"},
      {"\xff\xfe", "is neither"},
  };
  for (const auto& c : cases) {
    CHECK_THROWS(std::invalid_argument, usmx::select_device(c.filter));
    if (!holds(thrown_text(c.filter), c.device))
      check::fail(__FILE__, __LINE__, std::string(c.filter) + ": " + thrown_text(c.filter));
  }
}

TEST(Filter, MissingDeviceListsThoseThereAre) {
  for (const char* filter : {"cpu:1000", "hip:accelerator:5", "18446744073709551615"}) {
    CHECK_THROWS(usmx::device_error, usmx::select_device(filter));
    CHECK(holds(thrown_text(filter), "opencl:cpu:0"));
    CHECK(holds(thrown_text(filter), filter));
  }
}

TEST(Queues, AreSharedPerDeviceAndInOrder) {
  const auto& queue = usmx::default_queue();
  const auto device = queue.get_device();
  CHECK(&queue == &usmx::default_queue());
  CHECK(&queue == &usmx::default_queue(device));
  CHECK(queue.is_in_order());
  CHECK(queue.get_context() == device.get_platform().khr_get_default_context());
  CHECK(usmx::default_context(device) == queue.get_context());
}

TEST(Queues, ManyThreadsGetTheSameOne) {
  const auto parts = usmx::select_device("cpu")
                         .create_sub_devices<sycl::info::partition_property::partition_equally>(1);
  std::vector<const sycl::queue*> seen(8);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < seen.size(); ++i)
    threads.emplace_back([&, i] { seen[i] = &usmx::default_queue(parts.front()); });
  for (auto& thread : threads) thread.join();
  for (const auto* queue : seen) CHECK(queue == seen.front());
  CHECK(&usmx::default_queue(parts.back()) != seen.front());
}

TEST(Queues, OfAForeignContextAreKeptAndAFewOnly) {
  const auto device = usmx::select_device("cpu");
  const sycl::context own(device);
  const auto queue = usmx::queue_for(own, device);
  CHECK(queue == usmx::queue_for(own, device));
  CHECK(queue.get_context() == own);
  CHECK(queue.is_in_order());
  CHECK(usmx::queue_for(usmx::default_context(device), device) == usmx::default_queue(device));
  for (int i = 0; i < 100; ++i) usmx::queue_for(sycl::context(device), device);
  CHECK(usmx::queue_for(own, device) != queue);
}

TEST(Queues, IdleIsKnown) {
  auto queue = usmx::default_queue();
  queue.wait();
  CHECK(usmx::is_idle(queue));
}

TEST(SubDevices, HaveNoFilterAndTheirOwnContext) {
  const auto device = usmx::select_device("cpu");
  const auto part =
      device.create_sub_devices<sycl::info::partition_property::partition_equally>(1).front();
  CHECK(usmx::is_sub_device(part));
  CHECK(!usmx::is_sub_device(device));
  CHECK_EQUAL(usmx::filter_string(part), "");
  CHECK(usmx::default_context(part) != usmx::default_context(device));
  CHECK(usmx::default_context(part) == usmx::default_context(part));
  CHECK(usmx::default_queue(part).get_device() == part);
}

TEST(Extent, IsExactForEveryKindAndInteriorPointers) {
  auto queue = usmx::default_queue();
  const auto context = queue.get_context();
  constexpr std::size_t bytes = 1000;
  for (const auto kind :
       {sycl::usm::alloc::device, sycl::usm::alloc::shared, sycl::usm::alloc::host}) {
    auto* p = sycl::malloc<std::byte>(bytes, queue, kind);
    for (const std::size_t at : {std::size_t{0}, std::size_t{1}, bytes - 1}) {
      const auto extent = usmx::extent_of(p + at, context);
      CHECK(extent.has_value());
      if (!extent) continue;
      CHECK(extent->base == p);
      CHECK_EQUAL(extent->bytes, bytes);
    }
    CHECK(!usmx::extent_of(p + bytes, context));
    CHECK(usmx::kind_of(p + bytes - 1, context) != usmx::usm_kind::unknown);
    CHECK(usmx::kind_of(p + bytes, context) == usmx::usm_kind::unknown);
    CHECK(usmx::device_of(p, context) == queue.get_device());
    sycl::free(p, queue);
  }
}

TEST(Extent, ForeignMemoryAndOtherContextsAreUnknown) {
  auto queue = usmx::default_queue();
  const auto context = queue.get_context();
  const sycl::context other(queue.get_device());
  auto* p = sycl::malloc_shared<std::byte>(100, queue);
  int local = 0;
  CHECK(!usmx::extent_of(p, other));
  CHECK(usmx::kind_of(p, other) == usmx::usm_kind::unknown);
  for (const void* foreign : {static_cast<const void*>(&local), static_cast<const void*>(nullptr),
                              reinterpret_cast<const void*>(std::uintptr_t{1}),
                              reinterpret_cast<const void*>(~std::uintptr_t{0})}) {
    CHECK(!usmx::extent_of(foreign, context));
    CHECK(usmx::kind_of(foreign, context) == usmx::usm_kind::unknown);
    CHECK_THROWS(usmx::interop_error, usmx::device_of(foreign, context));
  }
  sycl::free(p, queue);
}

TEST(Extent, OneQuestionGivesKindAndExtent) {
  auto queue = usmx::default_queue();
  const auto context = queue.get_context();
  const sycl::context other(queue.get_device());
  constexpr std::size_t bytes = 1000;
  for (const auto& [kind, expected] : {std::pair{sycl::usm::alloc::device, usmx::usm_kind::device},
                                       std::pair{sycl::usm::alloc::shared, usmx::usm_kind::shared},
                                       std::pair{sycl::usm::alloc::host, usmx::usm_kind::host}}) {
    auto* p = sycl::malloc<std::byte>(bytes, queue, kind);
    for (const std::size_t at : {std::size_t{0}, bytes - 1}) {
      const auto found = usmx::describe_allocation(p + at, context);
      CHECK(found.kind == expected);
      CHECK(found.extent && found.extent->base == p && found.extent->bytes == bytes);
    }
    int local = 0;
    for (const auto& foreign :
         {usmx::describe_allocation(p + bytes, context), usmx::describe_allocation(p, other),
          usmx::describe_allocation(&local, context),
          usmx::describe_allocation(nullptr, context)}) {
      CHECK(foreign.kind == usmx::usm_kind::unknown);
      CHECK(!foreign.extent);
    }
    sycl::free(p, queue);
  }
}

TEST(Extent, ContextsComeAndGoWithoutConfusingTheCache) {
  const auto device = usmx::select_device("cpu");
  for (int i = 0; i < 100; ++i) {
    const sycl::context context(device);
    sycl::queue queue(context, device);
    auto* p = sycl::malloc_device<std::byte>(64, queue);
    const auto extent = usmx::extent_of(p, context);
    CHECK(extent && extent->base == p && extent->bytes == 64);
    sycl::free(p, queue);
  }
}

TEST(Extent, ThreadsShareTheCaches) {
  const auto device = usmx::select_device("cpu");
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&device] {
      for (int round = 0; round < 50; ++round) {
        const sycl::context own(device);
        for (const auto& context : {own, usmx::default_context(usmx::select_device("cpu:0"))}) {
          auto queue = usmx::queue_for(context, device);
          CHECK(queue.get_context() == context);
          auto* p = sycl::malloc_shared<std::byte>(256, queue);
          const auto extent = usmx::extent_of(p + 255, context);
          CHECK(extent && extent->base == p && extent->bytes == 256);
          CHECK(usmx::kind_of(p, context) == usmx::usm_kind::shared);
          sycl::free(p, queue);
        }
      }
    });
  for (auto& thread : threads) thread.join();
}

TEST(Native, HandlesAreBorrowed) {
  const auto device = usmx::select_device("opencl");
  const sycl::context context(device);
  const sycl::queue queue(context, device);
  const auto native_context = usmx::native_handle(context);
  const auto native_queue = usmx::native_handle(queue);
  const auto contexts = references(native_context, "clGetContextInfo", context_reference_count);
  const auto queues = references(native_queue, "clGetCommandQueueInfo", queue_reference_count);
  for (int i = 0; i < 100; ++i) {
    CHECK_EQUAL(usmx::native_handle(context), native_context);
    CHECK_EQUAL(usmx::native_handle(queue), native_queue);
  }
  CHECK_EQUAL(references(native_context, "clGetContextInfo", context_reference_count), contexts);
  CHECK_EQUAL(references(native_queue, "clGetCommandQueueInfo", queue_reference_count), queues);
  CHECK(usmx::native_handle(device) != 0);
  CHECK(usmx::native_handle(device.get_platform()) != 0);
}

TEST(FreeMemory, OfACpuIsWhatTheSystemHasLeft) {
  const auto device = usmx::select_device("cpu");
  const auto bytes = usmx::free_memory(device);
  CHECK(bytes.has_value());
  CHECK(*bytes > 0);
  CHECK(*bytes <= device.get_info<sycl::info::device::global_mem_size>());
}
