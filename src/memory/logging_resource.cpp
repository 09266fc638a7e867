// Records the allocations of a program, to be inspected or replayed on another resource.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/resources.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include "trace/thread_number.hpp"

namespace usmx {

logging_resource::logging_resource(std::shared_ptr<memory_resource> upstream,
                                   const std::string& path)
    : stacked_resource(std::move(upstream)),
      file_(std::fopen(path.c_str(), "w"), std::fclose),
      begin_(std::chrono::steady_clock::now()) {
  if (file_ == nullptr) {
    throw std::system_error(errno, std::generic_category(), "path: cannot write " + path);
  }
  std::fputs("nanoseconds,thread,action,pointer,bytes,alignment\n", file_.get());
}

void logging_resource::flush() {
  const std::scoped_lock lock(mutex_);
  if (std::fflush(file_.get()) != 0 || std::ferror(file_.get()) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot write the allocation log");
  }
}

void logging_resource::write(const char* action, const void* p, std::size_t bytes,
                             std::size_t alignment) noexcept {
  const std::scoped_lock lock(mutex_);
  write_locked(action, p, bytes, alignment);
}

void logging_resource::write_locked(const char* action, const void* p, std::size_t bytes,
                                    std::size_t alignment) noexcept {
  const std::chrono::nanoseconds now = std::chrono::steady_clock::now() - begin_;
  std::fprintf(file_.get(), "%lld,%zu,%s,%p,%zu,%zu\n", static_cast<long long>(now.count()),
               detail::thread_number(), action, p, bytes, alignment);
}

void* logging_resource::serve(const request& asked) {
  void* p = nullptr;
  try {
    p = asked.pass_to(*upstream());
  } catch (...) {
    write("fail", nullptr, asked.bytes, asked.alignment);
    throw;
  }
  write("allocate", p, asked.bytes, asked.alignment);
  return p;
}

bool logging_resource::take_back(const returned_block& b) noexcept {
  // Before the upstream frees it, so that no later line reuses its address first.
  if (b.queue == nullptr) {
    write("deallocate", b.data, b.bytes, b.alignment);
    return b.pass_to(*upstream());
  }
  // Whether the upstream takes a block in use is known afterwards: no line may come between.
  const std::scoped_lock lock(mutex_);
  if (!b.pass_to(*upstream())) return false;
  write_locked("deallocate", b.data, b.bytes, b.alignment);
  return true;
}

}  // namespace usmx
