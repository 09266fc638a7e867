// Kernels of a file of kernels/, which is compiled for one of them at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel/kernel_table.hpp"
#include "kernel/source/kernel_signature.hpp"
#include "usmx/kernel.hpp"
#include "usmx/reduction.hpp"

namespace usmx::detail {

/// The kernels of a file, by name and options. Thread-safe.
class own_kernels {
 public:
  explicit own_kernels(const char* file) : file_(file) {}

  /// The kernel of that name for the place of the queue. The file has it between #ifdef and #endif
  /// of the name in capitals; `options` are -D options for it.
  const kernel& get(const sycl::queue& queue, const std::string& name,
                    const std::vector<std::string>& options) {
    std::string key = name;
    for (const std::string& one : options) key += one;
    return known_.get(known_.find(key, [] { return nothing(); }), queue, [&] {
      std::vector<std::string> all = options;
      std::string chosen = "-D";
      for (const char c : name) chosen += static_cast<char>(std::toupper(c));
      all.push_back(std::move(chosen));
      const std::string text(kernel_file(file_));
      auto takes = parameters_of(text, name, all);
      program built = program::build(queue, {text, {{name, 1, std::move(takes)}}, std::move(all)});
      return std::pair(built.get(name), std::string());
    });
  }

 private:
  struct nothing {};

  /// Which pointers it writes through: operands may be read-only. Their types are what `options`
  /// say, which the callers do.
  static std::optional<std::vector<kernel_parameter>> parameters_of(
      const std::string& text, const std::string& name, const std::vector<std::string>& options) {
    const std::vector<signature> all = read_signatures(text, options);
    const auto found = std::ranges::find(all, name, &signature::name);
    if (found == all.end()) return {};
    std::vector<kernel_parameter> takes = found->parameters;
    for (kernel_parameter& p : takes) p.type.reset();
    return takes;
  }

  const char* file_;
  kernel_table<nothing> known_;
};

/// Kernels of one text for each form of elements, made when the first of them is needed.
class reductions_by_form {
 public:
  template <class Make>
  const reduction_kernel& get(std::string_view form, Make make) {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(form);
    return found != known_.end() ? found->second : known_.emplace(form, make()).first->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, reduction_kernel, std::less<>> known_;
};

}  // namespace usmx::detail
