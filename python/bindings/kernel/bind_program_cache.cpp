// What is kept of compiled programs, on disk and in memory, for the command `usmx cache`.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "support/bindings.hpp"
#include "support/containers.hpp"
#include "support/examples.hpp"
#include "support/signature.hpp"
#include "usmx/kernel.hpp"
#include "usmx/program_cache.hpp"
#include "usmx/runtime.hpp"

namespace usmx::python {
namespace {

/// As Python spells paths: bytes that are not UTF-8 become surrogates.
nb::object to_str(const std::filesystem::path& path) {
  const auto& bytes = path.native();
  PyObject* const made =
      PyUnicode_DecodeFSDefaultAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size()));
  if (made == nullptr) throw nb::python_error();
  return nb::steal(made);
}

/// A sequence of bytes.
std::vector<std::string> to_texts(nb::handle texts) {
  std::vector<std::string> all;
  for (const nb::handle item : texts) {
    const auto text = nb::cast<nb::bytes>(item);
    all.emplace_back(text.c_str(), text.size());
  }
  return all;
}

/// Its state is the process's and the disk's.
struct program_store {};

}  // namespace

void bind_program_cache(nb::module_& m) {
  nb::class_<program_store> store(m, "_ProgramStore",
                                  "Compiled programs, and the C++ of Python kernels: in memory, on "
                                  "disk, in packages.");
  store.def(
      "counts() -> tuple[int, int, int]"_sig,
      [] {
        const auto counts = program::counts();
        return nb::make_tuple(counts.compiled, counts.found, counts.loaded);
      },
      "How many programs were compiled in this process, found in memory and read from disk.");
  store.def(
      "settings() -> dict[str, Any]"_sig,
      [] {
        const auto settings = program_cache_settings::from_environment();
        nb::dict about = new_dict();
        about["enabled"] = settings.enabled;
        about["folder"] = to_str(settings.folder);
        about["most"] = settings.most;
        about["problem"] = program_cache_problem();
        return about;
      },
      "Where compiled programs are kept: enabled, folder, most (bytes), why the folder is not "
      "used.");
  store.def(
      "programs() -> list[dict[str, Any]]"_sig,
      [] {
        nb::list all = new_list();
        for (const auto& p : cached_programs()) {
          nb::dict about = new_dict();
          about["file"] = to_str(p.file);
          about["bytes"] = p.bytes;
          about["last_used"] = std::chrono::duration<double>(
                                   std::chrono::file_clock::to_sys(p.last_used).time_since_epoch())
                                   .count();
          about["device"] = p.device;
          about["kernels"] = nb::cast(p.kernels);
          all.append(std::move(about));
        }
        return all;
      },
      "The compiled programs on disk, what was used last first; times in seconds since 1970.");
  store.def(
      "texts() -> dict[str, int]"_sig,
      [] {
        const auto texts = count_cached_texts();
        nb::dict about = new_dict();
        about["count"] = texts.count;
        about["bytes"] = texts.bytes;
        return about;
      },
      "The C++ of Python kernels on disk: count of files, bytes.");
  store.def(
      "load_texts(key: bytes, portable: bytes = b\"\") -> list[bytes] | None"_sig,
      [](nb::bytes key, nb::bytes portable) -> nb::object {
        std::optional<std::vector<std::string>> texts;
        {
          const std::string_view wanted(key.c_str(), key.size());
          const std::string_view installed(portable.c_str(), portable.size());
          const gil_released release;
          texts = detail::load_texts(wanted, installed);
        }
        if (!texts) return nb::none();
        nb::list all = new_list();
        for (const auto& text : *texts) all.append(nb::bytes(text.data(), text.size()));
        return all;
      },
      "What store_texts kept under exactly this key, or a package under the portable one; or "
      "None.");
  store.def(
      "store_texts_for_package(folder: str, portable: bytes, texts: Sequence[bytes]) -> bool"_sig,
      [](nb::handle folder, nb::bytes portable, nb::handle texts) {
        const auto all = to_texts(texts);
        return detail::store_texts_for_package(nb::cast<std::filesystem::path>(folder),
                                               std::string_view(portable.c_str(), portable.size()),
                                               all);
      },
      "Writes bytes into the folder of a package; whether that succeeded.");
  store.def(
      "add_installed(folder: str) -> None"_sig,
      [](nb::handle folder) { add_installed_programs(nb::cast<std::filesystem::path>(folder)); },
      "From now on compiled programs are looked for in this folder too.");
  store.def(
      "installed() -> list[dict[str, Any]]"_sig,
      [] {
        nb::list all = new_list();
        for (const auto& of : installed_program_folders()) {
          nb::dict about = new_dict();
          about["folder"] = to_str(of.folder);
          about["programs"] = of.programs;
          about["bytes"] = of.bytes;
          about["kinds"] = nb::cast(of.kinds);
          all.append(std::move(about));
        }
        return all;
      },
      "The folders of packages that hold compiled programs.");
  store.def(
      "record(folder: str) -> None"_sig,
      [](nb::handle folder) { record_programs(nb::cast<std::filesystem::path>(folder)); },
      "From now on objects of compiled programs are written into this folder.");
  store.def(
      "link_for_package(objects: str, package: str) -> int"_sig,
      [](nb::handle objects, nb::handle package) {
        const auto from = nb::cast<std::filesystem::path>(objects);
        const auto to = nb::cast<std::filesystem::path>(package);
        const gil_released release;
        return link_for_package(default_queue(), from, to);
      },
      "Makes programs of objects for the kind of processor that CL_CONFIG_CPU_TARGET_ARCH names, "
      "in "
      "the folder of a package; how many.");
  store.def(
      "processor_kinds() -> list[str]"_sig,
      [] {
        nb::list all = new_list();
        for (const auto kind : processor_kinds()) all.append(nb::cast(std::string(kind)));
        return all;
      },
      "The kinds of processors that packages hold programs for, the newest first.");
  store.def(
      "store_texts(key: bytes, texts: Sequence[bytes]) -> None"_sig,
      [](nb::bytes key, nb::handle texts) {
        const auto all = to_texts(texts);
        const std::string_view wanted(key.c_str(), key.size());
        const gil_released release;
        detail::store_texts(wanted, all);
      },
      "Keeps bytes on disk for other processes. What cannot be kept is made again.");
  def(
      m, "program_memory() -> dict[str, int]"_sig,
      [] {
        const auto use = program::memory();
        nb::dict about = new_dict();
        about["programs"] = use.programs;
        about["bytes"] = use.bytes;
        about["permanent"] = use.permanent;
        about["limit"] = use.limit;
        return about;
      },
      with_example("program_memory",
                   "The compiled programs in the memory of this process.\n\n"
                   "Returns\n-------\ndict\n"
                   "    ``programs``: how many; ``bytes``: what their code takes, estimated from "
                   "the sizes of "
                   "their binaries; ``permanent``: those of these bytes that cannot leave memory, "
                   "because the SYCL runtime of the device reads stored code for good, as on CUDA; "
                   "``limit``: bytes.")
          .c_str());
  def(
      m, "set_program_memory(limit: int) -> int"_sig,
      [](std::size_t limit) {
        const gil_released release;
        return program::set_memory_limit(limit);
      },
      with_example(
          "set_program_memory",
          "Limit the memory of compiled programs.\n\n"
          "Above the limit the code used longest ago leaves memory. Kernels stay usable: the next "
          "launch reads the code from disk, or compiles it. Code that is ``permanent`` "
          "(`program_memory`) stays; above the limit no more of it is read.\n\n"
          "Parameters\n----------\nlimit : int\n    Bytes; ``USMX_PROGRAM_MEMORY`` or 256 MiB "
          "until it "
          "is set.\n\nReturns\n-------\nint\n    The limit before.")
          .c_str());
  store.def_static("clear", &clear_cached_programs,
                   "Removes the compiled programs and the texts from the disk; how many programs.");
}

}  // namespace usmx::python
