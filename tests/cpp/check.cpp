// Runs the tests that were linked together: all, those of some files, or those with a word in their
// name. ctest starts a process for each file.
//   usmx_tests [--file=transfer/test_copy] [part of a name ...]
// SPDX-License-Identifier: Apache-2.0
#include "check.hpp"

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

}  // namespace

int main(int argc, char** argv) {
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
