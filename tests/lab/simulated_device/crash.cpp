// A fault on one of the layer's pages is a defect with a name; this says the name before the
// process ends the way it would have ended anyway.
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <array>
#include <mutex>

#include "memory.hpp"
#include "settings.hpp"

namespace simulated {
namespace {

struct sigaction previous;

void on_fault(int, siginfo_t* info, void*) {
  std::array<char, 200> text{};
  // The instruction runs again, into the previous fault handler (such as Python's).
  sigaction(SIGSEGV, &previous, nullptr);
  if (explain(info->si_addr, text.data(), text.size())) defect("%s", text.data());
}

}  // namespace

void watch_for_faults() noexcept {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action{};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, &previous);
  });
}

}  // namespace simulated
