// Compiles programs, keeps them in memory and on disk, and finds their kernels by name.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <future>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "core/format.hpp"
#include "kernel/compile.hpp"
#include "kernel/kernel_state.hpp"
#include "kernel/kernel_wrapper.hpp"
#include "kernel/program_file.hpp"
#include "kernel/program_inputs.hpp"
#include "runtime/backend.hpp"
#include "runtime/driver_gate.hpp"
#include "runtime/traced_queue.hpp"
#include "usmx/error.hpp"
#include "usmx/kernel.hpp"
#include "usmx/program_cache.hpp"

namespace usmx {

struct program::state {
  explicit state(origin made_from)
      : from(std::move(made_from)),
        signatures(detail::read_signatures(from.source, from.options)),
        source(detail::with_wrappers(from.source, signatures, from.sized, from.sizes)),
        input(detail::input_of(from.source, from.options)),
        disk_key(input == detail::program_input::files
                     ? std::string()
                     : detail::disk_key(from.device, source, from.options)) {}

  origin from;
  std::vector<detail::signature> signatures;
  std::string source;  // with the wrappers
  detail::program_input input;
  std::string disk_key;  // empty: not kept on disk
  std::vector<std::string> names;

  mutable std::mutex mutex;
  mutable std::optional<detail::executable> built;  // its look-ups are not const
  mutable std::unordered_map<std::string, std::size_t> argument_counts;
  mutable bool loaded = false;
  mutable std::unordered_map<std::string, kernel> kernels;

  bool load_from_disk();
  void compile();
  void store(std::vector<std::string> files) const noexcept;
  void find_names();
  /// Whether the kernels of that name have no size yet.
  bool is_unsized(std::string_view name) const;
  kernel make(const std::string& name) const;
  kernel make_unsized(const std::string& name) const;
};

namespace {

/// Compiled programs are kept for the life of the process, up to this many.
constexpr std::size_t cache_capacity = 1024;

std::string join(std::span<const std::string> items) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
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

}  // namespace

bool program::state::load_from_disk() {
  // A setting that makes no sense is said also where nothing is kept.
  static_cast<void>(program_cache_settings::from_environment());
  if (disk_key.empty()) return false;
  auto stored = detail::load_program(disk_key);
  if (!stored) return false;
  built = detail::load(from.context, from.device, stored->binary);
  if (!built) {
    detail::drop_program(disk_key);
    return false;
  }
  loaded = true;
  for (auto& k : stored->kernels) argument_counts.emplace(std::move(k.name), k.argument_count);
  find_names();
  return true;
}

void program::state::find_names() {
  for (const auto& s : signatures) {
    if (std::ranges::count(names, s.name) == 0 &&
        (built->ext_oneapi_has_kernel(s.name) || is_unsized(s.name))) {
      names.push_back(s.name);
    }
  }
}

void program::state::compile() {
  detail::check_by_value(detail::backend_of(from.device), signatures);
  const bool lists_files = !disk_key.empty() && input == detail::program_input::headers;
  std::optional<detail::read_files> read;
  if (lists_files) read.emplace();
  try {
    built =
        detail::compile(from.context, from.device, source, from.options, read ? &*read : nullptr);
  } catch (const build_error& e) {
    // The compiler shows the line as it got it.
    throw build_error(detail::without_wrappers(e.what()), detail::without_wrappers(e.log()));
  }
  find_names();
  std::vector<std::string> files;
  if (!read || read->get(files)) store(std::move(files));
}

void program::state::store(std::vector<std::string> files) const noexcept {
  if (disk_key.empty()) return;
  try {
    detail::stored_program program;
    program.files = std::move(files);
    for (const auto& name : names) {
      if (is_unsized(name)) continue;
      const auto handle = built->ext_oneapi_get_kernel(name);
      program.kernels.push_back({name, handle.get_info<sycl::info::kernel::num_args>()});
    }
    program.binary = built->ext_oneapi_get_content();
    detail::store_program(disk_key, from.device.get_info<sycl::info::device::name>(), program);
  } catch (...) {  // a program that cannot be taken out runs all the same
  }
}

bool program::state::is_unsized(std::string_view name) const {
  return name != from.sized && std::ranges::any_of(signatures, [&](const auto& s) {
           return s.name == name && detail::takes_local(s);
         });
}

kernel program::state::make_unsized(const std::string& name) const {
  const auto s = std::ranges::find(signatures, name, &detail::signature::name);
  detail::check_wrapper(*s);
  const auto group = from.device.get_info<sycl::info::device::max_work_group_size>();
  auto unsized = std::make_shared<kernel::unsized_kernel>();
  unsized->from = from;
  return kernel(
      std::shared_ptr<const kernel::state>(new kernel::state{.name = name,
                                                             .handle = {},
                                                             .context = from.context,
                                                             .device = from.device,
                                                             .argument_count = s->parameters.size(),
                                                             .max_work_group_size = group,
                                                             .rank = s->rank,
                                                             .parameters = s->parameters,
                                                             .unsized = std::move(unsized)}));
}

kernel program::state::make(const std::string& name) const {
  if (is_unsized(name)) return make_unsized(name);
  if (loaded && !argument_counts.contains(name)) {
    // A name that the text does not show, made by a macro: only what was compiled here tells how
    // many arguments it takes. The kernels that were found already keep what they have.
    built = detail::compile(from.context, from.device, source, from.options);
    loaded = false;
    argument_counts.clear();
  }
  auto handle = built->ext_oneapi_get_kernel(name);
  const bool has_group_size =
      handle.get_info<sycl::info::kernel_device_specific::compile_work_group_size>(from.device)
          .size() != 0;
  const auto& backend = detail::backend_of(from.device);
  const auto known = argument_counts.find(name);
  std::optional<std::size_t> passed;
  if (known != argument_counts.end()) {
    passed = known->second;
  } else if (backend.counts_arguments) {
    passed = handle.get_info<sycl::info::kernel::num_args>();
  }
  const auto group =
      handle.get_info<sycl::info::kernel_device_specific::work_group_size>(from.device);
  auto declared = detail::declaration_of(signatures, name, passed);
  const auto count =
      declared.parameters ? declared.parameters->size() : passed.value_or(kernel::unknown_count);
  return kernel(std::shared_ptr<const kernel::state>(
      new kernel::state{name,
                        std::move(handle),
                        from.context,
                        from.device,
                        count,
                        group,
                        declared.rank,
                        std::move(declared.parameters),
                        name == from.sized ? from.sizes : decltype(from.sizes)(),
                        {},
                        has_group_size}));
}

program program::build(const sycl::queue& queue, std::string source,
                       std::vector<std::string> options) {
  auto all = detail::common_options(detail::backend_of(queue));
  std::ranges::move(options, std::back_inserter(all));
  return build(origin{queue.get_context(), queue.get_device(), std::move(source), std::move(all)});
}

program program::build(origin from) {
  const detail::using_driver inside;
  auto& cache = the_cache<state>();
  cache_key key{from.source, from.context, from.device};
  for (const auto& option : from.options) key.text.append(1, '\0').append(option);
  if (!from.sized.empty()) key.text.append(2, '\0').append(from.sized);
  for (const auto& memory : from.sizes) key.text += detail::shape_text(memory.shape);

  std::promise<std::shared_ptr<const state>> promise;
  {
    std::unique_lock lock(cache.mutex);
    if (const auto hit = cache.programs.find(key); hit != cache.programs.end()) {
      ++cache.counts.found;
      const auto entry = hit->second;
      lock.unlock();
      return program(entry.get());
    }
    if (cache.programs.size() >= cache_capacity) cache.programs.erase(cache.programs.begin());
    cache.programs.emplace(key, promise.get_future().share());
  }
  const auto count = [&](std::size_t cache_counts::* which) {
    const std::lock_guard lock(cache.mutex);
    ++(cache.counts.*which);
  };
  // The next request tries again, unless it can only end the same way.
  const auto fail = [&](bool for_good) {
    if (!for_good) {
      const std::lock_guard lock(cache.mutex);
      cache.programs.erase(key);
    }
    promise.set_exception(std::current_exception());
  };
  std::shared_ptr<state> made;
  try {
    made = std::make_shared<state>(std::move(from));
    if (made->load_from_disk()) {
      count(&cache_counts::loaded);
    } else {
      count(&cache_counts::compiled);
      const traced record(trace_action::build, [&] {
        return detail::traced_on(made->from.device, {.bytes = made->source.size()});
      });
      made->compile();
    }
  } catch (const build_error& e) {
    // What the compiler says about the text it would say again: the text alone decides.
    fail(made && made->input == detail::program_input::text &&
         e.log().find("source:") != std::string::npos);
    throw;
  } catch (...) {
    fail(false);
    throw;
  }
  promise.set_value(made);
  return program(std::move(made));
}

kernel program::get(std::string_view name) const {
  const std::string wanted(name);
  const std::lock_guard lock(state_->mutex);
  if (const auto hit = state_->kernels.find(wanted); hit != state_->kernels.end())
    return hit->second;
  if (wanted.empty() ||
      !(state_->built->ext_oneapi_has_kernel(wanted) || state_->is_unsized(wanted))) {
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

}  // namespace usmx
