// A host task that ends when the test lets it: its event has no context, as those that oneMKL and
// dpctl hand out.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <future>
#include <utility>
#include <vector>

#include <sycl/event.hpp>
#include <sycl/handler.hpp>
#include <sycl/queue.hpp>

namespace check {

class host_task {
 public:
  explicit host_task(sycl::queue& queue, const std::vector<sycl::event>& before = {})
      : event_(queue.submit([&](sycl::handler& h) {
          h.depends_on(before);
          h.host_task([opened = opened_.get_future().share()] { opened.wait(); });
        })) {}
  host_task(const host_task&) = delete;
  host_task& operator=(const host_task&) = delete;
  ~host_task() { open(); }

  const sycl::event& event() const noexcept { return event_; }
  void open() {
    if (!std::exchange(is_open_, true)) opened_.set_value();
  }

 private:
  std::promise<void> opened_;
  bool is_open_ = false;
  sycl::event event_;
};

}  // namespace check
