// What every launch from Python has to read: its range, its arrays, and what it comes after.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <forward_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/runtime_bindings.hpp"
#include "support/bindings.hpp"
#include "support/error_text.hpp"
#include "usmx/kernel.hpp"
#include "usmx/placement.hpp"

namespace usmx::python {

/// The name of an object's type, for messages.
std::string python_type(nb::handle obj);

/// What stands in the brackets of a launch.
struct bracketed_range {
  launch_range range;
  /// Two plain ints that were taken for a global and a local range.
  bool is_pair = false;
};

/// Reads the brackets. Python makes no difference between k[(8, 8)] and k[8, 8]; the rank of the
/// kernel does: over one dimension two ints are a global and a local range, otherwise they are the
/// global range. A rank of 0 is that of a kernel that runs over any, a negative one is unclear:
/// then two ints are a TypeError that names the forms without doubt, k[n, (m,)] and k[(n, m),
/// None].
bracketed_range to_launch_range(nb::handle key, int rank);

/// Throws if `read` was a pair and an array of the launch has just these lengths: k[x.shape](x)
/// means all elements, and would run over the first axis alone.
void check_pair(const bracketed_range& read, const std::string& kernel, std::size_t argument,
                std::span<const std::int64_t> shape);
inline void check_pair(const bracketed_range& read, const std::string& kernel, std::size_t argument,
                       const array& a) {
  if (read.is_pair) check_pair(read, kernel, argument, a.elements().layout().shape());
}

/// Raises TypeError if there are any: a kernel takes its arguments by position.
void refuse_keywords(const nb::kwargs& keywords, const std::string& kernel);

/// Arrays that were made to read a call's arguments; they last as long as it does.
///
/// Some are what an object shows to the host, as NumPy's arrays do. Such an object knows nothing of
/// queues, so the launch waits for its command before it returns: afterwards the program may read
/// the memory, write it or let it go, as it may after a call of NumPy.
class borrowed_arrays {
 public:
  const array& add(array a) { return arrays_.emplace_front(std::move(a)); }
  /// The argument of this call that was read last is a view of the host's.
  void note_host_view() noexcept { has_host_views_ = true; }
  /// Whether the call has to wait for its command.
  bool has_host_views() const noexcept { return has_host_views_; }

  /// Puts memory of the host that is not USM on the queue of the call: it has none of its own.
  /// `refuse(const array&)` throws for an array that the queue's device cannot use.
  template <class Refuse>
  void put_on(const sycl::queue& queue, Refuse refuse) {
    if (!has_host_views_) return;
    for (array& a : arrays_) {
      if (!is_host_memory(a) || a.queue() == queue) continue;
      if (!reads_host_memory(queue.get_device())) refuse(a);
      a = array::over_host(any_view(a.elements()), queue, a.keep_alive());
    }
  }

 private:
  std::forward_list<array> arrays_;
  bool has_host_views_ = false;
};

/// One Python argument on its way to the kernel.
struct memory_argument {
  /// That of an ndarray of ours, where it is, or one that was made for the call. Null for what has
  /// no memory that kernels use, as numbers have none.
  const array* memory = nullptr;
  /// Bytes that take the type of the parameter.
  bool untyped = false;
};
/// Host memory of rank 0 goes by value: NumPy's scalars, its arrays of rank 0, records, structures
/// of ctypes. `queue` is where the launch runs, if that is known: it decides whether memory of the
/// host can be used. Throws interop_error for a description that is not valid.
memory_argument to_memory(nb::handle obj, borrowed_arrays& borrowed,
                          const sycl::queue* queue = nullptr);
/// The same for a parameter that takes memory only: rank 0 is memory too.
memory_argument to_memory_alone(nb::handle obj, borrowed_arrays& borrowed,
                                const sycl::queue* queue);
/// What is wrong with an argument that `to_memory` found no memory in, and the call that helps:
/// "is of type list; expected ...". `or_else` is what else the parameter takes, as " or a number".
std::string no_memory_text(nb::handle obj, const sycl::device& device,
                           std::string_view or_else = {});

/// Where a launch runs that names no queue: where the first of its arrays is that is USM, else
/// where its first array is, else the default queue.
class queue_of_arrays {
 public:
  void see(const array& a) noexcept {
    const sycl::queue*& first = is_host_memory(a) ? first_host_ : first_;
    if (first == nullptr) first = &a.queue();
  }
  const sycl::queue& get() const {
    return first_ != nullptr ? *first_ : first_host_ != nullptr ? *first_host_ : default_queue();
  }

 private:
  const sycl::queue* first_ = nullptr;
  const sycl::queue* first_host_ = nullptr;
};

/// Puts memory of the host among the arguments of a call on its queue. TypeError for memory that
/// the device cannot use: `called(i)` names argument i, `given(i)` is its object.
template <class Called, class Given>
void put_on_queue(borrowed_arrays& borrowed, const sycl::queue& queue,
                  std::span<const memory_argument> memory, Called called, Given given) {
  borrowed.put_on(queue, [&](const array& a) {
    const auto at = std::ranges::find(memory, &a, &memory_argument::memory);
    const auto i = static_cast<std::size_t>(at - memory.begin());
    throw type_error("{}: {}", called(i), no_memory_text(given(i), queue.get_device()));
  });
}

/// What `depends_on=` says; empty for None: then the memory of the arguments decides the order.
std::optional<std::vector<sycl::event>> to_order(nb::handle depends_on);

/// Bytes without a type of their own, seen as what the kernel declares.
array retyped(const array& bytes, const dtype& type);

/// Launches the kernel and returns its Event: without one of SYCL's where none is needed. If
/// `before` is null, it is ordered by the memory of its arrays, see usmx::ordering. Waits if views
/// of the host are among the `borrowed` arrays. Lets go of the GIL. TypeError for an argument of
/// another type than the kernel declares.
nb::object submit(const kernel& k, sycl::queue& queue, const launch_range& range,
                  std::span<const kernel_argument> arguments, const borrowed_arrays& borrowed,
                  const std::vector<sycl::event>* before = nullptr);

/// Commands that must pass before one on `queue` that uses these arrays and has no `depends_on`, as
/// submission::after finds them. Null ones are passed over.
std::vector<sycl::event> order_of(const sycl::queue& queue,
                                  std::span<const array* const> arguments);

// --- local memory whose size a launch says

/// A `usmx.LocalMemory`; empty for anything else.
std::optional<local_memory> to_local_memory(nb::handle obj);

/// One, or a sequence of them. Throws TypeError.
std::vector<local_memory> to_local_memories(nb::handle obj);

// --- structs: a record of NumPy, a structure of ctypes, or bytes

/// The struct of `type` as the kernel has it in memory, from an object with the same fields in the
/// same order, wherever that has them. `where` begins the message of an error.
/// Throws TypeError (no record; another number, name or type of a field) or ValueError (bytes of
/// another size).
std::vector<std::byte> to_record(nb::handle obj, const dtype& type, const std::string& where);

// --- numbers

/// The number in the type that `parameter` declares; null or a parameter of unknown type takes the
/// type of a NumPy scalar. `where` begins the message of an error.
/// Throws TypeError (not a number, a float for an integer, a complex number) or ValueError (out of
/// the range of the type).
kernel_argument to_scalar(nanobind::handle number, const kernel_parameter* parameter,
                          const std::string& where);

/// A complex number as bytes of `type`, from any number of Python or NumPy. Throws as to_scalar.
std::vector<std::byte> to_complex(nb::handle number, const dtype& type, const std::string& where);

/// The same for an int or float of Python's own in the type that most kernels declare for it, and
/// for a number of NumPy's in its own type; empty for everything else, wrong numbers too: ask
/// `to_scalar`, which needs the text for a message.
std::optional<kernel_argument> plain_scalar(nanobind::handle number,
                                            const kernel_parameter* parameter) noexcept;

}  // namespace usmx::python
