// Chooses and launches the device's copy: the fewest dimensions, the widest word that fits.
// SPDX-License-Identifier: Apache-2.0
#include "transfer/device_copy.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "kernel/kernel_state.hpp"
#include "runtime/backend.hpp"
#include "transfer/temporaries.hpp"
#include "usmx/kernel.hpp"

namespace usmx::detail {
namespace {

/// An element type as the kernel's macros name it.
struct device_type {
  const char* name;
  std::int64_t bytes;
  int parts = 1;
};

device_type device_type_of(const dtype& type) noexcept {
  const std::size_t size = type.itemsize();
  switch (type.kind()) {
    case type_class::boolean:
      return {"bool", 1};
    case type_class::integer:
      return size == 1   ? device_type{"int8_t", 1}
             : size == 2 ? device_type{"int16_t", 2}
             : size == 4 ? device_type{"int32_t", 4}
                         : device_type{"int64_t", 8};
    case type_class::unsigned_integer:
      return size == 1   ? device_type{"uint8_t", 1}
             : size == 2 ? device_type{"uint16_t", 2}
             : size == 4 ? device_type{"uint32_t", 4}
                         : device_type{"uint64_t", 8};
    case type_class::floating:
      return size == 2   ? device_type{"half", 2}
             : size == 4 ? device_type{"float", 4}
                         : device_type{"double", 8};
    case type_class::complex:
      return size == 8 ? device_type{"float", 4, 2} : device_type{"double", 8, 2};
    case type_class::record:
      break;
  }
  return {"uint8_t", 1};
}

/// For a copy without a cast: the widest word of which elements, addresses and steps are multiples.
device_type word_of(std::size_t itemsize, const void* to, const void* from,
                    const loop_nest& nest) noexcept {
  std::uint64_t mix =
      itemsize | reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
  for (int k = 0; k < nest.rank; ++k) {
    const auto axis = static_cast<std::size_t>(k);
    mix |= static_cast<std::uint64_t>(nest.to[axis]) | static_cast<std::uint64_t>(nest.from[axis]);
  }
  switch (std::min(std::countr_zero(mix | 8), 3)) {
    case 0:
      return {"uint8_t", 1};
    case 1:
      return {"uint16_t", 2};
    case 2:
      return {"uint32_t", 4};
    default:
      return {"uint64_t", 8};
  }
}

void require(const sycl::device& device, const device_type& type) {
  const bool is_double = std::string_view(type.name) == "double";
  const bool is_half = std::string_view(type.name) == "half";
  if ((is_double && !device.has(sycl::aspect::fp64)) ||
      (is_half && !device.has(sycl::aspect::fp16))) {
    throw build_error(std::string("the device does not compute with ") + type.name, "");
  }
}

/// A launch has fewer work-items than an int can count.
constexpr std::int64_t most_items = std::int64_t{1} << 30;

std::string macro(const char* name, const std::string& value) {
  return "-D" + std::string(name) + "=" + value;
}

/// A file of kernels/, compiled with these options.
program copy_program(const sycl::queue& queue, std::string_view file,
                     std::initializer_list<const char*> kernels, std::vector<std::string> options) {
  kernel_source source{std::string(kernel_file(file)), {}, std::move(options)};
  for (const char* name : kernels) source.kernels.push_back({name, 1, {}});
  return program::build(queue, std::move(source));
}

sycl::event launch(const kernel& run, sycl::queue& queue, const launch_range& range,
                   std::initializer_list<kernel_argument> arguments,
                   std::span<const sycl::event> depends) {
  return own_launch::launch(run, queue, range, std::span(arguments.begin(), arguments.size()),
                            depends);
}

/// The dimension, other than the innermost, along which the source's elements are neighbours while
/// the destination's are along the innermost one; -1 if this is no transposition worth tiles.
int transposed_axis(const loop_nest& nest, std::size_t itemsize) noexcept {
  if (nest.rank < 2 || nest.rank > 4) return -1;
  constexpr std::int64_t least = 8;  // shorter sides leave most of a tile idle
  const int inner = nest.rank - 1;
  const int axis = nest.fastest_source(inner);
  const auto item = static_cast<std::int64_t>(itemsize);
  const auto at = [](const auto& values, int k) { return values[static_cast<std::size_t>(k)]; };
  const bool neighbours = axis >= 0 && at(nest.to, inner) == item && at(nest.from, axis) == item;
  return neighbours && at(nest.shape, inner) >= least && at(nest.shape, axis) >= least ? axis : -1;
}

/// False, with nothing submitted, if there is nothing to gain or no word as wide as an element.
bool copy_by_tiles(command_chain& commands, std::byte* to, const std::byte* from,
                   const loop_nest& nest, std::size_t itemsize) {
  const int axis = transposed_axis(nest, itemsize);
  if (axis < 0) return false;
  const bool is_pair = itemsize == 16;
  const device_type word = word_of(itemsize, to, from, nest);
  if (word.bytes != static_cast<std::int64_t>(is_pair ? 8 : itemsize)) return false;

  // Here the loops of a group are cheap and a tile stays in the first cache; elsewhere there are
  // many items, and 17 KiB of local memory on every device.
  sycl::queue& queue = commands.queue();
  const bool are_loops = forms_of(queue).groups_are_loops;
  const std::int64_t edge = !are_loops ? 32 : is_pair ? 16 : itemsize == 8 ? 32 : 64;
  const std::int64_t items = are_loops ? edge : 256;
  const kernel run =
      copy_program(queue, "tiled_copy.cpp", {"tiled_copy"},
                   {macro("WORD", is_pair ? "pair" : word.name),
                    macro("TILE", std::to_string(edge)), macro("ITEMS", std::to_string(items))})
          .get("tiled_copy");

  const loop_nest loops = nest.with_next_to_inner(axis);
  const auto item = static_cast<std::int64_t>(itemsize);
  std::int64_t n[4] = {1, 1, 1, 1};
  std::int64_t d[4] = {};
  std::int64_t s[4] = {};
  for (int k = 0; k < loops.rank; ++k) {
    const auto here = static_cast<std::size_t>(k);
    const int at = 4 - loops.rank + k;
    n[at] = loops.shape[here];
    d[at] = loops.to[here] / item;
    s[at] = loops.from[here] / item;
  }
  const auto tiles = [&](std::int64_t length) { return (length + edge - 1) / edge; };
  const auto groups = static_cast<std::size_t>(n[0] * n[1] * tiles(n[2]) * tiles(n[3]));
  const auto local = static_cast<std::size_t>(items);
  const std::size_t global = groups * local;
  commands.then(launch(run, queue, launch_range(std::span(&global, 1), std::span(&local, 1)),
                       {static_cast<const void*>(to), static_cast<const void*>(from), n[2], n[3],
                        d[2], s[3], n[1], d[0], d[1], s[0], s[1]},
                       commands.before()));
  return true;
}

/// The numbers in device memory, and on their way there in memory that lives as long as the
/// command.
array device_table(command_chain& commands, const std::vector<std::int64_t>& table) {
  const std::size_t bytes = table.size() * sizeof(std::int64_t);
  const array on_host = host_bytes(commands, bytes);
  std::memcpy(on_host.data(), table.data(), bytes);
  const std::int64_t length[] = {static_cast<std::int64_t>(table.size())};
  array on_device =
      array::empty(commands.queue(), length, dtype::of<std::int64_t>(), usm_kind::device);
  commands.keep(on_device);
  commands.memcpy(on_device.data(), on_host.data(), bytes);
  return on_device;
}

}  // namespace

std::int64_t count_runs(const loop_nest& nest, std::size_t itemsize) noexcept {
  if (nest.rank == 0) return 1;
  const auto inner = static_cast<std::size_t>(nest.rank - 1);
  const auto item = static_cast<std::int64_t>(itemsize);
  const bool gapless = nest.to[inner] == item && nest.from[inner] == item;
  return nest.count(gapless ? nest.rank - 1 : nest.rank);
}

void copy_runs(command_chain& commands, const any_view& dst, const any_view& src,
               const loop_nest& nest) {
  const std::size_t itemsize = dst.dtype().itemsize();
  const std::int64_t runs = count_runs(nest, itemsize);
  const int depth = nest.rank > 0 && runs != nest.count(nest.rank) ? nest.rank - 1 : nest.rank;
  const std::size_t bytes =
      depth == nest.rank
          ? itemsize
          : itemsize * static_cast<std::size_t>(nest.shape[static_cast<std::size_t>(depth)]);
  auto* const to = static_cast<std::byte*>(dst.data()) + nest.to_shift;
  const auto* const from = static_cast<const std::byte*>(src.data()) + nest.from_shift;

  std::size_t submitted = 0;
  nest.each(depth, [&](std::int64_t d, std::int64_t s) {
    commands.memcpy(to + d, from + s, bytes);
    // A driver's queue need not have room for millions.
    if (++submitted % 1024 == 0) commands.finish();
  });
}

namespace {

/// Of so few elements that one launch copies them.
void copy_part(command_chain& commands, const any_view& dst, const any_view& src,
               const loop_nest& nest) {
  sycl::queue& queue = commands.queue();
  auto* const to = static_cast<std::byte*>(dst.data()) + nest.to_shift;
  const auto* const from = static_cast<const std::byte*>(src.data()) + nest.from_shift;

  const bool same = same_bytes(dst.dtype(), src.dtype());
  if (same && copy_by_tiles(commands, to, from, nest, dst.dtype().itemsize())) return;

  loop_nest loops = nest;
  device_type to_type = device_type_of(dst.dtype());
  device_type from_type = device_type_of(src.dtype());
  if (same) {
    // Bits, not numbers: no cast can touch them, and no device lacks the type.
    to_type = from_type = word_of(dst.dtype().itemsize(), to, from, nest);
    const auto words = static_cast<std::int64_t>(dst.dtype().itemsize()) / to_type.bytes;
    if (words > 1) {
      const auto k = static_cast<std::size_t>(loops.rank++);
      loops.shape[k] = words;
      loops.to[k] = loops.from[k] = to_type.bytes;
    }
  } else {
    require(queue.get_device(), to_type);
    require(queue.get_device(), from_type);
  }
  const auto rank = static_cast<std::size_t>(loops.rank);
  const auto size = static_cast<std::uint64_t>(loops.count(loops.rank));
  constexpr std::size_t fixed_rank = 4;

  const program built =
      copy_program(queue, "strided_copy.cpp", {"strided_copy", "strided_copy_any"},
                   {macro("TO", to_type.name), macro("FROM", from_type.name),
                    macro("TO_PARTS", std::to_string(to_type.parts)),
                    macro("FROM_PARTS", std::to_string(from_type.parts)),
                    macro("RANK", std::to_string(std::min(rank, fixed_rank)))});

  if (rank <= fixed_rank) {
    // Missing outer dimensions stand at the end of the outer side: dimension 0 takes what remains.
    std::array<std::uint64_t, fixed_rank> n{1, 1, 1, 1};
    std::array<std::int64_t, fixed_rank> d{};
    std::array<std::int64_t, fixed_rank> s{};
    for (std::size_t k = 0; k < rank; ++k) {
      const std::size_t at = k == 0 ? 0 : fixed_rank - rank + k;
      n[at] = static_cast<std::uint64_t>(loops.shape[k]);
      d[at] = loops.to[k] / to_type.bytes;
      s[at] = loops.from[k] / from_type.bytes;
    }
    const kernel run = built.get("strided_copy");
    commands.then(launch(run, queue, range_in_groups(run, forms_of(queue), size),
                         {static_cast<const void*>(to), static_cast<const void*>(from), size, n[1],
                          n[2], n[3], d[0], d[1], d[2], d[3], s[0], s[1], s[2], s[3]},
                         commands.before()));
    return;
  }
  std::vector<std::int64_t> table;
  for (std::size_t k = rank; k-- > 0;) {
    table.insert(table.end(),
                 {loops.shape[k], loops.to[k] / to_type.bytes, loops.from[k] / from_type.bytes});
  }
  const array on_device = device_table(commands, table);
  const kernel run = built.get("strided_copy_any");
  commands.then(
      launch(run, queue, range_in_groups(run, forms_of(queue), size),
             {static_cast<const void*>(to), static_cast<const void*>(from), size,
              static_cast<const void*>(on_device.data()), static_cast<std::int32_t>(rank)},
             commands.before()));
}

}  // namespace

void copy_by_kernel(command_chain& commands, const any_view& dst, const any_view& src,
                    const loop_nest& nest) {
  // Without a cast an item copies a word, which may be as small as a byte.
  const bool same = same_bytes(dst.dtype(), src.dtype());
  const auto words = same ? static_cast<std::int64_t>(dst.dtype().itemsize()) : 1;
  nest.each_part(std::max<std::int64_t>(most_items / words, 1),
                 [&](const loop_nest& part) { copy_part(commands, dst, src, part); });
}

}  // namespace usmx::detail
