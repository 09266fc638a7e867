// Kernels from text: SYCL C++ compiled at run time for a queue's device, found by name, and
// launched after checks of everything that the runtime would silently accept or crash on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <sycl/event.hpp>
#include <sycl/queue.hpp>

#include "usmx/array.hpp"
#include "usmx/dtype.hpp"
#include "usmx/launch_range.hpp"

namespace usmx {

/// One parameter of a kernel as its source declares it.
struct kernel_parameter {
  /// The declaration as written, "const float* x": what error messages quote.
  std::string text;
  bool pointer = false;
  /// A pointer to const: the kernel does not write through it.
  bool read_only = false;
  /// Type of the scalar, of the struct (with its padding), or of what the pointer points at; empty
  /// for void, pointers to structs, and types whose definition the source text does not show.
  std::optional<dtype> type;

  /// A view of the prelude, `usmx::strided<float, 2>`: takes an array, of which the kernel gets
  /// pointer, shape and, if strided, strides. `type` and `read_only` are those of its elements.
  /// `local`, a `usmx::local_view<float, 1>`, takes `local_memory`, of which nothing is passed.
  enum class view_form : std::uint8_t { none, dense, strided, local };
  view_form view = view_form::none;
  int rank = 0;  ///< of the view; -1 if the source does not show it
  /// "x" and, of a view or struct, "usmx::strided<float, 2>".
  std::string name, type_name;
};

/// Memory that the items of a group share, of a size given at launch: the argument for a
/// `usmx::local_view<T, N>`. For each size the kernel is compiled once.
struct local_memory {
  usmx::dtype type;
  extents shape;
};

/// What a launch passes for one parameter: a scalar of up to eight bytes, a struct, a USM pointer,
/// an array, which is checked and kept alive, or a size of local memory.
class kernel_argument {
 public:
  /// An arithmetic value, with the bytes of its own type.
  template <class T>
    requires(std::is_arithmetic_v<T> || is_half<T> || std::is_same_v<T, bfloat16>)
  kernel_argument(
      T value) noexcept  // NOLINT: implicit, so that a list of values is a list of these
      : kernel_argument(dtype::of<T>(), &value) {}
  /// A USM pointer of the queue's context, taken as it is: nothing keeps its memory alive.
  kernel_argument(const void* pointer) noexcept  // NOLINT: implicit
      : form_(form::pointer), pointer_(pointer) {}
  /// The first element of an array, which must outlive the call (not the kernel).
  kernel_argument(const usmx::array& a) noexcept  // NOLINT: implicit
      : form_(form::array), pointer_(a.data()), array_(&a) {}
  /// The same array, of which the kernel gets the address of another element.
  kernel_argument(const usmx::array& a, const void* element) noexcept
      : form_(form::array), pointer_(element), array_(&a) {}
  /// Local memory, which must outlive the call.
  kernel_argument(const local_memory& memory) noexcept  // NOLINT: implicit
      : form_(form::local), local_(&memory) {}
  /// A scalar known by its type and bytes, at most eight of them; or a struct, `dtype::of<S>()` or
  /// the whole record, whose bytes must outlive the call.
  kernel_argument(const dtype& type, const void* bytes) noexcept;

  bool is_scalar() const noexcept { return form_ == form::scalar; }
  const void* pointer() const noexcept { return pointer_; }
  /// Null unless the argument is an array.
  const usmx::array* array() const noexcept { return array_; }
  /// Null unless the argument is local memory.
  const local_memory* local() const noexcept { return local_; }
  const dtype& type() const noexcept { return type_; }
  std::uint64_t bits() const noexcept { return bits_; }

 private:
  enum class form : std::uint8_t { scalar, pointer, array, local };

  form form_;
  const void* pointer_ = nullptr;
  const usmx::array* array_ = nullptr;
  const local_memory* local_ = nullptr;
  dtype type_;
  std::uint64_t bits_ = 0;
};

/// A kernel as a text declares it.
struct kernel_declaration {
  std::string name;
  int rank = 1;  ///< dimensions of its range
  /// Empty if nothing is said about them.
  std::optional<std::vector<kernel_parameter>> parameters;
};

/// A generated text, together with what it declares: the text is not parsed. It can use the
/// prelude.
struct kernel_source {
  std::string text;
  std::vector<kernel_declaration> kernels;
  std::vector<std::string> options = {};
};

namespace detail {
struct own_launch;
}

/// What a launch waits for, in addition to the events that it is given.
enum class ordering : std::uint8_t {
  /// What was submitted on the memory of its arrays, on any queue, as a copy does; see submission.
  automatic,
  /// Nothing: the caller passes all events that matter.
  by_hand,
};

/// What a kernel, as compiled for its device, needs and supports there.
struct kernel_limits {
  std::size_t max_work_group_size = 0;  ///< work-items
  /// Work-groups of a multiple of this many items use the device best.
  std::size_t preferred_work_group_size_multiple = 0;
  /// As the source requires it, in SYCL's order and as many as the kernel has dimensions; zeros if
  /// it does not.
  std::array<std::size_t, 3> required_work_group_size{};
  std::size_t private_memory = 0;             ///< bytes for each work-item, 0 if registers suffice
  std::uint32_t max_sub_group_size = 0;       ///< work-items
  std::uint32_t max_sub_groups = 0;           ///< of a work-group
  std::uint32_t required_sub_group_size = 0;  ///< as the source requires it, or 0
};

/// A compiled kernel, ready to launch on the device it was built for. Cheap to copy, thread-safe.
class kernel {
 public:
  const std::string& name() const noexcept;
  /// What the source declares; empty optional if the declaration could not be read, as with a
  /// parameter list that a macro makes. Then only the number of arguments is checked.
  const std::optional<std::vector<kernel_parameter>>& parameters() const noexcept;
  std::size_t argument_count() const noexcept;
  /// The `argument_count` if neither the runtime nor the source tells it. Then every number of
  /// arguments is accepted.
  static constexpr std::size_t unknown_count = std::size_t(-1);
  /// Dimensions of its range as declared, 0 if the declaration could not be read.
  int rank() const noexcept;
  /// Whether it was compiled for the queue's context and device.
  bool is_for(const sycl::queue& queue) const noexcept;
  /// The most work-items that a work-group of this kernel may have. For a kernel with local memory
  /// of which the sizes are not known yet, it is the device's.
  std::size_t max_work_group_size() const noexcept;
  /// Queried from the driver each time. A figure that it does not have is 0. Throws
  /// std::invalid_argument for a kernel with local memory whose sizes are not given yet.
  kernel_limits limits() const;
  /// The kernel as it is compiled for these sizes, one for each `usmx::local_view` in order. It
  /// takes the same arguments as before; `launch` finds it by itself. Throws std::invalid_argument
  /// (count, rank, a length below 1, more bytes than the device has), interop_error
  /// (dtype_mismatch), build_error.
  kernel with_local(std::span<const local_memory> sizes) const;

  /// Submits the kernel after `depends` and, unless `order` is by_hand, after what its arrays wait
  /// for on any queue. The memory of arrays is marked as used on `queue`.
  /// Throws std::invalid_argument (another context or device, count of arguments, rank of the
  /// range, work-group too large) and interop_error (kind_mismatch: scalar for pointer or the
  /// reverse; dtype_mismatch; read_only: a read-only array for a pointer that is not to const).
  sycl::event launch(const sycl::queue& queue, const launch_range& range,
                     std::span<const kernel_argument> arguments,
                     std::span<const sycl::event> depends = {},
                     ordering order = ordering::automatic) const;
  /// The same with a list of arguments: `k.launch(queue, 100, {x, y, 2.0f})`.
  sycl::event launch(const sycl::queue& queue, const launch_range& range,
                     std::initializer_list<kernel_argument> arguments,
                     std::span<const sycl::event> depends = {},
                     ordering order = ordering::automatic) const {
    return launch(queue, range, std::span(arguments.begin(), arguments.size()), depends, order);
  }

  /// Submits the kernel without an event, which is faster. To wait for it, wait for the queue, or
  /// for a `marker` on it. Checks and throws as `launch` does.
  void enqueue(const sycl::queue& queue, const launch_range& range,
               std::span<const kernel_argument> arguments,
               std::span<const sycl::event> depends = {},
               ordering order = ordering::automatic) const;
  void enqueue(const sycl::queue& queue, const launch_range& range,
               std::initializer_list<kernel_argument> arguments,
               std::span<const sycl::event> depends = {},
               ordering order = ordering::automatic) const {
    enqueue(queue, range, std::span(arguments.begin(), arguments.size()), depends, order);
  }

 private:
  friend class program;
  friend struct detail::own_launch;
  struct state;
  struct unsized_kernel;
  /// "argument 1 of kernel 'f' (float* x)": the beginning of messages.
  std::string describe_argument(std::size_t index) const;
  void check_count(std::size_t arguments) const;
  /// The kernel for the local memory among the arguments.
  kernel sized_for(std::span<const kernel_argument> arguments) const;
  void check(const sycl::queue& queue, const launch_range& range,
             std::span<const kernel_argument> arguments) const;
  void check_range(const launch_range& range) const;
  /// Empty if there is no event, because none is needed.
  std::optional<sycl::event> submit(const sycl::queue& queue, const launch_range& range,
                                    std::span<const kernel_argument> arguments,
                                    std::span<const sycl::event> depends, ordering order,
                                    bool needs_event) const;
  explicit kernel(std::shared_ptr<const state> s) noexcept : state_(std::move(s)) {}
  std::shared_ptr<const state> state_;
};

/// Source compiled for one context and device. Cheap to copy, thread-safe.
///
/// Source that includes a SYCL header is compiled as it is and needs C++ headers on the machine.
/// Other source uses the prelude (kernels/prelude.hpp), which needs none and compiles in a
/// tenth of the time: `USMX_KERNEL(1) scale(float* x, float a) { ... }`.
class program {
 public:
  /// Compiles for the queue's context and device, or returns what was compiled before from the same
  /// source and options, in this process or, if the runtime can store binaries, in an earlier
  /// one: see usmx/program_cache.hpp. Threads that build the same program wait for one
  /// compilation. Throws build_error with the compiler's log, whose lines are those of `source`.
  static program build(const sycl::queue& queue, std::string source,
                       std::vector<std::string> options = {});
  static program build(const sycl::queue& queue, kernel_source source);

  /// The kernel of that name. Throws std::out_of_range with the names of all kernels.
  kernel get(std::string_view name) const;
  /// The names of all kernels, in the order of the source.
  const std::vector<std::string>& names() const noexcept;

  /// How often `build` compiled, found the program in memory, and read it from disk.
  struct cache_counts {
    std::size_t compiled = 0;
    std::size_t found = 0;
    std::size_t loaded = 0;
  };
  static cache_counts counts();

  struct memory_use {
    std::size_t programs = 0;   ///< whose code is in memory
    std::size_t bytes = 0;      ///< of it: estimated from the sizes of the binaries
    std::size_t permanent = 0;  ///< of these: code that a runtime reads for good
    std::size_t limit = 0;      ///< from USMX_PROGRAM_MEMORY, or 256 MiB
  };
  static memory_use memory();
  /// Above this limit the least recently used code leaves memory. Programs and kernels stay usable:
  /// the next launch loads or compiles it again. Returns the limit before.
  static std::size_t set_memory_limit(std::size_t bytes);

 private:
  friend class kernel;
  struct state;
  struct origin;
  static program build(origin from);
  explicit program(std::shared_ptr<const state> s) noexcept : state_(std::move(s)) {}
  std::shared_ptr<const state> state_;
};

namespace detail {

/// An embedded file of kernels/, named by its path there; empty if there is none.
std::string_view kernel_file(std::string_view name);
/// The paths of all embedded files.
std::span<const std::string_view> kernel_file_names();

}  // namespace detail
}  // namespace usmx
