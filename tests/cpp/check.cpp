// Runs the tests that were linked together: all, those of some files, or those with a word in their
// name. ctest starts a process for each file.
//   usmx_tests [--file=transfer/test_copy] [part of a name ...]
// SPDX-License-Identifier: Apache-2.0
#include "check.hpp"

#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace {

/// Whether a test is in `file`, which is the end of a path without its extension.
bool is_in(std::string_view path, std::string_view file) {
  path = path.substr(0, path.rfind('.'));
  if (!path.ends_with(file)) return false;
  path.remove_suffix(file.size());
  return path.empty() || path.ends_with('/');
}

/// Arguments of the same kind add tests; of two kinds, a test has to fit both.
bool is_selected(const check::test& test, int argc, char** argv) {
  constexpr std::string_view option = "--file=";
  bool any_file = false, any_name = false, file_fits = false, name_fits = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word(argv[i]);
    if (word.starts_with(option)) {
      any_file = true;
      file_fits |= is_in(test.file, word.substr(option.size()));
    } else {
      any_name = true;
      name_fits |= test.name.find(word) != std::string::npos;
    }
  }
  return (file_fits || !any_file) && (name_fits || !any_name);
}

/// Kernels are kept where the tests in Python keep theirs (tests/python/conftest.py): a file of the
/// folder contains its whole key. Nothing is kept where USMX_CACHE says so, or without a folder.
void keep_kernels() {
  const auto value = [](const char* name) {
    const char* const found = std::getenv(name);
    return std::string(found ? found : "");
  };
  if (!value("USMX_CACHE").empty()) return;
  std::filesystem::path folder(value("USMX_TEST_CACHE_DIR"));
  if (!std::getenv("USMX_TEST_CACHE_DIR")) {
    const std::string caches = value("XDG_CACHE_HOME"), home = value("HOME");
    if (!caches.empty())
      folder = caches;
    else if (!home.empty())
      folder = std::filesystem::path(home) / ".cache";
    if (!folder.empty()) folder = folder / "usmx" / "tests";
  }
  setenv("USMX_CACHE", folder.empty() ? "0" : "1", 1);
  if (folder.empty()) return;
  setenv("USMX_CACHE_DIR", folder.c_str(), 1);
  setenv("USMX_CACHE_SIZE", "2G", 1);
}

}  // namespace

int main(int argc, char** argv) {
  keep_kernels();
  int passed = 0, failed = 0;
  for (const auto& test : check::tests()) {
    if (!is_selected(test, argc, argv)) continue;
    const std::string& name = test.name;
    check::failures = 0;
    try {
      test.run();
    } catch (const std::exception& e) {
      check::fail(name.c_str(), 0, std::string("threw ") + e.what());
    } catch (...) {
      check::fail(name.c_str(), 0, "threw something");
    }
    ++(check::failures == 0 ? passed : failed);
    std::printf("%s %s\n", check::failures == 0 ? "ok    " : "FAILED", name.c_str());
    std::fflush(stdout);
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}
