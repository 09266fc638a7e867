// Compiles, caches, looks up and launches; every check that SYCL leaves out is made here.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/kernel.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <future>
#include <mutex>
#include <numeric>
#include <unordered_map>

#include <sycl/handler.hpp>
#include <sycl/kernel.hpp>
#include <sycl/kernel_bundle.hpp>

#include "traced_queue.hpp"

namespace usmx {

namespace experimental = sycl::ext::oneapi::experimental;
using bundle = sycl::kernel_bundle<sycl::bundle_state::executable>;

struct kernel::state {
  std::string name;
  sycl::kernel handle;
  sycl::context context;
  sycl::device device;
  std::size_t argument_count;
  std::size_t max_work_group_size;
  int rank;
  std::optional<std::vector<kernel_parameter>> parameters;
};

struct program::state {
  mutable bundle built;  // its look-ups are not const
  sycl::context context;
  sycl::device device;
  std::vector<detail::signature> signatures;
  std::vector<std::string> names;
  mutable std::mutex mutex;
  mutable std::unordered_map<std::string, kernel> kernels;

  kernel make(const std::string& name) const;
};

namespace {

/// Compiled programs are kept for the life of the process, up to this many.
constexpr std::size_t cache_capacity = 1024;

std::string join(std::span<const std::string> items) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

std::string describe(std::span<const std::size_t> sizes) {
  std::string text = "(";
  for (const auto n : sizes) text += (text.size() > 1 ? ", " : "") + std::to_string(n);
  return text + (sizes.size() == 1 ? ",)" : ")");
}

/// The compiler's log without the frame that the runtime puts around it. The runtime calls the
/// source rtc_<number>.cpp; the number means nothing to the user and differs from run to run.
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

/// The first line of the log that reports an error: what a user needs to see without scrolling.
std::string first_error(const std::string& log) {
  const auto error = log.find("error:");
  if (error == std::string::npos) return log.substr(0, log.find('\n'));
  const auto newline = log.rfind('\n', error);
  const auto start = newline == std::string::npos ? 0 : newline + 1;
  return log.substr(start, log.find('\n', start) - start);
}

/// Takes the -D and -U options out and gives them back as directives. They belong to the user's
/// text: on the command line they would rewrite the prelude as well, and break it with a mere
/// -DT=float.
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

/// For CUDA the compiler needs the device library of a toolkit; the option that says where it lies,
/// if there is one and the user did not say it.
void add_cuda_path(const sycl::device& device, std::vector<std::string>& options) {
  if (device.get_backend() != sycl::backend::ext_oneapi_cuda) return;
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

bundle compile(const sycl::context& context, const sycl::device& device, const std::string& source,
               std::vector<std::string> options) {
  experimental::include_files headers;
  add_cuda_path(device, options);
  if (!detail::includes_sycl(source)) {
    for (const auto name : detail::kernel_source_names()) {
      headers.add("usmx/" + std::string(name), std::string(detail::kernel_source(name)));
    }
    headers.add("usmx/options.hpp", take_macros(options));
    // Included by the command line, not by the text: so the user's lines keep their numbers.
    for (const char* header : {"usmx/options.hpp", "usmx/prelude.hpp"}) {
      options.insert(options.begin(), {"-Xclang", "-include", "-Xclang", header});
    }
  }
  std::string log;
  try {
    auto text = experimental::create_kernel_bundle_from_source(
        context, experimental::source_language::sycl, source, experimental::properties{headers});
    return experimental::build(text, std::vector<sycl::device>{device},
                               experimental::properties{experimental::build_options{options},
                                                        experimental::save_log{&log}});
  } catch (const sycl::exception& e) {
    if (log.empty()) log = e.what();
    log = clean_log(log);
    throw build_error("the kernel source could not be compiled: " + first_error(log) + "\n" + log,
                      log);
  }
}

/// What makes two requests the same program. The parts are kept apart by a byte that no text holds.
struct cache_key {
  std::string text;
  sycl::context context;
  sycl::device device;

  bool operator==(const cache_key&) const = default;
};
struct cache_hash {
  std::size_t operator()(const cache_key& k) const {
    return std::hash<std::string>()(k.text) ^ (std::hash<sycl::context>()(k.context) * 31) ^
           (std::hash<sycl::device>()(k.device) * 17);
  }
};

template <class State>
struct program_cache {
  using entry = std::shared_future<std::shared_ptr<const State>>;
  std::mutex mutex;
  std::unordered_map<cache_key, entry, cache_hash> programs;
  program::cache_counts counts;
};

/// Never destroyed: at exit the runtime may be gone before our statics.
template <class State>
program_cache<State>& the_cache() {
  static auto& cache = *new program_cache<State>;
  return cache;
}

template <int Rank>
sycl::range<Rank> to_range(std::span<const std::size_t> n) {
  if constexpr (Rank == 1)
    return {n[0]};
  else if constexpr (Rank == 2)
    return {n[0], n[1]};
  else
    return {n[0], n[1], n[2]};
}

template <int Rank>
void run(sycl::handler& h, const launch_range& r, const sycl::kernel& k) {
  const auto global = to_range<Rank>(r.global());
  if (r.local().empty()) {
    h.parallel_for(global, k);
  } else {
    h.parallel_for(sycl::nd_range<Rank>(global, to_range<Rank>(r.local())), k);
  }
}

/// A scalar goes by its bits: the runtime only looks at size and bytes, and a struct would not be
/// portable.
void set(sycl::handler& h, int index, const kernel_argument& a) {
  if (!a.is_scalar()) {
    h.set_arg(index, const_cast<void*>(a.pointer()));
    return;
  }
  switch (a.type().itemsize()) {
    case 1:
      return h.set_arg(index, static_cast<std::uint8_t>(a.bits()));
    case 2:
      return h.set_arg(index, static_cast<std::uint16_t>(a.bits()));
    case 4:
      return h.set_arg(index, static_cast<std::uint32_t>(a.bits()));
    default:
      return h.set_arg(index, a.bits());
  }
}

}  // namespace

// --- arguments and ranges -----------------------------------------------------------------------

kernel_argument::kernel_argument(const dtype& type, const void* bytes) noexcept
    : form_(form::scalar), type_(type) {
  std::memcpy(&bits_, bytes, std::min<std::size_t>(type.itemsize(), sizeof bits_));
}

launch_range::launch_range(std::span<const std::size_t> global,
                           std::span<const std::size_t> local) {
  if (global.empty() || global.size() > 3) {
    throw std::invalid_argument("global range: has " + std::to_string(global.size()) +
                                " dimensions, expected 1, 2 or 3");
  }
  rank_ = static_cast<int>(global.size());
  std::ranges::copy(global, global_.begin());
  if (local.empty()) return;
  if (local.size() != global.size()) {
    throw std::invalid_argument("local range: " + describe(local) +
                                " must have as many dimensions " + "as the global range " +
                                describe(global));
  }
  for (std::size_t k = 0; k < local.size(); ++k) {
    if (local[k] == 0 || global[k] % local[k] != 0) {
      throw std::invalid_argument("local range: " + describe(local) +
                                  " must divide the global range " + describe(global) +
                                  " in every dimension");
    }
  }
  has_local_ = true;
  std::ranges::copy(local, local_.begin());
}

std::size_t launch_range::size() const noexcept { return global_[0] * global_[1] * global_[2]; }

// --- programs -----------------------------------------------------------------------------------

program program::build(const sycl::queue& queue, std::string source,
                       std::vector<std::string> options) {
  auto& cache = the_cache<state>();
  cache_key key{source, queue.get_context(), queue.get_device()};
  for (const auto& option : options) key.text.append(1, '\0').append(option);

  std::promise<std::shared_ptr<const state>> promise;
  {
    std::unique_lock lock(cache.mutex);
    if (const auto hit = cache.programs.find(key); hit != cache.programs.end()) {
      ++cache.counts.found;
      const auto entry = hit->second;
      lock.unlock();
      return program(entry.get());
    }
    ++cache.counts.compiled;
    if (cache.programs.size() >= cache_capacity) cache.programs.erase(cache.programs.begin());
    cache.programs.emplace(key, promise.get_future().share());
  }
  try {
    const traced record(trace_action::build,
                        [&] { return detail::traced_on(queue, {.bytes = source.size()}); });
    auto signatures = detail::read_signatures(source, options);
    auto built = compile(key.context, key.device, source, std::move(options));
    std::vector<std::string> names;
    for (const auto& s : signatures) {
      if (std::ranges::count(names, s.name) == 0 && built.ext_oneapi_has_kernel(s.name)) {
        names.push_back(s.name);
      }
    }
    auto made = std::shared_ptr<const state>(new state{std::move(built),
                                                       key.context,
                                                       key.device,
                                                       std::move(signatures),
                                                       std::move(names),
                                                       {},
                                                       {}});
    promise.set_value(made);
    return program(std::move(made));
  } catch (...) {
    // The next request compiles again: the reason may have been memory or a missing file.
    {
      const std::lock_guard lock(cache.mutex);
      cache.programs.erase(key);
    }
    promise.set_exception(std::current_exception());
    throw;
  }
}

kernel program::state::make(const std::string& name) const {
  auto handle = built.ext_oneapi_get_kernel(name);
  const std::size_t count = handle.get_info<sycl::info::kernel::num_args>();
  const auto group = handle.get_info<sycl::info::kernel_device_specific::work_group_size>(device);
  std::optional<std::vector<kernel_parameter>> parameters;
  int rank = 0;
  for (const auto& s : signatures) {
    // Two functions of one name (an #if, an overload) leave no way to tell which was compiled.
    if (s.name != name) continue;
    if (parameters) {
      parameters.reset();
      rank = 0;
      break;
    }
    if (s.parameters.size() == count) parameters = s.parameters;
    rank = s.rank;
  }
  return kernel(std::shared_ptr<const kernel::state>(new kernel::state{
      name, std::move(handle), context, device, count, group, rank, std::move(parameters)}));
}

kernel program::get(std::string_view name) const {
  const std::string wanted(name);
  const std::lock_guard lock(state_->mutex);
  if (const auto hit = state_->kernels.find(wanted); hit != state_->kernels.end())
    return hit->second;
  if (wanted.empty() || !state_->built.ext_oneapi_has_kernel(wanted)) {
    throw std::out_of_range("no kernel named '" + wanted + "'; " +
                            (state_->names.empty()
                                 ? "the source has none: declare one with USMX_KERNEL(rank)"
                                 : "there are: " + join(state_->names)));
  }
  return state_->kernels.emplace(wanted, state_->make(wanted)).first->second;
}

const std::vector<std::string>& program::names() const noexcept { return state_->names; }

program::cache_counts program::counts() {
  auto& cache = the_cache<state>();
  const std::lock_guard lock(cache.mutex);
  return cache.counts;
}

// --- kernels ------------------------------------------------------------------------------------

const std::string& kernel::name() const noexcept { return state_->name; }
const std::optional<std::vector<kernel_parameter>>& kernel::parameters() const noexcept {
  return state_->parameters;
}
std::size_t kernel::argument_count() const noexcept { return state_->argument_count; }
int kernel::rank() const noexcept { return state_->rank; }
std::size_t kernel::max_work_group_size() const noexcept { return state_->max_work_group_size; }

void kernel::check(const sycl::queue& queue, const launch_range& range,
                   std::span<const kernel_argument> arguments) const {
  const auto& s = *state_;
  const auto context = queue.get_context();
  if (context != s.context || queue.get_device() != s.device) {
    throw std::invalid_argument("queue: kernel '" + s.name + "' was compiled for another " +
                                (context != s.context ? "context" : "device"));
  }
  if (arguments.size() != s.argument_count) {
    throw std::invalid_argument("kernel '" + s.name + "' takes " +
                                std::to_string(s.argument_count) + " arguments, got " +
                                std::to_string(arguments.size()));
  }
  if (s.rank != 0 && s.rank != range.rank()) {
    throw std::invalid_argument("range: " + describe(range.global()) + " has another number of " +
                                "dimensions than the " + std::to_string(s.rank) + " of kernel '" +
                                s.name + "'");
  }
  const auto local = range.local();
  const auto group =
      std::accumulate(local.begin(), local.end(), std::size_t{1}, std::multiplies<>());
  if (group > s.max_work_group_size) {
    throw std::invalid_argument("local range: " + describe(local) + " has " +
                                std::to_string(group) + " work-items, kernel '" + s.name +
                                "' takes at most " + std::to_string(s.max_work_group_size) +
                                " in a group");
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& a = arguments[i];
    const auto* p = s.parameters ? &(*s.parameters)[i] : nullptr;
    const auto where = [&] {
      return "argument " + std::to_string(i) + " of kernel '" + s.name + "'" +
             (p ? " (" + p->text + ")" : "");
    };
    if (p && p->pointer == a.is_scalar()) {
      throw interop_error(fault::kind_mismatch, where() + ": " +
                                                    (a.is_scalar() ? "is a scalar, expected USM"
                                                                   : "is USM, expected a scalar"));
    }
    if (a.is_scalar()) {
      // Without a declared type the sizes must agree all the same; the runtime checks that much.
      if (p && p->type && !(*p->type == a.type())) {
        throw interop_error(fault::dtype_mismatch, where() + ": has type " + a.type().name() +
                                                       ", expected " + p->type->name());
      }
      continue;
    }
    const auto* array = a.array();
    if (!array) continue;
    if (array->queue().get_context() != context) {
      throw std::invalid_argument(where() +
                                  ": the array's memory belongs to another context than the queue");
    }
    const auto& elements = array->elements();
    if (p && p->type && !(*p->type == elements.dtype())) {
      throw interop_error(fault::dtype_mismatch, where() + ": has elements of " +
                                                     elements.dtype().name() + ", expected " +
                                                     p->type->name());
    }
    if (elements.read_only() && !(p && p->read_only)) {
      throw interop_error(fault::read_only,
                          where() + ": is read-only, the parameter must be a pointer to const");
    }
  }
}

sycl::event kernel::launch(sycl::queue& queue, const launch_range& range,
                           std::span<const kernel_argument> arguments,
                           std::span<const sycl::event> depends) const {
  check(queue, range, arguments);
  const std::vector<sycl::event> before(depends.begin(), depends.end());
  // No work-item: nothing may be submitted, but what the caller waits for is still `depends`.
  if (range.size() == 0) return queue.ext_oneapi_submit_barrier(before);
  traced record(trace_action::kernel,
                [&] { return detail::traced_on(queue, {.label = trace_text(state_->name)}); });
  for (const auto& a : arguments) {
    if (a.array()) a.array()->used_on(queue);
  }
  const sycl::event launched = queue.submit([&](sycl::handler& h) {
    h.depends_on(before);
    int index = 0;
    for (const auto& a : arguments) set(h, index++, a);
    switch (range.rank()) {
      case 1:
        return run<1>(h, range, state_->handle);
      case 2:
        return run<2>(h, range, state_->handle);
      default:
        return run<3>(h, range, state_->handle);
    }
  });
  detail::measure(record, queue, launched);
  for (const auto& a : arguments) {
    if (a.array()) a.array()->used_until(queue, launched);
  }
  return launched;
}

}  // namespace usmx
