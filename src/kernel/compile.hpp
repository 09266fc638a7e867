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

#include "kernel/program_cache.hpp"
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
  /// The runtime knows it only of kernels that it has compiled in one step; otherwise OpenCL is
  /// asked.
  std::size_t argument_count(const std::string& name);
  /// As SYCLBIN that `load` reads.
  std::vector<char> content();

 private:
  bundle bundle_;
  bool apart_;
};

/// Asks the prelude for the functions of the driver in place of our own: see prelude/math.hpp.
inline constexpr const char* driver_math_option = "-DUSMX_DRIVER_MATH";

class read_files;

/// Options for every program, before its own: each operation is rounded separately, as in NumPy,
/// and ranges may have more than 2^31 - 1 work-items.
std::vector<std::string> common_options(const backend_row& backend);

/// The message for a log of the compiler or of the device's linker: its first error.
std::string summary_of(const std::string& log);

/// The mangled names of the functions that an object imports; from its SYCLBIN.
std::vector<std::string> imported_symbols(std::string_view object);

/// Names the device of images of CUDA as the runtime does where it reads a SYCLBIN.
void name_device(std::vector<char>& binary);

/// Compiles for one device, and lists in `files` what the compiler read. Throws build_error with
/// the compiler's log. With `object`, that is what the executable can be linked from, as SYCLBIN.
executable compile(const sycl::context& context, const sycl::device& device,
                   const std::string& source, std::vector<std::string> options,
                   const read_files* files = nullptr, std::vector<char>* object = nullptr);

/// Keeps a text for tests; see usmx/detail/inspection.hpp.
void keep_compiled_text(const std::string& source, const std::vector<std::string>& options);

/// Everything except files that determines what `compile` returns; empty if the runtime cannot
/// store or load binaries.
program_keys disk_keys(const sycl::device& device, std::string_view source,
                       std::span<const std::string> options);
/// The kind of processor that the driver was told to compile for; empty: that of this machine.
std::string_view compiled_kind();

/// The executable that another process stored; empty if the runtime refuses it.
std::optional<executable> load(const sycl::context& context, const sycl::device& device,
                               std::vector<char>& binary);

/// The executable of an object, for the kind of processor that the driver compiles for.
std::vector<char> linked(const sycl::queue& queue, std::vector<char>& object);

}  // namespace usmx::detail
