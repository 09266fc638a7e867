// A folder of compiled programs for a test, and a program that is compiled or read back.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <sycl/properties/queue_properties.hpp>

#include "check.hpp"
#include "usmx/kernel.hpp"
#include "usmx/program_cache.hpp"
#include "usmx/runtime.hpp"

namespace kept {

namespace fs = std::filesystem;
using usmx::program;

/// A folder of its own, and the cache turned on in it.
class in_folder {
 public:
  in_folder() {
    std::string name = (fs::temp_directory_path() / "usmx-programs-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder: " + name);
    folder_ = name;
    setenv("USMX_CACHE", "1", 1);
    setenv("USMX_CACHE_DIR", name.c_str(), 1);
    unsetenv("USMX_CACHE_SIZE");
  }
  ~in_folder() {
    std::error_code ignored;
    fs::permissions(folder_, fs::perms::owner_all, ignored);
    fs::remove_all(folder_, ignored);
  }
  const fs::path& path() const { return folder_; }
  /// The part of it that is usmx's.
  fs::path own() const { return folder_ / "usmx-programs"; }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    if (!fs::exists(own())) return found;
    for (const auto& entry : fs::directory_iterator(own())) found.push_back(entry.path());
    return found;
  }

 private:
  fs::path folder_;
};

inline std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void write(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// Each in a context of its own, so that nothing is found in memory.
inline sycl::queue new_queue() {
  const auto device = usmx::default_queue().get_device();
  return {sycl::context(device), device, sycl::property::queue::in_order()};
}

inline std::string unique(const std::string& body) {
  static int next = 0;
  return "// " + std::to_string(++next) + "\n" + body;
}
inline const char* const add = "USMX_KERNEL(1) add(int* x, int n) { x[usmx::global_id()] += n; }\n";

/// What `add` makes of 1 with 41, and what `build` counted.
struct outcome {
  int value = 0;
  std::size_t compiled = 0;
  std::size_t loaded = 0;
};
inline outcome run(const std::string& source, const std::vector<std::string>& options = {},
                   const char* name = "add") {
  const auto before = program::counts();
  auto q = new_queue();
  const auto k = program::build(q, source, options).get(name);
  const std::int64_t shape[] = {1};
  const auto x = usmx::array::empty(q, shape, usmx::dtype::of<int>(), usmx::usm_kind::shared);
  auto* const value = static_cast<int*>(x.data());
  *value = 1;
  k.launch(q, 1, {x, 41}).wait();
  const auto after = program::counts();
  return {*value, after.compiled - before.compiled, after.loaded - before.loaded};
}

inline bool is_compiled(const outcome& o) {
  return o.value == 42 && o.compiled == 1 && o.loaded == 0;
}
inline bool is_loaded(const outcome& o) {
  return o.value == 42 && o.compiled == 0 && o.loaded == 1;
}

}  // namespace kept
