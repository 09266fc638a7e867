// The example of usmx/resources.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <memory>

#include <unistd.h>

#include <usmx/memory_resource.hpp>
#include <usmx/resources.hpp>
#include <usmx/runtime.hpp>

#include "check.hpp"

TEST(Resources, Reference) {
  const sycl::queue queue = usmx::default_queue();
  const auto pool = usmx::default_resource(queue, usmx::usm_kind::device);

  // Each adds one thing to what it stands on, in any order.
  const auto limited = std::make_shared<usmx::limiting_resource>(pool, 1 << 20);
  const auto counted = std::make_shared<usmx::statistics_resource>(limited);
  void* p = counted->allocate(1000);
  CHECK(counted->now().bytes == 1000 && limited->used() == 1000);
  CHECK_THROWS(usmx::allocation_error, counted->allocate(2 << 20));
  counted->deallocate(p, 1000);
  CHECK(counted->now().peak_bytes == 1000 && counted->now().failures == 1);

  // Small requests from one resource, larger ones from another.
  const auto small = std::make_shared<usmx::statistics_resource>(pool);
  usmx::binning_resource binning(pool, {{.most = 256, .resource = small}});
  binning.deallocate(binning.allocate(100), 100);
  CHECK(small->now().total_blocks == 1);

  // Every block of 1 MiB and more at an address that huge pages have.
  usmx::aligned_resource aligned(pool, 2 << 20, 1 << 20);
  aligned.deallocate(aligned.allocate(1 << 20), 1 << 20);

  // Which blocks are alive, and who asked for them.
  usmx::tracking_resource tracking(pool, [] { return std::string("in the example"); });
  p = tracking.allocate(100);
  CHECK(tracking.alive().front().note == "in the example");
  tracking.deallocate(p, 100);
  CHECK(tracking.report() != "");

  // Each request as a line of a file.
  const auto file =
      std::filesystem::temp_directory_path() / ("requests-" + std::to_string(::getpid()) + ".csv");
  {
    usmx::logging_resource logging(pool, file.string());
    logging.deallocate(logging.allocate(100), 100);
    logging.flush();
  }
  CHECK(std::filesystem::file_size(file) > 0);
  std::filesystem::remove(file);

  // Something is freed where there is no memory left, and the request is tried again.
  bool asked = false;
  usmx::failure_callback_resource again(limited, [&](std::size_t) { return asked = true, false; });
  CHECK_THROWS(usmx::allocation_error, again.allocate(2 << 20));
  CHECK(asked);

  // New shared memory moves to the device before it is used.
  const auto shared = usmx::default_resource(queue, usmx::usm_kind::shared);
  usmx::prefetch_resource prefetching(shared, queue);
  prefetching.deallocate(prefetching.allocate(1000), 1000);
  CHECK(dynamic_cast<usmx::stacked_resource&>(prefetching).upstream() == shared);
}
