// A thread with a stack of its own, of pages that are used only when they are touched.
// SPDX-License-Identifier: Apache-2.0
#include "kernel/large_stack.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <exception>

#include "runtime/driver_gate.hpp"

namespace usmx::detail {
namespace {

/// The compiler takes up to 5 KiB for a level: 100 000 minus signs were compiled in 512 MiB.
constexpr std::size_t stack_bytes = std::size_t{1} << 30;
/// Where the memory of a process is limited; the stack of an ordinary thread is smaller.
constexpr std::size_t least_stack_bytes = std::size_t{16} << 20;

/// Memory for a stack, with a page below it that ends the process when it overflows.
class stack_memory {
 public:
  stack_memory() noexcept {
    for (bytes_ = stack_bytes; bytes_ >= least_stack_bytes; bytes_ /= 2) {
      void* const p = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
      if (p == MAP_FAILED) continue;
      base_ = p;
      static_cast<void>(mprotect(p, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), PROT_NONE));
      return;
    }
  }
  stack_memory(const stack_memory&) = delete;
  stack_memory& operator=(const stack_memory&) = delete;
  ~stack_memory() {
    if (base_ != nullptr) munmap(base_, bytes_);
  }
  void* base() const noexcept { return base_; }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  void* base_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Signals are for the threads of the program, except those that are about an instruction.
class signals_blocked {
 public:
  signals_blocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&all, own);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;
  ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

/// The compiler reads nothing if the working folder of the process was removed, so this thread gets
/// one of its own.
void leave_a_removed_folder() noexcept {
  std::array<char, 4096> here{};
  if (getcwd(here.data(), here.size()) != nullptr || errno != ENOENT) return;
  if (unshare(CLONE_FS) != 0 || chdir("/") != 0) return;  // the compiler says what it misses
}

struct task {
  const std::function<void()>& function;
  std::exception_ptr failed;

  static void* run(void* self) {
    auto& t = *static_cast<task*>(self);
    try {
      const driver_entry_of_caller inside;
      leave_a_removed_folder();
      t.function();
    } catch (...) {
      t.failed = std::current_exception();
    }
    return nullptr;
  }
};

bool start(pthread_t& thread, const stack_memory& stack, task& t) noexcept {
  if (stack.base() == nullptr) return false;
  pthread_attr_t how;
  if (pthread_attr_init(&how) != 0) return false;
  const signals_blocked quiet;
  const bool started = pthread_attr_setstack(&how, stack.base(), stack.bytes()) == 0 &&
                       pthread_create(&thread, &how, &task::run, &t) == 0;
  pthread_attr_destroy(&how);
  return started;
}

}  // namespace

void on_large_stack(const std::function<void()>& function, const patience& waiting) {
  const stack_memory stack;
  task t{function, nullptr};
  pthread_t thread;
  if (!start(thread, stack, t)) return function();
  bool ended = false;
  if (waiting.ended) {
    const auto until = std::chrono::system_clock::now() + waiting.lasts;
    const auto seconds = std::chrono::time_point_cast<std::chrono::seconds>(until);
    const timespec at{seconds.time_since_epoch().count(), (until - seconds).count()};
    ended = pthread_timedjoin_np(thread, nullptr, &at) == 0;
    if (!ended) waiting.ended();
  }
  if (!ended) pthread_join(thread, nullptr);
  if (t.failed) std::rethrow_exception(t.failed);
}

std::size_t too_deep(std::string_view text) noexcept {
  // Each open bracket, from outside; those of lists and blocks are braces.
  std::array<char, 4096> open;
  std::size_t depth = 0;
  std::size_t line = 1;
  std::size_t tokens = 0;
  std::size_t branches = 0;  // `else` of a chain is inside the one before
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const std::string_view rest = text.substr(at);
    if (c == '\n') ++line;
    if (std::isspace(static_cast<unsigned char>(c)) != 0) continue;
    if (rest.starts_with("//")) {
      at += std::min(rest.find('\n'), rest.size()) - 1;
      continue;
    }
    if (rest.starts_with("/*")) {
      const std::size_t close = rest.find("*/", 2);
      const std::size_t end = close == rest.npos ? rest.size() : close + 2;
      for (const char inside : rest.substr(0, end)) line += inside == '\n';
      at += end - 1;
      continue;
    }
    if (++tokens > most_in_statement || branches > most_in_statement) return line;
    if (c == '"' || c == '\'') {
      for (++at; at < text.size() && text[at] != c && text[at] != '\n'; ++at) {
        if (text[at] == '\\') ++at;
      }
      continue;
    }
    if (is_part(c)) {
      std::size_t end = 1;
      while (end < rest.size() && is_part(rest[end])) ++end;
      if (rest.substr(0, end) == "else") ++branches;
      at += end - 1;
      continue;
    }
    const bool in_braces = depth == 0 || depth > open.size() || open[depth - 1] == '{';
    switch (c) {
      case '(':
      case '[':
      case '{':
        if (depth < open.size()) open[depth] = c;
        ++depth;
        if (c == '{') tokens = 0;
        break;
      case ')':
      case ']':
      case '}':
        if (depth > 0) --depth;
        if (c == '}') tokens = 0;
        break;
      case ';':
      case ',':
        if (in_braces && (c == ';' || depth > 0)) tokens = 0;
        break;
      default:
        break;
    }
  }
  return 0;
}

}  // namespace usmx::detail
