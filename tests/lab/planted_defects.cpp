// One defect at a time, on purpose: a checker that lets its program pass is useless. The tests
// run this with the name of a defect and demand the report.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>

#include <sycl/sycl.hpp>

namespace {

constexpr std::size_t n = 256;  // bytes; a multiple of the alignment, so the next byte is forbidden

sycl::queue& queue() {
  static sycl::queue q{sycl::property::queue::in_order()};
  return q;
}

volatile char* make(sycl::usm::alloc kind, std::size_t bytes = n) {
  return sycl::malloc<char>(bytes, queue(), kind);
}
void* plain(volatile char* p) { return const_cast<char*>(p); }

constexpr auto device = sycl::usm::alloc::device;
constexpr auto shared = sycl::usm::alloc::shared;
constexpr auto host = sycl::usm::alloc::host;

/// A kernel that writes a byte `at` bytes from `p`, compiled at run time without any header.
void write_in_kernel(volatile char* p, long at) {
  namespace syclex = sycl::ext::oneapi::experimental;
  auto source = syclex::create_kernel_bundle_from_source(
      queue().get_context(), syclex::source_language::sycl, std::string{R"(
#include <sycl/ext/oneapi/kernel_properties/properties.hpp>
#include <sycl/ext/oneapi/free_function_queries.hpp>
extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((sycl::ext::oneapi::experimental::single_task_kernel))
void write(char* p, long at) { p[at] = 1; })"});
  auto kernel = syclex::build(source).ext_oneapi_get_kernel("write");
  queue()
      .submit([&](sycl::handler& h) {
        h.set_args(static_cast<char*>(plain(p)), at);
        h.single_task(kernel);
      })
      .wait_and_throw();
}

void none() {
  volatile char* d = make(device);
  volatile char* s = make(shared);
  volatile char* h = make(host);
  queue().memset(plain(d), 7, n);
  queue().memcpy(plain(s), plain(d), n);
  queue().memcpy(plain(h), plain(s), n).wait();
  write_in_kernel(d, n - 1);
  if (s[n - 1] != 7 || h[0] != 7) std::abort();
  for (auto p : {d, s, h}) sycl::free(plain(p), queue());
}

void host_reads_device_memory() {
  volatile char* d = make(device);
  queue().memset(plain(d), 7, n).wait();
  std::printf("read %d\n", d[0]);
}

void host_reads_device_memory_after_a_kernel() {
  volatile char* d = make(device);
  write_in_kernel(d, 0);
  std::printf("read %d\n", d[0]);
}

void host_reads_device_memory_while_a_copy_runs() {
  volatile char* d = make(device);
  volatile char* big = make(device, 512 << 20);
  queue().memset(plain(big), 1, 512 << 20);
  std::printf("read %d\n", d[0]);
}

void host_writes_past_the_end() {
  volatile char* s = make(shared);
  s[n] = 1;
}

void host_writes_before_the_beginning() {
  volatile char* s = make(shared);
  s[-1] = 1;
  sycl::free(plain(s), queue());
}

void kernel_writes_past_the_end() { write_in_kernel(make(device), n); }

void kernel_writes_into_the_gap() {
  // 100 bytes aligned to 64 leave 28 unused bytes.
  auto* d = sycl::aligned_alloc_device<char>(64, 100, queue());
  write_in_kernel(d, 100);
  sycl::free(plain(d), queue());
}

void host_reads_freed_memory() {
  volatile char* s = make(shared);
  s[0] = 1;
  sycl::free(plain(s), queue());
  std::printf("read %d\n", s[0]);
}

void copy_from_freed_memory() {
  volatile char* a = make(shared);
  volatile char* b = make(shared);
  sycl::free(plain(a), queue());
  queue().memcpy(plain(b), plain(a), n).wait();
}

void kernel_writes_freed_memory() {
  volatile char* d = make(device);
  sycl::free(plain(d), queue());
  write_in_kernel(d, 0);
}

void copy_past_the_end() {
  volatile char* a = make(shared);
  volatile char* b = make(shared, 2 * n);
  queue().memcpy(plain(b), plain(a), n + 1).wait();
}

void fill_past_the_end() { queue().memset(plain(make(device)), 1, n + 1).wait(); }

void free_twice() {
  volatile char* s = make(shared);
  sycl::free(plain(s), queue());
  sycl::free(plain(s), queue());
}

void free_the_inside() { sycl::free(plain(make(shared) + 64), queue()); }

void free_foreign_memory() {
  void* p = std::malloc(n);
  sycl::free(p, queue());
}

void free_in_a_foreign_context() {
  const sycl::context other{queue().get_device()};
  sycl::free(plain(make(shared)), other);
}

void copy_in_a_foreign_context() {
  const sycl::context other{queue().get_device()};
  sycl::queue q{other, queue().get_device()};
  volatile char* a = make(device);
  char target[n];
  q.memcpy(target, plain(a), n).wait();
}

void free_while_a_command_runs() {
  volatile char* d = make(device, 512 << 20);
  queue().memset(plain(d), 1, 512 << 20);
  sycl::free(plain(d), queue());
}

void leak() { queue().memset(plain(make(device)), 1, n).wait(); }
void leak_nothing_but_a_queue() { new sycl::queue{queue().get_context(), queue().get_device()}; }
void leak_on_the_heap() {
  static volatile char* lost = new char[123];
  lost[0] = 1;
  lost = nullptr;
}
void overflow_an_integer() {
  volatile int i = 2147483647;
  i = i + 1;
}
void race() {
  static volatile int counted = 0;
  const auto count = [] {
    for (int i = 0; i < 100000; ++i) counted = counted + 1;
  };
  std::thread a{count};
  std::thread b{count};
  a.join();
  b.join();
  std::printf("%d\n", counted);
}

const std::map<std::string, void (*)()> defects{
    {"none", none},
    {"host_reads_device_memory", host_reads_device_memory},
    {"host_reads_device_memory_after_a_kernel", host_reads_device_memory_after_a_kernel},
    {"host_reads_device_memory_while_a_copy_runs", host_reads_device_memory_while_a_copy_runs},
    {"host_writes_past_the_end", host_writes_past_the_end},
    {"host_writes_before_the_beginning", host_writes_before_the_beginning},
    {"kernel_writes_past_the_end", kernel_writes_past_the_end},
    {"kernel_writes_into_the_gap", kernel_writes_into_the_gap},
    {"host_reads_freed_memory", host_reads_freed_memory},
    {"copy_from_freed_memory", copy_from_freed_memory},
    {"kernel_writes_freed_memory", kernel_writes_freed_memory},
    {"copy_past_the_end", copy_past_the_end},
    {"fill_past_the_end", fill_past_the_end},
    {"free_twice", free_twice},
    {"free_the_inside", free_the_inside},
    {"free_foreign_memory", free_foreign_memory},
    {"free_in_a_foreign_context", free_in_a_foreign_context},
    {"copy_in_a_foreign_context", copy_in_a_foreign_context},
    {"free_while_a_command_runs", free_while_a_command_runs},
    {"leak", leak},
    {"leak_nothing_but_a_queue", leak_nothing_but_a_queue},
    {"leak_on_the_heap", leak_on_the_heap},
    {"overflow_an_integer", overflow_an_integer},
    {"race", race},
};

}  // namespace

int main(int argc, char** argv) {
  const auto found = defects.find(argc > 1 ? argv[1] : "");
  if (found == defects.end()) {
    for (const auto& [name, run] : defects) std::puts(name.c_str());
    return 2;
  }
  try {
    found->second();
  } catch (const std::exception& e) {
    std::printf("exception: %s\n", e.what());
    return 3;
  }
  return 0;
}
