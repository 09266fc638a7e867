// The example of usmx/wait.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <usmx/copy.hpp>
#include <usmx/runtime.hpp>
#include <usmx/typed_array.hpp>
#include <usmx/wait.hpp>

#include "check.hpp"

TEST(Wait, Reference) {
  const sycl::queue queue = usmx::default_queue();
  const auto x = usmx::zeros<float>(queue, {1000});
  const float one = 1;

  // For one command, for several, or for all of a queue.
  const sycl::event filled = usmx::fill_async(queue, x, &one);
  usmx::wait(filled);
  CHECK(usmx::is_done(filled));
  const std::array both{usmx::fill_async(queue, x, &one), usmx::memset_async(queue, x, 0)};
  usmx::wait(both);
  usmx::wait(queue);
  CHECK(usmx::is_idle(queue));

  // An event for all commands so far, to be waited for later, also by other queues.
  usmx::fill_async(queue, x, &one);
  const sycl::event all = usmx::marker(queue);
  usmx::wait(all);

  // Before others, who may submit commands to it, get the queue itself.
  const sycl::queue shared =
      usmx::make_queue(usmx::default_context(usmx::select_device("")), usmx::select_device(""), {});
  CHECK(!usmx::has_left(shared));
  usmx::leaves(shared);
  CHECK(usmx::has_left(shared));
  // Of commands that come by a native handle, as by clEnqueueNDRangeKernel, SYCL does not know.
  usmx::leaves_natively(shared);
  usmx::wait(shared);
}
