// Names devices and queues for records, and reads from events when their commands ran.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/traced_queue.hpp"

#include <functional>
#include <mutex>
#include <optional>
#include <unordered_map>

#include <sycl/properties/queue_properties.hpp>

#include "core/fork_guard.hpp"
#include "usmx/runtime.hpp"
#include "usmx/wait.hpp"

namespace usmx::detail {
namespace {

struct device_names {
  guarded_mutex mutex{guarded_mutex::rank::records};  // a child of fork names devices too
  std::unordered_map<sycl::device, std::uint32_t> names;
};

// Leaked: frees may be recorded after every static object.
device_names& known = *new device_names;

std::uint32_t name_of(const sycl::device& device) noexcept {
  try {
    {
      const std::scoped_lock lock(known.mutex);
      if (const auto found = known.names.find(device); found != known.names.end()) {
        return found->second;
      }
    }
    std::string text = filter_string(device);
    if (text.empty()) text = "sub-device of " + device.get_info<sycl::info::device::name>();
    const std::uint32_t number = trace_text(text);
    const std::scoped_lock lock(known.mutex);
    return known.names.try_emplace(device, number).first->second;
  } catch (...) {
    return 0;
  }
}

std::optional<trace_device_times> times_of(const sycl::event& command) noexcept {
  namespace profiling = sycl::info::event_profiling;
  if (!is_done(command)) return {};
  try {
    const auto get = [&]<class What>(What) {
      return static_cast<std::int64_t>(command.get_profiling_info<What>());
    };
    return trace_device_times{get(profiling::command_submit{}), get(profiling::command_start{}),
                              get(profiling::command_end{})};
  } catch (...) {  // it failed, or the driver did not measure it
    return {};
  }
}

}  // namespace

trace_subject traced_on(const sycl::device& device, trace_subject subject) noexcept {
  subject.device = name_of(device);
  return subject;
}

trace_subject traced_on(const sycl::queue& queue, trace_subject subject) noexcept {
  subject.queue = trace_number(std::hash<sycl::queue>()(queue));
  try {
    return traced_on(queue.get_device(), subject);
  } catch (...) {
    return subject;
  }
}

void measure(traced& record, const sycl::queue& queue, const sycl::event& command) noexcept {
  if (!record) return;
  try {
    if (queue.has_property<sycl::property::queue::enable_profiling>()) {
      record.measured_by([command] { return times_of(command); });
    }
  } catch (...) {  // no memory for the clock
  }
}

}  // namespace usmx::detail
