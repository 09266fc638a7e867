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
#include "core/tiled_loops.hpp"
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
  /// The row is one word of 16 bytes.
  bool is_pair;
};

word_row row_of(const any_view& dst, const any_view& src, const copy_loops& nest) noexcept {
  const auto item = static_cast<std::int64_t>(dst.dtype().itemsize());
  const std::int64_t run = run_of(nest, item);
  word_row row;
  row.outer_loops = run == 1 ? nest.rank() : nest.rank() - 1;
  row.word =
      word_of(item * run, nest.begin_of(dst, 0), nest.begin_of(src, 1), nest, row.outer_loops);
  row.words = item * run / static_cast<std::int64_t>(row.word.itemsize());
  row.is_pair = item * run == 16 && row.word.itemsize() == 8;
  for (std::size_t k = 0; k < row.outer_loops; ++k) {
    row.is_pair = row.is_pair && (nest.to(k) | nest.from(k)) % 16 == 0;
  }
  return row;
}

/// The loops of a copy with distances in elements of so many bytes, or only the first of them with
/// a row of words inside.
loops in_elements(const copy_loops& nest, std::size_t outer, std::int64_t words,
                  std::size_t to_size, std::size_t from_size) {
  const std::size_t rank = outer + (words > 1 ? 1 : 0);
  loops made;
  made.lengths = extents(rank);
  made.steps = extents(2 * rank, 1);
  made.starts = extents(2);
  for (std::size_t k = 0; k < outer; ++k) {
    made.lengths[k] = nest.length(k);
    made.steps[k] = nest.to(k) / static_cast<std::int64_t>(to_size);
    made.steps[rank + k] = nest.from(k) / static_cast<std::int64_t>(from_size);
  }
  if (words > 1) made.lengths[outer] = words;
  for (const std::int64_t length : made.lengths) made.size *= length;
  return made;
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
                   std::span<const kernel_argument> arguments,
                   std::span<const sycl::event> depends) {
  // The memory is known to the chain, which is a submission.
  return *own_launch::run(run, queue, range, arguments, depends, ordering::by_hand, true);
}

/// The dimension, other than the innermost, along which the source's elements are neighbours while
/// the destination's are along the innermost one; -1 if tiles would not pay.
int transposed_axis(const copy_loops& nest, std::size_t itemsize) noexcept {
  if (nest.rank() < 2 || nest.rank() > 4) return -1;
  constexpr std::int64_t least = 8;  // shorter sides leave most of a tile idle
  const std::size_t inner = nest.rank() - 1;
  const int found = nearest_loop(nest, 1);
  if (found < 0) return -1;
  const auto axis = static_cast<std::size_t>(found);
  const auto item = static_cast<std::int64_t>(itemsize);
  const bool neighbours = nest.to(inner) == item && nest.from(axis) == item;
  return neighbours && nest.length(inner) >= least && nest.length(axis) >= least ? found : -1;
}

/// By way of local memory, as only many items of a group need. False, with nothing submitted, if
/// there is nothing to gain or no word as wide as an element.
bool copy_by_tiles(command_chain& commands, std::byte* to, const std::byte* from,
                   const copy_loops& nest, std::size_t itemsize) {
  const int axis = transposed_axis(nest, itemsize);
  if (axis < 0) return false;
  const bool is_pair = itemsize == 16;
  const dtype word = word_of(static_cast<std::int64_t>(itemsize), to, from, nest, nest.rank());
  if (word.itemsize() != (is_pair ? 8 : itemsize)) return false;

  constexpr std::int64_t edge = 32, items = 256;
  sycl::queue& queue = commands.queue();
  const char key[] = {'t', static_cast<char>(itemsize)};
  const kernel& run = copy_kernel(queue, {key, sizeof key}, "tiled_copy.cpp", "tiled_copy", [&] {
    return options{format("-DWORD={}", is_pair ? "usmx::expression::pair" : device_name(word)),
                   format("-DTILE={}", edge), format("-DITEMS={}", items)};
  });

  copy_loops loops = nest;
  put_next_to_inner(loops, static_cast<std::size_t>(axis));
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
  const kernel_argument arguments[] = {static_cast<const void*>(to),
                                       static_cast<const void*>(from),
                                       n[2],
                                       n[3],
                                       d[2],
                                       s[3],
                                       n[1],
                                       d[0],
                                       d[1],
                                       s[0],
                                       s[1]};
  commands.then(launch(run, queue, launch_range(std::span(&global, 1), std::span(&local, 1)),
                       arguments, commands.before()));
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
  const kernel_forms& forms = forms_of(queue);
  if (same && !forms.groups_are_loops &&
      copy_by_tiles(commands, to, from, nest, dst.dtype().itemsize())) {
    return;
  }

  // Without a cast bits, not numbers: no cast can touch them, and no device lacks the type.
  const word_row row = same ? row_of(dst, src, nest) : word_row{dtype(), 1, nest.rank(), false};
  const bool are_pairs = row.is_pair;
  const dtype& to_type = same ? row.word : dst.dtype();
  const dtype& from_type = same ? row.word : src.dtype();
  if (!same) {
    require_type(queue.get_device(), to_type);
    require_type(queue.get_device(), from_type);
  }
  const std::size_t wide = are_pairs ? 2 : 1;
  loops all = in_elements(nest, row.outer_loops, are_pairs ? 1 : row.words,
                          wide * to_type.itemsize(), wide * from_type.itemsize());
  const bool by_rows = all.rank() > 1 && are_rows(forms, all.lengths[all.rank() - 1]);
  const bool in_tiles = by_rows && put_in_tiles(all, forms, loop_order::any);

  const std::size_t outer = all.rank() == 0 ? 0 : all.rank() - 1;
  const std::int64_t length = all.rank() == 0 ? 1 : all.lengths[outer];
  constexpr std::size_t most_outer = 3;
  const bool in_table = outer > most_outer;
  // Of the innermost loop, as the text has it.
  const auto step = [&](const char* name, std::size_t side) {
    const std::int64_t value = all.inner_step(side);
    const bool is_known = (by_rows || outer == 0) && value >= -1 && value <= 1;
    return is_known ? std::to_string(value) : std::string(name);
  };
  const std::string to_step = step("to_step", 0), from_step = step("from_step", 1);
  const auto letter = [&](const dtype& type) {
    return are_pairs ? 'p' : static_cast<char>('A' + number_row_index(type));
  };
  const char key[] = {'s',
                      letter(to_type),
                      letter(from_type),
                      static_cast<char>('0' + std::min(outer, most_outer + 1)),
                      by_rows ? 'r' : 'f',
                      to_step.front(),
                      from_step.front()};
  const char* const name = by_rows ? "strided_copy_rows" : "strided_copy";
  const kernel& run = copy_kernel(queue, {key, sizeof key}, "strided_copy.cpp", name, [&] {
    const auto text = [&](const dtype& type) {
      // Structures of ours are in the namespace that has their functions.
      return are_pairs ? std::string("expression::pair")
                       : format("{}{}", number_row_of(type)->is_described ? "usmx::" : "",
                                device_name(type));
    };
    options given{format("-DTO={}", text(to_type)), format("-DFROM={}", text(from_type)),
                  "-DTO_STEP=" + to_step, "-DFROM_STEP=" + from_step, format("-DOUTER={}", outer)};
    if (in_table) given.back() = "-DIN_TABLE";
    return given;
  });

  const auto size = static_cast<std::uint64_t>(all.size);
  const auto row_length = static_cast<std::uint64_t>(length);
  std::vector<kernel_argument> arguments{static_cast<const void*>(to),
                                         static_cast<const void*>(from),
                                         size,
                                         row_length,
                                         all.inner_step(0),
                                         all.inner_step(1)};
  row_groups groups;
  if (by_rows) {
    groups = row_groups::cut(run, forms, size / row_length, row_length, in_tiles);
    arguments.insert(arguments.end(), {groups.parts, groups.rows});
  }
  if (in_table) {
    std::vector<std::int64_t> table;
    for (std::size_t k = outer; k-- > 0;) {
      table.insert(table.end(), {all.lengths[k], all.steps_of(0)[k], all.steps_of(1)[k]});
    }
    const array on_device = device_table(commands, table);
    arguments.insert(arguments.end(), {static_cast<const void*>(on_device.data()),
                                       static_cast<std::int32_t>(outer)});
  } else {
    // Missing loops stand behind.
    std::array<std::int64_t, 2> n{1, 1};
    std::array<std::int64_t, most_outer> d{}, s{};
    for (std::size_t k = 0; k < outer; ++k) {
      if (k > 0) n[k - 1] = all.lengths[k];
      d[k] = all.steps_of(0)[k];
      s[k] = all.steps_of(1)[k];
    }
    arguments.insert(arguments.end(), {n[0], n[1], d[0], d[1], d[2], s[0], s[1], s[2]});
  }
  commands.then(launch(run, queue, by_rows ? groups.range() : range_in_groups(run, forms, size),
                       arguments, commands.before()));
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
