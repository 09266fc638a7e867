// What calls of NVIDIA's libraries need: the stream of a queue, and what each library keeps for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include <sycl/event.hpp>
#include <sycl/queue.hpp>

#include "nvidia/functions.hpp"

namespace usmx::detail::nvidia {

/// A transform that a plan is for.
struct transform_form {
  transform_type type = transform_type::complex_double;
  std::int64_t n = 0, from = 0, to = 0, inner = 1, count = 1;

  bool operator==(const transform_form&) const = default;
};

struct kept_plan {
  transform_form form;
  plan made = 0;
  std::size_t bytes = 0;  // of memory to work in
};

/// The handles of a queue, made when they are first asked for. Calls with them are made one after
/// the other: hold `mutex`.
class handles {
 public:
  explicit handles(const sycl::queue& queue) : queue_(queue) {}
  handles(const handles&) = delete;
  handles& operator=(const handles&) = delete;
  ~handles();

  /// The handles of a queue. Those of the queues that were used last are kept.
  static std::shared_ptr<handles> of(const sycl::queue& queue);

  handle blas();
  handle solver();
  handle jacobi();
  /// The handle of cuBLAS or cuSOLVER, whose calls go to the stream from now on.
  handle on(library which, stream to);
  /// Plans that were used last are kept: making one takes longer than running it.
  kept_plan plan_of(const transform_form& form);

  std::mutex mutex;

 private:
  sycl::queue queue_;
  handle blas_ = nullptr, solver_ = nullptr, jacobi_ = nullptr;
  std::list<kept_plan> plans_;
};

/// Calls `calls` inside the context of the queue's device.
void in_context(const sycl::queue& queue, const std::function<void()>& calls);

}  // namespace usmx::detail::nvidia
