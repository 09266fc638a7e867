// The state of kernels, which their programs make.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sycl/context.hpp>
#include <sycl/device.hpp>
#include <sycl/kernel.hpp>

#include "runtime/backend.hpp"
#include "usmx/kernel.hpp"

namespace usmx {

namespace detail {
/// Throws std::invalid_argument if there are more groups along an axis than the backend supports.
void check_groups(const backend_row& backend, const std::string& kernel_name,
                  const launch_range& range);
/// A range of two or three dimensions, in groups of at most `most` items where groups of one item
/// would be more than the backend supports. SYCL's adapter for CUDA gives all items of a group to
/// the fastest axis if they fit. Throws std::invalid_argument if there are no such groups.
launch_range fit_groups(const backend_row& backend, const std::string& kernel_name,
                        const launch_range& range, std::size_t most);
/// Whether a backend takes so many groups along the axes that are not the last one.
bool are_few(const backend_row& backend, const launch_range& range) noexcept;
/// Whether the device computes with a type.
bool computes_with(const sycl::device& device, const dtype& type);
/// Throws build_error if it does not.
void require_type(const sycl::device& device, const dtype& type);
/// A range of at least `size` items, in groups of the size that the forms name.
launch_range range_in_groups(const kernel& k, const kernel_forms& forms, std::size_t size);
}  // namespace detail

/// Everything that a program is made from.
struct program::origin {
  sycl::context context;
  sycl::device device;
  std::string source;
  std::vector<std::string> options;
  /// The kernel whose local memory has its sizes in this program, and these sizes.
  std::string sized = {};
  std::vector<local_memory> sizes = {};
  /// What the source declares, if the caller knows it; otherwise it is read from the text.
  std::optional<std::vector<kernel_declaration>> declared = {};
};

/// The program of a kernel with local memory, and the kernels made for each size so far.
struct kernel::unsized_kernel {
  program::origin from;
  std::mutex mutex;
  std::vector<std::pair<std::vector<local_memory>, kernel>> made;
};

struct kernel::state {
  std::string name;       // as the user calls it
  std::string code_name;  // in the program: another one of an instance of a template
  sycl::context context;
  sycl::device device;
  std::size_t argument_count;
  std::size_t max_work_group_size;
  int rank;
  std::optional<std::vector<kernel_parameter>> parameters;
  std::vector<local_memory> local = {};  // as compiled in
  std::shared_ptr<unsized_kernel> unsized = {};
  /// Compiled for groups of one size.
  bool has_group_size = false;
  const detail::backend_row* backend = nullptr;
  /// The program of the code; null if there is one for each size of local memory.
  std::shared_ptr<const program::state> from = {};
  mutable std::mutex mutex = {};
  mutable std::optional<sycl::kernel> handle = {};  // empty: the code was dropped

  /// The kernel to launch. Brings the code back into memory if it was dropped: from the disk, or
  /// by compiling it.
  sycl::kernel code() const;
};

/// Launches kernels of generated texts: their arguments are known from the list that the text was
/// generated from, and the caller has checked the arrays.
struct detail::own_launch {
  /// Empty if there is no event, because none is needed: that is quicker.
  static std::optional<sycl::event> run(const kernel& k, const sycl::queue& queue,
                                        const launch_range& range,
                                        std::span<const kernel_argument> arguments,
                                        std::span<const sycl::event> depends, ordering order,
                                        bool needs_event);
};

}  // namespace usmx
