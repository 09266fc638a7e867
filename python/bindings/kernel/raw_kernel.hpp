// Kernels from text as Python holds them, and what stands between `k[global, local]` and the call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernel/kernel_arguments.hpp"
#include "support/bindings.hpp"
#include "usmx/detail/built_kernels.hpp"

namespace usmx::python {

/// Source and options.
class raw_module {
 public:
  raw_module(std::string source, std::vector<std::string> options)
      : source_(std::move(source)), options_(std::move(options)) {}

  const std::string& source() const noexcept { return source_; }
  const std::vector<std::string>& options() const noexcept { return options_; }
  program build(const sycl::queue& queue) const { return program::build(queue, source_, options_); }

 private:
  std::string source_;
  std::vector<std::string> options_;
};

/// One kernel of it. Cheap to copy: copies share what was built.
class raw_kernel {
 public:
  raw_kernel(std::shared_ptr<const raw_module> from, std::string name);

  /// Dimensions that the source declares, 0 if it cannot be told.
  int rank() const noexcept { return state_->rank; }
  const raw_module& from() const noexcept { return *state_->from; }
  const std::string& name() const noexcept { return state_->name; }

  /// The kernel for the queue's context and device, compiled the first time. Call without the GIL.
  const kernel& on(const sycl::queue& queue) const;
  /// The same if it was compiled before; null otherwise.
  const kernel* built_for(const sycl::queue& queue) const noexcept {
    return state_->built.find(queue);
  }

 private:
  struct state {
    std::shared_ptr<const raw_module> from;
    std::string name;
    int rank = 0;
    detail::built_kernels built;
  };
  std::shared_ptr<state> state_;
};

/// `k[global, local]`: a kernel with its range, waiting for arguments.
struct bound_launch {
  raw_kernel k;
  bracketed_range read;
};

}  // namespace usmx::python
