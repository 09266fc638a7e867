// The example of usmx/exit.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include <usmx/exit.hpp>

#include "check.hpp"

namespace {

/// The last lines of a program whose detached threads may still compute.
[[maybe_unused, noreturn]] void end_program(int code) {
  usmx::end_beside_other_threads();
  std::exit(code);
}

}  // namespace

TEST(Exit, Reference) { CHECK(&end_program != nullptr); }
