// The functions of CUDA's driver by which processes open each other's memory, for machines without
// a GPU. Device memory of the CPU device has a file's pages put in its place, which other processes
// map in the same way: it is USM for the runtime, and the same bytes in all of them. As strict as
// the driver: no process opens its own handles, memory is opened at one place for each process, and
// what was let go of is gone.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include <sycl/sycl.hpp>

#include "call_log.hpp"

namespace {

constexpr int invalid_value = 1, out_of_memory = 2, invalid_context = 201, invalid_handle = 400;

struct handle {
  char bytes[64];
};

/// What is behind a handle.
struct named {
  int process, descriptor;
  std::size_t bytes;
  std::uint64_t
      number;  // of all blocks and events of the process, so that none is taken for another
};
static_assert(sizeof(named) <= sizeof(handle));

std::atomic<std::uint64_t> numbers = 1;

handle made_of(const named& what) {
  handle out{};
  std::memcpy(out.bytes, &what, sizeof what);
  return out;
}
named made_from(const handle& in) {
  named out{};
  std::memcpy(&out, in.bytes, sizeof out);
  return out;
}

std::string file_name(std::uint64_t number) { return "stand-in-" + std::to_string(number); }

int make_file(std::uint64_t number, std::size_t bytes) {
  const int file = memfd_create(file_name(number).c_str(), MFD_CLOEXEC);
  if (file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) != 0) {
    close(file);
    return -1;
  }
  return file;
}

/// The file of another process; -1 if it is gone.
int open_file(const named& of) {
  const std::string path =
      "/proc/" + std::to_string(of.process) + "/fd/" + std::to_string(of.descriptor);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return -1;
  char name[256] = {};
  const std::string own = "/proc/self/fd/" + std::to_string(file);
  if (readlink(own.c_str(), name, sizeof name - 1) > 0 &&
      std::string(name).find("memfd:" + file_name(of.number) + " ") != std::string::npos) {
    return file;
  }
  close(file);
  return -1;
}

sycl::queue& queue() {
  static auto& one = *new sycl::queue{sycl::cpu_selector_v};
  return one;
}

/// Device memory over a file's pages; null without memory.
void* map_device_memory(int file, std::size_t bytes) {
  constexpr std::size_t page = 4096;
  void* const p = sycl::aligned_alloc_device(page, bytes, queue());
  if (p == nullptr) return nullptr;
  if (mmap(p, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != p) std::abort();
  return p;
}
void unmap_device_memory(void* p, std::size_t bytes) {
  const int own = PROT_READ | PROT_WRITE;
  if (mmap(p, bytes, own, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != p) std::abort();
  sycl::free(p, queue());
}

struct block {
  named what;
  int file;
  int users;
};
std::map<std::uintptr_t, block>& own_blocks() {
  static auto& all = *new std::map<std::uintptr_t, block>;
  return all;
}
std::map<std::uintptr_t, block>& opened_blocks() {
  static auto& all = *new std::map<std::uintptr_t, block>;
  return all;
}

/// An event: how often it was recorded, in pages that all processes see.
struct event {
  named what;
  int file;
  std::atomic<std::uint64_t>* count;
  bool is_for_processes, is_opened;
};

event* map_event(const named& what, int file, bool opened) {
  void* const p = mmap(nullptr, what.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (p == MAP_FAILED) return nullptr;
  return new event{what, file, static_cast<std::atomic<std::uint64_t>*>(p), true, opened};
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT int cuDevicePrimaryCtxRetain(void** out, int) {
  static int context;
  *out = &context;
  return 0;
}
EXPORT int cuCtxPushCurrent_v2(void*) { return 0; }
EXPORT int cuCtxPopCurrent_v2(void**) { return 0; }

EXPORT int cuMemAlloc_v2(std::uintptr_t* out, std::size_t bytes) {
  if (const int status = called("cuMemAlloc", bytes)) return status;
  const named what{getpid(), -1, bytes, numbers++};
  const int file = make_file(what.number, bytes);
  void* const p = file < 0 ? nullptr : map_device_memory(file, bytes);
  if (p == nullptr) {
    close(file);
    return out_of_memory;
  }
  *out = reinterpret_cast<std::uintptr_t>(p);
  const std::lock_guard lock(guard);
  own_blocks()[*out] = {{what.process, file, bytes, what.number}, file, 1};
  return 0;
}
EXPORT int cuMemFree_v2(std::uintptr_t p) {
  if (const int status = called("cuMemFree")) return status;
  const std::lock_guard lock(guard);
  const auto found = own_blocks().find(p);
  if (found == own_blocks().end()) return invalid_value;
  unmap_device_memory(reinterpret_cast<void*>(p), found->second.what.bytes);
  close(found->second.file);
  own_blocks().erase(found);
  return 0;
}

EXPORT int cuIpcGetMemHandle(handle* out, std::uintptr_t p) {
  if (const int status = called("cuIpcGetMemHandle")) return status;
  const std::lock_guard lock(guard);
  const auto found = own_blocks().find(p);
  if (found == own_blocks().end()) return invalid_value;
  *out = made_of(found->second.what);
  return 0;
}
EXPORT int cuIpcOpenMemHandle_v2(std::uintptr_t* out, handle from, unsigned flags) {
  if (const int status = called("cuIpcOpenMemHandle", flags)) return status;
  const named what = made_from(from);
  if (what.process == getpid()) return invalid_context;
  const std::lock_guard lock(guard);
  for (auto& [address, known] : opened_blocks()) {
    if (known.what.number != what.number || known.what.process != what.process) continue;
    ++known.users;
    *out = address;
    return 0;
  }
  const int file = open_file(what);
  if (file < 0) return invalid_handle;
  void* const p = map_device_memory(file, what.bytes);
  if (p == nullptr) return out_of_memory;
  *out = reinterpret_cast<std::uintptr_t>(p);
  opened_blocks()[*out] = {what, file, 1};
  return 0;
}
EXPORT int cuIpcCloseMemHandle(std::uintptr_t p) {
  if (const int status = called("cuIpcCloseMemHandle")) return status;
  const std::lock_guard lock(guard);
  const auto found = opened_blocks().find(p);
  if (found == opened_blocks().end()) return invalid_value;
  if (--found->second.users > 0) return 0;
  unmap_device_memory(reinterpret_cast<void*>(p), found->second.what.bytes);
  close(found->second.file);
  opened_blocks().erase(found);
  return 0;
}

EXPORT int cuEventCreate(event** out, unsigned flags) {
  if (const int status = called("cuEventCreate", flags)) return status;
  named what{getpid(), -1, 4096, numbers++};
  what.descriptor = make_file(what.number, what.bytes);
  if (what.descriptor < 0) return out_of_memory;
  *out = map_event(what, what.descriptor, false);
  (*out)->is_for_processes = (flags & 4) != 0 && (flags & 2) != 0;
  return 0;
}
EXPORT int cuEventRecord(event* e, void*) {
  if (const int status = called("cuEventRecord", e->what.number)) return status;
  e->count->fetch_add(1);
  return 0;
}
EXPORT int cuStreamWaitEvent(void*, event* e, unsigned) {
  return called("cuStreamWaitEvent", e->count->load());
}
EXPORT int cuEventDestroy_v2(event* e) {
  if (const int status = called("cuEventDestroy")) return status;
  munmap(e->count, e->what.bytes);
  close(e->file);
  delete e;
  return 0;
}
EXPORT int cuIpcGetEventHandle(handle* out, event* e) {
  if (const int status = called("cuIpcGetEventHandle")) return status;
  if (!e->is_for_processes || e->is_opened) return invalid_value;
  *out = made_of(e->what);
  return 0;
}
EXPORT int cuIpcOpenEventHandle(event** out, handle from) {
  if (const int status = called("cuIpcOpenEventHandle")) return status;
  const named what = made_from(from);
  if (what.process == getpid()) return invalid_context;
  const int file = open_file(what);
  if (file < 0) return invalid_handle;
  *out = map_event(what, file, true);
  return *out == nullptr ? out_of_memory : 0;
}
