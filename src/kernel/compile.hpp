// The steps from a program's text to its executable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sycl/kernel_bundle.hpp>

#include "runtime/backend.hpp"
#include "usmx/kernel.hpp"

namespace usmx::detail {

/// What a device runs of a program.
class executable {
 public:
  using bundle = sycl::kernel_bundle<sycl::bundle_state::executable>;
  /// `apart`: in a SYCL context of its own over the native one of the program's context.
  executable(bundle from, bool apart) : bundle_(std::move(from)), apart_(apart) {}

  bool has(const std::string& name) { return bundle_.ext_oneapi_has_kernel(name); }
  /// A kernel for queues of `context`; it keeps the code alive.
  sycl::kernel get(const std::string& name, const sycl::context& context);
  std::vector<char> content() { return bundle_.ext_oneapi_get_content(); }

 private:
  bundle bundle_;
  bool apart_;
};

class read_files;

/// Options for every program, before its own: each operation is rounded separately, as in NumPy,
/// and ranges may have more than 2^31 - 1 work-items.
std::vector<std::string> common_options(const backend_row& backend);

/// The message for a log of the compiler or of the device's linker: its first error.
std::string summary_of(const std::string& log);

/// The mangled names of the functions that an object imports; from its SYCLBIN.
std::vector<std::string> imported_symbols(std::string_view object);

/// Compiles for one device, and lists in `files` what the compiler read. Throws build_error with
/// the compiler's log.
executable compile(const sycl::context& context, const sycl::device& device,
                   const std::string& source, std::vector<std::string> options,
                   const read_files* files = nullptr);

/// Keeps a text for tests; see usmx/detail/inspection.hpp.
void keep_compiled_text(const std::string& source, const std::vector<std::string>& options);

/// Everything except files that determines what `compile` returns; empty if the runtime cannot
/// store or load binaries.
std::string disk_key(const sycl::device& device, std::string_view source,
                     std::span<const std::string> options);

/// The executable that another process stored; empty if the runtime refuses it.
std::optional<executable> load(const sycl::context& context, const sycl::device& device,
                               std::vector<char>& binary);

}  // namespace usmx::detail
