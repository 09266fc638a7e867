// What the files behind `usmx.memory` share: the object that Python holds, and the check that it
// was not freed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "support/bindings.hpp"
#include "support/self.hpp"

namespace usmx::python {

/// A run of bytes in USM. One that was sliced out of another is a view: it keeps its root alive and
/// is freed with it.
struct memory {
  explicit memory(array&& a) noexcept : bytes(std::move(a)) {}
  memory(any_view&& all, const sycl::queue& queue, shared_owner owner)
      : bytes(array::over(std::move(all), queue, std::move(owner))) {}
  memory(array a, nb::object of) noexcept;
  memory(const memory&) = delete;
  memory& operator=(const memory&) = delete;
  ~memory();

  bool freed() const noexcept { return freed_; }
  bool is_view() const noexcept { return root_.is_valid(); }
  const nb::object& root() const noexcept { return root_; }
  /// Gives the bytes back, for the views as well; a view alone is only marked. Throws
  /// nb::buffer_error while buffers are exported or anything but these objects uses the bytes.
  void free();
  /// A buffer of the host was handed out, or came back.
  void count_export(int change) noexcept;

  array bytes;

 private:
  memory& root_memory() noexcept { return is_view() ? *nb::inst_ptr<memory>(root_) : *this; }

  // Guarded by the GIL. The views of a root form a list that starts at the root itself.
  nb::object root_;
  memory* next_ = nullptr;
  memory* previous_ = nullptr;
  Py_ssize_t exports_ = 0;
  Py_ssize_t calls_ = 0;  // that look at the bytes of the root or of one of its views
  bool freed_ = false;

  friend class live_bytes;
};

// One type for each class in Python; they differ in name only.
struct memory_device final : memory {
  using memory::memory;
};
struct memory_shared final : memory {
  using memory::memory;
};
struct memory_host final : memory {
  using memory::memory;
};

/// The bytes of a memory for as long as a call looks at them: `free()` refuses meanwhile, so they
/// stay where they are although the call lets go of the GIL or runs code of Python. The caller of
/// the method keeps the object itself. Made and destroyed with the GIL, which guards the count: a
/// reference to the owner would cost two atomic operations in each call.
class live_bytes {
 public:
  explicit live_bytes(memory& m) noexcept : calls_(&m.root_memory().calls_), bytes_(&m.bytes) {
    ++*calls_;
  }
  /// Of an object that keeps its array as long as it lives.
  explicit live_bytes(const array& elements) noexcept : bytes_(&elements) {}
  live_bytes(live_bytes&& other) noexcept
      : calls_(std::exchange(other.calls_, nullptr)), bytes_(other.bytes_) {}
  live_bytes& operator=(live_bytes&&) = delete;
  ~live_bytes() {
    if (calls_ != nullptr) --*calls_;
  }
  const array& operator*() const noexcept { return *bytes_; }
  const array* operator->() const noexcept { return bytes_; }

 private:
  Py_ssize_t* calls_ = nullptr;
  const array* bytes_;
};
/// The bytes of a memory that was not freed. Throws ValueError.
live_bytes live(const memory& m);
/// The same for writing. Throws ValueError if it is read-only, naming the operation.
live_bytes writable(const memory& m, const char* operation);

/// The one door to new memory: at once where nothing has to be waited for, otherwise without the
/// GIL. Throws as usmx::allocate does.
shared_owner allocate_bytes(const sycl::queue& queue, usm_kind kind, std::size_t bytes,
                            std::size_t alignment = default_alignment);
/// `count` elements of one byte from `first` on.
any_view byte_run(std::byte* first, std::size_t count, usm_kind kind, bool read_only);
/// The first bytes of a view of contiguous bytes, seen as other elements in C order. Sets `code`
/// where that is not possible.
any_view seen_as(const any_view& bytes, const layout& like, const dtype& type, fault& code);
/// Any view taken apart into bytes, with one more dimension: such a view is always aligned.
any_view single_bytes(const any_view& v);
/// The bytes from the lowest element of an array to its highest, as an array.
array byte_span(array a);
/// The array behind an object: our own, or one that its protocol describes.
std::optional<array> to_array(nb::handle obj);
/// `busy()`, without the GIL where a queue has to be asked. Takes a reference of its own then, so
/// that the memory is not freed meanwhile.
bool is_busy(const shared_owner& asked) noexcept;
/// Waits for what was submitted on the bytes, if there is something.
void wait_for_work(const array& a);
/// The same before the host looks at them by their address, for as long as it likes.
void expose_to_host(const array& a);
/// The same for a view that ends with what this gives.
[[nodiscard]] host_access show_to_host(const array& a);
/// The same for commands of ours only: before others use the memory, who order their own.
void wait_for_own_work(const array& a);
/// Lets `try_submitted` of its owner know which commands have ended: launches leave no event, so
/// only their queue knows. Neither waits nor submits.
void remember_ended_work(const array& a);
/// Before the address leaves together with the array's queue; without the GIL where that may wait.
void expose(const array& a);
/// The same with another queue, which others submit to.
void expose(const array& a, const sycl::queue& queue);
/// Of memory whose address another library has, before or after us: where the host can read it,
/// code that knows no queue of ours may use it at any time, so commands are waited for.
void reached_without_queue(const array& a);
/// Raised for objects without USM: a TypeError, and a ValueError for code that expects dpctl's.
[[noreturn]] void raise_not_usm(nb::handle obj, const char* where);

// --- memory_copies.cpp
void copy_elements(const array& to, const array& from);
void bind_copies(nb::class_<memory>& c);

/// Whether the host may touch the memory at once (within its reach, of ours, nothing pending) and
/// no device would do it faster.
bool is_idle_for_host(const array& a) noexcept;
/// A copy by the host between such memory, inside of `holds`, and bytes that the caller holds. Lets
/// go of the GIL if it takes long.
void move_bytes(const array& holds, void* to, const void* from, std::size_t bytes);

// --- python_owner.cpp
/// A buffer that stays exported as long as this lives. Ends with the GIL.
struct buffer_end {
  void operator()(Py_buffer* b) const noexcept {
    PyBuffer_Release(b);
    delete b;
  }
};
using held_buffer = std::unique_ptr<Py_buffer, buffer_end>;
/// `own_python` of the object behind a buffer, which stays exported.
shared_owner own_buffer(held_buffer buffer, void* base, std::size_t bytes);
/// Whether the memory belongs to a Python object, and to which; None if to none.
bool borrowed_from_python(const array& a) noexcept;
nb::object lender_of(const array& a);
/// Gives back what threads without the GIL could not. Needs the GIL.
void release_waiting_objects() noexcept;
/// Waits for all memory that was freed while commands were running on it, and gives all free memory
/// back to the driver.
void drain_and_trim();
void bind_python_owner();

}  // namespace usmx::python
