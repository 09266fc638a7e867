// SPDX-License-Identifier: Apache-2.0
#include "runtime/process_handles.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <stdexcept>

#include <sycl/aspects.hpp>
#include <sycl/backend.hpp>
#include <sycl/exception.hpp>
#if __has_include(<sycl/ext/oneapi/experimental/ipc_memory.hpp>)
#include <sycl/ext/oneapi/experimental/ipc_memory.hpp>
#endif

#include "core/format.hpp"
#include "runtime/cuda_driver.hpp"
#include "runtime/driver_gate.hpp"
#include "usmx/error.hpp"

namespace usmx::detail {
namespace {

/// What tests chose.
std::atomic<process_form> chosen_form = process_form::none;
std::atomic<const cuda_driver*> chosen_driver = nullptr;

void check(int status, const char* function) {
  if (status != 0) throw device_error(format("{} gave status {}", function, status));
}

// --- CUDA ------------------------------------------------------------------------------------

const cuda_driver& driver() {
  const cuda_driver* const stand_in = chosen_driver.load(std::memory_order_acquire);
  return stand_in != nullptr ? *stand_in : cuda_driver::loaded();
}

bool is_complete(const cuda_driver& d) {
  return d.retain_primary && d.push && d.pop && d.allocate && d.free && d.memory_handle &&
         d.open_memory && d.close_memory && d.make_event && d.record_event && d.put_behind_event &&
         d.drop_event && d.event_handle && d.open_event;
}

cuda_driver::device number_of(const sycl::queue& queue) {
  if (backend_of(queue).api != driver_api::cuda) return 0;  // a stand-in
  return sycl::get_native<sycl::backend::ext_oneapi_cuda>(queue.get_device());
}

/// Inside the context that SYCL's adapter works in, too.
class in_context {
 public:
  explicit in_context(const sycl::queue& queue) : inside_(number_of(queue), driver()) {
    if (!inside_) throw device_error("the driver of CUDA did not give the context of the device");
  }

 private:
  inside_primary_context inside_;
};

cuda_driver::address address_of(const void* p) { return reinterpret_cast<cuda_driver::address>(p); }

handle_bytes bytes_of(const cuda_driver::process_handle& handle) {
  return {std::begin(handle.bytes), std::end(handle.bytes)};
}
cuda_driver::process_handle handle_from(std::span<const std::byte> bytes) {
  cuda_driver::process_handle handle{};
  if (bytes.size() != sizeof handle.bytes) {
    throw std::invalid_argument(
        format("handle: has {} bytes; expected {}", bytes.size(), sizeof handle.bytes));
  }
  std::ranges::copy(bytes, handle.bytes);
  return handle;
}

/// Smaller blocks are parts of one that the driver maps as a whole: others would see neighbours.
constexpr std::size_t granularity = std::size_t{2} << 20;

constexpr unsigned lazy_peer_access = 1;     // CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
constexpr unsigned for_other_processes = 6;  // CU_EVENT_INTERPROCESS, without times
constexpr int out_of_memory = 2;

/// CUDA_ERROR_MAP_FAILED and CUDA_ERROR_INVALID_HANDLE, which an H200 gave for a killed owner.
bool says_nothing_is_there(int status) noexcept { return status == 205 || status == 400; }

constexpr process_handles of_cuda = {
    .name = "cuda",
    .allocate = [](const sycl::queue& queue, std::size_t bytes) -> void* {
      const in_context inside(queue);
      cuda_driver::address made = 0;
      const std::size_t whole = (bytes + granularity - 1) / granularity * granularity;
      const int status = driver().allocate(&made, whole);
      if (status != out_of_memory) check(status, "cuMemAlloc");
      return status == 0 ? reinterpret_cast<void*>(made) : nullptr;
    },
    .free =
        [](const sycl::queue& queue, void* p) noexcept {
          try {
            const in_context inside(queue);
            driver().free(address_of(p));
          } catch (...) {  // the driver is gone, and the memory with it
          }
        },
    .handle_of =
        [](const sycl::queue& queue, void* p) {
          const in_context inside(queue);
          cuda_driver::process_handle made{};
          check(driver().memory_handle(&made, address_of(p)), "cuIpcGetMemHandle");
          return bytes_of(made);
        },
    .open = [](const sycl::queue& queue, std::span<const std::byte> handle) -> void* {
      const in_context inside(queue);
      cuda_driver::address opened = 0;
      const int status = driver().open_memory(&opened, handle_from(handle), lazy_peer_access);
      if (says_nothing_is_there(status)) {
        throw nothing_behind_handle(format("cuIpcOpenMemHandle gave status {}", status));
      }
      check(status, "cuIpcOpenMemHandle");
      return reinterpret_cast<void*>(opened);
    },
    .close =
        [](const sycl::queue& queue, void* p) noexcept {
          try {
            const in_context inside(queue);
            driver().close_memory(address_of(p));
          } catch (...) {
          }
        },
    .make_event = [](const sycl::queue& queue) -> void* {
      const in_context inside(queue);
      void* made = nullptr;
      check(driver().make_event(&made, for_other_processes), "cuEventCreate");
      return made;
    },
    .event_handle_of =
        [](const sycl::queue& queue, void* event) {
          const in_context inside(queue);
          cuda_driver::process_handle made{};
          check(driver().event_handle(&made, event), "cuIpcGetEventHandle");
          return bytes_of(made);
        },
    .open_event = [](const sycl::queue& queue, std::span<const std::byte> handle) -> void* {
      const in_context inside(queue);
      void* opened = nullptr;
      const int status = driver().open_event(&opened, handle_from(handle));
      if (says_nothing_is_there(status)) return nullptr;
      check(status, "cuIpcOpenEventHandle");
      return opened;
    },
    .drop_event =
        [](const sycl::queue& queue, void* event) noexcept {
          try {
            const in_context inside(queue);
            driver().drop_event(event);
          } catch (...) {
          }
        },
    .record =
        [](const sycl::queue& queue, void* event, void* stream) {
          const in_context inside(queue);
          check(driver().record_event(event, stream), "cuEventRecord");
        },
    .put_behind =
        [](const sycl::queue& queue, void* stream, void* event) {
          const in_context inside(queue);
          check(driver().put_behind_event(stream, event, 0), "cuStreamWaitEvent");
        },
};

// --- the runtime -----------------------------------------------------------------------------

#if __has_include(<sycl/ext/oneapi/experimental/ipc_memory.hpp>)
namespace ipc = sycl::ext::oneapi::experimental::ipc;

constexpr process_handles of_runtime = {
    .name = "runtime",
    .allocate = nullptr,
    .free = nullptr,
    .handle_of =
        [](const sycl::queue& queue, void* p) {
          // Given back when the memory is freed: until then others may open it.
          return handle_bytes(ipc::memory::get(p, queue.get_context()).data());
        },
    .open = [](const sycl::queue& queue, std::span<const std::byte> handle) -> void* {
      try {
        return ipc::memory::open(handle_bytes(handle.begin(), handle.end()), queue.get_context(),
                                 queue.get_device());
      } catch (const sycl::exception& e) {
        // Its errors do not tell what is gone from what cannot be opened.
        throw nothing_behind_handle(e.what());
      }
    },
    .close =
        [](const sycl::queue& queue, void* p) noexcept {
          try {
            ipc::memory::close(p, queue.get_context());
          } catch (...) {
          }
        },
    .make_event = nullptr,
    .event_handle_of = nullptr,
    .open_event = nullptr,
    .drop_event = nullptr,
    .record = nullptr,
    .put_behind = nullptr,
};
const process_handles* runtimes() noexcept { return &of_runtime; }
#else
const process_handles* runtimes() noexcept { return nullptr; }
#endif

bool gives_handles(const sycl::device& device) {
  try {
    return runtimes() != nullptr && device.has(sycl::aspect::ext_oneapi_ipc_memory);
  } catch (const sycl::exception&) {
    return false;
  }
}

}  // namespace

const process_handles* process_handles_of(const sycl::device& device, std::string* why) {
  const auto refuse = [&](const char* text) -> const process_handles* {
    if (why != nullptr) *why = text;
    return nullptr;
  };
  const process_form chosen = chosen_form.load(std::memory_order_acquire);
  switch (chosen != process_form::none ? chosen : backend_of(device).handles) {
    case process_form::cuda:
      if (is_complete(driver())) return &of_cuda;
      return refuse("the driver of CUDA lacks functions of cuIpcGetMemHandle's family");
    case process_form::runtime:
      if (chosen != process_form::none || gives_handles(device)) return runtimes();
      return refuse(
          "SYCL's adapter of the backend gives no handles of memory: the device lacks the aspect "
          "ext_oneapi_ipc_memory");
    case process_form::none:
      break;
  }
  return refuse("the backend has no memory between processes");
}

void use_process_form(process_form form, const char* library) {
  if (library != nullptr) {
    const auto found = cuda_driver::in(library, true);
    if (!is_complete(found)) {
      throw std::invalid_argument(format("library: {} lacks functions of the driver", library));
    }
    chosen_driver.store(new cuda_driver(found), std::memory_order_release);  // kept for the process
  }
  chosen_form.store(form, std::memory_order_release);
}

}  // namespace usmx::detail
