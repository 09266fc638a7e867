// From text to an executable, by the runtime's compiler or from a stored binary.
// SPDX-License-Identifier: Apache-2.0
#include "kernel/compile.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string_view>

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <sycl/backend.hpp>
#include <sycl/ext/oneapi/experimental/syclbin_kernel_bundle.hpp>
#include <sycl/platform.hpp>

#include "core/format.hpp"
#include "kernel/compile_notice.hpp"
#include "kernel/large_stack.hpp"
#include "kernel/program_cache.hpp"
#include "kernel/program_inputs.hpp"
#include "kernel/source/kernel_signature.hpp"
#include "kernel/source/kernel_text.hpp"
#include "runtime/backend.hpp"
#include "runtime/driver_gate.hpp"
#include "runtime/drivers.hpp"
#include "usmx/error.hpp"
#include "usmx/version.hpp"

namespace usmx::detail {
namespace experimental = sycl::ext::oneapi::experimental;
namespace {

/// Read by Intel's driver for processors when it starts.
constexpr const char* kind_variable = "CL_CONFIG_CPU_TARGET_ARCH";

/// Items of a vector that USMX_SHORT_VECTORS asks for, see kernels/prelude/types.hpp.
constexpr std::size_t short_vector = 8;

/// The compiler's log without the text that the runtime adds around it. The runtime names the
/// source rtc_<number>.cpp; the number is of no use to users and differs from run to run.
std::string clean_log(std::string_view log) {
  if (const auto frame = log.find("Detailed information:"); frame != std::string_view::npos) {
    log.remove_prefix(frame + 21);
  }
  while (!log.empty() && (log.front() == '\n' || log.front() == '\t')) log.remove_prefix(1);
  while (!log.empty() && (log.back() == '\n' || log.back() == ' ')) log.remove_suffix(1);
  std::string text;
  for (std::size_t i = 0; i < log.size();) {
    if (log.compare(i, 4, "rtc_") == 0) {
      auto end = i + 4;
      while (end < log.size() && log[end] >= '0' && log[end] <= '9') ++end;
      if (end > i + 4 && log.compare(end, 4, ".cpp") == 0) {
        text += "source";
        i = end + 4;
        continue;
      }
    }
    text += log[i++];
  }
  return text;
}

/// The first line of the log that reports an error, so that users see it without scrolling.
std::string first_error(const std::string& log) {
  const auto error = log.find("error:");
  if (error == std::string::npos) {
    if (log.starts_with("The program was built for")) {
      return "the device's linker rejected the program and gave no reason, as it does for "
             "undefined functions and for more local memory than a work-group can have";
    }
    return log.substr(0, log.find('\n'));
  }
  const auto newline = log.rfind('\n', error);
  const auto start = newline == std::string::npos ? 0 : newline + 1;
  return log.substr(start, log.find('\n', start) - start);
}

/// Removes the -D and -U options and returns them as directives. They are for the user's text: on
/// the command line they would also rewrite the prelude, and -DT=float alone would break it.
std::string take_macros(std::vector<std::string>& options) {
  std::string directives;
  std::vector<std::string> others;
  for (std::size_t i = 0; i < options.size(); ++i) {
    std::string text = options[i];
    if (text != "-D" && text != "-U" && text.rfind("-D", 0) != 0 && text.rfind("-U", 0) != 0) {
      others.push_back(std::move(text));
      continue;
    }
    if (text.size() == 2 && i + 1 < options.size()) text += options[++i];
    const bool define = text[1] == 'D';
    text.erase(0, 2);
    const auto equals = text.find('=');
    if (equals != std::string::npos) {
      text[equals] = ' ';
    } else if (define) {
      text += " 1";
    }
    directives += (define ? "#define " : "#undef ") + text + "\n";
  }
  options = std::move(others);
  return directives;
}

/// For CUDA the compiler needs the device library of a toolkit: adds the option with its path, if
/// there is one and the user did not pass it.
void add_cuda_path(const sycl::device& device, std::vector<std::string>& options) {
  if (!backend_of(device).needs_cuda_path) return;
  const auto given = [](const std::string& o) { return o.rfind("--cuda-path", 0) == 0; };
  if (std::ranges::any_of(options, given)) return;
  const char* const candidates[] = {std::getenv("CUDA_PATH"), std::getenv("CUDA_HOME"),
                                    "/usr/local/cuda", "/opt/cuda"};
  for (const char* folder : candidates) {
    std::error_code ignored;
    if (folder && std::filesystem::exists(std::filesystem::path(folder) / "nvvm", ignored)) {
      options.push_back(std::string("--cuda-path=") + folder);
      return;
    }
  }
}

/// The features of the processor: a binary for the CPU device may use instructions that another
/// machine with the same home directory lacks.
std::string processor() {
  std::string text;
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d)) text += format("{}.{}", c, d);
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
    text += format(".{}.{}.{}", b, c, d);
  }
#endif
  // The driver compiles for another kind of processor.
  if (const char* const kind = std::getenv(kind_variable)) text.append(1, '.').append(kind);
  return text;
}

/// Identifies the build of the runtime: its file changes with every release, its version does not.
/// Its size is the same wherever a release is installed, its time is that of one installation.
struct runtime_file {
  std::uintmax_t size = 0;  // 0: not known
  std::int64_t time = 0;

  runtime_file() {
    Dl_info where{};
    const auto any_function = reinterpret_cast<void*>(&sycl::get_kernel_ids);
    if (dladdr(any_function, &where) == 0 || where.dli_fname == nullptr) return;
    std::error_code failed;
    const std::filesystem::path file = where.dli_fname;
    const auto bytes = std::filesystem::file_size(file, failed);
    time = std::filesystem::last_write_time(file, failed).time_since_epoch().count();
    if (!failed) size = bytes;
  }
};

bool takes_short_vectors(const sycl::device& device) {
  const auto sizes = device.get_info<sycl::info::device::sub_group_sizes>();
  return std::ranges::find(sizes, short_vector) != sizes.end();
}

using source_bundle = sycl::kernel_bundle<sycl::bundle_state::ext_oneapi_source>;

/// "g(float), h(int)": the functions that the program calls and that are not defined; empty if the
/// compiler cannot tell. Compiles once more, to an object, which lists what must be linked to it.
std::string undefined_functions(source_bundle& text, const sycl::device& device,
                                const std::vector<std::string>& options) {
  std::string names;
  try {
    auto object =
        experimental::compile(text, std::vector<sycl::device>{device},
                              experimental::properties{experimental::build_options{options}});
    const auto content = object.ext_oneapi_get_content();
    auto symbols = imported_symbols({content.data(), content.size()});
    std::ranges::sort(symbols);  // the object does not order them
    for (const auto& symbol : symbols) {
      int failed = 0;
      const std::unique_ptr<char, decltype(&std::free)> plain(
          abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &failed), &std::free);
      names += (names.empty() ? "" : ", ") + (plain ? std::string(plain.get()) : symbol);
    }
  } catch (const sycl::exception&) {  // the linker's own message remains
  }
  return names;
}

/// A handle of OpenCL that `get_native` retained.
template <class Handle>
class owned {
 public:
  owned(Handle handle, const char* release) : handle_(handle), release_(release) {}
  owned(const owned&) = delete;
  owned& operator=(const owned&) = delete;
  ~owned() {
    using function = cl_int(CL_API_CALL*)(Handle);
    if (const auto release = loaded_function<function>(opencl_library, release_)) release(handle_);
  }
  Handle get() const noexcept { return handle_; }

 private:
  Handle handle_;
  const char* release_;
};

/// Another SYCL context of the same OpenCL context.
sycl::context second_context_of(const sycl::context& context) {
  const owned<cl_context> handle(sycl::get_native<sycl::backend::opencl>(context),
                                 "clReleaseContext");
  return sycl::make_context<sycl::backend::opencl>(handle.get());
}

}  // namespace

// A set of properties is its name in brackets, then lines of "name=type|value".
std::vector<std::string> imported_symbols(std::string_view object) {
  constexpr std::string_view head = "[SYCL/imported symbols]\n";
  std::vector<std::string> symbols;
  for (auto at = object.find(head); at != std::string_view::npos; at = object.find(head, at)) {
    at += head.size();
    for (auto rest = object.substr(at); !rest.empty() && rest.front() != '[';) {
      const auto line = rest.substr(0, rest.find('\n'));
      const auto end = line.rfind('=');
      if (end == std::string_view::npos || line.size() == rest.size()) break;
      if (std::ranges::count(symbols, line.substr(0, end)) == 0) {
        symbols.emplace_back(line.substr(0, end));
      }
      rest.remove_prefix(line.size() + 1);
    }
  }
  return symbols;
}

// Properties are letters of six bits each, from the lowest bit on; the first eight bytes are the
// length. The runtime (2026.2) writes its adapter's name of the device, and looks for the
// compiler's when it reads: the image is passed over then. Only what stands before the first '-'
// counts, so a name that is as long leaves all else where it is.
void name_device(std::vector<char>& binary) {
  constexpr std::string_view written =
      "=2|gDAAAAAAAAAbsZXbf5mdwRHe2QTL152au92du1Sdutmbvdnb\n";  // llvm_nvptx64-unknown-unknown
  constexpr std::string_view looked_for =
      "=2|gDAAAAAAAAgb2BHd4ZDNtUnbr52b35WL152au92du1yY1RWY\n";  // nvptx64-unknown-unknown-cuda
  static_assert(written.size() == looked_for.size());
  const std::string_view all(binary.data(), binary.size());
  for (auto at = all.find(written); at != std::string_view::npos; at = all.find(written, at)) {
    std::ranges::copy(looked_for, binary.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

std::vector<char> executable::content() {
  std::vector<char> binary = bundle_.ext_oneapi_get_content();
  name_device(binary);
  return binary;
}

std::string summary_of(const std::string& log) {
  auto text = "the kernel source could not be compiled: " + first_error(log);
  // The compiler brings its device library in itself, and finds it from a folder of this name.
  if (text.find("libspirv.") != std::string::npos) {
    text += "; mkdir -p /sycl-jit-toolchain/lib helps, the folder that the compiler looks from";
  }
  return text;
}

std::vector<std::string> common_options(const backend_row& backend) {
  std::vector<std::string> options{
      "-ffp-contract=off",
      // CUDA's float32 square root is approximate without it.
      "-fsycl-fp32-prec-sqrt",
      // Costs nothing: 1.45 ms for an axpy of 1e7 float32 on the CPU device with and without.
      "-fsycl-id-queries-range=size_t",
  };
  // The optimiser vectorises complex products, and SPIR-V for vectors is written without the flag
  // that forbids contraction; it also loses the sign of `float(x > 0 ? -1 : 0)`. The driver
  // optimises anyway, and takes as long.
  if (!backend.optimises_early) options.emplace_back("-fno-sycl-early-optimizations");
  return options;
}

namespace {

executable compile_here(const sycl::context& context, const sycl::device& device,
                        const std::string& source, std::vector<std::string> options,
                        const read_files* files, std::vector<char>* object) {
  experimental::include_files headers;
  if (files) {
    for (auto& option : files->options()) options.push_back(std::move(option));
  }
  add_cuda_path(device, options);
  if (!includes_sycl(source)) {
    for (const auto name : kernel_file_names()) {
      headers.add("usmx/" + std::string(name), std::string(kernel_file(name)));
    }
    // Of the prelude's own, so it stands before it.
    const bool by_driver = std::erase(options, driver_math_option) != 0;
    headers.add("usmx/options.hpp", take_macros(options));
    options.emplace_back("-idirafterusmx/includes");
    // Included by the command line, not by the text: so the user's lines keep their numbers, and
    // the macros apply neither to the prelude nor to the headers of ours that the text includes.
    std::vector<std::string> included{"usmx/prelude.hpp"};
    std::ranges::move(own_headers(source), std::back_inserter(included));
    included.emplace_back("usmx/options.hpp");
    std::vector<std::string> first;
    if (by_driver) first.emplace_back(driver_math_option);
    if (backend_of(device).is_host) {
      first.emplace_back("-DUSMX_HOST_CORES");
      if (takes_short_vectors(device)) {
        first.emplace_back(format("-DUSMX_SHORT_VECTOR={}", short_vector));
      }
    }
    for (auto& header : included) {
      first.insert(first.end(), {"-Xclang", "-include", "-Xclang", std::move(header)});
    }
    std::ranges::move(options, std::back_inserter(first));
    options = std::move(first);
  }
  std::string log;
  std::optional<source_bundle> text;
  try {
    text.emplace(experimental::create_kernel_bundle_from_source(
        context, experimental::source_language::sycl, source, experimental::properties{headers}));
    if (object) {
      // Compiled twice: what is linked of an object does not know its kernels' arguments.
      *object =
          experimental::compile(*text, std::vector<sycl::device>{device},
                                experimental::properties{experimental::build_options{options}})
              .ext_oneapi_get_content();
    }
    return {experimental::build(*text, std::vector<sycl::device>{device},
                                experimental::properties{experimental::build_options{options},
                                                         experimental::save_log{&log}}),
            false};
  } catch (const sycl::exception& e) {
    if (log.empty()) log = e.what();
    log = clean_log(log);
    // The compiler's errors have a place in the text. Otherwise linking failed, for which CUDA
    // gives no reason.
    if (text && log.find("source:") == std::string::npos) {
      if (const auto names = undefined_functions(*text, device, options); !names.empty()) {
        log = "source: error: undefined: " + names + "\n" + log;
      }
    }
    throw build_error(summary_of(log) + "\n" + log, log);
  }
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// "X" of "# include X"; empty for a line that is not such a directive.
std::string_view after_directive(std::string_view line, std::string_view name) {
  const auto skip = [&line](std::size_t count) {
    line.remove_prefix(count);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  };
  skip(0);
  while (line.starts_with("/*")) {  // as our own marks of a preamble
    const auto end = line.find("*/", 2);
    if (end == line.npos) return {};
    skip(end + 2);
  }
  if (!line.starts_with('#')) return {};
  skip(1);
  if (!line.starts_with(name)) return {};
  skip(name.size());
  return line;
}

std::string_view first_word(std::string_view text) {
  const auto is_end = [](char c) { return !is_word(c); };
  const auto length = std::ranges::find_if(text, is_end) - text.begin();
  return text.substr(0, static_cast<std::size_t>(length));
}

/// The line that includes the text that it stands in, by a macro; 0 if there is none. The compiler
/// ends the process when it has read so many lines.
std::size_t includes_itself(std::string_view source) {
  if (source.find("__FILE__") == source.npos && source.find("__BASE_FILE__") == source.npos) {
    return 0;
  }
  const auto lines = lines_of(source);
  std::vector<std::string_view> names{"__FILE__", "__BASE_FILE__"};
  const auto is_known = [&names](auto name) { return std::ranges::count(names, name) != 0; };
  for (std::size_t before = 0; before != names.size();) {
    before = names.size();
    for (const auto line : lines) {
      const auto rest = after_directive(line, "define");
      const auto name = first_word(rest);
      const auto value = rest.substr(name.size());
      const auto holds = [value](auto known) { return value.find(known) != value.npos; };
      if (!name.empty() && !is_known(name) && std::ranges::any_of(names, holds)) {
        names.push_back(name);
      }
    }
  }
  for (std::size_t k = 0; k < lines.size(); ++k) {
    if (is_known(first_word(after_directive(lines[k], "include")))) return k + 1;
  }
  return 0;
}

}  // namespace

executable compile(const sycl::context& context, const sycl::device& device,
                   const std::string& source, std::vector<std::string> options,
                   const read_files* files, std::vector<char>* object) {
  const driver_entry inside;
  if (const std::size_t line = too_deep(source); line != 0) {
    const std::string log = format(
        "source:{}: error: the statement has more than {} names, numbers and signs, which the "
        "compiler cannot nest; split it into several statements",
        line, most_in_statement);
    throw build_error(summary_of(log) + "\n" + log, log);
  }
  if (const std::size_t line = includes_itself(source); line != 0) {
    const std::string log =
        format("source:{}: error: the text includes itself, without an end", line);
    throw build_error(summary_of(log) + "\n" + log, log);
  }
  std::optional<executable> made;
  const compile_time_record time;
  on_large_stack(
      [&] { made = compile_here(context, device, source, std::move(options), files, object); },
      time.until_notice());
  return *std::move(made);
}

program_keys disk_keys(const sycl::device& device, std::string_view source,
                       std::span<const std::string> options) {
  const auto& backend = backend_of(device);
  if (!backend.keeps_binaries) return {};
  static const std::string files = [] {
    std::string text(version);
    for (const auto name : kernel_file_names()) text.append(1, '\0').append(kernel_file(name));
    // The prelude is long and the same for all programs: a checksum of it is enough.
    return format("{}", checksum(text));
  }();
  static const runtime_file runtime;
  static const std::string machine =
      format("{}.{}", runtime.size, runtime.time) + '\0' + processor();
  if (runtime.size == 0) return {};
  const std::string platform = device.get_platform().get_info<sycl::info::platform::version>();
  const std::string driver = device.get_info<sycl::info::device::driver_version>();
  std::string text;
  for (const auto& option : options) text.append(1, '\0').append(option);
  text.append(1, '\0').append(source);
  program_keys keys;
  keys.exact = files + '\0' + machine;
  for (const auto& part : {platform, device.get_info<sycl::info::device::vendor>(),
                           device.get_info<sycl::info::device::name>(), driver}) {
    keys.exact.append(1, '\0').append(part);
  }
  keys.exact += text;
  if (backend.has_processor_kinds) {
    keys.portable = files + '\0' + format("{}", runtime.size);
    for (const auto& part : {platform, driver, format("{}", takes_short_vectors(device))}) {
      keys.portable.append(1, '\0').append(part);
    }
    keys.portable += text;
  }
  return keys;
}

std::string_view compiled_kind() {
  const char* const kind = std::getenv(kind_variable);
  return kind == nullptr ? std::string_view() : kind;
}

std::optional<executable> load(const sycl::context& context, const sycl::device& device,
                               std::vector<char>& binary) {
  const bool apart = backend_of(device).reads_apart;
  try {
    return executable(experimental::get_kernel_bundle<sycl::bundle_state::executable>(
                          apart ? second_context_of(context) : context, {device},
                          sycl::span<char>(binary.data(), binary.size())),
                      apart);
  } catch (const sycl::exception&) {
    return {};
  }
}

std::vector<char> linked(const sycl::queue& queue, std::vector<char>& object) {
  return sycl::link(experimental::get_kernel_bundle<sycl::bundle_state::object>(
                        queue.get_context(), {queue.get_device()},
                        sycl::span<char>(object.data(), object.size())))
      .ext_oneapi_get_content();
}

sycl::kernel executable::get(const std::string& name, const sycl::context& context) {
  auto found = bundle_.ext_oneapi_get_kernel(name);
  if (!apart_) return found;
  const owned<cl_kernel> handle(sycl::get_native<sycl::backend::opencl>(found), "clReleaseKernel");
  return sycl::make_kernel<sycl::backend::opencl>(handle.get(), context);
}

}  // namespace usmx::detail
