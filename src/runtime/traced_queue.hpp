// What a record says about queues, devices and events: usmx/trace.hpp knows no SYCL.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sycl/device.hpp>
#include <sycl/event.hpp>
#include <sycl/queue.hpp>

#include "usmx/trace.hpp"

namespace usmx::detail {

/// `subject`, with the device or the queue and its device.
trace_subject traced_on(const sycl::device& device, trace_subject subject) noexcept;
trace_subject traced_on(const sycl::queue& queue, trace_subject subject) noexcept;

/// What a record says about a copy.
inline trace_subject traced_views(const any_view& dst, const any_view& src) noexcept {
  return {.bytes = dst.nbytes(),
          .address = dst.data(),
          .source = src.data(),
          .kind = dst.kind(),
          .from = src.kind()};
}

/// Adds the device's times of a command to the record, if its queue has profiling.
void measure(traced& record, const sycl::queue& queue, const sycl::event& command) noexcept;

}  // namespace usmx::detail
