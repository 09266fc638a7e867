// The table of backends; see backend.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend.hpp"

#include <algorithm>
#include <array>
#include <atomic>

namespace usmx::detail {
namespace {

constexpr kernel_forms on_host_cores = {
    .groups_are_loops = true,
    .most_items = 4096,
    .plain_items = 0,
    .vector_bytes = 0,
    .least_copied_by_kernel = std::size_t{1} << 20,
};

constexpr std::array<backend_row, 8> rows = {{
    {.backend = sycl::backend::opencl,
     .name = "opencl",
     .api = driver_api::opencl,
     .is_host = true,
     .default_kind = usm_kind::shared,
     .waits_in_turn = true,
     .keeps_binaries = true,
     .reads_apart = true,
     .has_processor_kinds = true,
     .forms = on_host_cores},
    {.backend = sycl::backend::opencl,
     .name = "opencl",
     .api = driver_api::opencl,
     .waits_in_turn = true,
     .keeps_binaries = true,
     .reads_apart = true},
    {.backend = sycl::backend::ext_oneapi_level_zero,
     .name = "level_zero",
     .api = driver_api::level_zero,
     .keeps_binaries = true,
     .handles = process_form::runtime},
    {.backend = sycl::backend::ext_oneapi_cuda,
     .name = "cuda",
     .api = driver_api::cuda,
     .waits_by_barrier_event = true,
     .lost_by_fork = true,
     .keeps_binaries = true,
     .binaries_hold_groups = false,
     .counts_arguments = false,
     .takes_structs = false,
     .needs_cuda_path = true,
     .optimises_early = true,
     .most_alignment = 256,
     .most_groups_last = 2147483647,
     .most_groups_other = 65535,
     .copies_to_host_by_driver = true,
     .copies_hold_host = true,
     .copies_between_devices = true,
     .handles = process_form::cuda,
     .dlpack = {.device = dlpack::device_type::cuda,
                .host = dlpack::device_type::cuda_host,
                .shared = dlpack::device_type::cuda_managed},
     .forms = {.tile_rows = 8, .groups_wait = true}},
    {.backend = sycl::backend::ext_oneapi_hip,
     .name = "hip",
     .handles = process_form::runtime,
     .dlpack = {.device = dlpack::device_type::rocm,
                .host = dlpack::device_type::rocm_host,
                .shared = dlpack::device_type::rocm},
     .forms = {.tile_rows = 8}},
    {.backend = sycl::backend::ext_oneapi_native_cpu,
     .name = "native_cpu",
     .is_host = true,
     .default_kind = usm_kind::shared,
     .forms = on_host_cores},
    {.backend = sycl::backend::ext_oneapi_offload, .name = "offload"},
    {.backend = sycl::backend::all, .name = "unknown"},
}};

std::atomic<const kernel_forms*> chosen = nullptr;

}  // namespace

std::span<const backend_row> backend_rows() noexcept { return rows; }

// The first row repeats a name, the last row has no backend's name.
std::span<const backend_row> named_backends() noexcept {
  return std::span(rows).subspan(1, rows.size() - 2);
}

const backend_row& backend_row_of(sycl::backend backend, bool is_cpu) noexcept {
  const backend_row* found = &rows.back();
  for (const auto& row : rows) {
    if (row.backend != backend) continue;
    found = &row;
    if (row.is_host == is_cpu) break;
  }
  return *found;
}

const backend_row& backend_of(const sycl::device& device) {
  return backend_row_of(device.get_backend(), device.is_cpu());
}

const backend_row& backend_of(const sycl::queue& queue) { return backend_of(queue.get_device()); }

const kernel_forms& forms_of(const sycl::device& device) {
  const auto* forms = chosen.load(std::memory_order_relaxed);
  return forms ? *forms : backend_of(device).forms;
}
const kernel_forms& forms_of(const sycl::queue& queue) { return forms_of(queue.get_device()); }

// Sub-groups have 32 items at the most; 512 groups keep the largest devices busy.
std::size_t plain_group(const kernel_forms& forms, std::size_t items, std::size_t most) noexcept {
  constexpr std::size_t step = 32;
  constexpr std::size_t enough_groups = 512;
  if (items % step != 0) return 0;
  for (std::size_t group = std::min(forms.plain_items, most) / step * step; group > 0;
       group -= step) {
    if (items % group == 0 && (group == step || items / group >= enough_groups)) return group;
  }
  return 0;
}

namespace {

constexpr std::size_t groups_of_tiles = 512;

}  // namespace

std::size_t rows_of_tile(const kernel_forms& forms, std::size_t rows, std::size_t items) noexcept {
  for (std::size_t found = forms.tile_rows; found > 1; --found) {
    if (rows % found == 0 && items / (tile_length * found) >= groups_of_tiles) return found;
  }
  return 1;
}

std::size_t columns_of_tile(const kernel_forms& forms, std::size_t rows, std::size_t length,
                            std::size_t items, bool divides) noexcept {
  std::size_t found = tile_length;
  for (std::size_t wider = 2 * found; wider * rows <= forms.plain_items; wider *= 2) {
    if (items / (wider * rows) < groups_of_tiles) break;
    if (divides ? length % wider != 0 : wider * 10 > length) break;
    found = wider;
  }
  return found;
}

namespace {

/// A tile of the last two axes, or zeros.
std::array<std::size_t, 3> tile_of(const kernel_forms& forms, std::span<const std::size_t> global,
                                   std::size_t items, std::size_t most) noexcept {
  const std::size_t last = global.size() - 1;
  if (forms.tile_rows == 0 || global[last] % tile_length != 0) return {};
  const std::size_t height = rows_of_tile(forms, global[last - 1], items);
  const std::size_t width = columns_of_tile(forms, height, global[last], items, true);
  if (height * width == tile_length || height * width > most) return {};
  std::array<std::size_t, 3> tile{1, 1, 1};
  tile[last] = width;
  tile[last - 1] = height;
  return tile;
}

}  // namespace

std::array<std::size_t, 3> group_of_rows(const kernel_forms& forms,
                                         std::span<const std::size_t> global,
                                         std::size_t most) noexcept {
  constexpr std::size_t least_items = 64, most_items = 8192, enough_groups = 128;
  if (global.size() < 2) return {};
  std::size_t items = 1;
  for (const auto n : global) {
    if (n == 0 || __builtin_mul_overflow(items, n, &items)) return {};
  }
  if (!forms.groups_are_loops) return tile_of(forms, global, items, most);
  const std::size_t room =
      std::min(std::clamp(items / enough_groups, least_items, most_items), most);
  std::array<std::size_t, 3> group{1, 1, 1};
  std::size_t filled = group[global.size() - 1] = global.back();
  if (filled * 2 > room) return {};
  for (std::size_t axis = global.size() - 1; axis-- > 0;) {
    // The launch cannot wait for the best divisor: a product of small factors is close.
    std::size_t left = global[axis];
    if (filled * left <= room) {
      group[axis] = left;
      left = 1;
    }
    for (const std::size_t factor : {13, 11, 7, 5, 3, 2}) {
      while (left % factor == 0 && filled * group[axis] * factor <= room) {
        group[axis] *= factor;
        left /= factor;
      }
    }
    filled *= group[axis];
    if (left > 1) break;
  }
  return filled == global.back() ? std::array<std::size_t, 3>{} : group;
}

void choose_forms(const kernel_forms* forms) noexcept { chosen = forms; }

}  // namespace usmx::detail
