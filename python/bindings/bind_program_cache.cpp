// What is kept on disk of compiled programs, for the command `usmx cache`.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "usmx/program_cache.hpp"

namespace usmx::python {

void bind_program_cache(nb::module_& m) {
  m.def(
      "_program_cache_settings",
      [] {
        const auto settings = program_cache_settings::from_environment();
        nb::dict about;
        about["enabled"] = settings.enabled;
        about["folder"] = settings.folder.string();
        about["most"] = settings.most;
        return about;
      },
      "Where compiled programs are kept: enabled, folder, most (bytes).");
  m.def(
      "_cached_programs",
      [] {
        nb::list all;
        for (const auto& p : cached_programs()) {
          nb::dict about;
          about["file"] = p.file.string();
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
  m.def(
      "_cached_texts",
      [] {
        const auto texts = count_cached_texts();
        nb::dict about;
        about["count"] = texts.count;
        about["bytes"] = texts.bytes;
        return about;
      },
      "The C++ of Python kernels on disk: count of files, bytes.");
  m.def("_clear_cached_programs", &clear_cached_programs,
        "Removes the compiled programs and the texts from the disk; how many programs.");
}

}  // namespace usmx::python
