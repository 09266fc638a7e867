// The example of usmx/submission.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <usmx/runtime.hpp>
#include <usmx/submission.hpp>
#include <usmx/typed_array.hpp>
#include <usmx/wait.hpp>

#include "check.hpp"

TEST(Submission, Reference) {
  const sycl::queue queue = usmx::default_queue();
  const auto x = usmx::full<float>(queue, {1000}, 1);

  // A command of one's own, of SYCL or of another library, in order with all others on the memory.
  usmx::submission command(queue);
  command.uses(x);
  const sycl::event done =
      command.submit([&](sycl::queue& q, const std::vector<sycl::event>& before) {
        return q.memset(x.data(), 0, x.elements().nbytes(), before);
      });
  usmx::wait(done);
  CHECK(usmx::to_vector<float>(x)[999] == 0);
}
