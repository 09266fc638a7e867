// Device memory of several processes for `usmx.ipc`, which knows files, handles and their states.
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <nanobind/stl/string.h>

#include "array/ndarray.hpp"
#include "memory/process_memory.hpp"
#include "runtime/process_handles.hpp"
#include "submission/process_order.hpp"
#include "support/bindings.hpp"
#include "support/gil.hpp"
#include "support/signature.hpp"
#include "support/text.hpp"

namespace usmx::python {
namespace {

nb::bytes to_python(const detail::handle_bytes& handle) {
  return nb::bytes(handle.data(), handle.size());
}

std::span<const std::byte> bytes_of(const nb::bytes& handle) {
  return {static_cast<const std::byte*>(handle.data()), handle.size()};
}

nb::object wrap_or_none(const std::optional<array>& found) {
  return found ? wrap_array(*found) : nb::none();
}

/// Its state is the process's: the blocks that are open.
struct process_memory {};

}  // namespace

void bind_process_memory(nb::module_& m) {
  nb::class_<process_memory> c(m, "_ProcessMemory",
                               "Blocks of device memory that several processes have.");
  c.def(nb::init<>());
  c.def(
      "way(device: Any) -> tuple[str, str]"_sig,
      [](nb::handle device) {
        const sycl::device of = to_device(device);
        std::string why;
        const detail::process_handles* const found = detail::process_handles_of(of, &why);
        return nb::make_tuple(found != nullptr ? found->name : "", why);
      },
      "What handles of device memory are called, or an empty string and why there are none.");
  c.def(
      "allocate(queue: Any, token: str, nbytes: int, descriptor: int) -> ndarray"_sig,
      [](nb::handle queue, nb::handle token, std::size_t nbytes, int descriptor) {
        const sycl::queue on = to_queue(queue);
        const std::string name = to_text(token, "token");
        array made;
        {
          const gil_released release;
          made = detail::make_process_memory(on, {name, nbytes, descriptor});
        }
        return wrap_array(std::move(made));
      },
      "Bytes that other processes can open; the descriptor is theirs.");
  c.def(
      "opened(queue: Any, token: str, nbytes: int, descriptor: int, "
      "handle: bytes) -> ndarray | None"_sig,
      [](nb::handle queue, nb::handle token, std::size_t nbytes, int descriptor,
         const nb::bytes& handle) {
        const sycl::queue on = to_queue(queue);
        const std::string name = to_text(token, "token");
        std::optional<array> opened;
        {
          const gil_released release;
          opened = detail::open_process_memory(on, {name, nbytes, descriptor}, bytes_of(handle));
        }
        return wrap_or_none(opened);
      },
      "The bytes of another process, or None if it let go of them or ended.");
  c.def(
      "find(token: str) -> ndarray | None"_sig,
      [](nb::handle token) {
        return wrap_or_none(detail::find_process_memory(to_text(token, "token")));
      },
      "The bytes of that name that are in use here.");
  c.def(
      "fields(x: ndarray) -> tuple[str, int, int, int, bytes] | None"_sig,
      [](nb::handle x) -> nb::object {
        const array& a = value_of(x);
        const detail::process_owner* const block = detail::process_owner_of(a);
        if (block == nullptr) return nb::none();
        const auto offset = static_cast<std::byte*>(a.data()) - block->base();
        return nb::make_tuple(block->place().token, block->place().bytes,
                              static_cast<std::int64_t>(offset), block->place().descriptor,
                              to_python(block->handle()));
      },
      "Name, length, offset, descriptor and handle of the memory, if processes can open it.");
  c.def(
      "point(x: ndarray) -> bytes"_sig,
      [](nb::handle x) {
        const array a = value_of(x);
        detail::handle_bytes point;
        {
          const gil_released release;
          point = detail::point_for_processes(a);
        }
        return to_python(point);
      },
      "Where another process goes on behind all that was submitted on the memory.");
  c.def(
      "come_after(x: ndarray, point: bytes) -> None"_sig,
      [](nb::handle x, const nb::bytes& point) {
        const array a = value_of(x);
        const gil_released release;
        detail::come_after_point(a, bytes_of(point));
      },
      "What is submitted from now on comes after a point of another process.");
}

}  // namespace usmx::python
