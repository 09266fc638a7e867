// How many work-items a kernel runs on, and in which groups.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include <sycl/nd_range.hpp>
#include <sycl/range.hpp>

namespace usmx {

/// How many work-items run: one to three dimensions in SYCL's order (dimension 0 varies slowest),
/// with or without the size of a work-group.
class launch_range {
 public:
  /// One dimension of `global` work-items, in work-groups that the driver chooses.
  launch_range(std::size_t global) : launch_range(std::array{global}) {}  // NOLINT: implicit
  /// Throws std::invalid_argument: rank not 1, 2 or 3, ranks that differ, a local size of zero or
  /// one that does not divide the global size.
  launch_range(std::span<const std::size_t> global, std::span<const std::size_t> local = {});
  template <int Rank>
  launch_range(const sycl::range<Rank>& global) {  // NOLINT: implicit
    std::array<std::size_t, Rank> g;
    for (int k = 0; k < Rank; ++k) g[k] = global[k];
    *this = launch_range(g);
  }
  template <int Rank>
  launch_range(const sycl::nd_range<Rank>& r) {  // NOLINT: implicit
    std::array<std::size_t, Rank> g, l;
    for (int k = 0; k < Rank; ++k) g[k] = r.get_global_range()[k], l[k] = r.get_local_range()[k];
    *this = launch_range(g, l);
  }

  int rank() const noexcept { return rank_; }
  std::span<const std::size_t> global() const noexcept {
    return {global_.data(), std::size_t(rank_)};
  }
  /// Empty if the runtime chooses.
  std::span<const std::size_t> local() const noexcept {
    return {local_.data(), has_local_ ? std::size_t(rank_) : 0};
  }
  /// Number of work-items.
  std::size_t size() const noexcept;

 private:
  launch_range() = default;

  int rank_ = 1;
  bool has_local_ = false;
  std::array<std::size_t, 3> global_{1, 1, 1};
  std::array<std::size_t, 3> local_{1, 1, 1};
};

}  // namespace usmx
