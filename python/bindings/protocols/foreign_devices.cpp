// Devices as DLPack and Arrow number them, and the streams and events that other libraries want to
// be waited for. Tests can answer as another backend would.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/format.hpp"
#include "protocols/protocols.hpp"
#include "runtime/backend.hpp"
#include "runtime/cuda_driver.hpp"
#include "support/error_text.hpp"
#include "support/text.hpp"
#include "usmx/submission.hpp"

namespace usmx::python {
namespace {

using dlpack::device_type;

[[noreturn]] void refuse(const std::string& message) { throw nb::buffer_error(message.c_str()); }

/// What tests put in the place of a driver: a row for all devices, and a function that is called
/// with ("stream" or "event", address) instead of waiting. Guarded by the GIL.
struct recorded_driver {
  const detail::backend_row* row;
  nb::object waited;
};
std::optional<recorded_driver>& recorded() {
  // Leaked: Python is gone when statics are destroyed.
  static auto& driver = *new std::optional<recorded_driver>;
  return driver;
}

std::int32_t index_of(const sycl::device& device) {
  return static_cast<std::int32_t>(std::ranges::find(root_devices(), device) -
                                   root_devices().begin());
}

/// The number of a device in a library that knows nothing of SYCL.
std::int32_t native_number(const sycl::device& device) {
  return recorded() ? index_of(device) : static_cast<std::int32_t>(native_handle(device));
}

/// True if a test took note of it instead.
bool take_note(const char* what, const void* address) {
  if (!recorded()) return false;
  const nb::object waited = recorded()->waited;
  waited(what, reinterpret_cast<std::uintptr_t>(address));
  return true;
}

}  // namespace

const std::vector<sycl::device>& root_devices() {
  static const auto& all = *new std::vector<sycl::device>(sycl::device::get_devices());
  return all;
}

std::string text_of(const dlpack::device& d) {
  return detail::format("({}, {})", static_cast<int>(d.type), d.id);
}

const detail::backend_row& exchange_row(const sycl::device& device) {
  return recorded() ? *recorded()->row : detail::backend_of(device);
}

dlpack::device device_in_dlpack(const array& a) {
  const usm_kind kind = a.kind();
  const sycl::device device = a.queue().get_device();
  if (kind == usm_kind::unknown && a.elements().size() > 0) return {device_type::cpu, 0};
  const device_type type = detail::device_type_of(exchange_row(device).dlpack, kind);
  if (type == device_type::cuda_host || type == device_type::rocm_host) return {type, 0};
  if (type != device_type::oneapi) return {type, native_number(device)};
  if (is_sub_device(device) || a.queue().get_context() != default_context(device)) {
    refuse(
        "device: DLPack and Arrow have no name for memory of a sub-device or of a context other "
        "than its platform's default one; exchange it by __sycl_usm_array_interface__, or copy it "
        "with usmx.asarray(x, device=...)");
  }
  return {type, index_of(device)};
}

sycl::device device_from_dlpack(const dlpack::device& d) {
  const auto wrong = [&]() {
    refuse(
        detail::format("device: {} is not a device that SYCL knows here; copy the array to the "
                       "host first",
                       text_of(d)));
  };
  if (d.type == device_type::oneapi) {
    const std::vector<sycl::device>& all = root_devices();
    if (d.id < 0 || static_cast<std::size_t>(d.id) >= all.size()) wrong();
    return all[static_cast<std::size_t>(d.id)];
  }
  for (const sycl::device& device : root_devices()) {
    const detail::dlpack_types& types = exchange_row(device).dlpack;
    if (types.device == device_type::oneapi) continue;
    // Memory of the host has no number; the first device of the backend reaches it.
    if (d.type == types.host) return device;
    if (d.type != types.device && d.type != types.shared) continue;
    if (d.id == native_number(device)) return device;
  }
  wrong();
  return {};
}

void come_after_foreign_stream(const sycl::device& device, void* stream, bool is_device_memory) {
  if (take_note("stream", stream)) return;
  const gil_released unlocked;
  if (is_device_memory && put_behind_native_stream(default_queue(device), stream)) return;
  wait_for_native_stream(device, stream);
}

bool put_foreign_stream_behind(void* stream, const array& a) {
  // A note puts no stream behind anything, so the host waits too.
  if (take_note("behind", stream)) return false;
  const sycl::queue& home = a.queue();
  if (detail::backend_of(home).api != detail::driver_api::cuda || !home.is_in_order()) return false;
  const gil_released unlocked;
  submission command(home);
  command.after(a);
  if (!command.before().empty()) {
    command.submit([](sycl::queue& q, const std::vector<sycl::event>& before) {
      return q.ext_oneapi_submit_barrier(before);
    });
  }
  return put_native_stream_behind(stream, home);
}

void wait_for_foreign_event(const sycl::device& device, void* event) {
  if (take_note("event", event)) return;
  const gil_released unlocked;
  detail::wait_for_native_event(device, event);
}

void exchange_as(nb::handle name, nb::handle waited) {
  const std::string backend = to_text(name, "backend");
  recorded().reset();
  if (backend.empty()) return;
  for (const detail::backend_row& row : detail::named_backends()) {
    if (backend == row.name) {
      recorded().emplace(recorded_driver{&row, nb::borrow(waited)});
      return;
    }
  }
  throw value_error("backend: '{}' has no row in the table of backends", backend);
}

}  // namespace usmx::python
