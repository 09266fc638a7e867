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

}  // namespace

void bind_process_memory(nb::module_& m) {
  m.def(
      "_process_way",
      [](nb::handle device) {
        const sycl::device of = to_device(device);
        std::string why;
        const detail::process_handles* const found = detail::process_handles_of(of, &why);
        return nb::make_tuple(found != nullptr ? found->name : "", why);
      },
      nb::arg("device"), nb::sig("def _process_way(device: Any) -> tuple[str, str]"),
      "What handles of device memory are called, or an empty string and why there are none.");
  m.def(
      "_process_make",
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
      nb::arg("queue"), nb::arg("token"), nb::arg("nbytes"), nb::arg("descriptor"),
      nb::sig("def _process_make(queue: Any, token: str, nbytes: int, descriptor: int) -> ndarray"),
      "Bytes that other processes can open; the descriptor is theirs.");
  m.def(
      "_process_open",
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
      nb::arg("queue"), nb::arg("token"), nb::arg("nbytes"), nb::arg("descriptor"),
      nb::arg("handle"),
      nb::sig("def _process_open(queue: Any, token: str, nbytes: int, descriptor: int, "
              "handle: bytes) -> ndarray | None"),
      "The bytes of another process, or None if it let go of them or ended.");
  m.def(
      "_process_find",
      [](nb::handle token) {
        return wrap_or_none(detail::find_process_memory(to_text(token, "token")));
      },
      nb::arg("token"), nb::sig("def _process_find(token: str) -> ndarray | None"),
      "The bytes of that name that are in use here.");
  m.def(
      "_process_place",
      [](nb::handle x) -> nb::object {
        const array& a = value_of(x);
        const detail::process_owner* const block = detail::process_owner_of(a);
        if (block == nullptr) return nb::none();
        const auto offset = static_cast<std::byte*>(a.data()) - block->base();
        return nb::make_tuple(block->place().token, block->place().bytes,
                              static_cast<std::int64_t>(offset), block->place().descriptor,
                              to_python(block->handle()));
      },
      nb::arg("x"),
      nb::sig("def _process_place(x: ndarray) -> tuple[str, int, int, int, bytes] | None"),
      "Name, length, offset, descriptor and handle of the memory, if processes can open it.");
  m.def(
      "_process_point",
      [](nb::handle x) {
        const array a = value_of(x);
        detail::handle_bytes point;
        {
          const gil_released release;
          point = detail::point_for_processes(a);
        }
        return to_python(point);
      },
      nb::arg("x"), nb::sig("def _process_point(x: ndarray) -> bytes"),
      "Where another process goes on behind all that was submitted on the memory.");
  m.def(
      "_process_come_after",
      [](nb::handle x, const nb::bytes& point) {
        const array a = value_of(x);
        const gil_released release;
        detail::come_after_point(a, bytes_of(point));
      },
      nb::arg("x"), nb::arg("point"),
      nb::sig("def _process_come_after(x: ndarray, point: bytes) -> None"),
      "What is submitted from now on comes after a point of another process.");
  m.def(
      "_process_left", [] { return detail::free_left_process_memory(); },
      nb::sig("def _process_left() -> int"),
      "Free blocks whose receivers are gone; how many wait for theirs.");
  m.def(
      "_process_use",
      [](nb::handle form, nb::handle library) {
        const std::string name = to_text(form, "form"), file = to_text(library, "library");
        detail::use_process_form(name == "cuda"      ? detail::process_form::cuda
                                 : name == "runtime" ? detail::process_form::runtime
                                                     : detail::process_form::none,
                                 file.empty() ? nullptr : file.c_str());
      },
      nb::arg("form"), nb::arg("library") = "",
      nb::sig("def _process_use(form: str, library: str = '') -> None"),
      "For tests: all devices have this form, with the driver's functions of a library.");
}

}  // namespace usmx::python
