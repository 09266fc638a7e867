// Chooses and launches the device's copy: the fewest dimensions, the widest word that fits.
// SPDX-License-Identifier: Apache-2.0
#include "transfer/device_copy.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/format.hpp"
#include "core/numbers.hpp"
#include "kernel/kernel_state.hpp"
#include "kernel/kernel_table.hpp"
#include "kernel/row_groups.hpp"
#include "runtime/backend.hpp"
#include "transfer/temporaries.hpp"
#include "usmx/kernel.hpp"
#include "usmx/promotion.hpp"

namespace usmx::detail {
namespace {

/// How many elements lie behind each other on both sides.
std::int64_t run_of(const copy_loops& nest, std::int64_t itemsize) noexcept {
  if (nest.rank() == 0) return 1;
  const std::size_t inner = nest.rank() - 1;
  const bool is_run = nest.to(inner) == itemsize && nest.from(inner) == itemsize;
  return is_run ? nest.length(inner) : 1;
}

/// For a copy without a cast: the widest word of which runs of so many bytes, addresses and the
/// steps of the first loops are multiples.
dtype word_of(std::int64_t bytes, const void* to, const void* from, const copy_loops& nest,
              std::size_t loops) noexcept {
  std::uint64_t mix = static_cast<std::uint64_t>(bytes) | reinterpret_cast<std::uintptr_t>(to) |
                      reinterpret_cast<std::uintptr_t>(from);
  for (std::size_t k = 0; k < loops; ++k)
    mix |= static_cast<std::uint64_t>(nest.to(k) | nest.from(k));
  return widest_word(mix);
}

/// What a copy without a cast moves: words, in rows that are runs of elements or the words of one.
struct word_row {
  dtype word;
  std::int64_t words;
  std::size_t outer_loops;
};

word_row row_of(const any_view& dst, const any_view& src, const copy_loops& nest) noexcept {
  const auto item = static_cast<std::int64_t>(dst.dtype().itemsize());
  const std::int64_t run = run_of(nest, item);
  word_row row;
  row.outer_loops = run == 1 ? nest.rank() : nest.rank() - 1;
  row.word =
      word_of(item * run, nest.begin_of(dst, 0), nest.begin_of(src, 1), nest, row.outer_loops);
  row.words = item * run / static_cast<std::int64_t>(row.word.itemsize());
  return row;
}

/// A launch has fewer work-items than an int can count.
constexpr std::int64_t most_items = std::int64_t{1} << 30;

using options = std::vector<std::string>;

/// A kernel of a file of kernels/, compiled with the options that `make_options()` returns. The key
/// says what they depend on.
template <class MakeOptions>
const kernel& copy_kernel(const sycl::queue& queue, const std::string& key, const char* file,
                          const char* name, MakeOptions make_options) {
  struct nothing {};
  static auto& known = *new kernel_table<nothing>;  // leaked: copies may come at any time
  return known.get(known.find(key, [] { return nothing(); }), queue, [&] {
    program built =
        program::build(queue, {std::string(kernel_file(file)), {{name, 1, {}}}, make_options()});
    return std::pair(built.get(name), std::string());
  });
}

sycl::event launch(const kernel& run, sycl::queue& queue, const launch_range& range,
                   std::initializer_list<kernel_argument> arguments,
                   std::span<const sycl::event> depends) {
  // The memory is known to the chain, which is a submission.
  return *own_launch::run(run, queue, range, std::span(arguments.begin(), arguments.size()),
                          depends, ordering::by_hand, true);
}

/// The dimension, other than the innermost, along which the source's elements are neighbours while
/// the destination's are along the innermost one; -1 if tiles would not pay.
int transposed_axis(const copy_loops& nest, std::size_t itemsize) noexcept {
  if (nest.rank() < 2 || nest.rank() > 4) return -1;
  constexpr std::int64_t least = 8;  // shorter sides leave most of a tile idle
  const std::size_t inner = nest.rank() - 1;
  const int found = nest.fastest_source(inner);
  if (found < 0) return -1;
  const auto axis = static_cast<std::size_t>(found);
  const auto item = static_cast<std::int64_t>(itemsize);
  const bool neighbours = nest.to(inner) == item && nest.from(axis) == item;
  return neighbours && nest.length(inner) >= least && nest.length(axis) >= least ? found : -1;
}

/// False, with nothing submitted, if there is nothing to gain or no word as wide as an element.
bool copy_by_tiles(command_chain& commands, std::byte* to, const std::byte* from,
                   const copy_loops& nest, std::size_t itemsize) {
  const int axis = transposed_axis(nest, itemsize);
  if (axis < 0) return false;
  const bool is_pair = itemsize == 16;
  const dtype word = word_of(static_cast<std::int64_t>(itemsize), to, from, nest, nest.rank());
  if (word.itemsize() != (is_pair ? 8 : itemsize)) return false;

  // Here the loops of a group are cheap and a tile stays in the first cache; elsewhere there are
  // many items, and 17 KiB of local memory on every device.
  sycl::queue& queue = commands.queue();
  const bool are_loops = forms_of(queue).groups_are_loops;
  const std::int64_t edge = !are_loops ? 32 : is_pair ? 16 : itemsize == 8 ? 32 : 64;
  const std::int64_t items = are_loops ? edge : 256;
  const char key[] = {'t', static_cast<char>(itemsize), are_loops ? 'l' : 'g'};
  const kernel& run = copy_kernel(queue, {key, sizeof key}, "tiled_copy.cpp", "tiled_copy", [&] {
    return options{format("-DWORD={}", is_pair ? "pair" : device_name(word)),
                   format("-DTILE={}", edge), format("-DITEMS={}", items)};
  });

  const copy_loops loops = nest.with_next_to_inner(static_cast<std::size_t>(axis));
  const auto item = static_cast<std::int64_t>(itemsize);
  std::int64_t n[4] = {1, 1, 1, 1};
  std::int64_t d[4] = {};
  std::int64_t s[4] = {};
  for (std::size_t k = 0; k < loops.rank(); ++k) {
    const std::size_t at = 4 - loops.rank() + k;
    n[at] = loops.length(k);
    d[at] = loops.to(k) / item;
    s[at] = loops.from(k) / item;
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

std::int64_t count_runs(const copy_loops& nest, std::size_t itemsize) noexcept {
  if (nest.rank() == 0) return 1;
  return nest.count(nest.rank()) / run_of(nest, static_cast<std::int64_t>(itemsize));
}

bool kernel_copies_runs(const sycl::queue& queue, const any_view& dst, const any_view& src,
                        const copy_loops& nest) {
  const std::size_t least = forms_of(queue).least_copied_by_kernel;
  // Narrower words take a kernel longer than the driver.
  return least != 0 && dst.nbytes() >= least && row_of(dst, src, nest).word.itemsize() >= 4;
}

void copy_runs(command_chain& commands, const any_view& dst, const any_view& src,
               const copy_loops& nest) {
  const std::size_t itemsize = dst.dtype().itemsize();
  const bool has_runs = nest.rank() > 0 && count_runs(nest, itemsize) != nest.count(nest.rank());
  const std::size_t depth = has_runs ? nest.rank() - 1 : nest.rank();
  const std::size_t bytes =
      has_runs ? itemsize * static_cast<std::size_t>(nest.length(depth)) : itemsize;
  std::byte* const to = nest.begin_of(dst, 0);
  const std::byte* const from = nest.begin_of(src, 1);

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
               const copy_loops& nest) {
  sycl::queue& queue = commands.queue();
  std::byte* const to = nest.begin_of(dst, 0);
  const std::byte* const from = nest.begin_of(src, 1);

  const bool same = same_bytes(dst.dtype(), src.dtype());
  if (same && copy_by_tiles(commands, to, from, nest, dst.dtype().itemsize())) return;

  // The types of the numbers, or parts of numbers, that the kernel reads and writes.
  dtype to_type = part_type(dst.dtype()), from_type = part_type(src.dtype());
  // Length and both steps of each loop.
  std::vector<std::array<std::int64_t, 3>> loops;
  const auto add_loops = [&](std::size_t count, std::int64_t to_size, std::int64_t from_size) {
    for (std::size_t k = 0; k < count; ++k) {
      loops.push_back({nest.length(k), nest.to(k) / to_size, nest.from(k) / from_size});
    }
  };
  if (same) {
    // Bits, not numbers: no cast can touch them, and no device lacks the type. The innermost loop
    // is a row of words: a run of elements, or the words of one.
    const word_row row = row_of(dst, src, nest);
    to_type = from_type = row.word;
    const auto word = static_cast<std::int64_t>(row.word.itemsize());
    add_loops(row.outer_loops, word, word);
    if (row.words > 1) loops.push_back({row.words, 1, 1});
  } else {
    require_type(queue.get_device(), to_type);
    require_type(queue.get_device(), from_type);
    add_loops(nest.rank(), static_cast<std::int64_t>(to_type.itemsize()),
              static_cast<std::int64_t>(from_type.itemsize()));
  }
  std::uint64_t size = 1;
  for (const auto& loop : loops) size *= static_cast<std::uint64_t>(loop[0]);
  const kernel_forms& forms = forms_of(queue);
  const std::size_t rank = loops.size();
  constexpr std::size_t fixed_rank = 4;

  const auto parts = [&](const dtype& whole, const dtype& part) {
    return same ? 1 : whole.itemsize() / part.itemsize();
  };
  const auto fixed = std::min(rank, fixed_rank);
  const bool by_rows = rank > 1 && rank <= fixed_rank && are_rows(forms, loops.back()[0]);
  // Of the innermost loop, as the text has it.
  const auto step = [&](const char* name, std::size_t side) {
    if (!by_rows && rank != 1) return std::string(name);
    const std::int64_t value = loops.back()[side];
    return value >= -1 && value <= 1 ? std::to_string(value) : std::string(name);
  };
  const std::string to_step = step("to3", 1), from_step = step("from3", 2);
  const auto letter = [](const dtype& type) {
    return static_cast<char>('A' + number_row_index(type));
  };
  const char key[] = {'s',
                      letter(to_type),
                      letter(from_type),
                      static_cast<char>('0' + parts(dst.dtype(), to_type)),
                      static_cast<char>('0' + parts(src.dtype(), from_type)),
                      static_cast<char>('0' + fixed),
                      rank > fixed_rank ? 'a'
                      : by_rows         ? 'r'
                                        : 'f',
                      to_step.front(),
                      from_step.front()};
  const auto name_of = [](const dtype& type) {
    // Structures of ours are in the namespace that has their functions.
    return format("{}{}", number_row_of(type)->is_described ? "usmx::" : "", device_name(type));
  };
  const char* const name = rank > fixed_rank ? "strided_copy_any"
                           : by_rows         ? "strided_copy_rows"
                                             : "strided_copy";
  const kernel& run = copy_kernel(queue, {key, sizeof key}, "strided_copy.cpp", name, [&] {
    options all{format("-DTO={}", name_of(to_type)), format("-DFROM={}", name_of(from_type)),
                format("-DTO_PARTS={}", parts(dst.dtype(), to_type)),
                format("-DFROM_PARTS={}", parts(src.dtype(), from_type)),
                format("-DRANK={}", fixed)};
    if (rank > 0) {
      all.push_back("-DTO_STEP=" + to_step);
      all.push_back("-DFROM_STEP=" + from_step);
    }
    return all;
  });

  if (rank <= fixed_rank) {
    // Of several dimensions number 0 takes what remains; missing ones stand behind it.
    std::array<std::uint64_t, fixed_rank> n{1, 1, 1, 1};
    std::array<std::int64_t, fixed_rank> d{};
    std::array<std::int64_t, fixed_rank> s{};
    for (std::size_t k = 0; k < rank; ++k) {
      const std::size_t at = k == 0 && rank > 1 ? 0 : fixed_rank - rank + k;
      n[at] = static_cast<std::uint64_t>(loops[k][0]);
      d[at] = loops[k][1];
      s[at] = loops[k][2];
    }
    if (by_rows) {
      const bool in_tiles = are_far(d[3]) || are_far(s[3]);
      const row_groups groups = row_groups::cut(run, forms, size / n[3], n[3], in_tiles);
      commands.then(launch(
          run, queue, groups.range(),
          {static_cast<const void*>(to), static_cast<const void*>(from), size, n[3], groups.parts,
           groups.rows, n[1], n[2], d[0], d[1], d[2], d[3], s[0], s[1], s[2], s[3]},
          commands.before()));
      return;
    }
    commands.then(launch(run, queue, range_in_groups(run, forms, size),
                         {static_cast<const void*>(to), static_cast<const void*>(from), size, n[1],
                          n[2], n[3], d[0], d[1], d[2], d[3], s[0], s[1], s[2], s[3]},
                         commands.before()));
    return;
  }
  std::vector<std::int64_t> table;
  for (std::size_t k = rank; k-- > 0;) table.insert(table.end(), loops[k].begin(), loops[k].end());
  const array on_device = device_table(commands, table);
  commands.then(
      launch(run, queue, range_in_groups(run, forms, size),
             {static_cast<const void*>(to), static_cast<const void*>(from), size,
              static_cast<const void*>(on_device.data()), static_cast<std::int32_t>(rank)},
             commands.before()));
}

}  // namespace

void copy_by_kernel(command_chain& commands, const any_view& dst, const any_view& src,
                    const copy_loops& nest) {
  // Without a cast an item copies a word, which may be as small as a byte.
  const bool same = same_bytes(dst.dtype(), src.dtype());
  const auto words = same ? static_cast<std::int64_t>(dst.dtype().itemsize()) : 1;
  nest.each_part(std::max<std::int64_t>(most_items / words, 1),
                 [&](const copy_loops& part) { copy_part(commands, dst, src, part); });
}

}  // namespace usmx::detail
