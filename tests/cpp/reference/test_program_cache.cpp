// The example of usmx/program_cache.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <usmx/program_cache.hpp>

#include "check.hpp"

TEST(ProgramCache, Reference) {
  // Where programs are kept, and what is there: `usmx cache` prints it.
  const auto settings = usmx::program_cache_settings::from_environment();
  if (const std::string problem = usmx::program_cache_problem(); !problem.empty()) {
    std::printf("%s is not used: %s\n", settings.folder.c_str(), problem.c_str());
  }
  std::size_t bytes = 0;
  for (const usmx::cached_program& one : usmx::cached_programs()) bytes += one.bytes;
  const usmx::cached_texts texts = usmx::count_cached_texts();
  std::printf("%zu bytes of programs, %zu texts\n", bytes, texts.count);

  // What packages bring, for kinds of processors.
  for (const usmx::installed_programs& folder : usmx::installed_program_folders()) {
    std::printf("%s: %zu programs\n", folder.folder.c_str(), folder.programs);
  }
  CHECK(!usmx::processor_kinds().empty());
}
