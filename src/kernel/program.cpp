// Compiles programs, keeps them in memory and on disk, and finds their kernels by name.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <future>
#include <iterator>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "core/format.hpp"
#include "kernel/compile.hpp"
#include "kernel/kernel_state.hpp"
#include "kernel/kernel_wrapper.hpp"
#include "kernel/program_cache.hpp"
#include "kernel/program_inputs.hpp"
#include "kernel/program_memory.hpp"
#include "kernel/source/kernel_template.hpp"
#include "runtime/backend.hpp"
#include "runtime/driver_gate.hpp"
#include "runtime/traced_queue.hpp"
#include "usmx/error.hpp"
#include "usmx/kernel.hpp"
#include "usmx/program_cache.hpp"

namespace usmx {

using detail::program_key;
using detail::program_memory;

struct program::state final : detail::held_program, std::enable_shared_from_this<state> {
  explicit state(origin made_from)
      : from(std::move(made_from)),
        signatures(from.declared ? std::vector<detail::signature>()
                                 : detail::read_signatures(from.source, from.options)),
        source(detail::with_wrappers(from.source, signatures, from.sized, from.sizes)),
        input(detail::input_of(from.source, from.options)),
        disk_keys(input == detail::program_input::files
                      ? detail::program_keys()
                      : detail::disk_keys(from.device, source, from.options)) {}

  origin from;
  std::vector<detail::signature> signatures;
  std::string source;  // with the wrappers
  detail::program_input input;
  detail::program_keys disk_keys;
  std::vector<std::string> names;

  mutable std::mutex mutex;
  mutable std::optional<detail::executable> built;  // empty: the code was dropped
  mutable std::size_t bytes = 0;                    // estimate of what dropping it frees
  mutable bool stays = false;                       // the runtime cannot free it
  mutable std::unordered_map<std::string, std::size_t> argument_counts;
  mutable bool loaded = false;
  /// A kernel that was found, and what keeps it while the code is in memory: kernels keep their
  /// program, so this one must end with the code.
  struct found_kernel {
    std::weak_ptr<const kernel::state> known;
    std::shared_ptr<const kernel::state> kept;
  };
  mutable std::unordered_map<std::string, found_kernel> kernels;

  /// Brings the code into memory, from the disk or from the compiler.
  void bring() const;
  /// Calls `act` with the code, which is brought into memory first if necessary.
  template <class Act>
  auto with_code(const Act& act) const;
  void drop_code() const noexcept override;

  bool load_from_disk() const;
  void compile() const;
  void store(std::vector<std::string> files, std::vector<char> binary,
             std::vector<char> object) const noexcept;
  /// The kernels that the text or its author declares, each once.
  std::vector<std::string> declared_names() const;
  void find_names();
  detail::declared_kernel declaration_of(const std::string& name,
                                         std::optional<std::size_t> passed) const;
  /// Whether the kernel of that name needs sizes of local memory that are not known yet.
  bool is_unsized(std::string_view name) const;
  std::shared_ptr<const kernel::state> make(const std::string& name) const;
  std::shared_ptr<const kernel::state> make_unsized(const std::string& name) const;
};

namespace {

program_key key_of(const sycl::context& context, const sycl::device& device,
                   const std::string& source, std::span<const std::string> options,
                   const std::string& sized, std::span<const local_memory> sizes) {
  program_key key{source, context, device};
  for (const auto& option : options) key.text.append(1, '\0').append(option);
  if (!sized.empty()) key.text.append(2, '\0').append(sized);
  for (const auto& memory : sizes) key.text += detail::shape_text(memory.shape);
  return key;
}

struct counters {
  std::atomic<std::size_t> compiled = 0, found = 0, loaded = 0;
};
constinit counters counted;

}  // namespace

void program::state::bring() const {
  detail::keep_compiled_text(source, from.options);
  if (load_from_disk()) {
    ++counted.loaded;
    return;
  }
  compile();
}

template <class Act>
auto program::state::with_code(const Act& act) const {
  std::unique_lock lock(mutex);
  const std::size_t before = built ? bytes : 0;
  if (!built) bring();
  auto result = act(*built);
  const std::size_t now = bytes;
  const bool is_new = now != before;
  lock.unlock();
  if (is_new) {
    program_memory::get().keep(
        key_of(from.context, from.device, from.source, from.options, from.sized, from.sizes),
        shared_from_this(), now);
  } else {
    touch();
  }
  return result;
}

void program::state::drop_code() const noexcept {
  const std::lock_guard lock(mutex);
  if (stays) return;
  for (auto& [name, made] : kernels) {
    made.kept.reset();
    if (const auto k = made.known.lock()) {
      const std::lock_guard one(k->mutex);
      k->handle.reset();
    }
  }
  built.reset();
}

bool program::state::load_from_disk() const {
  // A wrong setting is reported also for programs that are not stored.
  static_cast<void>(program_cache_settings::from_environment());
  const bool is_for_good = !detail::backend_of(from.device).reads_apart;
  bool has_room = true;
  const bool found = detail::find_program(disk_keys, [&](detail::stored_program& stored) {
    const std::size_t taken = detail::estimated_bytes(true, stored.binary.size());
    has_room = !is_for_good || program_memory::get().reserve_for_good(taken);
    if (!has_room) return true;
    built = detail::load(from.context, from.device, stored.binary);
    // A runtime may read a file without taking its kernels.
    const auto is_there = [&](const auto& k) { return built->has(k.name); };
    if (!built || !std::ranges::all_of(stored.kernels, is_there)) {
      built.reset();
      return false;
    }
    loaded = true;
    stays = is_for_good;
    bytes = is_for_good ? 0 : taken;  // already counted
    argument_counts.clear();
    for (auto& k : stored.kernels) argument_counts.emplace(std::move(k.name), k.argument_count);
    return true;
  });
  return found && has_room;
}

std::vector<std::string> program::state::declared_names() const {
  std::vector<std::string> found;
  const auto add = [&](const std::string& name) {
    if (std::ranges::count(found, name) == 0) found.push_back(name);
  };
  for (const auto& s : signatures) add(s.name);
  if (from.declared) {
    for (const auto& k : *from.declared) add(k.name);
  }
  return found;
}

void program::state::find_names() {
  for (std::string& name : declared_names()) {
    if (built->has(name) || is_unsized(name)) names.push_back(std::move(name));
  }
}

detail::declared_kernel program::state::declaration_of(const std::string& name,
                                                       std::optional<std::size_t> passed) const {
  if (!from.declared) return detail::declaration_of(signatures, name, passed);
  const auto found = std::ranges::find(*from.declared, name, &kernel_declaration::name);
  if (found == from.declared->end()) return {};
  return {found->parameters, found->rank};
}

void program::state::compile() const {
  detail::check_by_value(detail::backend_of(from.device), signatures);
  ++counted.compiled;
  const traced record(trace_action::build,
                      [&] { return detail::traced_on(from.device, {.bytes = source.size()}); });
  const bool lists_files = !disk_keys.exact.empty() && input == detail::program_input::headers;
  std::optional<detail::read_files> read;
  if (lists_files) read.emplace();
  std::vector<char> object;
  try {
    built = detail::compile(from.context, from.device, source, from.options,
                            read ? &*read : nullptr, detail::is_recording() ? &object : nullptr);
  } catch (const build_error& e) {
    // The compiler quotes lines with the names in the wrappers.
    throw build_error(detail::without_wrappers(e.what()), detail::without_wrappers(e.log()));
  }
  loaded = stays = false;
  argument_counts.clear();
  std::vector<char> binary;
  if (detail::backend_of(from.device).keeps_binaries) {
    try {
      binary = built->content();
    } catch (const sycl::exception&) {  // it runs without being stored
    }
  }
  bytes = detail::estimated_bytes(false, binary.size());
  std::vector<std::string> files;
  if (!read || read->get(files)) {
    store(std::move(files), std::move(binary), std::move(object));
  }
}

void program::state::store(std::vector<std::string> files, std::vector<char> binary,
                           std::vector<char> object) const noexcept {
  if (disk_keys.exact.empty() || binary.empty()) return;
  const auto& backend = detail::backend_of(from.device);
  try {
    detail::stored_program program;
    program.files = std::move(files);
    program.binary = std::move(binary);
    for (const std::string& name : declared_names()) {
      if (is_unsized(name) || !built->has(name)) continue;
      const auto handle = built->get(name, from.context);
      using size_of_group = sycl::info::kernel_device_specific::compile_work_group_size;
      if (!backend.binaries_hold_groups &&
          handle.get_info<size_of_group>(from.device).size() != 0) {
        return;
      }
      program.kernels.push_back({name, handle.get_info<sycl::info::kernel::num_args>()});
    }
    detail::store_program(disk_keys.exact, from.device.get_info<sycl::info::device::name>(),
                          program);
    // Of the headers that were read a package needs nothing.
    if (!object.empty()) {
      detail::record_object(disk_keys.portable, {program.kernels, std::move(object), {}});
    }
  } catch (...) {  // it runs without being stored
  }
}

bool program::state::is_unsized(std::string_view name) const {
  return name != from.sized && std::ranges::any_of(signatures, [&](const auto& s) {
           return s.name == name && detail::takes_local(s);
         });
}

std::shared_ptr<const kernel::state> program::state::make_unsized(const std::string& name) const {
  const auto s = std::ranges::find(signatures, name, &detail::signature::name);
  detail::check_wrapper(*s);
  const auto group = from.device.get_info<sycl::info::device::max_work_group_size>();
  auto unsized = std::make_shared<kernel::unsized_kernel>();
  unsized->from = from;
  return std::shared_ptr<const kernel::state>(
      new kernel::state{.name = detail::shown_name(name),
                        .code_name = name,
                        .context = from.context,
                        .device = from.device,
                        .argument_count = s->parameters.size(),
                        .max_work_group_size = group,
                        .rank = s->rank,
                        .parameters = s->parameters,
                        .unsized = std::move(unsized),
                        .backend = &detail::backend_of(from.device)});
}

std::shared_ptr<const kernel::state> program::state::make(const std::string& name) const {
  if (is_unsized(name)) return make_unsized(name);
  if (loaded && !argument_counts.contains(name)) {
    // A name that a macro makes: the number of its arguments is known only after compilation in
    // this process. Kernels that were found before keep their handles.
    compile();
  }
  auto handle = built->get(name, from.context);
  const bool has_group_size =
      handle.get_info<sycl::info::kernel_device_specific::compile_work_group_size>(from.device)
          .size() != 0;
  const auto& backend = detail::backend_of(from.device);
  const auto known = argument_counts.find(name);
  std::optional<std::size_t> passed;
  if (backend.counts_arguments) {
    passed = known != argument_counts.end() ? known->second
                                            : handle.get_info<sycl::info::kernel::num_args>();
  }
  const auto group =
      handle.get_info<sycl::info::kernel_device_specific::work_group_size>(from.device);
  auto declared = declaration_of(name, passed);
  const auto count =
      declared.parameters ? declared.parameters->size() : passed.value_or(kernel::unknown_count);
  return std::shared_ptr<const kernel::state>(
      new kernel::state{.name = detail::shown_name(name),
                        .code_name = name,
                        .context = from.context,
                        .device = from.device,
                        .argument_count = count,
                        .max_work_group_size = group,
                        .rank = declared.rank,
                        .parameters = std::move(declared.parameters),
                        .local = name == from.sized ? from.sizes : decltype(from.sizes)(),
                        .has_group_size = has_group_size,
                        .backend = &backend,
                        .from = shared_from_this(),
                        .handle = std::move(handle)});
}

sycl::kernel kernel::state::code() const {
  {
    const std::lock_guard lock(mutex);
    if (handle) {
      from->touch();
      return *handle;
    }
  }
  return from->with_code([&](detail::executable& built) {
    auto found = built.get(code_name, context);
    const std::lock_guard lock(mutex);
    handle = found;
    return found;
  });
}

program program::build(const sycl::queue& queue, std::string source,
                       std::vector<std::string> options) {
  auto all = detail::common_options(detail::backend_of(queue));
  std::ranges::move(options, std::back_inserter(all));
  return build(origin{queue.get_context(), queue.get_device(), std::move(source), std::move(all)});
}

program program::build(const sycl::queue& queue, kernel_source source) {
  auto all = detail::common_options(detail::backend_of(queue));
  std::ranges::move(source.options, std::back_inserter(all));
  return build(origin{.context = queue.get_context(),
                      .device = queue.get_device(),
                      .source = std::move(source.text),
                      .options = std::move(all),
                      .declared = std::move(source.kernels)});
}

program program::build(origin from) {
  const detail::driver_entry inside;
  auto& memory = program_memory::get();
  const auto key =
      key_of(from.context, from.device, from.source, from.options, from.sized, from.sizes);
  std::promise<program_memory::held> promise;
  if (const auto there = memory.find_or_add(key, promise.get_future().share())) {
    ++counted.found;
    return program(std::static_pointer_cast<const state>(there->get()));
  }
  std::shared_ptr<state> made;
  try {
    made = std::make_shared<state>(std::move(from));
    made->bring();
    made->find_names();
  } catch (const build_error& e) {
    // The next request tries again, unless the result would be the same: an error of the compiler
    // in a program that depends on its text only.
    const bool is_for_good = made && made->input == detail::program_input::text &&
                             e.log().find("source:") != std::string::npos;
    if (!is_for_good) memory.forget(key);
    promise.set_exception(std::current_exception());
    if (is_for_good) memory.keep(key, nullptr, key.text.size() + 2 * e.log().size());
    throw;
  } catch (...) {
    memory.forget(key);
    promise.set_exception(std::current_exception());
    throw;
  }
  promise.set_value(made);
  memory.keep(key, made, made->bytes);
  return program(std::move(made));
}

kernel program::get(std::string_view name) const {
  const std::string wanted(name);
  {
    const std::lock_guard lock(state_->mutex);
    const auto hit = state_->kernels.find(wanted);
    if (const auto known = hit == state_->kernels.end() ? nullptr : hit->second.known.lock()) {
      return kernel(known);
    }
  }
  const detail::driver_entry inside;
  if (detail::names_instance(wanted)) {
    auto [source, instance] = detail::instantiated(state_->from.source, wanted);
    auto from = state_->from;
    from.source = std::move(source);
    return build(std::move(from)).get(instance);
  }
  const auto is_wanted_template = [&](const auto& s) {
    return s.name == wanted && s.is_template();
  };
  if (std::ranges::any_of(state_->signatures, is_wanted_template)) {
    throw std::out_of_range(detail::format(
        "kernel '{0}' is a template; name its arguments too, as in '{0}<float>'", wanted));
  }
  return state_->with_code([&](detail::executable& built) {
    if (wanted.empty() || !(built.has(wanted) || state_->is_unsized(wanted))) {
      throw std::out_of_range(detail::format(
          "no kernel named '{}'; {}", wanted,
          state_->names.empty() ? "the source has none: declare one with USMX_KERNEL(rank)"
                                : "there are: " + detail::joined(state_->names)));
    }
    auto& found = state_->kernels[wanted];
    auto made = found.known.lock();
    if (!made) made = state_->make(wanted);
    found = {made, made};
    return kernel(std::move(made));
  });
}

const std::vector<std::string>& program::names() const noexcept { return state_->names; }

program::cache_counts program::counts() {
  return {counted.compiled, counted.found, counted.loaded};
}

std::size_t link_for_package(const sycl::queue& queue, const std::filesystem::path& objects,
                             const std::filesystem::path& package) {
  const detail::driver_entry inside;
  const auto device = queue.get_device();
  const auto kind = detail::compiled_kind();
  const auto kinds = processor_kinds();
  if (!detail::backend_of(device).has_processor_kinds || std::ranges::count(kinds, kind) == 0) {
    throw std::invalid_argument(
        detail::format("CL_CONFIG_CPU_TARGET_ARCH: '{}' is not a kind of processor that packages "
                       "hold programs for; "
                       "expected one of {}, and a CPU device",
                       kind, detail::joined(kinds)));
  }
  return detail::link_recorded(objects, package, kind, [&](std::vector<char>& object) {
    return detail::linked(queue, object);
  });
}

program::memory_use program::memory() { return program_memory::get().use(); }

std::size_t program::set_memory_limit(std::size_t bytes) {
  const detail::driver_entry inside;
  return program_memory::get().set_limit(bytes);
}

}  // namespace usmx
