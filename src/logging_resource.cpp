// A recording of what a program asked for, to be looked at or replayed on another resource.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/resources.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include "thread_number.hpp"

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
    throw std::system_error(errno, std::generic_category(), "the log of allocations");
  }
}

void logging_resource::write(const char* action, const void* p, std::size_t bytes,
                             std::size_t alignment) noexcept {
  const std::chrono::nanoseconds now = std::chrono::steady_clock::now() - begin_;
  const std::scoped_lock lock(mutex_);
  std::fprintf(file_.get(), "%lld,%zu,%s,%p,%zu,%zu\n", static_cast<long long>(now.count()),
               detail::thread_number(), action, p, bytes, alignment);
}

void* logging_resource::do_allocate(std::size_t bytes, std::size_t alignment) {
  void* p = nullptr;
  try {
    p = upstream()->allocate(bytes, alignment);
  } catch (...) {
    write("fail", nullptr, bytes, alignment);
    throw;
  }
  write("allocate", p, bytes, alignment);
  return p;
}

void logging_resource::do_deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
  // First, so that no line speaks of an address that another line has given out already.
  write("deallocate", p, bytes, alignment);
  upstream()->deallocate(p, bytes, alignment);
}

}  // namespace usmx
